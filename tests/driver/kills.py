"""Many kill -9 and many flipped bytes, of one solver: kills.py SOLVER.

Runs are killed at random moments and gone on with by --resume auto until they
end; then a new one begins, until there were as many kills as wanted. A third of
the kills is aimed at the moment when a file without its final name is there (a
checkpoint or a frame of a grid being written), a third at the moment after the
results have grown. With two ranks, one of them is killed or all. Whatever is
left behind is readable or is called .tmp, and the run ends with the bits of an
undisturbed one. Results are called .tmp for the moments in which they are
written to, so that the second third hits these moments, too.
"""

import collections
import os
import random
import shutil
import signal
import subprocess
import sys
import time

import tap

tap.need("numpy", "h5py")

import h5py

KILLS = int(os.environ.get("WARPDECK_KILLS", 200))
FLIPS = int(os.environ.get("WARPDECK_FLIPS", 500))
# One rank needs no process that would start others.
os.environ.update(OMPI_MCA_ess_singleton_isolated="1",
                  OMPI_MCA_orte_tmpdir_base=os.getcwd())
# Not longer than this for a failed rank to stop the others.
ALL_STOP = 10.0
# Results that grew so long ago (ns) are being written.
FRESH = 2_000_000

MD = """
[run]
solver = "md"
[md]
timestep = 0.003
steps = 3000
[md.initial]
lattice = "fcc"
cells = [5, 5, 5]
density = 0.8
temperature = 1.5
[md.pair]
cutoff = 2.5
[md.ensemble]
type = "langevin"
temperature = 1.5
relaxation = 0.5
[md.analysis.msd]
every = 10
[output]
observables_every = 10
frames_every = 50
fields = ["position", "velocity", "image"]
[checkpoint]
every = 25
"""
FLUID = """
[run]
solver = "fluid"
[domain]
cells = [16, 16, 16]
size = [6.283185307179586, 3.141592653589793, 2.0]
[fluid]
viscosity = 0.01
steps = 2000
timestep = 0.002
[fluid.boundary.z]
type = "wall"
[fluid.initial]
profile = "channel"
perturbation = 0.3
[fluid.forcing]
bulk_velocity = [1.0, 0.0, 0.0]
[fluid.statistics]
every = 5
[output]
observables_every = 10
frames_every = 100
[checkpoint]
every = 25
"""
RISK = """
[run]
solver = "risk"
seed = 3
[risk]
paths = 26_214_400
variance_reduction = ["antithetic", "control"]
[[risk.factor]]
name = "A"
spot = 100.0
rate = 0.05
volatility = 0.2
[[risk.factor]]
name = "B"
spot = 50.0
rate = 0.05
volatility = 0.3
[risk.correlation]
matrix = [[1.0, 0.4], [0.4, 1.0]]
[risk.portfolio]
file = "book.csv"
[checkpoint]
every = 1
"""
BOOK = """id,type,factor,side,quantity,strike,maturity
a,european,A,call,25,100,1.0
b,digital,B,put,40,50,0.5
c,european,B,put,-10,45,1.0
"""
# Deck, what makes its run shorter for two ranks, a short one that leaves a
# checkpoint, and one a step longer.
SOLVERS = {"md": (MD, ("md.steps=300", "checkpoint.every=10"), "md.steps=20",
                  "md.steps=21"),
           "fluid": (FLUID, ("fluid.steps=150", "checkpoint.every=10",
                             "output.frames_every=30"), "fluid.steps=10",
                     "fluid.steps=11"),
           "risk": (RISK, ("risk.paths=13107200",), "risk.paths=1048576",
                    "risk.paths=1572864")}
SOLVER = sys.argv[1]
DECK, SHORTER, FIRST, ONE_MORE = SOLVERS[SOLVER]
with open("k.toml", "w", encoding="utf-8") as deck:
    deck.write(DECK)
with open("book.csv", "w", encoding="utf-8") as book:
    book.write(BOOK)

seed = int(os.environ.get("WARPDECK_SEED", time.time()))
tap.note(f"WARPDECK_SEED={seed}")
moments = random.Random(seed)


def arguments(out, *more):
    return (tap.WARPDECK, "run", "k.toml", "output.name=r", "--output", out,
            "-q", *more)


def result(out):
    """All numbers of all results and of the last checkpoint."""
    saved, found = [], {}
    for name in os.listdir(out):
        path = os.path.join(out, name)
        if ".ckpt." in name:
            with h5py.File(path) as f:
                saved.append((f["run"].attrs["serial"], path))
        elif name.endswith((".h5", ".hdf")):
            found.update({f"{name}: {k}": v for k, v in tap.numbers(path).items()})
    found.update({f"last: {k}": v for k, v in tap.numbers(max(saved)[1]).items()})
    return found


def differing(one, other):
    a, b = result(one), result(other)
    return [n for n in sorted(set(a) | set(b)) if a.get(n) != b.get(n)]


def unreadable(out, endings=(".h5", ".hdf")):
    """What is wrong with the files that a kill has left."""
    bad = ""
    for name in os.listdir(out) if os.path.isdir(out) else []:
        if name.endswith(endings):
            try:
                tap.numbers(os.path.join(out, name))
            except (OSError, RuntimeError, KeyError) as error:
                bad += f"{name}: {error}\n"
    return bad


def names(out):
    try:
        return os.listdir(out)
    except OSError:
        return []


def grown(out):
    """When the results were last written to."""
    for name in "r.h5", "r.h5.tmp":
        try:
            return os.stat(os.path.join(out, name)).st_mtime_ns
        except OSError:
            pass
    return 0


def ranks_of(child):
    found = []
    for pid in tap.below_process(child.pid):
        try:
            with open(f"/proc/{pid}/comm", encoding="utf-8") as f:
                if f.read().strip() == os.path.basename(tap.WARPDECK)[:15]:
                    found.append(pid)
        except OSError:
            pass
    return sorted(found)


def take_aim(child, out, start):
    """Wait for the moment of a kill, with one process held still in it."""
    kind = moments.randrange(3)
    time.sleep(moments.uniform(0.0, 0.3) + start)
    if kind == 0:
        return
    end = time.time() + 3
    while child.poll() is None and time.time() < end:
        pids = ranks_of(child) or [child.pid]
        try:
            os.kill(pids[0], signal.SIGSTOP)
            if (any(n.endswith((".h5.tmp", ".hdf.tmp")) for n in names(out))
                    if kind == 1
                    else time.time_ns() - grown(out) < FRESH):
                return
            os.kill(pids[0], signal.SIGCONT)
        except OSError:
            return
        time.sleep(moments.uniform(0.0, 0.003))


def phase(out, at):
    """In what a kill fell."""
    left = [n for n in names(out) if n.endswith(".tmp")]
    if any(".ckpt." in n for n in left):
        return "a checkpoint's write"
    if "r.h5.tmp" in left:
        return "the results' write"
    if left:
        return "the making of a file of results"
    if not os.path.exists(os.path.join(out, "r.h5")):
        return "the start"
    return ("the results' write" if at - grown(out) < FRESH
            else "the loop or the start")


def kill_once(child, n, all_ranks, hung):
    """SIGKILL to one rank or all; returns how long the others took to end.
    hung: gets a line where the launcher outlives them."""
    ranks = ranks_of(child) if n > 1 else []
    if all_ranks or not ranks:
        tap.kill(child)
        return 0.0
    begin, told, victim = time.time(), False, moments.choice(ranks)
    os.kill(victim, signal.SIGKILL)
    # Those who are still there would meet the run that goes on.
    while any(map(tap.is_alive, ranks)) and time.time() - begin < 60:
        if time.time() - begin > ALL_STOP / 2 and not told:
            told = True
            tap.note(f"{victim} was killed, and still there: "
                     + ", ".join(map(doing, [child.pid] + ranks)))
        time.sleep(0.01)
    took = time.time() - begin
    try:
        child.wait(timeout=30)
    except subprocess.TimeoutExpired:
        hung.append(f"{victim} was killed, and its launcher stays without "
                    "ranks: " + ", ".join(map(doing, [child.pid] + ranks)))
        tap.note(hung[-1])
        tap.kill(child)
    return took


def doing(pid):
    """The state of a process, and where in the kernel it waits."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as f:
            state = f.read().rsplit(")", 1)[1].split()[0]
        with open(f"/proc/{pid}/wchan", encoding="utf-8") as f:
            return f"{pid} {state} {f.read() or '-'}"
    except OSError:
        return f"{pid} gone"


def killed_runs(n, wanted, fewer):
    kills, rounds, bad, wrong, slowest = 0, 0, "", "", 0.0
    fell, hurt, aside, hung = collections.Counter(), 0, [0, 0], []
    tap.run(*arguments(f"calm{n}", *fewer), ranks=n)
    begin = time.time()
    while kills < wanted:
        out, status, round_kills = f"killed{n}", None, 0
        shutil.rmtree(out, ignore_errors=True)
        while status != 0:
            last = kills >= wanted
            with open("killed.log", "a", encoding="utf-8") as log:
                child = subprocess.Popen(
                    tap.command(n, *arguments(out, *fewer, "--resume",
                                               "auto")),
                    stdout=log, stderr=log, start_new_session=True)
            if not last:
                take_aim(child, out, 0.4 if n > 1 else 0.03)
            if not last and child.poll() is None:
                all_ranks = n == 1 or moments.random() < 0.5
                at = time.time_ns()
                slowest = max(slowest, kill_once(child, n, all_ranks,
                                                 hung))
                fell[phase(out, at)] += 1
                kills += 1
                round_kills += 1
                broken = unreadable(out)
                bad += broken
                hurt += broken != ""
                if "r.h5.tmp" in names(out):
                    aside[0] += 1
                    aside[1] += unreadable(out, ("r.h5.tmp",)) != ""
                if kills % 20 == 0:
                    tap.note(f"{n} ranks: {kills} kills so far, in {rounds + 1} "
                             f"runs, {time.time() - begin:.0f} s; {hurt} left a "
                             "file that cannot be read; slowest end "
                             f"{slowest:.1f} s")
            status = child.wait()
            if status == 0 or (round_kills > 2 * wanted + 10):
                break
            if last:
                wrong += f"round {rounds}: the last run ends with {status}\n"
                break
        rounds += 1
        if status == 0:
            differ = differing(f"calm{n}", out)
            if differ:
                wrong += f"round {rounds}: {differ[:5]}\n"
            left = sorted(x for x in os.listdir(out) if ".ckpt." not in x)
            want = sorted(x for x in os.listdir(f"calm{n}")
                          if ".ckpt." not in x)
            if left != want:
                wrong += f"round {rounds}: {left}, undisturbed {want}\n"
        if wrong:
            shutil.copytree(out, f"bad{n}_{rounds}", dirs_exist_ok=True)
            break
    tap.note(f"{n} ranks: {kills} kills in {rounds} runs, "
             f"{time.time() - begin:.0f} s; they fell in "
             + ", ".join(f"{p}: {k}" for p, k in fell.most_common())
             + f"; {hurt} left a file that cannot be read, {aside[0]} left the "
             f"results as .tmp, {aside[1]} of these cannot be read as they are")
    tap.is_(bad, "", f"{SOLVER}, {n} ranks, {kills} kills: files are readable")
    tap.is_(wrong, "", "and runs end with all numbers and files of an "
            "undisturbed one")
    if n > 1:
        # Open MPI 4.1's mpirun does so once in some hundred times.
        tap.note(f"slowest end of all ranks after one was killed: {slowest:.1f}"
                 f" s; the launcher then hung {len(hung)} times")
        tap.below(slowest, ALL_STOP, "one killed rank stops all, in seconds")


killed_runs(1, KILLS // 2 if tap.have_mpi() else KILLS, ())
if tap.have_mpi():
    # Ranks that share a core take turns.
    killed_runs(2, KILLS - KILLS // 2, SHORTER)

# Bytes that flip: refused, or they meant nothing.
tap.run(*arguments("good", FIRST, "checkpoint.keep=1"))
with open("good/r.ckpt.0.h5", "rb") as saved:
    good = saved.read()
tap.run(*arguments("want", ONE_MORE, "--resume", "good/r.ckpt.0.h5"))
want = tap.numbers("want/r.h5")
refused, harmless, wrong = 0, 0, 0
begin = time.time()
for k in range(FLIPS):
    if k and k % 100 == 0:
        tap.note(f"{k} bytes so far: {refused} refused, {harmless} harmless, "
                 f"{wrong} neither")
    at = moments.randrange(len(good))
    bad = bytearray(good)
    bad[at] ^= moments.randrange(1, 256)
    with open("flipped.h5", "wb") as f:
        f.write(bad)
    done = tap.run(*arguments("flipped", ONE_MORE, "--resume", "flipped.h5",
                              "--overwrite"), check=False)
    if done.returncode == 2 and "flipped.h5" in done.stderr:
        refused += 1
    elif done.returncode == 0 and tap.numbers("flipped/r.h5") == want:
        harmless += 1
    else:
        wrong += 1
        tap.note(f"byte {at}: exit status {done.returncode}: {done.stderr}")
tap.note(f"{refused} refused, {harmless} harmless, "
         f"{time.time() - begin:.0f} s")
tap.is_(wrong, 0, f"{SOLVER}: of {FLIPS} flipped bytes each is refused, with "
        "the file's name, or harmless")
tap.done()
