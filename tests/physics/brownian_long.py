# timeout: 1200
"""Brownian motion over many steps: D = kT / (m friction) of free particles within
half a percent, and a harmonic well is filled as Boltzmann says."""

import math

import tap

tap.need("numpy", "h5py")

import numpy as np

import mdrun

KT, MASS, FRICTION = 1.5, 2.0, 0.75
DECK = """[run]
solver = "md"
seed = {seed}
[md]
timestep = {dt!r}
steps = {steps}
[md.initial]
lattice = "sc"
cells = {cells}
density = 0.5
[[md.species]]
name = "A"
mass = 2.0
[md.pair]
style = "soft"
cutoff = 2.0
[[md.pair.coefficients]]
species = ["A", "A"]
style = "none"
{more}
[md.ensemble]
type = "brownian"
temperature = 1.5
friction = 0.75
[output]
observables_every = {every}
frames_every = {every}
frame_precision = "double"
fields = ["position", "image"]
"""


def check_diffusion():
    """Displacements between frames are independent; of the noise of a step one
    half belongs to the next, so that a frame's first and last count half."""
    dt, every, steps = 0.02, 100, 4000
    r = mdrun.run(DECK.format(seed=11, dt=dt, steps=steps, cells=[24, 24, 24],
                              more="", every=every))
    x = np.array([r.frame("position", k) + r.frame("image", k) * r.edges()
                  for k in range(steps // every + 1)])
    moved = np.diff(x, axis=0)[1:]
    d = KT / (MASS * FRICTION)
    # <dx^2> = D dt <(sum of R_n + R_n+1)^2> / 2 = 2 D dt (every - 1/2)
    got = (moved**2).mean() / (2 * dt * (every - 0.5))
    # that neighbors share half a step's noise is nothing beside the others'
    error = d * math.sqrt(2 / moved.size)
    tap.note(f"D = {got:.5f} +- {error:.5f}, {d:.5f} expected")
    tap.near(got, d, 4 * error, "free particles: D is kT / (m friction)")
    tap.below(4 * error / d, 0.005, "and that is known within half a percent")
    tap.near((moved**4).mean() / (moved**2).mean()**2, 3,
             4 * math.sqrt(24 / moved.size), "displacements are normal")


def check_well():
    """Harmonic walls that reach from face to face: K/2 (z - L/2)^2."""
    spring, length = 50.0, 2 * (1 / 0.5)**(1 / 3)
    dt = 0.3 * MASS * FRICTION / spring
    walls = "".join(
        f'[[md.walls]]\nface = "{f}"\nstyle = "harmonic"\nk = {spring / 4}\n'
        f"cutoff = {length!r}\n" for f in ("zlo", "zhi"))
    r = mdrun.run(DECK.format(seed=12, dt=dt, steps=4000, cells=[40, 40, 2],
                              more=walls, every=20))
    # 0.7 of a place is left after a step, 1e-3 after 20
    z = np.array([r.frame("position", k)[:, 2] for k in range(5, 201)])
    z = (z.ravel() - length / 2) / math.sqrt(KT / spring)
    n = z.size
    tap.near((z**2).mean(), 1, 4 * math.sqrt(2 / n),
             "a harmonic well: the variance is kT / k")
    tap.near((z**4).mean(), 3, 4 * math.sqrt(96 / n), "and the fourth moment")
    edges = np.linspace(-3, 3, 31)
    share = np.array([0.5 * math.erf(e / math.sqrt(2)) for e in edges])
    want = n * np.diff(share)
    got = np.histogram(z, edges)[0]
    chi2 = ((got - want)**2 / want).sum()
    tap.note(f"variance {(z**2).mean():.5f}, chi^2 {chi2:.1f} of 30 bins")
    tap.below(chi2, 30 + 4 * math.sqrt(2 * 30),
              "and each thirtieth of the places has its share of Boltzmann's")


check_diffusion()
check_well()
tap.done()
