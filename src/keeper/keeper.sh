#!/bin/sh
# The keeper: stands beside one process and owes nothing to whoever started it. docs/keeper.md is the specification.
#
#   keep      R  the parent of the command; waits for it and writes `exit`
#             K  the collector: holds stdin open, runs dd(1) from `pipe` into out.OFFSET segments, bounds the log,
#                waits for room on a full disk. Its event loop is `read` on the FIFO `ctl`
#   terminal  T  the same as R but inside the PTY, run by script(1) or one of its stand-ins
#
# POSIX sh (dash, busybox ash, bash) and dd; nothing here is in the data path but dd. Every name starts with hf_ because
# the variables of this shell and the environment of the command share one namespace. Functions are parsed before
# anything runs, so replacing this file never changes a running keeper.

# Append "$1 PID STARTTIME" of the calling (sub)shell to `meta`. $$ would be the pid of the outermost shell.
hf_record() {
  hf_role=$1
  read -r hf_x </proc/self/stat || return 1
  hf_pid=${hf_x%% *} hf_x=${hf_x##*) }
  set -f; set -- $hf_x; set +f
  shift 19
  printf '%s %s %s\n' "$hf_role" "$hf_pid" "$1" >>"$hf_d/meta"
}

# Overwrite a fixed 64-byte record in place: the blocks exist already, so a full disk cannot stop it.
hf_write() { printf '%-63s\n' "$2" 1<>"$hf_d/$1"; }

# Move this shell, and what it starts from here on, to a control group.
hf_join() { if [ -n "$1" ]; then echo 0 >"$1/cgroup.procs"; fi 2>/dev/null; }

hf_finish() { # $1: exit status. sh says "Killed" and the like on its stderr when, and only when, a signal ended the child
  if [ -s "$hf_died" ]; then hf_write exit "exit $1 $(($1 - 128))"; else hf_write exit "exit $1 -"; fi
  [ -e "$hf_bell" ] && : >"$hf_bell"
}

# ---- R ----

hf_keep() {
  hf_d=$1 hf_bell=$2 hf_keepers=$3 hf_cgroup=$4 hf_dd=$5 hf_rm=$6 hf_sleep=$7 hf_stty=$8 hf_fallocate=$9
  shift 9
  hf_df=$1
  umask 077
  hf_join "$hf_keepers" # out of the control group of a service that is killed as one
  trap : HUP INT QUIT TERM PIPE # not '': an ignored signal would be inherited by the command
  # Opening a FIFO for reading and writing never blocks; through that, one-way ends are opened, then it is closed.
  exec 3<>"$hf_d/in" 6>"$hf_d/in" 7<"$hf_d/in" 3>&- 4<>"$hf_d/pipe" 8<"$hf_d/pipe" 5<>"$hf_d/ctl"
  { hf_collect; } & # exec inside, not redirections here: a shell keeps saved copies of redirected descriptors
  hf_died=$hf_d/signal
  exec 6>&- 8<&- 2>"$hf_died"
  # R keeps `pipe` open for reading too: should the collector die, the command is paused, not killed by SIGPIPE.
  if hf_record keeper; then ( hf_record child && hf_child ); else hf_write exit 'none no room to record the process'; fi
  hf_status=$?
  read -r hf_x <"$hf_d/state" # before the collector can see the end: blank means that nothing was started
  if [ -z "$hf_x" ]; then
    read -r hf_x <"$hf_d/exit"
    [ -n "$hf_x" ] || hf_write exit 'none whoever started it disappeared'
    exec 4>&- 5>&- 7<&-
  else
    exec 4>&- 5>&- 7<&-
    [ -e "$hf_d/terminal" ] || hf_finish $hf_status # on a terminal, T has seen the end, not we
  fi
}

# Becomes the command. Waits for the word on the FIFO `go`, our stdin; if whoever started us dies before saying it, this
# is end-of-file and nothing runs. The plan (directory, environment, what to run) is emptied once it has been read.
hf_child() {
  hf_join "$hf_cgroup"
  read -r hf_x && [ "$hf_x" = go ] || return 125
  . "$hf_d/plan" || return 125
  : >"$hf_d/plan"
  printf '\nlimit %s %s\n' "$hf_limit" "$hf_full" >&5
  if [ -n "$hf_rows" ]; then
    : >"$hf_d/terminal" || return 125
    hf_write state open
    hf_join "$hf_keepers" # the relay is not part of the command
    HF_SH=$hf_sh HF_KEEPER=$hf_keeper HF_DIR=$hf_d HF_BELL=$hf_bell HF_BASH=$hf_bash HF_STTY=$hf_stty HF_MODE=$hf_mode
    HF_ROWS=$hf_rows HF_COLS=$hf_cols HF_SHELL=${SHELL-} HF_CGROUP=$hf_cgroup HF_UMASK=$hf_umask
    export HF_UMASK HF_CGROUP HF_SH HF_KEEPER HF_DIR HF_BELL HF_BASH HF_STTY HF_MODE HF_ROWS HF_COLS HF_SHELL
    unset SHELL # script(1) runs $SHELL, /bin/sh without it
    hf_inner='exec "$HF_SH" "$HF_KEEPER" terminal'
    case $hf_relay in
    script) exec "$hf_pty" -qfec "$hf_inner" -T "$hf_d/ctl" /dev/null <>"$hf_d/in" >"$hf_d/pipe" 2>/dev/null 4>&- 5>&- 7<&- ;;
    *) exec "$hf_pty" "$hf_relay" "$hf_d/ctl" "$hf_inner" <>"$hf_d/in" >"$hf_d/pipe" 2>/dev/null 4>&- 5>&- 7<&- ;;
    esac
  fi
  hf_write state open # started: from here on there is a command to report
  [ "$hf_stdin" = 1 ] || exec 7</dev/null
  exec >"$hf_d/pipe" 2>&1 <&7 3<"$hf_d/command" 4>&- 5>&- 7<&-
  umask "$hf_umask"
  hf_exec "$hf_setsid"
}

# Replace this shell by the command, through $1 (setsid) if given. Its text never appears in an argument list: bash reads
# the file `command` from descriptor 3. mapfile takes it whole and byte for byte, eval reports errors as `bash -c` does.
hf_exec() {
  case $hf_mode in
  bash) exec ${1:+"$1"} "$hf_bash" -c 'mapfile -d "" <&3; exec 3<&-; eval "$MAPFILE"' bash ;;
  sh) exec ${1:+"$1"} "$hf_bash" "$hf_d/command" 3<&- ;;
  argv)
    hf_via=$1
    . "$hf_d/command" # one line: set -- 'program' 'argument' …
    exec ${hf_via:+"$hf_via"} "$@" 3<&-
    ;;
  esac
}

# ---- T ----

hf_terminal() {
  trap : HUP INT QUIT TERM PIPE
  hf_d=$HF_DIR hf_bell=$HF_BELL hf_bash=$HF_BASH hf_mode=$HF_MODE
  "$HF_STTY" rows "$HF_ROWS" cols "$HF_COLS"
  [ -z "$HF_SHELL" ] || export SHELL="$HF_SHELL"
  hf_cgroup=$HF_CGROUP hf_umask=$HF_UMASK
  unset HF_UMASK HF_CGROUP HF_SH HF_KEEPER HF_DIR HF_BELL HF_BASH HF_STTY HF_MODE HF_ROWS HF_COLS HF_SHELL
  hf_died=$hf_d/signal.terminal
  exec 9>&2 2>"$hf_died"
  hf_record terminal
  printf '\nterminal %s\n' "$hf_pid" >"$hf_d/ctl"
  ( hf_record command; hf_join "$hf_cgroup"; umask "$hf_umask"; exec 2>&9 9>&- 3<"$hf_d/command"; hf_exec )
  hf_finish $?
}

# ---- K ----

hf_collect() {
  exec 4>&- 7<&- </dev/null >/dev/null 2>&1
  hf_limit=67108864 hf_full=ring
  hf_off=0 hf_seg=0 hf_size=0 hf_segs=0 hf_paused=
  hf_bs=4096 hf_count=16 # the first run is small, so that reserving room for it is cheap
  hf_out=$(printf '%s/out.%015d' "$hf_d" 0)
  hf_running=1 hf_error= hf_records=0
  hf_clock=0 hf_seen=0 hf_mark=0 hf_bytes=0 hf_grain=10000 hf_lines=0 # see hf_tick
  hf_dd_run
  hf_record collector
  hf_reserve
  while read -r hf_a hf_b hf_c hf_x <&5; do
    case $hf_a in
    '') ;;
    limit) hf_limit=$hf_b hf_full=$hf_c ;;
    close) exec 6>&- ;;
    terminal) hf_tty=/proc/$hf_b/fd/0 ;;
    size) "$hf_stty" rows "$hf_b" cols "$hf_c" <"$hf_tty" && printf 'size %s %s %s\n' "$hf_seen" "$hf_c" "$hf_b" >>"$hf_d/times" ;;
    again) if [ -z "$hf_running" ]; then hf_next; fi ;;
    revive) hf_revive ;;
    dd:) hf_error=1 ;;
    *)
      case $hf_b in
      records) if [ "$hf_c" = in ]; then hf_records=$((${hf_a%+*} + ${hf_a#*+})); fi ;;
      bytes) hf_ended "$hf_a" && break ;;
      [0-9]*) hf_tick "$hf_a" "$hf_b" ;;
      esac
      ;;
    esac
  done
  if [ "$hf_bytes" -gt 0 ]; then hf_mark_time; fi
  hf_release
  hf_write state "closed $hf_off"
}

# One run of dd: at most count reads of at most bs bytes, each written at once. It reports on `ctl`.
hf_dd_run() {
  hf_running=1 hf_error=
  exec 9>>"$hf_out" # fails, and ends us, when the directory is gone: nobody is interested any more
  LC_ALL=C "$hf_dd" bs=$hf_bs count=$hf_count <&8 >&9 2>&5 5>&- 6>&- 8<&- 9>&- &
  exec 9>&-
}

# A run is over. True when the last writer has closed the pipe.
hf_ended() {
  hf_running=
  wait # reap it
  hf_off=$((hf_off + $1)) hf_size=$((hf_size + $1))
  if [ "$hf_records" -lt "$hf_count" ]; then
    [ -n "$hf_error" ] || return 0
    printf '%s %s\n' "$hf_off" "$hf_bs" >>"$hf_d/gaps" # it had read a block that it could not write
  fi
  # dense output: big blocks; many small writes: many small blocks. Either way at most an eighth of the limit per run.
  hf_run=$((hf_limit / 8))
  if [ $(($1 * 2)) -ge $((hf_bs * hf_count)) ] && [ "$hf_run" -ge 65536 ]; then hf_bs=65536; else hf_bs=4096; fi
  hf_count=$((hf_run / hf_bs))
  [ "$hf_count" -ge 1 ] || hf_count=1
  hf_next
  return 1
}

# Start the next run if the log and the disk have room for it; else say so in `state` and wait for `again`.
hf_next() {
  hf_run=$((hf_bs * hf_count))
  if [ "$hf_size" -ge "$hf_run" ]; then
    hf_release
    hf_segs="$hf_segs $hf_off" hf_seg=$hf_off hf_size=0
    hf_out=$(printf '%s/out.%015d' "$hf_d" "$hf_off")
  fi
  set -- $hf_segs
  while [ $# -gt 1 ]; do
    hf_x=$(printf '%s/out.%015d' "$hf_d" "$1")
    if [ ! -e "$hf_x" ]; then shift; continue; fi # a reader has discarded it
    [ $((hf_off + hf_run - $1)) -gt "$hf_limit" ] || break
    [ "$hf_full" = ring ] || break
    "$hf_rm" -f "$hf_x"
    shift
  done
  hf_segs="$*"
  if [ "$hf_full" = block ] && [ $((hf_off + hf_run - $1)) -gt "$hf_limit" ]; then
    hf_running=
    hf_write state "paused limit $hf_off"
    hf_paused=1
  elif hf_reserve; then
    [ -z "$hf_paused" ] || hf_write state open
    hf_paused=
    hf_dd_run
  else
    hf_running=
    hf_write state "paused disk $hf_off"
    hf_paused=1
    { "$hf_sleep" 1; printf '\nagain\n' >&5; } 6>&- 8<&- &
  fi
}

# Room for the coming run, so that dd cannot meet a full disk with bytes in its hands.
hf_reserve() {
  hf_run=$((hf_bs * hf_count))
  if [ -n "$hf_fallocate" ]; then
    "$hf_fallocate" -n -o "$hf_size" -l "$hf_run" "$hf_out" 5>&- 6>&- 8<&- || return 1
    hf_reserved=$((hf_size + hf_run))
  elif [ -n "$hf_df" ]; then
    set -- $("$hf_df" -Pk "$hf_d" 5>&- 6>&- 8<&-)
    eval "hf_x=\${$(($# - 2))}"
    [ "$hf_x" -gt $((hf_run / 1024 * 4)) ] 2>/dev/null
  fi
}

# Give back what was reserved and not used. The small first reservation is left to the runtime, which needs no process for it.
hf_release() {
  if [ "${hf_reserved:-0}" -gt $((hf_size + 65536)) ]; then
    "$hf_dd" if=/dev/null of="$hf_out" bs=1 seek="$hf_size" count=0 5>&- 6>&- 8<&-
  fi
  hf_reserved=0
}

# dd was killed: its report never came. Count what it wrote, and go on; what it held is gone.
hf_revive() {
  hf_x=$(LC_ALL=C "$hf_dd" if="$hf_out" of=/dev/null bs=65536 2>&1 5>&- 6>&- 8<&-)
  hf_x=${hf_x##*out}
  set -- $hf_x
  hf_off=$((hf_seg + $1)) hf_size=$1
  printf '%s %s\n' "$hf_off" "$hf_bs" >>"$hf_d/gaps"
  hf_next
}

# script(1) says: so many seconds later, so many bytes. Kept as microseconds since the start and a byte count; what comes
# within one grain is one line, and the grain doubles every 65,536 lines, so that the file stays small for ever.
hf_tick() {
  hf_x=${1#*.}000000
  hf_x=${hf_x%"${hf_x#??????}"}
  hf_clock=$((hf_clock + ${1%.*} * 1000000 + 1$hf_x - 1000000))
  if [ "$hf_bytes" -gt 0 ] && [ $((hf_clock - hf_mark)) -gt $hf_grain ]; then hf_mark_time; fi
  if [ "$hf_bytes" -eq 0 ]; then hf_mark=$hf_clock; fi
  hf_bytes=$((hf_bytes + $2)) hf_seen=$((hf_seen + $2))
}
hf_mark_time() {
  printf '%s %s\n' "$hf_mark" "$hf_bytes" >>"$hf_d/times"
  hf_bytes=0 hf_lines=$((hf_lines + 1))
  if [ "$hf_lines" -ge 65536 ]; then hf_lines=0 hf_grain=$((hf_grain * 2)); fi
}

case $1 in
keep) shift; hf_keep "$@" ;;
terminal) hf_terminal ;;
esac
exit
