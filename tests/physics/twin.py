"""Energies, virials and forces of mixtures against a plain sum over all pairs.

The configuration is made here (no file is needed), read through an extended XYZ
file, in a box of three different sides whose shortest is two cutoffs exactly.
Both sums are in double over some thousand pair terms of order one, so they
agree to 1e-12 of the largest.
"""

import tap

tap.need("numpy", "h5py")

import numpy as np

import mdrun

EPS = {"A": 1.0, "B": 0.6}
SIG = {"A": 1.0, "B": 0.8}
NAMES = "AB"
CUTOFF = 2.4

DECK = """
[run]
solver = "md"
[md]
steps = 0
[md.initial]
read = "twin.xyz"
[[md.species]]
name = "A"
mass = 1.0
[[md.species]]
name = "B"
mass = 2.5
[md.pair]
style = "lj"
cutoff = 2.4
skin = 0.3
[[md.pair.coefficients]]
species = ["A", "A"]
epsilon = 1.0
sigma = 1.0
[[md.pair.coefficients]]
species = ["B", "B"]
epsilon = 0.6
sigma = 0.8
[md.ensemble]
type = "nve"
[output]
fields = ["position", "force"]
"""
OWN_PAIR = """
[[md.pair.coefficients]]
species = ["B", "A"]
epsilon = 1.3
sigma = 0.7
cutoff = 1.75
"""


def mixed(rule):
    """The square tables of epsilon, sigma and cutoff under a mixing rule."""
    eps, sig = np.zeros((2, 2)), np.zeros((2, 2))
    for i, a in enumerate(NAMES):
        for j, b in enumerate(NAMES):
            si, sj, ei, ej = SIG[a], SIG[b], EPS[a], EPS[b]
            eps[i, j] = np.sqrt(ei * ej)
            if rule == "arithmetic":
                sig[i, j] = (si + sj) / 2
            elif rule == "geometric":
                sig[i, j] = np.sqrt(si * sj)
            else:
                sig[i, j] = ((si**6 + sj**6) / 2) ** (1 / 6)
                eps[i, j] *= 2 * si**3 * sj**3 / (si**6 + sj**6)
    return eps, sig, np.full((2, 2), CUTOFF)


box, position = mdrun.jittered_box(2026)
kind = np.random.default_rng(7).integers(0, 2, len(position))
mdrun.xyz("twin.xyz", box, position, [NAMES[k] for k in kind])


def compare(result, tables, shift, with_tail, what):
    volume, count = float(np.prod(box)), np.bincount(kind, minlength=2)
    energy, virial, force = mdrun.pair_sums(position, box, kind, *tables, shift)
    pressure = virial / (3 * volume)
    if with_tail:
        du, dp = mdrun.tail(count, volume, *tables)
        energy, pressure = energy + du, pressure + dp
    got = result.frame("force")
    scale = np.abs(force).max()
    tap.near(result.observable("potential_energy")[0], energy,
             1e-12 * abs(energy), f"{what}: energy equals the plain sum")
    tap.near(result.observable("pressure")[0], pressure,
             1e-12 * max(abs(pressure), scale / volume),
             f"{what}: pressure equals the plain sum")
    tap.below(np.abs(got - force).max() / scale, 1e-12,
              f"{what}: forces equal the plain sum")


for rule in ("arithmetic", "geometric", "sixth-power"):
    compare(mdrun.run(DECK, f'md.pair.mixing="{rule}"', "md.pair.tail=true"),
            mixed(rule), "none", True, f"{rule} mixing with tail")

tables = mixed("arithmetic")
for t, value in zip(tables, (1.3, 0.7, 1.75)):
    t[0, 1] = t[1, 0] = value
for shift in ("none", "energy", "force"):
    for ranks in mdrun.rank_counts(1, 4):
        compare(mdrun.run(DECK + OWN_PAIR, f'md.pair.shift="{shift}"',
                          ranks=ranks), tables, shift, False,
                f"pair of its own, shift {shift}, {ranks} ranks")

# The answer may not depend on how the box is cut, however thin the blocks are.
if tap.have_mpi():
    for cut in ("[3,1,1]", "[1,5,1]", "[1,2,3]", "[7,1,1]"):
        ranks = int(np.prod([int(c) for c in cut.strip("[]").split(",")]))
        compare(mdrun.run(DECK + OWN_PAIR, f"domain.ranks={cut}",
                          ranks=ranks), tables, "none", False,
                f"ranks {cut}")

# Faces, edges and corners belong to exactly one rank; some ranks own nothing.
box = np.array([9.0, 10.0, 11.0])
corner = np.array([[0.0, 0.0, 0.0], [1.1, 0.0, 0.0], [0.0, 1.2, 0.0],
                   [0.0, 0.0, 1.3], [4.5, 0.0, 0.0], [4.5, 0.0, 5.5],
                   [9.0, 5.0, 0.0], [4.5, 10.0, 7.0], [-0.0, 5.0, 5.5],
                   [3.0, 10.0 / 3, 0.5], [6.0, 20.0 / 3, 22.0 / 3],
                   [-1e-17, 3.0, 3.0], [2.25, 2.5, 2.75]])
cluster = np.stack(np.meshgrid(*[np.arange(4)] * 3), -1).reshape(-1, 3) + 12.0
position = np.concatenate([corner, (cluster * 1.05 + 0.4)])
kind = np.zeros(len(position), int)
mdrun.xyz("twin.xyz", box, position, ["A"] * len(position))
for ranks in mdrun.rank_counts(1, 3, 8):
    r = mdrun.run(DECK, ranks=ranks)
    what = f"faces, corners and a dense clump, {ranks} ranks"
    tap.is_(r.n, len(position), f"{what}: no particle is lost or doubled")
    compare(r, mixed("arithmetic"), "none", False, what)
    got = r.frame("position")
    tap.ok((got >= 0).all() and (got < box).all(),
           f"{what}: positions are written inside the box")
    d = got - position
    d -= box * np.rint(d / box)
    tap.below(np.abs(d).max(), 1e-13, f"{what}: and are those of the file")
tap.done()
