# over_seeds.sh: a program on the simulated card, with several orders of blocks,
# threads and streams, as one TAP stream. Needs tap.sh.
#
#   over_seeds COMMAND...       results are renumbered and name the seed
#   over_seeds_at_once COMMAND...   the same, each in a folder of its own
#   over_one_seed COMMAND...
#   only_halo WHAT FEW MANY     of two runs: copies are messages and scalars

# shellcheck shell=sh disable=SC2154
# What a command with seed $1 said and its status ($2), as results of this test.
os_results() {
    os_seed=$1
    os_status=$2
    shift 2
    while IFS= read -r os_line; do
        case $os_line in
        "ok "*) ok "seed $os_seed: ${os_line#* - }" ;;
        "not ok "*) not_ok "seed $os_seed: ${os_line#* - }" ;;
        1..*) ;;
        *) printf '%s\n' "$os_line" ;;
        esac
    done <"seed-$os_seed.out"
    if [ "$os_status" -ne 0 ]; then
        not_ok "seed $os_seed: ends with status 0: $*"
        note "status $os_status"
        note_file "seed-$os_seed.err"
    fi
}

over_one_seed() {
    os_seed=${CUDASIM_SEED:-1}
    CUDASIM_SEED=$os_seed "$@" >"seed-$os_seed.out" 2>"seed-$os_seed.err"
    os_results "$os_seed" $? "$@"
}

over_seeds() {
    for os_each in 1 2 3; do
        CUDASIM_SEED=$os_each
        export CUDASIM_SEED
        over_one_seed "$@"
    done
    unset CUDASIM_SEED
}

over_seeds_at_once() {
    for os_each in 1 2 3; do
        rm -rf "seed-$os_each"
        mkdir "seed-$os_each"
        (
            cd "seed-$os_each" || exit
            CUDASIM_SEED=$os_each
            # Programs of Open MPI that run at one time would share a folder:
            # see run-test.
            OMPI_MCA_orte_tmpdir_base=$(mktemp -d -p \
                "${OMPI_MCA_orte_tmpdir_base:-/tmp}")
            export CUDASIM_SEED OMPI_MCA_orte_tmpdir_base
            "$@" >"../seed-$os_each.out" 2>"../seed-$os_each.err"
            echo $? >status
            rm -rf "$OMPI_MCA_orte_tmpdir_base"
        ) &
    done
    wait
    for os_each in 1 2 3; do
        os_results "$os_each" "$(cat "seed-$os_each/status")" "$@"
    done
}

# kilobytes FILE WORDS: the amount that stands behind these words, in kB.
kilobytes() {
    sed -n "s/.*$2 \([0-9.]*\) \([kMG]*B\).*/\1 \2/p" "$1" | awk '
        $2 == "B" { print $1 / 1e3 }
        $2 == "kB" { print $1 }
        $2 == "MB" { print $1 * 1e3 }
        $2 == "GB" { print $1 * 1e6 }'
}

# What two runs on several ranks said, FEW and MANY, which write the same but make
# different numbers of steps: what more steps copy to cards and from them is what
# they send between ranks, within the three digits that are printed.
only_halo() { # WHAT FEW MANY
    oh_sent=$(kilobytes "$3" "between ranks:")-$(kilobytes "$2" "between ranks:")
    for oh_way in "to cards:" "from cards:"; do
        oh_more=$(kilobytes "$3" "$oh_way")-$(kilobytes "$2" "$oh_way")
        check "steps of $1 on 2 ranks copy messages and scalars alone $oh_way \
$oh_more kB, sent $oh_sent kB" awk "BEGIN {
            more = $oh_more; sent = $oh_sent
            exit !(sent > 10 && more > 0 && more < 1.02 * sent + 3) }"
    done
}

need_simulator() {
    [ -z "$WARPDECK_NO_CUDASIM" ] || skip_all "$WARPDECK_NO_CUDASIM"
}
