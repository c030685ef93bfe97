# Molecules and charges on the simulated card.
. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/cuda/over_seeds.sh"
need_simulator
export WARPDECK_TEST_DEVICE=cuda

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
done_testing
