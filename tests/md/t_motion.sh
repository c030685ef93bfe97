#!/bin/sh
# Motion, alone and on several ranks.
# shellcheck disable=SC2154
. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/md/over_ranks.sh"

over_ranks tests/md/motion 1 4
done_testing
