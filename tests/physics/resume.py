# timeout: 280
"""Runs that go on from a checkpoint end as if they had not been interrupted.

On the same ranks and in double precision every number of the result file is the
same to the last bit: frames, observables and tables. On other ranks sums are
taken in another order, and chaos makes the differences grow; over a few steps
they stay at rounding.
"""

import os
import random
import subprocess
import time

import tap

tap.need("numpy", "h5py")

import h5py
import numpy as np

import mdrun

DECK = """
[run]
solver = "md"
[md]
timestep = 0.003
steps = 60
[md.initial]
lattice = "fcc"
cells = [6, 6, 6]
density = 0.8
temperature = 1.5
[md.pair]
style = "lj"
cutoff = 2.5
skin = 0.3
[md.ensemble]
%s
[md.analysis.msd]
every = 10
[md.analysis.rdf]
every = 7
[output]
observables_every = 7
frames_every = 21
fields = ["position", "velocity", "image", "force"]
"""
THERMOSTATS = {
    "nve": 'type = "nve"',
    "langevin": 'type = "langevin"\ntemperature = 1.5\nrelaxation = 0.5',
    "bussi": 'type = "bussi"\ntemperature = 1.5\nrelaxation = 0.5',
}
DECKS = {name: mdrun.write(name + ".toml", DECK % text)
         for name, text in THERMOSTATS.items()}


def run(deck, out, *more, ranks=1, check=True):
    return tap.run(tap.WARPDECK, "run", DECKS[deck], "output.name=r",
                   "--output", out, "-q", *more, ranks=ranks, check=check)


def result(out):
    return mdrun.datasets(os.path.join(out, "r.h5"))


def same(one, other):
    """The names of the datasets that differ in any bit or are missing."""
    a, b = result(one), result(other)
    return [n for n in sorted(set(a) | set(b))
            if n not in a or n not in b or a[n].shape != b[n].shape
            or a[n].tobytes() != b[n].tobytes()]


# Step 31 lies between two builds of the list, and nothing is due there.
for name in DECKS:
    for n in mdrun.rank_counts(*((1, 3) if name == "langevin" else (1,))):
        whole, parts = f"{name}{n}", f"{name}{n}_parts"
        run(name, whole, ranks=n)
        run(name, parts, "md.steps=31", "checkpoint.keep=2", ranks=n)
        run(name, parts, "--resume", "auto", ranks=n)
        tap.is_(same(whole, parts), [],
                f"{name} on {n}: 31 steps and the rest are the whole, bit by bit")
# Rows that a killed run has made and not written hold zeros.
run("nve", "torn", "md.steps=28", "checkpoint.keep=2")
with h5py.File("torn/r.h5", "r+") as f:
    longer = set()

    def lengthen(_name, item):
        if isinstance(item, h5py.Dataset) and item.maxshape[:1] == (None,):
            at = h5py.h5o.get_info(item.id).addr  # links share steps and times
            if at not in longer:
                longer.add(at)
                item.resize(len(item) + 1, axis=0)
    f["observables"].visititems(lengthen)
run("nve", "torn", "--resume", "auto")
tap.is_(same("nve1", "torn"), [], "rows that were not written do not stay")
run("nve", "saved", "checkpoint.every=5")
tap.is_(same("nve1", "saved"), [], "saving changes no bit of a run")

# 31 steps on 4, 14 more on 2, the rest on 3 ranks. Differences of 1e-15 grow by
# about a factor of e a unit of time; 0.1 units lie between.
if tap.have_mpi():
    run("nve", "ranks", "md.steps=31", "checkpoint.keep=2", ranks=4)
    run("nve", "ranks", "md.steps=45", "checkpoint.keep=2", "--resume", "auto",
        ranks=2)
    run("nve", "ranks", "--resume", "auto", ranks=3)
    a, b = result("nve1"), result("ranks")
    tap.is_(sorted(a), sorted(b), "4, 2 and 3 ranks write the same datasets")
    worst = max(mdrun.worst(b[n], a[n]) for n in a if "distribution" not in n)
    tap.below(worst, 1e-10, "and the same numbers within 1e-10")
else:
    tap.skip(2, "built without MPI")


def readable(folder):
    """Every file without .tmp can be opened and read."""
    for name in os.listdir(folder):
        if name.endswith(".h5"):
            mdrun.datasets(os.path.join(folder, name))
    return True


# Killed at random moments, and gone on, until it is done.
seed = int(os.environ.get("WARPDECK_SEED", time.time()))
tap.note(f"WARPDECK_SEED={seed}")
moments = random.Random(seed)
for n in mdrun.rank_counts(1, 2):
    out, kills, whole_files = f"killed{n}", 0, True
    steps = ["md.steps=1500", "checkpoint.every=25"]
    run("langevin", f"calm{n}", *steps, ranks=n)
    wanted = 5
    while kills < wanted:
        more = steps + ["--resume", "auto"]
        with open("killed.log", "a", encoding="utf-8") as log:
            child = subprocess.Popen(
                tap.command(n, tap.WARPDECK, "run", DECKS["langevin"],
                            "output.name=r", "--output", out, "-q", *more),
                stdout=log, stderr=log, start_new_session=True)
            time.sleep(moments.uniform(0.05, 0.5) + 0.4 * (n > 1))
            if child.poll() is None:
                kills += 1
                tap.kill(child)
            child.wait()
        if os.path.isdir(out):
            try:
                readable(out)
            except OSError as error:
                whole_files = False
                tap.note(str(error))
        if child.returncode == 0:
            break
    tap.ok(whole_files, f"{n} ranks, killed {kills} times: files are readable")
    last = run("langevin", out, *steps, "--resume", "auto", ranks=n,
               check=False)
    if not tap.is_(last.returncode, 0, "the last run ends well"):
        tap.note(last.stderr)
    else:
        tap.is_(same(f"calm{n}", out), [], "and all numbers are the same")

# Bytes that flip: refused, or they meant nothing.
good = open("nve1_parts/r.ckpt.0.h5", "rb").read()
wrong = 0
for k in range(60):
    at = moments.randrange(len(good))
    bad = bytearray(good)
    bad[at] ^= moments.randrange(1, 256)
    with open("flipped.h5", "wb") as f:
        f.write(bad)
    done = run("nve", "flipped", "md.steps=33", "--resume",
               os.path.abspath("flipped.h5"), "--overwrite", check=False)
    if done.returncode == 2 and "flipped.h5" in done.stderr:
        continue
    if done.returncode == 0:
        continue
    wrong += 1
    tap.note(f"byte {at}: exit status {done.returncode}: {done.stderr}")
tap.is_(wrong, 0, "a flipped byte is refused, with the file's name, or harmless")
tap.done()
