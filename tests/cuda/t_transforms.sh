# The simulator's cuFFT: right uses are right, and wrong ones are noticed with
# one of three orders.
. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/cuda/over_seeds.sh"
need_simulator

transforms=$top_builddir/tests/cuda/transforms
over_seeds "$transforms"
"$transforms" --list >list
while IFS='|' read -r name what pattern; do
    for seed in 1 2 3; do
        CUDASIM_SEED=$seed "$transforms" "$name" >out 2>&1
        grep -qE -- "$pattern" out && break
    done
    matches out "$pattern" "noticed: $what"
done <list
done_testing
