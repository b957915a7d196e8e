# ---- without perl ----

# One newline in a pipe is the lock: the job that has taken it may write. No fork, and no flock(1).
# Requests for the watcher go through a FIFO that it reads and only we hold open for writing, so that our end, of whatever cause, is its end of file.
exec 8<>"$link_scratch/lock" 9<>"$link_scratch/requests" 6<"$link_scratch/requests" 7>"$link_scratch/requests" 9>&-
rm -f "$link_scratch/lock"
echo >&8

link_watch </dev/null &
link_watcher=$!
exec 6<&-

# The local end may vanish without any notice. Every request leaves a beat, and a job that finds none for too long ends us.
link_quarter=$(((link_idle + 3) / 4))
( trap - PIPE HUP INT
  trap 'kill -9 $!; exit' TERM # $! and not a copy of it, for which it may be too early; -9, since a child that was just forked can lose a TERM
  link_missed=0
  while [ "$link_missed" -lt 4 ]; do
    sleep "$link_quarter" &
    wait $!
    kill -0 $$ || break
    if rm "$link_scratch/beat"; then link_missed=0; else link_missed=$((link_missed + 1)); fi
  done
  if kill $$; then
    sleep 2 &
    wait $!
    kill -9 $$ $link_watcher
  fi
  rm -rf "$link_scratch"
  link_release ) 3>&- 7>&- </dev/null &
link_dog=$!
trap 'trap "" TERM; rm -rf "$link_scratch"; kill $link_watcher $link_dog; link_release' EXIT
trap 'exit 1' TERM

