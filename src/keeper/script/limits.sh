# ---- limits: which one was met, and in which scope; ulimit for one program ----

# Records a limit that was met: name and scope. The first record stays.
hf_met() {
  hf_x=
  read -r hf_x <"$hf_d/limit"
  [ -n "$hf_x" ] || hf_write limit "$1"
} 2>/dev/null

# Checks the counters of the command's cgroups. $1: how the command ended. Starts no programs, since this delays the end.
hf_counts() {
  # A container has one cgroup for everything: this command was killed, and the kernel has killed a process for memory since it started.
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

# Records whose limit it was when the kernel has killed a process in cgroup hf_g for memory.
hf_oom() {
  if hf_at_limit "$hf_g"; then hf_met 'memory process'
  elif hf_at_limit "${hf_g%/*}"; then hf_met 'memory task'
  else hf_met 'memory machine'
  fi
}

# True if cgroup $1 has reached its own limit. Version 1 has a counter for that too, but newer kernels leave it at 0.
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

# True if the number after the word $2 in file $1 is not 0.
hf_count() {
  [ -r "$1" ] || return 1
  while read -r hf_x hf_n; do
    if [ "$hf_x" = "$2" ]; then [ "$hf_n" != 0 ]; return; fi
  done <"$1"
  return 1
} 2>/dev/null

# Sets ulimits of one program: pairs of letter and number. A refused value means that a tighter limit is already set.
hf_bound() {
  while [ $# -gt 1 ]; do
    hf_x=$1
    if [ "$1" = u ] && ! (ulimit -u) >/dev/null; then hf_x=p; fi # the letter in dash
    ulimit -S "-$hf_x" "$2"
    if [ "$1" = t ]; then ulimit -H -t $(($2 + 2)); else ulimit -H "-$hf_x" "$2"; fi # first XCPU, then KILL
    shift 2
  done
} 2>/dev/null

