#!/usr/bin/env python3
"""Spectra of a flow: a known mode, Parseval's sum, ranks, and a run that goes
on."""

import os
import subprocess

import tap

np, h5py = tap.need("numpy", "h5py")

DECK = """[run]
solver = "fluid"
[domain]
cells = [20, 20, 16]
size = [6.283185307179586, 6.283185307179586, 6.283185307179586]
[fluid]
viscosity = 0.01
timestep = 0.02
steps = {steps}
[fluid.boundary]
x = "periodic"
y = "periodic"
z = "{z}"
[fluid.initial]
profile = "{profile}"
[fluid.statistics]
every = 2
spectra = ["x", "y"]
{more}
[output]
name = "flow"
fields = ["velocity"]
[checkpoint]
every = 4
"""


def run(name, ranks=1, options=(), **keys):
    """The result file of a run in a folder of its own."""
    values = {"steps": 8, "z": "periodic", "profile": "random", "more": ""}
    values.update(keys)
    os.makedirs(name, exist_ok=True)
    deck = os.path.join(name, "flow.toml")
    with open(deck, "w", encoding="utf-8") as f:
        f.write(DECK.format(**values))
    command = []
    if ranks > 1:
        command = [tap.MPIRUN, *tap.MPIRUN_FLAGS, "-n", str(ranks)]
    command += [tap.WARPDECK, "run", deck, "--output", name, *options]
    done = subprocess.run(command, stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=120,
                          check=False)
    if done.returncode != 0:
        tap.note(done.stdout[-500:] + done.stderr[-2000:])
    return os.path.join(name, "flow.h5"), done


def table(path, group):
    with h5py.File(path, "r") as f:
        return {k: v[...] for k, v in f["statistics/spectra/" + group].items()}


def profiles(path):
    with h5py.File(path, "r") as f:
        return {k: v[...] for k, v in f["statistics/profiles"].items()}


def main():
    path, _ = run("one", profile="taylor-green-2d")
    x, y = table(path, "x"), table(path, "y")
    rest = np.delete(x["uu"], 1).max() + np.delete(y["uu"], 1).max()
    tap.ok(x["wavenumber"][1] == 1 and rest < 1e-15 and x["uu"][1] > 0.1,
           f"the Taylor-Green vortex has one mode (others {rest:.1e})")

    path, _ = run("random")
    mean = profiles(path)
    for group in "xy":
        t = table(path, group)
        for c in "uvw":
            square = np.mean(mean[f"{c}_rms"] ** 2 + mean[c] ** 2)
            tap.near(t[c * 2].sum(), square, 1e-13 * square + 1e-16,
                     f"modes along {group} add up to the mean square of {c}")
    other, _ = run("random3", ranks=3,
                   options=["domain.ranks=[1,1,3]"])
    worst = max(np.abs(table(path, g)[c] - table(other, g)[c]).max()
                for g in "xy" for c in ("uu", "vv", "ww"))
    tap.ok(worst < 1e-13, f"1 and 3 ranks have the same ({worst:.1e})")

    path, _ = run("heights", z="wall", profile="channel",
                  more="spectra_at = [0.5, 3.0]")
    mean = profiles(path)
    k = int(3.0 / (6.283185307179586 / 16))
    square = mean["u_rms"][k] ** 2 + mean["u"][k] ** 2
    tap.near(table(path, "x_1")["uu"].sum(), square, 1e-13 * square,
             "a height has its plane's mean square")

    run("go_on", steps=4)
    path, done = run("go_on", steps=8, options=["--resume", "auto"])
    whole, _ = run("whole", steps=8)
    tap.ok(done.returncode == 0 and
           all((table(path, "x")[c] == table(whole, "x")[c]).all()
               for c in ("uu", "vv", "ww")),
           "a run that goes on has the spectra of one that was not stopped")

    _, done = run("wall", more="", z="periodic", profile="rest", options=[
        "fluid.boundary.y=wall"])
    tap.ok(done.returncode == 2 and "need periodic faces" in done.stderr,
           "a spectrum between walls is refused")
    tap.done()


if __name__ == "__main__":
    main()
