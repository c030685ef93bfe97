"""The number of ranks changes nothing but rounding.

A binary liquid with both thermostat noises, all fields and analyses, some steps
with rebuilds and migration: every dataset is compared with the run on one rank.
Rounding of 1e-16 grows by a factor e in about half a time unit (100 steps); 60
steps leave it far below 1e-9.
"""

import tap

tap.need("h5py", "numpy")

import mdrun
from mdrun import datasets, worst

if not tap.have_mpi():
    tap.skip_all("built without MPI: there is one rank only")

DECK = """
[run]
solver = "md"
seed = 5
[md]
timestep = 0.004
steps = 60
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
cells = [5, 4, 6]
density = 0.8
temperature = 3.0
[md.pair]
style = "lj"
cutoff = 2.3
skin = 0.2
tail = true
[[md.pair.coefficients]]
species = ["A", "A"]
epsilon = 1.0
sigma = 1.0
[[md.pair.coefficients]]
species = ["B", "B"]
epsilon = 0.8
sigma = 0.9
[md.ensemble]
temperature = 2.0
relaxation = 0.3
[md.analysis.rdf]
range = 3.2
bins = 64
every = 20
[md.analysis.msd]
every = 10
[output]
observables_every = 5
frames_every = 20
fields = ["position", "velocity", "force", "image"]
"""

for kind in ("bussi", "langevin"):
    deck = DECK.replace("[md.ensemble]", f'[md.ensemble]\ntype = "{kind}"')
    one = datasets(mdrun.run(deck).path)
    tap.ok(len(one) > 20, f"{kind}: one rank wrote {len(one)} datasets")
    cases = [(2, None), (3, None), (4, None), (5, None), (7, None),
             (4, "[1,1,4]"), (6, "[6,1,1]")]
    if kind == "langevin":
        cases = cases[2:5]
    for ranks, cut in cases:
        extra = [f"domain.ranks={cut}"] if cut else []
        many = datasets(mdrun.run(deck, *extra, ranks=ranks).path)
        on = f"{kind}, {ranks} ranks{' ' + cut if cut else ''}"
        tap.is_(sorted(many), sorted(one), f"{on}: the same datasets")
        for name in sorted(one):
            if name not in many:
                continue
            a, b = one[name], many[name]
            if a.shape != b.shape:
                tap.ok(False, f"{on}: {name} has the same shape")
            elif a.dtype.kind in "iu":
                if not (a == b).all():
                    tap.ok(False, f"{on}: {name} is the same")
            elif a.dtype.kind == "f":
                if not worst(b, a) < 1e-9:
                    tap.ok(False, f"{on}: {name} agrees ({worst(b, a):.2g})")
        force = "particles/all/force/value"
        tap.below(worst(many[force][0], one[force][0]), 1e-12,
                  f"{on}: forces at step 0 agree")
        energy = "observables/potential_energy/value"
        tap.below(worst(many[energy], one[energy]), 1e-9,
                  f"{on}: energies agree over the run")

# More ranks than particles, and counts that do not divide them: ten particles,
# all in one corner, so that most blocks are empty.
FEW = """
[run]
solver = "md"
[md]
steps = 40
[md.initial]
read = "ten.xyz"
temperature = 0.5
[md.pair]
cutoff = 2.5
[output]
fields = ["position", "force"]
"""
mdrun.xyz("ten.xyz", [6, 6, 6],
          [[0.4 + 1.2 * (i % 3), 0.4 + 1.2 * (i // 3 % 2), 0.4 + 1.2 * (i // 6)]
           for i in range(10)], ["A"] * 10)
one = mdrun.run(FEW)
for ranks in (3, 7, 13):
    many = mdrun.run(FEW, ranks=ranks)
    tap.is_(list(many.constant("id")), list(range(1, 11)),
            f"ten particles on {ranks} ranks are ten rows")
    tap.below(worst(many.frame("force", 0), one.frame("force", 0)), 1e-12,
              f"ten particles on {ranks} ranks: forces at step 0 agree")
    tap.below(worst(many.frame("position"), one.frame("position")), 1e-9,
              f"ten particles on {ranks} ranks: positions agree after 40 steps")
tap.done()
