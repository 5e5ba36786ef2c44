#!/bin/sh
# Plays the first legal action: what is wrong with this bot is its build.
while read -r line; do
    id=${line#*\"id\":}
    legal=${line#*\"legal\":\"}
    case $line in
        *\"hello\"*) echo "{\"id\":${id%%[,\}]*},\"ready\":true}" ;;
        *\"choose\"*) echo "{\"id\":${id%%[,\}]*},\"action\":\"${legal%"${legal#?}"}\"}" ;;
        *) echo "{\"id\":${id%%[,\}]*}}" ;;
    esac
done
