# timeout: 900
"""VTK of PyPI (9.3 or later), h5py and PyVista read frames, .vtr and particles as
the solver wrote them, and draw. WARPDECK_POST_PYTHON names a Python that has them."""

import os
import tap

PYTHON = os.environ.get("WARPDECK_POST_PYTHON", "")
LOOK = """
import sys
import h5py, numpy, pyvista, vtk
from vtk.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkIOHDF import vtkHDFReader
assert tuple(map(int, vtk.VTK_VERSION.split(".")[:2])) >= (9, 3)


def say(held, sentence):
    print("held" if held else "not", sentence)


with h5py.File("flow_000005.hdf") as f:
    points = f["VTKHDF/PointData"]
    pressure, velocity = points["pressure"][()], points["velocity"][()]
    faces = [f[f"coordinates/{a}_faces"][()] for a in "xyz"]
    time = f["VTKHDF"].attrs["time"]
reader = vtkHDFReader()
reader.SetFileName("flow_000005.hdf")
reader.Update()
image = reader.GetOutput()
data = image.GetPointData()
say(image.GetDimensions() == pressure.shape[::-1] and
    numpy.array_equal(vtk_to_numpy(data.GetArray("pressure")),
                      pressure.ravel()) and
    numpy.array_equal(vtk_to_numpy(data.GetArray("velocity")),
                      velocity.reshape(-1, 3)),
    f"VTK {vtk.VTK_VERSION} reads a frame, number by number")
grid = pyvista.read("flow_000005.vtr")
say(all(numpy.array_equal(getattr(grid, a), faces[i])
        for i, a in enumerate("xyz")) and
    numpy.array_equal(grid.cell_data["pressure"], pressure.ravel()),
    "PyVista reads the stretched grid, with its faces and values")
listed = pyvista.get_reader("flow.pvd")
say(listed.time_values == [0.0, 2.5, 5.0] and time == 2.5,
    "and the list of frames with their times")
cloud = numpy.loadtxt("run.xyz", skiprows=2, max_rows=400, usecols=(1, 2, 3, 7))
with h5py.File("run.h5") as f:
    say(numpy.array_equal(cloud[:, :3], f["particles/all/position/value"][0])
        and numpy.array_equal(cloud[:, 3], f["particles/all/id"][()]),
        "h5py of PyPI reads particles and ids as XYZ has them")
    say(f["particles/all/box/edges/value"].shape[0] == 3, "and all boxes")
"""

if not PYTHON or tap.run(PYTHON, "-c", "import vtk, h5py, numpy, pyvista",
                         check=False).returncode != 0:
    tap.skip_all("WARPDECK_POST_PYTHON names no Python with vtk, pyvista, h5py "
                 "and numpy")
tap.need("h5py", "numpy")
import post  # noqa: E402

post.particles("run.h5", particles=400, frames=3, rows=3)
post.flow()
post.post("export", "flow.hdf.series")
post.post("export", "run.h5")
for line in tap.run(PYTHON, "-c", LOOK).stdout.splitlines():
    held, _, sentence = line.partition(" ")
    if held in ("held", "not"):
        tap.ok(held == "held", sentence)
tap.ok(tap.count == 5, "all of them were looked at")
os.mkdir("render")
drawn = tap.run(PYTHON, os.path.join(os.path.dirname(
    os.path.abspath(__file__)), "render.py"), timeout=800,
                cwd="render")
bad = [s for s in drawn.stdout.splitlines()
       if not s.startswith("ok") or "# SKIP" in s]
tap.is_([s for s in bad if s.startswith(("not", "ok"))], [],
        "and every picture in three dimensions is drawn by it, none left out")
tap.done()
