#!/bin/sh
# Thermostats and ensembles, alone and on several ranks.
# shellcheck disable=SC2154
. "$top_srcdir/tests/tap.sh"
. "$top_srcdir/tests/md/over_ranks.sh"

over_ranks tests/md/thermostats 1 2
over_ranks tests/md/ensembles 1 3
done_testing
