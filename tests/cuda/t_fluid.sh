# The flow on the simulated card: step by step with several orders of blocks and
# threads, and decks of the manual on one rank and on two, beside the CPU.
# timeout: 600
. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/cuda/over_seeds.sh"
need_simulator

# All flows with one order, those of two kinds with two more (all_seeds.sh has all with three).
CUDASIM_SEED=1 over_one_seed "$top_builddir/tests/cuda/fluid" double
CUDASIM_SEED=2 over_one_seed "$top_builddir/tests/cuda/fluid" double duct
CUDASIM_SEED=3 over_one_seed "$top_builddir/tests/cuda/fluid" double channel
over_one_seed "$top_builddir/tests/cuda/fluid" single

# The table of a run in few cells: step, time, energy, dissipation, CFL number.
# table RANKS DEVICE DECK CELLS [ARGUMENT...]
table() {
    table_ranks=$1 table_device=$2 table_deck=$3 table_cells=$4
    shift 4
    ranks "$table_ranks" "$top_builddir/warpdeck-cudasim" run \
        "$top_srcdir/inputs/fluid/$table_deck.toml" --overwrite \
        --device "$table_device" "domain.cells=[$table_cells]" fluid.steps=3 \
        output.observables_every=1 output.frames_every=0 "$@" 2>err |
        tee whole.out |
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

# With the card's memory open to the host, any MPI takes it: all kinds of messages
# along y, and along z.
for cut in 2,1 1,2; do
    have_mpi || { skip 2 "no MPI: 2 ranks"; continue; }
    set -- channel 12,8,10 'fluid.diffusion="implicit"' -v
    table 1 cpu "$@" >cpu.out
    CUDASIM_MPI=1 CUDASIM_PROTECT=0 table 2 cuda "$@" "domain.ranks=[1,$cut]" \
        'run.gpu_transfer="direct"' >cuda.out
    is "$(cat cuda.out)" "$(cat cpu.out)" "messages from card to card change \
nothing in a flow cut [1,$cut]"
    contains whole.out "messages go from card to card" "and it says so"
done
done_testing
