# timeout: 3000
"""resume.py with 200 kills and 500 flipped bytes."""

import os
import sys

import tap

os.execv(sys.executable, [sys.executable, os.path.join(
    tap.TOP_SRCDIR, "tests", "physics", "resume.py"), "--long"])
