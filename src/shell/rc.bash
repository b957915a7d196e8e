# The persistent shell's own part: the rcfile of `bash -i` without a terminal, whose standard input is a FIFO.
#
# bash reads that FIFO as its script, so taking the next line is C code that no shell text can shadow; SIGINT throws a
# running command away and keeps the shell, and the line after it is still read. For each command a runtime writes three
# lines in one piece (bash.ts), N being the id of the command's directory and a number that makes it unique, ID the command's own:
#
#   __hf_k=ID __hf_n=N;… PROMPT_COMMAND=$__hf_p    the command runs from PROMPT_COMMAND: at top level, in no function
#   \__hf_post N                         once more, should the command have been thrown away
#   [[ $__hf_e != N ]] && …              its end could not be recorded: rescue.bash, and `stuck` tells the runtime
#
# Where PROMPT_COMMAND is read-only the first line evals $__hf_p itself. That serves as well, but one interrupt in ten costs the shell.
#
# Before that, `__hf_w=1` says that there is a directory for this command only, `__hf_z=plain` that it cannot change the shell. Its
# text is in the file `command`. A plain one without a directory of its own is in the first line instead, which is much shorter then:
#
#   __hf_k=ID __hf_n=N __hf_s=…;\__hf_begins 'TEXT'&&{ TEXT </dev/null >>"$__hf_s/pipe" 2>&1;\__hf_ends "$?";}
#
# The command's output goes to the FIFO `pipe` in its directory, its end to `exit` there, with the shell's directory
# behind it. All names start with __hf_, since the shell belongs to its user. Every builtin of ours is called through `builtin`.

__hf_g=$HF_PROCS
__hf_h=$HF_SHELVES # on shelves by the first digit of the id, or all in one directory
__hf_y=$__hf_g/${__hf_h:+${HOLDFAST_ID:5:1}/}$HOLDFAST_ID/stuck
__hf_d=${__hf_y%stuck}shell
__hf_u=$__hf_d/run
__hf_x=$HF_RESCUE
__hf_idle=$HF_IDLE

# Rare code is in functions of its own: bash copies the whole of a function each time that it runs it.
__hf_enter() {
	builtin mapfile -d '' -n 1 __hf_w <"$__hf_s/workdir"
	__hf_b=("$PWD" "$OLDPWD")
	builtin cd -- "$__hf_w" 2>/dev/null || __hf_c='\builtin echo "holdfast: cannot enter the working directory" >&2; (\builtin exit 126)'
}
__hf_comeback() {
	__hf_w=
	if builtin cd -- "${__hf_b[0]}" 2>/dev/null && [[ ${OLDPWD@a} != *r* ]]; then OLDPWD=${__hf_b[1]}; fi
}

__hf_pre() {
	__hf_q=$? __hf_t=$__hf_rc
	if [[ $__hf_n != "$__hf_l" ]]; then
		__hf_l=$__hf_n __hf_rc=
		__hf_s=$__hf_g/${__hf_h:+${__hf_n:0:1}/}proc_${__hf_n%.*}
		__hf_o=$__hf_s/pipe
		if [[ $__hf_ps ]]; then PS1=$__hf_ps __hf_ps=; fi
		if [[ ${HOLDFAST_ID@a} != *r* ]]; then builtin export HOLDFAST_ID=${__hf_k:-proc_${__hf_n%.*}}; fi
		builtin printf '%-63s\n' "$__hf_n $__hf_z" 1<>"$__hf_d/begun"
		builtin mapfile -d '' -n 1 __hf_c <"$__hf_s/command"
		if [[ $__hf_w ]]; then __hf_enter; fi
		builtin history -s -- "${__hf_c:0:1000}"
	else
		__hf_c=: __hf_o=/dev/null # here again: it was thrown away
		if [[ $__hf_e != "$__hf_n" && ! $__hf_rc ]]; then __hf_rc=$__hf_q; fi
	fi
	builtin return "$__hf_t"
}

# bash writes line by line: what stands at the end tells that all of it is there. With N no two ends are alike: who looks seldom misses none.
__hf_record() {
	if builtin printf '%-63s\n%s\0%s\0' "exit $__hf_rc - $__hf_n" "$PWD" "$__hf_n" 1<>"$__hf_s/exit"; then
		__hf_v=
		builtin printf -v __hf_v %s "$__hf_n" # proof that it was the real printf
		__hf_e=$__hf_v
	fi
	if [[ -e $__hf_s/released ]]; then builtin printf '\nrelease\n' 1<>"$__hf_s/ctl"; fi # the runtime has gone, or waits no longer
}

# $1: N, where the command itself could not be trusted to have left it alone.
__hf_post() {
	__hf_t=$?
	if [[ ${1-} ]]; then
		__hf_n=$1
		if [[ $__hf_l != "$1" ]]; then
			if ((__hf_t < 128)); then builtin return; fi # nothing runs in this shell any more (a variable of ours is read-only): the runtime finds it stuck
			__hf_l=$1 __hf_rc=130 # interrupted before it was taken
		fi
	fi
	if [[ $__hf_e != "$__hf_n" ]]; then
		builtin set +eutvx
		if [[ -o vi || -o emacs ]]; then builtin set +o vi +o emacs; fi
		if [[ ! $__hf_rc ]]; then __hf_rc=$__hf_t; fi
		__hf_s=$__hf_g/${__hf_h:+${__hf_n:0:1}/}proc_${__hf_n%.*}
		if [[ $__hf_w ]]; then __hf_comeback; fi
		__hf_record
		if [[ $__hf_c == *__hf_* ]]; then __hf_check; fi
		__hf_c=
		if [[ ${PROMPT_COMMAND@a} || -R PROMPT_COMMAND ]]; then __hf_unprompt; else PROMPT_COMMAND=; fi
		if [[ ${TMOUT@a} != *r* ]]; then TMOUT=$__hf_idle; fi
		if [[ $PS1 && ${PS1@a} != *r* ]]; then __hf_ps=$PS1 PS1=; fi
		if [[ $__hf_z ]]; then __hf_z=; else builtin trap __hf_abort PWR; __hf_snap; fi
	fi
}

# An array, or a name of another variable. A read-only one stays, and bash runs it before each of our lines; the next shell does not get it.
__hf_unprompt() {
	if [[ ${PROMPT_COMMAND@a} != *r* ]]; then
		builtin unset -n PROMPT_COMMAND
		builtin unset -v PROMPT_COMMAND
	fi
}

# A command that names our variables may have changed what they are (`readonly __hf_ps`, `declare -i __hf_rc`): then the state goes to the next
# shell, without them.
__hf_check() {
	if [[ ${__hf_n@a}${__hf_k@a}${__hf_l@a}${__hf_rc@a}${__hf_q@a}${__hf_t@a}${__hf_s@a}${__hf_o@a}${__hf_c@a}${__hf_w@a}${__hf_z@a}${__hf_e@a}${__hf_v@a}${__hf_b@a}${__hf_ps@a}${__hf_sn@a}${__hf_i@a} == *[rilucA]* ]]; then
		builtin trap - EXIT
		(__hf_snap)
		builtin exit
	fi
}

# Before and after a plain command, which leaves everything else as it was. Fails the second time: a bash that gets our PWR while it
# reads may run the line before once more.
__hf_begins() {
	if [[ $__hf_l == "$__hf_n" ]]; then [[ ! 1 ]]; else __hf_first "$1"; [[ 1 ]]; fi
}
__hf_first() {
	__hf_l=$__hf_n __hf_rc=
	if [[ $__hf_ps ]]; then PS1=$__hf_ps __hf_ps=; fi
	if [[ ${HOLDFAST_ID@a} != *r* ]]; then builtin export HOLDFAST_ID=$__hf_k; fi
	builtin printf '%-63s\n' "$__hf_n plain" 1<>"$__hf_d/begun"
	builtin history -s -- "$1"
}
__hf_ends() {
	__hf_rc=$1
	__hf_record
	if [[ $PS1 && ${PS1@a} != *r* ]]; then __hf_ps=$PS1 PS1=; fi
}

# The state, for the shell that comes after this one. Two files by turns, overwritten in place (freeing blocks takes
# longer than all the rest): one is whole when its last number is that of its first line, which also names the last command.
__hf_snap() {
	builtin set +euvx
	__hf_sn=$((__hf_sn + 1))
	{
		builtin printf '#hf %s %s\n__hf_so=%q __hf_bo=%q\n' "$__hf_sn" "$__hf_n" "$SHELLOPTS" "$BASHOPTS"
		builtin declare -p
		builtin printf '#hf-functions %s\n' "$__hf_sn"
		builtin declare -f
		builtin declare -Fx
		builtin printf '#hf-functions-end %s\n' "$__hf_sn"
		builtin alias -p
		builtin umask -p
		builtin trap -p
		if [[ -s $__hf_d/traps ]]; then builtin printf '#hf-traps\n'; fi
		builtin printf '\\builtin cd -- %q\n' "$PWD"
		if [[ ${DIRSTACK[1]+x} ]]; then
			for ((__hf_i = ${#DIRSTACK[@]} - 1; __hf_i > 0; __hf_i--)); do builtin printf '\\builtin pushd -n -- %q >/dev/null\n' "${DIRSTACK[__hf_i]}"; done
		fi
		if [[ ${OLDPWD+x} && ${OLDPWD@a} != *r* ]]; then builtin printf 'OLDPWD=%q\n' "$OLDPWD"; fi
		builtin printf '#hf-end %s\n' "$__hf_sn"
	} 1<>"$__hf_d/snap.$((__hf_sn & 1))"
	builtin history -a "$__hf_d/history"
}

# Only what has not ended: an INT that comes while bash reads its next line may make it read that one, or a part of it, again.
__hf_abort() {
	if [[ $__hf_e != "$__hf_n" ]]; then
		builtin trap - INT
		builtin kill -INT "$$"
	fi
}
builtin declare -fr __hf_enter __hf_comeback __hf_pre __hf_record __hf_post __hf_unprompt __hf_check __hf_begins __hf_first __hf_ends __hf_snap __hf_abort

# Through `.` of a file that evals the command: otherwise, below PROMPT_COMMAND, an interactive bash never forgets children that
# have ended, and `jobs` and `wait -n` would tell of them. Without job control it forgets them in silence.
# Whether there are traps that no function sees can only be told here; once there has been one, that file is never empty again.
__hf_p='\__hf_pre
\builtin . "$__hf_u" </dev/null >>"$__hf_o" 2>&1
__hf_rc=${__hf_rc:-$?};\builtin trap -p DEBUG ERR RETURN 1<>"$__hf_d/traps"
\__hf_post'
builtin readonly __hf_g __hf_h __hf_y __hf_d __hf_u __hf_x __hf_idle __hf_p

# One line of a snapshot, as the next shell reads it: without our own variables, and with PROMPT_COMMAND under another name.
__hf_kept() {
	if [[ $__hf_v =~ ^declare\ -[^\ ]*\ __hf_ ]]; then builtin return; fi
	if [[ $__hf_v =~ ^declare\ -([^\ ]*)\ PROMPT_COMMAND(=.*)?$ ]]; then
		case ${BASH_REMATCH[1]} in *a*) __hf_t=-a ;; *A*) __hf_t=-A ;; *) __hf_t=-- ;; esac
		__hf_v="declare $__hf_t __hf_no${BASH_REMATCH[2]}"
	fi
	builtin printf '%s\n' "$__hf_v"
}

__hf_sn=0
if [[ $HF_FROM ]]; then
	# The newest whole snapshot of the shell before this one.
	for __hf_i in 0 1; do
		if [[ -e $HF_FROM/snap.$__hf_i ]]; then
			builtin mapfile -d '' -n 1 __hf_v <"$HF_FROM/snap.$__hf_i" # not $(<…), which cuts newlines at the end
			__hf_t=${__hf_v%%$'\n'*} __hf_t=${__hf_t#\#hf } __hf_t=${__hf_t%% *}
			if [[ $__hf_t =~ ^[0-9]+$ && $__hf_v == *$'\n#hf-end '"$__hf_t"$'\n'* ]] && ((__hf_t > __hf_sn)); then
				__hf_sn=$__hf_t
				__hf_c=$__hf_v
			fi
		fi
	done
	if [[ -e $HF_FROM/history ]]; then
		builtin history -r "$HF_FROM/history"
		builtin history -w "$__hf_d/history"
	fi
	# Up to its end, line by line: ${…%%…} takes minutes for a variable of a megabyte.
	__hf_c=$(builtin printf '%s\n' "$__hf_c" 2>/dev/null | while IFS= builtin read -r __hf_v && [[ $__hf_v != "#hf-end $__hf_sn" ]]; do __hf_kept; done)
	__hf_t=${__hf_c#*$'\n'}
	builtin eval "${__hf_t%%$'\n'*}" # its options: functions may need them to be read (extglob)
	while builtin read -r __hf_v __hf_t __hf_i; do
		case $__hf_i in login_shell | restricted_shell | expand_aliases | extdebug | checkwinsize) builtin continue ;; esac
		case :$__hf_bo: in
		*":$__hf_i:"*) [[ $__hf_t = -s ]] || builtin shopt -s "$__hf_i" ;;
		*) [[ $__hf_t = -u ]] || builtin shopt -u "$__hf_i" ;;
		esac
	done < <(builtin shopt -p)
	__hf_q=$HOLDFAST_ID
	builtin eval "$__hf_c"
	if [[ ! $PWD -ef . ]]; then builtin cd -P . 2>/dev/null; fi # it could not go back there: $PWD is where it is
	if [[ ${HOLDFAST_ID@a} != *r* ]]; then HOLDFAST_ID=$__hf_q; fi
	# Options as they were, but for those that are the shell's own. posix comes last: it changes how all else is understood.
	for __hf_i in allexport braceexpand errtrace functrace hashall ignoreeof keyword noclobber noglob nolog notify physical pipefail privileged posix; do
		case :$__hf_so: in
		*":$__hf_i:"*) builtin set -o "$__hf_i" ;;
		*) [[ ! -o $__hf_i ]] || builtin set +o "$__hf_i" ;;
		esac
	done
	builtin unset __hf_so __hf_bo __hf_no
elif [[ $HF_PROFILE ]]; then
	# As a login shell would. They may print, fail or read: none of it is any command's business.
	if [[ -r /etc/profile ]]; then builtin . /etc/profile; fi </dev/null
	for __hf_i in ~/.bash_profile ~/.bash_login ~/.profile; do
		if [[ -r $__hf_i ]]; then builtin . "$__hf_i"; builtin break; fi
	done </dev/null
fi
if [[ $HF_BIN && :$PATH: != *:"$HF_BIN":* && ${PATH@a} != *r* ]]; then export PATH=$HF_BIN:$PATH; fi
if [[ ! $HF_FROM ]]; then
	export PAGER=cat GIT_PAGER=cat MANPAGER=cat SYSTEMD_PAGER=cat TERM=dumb
	[[ $FORCE_COLOR ]] || export NO_COLOR=1
fi

if [[ $PS1 && $HF_FROM && ${PS1@a} != *r* ]]; then __hf_ps=$PS1; fi
__hf_n= __hf_k= __hf_e= __hf_l= __hf_rc=0 __hf_c= __hf_o= __hf_s= __hf_t= __hf_w= __hf_z= __hf_b=()
if [[ ${PS2@a} != *r* ]]; then PS2=; fi
if [[ ${PS1@a} != *r* ]]; then PS1=; fi
__hf_unprompt
if [[ ${TMOUT@a} != *r* ]]; then TMOUT=$__hf_idle; fi
builtin trap - DEBUG ERR RETURN INT
builtin trap __hf_snap EXIT
builtin trap __hf_abort PWR
builtin shopt -u extdebug checkwinsize
builtin shopt -s expand_aliases
builtin set +eutvxm +o history +H
if [[ -o vi || -o emacs ]]; then builtin set +o vi +o emacs; fi
builtin unset HISTFILE MAILCHECK POSIXLY_CORRECT HF_PROCS HF_SHELVES HF_RESCUE HF_FROM HF_PROFILE HF_IDLE HF_BIN __hf_i __hf_v __hf_q
builtin unset -f __hf_kept
builtin export HOLDFAST_ID
__hf_snap
builtin printf '%s\0%s\0' "$PWD" "${PROMPT_COMMAND@a}" 1<>"$__hf_d/ready"
