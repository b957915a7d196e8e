# Read when the end of a command could not be recorded: the user has put functions in the place of builtins, disabled
# them, or set a trap that skips commands. The caller is in posix mode, where special builtins come before functions.
unset -f builtin eval printf set unset mapfile trap shopt enable return kill declare cd umask alias history export readonly
unset POSIXLY_CORRECT FUNCNEST # with FUNCNEST=1 no function of ours can call another
enable builtin eval printf set unset mapfile trap shopt enable return kill declare cd umask alias history export readonly
builtin trap - DEBUG ERR RETURN
builtin shopt -u extdebug
__hf_post "$1"
