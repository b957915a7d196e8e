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

