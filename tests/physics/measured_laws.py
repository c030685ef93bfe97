"""Analyses on the way against closed forms: free Langevin particles, bonds that
are springs."""

import tap

tap.need("numpy", "h5py")

import numpy as np

import mdrun

# ---- free particles in a bath: <v(0) v(t)> = 3 kT / m exp(-t / tau) ----

DT, TAU, STEPS, LENGTH = 0.02, 0.5, 3000, 200
GAS = f"""
[run]
solver = "md"
seed = 5
[md]
timestep = {DT}
steps = {STEPS}
[md.initial]
lattice = "sc"
cells = [8, 8, 8]
density = 0.2
temperature = 1.3
[md.pair]
cutoff = 1
skin = 2
[[md.pair.coefficients]]
species = ["A", "A"]
epsilon = 0
sigma = 1
[md.ensemble]
type = "langevin"
temperature = 1.3
relaxation = {TAU}
[md.analysis.vacf]
every = 2
length = {LENGTH}
origin_every = 20
[md.analysis.msd]
every = 50
[md.analysis.structure_factor]
k_max = 2
bins = 8
every = 50
start = 200
[output]
observables_every = 1000
"""
r = mdrun.run(GAS)
c = r.table("velocity_autocorrelation/function")
t, n = c["time"], 512
decay = 3 * 1.3 * np.exp(-t / TAU)
# Products of two normal numbers at 3 n places; origins 20 steps apart remember
# exp(-0.8) of one another: about (STEPS / 20) (1 - e^-1.6) / (1 + e^-1.6).
samples = 3 * n * STEPS / 20 * np.tanh(0.8)
error = 3 * 1.3 * np.sqrt(2 / samples)
tap.below(np.abs(c["all"] - decay).max(), 4 * error,
          "free particles in a bath forget their velocities as exp(-t / tau)")
# The integral of an exact exponential by the trapezoid rule at distance h.
h = t[1]
rule = h / 2 / np.tanh(h / (2 * TAU)) / TAU
d = r.table("velocity_autocorrelation/diffusion")["all"][-1]
want = 1.3 * TAU * rule * (1 - np.exp(-t[-1] / TAU))
# The integral to T = 8 tau of a correlation that is known by N samples a tau:
# relative error sqrt(2 T / tau / (3 n steps dt / tau)) (Zwanzig and Ailawadi).
error = np.sqrt(2 * t[-1] / (3 * n * STEPS * DT))
tap.below(abs(d / want - 1), 4 * error, "their diffusion is kT tau / m")
msd = r.table("displacement/mean_squared")
late = msd["time"] > 10 * TAU
slope = np.polyfit(msd["time"][late], msd["all"][late], 1)[0] / 6
# n displacements of three components from one origin: sqrt(2 / 3 n), and what
# the integral has.
tap.below(abs(slope / d - 1), 4 * np.hypot(np.sqrt(2 / (3 * n)), error),
          "and is the same by displacements")
spectrum = r.table("velocity_autocorrelation/spectrum")
f, p = spectrum["frequency"], spectrum["all"]
# Sampled cosines at distance h are orthogonal: exact by the trapezoid rule.
tap.near(np.trapz(p, f), 1, 1e-12, "the spectrum's integral is 1")
window = 0.5 + 0.5 / (1 + (np.pi * TAU / t[-1]) ** 2)  # what Hann's leaves
tap.below(abs(p[0] / (4 * TAU * rule * window) - 1), 4 * error,
          "it begins with four relaxation times, as a Lorentzian does")

s = r.table("structure_factor/all")
# |rho|^2 / N of each wave has a deviation of 1; positions 50 steps apart have
# moved by about one, a fraction of a wave: 56 samples count as a few.
off = np.abs(s["S"] - 1) * np.sqrt(s["waves"] / 2 * 5)
tap.below(off.max(), 4, "free particles have no structure, S = 1: all shells "
          "in standard errors")

# ---- a crystal at rest ----

CELLS = 4
r = mdrun.run(f"""
[run]
solver = "md"
[md]
steps = 0
[md.initial]
lattice = "fcc"
cells = [{CELLS}, {CELLS}, {CELLS}]
lattice_constant = 1.6
[md.pair]
cutoff = 2.5
[md.analysis.structure_factor]
k_max = 14
bins = 500
""")
s = r.table("structure_factor/all")
a = 2 * np.pi / 1.6
n = np.arange(-4, 5)
hkl = np.stack(np.meshgrid(n, n, n), -1).reshape(-1, 3)
odd = hkl % 2
bragg = a * np.sqrt((hkl**2).sum(1))[(odd == odd[:, :1]).all(1)]
bragg = bragg[(bragg > 0) & (bragg <= 14)]
peaks = np.histogram(bragg, np.linspace(0, 14, 501))[0]
shells = (s["k"] / 14 * 500).astype(int)
# Sums of 256 exact phases: rounding only.
tap.is_(int((s["S"] > 1e-9).sum()), int((peaks > 0).sum()),
        f"a crystal has {(peaks > 0).sum()} shells of Bragg's places")
tap.below(np.abs(s["S"] * s["waves"] - 4 * CELLS**3 * peaks[shells]).max(),
          1e-8, "there S = N, and 0 elsewhere")

# ---- pairs of a stiff bond: a line at sqrt(k / mu) / 2 pi ----

K, MASSES, LENGTH = 450.0, (1.0, 3.0), 4000  # energy k (r - r0)^2
sites = [(x, y, z) for x in range(4) for y in range(4) for z in range(4)]
rows = ["pairs", "", f"{2 * len(sites)} atoms", f"{len(sites)} bonds",
        "2 atom types", "1 bond types", ""]
rows += [f"0 24 {c}lo {c}hi" for c in "xyz"]
rows += ["", "Masses", "", "1 1.0 # L", "2 3.0 # H", ""]
rows += ["Bond Coeffs # harmonic", "", f"1 {K} 1.2", "", "Atoms # molecular", ""]
for i, site in enumerate(sites):
    x, y, z = (6 * s + 2 for s in site)
    rows += [f"{2 * i + 1} {i + 1} 1 {x} {y} {z}",
             f"{2 * i + 2} {i + 1} 2 {x + 1.2} {y} {z}"]
rows += ["", "Bonds", ""]
rows += [f"{i + 1} 1 {2 * i + 1} {2 * i + 2}" for i in range(len(sites))]
mdrun.write("pairs.data", "\n".join(rows) + "\n")
PAIRS = f"""
[run]
solver = "md"
seed = 3
[md]
timestep = 0.002
steps = 8000
[md.initial]
read = "pairs.data"
temperature = 0.05
[md.pair]
cutoff = 1
skin = 0.5
[[md.pair.coefficients]]
species = ["L", "L"]
epsilon = 0
sigma = 1
[[md.pair.coefficients]]
species = ["H", "H"]
epsilon = 0
sigma = 1
[md.analysis.vacf]
every = 4
length = {LENGTH}
origin_every = 400
[output]
observables_every = 4000
"""
r = mdrun.run(PAIRS)
spectrum = r.table("velocity_autocorrelation/spectrum")
f = spectrum["frequency"]
mu = MASSES[0] * MASSES[1] / sum(MASSES)
line = np.sqrt(2 * K / mu) / (2 * np.pi)
high = f > 1
for name in ("L", "H"):
    p = np.where(high, spectrum[name], 0)
    k = p.argmax()
    # The top of a parabola through three points, on a grid of 1 / 2 T.
    top = f[k] + 0.5 * f[1] * (p[k - 1] - p[k + 1]) / (p[k - 1] - 2 * p[k]
                                                        + p[k + 1])
    # Velocity Verlet is fast by (omega dt)^2 / 24 = 2e-4; stretching by
    # rotation softens nothing in a harmonic bond to first order.
    tap.below(abs(top / line - 1), 2e-3,
              f"a spring's line in the spectrum of {name} stands at "
              "sqrt(k / mu) / 2 pi")
states = r.table("velocity_autocorrelation/density_of_states")
# Of six motions of a pair three are flights, two are turns, one is the bond,
# which began at rest length and so has given away half of its motion: 1/2 in
# 5 1/2. The energies of 64 bonds are an average within sqrt(2 / 64) of it.
share = 1 / 11
tap.near(np.trapz(np.where(high, states["density"], 0), f), share,
         3 * share * np.sqrt(2 / 64),
         "it holds the bonds' share of the density of states")
tap.done()
