# The job: it starts what commands need, so that this belongs to the job and not to a step, which Slurm would end with all that it has started.
# sh -c THIS holdfast DIR LIFETIME SWITCH, with SLURM_JOB_ID. In DIR/holdfast-JOB: `ctl`, a FIFO for the ids of steps that have something to start
# (relay.sh); `place`, for Holdfast's own files; `switch`, the pid of the switch. When the switch ends, so does the job: with 73 if DIR cannot be used, with 75 if
# it was unused, with the number in `over` if that exists (a container that has ended writes it).
umask 077
hf_at=$1/holdfast-$SLURM_JOB_ID
mkdir -m 700 "$hf_at" && mkdir -m 700 "$hf_at/place" "$hf_at/place/busy" "$hf_at/inner" && mkfifo "$hf_at/ctl" || exit 73
true >"$hf_at/place/life"
true >"$hf_at/seen"
hf_over() {
	[ -z "$hf_switch" ] || kill "$hf_switch"
	# Processes that end with the job may still write.
	for hf_try in 1 2 3 4 5 6 7 8; do
		rm -rf "$hf_at" && break
		sleep 0.2
	done
	exit "$1"
}
trap 'hf_over 0' TERM INT HUP
exec 3<>"$hf_at/ctl"
while read -r hf_id <&3; do
	case $hf_id in '' | *[!0-9]*) continue ;; esac
	setsid sh -c 'umask 022; sh -c "$(cat "$1.cmd")" <"$1.in" >"$1.out" 2>"$1.err"; echo $? >"$1.rc"; sleep 5; rm -f "$1".*' holdfast "$hf_at/$hf_id" 3>&- &
done &
sh -c "$3" holdfast "$hf_at" "$2" 3>&- &
hf_switch=$!
echo "$hf_switch" >"$hf_at/switch"
wait "$hf_switch"
hf_code=$?
hf_switch=
[ ! -s "$hf_at/over" ] || read -r hf_code <"$hf_at/over"
hf_over "$hf_code"
