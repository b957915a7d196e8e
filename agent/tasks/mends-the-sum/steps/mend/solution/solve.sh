#!/bin/sh
cat > sum.sh <<'END'
#!/bin/sh
# Prints the sum of its arguments.
total=0
for number; do
	case ${number#-} in
		'' | *[!0-9]*)
			echo "sum.sh: $number is no number" >&2
			exit 2
			;;
	esac
	total=$((total + number))
done
echo "$total"
END
