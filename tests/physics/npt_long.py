# timeout: 2400
"""Constant pressure gives the right distributions, not only the right means.

Shirts (2013): between two pressures at one temperature the logarithm of the
ratio of the two distributions of the volume is a line of slope -(P2 - P1) / kT,
between two temperatures at one pressure that of the enthalpy is one of slope
-(1 / kT2 - 1 / kT1), whatever the density of states. The slopes are fitted by
maximum likelihood, to samples thinned out until they are independent.

Edges that change one by one need a solid: the shape of a liquid's box is held by
nothing, and wanders until an edge is too short.

The mean density of the Lennard-Jones liquid at a pressure of NIST's table is
that of the table.
"""

import os

import tap

tap.need("numpy", "h5py")

import numpy as np

from ensemble import slope, thin
import mdrun

DECK = """
[run]
solver = "md"
seed = %d
[md]
timestep = 0.004
steps = %d
[md.initial]
lattice = "fcc"
cells = [4, 4, 4]
density = %g
temperature = %g
[md.pair]
cutoff = 2.5
skin = 0.4
shift = "force"
[md.ensemble]
type = "npt"
temperature = %g
relaxation = 0.3
pressure = %g
pressure_relaxation = 1.0
%s
[output]
observables_every = 20
"""
ANISOTROPIC = 'coupling = "anisotropic"\n'
# Each with about its own compressibility, of 1 and 0.03. One that is far larger
# makes jumps that are not small beside what relaxes between two, and volumes
# that fluctuate too much: by 28 % in the variance for 0.5 in the solid.
STOCHASTIC = "compressibility = 0.5\nbarostat_every = 5"
STIFF = "compressibility = 0.1\nbarostat_every = 1"
# Density to start from, temperature and a higher one, pressure and a higher one,
# steps. Distributions of the volume that are two widths apart tell most.
FLUID = (0.5, 1.5, 1.6, 1.0, 1.15, 400000)
SOLID = (0.95, 0.5, 0.52, 1.0, 1.6, 100000)
KINDS = {
    "cell-rescaling": (FLUID, STOCHASTIC),
    "cell-rescaling, anisotropic": (SOLID, ANISOTROPIC + STIFF),
    "mtk": (FLUID, 'barostat = "mtk"'),
    "mtk, anisotropic": (SOLID, ANISOTROPIC + 'barostat = "mtk"'),
}


def sample(seed, temperature, pressure, state, text):
    deck = DECK % (seed, state[-1], state[0], state[1], temperature, pressure,
                   text)
    r = mdrun.run(deck, timeout=4000)
    volume = r.observable("volume")[500:]
    return volume, r.observable("total_energy")[500:] + pressure * volume


for kind, (state, text) in KINDS.items():
    if os.environ.get("WARPDECK_NPT_KIND", kind) != kind:
        continue
    _, cold, hot, low, high, _ = state
    base = sample(1, cold, low, state, text)
    denser = sample(2, cold, high, state, text)
    hotter = sample(3, hot, low, state, text)
    for name, one, two, want in (
            ("two pressures", base[0], denser[0], -(high - low) / cold),
            ("two temperatures", base[1], hotter[1], -(1 / hot - 1 / cold))):
        got, error = slope(thin(one), thin(two))
        tap.note(f"{kind}, {name}: {got:.5f} +- {error:.5f}, {want:.5f} "
                 f"expected, {len(thin(one))} samples")
        tap.near(got, want, 3 * error,
                 f"{kind}: distributions at {name} have the right ratio")

r = mdrun.run(os.path.join(mdrun.INPUTS, "liquid_npt.toml"), "md.steps=200000",
              timeout=2000)
density = r.observable("density")[500:]
error = mdrun.standard_error(density)
tap.note(f"density {density.mean():.5f} +- {error:.5f}")
# The table's pressure is known to 0.002, which is 0.0002 in density.
tap.near(density.mean(), 0.820, 3 * np.hypot(error, 0.0002),
         "the liquid at T = 0.85 and P = 0.5536 has NIST's density, 0.820")
tap.done()
