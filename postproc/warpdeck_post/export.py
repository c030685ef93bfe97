"""Frames of particles as extended XYZ or as LAMMPS dumps, those of grids as VTK,
observables and tables as CSV; archive does the rest."""

import os
import re

import numpy

from . import archive, chunks, frame, labels, vtr
from .errors import PostError, cannot_write
from .opening import refuse_itself
from .result import Result

# Names of columns as OVITO and ASE know them.
XYZ_NAMES = {"position": "pos", "velocity": "velo", "force": "forces"}
XYZ_LAST = ("id", "mass", "image")


def _output(r, path, output, ending):
    """Where to write. A name that nobody gave may be that of a file which the deck
    reads: NAME.xyz of NAME.toml."""
    if output is None:
        output = os.path.splitext(path)[0] + ending
        name = os.path.basename(output)
        if os.path.exists(output) and re.search(
                rf'"(?:[^"\n]*/)?{re.escape(name)}"', r.resolved_deck or ""):
            raise PostError(f"'{output}' is there, and the deck reads a file of "
                            "that name; give another name with -o")
    refuse_itself(path, output)
    return output


def _open(path):
    try:
        return open(path, "w", encoding="utf-8", newline="\n")
    except OSError as error:
        raise cannot_write(path, error) from None


# ---- extended XYZ ----

def _columns(r):
    """(name in the file, name in XYZ, kind, width) of each column after the
    species."""
    found, there = [], r.fields() + r.fields(constant=True)
    for name in ("position", "velocity", "force", *XYZ_LAST):
        if name in there:
            item = r.file[f"particles/all/{name}"]
            data = item["value"] if name in r.fields() else item
            width = data.shape[2] if name in r.fields() and data.ndim == 3 else 1
            found.append((name, XYZ_NAMES.get(name, name),
                          "R" if data.dtype.kind == "f" else "I", width))
    return found


def _comment(r, frame, columns):
    edges, origin = r.lattice(frame)
    lattice = " ".join(repr(float(x)) for x in edges.ravel())
    start = " ".join(repr(float(x)) for x in origin)
    periodic = " ".join("T" if p else "F" for p in r.periodic())
    properties = "species:S:1" + "".join(
        f":{name}:{kind}:{width}" for _, name, kind, width in columns)
    return (f'Lattice="{lattice}" Origin="{start}" pbc="{periodic}" '
            f"Properties={properties} Step={r.frame_steps()[frame]} "
            f"Time={float(r.frame_times()[frame])!r}")


def _write_rows(out, columns, formats):
    """Lines of columns [n] or [n][width]; 17 digits give a number back."""
    parts = []
    for c in columns:
        c = c.reshape(len(c), -1)
        parts += [c[:, i].tolist() for i in range(c.shape[1])]
    line = " ".join(formats) + "\n"
    out.writelines(line % row for row in zip(*parts))


def _write_frame(r, frame, names, out):
    columns, n = _columns(r), r.particle_count
    symbols = numpy.asarray(names or ["X"], dtype=object)
    formats = ["%s"]
    for _, _, kind, width in columns:
        formats += ["%.17g" if kind == "R" else "%d"] * width
    out.write(f"{n}\n{_comment(r, frame, columns)}\n")
    for piece in chunks.rows(n, 1 << 16):
        species = r.field_piece("species", frame, piece) if names else (
            numpy.zeros(piece.stop - piece.start, dtype=int))
        _write_rows(out, [symbols[species]] + [
            r.field_piece(c[0], frame, piece) for c in columns], formats)


def _need_positions(r):
    if not r.is_md:
        raise PostError(f"'{r.path}' has no particles")
    if r.frames == 0:
        raise PostError(f"'{r.path}' has no frames yet")
    if "position" not in r.fields():
        raise PostError(f"'{r.path}' has no positions: add \"position\" to "
                        "output.fields in the deck")


# ---- text dumps of LAMMPS ----

def _dump_columns(r):
    """(name in the file, names in the dump, format)."""
    found = []
    for name, names in (("position", "x y z"), ("velocity", "vx vy vz"),
                        ("force", "fx fy fz"), ("image", "ix iy iz")):
        if name in r.fields():
            found.append((name, names, "%d" if name == "image" else "%.17g"))
    if "mass" in r.fields(constant=True):
        found.append(("mass", "mass", "%.17g"))
    return found


def _corners(edges, d):
    """How far the corners lie aside in direction d. LAMMPS's bound in x is the
    least of 0, xy, xz and xy + xz, which is the sum of those below 0."""
    return [float(edges[e, d]) for e in range(d + 1, 3)]


def _write_dump(r, frame, out):
    edges, origin = r.lattice(frame)
    flags = " ".join("pp" if p else "ff" for p in r.periodic())
    columns, n = _dump_columns(r), r.particle_count
    tilt = [float(edges[1, 0]), float(edges[2, 0]), float(edges[2, 1])]
    tilted = any(tilt)
    out.write(f"ITEM: TIMESTEP\n{r.frame_steps()[frame]}\n"
              f"ITEM: NUMBER OF ATOMS\n{n}\nITEM: BOX BOUNDS "
              f"{'xy xz yz ' if tilted else ''}{flags}\n")
    for d in range(3):  # of a tilted box, the bounds of all its corners
        below = sum(min(c, 0.0) for c in _corners(edges, d))
        above = sum(max(c, 0.0) for c in _corners(edges, d))
        low, high = float(origin[d]), float(origin[d] + edges[d, d])
        out.write(f"{low + below!r} {high + above!r}"
                  + (f" {tilt[d]!r}" if tilted else "") + "\n")
    out.write("ITEM: ATOMS id type " + " ".join(c[1] for c in columns) + "\n")
    formats = ["%d", "%d"] + [c[2] for c in columns for _ in c[1].split()]
    kinds = r.fields(constant=True)
    for piece in chunks.rows(n, 1 << 16):
        ids = (r.field_piece("id", frame, piece) if "id" in kinds else
               numpy.arange(piece.start, piece.stop) + 1)
        types = (r.field_piece("species", frame, piece) + 1
                 if "species" in kinds else numpy.ones(len(ids), dtype=int))
        _write_rows(out, [ids, types] + [r.field_piece(c[0], frame, piece)
                                         for c in columns], formats)


def _export_lammps(r, output):
    _need_positions(r)
    with _open(output) as out:
        for frame in range(r.frames):
            _write_dump(r, frame, out)
    print(f"wrote {output} ({labels.count(r.frames, 'frame')})")


def _export_xyz(r, output):
    _need_positions(r)
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
    formats = ["%d" if c.dtype.kind in "iu" else
               "%s" if c.dtype.kind in "OU" else "%.17g" for c in columns]
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
    order = labels.in_order(table)
    heads = [_head(c, r.column_unit(name, c)) for c in order]
    path = f"{base}.{name.replace('/', '.')}{ending}"
    _write_csv(path, heads, [table[c] for c in order])


def _quoted(text):
    return '"' + text.replace('"', '""') + '"' if set(text) & set(',"\n') else (
        text)


def _export_book(r, name, output):
    """A table of a risk run, in which a column may be words."""
    base, ending = os.path.splitext(output)
    heads, rows = r.cells(name, r.table_rows(name))
    columns = [numpy.array([_quoted(v) if isinstance(v, str) else v
                            for v in column], dtype=object if isinstance(
                                column[0], str) else None)
               for column in zip(*rows)]
    if columns:
        _write_csv(f"{base}.{name.split('/', 1)[1]}{ending}", heads, columns)


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
    for name in r.risk_tables():
        _export_book(r, name, output)
    for name in r.probes:
        _export_probe(r, name, output)


ENDINGS = {"lammps": ".lammpstrj"}


def _default(r):
    return "vtr" if r.is_frame else "xyz" if r.is_md else "csv"


def _check_kind(r, to):
    """Grids go to some kinds of files, all else to others."""
    if to in ("npz", "parquet"):
        return
    if r.is_frame != (to == "vtr"):
        raise PostError(f"'{r.path}' is " + (
            "a frame of a grid, which goes to vtr, npz or parquet" if r.is_frame
            else "no frame of a grid, and cannot go to vtr"))


def run(path, to, output):
    """Write; returns the exit status."""
    if frame.is_series(path):
        return vtr.run_series(path, to, output)
    with Result(path) as r:
        to = to or _default(r)
        _check_kind(r, to)
        output = _output(r, path, output, ENDINGS.get(to, "." + to))
        if to != "vtr":
            {"xyz": _export_xyz, "csv": _export_csv, "lammps": _export_lammps,
             "npz": archive.npz, "parquet": archive.parquet}[to](r, output)
    if to == "vtr":
        vtr.run(path, output)
    return 0
