# timeout: 3600
"""The heated square at Ra = 1e3 to 1e6, see fluid_convection.py. At 1e6 the warm
and cold walls stand along z, where the grid can be fine next to them."""

import tap

tap.need("numpy", "h5py")

import fluid_convection

fluid_convection.square(1e3, 64, 1.0, 0.005)
fluid_convection.square(1e4, 64, 0.8, 0.005)
fluid_convection.square(1e5, 96, 0.5, 0.005)
fluid_convection.square(1e6, 128, 0.4, 0.005, walls="z", stretching=1.2)
fluid_convection.rolls()
tap.done()
