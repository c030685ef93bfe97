"""ParaView: the vortices of a flow, a surface of the Q criterion in the colors of
the speed, with all frames.

    pvpython q_surface.py NAME.hdf.series|NAME_000100.hdf [PICTURE.png [LEVEL]]
    paraview --script=q_surface.py        (then set FILE below)

Q is that of the frames (output.fields of the deck), or worked out from their
velocity. ParaView 5.10 and later.
"""

import sys

from paraview.simple import (ColorBy, Contour, CreateView, GetAnimationScene,
                             Gradient, Outline, OpenDataFile, Render,
                             ResetCamera, SaveScreenshot, SetActiveView, Show,
                             UpdatePipeline)

FILE = ""  # where no argument gives it


def vortices(path, level=None):
    """The surface; without a level a tenth of the greatest Q of the last
    frame."""
    frames = OpenDataFile(path)
    if frames is None:
        sys.exit(f"ParaView cannot open {path}")
    times = list(getattr(frames, "TimestepValues", []) or [])
    UpdatePipeline(time=times[-1] if times else 0.0, proxy=frames)
    source = frames
    if "q_criterion" not in frames.PointData.keys():
        source = Gradient(Input=frames, ScalarArray=["POINTS", "velocity"],
                          ComputeGradient=0, ComputeQCriterion=1,
                          QCriterionArrayName="q_criterion")
        UpdatePipeline(time=times[-1] if times else 0.0, proxy=source)
    if level is None:
        level = 0.1 * source.PointData["q_criterion"].GetRange()[1]
    surface = Contour(Input=source, ContourBy=["POINTS", "q_criterion"],
                      Isosurfaces=[level], ComputeNormals=1)
    UpdatePipeline(time=times[-1] if times else 0.0, proxy=surface)
    return frames, surface


def show(frames, surface):
    """In its box, at the last time."""
    view = CreateView("RenderView")
    SetActiveView(view)
    view.UseColorPaletteForBackground = 0
    view.Background = [1, 1, 1]
    box = Show(Outline(Input=frames), view)
    box.AmbientColor = box.DiffuseColor = [0.2, 0.2, 0.2]
    shown = Show(surface, view)
    if "velocity" in surface.PointData.keys():
        ColorBy(shown, ("POINTS", "velocity", "Magnitude"))
        shown.RescaleTransferFunctionToDataRange(False)
    GetAnimationScene().UpdateAnimationUsingDataTimeSteps()
    GetAnimationScene().GoToLast()
    view.CameraPosition = [3, -5, 2.5]
    view.CameraViewUp = [0, 0, 1]
    ResetCamera(view)
    return view


def main(arguments):
    path = arguments[0] if arguments else FILE
    if not path:
        sys.exit("usage: pvpython q_surface.py NAME.hdf.series [PICTURE.png "
                 "[LEVEL]]")
    level = float(arguments[2]) if len(arguments) > 2 else None
    view = show(*vortices(path, level))
    if len(arguments) > 1:
        Render(view)
        SaveScreenshot(arguments[1], view, ImageResolution=[1200, 1000])


if __name__ in ("__main__", "__vtkconsole__"):
    main(sys.argv[1:])
