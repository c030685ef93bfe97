# toy.sh: what the tests with the toy solver share.
. "$top_srcdir/tests/tap.sh"

TOY=$top_builddir/tests/driver/toy
printf '[run]\nsolver = "toy"\n[output]\nobservables_every = 2\n' >toy.toml

# attribute FILE: `complete`, steps of the rows, steps of the frames; empty
# without h5py.
contents() {
    [ -n "$WARPDECK_PYTHON" ] || return 0
    "$WARPDECK_PYTHON" - "$1" <<'END'
import sys
import h5py
with h5py.File(sys.argv[1]) as f:
    print("complete", f["run"].attrs["complete"],
          "rows", *f["observables/center/step"][:],
          "frames", *f["particles/all/position/step"][:])
END
}
# holds FILE WANT SENTENCE
holds() {
    if [ -z "$WARPDECK_PYTHON" ]; then
        skip 1 "no Python with h5py"
    else
        is "$(contents "$1" 2>&1)" "$2" "$3"
    fi
}
