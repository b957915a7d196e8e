# ---- abilities of this box ----

if sleep 0.01; then link_nap() { sleep "$1"; }; elif usleep 1; then link_nap() { usleep "${1#0.}0000"; }; else link_nap() { sleep 1; }; fi
link_bytes= link_nonblock= link_mtime=%Y
if dd if=/dev/null of=/dev/null bs=1 count=0 iflag=skip_bytes,fullblock oflag=seek_bytes; then link_bytes=1; fi
if dd if=/dev/null of=/dev/null bs=1 count=0 oflag=nonblock conv=notrunc,nocreat; then link_nonblock=1; fi
case $(stat -c %.3Y /) in *[!0-9.]* | '') ;; *.*) link_mtime=%.3Y ;; esac

link_helper=sh link_machine=$(uname -m)
case $link_machine in
alpha* | mips* | parisc* | sparc*) link_perl= ;; # numbers differ from those in link.pl
esac
if [ -n "$link_perl" ] && command -v perl; then
  if perl -e 'exit 0'; then link_helper=perl; else link_note 'the perl there does not run, so each command takes some 50 ms longer; mend or remove it'; fi
fi

# Prints everything the local end wants to know about this box, one line each: a word, and the rest.
link_facts() {
  printf '%s\n' "dir $link_dir" "scratch $link_scratch" "home $HOME" "cwd $link_cwd" "user $link_user" "uid $link_uid" "hostname $link_host" "machine $link_machine" "system $(uname -s)"
  printf '%s\n' "pid $$" "helper $link_helper" "umask $link_umask" "locale $link_locale" "clock $(date +%s)"
  link_x=
  read -r link_x </etc/machine-id && printf 'machineId %s\n' "$link_x"
  read -r link_x </proc/sys/kernel/random/boot_id && printf 'bootId %s\n' "$link_x"
  [ -e /proc/self/stat ] && printf 'pidNamespace %s\nsh %s\n' "$(readlink /proc/self/ns/pid)" "$(readlink "/proc/$$/exe")"
  printf 'dd %s\n' "$(readlink -f "$(command -v dd)")"
  printf '%s' "$link_notes"
  for link_x in sh bash dd rm sleep setsid mkfifo stty fallocate df script python3 perl prlimit stdbuf timeout rg grep find sha256sum md5sum cksum tar gzip base64 od awk sed stat tail head cp mv ls id getconf nice ionice systemd-run busybox git ps unshare nsenter bwrap sudo; do
    for link_d in /usr/local/bin /usr/bin /bin /usr/local/sbin /usr/sbin /sbin $link_path_here; do
      if [ -f "$link_d/$link_x" ] && [ -x "$link_d/$link_x" ]; then
        printf 'tool %s %s\n' "$link_x" "$link_d/$link_x"
        break
      fi
    done
  done
  case $(fallocate --help 2>&1) in *--keep-size*) echo 'can fallocate' ;; esac
  case $(script --help 2>&1) in *--log-timing*) echo 'can script' ;; esac
  [ -z "$link_bytes" ] || echo 'can bytes'
}
IFS=:
set -- $PATH
IFS=' '
link_path_here="$*"
unset IFS
link_x=$(link_facts 2>/dev/null)
printf '\n%s facts %s\n%s\n%s ready\n' "$link_mark" 1 "$link_x" "$link_mark" >&3 || exit 1

if [ "$link_helper" = perl ]; then
  trap 'rm -rf "$link_scratch"' EXIT
  perl -e "$link_perl" "$link_scratch" "$link_dir" "$link_idle" "$link_delays"
  exit
fi

