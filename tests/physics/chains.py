"""Chains of FENE bonds: energies and forces against plain sums, whether a bonded
pair stays in the pair list or not, over ranks, threads and precisions."""

import numpy as np

import mdrun
import tap

SIDE, SPACING, LENGTH = 6, 1.02, 12
K, R0 = 30.0, 1.5


def melt():
    """A snake through a lattice, cut into chains of 12 with three branches
    each: positions and bonds."""
    rng = np.random.default_rng(5)
    x = []
    for z in range(SIDE):
        for y in range(SIDE):
            for i in range(SIDE):
                j = i if y % 2 == 0 else SIDE - 1 - i
                x.append((j, y if z % 2 == 0 else SIDE - 1 - y, z))
    x = (np.array(x) + 0.5) * SPACING + rng.uniform(-0.06, 0.06, (SIDE ** 3, 3))
    bonds = []
    for first in range(0, len(x), LENGTH):
        bonds += [(first + i, first + i + 1) for i in range(LENGTH - 1)]
        # the second row lies beside the first one, backwards
        bonds += [(first + i, first + LENGTH - 1 - i) for i in (0, 2, 3)]
    return x, bonds


def write_data(name, x, bonds, types, tilt=""):
    lines = ["chains", "", f"{len(x)} atoms", f"{len(bonds)} bonds",
             "1 atom types", f"{types} bond types", ""]
    lines += [f"0 {SIDE * SPACING!r} {c}lo {c}hi" for c in "xyz"]
    lines += [tilt, "", "Masses", "", "1 1 # A", "", "Atoms # bond", ""]
    lines += [f"{i + 1} 1 1 " + " ".join(repr(float(v)) for v in r)
              for i, r in enumerate(x)]
    lines += ["", "Bonds", ""]
    lines += [f"{b + 1} {1 + b % types} {j + 1} {i + 1}"
              for b, (i, j) in enumerate(bonds)]
    mdrun.write(name, "\n".join(lines) + "\n")


DECK = """[run]
solver = "md"
seed = 3
[md]
timestep = 0.002
steps = 40
[md.initial]
read = "{file}"
temperature = 1.0
[md.pair]
cutoff = {cutoff}
skin = 0.3
shift = "energy"
[[md.pair.coefficients]]
species = ["A", "A"]
epsilon = 1
sigma = {sigma}
[md.bonds]
bond_style = "fene"
special_lj = {special}
{types}
[output]
observables_every = 20
frames_every = 40
fields = ["position", "velocity", "force"]
"""
BOND = """[[md.bonds.bond]]
type = {}
parameters = [{}, {}, 1, 1]
"""


BATH = """[md.ensemble]
type = "langevin"
temperature = 1.0
relaxation = 1.0
[checkpoint]
every = 20
"""


def deck(name, cutoff, sigma=1.0, types=1, special="[0, 1, 1]"):
    text = "".join(BOND.format(t + 1, K + 2 * t, R0 + 0.1 * t)
                   for t in range(types))
    return DECK.format(file=name, cutoff=cutoff, sigma=sigma, types=text,
                       special=special)


def lj(r2, sigma, cutoff):
    """Energy and force over distance."""
    s6, end = (sigma * sigma / r2) ** 3, (sigma / cutoff) ** 6
    near = r2 < cutoff * cutoff
    return (near * 4 * (s6 * (s6 - 1) - end * (end - 1)),
            near * 24 * s6 * (2 * s6 - 1) / r2)


def plain(x, bonds, cutoff, sigma, types, edges):
    """Pair and bond energies, virial and forces by plain sums."""
    inverse = np.linalg.inv(edges)

    def near(d):
        # the nearest image, among all neighbors of the rounded one
        d = d - np.rint(d @ inverse) @ edges
        shifts = np.array(np.meshgrid(*[(-1, 0, 1)] * 3)).reshape(3, -1).T
        each = d[:, None] + shifts @ edges
        best = (each ** 2).sum(axis=2).argmin(axis=1)
        return each[np.arange(len(d)), best]

    i, j = np.triu_indices(len(x), 1)
    d = near(x[i] - x[j])
    r2 = (d ** 2).sum(axis=1)
    bonded = {(min(b), max(b)) for b in bonds}
    apart = np.array([(a, b) not in bonded for a, b in zip(i, j)])
    u, g = lj(r2, sigma, cutoff)
    u, g = u * apart, g * apart
    pair, virial = u.sum(), (g * r2).sum()
    force = np.zeros_like(x)
    np.add.at(force, i, g[:, None] * d)
    np.add.at(force, j, -g[:, None] * d)
    a, b = np.array(bonds).T
    kind = np.arange(len(bonds)) % types
    k, r0 = K + 2 * kind, R0 + 0.1 * kind
    d = near(x[a] - x[b])
    r2 = (d ** 2).sum(axis=1)
    u, g = lj(r2, 1.0, 2 ** (1 / 6))
    stretch = 1 - r2 / r0 ** 2
    u, g = u - 0.5 * k * r0 ** 2 * np.log(stretch), g - k / stretch
    np.add.at(force, a, g[:, None] * d)
    np.add.at(force, b, -g[:, None] * d)
    return pair, u.sum(), virial + (g * r2).sum(), force


X, BONDS = melt()
BOX = np.diag([SIDE * SPACING] * 3)
CASES = [ # name, cutoff, sigma, types, bonds, tilt
    ("bonded pairs in the list", 1.12, 1.0, 1, BONDS, 0),
    ("in a list that reaches farther than the bonds' own", 2.5, 1.0, 1, BONDS,
     0),
    ("pairs of another size than bonds", 1.12, 0.97, 1, BONDS, 0),
    ("three types of bonds", 1.12, 1.0, 3, BONDS, 0),
    ("three types, pairs of another size", 1.3, 0.97, 3, BONDS, 0),
    ("a pair with two bonds", 1.12, 1.0, 1, BONDS + BONDS[:1], 0),
    ("a leaning box", 1.12, 1.0, 1, BONDS, 1.5),
]


def compare(name, got, want, tolerance):
    n = len(X)
    volume = (SIDE * SPACING) ** 3
    kinetic = got.observable("kinetic_energy")[0]
    pressure = (2 * kinetic + want[2]) / (3 * volume)
    worst = max(abs(got.observable("pair_energy")[0] - want[0]) / n,
                abs(got.observable("bond_energy")[0] - want[1]) / n,
                abs(got.observable("pressure")[0] - pressure))
    worst = max(worst, np.abs(got.first - want[3]).max() /
                np.abs(want[3]).max())
    tap.ok(worst < tolerance, f"{name}: energies by kind, pressure and forces "
           f"are those of plain sums to {tolerance}")
    tap.note(f"worst {worst:.1e}")


def run(text, *more, **how):
    got = mdrun.run(text, *more, **how)
    got.first = got.frame("force", 0)
    return got


def check_resume():
    text = deck("chains.data", 1.12) + BATH
    whole = mdrun.run(text, name="whole")
    path = mdrun.write("half.toml", text)
    for more in (["md.steps=20"], ["--resume", "auto"]):
        tap.run(tap.WARPDECK, "run", path, "output.name=part", *more,
                "--output", "kept", "-q")
    part = mdrun.Result("kept/part.h5")
    tap.ok(all(np.array_equal(part.frame(f), whole.frame(f))
               for f in ("position", "velocity", "force")),
           "chains in a bath go on bit by bit")


def check_phases(result):
    """The closing table tells bonds from pairs."""
    with open(result.path.replace(".h5", ".log"), encoding="utf-8") as f:
        rows = [line.split() for line in f]
    names = next(r[1:] for r in rows if r[:1] == ["phase"])
    shares = next(r[1::2] for r in rows if r[:1] == ["time"])
    share = dict(zip(names, map(float, shares)))
    tap.ok(share["bonded"] > 0 and share["pair"] > 0 and
           abs(sum(share.values()) - 100) < 3,
           "the time of bonds and of pairs is told apart")
    tap.note(f"shares {share}")


def main():
    mixed = ("md.precision=mixed",)
    for name, cutoff, sigma, types, bonds, tilt in CASES:
        edges = BOX.copy()
        edges[1, 0] = tilt
        write_data("chains.data", X, bonds, types,
                   f"{tilt} 0 0 xy xz yz" if tilt else "")
        want = plain(X, bonds, cutoff, sigma, types, edges)
        text = deck("chains.data", cutoff, sigma, types)
        one = run(text)
        compare(name, one, want, 1e-11)
        # coordinates of a float are good to some 1e-7 of the box; forces
        # change by some hundred a length
        compare(name + ", in mixed precision", run(text, "md.steps=0", *mixed),
                want, 1e-4)
        if name == CASES[0][0]:
            last = one
        if name == CASES[1][0]: # at 1.12 the force of a pair jumps by 0.13
            half = run(text, "md.timestep=0.001", "md.steps=80")
            spread = [np.ptp(r.observable("total_energy")) for r in (one, half)]
            tap.ok(3 < spread[0] / spread[1] < 5, "what 40 steps do to the "
                   "energy is a quarter with half of the step")
            tap.note(f"spread {spread[0] / len(X):.1e}, "
                     f"{spread[1] / len(X):.1e}")
    name, cutoff, sigma, types, bonds, _ = CASES[0]
    write_data("chains.data", X, bonds, types)
    want = plain(X, bonds, cutoff, sigma, types, BOX)
    check_resume()
    text = deck("chains.data", cutoff, sigma, types)
    check_phases(last)
    more = [(dict(ranks=r), (), f"{r} ranks") for r in (2, 4)]
    more = more if tap.have_mpi() else []
    more.append((dict(), ("run.threads=3",), "3 threads"))
    for how, extra, who in more:
        two = run(text, *extra, **how)
        compare(f"{name}, {who}", two, want, 1e-11)
        worst = mdrun.worst(two.frame("position"), last.frame("position"))
        tap.ok(worst < 1e-9, f"40 steps on {who} end in the same places")
        tap.note(f"worst {worst:.1e}")
    tap.done()


if __name__ == "__main__":
    main()
