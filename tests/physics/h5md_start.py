"""A start from a frame of an H5MD file: of our own, of any of its steps, and of files as
others write them; files that lack something are refused."""

import re

import tap

tap.need("numpy", "h5py")

import h5py
import numpy as np

import mdrun

BOX = np.array([9.0, 9.5, 10.0])
rng = np.random.default_rng(8)
grid = np.array([[x, y, z] for x in range(4) for y in range(4)
                 for z in range(4)]) * (BOX / 4) + 0.7
X = grid + rng.uniform(-0.2, 0.2, grid.shape)
V = rng.normal(0, 1, X.shape)
KIND = np.arange(64) % 2
CHARGE = np.where(KIND == 0, 0.5, -0.5)
N = len(X)

DECK = """[run]
solver = "md"
{units}
[md]
timestep = {dt}
steps = {steps}
[md.initial]
read = "{read}"
{more}
[[md.species]]
name = "A"
mass = 1.0
{charge}
[[md.species]]
name = "B"
mass = 2.5
{charge2}
[md.pair]
cutoff = 3.0
[[md.pair.coefficients]]
species = ["A", "A"]
epsilon = 1.0
sigma = 1.0
[[md.pair.coefficients]]
species = ["B", "B"]
epsilon = 0.5
sigma = 1.1
[md.coulomb]
method = "dsf"
[output]
frames_every = {every}
observables_every = {every}
fields = ["position", "velocity", "image"]
"""


def deck(read, steps=0, more="", own=False, units="", dt=0.002, every=10):
    return DECK.format(read=read, steps=steps, more=more, units=units, dt=dt,
                       every=every, charge="charge = 0.5" if own else "",
                       charge2="charge = -0.5" if own else "")


def same(got, want, row, sentence, tolerance=1e-12):
    tap.below(max(abs(got.observable(n)[0] - want.observable(n)[row])
                  / max(abs(want.observable(n)[row]), 1)
                  for n in ("potential_energy", "kinetic_energy", "pressure",
                            "coulomb_energy")), tolerance, sentence)


mdrun.xyz("start.xyz", BOX, X, ["AB"[k] for k in KIND], V)
first = mdrun.run(deck("start.xyz", 40, own=True), name="first")
last = mdrun.run(deck("out/first.h5"), name="last")
same(last, first, -1, "the last frame of a run is where the next one starts")
tap.ok(np.array_equal(last.frame("image", 0), first.frame("image")),
       "images come along")
middle = mdrun.run(deck("out/first.h5", more="step = 20"), name="middle")
same(middle, first, 2, "so is the frame of a step")
if tap.have_mpi():
    three = mdrun.run(deck("out/first.h5", more='group = "all"'), name="three",
                      ranks=3)
    same(three, first, -1, "and on three ranks")
else:
    tap.skip(1, "built without MPI")


def foreign(path, unit=None, leave=(), ids=True, edges=None, scale=1.0,
            speed=1.0, kind=KIND):
    """As others write: any order of rows, species as an enumeration, steps as an
    increment, a box that is the same in all frames."""
    order = rng.permutation(N)
    kinds = h5py.enum_dtype({"A": 0, "B": 1}, basetype="i1")
    with h5py.File(path, "w") as f:
        g = f.create_group("particles/atoms")
        g["box/edges"] = BOX * scale if edges is None else edges
        for name, rows, unit_ in (
                ("position", X * scale, unit),
                ("velocity", V * speed, unit and unit + " ps-1")):
            if name in leave:
                continue
            g[name + "/value"] = np.stack([0 * rows[order] + 1, rows[order]])
            g[name + "/step"] = 500
            g[name + "/time"] = 0.5
            if unit:
                g[name + "/value"].attrs["unit"] = unit_
        if unit:
            g["box/edges"].attrs["unit"] = unit
        if "species" not in leave:
            g.create_dataset("species", data=np.asarray(kind)[order],
                             dtype=kinds)
        g["charge"] = CHARGE[order]
        if ids:
            g["id"] = order + 1


foreign("other.h5")
a = mdrun.run(deck("other.h5"), name="other")
same(a, first, 0, "a file as others write it, rows by id")
foreign("nm.h5md", unit="nm", scale=0.1, speed=0.1)
metal = mdrun.run(deck("start.xyz", own=True, units='units = "metal"'),
                  name="metal")
b = mdrun.run(deck("nm.h5md", units='units = "metal"'), name="nm")
same(b, metal, 0, "nm and nm/ps become the deck's units")

WRONG = [
    (dict(leave=["species"]), "", r"does not tell the species"),
    (dict(leave=["position"]), "", r"/particles/atoms/position: there is no"),
    (dict(kind=KIND + 1), "", r"has species 2; the deck's are 0 to 1"),
    (dict(edges=np.array([[9, 1, 0], [0, 9.5, 0], [0, 0, 10.0]])), "",
     r"box/edges: the first edge"),
    (dict(edges=np.array([9.0, 9.5])), "", r"box/edges: expected three edges"),
    (dict(unit="furlong"), "", r"unit of position, 'furlong', is not"),
    (dict(), "step = 17", r"position: there is no frame of step 17"),
    (dict(), 'group = "water"', r"/particles/water: there is no such group"),
]
for how, more, want in WRONG:
    foreign("wrong.h5", **how)
    metal = "unit" in how
    status, said = mdrun.refused(
        deck("wrong.h5", more=more, units='units = "metal"' if metal else ""))
    if not tap.ok(status == 2 and re.search(want, said), f"refused: {want}"):
        tap.note(f"status {status}: {said}")
with h5py.File("wrong.h5", "r+") as f:
    f["particles/atoms/id"][3] = f["particles/atoms/id"][4]
status, said = mdrun.refused(deck("wrong.h5"))
tap.ok(status == 2 and "stands twice" in said, "an id that stands twice")
with h5py.File("wrong.h5", "r+") as f:
    place = f["particles/atoms/position"]
    del place["value"]
    place["value"] = np.zeros((1, 0, 3))
status, said = mdrun.refused(deck("wrong.h5"))
tap.ok(status == 2 and "position/value: there are no particles" in said,
       "a frame of nobody")
mdrun.write("text.h5", "no HDF5\n")
status, said = mdrun.refused(deck("text.h5"))
tap.ok(status == 2 and "no HDF5 file" in said, "a file that is no HDF5 file")
status, said = mdrun.refused(deck("start.xyz", own=True, more="step = 3"))
tap.ok(status == 2 and "goes with an H5MD file" in said,
       "md.initial.step of another file")
tap.done()
