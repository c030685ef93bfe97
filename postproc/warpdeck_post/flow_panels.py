"""The graphs of flows: series, profiles, spectra, slices."""

import re

import numpy

from . import frame, labels, panels
from .errors import PostError

# Series worth a graph in an overview, in this order.
FIRST = ("kinetic_energy", "dissipation", "enstrophy", "flow_rate",
         "wall_friction", "friction_reynolds", "nusselt")
# Less so: of the scheme, not of the flow.
LAST = ("divergence", "cfl", "timestep")
WAVENUMBER = "wavenumber"  # the column of a spectrum
DISTINCT = "viridis"
SIGNED = "RdBu_r"


def series_names(r, most=None):
    """Observables for graphs, the more telling ones first."""
    def place(name):
        for i, start in enumerate(FIRST):
            if name.startswith(start):
                return i
        return len(FIRST) + (name.startswith(LAST))
    names = sorted(r.observables, key=lambda n: (place(n), n))
    if most is None:
        return names
    # What is zero but for rounding tells nothing.
    return [n for n in names if not n.startswith(LAST) and
            numpy.abs(r.observable(n)).max(initial=0) > 1e-12][:most]


# ---- profiles and spectra ----

def height_of(table):
    """The column that the others stand over: a coordinate, or a wavenumber."""
    return next((c for c in ("x", "y", "z", WAVENUMBER) if c in table), None)


def profiles(r):
    """Groups of columns that share an axis: (title, columns, of the walls)."""
    found = []
    for name in r.tables():
        table = r.table(name)
        over = height_of(table)
        if over in (None, WAVENUMBER):
            continue
        for title, columns, plus in (
                ("Mean velocity", ("u", "v", "w"), False),
                ("Fluctuations (rms)", ("u_rms", "v_rms", "w_rms"), False),
                ("Reynolds stresses", ("uv", "uw", "vw"), False),
                ("Mean velocity in wall units", ("u_plus", "v_plus"), True),
                ("Fluctuations in wall units",
                 ("u_rms_plus", "v_rms_plus", "w_rms_plus"), True)):
            there = [c for c in columns if c in table and
                     numpy.abs(table[c]).max(initial=0) > 1e-12]
            if plus:
                over = "wall_distance_plus"
            if there and over in table:
                found.append((title, name, over, there))
    return found


def references(path):
    """Columns of numbers from somebody else's tables, by name: a CSV file with
    names in its first line that is no comment (or in its last comment), or the
    columns that blanks part."""
    try:
        with open(path, encoding="utf-8") as f:
            lines = [line.strip() for line in f if line.strip()]
    except (OSError, UnicodeDecodeError) as error:
        raise PostError(f"cannot read '{path}': "
                        f"{getattr(error, 'strerror', 'not a text')}") from None
    heads, rows = None, []
    for line in lines:
        words = re.split(r"\s*,\s*|\s+", line.lstrip("#%! \t"))
        if words == [""]:
            continue
        try:
            row = [float(w) for w in words]
        except ValueError:
            heads = words
            continue
        if line[0] not in "#%!":
            rows.append(row)
    if not rows or any(len(row) != len(rows[0]) for row in rows):
        raise PostError(f"'{path}' is no table of numbers: rows of as many "
                        "numbers, parted by commas or blanks")
    if heads is None or len(heads) != len(rows[0]):
        raise PostError(f"'{path}' has no line with {len(rows[0])} names above "
                        "its numbers")
    return dict(zip(heads, numpy.array(rows).T))


# Names in the tables of others: of Moser, Kim and Mansour.
_ALIASES = {"y+": "wall_distance_plus", "Umean": "u_plus"}


def add_references(axes, table, over, columns):
    """Points of each column that has the name of a curve, up to the end of the
    axis. Returns how many columns were there."""
    named = {_ALIASES.get(k, k): v for k, v in table.items()}
    if over not in named:
        return 0
    here = [(i, c) for i, c in enumerate(columns)
            if c in named or any(k.startswith(c + "_Re") for k in named)]
    left, right = axes.get_xlim()
    for i, column in here:
        for j, key in enumerate(k for k in named if k == column or
                                k.startswith(column + "_Re")):
            x = named[over]
            keep = (x >= left) & (x <= right)
            axes.plot(x[keep], named[key][keep], linestyle="", marker="osv^D"
                      [j % 5], markersize=4, markerfacecolor="none",
                      color=panels.COLORS[(i + j) % len(panels.COLORS)],
                      label=f"{key} (reference)")
    return len(here)


# Ghia, Ghia and Shin, J. Comput. Phys. 48, 387 (1982), table I: u on the
# vertical center line of the cavity, where it is least, at its center and
# where it is greatest below the lid, for the Reynolds numbers of that table.
GHIA = {100: ((0.1719, 0.4531, 0.5, 0.7344, 0.9531),
              (-0.10150, -0.21090, -0.20581, 0.00332, 0.68717)),
        400: ((0.1016, 0.2813, 0.5, 0.7344, 0.9531),
              (-0.14612, -0.32726, -0.11477, 0.16256, 0.55892)),
        1000: ((0.0547, 0.1719, 0.2813, 0.5, 0.7344, 0.9531),
               (-0.18109, -0.38289, -0.27805, -0.06080, 0.18719, 0.46604))}


def line_of(f, over, component):
    """Positions along the middle of the frame in direction `over`, and the
    component of the velocity there, linearly between centers."""
    d = "xyz".index(over)
    v = f.plane_line("velocity", d, [numpy.mean(f.faces(k)[[0, -1]])
                                     for k in range(3)])
    return f.centers(d), v[:, component]


def line(axes, f, over, component, table=None, reynolds=None):
    """A component of the velocity on a center line; with points of a table, or
    of Ghia's where the Reynolds number is one of its."""
    x, u = line_of(f, over, component)
    name = "uvw"[component]
    axes.plot(x, u, color=panels.COLORS[0], label=name)
    axes.axhline(0, color="0.6", linewidth=0.8)
    axes.set_xlim(*f.faces("xyz".index(over))[[0, -1]])
    if table is not None:
        fits = f"{name}_Re{reynolds}"
        if fits in table:
            table = {over: table[over], fits: table[fits]}
        if not add_references(axes, table, over, [name]):
            raise PostError("the reference has no columns "
                            f"{over} and {name}")
    elif reynolds in GHIA:
        axes.plot(*GHIA[reynolds], linestyle="", marker="o", markersize=5,
                  markerfacecolor="none", color=panels.COLORS[1],
                  label=f"Ghia, Ghia and Shin (1982), Re = {reynolds}")
    axes.set_xlabel(labels.axis(over, f.length()))
    axes.set_ylabel(labels.axis(name, f.field_unit("velocity")))
    others = [k for k in "xyz" if k != over]
    panels.legend_above(axes, f"Velocity {name} along {over}, in the middle of "
                        + " and ".join(others))


def profile(axes, r, title, name, over, columns, others=None):
    """Columns of a table over height, or over the distance from the wall; with
    points of the same names from a table of references."""
    table = r.table(name)
    plus = over == "wall_distance_plus"
    x = table[over]
    keep = numpy.arange(len(x))
    if plus:  # the lower half, to its middle
        keep = keep[:(len(x) + 1) // 2]
    for i, column in enumerate(columns):
        axes.plot(x[keep], table[column][keep], **panels.line(i),
                  label=column.removesuffix("_plus").removesuffix("_rms"))
    if plus and x[keep][0] > 0:
        axes.set_xscale("log")
    if plus and "u_plus" in columns:
        wall = numpy.geomspace(max(x[keep][0], 0.1), 12, 50)
        log = numpy.geomspace(8, max(x[keep][-1], 20), 50)
        for y, u in (wall, wall), (log, numpy.log(log) / 0.41 + 5.2):
            axes.plot(y, u, color="0.5", linewidth=0.9, linestyle=(0, (4, 3)))
    axes.margins(x=0.01)
    if others is not None:
        add_references(axes, others, over, columns)
    unit = r.column_unit(name, columns[0], "")
    first = columns[0].removesuffix("_plus")
    axes.set_xlabel("distance from the wall, in wall units" if plus else
                    labels.axis(over, r.column_unit(name, over, "length")))
    axes.set_ylabel(labels.axis(
        "velocity" if first in ("u", "v", "w") else
        "rms" if first.endswith("_rms") else "stress", unit))
    panels.legend_above(axes, title)


def spectra(r):
    """Tables over the wavenumber."""
    return [name for name in r.tables()
            if height_of(r.table(name)) == WAVENUMBER]


def _guide(axes, k, y):
    """The slope -5/3 of the inertial range (Kolmogorov 1941), above the
    curves, over the middle of the wavenumbers."""
    if len(k) < 4:
        return
    ends = k[0] * (k[-1] / k[0]) ** numpy.array([0.15, 0.75])
    slope = ends ** (-5 / 3)
    there = (k >= ends[0]) & (k <= ends[1])
    if not there.any():
        return
    lift = 2.5 * (y[there] * k[there] ** (5 / 3)).max()
    axes.plot(ends, lift * slope, color="0.3", linewidth=1.0,
              linestyle=(0, (4, 3)), label=r"$\propto k^{-5/3}$")


def spectrum(axes, r, name):
    """Columns of a table over the wavenumber, with the slope -5/3."""
    table = r.table(name)
    k = table[WAVENUMBER]
    keep = k > 0
    most, longest = None, ()
    for i, column in enumerate(c for c in sorted(table) if c != WAVENUMBER):
        y = table[column]
        # the highest mode may be nothing but rounding
        there = keep & (y > 1e-14 * y.max(initial=0))
        axes.loglog(k[there], y[there], **panels.line(i), label=column)
        if most is None or y.max(initial=0) > most:
            most, longest = y.max(initial=0), (k[there], y[there])
    if len(longest):
        _guide(axes, *longest)
    axes.set_xlabel(labels.axis("wavenumber",
                                r.column_unit(name, WAVENUMBER, "")))
    axes.set_ylabel(labels.axis("spectrum", r.column_unit(name, next(
        c for c in sorted(table) if c != WAVENUMBER), "")))
    panels.legend_above(axes, name.replace("spectra/", "Spectra along ")
                        .replace("_", ", height "))


# ---- slices ----

def first_field(f):
    """The one that a slice shows when none is named."""
    return "velocity" if "velocity" in f.names else f.names[0]


def normal_of(f):
    """The direction in which there is least to see."""
    cells = f.cells
    walls = 2 if f.stretched else None  # what is near them is worth seeing
    return max(range(3), key=lambda d: (cells[d] == 1, d != walls, -cells[d],
                                        d))


def nearest(f, normal, at):
    """The plane of cells nearest to `at`; the middle one."""
    z = f.centers(normal)
    if at is None:
        return len(z) // 2
    return int(numpy.abs(z - at).argmin())


def _even(x, n):
    return numpy.linspace(x[0], x[-1], n)


def _resample(plane, a, b, ea, eb):
    """From centers (b, a) to evenly spaced points, linearly."""
    rows = numpy.array([numpy.interp(ea, a, row) for row in plane])
    return numpy.array([numpy.interp(eb, b, column)
                        for column in rows.T]).T


def _streamlines(axes, f, normal, index, pa, pb):
    a, b = f.centers(pa), f.centers(pb)
    if "velocity" not in f.names or len(a) < 4 or len(b) < 4:
        return
    v = f.plane("velocity", normal, index).astype(float)
    if not numpy.abs(v[..., [pa, pb]]).max() > 0:
        return
    ea, eb = _even(a, min(len(a), 200)), _even(b, min(len(b), 200))
    axes.streamplot(ea, eb, _resample(v[..., pa], a, b, ea, eb),
                    _resample(v[..., pb], a, b, ea, eb), color=(0, 0, 0, 0.55),
                    linewidth=0.6, density=1.3, arrowsize=0.7)


def slice_(axes, f, name, normal, at, matplotlib):
    """A plane of cells in colors, each cell in its size, with streamlines of
    the velocity in the plane."""
    index = nearest(f, normal, at)
    pa, pb = (d for d in range(3) if d != normal)
    field, component = f.scalar(name)
    plane = f.plane(field, normal, index).astype(float)
    title = field.replace("_", " ")
    if component is not None:
        plane, title = plane[..., component], f"{title}, {frame.AXES[component]}"
    elif plane.ndim == 3:
        plane = numpy.sqrt((plane ** 2).sum(axis=-1))
        title = f"magnitude of {title}"
    low, high = float(plane.min()), float(plane.max())
    signed = low < 0 < high
    span = max(-low, high)
    shown = axes.pcolormesh(
        f.faces(pa), f.faces(pb), plane, cmap=SIGNED if signed else DISTINCT,
        vmin=-span if signed else low, vmax=span if signed else high,
        rasterized=True)
    _streamlines(axes, f, normal, index, pa, pb)
    axes.grid(False)
    axes.set_aspect("equal", anchor="N")
    axes.set_xlim(f.faces(pa)[[0, -1]])
    axes.set_ylim(f.faces(pb)[[0, -1]])
    unit = f.length()
    axes.set_xlabel(labels.axis(frame.AXES[pa], unit))
    axes.set_ylabel(labels.axis(frame.AXES[pb], unit))
    ratio = numpy.ptp(axes.get_ylim()) / numpy.ptp(axes.get_xlim())
    if ratio < 0.6:
        bar = axes.figure.colorbar(shown, ax=axes, orientation="horizontal",
                                   aspect=40, pad=0.02, shrink=0.8)
    else:  # as high as the plane
        bar = axes.figure.colorbar(
            shown, cax=axes.inset_axes([1.02, 0.0, 0.035, 1.0]))
    bar.set_label(labels.axis(title, f.field_unit(field)))
    bar.outline.set_linewidth(0.5)
    axes.set_title(f"{labels.sentence(title)} at {frame.AXES[normal]} = "
                   f"{f.centers(normal)[index]:.5g} {unit}".rstrip())
    return ratio


def reynolds(f):
    """Of a cavity with a lid of speed 1 and an edge of 1, or None: the deck's
    1 / viscosity."""
    try:
        nu = float((f.deck_value("fluid", "viscosity") or "").split("#")[0])
    except ValueError:
        return None
    lid = f.deck_section("fluid.boundary.y_max").get("velocity", "")
    walls = all(f.deck_section(f"fluid.boundary.{name}").get("type") ==
                '"wall"' for name in ("x", "y_min", "y_max"))
    unit = all(abs(numpy.ptp(f.faces(d)[[0, -1]]) - 1) < 1e-9 for d in (0, 1))
    moves = re.match(r"\[\s*1(\.0*)?\s*,", lid)
    return round(1 / nu) if walls and unit and nu > 0 and moves else None
