#!/bin/sh
cat > sum.new <<'END'
#!/bin/sh
# Prints the sum of its arguments, or of the lines of stdin.
total=0
add() {
	case ${1#-} in
		'' | *[!0-9]*)
			echo "sum.sh: $1 is no number" >&2
			exit 2
			;;
	esac
	total=$((total + $1))
}
if [ $# -gt 0 ]; then
	for number; do add "$number"; done
else
	while IFS= read -r number; do add "$number"; done
fi
echo "$total"
END
mv sum.new sum.sh
