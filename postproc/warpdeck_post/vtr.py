"""Frames of grids as VTK's RectilinearGrid, which may be stretched: cells with
their true sizes. And a list of them, .pvd."""

import base64
import os

import numpy

from . import frame
from .errors import PostError

_TYPES = {"f4": "Float32", "f8": "Float64"}


def _array(name, values):
    """A DataArray of a field [n] or [n][components], or of a coordinate."""
    values = numpy.ascontiguousarray(values)
    if values.dtype.kind != "f":
        values = values.astype("f8")
    values = values.astype(values.dtype.newbyteorder("<"))
    width = values.shape[1] if values.ndim == 2 else 1
    raw = values.tobytes()
    head = numpy.array([len(raw)], dtype="<u8").tobytes()
    kind = _TYPES[f"f{values.dtype.itemsize}"]
    text = base64.b64encode(head + raw).decode("ascii")
    return (f'<DataArray type="{kind}" Name="{name}" '
            f'NumberOfComponents="{width}" format="binary">{text}'
            "</DataArray>\n")


def _write(f, out):
    extent = " ".join(f"0 {n}" for n in f.cells)
    out.write('<?xml version="1.0"?>\n<VTKFile type="RectilinearGrid" '
              'version="1.0" byte_order="LittleEndian" header_type="UInt64">\n'
              f'<RectilinearGrid WholeExtent="{extent}">\n'
              '<FieldData><DataArray type="Float64" Name="TimeValue" '
              f'NumberOfTuples="1" format="ascii">{f.time!r}</DataArray>'
              f'</FieldData>\n<Piece Extent="{extent}">\n<CellData>\n')
    for name in f.names:
        values = f.values(name)
        flat = (values.reshape(-1, values.shape[3]) if values.ndim == 4 else
                values.reshape(-1))
        out.write(_array(name, flat))
    out.write("</CellData>\n<Coordinates>\n")
    for d in range(3):
        out.write(_array(frame.AXES[d], f.faces(d)))
    out.write("</Coordinates>\n</Piece>\n</RectilinearGrid>\n</VTKFile>\n")


def _open(path):
    try:
        return open(path, "w", encoding="utf-8", newline="\n")
    except OSError as error:
        raise PostError(f"cannot write '{path}': {error.strerror}") from None


def run(path, output):
    """One frame."""
    with frame.Frame(path) as f, _open(output) as out:
        _write(f, out)
    print(f"wrote {output}")


def run_series(path, to, output):
    """All frames of a list, beside `output`, and the list itself as .pvd."""
    if to not in (None, "vtr"):
        raise PostError(f"'{path}' is a list of frames, which go to vtr")
    base = os.path.splitext(output)[0] if output else (
        path[:-len(frame.SERIES)])
    entries = []
    for one, time in frame.frames_of(path):
        number = os.path.splitext(os.path.basename(one))[0].rpartition("_")[2]
        name = f"{base}_{number}.vtr"
        run(one, name)
        entries.append(f'<DataSet timestep="{time!r}" '
                       f'file="{os.path.basename(name)}"/>\n')
    with _open(base + ".pvd") as out:
        out.write('<?xml version="1.0"?>\n<VTKFile type="Collection" '
                  'version="0.1">\n<Collection>\n' + "".join(entries) +
                  "</Collection>\n</VTKFile>\n")
    print(f"wrote {base}.pvd")
    return 0
