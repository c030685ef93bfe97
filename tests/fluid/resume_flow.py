# timeout: 240
"""Flows that go on from a checkpoint end as if they had not been interrupted.

On the same ranks, in double precision, every number of the results and of the
last checkpoint is the same to the last bit; on other ranks sums are taken in
another order, and the fields agree within rounding.
"""

import os
import random
import subprocess
import time

import tap

tap.need("numpy", "h5py")

import h5py
import numpy as np

DECK = """
[run]
solver = "fluid"
[domain]
cells = [24, 20, 16]
size = [6.283185307179586, 3.141592653589793, 2.0]
[fluid]
viscosity = 0.01
density = 1.3
cfl = 0.8
end_time = 4.0
diffusion = "%s"
[fluid.grid]
stretching = "tanh"
factor = 1.5
[fluid.boundary.z]
type = "wall"
[fluid.initial]
profile = "channel"
perturbation = 0.3
[fluid.forcing]
bulk_velocity = [1.0, 0.0, 0.0]
[fluid.statistics]
every = 3
[output]
observables_every = 5
[checkpoint]
every = 7
"""
KINDS = ("explicit", "implicit-z", "implicit")
for kind in KINDS:
    with open(kind + ".toml", "w", encoding="utf-8") as f:
        f.write(DECK % kind)


def start(kind, out, *more):
    return (tap.WARPDECK, "run", kind + ".toml", "output.name=r", "--output",
            out, "-q", *more)


def run(kind, out, *more, ranks=1, check=True):
    return tap.run(*start(kind, out, *more), ranks=ranks, check=check)


def datasets(path):
    """All numbers of a file, by name."""
    found = {}

    def visit(name, item):
        if isinstance(item, h5py.Dataset) and item.dtype.kind in "fiu":
            found[name] = item[...]

    with h5py.File(path) as f:
        for group in ("observables", "statistics", "state"):
            if group in f:
                f[group].visititems(
                    lambda n, i, g=group: visit(f"{g}/{n}", i))
    return found


def newest(out):
    paths = [os.path.join(out, n) for n in os.listdir(out)
             if ".ckpt." in n and n.endswith(".h5")]

    def serial(path):
        with h5py.File(path) as f:
            return f["run"].attrs["serial"]
    return max(paths, key=serial)


def everything(out):
    return {**datasets(os.path.join(out, "r.h5")), **datasets(newest(out))}


def differing(one, other):
    a, b = everything(one), everything(other)
    return [n for n in sorted(set(a) | set(b))
            if n not in a or n not in b or a[n].shape != b[n].shape
            or a[n].tobytes() != b[n].tobytes()]


def rank_counts(*counts):
    return [n for n in counts if n == 1 or tap.have_mpi()]


for kind in KINDS:
    for n in rank_counts(*((1, 3) if kind == "explicit" else (2,))):
        whole, parts = f"{kind}{n}", f"{kind}{n}_parts"
        run(kind, whole, ranks=n)
        run(kind, parts, "fluid.steps=17", ranks=n)
        run(kind, parts, "--resume", "auto", ranks=n)
        tap.is_(differing(whole, parts), [], f"{kind} on {n}: 17 steps and the rest are the whole, bit by bit")

# Other ranks and another machine: the fields agree within rounding. 40 steps
# of a flow that is not turbulent yet make 1e-16 grow by a factor of some 100.
if tap.have_mpi():
    for kind in ("explicit", "implicit"):
        out = kind + "_ranks"
        run(kind, out, "fluid.steps=10", ranks=4)
        run(kind, out, "fluid.steps=20", "--resume", "auto", ranks=2)
        run(kind, out, "--resume", "auto", ranks=3)
        a, b = everything(kind + ("1" if kind == "explicit" else "2")), (
            everything(out))
        worst = max(np.abs(a[n] - b[n]).max()
                    for n in ("state/fluid/u", "state/fluid/v", "state/fluid/w",
                              "statistics/profiles/u",
                              "observables/kinetic_energy/value"))
        tap.below(worst, 1e-12, f"{kind}: 4, then 2, then 3 ranks: the same "
                  "within rounding")
else:
    tap.skip(2, "built without MPI")

# Killed at random moments, and gone on, until it is done.
# The seed is shown, to repeat what failed.
seed = int(os.environ.get("WARPDECK_SEED", time.time()))
tap.note(f"WARPDECK_SEED={seed}")
moments = random.Random(seed)
more = ("fluid.end_time=8.0", "output.frames_every=2.0", "checkpoint.every=20")
for n in rank_counts(1, 2):
    calm, out, kills, wanted = f"calm{n}", f"killed{n}", 0, 2
    run("explicit", calm, *more, ranks=n)
    status, bad = None, ""
    while kills < wanted and status != 0:
        with open("killed.log", "a", encoding="utf-8") as log:
            child = subprocess.Popen(
                tap.command(n, *start("explicit", out, *more, "--resume",
                                      "auto")),
                stdout=log, stderr=log, start_new_session=True)
            time.sleep(moments.uniform(0.05, 0.6) + 0.4 * (n > 1))
            if child.poll() is None:
                kills += 1
                tap.kill(child)
            status = child.wait()
        for name in os.listdir(out) if os.path.isdir(out) else []:
            if name.endswith((".h5", ".hdf")):
                try:
                    with h5py.File(os.path.join(out, name)) as f:
                        f.visititems(lambda n, i: isinstance(i, h5py.Dataset)
                                     and i[...])
                except OSError as error:
                    bad += f"{name}: {error}\n"
    tap.is_(bad, "", f"{n} ranks, killed {kills} times: files are readable")
    run("explicit", out, *more, "--resume", "auto", ranks=n)
    tap.is_(differing(calm, out), [], "and all numbers are the same")
    tap.is_(sorted(x for x in os.listdir(out) if ".ckpt." not in x),
            sorted(x for x in os.listdir(calm) if ".ckpt." not in x),
            "and the frames, and nothing is left over")
tap.done()
