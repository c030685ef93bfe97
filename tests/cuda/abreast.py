# timeout: 300
"""Replicas that run together on one simulated card: whatever acts on their
particles, each has the bits of a run of its own, and most of each step is
launched for all at once."""

import os
import sys

import tap

tap.need("numpy", "h5py")
sys.path[:0] = [os.path.join(tap.TOP_SRCDIR, "tests", "physics")]

import mdrun
import teams

LJ = """
[[md.pair.coefficients]]
species = ["A", "A"]
epsilon = 1.0
sigma = 1.0
[[md.pair.coefficients]]
species = ["B", "B"]
epsilon = 0.8
sigma = 0.9
"""
SOFT = """
[[md.pair.coefficients]]
species = ["A", "A"]
repulsion = 25.0
[[md.pair.coefficients]]
species = ["A", "B"]
repulsion = 30.0
[[md.pair.coefficients]]
species = ["B", "B"]
repulsion = 20.0
"""


def liquid(pairs=LJ, **keys):
    return teams.liquid(pairs, **keys)


def bath(kind, more="relaxation = 0.2"):
    return (f'[md.ensemble]\ntype = "{kind}"\ntemperature = 1.0\n{more}\n')


def wall(face, style, more=""):
    return f'[[md.walls]]\nface = "{face}"\nstyle = "{style}"\n{more}\n'


def group(name, action, more):
    return f'[[md.group]]\nname = "{name}"\naction = "{action}"\n{more}\n'


SLIT = (wall("zlo", "reflect") + wall("zhi", "reflect")
        + wall("xlo", "harmonic", "k = 20.0\ncutoff = 1.2")
        + wall("xhi", "lj93", "epsilon = 0.5\nsigma = 0.4\ncutoff = 1.0"))
HELD = (group("plate", "freeze", "ids = [1, 20]")
        + group("belt", "move", "ids = [30, 40]\nvelocity = [0, 1, 0.5]")
        + group("load", "pull", 'species = ["B"]\nforce = [0, 2, 0]'))
LEANING = "[domain]\ntilt = [1.2, -0.7, 0.9]\n"
SHEARED = '[md.deform]\nshear = 0.5\nplane = "xy"\n'
OFTEN = ("md.pair.rebuild_every=0", "md.pair.skin=0.06")
WARMER = group("warmer", "none",
               "ids = [60, 80]\nfriction = 4.0\ntemperature = 2.0")


def npt(barostat, thermostat, more=""):
    return bath("npt", "relaxation = 0.2\npressure = 1.0\n"
                "pressure_relaxation = 2.0\n"
                f'barostat = "{barostat}"\nthermostat = "{thermostat}"\n'
                + more)


def ions(method, slab=False, by=bath("bussi")):
    """The same with charges, their sums as coarse as leaves Ewald's some hundred
    waves, and a mesh more points than there are threads in a block."""
    text = liquid().replace("mass = 1.0", "mass = 1.0\ncharge = 1.0").replace(
        "mass = 2.0", "mass = 2.0\ncharge = -1.0")
    faces = wall("zlo", "reflect") + wall("zhi", "reflect") if slab else ""
    more = "slab = true\n" if slab else ""
    accuracy = 5e-2 if method == "ewald" else 1e-2
    return (text + faces + f'[md.coulomb]\nmethod = "{method}"\n'
            f"accuracy = {accuracy}\n{more}" + by)


# What differs: the system, and keys of the command line.
CASES = {
    "walls of all styles":
        (liquid() + SLIT + bath("bussi"), "md.precision=mixed"),
    "groups held and pulled":
        (liquid() + HELD + bath("nose-hoover"),),
    "the same within walls, in any order":
        (liquid() + SLIT + HELD + bath("bussi"), "md.deterministic=true"),
    "friction by species and group":
        (liquid(friction="friction = 2.0") + WARMER + HELD + bath("langevin"),
         "md.precision=single"),
    "friction by species, in any order":
        (liquid(friction="friction = 2.0") + bath("langevin"),
         "md.deterministic=true", "md.precision=mixed"),
    "Brownian motion":
        (liquid(warm="") + HELD + SLIT + bath("brownian", "friction = 40.0"),),
    "Brownian motion, in any order":
        (liquid(warm="") + bath("brownian", "friction = 40.0"),
         "md.ensemble.scheme=euler", "md.deterministic=true",
         "md.precision=single"),
    "friction between pairs":
        (liquid(style="dpd", pairs=SOFT) + HELD + bath("dpd", "gamma = 4.5"),),
    "friction between pairs, in any order":
        (liquid(style="dpd", pairs=SOFT) + bath("dpd", "gamma = 4.5"),
         "md.deterministic=true", "md.precision=mixed"),
    "constant pressure":
        (liquid() + npt("mtk", "nose-hoover"),),
    "constant pressure in every direction, in any order":
        (liquid() + npt("mtk", "nose-hoover", 'coupling = "anisotropic"'),
         "md.deterministic=true", "md.precision=mixed"),
    "cells that are rescaled":
        (liquid() + npt("cell-rescaling", "bussi", "barostat_every = 2"),
         "md.precision=single"),
    "cells between walls that are rescaled":
        (liquid() + wall("zlo", "reflect")
         + wall("zhi", "harmonic", "k = 20.0\ncutoff = 1.2")
         + npt("cell-rescaling", "langevin", "barostat_every = 3"),),
    "edges that are strained":
        (liquid() + "[md.deform]\nrate = [0.5, -0.3, 0]\n"
         + bath("bussi"), "md.precision=mixed"),
    "edges that are strained under pressure":
        (liquid() + "[md.deform]\nrate = [0.5, 0, 0]\n"
         + npt("mtk", "nose-hoover", 'coupling = "anisotropic"'),),
    # sums in each step, or in some
    "Ewald's sum at constant pressure":
        (ions("ewald", by=npt("mtk", "nose-hoover")), "md.precision=mixed"),
    "Ewald's sum of a slab, in any order":
        (ions("ewald", True), "md.deterministic=true"),
    "a mesh of a slab at constant pressure":
        (ions("pme", True,
              npt("cell-rescaling", "langevin", "barostat_every = 2")),
         "md.precision=single"),
    "a mesh at constant pressure, in any order":
        (ions("pme", by=npt("mtk", "nose-hoover", 'coupling = "anisotropic"')),
         "md.deterministic=true"),
    "a tilted box": (liquid() + LEANING + bath("bussi"),),
    "a tilted box, in any order":
        (liquid() + LEANING + HELD + bath("langevin"), "md.deterministic=true",
         "md.precision=mixed"),
    "a tilted box at constant pressure":
        (liquid() + LEANING
         + npt("mtk", "nose-hoover", 'coupling = "anisotropic"'),),
    "friction between pairs in a tilted box":
        (liquid(style="dpd", pairs=SOFT) + LEANING
         + bath("dpd", "gamma = 4.5"), "md.precision=single"),
    "a mesh of a tilted box":
        (ions("pme") + LEANING, "md.precision=mixed"),
    # each has its lists when its own particles have moved so far
    "lists of different steps":
        (liquid() + bath("bussi"), *OFTEN),
    "lists and copies of different steps":
        (liquid() + LEANING + bath("bussi"), *OFTEN, "md.precision=mixed"),
    "a box that is sheared":
        (liquid() + SHEARED + bath("bussi"), "md.precision=single"),
    "a box that is sheared between walls":
        (liquid() + SHEARED + wall("zlo", "reflect") + wall("zhi", "reflect")
         + bath("nose-hoover"), "md.deterministic=true"),
    "a box that is sheared under pressure":
        (liquid() + SHEARED
         + npt("mtk", "nose-hoover", 'coupling = "anisotropic"'),),
}


def bits(folder):
    return tap.numbers(f"{folder}/deck.h5")


for n, (name, (system, *keys)) in enumerate(CASES.items()):
    mdrun.write("deck.toml", teams.deck(system, 4 if "slab" in name else 12))
    out, alone = f"team{n}", f"alone{n}"
    text = teams.run("deck.toml", out, *keys, seed=n + 1)
    teams.run("deck.toml", alone, *keys, "run.seed=8", "ensemble.replicas=1",
              seed=n + 4)
    one, other = (bits(f"{out}/replica-{i:04d}") for i in (1, 2))
    tap.ok("3 run together" in text and one != other and one == bits(alone),
           f"{name}: three run together, each with the bits of a run of its "
           "own")
    tap.below(100 - teams.share(text), 20, f"{name}: percent of a step that ran "
              "apart")
tap.done()
