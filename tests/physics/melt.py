"""The classic melt at step 0: what LAMMPS prints for its benchmark input.

The reference figures have seven decimals, so 6e-8 is half a unit of the last
one and a bit.
"""

import tap

tap.need("numpy", "h5py")

import mdrun

RANKS = mdrun.rank_counts(1, 2, 3, 4, 7, 8)
DECK = mdrun.INPUTS + "/lj_melt.toml"

for ranks in RANKS:
    r = mdrun.run(DECK, "md.steps=0", ranks=ranks)
    n = r.n
    tap.is_(n, 32000, f"melt: 32000 particles are in the file ({ranks} ranks)")
    tap.near(r.observable("potential_energy")[0] / n, -6.7733681, 6e-8,
             "melt: step-0 potential energy per particle is -6.7733681 on "
             f"{ranks} ranks")
    tap.near(r.observable("total_energy")[0] / n, -4.6134356, 6e-8,
             f"melt: step-0 total energy per particle is -4.6134356 on {ranks} "
             "ranks")
    tap.near(r.observable("temperature")[0], 1.44, 1e-12,
             f"melt: step-0 temperature is 1.44 exactly on {ranks} ranks")
    tap.near(r.observable("pressure")[0], -5.0197073, 6e-8,
             f"melt: step-0 pressure is -5.0197073 on {ranks} ranks")
tap.done()
