# The valuation on the simulated card: paths beside those of the CPU with three
# orders of blocks and threads; risk_runs.py has whole runs.
. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/cuda/over_seeds.sh"
need_simulator

over_one_seed "$top_builddir/tests/cuda/risk"
for seed in 2 3; do
    CUDASIM_SEED=$seed
    export CUDASIM_SEED
    over_one_seed "$top_builddir/tests/cuda/risk" short
done
done_testing
