# The harness itself: a failure, a hang and a crash are seen as such.
. "$top_srcdir/tests/tap.sh"

unset TEST_TIMEOUT
run_test="$top_srcdir/tests/run-test"
work=$PWD
mkdir inner
inner() { # run a script of the given text under run-test
    printf '%s\n' '. "$top_srcdir/tests/tap.sh"' "$1" >"$work/t_inner.sh"
    top_builddir=$work/inner sh "$run_test" sh "$work/t_inner.sh" \
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
inner 'kill -SEGV $$'
is $? 139 "a crash is a failure"
inner 'touch left; is "$(ls)" left "the folder is empty at first"; done_testing'
is $? 0 "a test starts in an empty folder"
check "the folder of a success is removed" \
    test ! -e inner/tests/work/t_inner.sh

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
