# timeout: 200
"""The scripts for ParaView build their pictures from files, all frames and all
numbers; pictures themselves where there is a display."""

import os
import shutil
import subprocess
import tap

h5py, numpy = tap.need("h5py", "numpy")
import post  # noqa: E402

SCRIPTS = os.path.join(tap.TOP_SRCDIR, "postproc", "paraview")
LOOK = """
import sys
sys.path.insert(0, sys.argv[1])
import particles, q_surface
from vtkmodules.util.numpy_support import vtk_to_numpy


def main():  # programmable sources run in this module, and leave names there
    balls = particles.particles("run.h5")
    balls.UpdatePipeline(0.05)
    data = balls.GetClientSideObject().GetOutputDataObject(0)
    for name, array in (("position", data.GetPoints().GetData()),
                        ("velocity", data.GetPointData().GetArray("velocity"))):
        vtk_to_numpy(array).astype("f8").tofile(name + ".bin")
    print("points", data.GetNumberOfPoints())
    frames, surface = q_surface.vortices("vortex.hdf")
    print("radius", *surface.GetDataInformation().GetBounds())


main()
"""


def vortex():
    """A frame in which Q is 1 - r^2 / 0.36 in a cube of 2."""
    n = 32
    x = (numpy.arange(n) + 0.5) * 2 / n - 1
    z, y, x3 = numpy.meshgrid(x, x, x, indexing="ij")
    shutil.copy("flow_000005.hdf", "vortex.hdf")
    with h5py.File("vortex.hdf", "r+") as f:
        image = f["VTKHDF"]
        for name in list(image["PointData"]):
            del image["PointData"][name]
        image["PointData"]["q_criterion"] = (
            1 - (x3**2 + y**2 + z**2) / 0.36).astype("f4")
        image.attrs["WholeExtent"] = numpy.array([0, n - 1] * 3)
        image.attrs["Origin"] = numpy.full(3, x[0])
        image.attrs["Spacing"] = numpy.full(3, 2 / n)


pvpython = shutil.which("pvpython")
if pvpython is None:
    tap.skip_all("no pvpython (ParaView) here")
post.particles("run.h5", particles=400, frames=3, rows=3)
post.flow()
vortex()
with open("look.py", "w", encoding="utf-8") as out:
    out.write(LOOK)
env = {k: v for k, v in os.environ.items()
       if not k.startswith(("PYTHON", "OMPI_", "PMIX_"))}
env.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
           HWLOC_COMPONENTS="-opencl,-gl", QT_QPA_PLATFORM="offscreen")
got = subprocess.run([pvpython, "look.py", SCRIPTS], env=env, text=True,
                     capture_output=True, timeout=150, check=False)
lines = dict(line.split(" ", 1) for line in got.stdout.splitlines()
             if line.startswith(("points ", "radius ")))
with h5py.File("run.h5", "r") as f:
    position = f["particles/all/position/value"][1]
    velocity = f["particles/all/velocity/value"][1]
held = (lines.get("points") == "400" and
        numpy.array_equal(numpy.fromfile("position.bin"), position.ravel()) and
        numpy.array_equal(numpy.fromfile("velocity.bin"), velocity.ravel()))
tap.ok(held, "particles.py shows the frame of its time, with its positions and "
       "velocities")
bounds = numpy.array(lines.get("radius", "0").split(), dtype=float)
# Q = 0.1 of its greatest, at r = 0.6 sqrt(0.9); within a tenth of a cell
radius = 0.6 * numpy.sqrt(0.9)
if not tap.ok(len(bounds) == 6 and
              numpy.abs(numpy.abs(bounds) - radius).max() < 0.00625,
              "q_surface.py finds the surface of a round vortex") or not held:
    tap.note(got.stdout + got.stderr)
tap.done()
