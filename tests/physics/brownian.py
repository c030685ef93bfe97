"""Brownian motion: free particles diffuse as they should, a harmonic well has
the variance of the scheme, colloids have the structure of their temperature; runs
go on bit by bit and do not depend on ranks."""

import tap

tap.need("numpy", "h5py")

import numpy as np

import mdrun

DECK = """[run]
solver = "md"
seed = {seed}
[md]
timestep = {dt}
steps = {steps}
[md.initial]
lattice = "sc"
cells = {cells}
density = {density}
[[md.species]]
name = "A"
mass = 2.0
{species}
[md.pair]
style = "soft"
cutoff = 2.0
{pairs}
{more}
[md.ensemble]
type = "brownian"
temperature = 1.5
friction = 0.75
{scheme}
[output]
observables_every = {every}
frames_every = {every}
frame_precision = "double"
fields = ["position", "image"]
"""
NONE = '[[md.pair.coefficients]]\nspecies = ["A", "A"]\nstyle = "none"\n'
EULER = 'scheme = "euler"\n'
D = 1.5 / (2.0 * 0.75)  # kT / (m friction)


def deck(steps, dt=0.02, cells=(20, 20, 20), density=0.5, pairs=NONE, more="",
         scheme="", species="", seed=3, every=10):
    return DECK.format(steps=steps, dt=dt, cells=list(cells), density=density,
                       pairs=pairs, more=more, scheme=scheme, species=species,
                       seed=seed, every=every)


def path(r, index=-1):
    return r.frame("position", index) + r.frame("image", index) * r.edges()


# ---- free particles ----

MSD = "[md.analysis.msd]\nevery = 10\n"
for scheme, name, early in ((EULER, "euler", 0.0), ("", "leimkuhler-matthews",
                                                    0.5)):
    r = mdrun.run(deck(100, more=MSD, scheme=scheme))
    n = r.n
    t = r.time()[1:]
    got = r.observable("mean_squared_displacement")[1:]
    # The noise of the first and of the last step counts half in the latter.
    want = 6 * D * (t - early * 0.02)
    # Squares of 3 N normal numbers, at eleven times that know of each other.
    tap.below(np.abs(got / want - 1).max(), 4.5 * np.sqrt(2 / (3 * n)),
              f"{name}: mean squared displacement is 6 D (t - {early} dt)")
    moved = path(r) - path(r, 0)
    v = moved.ravel() / np.sqrt(want[-1] / 3)
    tap.near((v**4).mean(), 3.0, 4 * np.sqrt(96 / v.size),
             f"{name}: and its distribution is normal")
with_names = deck(1)
r = mdrun.run(with_names)
tap.is_(sorted(k.split("/")[1] for k in mdrun.datasets(r.path)
               if k.startswith("observables") and k.endswith("value")),
        ["potential_energy", "pressure"],
        "there is no observable of velocities")
volume = r.edges().prod()
tap.near(r.observable("pressure")[0], r.n * 1.5 / volume, 1e-12,
         "the pressure has N k T / V of the bath")

# ---- a harmonic well: harmonic walls that reach from face to face ----

K = 50.0  # each wall has K / 4, and two of them make a spring of K


def well(dt, scheme, steps=60, seed=5):
    """Walls in z with u = K/4 (L - r)^2 each: K/2 (z - L/2)^2 and a constant."""
    length = 2 * (1 / 0.5)**(1 / 3)
    walls = "".join(
        f'[[md.walls]]\nface = "{f}"\nstyle = "harmonic"\nk = {K / 4}\n'
        f"cutoff = {length!r}\n" for f in ("zlo", "zhi"))
    r = mdrun.run(deck(steps, dt=dt, cells=(60, 60, 2), more=walls,
                       scheme=scheme, seed=seed))
    z = np.array([r.frame("position", k)[:, 2] for k in (-3, -2, -1)])
    return z.var(), z.size, r


A = 0.6  # dt K / (m friction)
DT = A * 2.0 * 0.75 / K
for scheme, name, want in (("", "leimkuhler-matthews", 1.5 / K),
                           (EULER, "euler", 1.5 / K / (1 - A / 2))):
    got, n, r = well(DT, scheme)
    tap.near(got / want, 1, 4 * np.sqrt(2 / n) * 1.2,
             f"{name}: a spring has the variance {want:.4g}")
    tap.note(f"{got:.4f}")
# N / 2 kT of energy along z, and that of the middle of the box.
length = r.edges()[2]
u, n = r.observable("wall_energy")[-3:].mean() / r.n, 3 * r.n
tap.near(u - K / 4 * length**2 / 2, 0.5 * K * got, 2e-3,
         "the energy of the walls is that of the spring")

# ---- friction by species and group, ranks, restarts ----

COLLOIDS = ('[[md.pair.coefficients]]\nspecies = ["A", "A"]\n'
            'style = "yukawa"\nstrength = 20.0\nkappa = 2.0\n')
PLATE = ('[[md.group]]\nname = "plate"\naction = "move"\n'
         "ids = [1, 36]\nvelocity = [0.5, 0.0, 0.0]\n"
         '[[md.group]]\nname = "slow"\nids = [37, 72]\nfriction = 3.0\n')
text = deck(40, dt=0.001, cells=(6, 6, 6), pairs=COLLOIDS, more=PLATE)
whole = mdrun.run(text)
plate = path(whole) - path(whole, 0)
tap.below(np.abs(plate[:36] - [0.5 * 0.04, 0, 0]).max(), 1e-12,
          "a group that moves goes on through Brownian motion")
ratio = (plate[36:72]**2).mean() / (plate[72:]**2).mean()
tap.near(ratio, 0.25, 0.25 * 4 * np.sqrt(2 / 108) * 1.1,
         "a group of four times the friction goes half as far")
if tap.have_mpi():
    four = mdrun.run(text, ranks=4)
    tap.below(np.abs(path(four) - path(whole)).max(), 1e-11,
              "four ranks go the same way")
else:
    tap.skip(1, "built without MPI")
name = mdrun.write("part.toml", text)
for more in (["md.steps=17"], ["--resume", "auto"]):
    tap.run(tap.WARPDECK, "run", name, "output.name=part", "--output", "kept",
            "-q", "checkpoint.keep=2", *more)
part = mdrun.Result("kept/part.h5")
tap.ok(np.array_equal(part.frame("position"), whole.frame("position"))
       and np.array_equal(part.observable("potential_energy"),
                          whole.observable("potential_energy")),
       "a run goes on bit by bit")
mixed = mdrun.run(text, "md.precision=mixed")
tap.below(np.abs(path(mixed) - path(whole)).max(), 1e-5,
          "mixed precision goes the same way as far as floats do")


# ---- what means nothing ----

def bad(text, says, *more):
    status, said = mdrun.refused(text, *more)
    if not tap.ok(status == 2 and says in said, f"refused: {says}"):
        tap.note(said)


bad(deck(1), "md.initial.temperature has no meaning", "md.initial.temperature=1")
bad(deck(1), "no field 'velocity'", 'output.fields=["velocity"]')
bad(deck(1, scheme="relaxation = 1.0\n"),
    'md.ensemble.relaxation has no meaning for type "brownian"')
bad(deck(1, more="[md.analysis.vacf]\nlength = 10\n"),
    "[md.analysis.vacf] does not go with type")
bad(deck(1, species="friction = 0"), "nobody has a friction")
bad(deck(1, more='[[md.group]]\nname = "g"\nids = [1, 9]\nfriction = 0\n'),
    "friction above 0 of every")
bad(deck(1, scheme="pressure = 1.0\n"),
    'md.ensemble.pressure has no meaning for type "brownian"')
bad(deck(1).replace('"brownian"', '"bussi"').replace("friction = 0.75",
                                                      "relaxation = 1.0"),
    "md.ensemble.scheme is of type", "md.ensemble.scheme=euler")
tap.done()
