# timeout: 2400
"""The Lennard-Jones liquid at NIST's state points.

NIST Standard Reference Simulation Website, molecular dynamics with N = 500,
cutoff 3 and tail corrections: T, density, energy per particle, pressure and their
uncertainties. The start is a hot lattice (T = 3), so that it melts at every
density; the first 20 time units are left out. The tolerance is two
uncertainties of both together.
"""

import tap

tap.need("numpy", "h5py")

import numpy as np

import mdrun

# T, density, U/N, its uncertainty, p, its uncertainty
POINTS = (
    (0.851, 0.776, -5.517, 0.001, 0.030, 0.006),
    (0.852, 0.820, -5.803, 0.001, 0.573, 0.005),
    (0.851, 0.840, -5.909, 0.001, 0.910, 0.006),
    (0.849, 0.860, -6.027, 0.001, 1.282, 0.005),
)
# The state points' own temperatures are known to 0.001; with the slopes of U and
# p at constant density (1.2 and 5 there) this moves the expected values.
DU_DT, DP_DT, T_ERROR = 1.2, 5.0, 0.001

for temperature, density, u, u_error, p, p_error in POINTS:
    r = mdrun.run(mdrun.INPUTS + "/lj_liquid.toml",
                  f"md.initial.density={density}",
                  f"md.ensemble.temperature={temperature}",
                  "md.steps=200000", "output.observables_every=10",
                  "md.analysis.rdf.every=1000", timeout=2000)
    later = r.time() > 20
    at = f"at T = {temperature}, density {density}"
    tap.near(r.observable("temperature")[later].mean(), temperature, 0.001,
             f"NIST liquid {at}: temperature")
    for name, scale, want, error, slope in (
            ("potential_energy", r.n, u, u_error, DU_DT),
            ("pressure", 1, p, p_error, DP_DT)):
        x = r.observable(name)[later] / scale
        own = mdrun.standard_error(x)
        both = np.sqrt(own**2 + error**2 + (slope * T_ERROR) ** 2)
        tap.note(f"{at}: {name} {x.mean():.5f} +- {own:.5f}, NIST {want}")
        tap.near(x.mean(), want, 2 * both, f"NIST liquid {at}: {name} is {want}")
tap.done()
