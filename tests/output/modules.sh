#!/bin/sh
# The modules below the files, on several ranks.
. "$top_srcdir/tests/tap.sh"

here=$top_builddir/tests/output
counts=1
have_mpi && counts="1 2 3 4 7"
for n in $counts; do
    check "particles come in the order of their ids on $n ranks" \
        ranks "$n" "$here/t_particles"
done
have_mpi && counts="2 3 5"
for n in $counts; do
    check "blocks are written in pieces on $n ranks" ranks "$n" "$here/t_h5"
done
done_testing
