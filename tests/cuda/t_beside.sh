# The card beside the CPU: potentials that are tables, metals, walls and groups,
# on one rank, two and three, each with another order of blocks and threads.
. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/cuda/over_seeds.sh"
need_simulator
export WARPDECK_TEST_SHORT=1

for n in 1 2 3; do
    if [ "$n" -gt 1 ] && ! have_mpi; then
        skip 1 "no MPI: $n ranks"
        continue
    fi
    note "on $n ranks"
    CUDASIM_SEED=$n CUDASIM_PROTECT=$((n == 1)) \
        over_one_seed ranks "$n" "$top_builddir/tests/cuda/beside"
done
done_testing
