# timeout: 1800
"""As thermostats.py, with 8,000 samples and half the step: the error of a mean is
then 0.1 %."""

import tap

tap.need("numpy", "h5py")

import thermostats

for kind in ("bussi", "langevin", "nose-hoover"):
    thermostats.check(kind, 8000, 250, 0.002, seed=7)
tap.done()
