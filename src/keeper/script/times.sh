# ---- K: times of a terminal's output ----

# script(1) reports: so many seconds later, so many bytes. Recorded as microseconds since the start and a byte count; output within one grain is one
# line, and the grain doubles every 65,536 lines, so that the file stays small.
hf_tick() {
  case $1-${2:-x} in *.*[!0-9]*-* | *[!0-9.]*-* | *-*[!0-9]* | *-0?*) return ;; esac # no message in `ctl` may end this shell
  hf_s=${1%.*}
  while [ "${hf_s#0}" != "$hf_s" ] && [ ${#hf_s} -gt 1 ]; do hf_s=${hf_s#0}; done # 08 would be octal
  hf_x=${1#*.}000000
  hf_x=${hf_x%"${hf_x#??????}"}
  hf_clock=$((hf_clock + hf_s * 1000000 + 1$hf_x - 1000000))
  if [ "$hf_bytes" -gt 0 ] && [ $((hf_clock - hf_mark)) -gt $hf_grain ]; then hf_mark_time; fi
  if [ "$hf_bytes" -eq 0 ]; then hf_mark=$hf_clock; fi
  hf_bytes=$((hf_bytes + $2)) hf_seen=$((hf_seen + $2))
}
hf_count_ticks() {
  set -f; set -- $hf_told; set +f
  hf_told=
  while [ $# -gt 1 ]; do
    hf_tick "$1" "$2"
    shift 2
  done
}
hf_mark_time() {
  printf '%s %s\n' "$hf_mark" "$hf_bytes" >>"$hf_d/times"
  hf_bytes=0 hf_lines=$((hf_lines + 1))
  if [ "$hf_lines" -ge 65536 ]; then hf_lines=0 hf_grain=$((hf_grain * 2)); fi
}

