# timeout: 1200
"""kill -9 at each of a run's writes, one after the other, where strace is there
to do that: every file that is left is readable or is called .tmp, and the run
goes on to the bits of an undisturbed one.

WARPDECK_STRIDE: only each so-and-so-manieth write.
"""

import collections
import os
import shutil
import signal
import subprocess

import tap

tap.need("numpy", "h5py")

STRIDE = int(os.environ.get("WARPDECK_STRIDE", 1))
DECK = """
[run]
solver = "md"
[md]
timestep = 0.003
steps = 8
[md.initial]
lattice = "fcc"
cells = [4, 4, 4]
density = 0.8
temperature = 1.5
[md.pair]
cutoff = 2.5
skin = 0.2
[md.analysis.msd]
every = 2
[output]
observables_every = 1
frames_every = 1
fields = ["position", "velocity", "image"]
[checkpoint]
every = 3
"""
with open("r.toml", "w", encoding="utf-8") as out:
    out.write(DECK)
COMMAND = (tap.WARPDECK, "run", "r.toml", "-q")


def strace(log, out, *more):
    return subprocess.run(
        ["strace", "-f", "-o", log, "-e", "trace=pwrite64", *more, *COMMAND,
         "--output", out], check=False, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL).returncode


if not shutil.which("strace"):
    tap.skip_all("strace is not installed")
if strace("all.log", "whole") != 0:
    tap.skip_all("strace cannot look at a process here")
# strace counts for each thread by itself.
with open("all.log", encoding="utf-8") as log:
    WRITES = max(collections.Counter(
        line.split()[0] for line in log if "pwrite64(" in line).values())


def unreadable(name):
    try:
        tap.numbers(os.path.join("killed", name))
        return False
    except (OSError, RuntimeError, KeyError):
        return True


kills, hurt, aside, torn, lost, wrong = 0, [], 0, 0, [], []
want = tap.numbers("whole/r.h5")
for n in range(1, WRITES + 1, STRIDE):
    shutil.rmtree("killed", ignore_errors=True)
    if strace("one.log", "killed", "-e",
              f"inject=pwrite64:signal=SIGKILL:when={n}") != -signal.SIGKILL:
        continue  # a run whose helper wrote less often
    kills += 1
    left = os.listdir("killed")
    hurt += [n for name in left if name.endswith(".h5") and unreadable(name)]
    if "r.h5.tmp" in left:
        aside += 1
        torn += unreadable("r.h5.tmp")
    done = tap.run(*COMMAND, "--output", "killed", "--resume", "auto",
                   check=False)
    if done.returncode != 0:
        lost.append((n, done.stderr))
    elif tap.numbers("killed/r.h5") != want or any(
            name.endswith(".tmp") for name in os.listdir("killed")):
        wrong.append(n)
tap.note(f"{kills} kills, at {WRITES} writes; {len(hurt)} left a file that "
         f"cannot be read; {aside} left the results as .tmp, {torn} of these "
         f"cannot be read as they are; {len(lost)} cannot be gone on with")
tap.ok(kills > 0, "a run is killed at its writes")
tap.is_(hurt, [], "every file that is left is readable or is called .tmp")
tap.is_(lost, [], "the run can be gone on with")
tap.is_(wrong, [], "and ends with the bits of an undisturbed one")
tap.done()
