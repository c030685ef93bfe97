# The tests of molecular dynamics on the simulated card, with three orders of
# blocks and threads, on one rank and on two.
. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/cuda/over_seeds.sh"
need_simulator
export WARPDECK_TEST_DEVICE=cuda

for n in 1 2; do
    if [ "$n" -gt 1 ] && ! have_mpi; then
        skip 1 "no MPI: $n ranks"
        continue
    fi
    note "on $n ranks"
    over_seeds ranks "$n" "$top_builddir/tests/cuda/md_forces"
    over_seeds ranks "$n" "$top_builddir/tests/cuda/md_analysis"
done
# Molecules, in short and with one order of each number of ranks.
for n in 1 3; do
    if [ "$n" -gt 1 ] && ! have_mpi; then
        skip 1 "no MPI: $n ranks"
        continue
    fi
    note "molecules on $n ranks"
    CUDASIM_PROTECT=0 WARPDECK_TEST_SHORT=1 over_one_seed ranks "$n" \
        "$top_builddir/tests/cuda/molecules"
done
# Charges beside the CPU, an order each; all_seeds.sh has the others.
for n in 1 2 3; do
    if [ "$n" -gt 1 ] && ! have_mpi; then
        skip 1 "no MPI: $n ranks"
        continue
    fi
    note "charges on $n ranks"
    CUDASIM_SEED=$n over_one_seed ranks "$n" "$top_builddir/tests/cuda/charges"
done
# Thousands of steps: with one order, and without closing memory at every wait;
# all_seeds.sh has the others.
export CUDASIM_PROTECT=0 WARPDECK_TEST_SHORT=1
over_one_seed ranks 1 "$top_builddir/tests/cuda/md_motion"
over_one_seed ranks 1 "$top_builddir/tests/cuda/md_thermostats"
done_testing
