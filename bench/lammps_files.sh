#!/bin/bash
# LAMMPS's own input of its benchmarks, for the decks of inputs/lammps.
#
#   bench/lammps_files.sh FOLDER
#
# Puts data.chain, data.rhodo and Cu_u3.eam into FOLDER, and the decks beside
# them. They come from LAMMPS_BENCH, a folder with the files of LAMMPS's bench/,
# or else from the source package "lammps" of Debian or Ubuntu, by apt and the
# servers that this system is set to (80 MB; no root needed).
set -u
files="data.chain data.rhodo Cu_u3.eam"
[ $# -eq 1 ] && [ "${1#-}" = "$1" ] || {
    sed -n '2,9s/^# \{0,1\}//p' "$0"
    exit 2
}
decks=$(cd "$(dirname "$0")/../inputs/lammps" && pwd) || exit 1
mkdir -p "$1" && cd "$1" || exit 1

take() { # from a folder; what is there already stays
    for f in $files; do
        [ -f "$f" ] || cp "$1/$f" . 2>/dev/null
    done
}

missing() {
    for f in $files; do
        [ -f "$f" ] || echo "$f"
    done
}

# Lists and packages in a folder of our own; sources beside what the system has.
from_source() {
    command -v apt-get >/dev/null || return
    mkdir -p "$apt/lists/partial" "$apt/parts" "$apt/bench"
    cat /etc/apt/sources.list 2>/dev/null | sed -n 's/^deb /deb-src /p' \
        >"$apt/sources.list"
    for f in /etc/apt/sources.list.d/*.sources; do
        [ -f "$f" ] && sed 's/^Types:.*/Types: deb-src/' "$f" \
            >"$apt/parts/${f##*/}"
    done
    local own=(-o "Dir::Etc::sourcelist=$apt/sources.list"
        -o "Dir::Etc::sourceparts=$apt/parts" -o "Dir::State::lists=$apt/lists"
        -o "Dir::Cache=$apt")
    apt-get "${own[@]}" update >"$apt/log" 2>&1
    (cd "$apt" && apt-get "${own[@]}" source --download-only lammps) \
        >>"$apt/log" 2>&1 || {
        echo "apt-get has no source package of LAMMPS:" >&2
        grep '^[EW]:' "$apt/log" | head -3 >&2
        return
    }
    tar -xJf "$apt"/lammps_*.orig.tar.xz -C "$apt/bench" --strip-components=2 \
        --wildcards '*/bench/*'
    take "$apt/bench"
}

[ -n "${LAMMPS_BENCH:-}" ] && take "$LAMMPS_BENCH"
if [ -n "$(missing)" ]; then
    apt=$(mktemp -d)
    trap 'rm -rf "$apt"' EXIT
    from_source
fi
cp "$decks"/*.toml . || exit 1
if [ -n "$(missing)" ]; then
    echo "not found:" $(missing) >&2
    echo "  set LAMMPS_BENCH to the folder bench/ of LAMMPS's sources" >&2
    exit 1
fi
echo "$PWD: $files, and the decks chain.toml, copper.toml, protein.toml"
