# timeout: 120
"""[ensemble] temperatures: replicas that advance together and exchange them."""

import os
import signal
import subprocess
import time

import tap

tap.need("h5py", "numpy")

import h5py
import numpy as np

import replicated
from replicated import N, path, same

KINDS = ("langevin", "bussi", "nose-hoover")


def write(thermostat):
    with open("ladder.toml", "w", encoding="utf-8") as deck:
        deck.write(replicated.LADDER.format(thermostat=thermostat, steps=100))


def run(*more, **how):
    return replicated.run("ladder.toml", *more, **how)


def bath(folder, i):
    with h5py.File(path(folder, i)) as f:
        return f["observables/thermostat_temperature/value"][...]


def test_walk():
    """What the files say of one another."""
    result = run("--output", "one", "--overwrite")
    tap.is_(result.returncode, 0, "four temperatures run on one rank")
    rungs, ladder = [], np.array([1.0, 1.05, 1.1, 1.15])
    for i in range(N):
        with h5py.File(path("one", i)) as f:
            walk = f["statistics/exchange/walk"]
            rungs.append(walk["rung"][...].astype(int))
            tables = {k: v[...] for k, v in
                      f["statistics/exchange/pairs"].items()}
    rungs = np.array(rungs)
    tap.ok((np.sort(rungs, axis=0) == np.arange(N)[:, None]).all(),
           "each temperature has one replica at any time")
    tap.ok((np.abs(np.diff(rungs, axis=1)) <= 1).all()
           and (rungs != np.arange(N)[:, None]).any(),
           "replicas move, from neighbor to neighbor")
    want = [sum(rungs[i, a] == r and rungs[i, a + 1] == r + 1
                for i in range(N) for a in range(rungs.shape[1] - 1))
            for r in range(N - 1)]
    tap.is_(list(tables["accepted"].astype(int)), want,
            "the table counts the exchanges that the walks show")
    tap.is_(list(tables["attempts"].astype(int)), [5, 4, 5],
            "pairs of neighbors take turns, and none tries at the end")
    # a row stands before the attempt of its step
    tap.ok(all((bath("one", i)[1:] == ladder[rungs[i]]).all()
               for i in range(N)),
           "each row has the temperature of the time before it")
    tap.ok("accepted" in result.stdout and "round trip" in result.stdout,
           "the rates are told at the end")


def test_ranks():
    for ranks in (2, 4):
        run("--output", f"ranks{ranks}", ranks=ranks)
        tap.ok(same("one", f"ranks{ranks}"),
               f"and on {ranks} ranks, bit by bit the same")
    tap.ok("two" not in os.listdir() and run("--output", "two", ranks=3,
                                             status=2).returncode == 2,
           "three ranks for four replicas are refused")


def test_resume(kind):
    """Halfway there, where an attempt is due, too; and after one replica's last
    checkpoint is lost."""
    write(kind)
    keep = ("checkpoint.every=20", "checkpoint.keep=3")
    if kind != KINDS[0]:
        run("--output", "one", "--overwrite")
    run("md.steps=50", *keep, "--output", kind)
    os.remove(f"{kind}/replica-0002/ladder.ckpt.2.h5")
    result = run(*keep, "--output", kind, "--resume", "auto")
    tap.ok(same("one", kind) and "step 50 is passed over" in result.stderr,
           f"{kind}: gone on with from the last step that all have, the run "
           "has the bits of one that was not stopped")
    run("md.steps=50", *keep, "--output", kind, "--overwrite")
    result = run(*keep, "--output", kind, "--resume", "auto")
    tap.ok(same("one", kind) and "goes on from step 50" in result.stdout,
           f"{kind}: and from an end at which an attempt was due")


def test_stop():
    long = ("md.steps=20000", "output.frames_every=20000",
            "output.observables_every=1000")
    child = subprocess.Popen(
        tap.command(1, tap.WARPDECK, "run", "ladder.toml", "-q", *long,
                    "--output", "stop"),
        stderr=subprocess.PIPE, text=True)
    until = time.monotonic() + 30
    while (not os.path.exists("stop/replica-0003/ladder.log")
           and time.monotonic() < until):
        time.sleep(0.02)
    time.sleep(0.2)
    child.send_signal(signal.SIGTERM)
    _, text = child.communicate(timeout=60)
    steps = set()
    for i in range(N):
        with h5py.File(path("stop", i)) as f:
            steps.add(int(f["observables/temperature/step"][-1]))
    tap.ok(child.returncode == 75 and "4 replicas are not finished" in text
           and len(steps) == 1 and max(steps) < 20000,
           "a signal stops all of them at the same step")


def test_refused():
    for more, text in (
            (["ensemble.temperatures=[1.0, 0.9]"], "must ascend"),
            (["ensemble.temperatures=[1.0]"], "needs two"),
            (["ensemble.replicas=3"], "but there are 4 temperatures"),
            (["ensemble.temperature_range=[1, 2]"], "two ways to say the same"),
            (["md.ensemble.type=nve"], "needs a thermostat"),
            (["md.ensemble.type=npt", "md.ensemble.pressure=1",
              "md.ensemble.pressure_relaxation=5"], "at constant volume"),
            (["output.staging=on"], "does not go with ensemble.temperatures"),
            (["--resume", "some.h5"], "use --resume auto")):
        result = run(*more, "--output", "no", status=2)
        tap.ok(result.returncode == 2 and text in result.stderr,
               f"{' '.join(more)} is refused: {text}")
    os.makedirs("bad/replica-0002")
    os.makedirs("bad/replica-0002/ladder.h5")
    result = run("--output", "bad", status=2)
    tap.ok(result.returncode in (1, 2) and "in replica 2 of 4" in result.stderr,
           "one that can not begin ends all, with its name")


write(KINDS[0])
test_walk()
if tap.have_mpi():
    test_ranks()
else:
    tap.skip(3, "built without MPI")
test_resume(KINDS[0])
for other in KINDS[1:]:
    test_resume(other)
test_stop()
test_refused()
tap.done()
