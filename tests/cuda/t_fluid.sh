# The flow on the simulated card: step by step with three orders of blocks and
# threads, and decks of the manual on one rank and on two, beside the CPU.
# timeout: 600
. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/cuda/over_seeds.sh"
need_simulator

over_seeds "$top_builddir/tests/cuda/fluid" double
over_one_seed "$top_builddir/tests/cuda/fluid" single

# The table of a run in few cells: step, time, energy, dissipation, CFL number.
# table RANKS DEVICE DECK CELLS
table() {
    ranks "$1" "$top_builddir/warpdeck-cudasim" run \
        "$top_srcdir/inputs/fluid/$3.toml" --overwrite --device "$2" \
        "domain.cells=[$4]" fluid.steps=3 output.observables_every=1 \
        output.frames_every=0 2>err |
        awk '$1 ~ /^[0-9]+$/ && NF > 5 && $2 != "steps" { print $1, $2, $3, $4,
                                                          $5 }'
}
# same DECK CELLS: also with walls across the cut, where a rank only receives.
same() {
    table 1 cpu "$1" "$2" >cpu.out
    for n in 1 2; do
        if [ "$n" -gt 1 ] && ! have_mpi; then
            skip 1 "no MPI: $n ranks"
            continue
        fi
        table "$n" cuda "$1" "$2" >cuda.out
        if [ "$(wc -l <cuda.out)" -eq 4 ] && cmp -s cpu.out cuda.out; then
            ok "$1 on $n ranks: three steps on the card are those of the CPU"
        else
            not_ok "$1 on $n ranks: three steps on the card are those of the CPU"
            note_file cpu.out
            note_file cuda.out
            note_file err
        fi
    done
}
same taylor_green 12,10,8
same channel 12,8,10
same cavity_3d 8,8,8
same rayleigh_benard 10,1,8
done_testing
