"""kill -9 at some of a run's writes: each_write.py in a few seconds. The third
change of a file is that in which the run asks whether it can write."""

import os
import sys

import tap

os.environ.update(WARPDECK_FIRST="3", WARPDECK_STRIDE="120")
os.execv(sys.executable, [sys.executable, os.path.join(
    tap.TOP_SRCDIR, "tests", "driver", "each_write.py"), "md"])
