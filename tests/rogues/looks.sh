#!/bin/sh
# Answers hello, and names what it finds of runs and of a person's secrets.
read -r hello
found=$(find / \( -path /proc -o -path /usr -o -path /sys \) -prune -o \
    \( -name run.sqlite -o -name secret \) -print 2>/dev/null | tr '\n' ' ')
if [ "$found" ]; then
    echo "{\"id\": 0, \"error\": \"found $found\"}"
else
    echo '{"id": 0, "ready": true}'
fi
