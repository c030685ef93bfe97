"""Frames of grids as VTK's RectilinearGrid, which may be stretched: cells with
their true sizes. And a list of them, .pvd."""

import base64
import os

import numpy

from . import archive, chunks, frame
from .errors import PostError, cannot_write

_TYPES = {"f4": "Float32", "f8": "Float64"}


def _array(out, name, dataset, width):
    """Write a DataArray of a field [z][y][x], or with components, or of a
    coordinate, piece by piece."""
    kind = dataset.dtype if dataset.dtype.kind == "f" else numpy.dtype("f8")
    little = kind.newbyteorder("<")
    total = kind.itemsize * int(numpy.prod(dataset.shape))
    out.write(f'<DataArray type="{_TYPES[f"f{kind.itemsize}"]}" Name="{name}" '
              f'NumberOfComponents="{width}" format="binary">')
    rest = numpy.array([total], dtype="<u8").tobytes()
    for piece in chunks.pieces(dataset):
        raw = rest + dataset[piece].astype(little).tobytes()
        whole = len(raw) // 3 * 3  # three bytes are four letters
        out.write(base64.b64encode(raw[:whole]).decode("ascii"))
        rest = raw[whole:]
    out.write(base64.b64encode(rest).decode("ascii") + "</DataArray>\n")


def _write(f, out):
    extent = " ".join(f"0 {n}" for n in f.cells)
    out.write('<?xml version="1.0"?>\n<VTKFile type="RectilinearGrid" '
              'version="1.0" byte_order="LittleEndian" header_type="UInt64">\n'
              f'<RectilinearGrid WholeExtent="{extent}">\n'
              '<FieldData><DataArray type="Float64" Name="TimeValue" '
              f'NumberOfTuples="1" format="ascii">{f.time!r}</DataArray>'
              f'</FieldData>\n<Piece Extent="{extent}">\n<CellData>\n')
    for name in f.names:
        data = f.dataset(name)
        _array(out, name, data, data.shape[3] if data.ndim == 4 else 1)
    out.write("</CellData>\n<Coordinates>\n")
    for d in range(3):
        _array(out, frame.AXES[d], f.faces(d), 1)
    out.write("</Coordinates>\n</Piece>\n</RectilinearGrid>\n</VTKFile>\n")


def _open(path):
    try:
        return open(path, "w", encoding="utf-8", newline="\n")
    except OSError as error:
        raise cannot_write(path, error) from None


def run(path, output):
    """One frame."""
    with frame.Frame(path) as f, _open(output) as out:
        _write(f, out)
    print(f"wrote {output}")


def run_series(path, to, output):
    """All frames of a list, beside `output`, and the list itself as .pvd."""
    base = os.path.splitext(output)[0] if output else (
        path[:-len(frame.SERIES)])
    if to == "parquet":
        archive.parquet_series([one for one, _ in frame.frames_of(path)
                                if os.path.exists(one)],
                               output or base + ".parquet")
        return 0
    if to not in (None, "vtr"):
        raise PostError(f"'{path}' is a list of frames, which go to vtr or "
                        "parquet; a frame goes to npz")
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
