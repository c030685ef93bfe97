# timeout: 900
"""Every command of warpdeck-post on what killed runs of all solvers leave."""

import glob
import os
import subprocess
import time
import tap

h5py, numpy = tap.need("h5py", "numpy")
tap.need("matplotlib")
import post  # noqa: E402

post.quick()
FAR = {"md": ("md/lj_gas.toml", "md.steps=9000000", "output.frames_every=40",
              "output.observables_every=4"),
       "flow": ("fluid/taylor_green.toml", "fluid.end_time=1e6",
                "domain.cells=[16,16,16]",
                "output.frames_every=0.5", "output.observables_every=0.1"),
       "book": (os.path.abspath("option.toml"), "risk.paths=2000000000",
                "output.observables_every=20")}


def readable(name):
    """Whether the file has rows, and stands under its own name."""
    try:
        with h5py.File(name + ".h5", "r", locking=False) as f:
            return min((len(o["value"]) for o in f["observables"].values()),
                       default=0) > 1
    except (OSError, KeyError, RuntimeError):
        return False


def killed(name, wait):
    """Kill a run `wait` seconds after its first rows. A kill in the very moment
    in which it writes leaves NAME.h5.tmp (tests/driver/kills.py looks at
    that): then again."""
    deck, *more = FAR[name]
    for _ in range(8):
        for old in glob.glob(name + "[._]*"):
            os.unlink(old)
        run = subprocess.Popen(
            [tap.WARPDECK, "run", "-q", os.path.join(tap.TOP_SRCDIR, "inputs",
             deck), f'output.name="{name}"', *more], stderr=subprocess.DEVNULL)
        until = time.monotonic() + 20
        while not readable(name) and time.monotonic() < until and (
                run.poll() is None):
            time.sleep(0.02)
        time.sleep(wait)
        alive = run.poll() is None
        tap.kill(run)
        if alive and readable(name):
            return True
    return False


def commands(name):
    """What is asked of the file, and a word of the answer."""
    frames = name if name != "flow" else sorted(glob.glob("flow_0*.hdf"))[-1]
    yield "show", "not complete", (name + ".h5",)
    yield "plot", "wrote", (name + ".h5", "-o", name + ".png")
    yield "report", "wrote", (name + ".h5",)
    yield "export", "wrote", (name + ".h5", "--to", "npz")
    yield "export", "wrote", (name + ".h5", "--to", "csv", "-o", name + ".csv")
    yield "watch", "", ("--once", "--patience", "0.001", name + ".h5")
    if name == "md":
        yield "export", "wrote", (name + ".h5", "--to", "xyz")
        yield "export", "wrote", (name + ".h5", "--to", "lammps")
        yield "render", "wrote", (name + ".h5", "--plain")
    if name == "flow":
        yield "show", "step", (frames,)
        yield "plot", "wrote", (name + ".h5", "lines")
        yield "plot", "wrote", ("flow.hdf.series",)
        yield "export", "wrote", ("flow.hdf.series",)
        yield "report", "wrote", (frames,)
        yield "render", "wrote", (frames, "--plain", "--field", "pressure")


def check_killed():
    for i, name in enumerate(FAR):
        if not tap.ok(killed(name, 0.05 * i), f"{name}: a run is killed"):
            continue
        for command, word, args in commands(name):
            got = post.post(command, *args)
            held = (word in got.stdout and not got.stderr and
                    got.returncode == (command == "watch"))
            if not tap.ok(held, f"{name}, killed: {command} " + " ".join(args)):
                tap.note(f"{got.returncode}\n{got.stdout}\n{got.stderr}")


with open("option.toml", "w", encoding="utf-8") as out:
    out.write(post.RISK)
check_killed()
tap.done()
