#!/bin/sh
# The keeper: stands beside one process and owes nothing to whoever started it. docs/keeper.md is the specification.
# One text of several parts: src/keeper/script, joined by scripts/build-scripts.mjs.
#
#   keep      R  the parent of the command; waits for it and writes `exit`
#             K  the collector: holds stdin open, has dd(1) copy from `pipe` into out.OFFSET segments, or a relay write them,
#                bounds the log, waits for room on a full disk. Its event loop is `read` on the FIFO `ctl`
#             S  K's child: runs one dd and reports how it ended
#             W  K's child, where the command may run only for so long: ends it then
#   terminal  T  the same as R but inside the PTY, run by the relay: ours in perl, which writes the log itself, script(1), or ours in python
#   inside    I  in a sandbox: the parent of a command without a PTY; what becomes of it R sees through us
#
# POSIX sh (dash, busybox ash, bash) and dd; nothing here is in the data path but dd and the relay. Every name starts with hf_ because
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

# Is there a $1 in `meta`? Then hf_pid is its pid.
hf_has() { while read -r hf_x hf_pid hf_y; do [ "$hf_x" != "$1" ] || return 0; done <"$hf_d/meta"; return 1; }

# Overwrite a fixed 64-byte record in place: the blocks exist already, so a full disk cannot stop it.
hf_write() { printf '%-63s\n' "$2" 1<>"$hf_d/$1"; }

# Move this shell, and what it starts from here on, to control groups, joined by colons. False if one of them refuses it.
hf_join() {
  hf_ok=0
  IFS=:; set -f; set -- $1; set +f; unset IFS
  for hf_x do if [ -n "$hf_x" ]; then echo 0 >"$hf_x/cgroup.procs" || hf_ok=1; fi; done 2>/dev/null
  return $hf_ok
}

# sh says "Killed" and the like on its stderr when, and only when, a signal ended the child. From here on it says so in the file $1, whose
# block is there already: on a full disk, too. False if there is no room for that block.
hf_listen() {
  hf_died=$hf_d/$1
  printf '%-63s\n' - >"$hf_died" || return 1
  exec 2<>"$hf_died"
}

hf_finish() { # $1: exit status
  read -r hf_x <"$hf_died"
  if [ "$hf_x" != - ]; then hf_signal=$(($1 - 128)); else hf_signal=-; fi
  if [ -n "$hf_inside" ]; then hf_write exit "exit $1 $hf_signal"; else hf_settle "exit $1 $hf_signal"; fi # R does the rest
}

# The end is known: write it down, and tell everybody.
hf_settle() {
  hf_counts "$1"
  hf_x=
  read -r hf_x <"$hf_d/limit"
  hf_write exit "$1${hf_x:+ limit}"
  while read -r hf_role hf_pid hf_start; do
    if [ "$hf_role" = timer ] && hf_same "$hf_pid" "$hf_start"; then kill "$hf_pid"; fi
  done <"$hf_d/meta" 2>/dev/null
  printf '\nended\n' 1<>"$hf_d/ctl" # opened for both, so that it cannot block
  [ -e "$hf_bell" ] && : >"$hf_bell"
}

# ---- limits: which was met, and whose it is; ulimit for one program ----

# A limit was met: NAME, and whose it is. The first that is noted stays.
hf_met() {
  hf_x=
  read -r hf_x <"$hf_d/limit"
  [ -n "$hf_x" ] || hf_write limit "$1"
} 2>/dev/null

# What the control groups of the command have counted. $1: how it ended. No programs: this is on the way to the end.
hf_counts() {
  # One group for all that is in a container: this one was killed, and the kernel has killed somebody since it was started.
  case $1 in 'exit 137 '*)
    if [ -e "$hf_d/counted" ] && read -r hf_f hf_old <"$hf_d/counted" && hf_count "$hf_f" oom_kill && [ "$hf_n" -gt "$hf_old" ]; then hf_met 'memory task'; fi ;;
  esac
  if [ -e "$hf_d/groups" ]; then read -r hf_cgroup <"$hf_d/groups"; fi
  IFS=:; set -f; set -- $hf_cgroup; set +f; unset IFS
  for hf_g do
    if [ -z "$hf_g" ]; then :
    elif hf_count "$hf_g/memory.events" oom_kill; then hf_oom
    elif hf_count "$hf_g/memory.oom_control" oom_kill; then hf_oom
    fi
    if hf_count "$hf_g/pids.events" max; then hf_met pids; fi
  done
}

# The kernel has killed somebody in group hf_g for memory: whose limit was it?
hf_oom() {
  if hf_at_limit "$hf_g"; then hf_met 'memory process'
  elif hf_at_limit "${hf_g%/*}"; then hf_met 'memory task'
  else hf_met 'memory machine'
  fi
}

# True if group $1 has been at its own limit. Version 1 has a counter for that too, which newer kernels leave at 0.
hf_at_limit() {
  if [ -e "$1/memory.events" ]; then
    hf_count "$1/memory.events.local" oom
  else
    hf_x=0 hf_n=0
    read -r hf_x <"$1/memory.max_usage_in_bytes"
    read -r hf_n <"$1/memory.limit_in_bytes"
    [ "$hf_x" -ge $((hf_n / 16 * 15)) ]
  fi
} 2>/dev/null

# True if the number behind the word $2 in file $1 is not 0.
hf_count() {
  [ -r "$1" ] || return 1
  while read -r hf_x hf_n; do
    if [ "$hf_x" = "$2" ]; then [ "$hf_n" != 0 ]; return; fi
  done <"$1"
  return 1
} 2>/dev/null

# What one program may use, by ulimit: pairs of letter and number. What is refused is held tighter by somebody else already.
hf_bound() {
  while [ $# -gt 1 ]; do
    hf_x=$1
    if [ "$1" = u ] && ! (ulimit -u) >/dev/null; then hf_x=p; fi # as dash calls it
    ulimit -S "-$hf_x" "$2"
    if [ "$1" = t ]; then ulimit -H -t $(($2 + 2)); else ulimit -H "-$hf_x" "$2"; fi # XCPU comes first, KILL then
    shift 2
  done
} 2>/dev/null

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

# ---- ending a command with all that it has started ----

# End the command and all that it has started, because of a limit: TERM, two seconds, KILL until a look finds nothing. A shell goes on with
# the next line of its script when its child is ended, so each time all of it is stopped first; as in src/process/halt.ts and kill.ts (docs/keeper.md, "Who decides").
hf_end() {
  hf_x=
  read -r hf_x <"$hf_d/exit"
  [ -z "$hf_x" ] || return 0
  hf_met "$1"
  true >"$hf_d/killed"
  hf_halt
  hf_look=0
  while [ $hf_look -lt 5 ] && hf_forking; do
    hf_moment
    hf_halt
    hf_look=$((hf_look + 1))
  done
  hf_reached= hf_shell=${hf_runs%% *}
  for hf_w in $hf_m; do if [ "${hf_w%%/*}" != "$hf_shell" ] && hf_kill TERM "$hf_w"; then hf_reached=1; fi; done
  hf_find_deaf
  if [ -n "$hf_shell" ] && hf_same $hf_runs; then kill -KILL "$hf_shell" && hf_reached=1; fi # it ignores TERM
  hf_continue
  if [ -z "$hf_reached" ]; then # it had just ended by itself
    hf_write limit ''
    "$hf_rm" -f "$hf_d/killed"
    return
  fi
  hf_uptime
  hf_until=$((hf_now + 200))
  while hf_members; hf_heeding && hf_uptime && [ "$hf_now" -lt "$hf_until" ]; do hf_moment; done
  hf_look=0 hf_deaf=' '
  while [ -n "$hf_m" ] && [ $hf_look -lt 30 ]; do
    hf_halt
    for hf_w in $hf_m; do hf_kill KILL "$hf_w"; done
    if [ -n "${hf_cgroup%%:*}" ] && [ -z "$hf_entered" ]; then echo 1 >"${hf_cgroup%%:*}/cgroup.kill"; fi # in a sandbox our own are in it
    hf_m=
    hf_continue
    hf_moment
    hf_members
    hf_look=$((hf_look + 1))
  done
  if [ -n "$hf_m" ]; then
    hf_x=
    for hf_w in $hf_m; do hf_x="$hf_x ${hf_w%%/*}"; done
    hf_write limit "$1 left$hf_x"
  fi
} 2>/dev/null

hf_moment() { "$hf_sleep" 0.05 || "$hf_sleep" 1; }

# Send STOP to all of it, until a look finds nothing that was not sent it. Groups are stopped as one: by number, what forks and exits all the time gets away.
hf_halt() {
  hf_sent=' ' hf_groups=' ' hf_round=0
  hf_stat self
  set -- $hf_x
  hf_own=$3
  while hf_members; [ $hf_round -lt 40 ]; do
    hf_new=
    for hf_w in $hf_m; do
      case $hf_sent in *" $hf_w "*) continue ;; esac
      hf_new=1 hf_sent="$hf_sent$hf_w " hf_g=${hf_w##*/}
      if hf_whole "$hf_g" && kill -STOP "-$hf_g"; then
        case $hf_groups in *" $hf_g "*) ;; *) hf_groups="$hf_groups$hf_g " ;; esac
      else
        hf_kill STOP "$hf_w"
      fi
    done
    [ -n "$hf_new" ] || return 0
    hf_round=$((hf_round + 1))
  done
}

# Can group $1 be stopped as one? Its leader is of the command or ours, or gone; and we are not in it.
hf_whole() {
  if [ "$1" -le 1 ] || [ "$1" = "$hf_own" ]; then return 1; fi
  case "$hf_m $hf_ours " in *" $1/"* | *" $1 "*) return 0 ;; esac
  [ ! -e "/proc/$1" ]
}

# Signal $1 to $2, a word of hf_m, if it is still that process.
hf_kill() {
  hf_y=${2#*/}
  hf_same "${2%%/*}" "${hf_y%%/*}" && kill "-$1" "${2%%/*}"
}

# Let all go on that was stopped, but for those of hf_deaf and their groups: children first, and then whoever else is in the groups.
hf_continue() {
  hf_back= hf_held=' '
  for hf_w in $hf_m; do hf_back="$hf_w $hf_back"; done
  for hf_w in $hf_back; do
    case $hf_deaf in *" ${hf_w%%/*} "*) hf_held="$hf_held${hf_w##*/} " ;; *) hf_kill CONT "$hf_w" ;; esac
  done
  for hf_g in $hf_groups; do
    case $hf_held in *" $hf_g "*) ;; *) kill -CONT "-$hf_g" ;; esac
  done
}

# hf_deaf = those that ignore TERM while a child does not, as interactive shells do: they would go on with what comes after it.
hf_find_deaf() {
  hf_deaf=' ' hf_ignore=' '
  for hf_w in $hf_m; do if hf_ignores "${hf_w%%/*}"; then hf_ignore="$hf_ignore${hf_w%%/*} "; fi; done
  for hf_w in $hf_m; do
    case $hf_ignore in *" ${hf_w%%/*} "*) continue ;; esac
    hf_x=${hf_w#*/*/}
    case $hf_ignore in *" ${hf_x%%/*} "*) hf_deaf="$hf_deaf${hf_x%%/*} " ;; esac
  done
}

# Let those go on for a moment that have a child and block TERM, as a shell does while it forks: until then an interactive one does not show that it
# ignores TERM. Is there one?
hf_forking() {
  hf_parents=' ' hf_any=
  for hf_w in $hf_m; do
    hf_y=${hf_w#*/*/}
    hf_parents="$hf_parents${hf_y%%/*} "
  done
  for hf_w in $hf_m; do
    case $hf_parents in *" ${hf_w%%/*} "*) ;; *) continue ;; esac
    [ "${hf_w%%/*}" != "${hf_runs%% *}" ] && hf_masks SigBlk "${hf_w%%/*}" && hf_kill CONT "$hf_w" && hf_any=1
  done
  [ -n "$hf_any" ]
}

hf_ignores() { hf_masks SigIgn "$1"; }

# Is TERM in the mask $1 of process $2? Signal 15 is bit 14.
hf_masks() {
  while read -r hf_x hf_y; do
    case $hf_x$hf_y in "$1":*[4567cdef]???) return 0 ;; "$1":*) return 1 ;; esac
  done <"/proc/$2/status"
  return 1
}

# Is anything left that can act on a TERM?
hf_heeding() {
  for hf_w in $hf_m; do case $hf_deaf in *" ${hf_w%%/*} "*) ;; *) return 0 ;; esac; done
  return 1
}

# ---- what belongs to a command ----

# hf_m = what belongs to the command and is alive, a word PID/START/PARENT/GROUP each: its control group, unless it shares that of a shell; else what hangs
# below it, or below R, to whom orphans may go, and what has its mark in the environment. What it has started through another keeper is that one's.
hf_members() {
  hf_m= hf_entered= hf_ours=' ' hf_todo= hf_lives=
  if hf_has entered; then hf_entered=1; fi
  if [ -z "$hf_runs" ] && [ -z "$hf_entered" ] && [ -n "${hf_cgroup%%:*}" ] && [ -e "${hf_cgroup%%:*}/cgroup.procs" ]; then
    while read -r hf_p; do hf_add; done <"${hf_cgroup%%:*}/cgroup.procs"
    return
  fi
  while read -r hf_role hf_pid hf_start; do
    hf_same "$hf_pid" "$hf_start" || continue
    case $hf_role in
    command) hf_todo="$hf_todo $hf_pid" hf_lives=1 ;;
    child) if [ -n "$hf_entered" ] || [ -e "$hf_d/terminal" ]; then hf_ours="$hf_ours$hf_pid "; else hf_todo="$hf_todo $hf_pid"; fi ;;
    keeper)
      hf_ours="$hf_ours$hf_pid "
      hf_children "$hf_pid"
      ;;
    *) hf_ours="$hf_ours$hf_pid " ;;
    esac
  done <"$hf_d/meta"
  if [ -n "$hf_entered" ] && [ -z "$hf_runs" ] && [ -e "${hf_cgroup%%:*}/cgroup.procs" ]; then
    while read -r hf_x; do hf_todo="$hf_todo $hf_x"; done <"${hf_cgroup%%:*}/cgroup.procs"
  fi
  # The kernel gives the number of an empty namespace to the next one: it is this command's only while this command is in it.
  if [ -n "$hf_entered" ] && [ -n "$hf_lives" ] && hf_has namespace && [ "$hf_pid" != "$(readlink /proc/self/ns/uts)" ]; then
    hf_x=${hf_pid#*[}
    for hf_x in $(find /proc/[0-9]*/ns/uts -lname "uts:?${hf_x%]}?"); do
      hf_x=${hf_x#/proc/}
      hf_todo="$hf_todo ${hf_x%%/*}"
    done
  fi
  if [ -n "$hf_runs" ]; then # a shell, when it was started, and children that it had before
    set -- $hf_runs
    if hf_same "$1" "$2"; then hf_todo="$hf_todo $1"; fi
    shift 2
    hf_ours="$hf_ours$* "
  fi
  hf_which
  for hf_x in $(grep -ls "HOLDFAST_ID=$hf_id" /proc/[0-9]*/environ); do
    hf_x=${hf_x#/proc/}
    hf_todo="$hf_todo ${hf_x%/environ}"
  done
  set -- $hf_todo
  while [ $# -gt 0 ]; do
    hf_p=$1
    shift
    case "$hf_ours$hf_m " in *" $hf_p "* | *" $hf_p/"*) continue ;; esac
    if hf_add; then
      hf_todo=
      hf_children "$hf_p"
      set -- "$@" $hf_todo
    fi
  done
}

# Put process hf_p into hf_m. False if it has ended, or is a keeper.
hf_add() {
  hf_stat "$hf_p" || return 1
  set -f; set -- $hf_x; set +f
  case $1 in [ZX]) return 1 ;; esac
  [ $# -gt 19 ] || return 1
  hf_w=$2/$3 hf_y=$4
  shift 19
  if [ "$hf_y" = "$hf_p" ] && hf_keeps "$hf_p" "$1"; then return 1; fi # keepers lead their session
  hf_m="$hf_m $hf_p/$1/$hf_w"
}

# Is process $1, started at $2, a keeper, by its arguments and by the directory that they name? Arguments alone can be anybody's.
hf_keeps() {
  hf_f=$(tr '\n\0' ' \n' <"/proc/$1/cmdline" | while IFS= read -r hf_x; do case $hf_x in */keeper/keeper.sh) read -r hf_x && [ "$hf_x" = keep ] && IFS= read -r hf_x && printf %s "$hf_x" && break ;; esac; done)
  [ -n "$hf_f" ] || return 1
  while read -r hf_role hf_pid hf_start; do
    if [ "$hf_role $hf_pid $hf_start" = "keeper $1 $2" ]; then return 0; fi
  done <"$hf_f/meta"
  return 1
}

hf_children() {
  for hf_f in /proc/$1/task/*/children; do
    hf_x=
    read -r hf_x <"$hf_f"
    hf_todo="$hf_todo $hf_x"
  done
}

# ---- R: starts K and the command, waits for the command ----

hf_keep() {
  hf_d=$1 hf_bell=$2 hf_keepers=$3 hf_escape=$4 hf_cgroup=$5 hf_dd=$6 hf_rm=$7 hf_sleep=$8 hf_stty=$9
  shift 9
  hf_fallocate=$1 hf_df=$2 hf_perl=${3-} hf_copy=${4-}
  umask 077
  [ -z "$hf_escape" ] || hf_join "$hf_keepers" # out of the control group of a service that is killed as one
  trap : HUP INT QUIT TERM PIPE # not '': an ignored signal would be inherited by the command
  # Opening a FIFO for reading and writing never blocks; through that, one-way ends are opened, then it is closed.
  exec 3<>"$hf_d/in" 6>"$hf_d/in" 7<"$hf_d/in" 3>&- 4<>"$hf_d/pipe" 8<"$hf_d/pipe" 5<>"$hf_d/ctl"
  hf_off=0 hf_seg=0 hf_size=0 hf_segs=0
  hf_bs=4096 hf_count=16 # the first run is small, so that reserving room for it is cheap
  hf_segment 0
  hf_out=$hf_x
  if ! hf_reserve; then
    hf_write exit 'none no room for its output: the disk is full'
    return
  fi
  { hf_collect; } & # exec inside, not redirections here: a shell keeps saved copies of redirected descriptors
  exec 6>&- 8<&-
  # R keeps `pipe` open for reading too: should the collector die, the command is paused, not killed by SIGPIPE.
  hf_listen signal && hf_record keeper && ( hf_record child || exit 124; hf_child )
  hf_status=$?
  if [ -e "$hf_d/held" ]; then # the end is for others to write
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
    else # T has seen the end, not we
      read -r hf_end <"$hf_d/exit"
      if [ -z "$hf_end" ]; then
        hf_has terminal || hf_write exit 'none the terminal could not be made'
      elif hf_has entered; then
        hf_settle "$hf_end" # from in there T could not tell anybody
      fi
    fi
  fi
}

# Becomes the command. Waits for the word on the FIFO `go`, our stdin; if whoever started us dies before saying it, this
# is end-of-file and nothing runs. The plan (directory, environment, what to run) is emptied once it has been read.
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
  if [ -n "$hf_groups" ]; then # those of another task than was thought
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
    hf_cgroup= # all of us are in it already, and in there it cannot be joined
  fi
  if [ -n "$hf_rows" ]; then
    : >"$hf_d/terminal" || return 125
    hf_write state open
    if [ -n "$hf_guard" ]; then printf '\nticks\n' >&5; else hf_join "$hf_keepers"; fi # the relay is not part of the command
    HOLDFAST_K_SH=$hf_sh HOLDFAST_K_KEEPER=$hf_keeper HOLDFAST_K_DIR=$hf_seen HOLDFAST_K_BELL=$hf_bell HOLDFAST_K_BASH=$hf_bash HOLDFAST_K_STTY=$hf_stty HOLDFAST_K_MODE=$hf_mode
    HOLDFAST_K_ROWS=$hf_rows HOLDFAST_K_COLS=$hf_cols HOLDFAST_K_CGROUP=$hf_cgroup HOLDFAST_K_UMASK=$hf_umask HOLDFAST_K_BOUND=$hf_bound
    HOLDFAST_K_LONE=$hf_lone HOLDFAST_K_SETSID=$hf_setsid
    [ "$hf_relay" != script ] || HOLDFAST_K_SETSID= # it makes T the leader of the terminal's session, and only T could give that up
    export HOLDFAST_K_LONE HOLDFAST_K_SETSID HOLDFAST_K_BOUND HOLDFAST_K_UMASK HOLDFAST_K_CGROUP HOLDFAST_K_SH HOLDFAST_K_KEEPER HOLDFAST_K_DIR HOLDFAST_K_BELL HOLDFAST_K_BASH HOLDFAST_K_STTY HOLDFAST_K_MODE HOLDFAST_K_ROWS HOLDFAST_K_COLS
    hf_inner='exec "$HOLDFAST_K_SH" "$HOLDFAST_K_KEEPER" terminal'
    case $hf_relay in
    script) hf_enter "$hf_pty" -qfec "$hf_inner" -T "$hf_seen/$hf_ticks" /dev/null <>"$hf_d/in" >"$hf_d/pipe" 2>/dev/null 4>&- 5>&- 7<&- ;;
    *.pl) hf_enter "$hf_pty" "$hf_relay" "$hf_seen/$hf_ticks" "$hf_clock" <>"$hf_d/in" >"$hf_d/pipe" 2>/dev/null 4>&- 5>&- 7<&- ;;
    *) hf_enter "$hf_pty" "$hf_relay" "$hf_seen/$hf_ticks" "$hf_inner" <>"$hf_d/in" >"$hf_d/pipe" 2>/dev/null 4>&- 5>&- 7<&- ;;
    esac
  fi
  hf_write state open # started: from here on there is a command to report
  [ "$hf_stdin" = 1 ] || exec 7</dev/null
  [ -z "$hf_guard" ] || exec 8>&2 # for I, whose words R looks at
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

# ---- a slot: the log of a persistent shell's commands ----

# No command of our own: a persistent shell prints to this log and writes `exit`. The collector holds the pipe open until
# that command has ended. Whoever runs the shell tells us, or dies; then, if the command goes on, its shell finds
# `released` when it has written `exit`, and tells the collector itself. Each side writes first and looks then.
# `keep`: whoever runs the shell is on another machine, and cannot stay. It tells the collector, or time does.
# Where there is perl this becomes the copier, and the slot can serve one command after another.
hf_hold() {
  : >"$hf_d/held"
  if [ "$1" = hold ] && [ -n "$hf_perl" ]; then
    printf '\nlimit 68157440 ring\nbound 0 %s %s\n' "$2" "$3" >&5
    exec "$hf_perl" "$hf_copy" "$hf_d" "${hf_bell%/*}" >&4 2>/dev/null 4>&- 5>&- 7<&-
  fi
  printf '\nhold\nbound 0 %s %s\n' "${2:-0}" "${3:-0}" >&5
  if [ "$1" = keep ]; then
    printf '\nage 86400\n' >&5
    # Not before the collector has the pipe in hand: we are the only writer until then, and it would see the end of its input.
    hf_n=0 hf_x=
    while read -r hf_x <"$hf_d/state"; [ -z "$hf_x" ] && [ $hf_n -lt 600 ]; do
      hf_moment
      [ -d "$hf_d" ] || return # nobody is interested any more
      hf_n=$((hf_n + 1))
    done
    return
  fi
  hf_await_release
}

hf_await_release() {
  read -r hf_x
  command : >"$hf_d/released" || printf '\nrelease\n' >&5 # the directory is gone, and nobody will ever say so
  read -r hf_x <"$hf_d/exit"
  hf_which
  if [ -n "$hf_x" ] || [ ! -e "${hf_bell%/*}/$hf_id" ]; then printf '\nrelease\n' >&5; fi
}

# hf_id = the id of the command that is here: a slot serves several, one after another.
hf_which() {
  hf_y=
  read -r hf_y <"$hf_d/spec.json"
  hf_id=${hf_y#*'"id":"'}
  hf_id=${hf_id%%'"'*}
  case $hf_id in proc_????????????) ;; *) hf_id=${hf_d##*/} ;; esac
} 2>/dev/null

# R, when the copier of a slot was killed: K goes on with dd, and we wait in its place for whoever runs the shell.
hf_replace_copier() {
  exec 4>&-
  printf '\ndd\n' >&5
  hf_await_release
}

# ---- becoming the command ----

# Replace this shell by the command, through $1 (setsid, with the option $2) if given. Its text never appears in an argument list: bash reads
# the file `command` from descriptor 3. mapfile takes it whole and byte for byte, eval reports errors as `bash -c` does.
# The file `functions`, if there is one, is what a shell exports besides variables.
# hf_lone: from this character on the text is one plain command, which bash becomes if it is a program, as `bash -c` does (src/keeper/lone.ts).
hf_exec() {
  hf_functions=${hf_functions-$hf_d/functions}
  case $hf_mode in
  bash)
    if [ -e "$hf_functions" ]; then
      exec ${1:+"$1"} $2 "$hf_bash" -c 'mapfile -d "" <&3 || exit 126; mapfile -d "" -t hf_f <&4; exec 3<&- 4<&-; eval "$hf_f"; unset hf_f; eval "$MAPFILE"' bash 4<"$hf_functions"
    fi
    if [ -n "${hf_lone-}" ]; then
      exec ${1:+"$1"} $2 "$hf_bash" -c 'mapfile -d "" <&3 || exit 126; exec 3<&-; set -- "${MAPFILE:'"$hf_lone"'}"; [ "$(type -t "${1%%[[:space:]]*}")" != file ] || MAPFILE="${MAPFILE:0:'"$hf_lone"'}exec $1"; set --; eval "$MAPFILE"' bash
    fi
    exec ${1:+"$1"} $2 "$hf_bash" -c 'mapfile -d "" <&3 || exit 126; exec 3<&-; eval "$MAPFILE"' bash
    ;;
  sh)
    [ -n "${hf_text-}" ] || exec 3<&-
    exec ${1:+"$1"} $2 "$hf_bash" "${hf_text-$hf_d/command}"
    ;;
  argv)
    hf_via=$1 hf_option=$2
    . "${hf_text-$hf_d/command}" # one line: set -- 'program' 'argument' …
    exec ${hf_via:+"$hf_via" $hf_option --} "$@" 3<&-
    ;;
  esac
}

# ---- I: the parent of a command in a sandbox ----

# Our own pid is outside of the sandbox's pid namespace, those of our children are in it; so nobody in there sees us, and
# /proc/self is not there for us. R takes what we say on stderr, its own file, as it takes it from a shell of its own.
hf_inside() {
  trap : HUP INT QUIT TERM PIPE
  hf_bash=$HOLDFAST_K_BASH hf_mode=$HOLDFAST_K_MODE hf_setsid=$HOLDFAST_K_SETSID
  hf_functions=${HOLDFAST_K_FUNCTIONS:+/proc/self/fd/4}
  unset HOLDFAST_K_BASH HOLDFAST_K_MODE HOLDFAST_K_SETSID HOLDFAST_K_FUNCTIONS
  exec 9>&2 2>&8 8>&-
  ( exec 2>&9 9>&-; hf_home; hf_environment=/proc/self/fd/6; hf_inherit; exec 6<&-; hf_text=/proc/self/fd/3; hf_exec "$hf_setsid" '' )
}

# The command's environment. Until here there is none: what runs on the way in, partly outside and with rights that the command must not have,
# would be at the mercy of whoever sets LD_PRELOAD and the like.
hf_inherit() {
  . "$hf_environment"
  : >"$hf_environment"
}

# To the directory that was asked for, as it is called in here.
hf_home() {
  [ -n "${HOLDFAST_K_CWD-}" ] || return 0
  cd -- "$HOLDFAST_K_CWD" || exit 126
  unset OLDPWD HOLDFAST_K_CWD
}

# ---- T: the parent of a command on a terminal ----

# The command leads a session of its own, and so the group in the foreground of the terminal, as the command of `ssh -t` does: a program
# that wants to lead a group already does, and is not stopped as one in the background. T is not in that session: nothing there reaches it.
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
  # stty is a child of the command's process: T has no other child than that.
  ( hf_record command; [ -z "$hf_stty" ] || "$hf_stty" rows "$hf_rows" cols "$hf_cols"; hf_join "$hf_cgroup"; umask "$hf_umask"; hf_bound $hf_bound; exec 2>&9 9>&- 3<"$hf_d/command"; hf_home; hf_environment=$hf_d/environment; hf_inherit; hf_exec "$hf_setsid" "${hf_setsid:+-c}" )
  hf_status=$?
  [ -n "$hf_setsid" ] || [ -z "$hf_stopped" ] || [ "$PPID" -le 1 ] || hf_wake &
  hf_finish $hf_status
}

# script(1) stops itself when it sees T stopped, as T is with the command's group for a moment when that is killed, and may then not notice
# that T has ended. So it is told to go on, and ended if it is still there a second later.
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

# ---- K: the event loop ----

hf_collect() {
  exec 4>&- 7<&- </dev/null >/dev/null 2>&1
  hf_limit=67108864 hf_full=ring hf_paused= hf_over= hf_looking= hf_direct= hf_waits= hf_runner=
  hf_output=0 hf_rate=0 hf_due=0 hf_roll=65536 hf_w= hf_old= hf_runs= hf_held=
  hf_clock=0 hf_seen=0 hf_mark=0 hf_bytes=0 hf_grain=10000 hf_lines=0 hf_told= # see hf_tick
  hf_dd_run
  hf_record collector
  while read -r hf_a hf_b hf_c hf_x <&5; do
    case $hf_a in
    0.*) # a time, by far the most frequent: on two cores whoever reads the echo of a key would wait for what we do with it
      hf_told="$hf_told $hf_a ${hf_b:--}"
      if [ ${#hf_told} -gt 800 ]; then hf_count_ticks; fi
      ;;
    '') ;;
    run)
      if [ -n "$hf_held" ] && [ "$hf_b$hf_x" = 00 ]; then continue; fi # that of before the copier; the one there is now cannot end, for we hold its pipe
      hf_runner=
      if [ -n "$hf_direct" ]; then hf_left "$hf_x" && break; else hf_ended "$hf_b" "$hf_c" "$hf_x" && break; fi
      ;;
    direct)
      hf_direct=1
      hf_grant
      ;;
    dd) # the copier of a slot was killed: what it had read and not written is gone
      hf_direct= hf_held=1 hf_x=$(wc -c <"$hf_out" 5>&- 6>&- 8<&-)
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
    time) # for a shell's command: seconds, and who runs it; the one before has ended
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
      hf_held=
      [ -z "$hf_direct" ] || hf_tell release
      if [ "$hf_paused" = limit ] || [ "$hf_paused" = rate ]; then
        hf_over=1
        hf_next
      fi
      ;;
    ticks) { hf_pass_on; } & ;;
    size | times) # for the relay, if it keeps the times itself
      if [ -n "$hf_direct" ]; then hf_tell "$hf_a $hf_b $hf_c"; else hf_on_$hf_a "$hf_b" "$hf_c"; fi
      ;;
    again)
      [ "$hf_b" != waited ] || hf_waits=
      if [ -n "$hf_paused" ]; then hf_next; fi
      ;;
    alone) # what is in the pipe is all that there will ever be
      hf_looking=
      if [ "$hf_paused" = limit ]; then
        hf_bs=4096 hf_count=16
        hf_take
      fi
      ;;
    ended) # a full log may take what is left in the pipe, so that it can be closed
      hf_over=1
      [ -z "$hf_direct" ] || hf_tell over
      # S may just have ended, or it was killed: then this comes back to us, behind whatever it has said, and nothing was. In the background: `ctl` may be full.
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
  hf_release 65536 # so little is left to the runtime, which needs no process for it
  hf_write state "closed $hf_off"
}

hf_on_size() {
  hf_count_ticks
  hf_has terminal && "$hf_stty" rows "$1" cols "$2" <"/proc/$hf_pid/fd/0" && printf 'size %s %s %s\n' "$hf_seen" "$2" "$1" >>"$hf_d/times"
}

hf_on_times() { # somebody wants to read them
  hf_count_ticks
  if [ "$hf_bytes" -gt 0 ]; then hf_mark_time; fi
}

# Held for so many seconds and no longer, nor when the directory has been removed: nobody can say `release` any more. A command that still prints holds the
# pipe itself.
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

# From a sandbox come times, and nothing else: whoever can write to `ctl` could have us kill anybody.
hf_pass_on() {
  exec 4>&- 6>&- 8<&-
  ulimit -v 131072 # a line without an end
  while read -r hf_a hf_b; do
    case $hf_a$hf_b in '' | *[!0-9.]*) ;; *) printf '%s %s\n' "$hf_a" "$hf_b" >&5 ;; esac
  done <"$hf_d/ticks"
}

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

# ---- K: room on the disk ----

# Room for the coming run, so that dd cannot meet a full disk with bytes in its hands.
hf_reserve() {
  hf_run=$((hf_bs * hf_count))
  if [ -n "$hf_fallocate" ]; then
    true >>"$hf_out" || return 1 # fallocate -n does not make the file; `:` would end a shell that cannot
    if hf_x=$(LC_ALL=C "$hf_fallocate" -n -o "$hf_size" -l "$hf_run" "$hf_out" 2>&1 5>&- 6>&- 8<&-); then
      hf_reserved=$((hf_size + hf_run))
      return 0
    fi
    case $hf_x in
    *'not supported'* | *'not implemented'*) hf_fallocate= ;; # by this file system: ask df from now on
    *)
      hf_reserved=$((hf_size + hf_run)) # some may have been taken before it failed
      hf_release 0
      return 1
      ;;
    esac
  fi
  [ -n "$hf_df" ] || return 0
  set -- $("$hf_df" -Pk "$hf_d" 5>&- 6>&- 8<&-)
  [ $# -gt 2 ] || return 0
  eval "hf_x=\${$(($# - 2))}"
  [ "$hf_x" -gt $((hf_run / 1024 * 4)) ] 2>/dev/null
}

# Give back what was reserved and not used, if it is more than $1 bytes.
hf_release() {
  if [ "${hf_reserved:-0}" -gt $((hf_size + $1)) ]; then
    "$hf_dd" if=/dev/null of="$hf_out" bs=1 seek="$hf_size" count=0 5>&- 6>&- 8<&-
  fi
  hf_reserved=0
}

# ---- K: times of a terminal's output ----

# script(1) says: so many seconds later, so many bytes. Kept as microseconds since the start and a byte count; what comes
# within one grain is one line, and the grain doubles every 65,536 lines, so that the file stays small for ever.
hf_tick() {
  case $1-${2:-x} in *.*[!0-9]*-* | *[!0-9.]*-* | *-*[!0-9]* | *-0?*) return ;; esac # nothing that anybody writes to `ctl` may end this shell
  hf_s=${1%.*}
  while [ "${hf_s#0}" != "$hf_s" ] && [ ${#hf_s} -gt 1 ]; do hf_s=${hf_s#0}; done # 08 would be octal
  hf_x=${1#*.}000000
  hf_x=${hf_x%"${hf_x#??????}"}
  hf_clock=$((hf_clock + hf_s * 1000000 + 1$hf_x - 1000000))
  if [ "$hf_bytes" -gt 0 ] && [ $((hf_clock - hf_mark)) -gt $hf_grain ]; then hf_mark_time; fi
  if [ "$hf_bytes" -eq 0 ]; then hf_mark=$hf_clock; fi
  hf_bytes=$((hf_bytes + $2)) hf_seen=$((hf_seen + $2))
}
hf_count_ticks() {
  set -f; set -- $hf_told; set +f
  hf_told=
  while [ $# -gt 1 ]; do
    hf_tick "$1" "$2"
    shift 2
  done
}
hf_mark_time() {
  printf '%s %s\n' "$hf_mark" "$hf_bytes" >>"$hf_d/times"
  hf_bytes=0 hf_lines=$((hf_lines + 1))
  if [ "$hf_lines" -ge 65536 ]; then hf_lines=0 hf_grain=$((hf_grain * 2)); fi
}

case $1 in
keep) shift; hf_keep "$@" ;;
terminal) hf_terminal ;;
inside) hf_inside ;;
esac
exit
