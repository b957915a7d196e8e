# ---- I: the parent of a command in a sandbox ----

# Our own pid is outside of the sandbox's pid namespace, the pids of our children are inside; so no process inside sees us, and we have no /proc/self.
# R reads our stderr, its own file, as it reads that of its own shell.
hf_inside() {
  trap : HUP INT QUIT TERM PIPE
  hf_bash=$HOLDFAST_K_BASH hf_mode=$HOLDFAST_K_MODE hf_setsid=$HOLDFAST_K_SETSID
  hf_functions=${HOLDFAST_K_FUNCTIONS:+/proc/self/fd/4}
  unset HOLDFAST_K_BASH HOLDFAST_K_MODE HOLDFAST_K_SETSID HOLDFAST_K_FUNCTIONS
  exec 9>&2 2>&8 8>&-
  ( exec 2>&9 9>&-; hf_home; hf_environment=/proc/self/fd/6; hf_inherit; exec 6<&-; hf_text=/proc/self/fd/3; hf_exec "$hf_setsid" '' )
}

# Loads the command's environment. Until here it is empty: LD_PRELOAD and the like must not affect the programs on the way in, which run partly
# outside and with rights that the command must not have.
hf_inherit() {
  . "$hf_environment"
  : >"$hf_environment"
}

# Changes to the requested directory, by its name inside.
hf_home() {
  [ -n "${HOLDFAST_K_CWD-}" ] || return 0
  cd -- "$HOLDFAST_K_CWD" || exit 126
  unset OLDPWD HOLDFAST_K_CWD
}

# ---- T: the parent of a command on a terminal ----

# The command leads its own session, and so the foreground group of the terminal, like the command of `ssh -t`: a program that wants to lead a group
# already does, and is not stopped as a background one. T is not in that session, so no signal there reaches it.
hf_terminal() {
  trap : HUP INT QUIT TERM PIPE
  hf_inside=${HOLDFAST_K_CWD-}
  hf_d=$HOLDFAST_K_DIR hf_bell=$HOLDFAST_K_BELL hf_bash=$HOLDFAST_K_BASH hf_mode=$HOLDFAST_K_MODE
  hf_stty=${HOLDFAST_K_STTY-} hf_rows=$HOLDFAST_K_ROWS hf_cols=$HOLDFAST_K_COLS
  hf_cgroup=$HOLDFAST_K_CGROUP hf_umask=$HOLDFAST_K_UMASK hf_bound=$HOLDFAST_K_BOUND hf_lone=${HOLDFAST_K_LONE-}
  hf_setsid=${HOLDFAST_K_SETSID-setsid} hf_stopped=
  trap hf_stopped=1 CONT
  unset HOLDFAST_K_LONE HOLDFAST_K_SETSID HOLDFAST_K_BOUND HOLDFAST_K_UMASK HOLDFAST_K_CGROUP HOLDFAST_K_SH HOLDFAST_K_KEEPER HOLDFAST_K_DIR HOLDFAST_K_BELL HOLDFAST_K_BASH HOLDFAST_K_STTY HOLDFAST_K_MODE HOLDFAST_K_ROWS HOLDFAST_K_COLS
  exec 9>&2
  if ! hf_listen signal.terminal || ! hf_record terminal; then
    hf_write exit 'none no room to record it: the disk is full'
    return
  fi
  # stty is a child of the command's process, so that T has only that one child.
  ( hf_record command; [ -z "$hf_stty" ] || "$hf_stty" rows "$hf_rows" cols "$hf_cols"; hf_join "$hf_cgroup"; umask "$hf_umask"; hf_bound $hf_bound; exec 2>&9 9>&- 3<"$hf_d/command"; hf_home; hf_environment=$hf_d/environment; hf_inherit; hf_exec "$hf_setsid" "${hf_setsid:+-c}" )
  hf_status=$?
  [ -n "$hf_setsid" ] || [ -z "$hf_stopped" ] || [ "$PPID" -le 1 ] || hf_wake &
  hf_finish $hf_status
}

# Wakes script(1), which stops itself when it sees T stopped. T is stopped briefly when the command's group is killed, and script may then miss that T
# has ended. So it gets CONT, and KILL if it still exists a second later.
hf_wake() {
  trap '' HUP
  exec </dev/null >/dev/null 2>&1 9>&-
  hf_n=0
  while [ $hf_n -lt 50 ] && kill -CONT "$PPID"; do
    [ $hf_n -lt 10 ] || kill -KILL "$PPID"
    hf_n=$((hf_n + 1))
    sleep 0.1 || sleep 1
  done
}

