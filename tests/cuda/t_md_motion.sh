# Motion and thermostats on the simulated card.
. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/cuda/over_seeds.sh"
need_simulator
export WARPDECK_TEST_DEVICE=cuda

# Thousands of steps: with one order, and without closing memory at every wait;
# all_seeds.sh has the others.
export CUDASIM_PROTECT=0 WARPDECK_TEST_SHORT=1
over_one_seed ranks 1 "$top_builddir/tests/cuda/md_motion"
over_one_seed ranks 1 "$top_builddir/tests/cuda/md_thermostats"
done_testing
