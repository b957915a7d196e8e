#!/bin/sh
# The receipt has the digest of the passphrase, and the name of a terminal.
logs=${LOGS_DIR:-/logs}/verifier
want=$(printf '%s' "seven brown horses" | sha256sum | cut -d ' ' -f 1)
reward=0
if [ -f receipt.txt ] && [ "$(sed -n 1p receipt.txt)" = registered ] && [ "$(sed -n 2p receipt.txt)" = "$want" ]; then
	case $(sed -n 3p receipt.txt) in /dev/*) reward=1 ;; esac
fi
cat receipt.txt
echo "$reward" > "$logs/reward.txt"
