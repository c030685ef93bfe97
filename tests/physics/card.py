"""The loops for graphics cards give the CPU's physics.

Runs on the simulated card of tests/cudasim where it was built, and on a real one
where there is one. The sums of a card are taken in another order, so in double
they agree to rounding, which 30 steps of a liquid do not enlarge much; in mixed
and single precision static forces agree as well as those of the CPU do.
"""

import os
import re

import tap

tap.need("numpy", "h5py")

import numpy as np

import charges
import ewald
import mdrun
import water_tilted

SIMULATED = os.path.join(tap.TOP_BUILDDIR, "warpdeck-cudasim")
info = tap.warpdeck("info").stdout
programs = {}
if os.path.exists(SIMULATED):
    programs["simulated card"] = SIMULATED
if re.search(r"^device\s+cuda: (?!.*(no usable|not built|without))", info,
             re.MULTILINE):
    programs["card"] = tap.WARPDECK
if not programs:
    tap.skip_all("no loops for cards in this build, and no card")

DECK = """
[run]
solver = "md"
seed = 77
[md]
timestep = 0.004
steps = 30
[[md.species]]
name = "A"
mass = 1.0
fraction = 0.7
[[md.species]]
name = "B"
mass = 2.0
fraction = 0.3
[md.initial]
lattice = "fcc"
cells = [5, 4, 5]
density = 0.8
temperature = 3.0
[md.pair]
style = "lj"
cutoff = 2.2
skin = 0.3
[[md.pair.coefficients]]
species = ["A", "A"]
epsilon = 1.0
sigma = 1.0
[[md.pair.coefficients]]
species = ["B", "B"]
epsilon = 0.8
sigma = 0.9
[[md.pair.coefficients]]
species = ["A", "B"]
epsilon = 1.2
sigma = 0.85
cutoff = 2.0
[md.ensemble]
temperature = 2.0
relaxation = 0.3
[md.analysis.rdf]
range = 3.2
bins = 64
every = 10
[md.analysis.msd]
every = 10
[output]
observables_every = 5
frames_every = 10
fields = ["position", "velocity", "force", "image"]
"""
FORCE = "particles/all/force/value"
LEANING = """
[run]
solver = "md"
[domain]
tilt = [3.2, -1.1, 2.4]
[md]
timestep = 0.004
steps = 60
pressure_tensor = true
[md.initial]
lattice = "fcc"
cells = [4, 16, 4]
density = 0.8
temperature = 0.2
[md.pair]
cutoff = 1.8
skin = 1.0
shift = "force"
[md.analysis.rdf]
range = 2.4
bins = 64
every = 6
[md.analysis.msd]
every = 20
[output]
observables_every = 20
frames_every = 20
fields = ["position", "velocity", "force", "image"]
"""
OUTPUT = """[output]
frames_every = 5
fields = ["position", "velocity", "force"]
"""


def check_salt(where, ranks, **more):
    """Rock salt has Madelung's energy, to the accuracy that is asked for."""
    side = 4
    charges.rock_salt("salt.xyz", side)
    for keys, bound in (('method = "ewald"\naccuracy = 1e-12', 1e-12),
                        ('method = "pme"\naccuracy = 1e-6\norder = 7', 1e-6)):
        text = charges.SALT.format(cutoff=2, coulomb=keys)
        r = mdrun.run(text, ranks=ranks, **more)
        u = r.observable("potential_energy")[0] / (side ** 3 / 2)
        tap.below(abs(u + charges.MADELUNG), bound, f"{where}, {ranks} ranks: "
                  f"rock salt by {keys.split()[2]} has Madelung's constant")


def check_slit(where, ranks, **more):
    """A slab of charges between walls, whose waves have a taller box."""
    jolt = np.random.default_rng(5).uniform(0.1, 0.5, (64, 3))
    charges.rock_salt("slit.xyz", 4, jolt)
    walls = "".join(f'[[md.walls]]\nface = "{f}"\nstyle = "reflect"\n'
                    for f in ("zlo", "zhi"))
    for method in ("ewald", "pme"):
        keys = f'method = "{method}"\nslab = true\n'
        text = charges.SALT.format(cutoff=2, coulomb=keys + walls + OUTPUT)
        keys = ['md.initial.read="slit.xyz"', "md.steps=5"]
        want = mdrun.datasets(mdrun.run(text, *keys).path)
        got = mdrun.datasets(mdrun.run(text, *keys, ranks=ranks, **more).path)
        compare(where, got, want, f"{method}, {ranks} ranks: a slab between "
                "walls is the CPU's")


def check_boxes(where, **more):
    """A tilted box that grows, and one that is sheared across a flip, and between
    two builds of its pair list so far that its upper end moves by some cells."""
    ranks = mdrun.rank_counts(1, 3)[-1]
    for what, keys in (("tilted, at constant pressure",
                        [f"md.ensemble.{key}" for key in (
                            "type=npt", "temperature=1", "relaxation=0.2",
                            "pressure=2", "pressure_relaxation=1.2",
                            "barostat=mtk", "coupling=anisotropic")]),
                       ("tilted, at constant pressure along z",
                        [f"md.ensemble.{key}" for key in (
                            "type=npt", "temperature=1", "relaxation=0.2",
                            "pressure=2", "pressure_relaxation=1.2",
                            "coupling=z")]),
                       ("sheared beside a barostat",
                        ["md.deform.shear=2.5"] + [f"md.ensemble.{key}" for key in (
                            "type=npt", "temperature=1", "relaxation=0.2",
                            "pressure=2", "pressure_relaxation=1.2",
                            "barostat=mtk")])):
        want = mdrun.datasets(mdrun.run(LEANING, *keys).path)
        got = mdrun.datasets(mdrun.run(LEANING, *keys, ranks=ranks,
                                       **more).path)
        compare(where, got, want, f"a box that is {what}, {ranks} ranks: all "
                "that is written is the CPU's")


def check_strained(where, ranks, **more):
    """Waves and mesh follow a box that is sheared across a flip, or stretched."""
    jolt = np.random.default_rng(5).uniform(0.1, 0.5, (64, 3))
    for method, deform, lean in (("pme", "shear = 8.0", 1.95),
                                 ("ewald", "rate = [8.0, -4.0, 0]", 0))[:3 - ranks]:
        charges.rock_salt("strained.xyz", 4, jolt, lean)
        text = charges.SALT.format(
            cutoff=1.7, coulomb=f'method = "{method}"\naccuracy = 1e-2\n' + OUTPUT
            + f"[md.deform]\n{deform}\n")
        keys = ['md.initial.read="strained.xyz"', "md.steps=15"]
        want = mdrun.datasets(mdrun.run(text, *keys).path)
        got = mdrun.datasets(mdrun.run(text, *keys, ranks=ranks, **more).path)
        compare(where, got, want, f"{method}, {ranks} ranks: charges in a box with "
                f"{deform.split()[0]} are the CPU's")


def compare(name, got, want, sentence):
    """Every dataset agrees to 1e-9."""
    bad = [k for k in want if k not in got or got[k].shape != want[k].shape
           or not (mdrun.worst(got[k], want[k]) < 1e-9)]
    if not tap.ok(not bad and len(want) > 20, f"{name}: {sentence}"):
        for k in bad:
            tap.note(f"{k}: {mdrun.worst(got[k], want[k]):.3g}"
                     if k in got and got[k].shape == want[k].shape
                     else f"{k}: missing or of another shape")


for name, program in programs.items():
    for kind, shift, ranks in (("bussi", "none", 1), ("bussi", "force", 3),
                               ("langevin", "energy", 1),
                               ("langevin", "none", 4), ("nve", "force", 1)):
        if ranks > 1 and not tap.have_mpi():
            continue
        deck = DECK.replace("[md.ensemble]", f'[md.ensemble]\ntype = "{kind}"')
        if kind == "nve":
            deck = deck.replace("temperature = 2.0\nrelaxation = 0.3\n", "")
        keys = [f'md.pair.shift="{shift}"',
                f"md.pair.tail={'true' if shift == 'none' else 'false'}"]
        want = mdrun.datasets(mdrun.run(deck, *keys).path)
        got = mdrun.datasets(mdrun.run(deck, *keys, ranks=ranks,
                                       program=program, device="cuda").path)
        compare(name, got, want, f"{kind}, shift {shift}, {ranks} ranks: all "
                "that is written is the CPU's")
        tap.below(mdrun.worst(got[FORCE][0], want[FORCE][0]), 1e-12,
                  f"{name}: {kind}, shift {shift}, {ranks} ranks: forces at step "
                  "0 are the CPU's")
    for ranks in mdrun.rank_counts(1, 2):
        check_salt(name, ranks, program=program, device="cuda")
        check_slit(name, ranks, program=program, device="cuda")
        check_strained(name, ranks, program=program, device="cuda")
    check_boxes(name, program=program, device="cuda")
    for water in (ewald, water_tilted):
        water.check_nist((1, 2), name + ", ", program=program, device="cuda")
    box, position = mdrun.jittered_box(4, cells=(6, 6, 6), jitter=0.15)
    mdrun.xyz("static.xyz", box, position, ["A"] * len(position))
    static = "\n".join(
        line for line in DECK.splitlines()
        if not re.match("fraction|lattice|cells|density|temperature = 3", line))
    static = static.replace("[md.initial]", '[md.initial]\nread = "static.xyz"')
    keys = ["md.steps=0", 'md.ensemble.type="bussi"']
    exact = mdrun.run(static, *keys)
    force, energy = exact.frame("force"), exact.observable("potential_energy")
    for mode in ("mixed", "single"):
        r = mdrun.run(static, *keys, f'md.precision="{mode}"', program=program,
                      device="cuda")
        rms = np.sqrt(((r.frame("force") - force) ** 2).mean()
                      / (force**2).mean())
        tap.below(rms, 1e-5, f"{name}: {mode}: forces differ from double's (rms)")
        tap.below(abs(r.observable("potential_energy")[0] / energy[0] - 1), 1e-6,
                  f"{name}: {mode}: energy differs from double's")
tap.done()
