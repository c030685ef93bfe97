#!/bin/sh
# The installed program works on installed decks.
# Usage: installcheck.sh BINDIR DATADIR MANDIR VERSION
set -eu
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export HWLOC_COMPONENTS=-opencl,-gl
bin=$1 data=$2 man=$3 version=$4

"$bin/warpdeck" --version | grep -F "$version"
"$bin/warpdeck" explain md >/dev/null
count=0
for deck in "$data"/inputs/md/*.toml; do
    "$bin/warpdeck" check "$deck" >/dev/null
    count=$((count + 1))
done
[ "$count" -ge 4 ]
test -s "$man/man1/warpdeck.1"
"$bin/warpdeck-post" --help >/dev/null
echo "installcheck: good, $count decks checked"
