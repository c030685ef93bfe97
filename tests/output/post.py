"""What the tests of warpdeck-post share: the command within this process, and
small files of all solvers."""

import contextlib
import io
import os
import shutil
import sys
import types
import tap

sys.path.insert(0, os.path.join(tap.TOP_SRCDIR, "postproc"))
os.environ.setdefault("HDF5_USE_FILE_LOCKING", "FALSE")

FOLDER = os.path.join(tap.TOP_BUILDDIR, "tests", "output")
FLOW = """[run]
solver = "flow"
units = "si"
[flow]
stretched = true
[output]
frames_every = 5
observables_every = 1
"""
RISK = """[run]
solver = "risk"
[risk]
paths = 4096
engines = ["price"]
[[risk.factor]]
name = "ACME"
model = "gbm"
spot = 100.0
rate = 0.05
volatility = 0.2
[[risk.instrument]]
id = "call"
type = "european"
factor = "ACME"
side = "call"
quantity = 10
strike = 100.0
maturity = 1.0
"""


def post(*args):
    """Status and words of the command: starting Python takes longer."""
    from warpdeck_post import cli
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        status = cli.main([str(a) for a in args])
    return types.SimpleNamespace(returncode=status, stdout=out.getvalue(),
                                 stderr=err.getvalue())


def quick():
    """Pictures of fewer pixels than people want, for the time they take."""
    from warpdeck_post import panels, render
    style, snapshot = panels.style, panels.snapshot

    def small(matplotlib):
        style(matplotlib)
        matplotlib.rcParams.update({"savefig.dpi": 72, "figure.dpi": 72})

    panels.style = small
    panels.snapshot = lambda axes, r, matplotlib, pixels: snapshot(
        axes, r, matplotlib, 300)
    render.PIXELS = 240


def works(result, *texts):
    """Whether it succeeded with these words."""
    held = result.returncode == 0 and all(t in result.stdout for t in texts)
    if not held:
        tap.note(result.stdout + result.stderr)
    return held


def refused(result, text):
    """Whether it was refused in one line with these words."""
    held = (result.returncode == 2 and text in result.stderr and
            result.stderr.count("\n") == 1 and result.stdout == "" and
            result.stderr.startswith("warpdeck-post: "))
    if not held:
        tap.note(result.stdout + result.stderr)
    return held


def particles(path, **options):
    """A file of the test program's particles."""
    tap.run(os.path.join(FOLDER, "write_h5md"), path,
            *[f"{k}={v}" for k, v in options.items()],
            check=options.get("kill_after", 0) == 0)


def flow():
    """flow.h5 and frames of a known flow."""
    with open("flow.toml", "w", encoding="utf-8") as out:
        out.write(FLOW)
    tap.run(os.path.join(FOLDER, "flow"), "run", "flow.toml", "-q")


def risk():
    """book.h5, one option."""
    with open("book.toml", "w", encoding="utf-8") as out:
        out.write(RISK)
    tap.warpdeck("run", "book.toml", "-q")


def bad_files(h5py, good):
    """Files that every command refuses in one line: names and words of it."""
    with open("text.h5", "w", encoding="utf-8") as out:
        out.write("no HDF5\n" * 200)
    with h5py.File("foreign.h5", "w") as f:
        f["x"] = [1, 2]
    shutil.copy(good, "cut.h5")
    os.truncate("cut.h5", os.path.getsize("cut.h5") // 2)
    shutil.copy(good, "newer.h5")
    with h5py.File("newer.h5", "r+") as f:
        f.attrs["format_version"] = 99
    shutil.copy(good, "damaged.h5")
    with h5py.File("damaged.h5", "r+") as f:
        for name in ("observables/pressure/step", "run/resolved_deck"):
            del f[name]
        if "particles/all/box/edges/time" in f:
            del f["particles/all/box/edges/time"]
    return (("no.h5", "no file"), ("text.h5", "not an HDF5 file"),
            ("foreign.h5", "not one of Warpdeck's"), ("cut.h5", "cut off"),
            ("newer.h5", "format 99"), ("damaged.h5", "damaged"))
