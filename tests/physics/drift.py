"""Constant energy: with the linear force shift the potential is smooth, so what
velocity Verlet conserves can be seen.

The melt's state point, 864 particles, dt = 0.001. The first 2,000 steps melt the
lattice; the drift is the slope of the energy per particle over the 4,000 steps
after them, because the energy also oscillates with an amplitude of order dt^2.
"""

import tap

tap.need("numpy", "h5py")

import numpy as np

import mdrun

DECK = """
[run]
solver = "md"
seed = 12
[md]
timestep = 0.001
steps = 6000
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
observables_every = 10
fields = ["position", "velocity"]
"""

r = mdrun.run(DECK)
energy = r.observable("total_energy") / r.n
step = r.step("total_energy")
tap.is_(len(energy), 601, "an energy every 10 steps, step 0 included")
later = step >= 2000
slope = np.polyfit(step[later] / 1000.0, energy[later], 1)[0]
tap.below(abs(slope), 1e-6, "energy drift per particle and 1,000 steps")
tap.below(energy[later].std(), 1e-5,
          "energy per particle oscillates around a constant")

# Rounding: each step changes a velocity by 1e-16 of itself.
for ranks in mdrun.rank_counts(1, 3):
    if ranks > 1:
        r = mdrun.run(DECK, "md.steps=300", ranks=ranks)
    velocity = r.frame("velocity")
    on = f"after {r.step()[-1]} steps on {ranks} ranks"
    tap.below(np.abs(velocity.sum(0)).max(), 1e-12,
              f"total momentum is zero {on}")
    temperature = 2 * (0.5 * (velocity**2).sum()) / (3 * r.n - 3)
    tap.near(r.observable("temperature")[-1], temperature, 1e-12,
             f"temperature is 2 K / (3N - 3) of the velocities {on}")

# dt twice as long: the oscillation is of second order, so four times as large.
spreads = []
for dt, steps in ((0.001, 3000), (0.002, 1500)):
    r = mdrun.run(DECK, f"md.timestep={dt}", f"md.steps={steps}",
                  "output.observables_every=1")
    energy = r.observable("total_energy") / r.n
    spreads.append(abs(energy[len(energy) // 2:].mean() - energy[0]))
tap.note(f"energy offsets {spreads}")
order = np.log2(spreads[1] / spreads[0])
tap.ok(1.6 < order < 2.4, "the energy error of velocity Verlet is of second "
       f"order in the timestep ({order:.2f})")
tap.done()
