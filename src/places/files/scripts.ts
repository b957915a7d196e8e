/**
 * What a far end is asked to do with files, in POSIX sh: dash, busybox ash, bash. Arguments are `$1`, `$2`, …; paths are absolute, so none is
 * taken for an option. A script that fails ends with the words of the program that failed.
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

/** $1: path. Three lines apart: nothing there, or how it is. */
export const STAT = `[ -e "$1" ] || [ -L "$1" ] || stat -c x "$1" >/dev/null || exit; stat -L -c '${FORMAT}' "$1"`;
export const LSTAT = `stat -c '${FORMAT}' "$1"`;

/** $1: directory. A name cannot have a slash in it, and so ends with one. */
export const LIST = `cd "$1" 2>/dev/null || { ls "$1" >/dev/null || exit; echo 'Not a directory'; exit 1; } # some shells do not say why
if command -v find >/dev/null 2>&1; then exec find . ! -name . -prune -exec stat -c '${FORMAT} %n/' {} + 2>/dev/null; fi
for f in ./* ./.[!.]* ./..?*; do stat -c '${FORMAT} %n/' "$f" 2>/dev/null; done; :`;

/** Why it cannot be read, in the words of who tried. */
export const CHECK = `if [ -d "$1" ]; then echo 'Is a directory'; exit 1; fi
[ -e "$1" ] && [ ! -f "$1" ] && { echo 'holdfast: not a file'; exit 1; }
: <"$1"`;

/** Newlines at its end are part of it. */
export const READLINK = `readlink "$1" && echo .`;

export const HASH = `${SHA}${CHECK} || exit; hf_sha "$1"`;

/** $1: path, $2: mode or nothing. The topmost that had to be made. */
export const MKDIR = `d=$1 made=
while [ ! -d "$d" ]; do made=$d; d=\${d%/*}; [ -n "$d" ] || d=/; done
mkdir -p "$1" || exit
[ -z "$2" ] || chmod "$2" "$1" || exit
printf '%s.' "$made"`;

export const REMOVE = `if [ -d "$1" ] && [ ! -L "$1" ]; then rmdir "$1"; else rm "$1"; fi`;
export const REMOVE_ALL = `rm -rf "$1"`;
export const RENAME = `mv -f "$1" "$2"`;

/**
 * $1: path, $2: name of the temporary file, $3: minutes after which those of others go, $4: "link" to replace a link.
 * Prints how what is there is (or nothing), how many directories had to be made, and where it will be.
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
find "$d/." ! -name . -prune -name '.holdfast-tmp.*' -mmin "+$3" -exec rm -f {} + >/dev/null 2>&1
if [ -n "$old" ]; then (umask 077; : >"$d/$2") || exit; else : >"$d/$2" || exit; fi
printf '%s\\n%s\\n%s.' "$old" "$made" "$p"`;

/**
 * $1: temporary file, $2: target, $3: bytes, $4: sha256, $5: mode or nothing, $6: owner, $7: group, $8: sha256 of what should be there, "null" for nothing, or nothing.
 * Prints "sha" where the hash could not be looked at, "owner" where that could not be kept.
 */
export const COMMIT = `${SHA}
if [ ! -e "$1" ] && [ -f "$2" ] && [ "$(hf_sha "$2")" = "$4" ]; then exit 0; fi
n=$(wc -c <"$1") || exit
[ "$n" -eq "$3" ] || { echo "it came out with $n bytes instead of $3"; exit 1; }
s=$(hf_sha "$1")
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

/** $1: archive, $2: directory. */
export const UNPACK = `cd "$2" && tar -xpomf "$1"`;
export const HAS_TAR = `command -v tar`;
/** $1: target, $2: path. */
export const LINK = `rm -f "$2" && ln -s "$1" "$2"`;
/** $1: directory, then names below it. All of it, and the sha256 of all of it. */
export const CAT = `${SHA}cd "$1" && shift && cat "$@" && cat "$@" | hf_sha /dev/stdin`;
