# Fetches an image of a registry. sh -c THIS holdfast APPTAINER FILE URL [FLAG]; FILE has its name when it is whole.
# It goes on when the program that started it ends. One at a time fetches a file, whichever program, job or host asks, by a lock that the kernel gives up with its holder: what
# is left under other names is then of killed ones. On a file system without locks each fetches for itself.
hf_program=$1 hf_file=$2 hf_url=$3
shift 3
exec 9>"$hf_file.lock" || exit 1
if command -v flock >/dev/null 2>&1; then
	flock -n 9 2>/dev/null || { echo holdfast:waiting; flock 9 2>/dev/null; } && rm -f "$hf_file".part-*
fi
[ ! -e "$hf_file" ] || exit 0
echo holdfast:fetching
hf_part=$hf_file.part-$(uname -n)-$$
trap 'rm -f "$hf_part"' EXIT
"$hf_program" pull --force "$@" "$hf_part" "$hf_url" && mv "$hf_part" "$hf_file"
