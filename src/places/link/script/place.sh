# ---- where our files are ----

# Creates a directory that is ours alone, if needed. Refuses anything that another user has put there in advance (a directory, a link), and shared
# directories (the sticky bit).
link_private() {
  mkdir -p "${1%/*}" && { mkdir "$1" || [ -d "$1" ]; } && [ ! -L "$1" ] && [ -O "$1" ] && [ ! -k "$1" ] && chmod 700 "$1"
}

# Creates a directory for this one link, and checks that it can hold something.
link_scratch_in() {
  link_scratch=$1/link.$link_host.$link_ns.$$
  mkdir "$link_scratch" || return 1
  if mkfifo "$link_scratch/lock" "$link_scratch/requests" && printf 'a few bytes' >"$link_scratch/beat"; then return 0; fi
  rm -rf "$link_scratch"
  return 1
}

# Chooses the first directory of $@ that works, and creates our own in it. A requested directory keeps its mode; the others are ours too.
link_choose() {
  for link_base; do
    link_dir=$link_base${link_name:+/$link_name} # without a name, all of it is ours
    { if [ -n "$link_asked" ]; then mkdir -p "$link_base"; else link_private "$link_base"; fi; } && link_private "$link_dir" && link_scratch_in "$link_dir" && return
    # A full disk: existing files can still be read, and processes managed, if our scratch directory is on another disk.
    if [ -d "$link_dir" ] && [ -O "$link_dir" ] && [ -w "$link_dir" ]; then
      for link_elsewhere in /dev/shm /run/user/$link_uid /var/tmp /tmp; do
        [ "$link_elsewhere" != "$link_base" ] && link_scratch_in "$link_elsewhere" || continue
        link_note "there is no room in $link_dir: nothing new can be started there until there is some"
        return
      done
    fi
    link_note "$link_base cannot be used for our files (read-only, full, or not ours)"
  done
  return 1
}

read -r link_host </proc/sys/kernel/hostname || link_host=$(uname -n)
# A pid means something in its own pid namespace alone: a sandbox may share this directory, or /dev/shm, and see none of our pids.
link_ns=$(readlink /proc/self/ns/pid)
link_ns=${link_ns##*:?} link_ns=${link_ns%?}
link_ns=${link_ns:-0}
link_uid=$(id -u)
link_user=$(id -un) || link_user=$link_uid
case ${HOME-} in /*) ;; *) HOME=$(getent passwd "$link_uid" | cut -d: -f6); HOME=${HOME:-/} ;; esac
if [ -n "$link_asked" ]; then
  link_choose "$link_asked" || link_refuse "$link_asked cannot be used for our files there: it cannot be written, is full, or belongs to another user"
else
  case ${XDG_STATE_HOME-} in /*) link_state=$XDG_STATE_HOME ;; *) link_state=$HOME/.local/state ;; esac
  link_choose "$link_state/holdfast/boxes" "/var/tmp/holdfast-$link_uid" "/tmp/holdfast-$link_uid" "/dev/shm/holdfast-$link_uid" ||
    link_refuse "no directory there can be used for our files: not $link_state, /var/tmp, /tmp nor /dev/shm; make one of them writable for $link_user, or configure another"
fi
# Removes the remains of killed links. Those of another host or pid namespace, in a directory that several share, stay: they cannot be judged from here.
set +f
for link_old in "$link_dir/link.$link_host.$link_ns."* "/dev/shm/link.$link_host.$link_ns."*; do
  [ -O "$link_old" ] && [ -d "$link_old" ] && ! kill -0 "${link_old##*.}" && rm -rf "$link_old"
done
set -f
true >"$link_dir/life"

