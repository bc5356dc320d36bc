# The fake gemini: journals the call, then plays the script it is given. POSIX sh; the few lines above this one,
# written by program.py, hold where the journal, the tools that it needs and defaults.py are.

# Field 33 of the process's status is the signals that it ignores: SIGHUP is 1, SIGINT 2, SIGPIPE 4096, SIGTERM 16384.
# SIGQUIT is not asked for: some shells ignore it themselves.
is_deaf() {
  shift 32
  [ $(($1 & 20483)) != 0 ]
}
# The second line about a descriptor is its flags. No tool that the shell runs copes with O_NONBLOCK.
is_hasty() {
  { read -r _ && read -r _ flags; } 2> /dev/null < "/proc/$me/fdinfo/$1" && [ $((flags & 04000)) != 0 ]
}
# To read about stdin takes stdin, so a subshell does it. A device, such as /dev/null, never makes anybody wait.
is_hasty_stdin() {
  [ -e "/proc/$me/fd/0" ] && [ ! -c "/proc/$me/fd/0" ] && (is_hasty 0)
}
# In a namespace of its own the shell has another number than in a /proc from outside.
me=$$ stat=
if [ -r /proc/self/stat ] && read -r stat < /proc/self/stat; then me=${stat%% *}; fi
if [ -n "$stat" ] && { is_deaf $stat || is_hasty 1 || is_hasty 2 || is_hasty_stdin; }; then
  "$cat" "/proc/$me/environ" > "$root/environ.$me"
  exec "$python" -I -S -X utf8 "$defaults" "$root/environ.$me" "$0" "$@"
fi

# Taken numbers are contiguous, so halving finds the last one.
find_last() {
  last=0 beyond=1
  while [ -e "$1$beyond$2" ]; do last=$beyond beyond=$((beyond * 2)); done
  while [ $((beyond - last)) -gt 1 ]; do
    middle=$(((last + beyond) / 2))
    if [ -e "$1$middle$2" ]; then last=$middle; else beyond=$middle; fi
  done
}

# A number of its own: creating a file that must not exist is atomic. No file is ever written twice: some file systems
# flush what is truncated, which takes long.
find_last "$root/journal/" .start
number=$((last + 1))
set -C
until { printf '' > "$root/journal/$number.start"; } 2>/dev/null; do
  [ -e "$root/journal/$number.start" ] || exit 70
  number=$((number + 1))
done
set +C
call=$root/journal/$number

kind=call form= before=
case $#,$1 in 1,--version | 1,-v) kind=version ;; esac
for argument in "$@"; do
  case $argument in --) break ;; esac
  case $listing in *"
$argument
"*) kind=list ;; esac
  # Of an option it is the value, in the same argument or in the next.
  case $before$argument in -*"$stream") [ -z "$stream" ] || form=-stream ;; esac
  before=$argument
done

fd=/dev/fd/0
[ -d /dev/fd ] || fd=/proc/$me/fd/0
if [ ! -e "$fd" ]; then stdin=closed
elif [ -t 0 ]; then stdin=terminal
elif [ -p "$fd" ]; then stdin=pipe
elif [ -S "$fd" ]; then stdin=socket
elif [ "$fd" -ef /dev/null ]; then stdin=null
else stdin=file
fi

own=
if [ "$stdin" != null ] && [ "$fd" -ef "$root/stdin" ]; then own=' inherited'; fi
# Whoever puts its stdin aside may forget to take it away from gemini.
for other in "/proc/$me/fd/"*; do
  case $other in
    */0) ;;
    *) if [ "$other" -ef "$root/stdin" ]; then own="$own saved"; fi ;;
  esac
done

# A copy of the environment takes nearly as long as all the rest. Where everything that was expected is there, only the
# variables that may name a file are kept.
if [ -r "$root/expected" ] && . "$root/expected"; then
  for variable in $variables; do
    eval "[ -z \"\${$variable+set}\" ] || printf '%s\\0' \"$variable=\$$variable\" >> \"\$call.environ\""
  done
  own="$own expected"
elif [ -n "$stat" ]; then
  "$cat" "/proc/$me/environ" > "$call.environ"
else
  "$env" -0 > "$call.environ" 2>/dev/null || "$env" > "$call.environ-lines"
fi
[ -n "$stat" ] || stat="$$ (gemini) R 0 $("$ps" -o pgid= -p $$)"

# The shell copies a short text without a program of its own. It drops what it cannot hold, such as NUL, so the copy
# counts if it is as long as the file.
copy_short() {
  while read -r letters _ _ _ size _; do
    case $letters in -*) break ;; esac
  done < "$call.modes-$variable"
  [ "$size" -le 200 ] || return
  text=
  while IFS= read -r line; do
    text="$text$line
"
  done
  text=$text$line
  [ ${#text} = "$size" ] && printf '%s' "$text" > "$call.file-$variable"
}

# The names in $variables are those of variables that may name a file.
for variable in $variables; do
  eval "path=\${$variable-}"
  if [ -n "$path" ] && [ -f "$path" ]; then
    case $path in
      */*) directory=${path%/*}/ ;;
      *) directory=. ;;
    esac
    # In the locale of C it starts sooner.
    LC_ALL=C "$ls" -Lldn "$path" "$directory" > "$call.modes-$variable" 2>/dev/null
    { copy_short < "$path" || "$cat" "$path" > "$call.file-$variable"; } 2>/dev/null
  fi
done

{
  printf '%s\n' "$stat" "$kind $stdin $#$own"
  [ $# = 0 ] || printf '%s\0' "$@"
  pwd -P 2>/dev/null || printf '\n'
  printf '.'
} > "$call.head"

# What is started from here on is known by this variable.
GEMINI_FAKE_CALL=$call
export GEMINI_FAKE_CALL

# The first call that has input may be told to wait until it reads, or never to read, and to say much before.
is_late_reader() {
  [ "$kind" = call ] && [ -r "$root/unread" ] && { read -r unread && read -r flood; } < "$root/unread" &&
    (set -C; printf '' > "$unread.taken") 2>/dev/null
}
wait_to_read() {
  never=
  if is_late_reader; then
    [ "$flood" = 0 ] || "$head" -c "$flood" /dev/zero >&2
    case $unread in
      */) never=yes ;;
      *)
        # Of what it says before it reads, nothing is JSON, and a stream is nothing else.
        [ -n "$form" ] || printf 'A notice.\n'
        read -r released < "$unread"
        ;;
    esac
  fi
}

case $kind,$stdin in
  *,file)
    # Whether a file is ever read makes no difference to anybody, but when it is may do so.
    wait_to_read
    if [ -f "$fd" ] && "$cat" > "$call.stdin"; then : > "$call.eof"; fi
    ;;
  call,pipe | call,socket | list,pipe | list,socket)
    wait_to_read
    if [ -z "$never" ]; then
      # As the real CLI: nothing within 500 ms is no input; once a byte has come, all of it is read.
      exec 3<&0
      "$cat" <&3 > "$call.stdin" 2>/dev/null 3<&- &
      reader=$!
      (
        trap 'kill -KILL "$!"; wait; exit' TERM
        "$sleep" 0.5 &
        wait "$!"
        [ -s "$call.stdin" ] || kill -KILL "$reader"
      ) > /dev/null 2>&1 3<&- &
      timer=$!
      wait "$reader" 2>/dev/null && : > "$call.eof"
      kill "$timer" 2>/dev/null
      wait "$timer" 2>/dev/null
      exec 3<&-
    fi
    ;;
esac

finish() {
  for variable in $variables; do
    eval "path=\${$variable-}"
    if [ -e "$call.file-$variable" ] && [ -f "$path" ]; then
      # A file that is older than its copy has not changed since.
      if [ "$path" -ot "$call.file-$variable" ]; then : > "$call.unchanged-$variable"
      else "$cat" "$path" > "$call.file-end-$variable" 2>/dev/null
      fi
    fi
  done
  : > "$call.end"
  exit "$1"
}

if [ "$kind" = version ]; then
  printf '0.61.0\n'
  finish 0
fi

find_last "$root/plays/" ""
list=$last
. "$root/plays/$list"

if [ "$kind" = list ]; then
  # A list is asked for when its call has ended, in the same directory; another gemini may run since. In a directory
  # where none has ended it is that of the latest.
  play=$first latest=
  while [ "$((number -= 1))" -gt "$since" ]; do
    ended=$root/journal/$number
    if [ -e "$ended.end" ] && [ -e "$ended.play" ] && read -r its_list its_play where < "$ended.play"; then
      if [ -z "$latest" ] || [ "$where" = "$PWD" ]; then list=$its_list play=$its_play latest=known; fi
      [ "$where" != "$PWD" ] || break
    fi
  done
  . "$root/plays/$list"
  list_sessions "$play"
  printf 'No previous sessions found for this project.'
  finish 0
fi

choose "$@"
if [ -z "$play" ]; then
  if [ "$sequence" = 0 ]; then
    printf 'The fake gemini has no play for this call.\n' >&2
    finish 70
  fi
  set -C
  next=1
  while [ "$next" -lt "$sequence" ] && ! { printf '' > "$root/plays/$list.$next.taken"; } 2>/dev/null; do
    next=$((next + 1))
  done
  set +C
  play=$next
fi
printf '%s\n' "$list $play $PWD" > "$call.play"
perform "$play$form"
finish 0
