#!/bin/sh
# Runs the program that the agent made as somebody who may not write a reward.
logs=${LOGS_DIR:-/logs}
rm -rf /tmp/sum.sh
if [ -f "$logs/artifacts/sum.sh" ] && ! [ -L "$logs/artifacts/sum.sh" ]; then cp "$logs/artifacts/sum.sh" /tmp/sum.sh && chmod 644 /tmp/sum.sh; fi
if [ "$(id -u)" = 0 ] && [ "${LOGS_DIR:-}" = "" ]; then
	as="setpriv --reuid=65534 --regid=65534 --clear-groups --no-new-privs --inh-caps=-all"
else
	as=
fi
right=0 all=0
check() { # WANTED-OUTPUT WANTED-CODE INPUT ARGUMENTS
	want=$1 code=$2 input=$3
	shift 3
	all=$((all + 1))
	printf '%b' "$input" | $as timeout 10 sh /tmp/sum.sh "$@" > /tmp/printed 2> /dev/null # not through a pipe, which a daemon would hold open
	ended=$?
	got=$(cat /tmp/printed)
	if [ "$ended" = "$code" ] && [ "$got" = "$want" ]; then right=$((right + 1)); else echo "sum.sh $*: \"$got\", wanted \"$want\" and exit code $code"; fi
}

# What worked before has to work still.
check 3 0 "" 1 2
check 0 0 "" 0
check 12 0 "" 4 4 4
kept=$right
kept_of=$all

check 3 0 "" 5 -2
check -3 0 "" -1 -2
check "" 2 "" 1 two

reward=0
[ "$right" = "$all" ] && reward=1
kept_all=0
[ "$kept" = "$kept_of" ] && kept_all=1
printf '{ "reward": %s, "kept": %s, "right": %s }\n' "$reward" "$kept_all" "$(awk "BEGIN { print $right / $all }" 2>/dev/null || echo "$reward")" > "$logs/verifier/reward.json"
