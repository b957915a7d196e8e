# ---- is a process still that process; W, which ends a command after a time ----

# hf_x = what /proc/$1/stat says behind the name of the program, which may have a newline in it. False if there is no such process.
hf_stat() {
  hf_x=
  while read -r hf_y; do hf_x="$hf_x $hf_y"; done <"/proc/$1/stat" || return 1
  hf_x=${hf_x##*) }
  [ -n "$hf_x" ]
} 2>/dev/null

# True if the process $1 is alive and the one that started at $2.
hf_same() {
  hf_stat "$1" || return 1
  case $hf_x in [ZX]*) return 1 ;; esac
  hf_want=$2
  set -f; set -- $hf_x; set +f
  [ $# -gt 19 ] || return 1
  shift 19
  [ "$1" = "$hf_want" ]
}

# W: ends the command after $1 seconds, whoever else is alive or not. R ends it when the command has ended before.
hf_watch() {
  exec 4>&- 5>&- 6>&- 8<&- # K's; it may be gone before us
  hf_record timer
  hf_uptime
  hf_until=$((hf_now + $1 * 100))
  trap 'kill $hf_s; exit' TERM
  hf_x=
  read -r hf_x <"$hf_d/exit" # after we are on record: R looks there after it has written this
  [ -z "$hf_x" ] || return 0
  while hf_uptime; [ "$hf_now" -lt "$hf_until" ]; do # sleep may be killed
    "$hf_sleep" $(((hf_until - hf_now + 99) / 100)) &
    hf_s=$!
    wait $hf_s
  done
  trap '' TERM
  hf_end 'time process'
}

# hf_now = hundredths of a second since the machine was started.
hf_uptime() {
  read -r hf_now hf_x </proc/uptime
  hf_x=${hf_now#*.} hf_now=${hf_now%.*}
  hf_now=$((hf_now * 100 + 1$hf_x - 100))
}

