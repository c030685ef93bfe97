"""Walls and constant fields: energies and forces against plain sums and against
LAMMPS, over ranks; an ideal gas in gravity; energy; decks that are wrong."""

import shutil

import tap

tap.need("numpy", "h5py")

import numpy as np

import mdrun

CUTOFF = 2.0
BOX, X = mdrun.jittered_box(23, cells=(5, 5, 6), spacing=1.1, jitter=0.1)
BOX[2] += 0.8  # between the walls along z
X[:, 2] += 0.4
N = len(X)
rng = np.random.default_rng(23)
KIND = rng.integers(0, 2, N)
CHARGE = np.where(KIND == 0, 0.5, -0.5)
MASS = np.where(KIND == 0, 1.0, 2.0)
V = rng.normal(0, 0.5, X.shape)
V -= np.average(V, axis=0, weights=MASS)
mdrun.xyz("walls.xyz", BOX, X, ["AB"[k] for k in KIND], V)

DECK = """[run]
solver = "md"
[md]
timestep = 0.002
steps = {steps}
[md.initial]
read = "walls.xyz"
[[md.species]]
name = "A"
mass = 1.0
charge = 0.5
[[md.species]]
name = "B"
mass = 2.0
charge = -0.5
[md.pair]
cutoff = 2.0
skin = 0.3
shift = "force"
[[md.pair.coefficients]]
species = ["A", "A"]
epsilon = 1.0
sigma = 1.0
[[md.pair.coefficients]]
species = ["B", "B"]
epsilon = 1.0
sigma = 1.0
[[md.walls]]
face = "zlo"
style = "lj93"
epsilon = 1.5
sigma = 0.9
cutoff = 2.2
[[md.walls]]
face = "zhi"
style = "harmonic"
k = 20.0
cutoff = 1.2
species = ["A"]
[md.field]
acceleration = [0.0, 0.1, -0.5]
electric = [0.3, 0.0, 0.2]
[output]
observables_every = 20
frames_every = 100
fields = ["position", "velocity", "force", "image"]
{more}
"""


FALL = """[run]
solver = "md"
[md]
timestep = 0.005
steps = 200
[md.initial]
read = "fall.xyz"
[[md.species]]
name = "A"
mass = 1.0
[md.pair]
style = "buckingham"
cutoff = 2.5
[[md.pair.coefficients]]
species = ["A", "A"]
a = 100.0
rho = 0.3
c = 0.8
"""


def deck(steps=0, more=""):
    return DECK.format(steps=steps, more=more)


def plain(x):
    """Parts of the energy, forces, and forces on the lower and the upper wall.
    Pairs have images along x and y only."""
    i, j = np.triu_indices(N, 1)
    d = x[i] - x[j]
    d[:, :2] -= BOX[:2] * np.rint(d[:, :2] / BOX[:2])
    r = np.sqrt((d * d).sum(1))
    near = r < CUTOFF
    i, j, d, r = i[near], j[near], d[near], r[near]

    def lj(r):
        s6 = r**-6.0
        return 4 * (s6 * s6 - s6), 24 * (2 * s6 * s6 - s6) / r

    u, f = lj(r)
    uc, fc = lj(CUTOFF)
    pair = (u - uc + (r - CUTOFF) * fc).sum()
    force = np.zeros((N, 3))
    for e in range(3):
        g = (f - fc) / r * d[:, e]
        force[:, e] = np.bincount(i, g, N) - np.bincount(j, g, N)

    def lj93(r):
        s3 = (0.9 / r)**3
        return (1.5 * (2 / 15 * s3**3 - s3), 1.5 * (18 / 15 * s3**3 - 3 * s3) / r)

    z = x[:, 2]
    on = z < 2.2
    u, f = lj93(z[on])
    wall = (u - lj93(2.2)[0]).sum()
    force[on, 2] += f
    low = -f.sum()
    gap = 1.2 - (BOX[2] - z)
    on = (gap > 0) & (KIND == 0)
    wall += 20 * (gap[on]**2).sum()
    force[on, 2] -= 40 * gap[on]
    high = 40 * gap[on].sum()
    outer = (MASS[:, None] * np.array([0, 0.1, -0.5])
             + CHARGE[:, None] * np.array([0.3, 0, 0.2]))
    return (pair, wall, -(outer * x).sum()), force + outer, (low, high)


def check_sums():
    parts, force, on_wall = plain(X)
    names = ("pair_energy", "wall_energy", "field_energy")
    for ranks, grid in ((1, None), (2, [1, 1, 2]), (3, [1, 1, 3]),
                        (4, [2, 1, 2])):
        if ranks not in mdrun.rank_counts(1, 2, 3, 4):
            continue
        more = f"\n[domain]\nranks = {grid}" if grid else ""
        got = mdrun.run(deck(more=more), ranks=ranks)
        worst = max(max(abs(got.observable(n)[0] / e - 1)
                        for n, e in zip(names, parts)),
                    abs(got.observable("wall_force_zlo")[0] / on_wall[0] - 1),
                    abs(got.observable("wall_force_zhi")[0] / on_wall[1] - 1),
                    abs(got.observable("potential_energy")[0] / sum(parts) - 1),
                    mdrun.worst(got.frame("force", 0), force))
        tap.below(worst, 1e-12, "energies, forces and forces on walls are the "
                  f"plain sums, {ranks} ranks")
    got = mdrun.run(deck(), "md.precision=mixed")
    tap.below(mdrun.worst(got.frame("force", 0), force), 1e-5,
              "forces in mixed precision")
    h, worst = 1e-5, 0.0
    for a, d in ((0, 2), (N - 1, 2), (40, 0), (60, 1), (75, 2)):
        e = []
        for s in (h, -h):
            y = X.copy()
            y[a, d] += s
            e.append(sum(plain(y)[0]))
        worst = max(worst, abs(force[a, d] + (e[0] - e[1]) / (2 * h)))
    tap.below(worst / np.abs(force).max(), 1e-7,
              "forces are slopes of the energy")
    e = [plain(X + [0, 0, s])[0][1] for s in (h, -h)]
    tap.near(sum(on_wall), (e[0] - e[1]) / (2 * h), 1e-6,
             "the force on the walls is the slope of their energy")


def check_motion():
    text = deck(400, '[checkpoint]\nevery = 97\n[md.coulomb]\nmethod = "dsf"\n')
    whole = mdrun.run(text, name="whole")
    e = whole.observable("total_energy") / N
    drift = np.polyfit(np.arange(len(e)), e, 1)[0] * len(e)
    tap.ok(np.ptp(e) < 2e-3 and abs(drift) < 1e-3,
           "the energy of 400 steps is conserved")
    tap.note(f"spread {np.ptp(e):.1e}, drift {drift:.1e} a particle")
    x, image = whole.frame("position"), whole.frame("image")
    tap.ok((image[:, 2] == 0).all() and (x[:, 2] > 0).all()
           and (x[:, 2] < BOX[2]).all(), "everybody stays between the walls")
    if 2 in mdrun.rank_counts(2):
        two = mdrun.run(text, "md.steps=100", ranks=2)
        tap.below(mdrun.worst(two.frame("position"), whole.frame("position", 1)),
                  1e-9, "2 ranks go the same way")
    path = mdrun.write("half.toml", text)
    for more in (["md.steps=97"], ["--resume", "auto"]):
        tap.run(tap.WARPDECK, "run", path, "output.name=part", "--output",
                "kept", "-q", *more)
    part = mdrun.Result("kept/part.h5")
    tap.ok(all(np.array_equal(part.frame(f), whole.frame(f))
               for f in ("position", "velocity", "force")),
           "a run between walls goes on bit by bit")


# ---- an ideal gas ----

GAS = """[run]
solver = "md"
seed = 5
[md]
timestep = {dt}
steps = {steps}
[md.initial]
{start}
[[md.species]]
name = "A"
mass = 1.0
[md.pair]
cutoff = 0.5
skin = 0.5
[[md.pair.coefficients]]
species = ["A", "A"]
epsilon = 0.0
sigma = 0.1
{walls}
[md.field]
acceleration = [0.0, 0.0, -1.0]
[output]
observables_every = 100
frames_every = {frames}
{more}
"""


def faces(*names):
    return "".join(f'[[md.walls]]\nface = "{n}"\n' for n in names)


def barometric(z, height=4.0):
    """The share of a gas at kT = m g = 1 that is below z."""
    return (1 - np.exp(-z)) / (1 - np.exp(-height))


def misfit(z, samples=1):
    """Chi squared over degrees of freedom of 16 equal shares of the law."""
    share = np.histogram(barometric(z), 16, (0, 1))[0] / samples
    expected = len(z) / samples / 16
    return ((share - expected)**2).sum() / expected / 15 * samples


def check_gas():
    box, n = np.array([4.0, 4.0, 4.0]), 4000
    gen = np.random.default_rng(3)
    x = gen.uniform(0, 4, (n, 3))
    x[:, 2] = -np.log(1 - gen.uniform(0, 1, n) * (1 - np.exp(-4.0)))
    v = gen.normal(0, 1, (n, 3))
    v[:, :2] -= v[:, :2].mean(0)
    mdrun.xyz("gas.xyz", box, x, ["A"] * n, v)
    all_faces = faces("xlo", "xhi", "ylo", "yhi", "zlo", "zhi")
    r = mdrun.run(GAS.format(dt=0.005, steps=1000, frames=500, more="",
                             start='read = "gas.xyz"', walls=all_faces))
    z = r.frame("position")[:, 2]
    chi = misfit(z)
    # 15 degrees of freedom: a mean of 1, 3.3 standard deviations
    tap.ok(chi < 2.2 and np.corrcoef(z, x[:, 2])[0, 1] < 0.9,
           f"a gas in gravity keeps the barometric law ({chi:.2f})")
    e = r.observable("total_energy") / n
    # each bounce errs by up to m g v dt, to either side: 5 bounces a particle
    tap.below(np.ptp(e), 1e-3, "and its energy")
    tap.note(f"{np.ptp(e):.1e} of {e[0]:.3f}")
    temperature = 'type = "langevin"\ntemperature = 1.0\nrelaxation = 0.5'
    r = mdrun.run(GAS.format(
        dt=0.02, steps=5000, frames=250, walls=faces("zlo", "zhi"),
        start='lattice = "sc"\ncells = [8, 8, 8]\nlattice_constant = 0.5\n'
        "temperature = 1.0", more=f"[md.ensemble]\n{temperature}"),
        "run.seed=7")
    z = np.concatenate([r.frame("position", k)[:, 2] for k in range(6, 21)])
    # frames 5 apart are nearly independent: the slowest mode lives about 8
    chi = misfit(z)
    tap.ok(chi < 4, f"a thermostat brings a lattice to it ({chi:.2f})")
    mean = 1 - 4 * np.exp(-4.0) / (1 - np.exp(-4.0))
    tap.near(z.mean(), mean, 0.04, f"mean height is {mean:.3f}")


def check_refusals():
    good = deck()

    def bad(text, says, code=2):
        status, said = mdrun.refused(text)
        tap.ok(status == code and says in said, f"refused: {says}")
        if says not in said:
            tap.note(said)

    bad(good.replace('face = "zhi"', 'face = "zlo"'),
        "a wall at zlo needs one at zhi")
    bad(good.replace("k = 20.0\n", ""),
        'md.walls.k is missing: style "harmonic" needs it')
    bad(good.replace("k = 20.0\n", "k = 20.0\nsigma = 1.0\n"),
        'md.walls.sigma has no meaning for style "harmonic"')
    bad(good.replace('["A"]\n[md.field]', '["C"]\n[md.field]'),
        "unknown species 'C'; declared: A, B")
    bad(deck(more='[md.coulomb]\nmethod = "ewald"'),
        "[[md.walls]] in z with methods pme and ewald need "
        "md.coulomb.slab = true")
    bad(deck(more='[md.ensemble]\ntype = "npt"\ntemperature = 1.0\n'
             "pressure = 1.0\nrelaxation = 1.0\npressure_relaxation = 1.0\n"
             + "".join(f'[[md.walls]]\nface = "{d}{e}"\n' for d in "xyz"
                       for e in ("lo", "hi"))),
        'type "npt" changes the edges that coupling names, in directions '
        "without [[md.walls]]")
    outside = X.copy()
    outside[7, 2] = -0.1
    mdrun.xyz("outside.xyz", BOX, outside, ["AB"[k] for k in KIND], V)
    bad(good.replace("walls.xyz", "outside.xyz"),
        "particle 8 is at z = -0.1 at the start, outside of the walls")
    fast = V.copy()
    fast[0] = [0, 0, -300]
    mdrun.xyz("outside.xyz", BOX, X, ["AB"[k] for k in KIND], fast)
    bad(deck(10).replace("walls.xyz", "outside.xyz"),
        "went through a wall; the timestep 0.002 is probably", 3)
    # Two that are fast enough for the barrier of Buckingham's potential at 0.798
    # (a exp(-r / rho) / rho = 6 c / r^7), which is 3.9 high.
    mdrun.xyz("fall.xyz", [8.0] * 3, [[4, 4, 2], [4, 4, 6]], "AA",
              [[0, 0, 4], [0, 0, -4]])
    walls = "".join(f'[[md.walls]]\nface = "z{e}"\n' for e in ("lo", "hi"))
    for more, what in ((walls, "went through a wall"), ("", "farther than its")):
        status, said = mdrun.refused(FALL + more)
        if not tap.ok(status == 3 and what in said and
                      "or a pair fell through the barrier of its Buckingham "
                      "potential" in said, f"a pair that falls together: {what}"):
            tap.note(said)


# ---- LAMMPS ----

LAMMPS = """units lj
atom_style charge
boundary p p f
read_data walls.data
pair_style lj/smooth/linear 2.0
pair_coeff * * 1.0 1.0 2.0
group a type 1
fix 1 all wall/lj93 zlo EDGE 1.5 0.9 2.2
fix 2 a wall/harmonic zhi EDGE 20.0 1.0 1.2
fix 3 all gravity 0.5099019513592785 vector 0 0.1 -0.5
fix 4 all efield 0.3 0.0 0.2
fix_modify 1 energy yes
fix_modify 2 energy yes
fix_modify 3 energy yes
fix_modify 4 energy yes
dump 1 all custom 1 forces.txt id fx fy fz
dump_modify 1 sort id format float %.17g
thermo_style custom pe f_1[1] f_2[1]
thermo_modify norm no format float %.15g
run 0
"""


def check_peer():
    if not shutil.which("lmp"):
        tap.skip(1, "no LAMMPS (lmp) here")
        return
    mdrun.lammps_data("walls.data", BOX, X, KIND, (1, 2), charge=CHARGE)
    mdrun.write("in.walls", LAMMPS)
    lines = tap.run("lmp", "-log", "none", "-in",
                    "in.walls").stdout.split("\n")
    at = next(k for k, line in enumerate(lines) if "PotEng" in line)
    energy, low, high = (float(w) for w in lines[at + 1].split())
    force = np.loadtxt("forces.txt", skiprows=9)[:, 1:]
    got = mdrun.run(deck())
    worst = max(abs(got.observable("potential_energy")[0] / energy - 1),
                abs(got.observable("wall_force_zlo")[0] / low - 1),
                abs(got.observable("wall_force_zhi")[0] / high - 1),
                mdrun.worst(got.frame("force", 0), force))
    tap.below(worst, 1e-11, "LAMMPS: energy, forces, and forces on the walls")
    tap.note(f"{got.observable('potential_energy')[0]!r} {energy!r} "
             f"{low!r} {high!r}")


check_sums()
check_motion()
check_gas()
check_refusals()
check_peer()
tap.done()
