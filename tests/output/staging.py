# timeout: 120
"""Output that does not stop the run: the files are those of a run that waits
for them, byte by byte of each dataset, and a failure of the helper thread is
told as any other."""

import glob
import os
import shutil
import subprocess
import tap

h5py, numpy = tap.need("h5py", "numpy")
MANY = 3 if tap.have_mpi() else 1

MD = """[run]
solver = "md"
[md]
steps = 30
timestep = 0.005
[md.initial]
lattice = "fcc"
density = 0.8442
cells = [8, 8, 8]
temperature = 1.44
[md.pair]
style = "lj"
cutoff = 2.5
[output]
frames_every = 3
observables_every = 2
fields = ["position", "velocity"]
"""

FLOW = """[run]
solver = "fluid"
[domain]
cells = [32, 24, 40]
size = [1.0, 1.0, 1.0]
[fluid]
viscosity = 1e-2
timestep = 0.01
end_time = 0.2
[fluid.boundary]
x = "wall"
y_min = "wall"
y_max = { type = "wall", velocity = [1.0, 0.0, 0.0] }
z = "periodic"
[fluid.initial]
profile = "rest"
[output]
frames_every = 0.05
observables_every = 0.02
[[output.slice]]
name = "middle"
normal = "z"
position = 0.5
every = 0.02
fields = ["velocity"]
[[output.box]]
name = "corner"
lower = [0.5, 0.5, 0.5]
upper = [1.0, 1.0, 1.0]
every = 0.03
[[output.probe]]
name = "center"
position = [0.5, 0.5, 0.5]
every = 0.01
"""


def write(name, text):
    with open(name, "w", encoding="utf-8") as out:
        out.write(text)


def datasets(path):
    """Name, type, shape and bytes of all datasets but those about the run."""
    found = {}

    def look(name, item):
        if isinstance(item, h5py.Dataset) and not name.startswith("run/"):
            a = numpy.asarray(item[()])
            found[name] = (str(a.dtype), a.shape, a.tobytes())
    with h5py.File(path, "r") as f:
        f.visititems(look)
    return found


def folder(path):
    names = sorted(os.path.basename(p) for p in glob.glob(path + "/*")
                   if p.endswith((".h5", ".hdf")))
    return {n: datasets(os.path.join(path, n)) for n in names}


def run(deck, out, staging, *more, ranks=1, check=True):
    return tap.warpdeck("run", deck, "--output", out, "--verbose",
                        f"output.staging={staging}", *more, ranks=ranks,
                        check=check)


write("melt.toml", MD)
write("flow.toml", FLOW)

for deck, what in ("melt.toml", "particles"), ("flow.toml", "a flow"):
    stem = deck[:-5]
    run(deck, stem + "_off", "off")
    want = folder(stem + "_off")
    tap.ok(want and sum(len(d) for d in want.values()) > 10,
           f"{what}: a run that waits for its output has {len(want)} files")
    told = run(deck, stem + "_on", "on").stdout
    tap.ok(folder(stem + "_on") == want,
           f"{what}: with a helper thread all datasets have the same bytes")
    tap.ok("by a helper thread" in told, f"{what}: which the run tells of")
    run(deck, stem + "_small", "on", "output.staging_memory=1",
        "output.frames_every=1" if stem == "melt" else
        "output.frames_every=0.01")
    run(deck, stem + "_each", "off",
        "output.frames_every=1" if stem == "melt" else
        "output.frames_every=0.01")
    tap.ok(folder(stem + "_small") == folder(stem + "_each"),
           f"{what}: also where 1 MB holds few frames")
    if MANY > 1:
        run(deck, stem + "_on3", "on", ranks=MANY)
        run(deck, stem + "_off3", "off", ranks=MANY)
        tap.ok(folder(stem + "_on3") == folder(stem + "_off3"),
               f"{what}: and on {MANY} ranks")

# ---- HDF5 has one thread at a time ----


def one_at_a_time(sentence, *args):
    """A run under one_thread.c, which ends it where a second thread enters."""
    got = tap.warpdeck("run", *args, "output.staging=on", "-q", check=False,
                       env=dict(os.environ, LD_PRELOAD=WATCH))
    if not tap.ok(got.returncode == 0, sentence):
        tap.note(got.stderr)


WATCH = os.path.abspath("one_thread.so")
compiler = shutil.which("cc") or shutil.which("gcc")
if compiler is not None:
    subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-o", WATCH,
                    os.path.join(tap.TOP_SRCDIR, "tests", "output",
                                 "one_thread.c"), "-ldl"], check=True)
if compiler is None or subprocess.run(
        [tap.WARPDECK, "--version"], capture_output=True, check=False,
        env=dict(os.environ, LD_PRELOAD=WATCH)).returncode != 0:
    tap.skip(4, "no library can stand before HDF5 here")
else:
    SAVED = "[checkpoint]\nevery = {}\n[monitor]\nevery = 3\n"
    write("melt_saved.toml", MD + SAVED.format(12))
    write("flow_saved.toml", FLOW + SAVED.format(5))
    for stem in "melt", "flow":
        one_at_a_time(f"{stem}: a run with checkpoints and a monitor",
                      f"{stem}_saved.toml", "--output", f"{stem}_from")
        state = sorted(glob.glob(f"{stem}_from/*.ckpt.*"))[0]
        one_at_a_time(f"{stem}: its checkpoint begins results of their own",
                      f"{stem}_saved.toml", "--output", f"{stem}_on",
                      "--resume", state, "--overwrite")

# ---- a full disk ----

os.mkdir("full")
made = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=3m", "tmpfs",
                       "full"], stdout=subprocess.DEVNULL,
                      stderr=subprocess.DEVNULL, check=False)
if made.returncode != 0:
    tap.skip(4, "a small file system cannot be mounted here")
else:
    try:
        for deck, ranks in ("melt.toml", MANY), ("flow.toml", 1):
            got = run(deck, "full", "on", "output.frames_every=" +
                      ("1" if deck == "melt.toml" else "0.01"),
                      *(("md.steps=3000",) if deck == "melt.toml" else ()),
                      ranks=ranks, check=False)
            tap.is_(got.returncode, 1,
                    f"{deck} on {ranks} ranks: a disk that is full for the "
                    "helper ends the run with status 1")
            said = [s for s in got.stderr.splitlines()
                    if s.startswith("error:")]
            tap.ok(len(said) == 1 and "no space for" in said[0],
                   f"{deck}: in one line")
            for left in glob.glob("full/*"):
                os.remove(left)
    finally:
        subprocess.run(["umount", "full"], check=True)
tap.done()
