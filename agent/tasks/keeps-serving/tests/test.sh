#!/bin/bash
# Three clients, one after the other, each with a line that nobody can know before.
logs=${LOGS_DIR:-/logs}/verifier
reward=0
right=0
for client in 1 2 3; do
	said="client $client says $RANDOM$RANDOM"
	heard=
	if exec 3<>/dev/tcp/127.0.0.1/8765; then
		printf '%s\n' "$said" >&3
		read -r -t 10 heard <&3
		exec 3>&-
	fi
	echo "$said -> $heard"
	[ "$heard" = "${said^^}" ] && right=$((right + 1))
done
[ "$right" = 3 ] && reward=1
echo "$reward" > "$logs/reward.txt"
