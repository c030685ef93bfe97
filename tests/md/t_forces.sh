#!/bin/sh
# Forces of the fast loops at every number of ranks.
# shellcheck disable=SC2154
. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/md/over_ranks.sh"

over_ranks tests/md/forces 1 2 3 4 7 8

if have_mpi; then
    different=$(cat ranks-*.out | grep '^# *velocities' | sort -u | wc -l)
    is $((different)) 1 "drawn velocities are the same, to the bit, on 1 to 8 ranks"
fi
done_testing
