#!/bin/sh
# Motion, thermostats and analyses, alone and on several ranks.
# shellcheck disable=SC2154
. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/md/over_ranks.sh"

over_ranks tests/md/motion 1 4
over_ranks tests/md/thermostats 1 2
over_ranks tests/md/ensembles 1 3
over_ranks tests/md/analysis 1 3 8
done_testing
