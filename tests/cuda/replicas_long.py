# timeout: 600
"""Several runs on a simulated card: all cases."""

import os
import sys

import tap

os.execv(sys.executable, [sys.executable, os.path.join(
    tap.TOP_SRCDIR, "tests", "cuda", "replicas.py"), "all"])
