#!/bin/sh
# One rank has no memory while all make a new pair list; see memory.c. Each of its
# allocations fails once, and no rank may wait for ever.
# timeout: 200
# shellcheck disable=SC2154
. "$top_srcdir/tests/tap.sh"

for n in 1 2 3; do
    if [ $n -gt 1 ] && ! have_mpi; then
        skip 1 "no MPI: $n ranks"
        continue
    fi
    next=1 agreed=0 alone=0
    while :; do
        ranks $n "$top_builddir/tests/md/memory" $next >out 2>err
        status=$?
        last=$(sed -n 's/^# allocation //p' out | tail -n 1)
        agreed=$((agreed + $(grep -c '^ok .*no memory$' out)))
        # It ends all ranks where those wait for its messages.
        [ $status -eq 9 ] && grep -q '^alone: .*memory' err || break
        alone=$((alone + 1))
        next=$((last + 1))
    done
    note "$n ranks: $agreed failures were agreed on, $alone ended all ranks"
    if [ $status -eq 0 ] && grep -q '^ok .*all have been tried' out &&
        [ $((agreed + alone)) -eq $((last - 1)) ] && [ $agreed -gt 5 ]; then
        ok "$n ranks: whichever allocation fails, all ranks end"
    else
        not_ok "$n ranks: whichever allocation fails, all ranks end"
        note "status $status at allocation $last"
        note_file out
        note_file err
    fi
done
done_testing
