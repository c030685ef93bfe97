"""The graphs of what a run of particles averages on its way: velocity
correlations and spectra, profiles and maps, viscosity, structure, bonds; and
walks of replicas over temperatures.

Each takes axes and fills them.
"""

import numpy

from . import curves, labels, panels

VACF, VISCOSITY = "velocity_autocorrelation", "green_kubo"
SLABS, COLUMNS = "profile/slabs", "map/columns"
AXES = "xyz"
# The vibrations of matter are counted in THz: factor, and its inverse's name.
_THZ = {"fs-1": (1e3, "ps"), "ps-1": (1.0, "ps")}


def has(r, name):
    """Whether there is a table with rows."""
    return name in r.tables() and max(
        r.table_columns(name).values(), default=0) > 0


def _by_species(table, over):
    """Columns of all particles and by species; one species is all."""
    names = [k for k in table if k not in ("all", over)]
    return (["all"] if "all" in table else []) + (
        sorted(names) if len(names) != 1 or "all" not in table else [])


def _lines(axes, x, table, names, title):
    """A curve for each column, with a legend where there are several."""
    for i, name in enumerate(names):
        panels.curve(axes, x, table[name], i, name.replace("_", " "))
    axes.margins(x=0.01)
    if len(names) > 1:
        panels.legend_above(axes, title)
    else:
        axes.set_title(title)


def _zero(axes):
    axes.axhline(0.0, color="0.6", linewidth=0.8)


def _note(axes, text):
    """Below a curve that has risen."""
    axes.text(0.98, 0.06, text, transform=axes.transAxes, ha="right",
              fontsize=8.5, color="0.3")


# ---- velocities ----

def velocity_names(r):
    """What can be drawn of velocity correlations: functions of axes."""
    found = []
    for name, graph in (("normalized", correlation), ("spectrum", spectrum),
                        ("diffusion", diffusion)):
        if has(r, f"{VACF}/{name}"):
            found.append(graph)
    # of one species it is the spectrum
    if has(r, f"{VACF}/density_of_states") and len(_by_species(
            r.table_columns(f"{VACF}/spectrum"), "frequency")) > 1:
        found.append(states)
    return found


def correlation(axes, r):
    """C(t) / C(0)."""
    name = f"{VACF}/normalized"
    table = r.table(name)
    names = _by_species(table, "time")
    end = max(curves.reach(table[k]) for k in names)
    end = min(len(table["time"]), max(end, 8))
    _zero(axes)
    _lines(axes, table["time"][:end], {k: table[k][:end] for k in names}, names,
           "Velocity autocorrelation")
    axes.set_xlim(left=0.0)
    axes.set_xlabel(labels.axis("time", r.column_unit(name, "time")))
    axes.set_ylabel("C(t) / C(0)")


def _frequencies(r, name, table, column):
    """In THz where the unit is of seconds; the factor of densities then."""
    unit = r.raw_unit(name, "frequency")
    if unit in _THZ:
        factor, inverse = _THZ[unit]
        return table["frequency"] * factor, "THz", factor, inverse
    return (table["frequency"], r.column_unit(name, "frequency"), 1,
            r.column_unit(name, column))


def _over_frequency(axes, r, name, names, title, label):
    table = r.table(name)
    x, unit, factor, inverse = _frequencies(r, name, table, names[0])
    values = {k: table[k] / factor for k in names}
    end = max(curves.reach(values[k], 0.01) for k in names)
    end = min(len(x), max(end + end // 8 + 1, 8))
    _zero(axes)
    _lines(axes, x[:end], {k: v[:end] for k, v in values.items()}, names, title)
    axes.set_xlim(left=0.0)
    axes.set_xlabel(labels.axis("frequency", unit))
    axes.set_ylabel(labels.axis(label, inverse))


def spectrum(axes, r):
    """The power spectrum of velocities."""
    name = f"{VACF}/spectrum"
    _over_frequency(axes, r, name, _by_species(r.table(name), "frequency"),
                    "Spectrum of velocities", "spectrum")


def states(axes, r):
    """The density of states, where masses differ."""
    _over_frequency(axes, r, f"{VACF}/density_of_states", ["density"],
                    "Density of states", "density")


def diffusion(axes, r):
    """The running integral, D(t)."""
    name = f"{VACF}/diffusion"
    table = r.table(name)
    names = _by_species(table, "time")
    _zero(axes)
    _lines(axes, table["time"], table, names, "Diffusion coefficient")
    unit = r.column_unit(name, names[0])
    axes.set_xlim(left=0.0)
    axes.set_xlabel(labels.axis("time", r.column_unit(name, "time")))
    axes.set_ylabel(labels.axis("D(t)", unit))
    _note(axes, "at the end: " + ", ".join(
        (f"{k} " if len(names) > 1 else "") + f"{table[k][-1]:.4g}"
        for k in names[:4]))


# ---- profiles ----

def profile_graphs(r):
    """What slabs can show: (title, columns, label, kind of unit)."""
    if not has(r, SLABS):
        return []
    table = r.table(SLABS)
    densities = ["number_density"] + sorted(
        k for k in table if k.startswith("number_density_"))
    found = []
    for title, columns, label, kind in (
            ("Density", densities, "number density", "number_density"),
            ("Temperature", ["temperature"], "temperature", "temperature"),
            ("Pressure", [f"pressure_{a}{a}" for a in AXES], "pressure",
             "pressure"),
            ("Mean velocity", [f"velocity_{a}" for a in AXES], "velocity",
             "velocity")):
        columns = [c for c in columns if c in table]
        if columns and any(numpy.isfinite(table[c]).any() for c in columns):
            found.append((title, columns, label, kind))
    return found


def _to_faces(middles):
    """The middles of slabs of one height, and the outer faces of the first and
    the last."""
    half = (middles[1] - middles[0]) / 2 if len(middles) > 1 else middles[0]
    return numpy.r_[middles[0] - half, middles, middles[-1] + half]


def profile(axes, r, title, columns, label, kind):
    """Columns over the slabs' places, as steps as high as the slabs."""
    table = r.table(SLABS)
    over = next(a for a in AXES if a in table)
    if kind in ("velocity", "pressure"):
        _zero(axes)
    names = [c.removeprefix(kind + "_").replace(kind, "all").replace("_", " ")
             for c in columns]
    if kind == "pressure":  # which of them is across the slabs
        names = [n + (" (across)" if n == 2 * over else "") for n in names]
    for i, (column, name) in enumerate(zip(columns, names)):
        line = panels.line(i)
        if kind != "number_density":  # directions, which may be the same curve
            line["linestyle"] = panels.LINES[i]
        values = table[column]
        if kind in ("temperature", "velocity") and "number_density" in table:
            # nothing has neither
            values = numpy.where(table["number_density"] > 0, values, numpy.nan)
        axes.plot(_to_faces(table[over]), numpy.pad(values, 1, "edge"), **line,
                  drawstyle="steps-mid", label=name)
    axes.set_xlim(*_to_faces(table[over])[[0, -1]])
    axes.set_xlabel(labels.axis(over, r.column_unit(SLABS, over)))
    axes.set_ylabel(labels.axis(label, r.column_unit(SLABS, columns[0])))
    if kind == "number_density":
        axes.set_ylim(0.0, 1.05 * max(table[c].max() for c in columns) or 1.0)
    if len(columns) > 1:
        panels.legend_above(axes, f"{title} along {over}")
    else:
        axes.set_title(f"{title} along {over}")


def _map_axes(table):
    return [a for a in AXES if a in table]


def map_columns(r):
    """What a map can show, the density first."""
    table = r.table(COLUMNS)
    known = ["number_density"] + sorted(
        k for k in table if k.startswith("number_density_")) + ["temperature"]
    return [k for k in known if k in table and k not in _map_axes(table)]


def field_map(axes, r, column):
    """A column of a map in colors, each cell in its size."""
    table = r.table(COLUMNS)
    a, b = _map_axes(table)
    x, y = numpy.unique(table[a]), numpy.unique(table[b])
    values = table[column].reshape(len(x), len(y)).T
    edges = [numpy.linspace(0.0, 2 * v.mean(), len(v) + 1) for v in (x, y)]
    shown = axes.pcolormesh(*edges, values, cmap=panels.SPEED_COLORS,
                            rasterized=True)
    axes.grid(False)
    axes.set_aspect("equal")
    axes.set_xlabel(labels.axis(a, r.column_unit(COLUMNS, a)))
    axes.set_ylabel(labels.axis(b, r.column_unit(COLUMNS, b)))
    bar = axes.figure.colorbar(shown, ax=axes, shrink=0.9, pad=0.02)
    bar.set_label(labels.axis(column.replace("_", " "),
                              r.column_unit(COLUMNS, column)))
    bar.outline.set_linewidth(0.5)
    axes.set_title(labels.sentence(column.replace("_", " ")) +
                   ", averaged")


# ---- viscosity ----

def viscosity_names(r):
    return [graph for name, graph in (("function", stress),
                                      ("viscosity", viscosity))
            if has(r, f"{VISCOSITY}/{name}")]


def stress(axes, r):
    """The correlation of the pressure's components, each faint, and their
    average."""
    name = f"{VISCOSITY}/function"
    table = r.table(name)
    parts = [k for k in table if k not in ("time", "average")]
    end = min(len(table["time"]), max(curves.reach(table["average"]), 8))
    _zero(axes)
    for i, k in enumerate(parts):
        axes.plot(table["time"][:end], table[k][:end], color="0.7",
                  linewidth=0.8, label="each component" if i == 0 else None)
    axes.plot(table["time"][:end], table["average"][:end],
              color=panels.COLORS[0], label="average")
    axes.margins(x=0.01)
    axes.set_xlim(left=0.0)
    axes.set_xlabel(labels.axis("time", r.column_unit(name, "time")))
    axes.set_ylabel(labels.axis(
        "G(t)", r.column_unit(name, "average")))
    panels.legend_above(axes, "Correlation of the pressure")


def viscosity(axes, r):
    """The running integral with its error."""
    name = f"{VISCOSITY}/viscosity"
    table = r.table(name)
    t, eta, error = table["time"], table["average"], table["error"]
    axes.fill_between(t, eta - error, eta + error, color=panels.COLORS[5],
                      alpha=0.35, linewidth=0, label="standard error")
    axes.plot(t, eta, color=panels.COLORS[0], label="viscosity")
    axes.margins(x=0.01)
    axes.set_xlim(left=0.0)
    axes.set_ylim(bottom=min(0.0, axes.get_ylim()[0]))
    axes.set_xlabel(labels.axis("time", r.column_unit(name, "time")))
    axes.set_ylabel(labels.axis(r"$\eta$(t)", r.column_unit(
        name, "average")))
    panels.legend_above(axes, "Viscosity")
    _note(axes, "at the end: "
          + " ± ".join(labels.uncertain(eta[-1], error[-1])))


# ---- structure ----

def structure_factor(axes, r):
    """S(k) of all, and of pairs of species."""
    names = sorted(r.tables("structure_factor"),
                   key=lambda n: (not n.endswith("/all"), n))
    for i, name in enumerate(names):
        table = r.table(name)
        panels.curve(axes, table["k"], table["S"], i, name.split("/")[-1])
    axes.axhline(1.0, color="0.6", linewidth=0.8)
    axes.margins(x=0.01)
    axes.set_xlim(left=0.0)
    if axes.get_ylim()[0] >= 0 or len(names) == 1:
        axes.set_ylim(bottom=0.0)
    axes.set_xlabel(labels.axis("wavenumber k", r.column_unit(
        names[0], "k")))
    axes.set_ylabel("S(k)")
    if len(names) > 1:
        panels.legend_above(axes, "Structure factor")
    else:
        axes.set_title("Structure factor")


def bonds(axes, r, kind):
    """Distributions of lengths or angles, by type."""
    names = r.tables(kind)
    over = "r" if kind == "bond_length" else "theta"
    for i, name in enumerate(names):
        table = r.table(name)
        panels.curve(axes, table[over], table["density"], i,
                     "type " + name.split("/")[-1])
    ends = []
    for table in map(r.table, names):
        there = numpy.flatnonzero(table["density"] > 1e-4 * table[
            "density"].max(initial=0))
        if len(there):
            ends.append(table[over][there[[0, -1]]])
    if ends:  # what is empty on both sides tells nothing
        low, high = min(e[0] for e in ends), max(e[1] for e in ends)
        room = 0.08 * (high - low) + 1e-3 * high
        axes.set_xlim(low - room, high + room)
    axes.set_ylim(bottom=0.0)
    if over == "r":
        axes.set_xlabel(labels.axis("length of the bond", r.column_unit(
            names[0], "r")))
    else:
        axes.set_xlabel("angle (degrees)")
    axes.set_ylabel(labels.axis("probability density", "1/degree" if
                                over == "theta" else r.column_unit(
                                    names[0], "density")))
    panels.legend_above(axes, "Bond lengths" if over == "r" else "Bond angles")


# ---- replicas that exchange temperatures ----

def walk(axes, r):
    """The rungs of the ladder that this replica stood on."""
    table = r.table("exchange/walk")
    ladder = r.table("exchange/replicas")["temperature"]
    # Steps are equally long; how long, the rows of observables tell.
    timed = r.rows > 0 and r.row_steps()[-1] > 0
    step = r.row_times()[-1] / r.row_steps()[-1] if timed else 1
    times, unit = labels.long_times(
        step * table["step"], r.time_unit() if timed else "")
    axes.step(times, table["temperature"], where="post",
              color=panels.COLORS[0], linewidth=0.9)
    for t in ladder:
        axes.axhline(t, color="0.85", linewidth=0.6, zorder=0)
    axes.margins(x=0.01)
    axes.set_xlabel(labels.axis("time", unit) if timed else "step")
    axes.set_ylabel(labels.axis("temperature", r.column_unit(
        "exchange/walk", "temperature")))
    axes.set_title("Walk over the temperatures")


def rates(axes, r):
    """Of exchanges between neighbors."""
    table = r.table("exchange/pairs")
    middle = 0.5 * (table["lower"] + table["upper"])
    panels.curve(axes, middle, table["rate"], 0)
    axes.set_ylim(0.0, 1.0)
    axes.set_xlabel(labels.axis("temperature, middle of two", r.column_unit(
        "exchange/pairs", "lower", "temperature")))
    axes.set_ylabel("accepted exchanges / attempts")
    axes.set_title("Exchanges of neighbors")


# ---- all of them ----

# What a run of particles averages: how many of its graphs an overview has room
# for, and what the deck has for it.
AVERAGED = {"vacf": (2, "[md.analysis.vacf]"),
            "profiles": (3, "[md.analysis.profile]"),
            "map": (0, "[md.analysis.map]"),
            "structure": (1, "[md.analysis.structure_factor]"),
            "viscosity": (2, "[md.analysis.green_kubo]"),
            "bonds": (2, "[md.analysis.bonds]"),
            "exchange": (1, "[ensemble] temperatures")}


def graphs(r, name):
    """Its graphs, as functions of axes."""
    if name == "vacf":
        return [lambda a, g=g: g(a, r) for g in velocity_names(r)]
    if name == "profiles":
        return [lambda a, g=g: profile(a, r, *g) for g in profile_graphs(r)]
    if name == "map":
        return [lambda a, c=c: field_map(a, r, c)
                for c in (map_columns(r) if has(r, COLUMNS) else ())]
    if name == "structure":
        return ([lambda a: structure_factor(a, r)]
                if r.tables("structure_factor") else [])
    if name == "viscosity":
        return [lambda a, g=g: g(a, r) for g in viscosity_names(r)]
    if name == "exchange":
        return [lambda a, g=g: g(a, r)
                for g in ((walk, rates) if has(r, "exchange/pairs") else ())]
    return [lambda a, k=k: bonds(a, r, k)
            for k in ("bond_length", "bond_angle") if r.tables(k)]
