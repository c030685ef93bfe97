# timeout: 120
# Wishes to stop: signals and a file. The run ends in order, with status 75.
. "$top_srcdir/tests/driver/toy.sh"

# started LOG: wait until a run has printed its first row.
started() {
    i=0
    while ! grep -q '^ *0 ' "$1" 2>/dev/null && [ $i -lt 100 ]; do
        sleep 0.1
        i=$((i + 1))
    done
}
slow="toy.steps=100000 toy.pause=0.01 output.observables_every=1000000"

for signal in TERM INT USR1 USR2; do
    # A shell starts background jobs with SIGINT ignored; env gives it back.
    # shellcheck disable=SC2086
    env --default-signal "$TOY" run toy.toml $slow --output $signal \
        >$signal.out 2>$signal.err &
    pid=$!
    started $signal.out
    kill -$signal $pid
    wait $pid
    is $? 75 "SIG$signal: exit status 75"
    matches $signal.err "^stopped at step [0-9]+ of 100000 \(SIG$signal\)$" \
        "it says at which step, and why"
    contains $signal.out "wrote $signal/toy.h5 (2 frames" \
        "with a frame of the last step"
done
contains TERM.err "with --resume auto to go on" "it says how to go on"
step=$(sed -n 's/^stopped at step \([0-9]*\) .*/\1/p' TERM.err)
holds TERM/toy.h5 "complete 0 rows 0 $step frames 0 $step" \
    "the file is in order, and not complete"
contains TERM/toy.log "stopped at step" "the log tells it, too"

# shellcheck disable=SC2086
"$TOY" run toy.toml $slow --output removed >removed.out 2>removed.err &
pid=$!
started removed.out
rm -r removed
kill -TERM $pid
wait $pid
is $? 1 "results that somebody removed: exit status 1"
is "$(cat removed.err)" \
    "error: 'removed/toy.h5' is gone: it was removed during the run" \
    "and they are missed"

# shellcheck disable=SC2086
"$TOY" run toy.toml $slow --output file >file.out 2>file.err &
pid=$!
started file.out
touch file/STOP
wait $pid
is $? 75 "a file STOP: exit status 75"
contains file.err "(file STOP)" "which it says"
is "$(ls file)" "$(printf 'toy.ckpt.0.h5\ntoy.h5\ntoy.log')" \
    "the file is taken away, and there is a checkpoint"
touch file/STOP
exits 0 "one that lay there before is no wish" \
    "$TOY" run toy.toml --output file --overwrite
contains tap.err "left from an earlier run" "which it says"

# A step that takes a minute cannot be ended in order; a second signal ends it.
"$TOY" run toy.toml toy.pause=60 --output second >second.out 2>second.err &
pid=$!
started second.out
kill -TERM $pid
sleep 0.2
kill -TERM $pid
wait $pid
is $? 143 "a second signal ends the run at once"
holds second/toy.h5 "complete 0 rows 0 frames 0" "what was written is readable"

if have_mpi; then
    # shellcheck disable=SC2086
    ranks 3 "$TOY" run toy.toml $slow --output three >three.out 2>three.err &
    pid=$!
    started three/toy.log
    touch three/STOP
    wait $pid
    is $? 75 "3 ranks stop as one: exit status 75"
    is "$(grep -c '^stopped at' three.err)" 1 "and say so once"
    # mpirun passes SIGUSR1 on to its ranks.
    # shellcheck disable=SC2086
    "$WARPDECK_MPIRUN" $WARPDECK_MPIRUN_FLAGS -n 2 \
        "$TOY" run toy.toml $slow --output two >two.out 2>two.err &
    pid=$!
    started two/toy.log
    kill -USR1 $pid
    wait $pid
    is $? 75 "SIGUSR1 to mpirun: exit status 75"
    contains two.err "(SIGUSR1)" "which it says"
else
    skip 4 "built without MPI"
fi
done_testing
