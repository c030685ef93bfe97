"""Columns of extended XYZ: charges, masses, types and velocities of a file do what the
deck's would, and wrong ones are refused."""

import re

import tap

tap.need("numpy", "h5py")

import h5py
import numpy as np

import mdrun

BOX = 9.0
rng = np.random.default_rng(3)
grid = np.array([[x, y, z] for x in range(4) for y in range(4)
                 for z in range(4)]) * (BOX / 4) + 0.7
X = grid + rng.uniform(-0.2, 0.2, grid.shape)
V = rng.normal(0, 1, X.shape)
KIND = np.arange(64) % 2
CHARGE = np.array([1.0, -1.0])
ORDER = rng.permutation(64)

DECK = """[run]
solver = "md"
[md]
timestep = 0.002
steps = {steps}
[md.initial]
read = "{read}"
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
method = "{method}"
[output]
fields = ["position", "force", "velocity"]
"""


def deck(read, method="dsf", own=False, steps=20):
    return DECK.format(read=read, method=method, steps=steps,
                       charge="charge = 1.0" if own else "",
                       charge2="charge = -1.0" if own else "")


def write(name, columns, order=range(64)):
    """columns: of a property, "name:S:1" and a function of the particle."""
    head = ":".join(c[0] for c in columns)
    rows = [" ".join(str(w) for c in columns for w in c[1](i)) for i in order]
    mdrun.write(name, f'64\nLattice="{BOX} 0 0 0 {BOX} 0 0 0 {BOX}" '
                f'Properties={head} pbc="T T T"\n' + "\n".join(rows) + "\n")


SPECIES = ("species:S:1", lambda i: ["AB"[KIND[i]]])
POS = ("pos:R:3", lambda i: [repr(float(x)) for x in X[i]])
VEL = ("vel:R:3", lambda i: [repr(float(x)) for x in V[i]])
Q = ("charge:R:1", lambda i: [CHARGE[KIND[i]]])
ID = ("id:I:1", lambda i: [i + 1])
TYPE = ("type:I:1", lambda i: [KIND[i] + 1])
MASS = ("mass:R:1", lambda i: [[1.0, 2.5002][KIND[i]]])
OTHER = ("force:R:3", lambda i: [1, 2, 3])

write("plain.xyz", [SPECIES, POS, VEL])
write("full.xyz", [OTHER, MASS, VEL, ID, Q, POS, TYPE], ORDER)
write("both.xyz", [TYPE, SPECIES, POS, VEL,
                   ("initial_charges:R:1", Q[1])])
plain = mdrun.run(deck("plain.xyz", own=True), name="plain")
full = mdrun.run(deck("full.xyz"), name="full")
both = mdrun.run(deck("both.xyz"), name="both")
for got, what in ((full, "mass, id, charge, type in any order"),
                  (both, "species beside types, and ASE's initial_charges")):
    tap.below(max(mdrun.worst(got.observable(n), plain.observable(n))
                  for n in ("potential_energy", "kinetic_energy", "pressure",
                            "coulomb_energy")), 1e-12,
              f"{what}: as with the charges of species")
tap.ok(np.array_equal(full.constant("species"), plain.constant("species"))
       and mdrun.worst(full.frame("force", 0), plain.frame("force", 0))
       < 1e-12, "rows by id have the right species and forces")
a = mdrun.run(deck("plain.xyz", "pme", own=True, steps=0), name="pme")
b = mdrun.run(deck("full.xyz", "pme", steps=0), name="pme_file")
tap.below(mdrun.worst(a.observable("mesh_energy"),
                      b.observable("mesh_energy")), 1e-11,
          "a mesh is chosen and filled alike")

# As many species as there are particles, with names of some length.
many = [f"atom_type_number_{i}" for i in range(64)]
write("many.xyz", [("species:S:1", lambda i: [many[i]]), POS])
got = mdrun.run("\n".join(
    ['[run]', 'solver = "md"', '[md]', 'timestep = 0.002', 'steps = 0',
     '[md.initial]', 'read = "many.xyz"', '[md.pair]', 'cutoff = 2.5'] +
    [f'[[md.species]]\nname = "{name}"' for name in many] +
    [f'[[md.pair.coefficients]]\nspecies = ["{name}", "{name}"]\n'
     'epsilon = 1.0\nsigma = 1.0' for name in many]) + "\n")
with h5py.File(got.path, "r") as f:
    said = f["particles/all/species"].attrs["description"]
    said = said.decode() if isinstance(said, bytes) else said
tap.ok(said == "species: " + ", ".join(f"{i} = {name}" for i, name in
                                       enumerate(many)),
       "the file names all of 64 species")

WRONG = [
    ([SPECIES, POS, ("mass:R:1", lambda i: [1.0])],
     r"wrong.xyz:4:.*mass 1 is not that of species 'B', 2.5"),
    ([POS, ("type:I:1", lambda i: [3])],
     r"wrong.xyz:3:.*type '3'.* species, 2"),
    ([POS, Q], r"species:S:1 \(or type:I:1\) and pos:R:3 are required"),
    ([SPECIES, POS, ("charge:I:1", lambda i: [1])],
     r"property 'charge' must be charge:R:1"),
    ([SPECIES, POS, ("charge:R:1", lambda i: ["x"])],
     r"wrong.xyz:3:\d+: .*'x' is not a number"),
    ([SPECIES, POS, Q, ("q:R:1", Q[1])], r"a property stands twice"),
]
for columns, want in WRONG:
    write("wrong.xyz", columns)
    status, said = mdrun.refused(deck("wrong.xyz", own=Q not in columns
                                      and "charge" not in columns[-1][0]))
    if not tap.ok(status == 2 and re.search(want, said),
                  f"refused: {want.replace(chr(92), '')}"):
        tap.note(f"status {status}: {said}")
status, said = mdrun.refused(deck("full.xyz", own=True))
tap.ok(status == 2 and "the charges are those of" in said,
       "charges of the file and of the species at once are refused")
tap.done()
