"""Distributions of bonds and angles are those of the frames, on any ranks and in
two parts; those of molecules in a bath are Boltzmann's; what cannot be measured
is refused with a line that says why."""

import os

import tap

tap.need("numpy", "h5py")

import numpy as np

import mdrun

SIDE, CELLS = 4.0, 5  # molecules of three, one in each cell
N = CELLS**3
rows = ["threes", "", f"{3 * N} atoms", f"{2 * N} bonds", f"{N} angles",
        "2 atom types", "2 bond types", "1 angle types", ""]
rows += [f"0 {SIDE * CELLS} {c}lo {c}hi" for c in "xyz"]
rows += ["", "Masses", "", "1 2.0 # M", "2 1.0 # E", ""]
rows += ["Bond Coeffs # harmonic", "", "1 200 1.0", "2 150 1.2", ""]
rows += ["Angle Coeffs # harmonic", "", "1 30 110", "", "Atoms # molecular", ""]
turn = np.radians(110)
shape = np.array([[0, 0, 0], [1.0, 0, 0],
                  [1.2 * np.cos(turn), 1.2 * np.sin(turn), 0]])
cells = np.stack(np.meshgrid(*3 * [np.arange(CELLS)]), -1).reshape(-1, 3)
for m, cell in enumerate(cells):
    for k in range(3):
        x = " ".join(repr(float(c)) for c in shape[k] + SIDE * cell + 1.5)
        rows.append(f"{3 * m + k + 1} {m + 1} {1 if k == 0 else 2} {x}")
rows += ["", "Bonds", ""]
for m in range(N):
    rows += [f"{2 * m + k} {k} {3 * m + 1} {3 * m + 1 + k}" for k in (1, 2)]
rows += ["", "Angles", ""]
rows += [f"{m + 1} 1 {3 * m + 2} {3 * m + 1} {3 * m + 3}" for m in range(N)]
mdrun.write("threes.data", "\n".join(rows) + "\n")
BINS, LOW, HIGH = 40, 0.8, 1.4
DECK = f"""
[run]
solver = "md"
seed = 4
[md]
timestep = 0.004
steps = 60
[md.initial]
read = "threes.data"
temperature = 1
[md.pair]
cutoff = 2.5
shift = "force"
[[md.pair.coefficients]]
species = ["M", "M"]
epsilon = 0.2
sigma = 1
[[md.pair.coefficients]]
species = ["E", "E"]
epsilon = 0.1
sigma = 1
[md.ensemble]
type = "langevin"
temperature = 1
relaxation = 0.5
[md.analysis.bonds]
range = [{LOW}, {HIGH}]
bins = {BINS}
every = 5
[output]
observables_every = 5
frames_every = 5
fields = ["position"]
"""
deck = mdrun.write("threes.toml", DECK)


def run(name, *more, ranks=1):
    tap.run(tap.WARPDECK, "run", deck, "output.name=r", "--output", name, "-q",
            *more, ranks=ranks)
    return mdrun.Result(os.path.join(name, "r.h5"))


def difference(x, a, b):
    d = x[:, a::3] - x[:, b::3]
    return d - SIDE * CELLS * np.rint(d / (SIDE * CELLS))


def sizes(r):
    with mdrun.h5py.File(r.path, "r") as f:
        x = f["particles/all/position/value"][...]
    a, b = difference(x, 1, 0), difference(x, 2, 0)
    la, lb = np.sqrt((a * a).sum(-1)), np.sqrt((b * b).sum(-1))
    return la, lb, np.degrees(np.arccos((a * b).sum(-1) / (la * lb)))


def density(values, low, high, bins):
    edges = np.linspace(low, high, bins + 1)
    return np.histogram(values, edges)[0] / values.size / (edges[1] - edges[0])


for ranks in mdrun.rank_counts(1, 3):
    on = "1 rank" if ranks == 1 else f"{ranks} ranks"
    r = run(f"whole{ranks}", ranks=ranks)
    la, lb, angles = sizes(r)
    for name, values, *bins in (("bond_length/1", la, LOW, HIGH, BINS),
                                ("bond_length/2", lb, LOW, HIGH, BINS),
                                ("bond_angle/1", angles, 0, 180, 180)):
        # A value within rounding of an edge may count on either side.
        worst = np.abs(r.table(name)["density"] - density(values, *bins)).max()
        tap.below(worst, 1e-9, f"{name} is that of the frames ({on})")
    run(f"parts{ranks}", "md.steps=33", "checkpoint.keep=2", ranks=ranks)
    run(f"parts{ranks}", "--resume", "auto", ranks=ranks)
    a = mdrun.datasets(os.path.join(f"whole{ranks}", "r.h5"))
    b = mdrun.datasets(os.path.join(f"parts{ranks}", "r.h5"))
    tap.is_([n for n in sorted(set(a) | set(b)) if n not in a or n not in b
             or a[n].tobytes() != b[n].tobytes()], [],
            f"a run in two parts ends with the same bits ({on})")

# ---- a bath of its own for every molecule ----

r = run("bath", "md.steps=6000", "output.frames_every=6000",
        "output.observables_every=1000", "md.analysis.bonds.every=20",
        "md.analysis.bonds.start=500")
table = r.table("bond_length/1")
x = table["r"]
p = x**2 * np.exp(-200 * (x - 1.0) ** 2)  # kT = 1
p /= p.sum() * (x[1] - x[0])
# 125 bonds at 276 times, 0.08 apart, of which the bath's 0.5 make every sixth
# or so a new one; the peak's bin holds one in eight of them. Neighbors and
# angle do not touch the distribution of length by more.
tap.below(np.abs(table["density"] - p).max() / p.max(),
          5 / np.sqrt(125 * 276 / 6 / 8),
          "a bond in a bath is as long as Boltzmann says")

# ---- a range that follows from the coefficients ----

mdrun.write("short.toml", DECK.replace(f"range = [{LOW}, {HIGH}]\n", ""))
tap.run(tap.WARPDECK, "run", "short.toml", "md.steps=5", "-q", "--output", "short")
x = mdrun.Result("short/short.h5").table("bond_length/1")["r"]
width = (1.5 * 1.2 - 0.5 * 1.0) / BINS
tap.near(np.abs(x - (0.5 + width * (np.arange(BINS) + 0.5))).max(), 0, 1e-12,
         "without a range it goes from half the shortest bond to 1.5 of the longest")

# ---- refusals ----

for change, words in (
        (("md.analysis.bonds.range=[1.2, 1.0]",), "range"),
        (("md.analysis.vacf.every=3", "md.analysis.vacf.length=100"),
         "must be a multiple of every"),
        (("md.analysis.profile.pressure=true",), "for Lennard-Jones alone"),
        (("md.analysis.map.axes=[\"x\", \"x\"]",), "names x twice"),
        (("md.analysis.structure_factor.k_max=0.1",), "less than the first"),
        (("md.analysis.structure_factor.k_max=500",), "waves in this box")):
    done = tap.warpdeck("check", deck, *change, check=False)
    tap.ok(done.returncode == 2 and words in done.stderr + done.stdout,
           f"{change[0]} is refused: {words}")
run("keys", "md.steps=10", "checkpoint.keep=2")
done = tap.warpdeck("run", deck, "output.name=r", "--output", "keys", "-q",
                    "md.analysis.bonds.bins=41", "--resume", "auto",
                    check=False)
tap.ok(done.returncode == 2 and "md.analysis.bonds.bins" in done.stderr,
       "bins cannot change when a run goes on")
tap.done()
