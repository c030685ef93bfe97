# All tests that take a device on the simulated card, each with three orders of
# blocks, threads and streams, which run at the same time: what make check has no
# time for, and what is run under sanitizers. ALL_SEEDS chooses some of them, as
# in ALL_SEEDS='md_motion risk'.
# timeout: 3600
. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/cuda/over_seeds.sh"
need_simulator
export WARPDECK_TEST_DEVICE=cuda WARPDECK_TEST_SHORT=1
# Three runs at a time, slowed down by sanitizers: of limits mpirun takes the last.
case $WARPDECK_MPIRUN_FLAGS in
*--timeout*) WARPDECK_MPIRUN_FLAGS="$WARPDECK_MPIRUN_FLAGS --timeout 900" ;;
esac
export WARPDECK_MPIRUN_FLAGS
on_card=$top_builddir/tests/cuda
chosen=${ALL_SEEDS:-md_forces md_analysis charges modes beside molecules \
md_motion md_thermostats fluid transforms risk replicas resume risk_runs physics}

script() { # NAME ARGUMENT...
    if [ -z "$WARPDECK_PYTHON" ]; then
        skip 1 "no Python: $1"
        return
    fi
    script_name=$1
    shift
    PYTHONPATH=$top_srcdir/tests:$top_srcdir/tests/physics \
        over_seeds_at_once "$WARPDECK_PYTHON" \
        "$top_srcdir/tests/$script_name" "$@"
}

for test in $chosen; do
    note "$test"
    case $test in
    # Many steps: without closing memory at every wait.
    md_motion | md_thermostats)
        CUDASIM_PROTECT=0 over_seeds_at_once ranks 1 "$on_card/$test" ;;
    fluid | transforms | risk)
        over_seeds_at_once "$on_card/$test" ;;
    # Whole runs, seen through files.
    replicas) script cuda/replicas.py all ;;
    resume | risk_runs) script "cuda/$test.py" ;;
    physics) script physics/card.py ;;
    *)
        over_seeds_at_once ranks 1 "$on_card/$test"
        if have_mpi; then
            over_seeds_at_once ranks 2 "$on_card/$test"
            [ "$test" != molecules ] ||
                over_seeds_at_once ranks 3 "$on_card/$test"
        fi ;;
    esac
done
done_testing
