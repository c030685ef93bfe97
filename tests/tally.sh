#!/bin/sh
# Count the results of test logs. Usage: tally.sh FOLDER...: all *.trs below
# them. Prints "N passed, N failed, N skipped" and fails where one failed or
# nothing was found.
find "$@" -name '*.trs' -exec cat {} + | awk '
    /^:test-result: (PASS|XFAIL)/ { passed++ }
    /^:test-result: (FAIL|ERROR|XPASS)/ { failed++ }
    /^:test-result: SKIP/ { skipped++ }
    END {
        printf "%d passed, %d failed, %d skipped\n", passed, failed, skipped
        exit failed > 0 || passed == 0
    }'
