"""Files of real runs: complete or killed, seen by MDAnalysis, equal on any
number of ranks."""

import ctypes
import os
import subprocess
import sys
import time
import warnings
import tap

warnings.simplefilter("ignore")
h5py, numpy = tap.need("h5py", "numpy")
sys.path.insert(0, os.path.join(tap.TOP_SRCDIR, "postproc"))
from warpdeck_post import cli  # noqa: E402

DECK = """# a small liquid
[run]
solver = "md"
[md]
timestep = 0.004
steps = 40
[md.initial]
lattice = "fcc"
cells = [5, 5, 5]
density = 0.8
temperature = 1.0
[md.pair]
style = "lj"
cutoff = 2.5
skin = 0.3
[md.analysis.rdf]
bins = 50
every = 10
[output]
observables_every = 10
frames_every = 20
fields = ["position", "velocity", "force", "image"]
"""
PARTICLES = 500


def write(path, text):
    with open(path, "w", encoding="utf-8", newline="") as f:
        f.write(text)


def check_run():
    write("liquid.toml", DECK.replace("\n", "\r\n"))
    tap.warpdeck("run", "liquid.toml", "--output", "år 1/出力", "-q",
                 ranks=2 if tap.have_mpi() else 1)
    path = "år 1/出力/liquid.h5"
    with h5py.File(path, "r") as f, open("liquid.toml", "rb") as deck:
        tap.is_(f["run/deck"][()], deck.read(),
                "the file has the deck byte for byte, line ends included")
        tap.ok("skin" in f["run/resolved_deck"][()].decode() and
               f["run"].attrs["complete"] == 1 and
               all(f["run"].attrs[k] for k in
                   ("version", "git", "flags", "libraries", "device", "host",
                    "command", "precision", "start", "end")),
               "and says where it comes from")
        tap.ok(list(f["observables/pressure/step"]) == [0, 10, 20, 30, 40] and
               list(f["particles/all/position/step"]) == [0, 20, 40] and
               list(f["particles/all/id"]) == list(range(1, PARTICLES + 1)),
               "rows, frames and ids are those that the deck asks for")
    return path


def check_viewer(path):
    try:
        import MDAnalysis
    except ImportError:
        tap.skip(1, "the Python module MDAnalysis is not installed")
        return
    u = MDAnalysis.Universe.empty(PARTICLES, trajectory=True)
    u.load_new(path, format="H5MD", convert_units=False)
    with h5py.File(path, "r") as f:
        positions = f["particles/all/position/value"][()].astype("f4")
        edge = (PARTICLES / 0.8) ** (1 / 3)
    tap.ok(len(u.trajectory) == 3 and all(
        numpy.array_equal(ts.positions, positions[i]) and
        abs(ts.time - 0.08 * i) < 1e-12 and
        numpy.allclose(ts.dimensions, [edge] * 3 + [90] * 3, rtol=1e-6)
        for i, ts in enumerate(u.trajectory)),
        "MDAnalysis sees its positions, boxes and times")


def check_ranks():
    """At step 0 only rounding of sums depends on the rank count."""
    if not tap.have_mpi():
        tap.skip(1, "built without MPI")
        return
    for name, ranks in (("a", 1), ("b", 3)):
        tap.warpdeck("run", "liquid.toml", "md.steps=0", f"output.name={name}",
                     "-q", ranks=ranks)
    # forces of some 10 to 100 per pair sum up to zero in a crystal
    tap.is_(cli.main(["diff", "a.h5", "b.h5", "--rtol", "1e-12", "--atol",
                      "1e-10"]), 0, "one and three ranks write the same")


def kill_one():
    """Whether the kill has left killed.h5: in the moments in which it is written
    to, its name is killed.h5.tmp."""
    with subprocess.Popen(
            tap.command(2 if tap.have_mpi() else 1, tap.WARPDECK, "run",
                        "liquid.toml", "md.steps=100000000",
                        "output.name=killed", "--overwrite", "-q"),
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            start_new_session=True) as run:
        try:
            for _ in range(600):
                time.sleep(0.1)
                try:
                    if os.path.getsize("killed.h5") > 500000:
                        break
                except FileNotFoundError:
                    continue
        finally:
            tap.kill(run)
    return os.path.exists("killed.h5")


def check_kill():
    tap.ok(any(kill_one() for _ in range(12)),
           "a run that is killed leaves its file, but in the moments in which "
           "it is written to")
    with h5py.File("killed.h5", "r") as f:
        frames = f["particles/all/position/value"]
        edge = f["particles/all/box/edges/value"][0, 0, 0]
        tap.ok(len(frames) >= 3 and numpy.all(frames[-1] >= 0) and
               numpy.all(frames[-1] < edge) and
               len(f["observables/pressure/value"]) >= len(frames) and
               f["run"].attrs["complete"] == 0,
               f"a run that is killed leaves its {len(frames)} frames")


def check_left_behind():
    """A run that is killed while Open MPI opens its files leaves semaphores that
    are taken."""
    libc = ctypes.CDLL(None)
    libc.sem_open.restype = ctypes.c_void_p
    names = [f"/OMPIO_run-{os.getpid()}{end}".encode()
             for end in (".h5.new.tmp", ".h5.tmp", ".h5")]
    if not all(libc.sem_open(name, os.O_CREAT, 0o644, 0) for name in names):
        tap.skip(1, "no semaphores here")
        return
    run = subprocess.Popen([tap.WARPDECK, "run", "liquid.toml", "-q",
                            f"output.name=run-{os.getpid()}"])
    try:
        tap.ok(run.wait(60) == 0, "what a killed run held does not hold up the next")
    except subprocess.TimeoutExpired:
        tap.kill(run)
        tap.ok(False, "what a killed run held does not hold up the next")
    for name in names:
        libc.sem_unlink(name)


path_ = check_run()
check_left_behind()
check_viewer(path_)
check_ranks()
check_kill()
tap.done()
