#!/bin/sh
# Print the revision of the source tree $1: what git says, else what the file
# .revision of a release says, else "unknown". Only the tree's own repository
# counts, not one that a release happens to be unpacked in.
src=$1
if [ -e "$src/.git" ] &&
    rev=$(git -C "$src" describe --always --dirty --tags 2>/dev/null); then
    echo "$rev"
elif [ -f "$src/.revision" ]; then
    cat "$src/.revision"
else
    echo unknown
fi
