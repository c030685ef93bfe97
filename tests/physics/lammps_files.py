"""LAMMPS's own files of its benchmarks, and decks that read them."""

import csv
import os
import re
import shutil

import numpy as np

import mdrun
import tap

DECKS = os.path.join(tap.TOP_SRCDIR, "inputs", "lammps")
FOLDERS = (os.environ.get("WARPDECK_LAMMPS_BENCH", ""),
           "/usr/share/lammps/examples/COUPLE/multiple",
           os.environ.get("LAMMPS_POTENTIALS", "/usr/share/lammps/potentials"))


def published(problem):
    path = os.path.join(tap.TOP_SRCDIR, "tests", "physics", "lammps_step0.csv")
    with open(path, encoding="utf-8") as f:
        rows = csv.reader(line for line in f if line[0] != "#")
        return {r[4]: float(r[5]) for r in rows if r[0] == problem}


def bring(name, results):
    """The file beside the decks, or None, with so many results left out."""
    for folder in FOLDERS:
        path = os.path.join(folder, name)
        if folder and os.path.exists(path):
            shutil.copy(path, name)
            return name
    tap.skip(results, f"LAMMPS's {name} is absent (WARPDECK_LAMMPS_BENCH)")
    return None


def start(problem, *more, **how):
    """The deck's initial state, written as the only row, if no more is said."""
    shutil.copy(os.path.join(DECKS, problem + ".toml"), problem + ".toml")
    return mdrun.run(os.path.abspath(problem + ".toml"), "md.steps=0", *more,
                     **how)


def sections(path):
    """The rows of a data file by section."""
    with open(path, encoding="utf-8") as f:
        text = f.read()
    heads = list(re.finditer(r"^([A-Z][A-Za-z ]+?)[ \t]*\n[ \t]*\n", text, re.M))
    ends = [h.start() for h in heads[1:]] + [len(text)]
    return {h.group(1): [r.split("#")[0].split() for r in
                         text[h.end():end].strip().split("\n")]
            for h, end in zip(heads, ends)}


def bonds_of_hydrogen(path):
    """Bonds that the deck makes rigid: both particles as numbers from 0, lengths
    and springs."""
    s = sections(path)
    mass = {int(r[0]): float(r[1]) for r in s["Masses"]}
    kind = {int(r[0]): int(r[2]) for r in s["Atoms"]}
    force = {int(r[0]): (float(r[2]), float(r[1])) for r in s["Bond Coeffs"]}
    rows = [(a - 1, b - 1, *force[k])
            for _, k, a, b in (map(int, r[:4]) for r in s["Bonds"])
            if min(mass[kind[a]], mass[kind[b]]) < 1.1]
    first, second, length, stiff = map(np.array, zip(*rows))
    return first, second, length, stiff


def lengths(x, first, second, edges):
    """Distances of pairs of rows of x, through the faces."""
    d = x[first] - x[second]
    d -= edges * np.rint(d / edges)
    return np.sqrt((d * d).sum(1))
