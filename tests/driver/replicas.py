# timeout: 240
"""[ensemble] replicas: copies of one deck on groups of ranks."""

import os
import signal
import subprocess
import time

import tap

tap.need("h5py")

import replicated

DECK = """
[run]
solver = "md"
seed   = 7
[md]
timestep = 0.005
steps    = 60
[md.initial]
lattice     = "fcc"
cells       = [6, 6, 6]
density     = 0.8442
temperature = 1.44
[md.pair]
style  = "lj"
cutoff = 2.5
[output]
observables_every = 20
frames_every      = 60
"""


def run(*more, **how):
    return replicated.run("melt.toml", *more, **how)


def results(folder, i):
    path = f"{folder}/replica-{i:04d}/melt.h5"
    return tap.numbers(path) if os.path.exists(path) else None


def alone(i, *more):
    """What a run of its own gives with the seed of replica i."""
    run(f"run.seed={7 + i}", *more, "--output", f"alone{i}", "--overwrite")
    return tap.numbers(f"alone{i}/melt.h5")


def test_same_as_alone():
    ranks = 2 if tap.have_mpi() else 1
    result = run("ensemble.replicas=4", "--output", "four", ranks=ranks)
    tap.is_(result.returncode, 0, f"four replicas run on {ranks} ranks")
    tap.ok(results("four", 3) == alone(3),
           "the last has the numbers of a run of its own, bit by bit")
    tap.ok(results("four", 0) != results("four", 1), "and each has others")
    with open("four/replica-0002/melt.log", encoding="utf-8") as f:
        tap.ok(f.read().startswith("replica 2 of 4: run.seed = 9"),
               "each has a log of its own")


def test_groups():
    result = run("ensemble.replicas=2", "--output", "two", ranks=4)
    with open("two/replica-0001/melt.log", encoding="utf-8") as f:
        text = f.read()
    tap.ok(result.returncode == 0 and "2 ranks x 1 thread" in text,
           "four ranks run two replicas in groups of two")
    tap.ok("replica 1 of 2" not in result.stdout,
           "the terminal shows the first alone")
    result = run("ensemble.replicas=3", "--output", "three", ranks=2, status=2)
    tap.ok(result.returncode == 2 and "3 replicas on 2 ranks" in result.stderr,
           "three on two ranks are refused")


def test_one_fails():
    os.makedirs("bad")
    with open("bad/replica-0001", "w", encoding="utf-8") as f:
        f.write("in the way\n")
    result = run("ensemble.replicas=3", "--output", "bad", status=1)
    tap.ok(result.returncode == 1 and "in replica 1 of 3" in result.stderr
           and "1 of 3 replicas failed" in result.stderr,
           "a replica that fails is told")
    tap.ok(results("bad", 0) and results("bad", 2),
           "and the others come to their end")


def test_stop():
    """Asked to stop during the first of two, and gone on with."""
    steps = 2500 if tap.sanitized() else 20000
    long = (f"md.steps={steps}", f"output.frames_every={steps}",
            "ensemble.replicas=2", "--output", "stop")
    child = subprocess.Popen(
        tap.command(1, tap.WARPDECK, "run", "melt.toml", "-q", *long),
        stderr=subprocess.PIPE, text=True)
    until = time.monotonic() + 30
    while (not os.path.exists("stop/replica-0000/melt.log")
           and time.monotonic() < until):
        time.sleep(0.02)
    time.sleep(0.1)
    child.send_signal(signal.SIGTERM)
    _, text = child.communicate(timeout=60)
    tap.ok(child.returncode == 75 and "2 of 2 replicas are not finished" in text,
           "a wish to stop ends all replicas with status 75")
    result = run(*long, "--resume", "auto")
    tap.is_(result.returncode, 0, "--resume auto goes on with all of them")
    for i in (0, 1):
        tap.ok(results("stop", i) == alone(i, *long[:2]),
               f"replica {i} ends as if it had not been stopped")


def test_check():
    result = tap.warpdeck("check", "melt.toml", "ensemble.replicas=4",
                          "--ranks", "8", "--measure", "0", check=False)
    tap.ok("4 replicas on 8 ranks: 4 at a time, each on 2." in result.stdout
           and "ranks          2, as" in result.stdout,
           "check plans one of them on its group of ranks")


with open("melt.toml", "w", encoding="utf-8") as deck:
    deck.write(DECK)
test_same_as_alone()
if tap.have_mpi():
    test_groups()
else:
    tap.skip(3, "built without MPI")
test_one_fails()
test_stop()
test_check()
tap.done()
