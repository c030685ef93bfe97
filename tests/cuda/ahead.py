# timeout: 600
"""Ranks with simulated cards go ahead and back as those without do, see
physics/ahead.py."""

import os
import sys

import tap

tap.need("numpy", "h5py")
sys.path.insert(0, os.path.join(tap.TOP_SRCDIR, "tests", "physics"))
PROGRAM = tap.simulated_card()
os.environ["CUDASIM_PROTECT"] = "0"

import ahead

for name, deck, skin, ranks in (("a liquid", ahead.liquid(), 0.038, (2, 3)),
                                ("chains", ahead.melt(), 0.015, (2,)),
                                ("a metal", ahead.metal(), 0.04, (2,)),
                                ("rigid bodies", ahead.bodies("dsf"), 0.1,
                                 (2,))):
    ahead.agree(name, deck, skin, ranks=ranks, look=ahead.STEPS,
                program=PROGRAM, device="cuda")
tap.done()
