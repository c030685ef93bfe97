# timeout: 7200
"""The lid-driven cavity at full size, see fluid_cavity.py."""

import tap

tap.need("numpy", "h5py")

import fluid_cavity

for reynolds, end in ((100, 30), (400, 50), (1000, 80)):
    fluid_cavity.square(128, reynolds, end, 0.01)
# thin layers at the walls of even cells: 2.4 % on 64^3, 1.1 % on 96^3, 0.6 % here
fluid_cavity.cube(128, 60, 0.01, 2 if tap.have_mpi() else 1)
tap.done()
