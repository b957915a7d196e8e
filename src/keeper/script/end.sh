# ---- killing a command with everything it started ----

# Kills the command and everything it started, because of a limit: TERM, two seconds, then KILL until no process is found. A shell continues with the
# next line of its script when its child is killed, so all processes are stopped first each time; as in src/process/halt.ts and kill.ts
# (docs/keeper.md, "Which side decides").
hf_end() {
  hf_x=
  read -r hf_x <"$hf_d/exit"
  [ -z "$hf_x" ] || return 0
  hf_met "$1"
  true >"$hf_d/killed"
  hf_halt
  hf_look=0 hf_turns=0
  while hf_forking && [ $hf_look -lt 5 ]; do
    hf_awake
    hf_halt
    hf_look=$((hf_look + 1))
  done
  hf_reached= hf_shell=${hf_runs%% *}
  for hf_w in $hf_m; do if [ "${hf_w%%/*}" != "$hf_shell" ] && hf_kill TERM "$hf_w"; then hf_reached=1; fi; done
  hf_find_deaf
  if [ -n "$hf_shell" ] && hf_same $hf_runs; then kill -KILL "$hf_shell" && hf_reached=1; fi # the shell ignores TERM
  hf_continue
  if [ -z "$hf_reached" ]; then # the command had just ended by itself
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
    hf_back=
    for hf_w in $hf_m; do hf_back="$hf_w $hf_back"; done
    for hf_w in $hf_back; do hf_kill KILL "$hf_w"; done # children first: when a parent ends, the kernel continues a stopped group
    if [ -n "${hf_cgroup%%:*}" ] && [ -z "$hf_entered" ]; then echo 1 >"${hf_cgroup%%:*}/cgroup.kill"; fi # in a sandbox the cgroup includes our own processes
    hf_back= hf_m=
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

# Sends STOP to all processes until a look finds no new one. Stops whole groups: single signals miss processes that constantly fork and exit.
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

# True if group $1 can be stopped as a whole: its leader belongs to the command or to us, or is gone; and we are not in the group.
hf_whole() {
  if [ "$1" -le 1 ] || [ "$1" = "$hf_own" ]; then return 1; fi
  case "$hf_m $hf_ours " in *" $1/"* | *" $1 "*) return 0 ;; esac
  [ ! -e "/proc/$1" ]
}

# Sends signal $1 to $2, a word of hf_m, if it is still the same process.
hf_kill() {
  hf_y=${2#*/}
  hf_same "${2%%/*}" "${hf_y%%/*}" && kill "-$1" "${2%%/*}"
}

# Continues the stopped processes, children first, then the rest of their groups. Those in hf_deaf and their groups stay stopped while their parent does.
# Otherwise they are killed, and before anything is continued: when their parent ends, the kernel continues a stopped group, and a hangup is all that
# comes with it.
hf_continue() {
  hf_held=' ' hf_ending=' ' hf_lost=
  for hf_w in $hf_m; do
    case $hf_deaf in *" ${hf_w%%/*} "*)
      hf_parent "$hf_w"
      case $hf_ending in *" $hf_p "*) hf_lost="$hf_w $hf_lost" ;; *) hf_held="$hf_held${hf_w##*/} "; continue ;; esac
      ;;
    esac
    hf_ending="$hf_ending${hf_w%%/*} "
  done
  for hf_w in $hf_lost; do hf_kill KILL "$hf_w"; done
  for hf_w in $hf_back; do
    case $hf_deaf in *" ${hf_w%%/*} "*) ;; *) hf_kill CONT "$hf_w" ;; esac
  done
  for hf_g in $hf_groups; do
    case $hf_held in *" $hf_g "*) ;; *) kill -CONT "-$hf_g" ;; esac
  done
}

# Sets hf_p to the parent of $1, a word of hf_m.
hf_parent() {
  hf_p=${1#*/*/}
  hf_p=${hf_p%%/*}
}

# Sets hf_deaf to the processes that ignore TERM while a child does not, or is one of these, or is in a group of its own, like interactive shells: they would
# continue with their next command. Adds those that are still forking, of which that is unknown. Sets hf_back to all processes, children first.
hf_find_deaf() {
  hf_deaf=$hf_busy hf_ignore=' ' hf_back= hf_in=' '
  for hf_w in $hf_m; do
    hf_back="$hf_w $hf_back" hf_in="$hf_in${hf_w%%/*}/${hf_w##*/} "
    if hf_ignores "${hf_w%%/*}"; then hf_ignore="$hf_ignore${hf_w%%/*} "; fi
  done
  for hf_w in $hf_back; do
    hf_parent "$hf_w"
    if ! hf_job; then
      case $hf_deaf in *" ${hf_w%%/*} "*) ;; *) case $hf_ignore in *" ${hf_w%%/*} "*) continue ;; esac ;; esac
    fi
    case $hf_ignore in *" $hf_p "*) hf_deaf="$hf_deaf$hf_p " ;; esac
  done
}

# True if hf_w is in another group than its parent hf_p, as a shell with job control starts them.
hf_job() { case $hf_in in *" $hf_p/${hf_w##*/} "*) return 1 ;; esac; }

# Sets hf_forks to the processes that have a child and block TERM, as a shell does while it forks. On a busy machine a process waits for its turn
# before it stops, and its mask may change until then. True if there is one.
hf_forking() {
  hf_parents=' ' hf_forks=
  for hf_w in $hf_m; do
    hf_parent "$hf_w"
    hf_parents="$hf_parents$hf_p "
  done
  for hf_w in $hf_m; do
    case $hf_parents in *" ${hf_w%%/*} "*) ;; *) continue ;; esac
    [ "${hf_w%%/*}" != "${hf_runs%% *}" ] || continue
    hf_state=
    while hf_masks SigBlk "${hf_w%%/*}" || [ "$hf_state" = R ]; do
      [ "$hf_state" = R ] && hf_turn || { hf_forks="$hf_forks $hf_w"; break; }
    done
  done
  [ -n "$hf_forks" ] || { hf_busy=' '; return 1; }
}

# Continues the processes in hf_forks, after all below them, until they block TERM no more or sleep: only after its fork an interactive shell shows that it
# ignores TERM. Sets hf_busy to those that do neither in time, and to those that stay stopped because one below them must: a shell with job control takes a
# stopped child for one that it need not wait for, also if the child was stopped only a moment before the shell.
hf_awake() {
  hf_busy=' ' hf_below=' '
  hf_find_deaf
  for hf_w in $hf_back; do
    hf_parent "$hf_w"
    if hf_job; then
      case "$hf_forks " in *" $hf_p/"*) ;; *) hf_deaf="$hf_deaf$hf_p " ;; esac
    fi
    case $hf_deaf in *" ${hf_w%%/*} "*) ;; *) continue ;; esac
    case "$hf_forks " in *" $hf_w "*) hf_busy="$hf_busy${hf_w%%/*} " ;; esac
    hf_deaf="$hf_deaf$hf_p "
  done
  for hf_w in $hf_m; do
    hf_parent "$hf_w"
    case "$hf_forks " in *" $hf_w "*) ;; *) case $hf_below in *" $hf_p "*) ;; *) continue ;; esac ;; esac
    case $hf_deaf in *" ${hf_w%%/*} "*) ;; *) hf_below="$hf_below${hf_w%%/*} " ;; esac
  done
  for hf_w in $hf_back; do
    case $hf_below in *" ${hf_w%%/*} "*) hf_kill CONT "$hf_w" ;; esac
  done
  hf_moment
  for hf_w in $hf_forks; do
    while hf_masks SigBlk "${hf_w%%/*}" && [ "$hf_state" = R ]; do
      hf_turn || { hf_busy="$hf_busy${hf_w%%/*} "; break; }
    done
  done
}

# Waits a moment for processes that wait for their turn: 20 times in all.
hf_turn() { [ $hf_turns -lt 20 ] && hf_turns=$((hf_turns + 1)) && hf_moment; }

hf_ignores() { hf_masks SigIgn "$1"; }

# True if TERM is in the mask $1 of process $2. Signal 15 is bit 14. Sets hf_state to the first letter of its state.
hf_masks() {
  while read -r hf_x hf_y; do
    case $hf_x$hf_y in
      State:*) hf_state=${hf_y%% *} ;;
      "$1":*[4567cdef]???) return 0 ;;
      "$1":*) return 1 ;;
    esac
  done <"/proc/$2/status"
  return 1
}

# True if a process is left that can react to TERM.
hf_heeding() {
  for hf_w in $hf_m; do case $hf_deaf in *" ${hf_w%%/*} "*) ;; *) return 0 ;; esac; done
  return 1
}

