# The flow on the simulated card, with three orders of blocks and threads.
. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/cuda/over_seeds.sh"
need_simulator

over_seeds "$top_builddir/tests/cuda/fluid" double
over_one_seed "$top_builddir/tests/cuda/fluid" single
done_testing
