"""What single precision costs: mixed and single against double.

Same configuration (a jittered lattice, two species) and a short run of a liquid.
Pair terms in single precision carry a relative rounding of 6e-8; a force is a sum
of some fifty terms that partly cancel, which makes it 1e-5 (root mean square).
"""

import tap

tap.need("numpy", "h5py")

import numpy as np

import mdrun

STATIC = """
[run]
solver = "md"
[md]
steps = 0
[md.initial]
read = "static.xyz"
[md.pair]
style = "lj"
cutoff = 2.4
skin = 0.3
[md.ensemble]
type = "nve"
[output]
fields = ["position", "force"]
"""
LIQUID = """
[run]
solver = "md"
seed = 3
[md]
timestep = 0.002
steps = 4000
[md.initial]
lattice = "fcc"
cells = [6, 6, 6]
density = 0.8442
temperature = 1.44
[md.pair]
style = "lj"
cutoff = 2.5
skin = 0.3
shift = "force"
[md.ensemble]
type = "nve"
[output]
observables_every = 20
fields = ["position", "velocity"]
"""
# mode: force error (rms), energy error, drift per particle and 1,000 steps
BOUNDS = {"mixed": (1e-5, 1e-6, 2e-6), "single": (1e-5, 1e-6, 1e-5)}

box, position = mdrun.jittered_box(4, cells=(8, 8, 8), jitter=0.15)
mdrun.xyz("static.xyz", box, position, ["A"] * len(position))
ranks = 2 if tap.have_mpi() else 1

exact = mdrun.run(STATIC)
force = exact.frame("force")
energy = exact.observable("potential_energy")[0]
liquid = mdrun.run(LIQUID)
tail_of = slice(100, None)  # after the lattice has melted
mean_t = liquid.observable("temperature")[tail_of].mean()

for mode, (force_bound, energy_bound, drift_bound) in BOUNDS.items():
    for n in sorted({1, ranks}):
        r = mdrun.run(STATIC, f'md.precision="{mode}"', ranks=n)
        rms = np.sqrt(((r.frame("force") - force) ** 2).mean()
                      / (force**2).mean())
        tap.below(rms, force_bound, f"{mode}: forces differ from double's (rms, "
                  f"{n} ranks)")
        tap.below(abs(r.observable("potential_energy")[0] / energy - 1),
                  energy_bound, f"{mode}: energy differs from double's ({n} "
                  "ranks)")
    r = mdrun.run(LIQUID, f'md.precision="{mode}"')
    total = r.observable("total_energy")[tail_of] / r.n
    step = r.step("total_energy")[tail_of]
    slope = np.polyfit(step / 1000.0, total, 1)[0]
    tap.below(abs(slope), drift_bound,
              f"{mode}: energy drift per particle and 1,000 steps")
    # Two trajectories of one ensemble: means over 4 time units of 864 particles
    # scatter by some 0.005.
    tap.near(r.observable("temperature")[tail_of].mean(), mean_t, 0.02,
             f"{mode}: the liquid has double's temperature")
    tap.below(np.abs(r.frame("velocity").sum(0)).max() / r.n, 1e-5,
              f"{mode}: momentum per particle stays zero to rounding")
tap.done()
