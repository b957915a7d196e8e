# Runs a command, and runs it again when it has ended: sh restart.sh always|on-failure DIR BASH SLEEP.
# The command is in DIR/again; how it stands is in DIR/restarts: STATE COUNT CODE, where STATE is running, waiting, gave-up or stopped.
# A command that ends within QUICK seconds is waited for longer each time, and is given up after MOST restarts in a row.
# The PATH is the command's: nothing here is looked for in it.
QUICK=10
MOST=5

policy=$1 dir=$2 bash=$3 sleep=$4
count=0 quick=0 code=0 stop=

# A signal for the command reaches this shell, too, which goes on. TERM ends the restarting: the command may still close in order, and its end counts.
trap : HUP INT QUIT USR1 USR2 ALRM WINCH
trap 'stop=1' TERM

now() {
	read -r up _ </proc/uptime
	up=${up%%.*}
}

# In place and of a fixed length, so that a reader never sees half of it.
note() {
	printf '%-63s\n' "$1 $count $code" 1<>"$dir/restarts"
} 2>/dev/null # a full disk: then the count is old

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
