"""The graphs of flows: series, profiles, spectra, slices."""

import numpy

from . import frame, labels, panels

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


def profile(axes, r, title, name, over, columns):
    """Columns of a table over height, or over the distance from the wall."""
    table = r.table(name)
    plus = over == "wall_distance_plus"
    x = table[over]
    keep = numpy.arange(len(x))
    if plus:  # the lower half, to its middle
        keep = keep[:(len(x) + 1) // 2]
    for i, column in enumerate(columns):
        axes.plot(x[keep], table[column][keep],
                  color=panels.COLORS[i % len(panels.COLORS)],
                  label=column.removesuffix("_plus").removesuffix("_rms"))
    if plus and x[keep][0] > 0:
        axes.set_xscale("log")
    if plus and "u_plus" in columns:
        wall = numpy.geomspace(max(x[keep][0], 0.1), 12, 50)
        log = numpy.geomspace(8, max(x[keep][-1], 20), 50)
        for y, u in (wall, wall), (log, numpy.log(log) / 0.41 + 5.2):
            axes.plot(y, u, color="0.5", linewidth=0.9, linestyle=(0, (4, 3)))
    axes.margins(x=0.01)
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


def spectrum(axes, r, name):
    table = r.table(name)
    k = table[WAVENUMBER]
    keep = k > 0
    for i, column in enumerate(c for c in sorted(table) if c != WAVENUMBER):
        y = table[column]
        # the highest mode may be nothing but rounding
        there = keep & (y > 1e-14 * y.max(initial=0))
        axes.loglog(k[there], y[there],
                    color=panels.COLORS[i % len(panels.COLORS)], label=column)
    axes.set_xlabel(labels.axis("wavenumber",
                                r.column_unit(name, WAVENUMBER, "")))
    axes.set_ylabel("spectrum")
    panels.legend_above(axes, name.replace("spectra/", "Spectra along ")
                        .replace("_", ", height "))


# ---- slices ----

def normal_of(f):
    """The direction in which there is least to see."""
    cells = f.cells
    return max(range(3), key=lambda d: (cells[d] == 1, -cells[d], d))


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
    axes.set_aspect("equal")
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
    axes.set_title(f"{title.capitalize()} at {frame.AXES[normal]} = "
                   f"{f.centers(normal)[index]:.5g} {unit}".rstrip())
    return ratio
