# Read when the end of a command could not be recorded: somebody has put functions in the place of builtins, disabled
# them, or set a trap that skips commands. The caller is in posix mode, where special builtins come before functions.
unset -f builtin eval printf set unset mapfile trap shopt enable return kill declare exec cd umask alias history
unset POSIXLY_CORRECT
enable builtin eval printf set unset mapfile trap shopt enable return kill declare exec cd umask alias history
builtin trap - DEBUG ERR RETURN
builtin shopt -u extdebug
if [[ $__hf_n != "$1" ]]; then # interrupted before its first line was taken
	__hf_n=$1 __hf_l=$1 __hf_rc=130
	HOLDFAST_ID=proc_${__hf_n%.*}
	__hf_s=$__hf_g/${__hf_n:0:1}/$HOLDFAST_ID
fi
__hf_post
