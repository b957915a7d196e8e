# The dead man's switch of a machine that belongs to a task: the main process of a container or pod, the job of a queue, or a process beside others. sh -c THIS holdfast DIR LIFETIME [END]
# Every sign of life of a runtime touches `life` in DIR or in a directory in it, or in DIR-USER for calls as another user. After LIFETIME seconds without one, and with no kept
# process running, it ends with 75, and the machine with it; END is shell text in place of that, where another process has to be ended. With a LIFETIME of 0 it goes on until it is told to end. `busy/*` beside `life` hold "PID START" of each process; "PID START jobs" of a
# shell, which counts while it has children; and "PID START FILE" of a command in one, which counts until its end is recorded in FILE.
# Time is counted in sleeps, not read from the clock: a machine that slept, a paused container or a clock that jumps must not look like silence.
hf_dir=$1 hf_lifetime=$2 hf_quiet=0
hf_tick=$((hf_lifetime / 10))
[ "$hf_tick" -le 15 ] && [ "$hf_lifetime" -gt 0 ] || hf_tick=15
[ "$hf_tick" -ge 1 ] || hf_tick=1
trap 'exit 0' TERM INT HUP

# Whether $1 is alive and was started at $2. Its name may contain anything, line ends and brackets too.
hf_alive() {
	hf_stat=
	while read -r hf_line || [ -n "$hf_line" ]; do hf_stat="$hf_stat $hf_line"; done 2>/dev/null <"/proc/$1/stat" || return 1
	hf_start=$2
	set -f
	set -- ${hf_stat##*) }
	set +f
	[ "$#" -ge 20 ] || return 1
	case $1 in Z | X) return 1 ;; esac
	shift 19
	[ "$1" = "$hf_start" ]
}

hf_busy() {
	for hf_file in "$hf_dir"/busy/* "$hf_dir"/*/busy/* "$hf_dir"-*/*/busy/*; do
		[ -f "$hf_file" ] || continue
		hf_pid= hf_since= hf_until= hf_said=
		read -r hf_pid hf_since hf_until 2>/dev/null <"$hf_file"
		case $hf_pid in '' | *[!0-9]*) continue ;; esac
		hf_alive "$hf_pid" "$hf_since" || continue
		case $hf_until in
		'') return 0 ;;
		jobs) read -r hf_said 2>/dev/null <"/proc/$hf_pid/task/$hf_pid/children"; [ -z "$hf_said" ] || return 0 ;;
		*) if read -r hf_said 2>/dev/null <"$hf_until" && [ -z "$hf_said" ]; then return 0; fi ;;
		esac
	done
	hf_hidden
}

# Whether something runs as another user whose marks this one may not read: that counts, shells that wait too.
hf_hidden() {
	for hf_file in "$hf_dir"-*; do
		[ -d "$hf_file" ] && [ ! -x "$hf_file" ] || continue
		for hf_file in /proc/[0-9]*; do
			[ -d "$hf_file" ] && [ ! -O "$hf_file" ] && return 0
		done
		return 1
	done
	return 1
}

# A sign of life since the last look.
hf_signed() {
	[ -e "$hf_dir/seen" ] || return 0
	for hf_file in "$hf_dir/life" "$hf_dir"/*/life "$hf_dir"-*/*/life; do
		[ "$hf_file" -nt "$hf_dir/seen" ] && return 0
	done
	return 1
}

while :; do
	# A trap comes through at once while waiting, not while a sleep is in the foreground.
	sleep "$hf_tick" &
	wait "$!"
	[ "$hf_lifetime" -gt 0 ] || continue
	# Not `:`, a special built-in: a redirection that fails would end the shell.
	if hf_signed && true 2>/dev/null >"$hf_dir/seen"; then
		hf_quiet=0
		continue
	fi
	if hf_busy; then
		hf_quiet=0
		continue
	fi
	hf_quiet=$((hf_quiet + hf_tick))
	[ "$hf_quiet" -lt "$hf_lifetime" ] || eval "${3:-exit 75}"
done
