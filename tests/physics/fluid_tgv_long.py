# timeout: 7200
"""The Taylor-Green vortex on finer grids, see fluid_tgv.py."""

import tap

tap.need("numpy", "h5py")

import fluid_tgv

two = 2 if tap.have_mpi() else 1
fluid_tgv.test_fine(128, 0.06, 0.4, two)
fluid_tgv.test_fine(256, 0.02, 0.1, two)
tap.done()
