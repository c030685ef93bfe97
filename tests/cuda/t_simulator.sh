# The simulated card runs right programs right.
. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/cuda/over_seeds.sh"
need_simulator

right=$top_builddir/tests/cuda/right
faults=$top_builddir/tests/cuda/faults

over_seeds "$right"
CUDASIM_SEED=0 check "so it does in the natural order" "$right"
CUDASIM_PROTECT=0 check "and with its memory open to the host" "$right"

# What else a program may meet.
CUDASIM_DEVICES=0 "$right" >out 2>err
contains out "not ok 8 - the card says what it is" "there may be no card"
CUDASIM_LOST=4 "$faults" lost-card >out 2>err
is $? 0 "a lost card is an error of the calls, not of the program"
is "$(sort out | uniq -c | sed 's/^ *//' | tr '\n' ',')" \
    "2 cudaErrorECCUncorrectable,2 cudaSuccess,1 uncorrectable ECC error \
encountered,1 wrong," "and every call gives that error from then on"
CUDASIM_ERROR=return "$faults" early-exit >out 2>err
contains err "divergent barrier" "a fault of a kernel can be a broken context"
CUDASIM_TRAP=1 "$faults" unwritten-global >out 2>err
if "$faults" --sanitizer >/dev/null; then
    contains err "FPE" "arithmetic on what nobody wrote can be stopped at"
else
    matches err "invalid arithmetic .* in kernel 'get'.*thread \(0,0,0\)" \
        "arithmetic on what nobody wrote can be stopped at"
fi
done_testing
