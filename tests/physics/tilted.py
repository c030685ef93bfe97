"""Boxes without right angles: one infinite system in a box with right angles and
in a tilted one is the same, over ranks, in time and on the way through files."""

import tap

tap.need("numpy", "h5py")

import h5py
import numpy as np

import metals
import mdrun

TENSOR = [f"pressure_{c}" for c in ("xx", "yy", "zz", "xy", "xz", "yz")]
RANKS = mdrun.rank_counts(1, 2, 3, 4)
# The tilted box in edges of the right-angled one, rows: nine of its volume.
CHOICE = np.array([[3, 0, 0], [1, 3, 0], [-1, 1, 1]])
COPIES = 9


def spread(box, x, choice=CHOICE):
    """The copies of all particles in the tilted box, one after the other."""
    edges = choice * box
    n = np.stack(np.meshgrid(*[range(-4, 5)] * 3, indexing="ij"), -1)
    n = n.reshape(-1, 3)
    inside = n @ np.linalg.inv(choice)
    n = n[((inside > -1e-9) & (inside < 1 - 1e-9)).all(1)]
    assert len(n) == COPIES
    return edges, (x + n[:, None] * box).reshape(-1, 3)


def lattice(edges):
    return " ".join(repr(float(c)) for c in np.ravel(edges))


def same(name, upright, leaning, ranks, tolerance=1e-12):
    """Energies, pressures and forces of the first frames."""
    most = 0.0
    for quantity in ["potential_energy", "pressure"] + TENSOR:
        a = upright.observable(quantity)[0]
        b = leaning.observable(quantity)[0]
        b /= COPIES if quantity == "potential_energy" else 1
        most = max(most, abs(a - b) / max(abs(a), 1))
    force = upright.frame("force", 0)
    other = leaning.frame("force", 0).reshape(COPIES, *force.shape)
    most = max(most, np.abs(other - force).max() / np.abs(force).max())
    tap.below(most, tolerance, f"{name}: energy, forces and pressure tensor are "
              f"those of the right-angled box, on {ranks} ranks")


BOX, X = mdrun.jittered_box(3, cells=(5, 6, 5), spacing=1.15, jitter=0.15)
rng = np.random.default_rng(3)
V = rng.normal(0, 1.5, X.shape)
V -= V.mean(0)
EDGES, XS = spread(BOX, X)
VS = np.tile(V, (COPIES, 1))
mdrun.xyz("upright.xyz", np.diag(BOX), X, "A" * len(X), V)
mdrun.xyz("leaning.xyz", EDGES, XS, "A" * len(XS), VS)

FLUID = """[run]
solver = "md"
[md]
timestep = 0.002
steps = {steps}
pressure_tensor = true
[md.initial]
read = "{read}"
[md.pair]
cutoff = 2.2
skin = 0.3
shift = "force"
[output]
observables_every = {every}
frames_every = {every}
fields = ["position", "velocity", "force", "image"]
{more}
"""


def fluid(read, steps=0, every=20, more=""):
    return FLUID.format(read=read, steps=steps, every=every, more=more)


def way(result, x, edges, copies=1):
    """How far particles went, through the faces."""
    return (result.frame("position") + result.frame("image") @ edges
            - x).reshape(copies, -1, 3)


def check_fluid():
    upright = mdrun.run(fluid("upright.xyz", 150, 50))
    for ranks in RANKS:
        leaning = mdrun.run(fluid("leaning.xyz", 150 if ranks in (1, 3) else 0,
                                  50), ranks=ranks, name=f"leaning{ranks}")
        same("a liquid", upright, leaning, ranks)
        if ranks not in (1, 3):
            continue
        tap.ok(np.abs(leaning.frame("image")).max(0).min() > 0,
               "its particles go through all faces")
        # Rounding grows by a factor of 10 in about 1.5 units of time.
        tap.below(np.abs(way(leaning, XS, EDGES, COPIES)
                         - way(upright, X, np.diag(BOX))).max(), 1e-9,
                  f"and their ways are the same, on {ranks} ranks")
    e = mdrun.Result("out/leaning1.h5").observable("total_energy") / COPIES
    tap.below(np.abs(e - upright.observable("total_energy")).max(), 1e-9,
              "the energy goes as in the right-angled box")
    with h5py.File("out/leaning1.h5") as f:
        tap.ok(np.array_equal(f["particles/all/box/edges/value"][-1], EDGES),
               "edges in the file are the rows of the box")
    again = mdrun.run(fluid("out/leaning1.h5"))
    tap.below(abs(again.observable("potential_energy")[0]
                  / mdrun.Result("out/leaning1.h5")
                  .observable("potential_energy")[-1] - 1), 1e-12,
              "a run may start from its last frame")


def check_strain():
    """Edges that grow, all with the parts that lean."""
    more = "[md.deform]\nrate = [0.9, -0.4, 0.3]"
    upright = mdrun.run(fluid("upright.xyz", 100, 50, more))
    leaning = mdrun.run(fluid("leaning.xyz", 100, 50, more), ranks=RANKS[2])
    grown = np.diag(upright.cell()) / BOX
    tap.below(np.abs(leaning.cell() - EDGES * grown).max(), 1e-12,
              "strained edges keep what leans in proportion")
    x, y = (r.frame("position") + r.frame("image") @ r.cell()
            for r in (upright, leaning))
    # Copies of a particle are so many edges apart as they were.
    away = y.reshape(COPIES, -1, 3) - x - (XS.reshape(COPIES, -1, 3) - X) * grown
    tap.below(np.abs(away).max(), 1e-10,
              "in strained boxes ways are the same, too")
    tap.below(abs(leaning.observable("deform_work")[-1] / COPIES
                  / upright.observable("deform_work")[-1] - 1), 1e-10,
              "and so is the work")


def check_long_tilts():
    """Other edges that span the same lattice, as a file may have them."""
    far = EDGES.copy()
    far[1] += far[0]
    far[2] += 2 * far[1] - far[0]
    mdrun.xyz("far.xyz", far, XS, "A" * len(XS), VS)
    near, long = (mdrun.run(fluid(f)) for f in ("leaning.xyz", "far.xyz"))
    tap.below(np.abs(long.cell() - near.cell()).max(), 1e-13,
              "tilts of more than half an edge become those of the same lattice")
    tap.below(mdrun.worst(long.frame("force"), near.frame("force")), 1e-12,
              "with the same forces")
    n = rng.integers(-3, 4, XS.shape)
    molecule_data("far.data", far, XS, 5, n)
    long = mdrun.run(of_molecules("far.data"))
    tap.below(np.abs(way(long, XS + n @ far, EDGES)).max(), 1e-11,
              "and unwrapped places stay where the file has them")


def check_resume():
    text = mdrun.write("resume.toml", fluid("leaning.xyz", 60, 20,
                                            "[checkpoint]\nevery = 31\n"))
    whole = mdrun.run(text, ranks=RANKS[-1], name="whole")
    for more in (["md.steps=31"], ["--resume", "auto"]):
        tap.run(tap.WARPDECK, "run", text, "output.name=part", "--output",
                "kept", "-q", *more, ranks=RANKS[-1])
    part = mdrun.Result("kept/part.h5")
    tap.ok(all(np.array_equal(part.frame(f), whole.frame(f))
               for f in ("position", "velocity", "force", "image")),
           "a run in a tilted box goes on bit by bit")


# ---- metals ----

METAL = """[run]
solver = "md"
units = "metal"
[md]
timestep = 0.001
steps = 0
pressure_tensor = true
[md.initial]
read = "{read}"
[[md.species]]
name = "Ni"
mass = 58.69
[[md.species]]
name = "Cu"
mass = 63.55
[md.pair]
style = "eam/alloy"
file = "alloy.eam"
skin = 0.5
[output]
frames_every = 1
fields = ["force"]
"""


def check_metal():
    mdrun.write("alloy.eam", metals.setfl(metals.alloy(), ["Ni", "Cu"]))
    box, x = mdrun.jittered_box(5, cells=(5, 5, 5), spacing=2.5, jitter=0.2)
    kind = [("Ni", "Cu")[k % 2] for k in range(len(x))]
    edges, xs = spread(box, x)
    mdrun.xyz("metal.xyz", np.diag(box), x, kind)
    mdrun.xyz("metal9.xyz", edges, xs, kind * COPIES)
    upright = mdrun.run(METAL.format(read="metal.xyz"))
    for ranks in RANKS[::3]:
        same("a metal", upright, mdrun.run(METAL.format(read="metal9.xyz"),
                                           ranks=ranks), ranks)


# ---- charges ----

CHARGED = '''[[md.species]]
name = "P"
charge = 1
[[md.species]]
name = "M"
charge = -1
[[md.pair.coefficients]]
species = ["P", "P"]
epsilon = 1.0
sigma = 0.9
[[md.pair.coefficients]]
species = ["M", "M"]
epsilon = 1.0
sigma = 0.9
[md.coulomb]
splitting = 1.5
accuracy = 1e-3
method = "{method}"
{more}
'''


def check_charges():
    """Molten salt, wave by wave and on a mesh."""
    box, x = mdrun.jittered_box(5, cells=(4, 4, 4), spacing=1.1, jitter=0.15)
    kind = ["PM"[k] for k in rng.permutation(64) % 2]
    edges, xs = spread(box, x)
    mdrun.xyz("salt.xyz", box, x, kind)
    mdrun.xyz("salt9.xyz", edges, xs, kind * COPIES)

    def salt(read, method="ewald", more="wave_cutoff = 12.01"):
        return fluid(read, 20).replace("2.2", "2.15") + CHARGED.format(
            method=method, more=more)

    upright = mdrun.run(salt("salt.xyz"))
    for ranks in RANKS[::3]:
        leaning = mdrun.run(salt("salt9.xyz"), ranks=ranks)
        same("molten salt", upright, leaning, ranks)
        tap.below(np.abs(way(leaning, xs, edges, COPIES)
                         - way(upright, x, np.diag(box))).max(), 1e-11,
                  "and so are the ways of its ions")
    # The near part is the same; of the other one the mesh asks for the accuracy.
    mesh = mdrun.run(salt("salt9.xyz", "pme", ""))
    wrong = mesh.frame("force", 0) - leaning.frame("force", 0)
    tap.below(np.sqrt((wrong ** 2).sum(1).mean()), 1e-3,
              "on a mesh forces are right to the accuracy asked for")
    tap.below(max(abs(mesh.observable(t) - leaning.observable(t)).max()
                  for t in TENSOR), 1e-3, "and so is the pressure tensor")
    tap.below(abs(mesh.observable("total_energy")
                  - leaning.observable("total_energy")).max() / len(xs), 1e-3,
              "and the energy")


# ---- constant pressure ----

PRESSURE = '''[md.ensemble]
type = "npt"
temperature = 1.5
relaxation = 0.3
pressure = 1.0
pressure_relaxation = 0.6
barostat = "mtk"
coupling = "anisotropic"
'''


def check_pressure():
    """Molten salt: what is conserved shows that the box and all components of
    forces and virials belong together."""
    box, x = mdrun.jittered_box(5, cells=(4, 4, 4), spacing=1.15, jitter=0.1)
    edges = box * np.array([[1, 0, 0], [0.5, 1, 0], [-0.2, 0.3, 1]])
    v = rng.normal(0, 1.0, x.shape)
    kind = ["PM"[k] for k in rng.permutation(64) % 2]
    x = x @ np.linalg.inv(np.diag(box)) @ edges
    mdrun.xyz("press.xyz", edges, x, kind, v - v.mean(0))
    # b - a in place of b
    mdrun.xyz("other.xyz", edges - np.outer([0, 1, 0], edges[0]), x, kind,
              v - v.mean(0))

    def salt(read, dt):
        return fluid(read, round(0.1 / dt), round(0.01 / dt), PRESSURE).replace(
            "0.002", str(dt)).replace("2.2", "1.7") + CHARGED.format(
                method="ewald", more="wave_cutoff = 14.01").replace("1.5", "2.3")

    one, two = (mdrun.run(salt("press.xyz", dt)) for dt in (0.002, 0.001))
    spread = [np.ptp(r.observable("conserved_energy")) for r in (one, two)]
    tap.near(spread[0] / spread[1], 4, 0.3, "constant pressure: what is conserved "
             "wanders with the square of the timestep")
    tap.below(spread[1], 0.01 * np.ptp(two.observable("total_energy")),
              "while energy is exchanged")
    grown = np.diag(two.cell(-1)) / np.diag(two.cell(0))
    tap.ok(np.ptp(grown) > 1e-3 and
           np.abs(two.cell(-1) - two.cell(0) * grown).max() < 1e-14 * box[0],
           "x, y and z of all edges grow alike")
    other = mdrun.run(salt("other.xyz", 0.002))
    tap.below(max(mdrun.worst(other.observable(k), one.observable(k)) for k in
                  ("potential_energy", "volume", "conserved_energy")), 1e-11,
              "other edges of the same lattice give the same run")


# ---- analyses and walls ----

ANALYSES = '''[md.analysis.structure_factor]
k_max = 8
bins = 20
every = 1
[md.analysis.profile]
axis = "z"
bins = 8
every = 1
[md.analysis.map]
axes = ["x", "y"]
bins = [6, 5]
every = 1
'''


def shells(result):
    """|rho(k)|^2 per particle, summed over the waves of a shell."""
    t, sums = result.table("structure_factor/all"), np.zeros(20)
    sums[np.minimum((t["k"] / 8 * 20).astype(int), 19)] = t["S"] * t["waves"]
    return sums


def check_analyses():
    upright = mdrun.run(fluid("upright.xyz", 2, 1, ANALYSES))
    leaning = mdrun.run(fluid("leaning.xyz", 2, 1, ANALYSES))
    # Waves that are not those of the right-angled box have no amplitude.
    tap.below(mdrun.worst(shells(leaning) / COPIES, shells(upright)), 1e-12,
              "the structure factor is that of the right-angled box")
    a, b = (r.table("profile/slabs") for r in (leaning, upright))
    tap.below(max(mdrun.worst(a[k], b[k]) for k in a if k not in
                  ("particles", "temperature")), 1e-12,
              "and so are slabs across z")
    where = np.stack([leaning.frame("position", f) for f in range(3)])
    where = where.reshape(-1, 3) @ np.linalg.inv(EDGES) % 1.0
    count = np.histogram2d(where[:, 0], where[:, 1], [6, 5],
                           [[0, 1], [0, 1]])[0]
    tap.ok(np.array_equal(leaning.table("map/columns")["particles"] * 3,
                          count.ravel()), "a map has its columns along the edges")


def check_slit():
    """Between walls, in a box that leans along them."""
    edges, xs = spread(BOX, X, np.array([[3, 0, 0], [1, 3, 0], [0, 0, 1]]))
    mdrun.xyz("slit.xyz", edges, xs, "A" * len(xs), VS)
    walls = "".join(f'[[md.walls]]\nface = "{f}"\nstyle = "harmonic"\nk = 9\n'
                    "cutoff = 0.8\n" for f in ("zlo", "zhi"))
    upright = mdrun.run(fluid("upright.xyz", 40, more=walls))
    leaning = mdrun.run(fluid("slit.xyz", 40, more=walls), ranks=RANKS[-1])
    same("a slit", upright, leaning, RANKS[-1])
    tap.below(np.abs(way(leaning, xs, edges, COPIES)
                     - way(upright, X, np.diag(BOX))).max(), 1e-10,
              "and so are the ways of its particles")
    on = [r.observable("wall_force_zhi") for r in (upright, leaning)]
    tap.below(mdrun.worst(on[1] / COPIES, on[0]), 1e-11,
              "and the forces on a wall")


# ---- molecules ----

def molecule_data(path, edges, x, size, images=None):
    """Chains as a LAMMPS data file; a tilted box has its line of tilts."""
    n = len(x) // size
    first = 1 + size * np.arange(n)
    terms = {name: np.concatenate([first[:, None] + np.arange(k) + i
                                   for i in range(size - k + 1)])
             for name, k in (("bond", 2), ("angle", 3), ("dihedral", 4))}
    lines = ["chains", "", f"{len(x)} atoms", "1 atom types"]
    lines += [f"{len(t)} {name}s" for name, t in terms.items()]
    lines += [f"1 {name} types" for name in terms]
    lines += [f"0 {float(edges[d, d])!r} {c}lo {c}hi"
              for d, c in enumerate("xyz")]
    if np.abs(edges - np.diag(np.diag(edges))).max() > 0:
        lines += [lattice([edges[1, 0], edges[2, 0], edges[2, 1]])
                  + " xy xz yz"]
    lines += ["", "Masses", "", "1 1.0 # A", ""]
    lines += ["Bond Coeffs # harmonic", "", "1 100 1.0", ""]
    lines += ["Angle Coeffs # harmonic", "", "1 20 110", ""]
    lines += ["Dihedral Coeffs # opls", "", "1 1.3 -0.3 0.6 0.1", ""]
    lines += ["Atoms # molecular", ""]
    tails = [""] * len(x) if images is None else [
        " {} {} {}".format(*row) for row in images]
    lines += [f"{i + 1} {1 + i // size} 1 {lattice(row)}{tail}"
              for i, (row, tail) in enumerate(zip(x, tails))]
    for name, rows in terms.items():
        lines += ["", name.capitalize() + "s", ""]
        lines += [f"{i + 1} 1 " + " ".join(map(str, row))
                  for i, row in enumerate(rows)]
    mdrun.write(path, "\n".join(lines) + "\n")


def of_molecules(read, cutoff=2.2):
    return fluid(read).replace("cutoff = 2.2", f"cutoff = {cutoff}").replace(
        "[output]", '[[md.pair.coefficients]]\nspecies = ["A", "A"]\n'
        'epsilon = 1.0\nsigma = 0.8\n[md.bonds]\nspecial_lj = [0, 0, 0.5]\n'
        '[output]').replace("[md.pair]", '[[md.species]]\nname = "A"\n'
                            "mass = 1.0\n[md.pair]")


def check_molecules():
    one = np.array([[0, 0, 0], [0.9, 0.5, 0], [1.8, 0.0, 0.2],
                    [2.7, 0.5, 0.0], [3.6, 0.1, 0.3]])
    step, box = 4.5, np.full(3, 3 * 4.5)
    x = np.concatenate([
        one @ np.linalg.qr(rng.normal(size=(3, 3)))[0]
        + 0.05 * rng.normal(size=one.shape) + step * np.array([i, j, k])
        for i in range(3) for j in range(3) for k in range(3)])
    edges, xs = spread(box, x)
    molecule_data("chains.data", np.diag(box), x, len(one))
    molecule_data("chains9.data", edges, xs, len(one))
    upright = mdrun.run(of_molecules("chains.data", 3.0))
    for ranks in RANKS[::3]:
        leaning = mdrun.run(of_molecules("chains9.data", 3.0), ranks=ranks)
        same("molecules", upright, leaning, ranks)
    parts = [abs(upright.observable(k)[0] * COPIES
                 - leaning.observable(k)[0]) / abs(upright.observable(k)[0])
             for k in ("bond_energy", "angle_energy", "dihedral_energy")]
    tap.below(max(parts), 1e-12, "and so is each part of the energy")


# ---- decks ----

CRYSTAL = """[run]
solver = "md"
[domain]
tilt = {tilt}
[md]
timestep = 0.002
steps = 0
[md.initial]
lattice = "fcc"
cells = [6, 6, 6]
density = 1.0
[md.pair]
cutoff = 2.5
{more}
"""


def check_decks():
    edge = 6 * 4 ** (1 / 3)
    upright = mdrun.run(CRYSTAL.format(tilt="[0, 0, 0]", more=""))
    shifted = mdrun.run(CRYSTAL.format(
        tilt=f"[{edge / 3!r}, {-edge / 6!r}, {edge / 2!r}]", more=""))
    energy = upright.observable("potential_energy")[0]
    tap.ok(abs(shifted.observable("potential_energy")[0] / energy - 1) > 1e-4,
           "a crystal is tilted with its box")
    for more, said in (
            ("[domain]\ntilt = [6, 0, 0]", "6 is more than half"),
            ('[[md.walls]]\nface = "zlo"\nstyle = "reflect"\n[[md.walls]]\n'
             'face = "zhi"\nstyle = "reflect"', "does not lean there"),
            ("[md.analysis.structure_factor]\nk_max = 0.3", "first wave")):
        deck = CRYSTAL.format(tilt="[1, 0, 2]", more=more)
        if more.startswith("[domain]"):
            deck = CRYSTAL.format(tilt="[6, 0, 0]", more="")
        status, text = mdrun.refused(deck)
        tap.ok(status == 2 and said in text,
               f"{more.splitlines()[0]} is refused: {said}")
        if said not in text:
            tap.note(text)


check_fluid()
check_strain()
check_long_tilts()
check_resume()
check_metal()
check_charges()
check_pressure()
check_analyses()
check_slit()
check_molecules()
check_decks()
tap.done()
