# ---- becoming the command ----

# Replaces this shell by the command, through $1 (setsid, with the option $2) if given. The command's text never appears in an argument list: bash
# reads the file `command` from descriptor 3. mapfile reads it whole and byte for byte; eval reports errors like `bash -c`.
# The file `functions`, if it exists, holds a shell's exports besides variables.
# hf_lone: from this character on the text is one plain command, which bash replaces itself with if it is a program, like `bash -c`
# (src/keeper/lone.ts).
hf_exec() {
  hf_functions=${hf_functions-$hf_d/functions}
  case $hf_mode in
  bash)
    if [ -e "$hf_functions" ]; then
      exec ${1:+"$1"} $2 "$hf_bash" -c 'mapfile -d "" <&3 || exit 126; mapfile -d "" -t hf_f <&4; exec 3<&- 4<&-; eval "$hf_f"; unset hf_f; eval "$MAPFILE"' bash 4<"$hf_functions"
    fi
    if [ -n "${hf_lone-}" ]; then
      exec ${1:+"$1"} $2 "$hf_bash" -c 'mapfile -d "" <&3 || exit 126; exec 3<&-; set -- "${MAPFILE:'"$hf_lone"'}"; [ "$(type -t "${1%%[[:space:]]*}")" != file ] || MAPFILE="${MAPFILE:0:'"$hf_lone"'}exec $1"; set --; eval "$MAPFILE"' bash
    fi
    exec ${1:+"$1"} $2 "$hf_bash" -c 'mapfile -d "" <&3 || exit 126; exec 3<&-; eval "$MAPFILE"' bash
    ;;
  sh)
    [ -n "${hf_text-}" ] || exec 3<&-
    exec ${1:+"$1"} $2 "$hf_bash" "${hf_text-$hf_d/command}"
    ;;
  argv)
    hf_via=$1 hf_option=$2
    . "${hf_text-$hf_d/command}" # one line: set -- 'program' 'argument' …
    exec ${hf_via:+"$hf_via" $hf_option --} "$@" 3<&-
    ;;
  esac
}

