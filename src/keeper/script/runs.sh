# ---- K: runs of dd or of a relay, segments, limits of the log ----

# hf_x = the path of the segment that starts at $1. No command substitution: a fork takes longer than all of this.
hf_segment() {
  hf_x=00000000000000$1
  while [ ${#hf_x} -gt 15 ]; do hf_x=${hf_x#0}; done
  hf_x=$hf_d/out.$hf_x
}

# One run of dd: at most count reads of at most bs bytes, each written at once. S takes down what dd says at its end and
# passes it on in one write, because dd writes it in pieces, and script(1) may write to `ctl` in between.
hf_dd_run() {
  exec 9>>"$hf_out" # fails, and ends us, when the directory is gone: nobody is interested any more
  {
    exec 4>&- 6>&-
    hf_x=$(LC_ALL=C "$hf_dd" bs=$hf_bs count=$hf_count <&8 2>&1 >&9 5>&- 8<&- 9>&-)
    hf_report $? $hf_x
  } &
  hf_runner=$!
  exec 9>&-
}

# The same for a relay that writes the log itself. The dd that was there before it stays, at a pipe into which nobody writes: it sees the relay go.
hf_grant() { hf_tell "take $hf_bs $hf_count ${hf_out##*/}"; }
hf_tell() { printf '%s\n' "$1" 1<>"$hf_d/take"; } # opened for both, so that it cannot block

# That dd is over, with status $1. True if it is because the relay has gone: what it has written since it last said so is in the log.
hf_left() {
  if [ "$1" -ne 0 ]; then
    hf_dd_run
    return 1
  fi
  hf_x=$(wc -c <"$hf_out" 5>&- 6>&- 8<&-)
  hf_off=$((hf_off + hf_x - hf_size)) hf_size=$hf_x
}

# Status of dd, then its words: "0+1 records in 0+1 records out 3 bytes copied, …". Some say no bytes, and a killed one says nothing.
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

# True if there is no process $1 any more.
hf_gone() {
  hf_x=
  read -r hf_x <"/proc/$1/stat"
  case ${hf_x##*) } in '' | [ZX]*) return 0 ;; esac
  return 1
} 2>/dev/null

# S was killed. Its dd may go on by itself: when it has ended, which is when nobody has the pipe for stdin any more, report for it as for one that failed.
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

# A run is over: records, bytes, status. True when the last writer has closed the pipe.
hf_ended() {
  hf_off=$((hf_off + $2)) hf_size=$((hf_size + $2))
  if [ "$3" -ne 0 ]; then
    printf '%s %s\n' "$hf_off" "$hf_bs" >>"$hf_d/gaps" # killed, or failed to write: what it had read is gone
  elif [ "$1" -lt "$hf_count" ]; then
    return 0
  fi
  # A segment is a quarter of the limit, 16 MiB at most. A run is less at first, since all of it is reserved: so many times what has been printed.
  hf_roll=$((hf_limit / 4))
  [ "$hf_roll" -le 16777216 ] || hf_roll=16777216
  if [ $(($2 * 2)) -ge $((hf_bs * hf_count)) ]; then hf_dense=1 hf_run=$((hf_off * 16)); else hf_dense= hf_run=$((hf_off * 4)); fi
  [ "$hf_run" -ge 131072 ] || hf_run=131072
  [ "$hf_run" -le "$hf_roll" ] || hf_run=$hf_roll
  if [ -n "$hf_direct" ] && [ "$hf_seg" -eq 0 ]; then hf_roll=1; fi # the dd that waits for the relay's end has it open: a small one, for the disk has it until then
  if [ "$hf_output" != 0 ] && [ "$hf_run" -gt $((hf_output - hf_off)) ]; then hf_run=$((hf_output - hf_off)); fi
  if [ "$hf_rate" != 0 ] && [ "$hf_run" -gt $((hf_rate / 4)) ]; then hf_run=$((hf_rate / 4)); fi
  [ "$hf_run" -ge 4096 ] || hf_run=4096
  # Dense output: few big blocks; many small writes: many small blocks. A relay may take as many bytes as that is, in blocks of any size.
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
    # Nothing more is taken; a shell's command is for its runtime to end.
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

# So many bytes at the rate there is: how long until the next may be taken? hf_slow, in hundredths of a second. Silence earns nothing.
hf_pace() {
  hf_uptime
  [ "$hf_due" -ge "$hf_now" ] || hf_due=$hf_now
  hf_due=$((hf_due + $1 * 100 / hf_rate))
  hf_slow=$((hf_due - hf_now))
}

# Start the next run if the log and the disk have room for it; else say so in `state` and wait for `again`.
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
    true >>"$hf_out" # a reader tells from it that the last one is complete, and may discard that
  fi
  set -- $hf_segs
  while [ $# -gt 1 ]; do
    hf_segment "$1"
    if [ -e "$hf_x" ]; then # else a reader has discarded it
      [ "$hf_full" = ring ] && [ $((hf_off + hf_run - $1)) -gt "$hf_limit" ] || break
      "$hf_rm" -f "$hf_x" 4>&- 5>&- 6>&- 8<&- & # nobody has to wait for that
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
  if hf_reserve || { [ "$hf_run" -gt 65536 ] && hf_bs=4096 hf_count=16 && hf_reserve; }; then # on a disk that is nearly full, less
    [ -z "$hf_paused" ] || hf_write state open
    hf_paused=
    if [ -n "$hf_direct" ]; then hf_grant; else hf_dd_run; fi
  else
    hf_wait_for_disk
  fi
}

# The command has ended with its log full, and what it has left running still writes. Nobody tells when the last of them has gone; the pipe can then be emptied.
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

# Does anybody but $1 have the pipe open?
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
  [ -z "$hf_waits" ] || return 0 # others may have asked meanwhile
  hf_waits=1
  { exec 4>&- 6>&- 8<&-; "$hf_sleep" 1; printf '\nagain waited\n' >&5; } &
}

