# timeout: 240
"""A disk that is full while frames, rows, tables or checkpoints are written: a
clear error, exit status 1, and the last good checkpoint, from which the run goes
on once there is room, to the bits of an undisturbed one. The disk is a small
file system of our own.

full_disk.py all: also what full_disk_long.py adds, two ranks and more cases.
"""

import os
import re
import shutil
import subprocess
import sys

import tap

tap.need("numpy", "h5py")

ALL = sys.argv[1:] == ["all"]
MIB = 1 << 20
MD = """
[run]
solver = "md"
[md]
timestep = 0.003
steps = 12
[md.initial]
lattice = "fcc"
cells = [14, 14, 14]
density = 0.8
temperature = 1.5
[md.pair]
cutoff = 2.5
[output]
fields = ["position", "velocity", "image"]
[checkpoint]
every = 4
"""
FLUID = """
[run]
solver = "fluid"
[domain]
cells = [24, 24, 24]
size = [6.283185307179586, 3.141592653589793, 2.0]
[fluid]
viscosity = 0.01
steps = 12
timestep = 0.002
[fluid.boundary.z]
type = "wall"
[fluid.initial]
profile = "channel"
perturbation = 0.3
[fluid.forcing]
bulk_velocity = [1.0, 0.0, 0.0]
[output]
frames_every = 4
[checkpoint]
every = 4
"""
RISK = """
[run]
solver = "risk"
seed = 3
[risk]
paths = 1_572_864
[[risk.factor]]
name = "A"
spot = 100.0
rate = 0.05
volatility = 0.2
[risk.portfolio]
file = "book.csv"
[checkpoint]
every = 1
"""
BOOK = """id,type,factor,side,quantity,strike,maturity
a,european,A,call,25,100,1.0
"""
# Deck, what makes the first run end early, what makes frames that do not fit.
SOLVERS = {"md": (MD, "md.steps=5", "output.frames_every=1"),
           "fluid": (FLUID, "fluid.steps=4", "output.frames_every=1"),
           "risk": (RISK, "risk.paths=524288", None)}
for name, (deck, _, _) in SOLVERS.items():
    with open(name + ".toml", "w", encoding="utf-8") as out:
        out.write(deck)
with open("book.csv", "w", encoding="utf-8") as out:
    out.write(BOOK)

os.mkdir("small")
if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64m", "tmpfs", "small"],
                  check=False, stderr=subprocess.DEVNULL).returncode != 0:
    tap.skip_all("no file system can be mounted here")


def run(solver, out, *more, ranks=1):
    return tap.run(tap.WARPDECK, "run", solver + ".toml", "output.name=r",
                   "--output", out, "-q", *more, ranks=ranks, check=False)


def results(out):
    return {n: tap.numbers(os.path.join(out, n)) for n in sorted(os.listdir(out))
            if n.endswith((".h5", ".hdf")) and ".ckpt." not in n}


def fill(free):
    """Leave so many bytes."""
    disk = os.statvfs("small")
    with open("small/filler", "wb") as out:
        os.posix_fallocate(out.fileno(), 0,
                           disk.f_bavail * disk.f_frsize - free)


def case(solver, what, free, message, *more, ranks=1):
    """A run that ended early is gone on with on a disk that has become full,
    then on one with room."""
    early = SOLVERS[solver][1]
    out, whole = "small/out", f"{solver}_{what}_{ranks}"
    shutil.rmtree(out, ignore_errors=True)
    run(solver, whole, *more, ranks=ranks)
    run(solver, out, early, *more, ranks=ranks)
    fill(free)
    got = run(solver, out, *more, "--resume", "auto", ranks=ranks)
    title = f"{solver}, {ranks} ranks, full while {what} are written"
    told = [x for x in got.stderr.splitlines() if x.startswith("error: ")]
    tap.is_((got.returncode, len(told)), (1, 1), f"{title}: exit status 1, and "
            "one error")
    tap.ok(message in got.stderr and re.search(
        r"[kM]B, and [0-9.]+ (bytes|kB|MB) are free", got.stderr),
           "which says for what there is no space, and how much there is") or (
               tap.note(got.stderr))
    left = [n for n in os.listdir(out) if n.endswith(".tmp")]
    tap.is_(left, [], "nothing half-written stays")
    os.remove("small/filler")
    again = run(solver, out, *more, "--resume", "auto", ranks=ranks)
    told = [x for x in again.stderr.splitlines() if not x.startswith("mpirun")]
    tap.is_((again.returncode, told), (0, []), "with room it goes on from its "
            "last checkpoint")
    tap.ok(results(out) == results(whole), "and ends with the bits of an "
           "undisturbed run")


def cases(ranks):
    # Rows fit, a frame does not; then a frame fits, and a checkpoint does not,
    # for which about two MB are asked for before it begins.
    if ALL:
        case("fluid", "frames", 3 * MIB // 4, "no space for the frame of step",
             SOLVERS["fluid"][2], ranks=ranks)
        case("md", "checkpoints", MIB, "writing the checkpoint of step 8",
             ranks=ranks)
        case("risk", "rows", 1 << 16, "no space for", ranks=ranks)
    case("md", "frames", MIB, "no space for the frame of step",
         SOLVERS["md"][2], ranks=ranks)
    case("fluid", "checkpoints", 3 * MIB // 2, "writing the checkpoint of step 8",
         ranks=ranks)
    case("risk", "checkpoints", MIB, "writing the checkpoint of step",
         ranks=ranks)


try:
    cases(1)
    if ALL and tap.have_mpi():
        cases(2)
finally:
    subprocess.run(["umount", "small"], check=False)
tap.done()
