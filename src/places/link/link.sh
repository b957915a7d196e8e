# The remote end of a link, one text of several parts, joined by scripts/build-scripts.mjs. It answers requests on stdin, many at a time, until stdin
# ends. docs/link.md is the specification.
#
# POSIX sh (dash, busybox ash, bash) with dd, stat, grep, sleep, mkfifo, mkdir, rm. If perl exists, link.pl answers instead, once this script has
# found
# the directory for our files and the tools of the machine.
# The local end sets before this is read: link_mark, link_asked (the requested directory, or nothing), link_name (the name of ours in it),
# link_idle (seconds without a request until we give up), link_perl (the text of link.pl; nothing: do without).
#
# Descriptors: 0 requests, 3 replies, 7 to the watcher, 8 the lock. Functions start with link_, so that none shadows a command
# of that name in a script that runs here. `true >FILE`, never `: >FILE`: a special builtin that cannot write ends its shell.

link_umask=$(umask)
link_locale=${LC_ALL:-${LC_CTYPE:-${LANG-}}}
link_cwd=$(pwd)
set -f
umask 077
LC_ALL=C QUOTING_STYLE=literal
export LC_ALL QUOTING_STYLE
# Drops user settings that would change our own programs: a perl with character streams, a verbose tar. Commands keep them:
# their environment is the one that this shell was started with.
unset PERL5OPT PERL5DB PERL_UNICODE PERLIO TAR_OPTIONS GREP_OPTIONS POSIXLY_CORRECT CDPATH
trap '' PIPE HUP INT
case $(ulimit -n) in
? | [12]?) # too few for the programs that we start; and the next line may fail
  printf '\n%s error %s\n' "$link_mark" "a login there may open $(ulimit -n) files at once only (ulimit -n), and needs 30; raise that where it is set, as in .bashrc or limits.conf"
  exit 1
  ;;
esac
exec 3>&1 1>/dev/null 2>/dev/null 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-
# Descriptors that a line of a .bashrc has left open must not reach our children. dash cannot name those above 9; link.pl closes them too.
if (exec 10>&-); then
  for link_x in $(set +f; echo /proc/$$/fd/[1-9][0-9]*); do [ ! -e "$link_x" ] || eval "exec ${link_x##*/}>&-"; done
fi
link_newline='
'
link_tab=$(printf '\t')
link_notes=

link_refuse() {
  printf '\n%s error %s\n' "$link_mark" "$1" >&3
  exit 1
}

link_note() { link_notes="${link_notes}note $1$link_newline"; }

# ---- where our files are ----

# Creates a directory that is ours alone, if needed. Refuses anything that another user has put there in advance (a directory, a link), and shared
# directories (the sticky bit).
link_private() {
  mkdir -p "${1%/*}" && { mkdir "$1" || [ -d "$1" ]; } && [ ! -L "$1" ] && [ -O "$1" ] && [ ! -k "$1" ] && chmod 700 "$1"
}

# Creates a directory for this one link, and checks that it can hold something.
link_scratch_in() {
  link_scratch=$1/link.$link_host.$$
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
# Removes the directories of killed links. Leaves those of another host, in a shared home: we cannot judge them.
set +f
for link_old in "$link_dir/link.$link_host."* "/dev/shm/link.$link_host."*; do
  [ -O "$link_old" ] && [ -d "$link_old" ] && ! kill -0 "${link_old##*.}" && rm -rf "$link_old"
done
set -f
true >"$link_dir/life"

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

# ---- parked requests ----

# Holds requests until there is news. One grep and one stat per tick serve all of them, and there are no ticks while there are none. A tick is a sleep
# in the background; when the loop has ended, no writer is left, and this ends too.
link_watch() {
  exec 0<&6 6<&- 7>&- # PIPE stays ignored: the holder of the lock must not die of it
  link_parked=
  link_ticking=
  link_quiet=0
  link_before=
  while IFS=' ' read -r link_id link_op link_off link_max link_path; do
    case $link_op in
    tick)
      link_ticking=
      link_look
      ;;
    c)
      case " $link_parked " in
      *" $link_off "*)
        link_unpark "$link_off"
        link_say "=$link_off 2 0 cancelled"
        ;;
      esac
      ;;
    f | m)
      link_path=${link_path%"$link_tab."} # added because read strips spaces at the end
      eval "link_op_$link_id=\$link_op link_off_$link_id=\$link_off link_max_$link_id=\$link_max link_items_$link_id=\${link_path#*\"\$link_tab\"} link_path_$link_id=\${link_path%%\"\$link_tab\"*}"
      link_parked="$link_parked $link_id"
      link_quiet=0
      link_list
      link_look
      ;;
    esac
    [ -n "$link_parked" ] && [ -z "$link_ticking" ] || continue
    link_ticking=1
    if [ "$link_quiet" -lt 50 ]; then link_x=0.02; elif [ "$link_quiet" -lt 150 ]; then link_x=0.05; else link_x=0.2; fi
    { link_nap "$link_x"; echo '0 tick' 1<>"$link_scratch/requests"; } 3>&- 8>&- </dev/null &
  done
  rm -rf "$link_scratch"
  link_release
}

link_unpark() {
  link_x=" $link_parked "
  link_x="${link_x%% "$1" *} ${link_x#* "$1" }"
  link_parked=${link_x% }
  unset "link_op_$1" "link_off_$1" "link_max_$1" "link_items_$1" "link_path_$1"
  link_list
}

# Lists what the parked requests look at, one path a line: records, whose content counts, and files, whose size does. / separates the files of two
# requests.
link_list() {
  link_records= link_files= link_before=
  for link_i in $link_parked; do
    eval "link_o=\$link_op_$link_i link_p=\$link_path_$link_i link_x=\$link_items_$link_i"
    if [ "$link_o" = f ]; then
      link_files="$link_files$link_p$link_newline/$link_newline"
      continue
    fi
    IFS=$link_tab
    for link_item in $link_x; do
      link_x=${link_item%% *}
      case $link_item in
      r*) link_records="$link_records$link_p/${link_x#r}$link_newline" ;;
      s*) link_files="$link_files$link_p/${link_x#s}$link_newline" ;;
      esac
    done
    IFS=' '
    link_files="$link_files$link_p/out.*$link_newline/$link_newline"
  done
}

# Reads records before sizes: a reply with the exit has all output from before it. Parses nothing while nothing has changed.
link_look() {
  IFS=$link_newline
  link_x=
  [ -z "$link_records" ] || link_x=$(grep -aHsm1 '' $link_records /dev/null)
  set +f
  link_sizes=$(stat -Lc '%s %n' $link_files)
  set -f
  link_quiet=$((link_quiet + 1))
  if [ "$link_x$link_sizes" = "$link_before" ]; then
    IFS=' '
    return
  fi
  link_before=$link_x$link_sizes
  set -- $link_x
  IFS=' '
  for link_i in $link_parked; do
    eval "link_o=\$link_op_$link_i link_p=\$link_path_$link_i link_x=\$link_items_$link_i"
    [ "$link_o" = m ] || continue
    link_now=
    IFS=$link_tab
    for link_item in $link_x; do
      case $link_item in r*) ;; *) continue ;; esac
      link_item=${link_item%% *}
      link_text=
      case ${1-} in
      "$link_p/${link_item#r}:"*)
        link_text=${1#"$link_p/${link_item#r}:"}
        shift
        [ ${#link_text} = 63 ] || link_text= # incomplete: absent
        link_text=${link_text%"${link_text##*[! ]}"}
        ;;
      esac
      link_now="$link_now$link_tab$link_item $link_text"
    done
    IFS=' '
    eval "link_now_$link_i=\$link_now"
  done
  IFS=$link_newline
  set -- $link_sizes
  IFS=' '
  for link_i in $link_parked; do
    eval "link_o=\$link_op_$link_i link_p=\$link_path_$link_i link_f=\$link_off_$link_i link_m=\$link_max_$link_i link_x=\$link_items_$link_i"
    link_size= link_head= link_end=0 link_from= link_file= link_first=
    if [ "$link_o" = f ]; then
      while [ $# -gt 0 ] && [ "${1#* }" != / ]; do
        link_size=${1%% *}
        shift
      done
      [ $# -gt 0 ] || break
      shift
      if [ -n "$link_size" ] && [ "$link_size" -gt "$link_f" ]; then link_arrived; fi
      continue
    fi
    eval "link_now=\$link_now_$link_i"
    unset "link_now_$link_i"
    IFS=$link_tab
    for link_item in $link_x; do
      case $link_item in s*) ;; *) continue ;; esac
      link_item=${link_item%% *}
      link_text=-1
      case ${1#* } in
      "$link_p/${link_item#s}")
        link_text=${1%% *}
        shift
        ;;
      esac
      link_now="$link_now$link_tab$link_item $link_text"
    done
    IFS=' '
    while [ $# -gt 0 ] && [ "${1#* }" != / ]; do
      link_start=${1##*/out.}
      link_start=$((1$link_start - 1000000000000000))
      link_head="${link_head}o $link_start ${1%% *}$link_newline"
      link_end=$((link_start + ${1%% *}))
      [ -n "$link_first" ] || link_first=$link_start
      # the segment to read from: the last one that starts at or before the offset, else the first of all
      if [ -z "$link_file" ] || [ "$link_start" -le "$link_f" ]; then
        link_file=${1#* }
        link_from=$link_start
        link_size=${1%% *}
      fi
      shift
    done
    [ $# -gt 0 ] || break # stat could not be run
    shift
    link_now=${link_now#"$link_tab"}
    if [ ! -d "$link_p" ]; then
      link_say "=$link_i 1 0 absent"
      link_unpark "$link_i"
    elif [ "$link_now" != "$link_x" ] || [ "$link_end" -gt "$link_f" ]; then
      link_changed
    fi
  done
}

# Answers if the file of request link_i is longer than its offset.
link_arrived() {
  if [ "$link_f" -lt 0 ] || [ "$link_m" = 0 ]; then link_say "=$link_i 0 0 $link_size"; else link_read "$link_i" "$link_f" "$link_m" "$link_p" || return 0; fi
  link_unpark "$link_i"
  link_quiet=0
}

# Answers if the directory of request link_i differs from what the local end knows.
link_changed() {
  link_at=$link_f
  if [ -n "$link_first" ] && [ "$link_first" -gt "$link_at" ]; then link_at=$link_first; fi
  link_n=0
  if [ -n "$link_file" ]; then link_count $((link_from + link_size - link_at)) "$link_m"; fi
  link_paths=
  IFS=$link_tab
  for link_item in $link_now; do
    case $link_item in r*) link_item=${link_item%% *}; link_paths="$link_paths$link_p/${link_item#r}$link_newline" ;; esac
  done
  IFS=$link_newline
  link_times=
  # Asks for times only if a record is new: they cost a fork.
  if [ "$link_now" != "$link_x" ] && [ -n "$link_paths" ]; then link_times=$(stat -Lc "$link_mtime %n" $link_paths); fi
  set -- $link_times
  IFS=$link_tab
  for link_item in $link_now; do
    link_name=${link_item%% *}
    link_text=${link_item#* }
    case $link_item in
    r*)
      link_t=0
      for link_time; do case ${link_time#* } in "$link_p/${link_name#r}") link_t=${link_time%% *} ;; esac; done
      link_head="${link_head}r ${link_name#r} $link_t $link_text$link_newline"
      ;;
    s*) link_head="${link_head}s ${link_name#s} $link_text$link_newline" ;;
    esac
  done
  IFS=' '
  link_head="${link_head}l $link_at$link_newline"
  if [ "$link_n" -gt 0 ]; then
    # dropped by its ring meanwhile: the next tick retries
    { link_send "$link_i" 0 "${#link_head}" "$link_head" "$link_n" $((link_at - link_from)); } 4<"$link_file" || { link_before=; return; }
  else
    link_send "$link_i" 0 "${#link_head}" "$link_head" 0 0
  fi
  link_unpark "$link_i"
  link_quiet=0
}

# ---- jobs beside the loop ----

# Runs a script. One line of stderr is enough for the error.
link_run() {
  ( exec 3>&- 7>&- 8>&-; trap - PIPE HUP INT TERM; set +f; eval "$link_script" ) <"$link_stdin" >"$link_scratch/out.$1" 2>"$link_scratch/err.$1"
  link_status=$?
  link_error=
  read -r link_error <"$link_scratch/err.$1"
  # If there is room for one more file now, there was room for the output.
  if [ ! -e "$link_scratch/out.$1" ] || ! echo >"$link_scratch/room.$1"; then
    link_say "=$1 300 0 $link_status there is no room for its output"
  elif [ -s "$link_scratch/out.$1" ]; then
    {
      link_size=$(stat -c %s "$link_scratch/out.$1")
      link_count "$link_size" "$2"
      link_send "$1" 0 "$link_status $link_size $link_error" '' "$link_n" 0
    } 4<"$link_scratch/out.$1"
  else
    link_say "=$1 0 0 $link_status 0 $link_error"
  fi
  rm -f "$link_scratch/out.$1" "$link_scratch/err.$1" "$link_scratch/room.$1" "$link_scratch/in.$1"
}

# Writes bytes to a FIFO: all at once or not at all. No reader, or no room: status 3.
link_feed() {
  [ -p "$3" ] || { link_say "=$1 1 0 absent"; return; }
  if [ -n "$link_nonblock" ]; then
    if printf '%b' "$2" | dd bs=4096 count=1 iflag=fullblock oflag=nonblock conv=notrunc,nocreat of="$3"; then link_say "=$1 0 0"; else link_say "=$1 3 0 no reader takes it"; fi
    return
  fi
  # The only way to ask is to wait; after five seconds the answer is no.
  ( trap - PIPE TERM; printf '%b' "$2" >"$3" ) 3>&- 7>&- 8>&- &
  link_writer=$!
  { link_x=0; while kill -0 "$link_writer" && [ "$link_x" -lt 100 ]; do link_nap 0.05; link_x=$((link_x + 1)); done; kill "$link_writer"; } 3>&- 7>&- 8>&- &
  if wait "$link_writer"; then link_say "=$1 0 0"; else link_say "=$1 3 0 no reader takes it"; fi
}

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
  perl -e "$link_perl" "$link_scratch" "$link_dir" "$link_idle"
  exit
fi

# ---- without perl ----

# One newline in a pipe is the lock: the job that has taken it may write. No fork, and no flock(1).
# Requests for the watcher go through a FIFO that it reads and only we hold open for writing, so that our end, of whatever cause, is its end of file.
exec 8<>"$link_scratch/lock" 9<>"$link_scratch/requests" 6<"$link_scratch/requests" 7>"$link_scratch/requests" 9>&-
rm -f "$link_scratch/lock"
echo >&8

link_watch </dev/null &
link_watcher=$!
exec 6<&-

# The local end may vanish without any notice. Every request leaves a beat, and a job that finds none for too long ends us.
link_quarter=$(((link_idle + 3) / 4))
( trap - PIPE HUP INT
  trap 'kill -9 $!; exit' TERM # $! and not a copy of it, for which it may be too early; -9, since a child that was just forked can lose a TERM
  link_missed=0
  while [ "$link_missed" -lt 4 ]; do
    sleep "$link_quarter" &
    wait $!
    kill -0 $$ || break
    if rm "$link_scratch/beat"; then link_missed=0; else link_missed=$((link_missed + 1)); fi
  done
  if kill $$; then
    sleep 2 &
    wait $!
    kill -9 $$ $link_watcher
  fi
  rm -rf "$link_scratch"
  link_release ) 3>&- 7>&- </dev/null &
link_dog=$!
trap 'trap "" TERM; rm -rf "$link_scratch"; kill $link_watcher $link_dog; link_release' EXIT
trap 'exit 1' TERM

# ---- the loop ----

# Jobs beside the loop are no children of this shell: when a child ends, the `read` of busybox forgets a partially received line.
link_lived=-9
while IFS= read -r link_line; do
  [ -e "$link_scratch/beat" ] || true >"$link_scratch/beat"
  link_id=${link_line%% *} link_rest=${link_line#* }
  link_op=${link_rest%% *} link_rest=${link_rest#* }
  case $link_op in
  [rfmwe]) link_a=${link_rest%% *} link_rest=${link_rest#* } link_b=${link_rest%% *} link_rest=${link_rest#* } ;;
  esac
  case $link_op in
  n)
    # Renews the sign of life; without it a sandbox without a runtime ends. Once a second is enough for the shortest lifetime.
    link_x=0
    read -r link_x link_y </proc/uptime
    link_x=${link_x%.*}
    if [ $((link_x - link_lived)) -ge 1 ] || [ "$link_x" = 0 ]; then
      link_lived=$link_x
      true >"$link_dir/life"
    fi
    link_say "=$link_id 0 0"
    ;;
  r) link_read "$link_id" "$link_a" "$link_b" "$link_rest" || link_say "=$link_id 1 0 cannot be read" ;;
  f | m | c) printf '%s\n' "$link_line" >&7 || break ;;
  w)
    if true >>"$link_rest"; then
      if link_receive "$link_b" "$link_rest" "$link_a"; then link_say "=$link_id 0 0"; else link_say "=$link_id 3 0 no room"; fi
    else
      link_receive "$link_b" /dev/null 0
      link_say "=$link_id 1 0 cannot be written"
    fi
    ;;
  e)
    # LIMIT BYTES FLAG LINES, then the lines of a script, then BYTES bytes for its stdin
    link_flag=${link_rest%% *} link_n=${link_rest#* } link_script=
    while [ "$link_n" -gt 0 ] && IFS= read -r link_x; do
      link_script="$link_script$link_x$link_newline"
      link_n=$((link_n - 1))
    done
    [ "$link_n" = 0 ] || break
    link_stdin=/dev/null
    if [ "$link_b" -gt 0 ]; then
      link_stdin=$link_scratch/in.$link_id
      if ! true >"$link_stdin"; then
        link_receive "$link_b" /dev/null 0
        link_say "=$link_id 300 0 - there is no room for its input"
        continue
      fi
      link_receive "$link_b" "$link_stdin" 0 || { rm -f "$link_stdin"; link_say "=$link_id 300 0 - there is no room for its input"; continue; }
    fi
    if [ "$link_flag" = f ]; then
      link_run "$link_id" "$link_a" </dev/null
    else
      ( link_run "$link_id" "$link_a" </dev/null 7>&- & )
    fi
    ;;
  b) ( link_feed "$link_id" "${link_rest%% *}" "${link_rest#* }" </dev/null 7>&- & ) ;;
  x) break ;;
  *) link_say "=$link_id 9 0 unknown" ;;
  esac
done
