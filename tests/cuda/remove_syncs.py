"""Every wait in the loops for cards is needed: without it a test fails.

Takes out, one after the other, each barrier of a block or warp and each wait for
a stream or event in kernels/, builds what it changes for the simulated card,
first in double precision alone, and runs the tests of the solver until one
fails. What all tests survive is listed, and is a failure unless EXPLAINED says
why the wait stays. REMOVE_SYNCS, a regular expression of FILE:FUNCTION, chooses
some of them.
"""
# timeout: 3600

import glob
import os
import re
import shutil
import subprocess
import sys
import time

import tap

# (file, function): why it stays though no test notices that it is gone.
EXPLAINED = {
    ("kernels/device_cuda.cu", "cuda_release"):
        "cudaFree() waits for the card as well, but its manual does not promise "
        "that",
    ("kernels/risk/sobol_cuda.cu", "risk_cuda_directions"):
        "what is copied stays until destroy(), which waits as well; a copy that "
        "fails is told where the store is made, not in a later launch",
    ("kernels/risk/store_cuda.cu", "destroy"):
        "kernels are queued still only where a launch failed midway, and "
        "cudaFree() waits as well, but its manual does not promise that",
    ("kernels/md/steps_cuda.cu", "cuda_do"):
        "it only serves to time phases one by one; no result depends on it",
}

WAIT = re.compile(r"\b(__sync(?:threads|warp)\w*|cuda(?:Stream|Device|Event)"
                  r"Synchronize|cudaStreamWaitEvent)\s*\(")
TREE = os.path.abspath("tree")
GOOD = os.path.abspath("good")
ONLY = re.compile(os.environ.get("REMOVE_SYNCS", ""))
SIMULATOR = os.environ.get("WARPDECK_NO_CUDASIM", "")
# Messages that stand in the card's memory.
DIRECT = {"CUDASIM_MPI": "1", "CUDASIM_PROTECT": "0"}


class Check:
    """A program of TREE as a test: its arguments, ranks and environment. Behind
    the program may stand the name of a script that is to start it."""

    def __init__(self, *command, ranks=1, **env):
        self.command, self.ranks, self.env = command, ranks, env
        self.took, self.whole = 0.0, {}  # seconds; by seed; nothing removed
        self.name = " ".join(command[:3]) + (
            f", {ranks} ranks" if ranks > 1 else "") + (
            ", direct" if env else "")

    def fails_whole(self, seed):
        """Why it fails though nothing is removed, or None; tried once."""
        if seed not in self.whole:
            began = time.monotonic()
            self.whole[seed] = self.fails(seed, GOOD)
            self.took = max(self.took, time.monotonic() - began)
            if self.whole[seed]:
                tap.ok(False, f"{self.name}, seed {seed}, passes as long as "
                       "nothing is removed")
                tap.note(self.whole[seed])
        return self.whole[seed]

    def fails(self, seed, folder=TREE):
        """Why it fails with an order of threads and streams, or None."""
        env = dict(os.environ, WARPDECK_TEST_DEVICE="cuda", **self.env)
        env |= {"CUDASIM_SEED": str(seed), "WARPDECK_TEST_SHORT": "1"}
        program = os.path.join(folder, self.command[0])
        command = [program, *self.command[1:]]
        here = None
        if self.command[1:] and self.command[1].endswith(".py"):
            env["WARPDECK_ON_CARD"] = program
            script = os.path.join(tap.TOP_SRCDIR, self.command[1])
            command = [sys.executable, script]
            here = "script"
            shutil.rmtree(here, ignore_errors=True)
            os.mkdir(here)
        # Stuck: far longer than before, also where the machine is busy.
        limit = 60 + 20 * self.took if self.took else 900
        if self.ranks > 1:
            # Of two limits mpirun takes the last.
            longer = (["--timeout", f"{limit:.0f}"]
                      if "--timeout" in tap.MPIRUN_FLAGS else [])
            command = [tap.MPIRUN, *tap.MPIRUN_FLAGS, *longer,
                       "-n", str(self.ranks), *command]
        command = ["timeout", "-k", "5", f"{limit:.0f}", *command]
        with subprocess.Popen(command, env=env, cwd=here, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, text=True,
                              errors="replace") as run:
            for line in run.stdout:
                if line.startswith("not ok"):
                    run.terminate()
                    return line.strip()
        if run.returncode in (110, 124, 137):  # 110: mpirun's
            return "never ends"
        if run.returncode != 0:
            return f"status {run.returncode}"
        return None


def some_ranks(*checks):
    """Those checks that can be run here."""
    return [c for c in checks if c.ranks == 1 or tap.MPIRUN]


MELT = ("warpdeck", "bench", "--device", "cuda", "--sizes", "32k", "--steps", "2",
        "md.initial.cells=[8,8,8]")
MD = some_ranks(
    Check("forces"), Check("modes"), Check("charges"), Check("analysis"),
    Check("forces", ranks=2), Check("modes", ranks=2),
    Check("modes", ranks=2, **DIRECT), Check("analysis", ranks=2),
    Check("beside"), Check("beside", ranks=2))
MOLECULES = some_ranks(Check("molecules"), Check("molecules", ranks=2),
                       Check("molecules", ranks=2, **DIRECT))
# Runs of several on one card.
REPLICAS = [Check("warpdeck", "tests/cuda/replicas.py")]
# A program that makes blocks of its own instead of ranks.
FLUID = [Check("fluid", "double"), Check("fluid", "single")]
BENCH = [Check(*MELT)]
RISK = [Check("risk", "short"), Check("risk")]
# Which tests run the loops of a file; all where nothing else is said.
TESTS_OF = (
    ("kernels/md/rigid_", MOLECULES),
    ("kernels/md/bonded_", MOLECULES),
    ("kernels/md/team_", REPLICAS),
    ("kernels/md/", MD),
    ("kernels/fluid/lines_cuda", [Check("fluid", "double", "implicit")] + FLUID),
    ("kernels/fluid/", FLUID),
    ("kernels/risk/", RISK),
    ("kernels/fft_cuda", FLUID),
    ("kernels/card_cuda", BENCH),
    ("kernels/", MD + FLUID + RISK + BENCH),
)


def tests_of(name):
    """The tests for a file of kernels/."""
    return next(tests for begin, tests in TESTS_OF if name.startswith(begin))


def programs_of(tests):
    """The programs of TREE that tests run."""
    return sorted({os.path.join(TREE, test.command[0]) for test in tests})


def blanked(text):
    """The text without comments and launch bounds, of the same length."""
    return re.sub(r"//[^\n]*|/\*.*?\*/|__launch_bounds__\([^)]*\)",
                  lambda m: re.sub(r"[^\n]", " ", m.group(0)), text, flags=re.S)


def waits(path):
    """(start, end, line, function, call) of each statement that waits."""
    with open(path, encoding="utf-8") as f:
        code = blanked(f.read())
    for found in WAIT.finditer(code):
        start = max(code.rfind(c, 0, found.start()) for c in ";{}") + 1
        start += len(code[start:]) - len(code[start:].lstrip())
        end = code.index(";", found.end()) + 1
        names = re.findall(r"^(?!\s|#|typedef)[^;={}]*?\b(\w+)\s*\([^;{}]*\)\s*\{",
                           code[:found.start()], flags=re.M)
        yield (start, end, code.count("\n", 0, found.start()) + 1,
               names[-1] if names else "?", found.group(1))


def copy_kernels():
    """TREE: the sources, and what has been built of them, as if built there."""
    shutil.copytree(os.path.join(tap.TOP_SRCDIR, "kernels"),
                    os.path.join(TREE, "kernels"))
    for made in glob.glob(f"{tap.TOP_BUILDDIR}/kernels/**/*.sim.o",
                          recursive=True):
        needs = made[:-len(".o")] + ".d"
        here = os.path.join(TREE, os.path.relpath(made, tap.TOP_BUILDDIR))
        if os.path.exists(needs):
            shutil.copyfile(made, here)  # newer than the sources
            with open(needs, encoding="utf-8") as f:
                text = re.sub(r"(?:\S*/)?\bkernels/", f"{TREE}/kernels/", f.read())
            with open(here[:-len(".o")] + ".d", "w", encoding="utf-8") as f:
                f.write(text)


def build(programs, keep=()):
    """Build programs of TREE, but not the files to keep; what make said where
    it failed, or None."""
    # The rest of the program is as it was.
    if os.path.exists(GOOD):
        keep = [*keep, *(os.path.relpath(a, tap.TOP_BUILDDIR) for folder in
                         ("", "tests", "tests/cudasim") for a in
                         glob.glob(f"{tap.TOP_BUILDDIR}/{folder}/*.a"))]
    done = subprocess.run(
        ["make", "-C", tap.TOP_BUILDDIR, "-j2", f"CUDASIM_TREE={TREE}",
         "CXXFLAGS=-O1 -Wno-error",
         *(word for k in keep for word in ("-o", k)), *programs],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        check=False)
    return None if done.returncode == 0 else done.stdout


def restore():
    """Bring back what has changed since all was good, dates included."""
    for folder, _, names in os.walk(GOOD):
        for name in names:
            good = os.path.join(folder, name)
            here = os.path.join(TREE, os.path.relpath(good, GOOD))
            if (not os.path.exists(here) or
                    os.stat(here).st_mtime_ns != os.stat(good).st_mtime_ns):
                shutil.copy2(good, here)


def noticed(tests, seeds):
    """The first test that fails, in words, or None."""
    for seed in seeds:
        for test in tests:
            if not test.whole:
                test.fails_whole(seed)
            why = test.fails(seed)
            if why and not test.fails_whole(seed):
                return f"{test.name}, seed {seed}: {why}"
    return None


def noticed_without(name, explained):
    """(what make said or None, the first test that fails or None), built from
    TREE where `name` has changed; not with all that could be tried where it is
    explained that nothing will notice."""
    tests = tests_of(name)
    others = (glob.glob(f"{TREE}/kernels/*/*.mixed.sim.o") +
              glob.glob(f"{TREE}/kernels/*/*.single.sim.o"))
    for keep in (others,) if explained else (others, ()):
        said = build(programs_of(tests), keep)
        seeds = (1,) if explained else (1, 2, 3)
        by = noticed(tests, seeds) if said is None else None
        if said or by:
            return said, by
    return None, None


if SIMULATOR:
    tap.skip_all(SIMULATOR)
os.nice(10)
copy_kernels()
said = build(programs_of([test for _, tests in TESTS_OF for test in tests]))
if not tap.ok(said is None, "the programs build from a copy"):
    tap.note(said)
    tap.done()
shutil.copytree(TREE, GOOD)
files = sorted(os.path.relpath(os.path.join(folder, name), TREE)
               for folder, _, names in os.walk(os.path.join(TREE, "kernels"))
               for name in names if name.endswith((".cu", ".cuh", ".h")))
chosen = [(name, *wait) for name in files
          for wait in waits(os.path.join(TREE, name))
          if ONLY.search(f"{name}:{wait[3]}")]

results = []
for name, start, end, line, function, call in chosen:
    path = os.path.join(TREE, name)
    with open(path, encoding="utf-8") as f:
        text = f.read()
    with open(path, "w", encoding="utf-8") as f:
        f.write(text[:start] + ";" + text[end:])
    what = f"{name}:{line}: {call} in {function}()"
    began = time.monotonic()
    why = EXPLAINED.get((name, function))
    said, by = noticed_without(name, why)
    if said:
        tap.ok(False, f"{what} can be taken out")
        tap.note(said[-2000:])
    else:
        tap.ok(by or why, f"{what} is missed when it is gone")
        tap.note(f"{time.monotonic() - began:.0f} s; " +
                 (f"by {by}" if by else why or "by no test"))
    results.append((what, by, why))
    restore()

tap.ok(results, f"waits are found ({len(results)})")
if not ONLY.pattern:
    there = {(name, function) for name, _, _, _, function, _ in chosen}
    tap.is_(sorted(set(EXPLAINED) - there), [],
             "what is explained is there")
tap.note(f"{len(results)} waits: {sum(bool(by) for _, by, _ in results)} "
         f"noticed by a test, "
         f"{sum(not by and bool(why) for _, by, why in results)} explained")
for what, by, why in results:
    tap.note(f"  {what}: {by or why or 'NOT NOTICED'}")
tap.done()
