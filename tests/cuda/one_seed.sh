# All tests of solvers on the simulated card, each in short and with one order of
# blocks, threads and streams: for builds with sanitizers, which are slow;
# all_seeds.sh has all.
# timeout: 1200
. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/cuda/over_seeds.sh"
need_simulator
export WARPDECK_TEST_DEVICE=cuda WARPDECK_TEST_SHORT=1
CUDASIM_SEED=${CUDASIM_SEED:-2}
export CUDASIM_SEED

for test in md_forces md_analysis charges modes beside molecules; do
    note "$test"
    over_one_seed ranks 1 "$top_builddir/tests/cuda/$test"
done
# Many steps: without closing memory at every wait.
for test in md_motion md_thermostats; do
    note "$test"
    CUDASIM_PROTECT=0 over_one_seed ranks 1 "$top_builddir/tests/cuda/$test"
done
note "fluid"
over_one_seed "$top_builddir/tests/cuda/fluid" single
note "risk"
over_one_seed "$top_builddir/tests/cuda/risk" short
if have_mpi; then
    note "2 ranks"
    over_one_seed ranks 2 "$top_builddir/tests/cuda/md_forces"
fi
done_testing
