# What the comparisons with other programs share; sourced, not run.
#
# Sets program (of warpdeck: $WARPDECK, else ./warpdeck, else from PATH), mpirun
# ($MPIRUN) and work, a folder that goes away at the end.

program=${WARPDECK:-}
[ -n "$program" ] || { [ -x ./warpdeck ] && program=$PWD/warpdeck; }
[ -n "$program" ] || program=$(command -v warpdeck) ||
    { echo "${0##*/}: no warpdeck; set WARPDECK" >&2; exit 1; }
mpirun=${MPIRUN:-mpirun}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_btl_vader_single_copy_mechanism=none
export HWLOC_COMPONENTS=-opencl,-gl OMP_NUM_THREADS=1

launch() { # ranks command...
    local n=$1
    shift
    if [ "$n" -eq 1 ]; then "$@"; else "$mpirun" -n "$n" "$@"; fi
}

median() {
    sort -g | awk '{ v[NR] = $1 }
        END { if (NR) print (v[int((NR + 1) / 2)] + v[int(NR / 2) + 1]) / 2
              else print "nan" }'
}

# Of this program's run on standard input: million particle- or cell-steps a
# second of its time loop.
rate_of_run() {
    sed -n 's|.* steps in .* s: \([0-9.]*\) \(.*\)[a-z]*-steps/s.*|\1 \2|p' |
        awk '{ print $1 * ($2 ~ /^G/ ? 1e3 : $2 ~ /^M/ ? 1 : 1e-3) }'
}
