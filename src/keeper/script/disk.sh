# ---- K: room on the disk ----

# Reserves room for the next run, so that dd cannot meet a full disk after it has read data.
hf_reserve() {
  hf_run=$((hf_bs * hf_count))
  if [ -n "$hf_fallocate" ]; then
    true >>"$hf_out" || return 1 # fallocate -n does not create the file; a failing `:` would end the shell
    if hf_x=$(LC_ALL=C "$hf_fallocate" -n -o "$hf_size" -l "$hf_run" "$hf_out" 2>&1 5>&- 6>&- 8<&-); then
      hf_reserved=$((hf_size + hf_run))
      return 0
    fi
    case $hf_x in
    *'not supported'* | *'not implemented'*) hf_fallocate= ;; # not on this file system: use df from now on
    *)
      hf_reserved=$((hf_size + hf_run)) # it may have reserved a part before it failed
      hf_release 0
      return 1
      ;;
    esac
  fi
  [ -n "$hf_df" ] || return 0
  set -- $("$hf_df" -Pk "$hf_d" 5>&- 6>&- 8<&-)
  [ $# -gt 2 ] || return 0
  eval "hf_x=\${$(($# - 2))}"
  [ "$hf_x" -gt $((hf_run / 1024 * 4)) ] 2>/dev/null
}

# Frees the unused reserved space, if it is more than $1 bytes.
hf_release() {
  if [ "${hf_reserved:-0}" -gt $((hf_size + $1)) ]; then
    "$hf_dd" if=/dev/null of="$hf_out" bs=1 seek="$hf_size" count=0 5>&- 6>&- 8<&-
  fi
  hf_reserved=0
}

