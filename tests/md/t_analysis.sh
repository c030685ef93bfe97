#!/bin/sh
# Analyses, alone and on several ranks.
# shellcheck disable=SC2154
. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/md/over_ranks.sh"

over_ranks tests/md/analysis 1 3 8
done_testing
