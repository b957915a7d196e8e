# ---- the processes of a command ----

# Sets hf_m to the live processes of the command, a word PID/START/PARENT/GROUP each: its cgroup, unless it shares that of a shell; else its
# descendants, those of R, which may inherit orphans, and processes with its mark in the environment. Processes that it started through another keeper
# belong to that keeper.
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
  # The kernel reuses the number of an empty namespace: it identifies this command only while the command is in it.
  if [ -n "$hf_entered" ] && [ -n "$hf_lives" ] && hf_has namespace && [ "$hf_pid" != "$(readlink /proc/self/ns/uts)" ]; then
    hf_x=${hf_pid#*[}
    for hf_x in $(find /proc/[0-9]*/ns/uts -lname "uts:?${hf_x%]}?"); do
      hf_x=${hf_x#/proc/}
      hf_todo="$hf_todo ${hf_x%%/*}"
    done
  fi
  if [ -n "$hf_runs" ]; then # a shell, its start time, and the children that it had before
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

# Adds process hf_p to hf_m. False if it has ended, or is a keeper.
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

# True if process $1, started at $2, is a keeper, by its arguments and by the directory that they name. Any process can have such arguments, so those
# alone do not count.
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

