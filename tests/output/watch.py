# timeout: 120
"""warpdeck-post watch: a run that goes on, one that was killed, one that is
done."""

import os
import subprocess
import sys
import time
import tap

h5py, numpy = tap.need("h5py", "numpy")
import post  # noqa: E402

DECK = """[run]
solver = "md"
units = "lj"
[md]
timestep = 0.005
steps = 20000000
[md.initial]
lattice = "fcc"
cells = [5, 5, 5]
density = 0.8442
temperature = 1.44
[md.pair]
style = "lj"
cutoff = 2.5
skin = 0.3
[output]
observables_every = 2
frames_every = 20
fields = ["position", "velocity"]
[checkpoint]
every = "1 s"
"""


def size(path):
    """Of a file, which steps aside for moments: between two looks at it, too."""
    try:
        return os.path.getsize(path)
    except OSError:
        return 0


def check_running():
    """The run is looked at all the time, and killed in the end."""
    with open("run.toml", "w", encoding="utf-8") as out:
        out.write(DECK)
    looks = []
    with subprocess.Popen([tap.WARPDECK, "run", "run.toml", "-q"],
                          stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE) as run:
        until = time.monotonic() + 60  # as a rule 3, for the first checkpoint
        try:
            while time.monotonic() < until and run.poll() is None:
                if size("run.h5") > 30000:
                    looks.append(post.post("watch", "--once", "run.h5"))
                    if len(looks) >= 8 and "run.ckpt" in looks[-1].stdout:
                        break
                time.sleep(0.1)
            alive = run.poll() is None
        finally:  # or an error would wait for the end of the run
            tap.kill(run)
        said = run.stderr.read()
    last = looks[-1].stdout
    if not tap.is_([x.returncode for x in looks], [0] * len(looks),
                   "each look at a growing file gives an answer"):
        for x in looks:
            tap.note(x.stderr)
    tap.ok(alive and not said, "and the run takes no notice")
    held = all(t in last for t in ("running", "left", "temperature", " of 20000",
                                   "checkpoint", "run.ckpt", "epsilon/kB"))
    if not tap.ok(held, "with progress, time left, observables and checkpoint"):
        tap.note(last)
    tap.ok("\033" not in last, "without colors where it is no terminal")
    # Killed while it wrote, its file is run.h5.tmp; a young one would be watched
    # for the minute that a run may be silent.
    for name in os.listdir("."):
        if name.startswith("run.") and (".h5" in name or name.endswith(".log")):
            os.utime(name, (time.time() - 3600,) * 2)
    for name, other, sentence in (
            ("run.h5.tmp", "run.h5", "a run that was killed is stalled, and how "
             "to go on is said"),
            ("run.h5", "run.h5.tmp", "also one that was killed while it wrote")):
        if os.path.exists(name):
            os.rename(name, other)
        killed = post.post("watch", "run.h5")
        if not tap.ok(killed.returncode == 1 and "stalled" in killed.stdout and
                      "probably killed" in killed.stdout and
                      "1:00:0" in killed.stdout and
                      "--resume" in killed.stdout, sentence):
            tap.note(killed.stdout + killed.stderr)
    patient = post.post("watch", "--once", "--patience", "9999", "run.h5")
    tap.ok(post.works(patient, "running"), "unless one has more patience")


def check_files():
    post.particles("done.h5", particles=400, frames=3, rows=200, title="Crystal")
    tap.ok(post.works(post.post("watch", "done.h5"), "complete", "▁", "3 frames"),
           "a complete run is shown once, and that is all")
    plain = tap.run(sys.executable, os.path.join(
        tap.TOP_SRCDIR, "postproc", "warpdeck-post"), "watch", "done.h5",
        env={**os.environ, "PYTHONIOENCODING": "ascii"})
    tap.ok(plain.stdout.isascii() and "100 %" in plain.stdout,
           "terminals of ASCII get letters")
    post.particles("nothing.h5", frames=0)
    tap.ok(post.works(post.post("watch", "--once", "nothing.h5"),
                      "nothing yet"), "a file without rows can be watched")
    post.flow()
    post.risk()
    tap.ok(post.works(post.post("watch", "flow.h5"), "step 10 of 10",
                      "kinetic energy") and
           post.works(post.post("watch", "book.h5"), "portfolio value",
                      "100 %"), "flows and books can be watched, too")
    tap.ok(post.refused(post.post("watch", "flow_000005.hdf"),
                        "watch the NAME.h5"), "a frame cannot")


check_running()
check_files()
tap.done()
