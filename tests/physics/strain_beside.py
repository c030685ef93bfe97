"""What goes on beside a strain of the box: constant pressure and walls where it is
not strained, and analyses on the fly."""

import tap

tap.need("numpy", "h5py")

import numpy as np

import mdrun

RANKS = mdrun.rank_counts(1, 3)
rng = np.random.default_rng(3)
BOX, X = mdrun.jittered_box(7, cells=(5, 5, 6), spacing=1.15, jitter=0.1)
V = rng.normal(0, 1.0, X.shape)
V -= V.mean(0)
KIND = ["AB"[k] for k in rng.permutation(len(X)) % 2]
mdrun.xyz("liquid.xyz", BOX, X, KIND, V)

DECK = """[run]
solver = "md"
[md]
timestep = {dt}
steps = {steps}
pressure_tensor = true
[md.initial]
read = "{read}"
[[md.species]]
name = "A"
[[md.species]]
name = "B"
[md.pair]
cutoff = 2.2
skin = 0.3
shift = "force"
[[md.pair.coefficients]]
species = ["A", "A"]
epsilon = {epsilon}
sigma = 1.0
[[md.pair.coefficients]]
species = ["B", "B"]
epsilon = {epsilon}
sigma = 0.9
{more}
[output]
observables_every = {every}
frames_every = {every}
fields = ["position", "velocity", "force", "image"]
"""
SHEAR = '[md.deform]\nshear = {}\nplane = "{}"\n'
STRETCH = "[md.deform]\nrate = [1.0, 0.0, 0.0]\n"
PRESSURE = """[md.ensemble]
type = "npt"
temperature = 1.0
relaxation = 0.2
pressure = 2.0
pressure_relaxation = 0.5
barostat = "{}"
coupling = "{}"
"""


def deck(more, steps=100, dt=0.002, every=None, read="liquid.xyz", epsilon=1.0):
    return DECK.format(more=more, steps=steps, dt=dt, every=every or steps,
                       read=read, epsilon=epsilon)


def check_conserved(name, more, steps=100):
    """The work, and what thermostat and barostat hold, are all that energy gains,
    but for dt^2."""
    runs = [mdrun.run(deck(more, round(0.002 * steps / dt), dt, round(0.02 / dt)))
            for dt in (0.002, 0.001)]
    wrong = [np.ptp(r.observable("conserved_energy")) for r in runs]
    gain = np.ptp(runs[0].observable("total_energy"))
    tap.note(f"{name}: work {runs[0].observable('deform_work')[-1]:.3f}, gain {gain:.3f}, errors {wrong}")
    tap.near(wrong[0] / wrong[1], 4, 0.8,
             f"{name}: what is conserved wanders with dt^2")
    tap.below(wrong[1], 0.02 * gain, "while energy is exchanged")
    return runs[0]


def check_pressure():
    r = check_conserved("stretched beside a barostat",
                        STRETCH + PRESSURE.format("mtk", "anisotropic"))
    first, last = r.edges(0), r.edges()
    tap.near(last[0], first[0] * 1.2, 1e-12, "the strained edge has its rate")
    tap.ok(np.abs(last[1:] / first[1:] - 1).min() > 1e-3
           and abs(last[1] / last[2] - first[1] / first[2]) > 1e-5,
           "and the barostat the other two")
    for plane, third in (("xy", 2), ("yz", 0)):
        r = check_conserved(f"sheared in {plane} beside a barostat",
                            SHEAR.format(3.0, plane)
                            + PRESSURE.format("mtk", "isotropic"))
        grown = r.edges() / BOX
        tap.ok(abs(grown[third] - 1) > 1e-3
               and np.abs(np.delete(grown, third) - 1).max() < 1e-14,
               "which has the third edge alone")
    # Its noise is by steps.
    for deform in (STRETCH, SHEAR.format(3.0, "xy")):
        r = mdrun.run(deck(deform + PRESSURE.format("cell-rescaling", "isotropic"),
                           every=10))
        tap.below(np.ptp(r.observable("conserved_energy")),
                  0.02 * np.ptp(r.observable("total_energy")), "cell rescaling "
                  "beside a strain keeps its energy, too")


WALLS = "".join(f'[[md.walls]]\nface = "{f}"\nstyle = "harmonic"\nk = 30\n'
                "cutoff = 0.8\n" for f in ("zlo", "zhi"))
ANALYSES = """[md.analysis.structure_factor]
k_max = 6
bins = 12
every = {0}
start = {0}
[md.analysis.profile]
axis = "z"
bins = 7
every = {0}
start = {0}
[md.analysis.map]
axes = ["y", "z"]
bins = [4, 3]
every = {0}
start = {0}
[md.analysis.rdf]
range = 2.4
bins = 40
every = {0}
start = {0}
"""


def check_analyses():
    """What is found in a strained box is what a run finds that starts there."""
    for name, deform in (("sheared", SHEAR.format(3.5, "xy")),
                         ("stretched", STRETCH + WALLS)):
        text = deck(deform + ANALYSES.format(90), 90)
        results = [mdrun.run(text, ranks=n) for n in RANKS]
        r = results[0]
        walls = WALLS if "walls" in deform else ""
        again = mdrun.run(deck(walls + ANALYSES.format(1).replace(
            "start = 1", "start = 0"), 0, every=1, read=r.path))
        tables = ("structure_factor/all", "structure_factor/A-B", "profile/slabs",
                  "map/columns", "radial_distribution/A-B")
        for where, one, two in ([("a run that starts there", r, again)]
                                + [(f"{n} ranks", r, other) for n, other
                                   in zip(RANKS[1:], results[1:])]):
            most = 0
            for table in tables:
                a, b = one.table(table), two.table(table)
                most = max([most] + [mdrun.worst(a[k], b[k]) for k in a])
            tap.below(most, 1e-9, f"{name}: structure factor, slabs, map and g(r) "
                      f"are those of {where}")
        tap.below(mdrun.worst(again.observable("potential_energy")[0],
                              r.observable("potential_energy")[-1]), 1e-12,
                  "and so is the energy")


def check_displacements():
    """Without forces a particle is v t beside the flow, for any strain."""
    r = mdrun.run(deck(SHEAR.format(4.0, "xy") + "[md.analysis.msd]\nevery = 100\n",
                       300, epsilon=0.0))
    want = (V**2).sum(1).mean() * 0.6**2
    tap.near(r.observable("mean_squared_displacement")[-1] / want, 1, 1e-9,
             "displacements are those beside the flow")


def check_refused():
    for more, said in (
            (STRETCH + WALLS.replace("zlo", "xlo").replace("zhi", "xhi"),
             "stand still, while [md.deform]"),
            (SHEAR.format(1.0, "xz") + WALLS, "stand still, while [md.deform]"),
            ("[md.deform]\nrate = [0.1, 0.1, 0.1]\n"
             + PRESSURE.format("mtk", "isotropic"), "and there is none"),
            (SHEAR.format(1.0, "xy") + ANALYSES.format(1).replace('"y", "z"',
                                                                  '"x", "z"'),
             "would turn slabs along x"),
            (STRETCH + "[md.analysis.green_kubo]\nevery = 1\n", "at equilibrium")):
        status, text = mdrun.refused(deck(more))
        if not tap.ok(status == 2 and said in text, f"refused: {said}"):
            tap.note(text)


check_pressure()
check_conserved("sheared between walls", SHEAR.format(3.0, "xy") + WALLS)
check_analyses()
check_displacements()
check_refused()
tap.done()
