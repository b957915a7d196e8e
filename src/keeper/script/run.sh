# ---- R: starts K and the command, waits for the command ----

hf_keep() {
  hf_d=$1 hf_bell=$2 hf_keepers=$3 hf_escape=$4 hf_cgroup=$5 hf_dd=$6 hf_rm=$7 hf_sleep=$8 hf_stty=$9
  shift 9
  hf_fallocate=$1 hf_df=$2 hf_perl=${3-} hf_copy=${4-}
  umask 077
  [ -z "$hf_escape" ] || hf_join "$hf_keepers" # leaves the cgroup of a service, which may be killed as a whole
  trap : HUP INT QUIT TERM PIPE # not '': the command would inherit an ignored signal
  # Opening a FIFO for reading and writing never blocks; the one-way ends are opened meanwhile, then that descriptor is closed.
  exec 3<>"$hf_d/in" 6>"$hf_d/in" 7<"$hf_d/in" 3>&- 4<>"$hf_d/pipe" 8<"$hf_d/pipe" 5<>"$hf_d/ctl"
  hf_off=0 hf_seg=0 hf_size=0 hf_segs=0
  hf_bs=4096 hf_count=16 # the first run is small, so that reserving room for it is cheap
  hf_segment 0
  hf_out=$hf_x
  if ! hf_reserve; then
    hf_write exit 'none no room for its output: the disk is full'
    return
  fi
  { hf_collect; } & # exec inside instead of redirections here: a shell keeps saved copies of redirected descriptors
  exec 6>&- 8<&-
  # R keeps `pipe` open for reading too: if the collector dies, the command blocks and is not killed by SIGPIPE.
  hf_listen signal && hf_record keeper && ( hf_record child || exit 124; hf_child )
  hf_status=$?
  if [ -e "$hf_d/held" ]; then # another process writes the end
    hf_x=
    if [ "$hf_status" != 0 ] && [ ! -e "$hf_d/released" ] && read -r hf_x <"$hf_d/drained" && [ -n "$hf_x" ]; then hf_replace_copier; fi
    return 0
  fi
  read -r hf_x <"$hf_d/state" # before the collector can see the end: blank means that nothing was started
  if [ -z "$hf_x" ]; then
    read -r hf_x <"$hf_d/exit"
    if [ -n "$hf_x" ]; then :; elif hf_has child; then hf_write exit 'none the program that started it disappeared'; else hf_write exit 'none no room to record it: the disk is full'; fi
    exec 4>&- 5>&- 7<&-
  else
    exec 4>&- 5>&- 7<&-
    if [ ! -e "$hf_d/terminal" ]; then
      hf_finish $hf_status
    else # T has recorded the end
      read -r hf_end <"$hf_d/exit"
      if [ -z "$hf_end" ]; then
        hf_has terminal || hf_write exit 'none the terminal could not be made'
      elif hf_has entered; then
        hf_settle "$hf_end" # inside the sandbox T could not notify anyone
      fi
    fi
  fi
}

# Becomes the command. Waits for `go` on the FIFO of that name, our stdin; if the starter dies first, this is end-of-file and nothing runs. The plan
# (directory, environment, command) is emptied once it has been read.
hf_child() {
  hf_join "$hf_cgroup"
  hf_joined=$?
  read -r hf_x || return 125
  case $hf_x in
  go) ;;
  hold* | keep*)
    hf_hold $hf_x
    return
    ;;
  *) return 125 ;;
  esac
  . "$hf_d/plan" || return 125
  : >"$hf_d/plan"
  if [ -n "$hf_groups" ]; then # the keeper was started with the cgroups of another task
    hf_cgroup=$hf_groups
    printf '%s\n' "$hf_cgroup" >"$hf_d/groups" # for R
    hf_join "$hf_cgroup"
    hf_joined=$?
  fi
  if [ "$hf_joined$hf_strict" = 11 ]; then
    hf_write exit 'none its control group refused it, so its limits would not hold'
    return 125
  fi
  printf '\nlimit %s %s\nbound %s %s %s\ngroups %s\n' "$hf_limit" "$hf_full" "$hf_time" "$hf_output" "$hf_rate" "$hf_cgroup" >&5
  if [ -n "$hf_guard" ]; then
    if ! hf_same $hf_guard; then
      hf_write exit 'none its sandbox has just ended; try again'
      return 125
    fi
    hf_record entered || return 125
    HOLDFAST_K_CWD=$hf_cwd
    export HOLDFAST_K_CWD
    hf_cgroup= # we are in it already, and it cannot be joined from inside the sandbox
  fi
  if [ -n "$hf_rows" ]; then
    : >"$hf_d/terminal" || return 125
    hf_write state open
    if [ -n "$hf_guard" ]; then printf '\nticks\n' >&5; else hf_join "$hf_keepers"; fi # the relay is not part of the command
    HOLDFAST_K_SH=$hf_sh HOLDFAST_K_KEEPER=$hf_keeper HOLDFAST_K_DIR=$hf_seen HOLDFAST_K_BELL=$hf_bell HOLDFAST_K_BASH=$hf_bash HOLDFAST_K_STTY=$hf_stty HOLDFAST_K_MODE=$hf_mode
    HOLDFAST_K_ROWS=$hf_rows HOLDFAST_K_COLS=$hf_cols HOLDFAST_K_CGROUP=$hf_cgroup HOLDFAST_K_UMASK=$hf_umask HOLDFAST_K_BOUND=$hf_bound
    HOLDFAST_K_LONE=$hf_lone HOLDFAST_K_SETSID=$hf_setsid
    [ "$hf_relay" != script ] || HOLDFAST_K_SETSID= # script makes T the leader of the terminal's session, and only T could give that up
    export HOLDFAST_K_LONE HOLDFAST_K_SETSID HOLDFAST_K_BOUND HOLDFAST_K_UMASK HOLDFAST_K_CGROUP HOLDFAST_K_SH HOLDFAST_K_KEEPER HOLDFAST_K_DIR HOLDFAST_K_BELL HOLDFAST_K_BASH HOLDFAST_K_STTY HOLDFAST_K_MODE HOLDFAST_K_ROWS HOLDFAST_K_COLS
    hf_inner='exec "$HOLDFAST_K_SH" "$HOLDFAST_K_KEEPER" terminal'
    case $hf_relay in
    script) hf_enter "$hf_pty" -qfec "$hf_inner" -T "$hf_seen/$hf_ticks" /dev/null <>"$hf_d/in" >"$hf_d/pipe" 2>/dev/null 4>&- 5>&- 7<&- ;;
    *.pl) hf_enter "$hf_pty" "$hf_relay" "$hf_seen/$hf_ticks" "$hf_clock" <>"$hf_d/in" >"$hf_d/pipe" 2>/dev/null 4>&- 5>&- 7<&- ;;
    *) hf_enter "$hf_pty" "$hf_relay" "$hf_seen/$hf_ticks" "$hf_inner" <>"$hf_d/in" >"$hf_d/pipe" 2>/dev/null 4>&- 5>&- 7<&- ;;
    esac
  fi
  hf_write state open # started: from now on there is a command to report
  [ "$hf_stdin" = 1 ] || exec 7</dev/null
  [ -z "$hf_guard" ] || exec 8>&2 # for I, whose messages R reads
  exec >"$hf_d/pipe" 2>&1 <&7 3<"$hf_d/command" 4>&- 5>&- 7<&-
  umask "$hf_umask"
  hf_bound $hf_bound
  if [ -n "$hf_guard" ]; then
    export HOLDFAST_K_MODE="$hf_mode" HOLDFAST_K_BASH="$hf_bash" HOLDFAST_K_SETSID="$hf_setsid"
    if [ -e "$hf_d/functions" ]; then
      exec 4<"$hf_d/functions"
      export HOLDFAST_K_FUNCTIONS=1
    fi
    exec 6<"$hf_d/environment"
    hf_enter "$hf_sh" "$hf_keeper" inside
  fi
  hf_exec "$hf_setsid" ''
}

