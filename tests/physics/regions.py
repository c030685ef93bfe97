"""Groups by where particles are at the start, and by other groups; friction and
temperature of Langevin's bath by species and group."""

import tap

tap.need("numpy", "h5py")

import numpy as np

import mdrun

BOX, X = mdrun.jittered_box(41, cells=(6, 7, 8), spacing=1.1, jitter=0.3)
N = len(X)
KIND = np.arange(N) % 3 // 2  # every third one is a B
rng = np.random.default_rng(41)
V = rng.normal(0, 0.7, X.shape)
mdrun.xyz("regions.xyz", BOX, X, ["AB"[k] for k in KIND], V)

DECK = """[run]
solver = "md"
[md]
timestep = {dt}
steps = {steps}
[md.initial]
read = "regions.xyz"
overlap = 0
[[md.species]]
name = "A"
mass = 1.0
{a}
[[md.species]]
name = "B"
mass = 2.0
{b}
[md.pair]
style = "soft"
cutoff = 2.2
{pairs}
{groups}
[output]
observables_every = 20
frames_every = 100
frame_precision = "double"
fields = ["position", "velocity", "force"]
{more}
"""
NOTHING = "".join(f'[[md.pair.coefficients]]\nspecies = ["{p[0]}", "{p[1]}"]\n'
                  'style = "none"\n' for p in ("AA", "AB", "BB"))


def deck(groups, steps=0, dt=0.01, a="", b="", pairs=NOTHING, more=""):
    return DECK.format(groups=groups, steps=steps, dt=dt, a=a, b=b,
                       pairs=pairs, more=more)


def group(name, **keys):
    text = f'[[md.group]]\nname = "{name}"\n'
    for k, v in keys.items():
        text += f"{k} = " + (f'"{v}"' if isinstance(v, str) else
                             str(v).replace("'", '"')) + "\n"
    return text


# ---- who belongs to which group ----

def near(center, axes):
    """Distances to a center in some directions, through periodic faces."""
    d = X - np.array(center)
    d -= BOX * np.rint(d / BOX)
    return np.sqrt((d[:, axes]**2).sum(1))


IDS = np.arange(1, N + 1)
BALL = [0.5, 3.0, 8.5]
INSIDE = {
    "brick": ((X >= [1.0, -5, 2.0]) & (X < [4.0, 50, 6.0])).all(1),
    "ball": near(BALL, [0, 1, 2]) < 2.4,
    "rod": near([6.4, 0.0, 0.4], [0, 2]) < 1.7,
    "rest": near(BALL, [0, 1, 2]) >= 2.4,
    "few": (IDS >= 20) & (IDS <= 200) & (KIND == 1),
}
INSIDE["either"] = INSIDE["ball"] | INSIDE["rod"]
INSIDE["both"] = INSIDE["brick"] & INSIDE["rest"] & (KIND == 0)
INSIDE["mixed"] = ((INSIDE["few"] | INSIDE["brick"]) & INSIDE["rest"]
                   & ~INSIDE["rod"] & (X[:, 2] < 5.0))
SAYS = {
    "brick": dict(region="box", low=[1.0, -5.0, 2.0], high=[4.0, 50.0, 6.0]),
    "ball": dict(region="sphere", center=BALL, radius=2.4),
    "rod": dict(region="cylinder", center=[6.4, 0.0, 0.4], radius=1.7,
                axis="y"),
    "rest": dict(region="sphere", center=BALL, radius=2.4, side="outside"),
    "few": dict(species=["B"], ids=[20, 200]),
    "either": dict(any_of=["ball", "rod"]),
    "both": dict(all_of=["brick", "rest"], species=["A"]),
    "mixed": dict(any_of=["few", "brick"], all_of=["rest"], none_of=["rod"],
                  region="box", low=[-9.0, -9.0, -9.0], high=[9.0, 9.0, 5.0]),
}
# Each group pulls along x with a power of 2, so that the force tells them all.
PULLS = "".join(group(n, action="pull", force=[float(2**k), 0.0, 0.0], **s)
                for k, (n, s) in enumerate(SAYS.items()))


def members(force):
    """By group, from the forces that the groups pull with."""
    code = np.rint(force[:, 0]).astype(int)
    return {n: (code >> k & 1).astype(bool) for k, n in enumerate(SAYS)}


def check_members():
    name = mdrun.write("who.toml", deck(PULLS))
    said = tap.run(tap.WARPDECK, "run", name, "output.name=who", "--output",
                   "out")
    text = said.stdout + said.stderr
    got = members(mdrun.Result("out/who.h5").frame("force"))
    for n, want in INSIDE.items():
        tap.ok(0 < want.sum() < N and np.array_equal(got[n], want),
               f"group '{n}' has the {want.sum()} particles that it should")
    tap.ok(all(f"group '{n}': {w.sum()} particles" in text
               for n, w in INSIDE.items()), "how many there are is told")
    long = deck(PULLS, steps=60, more="[checkpoint]\nevery = 31\n")
    r = mdrun.run(long, ranks=3 if tap.have_mpi() else 1, name="whole")
    got = members(r.frame("force"))
    tap.ok(all(np.array_equal(got[n], INSIDE[n]) for n in SAYS)
           and (np.abs(r.frame("position") - X).max(1) > 0.1).any(),
           "and they stay in it wherever they go, over ranks")
    name = mdrun.write("long.toml", long)
    whole = mdrun.run(name, name="one")
    for more in (["md.steps=31"], ["--resume", "auto"]):
        tap.run(tap.WARPDECK, "run", name, "output.name=part", "--output",
                "kept", "-q", *more)
    part = mdrun.Result("kept/part.h5")
    tap.ok(all(np.array_equal(part.frame(f), whole.frame(f))
               for f in ("position", "velocity", "force")),
           "such a run goes on bit by bit")


# ---- in a tilted box ----

# Each tilt half of its edge, so that another box spans the same lattice.
LEANING = BOX * np.array([[1, 0, 0], [0.5, 1, 0], [-0.5, 0.5, 1]])
OTHER = LEANING - np.outer([0, 1, -1], LEANING[0])
# A ball wider than half of the shortest way through the box, which meets itself.
PLACES = {
    "ball": dict(region="sphere", center=[0.5, 3.0, 8.5], radius=3.4),
    "up": dict(region="cylinder", center=[6.0, 7.5, 0.0], radius=1.7),
    "front": dict(region="cylinder", center=[6.4, 0.0, 0.4], radius=1.7,
                  axis="y"),
    "along": dict(region="cylinder", center=[0.0, 7.4, 0.4], radius=1.7,
                  axis="x", side="outside"),
    "brick": dict(region="box", low=[-1.0, 5.0, 2.0], high=[4.0, 50.0, 7.0]),
}


def leaning(edges, keys):
    """Who is where keys say: a look at all images."""
    n = np.stack(np.meshgrid(*[np.arange(-3, 4)] * 3, indexing="ij"), -1)
    images = X + (n.reshape(-1, 3) @ edges)[:, None]
    parts = images @ np.linalg.inv(edges)
    if keys["region"] == "box":
        here = ((parts >= 0) & (parts < 1)).all(-1)
        within = ((images >= keys["low"]) & (images < keys["high"])).all(-1)
        return (here & within).any(0)
    axes = [0, 1, 2]
    here = np.ones(images.shape[:2], bool)
    if keys["region"] == "cylinder":
        axis = axes.pop("xyz".index(keys.get("axis", "z")))
        here = (images[..., axis] >= 0) & (images[..., axis] < BOX[axis])
    d = (images - np.array(keys["center"]))[..., axes]
    within = (here & ((d**2).sum(-1) < keys["radius"]**2)).any(0)
    return within != (keys.get("side") == "outside")


def check_tilted():
    pulls = "".join(group(n, action="pull", force=[float(2**k), 0.0, 0.0], **s)
                    for k, (n, s) in enumerate(PLACES.items()))
    code = {}
    for name, edges, ranks in (("one", LEANING, 4), ("other", OTHER, 1)):
        mdrun.xyz("regions.xyz", edges, X, ["AB"[k] for k in KIND], V)
        r = mdrun.run(deck(pulls), ranks=ranks if tap.have_mpi() else 1)
        code[name] = np.rint(r.frame("force")[:, 0]).astype(int)
        for k, (n, s) in enumerate(PLACES.items()):
            want = leaning(edges, s)
            tap.ok(0 < want.sum() < N
                   and np.array_equal(code[name] >> k & 1, want),
                   f"in a tilted box '{n}' has its {want.sum()} particles")
    tap.ok(((code["one"] ^ code["other"]) & 1 == 0).all(),
           "and a ball the same ones where other edges span the lattice")


# ---- baths ----

LANGEVIN = ('[md.ensemble]\ntype = "langevin"\ntemperature = 1.5\n'
            "friction = 0.5\n")


def check_decay():
    """Without noise and forces velocities decay, each by its own friction."""
    cold = LANGEVIN.replace("1.5", "0.0")
    groups = (group("ball", friction=2.0, **SAYS["ball"])
              + group("rod", friction=0, **SAYS["rod"]))
    r = mdrun.run(deck(groups, 100, b="friction = 1.25", more=cold))
    rate = np.where(KIND == 1, 1.25, 0.5)
    rate[INSIDE["rod"]] = 0
    rate[INSIDE["ball"]] = 2.0  # it stands before the rod
    want = V * np.exp(-rate * 1.0)[:, None]
    tap.below(np.abs(r.frame("velocity") - want).max(), 1e-13,
              "velocities decay by the friction of group, species, or all")
    free = INSIDE["rod"] & ~INSIDE["ball"]
    tap.ok(np.array_equal(r.frame("velocity")[free], V[free]),
           "a group without friction keeps its velocities to the bit")


def check_temperatures():
    """Independent particles: each step after t >> 1 / friction draws new ones,
    so that the spread of the mean is known."""
    groups = (group("hot", friction=20.0, temperature=3.0, **SAYS["brick"])
              + group("cold", friction=8.0, temperature=0.5, **SAYS["rest"]))
    r = mdrun.run(deck(groups, 8000, dt=0.02, a="friction = 4.0",
                       more=LANGEVIN.replace("= 0.5", "= 3.0")))
    t_hot = r.observable("temperature_hot")[5:]
    tap.note(f"{t_hot.mean():.4f} {r.observable('temperature_cold').mean():.4f}")
    inside = INSIDE["brick"]
    n = inside.sum() * len(t_hot)
    tap.near(t_hot.mean(), 3.0, 4 * 3.0 * np.sqrt(2 / (3 * n)),
             "a group has the temperature of its own bath")
    t_cold = r.observable("temperature_cold")[5:]
    # members of both are of the first one, 'hot'
    share = (INSIDE["rest"] & inside).sum() / INSIDE["rest"].sum()
    want = share * 3.0 + (1 - share) * 0.5
    n = INSIDE["rest"].sum() * len(t_cold)
    tap.near(t_cold.mean(), want, 4 * want * np.sqrt(4 / (3 * n)),
             "of two baths the first one in the deck counts")
    t_all = r.observable("temperature")[5:]
    other = ~inside & ~INSIDE["rest"]
    want = (inside.sum() * 3.0 + (INSIDE["rest"] & ~inside).sum() * 0.5
            + other.sum() * 1.5) / N
    tap.near(t_all.mean(), want, 4 * want * np.sqrt(4 / (3 * N * len(t_all))),
             "all others have that of the ensemble")
    e = r.observable("conserved_energy")
    tap.below(np.ptp(e) / np.abs(e).max(), 1e-11,
              "what the baths give is counted")


SOFT = "".join(f'[[md.pair.coefficients]]\nspecies = ["{p[0]}", "{p[1]}"]\n'
               'style = "soft"\na = 3.0\n' for p in ("AA", "AB", "BB"))


def check_interacting():
    groups = (group("ball", friction=5.0, **SAYS["ball"])
              + group("free", friction=0, **SAYS["rod"])
              + group("both", all_of=["ball"], region="box",
                      low=[0.0, 0.0, 0.0], high=[9.0, 9.0, 4.0]))
    text = deck(groups, 3000, dt=0.01, b="friction = 1.0", pairs=SOFT,
                more=LANGEVIN)
    r = mdrun.run(text)
    for name in ("temperature", "temperature_ball", "temperature_free"):
        t = r.observable(name)[25:]
        error = max(mdrun.standard_error(t), 0.01)
        tap.near(t.mean(), 1.5, 4 * error,
                 f"among forces all have the one temperature: {name}")
    short = mdrun.run(text, "md.steps=20")
    many = mdrun.run(text, "md.steps=20", ranks=4 if tap.have_mpi() else 1)
    tap.below(max(np.abs(short.frame(f) - many.frame(f)).max()
                  for f in ("position", "velocity")), 1e-11,
              "four ranks go the same way")


def check_refusals():
    def bad(text, says, *more):
        status, said = mdrun.refused(text, *more)
        if not tap.ok(status == 2 and says in said, f"refused: {says}"):
            tap.note(f"{status}\n{said}")

    far = dict(region="box", low=[50.0, 0.0, 0.0], high=[60.0, 9.0, 9.0])
    bad(deck(group("far", **far)), "'far' is empty: no particle")
    bad(deck(group("one", ids=[N + 1, N + 5])), "'one' is empty: no particle")
    bad(deck(group("two", any_of=["three"])), "no [[md.group]] of the name "
        "'three' before this one")
    bad(deck(group("a", ids=[1, 2]) * 2), "there is a group 'a' already")
    bad(deck(group("a", region="sphere", center=[1.0, 1.0, 1.0])),
        'md.group.radius is missing: region "sphere" needs it')
    bad(deck(group("a", radius=1.0)),
        'md.group.radius has no meaning for region "none"')
    bad(deck(group("a", region="box", low=[1.0, 1.0, 1.0],
                   high=[2.0, 1.0, 2.0])), "low = 1 is not below high = 1 in y")
    bad(deck(group("a", ids=[1, 5], friction=1.0)),
        'is of the types "langevin" and "brownian"')
    bad(deck(group("a", ids=[1, 5], temperature=1.0), more=LANGEVIN),
        "needs its md.group.friction, too")
    bad(deck(group("a", ids=[1, 5], friction=0),
             more=LANGEVIN.replace("= 0.5", "= 0")),
        'nobody has a friction: that is type "nve"')
    bad(deck("", more=LANGEVIN + "relaxation = 2.0\n"), "give one of them")


check_members()
check_decay()
check_temperatures()
check_interacting()
check_refusals()
check_tilted()
tap.done()
