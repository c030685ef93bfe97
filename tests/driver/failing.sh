# timeout: 180
# One rank fails: all end within 10 s, with its message and its exit status.
. "$top_srcdir/tests/driver/toy.sh"

# fails_so RANKS HOW RANK STATUS MESSAGE
fails_so() {
    what="$2 on rank $3 of $1"
    rm -rf out
    begun=$(date +%s)
    # A NaN is looked for where energies are computed: at steps 2, 4, ...
    at=5
    [ "$2" != nan ] || at=4
    ranks "$1" "$TOY" run toy.toml toy.fail="$2" toy.fail_rank="$3" \
        toy.fail_step=$at --output out >tap.out 2>tap.err
    is $? "$4" "$what: exit status $4"
    took=$(($(date +%s) - begun))
    if [ $took -lt 10 ]; then
        ok "$what: all end in time"
    else
        not_ok "$what: all end in time, not after $took s"
    fi
    [ -z "$5" ] || is "$(grep -c "^error: $5" tap.err)" 1 "$what: one message"
}

fails_so 1 agreed 0 3 "step 5: the toy broke"
holds out/toy.h5 "complete 0 rows 0 2 4 frames 0" \
    "what was written before is readable, and not complete"
contains out/toy.log "error: step 5: the toy broke" "the log has the message"
fails_so 1 alone 0 1 "the toy gives up without a word"
fails_so 1 nan 0 3 "step 4: hidden is not finite"
fails_so 1 start 0 2 "the toy does not start"
test ! -e out
is $? 0 "a run that cannot start leaves no results, nor a folder"
mkdir -p kept/empty
"$TOY" run toy.toml toy.fail=start --output kept/made//so/ >/dev/null 2>&1
is "$(ls kept)" empty "it leaves no folder that it made, and those that it found"
"$TOY" run toy.toml toy.fail=start --output kept/empty >/dev/null 2>&1
is "$(ls kept)" empty "also where it would have written there"

"$TOY" run toy.toml --output named --resume "a:1: error: b.h5" 2>tap.err
is "$? $(grep -c "^error: .*a:1: error: b.h5" tap.err)" "2 1" \
    "a name that reads like a place does not stand for one"

# Standard streams that are full, or closed.
if [ -c /dev/full ]; then
    "$TOY" help >/dev/full 2>tap.err
    is $? 1 "help that cannot be printed: exit status 1"
    is "$(cat tap.err)" "error: cannot write to the standard output" "and why"
    "$TOY" run toy.toml --output table >/dev/full 2>tap.err
    is "$? $(cat tap.err)" "0 " "a run without its table is not a failed run"
else
    skip 3 "no /dev/full here"
fi
"$TOY" run toy.toml --output closed <&- >&- 2>&-
is $? 0 "a run with closed streams"
holds closed/toy.h5 "complete 1 rows 0 2 4 6 8 10 frames 0 10" \
    "does not print into its results"

if have_mpi; then
    for n in 2 3 4; do
        last=$((n - 1))
        fails_so $n agreed $last 3 "step 5: the toy broke"
        contains tap.err "on rank $last of $n" "and names the rank"
        holds out/toy.h5 "complete 0 rows 0 2 4 frames 0" \
            "what was written before is readable"
    done
    fails_so 4 memory 2 1 "out of memory at step 5"
    fails_so 2 start 1 2 "the toy does not start"
    fails_so 2 alone 1 1 "the toy gives up without a word"
    fails_so 3 alone 0 1 "the toy gives up without a word"
    holds out/toy.h5 "complete 0 rows 0 frames 0" \
        "what was written before is readable"
    fails_so 3 crash 1 137 ""
else
    skip 1 "built without MPI"
fi
done_testing
