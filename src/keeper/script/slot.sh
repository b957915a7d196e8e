# ---- a slot: the log of a persistent shell's commands ----

# Serves a persistent shell, which prints to this log and writes `exit`; there is no command of our own. The collector holds the pipe open until that
# command has ended. The program that runs the shell tells us, or dies; if the command continues then, its shell finds `released` after it has written
# `exit`, and tells the collector itself. Both sides write first and then check.
# `keep`: the program that runs the shell is remote, and cannot stay. It tells the collector, or the hold expires.
# If perl is available, this becomes the copier, and the slot can serve one command after another.
hf_hold() {
  : >"$hf_d/held"
  if [ "$1" = hold ] && [ -n "$hf_perl" ]; then
    printf '\nlimit 68157440 ring\nbound 0 %s %s\n' "$2" "$3" >&5
    exec "$hf_perl" "$hf_copy" "$hf_d" "${hf_bell%/*}" >&4 2>/dev/null 4>&- 5>&- 7<&-
  fi
  printf '\nhold\nbound 0 %s %s\n' "${2:-0}" "${3:-0}" >&5
  if [ "$1" = keep ]; then
    printf '\nage 86400\n' >&5
    # Wait until the collector holds the pipe: until then we are the only writer, and it would see end-of-file.
    hf_n=0 hf_x=
    while read -r hf_x <"$hf_d/state"; [ -z "$hf_x" ] && [ $hf_n -lt 600 ]; do
      hf_moment
      [ -d "$hf_d" ] || return # the directory was removed: the output is no longer needed
      hf_n=$((hf_n + 1))
    done
    return
  fi
  hf_await_release
}

hf_await_release() {
  read -r hf_x
  command : >"$hf_d/released" || printf '\nrelease\n' >&5 # the directory was removed, so no one else will say it
  read -r hf_x <"$hf_d/exit"
  hf_which
  if [ -n "$hf_x" ] || [ ! -e "${hf_bell%/*}/$hf_id" ]; then printf '\nrelease\n' >&5; fi
}

# Sets hf_id to the id of the current command: a slot serves several, one after another.
hf_which() {
  hf_y=
  read -r hf_y <"$hf_d/spec.json"
  hf_id=${hf_y#*'"id":"'}
  hf_id=${hf_id%%'"'*}
  case $hf_id in proc_????????????) ;; *) hf_id=${hf_d##*/} ;; esac
} 2>/dev/null

# Replaces a killed copier of a slot, in R: K continues with dd, and we wait in the copier's place for the program that runs the shell. The dd that waited
# for the end of the copier ends when we close its pipe: K has to know before that the copier was killed, and did not exit. It is gone before there is
# another, so that a look at the dd of K means that one.
hf_replace_copier() {
  printf '\nkilled\n' >&5
  exec 4>&-
  printf '\ndd\n' >&5
  hf_await_release
}

