# ---- process identity; W, which kills a command after a time ----

# Sets hf_x to /proc/$1/stat after the program's name, which may contain a newline. False if there is no such process.
hf_stat() {
  hf_x=
  while read -r hf_y; do hf_x="$hf_x $hf_y"; done <"/proc/$1/stat" || return 1
  hf_x=${hf_x##*) }
  [ -n "$hf_x" ]
} 2>/dev/null

# True if process $1 is alive and started at $2.
hf_same() {
  hf_stat "$1" || return 1
  case $hf_x in [ZX]*) return 1 ;; esac
  hf_want=$2
  set -f; set -- $hf_x; set +f
  [ $# -gt 19 ] || return 1
  shift 19
  [ "$1" = "$hf_want" ]
}

# W: kills the command after $1 seconds, whichever other processes are alive. R ends W if the command ends before.
hf_watch() {
  exec 4>&- 5>&- 6>&- 8<&- # K's descriptors; K may exit before us
  hf_record timer
  hf_uptime
  hf_until=$((hf_now + $1 * 100))
  trap 'kill $hf_s; exit' TERM
  hf_x=
  read -r hf_x <"$hf_d/exit" # after our record is written: R looks for it after it has written `exit`
  [ -z "$hf_x" ] || return 0
  while hf_uptime; [ "$hf_now" -lt "$hf_until" ]; do # sleep may be killed
    "$hf_sleep" $(((hf_until - hf_now + 99) / 100)) &
    hf_s=$!
    wait $hf_s
  done
  trap '' TERM
  hf_end 'time process'
}

# Sets hf_now to hundredths of a second since boot.
hf_uptime() {
  read -r hf_now hf_x </proc/uptime
  hf_x=${hf_now#*.} hf_now=${hf_now%.*}
  hf_now=$((hf_now * 100 + 1$hf_x - 100))
}

