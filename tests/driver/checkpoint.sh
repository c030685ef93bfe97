# timeout: 240
# Checkpoints around a solver that does nothing: when they are written, which
# one a run goes on from, and what is refused.
. "$top_srcdir/tests/driver/toy.sh"

every="checkpoint.every=3"

# All 10 steps at once, to compare with.
"$TOY" run toy.toml --output whole >/dev/null
whole="complete 1 rows 0 2 4 6 8 10 frames 0 10"
holds whole/toy.h5 "$whole" "an undisturbed run"
is "$(ls whole)" "$(printf 'toy.h5\ntoy.log')" \
    "without [checkpoint] a run that ends leaves no checkpoint"

exits 3 "a run that fails" "$TOY" run toy.toml $every toy.fail=agreed \
    toy.fail_step=8 --output a
contains tap.err "use --resume a/toy.ckpt.1.h5 to go on from the last good \
checkpoint, of step 6" "names the last good checkpoint"
exits 2 "its folder is not for a new run" "$TOY" run toy.toml --output a
contains tap.err "use --resume auto to go on" "which says how to go on"
exits 0 "--resume auto goes on" "$TOY" run toy.toml $every --output a \
    --resume auto
contains tap.out "goes on from step 6 of a/toy.ckpt.1.h5" "from the newest one"
holds a/toy.h5 "$whole" "and no row stands twice"
contains a/toy.log "step 8: the toy broke" "the log keeps the story before"
exits 0 "a finished run is left alone" "$TOY" run toy.toml $every --output a \
    --resume auto
contains tap.out "is finished, at step 10" "which it says"
exits 0 "a longer one goes on" "$TOY" run toy.toml $every --output a \
    --resume auto toy.steps=13
holds a/toy.h5 "complete 1 rows 0 2 4 6 8 10 12 13 frames 0 13" \
    "where it would have been without the end"

# Two are kept: the fourth and the fifth of five (tests the replacing).
"$TOY" run toy.toml checkpoint.every=2 --output five >/dev/null
is "$(ls five)" "$(printf 'toy.ckpt.0.h5\ntoy.ckpt.1.h5\ntoy.h5\ntoy.log')" \
    "two checkpoints are kept"
cp -r five old
rm five/toy.ckpt.0.h5
"$TOY" run toy.toml checkpoint.every=2 --output five --resume auto \
    toy.steps=12 >five.out
contains five.out "from step 8" "of five, the fourth is the one before the last"

# Bad ones are passed over, or refused by name.
head -c 3000 old/toy.ckpt.0.h5 >cut && cp cut old/toy.ckpt.0.h5
exits 0 "a damaged one is passed over" "$TOY" run toy.toml toy.steps=14 \
    --output old --resume auto
contains tap.err "warning: 'old/toy.ckpt.0.h5'" "with a warning"
contains tap.out "from step 8 of old/toy.ckpt.1.h5" "for the one before"
exits 2 "a truncated one by name" "$TOY" run toy.toml --output old \
    --resume cut --overwrite
matches tap.err "^error: 'cut': cannot read it" "is refused"
matches tap.err "use --resume old/toy.ckpt.[01].h5, which is whole" \
    "and another is offered"
exits 2 "results are no checkpoint" "$TOY" run toy.toml --output old \
    --resume whole/toy.h5
contains tap.err "no checkpoint of Warpdeck" "which it says"
exits 2 "a file that is not there" "$TOY" run toy.toml --output n \
    --resume nothing.h5
contains tap.err "there is no checkpoint 'nothing.h5'" "is said to be missing"
exits 2 "a folder instead of a file" "$TOY" run toy.toml --output n \
    --resume whole
contains tap.err "error: 'whole' is a folder" "is told in a line"

# The state of another run begins results of its own.
"$TOY" run toy.toml --output apart toy.steps=4 >/dev/null
exits 2 "results of this name are not mixed with those of another run" \
    "$TOY" run toy.toml toy.steps=14 --output apart \
    --resume old/toy.ckpt.1.h5 --force
contains tap.err "'apart/toy.h5' exists already" "which it says"
exits 0 "--overwrite replaces them" "$TOY" run toy.toml toy.steps=14 \
    --output apart --resume old/toy.ckpt.1.h5 --overwrite
holds apart/toy.h5 "complete 1 rows 8 10 12 14 frames 8 14" \
    "by those from the checkpoint on"

# Another deck.
exits 2 "a deck with another physics is refused" "$TOY" run toy.toml \
    toy.timestep=0.25 toy.steps=20 --output old --resume auto
contains tap.err "because of toy.timestep: 0.25, was 0.5" "with the key"
exits 0 "unless --force" "$TOY" run toy.toml toy.timestep=0.25 toy.steps=20 \
    --output old --resume auto --force
contains tap.err "warning: changed since the checkpoint: toy.timestep" \
    "which warns"

# Batch scripts always say --resume auto.
exits 0 "without a checkpoint --resume auto begins" "$TOY" run toy.toml \
    --output new --resume auto
contains tap.out "no checkpoint of 'toy' in 'new' yet" "which it says"
exits 2 "a finished run without checkpoints" "$TOY" run toy.toml \
    --output new --resume auto toy.steps=20
contains tap.err "has no checkpoint to go on from" "is refused"
touch new/toy.ckpt.0.h5.tmp new/toy.ckpt.7.h5
exits 0 "--overwrite begins anew" "$TOY" run toy.toml --output new --overwrite
is "$(ls new)" "$(printf 'toy.h5\ntoy.log')" \
    "and takes old checkpoints and leftovers away"
exits 0 "an empty [checkpoint]" "$TOY" run toy.toml checkpoint.keep=1 \
    --output one
check "leaves one of the end" test -s one/toy.ckpt.0.h5

# A state that has broken is never saved.
exits 3 "a broken state ends the run" "$TOY" run toy.toml $every \
    toy.fail=broken toy.fail_step=5 --output broken
contains tap.err "step 6, rank 0: a point is not finite" "where it is looked at"
contains tap.err "broken/toy.ckpt.0.h5 to go on from the last good checkpoint, \
of step 3" "and the good checkpoint stays"
exits 3 "the guard looks by itself" "$TOY" run toy.toml guard.every=4 \
    toy.fail=broken toy.fail_step=3 --output guarded
contains tap.err "step 4, rank 0" "every so many steps"
exits 2 "a bound on what is not observed" "$TOY" run toy.toml \
    guard.temperature=2.0 --output bound
contains tap.err "solver toy observes no temperature" "is an error of the deck"

# Time.
slow="toy.steps=100000 toy.pause=0.01"
# shellcheck disable=SC2086
exits 75 "--wall-time stops a run" "$TOY" run toy.toml $slow \
    --wall-time 0:00:02 --output wall
contains tap.err "(wall time)" "which it says"
check "with a checkpoint" test -s wall/toy.ckpt.0.h5
# shellcheck disable=SC2086
SLURM_JOB_END_TIME=$(($(date +%s) + 3)) exits 75 "so does Slurm's end time" \
    "$TOY" run toy.toml $slow --output wall --resume auto
exits 2 "a wall time that is none" "$TOY" run toy.toml --wall-time soon \
    --output wall2
contains tap.err "expected hours:minutes:seconds" "is refused"

# A full disk: a small file system of our own, where we may make one.
mkdir small
if mount -t tmpfs -o size=3m tmpfs small 2>/dev/null; then
    "$TOY" run toy.toml toy.points=30000 checkpoint.every=2 --output small/out \
        >full.out 2>full.err
    is $? 1 "a full disk: exit status 1"
    contains full.err "no space for" "and why"
    bad=0
    for f in small/out/*.ckpt.?.h5; do
        [ -e "$f" ] || continue
        "$TOY" run toy.toml toy.points=30000 --output other --resume "$f" \
            --overwrite >/dev/null 2>full.err || bad=1
    done
    is $bad 0 "what was saved before is good"
    is "$(ls small/out | grep -c tmp)" 0 "nothing half-written stays"
    umount small
else
    skip 4 "no file system can be mounted here"
fi

if have_mpi; then
    ranks 3 "$TOY" run toy.toml $every toy.fail=crash toy.fail_rank=1 \
        toy.fail_step=8 --output three >/dev/null 2>&1
    exits 0 "3 ranks, one killed, go on" ranks 3 "$TOY" run toy.toml $every \
        --output three --resume auto
    holds three/toy.h5 "$whole" "and end as undisturbed"
    ranks 4 "$TOY" run toy.toml toy.points=3 $every --output ranks \
        toy.steps=6 >/dev/null 2>&1
    exits 0 "4 ranks, of which one has nothing, then 2" ranks 2 "$TOY" run \
        toy.toml toy.points=3 $every --output ranks --resume auto
    holds ranks/toy.h5 "$whole" "end as undisturbed"
else
    skip 4 "built without MPI"
fi
done_testing
