# timeout: 3000
"""200 kills and 500 flipped bytes of molecular dynamics."""

import os
import sys

import tap

os.execv(sys.executable, [sys.executable, os.path.join(
    tap.TOP_SRCDIR, "tests", "driver", "kills.py"), "md"])
