"""SPC/E water in boxes that lean by half an edge, each term of its energy: NIST's
reference values, and a box made here against plain sums."""

import math
import os

import numpy as np

import mdrun
import tap
from ewald import erf, erfc, sum_waves, waves_below

# e^2 / (4 pi epsilon_0) of "real" units, in kcal angstrom / mol, which is LAMMPS's
# and CODATA's to 1e-8; Boltzmann's constant in kcal / (mol K), CODATA 2018.
COULOMB = 332.06371
BOLTZMANN = 1.380649e-23 * 6.02214076e23 / 4184
EPSILON, SIGMA, CHARGE = 0.155394259321224, 3.16555789, (-0.8476, 0.4238, 0.4238)

DECK = """[run]
solver = "md"
units = "real"
[md]
timestep = 1
steps = 0
[md.initial]
read = "{read}"
atom_style = "full"
[md.pair]
cutoff = {cutoff}
skin = {skin}
tail = true
[md.bonds]
bond_style = "none"
angle_style = "none"
[md.coulomb]
method = "ewald"
splitting = {alpha}
wave_cutoff = {waves!r}
accuracy = 0.1
[output]
fields = ["force"]
"""


# ---- plain sums ----

def plain_terms(x, q, edges, alpha, cutoff, most):
    """Each term of the energy of water, O H H a molecule, and the forces, by loops
    over pairs and images."""
    e = {"self": -COULOMB * alpha / math.sqrt(math.pi) * (q ** 2).sum(),
         "disp": 0.0, "real": 0.0, "bound": 0.0}
    force = np.zeros_like(x)
    oxygen, volume = len(x) // 3, np.linalg.det(edges)
    e["tail"] = 8 / 3 * math.pi * oxygen ** 2 / volume * EPSILON * SIGMA ** 3 * (
        (SIGMA / cutoff) ** 9 / 3 - (SIGMA / cutoff) ** 3)
    molecule = np.arange(len(x)) // 3
    for s in np.stack(np.meshgrid(*[[-1, 0, 1]] * 3), -1).reshape(-1, 3) @ edges:
        d = x[:, None] - x[None] + s
        r = np.sqrt((d ** 2).sum(-1))
        i, j = np.nonzero((r < cutoff) & (r > 0))
        d, r, qq = d[i, j], r[i, j], COULOMB * q[i] * q[j]
        same = molecule[i] == molecule[j]
        far = 2 * alpha / math.sqrt(math.pi) * np.exp(-(alpha * r) ** 2)
        bound = same & (r < 2)
        near = qq * np.where(bound, -erf(alpha * r), erfc(alpha * r)) / r
        slope = near / r ** 2 + qq * far / r ** 2
        e["bound"] += 0.5 * near[bound].sum()
        e["real"] += 0.5 * near[~bound].sum()
        s6 = np.where(bound | (i % 3 > 0) | (j % 3 > 0), 0, (SIGMA / r) ** 6)
        e["disp"] += 0.5 * 4 * EPSILON * (s6 ** 2 - s6).sum()
        slope += 24 * EPSILON * (2 * s6 ** 2 - s6) / r ** 2
        np.add.at(force, i, slope[:, None] * d)
    waves, more = sum_waves(x, q, edges, alpha, waves_below(most, edges)[1])
    e["waves"] = COULOMB * waves
    return e, force + COULOMB * more


def terms_of(got, e):
    """The same terms from a run, which knows sums of some of them."""
    def value(o):
        return got.observable(o + "_energy")[0]
    return {"disp": value("pair") - e["tail"],
            "tail": value("pair") - e["disp"],
            "real": value("coulomb") - e["bound"],
            "bound": value("coulomb") - e["real"],
            "waves": value("mesh") - e["self"],
            "self": value("mesh") - e["waves"]}


# ---- a box made here ----

def molecules(seed=4):
    """27 molecules of any direction near the points of a lattice that leans as
    NIST's does, and along y, too."""
    side = 10.8
    edges = side * np.array([[1, 0, 0], [0.2, 1, 0],
                             [0.5, -0.3, math.sqrt(0.75)]])
    n = np.stack(np.meshgrid(*[np.arange(3)] * 3, indexing="ij"),
                 -1).reshape(-1, 3)
    rng = np.random.default_rng(seed)
    half = math.radians(109.47) / 2
    one = np.array([[0, 0, 0], [math.sin(half), 0, math.cos(half)],
                    [-math.sin(half), 0, math.cos(half)]])
    turns = np.linalg.qr(rng.normal(size=(len(n), 3, 3)))[0]
    where = (n + 0.5) / 3 @ edges + rng.uniform(-0.2, 0.2, n.shape)
    return (where[:, None] + one @ turns).reshape(-1, 3), edges


def data_file(path, x, edges):
    """As NIST gives them: hydrogens have a line "0 0" of pair coefficients."""
    n = len(x) // 3
    out = [f"water\n\n{3 * n} atoms\n{2 * n} bonds\n{n} angles\n2 atom types\n"
           "1 bond types\n1 angle types\n"]
    out += [f"0 {float(edges[d, d])!r} {c}lo {c}hi" for d, c in enumerate("xyz")]
    out.append(" ".join(repr(float(edges[i])) for i in ((1, 0), (2, 0), (2, 1))) +
               " xy xz yz")
    out.append("\nMasses\n\n1 16.0\n2 1.01\n\nPair Coeffs\n\n"
               f"1 {EPSILON!r} {SIGMA!r}\n2 0 0\n\nBond Coeffs\n\n1 450 1.0\n\n"
               "Angle Coeffs\n\n1 55 109.47\n\nAtoms\n")
    out += [f"{i + 1} {i // 3 + 1} {1 + (i % 3 > 0)} {CHARGE[i % 3]} " +
            " ".join(repr(float(c)) for c in r) for i, r in enumerate(x)]
    out.append("\nBonds\n")
    out += [f"{2 * m + h} 1 {3 * m + 1} {3 * m + 1 + h}" for m in range(n)
            for h in (1, 2)]
    out.append("\nAngles\n")
    out += [f"{m + 1} 1 {3 * m + 2} {3 * m + 1} {3 * m + 3}" for m in range(n)]
    mdrun.write(path, "\n".join(out) + "\n")


def check_own(ranks_of=(1, 2, 3, 4), where="", **more):
    x, edges = molecules()
    q = np.tile(CHARGE, len(x) // 3)
    data_file("leaning.data", x, edges)
    alpha, cutoff, most = 0.55, 4.1, 3.3
    e, force = plain_terms(x, q, edges, alpha, cutoff, most)
    deck = DECK.format(read="leaning.data", cutoff=cutoff, skin=0.2, alpha=alpha,
                       waves=most)
    for ranks in mdrun.rank_counts(*ranks_of):
        got = mdrun.run(deck, ranks=ranks, **more)
        worst = max(abs(v / e[k] - 1) for k, v in terms_of(got, e).items())
        # the near part's polynomials are good to 3e-12 of a pair
        tap.below(worst, 1e-11, f"27 leaning molecules, {where}{ranks} rank(s): "
                  "each term of the energy is the plain sum's")
        tap.below(mdrun.worst(got.frame("force", 0), force), 1e-11,
                  "and so are the forces")


# ---- NIST's box ----

# https://www.nist.gov/mml/csd/chemical-informatics-group/
# spce-water-reference-calculations-non-cuboid-cell-10a-cutoff, configuration 4:
# energies over Boltzmann's constant, in K, at alpha = 0.285 / angstrom.
NIST = {"disp": 2.50251e4, "tail": -1.63091e2, "real": -1.71462e5,
        "waves": 2.23372e4, "self": -2.89549e6, "bound": 2.85884e6}
MOST = 7


def read_nist(path):
    """Places and edges; atoms stand in the order of their ids."""
    with open(path, encoding="utf-8") as f:
        head, rest = f.read().split("\nAtoms\n")
    rows = [r.split() for r in rest.split("\nBonds")[0].split("\n") if r.strip()]
    x = np.array([[float(c) for c in r[4:7]] for r in rows])
    words = [r.split() for r in head.split("\n")]
    edges = np.diag([float(w[1]) - float(w[0]) for w in words
                     if w[2:] and w[2].endswith("lo")])
    tilt = next(w for w in words if w[3:] == ["xy", "xz", "yz"])
    edges[1, 0], edges[2, 0], edges[2, 1] = map(float, tilt[:3])
    return x, edges


def check_nist(ranks_of=(1, 2, 3, 4), where="", **more):
    """NIST's Fourier term, 2.23372e4, is the sum of the waves n of at most 7 along
    each edge that are no longer than 7 waves in the height of the box, 2 pi 7 / lz,
    those of just that length included: 942 and their opposites, the same as LAMMPS
    takes for "kmax/ewald 7 7 7" (converged it would be 2.25528e4, without the
    longest 2.23237e4). The program has a greatest length only, and takes 34 waves
    more, with an n of 8. These are summed here and taken off; all else is the
    program's."""
    name = tap.reference("md", "data.spce_monoclinic_sample_periodic4")
    if not name or not os.path.exists(name):
        tap.skip(2 * len(mdrun.rank_counts(*ranks_of)),
                 "NIST's water in a leaning box is not here")
        return
    x, edges = read_nist(name)
    q = np.tile(CHARGE, len(x) // 3)
    alpha, most = 0.285, 2 * math.pi * MOST / edges[2, 2] * (1 + 1e-9)
    e, force = plain_terms(x, q, edges, alpha, 10, most)
    n, k = waves_below(most, edges)
    beyond = np.abs(n).max(1) > MOST
    off = COULOMB * sum_waves(x, q, edges, alpha, k[beyond])[0]
    deck = DECK.format(read=name, cutoff=10, skin=0.5, alpha=alpha, waves=most)
    for ranks in mdrun.rank_counts(*ranks_of):
        got = mdrun.run(deck, ranks=ranks, **more)
        mine = terms_of(got, e)
        worst = max(abs(v / e[k] - 1) for k, v in mine.items())
        mine["waves"] -= off
        digits = {k: f"{v / BOLTZMANN:.5e}" for k, v in mine.items()}
        same = (beyond.sum() == 34 and len(n) == 2 * 942 + 34 and
                all(digits[k] == f"{NIST[k]:.5e}" for k in NIST))
        tap.ok(same, f"NIST's leaning SPC/E water, {where}{ranks} rank(s): each "
               "term of its energy to all digits")
        tap.note(f"{digits}, plain sums to {worst:.1e}")
        tap.below(max(worst, mdrun.worst(got.frame("force", 0), force)), 1e-11,
                  "and they and the forces are those of plain sums")


def main():
    os.makedirs("out", exist_ok=True)
    check_own()
    check_nist()
    tap.done()


if __name__ == "__main__":
    main()
