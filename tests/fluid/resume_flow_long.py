# timeout: 3000
"""resume_flow.py with 100 kills."""

import os
import sys

import tap

os.execv(sys.executable, [sys.executable, os.path.join(
    tap.TOP_SRCDIR, "tests", "fluid", "resume_flow.py"), "--long"])
