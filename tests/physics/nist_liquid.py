# timeout: 2400
"""The Lennard-Jones liquid at NIST's state points (N = 500, cutoff 3, tail).

Two tables of the NIST Standard Reference Simulation Website stand for the same
liquid: NVT Monte Carlo at T = 0.85 (energies to 0.0004), and NVE molecular
dynamics at temperatures that came out as 0.849 to 0.852. They disagree with one
another by up to 0.010 in energy and 0.026 in pressure, several times what the
second one states as its uncertainty. We are held to two standard errors of the
first; to the second within the difference between the two. At density 0.82, where
they differ most, LAMMPS (peer/values.csv) agrees with the first; at 0.84, which the
first has not, its pressure is 0.027 below the second's, and we are held to two
standard errors of it, too. There the second is met within the difference between the
two and two standard errors of a run twelve times as long.

The start is a hot lattice (T = 3), so that it melts at every density; the first
20 time units are left out.
"""

import tap

tap.need("numpy", "h5py")

import numpy as np

import mdrun
import peer_values

TEMPERATURE = 0.85
# density: U/N and its error, p and its error (Monte Carlo, T = 0.85)
MONTE_CARLO = {
    0.776: (-5.5121, 0.0004, 0.0068, 0.0020),
    0.820: (-5.7947, 0.0004, 0.5536, 0.0020),
    0.860: (-6.0305, 0.0002, 1.2660, 0.0020),
}
# density: T, U/N, p (molecular dynamics, NVE)
DYNAMICS = {
    0.776: (0.851, -5.517, 0.030),
    0.820: (0.852, -5.803, 0.573),
    0.840: (0.851, -5.909, 0.910),
    0.860: (0.849, -6.027, 1.282),
}
BETWEEN_U, BETWEEN_P = 0.012, 0.030
STEPS = {0.840: 3000000}
# Slopes with temperature at constant density, to compare at 0.85.
DU_DT, DP_DT = 1.2, 5.0

for density, (t_md, u_md, p_md) in DYNAMICS.items():
    r = mdrun.run(mdrun.INPUTS + "/lj_liquid.toml",
                  f"md.initial.density={density}",
                  f"md.ensemble.temperature={TEMPERATURE}",
                  f"md.steps={STEPS.get(density, 250000)}",
                  "output.observables_every=10",
                  "md.analysis.rdf.every=1000", timeout=2000)
    later = r.time() > 20
    u = r.observable("potential_energy")[later] / r.n
    p = r.observable("pressure")[later]
    t = r.observable("temperature")[later].mean()
    u_error, p_error = mdrun.standard_error(u), mdrun.standard_error(p)
    u, p = u.mean(), p.mean()
    at = f"T = 0.85, density {density}"
    tap.note(f"{at}: U/N {u:.5f} +- {u_error:.5f}, p {p:.5f} +- {p_error:.5f}")
    tap.near(t, TEMPERATURE, 0.001, f"{at}: the thermostat keeps T")
    references = {}
    if density in MONTE_CARLO:
        references["NIST's Monte Carlo"] = MONTE_CARLO[density]
    if density in (0.820, 0.840):
        references["LAMMPS"] = sum(
            (peer_values.get(f"liquid_{density:.3f}", quantity)
             for quantity in ("potential_energy", "pressure")), ())
    for who, (u_want, u_want_error, p_want, p_want_error) in references.items():
        tap.near(u, u_want, 2 * np.hypot(u_error, u_want_error),
                 f"{at}: energy per particle is {u_want} ({who})")
        tap.near(p, p_want, 2 * np.hypot(p_error, p_want_error),
                 f"{at}: pressure is {p_want} ({who})")
    tap.near(u + DU_DT * (t_md - TEMPERATURE), u_md, BETWEEN_U,
             f"{at}: energy per particle is near NIST's NVE {u_md}")
    allowed = BETWEEN_P + (0 if density in MONTE_CARLO else 2 * p_error)
    tap.near(p + DP_DT * (t_md - TEMPERATURE), p_md, allowed,
             f"{at}: pressure is near NIST's NVE {p_md}")
tap.done()
