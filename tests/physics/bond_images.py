"""A bond that grows beyond half the box is nearer to another image of its partner:
the run ends before a frame or a checkpoint holds what comes of that."""

import itertools
import os
import re

import tap

tap.need("numpy", "h5py")

import numpy as np

import mdrun

DECK = """[run]
solver = "md"
[md]
timestep = 0.005
steps = {steps}
[md.initial]
read = "{file}"
[md.pair]
cutoff = 2.5
[[md.pair.coefficients]]
species = ["A", "A"]
epsilon = 0.0001
sigma = 1.0
[md.bonds]
bond_style = "{style}"
[output]
frames_every = {frames}
fields = ["position", "image"]
"""


def deck(file="apart.data", style="harmonic", steps=1000, frames=100, more=""):
    return DECK.format(file=file, style=style, steps=steps,
                       frames=frames) + more


def data(path, x, v, box, bonds=((1, 2),), angles=(), k=0.01):
    lines = ["pairs", "", f"{len(x)} atoms", f"{len(bonds)} bonds",
             f"{len(angles)} angles", "1 atom types", "1 bond types",
             "1 angle types", ""]
    lines += [f"0 {box} {c}lo {c}hi" for c in "xyz"]
    lines += ["", "Masses", "", "1 1.0 # A", "", "Bond Coeffs", "", f"1 {k} 1",
              "", "Angle Coeffs # harmonic", "", "1 0 90", "",
              "Atoms # bond", ""]
    lines += [f"{i + 1} 1 1 " + " ".join(f"{c:.9g}" for c in p)
              for i, p in enumerate(x)]
    lines += ["", "Velocities", ""]
    lines += [f"{i + 1} " + " ".join(f"{c:.9g}" for c in p)
              for i, p in enumerate(v)]
    lines += ["", "Bonds", ""] + [f"{i + 1} 1 {a} {b}"
                                  for i, (a, b) in enumerate(bonds)]
    if angles:
        lines += ["", "Angles", ""] + [f"{i + 1} 1 {a} {b} {c}"
                                       for i, (a, b, c) in enumerate(angles)]
    mdrun.write(path, "\n".join(lines) + "\n")


def refused(want, sentence, text, *overrides, ranks=1):
    status, said = mdrun.refused(text, *overrides, ranks=ranks)
    if not tap.ok(status == 3 and re.search(want, said), sentence):
        tap.note(f"status {status}: {said}")


# u = k (r - 1)^2 with mass 1 / 2 between two that fly apart with 2: the length is
# 1 + 10 sin(t / 5), and half the box, 6, at t = 2.618, step 524.
data("apart.data", [(5, 6, 6), (6, 6, 6)], [(-1, 0, 0), (1, 0, 0)], 12)
near = mdrun.run(deck(steps=520), name="near")
d = near.frame("position")[1] - near.frame("position")[0]
d -= 12 * np.rint(d / 12)
tap.near(np.linalg.norm(d), 1 + 10 * np.sin(0.52), 1e-3,
         "a bond of just less than half the box has its length")
saved = "[checkpoint]\nevery = 250\n"
LINE = (r"error: step {}: bond of particles 1 and 2: since step {} it grew beyond "
        r"half the box, 12 x 12 x 12, where another image is nearer; the bond "
        r"broke")
refused(LINE.format(600, 500) + r"(.|\n)*up to step 600"
        r"(.|\n)*use --resume \S+ to go on from the last good checkpoint, of "
        r"step 500", "beyond it the run ends with step and ids",
        deck(more=saved), "output.name=broken")
path = mdrun.write("again.toml", deck(more=saved))
last = sorted(n for n in os.listdir("out") if n.startswith("broken.ckpt"))
done = [tap.warpdeck("run", path, "output.name=again", "--output", "out",
                     "--overwrite", "-q", "--resume", os.path.join("out", n),
                     check=False) for n in last]
tap.ok(len(last) == 2 and all(
    c.returncode == 3 and re.search(LINE.format(600, 500), c.stderr)
    for c in done), "so does a run that goes on from either checkpoint")
refused(LINE.format(750, 500), "without frames its checkpoint finds it",
        deck(frames=0, more=saved))
refused(LINE.format(1000, 0), "without checkpoints the end does",
        deck(frames=0))
if tap.have_mpi():
    refused("bond of particles (1 and 2|2 and 1): they are farther apart",
            "several ranks see it when the partner leaves them",
            deck(more="[domain]\nranks = [2, 1, 1]\n"), ranks=2)
    data("four.data", [(5, 3, 6), (6, 3, 6), (5, 9, 6), (6, 9, 6)],
         [(-1, 0, 0), (1, 0, 0), (0, 0, 0), (0, 0, 0)], 12,
         bonds=((1, 2), (3, 4)))
    refused(LINE.format(600, 500), "or as one does, where it never does",
            deck("four.data", more="[domain]\nranks = [1, 2, 1]\n"), ranks=2)
    # ids of 1 and 2 are one rank's, those of 3 and 4 another's
    data("across.data", [(5, 3, 6), (5, 9, 6), (6, 3, 6), (6, 9, 6)],
         [(-1, 0, 0), (0, 0, 0), (1, 0, 0), (0, 0, 0)], 12,
         bonds=((1, 3), (2, 4)))
    for ranks, file in ((2, "across.data"), (3, "four.data")):
        refused(LINE.format(600, 500).replace("2:", "[23]:"),
                f"whichever ids they have, on {ranks} ranks",
                deck(file, more=f"[domain]\nranks = [1, {ranks}, 1]\n"),
                ranks=ranks)
else:
    tap.skip(4, "built without MPI")

# Bonds that are only marks may grow; an angle between the same particles may
# not.
data("marks.data", [(5, 6, 6), (6, 6, 6), (6, 5, 6)],
     [(-0.9, 0, 0), (0.9, 0, 0), (0.9, 0, 0)], 12)
mdrun.run(deck("marks.data", style="none"), name="marks")
tap.ok(True, "bonds without a force are at any distance")
if tap.have_mpi():
    data("marks.data", [(19, 6, 6), (21, 6, 6)], [(-2, 0, 0), (2, 0, 0)], 40)
    r = mdrun.run(deck("marks.data", style="none", steps=800),
                  "domain.ranks=[2, 1, 1]", ranks=2, name="marks2")
    tap.near(np.ptp(r.frame("position")[:, 0]), 18, 1e-9,
             "nor do ranks have to see both ends of them")
else:
    tap.skip(1, "built without MPI")
data("angle.data", [(5, 6, 6), (6, 6, 6), (6, 5, 6)],
     [(-0.9, 0, 0), (0.9, 0, 0), (0.9, 0, 0)], 12, angles=((1, 2, 3),))
refused("step 600: angle of particles 1 and 2: since step 500",
        "an angle's partners are looked at, too",
        deck("angle.data", style="none"))

# Files without images of molecules that the faces cut: each of their particles is
# in the box, and bonds lead through faces from the start.
data("cut.data", [(11.6, 6, 6), (0.4, 6, 6)], [(1.7, 0, 0), (1.7, 0, 0)], 12)
r = mdrun.run(deck("cut.data", steps=6000, frames=500), name="cut")
d = np.array([r.frame("position", k)[1] - r.frame("position", k)[0]
              for k in range(13)])
tap.below(np.abs(d - 12 * np.rint(d / 12)).max(), 1.3,
          "a bond through a face travels through the box")
tap.ok(r.frame("image")[:, 0].min() == 4, "four times")
data("cut.data", [(11.6, 6, 6), (0.4, 6, 6)], [(-1, 0, 0), (1, 0, 0)], 12)
refused("bond of particles 1 and 2: since step", "and may not grow, either",
        deck("cut.data"))

# Dimers at places of a grid, some through faces, in a box whose tilt comes and
# goes.
side, n = 10.0, 4
places = (np.array(list(itertools.product(range(n), repeat=3))) + 0.05) * side / n
turned = np.random.default_rng(2).normal(size=(n ** 3, 3))
turned *= 0.5 / np.linalg.norm(turned, axis=1)[:, None]
x = np.stack([places - turned, places + turned], axis=1).reshape(-1, 3) % side
v = np.random.default_rng(3).normal(size=x.shape)
data("dimers.data", x, v, side, k=200,
     bonds=[(2 * i + 1, 2 * i + 2) for i in range(n ** 3)])
SHEAR = "[md.deform]\nshear = 2.0\nplane = \"xy\"\n"
STRAIN = "[md.deform]\nrate = [0.05, 0.0, -0.02]\n"
for name, more in (("sheared", SHEAR), ("stretched", STRAIN)):
    r = mdrun.run(deck("dimers.data", steps=1000, frames=50, more=more).replace(
        "0.0001", "1.0"), name=name)
    tap.ok(r.step()[-1] == 1000, f"bonds that hold are left alone, {name}")
if tap.have_mpi():
    # every bond joins ids of the first half with those of the second
    order = np.argsort(np.arange(2 * n ** 3) % 2, kind="stable")
    data("mixed.data", x[order], v[order], side, k=200,
         bonds=[(i + 1, i + 1 + n ** 3) for i in range(n ** 3)])
    r = mdrun.run(deck("mixed.data", steps=500, frames=50).replace(
        "0.0001", "1.0"), ranks=2, name="mixed")
    tap.ok(r.step()[-1] == 500, "nor are those with ids of two ranks")
else:
    tap.skip(1, "built without MPI")
tap.done()
