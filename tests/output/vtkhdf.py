# timeout: 240
"""Frames of grids: written alike by any number of ranks, whole at any moment,
and read back by h5py and ParaView."""

import glob
import json
import os
import shutil
import signal
import subprocess
import tap

h5py, numpy = tap.need("h5py", "numpy")
FLOW = os.path.join(tap.TOP_BUILDDIR, "tests", "output", "flow")
MPI = tap.have_mpi()

DECK = """
[run]
solver = "flow"
units = "si"
[flow]
steps = 10
[output]
frames_every = 4
observables_every = 2
[[output.slice]]
name = "mid"
normal = "z"
position = 1.6
every = 5
fields = ["pressure"]
[[output.box]]
name = "corner"
lower = [0.4, 0.0, 0.0]
upper = [1.0, 0.9, 2.0]
every = 0
[[output.probe]]
name = "inside"
position = [0.3, 0.7, 1.7]
every = 1
[[output.probe]]
name = "at_wall"
position = [0.0, 1.0, 3.0]
every = 5
fields = ["pressure"]
"""


def flow(folder, *overrides, ranks=1):
    return tap.run(FLOW, "run", "flow.toml", "--output", folder, "-q",
                   *overrides, ranks=ranks)


def axes(cells, stretched=False):
    """Centers of the cells of the solver of these tests."""
    out = []
    for d, n in enumerate(cells):
        faces = numpy.arange(n + 1) / n
        if d == 2 and stretched:
            faces = faces ** 2
        faces = faces * (1.0 + d)
        out.append(0.5 * (faces[1:] + faces[:-1]))
    return out


def known(x, y, z, t):
    z, y, x = numpy.meshgrid(z, y, x, indexing="ij")
    velocity = numpy.stack([x + t, 10 * y, 100 * z - t], axis=-1)
    return velocity, x + 2 * y + 3 * z + 10 * t


def data(path):
    with h5py.File(path, "r") as f:
        points = f["VTKHDF/PointData"]
        return {name: points[name][()].tobytes() for name in points}


def series(path):
    with open(path, encoding="utf-8") as f:
        return json.load(f)


def steps(path):
    with h5py.File(path, "r") as f:
        return list(f["VTKHDF"].attrs["step"].flat)[0]


def check_frames():
    """What a run leaves, on one rank, in double."""
    flow("one", 'output.frame_precision="double"')
    names = sorted(os.listdir("one"))
    tap.is_(names, sorted(
        ["flow.h5", "flow.log", "flow.hdf.series", "flow_mid.hdf.series",
         "flow_corner.hdf.series"] +
        [f"flow_{s:06d}.hdf" for s in (0, 4, 8, 10)] +
        [f"flow_mid_{s:06d}.hdf" for s in (0, 5, 10)] +
        [f"flow_corner_{s:06d}.hdf" for s in (0, 10)]),
        "frames, slices and boxes are files of their own, each row with a list")
    listed = series("one/flow.hdf.series")
    tap.is_(listed, {"file-series-version": "1.0", "files": [
        {"name": f"flow_{s:06d}.hdf", "time": s / 2} for s in (0, 4, 8, 10)]},
        "the list has the frames and their times")
    x, y, z = axes((6, 5, 4))
    velocity, pressure = known(x, y, z, 2.0)
    with h5py.File("one/flow_000004.hdf", "r") as f:
        v = f["VTKHDF"]
        tap.ok(numpy.array_equal(v["PointData/velocity"][()], velocity) and
               numpy.array_equal(v["PointData/pressure"][()], pressure),
               "the values are those of the solver, to the last bit")
        tap.ok(list(v.attrs["WholeExtent"]) == [0, 5, 0, 4, 0, 3] and
               numpy.allclose(v.attrs["Origin"], [1 / 12, 0.2, 0.375]) and
               numpy.allclose(v.attrs["Spacing"], [1 / 6, 0.4, 0.75]) and
               v.attrs["Type"] == b"ImageData" and
               list(v.attrs["Version"]) == [1, 0],
               "points are the centers of the cells of an ImageData")
        tap.ok(v.attrs["time"] == 2.0 and v.attrs["step"] == 4 and
               v.attrs["time_unit"] == "s", "a frame has its step and time")
        tap.ok(numpy.array_equal(f["coordinates/z"][()], z) and
               len(f["coordinates/x_faces"]) == 7, "and its coordinates")
        missing = []
        f.visititems(lambda name, item: missing.extend(
            [name] if isinstance(item, h5py.Dataset) and not
            {"unit", "description"} <= set(item.attrs) else []))
        tap.is_(missing, [], "every dataset has a unit and a description")
        with open("flow.toml", "rb") as deck:
            tap.ok(f["run/deck"][()] == deck.read() and
                   f["run"].attrs["complete"] == 1 and
                   f.attrs["suite"] == "Warpdeck" and
                   f["run"].attrs["solver"] == "flow",
                   "and every frame tells where it comes from")


def check_parts():
    x, y, z = axes((6, 5, 4))
    with h5py.File("one/flow_mid_000005.hdf", "r") as f:
        points = f["VTKHDF/PointData"]
        tap.ok(list(points) == ["pressure"] and
               numpy.array_equal(points["pressure"][()],
                                 known(x, y, z[2:3], 2.5)[1]),
               "a slice is the nearest plane of centers, in its own fields")
    with h5py.File("one/flow_corner_000010.hdf", "r") as f:
        v = f["VTKHDF"]
        tap.ok(numpy.array_equal(v["PointData/velocity"][()],
                                 known(x[2:], y[:2], z[:3], 5.0)[0]) and
               list(f["coordinates"].attrs["first_cell"]) == [2, 0, 0] and
               numpy.allclose(v.attrs["Origin"], [x[2], y[0], z[0]]),
               "a box has the cells whose centers lie in it")
    with h5py.File("one/flow.h5", "r") as f:
        inside = f["probes/inside"]
        t = inside["pressure/time"][()]
        tap.ok(numpy.array_equal(t, numpy.arange(11) / 2) and
               numpy.allclose(inside["pressure/value"][()],
                              0.3 + 1.4 + 5.1 + 10 * t, rtol=1e-14) and
               numpy.allclose(inside["velocity/value"][:, 2], 170 - t,
                              rtol=1e-13),
               "a probe interpolates between centers, exactly where the field "
               "is linear")
        tap.ok(numpy.allclose(f["probes/at_wall/pressure/value"][()],
                              x[0] + 2 * y[2] + 3 * z[3] +
                              10 * numpy.array([0, 2.5, 5])),
               "and takes the last center beside a wall")
        tap.ok("h5md" not in f and "particles" not in f and
               f["run"].attrs["complete"] == 1 and
               list(f["observables/kinetic_energy/step"]) ==
               [0, 2, 4, 6, 8, 10] and
               list(f["statistics/profiles/u"]) == [1, 2],
               "NAME.h5 has series and statistics, and is no H5MD")


def check_ranks():
    """The numbers do not depend on who wrote them."""
    flow("single")
    kept = {os.path.basename(p): data(p) for p in glob.glob("single/*.hdf")}
    with h5py.File("single/flow_000004.hdf", "r") as f:
        velocity = known(*axes((6, 5, 4)), 2.0)[0]
        tap.ok(f["VTKHDF/PointData/velocity"].dtype == "f4" and
               numpy.array_equal(f["VTKHDF/PointData/velocity"][()],
                                 velocity.astype("f4")),
               "frames are in single precision unless asked otherwise")
    if not MPI:
        tap.skip(4, "built without MPI")
        return
    for n, cut in (2, None), (3, "[1,3,1]"), (4, "[2,1,2]"), (6, None):
        more = [f"domain.ranks={cut}"] if cut else []
        folder = f"ranks{n}"
        flow(folder, *more, ranks=n)
        tap.ok({os.path.basename(p): data(p)
                for p in glob.glob(folder + "/*.hdf")} == kept,
               f"{n} ranks write the same bytes, as {cut or 'slabs in z'}" +
               (", of which some have no cells" if n == 6 else ""))


def check_stretched():
    flow("stretched", "flow.stretched=true", 'output.frame_precision="double"')
    z = axes((6, 5, 4), True)[2]
    with h5py.File("stretched/flow_000010.hdf", "r") as f:
        v = f["VTKHDF"]
        tap.ok(numpy.array_equal(f["coordinates/z"][()], z) and
               numpy.isclose(v.attrs["Origin"][2], z[0]) and
               numpy.isclose(v.attrs["Spacing"][2], (z[3] - z[0]) / 3) and
               "RectilinearGrid" in f["coordinates"].attrs["note"],
               "a stretched grid has its true heights, and a note")
    flow("thin", "flow.cells=[1,5,4]", "flow.periodic=true")
    with h5py.File("thin/flow_000010.hdf", "r") as f:
        tap.is_(f["VTKHDF/PointData/velocity"].shape, (4, 5, 1, 3),
                "a grid may be one cell deep")


def check_again():
    flow("one", "flow.steps=4", "--overwrite")
    tap.is_(sorted(os.path.basename(p) for p in glob.glob("one/flow_0*")),
            ["flow_000000.hdf", "flow_000004.hdf"],
            "a run that replaces another leaves none of its frames")
    flow("uneven", "flow.growth=1.3", "output.frames_every=2.0",
         "flow.timestep=0.3")
    times = [f["time"] for f in series("uneven/flow.hdf.series")["files"]]
    tap.is_(len({int(t // 2) for t in times[:-1]}), len(times) - 1,
            "with steps that grow, a frame for each interval of time")


def check_wrong():
    cases = (
        ('output.fields=["position"]', None),
        ('output.slice.fields=["heat"]', "no field 'heat'"),
        ("output.slice.position=7.0", "outside the box"),
        ('output.slice.name="12"', "must be of letters"),
        ('output.box.name="mid"', "taken already"),
        ("output.box.upper=[0.1,0.9,2.0]", "lies below"))
    for override, says in cases:
        if says is None:
            continue
        key, value = override.split("=", 1)
        section, name = key.rsplit(".", 1)
        lines, seen = [], False
        for line in DECK.splitlines():
            seen = line == f"[[{section}]]" or (seen and line[:1] != "[")
            if seen and line.split(" = ")[0] == name:
                line = f"{name} = {value}"
            lines.append(line)
        with open("wrong.toml", "w", encoding="utf-8") as f:
            f.write("\n".join(lines))
        got = subprocess.run([FLOW, "check", "wrong.toml"], text=True,
                             capture_output=True, check=False)
        tap.ok(got.returncode == 2 and says in got.stderr,
               f"check says: {says}")
        if says not in got.stderr:
            tap.note(got.stderr)
    with open("md.toml", "w", encoding="utf-8") as f:
        with open(os.path.join(tap.TOP_SRCDIR, "inputs/md/lj_melt.toml"),
                  encoding="utf-8") as melt:
            f.write(melt.read() + '[[output.probe]]\nname = "p"\n'
                    'position = [1, 1, 1]\n')
    got = subprocess.run([tap.WARPDECK, "check", "md.toml"], text=True,
                         capture_output=True, check=False)
    tap.ok(got.returncode == 2 and
           "is for fields on a grid, and molecular dynamics has none" in
           got.stderr, "particles have no probes, slices and boxes")
    got = subprocess.run([FLOW, "check", "flow.toml"], text=True,
                         capture_output=True, check=False).stdout
    tap.ok("4 frames of 51.1 kB, 5 of slices and boxes; 6 rows" in got,
           "the plan counts frames, slices and boxes")
    if "4 frames" not in got:
        tap.note(got)


def check_full():
    """A disk that gets full while frames are written."""
    os.makedirs("full", exist_ok=True)
    made = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=3m", "tmpfs",
                           "full"], capture_output=True, check=False)
    if made.returncode != 0:
        tap.skip(3, "no file system can be mounted here")
        return
    try:
        got = subprocess.run(
            [FLOW, "run", "flow.toml", "flow.cells=[40,30,30]",
             "--output", "full", "-q", "output.frames_every=1"],
            text=True, capture_output=True, check=False)
        listed = series("full/flow.hdf.series")["files"]
        whole = all(data("full/" + f["name"]) for f in listed)
        tap.ok(got.returncode == 1 and "no space for the frame of step" in
               got.stderr, "a full disk ends the run, and says so")
        tap.ok(len(listed) >= 2 and whole and not glob.glob("full/*.tmp"),
               "the frames before stay whole, and no half one is left")
        with h5py.File("full/flow.h5", "r") as f:
            tap.ok(f["run"].attrs["complete"] == 0,
                   "the result file opens, and is not complete")
    finally:
        subprocess.run(["umount", "full"], check=False)


PVPYTHON = """
import sys
from paraview.simple import OpenDataFile, UpdatePipeline
from paraview import servermanager
from vtkmodules.util.numpy_support import vtk_to_numpy
reader = OpenDataFile(sys.argv[1])
reader.UpdatePipelineInformation()
times = list(reader.TimestepValues)
print("times", times)
reader.UpdatePipeline(times[1])
image = servermanager.Fetch(reader)
print("class", image.GetClassName(), image.GetDimensions())
points = image.GetPointData()
for name in ("velocity", "pressure"):
    vtk_to_numpy(points.GetArray(name)).tofile(name + ".bin")
print("at", image.GetPoint(7))
"""


def check_paraview():
    pvpython = shutil.which("pvpython")
    if pvpython is None:
        tap.skip(2, "no pvpython (ParaView) here")
        return
    with open("look.py", "w", encoding="utf-8") as f:
        f.write(PVPYTHON)
    flow("pv", ranks=2 if MPI else 1)
    env = {k: v for k, v in os.environ.items()
           if not k.startswith(("PYTHON", "OMPI_", "PMIX_"))}
    env.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
               HWLOC_COMPONENTS="-opencl,-gl", QT_QPA_PLATFORM="offscreen")
    got = subprocess.run([pvpython, "look.py", "pv/flow.hdf.series"], env=env,
                         text=True, capture_output=True, timeout=120,
                         check=False)
    tap.ok("times [0.0, 2.0, 4.0, 5.0]" in got.stdout,
           "ParaView opens the list and sees its times")
    velocity, pressure = known(*axes((6, 5, 4)), 2.0)
    same = "class vtkImageData (6, 5, 4)" in got.stdout and numpy.array_equal(
        numpy.fromfile("velocity.bin", "f4"),
        velocity.astype("f4").ravel()) and numpy.array_equal(
            numpy.fromfile("pressure.bin", "f4"),
            pressure.astype("f4").ravel())
    tap.ok(same, "and the same values at the same points")
    if not same:
        tap.note(got.stdout + got.stderr)


with open("flow.toml", "w", encoding="utf-8") as out:
    out.write(DECK)
check_frames()
check_parts()
check_ranks()
check_stretched()
check_again()
check_wrong()
check_full()
check_paraview()
tap.done()
