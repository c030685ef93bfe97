#!/bin/sh
# Count the results of test logs. Usage: tally.sh FOLDER...: all *.trs below
# them. Prints "N passed, N failed, N skipped" and fails where one failed or
# nothing was found. A test with a failed result also exits with 1, which the
# driver reports as an error: that is not a second failure.
find "$@" -name '*.trs' -exec cat {} + | awk '
    /^:test-global-result:/ { here = 0 }
    /^:test-result: (PASS|XFAIL)/ { passed++ }
    /^:test-result: (FAIL|XPASS)/ { failed++; here++ }
    /^:test-result: ERROR/ { if (here) here = 0; else failed++ }
    /^:test-result: SKIP/ { skipped++ }
    END {
        printf "%d passed, %d failed, %d skipped\n", passed, failed, skipped
        exit failed > 0 || passed == 0
    }'
