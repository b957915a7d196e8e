# ---- parked requests ----

# Holds requests until there is news. One grep and one stat per tick serve all of them, and there are no ticks while there are none. A tick is a sleep
# in the background; when the loop has ended, no writer is left, and this ends too.
link_watch() {
  exec 0<&6 6<&- 7>&- # PIPE stays ignored: the holder of the lock must not die of it
  link_parked=
  link_ticking=
  link_quiet=0
  link_before=
  while IFS=' ' read -r link_id link_op link_off link_max link_path; do
    case $link_op in
    tick)
      link_ticking=
      link_look
      ;;
    c)
      case " $link_parked " in
      *" $link_off "*)
        link_unpark "$link_off"
        link_say "=$link_off 2 0 cancelled"
        ;;
      esac
      ;;
    f | m)
      link_path=${link_path%"$link_tab."} # added because read strips spaces at the end
      eval "link_op_$link_id=\$link_op link_off_$link_id=\$link_off link_max_$link_id=\$link_max link_items_$link_id=\${link_path#*\"\$link_tab\"} link_path_$link_id=\${link_path%%\"\$link_tab\"*}"
      link_parked="$link_parked $link_id"
      link_quiet=0
      link_list
      link_look
      ;;
    esac
    [ -n "$link_parked" ] && [ -z "$link_ticking" ] || continue
    link_ticking=1
    if [ "$link_quiet" -lt 50 ]; then link_x=0.02; elif [ "$link_quiet" -lt 150 ]; then link_x=0.05; else link_x=0.2; fi
    { link_nap "$link_x"; echo '0 tick' 1<>"$link_scratch/requests"; } 3>&- 8>&- </dev/null &
  done
  rm -rf "$link_scratch"
  link_release
}

link_unpark() {
  link_x=" $link_parked "
  link_x="${link_x%% "$1" *} ${link_x#* "$1" }"
  link_parked=${link_x% }
  unset "link_op_$1" "link_off_$1" "link_max_$1" "link_items_$1" "link_path_$1"
  link_list
}

# Lists what the parked requests look at, one path a line: records, whose content counts, and files, whose size does. / separates the files of two
# requests.
link_list() {
  link_records= link_files= link_before=
  for link_i in $link_parked; do
    eval "link_o=\$link_op_$link_i link_p=\$link_path_$link_i link_x=\$link_items_$link_i"
    if [ "$link_o" = f ]; then
      link_files="$link_files$link_p$link_newline/$link_newline"
      continue
    fi
    IFS=$link_tab
    for link_item in $link_x; do
      link_x=${link_item%% *}
      case $link_item in
      r*) link_records="$link_records$link_p/${link_x#r}$link_newline" ;;
      s*) link_files="$link_files$link_p/${link_x#s}$link_newline" ;;
      esac
    done
    IFS=' '
    link_files="$link_files$link_p/out.*$link_newline/$link_newline"
  done
}

# Reads records before sizes: a reply with the exit has all output from before it. Parses nothing while nothing has changed.
link_look() {
  IFS=$link_newline
  link_x=
  [ -z "$link_records" ] || link_x=$(grep -aHsm1 '' $link_records /dev/null)
  set +f
  link_sizes=$(stat -Lc '%s %n' $link_files)
  set -f
  link_quiet=$((link_quiet + 1))
  if [ "$link_x$link_sizes" = "$link_before" ]; then
    IFS=' '
    return
  fi
  link_before=$link_x$link_sizes
  set -- $link_x
  IFS=' '
  for link_i in $link_parked; do
    eval "link_o=\$link_op_$link_i link_p=\$link_path_$link_i link_x=\$link_items_$link_i"
    [ "$link_o" = m ] || continue
    link_now=
    IFS=$link_tab
    for link_item in $link_x; do
      case $link_item in r*) ;; *) continue ;; esac
      link_item=${link_item%% *}
      link_text=
      case ${1-} in
      "$link_p/${link_item#r}:"*)
        link_text=${1#"$link_p/${link_item#r}:"}
        shift
        [ ${#link_text} = 63 ] || link_text= # incomplete: absent
        link_text=${link_text%"${link_text##*[! ]}"}
        ;;
      esac
      link_now="$link_now$link_tab$link_item $link_text"
    done
    IFS=' '
    eval "link_now_$link_i=\$link_now"
  done
  IFS=$link_newline
  set -- $link_sizes
  IFS=' '
  for link_i in $link_parked; do
    eval "link_o=\$link_op_$link_i link_p=\$link_path_$link_i link_f=\$link_off_$link_i link_m=\$link_max_$link_i link_x=\$link_items_$link_i"
    link_size= link_head= link_end=0 link_from= link_file= link_first=
    if [ "$link_o" = f ]; then
      while [ $# -gt 0 ] && [ "${1#* }" != / ]; do
        link_size=${1%% *}
        shift
      done
      [ $# -gt 0 ] || break
      shift
      if [ -n "$link_size" ] && [ "$link_size" -gt "$link_f" ]; then link_arrived; fi
      continue
    fi
    eval "link_now=\$link_now_$link_i"
    unset "link_now_$link_i"
    IFS=$link_tab
    for link_item in $link_x; do
      case $link_item in s*) ;; *) continue ;; esac
      link_item=${link_item%% *}
      link_text=-1
      case ${1#* } in
      "$link_p/${link_item#s}")
        link_text=${1%% *}
        shift
        ;;
      esac
      link_now="$link_now$link_tab$link_item $link_text"
    done
    IFS=' '
    while [ $# -gt 0 ] && [ "${1#* }" != / ]; do
      link_start=${1##*/out.}
      link_start=$((1$link_start - 1000000000000000))
      link_head="${link_head}o $link_start ${1%% *}$link_newline"
      link_end=$((link_start + ${1%% *}))
      [ -n "$link_first" ] || link_first=$link_start
      # the segment to read from: the last one that starts at or before the offset, else the first of all
      if [ -z "$link_file" ] || [ "$link_start" -le "$link_f" ]; then
        link_file=${1#* }
        link_from=$link_start
        link_size=${1%% *}
      fi
      shift
    done
    [ $# -gt 0 ] || break # stat could not be run
    shift
    link_now=${link_now#"$link_tab"}
    if [ ! -d "$link_p" ]; then
      link_say "=$link_i 1 0 absent"
      link_unpark "$link_i"
    elif [ "$link_now" != "$link_x" ] || [ "$link_end" -gt "$link_f" ]; then
      link_changed
    fi
  done
}

# Answers if the file of request link_i is longer than its offset.
link_arrived() {
  if [ "$link_f" -lt 0 ] || [ "$link_m" = 0 ]; then link_say "=$link_i 0 0 $link_size"; else link_read "$link_i" "$link_f" "$link_m" "$link_p" || return 0; fi
  link_unpark "$link_i"
  link_quiet=0
}

# Answers if the directory of request link_i differs from what the local end knows.
link_changed() {
  link_at=$link_f
  if [ -n "$link_first" ] && [ "$link_first" -gt "$link_at" ]; then link_at=$link_first; fi
  link_n=0
  if [ -n "$link_file" ]; then link_count $((link_from + link_size - link_at)) "$link_m"; fi
  link_paths=
  IFS=$link_tab
  for link_item in $link_now; do
    case $link_item in r*) link_item=${link_item%% *}; link_paths="$link_paths$link_p/${link_item#r}$link_newline" ;; esac
  done
  IFS=$link_newline
  link_times=
  # Asks for times only if a record is new: they cost a fork.
  if [ "$link_now" != "$link_x" ] && [ -n "$link_paths" ]; then link_times=$(stat -Lc "$link_mtime %n" $link_paths); fi
  set -- $link_times
  IFS=$link_tab
  for link_item in $link_now; do
    link_name=${link_item%% *}
    link_text=${link_item#* }
    case $link_item in
    r*)
      link_t=0
      for link_time; do case ${link_time#* } in "$link_p/${link_name#r}") link_t=${link_time%% *} ;; esac; done
      link_head="${link_head}r ${link_name#r} $link_t $link_text$link_newline"
      ;;
    s*) link_head="${link_head}s ${link_name#s} $link_text$link_newline" ;;
    esac
  done
  IFS=' '
  link_head="${link_head}l $link_at$link_newline"
  if [ "$link_n" -gt 0 ]; then
    # dropped by its ring meanwhile: the next tick retries
    { link_send "$link_i" 0 "${#link_head}" "$link_head" "$link_n" $((link_at - link_from)); } 4<"$link_file" || { link_before=; return; }
  else
    link_send "$link_i" 0 "${#link_head}" "$link_head" 0 0
  fi
  link_unpark "$link_i"
  link_quiet=0
}

