# timeout: 600
"""Full disks: all cases, also on two ranks."""

import os
import sys

import tap

os.execv(sys.executable, [sys.executable, os.path.join(
    tap.TOP_SRCDIR, "tests", "driver", "full_disk.py"), "all"])
