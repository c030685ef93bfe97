"""Every wait in the loops for cards is needed: without it a test fails.

Takes out, one after the other, each barrier of a block or warp and each wait for
a stream or event in kernels/, builds the tests of solvers with the rest on the
simulated card, and runs those of the solver. What all tests survive is listed, and
is a failure unless EXPLAINED says why the wait stays.
"""
# timeout: 3600

import os
import re
import shutil
import subprocess

import tap

# (file, function): why it stays though no test notices that it is gone.
EXPLAINED = {
    ("kernels/device_cuda.cu", "cuda_release"):
        "cudaFree() waits for the card as well, but its manual does not promise "
        "that",
    ("kernels/md/steps_cuda.cu", "cuda_do"):
        "it only serves to time phases one by one; no result depends on it",
}

WAIT = re.compile(r"\b(__sync(?:threads|warp)\w*|cuda(?:Stream|Device|Event)"
                  r"Synchronize|cudaStreamWaitEvent)\s*\(")
# What is built, and what is run of it.
PROGRAMS = ("forces", "analysis", "modes", "fluid", "warpdeck")
MD_TESTS = (("forces",), ("analysis",), ("modes",),
            ("warpdeck", "bench", "--device", "cuda", "--sizes", "32k",
             "--steps", "2", "md.initial.cells=[8,8,8]"))
FLUID_TESTS = (("fluid", "double"), ("fluid", "single"))
# The loops that these tests run; a part of them by a regular expression.
FILES = re.compile(r"kernels/(md/|fluid/|fft_cuda|device_cuda|card_cuda)")
OF_FLUID = re.compile(r"kernels/(fluid/|fft_cuda)")
ONLY = re.compile(os.environ.get("REMOVE_SYNCS", ""))
SIMULATOR = os.environ.get("WARPDECK_NO_CUDASIM", "")
TREE = os.path.abspath("tree")


def blanked(text):
    """The text with comments blanked, of the same length."""
    return re.sub(r"//[^\n]*|/\*.*?\*/",
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


def build():
    """Build the programs from TREE; returns what make said, or None."""
    done = subprocess.run(
        ["make", "-C", tap.TOP_BUILDDIR, "-j2", f"CUDASIM_TREE={TREE}",
         "CXXFLAGS=-O1", *(f"{TREE}/{name}" for name in PROGRAMS)],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        check=False)
    return None if done.returncode == 0 else done.stdout


def fails(test, ranks, seed):
    """Whether a test fails, or never ends."""
    env = dict(os.environ, WARPDECK_TEST_DEVICE="cuda", CUDASIM_SEED=str(seed))
    if ranks > 1 and seed == 3:
        env |= {"CUDASIM_MPI": "1", "CUDASIM_PROTECT": "0"}
    command = [os.path.join(TREE, test[0]), *test[1:]]
    if ranks > 1:
        command = [tap.MPIRUN, *tap.MPIRUN_FLAGS, "-n", str(ranks), *command]
    try:
        return subprocess.run(command, env=env, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL, timeout=120,
                              check=False).returncode != 0
    except subprocess.TimeoutExpired:
        return True


def noticed(tests, most=2):
    """The first test that fails, in words, or None."""
    # With two ranks also where messages stand in the card's memory.
    for ranks in range(1, 1 + (most if tap.MPIRUN else 1)):
        for test in tests:
            for seed in (1, 2, 3):
                if fails(test, ranks, seed):
                    return f"{test[0]}, {ranks} ranks, seed {seed}"
    return None


if SIMULATOR:
    tap.skip_all(SIMULATOR)
shutil.copytree(os.path.join(tap.TOP_SRCDIR, "kernels"),
                os.path.join(TREE, "kernels"))
said = build()
if not tap.ok(said is None, "the programs build from a copy"):
    tap.note(said)
    tap.done()
first = noticed(MD_TESTS) or noticed(FLUID_TESTS, 1)
if not tap.ok(first is None, "nothing fails as long as nothing is removed"):
    tap.note(first)
    tap.done()

files = sorted(os.path.relpath(os.path.join(folder, name), TREE)
               for folder, _, names in os.walk(os.path.join(TREE, "kernels"))
               for name in names if name.endswith((".cu", ".cuh", ".h")))
count = 0
for name in filter(FILES.match, files):
    path = os.path.join(TREE, name)
    with open(path, encoding="utf-8") as f:
        text = f.read()
    for start, end, line, function, call in waits(path):
        if not ONLY.search(f"{name}:{function}"):
            continue
        count += 1
        with open(path, "w", encoding="utf-8") as f:
            f.write(text[:start] + ";" + text[end:])
        what = f"{name}:{line}: {call} in {function}()"
        said = build()
        if said is None:
            # The test of flows has blocks of its own instead of ranks.
            by = (noticed(FLUID_TESTS, 1) if OF_FLUID.match(name)
                  else noticed(MD_TESTS))
            why = EXPLAINED.get((name, function))
            tap.ok(by or why, f"{what} is missed when it is gone")
            tap.note(f"by {by}" if by else why or "by no test")
        else:
            tap.ok(False, f"{what} can be taken out")
            tap.note(said[-2000:])
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
tap.ok(count > 0, f"waits are found ({count})")
tap.done()
