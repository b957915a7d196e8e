# The remote end of a link, one text of several parts, joined by scripts/build-scripts.mjs. It answers requests on stdin, many at a time, until stdin
# ends. docs/link.md is the specification.
#
# POSIX sh (dash, busybox ash, bash) with dd, stat, grep, sleep, mkfifo, mkdir, rm. Where there is a perl, link.pl answers instead, once this has found out
# where our files are and what there is.
# The near end sets before this is read: link_mark, link_asked (the directory asked for, or nothing), link_name (what to call ours in it),
# link_idle (seconds without a request until we give up), link_perl (the text of link.pl; nothing: do without),
# link_delays (not empty: small messages are held back on the way, src/places/link/nudge.ts).
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

