"""Frames of particles as extended XYZ, those of grids as VTK, observables and
tables as CSV."""

import os

import numpy

from . import frame, labels, vtr
from .errors import PostError
from .result import Result

# Names of columns as OVITO and ASE know them.
XYZ_NAMES = {"position": "pos", "velocity": "velo", "force": "forces"}
XYZ_LAST = ("id", "mass", "image")


def _output(path, output, ending):
    output = output or os.path.splitext(path)[0] + ending
    if os.path.exists(output) and os.path.samefile(path, output):
        raise PostError("the output would replace the file itself")
    return output


def _open(path):
    try:
        return open(path, "w", encoding="utf-8", newline="\n")
    except OSError as error:
        raise PostError(f"cannot write '{path}': {error.strerror}") from None


# ---- extended XYZ ----

def _columns(r, frame):
    """(name, kind, array) for each column after the species."""
    found = []
    for name in ("position", "velocity", "force", *XYZ_LAST):
        values = r.field(name, frame)
        if values is not None:
            kind = "R" if values.dtype.kind == "f" else "I"
            found.append((XYZ_NAMES.get(name, name), kind,
                          values.reshape(len(values), -1)))
    return found


def _comment(r, frame, columns):
    edges, origin = r.box(frame)
    lattice = " ".join(repr(float(x)) for x in numpy.diag(edges).ravel())
    start = " ".join(repr(float(x)) for x in origin)
    periodic = " ".join("T" if p else "F" for p in r.periodic())
    properties = "species:S:1" + "".join(
        f":{name}:{kind}:{values.shape[1]}" for name, kind, values in columns)
    return (f'Lattice="{lattice}" Origin="{start}" pbc="{periodic}" '
            f"Properties={properties} Step={r.frame_steps()[frame]} "
            f"Time={float(r.frame_times()[frame])!r}")


def _write_frame(r, frame, names, out):
    columns = _columns(r, frame)
    species = r.field("species")
    n = len(columns[0][2])
    symbols = numpy.asarray(names, dtype=object)[species] if (
        species is not None and n) else numpy.full(n, "X", dtype=object)
    formats = ["%s"]
    for _, kind, values in columns:
        # 17 digits give the same number back
        formats += ["%.17g" if kind == "R" else "%d"] * values.shape[1]
    table = numpy.empty((n, len(formats)), dtype=object)
    table[:, 0] = symbols
    at = 1
    for _, _, values in columns:
        table[:, at:at + values.shape[1]] = values
        at += values.shape[1]
    out.write(f"{n}\n{_comment(r, frame, columns)}\n")
    numpy.savetxt(out, table, fmt=formats)


def _export_xyz(r, output):
    if r.frames == 0:
        raise PostError(f"'{r.path}' has no frames yet")
    if "position" not in r.fields():
        raise PostError(f"'{r.path}' has no positions: add \"position\" to "
                        "output.fields in the deck")
    names = [name.replace(" ", "_") for name in r.species_names()]
    with _open(output) as out:
        for frame in range(r.frames):
            _write_frame(r, frame, names, out)
    print(f"wrote {output} ({labels.count(r.frames, 'frame')})")


# ---- CSV ----

def _head(name, unit):
    unit = labels.plain(unit)
    return f"{name} [{unit}]" if unit else name


def _write_csv(path, heads, columns):
    formats = ["%d" if c.dtype.kind in "iu" else "%.17g" for c in columns]
    with _open(path) as out:
        out.write(",".join(heads) + "\n")
        table = numpy.empty((len(columns[0]), len(columns)), dtype=object)
        for i, column in enumerate(columns):
            table[:, i] = column
        numpy.savetxt(out, table, fmt=formats, delimiter=",")
    print(f"wrote {path} ({labels.count(len(columns[0]), 'row')})")


def _export_observables(r, output):
    heads = ["step", _head("time", r.time_unit())]
    columns = [r.row_steps(), r.row_times()]
    for name in r.observables:
        heads.append(_head(name, r.observable_unit(name)))
        columns.append(r.observable(name))
    _write_csv(output, heads, columns)


def _export_table(r, name, output):
    base, ending = os.path.splitext(output)
    table = r.table(name)
    over = ("r", "time", "x", "y", "z", "wavenumber")
    order = sorted(table, key=lambda c: (c not in over, c))
    kinds = {"r": "length", "time": "time", "g": ""}
    heads = [_head(c, r.column_unit(name, c, kinds.get(c, "area")))
             for c in order]
    path = f"{base}.{name.replace('/', '.')}{ending}"
    _write_csv(path, heads, [table[c] for c in order])


def _export_probe(r, name, output):
    base, ending = os.path.splitext(output)
    steps, times, values = r.probe(name)
    heads, columns = ["step", _head("time", r.time_unit())], [steps, times]
    for field, v in values.items():
        unit = r.probe_unit(name, field)
        parts = [(field, v)] if v.ndim == 1 else [
            (f"{field}_{axis}", v[:, i]) for i, axis in enumerate("xyz")]
        heads += [_head(title, unit) for title, _ in parts]
        columns += [part for _, part in parts]
    _write_csv(f"{base}.probes.{name}{ending}", heads, columns)


def _export_csv(r, output):
    if r.rows == 0:
        raise PostError(f"'{r.path}' has no rows of observables yet")
    _export_observables(r, output)
    for name in r.tables():
        _export_table(r, name, output)
    for name in r.probes:
        _export_probe(r, name, output)


def run(path, to, output):
    """Write; returns the exit status."""
    if frame.is_series(path):
        return vtr.run_series(path, to, output)
    with Result(path) as r:
        to = to or ("vtr" if r.is_frame else
                    "xyz" if r.is_md else "csv")
        if r.is_frame != (to == "vtr"):
            raise PostError(f"'{path}' is " + (
                "a frame of a grid, which goes to vtr" if r.is_frame else
                "no frame of a grid, and cannot go to vtr"))
        output = _output(path, output, "." + to)
        if to == "xyz":
            _export_xyz(r, output)
        elif to == "csv":
            _export_csv(r, output)
    if to == "vtr":
        vtr.run(path, output)
    return 0
