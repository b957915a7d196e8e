# ---- the loop ----

# Jobs beside the loop are no children of this shell: when a child ends, the `read` of busybox forgets a partially received line.
link_lived=-9
while IFS= read -r link_line; do
  [ -e "$link_scratch/beat" ] || true >"$link_scratch/beat"
  link_id=${link_line%% *} link_rest=${link_line#* }
  link_op=${link_rest%% *} link_rest=${link_rest#* }
  case $link_op in
  [rfmwe]) link_a=${link_rest%% *} link_rest=${link_rest#* } link_b=${link_rest%% *} link_rest=${link_rest#* } ;;
  esac
  case $link_op in
  n)
    # Renews the sign of life; without it a sandbox without a runtime ends. Once a second is enough for the shortest lifetime.
    link_x=0
    read -r link_x link_y </proc/uptime
    link_x=${link_x%.*}
    if [ $((link_x - link_lived)) -ge 1 ] || [ "$link_x" = 0 ]; then
      link_lived=$link_x
      true >"$link_dir/life"
    fi
    link_say "=$link_id 0 0"
    ;;
  r) link_read "$link_id" "$link_a" "$link_b" "$link_rest" || link_say "=$link_id 1 0 cannot be read" ;;
  f | m | c) printf '%s\n' "$link_line" >&7 || break ;;
  w)
    if true >>"$link_rest"; then
      if link_receive "$link_b" "$link_rest" "$link_a"; then link_say "=$link_id 0 0"; else link_say "=$link_id 3 0 no room"; fi
    else
      link_receive "$link_b" /dev/null 0
      link_say "=$link_id 1 0 cannot be written"
    fi
    ;;
  e)
    # LIMIT BYTES FLAG LINES, then the lines of a script, then BYTES bytes for its stdin
    link_flag=${link_rest%% *} link_n=${link_rest#* } link_script=
    while [ "$link_n" -gt 0 ] && IFS= read -r link_x; do
      link_script="$link_script$link_x$link_newline"
      link_n=$((link_n - 1))
    done
    [ "$link_n" = 0 ] || break
    link_stdin=/dev/null
    if [ "$link_b" -gt 0 ]; then
      link_stdin=$link_scratch/in.$link_id
      if ! true >"$link_stdin"; then
        link_receive "$link_b" /dev/null 0
        link_say "=$link_id 300 0 - there is no room for its input"
        continue
      fi
      link_receive "$link_b" "$link_stdin" 0 || { rm -f "$link_stdin"; link_say "=$link_id 300 0 - there is no room for its input"; continue; }
    fi
    if [ "$link_flag" = f ]; then
      link_run "$link_id" "$link_a" </dev/null
    else
      ( link_run "$link_id" "$link_a" </dev/null 7>&- & )
    fi
    ;;
  b) ( link_feed "$link_id" "${link_rest%% *}" "${link_rest#* }" </dev/null 7>&- & ) ;;
  x) break ;;
  *) link_say "=$link_id 9 0 unknown" ;;
  esac
done
