"""Boxes whose faces follow the particles: motion is that in a very large periodic
box, nobody is lost however far they go, and bounds, volume and pressure are
LAMMPS's; over ranks, backends and restarts."""

import os
import shutil

import tap

tap.need("numpy", "h5py")

import h5py
import numpy as np

import bonds
import mdrun

RANKS = mdrun.rank_counts(1, 2, 3)
OPEN = '["shrink", "shrink", "shrink"]'
FILM = '["periodic", "periodic", "shrink"]'
L = 30.0
MARGIN = 1e-4 * L

box, X = mdrun.jittered_box(5, cells=(4, 5, 4), spacing=1.15, jitter=0.1)
X = X + 0.5 * (L - box)
rng = np.random.default_rng(5)
V = rng.normal(0, 0.8, X.shape)
V -= V.mean(0)
mdrun.xyz("drop.xyz", [L] * 3, X, "A" * len(X), V)
FAR = 400.0
mdrun.xyz("far.xyz", [FAR] * 3, X + 0.5 * (FAR - L), "A" * len(X), V)

DECK = """[run]
solver = "md"
seed = 4
[domain]
boundary = {boundary}
[md]
timestep = 0.002
steps = {steps}
[md.initial]
read = "{read}"
overlap = 0
[md.pair]
cutoff = {cutoff}
skin = 0.3
shift = "force"
{pair}
[output]
observables_every = {every}
frames_every = {every}
fields = ["position", "velocity", "force", "image"]
{more}
"""


def deck(read="drop.xyz", boundary=OPEN, steps=200, every=50, cutoff=2.5,
         pair="", more=""):
    return DECK.format(read=read, boundary=boundary, steps=steps, every=every,
                       cutoff=cutoff, pair=pair, more=more)


PERIODIC = '["periodic", "periodic", "periodic"]'


def corner(r, index=-1):
    with h5py.File(r.path, "r") as f:
        return f["particles/all/box/lower/value"][index]


def check_drop():
    """Rounding grows little in 0.4 units of time."""
    far = mdrun.run(deck("far.xyz", PERIODIC))
    for precision, ranks in [("double", n) for n in RANKS] + [("mixed", 1),
                                                             ("single", 2)]:
        if ranks not in RANKS:
            continue
        r = mdrun.run(deck(), f'md.precision="{precision}"', ranks=ranks,
                      name=f"drop-{precision}{ranks}")
        off = np.abs(r.frame("position") + 0.5 * (FAR - L)
                     - far.frame("position")).max()
        tap.below(off, {"double": 2e-12, "mixed": 1e-4, "single": 1e-3}
                  [precision],
                  f"a drop moves as in a very large box, {precision}, on {ranks}"
                  " ranks")
    r = mdrun.Result("out/drop-double1.h5")
    for name in ("total_energy", "temperature"):
        tap.below(mdrun.worst(r.observable(name), far.observable(name)), 1e-12,
                  f"its {name} is the same")
    tap.ok(not r.frame("image").any(), "nobody goes through a face")
    p = np.abs(r.frame("velocity").mean(0)).max()
    tap.below(p, 1e-13, "the momentum stays zero")
    two = mdrun.Result(f"out/drop-double{RANKS[-1]}.h5")
    tap.ok(all(np.array_equal(r.observable(k), two.observable(k))
               or mdrun.worst(r.observable(k), two.observable(k)) < 1e-12
               for k in ("box_x", "box_y", "box_z", "box_xlo", "volume",
                         "pressure")), "ranks agree on box and pressure")


def check_bounds():
    r = mdrun.run(deck(steps=40, every=8, more=""), "md.pair.rebuild_every=1")
    worst = 0.0
    for k in range(6):
        x = r.frame("position", k)
        worst = max(worst, np.abs(corner(r, k) - (x.min(0) - MARGIN)).max(),
                    np.abs(r.edges(k) - (np.ptp(x, 0) + 2 * MARGIN)).max())
        worst = max(worst, abs(r.observable("volume")[k]
                               / np.prod(r.edges(k)) - 1),
                    abs(r.observable("box_ylo")[k] - corner(r, k)[1]))
    tap.below(worst, 1e-12, "faces are a ten-thousandth of the first edges "
              "beyond the outermost particles, in frames and observables")
    again = mdrun.run(deck(r.path, steps=0, every=1))
    tap.below(max(np.abs(corner(again) + MARGIN / L * (r.edges() - L)
                         - corner(r)).max(), abs(
                  again.observable("potential_energy")[0]
                  / r.observable("potential_energy")[-1] - 1)), 1e-12,
              "a run may start from its last frame")
    low = mdrun.run(deck(steps=10, every=10,
                         boundary='["minimum", "shrink", "minimum"]'))
    tap.ok(np.allclose(low.edges()[[0, 2]], L, rtol=1e-12)
           and low.edges()[1] < 0.5 * L and corner(low)[0] == 0,
           "minimum does not come inside of the first box")


GAS = 'style = "soft"\n[[md.pair.coefficients]]\nspecies = ["A", "A"]\na = 1e-30\n'


def check_flight():
    """Particles without forces: ways are known."""
    n = 400
    rng = np.random.default_rng(6)
    x = 15 + rng.normal(0, 1.5, (n, 3))
    v = 30 * rng.normal(0, 1, (n, 3))
    for name, speed in (("expands", v), ("collapses", -(x - 15) / 0.4)):
        mdrun.xyz("gas.xyz", [L] * 3, x, "A" * n, speed)
        for ranks in RANKS:
            r = mdrun.run(deck("gas.xyz", cutoff=1.0, pair=GAS, steps=200,
                               every=200).replace('shift = "force"\n', ""),
                          ranks=ranks)
            tap.below(np.abs(r.frame("position") - x - 0.4 * speed).max(), 1e-11,
                      f"a gas that {name} flies freely, on {ranks} ranks")
        edges = np.ptp(x + 0.4 * speed, 0)
        tap.below((r.edges() / (edges + 0.6 + 2 * MARGIN)).max(), 1.01,
                  f"its box follows, to {r.edges()[0]:.3g}")


def check_film():
    """Periodic along two directions; empty space above."""
    y = X.copy()
    y[:, :2] -= 0.5 * (L - box)[:2]
    mdrun.xyz("film.xyz", [box[0], box[1], L], y, "A" * len(y), V)
    mdrun.xyz("tall.xyz", [box[0], box[1], FAR], y + [0, 0, 0.5 * (FAR - L)],
              "A" * len(y), V)
    tall = mdrun.run(deck("tall.xyz", PERIODIC, cutoff=2.2))
    for ranks in RANKS:
        r = mdrun.run(deck("film.xyz", FILM, cutoff=2.2), ranks=ranks)
        off = (r.frame("position") + r.frame("image") @ r.cell()
               - tall.frame("position") - tall.frame("image") @ tall.cell())
        tap.below(np.abs(off + [0, 0, 0.5 * (FAR - L)]).max(), 2e-12,
                  f"a film moves as in a tall box, on {ranks} ranks")
    thermostat = ('[md.ensemble]\ntype = "langevin"\ntemperature = 1.0\n'
                  "relaxation = 0.5\n")
    one, many = (mdrun.run(deck("film.xyz", FILM, cutoff=2.2, more=thermostat),
                           ranks=n) for n in (1, RANKS[-1]))
    tap.below(np.abs(one.frame("position") - many.frame("position")).max(),
              1e-10, "and so with a thermostat, on any ranks")


def check_molecules():
    bonds.data_file("box.data", n=2)
    with open("box.data", encoding="utf-8") as f:
        text = f.read()
    far = text
    for c in "xyz":
        far = far.replace(f"0.0 10.4 {c}lo {c}hi", f"-200 200 {c}lo {c}hi")
    assert far != text
    mdrun.write("wide.data", far)
    text = bonds.deck("{}", 200, 100)
    # One of the molecules alone is longer than half of its own box.
    one, many = (mdrun.run('[domain]\nboundary = ' + b + "\n"
                           + text.replace("{}", name), ranks=ranks)
                 for b, name, ranks in ((PERIODIC, "wide.data", 1),
                                        (OPEN, "box.data", RANKS[-1])))
    names = [k + "_energy" for k in ("pair", "bond", "angle", "dihedral",
                                     "improper", "total")]
    tap.below(max(mdrun.worst(many.observable(k), one.observable(k))
                  for k in names), 1e-11, "molecules have the same energies")
    mdrun.write("dimer.data", "one bond\n\n2 atoms\n1 bonds\n1 atom types\n"
                "1 bond types\n0 20 xlo xhi\n0 20 ylo yhi\n0 20 zlo zhi\n\n"
                "Masses\n\n1 1.0 # C\n\nBond Coeffs # harmonic\n\n1 100 1.15\n\n"
                "Atoms # bond\n\n1 1 1 4 4 4\n2 1 1 5.3 4 4\n\nBonds\n\n1 1 1 2\n")
    r = mdrun.run(deck("dimer.data", steps=0, every=1,
                       more="[md.bonds]\nspecial_lj = [0, 0, 0]\n",
                       pair='[[md.pair.coefficients]]\nspecies = ["C", "C"]\n'
                            "epsilon = 1\nsigma = 1\n"))
    tap.near(r.observable("bond_energy")[0], 100 * 0.15**2, 1e-12,
             "a bond may be as long as the box that it makes")


def check_resume():
    text = mdrun.write("resume.toml", deck(steps=120, every=30)
                       + "[checkpoint]\nevery = 47\n")
    for precision in ("double", "single"):
        key = f'md.precision="{precision}"'
        whole = mdrun.run(text, key, ranks=RANKS[1], name="whole" + precision)
        for more in (["md.steps=47"], ["--resume", "auto"]):
            tap.run(tap.WARPDECK, "run", text, key, f"output.name=p{precision}",
                    "--output", "kept" + precision, "-q", *more, ranks=RANKS[1])
        part = mdrun.Result(f"kept{precision}/p{precision}.h5")
        same = [np.array_equal(part.frame(f), whole.frame(f))
                for f in ("position", "velocity", "force")]
        same += [np.array_equal(part.observable(f), whole.observable(f))
                 for f in ("volume", "pressure", "total_energy", "box_xlo")]
        same += [np.array_equal(corner(part, k), corner(whole, k))
                 for k in range(5)]
        tap.ok(all(same), f"a run goes on bit by bit, {precision}")
    tap.run(tap.WARPDECK, "run", text, "output.name=other", "--output", "other",
            "-q", "md.steps=47", ranks=RANKS[-1])
    tap.run(tap.WARPDECK, "run", text, "output.name=other", "--output", "other",
            "-q", "--resume", "auto")
    other, whole = mdrun.Result("other/other.h5"), mdrun.Result(
        "out/wholedouble.h5")
    tap.below(np.abs(other.frame("position") - whole.frame("position")).max(),
              1e-12, "and on another count of ranks within rounding")


def check_card():
    program = os.path.join(tap.TOP_BUILDDIR, "warpdeck-cudasim")
    if not os.path.exists(program):
        tap.skip(3, "no simulated card in this build")
        return
    cpu = mdrun.run(deck(steps=60, every=20))
    for precision, most in (("double", 1e-12), ("single", 1e-4)):
        card = mdrun.run(deck(steps=60, every=20),
                         f'md.precision="{precision}"', program=program,
                         device="cuda")
        tap.below(max([np.abs(card.frame("position")
                              - cpu.frame("position")).max()]
                      + [mdrun.worst(card.observable(k), cpu.observable(k))
                         for k in ("volume", "pressure", "total_energy")]), most,
                  f"a card has the same motion and box, {precision}")
    if len(RANKS) < 2:
        tap.skip(1, "built without MPI")
        return
    card = mdrun.run(deck(steps=60, every=20), program=program, device="cuda",
                     ranks=2)
    tap.below(np.abs(card.frame("position") - cpu.frame("position")).max(), 1e-12,
              "and two cards")


LAMMPS = """units lj
atom_style atomic
boundary s s s
read_data drop.data
pair_style lj/smooth/linear 2.5
pair_coeff 1 1 1 1
neighbor 0.3 bin
neigh_modify every 1 delay 0 check no
fix 1 all nve
timestep 0.002
thermo 25
thermo_style custom pe ke press vol xlo xhi ylo yhi zlo zhi
thermo_modify norm no format float %.15g
run 100
"""


def check_peer():
    program = shutil.which("lmp")
    if not program:
        tap.skip(3, "no LAMMPS (lmp) here")
        return
    mdrun.lammps_data("drop.data", [L] * 3, X, [0] * len(X), [1.0], None, V)
    mdrun.write("peer.in", LAMMPS)
    out = tap.run(program, "-in", "peer.in", "-log", "none",
                  env={**os.environ, "OMP_NUM_THREADS": "1"}).stdout
    lines = out.splitlines()
    head = next(i for i, s in enumerate(lines) if s.split()[:1] == ["PotEng"])
    rows = np.array([[float(w) for w in s.split()]
                     for s in lines[head + 1:head + 6]])
    r = mdrun.run(deck(steps=100, every=25), "md.pair.rebuild_every=1")
    ours = [r.observable(k) for k in ("potential_energy", "kinetic_energy",
                                      "pressure", "volume")]
    for d in "xyz":
        low = r.observable(f"box_{d}lo")
        ours += [low, low + r.observable(f"box_{d}")]
    ours = np.array(ours).T
    off = np.abs(ours - rows) / np.abs(rows).max(0)
    tap.below(off[:, :2].max(), 1e-10, "LAMMPS: energies at five steps")
    tap.below(off[:, 4:].max(), 1e-10, "LAMMPS: bounds of the box")
    tap.below(off[:, 2:4].max(), 1e-10, "LAMMPS: pressure and volume")


METAL = """[run]
solver = "md"
units = "metal"
[domain]
size = {size}
boundary = {boundary}
[md]
timestep = 0.001
steps = 100
[md.initial]
lattice = "fcc"
cells = [4, 3, 3]
lattice_constant = 3.63
temperature = 900
{more}
[[md.species]]
name = "Cu"
mass = 63.546
[md.pair]
style = "eam/alloy"
file = "copper.eam.alloy"
skin = 1.0
[output]
observables_every = 50
frames_every = 50
"""
SALT = """[[md.species]]
name = "A"
mass = 1.0
charge = 0.6
[[md.species]]
name = "B"
mass = 1.5
charge = -0.6
"""


def check_forces():
    """Beside Lennard-Jones: metals, charges, a minimum before the run."""
    shutil.copy(os.path.join(mdrun.INPUTS, "copper.eam.alloy"), ".")
    far = mdrun.run(METAL.format(size=[60.0] * 3, boundary=PERIODIC, more=""))
    for ranks, more in ((1, ()), (RANKS[-1], ('domain.balance="count"',
                                              "domain.balance_threshold=1",
                                              "domain.balance_every=1"))):
        r = mdrun.run(METAL.format(size=[60.0] * 3, boundary=OPEN, more=""),
                      *more, ranks=ranks)
        tap.below(np.abs(r.frame("position") - far.frame("position")).max(),
                  1e-11, f"a piece of metal moves as in a large box, on {ranks} "
                  "ranks" + (", whose blocks are balanced" if more else ""))
    kind = ["AB"[k % 2] for k in range(len(X))]
    mdrun.xyz("salt.xyz", [L] * 3, X, kind, V)
    mdrun.xyz("salt-far.xyz", [FAR] * 3, X + 0.5 * (FAR - L), kind, V)
    pair = "".join(f'[[md.pair.coefficients]]\nspecies = ["{a}", "{a}"]\n'
                   "epsilon = 1\nsigma = 1\n" for a in "AB")
    for method in ("cut", "dsf"):
        more = f'[md.coulomb]\nmethod = "{method}"\n'
        one, many = (mdrun.run(SALT + deck(name, b, steps=100, pair=pair,
                                           more=more), ranks=ranks)
                     for name, b, ranks in (("salt-far.xyz", PERIODIC, 1),
                                            ("salt.xyz", OPEN, RANKS[-1])))
        tap.below(np.abs(many.frame("position") + 0.5 * (FAR - L)
                         - one.frame("position")).max(), 2e-12,
                  f"charges, {method}: the same motion")
    least = "[md.minimize]\nforce = 1e-3\nsteps = 200\n"
    one, many = (mdrun.run(deck(name, b, steps=0, every=1, more=least),
                           ranks=ranks)
                 for name, b, ranks in (("far.xyz", PERIODIC, 1),
                                        ("drop.xyz", OPEN, RANKS[-1])))
    tap.below(mdrun.worst(many.observable("potential_energy"),
                          one.observable("potential_energy")), 1e-10,
              "a minimum is the same")


def check_refusals():
    wall = "".join(f'[[md.walls]]\nface = "x{s}"\n' for s in ("lo", "hi"))
    for more, said in (
            (wall, "[[md.walls]] in x stand still"),
            ("[md.deform]\nrate = [0, 0, 0.1]\n", "[md.deform] does not go"),
            ('[md.ensemble]\ntype = "npt"\ntemperature = 1\nrelaxation = 1\n'
             "pressure = 1\npressure_relaxation = 1\n", 'type "npt" does not go'),
            ("[md.analysis.profile]\n", "[md.analysis.profile] does not go")):
        status, err = mdrun.refused(deck(more=more))
        if not tap.ok(status == 2 and said in err, f"refused: {said}"):
            tap.note(err)
    for boundary, said in (('["free", "shrink", "shrink"]', "expected one of"),
                           ('["shrink"]', "domain.boundary")):
        status, err = mdrun.refused(deck(boundary=boundary))
        if not tap.ok(status == 2 and said in err, f"refused: {boundary}"):
            tap.note(err)
    lean = np.diag([L] * 3) + np.array([[0, 0, 0], [0, 0, 0], [1.0, 0, 0]])
    mdrun.xyz("lean.xyz", lean, X, "A" * len(X), V)
    status, err = mdrun.refused(deck("lean.xyz", FILM))
    tap.ok(status == 2 and "in z must not lean there: the tilt xz is 1" in err,
           "refused: a tilt along the direction")
    with open("drop.data", "w", encoding="utf-8") as f:
        f.write("one\n\n1 atoms\n1 atom types\n0 9 xlo xhi\n0 9 ylo yhi\n"
                "0 9 zlo zhi\n\nMasses\n\n1 1\n\nAtoms # atomic\n\n"
                "1 1 4 4 4 0 1 0\n")
    status, err = mdrun.refused(deck("drop.data", pair='[[md.pair.coefficients'
                                     ']]\nspecies = ["1", "1"]\nepsilon = 1\n'
                                     "sigma = 1\n"))
    if not tap.ok(status == 2 and "particle 1 has image 1 along y" in err,
                  "refused: images where nothing repeats"):
        tap.note(err)


if __name__ == "__main__":
    check_drop()
    check_bounds()
    check_flight()
    check_film()
    check_molecules()
    check_resume()
    check_card()
    check_peer()
    check_forces()
    check_refusals()
    tap.done()
