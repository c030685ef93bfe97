"""All numbers of a file as NumPy's .npz, and as Parquet, piece by piece."""

import os
import zipfile

import h5py
import numpy

from . import chunks, labels
from .errors import PostError, cannot_write
from .opening import text_of

AXES = "xyz"


# ---- npz ----

def _datasets(r):
    """Names and datasets of numbers, each dataset once: steps and times that
    several share by links have the name that is met first."""
    found, seen = [], set()

    def visit(name, item):
        if isinstance(item, h5py.Dataset) and item.dtype.kind in "iufbS" and (
                not name.startswith("run/")):
            address = h5py.h5o.get_info(item.id).addr
            if address not in seen:
                seen.add(address)
                found.append((name, item))

    r.file.visititems(visit)
    return found


def _plain(dtype):
    """Without what h5py notes about texts and names of numbers."""
    return dtype if dtype.fields else numpy.dtype(dtype.str)


def npz(r, output):
    """Arrays under the names that they have in the file, and the decks."""
    count = 0
    try:
        with zipfile.ZipFile(output, "w", zipfile.ZIP_STORED,
                             allowZip64=True) as out:
            for name, data in _datasets(r):
                with out.open(name + ".npy", "w", force_zip64=True) as member:
                    numpy.lib.format.write_array_header_1_0(member, {
                        "descr": numpy.lib.format.dtype_to_descr(
                            _plain(data.dtype)),
                        "fortran_order": False, "shape": data.shape})
                    _copy(data, member)
                count += 1
            for name, text in (("run/deck", r.deck),
                               ("run/resolved_deck", r.resolved_deck)):
                with out.open(name + ".npy", "w") as member:
                    numpy.save(member, numpy.array(text))
    except OSError as error:
        if error.errno is None:  # HDF5's, about the file that is read
            raise
        raise cannot_write(output, error) from None
    print(f"wrote {output} ({labels.count(count, 'array')})")


def _copy(data, out):
    if data.shape == ():
        out.write(numpy.asarray(data[()]).tobytes())
        return
    line = data.dtype.itemsize * int(numpy.prod(data.shape[1:]))
    if data.ndim > 1 and line > chunks.BYTES:  # frames of many particles
        for i in range(data.shape[0]):
            for piece in chunks.rows(data.shape[1], max(
                    1, chunks.BYTES * data.shape[1] // line)):
                out.write(numpy.ascontiguousarray(data[i, piece]).data)
        return
    for piece in chunks.pieces(data):
        out.write(numpy.ascontiguousarray(data[piece]).data)


# ---- Parquet ----

def _pyarrow():
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError as error:
        raise PostError("Parquet needs the Python module pyarrow (pip install "
                        "pyarrow); without it, --to npz has all numbers and "
                        "--to csv the series "
                        f"({' '.join(str(error).split())[:60]})") from None
    return pyarrow


def _split(name, values):
    """(name, column) for each component."""
    if values.ndim == 1:
        return [(name, values)]
    return [(f"{name}_{AXES[i] if values.shape[1] <= 3 else i}", values[:, i])
            for i in range(values.shape[1])]


class _Table:
    """A file that grows by pieces of columns: {name: (values, unit)}."""

    def __init__(self, path):
        self.path, self.writer, self.rows = path, None, 0
        self.arrow = _pyarrow()

    def add(self, columns):
        arrow = self.arrow
        table = arrow.table({k: arrow.array(v.astype(str).tolist() if
                                            v.dtype.kind in "SUO" else v)
                             for k, (v, _) in columns.items()})
        if self.writer is None:
            fields = [table.field(k).with_metadata({"unit": labels.plain(u)})
                      for k, (_, u) in columns.items()]
            self.schema = arrow.schema(fields)
            try:
                self.writer = arrow.parquet.ParquetWriter(self.path, self.schema)
            except OSError as error:
                raise PostError(f"cannot write '{self.path}': "
                                f"{os.strerror(error.errno or 5)}") from None
        self.writer.write_table(table.cast(self.schema))
        self.rows += table.num_rows

    def close(self):
        if self.writer is not None:
            self.writer.close()
            print(f"wrote {self.path} ({labels.count(self.rows, 'row')})")


def _observables(r, path):
    table = _Table(path)
    columns = {"step": (r.row_steps(), ""),
               "time": (r.row_times(), r.time_unit())}
    for name in r.observables:
        columns[name] = (r.observable(name), r.observable_unit(name))
    table.add(columns)
    table.close()


def _particles(r, path):
    """A row for each particle of each frame."""
    table, fields = _Table(path), r.fields()
    constant = r.fields(constant=True)
    for number in range(r.frames):
        step, time = r.frame_steps()[number], r.frame_times()[number]
        for piece in chunks.rows(r.particle_count):
            n = piece.stop - piece.start
            columns = {"frame": (numpy.full(n, number), ""),
                       "step": (numpy.full(n, step), ""),
                       "time": (numpy.full(n, time), r.unit(
                           r.file["particles/all/box/edges/time"], "time"))}
            for name in constant + fields:
                for k, v in _split(name, r.field_piece(name, number, piece)):
                    columns[k] = (v, r.field_unit(name))
            table.add(columns)
    table.close()


def _table(r, name, path):
    group, table = r.file[name], _Table(path)
    columns = {}
    for k in group:
        values = group[k][:r.table_rows(name)]
        if values.dtype.kind in "SO":
            values = numpy.array([text_of(v) for v in values])
        columns[k] = (values, text_of(group[k].attrs.get("unit", "")))
    table.add(columns)
    table.close()


def _bricks(cells):
    """Slices of z and y, of about as many cells each."""
    nx, ny, nz = cells
    if nx * ny <= 1 << 18:
        for z in chunks.rows(nz, max(1, (1 << 18) // (nx * ny))):
            yield z, slice(0, ny)
        return
    for z in chunks.rows(nz, 1):
        for y in chunks.rows(ny, max(1, (1 << 18) // nx)):
            yield z, y


def _grid(f, table, moment=False):
    """A row for each cell, after its moment where there are several."""
    x, y, z = (f.centers(d) for d in range(3))
    unit = f.length()
    for of_z, of_y in _bricks(f.cells):
        heights, widths = z[of_z], y[of_y]
        n = len(x) * len(widths) * len(heights)
        columns = {}
        if moment:
            columns = {"step": (numpy.full(n, f.step), ""),
                       "time": (numpy.full(n, f.time), f.frame_time_unit())}
        columns.update({
            "x": (numpy.tile(x, len(widths) * len(heights)), unit),
            "y": (numpy.tile(numpy.repeat(widths, len(x)), len(heights)), unit),
            "z": (numpy.repeat(heights, len(x) * len(widths)), unit)})
        for name in f.names:
            values = f.dataset(name)[of_z, of_y]
            values = values.reshape(n, *values.shape[3:])
            for k, v in _split(name, values):
                columns[k] = (v, f.field_unit(name))
        table.add(columns)


def parquet_series(frames, output):
    """One file for the frames of a list, piece by piece."""
    _pyarrow()
    from . import frame
    table = _Table(output)
    for path in frames:
        with frame.Frame(path) as f:
            _grid(f, table, moment=True)
    table.close()


def parquet(r, output):
    """Observables, particles, tables: a file each. A grid: its cells."""
    _pyarrow()
    if r.is_frame:
        from . import frame
        table = _Table(output)
        with frame.Frame(r.path) as f:
            _grid(f, table)
        table.close()
        return
    base, ending = os.path.splitext(output)
    if r.rows == 0 and r.frames == 0:
        raise PostError(f"'{r.path}' has no rows and no frames yet")
    if r.rows:
        _observables(r, output)
    if r.frames and r.particle_count:
        _particles(r, f"{base}.particles{ending}")
    for name in [f"statistics/{t}" for t in r.tables()] + r.risk_tables():
        short = name.split("/", 1)[1].replace("/", ".")
        _table(r, name, f"{base}.{short}{ending}")
