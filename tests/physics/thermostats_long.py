# timeout: 1800
"""As thermostats.py, with 8,000 samples and half the step: the error of a mean is
then 0.1 %."""

import tap

tap.need("numpy", "h5py")

import thermostats

# A chain lets the kinetic energy swing with a period of 2 pi / sqrt(2) of its
# relaxation, 110 steps, and these swings last for 600.
for kind, every in (("bussi", 250), ("langevin", 250), ("nose-hoover", 600)):
    thermostats.check(kind, 8000, every, 0.002, seed=7)
tap.done()
