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

