# timeout: 300
"""Bonds of fixed length: lengths, velocities and pressure against what mechanics
says of rigid bodies; over ranks and restarts; what is refused.
"""

import numpy as np

import mdrun
import tap

# Water, methyl-like groups, dumbbells and open triples: species, places beside
# the first, bonds from the first (type), the angle that is rigid.
SHAPES = [
    ("water", ["O", "H", "H"], [1, 1], True),
    ("methyl", ["C", "H", "H", "H"], [2, 2, 2], False),
    ("dumbbell", ["C", "O"], [3], False),
    ("open", ["C", "H", "H"], [2, 2], False),
]
MASS = {"O": 15.9994, "H": 1.008, "C": 12.011}
SPECIES = list(MASS)
LENGTH = {1: 1.0, 2: 1.09, 3: 1.2}
ANGLE = 109.47


def places(shape, rng):
    """A molecule of the shape in a random position, at its lengths."""
    _, names, bonds, _ = shape
    half = np.radians(ANGLE / 2)
    ways = np.array([[np.sin(half), 0, np.cos(half)],
                     [-np.sin(half), 0, np.cos(half)], [0, 0.9, -0.44]])
    x = np.zeros((len(names), 3))
    for k, kind in enumerate(bonds):
        x[k + 1] = ways[k] / np.linalg.norm(ways[k]) * LENGTH[kind]
    return x @ np.linalg.qr(rng.normal(size=(3, 3)))[0]


def system(n, step, shapes):
    """n^3 molecules, all shapes in turn: places, species, molecule of each atom,
    and bonds and angles as (type, ids)."""
    rng = np.random.default_rng(8)
    x, names, molecule, bonds, angles = [], [], [], [], []
    for m, cell in enumerate(np.ndindex(n, n, n)):
        shape = shapes[m % len(shapes)]
        first = len(names) + 1
        x.append(places(shape, rng) + (np.array(cell) + 0.45) * step)
        names += shape[1]
        molecule += [m] * len(shape[1])
        bonds += [(kind, first, first + 1 + k)
                  for k, kind in enumerate(shape[2])]
        if len(shape[2]) == 2:
            angles.append((1 if shape[3] else 2, first + 1, first, first + 2))
    return np.concatenate(x), names, np.array(molecule), bonds, angles


def data_file(path, shapes=SHAPES, n=4, step=4.0, charge=0.0, tilt=None):
    """charge: of what a molecule's first particle makes up for; None: without."""
    x, names, molecule, bonds, angles = system(n, step, shapes)
    rows = ["rigid bodies", "", f"{len(x)} atoms", f"{len(bonds)} bonds",
            f"{len(angles)} angles", "3 atom types", "3 bond types",
            "2 angle types", ""]
    rows += [f"0 {n * step} {c}lo {c}hi" for c in "xyz"]
    if tilt:
        rows += [" ".join(map(str, tilt)) + " xy xz yz"]
    rows += ["", "Masses", ""]
    rows += [f"{k + 1} {MASS[s]} # {s}" for k, s in enumerate(SPECIES)]
    rows += ["", "Bond Coeffs # harmonic", ""]
    rows += [f"{k} 450 {r}" for k, r in LENGTH.items()]
    rows += ["", "Angle Coeffs # harmonic", "", f"1 55 {ANGLE}", "2 40 110"]
    rows += ["", f"Atoms # {'molecular' if charge is None else 'full'}", ""]
    for i, s in enumerate(names):
        # neutral molecules: the first has what the others lack
        first = i == 0 or molecule[i] != molecule[i - 1]
        size = np.count_nonzero(molecule == molecule[i])
        q = "" if charge is None else f"{charge * (size - 1 if first else -1):.6g}"
        place = " ".join(f"{v:.15g}" for v in x[i])
        rows.append(f"{i + 1} {molecule[i] + 1} {SPECIES.index(s) + 1} "
                    f"{q} {place}")
    for name, terms in (("Bonds", bonds), ("Angles", angles)):
        rows += ["", name, ""]
        rows += [" ".join(map(str, (k + 1,) + t)) for k, t in enumerate(terms)]
    mdrun.write(path, "\n".join(rows) + "\n")
    return molecule, names, bonds


DECK = """[run]
solver = "md"
units = "real"
seed = 5
[md]
timestep = 1.0
steps = 60
[md.initial]
read = "{file}"
temperature = 300
[md.pair]
cutoff = {cutoff}
shift = "force"
skin = 1
[[md.pair.coefficients]]
species = ["O", "O"]
epsilon = {epsilon}
sigma = 2.6
[[md.pair.coefficients]]
species = ["C", "C"]
epsilon = {epsilon}
sigma = 2.6
[[md.pair.coefficients]]
species = ["H", "H"]
epsilon = 0
sigma = 1
{more}
[md.constraints]
rigid_water = ["O", "H"]
below_mass = 1.5
bond_types = [3]
[output]
observables_every = 10
frames_every = 30
fields = ["position", "velocity"]
"""
CHARGED = "[md.coulomb]\nmethod = \"dsf\"\n"


def lengths(run, frame, bonds):
    """Of all bonds, less what they should be, relative."""
    x, cell = run.frame("position", frame), run.cell(frame)
    kind, i, j = np.array(bonds).T
    d = x[i - 1] - x[j - 1]
    for a in (2, 1, 0):
        d -= np.rint(d[:, a] / cell[a, a])[:, None] * cell[a]
    want = np.array([0] + list(LENGTH.values()))[kind]
    return np.linalg.norm(d, axis=1) / want - 1, d


def check_bodies():
    """Bodies that do not feel one another turn freely."""
    molecule, names, bonds = data_file("free.data", [SHAPES[0], SHAPES[2]])
    mass = np.array([MASS[s] for s in names])
    run = mdrun.run(DECK.format(file="free.data", epsilon=0, cutoff=3, more=""))
    worst, rate = 0, 0
    for frame in range(3):
        off, d = lengths(run, frame, bonds)
        worst = max(worst, np.abs(off).max())
        v = run.frame("velocity", frame)
        _, i, j = np.array(bonds).T
        u = v[i - 1] - v[j - 1]
        rate = max(rate, np.abs((u * d).sum(1)).max() / np.abs(u).max())
    tap.below(worst, 1e-9, "free bodies: lengths stay")
    tap.below(rate, 1e-9, "free bodies: no velocity along a bond")
    water = [m for m in range(molecule.max() + 1) if m % 2 == 0]
    x, box = run.frame("position"), run.edges()
    ends = [np.flatnonzero(molecule == m)[1:] for m in water]
    d = np.array([x[a] - x[b] for a, b in ends])
    d -= box * np.rint(d / box)
    want = 2 * np.sin(np.radians(ANGLE / 2))
    tap.below(np.abs(np.linalg.norm(d, axis=1) - want).max(), 1e-9,
              "free bodies: water keeps its angle")
    kinetic = run.observable("kinetic_energy")
    tap.below(np.abs(kinetic / kinetic[0] - 1).max(), 1e-9,
              "free bodies: the kinetic energy stays")
    # Of a body that turns, the forces inside it take away just what its turning
    # would add to the pressure: left is that of the motion of its center.
    for frame, row in ((0, 0), (2, 6)):
        v = run.frame("velocity", frame)
        momentum = np.array([(mass[:, None] * v)[molecule == m].sum(0)
                             for m in range(molecule.max() + 1)])
        heavy = np.array([mass[molecule == m].sum()
                          for m in range(molecule.max() + 1)])
        # g/mol (angstrom/fs)^2 in kcal/mol, kcal/mol/angstrom^3 in atm
        want = ((momentum**2).sum(1) / heavy).sum() * 48.88821291**2
        want *= 68568.415 / (3 * box.prod())
        tap.near(run.observable("pressure")[row] / want, 1, 1e-6,
                 f"free bodies: the pressure is that of their centers, "
                 f"frame {frame}")
    freedom = 3 * len(mass) - 3 - len(bonds) - len(water)
    tap.near(run.observable("temperature")[0], 300, 1e-9,
             "free bodies: velocities are drawn at the temperature")
    tap.near(2 * kinetic[0] / (freedom * 0.0019872067), 300, 1e-2,
             "free bodies: degrees of freedom are those that are left")


def check_liquid():
    """Bodies with charges: energy, ranks, restarts."""
    bonds = data_file("liquid.data", charge=0.3)[2]
    deck = DECK.format(file="liquid.data", epsilon=0.1, cutoff=7, more=CHARGED)
    runs = {n: mdrun.run(deck, ranks=n) for n in mdrun.rank_counts(1, 3)}
    one = runs[1]
    for n, run in runs.items():
        off, _ = lengths(run, -1, bonds)
        tap.below(np.abs(off).max(), 1e-9, f"{n} ranks: lengths stay")
        if n > 1:
            tap.below(max(mdrun.worst(run.frame(f), one.frame(f))
                          for f in ("position", "velocity")), 1e-9,
                      f"{n} ranks: the same motion as on one")
            tap.below(mdrun.worst(run.observable("pressure"),
                                  one.observable("pressure")), 1e-9,
                      f"{n} ranks: the same pressure as on one")
    drift = {}
    for dt in (1.0, 0.5):
        e = mdrun.run(deck, f"md.timestep={dt}", f"md.steps={int(100 / dt)}",
                      "output.observables_every=1").observable("total_energy")
        drift[dt] = np.abs(e - e.mean()).mean()
    tap.ok(drift[1.0] > 3 * drift[0.5],
           "the error of the energy falls with the square of the time step "
           f"({drift[1.0]:.3g} to {drift[0.5]:.3g})")
    ranks = max(runs)
    for last in (31, 60):
        tap.run(tap.WARPDECK, "run", mdrun.write("kept.toml", deck),
                f"md.steps={last}", "--output", "kept", "--resume", "auto",
                "-q", "checkpoint.every=10", ranks=ranks)
    whole, parts = mdrun.datasets(runs[ranks].path), mdrun.datasets("kept/kept.h5")
    differ = [k for k in whole if k.startswith("particles")
              and not np.array_equal(whole[k], parts[k])]
    tap.is_(differ, [], f"{ranks} ranks: a run in two parts ends bit for bit "
            "as the whole one")
    noise = mdrun.run(deck, "md.ensemble.type=langevin",
                      "md.ensemble.temperature=300",
                      "md.ensemble.relaxation=50")
    off, _ = lengths(noise, -1, bonds)
    tap.below(np.abs(off).max(), 1e-9, "with Langevin noise: lengths stay")
    mixed = mdrun.run(deck, "md.precision=mixed")
    off, _ = lengths(mixed, -1, bonds)
    tap.below(np.abs(off).max(), 1e-8, "mixed precision: lengths stay")


def check_refused():
    deck = DECK.format(file="free.data", epsilon=0, cutoff=3, more="")
    lj = "[run]\nsolver='md'\n[md]\nsteps=1\n[md.constraints]\nbelow_mass=2\n"
    cases = [
        (lj, [], "there are no bonds to make rigid"),
        (deck, ["md.constraints.rigid_water=['O','X']"], "no species 'X'"),
        (deck, ["md.constraints.bond_types=[4]"], "there is no bond type 4"),
        (deck, ["md.precision=single"], "need positions in double precision"),
        (deck + "[[md.bonds.angle]]\ntype = 1\nparameters = [55, 180]\n", [],
         "angle type 1 cannot be held at its value"),
        (deck + "".join(f"[[md.species]]\nname = '{s}'\nmass = 2\n"
                        for s in "HOC"), [], "atom type 1 is called 'O'"),
    ]
    for text, change, says in cases:
        code, said = mdrun.refused(text, *change)
        tap.ok(code == 2 and says in said, f"refused: {says}" +
               ("" if says in said else f": {code}, {said[:300]}"))
    code, said = mdrun.refused(
        deck + "[[md.bonds.bond]]\ntype = 1\nparameters = [450, 1.5]\n",
        "md.steps=0")
    tap.ok(code == 0 and "shapes than their coefficients" in said,
           "molecules of other shapes than their coefficients are warned about")
    with open("liquid.data", encoding="utf-8") as f:
        good = f.read()
    row = good.split("\n").index("5 2 4 7") + 1
    for name, rows, says in (
            ("a chain", ("\n5 2 4 7\n", "\n5 3 4 8\n"),
             f"bad.data:{row}: error: Bonds: atoms 4 and 8 both have several "
             "rigid bonds"),
            ("a bond that stands twice", ("\n5 2 4 7\n", "\n5 2 5 4\n"),
             f"bad.data:{row}: error: Bonds: the rigid bond of atoms 5 and 4 "
             "stands twice"),
            ("four of one atom", ("\n6 3 8 9\n", "\n6 3 4 9\n"),
             f"bad.data:{row + 1}: error: Bonds: atom 4 has more than three "
             "rigid bonds")):
        mdrun.write("bad.data", good.replace(*rows))
        code, said = mdrun.refused(deck.replace("free.data", "bad.data"))
        if not tap.ok(code == 2 and says in said, f"refused: {name}"):
            tap.note(f"{code}: {said[:300]}")


def main():
    check_bodies()
    check_liquid()
    check_refused()
    tap.done()


if __name__ == "__main__":
    main()
