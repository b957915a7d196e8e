# A step of the job runs this: it carries the bytes of one command that the job starts. sh -c THIS holdfast DIR COMMAND
PATH=${PATH:-/usr/local/bin:/usr/bin:/bin}
export PATH
hf_at=$1/holdfast-$SLURM_JOB_ID
hf_file=$hf_at/$SLURM_STEP_ID
hf_tries=0
until [ -p "$hf_at/ctl" ]; do
	hf_tries=$((hf_tries + 1))
	[ "$hf_tries" -lt 300 ] || { echo "the job has not begun to work in $1" >&2; exit 98; }
	sleep 0.1
done
umask 077
mkfifo "$hf_file.in" "$hf_file.out" && printf %s "$2" >"$hf_file.cmd" || { echo "there is no room in $1" >&2; exit 97; }
echo "$SLURM_STEP_ID" >"$hf_at/ctl"
exec 4<&0
cat <&4 >"$hf_file.in" &
hf_cat=$!
cat <"$hf_file.out"
kill "$hf_cat" 2>/dev/null
hf_tries=0
while [ ! -s "$hf_file.rc" ] && [ "$hf_tries" -lt 40 ]; do
	hf_tries=$((hf_tries + 1))
	sleep 0.05
done
cat "$hf_file.err" >&2
read -r hf_code <"$hf_file.rc"
rm -f "$hf_file".*
exit "${hf_code:-1}"
