# All tests that take a device on the simulated card, each with three orders of
# blocks, threads and streams: what make check has no time for, and what is run
# under sanitizers.
# timeout: 3600
. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/cuda/over_seeds.sh"
need_simulator
export WARPDECK_TEST_DEVICE=cuda WARPDECK_TEST_SHORT=1

for test in md_forces md_analysis modes md_motion md_thermostats; do
    note "$test"
    case $test in
    # Many steps: without closing memory at every wait.
    md_motion | md_thermostats)
        CUDASIM_PROTECT=0 over_seeds ranks 1 "$top_builddir/tests/cuda/$test" ;;
    *)
        over_seeds ranks 1 "$top_builddir/tests/cuda/$test"
        if have_mpi; then
            over_seeds ranks 2 "$top_builddir/tests/cuda/$test"
        fi ;;
    esac
done
note fluid
over_seeds "$top_builddir/tests/cuda/fluid"
note risk
over_seeds "$top_builddir/tests/cuda/risk"

if [ -z "$WARPDECK_PYTHON" ]; then
    skip 1 "no Python: the physics seen through files"
    done_testing
fi
PYTHONPATH=$top_srcdir/tests:$top_srcdir/tests/physics
export PYTHONPATH
over_seeds "$WARPDECK_PYTHON" "$top_srcdir/tests/physics/card.py"
done_testing
