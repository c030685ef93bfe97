"""Spheres, surfaces and clouds by VTK, off screen: pictures with the same view
and the same extent as those of spheres and rays."""

import os

import numpy

NEWEST_WITH_SCREEN = (9, 4)  # from here on VTK finds a way without a display


def missing():
    """Why VTK cannot be used here, or None."""
    try:
        from vtkmodules.vtkCommonCore import vtkLogger, vtkVersion
        from vtkmodules.util import numpy_support  # noqa: F401
        # Before anything is made: these two bring what draws it.
        import vtkmodules.vtkRenderingOpenGL2  # noqa: F401
        import vtkmodules.vtkRenderingVolumeOpenGL2  # noqa: F401
    except ImportError:
        return "VTK is not installed (pip install pyvista)"
    # It says that there is no display, and goes on.
    vtkLogger.SetStderrVerbosity(vtkLogger.VERBOSITY_ERROR)
    version = (vtkVersion.GetVTKMajorVersion(), vtkVersion.GetVTKMinorVersion())
    # An older one ends the program where there is no display.
    if version < NEWEST_WITH_SCREEN and not os.environ.get("DISPLAY"):
        return (f"VTK {version[0]}.{version[1]} needs a display; 9.4 and later "
                "need none")
    return None


def _arrays():
    from vtkmodules.util import numpy_support
    return numpy_support.numpy_to_vtk


def _image(grid, values):
    from vtkmodules.vtkCommonDataModel import vtkImageData
    image = vtkImageData()
    image.SetDimensions(*values.shape[::-1])
    image.SetOrigin(*(a - b for a, b in zip(grid.start, grid.low)))
    image.SetSpacing(*grid.step)
    # VTK would not keep the numbers alive by itself.
    array = _arrays()(values.ravel(), deep=True)
    array.SetName("values")
    image.GetPointData().SetScalars(array)
    return image


def _soft(actor):
    """A surface that shines a little."""
    actor.GetProperty().SetAmbient(0.30)
    actor.GetProperty().SetDiffuse(0.70)
    actor.GetProperty().SetSpecular(0.25)
    actor.GetProperty().SetSpecularPower(25)
    return actor


def spheres(position, colors, radius):
    """A prop: lit spheres of their radii [n] in their colors [n][3], 0 to 1."""
    from vtkmodules.vtkCommonCore import vtkPoints
    from vtkmodules.vtkCommonDataModel import vtkCellArray, vtkPolyData
    from vtkmodules.vtkRenderingCore import vtkActor
    from vtkmodules.vtkRenderingOpenGL2 import vtkOpenGLSphereMapper
    points = vtkPoints()
    points.SetData(_arrays()(numpy.ascontiguousarray(position, "f4"), deep=True))
    data = vtkPolyData()
    data.SetPoints(points)
    n = len(position)
    cells = vtkCellArray()
    cells.SetData(_ids(numpy.arange(n + 1)), _ids(numpy.arange(n)))
    data.SetVerts(cells)
    shown = _arrays()((colors * 255 + 0.5).astype(numpy.uint8), deep=True)
    shown.SetName("colors")
    data.GetPointData().SetScalars(shown)
    mapper = vtkOpenGLSphereMapper()
    size = _arrays()(numpy.ascontiguousarray(radius, "f4"), deep=True)
    size.SetName("radius")
    data.GetPointData().AddArray(size)
    mapper.SetInputData(data)
    mapper.SetScaleArray("radius")
    actor = vtkActor()
    actor.SetMapper(mapper)
    return _soft(actor)


def _ids(values):
    from vtkmodules.util.numpy_support import numpy_to_vtkIdTypeArray
    return numpy_to_vtkIdTypeArray(values.astype(numpy.int64), deep=True)


def surface(grid, level, shade, colors):
    """A prop: the surface where the field has the level. shade: numbers on the
    same grid, from which `colors` makes [n][3]; or None, and `colors` is one."""
    from vtkmodules.util.numpy_support import vtk_to_numpy
    from vtkmodules.vtkFiltersCore import vtkFlyingEdges3D, vtkProbeFilter
    from vtkmodules.vtkRenderingCore import vtkActor, vtkPolyDataMapper
    contour = vtkFlyingEdges3D()
    contour.SetInputData(_image(grid, grid.values))
    contour.SetValue(0, level)
    contour.ComputeNormalsOn()
    contour.Update()
    data = contour.GetOutput()
    data.GetPointData().SetScalars(None)
    mapper, actor = vtkPolyDataMapper(), vtkActor()
    if shade is None:
        actor.GetProperty().SetColor(*colors)
        mapper.ScalarVisibilityOff()
    elif data.GetNumberOfPoints() > 0:
        probe = vtkProbeFilter()
        probe.SetInputData(data)
        probe.SetSourceData(_image(grid, shade))
        probe.Update()
        normals = data.GetPointData().GetNormals()
        data = probe.GetOutput()
        values = vtk_to_numpy(data.GetPointData().GetArray("values"))
        data.GetPointData().SetScalars(_arrays()(
            (colors(values) * 255 + 0.5).astype(numpy.uint8), deep=True))
        data.GetPointData().SetNormals(normals)
    mapper.SetInputData(data)
    actor.SetMapper(mapper)
    return _soft(actor)


def cloud(grid, low, high, colors, opacity):
    """A prop: the field as a cloud. colors and opacity: functions of values."""
    from vtkmodules.vtkCommonDataModel import vtkPiecewiseFunction
    from vtkmodules.vtkRenderingCore import (vtkColorTransferFunction, vtkVolume,
                                             vtkVolumeProperty)
    from vtkmodules.vtkRenderingVolume import vtkFixedPointVolumeRayCastMapper
    points = numpy.linspace(low, high, 64)
    shades, clear = vtkColorTransferFunction(), vtkPiecewiseFunction()
    for x, color, part in zip(points, colors(points), opacity(points)):
        shades.AddRGBPoint(x, *color)
        clear.AddPoint(x, part)
    look = vtkVolumeProperty()
    look.SetColor(shades)
    look.SetScalarOpacity(clear)
    look.SetScalarOpacityUnitDistance(min(grid.step))
    look.SetInterpolationTypeToLinear()
    mapper = vtkFixedPointVolumeRayCastMapper()
    mapper.SetInputData(_image(grid, grid.values))
    mapper.AutoAdjustSampleDistancesOff()
    mapper.SetSampleDistance(0.5 * min(grid.step))
    mapper.SetImageSampleDistance(1.0)
    volume = vtkVolume()
    volume.SetMapper(mapper)
    volume.SetProperty(look)
    return volume


def _camera(renderer, scene, extent):
    left, right, bottom, top = extent
    r, u, t = scene.rotation
    size = float(numpy.abs(scene.high - scene.low).max())
    center = ((left + right) / 2 * r + (bottom + top) / 2 * u +
              (scene.low[2] + scene.high[2]) / 2 * t)
    camera = renderer.GetActiveCamera()
    camera.ParallelProjectionOn()
    camera.SetFocalPoint(*center)
    camera.SetPosition(*(center + 4 * size * t))
    camera.SetViewUp(*u)
    camera.SetParallelScale((top - bottom) / 2)
    camera.SetClippingRange(size, 8 * size)


def picture(scene, prop, margin):
    """RGBA [row][column][4] and its extent."""
    from vtkmodules.util.numpy_support import vtk_to_numpy
    from vtkmodules.vtkRenderingCore import (vtkRenderer, vtkRenderWindow,
                                             vtkWindowToImageFilter)
    left, right, bottom, top = extent = scene.extent(margin)
    scale = 2 * scene.pixels / max(right - left, top - bottom)
    size = [2 * max(int((b - a) * scale / 2), 1)
            for a, b in ((left, right), (bottom, top))]
    window, renderer = vtkRenderWindow(), vtkRenderer()
    window.SetOffScreenRendering(1)
    window.SetAlphaBitPlanes(1)
    window.SetMultiSamples(0)
    window.SetSize(*size)
    renderer.SetBackground(0, 0, 0)
    renderer.SetBackgroundAlpha(0.0)
    renderer.AddViewProp(prop)
    window.AddRenderer(renderer)
    _camera(renderer, scene, extent)
    window.Render()
    grab = vtkWindowToImageFilter()
    grab.SetInput(window)
    grab.SetInputBufferTypeToRGBA()
    grab.ReadFrontBufferOff()
    grab.Update()
    image = grab.GetOutput()
    width, height, _ = image.GetDimensions()
    rgba = vtk_to_numpy(image.GetPointData().GetScalars()).reshape(
        height, width, 4)[::-1].astype("f4") / 255
    window.Finalize()
    return _halve(rgba), extent


def _halve(rgba):
    """The mean of 2 x 2 pixels, whose colors VTK has multiplied by coverage."""
    h, w = rgba.shape[0] // 2, rgba.shape[1] // 2
    small = rgba.reshape(h, 2, w, 2, 4).mean(axis=(1, 3))
    small[..., :3] /= numpy.maximum(small[..., 3:], 1e-6)
    return small.clip(0, 1)
