# Forces and analyses of molecular dynamics on the simulated card, with three
# orders of blocks and threads on one rank, and a fourth on two.
. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/cuda/over_seeds.sh"
need_simulator
export WARPDECK_TEST_DEVICE=cuda

for program in md_forces md_analysis; do
    over_seeds "$top_builddir/tests/cuda/$program"
    # An order of its own for two ranks; all_seeds.sh has the others.
    if have_mpi; then
        note "on 2 ranks"
        CUDASIM_SEED=4 over_one_seed ranks 2 "$top_builddir/tests/cuda/$program"
    else
        skip 1 "no MPI: 2 ranks"
    fi
done
done_testing
