# timeout: 6000
"""kill -9 at each of a run's writes, one after the other, and at each change of
a file's name or length: every file that is left is readable or is called .tmp,
and the run goes on to the bits of an undisturbed one. So for each solver (or
those named as arguments). kill_at.c stands between the run and its files.

WARPDECK_FIRST, WARPDECK_STRIDE: the first of them, and only each
so-and-so-manieth of those that follow. WARPDECK_RANKS: that many
ranks, which are killed in turn.
"""

import os
import shutil
import subprocess
import sys
import time

import tap

tap.need("numpy", "h5py")

FIRST = int(os.environ.get("WARPDECK_FIRST", 1))
STRIDE = int(os.environ.get("WARPDECK_STRIDE", 1))
# One rank needs no process that would start others. It is as on several nodes,
# where Open MPI keeps files of its own beside those of a run.
os.environ.update(OMPI_MCA_ess_singleton_isolated="1",
                  OMPI_MCA_orte_tmpdir_base=os.getcwd(),
                  OMPI_MCA_sharedfp_lockedfile_priority="100")
RANKS = int(os.environ.get("WARPDECK_RANKS", 1))
MD = """
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
FLUID = """
[run]
solver = "fluid"
[domain]
cells = [8, 8, 8]
size = [6.283185307179586, 3.141592653589793, 2.0]
[fluid]
viscosity = 0.01
steps = 6
timestep = 0.002
[fluid.boundary.z]
type = "wall"
[fluid.initial]
profile = "channel"
perturbation = 0.3
[fluid.forcing]
bulk_velocity = [1.0, 0.0, 0.0]
[fluid.statistics]
every = 1
[[output.slice]]
name = "middle"
normal = "z"
position = 1.0
every = 2
fields = ["velocity"]
[output]
observables_every = 1
frames_every = 2
[checkpoint]
every = 2
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
SOLVERS = {"md": MD, "fluid": FLUID, "risk": RISK}
with open("book.csv", "w", encoding="utf-8") as out:
    out.write(BOOK)


def arguments(solver, out):
    return (tap.WARPDECK, "run", f"{solver}.toml", "-q", "output.name=r",
            "--output", out)


def run(solver, out, *more, **kill):
    """A run with kill_at.c's variables in its environment."""
    preload = ":".join([os.path.abspath("kill_at.so")] + (
        os.environ.get("LD_PRELOAD", "").split()))
    env = dict(os.environ, LD_PRELOAD=preload, KILL_IN=f"{out}/",
               **{f"KILL_{k.upper()}": str(v) for k, v in kill.items()})
    return tap.run(*arguments(solver, out), *more, ranks=RANKS, check=False,
                   env=env)


def changes(solver, rank):
    """How many the undisturbed run makes on a rank."""
    shutil.rmtree("whole", ignore_errors=True)
    tap.is_(run(solver, "whole", count="count", rank=rank).returncode, 0,
            f"{solver}: a run is counted")
    with open("count", encoding="utf-8") as out:
        return int(out.read())


def unreadable(name):
    try:
        tap.numbers(os.path.join("killed", name))
        return False
    except (OSError, RuntimeError, KeyError):
        return True


def results(out):
    """The numbers of all results, and the names of all files."""
    names = sorted(n for n in os.listdir(out) if ".ckpt." not in n)
    return names, {n: tap.numbers(os.path.join(out, n)) for n in names
                   if n.endswith((".h5", ".hdf"))}


def kills_of(solver):
    with open(f"{solver}.toml", "w", encoding="utf-8") as deck:
        deck.write(SOLVERS[solver])
    counts = [changes(solver, rank) for rank in range(RANKS)]
    want = results("whole")
    kills, hurt, aside, torn, lost, wrong = 0, [], 0, 0, [], []
    told = time.monotonic()
    for n in range(FIRST, max(counts) + 1, STRIDE):
        rank = n // STRIDE % RANKS
        if time.monotonic() - told > 60:
            told = time.monotonic()
            tap.note(f"{solver}: {kills} kills so far, at change {n} of "
                     f"{max(counts)}; {len(hurt)} left a file that cannot be "
                     f"read, {len(lost)} cannot be gone on with, {len(wrong)} "
                     "end otherwise")
        shutil.rmtree("killed", ignore_errors=True)
        if run(solver, "killed", at=n, rank=rank).returncode == 0:
            continue  # the rank made fewer this time
        kills += 1
        left = os.listdir("killed")
        hurt += [(n, name) for name in left
                 if name.endswith((".h5", ".hdf")) and unreadable(name)]
        if "r.h5.tmp" in left:
            aside += 1
            torn += unreadable("r.h5.tmp")
        done = tap.run(*arguments(solver, "killed"), "--resume", "auto",
                       ranks=RANKS, check=False)
        if done.returncode != 0:
            lost.append((n, done.stderr))
        elif results("killed") != want:
            wrong.append((n, sorted(os.listdir("killed"))))
    tap.note(f"{solver}: {kills} kills, at {counts} changes of files; "
             f"{len(hurt)} left a file that cannot be read; {aside} left the "
             f"results as .tmp, {torn} of these cannot be read as they are; "
             f"{len(lost)} cannot be gone on with")
    tap.ok(kills > 0, f"{solver}: a run is killed at its writes")
    tap.is_(hurt, [], "every file that is left is readable or is called .tmp")
    tap.is_(lost, [], "the run can be gone on with")
    tap.is_(wrong, [], "and ends with the bits and files of an undisturbed one")


compiler = shutil.which("cc") or shutil.which("gcc")
if compiler is None:
    tap.skip_all("no compiler to make a library that kills")
subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-o", "kill_at.so",
                os.path.join(tap.TOP_SRCDIR, "tests", "driver", "kill_at.c"),
                "-ldl"], check=True)
if subprocess.run([tap.WARPDECK, "--version"], capture_output=True, check=False,
                  env=dict(os.environ, LD_PRELOAD=os.path.abspath("kill_at.so"))
                  ).returncode != 0:
    tap.skip_all("the sanitizer in the program wants no library before its own")
for name in sys.argv[1:] or SOLVERS:
    kills_of(name)
tap.done()
