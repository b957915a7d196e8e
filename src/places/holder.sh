#!/bin/sh
# The process that keeps a sandbox alive. bubblewrap starts it as root of a user namespace of its own:
#
#  outer UID GID WORD…  forbids further user namespaces but one, makes the kernel's settings read-only, and becomes, in
#                       that one namespace, the user again; WORD… (setpriv) drops the remaining rights
#  inner                waits until the sandbox has been empty for a while. Commands come and go; they are not its children
#
# The directory `closed` announces its end: the second look sees a command that is just entering.

case $1 in
outer)
  shift
  hf_uid=$1 hf_gid=$2
  shift 2
  echo 1 >/proc/sys/user/max_user_namespaces || exit 1
  for hf_x in sys sysrq-trigger irq bus fs acpi scsi; do
    [ -e "/proc/$hf_x" ] || continue
    mount --bind "/proc/$hf_x" "/proc/$hf_x" && mount -o remount,bind,ro,nosuid,nodev,noexec "/proc/$hf_x" || exit 1
  done
  exec unshare --user --map-user="$hf_uid" --map-group="$hf_gid" -- "$@" sh "$0" inner
  ;;
esac

hf_closed=${0%/places/*}/shared/closed
hf_idle() {
  set -- /proc/[0-9]*
  [ $# -le 2 ] # the first process, and this one
}
echo ready
while sleep 60; do
  hf_idle || continue
  sleep 60
  hf_idle || continue
  mkdir "$hf_closed" || exit
  sleep 2
  hf_idle && exit
  rmdir "$hf_closed" || exit
done
