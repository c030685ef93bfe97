# timeout: 300
"""README's commands of a first hour, typed one after the other in an empty folder
as they stand there, all succeed."""

import os
import re
import shlex
import shutil
import sys

import tap

tap.need("h5py", "numpy", "matplotlib")

# What a test has no time for: fewer steps, and the smallest problem.
SHORTER = {"md.steps=5000": "md.steps=50",
           "warpdeck bench md": "warpdeck bench md --sizes 32k --steps 20"}
README = os.path.join(tap.TOP_SRCDIR, "README.md")


def commands(heading, first_word):
    """The lines of a part of README that begin with this word, without remarks."""
    with open(README, encoding="utf-8") as f:
        part = f.read().split(f"\n## {heading}\n")[1].split("\n## ")[0]
    found = [re.sub(r"\s+#.*", "", line.strip()) for line in part.split("\n")
             if re.match(rf"    {first_word}", line)]
    assert len(found) > 4, heading
    return found


def programs():
    """A folder with the three programs of README, as a shell finds them."""
    folder = os.path.abspath("bin")
    os.mkdir(folder)
    post = os.path.join(tap.TOP_SRCDIR, "postproc", "warpdeck-post")
    for name, words in (
            ("warpdeck", [os.path.abspath(tap.WARPDECK)]),
            ("warpdeck-post", [sys.executable, os.path.abspath(post)]),
            ("mpirun", [tap.MPIRUN, *tap.MPIRUN_FLAGS])):
        path = os.path.join(folder, name)
        with open(path, "w", encoding="utf-8") as f:
            f.write(f'#!/bin/sh\nexec {shlex.join(words)} "$@"\n')
        os.chmod(path, 0o755)
    return dict(os.environ, PATH=folder + os.pathsep + os.environ["PATH"])


def typed(line, env):
    """What a line of README does in a shell."""
    for long, short in SHORTER.items():
        line = line.replace(long, short)
    return tap.run("sh", "-c", line, check=False, env=env)


def check_first_hour(env):
    for line in commands("Going on", "(warpdeck|mpirun) "):
        if line.startswith("mpirun") and not tap.have_mpi():
            tap.skip(1, "this build has no MPI")
            continue
        got = typed(line, env)
        if "cuda" in line and got.returncode == 2:
            tap.ok(re.search("cuda", got.stderr) and
                   not os.path.exists("card/first.h5"),
                   f"{line}: says why there is no card")
        else:
            tap.is_(got.returncode, 0, line)
        if got.returncode:
            tap.note(got.stdout + got.stderr)


def check_results(env):
    os.mkdir("out")
    for name in ("out/lj_melt.h5", "a.h5", "b.h5"):
        shutil.copy("first.h5", name)
    for line in commands("What a run leaves", "warpdeck-post "):
        if "render" in line or "report" in line:
            continue  # their own tests draw, which takes long
        got = typed(line, env)
        if not tap.is_(got.returncode, 0, line):
            tap.note(got.stdout + got.stderr)


check_first_hour(programs())
check_results(dict(os.environ, PATH=os.path.abspath("bin") + os.pathsep +
                   os.environ["PATH"]))
tap.done()
