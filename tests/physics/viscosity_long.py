# timeout: 3600
"""The Lennard-Jones liquid near its triple point: its viscosity by the pressure
tensor's autocorrelation, and its structure factor from g(r)."""

import tap

tap.need("numpy", "h5py")

import numpy as np

import mdrun

LIQUID = """
[run]
solver = "md"
seed = 7
[md]
timestep = 0.005
steps = {steps}
[md.initial]
lattice = "fcc"
cells = [{cells}, {cells}, {cells}]
density = 0.8442
temperature = 1.44
[md.pair]
cutoff = 2.5
[md.ensemble]
type = "bussi"
temperature = 0.722
relaxation = 2.0
[output]
observables_every = 1000
"""

# ---- viscosity ----

r = mdrun.run(LIQUID.format(cells=6, steps=3_020_000) + """
[md.analysis.green_kubo]
every = 2
length = 800
start = 20000
""", timeout=3500)
last = {k: v[0] for k, v in r.table("green_kubo/coefficients").items()}
eta = r.table("green_kubo/viscosity")
tap.note(f"viscosity {last['viscosity']:.3f} +- {last['error']:.3f} at "
         f"T = {last['temperature']:.4f} from {last['blocks']:.0f} blocks")
# Ferrario, Ciccotti, Holian and Ryckaert, Phys. Rev. A 44, 6936 (1991): 3.24 +-
# 0.04 with 2048 particles, from 3.6 million steps.
tap.near(last["viscosity"], 3.24, 0.05 * 3.24,
         "the liquid's viscosity at its triple point is 3.24 within 5 %")
tap.below(last["error"], 0.05 * 3.24, "and the error by blocks is below that")
half = np.searchsorted(eta["time"], 2.0)
tap.below(abs(eta["average"][half] / last["viscosity"] - 1),
          3 * last["error"] / last["viscosity"],
          "the integral has its plateau from half its length on")
parts = np.array([eta[n][-1] for n in ("xy", "xz", "yz", "xx_yy", "yy_zz",
                                       "zz_xx")])
# One direction of five is known sqrt(5) times worse.
tap.below(np.abs(parts - last["viscosity"]).max(), 4 * 5**0.5 * last["error"],
          "all directions agree, as in an isotropic liquid")

# ---- structure factor, by waves and by g(r) ----

r = mdrun.run(LIQUID.format(cells=8, steps=8000) + """
[md.analysis.rdf]
range = 6.7
bins = 670
every = 20
start = 3000
[md.analysis.structure_factor]
k_max = 15
bins = 60
every = 50
start = 3000
""", timeout=3500)
g = r.table("radial_distribution/A-A")
s = r.table("structure_factor/all")
n, rho = 4 * 8**3, 0.8442
x, width, k = g["r"], g["r"][1] - g["r"][0], s["k"]
# The table's g counts pairs against N - 1 others, S against N.
h = g["g"] * (1 - 1 / n) - (1 - 1 / n)
from_g = 1 + 4 * np.pi * rho * width * (
    h * x * np.sin(np.outer(k, x))).sum(1) / k
top = s["S"].argmax()
tap.note(f"main peak {s['S'][top]:.3f} at {k[top]:.2f}; {from_g[top]:.3f} by "
         "g(r)")
# g(r) ends at half the box, where it still waves by 0.008 at about the peak's
# own k and dies out over a length of about 1: that leaves out
# 2 pi rho reach 0.008 / k = 0.04 near the peak.
tap.below(np.abs(s["S"] - from_g)[k > 1].max(), 0.06,
          "S(k) by waves is the transform of g(r)")
tap.below(abs(s["S"][top] - from_g[top]), 0.05, "and so is its main peak")
# Liquid argon at its triple point by neutrons: 2.70 at 2.00 per angstrom, sigma
# 3.405 angstrom (Yarnell, Katz, Wenzel and Koenig, Phys. Rev. A 7, 2130 (1973)).
tap.near(s["S"][top], 2.70, 0.15, "which is that of liquid argon in height")
tap.near(k[top], 6.81, 0.2, "and in place")
tap.done()
