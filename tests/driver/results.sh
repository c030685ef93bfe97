# timeout: 180
# What a run leaves and says: files, folders, table, overwriting.
. "$top_srcdir/tests/driver/toy.sh"

exits 0 "a run succeeds" "$TOY" run toy.toml --output a
cp tap.out a.out
check "it leaves NAME.h5" test -s a/toy.h5
check "the log has what was printed" cmp a.out a/toy.log
is "$(ls a)" "$(printf 'toy.h5\ntoy.log')" "and nothing else"
holds a/toy.h5 "complete 1 rows 0 2 4 6 8 10 frames 0 10" \
    "rows when they are due, first and last frame, complete"
matches a.out '^Warpdeck .*   toy   toy   8 points   1 rank x 1 thread, cpu' \
    "the first line says what runs where"
matches a.out '^ +step +time +x +looked +sum/N +steps/s +left$' \
    "the table's heading has the observables that have one"
matches a.out '^ +10 +5.000 +5.000 +1 +5.000 .*00:00$' \
    "a row: the step, what was observed on it, no time left"
matches a.out '^10 steps in [0-9.]+ s: .* point-steps/s' "the closing line"
contains a.out "wrote a/toy.h5 (2 frames" "it says what was written"
contains a.out "next: warpdeck-post plot a/toy.h5" "and how to go on"

exits 2 "results are not overwritten" "$TOY" run toy.toml --output a
contains tap.err "error: 'a/toy.h5' exists already" "the message names the file"
exits 0 "but with --overwrite they are" \
    "$TOY" run toy.toml toy.steps=2 --output a --overwrite
holds a/toy.h5 "complete 1 rows 0 2 frames 0 2" "the new run's rows are there"
exits 0 "another name is another file" \
    "$TOY" run toy.toml output.name=other --output a
check "which has that name" test -s a/other.h5

exits 0 "no steps are a legal run" "$TOY" run toy.toml toy.steps=0 --output b
holds b/toy.h5 "complete 1 rows 0 frames 0" "with row 0 and frame 0"
exits 0 "-q is quiet" "$TOY" run toy.toml --output c -q
is "$(cat tap.out tap.err)" "" "no word on the terminal"
contains c/toy.log "wrote c/toy.h5" "but all of them in the log"
exits 0 "-v tells more" "$TOY" run toy.toml --output c --overwrite -v
matches tap.out '^device "auto" is c[a-z]+: .' "why this device was taken, too"
exits 0 "times, not steps" "$TOY" run toy.toml output.observables_every=1.5 \
    output.frames_every=2.0 --output d
holds d/toy.h5 "complete 1 rows 0 3 4 6 8 9 10 frames 0 4 8 10" \
    "come where the time passes a multiple, and a frame has its row"
exits 0 "checkpoints may be asked for" \
    "$TOY" run toy.toml 'checkpoint.every="1 min"' --output e
is "$(cat tap.err)" "" "without a warning"

exits 0 "folders are made, with blanks and other letters" \
    "$TOY" run toy.toml --output "år 1/出力/x"
contains tap.out "next: warpdeck-post plot 'år 1/出力/x/toy.h5'" \
    "and the hint can be typed"
check "the results are there" test -s "år 1/出力/x/toy.h5"
(mkdir here && cd here && "$TOY" run ../toy.toml >out 2>&1)
check "without --output they come here" test -s here/toy.h5

: >file
exits 1 "a file is no folder" "$TOY" run toy.toml --output file
is "$(cat tap.err)" "error: 'file' is not a folder" "which it says"
is "$(grep -c '^ *0 ' tap.out)" 0 "before the first step"
exits 1 "nor can one be made in it" "$TOY" run toy.toml --output file/x
matches tap.err "^error: cannot make the folder 'file/x'" "which it says, too"
if [ "$(id -u)" -ne 0 ]; then
    mkdir locked && chmod 555 locked
    exits 1 "a folder without permission" "$TOY" run toy.toml --output locked
    matches tap.err "^error: cannot write to the folder 'locked'" "is told"
else
    exits 1 "a folder that nobody can write to" \
        "$TOY" run toy.toml --output /proc/self/task
    matches tap.err "^error: cannot write to the folder '/proc/" "is told"
fi
exits 2 "a name with a folder in it is refused" \
    "$TOY" run toy.toml output.name=x/y
contains tap.err "must be a file name" "with the reason"

exits 1 "a problem that no host can hold is refused" \
    "$WARPDECK" run "$top_srcdir/inputs/md/lj_melt.toml" \
    'md.initial.cells=[4000,4000,4000]' --output large
matches tap.err "^error: 256000000000 particles need about .* on this host" \
    "with what it needs and what there is"

# A full disk, where one can be made.
mkdir -p full
if mount -t tmpfs -o size=1m tmpfs full 2>/dev/null; then
    "$TOY" run toy.toml toy.points=30000 --output full >tap.out 2>tap.err
    status=$?
    umount full
    is $status 1 "a full disk ends the run with status 1"
    matches tap.err '^error: ' "and a message"
    matches tap.err '^warning: the results need about' "foreseen in a warning"
else
    skip 3 "no file system can be mounted here"
fi
done_testing
