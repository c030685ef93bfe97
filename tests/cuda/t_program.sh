# The program on the simulated card: which device it takes, and what it says
# where there is none, or too little memory, or one that breaks.
. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/cuda/over_seeds.sh"
need_simulator

on_card=$top_builddir/warpdeck-cudasim
small="md.initial.cells=[8,8,8] md.steps=40"
# What a deck of the manual does on the card, in few steps.
melt() {
    # shellcheck disable=SC2086
    "$on_card" run "$top_srcdir/inputs/md/lj_melt.toml" $small --overwrite "$@"
}

exits 0 "a run on the card" melt --device cuda
contains tap.out ", cuda, double" "it says where it runs"
matches tap.out "copied to cards: .*, from cards: " "and how much it copied"
export CUDASIM_DEVICES=0
exits 2 "where there is no card, device cuda is refused" melt --device cuda
is "$(grep -c . tap.err)" 1 "in one line"
exits 0 "and device auto goes on" melt --device auto
contains tap.out " cpu (" "on the processor"
unset CUDASIM_DEVICES

CUDASIM_MEM=200000 exits 1 "too little memory of the card is an error" \
    melt --device cuda
matches tap.err "need about .* on this card, which has 200 kB free" \
    "which says what is needed and what there is"
matches tap.err "use more ranks .*md.precision = .*md.pair.skin or md.pair.cut" \
    "and which keys lower it"
CUDASIM_MEM=2100000 exits 1 "so it is where more is needed than was estimated" \
    melt --device cuda md.analysis.rdf.every=10 md.analysis.rdf.bins=100000
matches tap.err "no memory on the card for .* needed, .* free" \
    "and what is needed is said, too"
CUDASIM_LOST=100 exits 1 "a card that breaks ends the run" melt --device cuda
contains tap.err "uncorrectable ECC error" "with the reason"

# In the middle, with checkpoints: what it was doing then does not matter.
lose() { # AFTER WHAT ARGUMENT...
    after=$1 what=$2
    shift 2
    CUDASIM_PROTECT=0 CUDASIM_LOST=$after exits 1 \
        "a card that breaks in the middle of $what" "$@" --device cuda
    contains tap.err "uncorrectable ECC error" "is said"
    matches tap.err "use --resume .*\.ckpt\.[01]\.h5 to go on from the last good \
checkpoint, of step [1-9]" "and which checkpoint is the last good one"
}
flow() { # in few cells
    "$on_card" run "$top_srcdir/inputs/fluid/channel.toml" --overwrite \
        "domain.cells=[8,8,8]" fluid.steps=6 output.observables_every=1 \
        output.frames_every=0 "$@"
}
lose 150 "a melt" melt checkpoint.every=10
lose 300 "a melt" melt checkpoint.every=10
lose 400 "a flow" flow checkpoint.every=2
value() { # in steps of a few thousand paths
    "$on_card" run "$top_srcdir/inputs/risk/asian.toml" --overwrite \
        risk.paths=32768 'risk.sampling="sobol"' risk.replicates=8 \
        'risk.variance_reduction=["none"]' "$@"
}
lose 30 "a valuation" value checkpoint.every=1
CUDASIM_PROTECT=0 exits 0 "from there on another run goes on" \
    flow --device cuda --resume auto

# The other solvers: what is needed, what there is, which keys lower it.
CUDASIM_MEM=60000 exits 1 "too little memory for a flow" flow --device cuda
matches tap.err "8 cells need about .* on this card, which has 60.0 kB free" \
    "is told"
matches tap.err "fluid.precision = .single., or fewer domain.cells" \
    "with keys that lower it"
CUDASIM_MEM=20000 exits 1 "too little memory for a valuation" \
    value --device cuda
matches tap.err "1 position need about .* on this card, which has 20.0 kB free" \
    "is told"
matches tap.err "risk.factor.steps_per_year, .* positions .*risk.portfolio.file" \
    "with keys that lower it"
exits 2 "sums in any order need a card" melt --device cpu \
    md.deterministic=true
contains tap.err "md.deterministic = true needs a card" "which is said"
cp "$top_srcdir/inputs/md/chains.toml" "$top_srcdir/inputs/md/chains.data" .
CUDASIM_PROTECT=0 exits 0 "chains on a card" "$on_card" run chains.toml \
    md.steps=20 --overwrite --device cuda
matches tap.out "^ *phase .* bonded" "the closing table tells bonds apart"
matches tap.out "steps in between ran as graphs" "though steps run as graphs"
CUDASIM_PROTECT=0 exits 0 "chains with a list that is not looked at" \
    "$on_card" run chains.toml md.steps=80 --overwrite --device cuda \
    md.pair.rebuild_every=40
matches tap.out "on [0-9]* of 80 steps the pair list was too old" \
    "it is told where it was too old"
matches tap.out "steps in between ran as graphs" "and that steps ran as graphs"
sed 's/^1 30 1.5 1 1/1 30 1.06 1 1/' "$top_srcdir/inputs/md/chains.data" \
    >chains.data
CUDASIM_PROTECT=0 exits 3 "bonds that break end the run on a card" \
    "$on_card" run chains.toml md.steps=200 --overwrite --device cuda
matches tap.err \
    "error: step [0-9]*: the FENE bond of particles [0-9]* and [0-9]* is" \
    "with the step and the bond"
sed 's/^epsilon .*/epsilon = 0/' "$top_srcdir/inputs/md/salt.toml" >bare.toml
cp "$top_srcdir/inputs/md/salt.xyz" .
exits 2 "charges alone have no unit for sums in any order" "$on_card" run \
    bare.toml md.steps=0 --overwrite --device cuda md.deterministic=true
contains tap.err 'md.deterministic = true with [md.coulomb] takes the unit' \
    "which is said with the key"

# Between outputs nothing goes to the card, and scalars alone come back: some
# ten bytes a step of molecular dynamics, a hundred of a flow. One rank has no
# halo.
quiet() { # COMMAND...: bytes to the card, kB from it
    "$@" --device cuda output.observables_every=1000 output.frames_every=0 |
        sed -n 's/.*copied to cards: \(.*\), from cards: \(.*\) kB.*/\1|\2/p'
}
only_scalars() { # WHAT FEW MANY
    is "${2%|*}" "${3%|*}" "steps of $1 between outputs copy nothing to the card"
    check "and from it less than 3 kB in all" \
        awk "BEGIN { exit !(${3#*|} - ${2#*|} < 3) }"
}
CUDASIM_PROTECT=0
export CUDASIM_PROTECT
only_scalars "a melt" "$(quiet melt md.steps=20)" "$(quiet melt md.steps=100)"
langevin() { # particles with a bath each
    melt 'md.ensemble.type="langevin"' md.ensemble.temperature=1 \
        md.ensemble.relaxation=1 "$@"
}
only_scalars "Langevin's bath" "$(quiet langevin md.steps=20)" \
    "$(quiet langevin md.steps=60)"
pairs() { # friction and noise between them
    "$on_card" run "$top_srcdir/inputs/md/dpd.toml" --overwrite \
        md.initial.random=400 "$@"
}
only_scalars "friction between pairs" "$(quiet pairs md.steps=20)" \
    "$(quiet pairs md.steps=60)"
only_scalars "a flow" "$(quiet flow fluid.steps=2)" \
    "$(quiet flow fluid.steps=12)"
if have_mpi; then
    for n in 2 12; do
        ranks 2 "$on_card" run "$top_srcdir/inputs/fluid/channel.toml" \
            --overwrite "domain.cells=[8,8,8]" "fluid.steps=$n" --device cuda \
            output.observables_every=1000 output.frames_every=0 >"flow$n.out"
    done
    only_halo "a flow" flow2.out flow12.out
else
    skip 2 "no MPI: 2 ranks"
fi
unset CUDASIM_PROTECT

exits 0 "the standard problem on the card" "$on_card" bench --device cuda \
    --sizes 32k --steps 2 "md.initial.cells=[6,6,6]"
matches tap.out "limits: FMA peak [0-9.]*[1-9][0-9.]* GFLOP/s double, [0-9.]*[1-9]" \
    "beside the limits of the card"
done_testing
