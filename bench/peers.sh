#!/bin/bash
# A problem of LAMMPS's benchmarks by warpdeck and by LAMMPS, alternating on one
# machine.
#
#   bench/peers.sh [--problem melt|chain|copper|protein|water] [--files FOLDER]
#                  [--rounds N] [--steps N] [--ranks "1 2"] [--cells N]
#
# Prints the median rate of each in million atom-steps a second, the ratio of
# medians to `lmp -sf opt` and that to one rank, for two ways to keep the
# neighbor list:
#   strict   looked at every step, rebuilt when a particle moved half the skin
#   every20  rebuilt every 20 steps whatever moved, as in LAMMPS's own benchmark:
#            faster and not safe (melt only)
# Chain, copper and protein need LAMMPS's files in FOLDER, where
# bench/lammps_files.sh puts them; the protein runs at constant energy. Of the
# melt --cells sets the size. Water is inputs/md/water.toml with 10,648 molecules
# and a thermostat, its rates without the time of the mesh.
# No program writes frames on the way.
# Without lmp on the PATH, only warpdeck is measured. WARPDECK names the program
# (else ./warpdeck, then PATH), MPIRUN the launcher. Let nothing else run.
set -u
export LC_ALL=C

rounds=5 steps='' ranks_list="1 2" cells=20
problem=melt lists=strict files=.
while [ $# -gt 0 ]; do
    case $1 in
    --problem) problem=$2 ;;
    --files) files=$2 ;;
    --rounds) rounds=$2 ;;
    --steps) steps=$2 ;;
    --ranks) ranks_list=$2 ;;
    --cells) cells=$2 ;;
    *) sed -n '2,20s/^# \{0,1\}//p' "$0"; exit 2 ;;
    esac
    shift 2
done

here=$(cd "$(dirname "$0")" && pwd)
. "$here/common.sh"
decks=$here/../inputs
lmp=$(command -v lmp || true)
programs="lmp double mixed single"
atoms=32000

# The problem in LAMMPS's words; $1: strict or every20.
lammps_melt() {
    local check="every 1 delay 0 check yes"
    [ "$1" = every20 ] && check="every 20 delay 0 check no"
    cat <<EOF
units lj
atom_style atomic
lattice fcc 0.8442
region box block 0 $cells 0 $cells 0 $cells
create_box 1 box
create_atoms 1 box
mass 1 1.0
velocity all create 1.44 87287 loop geom
pair_style lj/cut 2.5
pair_coeff 1 1 1.0 1.0 2.5
neighbor 0.3 bin
neigh_modify $check
fix integrate all nve
timestep 0.005
EOF
}
lammps_chain() {
    cat <<EOF
units lj
atom_style bond
special_bonds fene
read_data data.chain
neighbor 0.4 bin
neigh_modify every 1 delay 1
bond_style fene
bond_coeff 1 30.0 1.5 1.0 1.0
pair_style lj/cut 1.12
pair_modify shift yes
pair_coeff 1 1 1.0 1.0 1.12
fix integrate all nve
fix heat all langevin 1.0 1.0 10.0 904297
timestep 0.012
EOF
}
lammps_copper() {
    cat <<EOF
units metal
atom_style atomic
lattice fcc 3.615
region box block 0 20 0 20 0 20
create_box 1 box
create_atoms 1 box
pair_style eam
pair_coeff 1 1 Cu_u3.eam
velocity all create 1600.0 376847 loop geom
neighbor 1.0 bin
neigh_modify every 1 delay 5 check yes
fix integrate all nve
timestep 0.005
EOF
}
lammps_protein() {
    cat <<EOF
units real
neigh_modify delay 5 every 1
atom_style full
bond_style harmonic
angle_style charmm
dihedral_style charmm
improper_style harmonic
pair_style lj/charmm/coul/long 8.0 10.0
pair_modify mix arithmetic
kspace_style pppm 1e-4
read_data data.rhodo
fix rigid all shake 0.0001 5 0 m 1.0 a 232
fix integrate all nve
special_bonds charmm
timestep 2.0
EOF
}

lammps_water() {
    cat <<EOF
units real
neigh_modify delay 0 every 1
atom_style full
bond_style harmonic
angle_style harmonic
pair_style lj/cut/coul/long 9.0
kspace_style pppm 1e-4
read_data data.water
pair_coeff * * 0.0 1.0
pair_coeff 1 1 0.1553 3.166
fix rigid all shake 0.0001 20 0 b 1 a 1
velocity all create 298 2026
fix integrate all nve
fix heat all langevin 298 298 20 2026
timestep 2.0
EOF
}

case $problem in
melt)
    deck=$decks/md/lj_melt.toml data='' atoms=$((4 * cells * cells * cells))
    lists="strict every20" steps=${steps:-1000}
    ;;
chain) data=data.chain steps=${steps:-1000} ;;
copper) data=Cu_u3.eam steps=${steps:-200} programs="plain $programs" ;;
protein) data=data.rhodo steps=${steps:-100} programs="plain lmp double mixed" ;;
water)
    # From a lattice: it takes some 200 steps to melt and cool down.
    steps=${steps:-400} programs="plain lmp double mixed" data='' atoms=31944
    deck=$work/water.toml
    "${PYTHON:-python3}" "$decks/md/make_water.py" 22 >"$work/water.data" &&
        cp "$work/water.data" "$work/data.water" &&
        awk '/^\[md.ensemble\]/ { print "[md.ensemble]\ntype = \"bussi\""
                 print "temperature = \"298 K\"\nrelaxation = \"20 fs\"\n"
                 left_out = 1 }
             /^\[output\]/ { left_out = 0 }
             ! left_out' "$decks/md/water.toml" >"$deck" || exit 1
    ;;
*) echo "peers.sh: no problem '$problem'" >&2; exit 2 ;;
esac
if [ -n "$data" ]; then
    [ -r "$files/$data" ] || {
        echo "peers.sh: no $files/$data; see bench/lammps_files.sh" >&2
        exit 1
    }
    cp "$files/$data" "$decks/lammps/$problem.toml" "$work" || exit 1
    deck=$work/$problem.toml
fi

# A rate as it is without the mesh's per cent of the time; of water only.
without_mesh() {
    awk -v part="$1" -v problem="$problem" '{
        print problem == "water" ? $1 / (1 - part / 100) : $1 }'
}

# Million atom-steps a second of one run's time loop.
run_lammps() { # ranks list program
    local suffix=(-sf opt)
    [ "$3" = plain ] && suffix=()
    { "lammps_$problem" "$2"; echo "thermo $steps"; echo "run $steps"; } \
        >"$work/in.lammps"
    (cd "$work" && launch "$1" "$lmp" "${suffix[@]}" -in in.lammps -log none) \
        </dev/null >"$work/lammps.out" 2>"$work/err"
    sed -n 's/^Loop time of \([0-9.e+-]*\) on.*/\1/p' "$work/lammps.out" |
        awk -v work=$((atoms * steps)) '{ print work / $1 / 1e6 }' |
        without_mesh "$(awk '/^Kspace/ { print $NF }' "$work/lammps.out")"
}
run_warpdeck() { # ranks list precision
    local more=()
    [ "$problem" = melt ] && more=("md.initial.cells=[$cells,$cells,$cells]")
    [ "$2" = every20 ] && more+=(md.pair.rebuild_every=20)
    launch "$1" "$program" run "$deck" "md.steps=$steps" "${more[@]}" \
        "md.precision=$3" "output.observables_every=$steps" \
        "output.frames_every=$steps" --output \
        "$work/out" --overwrite </dev/null >"$work/run.out" 2>"$work/err"
    rate_of_run <"$work/run.out" |
        without_mesh "$(awk '$1 == "phase" { for (k = 2; k <= NF; k++)
                if ($k == "mesh") at = k }
            $1 == "time" && at { print $(2 * at - 2); exit }' "$work/run.out")"
}

echo "# $problem: $atoms atoms, $steps steps, $rounds rounds, alternating"
echo "# $(sed -n 's/^model name[^:]*: *//p' /proc/cpuinfo | head -n 1)"
echo "# $("$program" --version | head -n 1)"
[ -n "$lmp" ] && echo "# LAMMPS $("$lmp" -h 2>/dev/null |
    sed -n 's/.*Simulator - *//p' | head -n 1), -sf opt"
[ -n "$lmp" ] || echo "# no lmp on the PATH: warpdeck alone"
echo "ranks  list     program           M atom-steps/s  ratio to lmp  to 1 rank"

# One run; its rate goes to the others of its kind.
failures=0
one_run() { # ranks list program
    local rate
    case $3 in
    lmp | plain) [ -z "$lmp" ] && return; rate=$(run_lammps "$@") ;;
    *) rate=$(run_warpdeck "$@") ;;
    esac
    if [ -z "$rate" ]; then
        echo "peers.sh: $3 on $1 ranks failed:" >&2
        head -n 5 "$work/err" >&2
        failures=$((failures + 1))
    else
        echo "$rate" >>"$work/t.$1.$3"
    fi
}

median_of() { # ranks program
    if [ -f "$work/t.$1.$2" ]; then median <"$work/t.$1.$2"; else echo nan; fi
}

row() { # ranks list program
    local name="warpdeck $3"
    [ "$3" = lmp ] && name="lmp -sf opt"
    [ "$3" = plain ] && name="lmp"
    awk -v n="$1" -v list="$2" -v name="$name" -v rate="$(median_of "$1" "$3")" \
        -v lmp="$(median_of "$1" lmp)" -v one="$(median_of 1 "$3")" 'BEGIN {
        if (rate == "nan")
            exit
        printf "%5d  %-7s  %-16s  %14.2f", n, list, name, rate
        printf "  %12s", lmp == "nan" ? "" : sprintf("%.2f", rate / lmp)
        if (n > 1 && one != "nan")
            printf "  %9.2f", rate / one
        print "" }'
}

for list in $lists; do
    rm -f "$work"/t.*
    for ((round = 0; round < rounds; round++)); do
        for what in $programs; do
            for n in $ranks_list; do
                one_run "$n" "$list" "$what"
            done
        done
    done
    for n in $ranks_list; do
        for what in $programs; do
            row "$n" "$list" "$what"
        done
    done
done
[ "$failures" -eq 0 ]
