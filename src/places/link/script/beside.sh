# ---- jobs beside the loop ----

# Runs a script. One line of stderr is enough for the error.
link_run() {
  ( exec 3>&- 7>&- 8>&-; trap - PIPE HUP INT TERM; set +f; eval "$link_script" ) <"$link_stdin" >"$link_scratch/out.$1" 2>"$link_scratch/err.$1"
  link_status=$?
  link_error=
  read -r link_error <"$link_scratch/err.$1"
  # If there is room for one more file now, there was room for the output.
  if [ ! -e "$link_scratch/out.$1" ] || ! echo >"$link_scratch/room.$1"; then
    link_say "=$1 300 0 $link_status there is no room for its output"
  elif [ -s "$link_scratch/out.$1" ]; then
    {
      link_size=$(stat -c %s "$link_scratch/out.$1")
      link_count "$link_size" "$2"
      link_send "$1" 0 "$link_status $link_size $link_error" '' "$link_n" 0
    } 4<"$link_scratch/out.$1"
  else
    link_say "=$1 0 0 $link_status 0 $link_error"
  fi
  rm -f "$link_scratch/out.$1" "$link_scratch/err.$1" "$link_scratch/room.$1" "$link_scratch/in.$1"
}

# Writes bytes to a FIFO: all at once or not at all. No reader, or no room: status 3.
link_feed() {
  [ -p "$3" ] || { link_say "=$1 1 0 absent"; return; }
  if [ -n "$link_nonblock" ]; then
    if printf '%b' "$2" | dd bs=4096 count=1 iflag=fullblock oflag=nonblock conv=notrunc,nocreat of="$3"; then link_say "=$1 0 0"; else link_say "=$1 3 0 no reader takes it"; fi
    return
  fi
  # The only way to ask is to wait; after five seconds the answer is no.
  ( trap - PIPE TERM; printf '%b' "$2" >"$3" ) 3>&- 7>&- 8>&- &
  link_writer=$!
  { link_x=0; while kill -0 "$link_writer" && [ "$link_x" -lt 100 ]; do link_nap 0.05; link_x=$((link_x + 1)); done; kill "$link_writer"; } 3>&- 7>&- 8>&- &
  if wait "$link_writer"; then link_say "=$1 0 0"; else link_say "=$1 3 0 no reader takes it"; fi
}

