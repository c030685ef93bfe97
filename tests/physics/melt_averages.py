# timeout: 1800
"""After equilibration the melt has LAMMPS's averages.

LAMMPS's figures are our own, from peer/melt.in (29 Sep 2021, 20,000 steps after
2,000, list checked every step; standard errors by blocking). Both programs keep
the same energy from the same start, so the averages are those of one ensemble.
"""

import tap

tap.need("numpy", "h5py")

import numpy as np

import mdrun
import peer_values

for mode in ("double", "mixed"):
    r = mdrun.run(mdrun.INPUTS + "/lj_melt.toml", "md.steps=10000",
                  f'md.precision="{mode}"', "output.frames_every=100000",
                  timeout=1700)
    step = r.step()
    later = step > 2000
    for name, key, scale in (("temperature", "temperature", 1),
                             ("potential_energy", "potential_energy", r.n),
                             ("pressure", "pressure", 1)):
        x = r.observable(name)[later] / scale
        error = mdrun.standard_error(x)
        want, want_error = peer_values.get("melt", key)
        both = np.hypot(error, want_error)
        tap.note(f"{mode} {name}: {x.mean():.6f} +- {error:.6f}, LAMMPS "
                 f"{want:.6f} +- {want_error:.6f}")
        tap.near(x.mean(), want, 2 * both,
                 f"{mode}: mean {name} agrees with LAMMPS within 2 standard "
                 "errors")
tap.done()
