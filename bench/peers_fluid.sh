#!/bin/bash
# Flow in a box by warpdeck and by CaNS, alternating on one machine.
#
#   bench/peers_fluid.sh [--rounds N] [--steps N] [--ranks "1 2"] [--cells N]
#                        [--cases "taylor-green channel cavity"]
#
# Prints the median nanoseconds for each cell and step of both in double
# precision, and the ratio of medians. One step is three substages with three
# pressure solves; all diffusion is explicit. The same grid, boundary and time
# step for both:
#   taylor-green  periodic in x, y, z
#   channel       walls in z, stretched; driven by a uniform force
#   cavity        walls on all faces, one of them moving
# CaNS is measured with its heap kept between steps (glibc's settings below),
# which makes it several times faster than as shipped. Without a program `cans`
# on the PATH, only warpdeck is measured. WARPDECK names the program (else
# ./warpdeck, then PATH), MPIRUN the launcher. Let nothing else run.
set -u
export LC_ALL=C

rounds=5 steps=20 ranks_list="1 2" cells=256 cases="taylor-green channel cavity"
while [ $# -gt 0 ]; do
    case $1 in
    --rounds) rounds=$2 ;;
    --steps) steps=$2 ;;
    --ranks) ranks_list=$2 ;;
    --cells) cells=$2 ;;
    --cases) cases=$2 ;;
    *) sed -n '2,17s/^# \{0,1\}//p' "$0"; exit 2 ;;
    esac
    shift 2
done

. "$(cd "$(dirname "$0")" && pwd)/common.sh"
cans=$(command -v cans || true)

# What differs between the cases, for both programs. Time steps are small
# enough for explicit diffusion on these grids.
set_case() {
    size="6.283185307179586, 6.283185307179586, 6.283185307179586"
    viscosity=6.25e-4 inverse=1600. inivel=tgv gtype=1 gr=0. force=0.0
    walls="'P','P', 'P','P', 'P','P'" pressure="'P','P', 'P','P', 'P','P'"
    stretch='' lid=0.
    timestep=$(awk "BEGIN { print 1.28 / $cells }")
    case $1 in
    taylor-green)
        boundary='x = "periodic"
y = "periodic"
z = "periodic"'
        initial='profile = "taylor-green"'
        ;;
    channel)
        size="6.283185307179586, 3.141592653589793, 2.0"
        timestep=$(awk "BEGIN { print 0.2 / $cells }")
        walls="'P','P', 'P','P', 'D','D'" pressure="'P','P', 'P','P', 'N','N'"
        inivel=poi gr=2. force=1e-3
        stretch='[fluid.grid]
stretching = "tanh"
factor = 2.0'
        boundary='x = "periodic"
y = "periodic"
z = "wall"'
        initial='profile = "channel"'
        ;;
    cavity)
        size="1.0, 1.0, 1.0" viscosity=1e-3 inverse=1000. inivel=zer lid=1.
        timestep=$(awk "BEGIN { print 0.2 / $cells }")
        walls="'D','D', 'D','D', 'D','D'" pressure="'N','N', 'N','N', 'N','N'"
        boundary='x = "wall"
y = "wall"
z_min = "wall"
z_max = { type = "wall", velocity = [1.0, 0.0, 0.0] }'
        initial='profile = "rest"'
        ;;
    *) echo "peers_fluid.sh: no case '$1'" >&2; exit 2 ;;
    esac
}

deck() {
    cat <<EOF
[run]
solver = "fluid"
[domain]
cells = [$cells, $cells, $cells]
size = [$size]
[fluid]
viscosity = $viscosity
timestep = $timestep
steps = $steps
diffusion = "explicit"
[fluid.forcing]
acceleration = [$force, 0.0, 0.0]
$stretch
[fluid.boundary]
$boundary
[fluid.initial]
$initial
[output]
observables_every = 1000000
EOF
}

cans_input() { # ranks
    cat <<EOF
&dns
ng(1:3) = $cells, $cells, $cells
l(1:3) = $size
gtype = $gtype, gr = $gr
cfl = 0.95, dtmax = 1.e5, dt_f = $timestep
visci = $inverse
inivel = '$inivel'
is_wallturb = F
nstep = $steps, time_max = 1.e5, tw_max = 10.
stop_type(1:3) = T, F, F
restart = F, is_overwrite_save = T, nsaves_max = 0
icheck = 1000000, iout0d = 1000000, iout1d = 1000000
iout2d = 1000000, iout3d = 1000000, isave = 1000000
cbcvel(0:1,1:3,1) = $walls
cbcvel(0:1,1:3,2) = $walls
cbcvel(0:1,1:3,3) = $walls
cbcpre(0:1,1:3) = $pressure
bcvel(0:1,1:3,1) = 0.,0., 0.,0., 0.,$lid
bcvel(0:1,1:3,2) = 0.,0., 0.,0., 0.,0.
bcvel(0:1,1:3,3) = 0.,0., 0.,0., 0.,0.
bcpre(0:1,1:3) = 0.,0., 0.,0., 0.,0.
bforce(1:3) = $force, 0., 0.
is_forced(1:3) = F, F, F
velf(1:3) = 0., 0., 0.
dims(1:2) = 1, $1, ipencil_axis = 1
/
&numerics
is_impdiff = F, is_impdiff_1d = F
/
&other_options
is_debug = F, is_timing = T
/
EOF
}

# Nanoseconds a cell and step: the median step of a run, the first two left out.
run_cans() { # ranks
    rm -rf "$work/cans" && mkdir -p "$work/cans/data" && cd "$work/cans" ||
        return
    cans_input "$1" >input.nml
    MALLOC_MMAP_THRESHOLD_=68719476736 MALLOC_TRIM_THRESHOLD_=68719476736 \
        MALLOC_TOP_PAD_=67108864 launch "$1" "$cans" </dev/null 2>"$work/err" |
        awk '/elapsed time/ { getline; n++; if (n > 2) print $1 }' | sort -g |
        awk -v n="$cells" '{ t[NR] = $1 }
            END { if (NR) print t[int((NR + 1) / 2)] * 1e9 / (n * n * n) }'
    cd - >/dev/null || return
}

run_warpdeck() { # ranks
    deck >"$work/flow.toml"
    launch "$1" "$program" run "$work/flow.toml" --overwrite \
        --output "$work/out" </dev/null 2>"$work/err" |
        rate_of_run | awk '{ print 1e3 / $1 }'
}

echo "# ns a cell and step, ${cells}^3, double, median of $rounds rounds of" \
    "$steps steps"
printf '%-13s %5s %9s %9s %7s\n' case ranks warpdeck CaNS ratio
for case in $cases; do
    set_case "$case"
    for ranks in $ranks_list; do
        : >"$work/ours" && : >"$work/theirs"
        for _ in $(seq "$rounds"); do
            run_warpdeck "$ranks" >>"$work/ours"
            [ -n "$cans" ] && run_cans "$ranks" >>"$work/theirs"
        done
        ours=$(median <"$work/ours") theirs=$(median <"$work/theirs")
        ratio=$(awk -v a="$theirs" -v b="$ours" \
            'BEGIN { if (a > 0 && b > 0) printf "%.1f", a / b; else print "-" }')
        printf '%-13s %5s %9.4s %9.4s %7s\n' "$case" "$ranks" "$ours" \
            "$theirs" "$ratio"
    done
done
