"""Boxes that are strained in the run: the work is what the energy gains, crystals
answer with their elastic constants, and a sheared box is the same over flips,
ranks and restarts."""

import tap

tap.need("numpy", "h5py")

import h5py
import numpy as np

import mdrun

RANKS = mdrun.rank_counts(1, 3)
BOX, X = mdrun.jittered_box(7, cells=(6, 6, 6), spacing=1.1, jitter=0.1)
rng = np.random.default_rng(7)
V = rng.normal(0, 1.0, X.shape)
V -= V.mean(0)
mdrun.xyz("liquid.xyz", BOX, X, "A" * len(X), V)
EDGES = BOX * np.array([[1, 0, 0], [0.4, 1, 0], [-0.3, 0.5, 1]])
mdrun.xyz("leaning.xyz", EDGES, X / BOX @ EDGES, "A" * len(X), V)

DECK = """[run]
solver = "md"
[md]
timestep = {dt}
steps = {steps}
[md.initial]
read = "liquid.xyz"
[md.pair]
cutoff = 2.5
skin = 0.35
shift = "force"
{more}
[md.deform]
{deform}
[output]
observables_every = {every}
frames_every = {frames}
fields = ["position", "velocity", "force", "image"]
"""


def deck(deform, steps=400, dt=0.002, every=1, frames=0, more=""):
    return DECK.format(deform=deform, steps=steps, dt=dt, every=every,
                       frames=frames or steps, more=more)


def error(deform, dt, start):
    """How far work and energy differ at the worst, and the work."""
    r = mdrun.run(deck(deform, steps=round(0.8 / dt), dt=dt).replace(
        "liquid.xyz", start))
    e = r.observable("total_energy") - r.observable("deform_work")
    tap.ok(np.array_equal(e, r.observable("conserved_energy"))
           or np.abs(e - r.observable("conserved_energy")).max() < 1e-9,
           "the conserved energy is that without the work")
    return np.abs(e - e[0]).max(), r.observable("deform_work")[-1]


def check_work():
    for name, deform, start in (
            ("a stretch", "rate = [0.4, 0.0, -0.2]", "liquid.xyz"),
            ("a stretch of a tilted box", "rate = [0.4, -0.1, -0.2]",
             "leaning.xyz"),
            ("shear along x", "shear = 0.5", "liquid.xyz"),
            ("shear of y with z", 'shear = 0.5\nplane = "yz"', "liquid.xyz")):
        coarse, work = error(deform, 0.004, start)
        fine, _ = error(deform, 0.002, start)
        tap.note(f"{name}: work {work:.3f}, errors {coarse:.2g}, {fine:.2g}")
        tap.below(fine, 0.01 * abs(work), f"{name}: the energy grows by the work")
        # Velocity Verlet's own error falls by 4, too.
        tap.ok(coarse / fine > 2.5, "and the difference falls with dt^2")


def plain_forces(r, index):
    """Forces of a frame by a sum over all images in the tilted box."""
    with h5py.File(r.path) as f:
        edges = f["particles/all/box/edges/value"][index]
    x = r.frame("position", index)
    rc, out = 2.5, np.zeros_like(x)
    c6 = rc**-6
    fc = 24 * (2 * c6 * c6 - c6) / rc
    for n in np.stack(np.meshgrid(*[range(-2, 3)] * 3), -1).reshape(-1, 3):
        d = x[:, None] - x[None] - n @ edges
        r2 = (d * d).sum(-1)
        near = (r2 < rc * rc) & (r2 > 0)
        r2 = np.where(near, r2, 1.0)
        s6 = r2**-3
        g = 24 * (2 * s6 * s6 - s6) / r2 - fc / np.sqrt(r2)
        out += (np.where(near, g, 0)[..., None] * d).sum(1)
    return out, edges


def check_flips():
    """A strain of 1.6 goes over the edge twice."""
    text = deck("shear = 2.0", steps=400, every=100, frames=100)
    results = [mdrun.run(text, ranks=n, name=f"shear{n}") for n in RANKS]
    first = results[0]
    for index in (-1, 2):
        force, edges = plain_forces(first, index)
        tap.below(np.abs(force - first.frame("force", index)).max()
                  / np.abs(force).max(), 1e-11,
                  f"forces are those of all images, frame {index}, tilt "
                  f"{edges[1, 0] / edges[0, 0]:.2f} of the edge")
    for n, r in zip(RANKS, results):
        if n > 1:
            # Rounding has grown for 0.4 units of time.
            tap.below(np.abs(r.frame("velocity", 2)
                             - first.frame("velocity", 2)).max(), 1e-9,
                      f"{n} ranks go the same way as one")
    strain = first.observable("strain")[-1]
    tap.near(strain, 1.6, 1e-12, "the strain is rate times time")
    tap.near(edges[1, 0] / edges[1, 1], 0.8 - 1.0, 1e-9,
             "the tilt is that on the other side where it was more than half")


def check_ways():
    """Without forces a particle goes x = x0 + v t + rate y t."""
    text = deck("shear = 2.0", steps=500, every=100,
                more='[[md.pair.coefficients]]\nspecies = ["A", "A"]\n'
                "epsilon = 0.0\nsigma = 0.1\n")
    r = mdrun.run(text)
    with h5py.File(r.path) as f:
        edges = f["particles/all/box/edges/value"][-1]
    x = r.frame("position") + r.frame("image") @ edges
    t = 1.0
    want = X + V * t
    want[:, 0] += 2.0 * X[:, 1] * t
    # In the laboratory velocities stay: v_x + rate y does not change.
    tap.below(np.abs(x - want).max(), 1e-9, "free particles go their ways beside the flow, "
              "through flips and faces")


def check_resume():
    held = 'type = "npt"\nbarostat = "mtk"\npressure = 1\npressure_relaxation = 1'
    for name, deform, kind in (
            ("stretched", "rate = [0.2, -0.1, 0.0]", held),
            ("sheared", "shear = 3.0", 'type = "nose-hoover"')):
        text = mdrun.write(name + ".toml", deck(
            deform, steps=300, every=50, frames=100,
            more=f"[md.ensemble]\n{kind}\ntemperature = 1.0\n"
            "relaxation = 0.2\n[md.analysis.msd]\nevery = 50\n[checkpoint]\n"
            "every = 171\n"))
        ranks = 1 if name == "stretched" else RANKS[-1]
        whole = mdrun.run(text, ranks=ranks, name=name)
        for more in (["md.steps=171"], ["--resume", "auto"]):
            tap.run(tap.WARPDECK, "run", text, f"output.name={name}",
                    "--output", "kept", "-q", *more, ranks=ranks)
        a, b = mdrun.datasets(f"kept/{name}.h5"), mdrun.datasets(whole.path)
        tap.ok(a.keys() == b.keys()
               and all(np.array_equal(a[k], b[k]) for k in a),
               f"a {name} box goes on bit by bit")


# ---- a crystal at rest ----

CRYSTAL = """[run]
solver = "md"
[domain]
size = [{size}]
{tilt}
[md]
timestep = 0.002
steps = {steps}
pressure_tensor = true
[md.initial]
lattice = "fcc"
cells = [4, 4, 4]
[md.pair]
cutoff = 2.3
shift = "force"
{deform}
[output]
observables_every = 10
"""


def crystal(edges, deform="", steps=0, tilt=None):
    def row(numbers):
        return ", ".join(repr(float(e)) for e in numbers)

    return mdrun.run(CRYSTAL.format(
        size=row(edges), deform=deform, steps=steps,
        tilt="" if tilt is None else f"tilt = [{row(tilt)}]"))


def check_crystal():
    """At rest each atom stays where symmetry has it, so that the energy along a
    stretch is that of crystals made so."""
    # Shells of neighbors are 2.19 and 2.45 away: none goes through the cutoff,
    # where the curvature jumps.
    edge, h = 4 * 1.55, 0.01
    u = [crystal([edge * (1 + k * h), edge, edge])
         .observable("potential_energy")[0] for k in (-2, -1, 0, 1, 2)]
    want = [(u[0] - 8 * u[1] + 8 * u[3] - u[4]) / (12 * h),
            (-u[0] + 16 * u[1] - 30 * u[2] + 16 * u[3] - u[4]) / (12 * h * h)]
    r = crystal([edge] * 3, "[md.deform]\nrate = [0.02, 0, 0]", steps=1000)
    e = 0.02 * r.time()
    stress = -r.observable("pressure_xx") * edge**3
    # dU/de = - P_xx L_y L_z L at any strain.
    fit = np.polyfit(e, stress, 5)[::-1]
    tap.below(abs(fit[0] / want[0] - 1), 1e-3,
              "the stress of a stretched crystal is the energy's slope")
    tap.below(abs(fit[1] / want[1] - 1), 1e-3,
              "and its elastic constant the energy's curvature")
    work = r.observable("deform_work")[-1]
    gain = (r.observable("potential_energy")[-1]
            - r.observable("potential_energy")[0])
    tap.below(abs(gain / work - 1), 1e-4, "all work becomes potential energy")


def check_tilted_crystal():
    """Any lattice of one atom a cell is at rest: a strained one is what is set up
    with the strained edges."""
    edges, tilt = np.full(3, 4 * 1.55), np.array([2.1, -1.0, 0.6])
    rate = np.array([0.1, -0.06, 0.04])
    r = crystal(edges, f"[md.deform]\nrate = {rate.tolist()}", 250, tilt)
    grown = 1 + rate * 0.5
    want = crystal(edges * grown, tilt=tilt * grown[[0, 0, 1]])
    names = ["potential_energy"] + [f"pressure_{c}" for c in
                                    ("xx", "yy", "zz", "xy", "xz", "yz")]
    tap.below(max(mdrun.worst(r.observable(n)[-1], want.observable(n)[0])
                  for n in names), 1e-11, "a strained tilted crystal has energy "
              "and stress of one that is set up so")
    tap.ok(abs(want.observable("pressure_xy")[0]) > 0.1
           and np.abs(r.cell() - want.cell()).max() < 1e-13 * edges[0],
           "its edges keep their angles to those of the strained lattice")
    gain = np.ptp(r.observable("potential_energy")[[0, -1]])
    # by the mean of both ends of each step
    tap.below(abs(gain / abs(r.observable("deform_work")[-1]) - 1), 1e-4,
              "and all work has become potential energy")


def check_refused():
    for deform, said in (
            ("rate = [0.1, 0, 0]\nshear = 0.1", "one of rate"),
            ("plane = \"xy\"", "one of rate"),
            ("shear = 6.0", "sheared by 0.012 in a step"),
            ("rate = [-2.0, 0, 0]", "times as long at the end"),
            ("shear = 0.1\n[md.field]\nacceleration = [0, 0, 1]",
             "does not go with")):
        status, text = mdrun.refused(deck(deform))
        if not tap.ok(status == 2 and said in text, f"refused: {said}"):
            tap.note(text)
    if RANKS[-1] > 1:
        status, text = mdrun.refused(deck("shear = 0.1") + "[domain]\n"
                                     "ranks = [2, 1, 1]\n", ranks=2)
        tap.ok(status == 2 and "sheared along x is not cut" in text,
               "a cut along the flow is refused")


check_work()
check_flips()
check_ways()
check_resume()
check_crystal()
check_tilted_crystal()
check_refused()
tap.done()
