#!/bin/sh
# The keeper: runs beside one process and does not depend on the program that started it. docs/keeper.md is the specification.
# One script of several parts: src/keeper/script, joined by scripts/build-scripts.mjs.
#
#   keep      R  the parent of the command; waits for it and writes `exit`
#             K  the collector: holds stdin open, has dd(1) copy from `pipe` into out.OFFSET segments, or a relay write them,
#                bounds the log, waits for room on a full disk. Its event loop is `read` on the FIFO `ctl`
#             S  K's child: runs one dd and reports how it ended
#             W  K's child, if the command has a time limit: kills it then
#   terminal  T  like R but inside the PTY, run by the relay: ours in perl, which writes the log itself, script(1), or ours in python
#   inside    I  in a sandbox: the parent of a command without a PTY; R sees through it how the command ended
#
# POSIX sh (dash, busybox ash, bash) and dd; only dd and the relay are in the data path. Every name starts with hf_ because the variables of this
# shell and the environment of the command share one namespace. Functions are parsed before anything runs, so replacing this file never changes a
# running keeper.

# Appends "$1 PID STARTTIME" of the calling (sub)shell to `meta`. $$ would be the pid of the outermost shell.
hf_record() {
  hf_role=$1
  read -r hf_x </proc/self/stat || return 1
  hf_pid=${hf_x%% *} hf_x=${hf_x##*) }
  set -f; set -- $hf_x; set +f
  shift 19
  printf '%s %s %s\n' "$hf_role" "$hf_pid" "$1" >>"$hf_d/meta"
}

# True if `meta` has a $1; sets hf_pid to its pid.
hf_has() { while read -r hf_x hf_pid hf_y; do [ "$hf_x" != "$1" ] || return 0; done <"$hf_d/meta"; return 1; }

# Overwrites a fixed 64-byte record in place: its blocks exist already, so a full disk cannot prevent it.
hf_write() { printf '%-63s\n' "$2" 1<>"$hf_d/$1"; }

# Moves this shell, and its future children, to cgroups separated by colons. False if one of them refuses it.
hf_join() {
  hf_ok=0
  IFS=:; set -f; set -- $1; set +f; unset IFS
  for hf_x do if [ -n "$hf_x" ]; then echo 0 >"$hf_x/cgroup.procs" || hf_ok=1; fi; done 2>/dev/null
  return $hf_ok
}

# Redirects stderr to the file $1. sh prints "Killed" and the like if, and only if, a signal ended the child. The file's block is allocated first, so
# this also works on a full disk. False if there is no room for that block.
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

# Records the end, and notifies the other processes.
hf_settle() {
  hf_counts "$1"
  hf_x=
  read -r hf_x <"$hf_d/limit"
  hf_write exit "$1${hf_x:+ limit}"
  while read -r hf_role hf_pid hf_start; do
    if [ "$hf_role" = timer ] && hf_same "$hf_pid" "$hf_start"; then kill "$hf_pid"; fi
  done <"$hf_d/meta" 2>/dev/null
  printf '\nended\n' 1<>"$hf_d/ctl" # opened for reading and writing, so that it cannot block
  [ -e "$hf_bell" ] && : >"$hf_bell"
}

