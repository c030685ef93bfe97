# over_ranks.sh: one C test on several numbers of ranks, as one TAP stream.
#
#   . "$top_srcdir/tests/md/over_ranks.sh"
#   over_ranks PROGRAM N...       results are renumbered and name the ranks
#
# What a program printed on N ranks is left in ranks-N.out. Needs tap.sh.

# shellcheck shell=sh disable=SC2154
over_ranks() {
    or_program=$1
    shift
    for or_n in "$@"; do
        if [ "$or_n" -gt 1 ] && ! have_mpi; then
            skip 1 "no MPI: $or_n ranks"
            continue
        fi
        ranks "$or_n" "$top_builddir/$or_program" \
            >"ranks-$or_n.out" 2>"ranks-$or_n.err"
        or_status=$?
        while IFS= read -r or_line; do
            case $or_line in
            "ok "*)
                ok "$or_n ranks: ${or_line#* - }" ;;
            "not ok "*)
                not_ok "$or_n ranks: ${or_line#* - }" ;;
            1..*) ;;
            *)
                printf '%s\n' "$or_line" ;;
            esac
        done <"ranks-$or_n.out"
        if [ "$or_status" -ne 0 ]; then
            not_ok "$or_n ranks: ${or_program##*/} ends with status 0"
            note "status $or_status"
            note_file "ranks-$or_n.err"
        fi
    done
}
