# Runs a command, and restarts it when it has ended: sh restart.sh always|on-failure DIR BASH SLEEP.
# The command is in DIR/again; its state is in DIR/restarts: STATE COUNT CODE, where STATE is running, waiting, gave-up or stopped.
# After an end within QUICK seconds the delay doubles each time; after MOST quick restarts in a row the script gives up.
# PATH belongs to the command: this script looks up nothing in it.
QUICK=10
MOST=5

policy=$1 dir=$2 bash=$3 sleep=$4
count=0 quick=0 code=0 stop=

# A signal for the command also reaches this shell, which continues. TERM stops the restarting: the command may still shut down cleanly, and its exit
# code counts.
trap : HUP INT QUIT USR1 USR2 ALRM WINCH
trap 'stop=1' TERM

now() {
	read -r up _ </proc/uptime
	up=${up%%.*}
}

# Overwrites in place with a fixed length, so that a reader never sees a partial record.
note() {
	printf '%-63s\n' "$1 $count $code" 1<>"$dir/restarts"
} 2>/dev/null # on a full disk the count is stale

leave() {
	trap - TERM
	if [ "$1" -eq 143 ]; then kill -TERM $$; fi
	exit "$1"
}

while :; do
	now
	began=$up
	"$bash" "$dir/again"
	code=$?
	if [ -n "$stop" ]; then note stopped; leave "$code"; fi
	now
	if [ "$policy" = on-failure ] && [ "$code" -eq 0 ]; then exit 0; fi
	if [ $((up - began)) -lt "$QUICK" ]; then quick=$((quick + 1)); else quick=0; fi
	if [ "$quick" -gt "$MOST" ]; then
		note gave-up
		echo "holdfast: given up: it ended within $QUICK s of its start $quick times in a row, the last time with code $code" >&2
		exit "$code"
	fi
	delay=1 step=1
	while [ "$step" -lt "$quick" ]; do delay=$((delay * 2)) step=$((step + 1)); done
	note waiting
	echo "holdfast: it ended with code $code; it is started again in $delay s" >&2
	"$sleep" "$delay"
	if [ -n "$stop" ]; then note stopped; leave 143; fi
	count=$((count + 1))
	note running
done
