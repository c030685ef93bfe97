# timeout: 3000
"""The examples as they stand reproduce the figures that they say."""

import examples
import tap

# 128^2 at Re = 1000: 0.3 % of the lid's speed is the grid's error.
examples.check(None, None, 0.006, None, 0.05)
tap.done()
