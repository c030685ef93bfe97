"""The floors of the house (ARCHITECTURE.md): who may include whom."""

import os
import re

import tap
import tree

FLOORS = {"src/base": 1, "kernels": 2, "src/domain": 3, "src/io": 4,
          "solvers": 5, "src/driver": 6}

# Headers of other people have one home each.
HOMES = {
    r"mpi\.h": r"src/base/comm_mpi.*|src/io/h5.*",
    r"hdf5.*|H5.*": r"src/io/.*",
    r"toml\+\+/.*": r"src/base/deck_toml\.cpp",
    r"Random123/.*|curand_philox.*": r"kernels/rng.*",
    r"hwloc.*": r"kernels/machine\.c|src/base/comm_mpi.*",
    r"glpk\.h": r"solvers/risk/risk_lp\.c",
    r"omp\.h": r"kernels/.*",
    r"cuda.*|cub/.*|cu(fft|rand)(?!_philox).*":
        r"kernels/.*\.cuh?|kernels/gpu\.h",
    r"fftw3.*": r"kernels/fft_.*",
    r"immintrin\.h|.*mmintrin\.h|arm_neon\.h": r"kernels/.*",
}


def room(path):
    """The folder that has a floor, for a path from the top."""
    for name in FLOORS:
        if path.startswith(name + "/"):
            return name
    return None


def target(name, folder):
    """The path from the top of an included file, or None."""
    for base in ("src", ".", folder):
        path = os.path.normpath(os.path.join(base, name))
        if os.path.exists(os.path.join(tree.TOP, path)):
            return path
    return None


def allowed(path, other):
    """Whether a file may include another, and why not."""
    mine, theirs = room(path), room(other)
    if theirs is None:
        return "outside the floors"
    if theirs != mine:
        if FLOORS[theirs] >= FLOORS[mine]:
            return f"floor {FLOORS[theirs]} from floor {FLOORS[mine]}"
        if mine == "solvers" and theirs == "src/io":
            return "solvers hand out field tables and know no files"
        if mine == "src/driver":
            if theirs == "solvers" and not re.fullmatch(
                    r"solvers/solvers?\.(h|def)", other):
                return "the driver knows no solver by name"
            if theirs == "kernels" and other.count("/") > 1:
                return "the driver knows no solver's kernels"
        return None
    # Within kernels and solvers: not from one solver's folder into another's.
    mine, theirs = os.path.dirname(path), os.path.dirname(other)
    if mine.count("/") and theirs.count("/") and mine != theirs \
            and mine.split("/")[0] in ("kernels", "solvers"):
        return "one solver's folder from another's"
    return None


includes = {}
foreign, wrong = [], []
for path in tree.files(".c", ".h", ".cpp", ".cu", ".cuh", ".def"):
    if room(path) is None:
        continue
    for number, line in enumerate(tree.code(path).split("\n"), 1):
        found = re.match(r'\s*#\s*include\s*([<"])([^>"]+)[>"]', line)
        if not found:
            continue
        where, name = f"{path}:{number}", found.group(2)
        for header, home in HOMES.items():
            if re.fullmatch(header, name) and not re.fullmatch(home, path):
                foreign.append(f"{where}: <{name}> lives in {home}")
        if found.group(1) == "<" or name == "build_info.h":
            continue
        other = target(name, os.path.dirname(path))
        if other is None:
            wrong.append(f'{where}: no file "{name}"')
            continue
        includes.setdefault(path, set()).add(other)
        why = allowed(path, other)
        if why:
            wrong.append(f"{where}: {other}: {why}")


def circle(path, trail):
    """A circle of includes through `path`, or None."""
    if path in trail:
        return trail[trail.index(path):] + [path]
    for other in sorted(includes.get(path, ())):
        found = circle(other, trail + [path])
        if found:
            return found
    return None


circles = {" -> ".join(found) for found in
           (circle(path, []) for path in includes) if found}

tree.report(wrong, "a file includes only lower floors and its own folder")
tree.report(foreign, "each foreign header is included at its home only")
tree.report(sorted(circles), "no circle of includes")

calls = []
for path in tree.files(".c", ".h"):
    if room(path) and not re.fullmatch(HOMES[r"mpi\.h"], path):
        for number, line in enumerate(tree.code(path).split("\n"), 1):
            if re.search(r"\bMPI_\w+\s*\(", line):
                calls.append(f"{path}:{number}: {line.strip()}")
tree.report(calls, "MPI is called at its home only")

sources = [p for p in tree.files(".c", ".cpp") if room(p)]
users = [p for p in sources if '"build_info.h"' in tree.text(p)]
tap.is_(len(users), 1, "one file alone includes the revision header")
tree.report([p for p in sources
             if re.search(r'#\s*include\s*[<"]config\.h', tree.text(p))],
            "config.h is included by the compiler's command line alone")
tap.done()
