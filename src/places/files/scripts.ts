/**
 * The file operations of a remote end, in POSIX sh: dash, busybox ash, bash. Arguments are `$1`, `$2`, …; paths are absolute, so none is
 * taken for an option. A script that fails prints the error of the program that failed.
 */

const SHA = `hf_sha() {
  if command -v sha256sum >/dev/null 2>&1; then set -- "$(sha256sum <"$1")"
  elif command -v openssl >/dev/null 2>&1; then set -- "$(openssl dgst -sha256 -r <"$1")"
  elif command -v shasum >/dev/null 2>&1; then set -- "$(shasum -a 256 <"$1")"
  else set -- none; fi
  printf '%s\\n' "\${1%% *}"
}
`;

export const FORMAT = "%f %s %Y %u %g %h";

/** $1: path. Prints the state of the file behind any link. Fails with the words of stat if there is none. */
export const STAT = `[ -e "$1" ] || [ -L "$1" ] || stat -c x "$1" >/dev/null || exit; stat -L -c '${FORMAT} %i %y %z' "$1"`;
export const LSTAT = `stat -c '${FORMAT} %i %y %z' "$1"`;

/** $1: directory. Prints everything below it. A path cannot contain two slashes in a row, so they terminate it. Fails if any entry cannot be examined. */
export const TREE = `cd "$1" && command -v find >/dev/null && find . ! -name . -exec stat -c '${FORMAT} %n//' {} + 2>/dev/null`;

/** $1: a mark, $2: directory, then names below it. */
export const READLINKS = `m=$1; cd "$2" || exit; shift 2; for f; do readlink "./$f" && printf '%s' "$m" || exit; done`;

/** $1: directory. A name cannot contain a slash, so one terminates it. */
export const LIST = `cd "$1" 2>/dev/null || { ls "$1" >/dev/null || exit; echo 'Not a directory'; exit 1; } # some shells do not say why
if command -v find >/dev/null 2>&1; then exec find . ! -name . -prune -exec stat -c '${FORMAT} %n/' {} + 2>/dev/null; fi
for f in ./* ./.[!.]* ./..?*; do stat -c '${FORMAT} %n/' "$f" 2>/dev/null; done; :`;

/** Prints why a file cannot be read, in the words of the failing program. */
export const CHECK = `if [ -d "$1" ]; then echo 'Is a directory'; exit 1; fi
[ -e "$1" ] && [ ! -f "$1" ] && { echo 'holdfast: not a file'; exit 1; }
: <"$1"`;

/** Newlines at its end are part of the target. */
export const READLINK = `readlink "$1" && echo .`;

export const HASH = `${SHA}${CHECK} || exit; hf_sha "$1"`;

/** $1: path, $2: mode or nothing. Prints the topmost directory that was created. */
export const MKDIR = `d=$1 made=
while [ ! -d "$d" ]; do made=$d; d=\${d%/*}; [ -n "$d" ] || d=/; done
mkdir -p "$1" || exit
[ -z "$2" ] || chmod "$2" "$1" || exit
printf '%s.' "$made"`;

export const REMOVE = `if [ -d "$1" ] && [ ! -L "$1" ]; then rmdir "$1"; else rm "$1"; fi`;
export const REMOVE_ALL = `rm -rf "$1"`;
export const RENAME = `mv -f "$1" "$2"`;

/**
 * $1: path, $2: name of the temporary file, $3: minutes after which foreign ones expire, $4: "link" to replace a link.
 * Prints the state of the current file (or nothing), the number of created directories, and the final path.
 */
export const PREPARE = `p=$1 n=0
while [ -L "$p" ] && [ "$4" != link ]; do
  n=$((n + 1)); [ $n -le 40 ] || { echo 'Too many levels of symbolic links'; exit 1; }
  t=$(readlink "$p" && echo .) || exit
  t=\${t%??}
  case $t in /*) p=$t ;; *) d=\${p%/*}; p=$d/$t ;; esac
done
d=\${p%/*}; [ -n "$d" ] || d=/
old=
if [ -L "$p" ]; then old=
elif [ -d "$p" ]; then echo 'Is a directory'; exit 1
elif [ -f "$p" ]; then old=$(stat -c '${FORMAT}' "$p") || exit
elif [ -e "$p" ]; then echo 'holdfast: not a file'; exit 1
fi
made=0 e=$d
while [ ! -d "$e" ]; do made=$((made + 1)); e=\${e%/*}; [ -n "$e" ] || e=/; done
[ $made -eq 0 ] || mkdir -p "$d" || exit
find "$d/." ! -name . -prune -name '.holdfast-tmp.*' -mmin "+$3" -exec rm -rf {} + >/dev/null 2>&1
if [ -n "$old" ]; then (umask 077; : >"$d/$2") || exit; else : >"$d/$2" || exit; fi
printf '%s\\n%s\\n%s.' "$old" "$made" "$p"`;

/**
 * $1: temporary file, $2: target, $3: bytes, $4: sha256, $5: mode or nothing, $6: owner, $7: group, $8: expected sha256 of the current file, "null"
 * for none, or nothing,
 * $9: "checked" if its bytes have been compared already.
 * Prints "sha" if the hash could not be computed, "owner" if the owner could not be kept.
 */
export const COMMIT = `${SHA}
if [ ! -e "$1" ] && [ -f "$2" ] && [ "$(hf_sha "$2")" = "$4" ]; then exit 0; fi
n=$(wc -c <"$1") || exit
[ "$n" -eq "$3" ] || { echo "it came out with $n bytes instead of $3"; exit 1; }
if [ -n "$9" ]; then s=$4; else s=$(hf_sha "$1"); fi
case $s in none) echo sha ;; "$4") ;; *) echo "it came out with another sha256"; exit 1 ;; esac
if [ -n "$6" ] && [ "$(stat -c '%u %g' "$1")" != "$6 $7" ]; then
  chown "$6:$7" "$1" 2>/dev/null || { chgrp "$7" "$1" 2>/dev/null; echo "owner $(stat -c '%u %g' "$1")"; }
fi
[ -z "$5" ] || chmod "$5" "$1" || exit
if [ -n "$8" ]; then
  if [ -e "$2" ]; then now=$(hf_sha "$2"); else now=null; fi
  [ "$now" != none ] || { echo 'holdfast: no sha'; exit 1; }
  [ "$now" = "$8" ] || { echo 'holdfast: changed'; exit 1; }
fi
[ ! -d "$2" ] || [ -L "$2" ] || { echo 'Is a directory'; exit 1; }
if [ -L "$2" ] && [ -d "$2" ]; then rm "$2" || exit; fi
mv -f "$1" "$2"`;

/** Prints the program that compares a large file during its transfer: some builds of sha256sum take five times as long as others. */
export const FASTEST = `if command -v openssl >/dev/null 2>&1; then echo openssl; elif command -v b2sum >/dev/null 2>&1; then echo b2sum
elif command -v sha256sum >/dev/null 2>&1; then echo sha256sum; elif command -v shasum >/dev/null 2>&1; then echo shasum; else echo none; fi`;
/** $1: path, $2, $3: offset and length in MiB, $4: the output of FASTEST. */
export const REGION = `dd if="$1" bs=1048576 skip="$2" count="$3" 2>/dev/null | case $4 in
openssl) openssl dgst -sha256 -r ;; shasum) shasum -a 256 ;; *) "$4" ;;
esac`;

/** $1: directory, $2: file name for the archive, which comes as input, $3: its sha256. */
export const UNPACK = `${SHA}cd "$1" || exit
cat >"$2" || { rm -f "$2"; exit 1; }
s=$(hf_sha "$2")
case $s in none | "$3") tar -xpomf "$2" ;; *) echo "it came out with another sha256"; false ;; esac || { rm -f "$2"; exit 1; }
rm -f "$2"`;
export const HAS_TAR = `command -v tar`;

/** $1: directory, $2: name prefix, $3: minutes. Removes expired files; prints the names of the others. */
export const TIDY = `cd "$1" 2>/dev/null || exit 0
find . ! -name . -prune -name '.holdfast-tmp.*' -mmin "+$3" -exec rm -rf {} + >/dev/null 2>&1
for f in "$2"*; do [ ! -e "$f" ] || printf '%s/' "$f"; done`;

/** $1: a complete directory, $2: its name, $3: its mode. Succeeds if it was done before: idempotent. */
export const INSTALL = `if [ ! -e "$1" ]; then [ -d "$2" ]; exit; fi
[ ! -e "$2" ] && [ ! -L "$2" ] || { echo 'File exists'; exit 1; }
chmod "$3" "$1" && mv "$1" "$2"`;

/** $1: source, $2: target. Checks everything first, then moves: one mv per directory. A retry continues. */
export const MERGE = `hf_check() (
  for f in "$1"/* "$1"/.[!.]* "$1"/..?*; do
    g=$2/\${f##*/}
    if [ -d "$f" ] && [ ! -L "$f" ]; then
      if [ -L "$g" ] || { [ -e "$g" ] && [ ! -d "$g" ]; }; then printf 'holdfast: no directory:%s' "$g"; exit 1; fi
      [ ! -d "$g" ] || hf_check "$f" "$g" || exit
    elif [ -d "$g" ] && [ ! -L "$g" ]; then printf 'holdfast: directory:%s' "$g"; exit 1
    fi
  done
)
hf_move() (
  s=$1 t=$2
  set --
  for f in "$s"/* "$s"/.[!.]* "$s"/..?*; do
    if [ -d "$f" ] && [ ! -L "$f" ]; then
      g=$t/\${f##*/}
      if [ -d "$g" ]; then hf_move "$f" "$g" || exit; else mv "$f" "$g" || exit; fi
    elif [ -e "$f" ] || [ -L "$f" ]; then
      set -- "$@" "$f"
      if [ $# -ge 200 ]; then mv -f "$@" "$t/" || exit; set --; fi
    fi
  done
  [ $# -eq 0 ] || mv -f "$@" "$t/"
)
[ -d "$1" ] || exit 0
hf_check "$1" "$2" && hf_move "$1" "$2" && rm -rf "$1"`;
/** $1: target, $2: path. */
export const LINK = `rm -f "$2" && ln -s "$1" "$2"`;
/** $1: directory, then names below it. Prints their content, then the sha256 of all of it. */
export const CAT = `${SHA}cd "$1" && shift && cat "$@" 2>/dev/null && cat "$@" | hf_sha /dev/stdin`;
/** Prints why one of them cannot be read. */
export const READABLE = `cd "$1" && shift && for f; do { : <"$f"; } || exit; done`;
