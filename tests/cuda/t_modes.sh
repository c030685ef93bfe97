# Graphs, sums in any order, messages from the card's memory, and what is said of
# memory: with three orders of blocks and threads, on one rank and on two.
# timeout: 600
. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/cuda/over_seeds.sh"
need_simulator
export WARPDECK_TEST_DEVICE=cuda

modes=$top_builddir/tests/cuda/modes
for n in 1 2; do
    if [ "$n" -gt 1 ] && ! have_mpi; then
        skip 1 "no MPI: $n ranks"
        continue
    fi
    note "on $n ranks"
    over_seeds ranks "$n" "$modes"
    different=$(cat seed-*.out | grep '^# *bits of double:' | sort -u | wc -l)
    is $((different)) 1 "deterministic sums are the same, to the bit, on $n \
ranks with three orders of blocks and threads"
done
have_mpi || { skip 1 "no MPI"; done_testing; exit; }

# With the card's memory open to the host, any MPI takes it.
note "messages from the memory of the card"
CUDASIM_MPI=1 CUDASIM_PROTECT=0
export CUDASIM_MPI CUDASIM_PROTECT
CUDASIM_SEED=2 over_one_seed ranks 2 "$modes"
CUDASIM_SEED=3 over_one_seed ranks 2 "$top_builddir/tests/cuda/md_forces"
unset CUDASIM_MPI CUDASIM_PROTECT

on_card=$top_builddir/warpdeck-cudasim
melt() { # NAME ARGUMENT...
    melt_name=$1
    shift
    ranks 2 "$on_card" run "$top_srcdir/inputs/md/lj_melt.toml" \
        'md.initial.cells=[8,8,8]' md.steps=20 output.observables_every=20 \
        "output.name=$melt_name" --overwrite --device cuda "$@"
}
exits 0 "halo copies through the host" melt staged -v \
    'run.gpu_transfer="staged"'
contains tap.out "go through the host, as the deck says" "it says so"
sed -n 's/.*copied to cards: \(.*\), from.*/\1/p' tap.out >staged.bytes
cp tap.out staged.out
exits 0 "by itself the program sends nothing from the card's memory" melt auto \
    -v md.steps=60
contains tap.out "this MPI does not say that it takes their memory" \
    "where MPI cannot"
cp tap.out auto.out
only_halo "a melt" staged.out auto.out
exits 2 "asked to, it refuses" melt direct 'run.gpu_transfer="direct"'
matches tap.err "run.gpu_transfer = \"direct\" cannot be used: this MPI library \
does not take memory of cards" "in one line"
CUDASIM_MPI=1 CUDASIM_PROTECT=0 exits 0 "where MPI can, it does" melt direct -v
contains tap.out "messages go from card to card" "and says so"
sed -n 's/.*copied to cards: \(.*\), from.*/\1/p' tap.out >direct.bytes
note "copied to cards: staged $(cat staged.bytes), direct $(cat direct.bytes)"
check "which saves copies" \
    test "$(cat direct.bytes)" != "$(cat staged.bytes)"
rows() { # of a log: what was observed up to step 20
    awk 'NF == 8 && $1 ~ /^[0-9]+$/ && $1 <= 20 { print $1, $2, $3, $4, $5, $6 }' \
        "$1"
}
rows staged.log >want
check "rows are found" test -s want
for way in auto direct; do
    rows "$way.log" >got
    check "and changes no result: $way" cmp got want
done
done_testing
