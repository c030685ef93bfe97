"""Flows through the program: the same on any count of ranks and any cut, and
what is wrong with a deck is told."""

import glob
import os
import subprocess

import tap

np, h5py = tap.need("numpy", "h5py")

# Odd counts, so that pieces differ; a spectrum of waves, so that all terms act.
PERIODIC = """
[run]
solver = "fluid"
[domain]
cells = [15, 13, 11]
size = [6.28, 5.0, 4.0]
[fluid]
viscosity = 0.02
cfl = 1.0
steps = 4
[fluid.initial]
profile = "random"
amplitude = 0.7
peak = 2.0
[fluid.rotation]
omega = [0.1, 0.2, 0.3]
[output]
fields = ["velocity", "pressure", "q_criterion"]
"""
# Walls, a stretched grid, a held flow, buoyancy, statistics.
CHANNEL = """
[run]
solver = "fluid"
[domain]
cells = [12, 10, 14]
size = [4.0, 2.0, 2.0]
[fluid]
viscosity = 0.01
cfl = 1.0
steps = 4
gravity = [0.0, 0.0, -1.0]
[fluid.grid]
stretching = "tanh"
factor = 1.5
[fluid.boundary]
z_min = "wall"
z_max = { type = "wall", velocity = [0.3, 0.0, 0.0] }
[fluid.initial]
profile = "channel"
perturbation = 0.3
[fluid.forcing]
bulk_velocity = [1.0, 0.0, 0.0]
[[fluid.scalar]]
name = "temperature"
diffusivity = 0.02
expansion = 0.1
value_z_min = 1.0
value_z_max = 0.0
initial = "linear"
perturbation = 0.1
[fluid.statistics]
every = 1
[output]
fields = ["velocity", "pressure", "temperature", "vorticity"]
"""
# Two-dimensional, walls across y, one cell along z or y.
CAVITY = """
[run]
solver = "fluid"
[domain]
cells = [12, 13, 1]
size = [1.0, 1.0, 0.1]
[fluid]
viscosity = 0.01
cfl = 1.0
steps = 6
[fluid.boundary]
x = "wall"
y_min = "free-slip"
y_max = { type = "wall", velocity = [1.0, 0.0, 0.0] }
[output]
fields = ["velocity", "pressure"]
"""
FLAT = CAVITY.replace("cells = [12, 13, 1]", "cells = [12, 1, 13]").replace(
    "size = [1.0, 1.0, 0.1]", "size = [1.0, 0.1, 1.0]").replace("y_m", "z_m")


def write(name, text):
    with open(name + ".toml", "w", encoding="utf-8") as deck:
        deck.write(text)


def result(name, ranks, cut, *more):
    """The last frame, all observables and profiles of a run, by name."""
    folder = f"{name}-{ranks}-{cut[1]}x{cut[2]}-{len(os.listdir('.'))}"
    tap.warpdeck("run", name + ".toml", f"domain.ranks={list(cut)}", *more,
                 "--output", folder + "/", ranks=ranks)
    found = {}
    with h5py.File(sorted(glob.glob(folder + "/*.hdf"))[-1]) as frame:
        for field, values in frame["VTKHDF/PointData"].items():
            found[field] = values[()]
    with h5py.File(f"{folder}/{name}.h5") as file:
        for key, group in file["observables"].items():
            if key != "divergence":  # round-off alone
                found["observables/" + key] = group["value"][()]
        if "statistics" in file:
            file["statistics"].visititems(
                lambda key, node: found.update({key: node[()]})
                if isinstance(node, h5py.Dataset)
                and not key.endswith(("skewness", "flatness")) else None)
    return found


def difference(one, other):
    """The greatest relative difference, and of what."""
    worst, of = 0.0, "nothing"
    if one.keys() != other.keys():
        return np.inf, "the lists of names"
    for name, values in one.items():
        # means that vanish are compared with the size of a velocity, 1
        size = max(np.abs(values).max(), 1.0 if "bulk" in name or "/" in name
                   or len(values.shape) == 1 else 0.0)
        d = np.abs(values - other[name]).max() / max(size, 1e-300)
        if not d <= worst:
            worst, of = d, name
    return worst, of


def cuts(*counts):
    """Every way to cut y and z among so many ranks."""
    return [(1, y, n // y) for n in counts for y in range(1, n + 1)
            if n % y == 0]


def test_ranks(name, text, all_cuts, *more):
    write(name, text)
    one = result(name, 1, (1, 1, 1), *more)
    # rounding in the transforms and sums of few steps; 1e-11 is the promise
    for cut in all_cuts if tap.have_mpi() else ():
        ranks = cut[1] * cut[2]
        worst, of = difference(one, result(name, ranks, cut, *more))
        tap.ok(worst < 1e-11,
               f"{' '.join((name, *more))}: {ranks} ranks as 1 x {cut[1]} x "
               f"{cut[2]} give what one gives (worst {worst:.1e}: {of})")


def refused(text, sentence, *words, status=2, command="check", ranks=1):
    write("bad", text)
    got = tap.warpdeck(command, "bad.toml", check=False, ranks=ranks)
    said = " ".join(got.stderr.split())
    missing = [w for w in words if w not in said]
    if not tap.ok(got.returncode == status and not missing, sentence):
        tap.note(f"status {got.returncode}, missing {missing} in\n"
                 f"{got.stdout[-800:]}{got.stderr[-1500:]}")


def change(text, *pairs):
    for old, new in pairs:
        assert old in text, old
        text = text.replace(old, new)
    return text


def test_bad_decks():
    c, p = CAVITY, PERIODIC
    refused(change(c, ('x = "wall"', 'x_min = "wall"\nx_max = "periodic"')),
            "a wall opposite to a periodic face is told", "bad.toml:12:9",
            "the faces of x do not match")
    refused(change(c, ('x = "wall"', 'x_min = "wall"')),
            "a wall opposite to nothing is told",
            "the other face of x is not named")
    refused(change(c, ("velocity = [1.0, 0.0, 0.0]",
                       "velocity = [1.0, 0.5, 0.0]")),
            "a wall that pushes through its face is told",
            "moves along y by 0.5", "push through the face")
    refused(change(c, ('y_min = "free-slip"', 'y = "wall"')),
            "a face that is said twice is told",
            "fluid.boundary.y says already what both faces do")
    refused(change(c, ('x = "wall"', 'x = "wal"')),
            "a misspelt word is told", 'did you mean "wall"?')
    refused(change(c, ('x = "wall"',
                       'x = { type = "free-slip", velocity = [0, 1, 0] }')),
            "a velocity of a free-slip face is told",
            "only a wall has a velocity")
    for count, word in (("0", "at least 1"), ("-4", "at least 1"),
                        ("2147483648", "at most 1e+06")):
        refused(change(p, ("cells = [15,", f"cells = [{count},")),
                f"{count} cells are refused", f"domain.cells = {count}", word)
    refused(change(p, ("cells = [15, 13, 11]", "cells = [15, 13]")),
            "two counts are not three", "expected 3 integers, got 2")
    refused(change(p, ("cells = [15, 13, 11]\n", "")),
            "missing cells are told", "domain.cells is missing")
    refused(change(p, ("size = [6.28, 5.0, 4.0]", "size = [6.28, 5.0, 4e-4]")),
            "cells of wild shapes are refused", "more than 1000 times as much")
    refused(change(CHANNEL, ("factor = 1.5", "factor = 9.9")),
            "stretching that is too strong is refused",
            "the spacing along z changes by a factor of")
    refused(change(CHANNEL, ('stretching = "tanh"\nfactor = 1.5',
                             "z_faces = [0, 0.2, 0.1, 0.3, 0.4, 0.5, 0.6, 0.8,"
                             " 1, 1.2, 1.4, 1.6, 1.8, 1.9, 2.0]")),
            "a grid that folds is told with its face",
            "the grid folds: face 2 at z = 0.1 is not above face 1 at z = 0.2")
    refused(change(CHANNEL, ('stretching = "tanh"\nfactor = 1.5',
                             "z_faces = [0, 1, 2]")),
            "too few faces are counted", "3 faces; 14 cells along z have 15")
    refused(change(p, ("cfl = 1.0", "cfl = 2.0")),
            "a CFL number beyond the scheme's limit is refused",
            "fluid.cfl = 2.0: must be at most 1.73205")
    refused(change(p, ("steps = 4", "")), "a run without an end is refused",
            "fluid.end_time or fluid.steps is needed")
    refused(change(p, ("steps = 4", "end_time = 1.0\ntimestep = 2.0")),
            "a time step longer than the run is refused",
            "fluid.timestep = 2 is longer than the run")
    refused(change(p, ("viscosity = 0.02\n", 'viscosity = 50\ntimestep = 0.01\n'
                       'diffusion = "explicit"\n'), ("cfl = 1.0\n", "")),
            "a fixed step beyond the viscous limit is refused with the way out",
            'fluid.diffusion = "implicit"')
    refused(change(p, ("viscosity = 0.02", 'viscosity = 1e12\n'
                       'diffusion = "explicit"'),
                   ("steps = 4", "end_time = 100.0")),
            "a viscous limit that needs 10^9 steps is refused",
            "more than 10^9 steps", '"implicit"')
    refused(change(c, ("steps = 6", "steps = 6"),
                   ("[output]", '[fluid.initial]\nprofile = "random"\n'
                    "[output]")),
            "a random field between walls is refused",
            "periodic in all directions")
    refused(change(p, ('profile = "random"', 'profile = "poiseuille"')),
            "a parabola without walls is refused", "lies between two walls")
    refused(change(c, ("[output]", "[fluid.forcing]\n"
                       "bulk_velocity = [1.0, 0.0, 0.0]\n[output]")),
            "a flow through walls cannot be held", "there are walls")
    refused(change(CHANNEL, ("gravity = [0.0, 0.0, -1.0]\n", "")),
            "buoyancy without gravity is told", "fluid.gravity")
    refused(change(CHANNEL, ("value_z_min = 1.0",
                             "value_z_min = 1.0\nvalue_x = 2.0")),
            "a fixed value on a periodic face is told",
            "the flow is periodic along x")
    refused(change(CHANNEL, ('"pressure", "temperature"', '"presure"')),
            "an unknown field is told with those that there are",
            "no field 'presure'; there are velocity, pressure, vorticity, "
            "q_criterion, temperature")
    refused(change(p, ("size =", "ranks = [2, 1, 1]\nsize =")),
            "a cut along x is refused", "not cut along x")
    refused(change(p, ("size =", "ranks = [1, 2, 2]\nsize =")),
            "ranks that do not fit are refused with those that do",
            "makes 4 blocks, but there are 1 ranks; one of [1, 1, 1]")
    refused('[run]\nsolver = "md"\n[domain]\ncells = [2, 2, 2]\n',
            "cells of the domain are the flow's",
            "unknown key 'cells' in [domain]")
    got = tap.warpdeck("check", "periodic.toml", "domain.cells=[127,64,8]")
    tap.ok("the nearest fast counts are 125 and 128" in
           " ".join((got.stdout + got.stderr).split()),
           "a slow count is told with the nearest fast ones")


def test_failures():
    refused(change(PERIODIC, ("cfl = 1.0", "timestep = 0.9"),
                   ("viscosity = 0.02", "viscosity = 0"),
                   ("steps = 4", "steps = 200")),
            "a flow that outruns its fixed step ends the run with status 3",
            "step 1: the flow has outrun its time step: largest CFL",
            "timestep 0.9", status=3, command="run")
    if tap.have_mpi():
        refused(change(CAVITY, ("cells = [12, 13, 1]", "cells = [12, 2, 1]")),
                "more ranks than can share the grid are refused with the most "
                "that can", "3 ranks cannot share 12 x 2 x 1 cells",
                "at most 2", "[1, 2, 1]", command="run", ranks=3)


def test_times():
    write("times", change(PERIODIC, ("steps = 4", "end_time = 1.0"))
          + "frames_every = 0.3\nname = \"times\"\n")
    tap.warpdeck("run", "times.toml", "--output", "times/")
    at = []
    for name in sorted(glob.glob("times/*.hdf")):
        with h5py.File(name) as frame:
            at += [float(t) for t in np.atleast_1d(
                frame.attrs.get("time", frame["VTKHDF"].attrs.get("time", -1))
            )]
    with h5py.File("times/times.h5") as file:
        end = file["observables/kinetic_energy/time"][-1]
    tap.ok(end == 1.0, "the last step ends at exactly the end time")
    if at and min(at) >= 0:
        tap.ok(np.abs(np.array(at) - [0, 0.3, 0.6, 0.9, 1.0]).max() < 1e-12,
               "frames stand at the multiples of their interval")


test_ranks("periodic", PERIODIC, cuts(2, 3, 4, 6))
test_ranks("channel", CHANNEL, [(1, 1, 3), (1, 2, 2), (1, 3, 2), (1, 6, 1)])
test_ranks("channel", CHANNEL, [(1, 2, 2), (1, 1, 6)],
           "fluid.diffusion=implicit")
test_ranks("cavity", CAVITY, [(1, 3, 1)])
test_ranks("flat", FLAT, [(1, 1, 4)], "fluid.diffusion=implicit-z")
test_bad_decks()
test_failures()
test_times()
tap.done()
