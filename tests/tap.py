"""Results of tests written in Python, in the Test Anything Protocol.

    import tap
    tap.ok(x == 1, "x is one")
    tap.near(energy, -6.7733681, 1e-7, "step 0 has the energy of the crystal")
    tap.done()

The working directory is an empty folder, see run-test.
"""

import math
import os
import shlex
import signal
import subprocess
import sys
import time

count = 0
failed = 0
planned = None

TOP_SRCDIR = os.environ.get("top_srcdir", ".")
TOP_BUILDDIR = os.environ.get("top_builddir", ".")
WARPDECK = os.environ.get("WARPDECK", "warpdeck")
REFERENCE = os.environ.get("WARPDECK_REFERENCE", "")
MPIRUN = os.environ.get("WARPDECK_MPIRUN", "")
MPIRUN_FLAGS = shlex.split(os.environ.get("WARPDECK_MPIRUN_FLAGS", ""))


def plan(n):
    """How many results will follow (or call done() alone)."""
    global planned
    planned = n
    print(f"1..{n}", flush=True)


def note(text):
    """Each line of the text as a comment in the log."""
    for line in str(text).splitlines():
        print("#   " + line, flush=True)


def ok(held, sentence):
    """Whether `held`; returns it as a bool."""
    global count, failed
    held = bool(held)
    count += 1
    failed += not held
    print(f"{'ok' if held else 'not ok'} {count} - {sentence}", flush=True)
    return held


def is_(got, want, sentence):
    """Whether two things are equal."""
    held = ok(got == want, sentence)
    if not held:
        note(f"got  {got!r}\nwant {want!r}")
    return held


def near(got, want, tolerance, sentence):
    """Whether |got - want| <= tolerance."""
    held = ok(math.fabs(got - want) <= tolerance, sentence)
    if not held:
        note(f"got {got!r}, want {want!r} within {tolerance:g}")
    return held


def below(got, bound, sentence):
    """Whether got < bound; the value is shown in any case."""
    held = ok(got < bound, f"{sentence} ({got:.3g} < {bound:.3g})")
    return held


def skip(n, reason):
    """Leave out n results, with a reason that a user would accept."""
    global count
    for _ in range(n):
        count += 1
        print(f"ok {count} # SKIP {reason}", flush=True)


def skip_all(reason):
    """Leave out the whole test."""
    print(f"1..0 # SKIP {reason}", flush=True)
    sys.exit(0)


def simulated_card():
    """The program that runs on the simulated card (or WARPDECK_ON_CARD, in its
    place); all is skipped without it."""
    without = os.environ.get("WARPDECK_NO_CUDASIM", "")
    if without:
        skip_all(without)
    return os.environ.get("WARPDECK_ON_CARD") or os.path.join(
        TOP_BUILDDIR, "warpdeck-cudasim")


def seeded(n):
    """The environment of a run with order n of blocks, threads and streams on the
    simulated card; CUDASIM_SEED, where it is set, moves them all."""
    moved = 10 * max(int(os.environ.get("CUDASIM_SEED", "1")) - 1, 0)
    return dict(os.environ, CUDASIM_SEED=str(n + moved))


def need(*modules):
    """Import modules or leave out the whole test, naming what is missing."""
    found = []
    for name in modules:
        try:
            found.append(__import__(name))
        except ImportError:
            skip_all(f"the Python module {name} is not installed")
    return found[0] if len(found) == 1 else found


def reference(*path):
    """The path of a reference file, or None where it is not there."""
    full = os.path.join(REFERENCE, *path) if REFERENCE else ""
    return full if full and os.path.exists(full) else None


def numbers(path):
    """The bytes of all numbers of a file of results, by name, but what the run
    says about itself."""
    import h5py

    found = {}

    def visit(name, item):
        if (isinstance(item, h5py.Dataset) and item.dtype.kind in "fiu"
                and not name.startswith("run")):
            found[name] = item[...].tobytes()

    with h5py.File(path) as f:
        f.visititems(visit)
    return found


def have_mpi():
    return bool(MPIRUN)


def sanitized():
    """Whether the program was built with sanitizers: a step of it takes some ten
    times as long."""
    with open(os.path.join(TOP_BUILDDIR, "Makefile"), encoding="utf-8") as f:
        return any(line.startswith("WD_INSTRUMENT =") and "-fsanitize" in line
                   for line in f)


def command(ranks, *args):
    """The command line that starts `args` on so many ranks."""
    head = [] if ranks == 1 else [MPIRUN, *MPIRUN_FLAGS, "-n", str(ranks)]
    return head + [str(a) for a in args]


def below_process(pid):
    """The processes that a process started, and theirs."""
    found, parents = [], {}
    for name in os.listdir("/proc"):
        try:
            with open(f"/proc/{name}/stat", encoding="utf-8") as f:
                parents[int(name)] = int(f.read().rsplit(")", 1)[1].split()[1])
        except (ValueError, OSError):
            pass
    todo = [pid]
    while todo:
        at = todo.pop()
        children = [p for p, parent in parents.items() if parent == at]
        found += children
        todo += children
    return found


def is_alive(pid):
    """Whether a process runs, or is stopped, but has not ended."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as f:
            return f.read().rsplit(")", 1)[1].split()[0] not in "ZX"
    except OSError:
        return False


def kill(child):
    """SIGKILL to a subprocess.Popen and all below it (ranks have groups of their
    own); returns when none of them runs any more."""
    pids = [child.pid] + below_process(child.pid)
    for pid in pids:
        try:
            os.kill(pid, signal.SIGKILL)
        except OSError:
            pass
    child.wait()
    while any(is_alive(pid) for pid in pids):
        time.sleep(0.01)


def run(*args, ranks=1, check=True, timeout=250, **more):
    """Run a command; returns the CompletedProcess with text. Where `check` and
    it failed, its output is noted and the test ends."""
    line = command(ranks, *args)
    if line[0] == MPIRUN and timeout > 250 and "--timeout" in MPIRUN_FLAGS:
        # A long test: of two limits mpirun takes the last.
        at = 1 + len(MPIRUN_FLAGS)
        line[at:at] = ["--timeout", str(timeout)]
    done_ = subprocess.run(line, stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE, text=True, timeout=timeout,
                           errors="replace", **more)
    if check and done_.returncode != 0:
        note(f"status {done_.returncode} of: {shlex.join(done_.args)}")
        note(done_.stdout[-3000:])
        note(done_.stderr[-3000:])
        ok(False, f"{os.path.basename(str(args[0]))} succeeds")
        done()
    return done_


def warpdeck(*args, ranks=1, **more):
    """run() of the program that was built."""
    return run(WARPDECK, *args, ranks=ranks, **more)


def done():
    """End: prints the plan where none was, and exits."""
    status = failed != 0
    if planned is None:
        print(f"1..{count}", flush=True)
    elif planned != count:
        note(f"planned {planned} results, got {count}")
        status = 1
    sys.exit(int(status))
