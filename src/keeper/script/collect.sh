# ---- K: the event loop ----

hf_collect() {
  exec 4>&- 7<&- </dev/null >/dev/null 2>&1
  hf_limit=67108864 hf_full=ring hf_paused= hf_over= hf_looking= hf_direct= hf_waits= hf_runner=
  hf_output=0 hf_rate=0 hf_due=0 hf_roll=65536 hf_w= hf_old= hf_runs= hf_stale=
  hf_clock=0 hf_seen=0 hf_mark=0 hf_bytes=0 hf_grain=10000 hf_lines=0 hf_told= # see hf_tick
  hf_dd_run
  hf_record collector
  while read -r hf_a hf_b hf_c hf_x <&5; do
    case $hf_a in
    0.*) # a time, by far the most frequent: handled later, since on two cores a reader of a key's echo would have to wait for it
      hf_told="$hf_told $hf_a ${hf_b:--}"
      if [ ${#hf_told} -gt 800 ]; then hf_count_ticks; fi
      ;;
    '') ;;
    run)
      if [ -n "$hf_stale" ] && [ "$hf_b$hf_x" = 00 ]; then # from the dd that waited for the end of the copier
        hf_stale=
        continue
      fi
      hf_runner=
      if [ -n "$hf_direct" ]; then hf_left "$hf_x" && break; else hf_ended "$hf_b" "$hf_c" "$hf_x" && break; fi
      ;;
    direct)
      hf_direct=1
      hf_grant
      ;;
    killed) hf_stale=1 ;; # the copier of a slot: the dd that waits for its end is about to report it
    dd) # in place of that copier: data that it had read but not written is lost
      hf_direct= hf_x=$(wc -c <"$hf_out" 5>&- 6>&- 8<&-)
      hf_off=$((hf_off + hf_x - hf_size)) hf_size=$hf_x
      printf '%s %s\n' "$hf_off" 65536 >>"$hf_d/gaps"
      hf_write drained dd
      exec 4<>"$hf_d/pipe" 8<"$hf_d/pipe"
      [ -n "$hf_paused" ] || hf_dd_run
      ;;
    ran)
      if [ "$hf_x" = full ]; then
        hf_off=$((hf_off + hf_c)) hf_size=$((hf_size + hf_c))
        hf_wait_for_disk
      else
        hf_ended "$hf_b" "$hf_c" "$hf_x"
      fi
      ;;
    limit) hf_limit=$hf_b hf_full=$hf_c ;;
    bound)
      hf_output=$hf_c hf_rate=$hf_x
      if [ "$hf_b" != 0 ]; then { hf_watch "$hf_b"; } & fi
      ;;
    time) # for a shell's command: seconds, and the shell; the previous command has ended
      [ -z "$hf_w" ] || kill "$hf_w"
      hf_runs="$hf_c $hf_x"
      { hf_watch "$hf_b"; } &
      hf_w=$!
      ;;
    groups) hf_cgroup=$hf_b ;;
    age)
      { hf_age "$hf_b"; } &
      hf_old=$!
      ;;
    close) exec 6>&- ;;
    hold)
      exec 4<>"$hf_d/pipe"
      hf_write state open
      ;;
    release)
      exec 4>&-
      [ -z "$hf_direct" ] || hf_tell release
      if [ "$hf_paused" = limit ] || [ "$hf_paused" = rate ]; then
        hf_over=1
        hf_next
      fi
      ;;
    ticks) { hf_pass_on; } & ;;
    size | times) # for the relay, if it records the times itself
      if [ -n "$hf_direct" ]; then hf_tell "$hf_a $hf_b $hf_c"; else hf_on_$hf_a "$hf_b" "$hf_c"; fi
      ;;
    again)
      [ "$hf_b" != waited ] || hf_waits=
      if [ -n "$hf_paused" ]; then hf_next; fi
      ;;
    alone) # the pipe has no other writer: its content is all that will ever come
      hf_looking=
      if [ "$hf_paused" = limit ]; then
        hf_bs=4096 hf_count=16
        hf_take
      fi
      ;;
    ended) # a full log may take the rest of the pipe, so that it can be closed
      hf_over=1
      [ -z "$hf_direct" ] || hf_tell over
      # S may just have ended, or was killed: then this message returns to us after any report of S, and S has reported nothing. In the background,
      # since `ctl` may be full.
      if [ -n "$hf_runner" ] && hf_gone "$hf_runner"; then { exec 4>&- 6>&- 8<&-; printf '\nunheard %s\n' "$hf_runner" >&5; } & fi
      if [ "$hf_paused" = limit ] || [ "$hf_paused" = rate ]; then hf_next; fi
      ;;
    unheard)
      if [ "$hf_runner" = "$hf_b" ]; then
        hf_runner=
        { hf_await_dd; } &
      fi
      ;;
    [0-9]*)
      hf_count_ticks
      hf_tick "$hf_a" "$hf_b"
      ;;
    esac
  done
  [ -z "$hf_w" ] || kill "$hf_w"
  [ -z "$hf_old" ] || kill "$hf_old"
  hf_on_times
  hf_release 65536 # the runtime frees a smaller rest without a process
  hf_write state "closed $hf_off"
}

hf_on_size() {
  hf_count_ticks
  hf_has terminal && "$hf_stty" rows "$1" cols "$2" <"/proc/$hf_pid/fd/0" && printf 'size %s %s %s\n' "$hf_seen" "$2" "$1" >>"$hf_d/times"
}

hf_on_times() { # a reader needs them
  hf_count_ticks
  if [ "$hf_bytes" -gt 0 ]; then hf_mark_time; fi
}

# Holds the pipe for $1 seconds at most, and only while the directory exists: afterwards no one can say `release`. A command that still prints holds
# the pipe itself.
hf_age() {
  exec 4>&- 6>&- 8<&-
  trap 'kill $hf_s; exit' TERM
  hf_n=0
  while [ $hf_n -lt "$1" ] && [ -d "$hf_d" ]; do
    "$hf_sleep" 60 5>&- &
    hf_s=$!
    wait $hf_s
    hf_n=$((hf_n + 60))
  done
  printf '\nrelease\n' >&5
}

# Passes on only times from a sandbox: a program that could write anything to `ctl` could make us kill any process.
hf_pass_on() {
  exec 4>&- 6>&- 8<&-
  ulimit -v 131072 # bounds an endless line
  while read -r hf_a hf_b; do
    case $hf_a$hf_b in '' | *[!0-9.]*) ;; *) printf '%s %s\n' "$hf_a" "$hf_b" >&5 ;; esac
  done <"$hf_d/ticks"
}

