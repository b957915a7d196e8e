case $1 in
keep) shift; hf_keep "$@" ;;
terminal) hf_terminal ;;
inside) hf_inside ;;
esac
exit
