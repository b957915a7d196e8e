# ---- K: runs of dd or of a relay, segments, log limits ----

# Sets hf_x to the path of the segment that starts at $1. No command substitution: a fork takes longer than all of this.
hf_segment() {
  hf_x=00000000000000$1
  while [ ${#hf_x} -gt 15 ]; do hf_x=${hf_x#0}; done
  hf_x=$hf_d/out.$hf_x
}

# Starts one run of dd: at most count reads of at most bs bytes, each written at once. S collects dd's messages and reports in one write, because dd
# writes them in pieces, and script(1) may write to `ctl` in between.
hf_dd_run() {
  exec 9>>"$hf_out" # fails, and ends us, if the directory was removed: the output is no longer needed
  {
    exec 4>&- 6>&-
    hf_x=$(LC_ALL=C "$hf_dd" bs=$hf_bs count=$hf_count <&8 2>&1 >&9 5>&- 8<&- 9>&-)
    hf_report $? $hf_x
  } &
  hf_runner=$!
  exec 9>&-
}

# Grants a run to a relay that writes the log itself. The previous dd stays, at a pipe that the relay holds open
# and nothing writes to: so it notices when the relay exits.
hf_grant() { hf_tell "take $hf_bs $hf_count ${hf_out##*/}"; }
hf_tell() { printf '%s\n' "$1" 1<>"$hf_d/take"; } # opened for reading and writing, so that it cannot block

# Handles the end of that dd, with status $1. True if the relay has exited: then counts what the relay has written since its last report.
hf_left() {
  if [ "$1" -ne 0 ]; then
    hf_dd_run
    return 1
  fi
  hf_x=$(wc -c <"$hf_out" 5>&- 6>&- 8<&-)
  hf_off=$((hf_off + hf_x - hf_size)) hf_size=$hf_x
}

# Reports a status of dd from its messages: "0+1 records in 0+1 records out 3 bytes copied, …". Some versions print no bytes, and a killed dd prints
# nothing.
hf_report() {
  hf_status=$1 hf_records=0 hf_bytes=
  while [ $# -gt 1 ]; do
    case "$2 ${3-}" in
    'records in') hf_records=$((${1%+*} + ${1#*+})) ;;
    byte\ * | bytes\ *) hf_bytes=$1 ;;
    esac
    shift
  done
  [ -n "$hf_bytes" ] || hf_bytes=$(($(wc -c <"$hf_out") - hf_size))
  printf '\nrun %s %s %s\n' "$hf_records" "$hf_bytes" "$hf_status" >&5
}

# True if process $1 no longer exists.
hf_gone() {
  hf_x=
  read -r hf_x <"/proc/$1/stat"
  case ${hf_x##*) } in '' | [ZX]*) return 0 ;; esac
  return 1
} 2>/dev/null

# Waits for the dd of a killed S, which may continue alone. When it has ended, that is when no process has the pipe as stdin, reports it as failed.
hf_await_dd() {
  exec 4>&- 6>&- 8<&-
  while hf_copied; do
    hf_moment 5>&-
    [ -d "$hf_d" ] || return 0
  done
  hf_report 137
}

hf_copied() {
  for hf_f in /proc/[0-9]*/fd/0; do
    if [ "$hf_f" -ef "$hf_d/pipe" ]; then return 0; fi
  done
  return 1
}

# Handles the end of a run: records, bytes, status. True when the last writer has closed the pipe.
hf_ended() {
  hf_off=$((hf_off + $2)) hf_size=$((hf_size + $2))
  if [ "$3" -ne 0 ]; then
    printf '%s %s\n' "$hf_off" "$hf_bs" >>"$hf_d/gaps" # killed, or failed to write: the data that it had read is lost
  elif [ "$1" -lt "$hf_count" ]; then
    return 0
  fi
  # A segment is a quarter of the limit, 16 MiB at most. A run is smaller at first, since all of it is reserved: a multiple of the output so far.
  hf_roll=$((hf_limit / 4))
  [ "$hf_roll" -le 16777216 ] || hf_roll=16777216
  if [ $(($2 * 2)) -ge $((hf_bs * hf_count)) ]; then hf_dense=1 hf_run=$((hf_off * 16)); else hf_dense= hf_run=$((hf_off * 4)); fi
  [ "$hf_run" -ge 131072 ] || hf_run=131072
  [ "$hf_run" -le "$hf_roll" ] || hf_run=$hf_roll
  if [ -n "$hf_direct" ] && [ "$hf_seg" -eq 0 ]; then hf_roll=1; fi # the dd that waits for the relay's end keeps the first segment open: it stays small, since its disk space is not freed until then
  if [ "$hf_output" != 0 ] && [ "$hf_run" -gt $((hf_output - hf_off)) ]; then hf_run=$((hf_output - hf_off)); fi
  if [ "$hf_rate" != 0 ] && [ "$hf_run" -gt $((hf_rate / 4)) ]; then hf_run=$((hf_rate / 4)); fi
  [ "$hf_run" -ge 4096 ] || hf_run=4096
  # Dense output: few big blocks; many small writes: many small blocks. A relay may take the same number of bytes in blocks of any size.
  if [ -n "$hf_dense" ]; then
    if [ "$hf_bs" = 512 ] || [ "$hf_run" -lt 65536 ]; then hf_bs=4096; else hf_bs=65536; fi
  elif [ $(($2 * 16)) -ge $((hf_bs * hf_count)) ] || [ "$hf_bs" = 65536 ]; then hf_bs=4096
  else hf_bs=512
  fi
  hf_count=$((hf_run / hf_bs))
  hf_slow=0
  if [ "$hf_rate" != 0 ]; then hf_pace "$2"; fi
  if [ "$3" -ne 0 ] && [ "$3" -lt 128 ]; then
    hf_wait_for_disk
  elif [ "$hf_output" != 0 ] && [ "$hf_off" -ge "$hf_output" ] && [ -z "$hf_over" ]; then
    # Takes no more output; the runtime ends a shell's command itself.
    hf_pause limit
    if [ -e "$hf_d/held" ]; then hf_met 'output process'; else { exec 4>&- 5>&- 6>&- 8<&-; hf_end 'output process'; } & fi
  elif [ "$hf_slow" -gt 5 ] && [ -z "$hf_over" ]; then
    hf_pause rate
    {
      exec 4>&- 6>&- 8<&-
      hf_x=0$((hf_slow % 100))
      "$hf_sleep" "$((hf_slow / 100)).${hf_x#"${hf_x%??}"}" 5>&- || "$hf_sleep" 1 5>&-
      printf '\nagain\n' >&5
    } &
  else
    hf_next
  fi
  return 1
}

# Sets hf_slow to the wait before the next run at the current rate, after $1 bytes, in hundredths of a second. Silence earns no credit.
hf_pace() {
  hf_uptime
  [ "$hf_due" -ge "$hf_now" ] || hf_due=$hf_now
  hf_due=$((hf_due + $1 * 100 / hf_rate))
  hf_slow=$((hf_due - hf_now))
}

# Starts the next run if the log and the disk have room; else records that in `state` and waits for `again`.
hf_next() {
  hf_most=$hf_limit
  if [ "$hf_full$hf_over" = block1 ]; then # the pipe holds 64 KiB at most
    hf_bs=4096 hf_count=16 hf_most=$((hf_limit + 131072))
  fi
  hf_run=$((hf_bs * hf_count))
  if [ "$hf_size" -ge "$hf_roll" ]; then
    hf_release 0
    hf_segs="$hf_segs $hf_off" hf_seg=$hf_off hf_size=0
    hf_segment "$hf_off"
    hf_out=$hf_x
    true >>"$hf_out" # shows a reader that the previous segment is complete and may be discarded
  fi
  set -- $hf_segs
  while [ $# -gt 1 ]; do
    hf_segment "$1"
    if [ -e "$hf_x" ]; then # else a reader has discarded it
      [ "$hf_full" = ring ] && [ $((hf_off + hf_run - $1)) -gt "$hf_limit" ] || break
      "$hf_rm" -f "$hf_x" 4>&- 5>&- 6>&- 8<&- & # in the background
    fi
    shift
  done
  hf_segs="$*"
  if [ "$hf_full" = block ] && [ $((hf_off + hf_run - $1)) -gt "$hf_most" ]; then
    hf_release 0
    hf_pause limit
    if [ -n "$hf_over" ] && [ -z "$hf_looking" ]; then
      hf_looking=1
      { hf_await_writers; } &
    fi
  else
    hf_take
  fi
}

hf_take() {
  if hf_reserve || { [ "$hf_run" -gt 65536 ] && hf_bs=4096 hf_count=16 && hf_reserve; }; then # on an almost full disk, take less
    [ -z "$hf_paused" ] || hf_write state open
    hf_paused=
    if [ -n "$hf_direct" ]; then hf_grant; else hf_dd_run; fi
  else
    hf_wait_for_disk
  fi
}

# Waits for the remaining writers after the command has ended with a full log. No event reports the last one's exit; after it the pipe can be emptied.
hf_await_writers() {
  exec 4>&- 6>&- 8<&-
  hf_has collector
  hf_n=1
  while hf_written_to "$hf_pid"; do
    "$hf_sleep" $hf_n 5>&-
    [ -d "$hf_d" ] || return 0
    [ $hf_n -gt 15 ] || hf_n=$((hf_n * 2))
  done
  printf '\nalone\n' >&5
}

# True if a process other than $1 has the pipe open.
hf_written_to() {
  for hf_f in /proc/[0-9]*/fd/*; do
    case $hf_f in "/proc/$1/"*) continue ;; esac
    if [ "$hf_f" -ef "$hf_d/pipe" ]; then return 0; fi
  done
  return 1
}

hf_pause() {
  hf_paused=$1
  hf_write state "paused $1 $hf_off"
}

hf_wait_for_disk() {
  [ -d "$hf_d" ] || exit
  hf_pause disk
  [ -z "$hf_waits" ] || return 0 # a wait is already in progress
  hf_waits=1
  { exec 4>&- 6>&- 8<&-; "$hf_sleep" 1; printf '\nagain waited\n' >&5; } &
}

