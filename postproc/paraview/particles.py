"""ParaView: the particles of NAME.h5 as lit spheres, with all their frames.

    pvpython particles.py NAME.h5 [PICTURE.png]
    paraview --script=particles.py        (then set FILE below)

ParaView has no reader for H5MD; a programmable source reads it by h5py, which
ParaView's own Python has. ParaView 5.10 and later.
"""

import sys

from paraview.simple import (CreateView, GetAnimationScene, Glyph, ColorBy,
                             ProgrammableSource, Render, ResetCamera,
                             SaveScreenshot, SetActiveView, Show, UpdatePipeline)

FILE = ""  # where no argument gives it

TIMES = """
import h5py
with h5py.File({path!r}, "r") as f:
    times = [float(t) for t in f["particles/all/box/edges/time"][()]]
executive = self.GetExecutive()
info = executive.GetOutputInformation(0)
info.Remove(executive.TIME_STEPS())
info.Remove(executive.TIME_RANGE())
for t in times:
    info.Append(executive.TIME_STEPS(), t)
for t in (times[0], times[-1]):
    info.Append(executive.TIME_RANGE(), t)
"""

READ = """
import h5py, numpy
from vtkmodules.vtkCommonCore import vtkPoints
from vtkmodules.vtkCommonDataModel import vtkCellArray
from vtkmodules.vtkCommonExecutionModel import vtkStreamingDemandDrivenPipeline
from vtkmodules.util.numpy_support import numpy_to_vtk, numpy_to_vtkIdTypeArray
info = self.GetOutputInformation(0)
key = vtkStreamingDemandDrivenPipeline.UPDATE_TIME_STEP()
with h5py.File({path!r}, "r") as f:
    group = f["particles/all"]
    times = group["box/edges/time"][()]
    wanted = info.Get(key) if info.Has(key) else times[-1]
    frame = int(numpy.abs(times - wanted).argmin())
    out = self.GetPolyDataOutput()
    position = group["position/value"][frame]
    points = vtkPoints()
    points.SetData(numpy_to_vtk(numpy.ascontiguousarray(position), deep=True))
    out.SetPoints(points)
    n = len(position)
    cells = vtkCellArray()
    cells.SetData(numpy_to_vtkIdTypeArray(numpy.arange(n + 1), deep=True),
                  numpy_to_vtkIdTypeArray(numpy.arange(n), deep=True))
    out.SetVerts(cells)
    for name in group:
        if name in ("box", "position"):
            continue
        item = group[name]
        values = item[()] if isinstance(item, h5py.Dataset) else (
            item["value"][frame])
        array = numpy_to_vtk(numpy.ascontiguousarray(values), deep=True)
        array.SetName(name)
        out.GetPointData().AddArray(array)
    edge = numpy.diag(group["box/edges/value"][frame])
    width = numpy_to_vtk(numpy.array([0.9 * (edge.prod() / (n or 1)) **
                                      (1 / 3)]), deep=True)
    width.SetName("width")
    out.GetFieldData().AddArray(width)
"""


def particles(path):
    """The source of the particles of a file."""
    source = ProgrammableSource(registrationName="particles")
    source.OutputDataSetType = "vtkPolyData"
    source.ScriptRequestInformation = TIMES.format(path=path)
    source.Script = READ.format(path=path)
    UpdatePipeline(proxy=source)
    return source


def show(source):
    """Spheres that nearly touch in a liquid, in the colors of their speed."""
    view = CreateView("RenderView")
    SetActiveView(view)
    view.UseColorPaletteForBackground = 0
    view.Background = [1, 1, 1]
    width = source.GetDataInformation().DataInformation.GetFieldDataInformation(
    ).GetArrayInformation("width").GetComponentRange(0)[0]
    balls = Glyph(Input=source, GlyphType="Sphere", ScaleFactor=width,
                  GlyphMode="All Points")
    balls.ScaleArray = ["POINTS", "No scale array"]
    shown = Show(balls, view)
    if "velocity" in source.PointData.keys():
        ColorBy(shown, ("POINTS", "velocity", "Magnitude"))
        shown.RescaleTransferFunctionToDataRange(False)
    GetAnimationScene().UpdateAnimationUsingDataTimeSteps()
    GetAnimationScene().GoToLast()
    view.CameraPosition = [3, -5, 2.5]
    view.CameraFocalPoint = [0, 0, 0]
    view.CameraViewUp = [0, 0, 1]
    ResetCamera(view)
    return view


def main(arguments):
    path = arguments[0] if arguments else FILE
    if not path:
        sys.exit("usage: pvpython particles.py NAME.h5 [PICTURE.png]")
    view = show(particles(path))
    if len(arguments) > 1:
        Render(view)
        SaveScreenshot(arguments[1], view, ImageResolution=[1200, 1000])


if __name__ in ("__main__", "__vtkconsole__"):
    main(sys.argv[1:])
