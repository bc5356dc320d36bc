#!/bin/sh
# A gemini for the soak: the first word of the prompt says what it does, the second is the number of the call.
session=
while [ $# -gt 0 ]; do
    case $1 in
        --list-sessions) printf '  1. A chat (now) [s-listed]\n'; exit 0 ;;
        -r) session=$2; shift ;;
        --output-format | -m) shift ;;
        *) prompt=$1 ;;
    esac
    shift
done
number=${prompt#* }
said="answer $number"
case $prompt in
    slow*) sleep 0.1 ;;
    system*) said=$(cat "$GEMINI_SYSTEM_MD") || exit 1 ;;
    noise*) head -c 200000 /dev/zero | tr '\0' 'n' >&2 ;;
    big*) said="$said $(head -c 500000 /dev/zero | tr '\0' b)" ;;
    orphan*) setsid sleep 600 >/dev/null 2>&1 & (sleep 600 &) ;;
    plain*) printf '%s' "$said"; exit 0 ;;
    fail*) echo "no luck" >&2; exit 41 ;;
    cut*) printf '{"session_id": "s", "response": "half'; exit 0 ;;
    killed*) kill -KILL $$ ;;
    stopped*) kill -STOP $$ ;;
    hang*) trap '' TERM; sleep 600 & sleep 600 ;;
esac
printf '{"session_id": "%s", "response": "%s"}\n' "${session:-s-$number}" "$said"
