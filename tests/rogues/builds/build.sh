#!/bin/sh
# A build that breaks the rules of the arena in one way: `sh build.sh WAY`.
case $1 in
    makes) echo 1 >made ;;
    again) test ! -e made && echo 1 >made && date +%N ;;
    removes) rm plays.sh && echo 1 >made ;;
    prints) yes | head -c 1000000 ;;
    controls) printf 'a\033[2Jb\n' && exit 3 ;;
    fails) echo 'plays.sh:1: error: no such rule' && exit 1 ;;
    fills) yes >made ;;
    litters) i=0; while [ $i -lt 1200 ]; do echo 1 >made$i; i=$((i + 1)); done ;;
    forks) f() { sleep 1000 & sleep 1000 & f; }; f ;;
    leaves) sleep 1000 & echo 1 >made ;;
    sleeps) sleep 1000 ;;
    loops) while :; do :; done ;;
    hoards) x=0123456789; while :; do x=$x$x; done ;;
    reads) read -r line; echo "read $line" >made ;;
    connects) python3 -c 'import socket; socket.create_connection(("127.0.0.1", 80), 5)' ;;
    changes) echo exit >>plays.sh ;;
    links) ln -s /etc/passwd made ;;
    leads_out) ln -s .. made ;;
    pipes) mkfifo made ;;
    hides) echo 1 >.made && mkdir .cache && echo 1 >.cache/made ;;
    forges) echo '{"id": 1, "games": 1000000000}' >/proc/$PPID/fd/1; sleep 1000 ;;
    rubbish) echo rubbish >/proc/$PPID/fd/1; sleep 1000 ;;
    kills) kill -9 $PPID; sleep 1000 ;;
    looks) find / \( -path /proc -o -path /usr \) -prune -o -name secret -print >made ;;
esac
