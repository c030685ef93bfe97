"""Groups of particles that stand still, keep a velocity, or are pulled."""

import tap

tap.need("numpy", "h5py")

import numpy as np

import mdrun

BOX, X = mdrun.jittered_box(29, cells=(5, 5, 6), spacing=1.1, jitter=0.1)
N = len(X)
KIND = (X[:, 2] < 1.1).astype(int)  # the lowest layer is a plate
rng = np.random.default_rng(29)
V = rng.normal(0, 0.7, X.shape)
V -= np.average(V, axis=0)
mdrun.xyz("groups.xyz", BOX, X, ["AB"[k] for k in KIND], V)

DECK = """[run]
solver = "md"
[md]
timestep = 0.002
steps = {steps}
[md.initial]
read = "groups.xyz"
[[md.species]]
name = "A"
mass = 1.0
[[md.species]]
name = "B"
mass = 1.0
[md.pair]
cutoff = 2.2
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
{groups}
[output]
observables_every = 20
frames_every = 100
fields = ["position", "velocity", "force", "image"]
{more}
"""


def group(name, action, **keys):
    text = f'[[md.group]]\nname = "{name}"\naction = "{action}"\n'
    return text + "".join(f"{k} = {v}\n" for k, v in keys.items())


def deck(groups, steps=200, more=""):
    return DECK.format(groups=groups, steps=steps, more=more)


def path(result, index=-1):
    return (result.frame("position", index)
            + result.frame("image", index) * BOX)


PLATE = KIND == 1
FREEZE = group("plate", "freeze", species='["B"]')


def check_frozen():
    r = mdrun.run(deck(FREEZE))
    tap.ok(np.array_equal(r.frame("position")[PLATE], X[PLATE])
           and not np.any(r.frame("velocity")[PLATE]),
           "frozen particles stay where they are, to the bit")
    tap.ok((np.abs(path(r) - X)[~PLATE].max(1) > 1e-3).all(),
           "and all others move")
    e = r.observable("total_energy") / N
    tap.below(np.ptp(e), 5e-4, "the energy is conserved beside them")
    kinetic = 0.5 * (V[~PLATE]**2).sum()
    tap.near(r.observable("kinetic_energy")[0], kinetic, 1e-9,
             "kinetic energy is that of the others")
    tap.near(r.observable("temperature")[0],
             2 * kinetic / (3 * (~PLATE).sum()), 1e-9,
             "and so is the temperature")
    whole = r
    text = deck(FREEZE, more="[checkpoint]\nevery = 97\n")
    name = mdrun.write("half.toml", text)
    for more in (["md.steps=97"], ["--resume", "auto"]):
        tap.run(tap.WARPDECK, "run", name, "output.name=part", "--output",
                "kept", "-q", *more)
    part = mdrun.Result("kept/part.h5")
    tap.ok(all(np.array_equal(part.frame(f), whole.frame(f))
               for f in ("position", "velocity", "force")),
           "a run with frozen particles goes on bit by bit")


def check_moved():
    text = deck(group("plate", "move", species='["B"]',
                      velocity="[0.5, -0.25, 0.0]"),
                more='[md.ensemble]\ntype = "bussi"\ntemperature = 0.5\n'
                "relaxation = 0.1\n")
    r = mdrun.run(text, ranks=2 if tap.have_mpi() else 1)
    want = X[PLATE] + 0.4 * np.array([0.5, -0.25, 0.0])
    tap.below(np.abs(path(r)[PLATE] - want).max(), 1e-12,
              "a group keeps its velocity, beside a thermostat, over ranks")
    one = mdrun.run(text, "md.steps=100")
    tap.below(np.abs(path(one) - path(r, 1)).max(), 1e-9,
              "one rank goes the same way")


def check_pulled():
    free = mdrun.run(deck("", 0)).frame("force", 0)
    text = deck(group("few", "pull", ids="[11, 30]", force="[0.0, 0.5, 1.5]"))
    r = mdrun.run(text)
    got = r.frame("force", 0) - free
    want = np.zeros_like(got)
    want[10:30] = [0.0, 0.5, 1.5]
    tap.below(np.abs(got - want).max(), 1e-12,
              "a force pulls the particles with these ids and no other")
    p = r.observable("momentum")
    t = r.time("momentum")
    tap.below(np.abs(p - 20 * np.hypot(0.5, 1.5) * t).max(), 1e-9,
              "the momentum grows by that force")
    e = r.observable("total_energy") / N
    tap.below(np.ptp(e), 5e-4,
              "the energy is conserved, that of the force with it")
    tap.note(f"{np.ptp(e):.1e}")


def check_refusals():
    def bad(text, says):
        status, said = mdrun.refused(text)
        tap.ok(status == 2 and says in said, f"refused: {says}")
        if says not in said:
            tap.note(said)

    bad(deck(group("plate", "move", species='["B"]')),
        "group 'plate': action \"move\" and velocity need one another")
    bad(deck(group("plate", "freeze", species='["C"]')),
        "unknown species 'C'; declared: A, B")
    bad(deck(group("plate", "freeze")), "all particles are held")
    bad(deck(group("plate", "freeze", ids="[9, 3]")), "and ascending")
    bad(deck(FREEZE, more='[md.ensemble]\ntype = "npt"\ntemperature = 1.0\n'
             "pressure = 1.0\nrelaxation = 1.0\npressure_relaxation = 1.0"),
        'type "npt" does not go with a [[md.group]] that is held')


check_frozen()
check_moved()
check_pulled()
check_refusals()
tap.done()
