#!/bin/bash
# All that a machine with a card has to show: the tests on the card, the
# sanitizers of CUDA, and the figures. Under 8 minutes; needs nothing from
# outside.
#
#   bench/gpu.sh [--programs FOLDER] [--record FILE] [--seconds N]
#
# FOLDER has warpdeck and the tests that ON_CARD of bench/local.mk names; in a
# bundle (scripts/gpu-bundle) it is found; in a build tree use make check-gpu.
# --record appends the table of figures to FILE (bench/RESULTS.md). What does not
# fit into N seconds (450) is left out and said. Exits 1 where a test failed, 2
# where there is no card.
set -u
export LC_ALL=C

here=$(cd "$(dirname "$0")" && pwd)
programs= record= seconds=450
while [ $# -gt 0 ]; do
    case $1 in
    --programs) programs=$2 ;;
    --record) record=$2 ;;
    --seconds) seconds=$2 ;;
    *) sed -n '2,14s/^# \{0,1\}//p' "$0"; exit 2 ;;
    esac
    shift 2
done
if [ -z "$programs" ] && [ -f "$here/env.sh" ]; then
    cd "$here" && . ./env.sh
    programs=$here/bin
fi
warpdeck=$programs/warpdeck
[ -x "$warpdeck" ] ||
    { echo "gpu.sh: no program '$warpdeck'; see --programs" >&2; exit 2; }

export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1
export OMPI_MCA_btl_vader_single_copy_mechanism=none
export HWLOC_COMPONENTS=-opencl,-gl OMP_NUM_THREADS=1
mpirun=${MPIRUN:-$(command -v mpirun || true)}
mpirun_flags="--oversubscribe --bind-to none"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 2
failed=0

head_line() {
    printf '\n== %s\n' "$*"
}
# What is not kept for what comes later.
reserved=200
left() { # seconds
    echo $((seconds - SECONDS - reserved))
}
# limited MOST COMMAND...: with MOST seconds, or what is left of all.
limited() {
    limit=$1
    shift
    [ "$limit" -le "$(left)" ] || limit=$(left)
    if [ "$limit" -lt 5 ]; then
        echo "left out, no time: $*"
        return 125
    fi
    timeout --kill-after=5 "$limit" "$@"
}
# Whether a status of limited() says that time was up.
timed_out() {
    [ "$1" -eq 124 ] || [ "$1" -eq 137 ]
}

# ---- what there is ---------------------------------------------------------
# A driver that hangs is no card.
timeout --kill-after=5 60 "$warpdeck" info >info
status=$?
cat info
if timed_out $status; then
    echo "gpu.sh: '$warpdeck info' does not end; does the driver work?" >&2
    exit 2
fi
if ! grep -q '^device *cuda: .* [0-9]* card' info; then
    echo "gpu.sh: no card here, so nothing was checked and nothing measured" >&2
    exit 2
fi
command -v nvidia-smi >/dev/null && timeout 30 nvidia-smi \
    --query-gpu=name,driver_version,memory.total,clocks.max.sm,power.limit \
    --format=csv
card=$(sed -n 's/^device *cuda: .* cards*: //p' info)

# ---- tests -----------------------------------------------------------------
# A program that speaks TAP; its failures are shown.
tested() { # NAME COMMAND...
    name=$1
    shift
    limited 100 "$@" >out 2>&1
    status=$?
    [ "$status" -ne 125 ] || { tail -n 1 out; return; }
    bad=$(grep -c '^not ok' out)
    if [ "$status" -eq 0 ] && [ "$bad" -eq 0 ]; then
        echo "passed: $name, $(grep -c '^ok' out) results"
    else
        failed=$((failed + 1))
        if timed_out $status; then
            status="$status, not done in $limit s"
        fi
        echo "FAILED: $name, status $status"
        grep -A 3 '^not ok' out | head -n 40
        tail -n 5 out
    fi
}
export WARPDECK_TEST_DEVICE=cuda
head_line "tests on the card"
tested "right programs" "$programs/right_card"
for test in forces analysis charges_card motion thermostats modes_card \
    molecules_card; do
    tested "$test, 1 rank" "$programs/$test"
done
cat >flow.toml <<'END'
[run]
solver = "fluid"
[domain]
cells = [16, 12, 16]
size = [6.0, 4.0, 2.0]
[fluid]
viscosity = 1e-3
timestep = 0.01
steps = 3
[fluid.grid]
stretching = "tanh"
factor = 1.5
[fluid.boundary]
x = "periodic"
y = "periodic"
z = "wall"
[fluid.initial]
profile = "channel"
amplitude = 1.0
perturbation = 0.3
[fluid.forcing]
bulk_velocity = [1.0, 0.0, 0.0]
END
flows=1
if ! limited 60 "$warpdeck" run flow.toml --device cuda --overwrite -q \
    >out 2>&1 && grep -qi 'cufft' out; then
    flows=
    echo "left out: flow ($(grep -i -m 1 cufft out))"
fi
for precision in double single; do
    [ -n "$flows" ] || break
    tested "flow beside the CPU, $precision" "$programs/fluid_card" $precision
done
tested "valuation beside the CPU" "$programs/risk_card"
cat >small.toml <<'END'
[run]
solver = "md"
[md]
steps = 20
[md.initial]
lattice = "fcc"
cells = [6, 6, 6]
density = 0.8442
temperature = 1.44
[md.pair]
cutoff = 2.5
skin = 0.3
[md.ensemble]
type = "langevin"
temperature = 1.0
relaxation = 1.0
END
# 40 steps in one go, and 23 and the rest, end in the same row.
cat >goes_on.sh <<'END'
for n in 40 23 40; do
    where=parts
    [ -d whole ] || where=whole
    "$1" run small.toml "md.steps=$n" output.name=r --device cuda \
        output.observables_every=10 checkpoint.keep=2 --resume auto \
        --output $where || exit
done
for where in whole parts; do
    awk '$1 == 40 && $2 != "steps" { print $2, $3, $4, $5, $6 }' $where/r.log | tee $where.row
done
[ -s whole.row ] && cmp whole.row parts.row && echo "ok 1"
END
tested "a run goes on from a checkpoint" bash goes_on.sh "$warpdeck"
# Other pairs, walls and groups: the card's rows are the CPU's, to their digits.
cat >pairs.toml <<'END'
[run]
solver = "md"
[md]
steps = 20
timestep = 0.002
[md.initial]
lattice = "fcc"
cells = [6, 6, 6]
density = 0.7
temperature = 1.0
[md.pair]
style = "morse"
cutoff = 2.5
skin = 0.3
shift = "energy"
[[md.pair.coefficients]]
species = ["A", "A"]
d0 = 1.0
alpha = 5.0
r0 = 1.12
[[md.walls]]
face = "zlo"
style = "harmonic"
k = 10.0
cutoff = 1.0
[[md.walls]]
face = "zhi"
style = "reflect"
[[md.group]]
name = "pulled"
action = "pull"
ids = [1, 100]
force = [0.5, 0.0, 0.0]
END
cat >beside.sh <<'END'
for device in cpu cuda; do
    "$1" run pairs.toml --device $device output.name=r --overwrite \
        output.observables_every=20 --output "$device" || exit
    awk '$1 == 20 && $2 != "steps" { print $2, $3, $4, $5, $6 }' \
        $device/r.log | tee $device.row
done
paste -d ' ' cpu.row cuda.row | awk '
    { for (n = 1; n <= NF / 2; n++) {
          d = $n - $(n + NF / 2)
          if (d * d > 1e-8 * $n * $n) bad = 1
      } }
    END { exit bad || NF != 10 }' && echo "ok 1" || echo "not ok 1"
END
tested "pairs, walls and groups beside the CPU" bash beside.sh "$warpdeck"
# A flow cut along y and along z ends in the row of one rank, to its digits.
cat >cut.sh <<'END'
warpdeck=$1
shift
flow() { # FOLDER RANKS COMMAND...
    folder=$1 ranks=$2
    shift 2
    "$@" run flow.toml "domain.ranks=$ranks" --device cuda output.name=r \
        output.observables_every=3 --output "$folder" --overwrite || exit
    awk '$1 == 3 && $2 != "steps" { print $2, $3, $4, $5 }' "$folder/r.log" |
        tee "$folder.row"
}
flow one '[1,1,1]' "$warpdeck"
flow y '[1,2,1]' "$@" -n 2 "$warpdeck"
flow z '[1,1,2]' "$@" -n 2 "$warpdeck"
for cut in y z; do
    paste -d ' ' one.row $cut.row | awk '
        { for (n = 1; n <= NF / 2; n++) {
              d = $n - $(n + NF / 2)
              if (d * d > 1e-8 * $n * $n) bad = 1
          } }
        END { exit bad || NF != 8 }' && echo "ok $cut" || echo "not ok $cut"
done
END
# shellcheck disable=SC2086
if [ -n "$mpirun" ] &&
    timeout 30 "$mpirun" $mpirun_flags -n 2 true >out 2>&1; then
    for test in forces analysis; do
        tested "$test, 2 ranks" "$mpirun" $mpirun_flags -n 2 "$programs/$test"
    done
    [ -z "$flows" ] || tested "flow, 2 ranks" bash cut.sh "$warpdeck" \
        "$mpirun" $mpirun_flags
else
    echo "left out: 2 ranks (no MPI that starts)"
fi

# ---- CUDA's own sanitizers -------------------------------------------------
head_line "compute-sanitizer"
sanitizer=$(command -v compute-sanitizer ||
    ls /usr/local/cuda*/bin/compute-sanitizer 2>/dev/null | head -n 1)
for tool in memcheck racecheck synccheck initcheck; do
    [ -n "$sanitizer" ] || break
    for what in small.toml 'small.toml md.precision=mixed' flow.toml; do
        [ -n "$flows" ] || [ "$what" != flow.toml ] || continue
        # shellcheck disable=SC2086
        limited 45 "$sanitizer" --tool $tool --error-exitcode 9 \
            "$warpdeck" run $what --device cuda --overwrite -q >out 2>&1
        status=$?
        if [ $status -eq 0 ]; then
            echo "passed: $tool, $what"
        elif [ $status -eq 125 ]; then
            tail -n 1 out
        elif timed_out $status && ! grep -v '= COMPUTE-SANITIZER' out |
            grep -q '^========='; then
            # Under some tools all is a hundred times as slow.
            echo "left out: $tool, $what: no error, but not done in $limit s"
        else
            failed=$((failed + 1))
            echo "FAILED: $tool, $what"
            grep -v '^ *$' out | head -n 30
        fi
    done
done
[ -n "$sanitizer" ] || echo "left out: compute-sanitizer is not installed, so \
nobody looked for races and wrong addresses on the card"

# ---- figures ---------------------------------------------------------------
head_line "figures"
reserved=5
table=$work/table.md
{
    printf '\n### %s\n\n' "$card"
    "$warpdeck" --version | head -n 1
    printf '\n'
} >"$table"
# bench NAME PRECISION SOLVER ARGUMENT...: what it says, and its table in RESULTS.
bench() {
    name=$1 precision=$2
    shift 2
    limited 120 "$warpdeck" bench --device cuda --precision "$precision" \
        "$@" >out 2>&1
    status=$?
    if [ $status -eq 0 ]; then
        cat out
        { printf '%s, %s:\n\n' "$name" "$precision"
          sed -n 's/^limits:/    &/p; /^ *card: /s/^/  /p; / GB.s of memory/s/^/  /p; /^  size/,$s/^/  /p' out
          printf '\n'; } >>"$table"
    elif [ $status -eq 125 ]; then
        tail -n 1 out
    elif timed_out $status; then
        echo "left out: bench $*: not done in $limit s"
    else
        failed=$((failed + 1))
        echo "FAILED: bench $*"
        tail -n 20 out
    fi
}
for precision in double mixed single; do
    bench "melt" $precision md --steps 1000 --sizes 32k,256k,1M
done
bench "melt of 16 million" mixed md --steps 200 --sizes 1M \
    'md.initial.cells=[160,160,160]'
bench "melt of 4000" mixed md --steps 5000 --sizes 32k \
    'md.initial.cells=[10,10,10]'
bench "valuation: European, Asian, Heston, American" double risk
for precision in double single; do
    [ -n "$flows" ] || break
    bench "flow: Taylor-Green vortex, channel, cavity" $precision fluid \
        --steps 20 --sizes 64,128,256,channel-256,cavity-256
done
# Some gigabytes on the card, and on the host.
[ -z "$flows" ] ||
    bench "flow: Taylor-Green vortex of 512 cubed" single fluid --steps 10 \
        --sizes 64 'domain.cells=[512,512,512]'

head_line "$((SECONDS)) s, $failed failed"
cat "$table"
if [ -n "$record" ]; then
    if [ $failed -eq 0 ]; then
        cat "$table" >>"$record"
    else
        echo "gpu.sh: nothing recorded, since something failed" >&2
    fi
fi
[ $failed -eq 0 ]
