# What the assembler said of registers when nvcc built the loops: none has to
# keep its variables in memory.
. "$top_srcdir/tests/tap.sh"

cd "$top_builddir" || exit 99
set -- kernels/*/*.nv.log kernels/*.nv.log
[ -e "$1" ] || skip_all "built without CUDA"
cat "$@" >"$TEST_DIR/report"
cd "$TEST_DIR" || exit 99

# A line for each kernel and card: bytes spilled, registers, card, kernel.
awk '/Compiling entry function/ { split($0, part, "\047"); kernel = part[2]
                                  card = part[4] }
     /bytes spill stores/ { spilled = $5 + $9 }
     /Used [0-9]+ registers/ { sub(/.*Used /, "")
                               print spilled, $1, card, kernel }' report |
    sort -rn >kernels

check "the compiler reported on its kernels" test -s kernels
for card in sm_80 sm_90; do
    grep -q " $card " kernels || continue
    grep -E "^[1-9][0-9]* [0-9]+ $card" kernels | c++filt >spilling
    is "$(wc -l <spilling)" 0 "on $card no kernel spills registers to memory"
    note_file spilling
done
note "the most registers: $(sort -k2 -rn kernels | head -n 1 | c++filt)"
done_testing
