# ---- replies ----

# Takes the lock. Without the scratch directory the link is over: passes the lock on and exits.
link_take_lock() {
  read -r link_x <&8
  [ -d "$link_scratch" ] || { echo >&8; exit 1; }
}

# The link is over: lets every job that waits for the lock find out. The scratch directory has to be gone. Writes two newlines, since two can be lost:
# one with a process that was
# killed with the lock, and one with a process that was waiting for it: a killed process that sleeps in a read still takes what is written before it
# has woken up.
link_release() { printf '\n\n' >&8; }

# The other end does not read, or half a reply is out: called by the holder of the lock, so that nothing is written after it.
link_break() {
  rm -rf "$link_scratch"
  echo >&8
  kill $$
  exit 1
}

link_say() {
  link_take_lock
  printf '%s\n' "$1" >&3 || link_break
  echo >&8
}

# Sends reply $1 with status $2 and text $3: first the bytes $4, then exactly $5 bytes at offset $6 of descriptor 4. The length goes first, so a short
# copy ends the link; it never shifts what follows.
link_send() {
  link_take_lock
  printf '=%s %s %s %s\n%s' "$1" "$2" "$((${#4} + $5))" "$3" "$4" >&3 || link_break
  if [ "$5" -gt 0 ]; then
    if [ -n "$link_bytes" ]; then
      link_x=$(dd bs="$5" count=1 skip="$6" iflag=skip_bytes,fullblock 2>&1 <&4 >&3)
    else
      link_x=$({ dd bs=1 skip="$6" count=0; dd bs="$5" count=1; } 2>&1 <&4 >&3)
    fi
    case $link_x in *'1+0 records out'*) ;; *) link_break ;; esac
  fi
  printf '\n.%s\n' "$1" >&3 || link_break
  echo >&8
}

# Sends file $4 from offset $2 on, at most $3 bytes, as the reply to $1. Fails for a file that is gone or unreadable.
link_read() {
  [ -f "$4" ] && [ -r "$4" ] || return 1
  { link_size=$(stat -Lc %s "$4") && link_count $((link_size - $2)) "$3" && if [ "$link_n" -gt 0 ]; then link_send "$1" 0 "$link_size" '' "$link_n" "$2"; else link_say "=$1 0 0 $link_size"; fi; } 4<"$4"
}

# Sets link_n to $1, clamped to 0 … $2.
link_count() {
  link_n=$1
  if [ "$link_n" -gt "$2" ]; then link_n=$2; fi
  if [ "$link_n" -lt 0 ]; then link_n=0; fi
}

# Writes exactly $1 bytes of stdin to file $2 at offset $3; head(1) of busybox would read further. False: not written. If its bytes cannot be read,
# they cannot be told from the next request, and the link ends.
link_receive() {
  [ "$1" != 0 ] || return 0
  if [ -n "$link_bytes" ]; then
    link_x=$(dd bs="$1" count=1 seek="$3" iflag=fullblock oflag=seek_bytes conv=notrunc of="$2" 2>&1)
    case $link_x in *'1+0 records in'*'1+0 records out'*) return 0 ;; *'1+0 records in'*) return 1 ;; *) exit 1 ;; esac
  fi
  # An old dd: small reads, since it cannot be told to continue a short one.
  link_left=$1
  link_ok=1
  true >"$link_scratch/taken"
  while [ "$link_left" -gt 0 ]; do
    link_n=512
    [ "$link_left" -ge 512 ] || link_n=$link_left
    dd bs="$link_n" count=1 of="$link_scratch/piece" || exit 1
    link_n=$(stat -c %s "$link_scratch/piece")
    [ "$link_n" -gt 0 ] || exit 1
    cat "$link_scratch/piece" >>"$link_scratch/taken" || link_ok=
    link_left=$((link_left - link_n))
  done
  [ -n "$link_ok" ] && { dd bs=1 seek="$3" count=0 conv=notrunc && cat "$link_scratch/taken"; } 1<>"$2"
}

