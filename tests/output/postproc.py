"""warpdeck-post: words, pictures, plain text, comparison; errors in one line."""

import contextlib
import io
import os
import shutil
import struct
import subprocess
import sys
import types
import tap

h5py, numpy = tap.need("h5py", "numpy")
WRITER = os.path.join(tap.TOP_BUILDDIR, "tests", "output", "write_h5md")
FOLDER = os.path.join(tap.TOP_SRCDIR, "postproc")
sys.path.insert(0, FOLDER)
from warpdeck_post import cli  # noqa: E402
import post as shared  # noqa: E402


def write(path, **options):
    tap.run(WRITER, path, *[f"{k}={v}" for k, v in options.items()],
            check=options.get("kill_after", 0) == 0)


def post(*args):
    """The command, within this process: starting Python takes longer."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        status = cli.main(args)
    return types.SimpleNamespace(returncode=status, stdout=out.getvalue(),
                                 stderr=err.getvalue())


def edit(path, change):
    with h5py.File(path, "r+") as f:
        change(f)


def contains(result, *texts):
    held = result.returncode == 0 and all(t in result.stdout for t in texts)
    if not held:
        tap.note(result.stdout + result.stderr)
    return held


def png_size(path):
    """Width and height, from the head of a PNG file."""
    with open(path, "rb") as f:
        head = f.read(24)
    assert head[:8] == b"\x89PNG\r\n\x1a\n"
    return struct.unpack(">II", head[16:24])


def check_other_python():
    """A Python without our modules, as one of pyenv is beside the system's."""
    system = "/usr/bin/python3"
    launcher = os.path.join(FOLDER, "warpdeck-post")
    able = os.access(system, os.X_OK) and tap.run(
        system, "-c", "import h5py, numpy, venv", check=False).returncode == 0
    if not able:
        tap.skip(2, "the system's own Python has no h5py")
        return
    tap.run(system, "-m", "venv", "--without-pip", "bare")
    bare = os.path.join("bare", "bin", "python3")
    shown = tap.run(bare, launcher, "show", "run.h5", check=False)
    tap.ok(contains(shown, "complete", "Crystal"),
           "a Python without h5py leaves the work to the system's")
    again = tap.run(bare, launcher, "show", "run.h5", check=False,
                    env={**os.environ, "WARPDECK_POST_AGAIN": "1"})
    tap.ok(again.returncode == 2 and again.stderr.count("\n") == 1 and
           "no Python module" in again.stderr and not again.stdout,
           "once: then one line says which module is missing")


def check_launcher():
    """The same by the launcher, which finds its package."""
    launcher = os.path.join(FOLDER, "warpdeck-post")
    shown = tap.run(sys.executable, launcher, "show", "run.h5", check=False)
    tap.ok(contains(shown, "complete", "Crystal"), "the launcher works")
    wrong = tap.run(sys.executable, launcher, "show", "no.h5", check=False)
    tap.ok(wrong.returncode == 2 and wrong.stderr.count("\n") == 1,
           "and passes the status on")
    # Buffered, words are written when the process ends, and would be once more.
    for words in (("show", "run.h5"), ("--help",)):
        for unbuffered in ("", "1"):
            with open("/dev/full", "w", encoding="utf-8") as full:
                wrong = subprocess.run(
                    [sys.executable, launcher, *words], stdout=full,
                    stderr=subprocess.PIPE, text=True,
                    env={**os.environ, "PYTHONUNBUFFERED": unbuffered})
            tap.ok(wrong.returncode == 2 and "No space left" in wrong.stderr
                   and wrong.stderr.count("\n") == 1,
                   f"{words[0]}: words that cannot be written are an error, "
                   + ("at once" if unbuffered else "at the end"))
            tap.note(f"status {wrong.returncode}: {wrong.stderr.strip()}")
    reader = subprocess.run(f"'{sys.executable}' '{launcher}' show run.h5 | "
                            "head -n 1", shell=True, capture_output=True)
    tap.ok(reader.returncode == 0 and not reader.stderr,
           "a reader that has seen enough is no error")
    helped = tap.run(sys.executable, launcher, "--help", check=False)
    tap.ok(contains(helped, "show", "plot", "export", "diff"),
           "--help names the commands")


def check_show():
    shown = post("show", "run.h5")
    tap.ok(contains(shown, "complete", "Crystal", "400 particles", "320 A, 80 B",
                    "41 rows", "3 frames", "temperature", "total energy/N",
                    "g(r) A-A", "warpdeck run inputs/md/test.toml",
                    '[md]  steps = 100'),
           "show says what ran, how far it came and with what result")
    tap.ok(shown.stdout.count("\n") <= 40 and
           max(map(len, shown.stdout.splitlines())) <= 100,
           "and fits on a screen")
    tap.ok("not complete" not in shown.stdout, "a finished run is complete")
    tap.ok(contains(post("show", "killed.h5"), "not complete", "2 frames"),
           "show reads what a killed run left, and says that it is not complete")
    tap.ok(contains(post("show", "nothing.h5"), "nothing yet", "0 frames"),
           "show reads a file without rows and frames")
    shutil.copy("run.h5", "later.h5")
    with h5py.File("later.h5", "r+") as f:
        last = int(f["observables/temperature/step"][-1])
        f["run"].attrs["start"] = b"2026-01-01T00:00:00Z"
        f["run"].attrs["end"] = b"2026-01-03T00:00:10Z"
        job = f.create_group("run/resumed/1")
        job.attrs["step"] = last - 50
        job.attrs["start"] = b"2026-01-03T00:00:00Z"
        job["resolved_deck"] = f["run/resolved_deck"][()]
    tap.ok(contains(post("show", "later.h5"), "the last of 2 jobs took 10 s: "
                    "about 5\n"),
           "the speed of a run that went on is that of its last job")
    tap.is_(post("show", "run.h5", "--deck").stdout,
            '[run]\nsolver = "md"\n\n[md]\nsteps = 100\n',
            "show --deck gives the deck back")
    tap.ok(contains(post("show", "metal.h5"), "eV", "bar", "Angstrom", " K"),
           "show knows the units of the file")
    shutil.copy("run.h5", "field.h5")
    with h5py.File("field.h5", "r+") as f:
        species = f["particles/all/species"]
        species.attrs["description"] = "species: " + ", ".join(
            f"{i} = T{i}" for i in range(68))
    tap.ok(contains(post("show", "field.h5"), "(320 T0, 80 T1", "and 60 species more"),
           "of the many species of a force field the first are told")


def check_plot():
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        tap.skip(8, "the Python module matplotlib is not installed")
        return
    import matplotlib.image
    shared.quick()
    for what in "overview", "thermo", "rdf", "msd", "snapshot":
        drawn = post("plot", "run.h5", what, "-o", f"{what}.png")
        if what == "msd":
            tap.ok(drawn.returncode == 2 and "md.analysis.msd" in drawn.stderr,
                   "a picture that the file cannot fill is refused, with advice")
            continue
        held = drawn.returncode == 0 and min(png_size(f"{what}.png")) > 300
        if not tap.ok(held, f"plot {what} makes a picture"):
            tap.note(drawn.stderr)
    picture = matplotlib.image.imread("snapshot.png")[..., :3]
    colored = (picture.max(axis=2) - picture.min(axis=2) > 0.2).mean()
    tap.ok(0.2 < colored < 0.9, "the snapshot is full of particles, not of ink")
    drawn = post("plot", "killed.h5")
    tap.ok(drawn.returncode == 0 and os.path.exists("killed.png"),
           "a killed run has an overview, beside its file")
    drawn = post("plot", "single.h5", "-o", "single.pdf")
    tap.ok(drawn.returncode == 0 and os.path.getsize("single.pdf") > 1000,
           "a run of no steps has one, too, and as PDF")


def check_export():
    tap.ok(contains(post("export", "run.h5"), "run.xyz"), "export makes XYZ")
    with open("run.xyz", encoding="utf-8") as f:
        lines = f.read().splitlines()
    with h5py.File("run.h5", "r") as f:
        position = f["particles/all/position/value"][1]
        velocity = f["particles/all/velocity/value"][1]
    frame = lines[402:804]
    rows = [line.split() for line in frame[2:]]
    numbers = numpy.array([row[1:] for row in rows], dtype=float)
    tap.ok(len(lines) == 3 * 402 and frame[0] == "400" and
           'pbc="T T T"' in frame[1] and "Step=10" in frame[1] and
           "Properties=species:S:1:pos:R:3:velo:R:3:id:I:1:mass:R:1" in
           frame[1], "with a frame after the other and a comment that readers "
           "know")
    tap.ok(numpy.array_equal(numbers[:, :3], position) and
           numpy.array_equal(numbers[:, 3:6], velocity) and
           [r[0] for r in rows[:6]] == list("BAAAAB") and
           list(numbers[:, 6]) == list(range(1, 401)),
           "and every digit of positions and velocities, names and ids")
    tap.ok(contains(post("export", "run.h5", "--to", "csv"), "run.csv"),
           "export makes CSV")
    table = numpy.genfromtxt("run.csv", delimiter=",", names=True,
                             deletechars="")
    with h5py.File("run.h5", "r") as f:
        pressure = f["observables/pressure/value"][()]
    tap.ok(len(table) == 41 and
           numpy.array_equal(table["pressure_[epsilon/sigma^3]"], pressure),
           "with all rows and units")
    tap.ok(os.path.exists("run.radial_distribution.A-A.csv"),
           "and a file for each table")


def check_diff():
    equal = post("diff", "run.h5", "run.h5")
    tap.ok(equal.returncode == 0 and "equal" in equal.stdout,
           "a file equals itself")
    shutil.copy("run.h5", "other.h5")
    edit("other.h5", lambda f: f["particles/all/velocity/value"].__setitem__(
        (2, 7, 1), 0.125))
    other = post("diff", "run.h5", "other.h5")
    tap.ok(other.returncode == 1 and "velocity/value: 1 of" in other.stdout and
           "[2, 7, 1]" in other.stdout and "0.125" in other.stdout,
           "one changed number is found, with its place")
    tap.is_(post("diff", "run.h5", "other.h5", "--atol", "10").returncode, 0,
            "and forgiven within a tolerance")
    tap.is_(post("diff", "run.h5", "other.h5", "--only", "observables",
                 "--only", "particles/all/position").returncode, 0,
            "and not seen where only other names are compared")
    edit("other.h5", lambda f: f["particles/all/velocity/value"].__setitem__(
        (2, 7, 1), numpy.nan))
    tap.is_(post("diff", "run.h5", "other.h5", "--atol", "10").returncode, 1,
            "what is not a number is different from any number")
    edit("other.h5", lambda f: f["observables"].__delitem__("pressure"))
    tap.ok("pressure/value: only in run.h5" in
           post("diff", "run.h5", "other.h5").stdout,
           "a missing dataset is named")
    shutil.copy("run.h5", "other.h5")
    edit("other.h5", lambda f: f["observables/pressure"].__delitem__("step"))
    shared_name = post("diff", "other.h5", "run.h5")
    tap.ok(shared_name.returncode == 1 and "observables/pressure/step: only in "
           "run.h5" in shared_name.stdout and "1 of" in shared_name.stdout,
           "also where it is there under another name")
    for name in "other.h5", "run.h5":
        shutil.copy(name, "book_" + name)
        edit("book_" + name, lambda f: f.create_dataset(
            "risk/var/level", data=[0.95, 0.99]))
    edit("book_other.h5", lambda f: f["risk/var/level"].__setitem__(1, 0.9))
    tap.ok("risk/var/level: 1 of 2 numbers differ" in
           post("diff", "book_run.h5", "book_other.h5").stdout,
           "tables of a book are compared, too")
    shape = post("diff", "run.h5", "killed.h5")
    tap.ok(shape.returncode == 1 and "shape" in shape.stdout,
           "a different number of frames is a difference")


def fails(sentence, part, *args):
    """Status 2 and one line on standard error, with `part` in it."""
    result = post(*args)
    held = (result.returncode == 2 and result.stderr.count("\n") == 1 and
            part in result.stderr and result.stdout == "" and
            result.stderr.startswith("warpdeck-post: "))
    if not tap.ok(held, sentence):
        tap.note(result.stdout + result.stderr)


def check_errors():
    fails("a missing file is named", "no file 'no.h5'", "show", "no.h5")
    fails("a folder is no file", "not a file", "show", ".")
    fails("a text is no HDF5", "not an HDF5 file", "plot", "text.h5")
    fails("an empty file is no HDF5", "not an HDF5 file", "show", "empty.h5")
    fails("a file that was cut off says how much is there", "cut off",
          "export", "cut.h5")
    fails("HDF5 of other programs is refused", "not one of Warpdeck's",
          "show", "foreign.h5")
    fails("a newer format is refused", "format 99", "diff", "run.h5",
          "newer.h5")
    fails("a file whose inside is damaged gives a line, too", "damaged",
          "show", "damaged.h5")
    fails("no frames, no XYZ", "no frames", "export", "nothing.h5")
    fails("no rows, no CSV", "no rows", "export", "nothing.h5", "--to", "csv")
    fails("nothing to draw is said", "nothing to draw", "plot", "nothing.h5")
    fails("no frames, no snapshot", "no frame", "plot", "nothing.h5",
          "snapshot")
    fails("an unknown kind of picture is refused", "ending", "plot", "run.h5",
          "-o", "picture.xyz")
    fails("a picture in a missing folder is refused", "--output takes", "plot",
          "run.h5", "rdf", "-o", "no/x.png")
    fails("an unknown command is refused", "--help", "paint", "run.h5")
    fails("a negative tolerance is refused", "rtol", "diff", "run.h5", "run.h5",
          "--rtol", "-1")
    fails("a comparison of nothing is refused", "begins with", "diff",
          "run.h5", "run.h5", "--only", "fluid")
    fails("an export onto itself is refused", "itself", "export", "run.h5",
          "-o", "run.h5")


write("run.h5", particles=400, frames=3, rows=41, table=1, deck_bytes=38,
      title="Crystal")
write("killed.h5", particles=400, frames=9, kill_after=2)
write("nothing.h5", frames=0)
write("single.h5", particles=32, frames=1, units="real")
write("metal.h5", particles=32, frames=2, units="metal", force=1)
with open("text.h5", "w", encoding="utf-8") as text:
    text.write("no HDF5\n" * 200)
open("empty.h5", "w", encoding="utf-8").close()
shutil.copy("run.h5", "cut.h5")
os.truncate("cut.h5", os.path.getsize("cut.h5") * 2 // 3)
with h5py.File("foreign.h5", "w") as foreign:
    foreign["x"] = [1, 2]
shutil.copy("run.h5", "newer.h5")
edit("newer.h5", lambda f: f.attrs.__setitem__("format_version", 99))
shutil.copy("run.h5", "damaged.h5")
edit("damaged.h5", lambda f: f["observables/pressure"].__delitem__("step"))

check_launcher()
check_other_python()
check_show()
check_plot()
check_export()
check_diff()
check_errors()
tap.done()
