# The harness itself: a failure, a hang and a crash are seen as such.
. "$top_srcdir/tests/tap.sh"

unset TEST_TIMEOUT
run_test="$top_srcdir/tests/run-test"
work=$PWD
mkdir inner
mkdir one other
inner() { # run a script of the given text under run-test, in a room
    room=$work/${2:-one}
    printf '%s\n' '. "$top_srcdir/tests/tap.sh"' "$1" >"$room/t_inner.sh"
    top_builddir=$work/inner sh "$run_test" sh "$room/t_inner.sh" \
        >"$work/log" 2>&1
}

inner 'ok "good"; done_testing'
is $? 0 "a test whose results hold succeeds"
inner 'is 1 2 "bad"; done_testing'
is $? 1 "a test with a failing result fails"
contains log "got:  1" "and shows what it got"
inner '# timeout: 1
sleep 20; ok "late"; done_testing'
is $? 124 "a test over its time limit is stopped"
contains log "Bail out!" "and says so"
PYTHONUNBUFFERED=1 PYTHONIOENCODING=ascii COLUMNS=40
export PYTHONUNBUFFERED PYTHONIOENCODING COLUMNS
inner 'is "$PYTHONUNBUFFERED$PYTHONIOENCODING$COLUMNS" "" "unset"; done_testing'
is $? 0 "what the caller's Python is told is not passed on"
unset PYTHONUNBUFFERED PYTHONIOENCODING COLUMNS
inner 'kill -SEGV $$'
is $? 139 "a crash is a failure"
inner 'touch left; is "$(ls)" left "the folder is empty at first"; done_testing'
is $? 0 "a test starts in an empty folder"
check "the folder of a success is removed" \
    test -z "$(ls inner/tests/work)"
inner 'not_ok "left"; done_testing'
inner 'not_ok "left"; done_testing' other
is "$(ls inner/tests/work | wc -l)" 2 "tests of one name have a folder each"

mkdir results
printf ':test-result: PASS a\n:test-result: SKIP b\n' >results/x.trs
is "$(sh "$top_srcdir/tests/tally.sh" results)" \
    "1 passed, 0 failed, 1 skipped" "the tally counts results"
check "the tally succeeds where nothing failed" \
    sh "$top_srcdir/tests/tally.sh" results
printf ':test-result: FAIL c\n' >>results/x.trs
exits 1 "the tally fails where one failed" \
    sh "$top_srcdir/tests/tally.sh" results
exits 1 "the tally fails where nothing ran" \
    sh "$top_srcdir/tests/tally.sh" inner
done_testing
