# timeout: 120
"""warpdeck-post on flows: words, pictures, VTK files, comparison."""

import contextlib
import io
import os
import shutil
import subprocess
import sys
import types
import tap

h5py, numpy = tap.need("h5py", "numpy")
FLOW = os.path.join(tap.TOP_BUILDDIR, "tests", "output", "flow")
sys.path.insert(0, os.path.join(tap.TOP_SRCDIR, "postproc"))
from warpdeck_post import cli  # noqa: E402

DECK = """[run]
solver = "flow"
units = "si"
[flow]
stretched = true
[output]
frames_every = 5
observables_every = 1
[[output.probe]]
name = "here"
position = [0.5, 1.0, 1.5]
"""


def post(*args):
    """The command, within this process: starting Python takes longer."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        status = cli.main(args)
    return types.SimpleNamespace(returncode=status, stdout=out.getvalue(),
                                 stderr=err.getvalue())


def contains(result, *texts):
    held = result.returncode == 0 and all(t in result.stdout for t in texts)
    if not held:
        tap.note(result.stdout + result.stderr)
    return held


def refused(result, text):
    held = (result.returncode == 2 and text in result.stderr and
            result.stderr.count("\n") == 1)
    if not held:
        tap.note(result.stdout + result.stderr)
    return held


def check_words():
    tap.ok(contains(post("show", "flow.h5"), "complete", "step 10 of 10",
                    "11 rows of observables, 1 probe", "kinetic energy",
                    "profiles: 2 rows of u, z"), "a result file in words")
    tap.ok(contains(post("show", "flow_000005.hdf"), "step 5, time 2.5 s",
                    "6 x 5 x 4 cells, 1 x 2 x 3 m, stretched in z",
                    "velocity z"), "a frame in words")
    tap.ok(contains(post("show", "flow.hdf.series"), "3 frames",
                    "times 0 to 5", "step 10"), "a list in words")
    shutil.copy("flow.hdf.series", "lost.hdf.series")
    with open("bad.hdf.series", "w", encoding="utf-8") as f:
        f.write("{}")
    tap.ok(refused(post("show", "bad.hdf.series"), "is not a list of frames"),
           "a list that is none")


def check_export():
    tap.ok(contains(post("export", "flow.hdf.series"), "wrote flow.pvd") and
           all(os.path.exists(f"flow_{s:06d}.vtr") for s in (0, 5, 10)),
           "all frames of a list go to VTK files, with their own list")
    tap.ok(contains(post("export", "flow.h5"), "wrote flow.csv",
                    "wrote flow.profiles.csv", "wrote flow.probes.here.csv"),
           "series, profiles and probes go to CSV")
    with open("flow.probes.here.csv", encoding="utf-8") as f:
        tap.is_(f.readline(), "step,time [s],pressure [Pa],velocity_x [m/s],"
                "velocity_y [m/s],velocity_z [m/s]\n", "with units")
    with open("flow.profiles.csv", encoding="utf-8") as f:
        tap.is_(f.readline(), "z [m],u\n", "the coordinate comes first")
    tap.ok(refused(post("export", "flow_000005.hdf", "--to", "csv"),
                   "goes to vtr"), "a frame does not go to CSV")
    check_vtr()


# By VTK's reader: ParaView 5.11 hands grids to scripts with wrong coordinates.
VTR = """
from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkIOXML import vtkXMLRectilinearGridReader
reader = vtkXMLRectilinearGridReader()
reader.SetFileName("flow_000005.vtr")
reader.Update()
grid = reader.GetOutput()
print(grid.GetClassName(), grid.GetDimensions(), grid.GetZCoordinates()
      .GetTuple1(1))
vtk_to_numpy(grid.GetCellData().GetArray("pressure")).tofile("pressure.bin")
"""


def check_vtr():
    pvpython = shutil.which("pvpython")
    if pvpython is None:
        tap.skip(1, "no pvpython (ParaView) here")
        return
    with open("look.py", "w", encoding="utf-8") as f:
        f.write(VTR)
    env = {k: v for k, v in os.environ.items()
           if not k.startswith(("PYTHON", "OMPI_", "PMIX_"))}
    env.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
               HWLOC_COMPONENTS="-opencl,-gl", QT_QPA_PLATFORM="offscreen")
    got = subprocess.run([pvpython, "look.py"], env=env, text=True,
                         capture_output=True, timeout=100, check=False)
    with h5py.File("flow_000005.hdf", "r") as f:
        pressure = f["VTKHDF/PointData/pressure"][()].ravel()
    held = ("vtkRectilinearGrid (7, 6, 5) 0.1875" in got.stdout and
            numpy.array_equal(numpy.fromfile("pressure.bin", "f4"), pressure))
    tap.ok(held, "VTK reads it as cells of the stretched grid")
    if not held:
        tap.note(got.stdout + got.stderr)


def check_pictures():
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        tap.skip(4, "the Python module matplotlib is not installed")
        return
    tap.ok(contains(post("plot", "flow.h5"), "wrote flow.png") and
           contains(post("plot", "flow.h5", "profiles"),
                    "wrote flow_profiles.png"), "series and profiles as pictures")
    tap.ok(contains(post("plot", "flow_000005.hdf", "--field", "velocity_z",
                         "--normal", "x", "--at", "0.2"),
                    "wrote flow_000005.png") and
           contains(post("plot", "flow.hdf.series"), "wrote flow_000010.png"),
           "a slice of a frame, and of the last of a list")
    tap.ok(refused(post("plot", "flow_000005.hdf", "--field", "heat"),
                   "no field 'heat'; there are pressure, velocity"),
           "a field that is not there")
    tap.ok(refused(post("plot", "flow.h5", "rdf"), "cannot be drawn as rdf"),
           "a flow has no radial distribution")


def check_diff():
    shutil.copy("flow_000005.hdf", "other.hdf")
    tap.ok(contains(post("diff", "flow_000005.hdf", "other.hdf"),
                    "8 datasets are equal"), "a frame is equal to its copy")
    with h5py.File("other.hdf", "r+") as f:
        f["VTKHDF/PointData/pressure"][1, 2, 3] += 1
    got = post("diff", "flow_000005.hdf", "other.hdf")
    tap.ok(got.returncode == 1 and "most by 1 at [1, 2, 3]" in got.stdout,
           "and not where a number differs")
    tap.ok(refused(post("diff", "flow.h5", "other.hdf"), "the other is not"),
           "a frame is not compared with a result file")


with open("flow.toml", "w", encoding="utf-8") as out:
    out.write(DECK)
tap.run(FLOW, "run", "flow.toml", "-q")
check_words()
check_export()
check_pictures()
check_diff()
tap.done()
