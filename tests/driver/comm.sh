# timeout: 120
# The ranks' collective calls, on few and on odd numbers of ranks.
. "$top_srcdir/tests/tap.sh"

program=$top_builddir/tests/driver/comm_ranks
plan 9
check "one rank alone gets its own words" "$program"
grep '^# a step' tap.out
# 16 are few enough for messages from each to each, 17 are not.
for n in 2 3 4 7 16 17; do
    if have_mpi; then
        check "$n ranks exchange, reduce, agree and fail as one" \
            ranks $n "$program"
        grep '^# a step' tap.out
    else
        skip 1 "built without MPI"
    fi
done
# All messages through MPI, as between hosts.
export WARPDECK_SHARED_MEMORY=0
if have_mpi; then
    check "ranks that share no memory do the same" ranks 3 "$program"
    check "messages in pieces arrive whole" \
        ranks 3 "$top_builddir/tests/driver/comm_pieces"
else
    skip 2 "built without MPI"
fi
done_testing
