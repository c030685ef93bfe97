# The simulated card notices what is wrong with a program.
. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/cuda/over_seeds.sh"
need_simulator

faults=$top_builddir/tests/cuda/faults
sanitizer=
"$faults" --sanitizer >/dev/null && sanitizer=1

# caught NAME PATTERN: with one of three orders, as all tests of solvers run.
# What is no matter of order is seen in the first.
caught() {
    for seed in 1 2 3; do
        CUDASIM_SEED=$seed "$faults" "$1" >out 2>err
        status=$?
        cat err >>out
        grep -qE -- "$2" out && break
    done
    grep -qE -- "$2" out && { [ "$2" = wrong ] || [ "$status" -ne 0 ]; }
}

"$faults" --list >list
while IFS='|' read -r name what needs pattern; do
    if [ -n "$needs" ] && [ -z "$sanitizer" ]; then
        skip 1 "$what needs the address sanitizer"
    elif caught "$name" "$pattern"; then
        ok "noticed: $what"
    else
        not_ok "noticed: $what"
        note "$name exits with $status; not found: $pattern"
        note_file out
    fi
done <list
done_testing
