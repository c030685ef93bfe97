# timeout: 1800
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
KILLS = int(os.environ.get("WARPDECK_KILLS", 20))
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


def check_commands(name, how):
    """All of them at once: a result for each command."""
    for command, word, args in commands(name):
        got = post.post(command, *args)
        held = (word in got.stdout and not got.stderr and
                got.returncode == (command == "watch"))
        if not tap.ok(held, f"{name}, {how}: {command} " + " ".join(args)):
            tap.note(f"{got.returncode}\n{got.stdout}\n{got.stderr}")


def check_killed():
    """Under its own name, and under the one that a file has while it is written
    to: a run that is killed then leaves it so."""
    for i, name in enumerate(FAR):
        if not tap.ok(killed(name, 0.05 * i), f"{name}: a run is killed"):
            continue
        check_commands(name, "killed")
        os.rename(name + ".h5", name + ".h5.tmp")
        check_commands(name, "killed while it wrote")


def check_any_moment():
    """Kills at any moment, also between two words of a file: it is read, or said
    in one line to need mending."""
    deck, *more = FAR["md"]
    read = aside = torn = 0
    for i in range(KILLS):
        for old in glob.glob("any[._]*"):
            os.unlink(old)
        run = subprocess.Popen(
            [tap.WARPDECK, "run", "-q", os.path.join(tap.TOP_SRCDIR, "inputs",
             deck), 'output.name="any"', *more, "output.observables_every=1",
             "output.frames_every=1"], stderr=subprocess.DEVNULL)
        until = time.monotonic() + 20
        while not readable("any") and time.monotonic() < until:
            time.sleep(0.01)
        time.sleep(0.003 * (i * 7 % 13))
        tap.kill(run)
        left = os.path.exists("any.h5.tmp")
        aside += left
        answers = [post.post("show", "any.h5"),
                   post.post("plot", "any.h5", "thermo", "-o", "any.png"),
                   post.post("export", "any.h5", "--to", "xyz", "-o", "any.xyz"),
                   post.post("watch", "--once", "--patience", "0.001", "any.h5")]
        good = all(a.returncode == (k == 3) and not a.stderr
                   for k, a in enumerate(answers))
        mend = left and all(a.returncode == 2 and a.stderr.count("\n") == 1 and
                            "--resume auto mends it" in a.stderr
                            for a in answers)
        read, torn = read + good, torn + (mend and not good)
        if not good and not mend:
            tap.note("\n".join(f"{a.returncode} {a.stdout[-300:]} {a.stderr}"
                               for a in answers))
    tap.is_(read + torn, KILLS, f"of {KILLS} killed runs {aside} left a .tmp; "
            f"{read} files are read, {torn} are said to need mending")


with open("option.toml", "w", encoding="utf-8") as out:
    out.write(post.RISK)
check_killed()
check_any_moment()
tap.done()
