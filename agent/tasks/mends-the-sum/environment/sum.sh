#!/bin/sh
# Prints the sum of its arguments.
total=0
for number; do
	case $number in
		*[!0-9]*) continue ;;
	esac
	total=$((total + number))
done
echo "$total"
