"""Figures: which graphs stand in them, and where."""

import os

import matplotlib

matplotlib.use("Agg")

import matplotlib.cm  # noqa: E402
import matplotlib.collections  # noqa: E402
import matplotlib.colors  # noqa: E402
import matplotlib.lines  # noqa: E402
import matplotlib.pyplot as pyplot  # noqa: E402
import numpy  # noqa: E402

from . import (flow_panels, frame, labels, md_panels, panels,  # noqa: E402
               risk_panels)
from .errors import PostError, cannot_write  # noqa: E402
from .result import Result  # noqa: E402

INCOMPLETE = "#D55E00"


# ---- what there is to draw ----

def _graphs(r):
    """All graphs that the file can fill, as functions of axes."""
    found = []
    if r.rows > 0:
        for parts in False, True:
            if panels.energy_names(r, parts):
                found.append(lambda a, parts=parts:
                             panels.energies(a, r, parts))
        for i, name in enumerate(("temperature", "pressure",
                                  "shear_stress")):
            if name in r.observables:
                found.append(lambda a, name=name, i=i:
                             panels.series(a, r, name, i + 3))
    return found


def _tables(r):
    found = []
    if r.tables("radial_distribution"):
        found.append(lambda a: panels.distribution(a, r))
    if r.tables("displacement"):
        found.append(lambda a: panels.displacement(a, r))
    return found + [graph for name, (most, _) in md_panels.AVERAGED.items()
                    for graph in md_panels.graphs(r, name)[:most]]


def _average_figure(name):
    def draw(r):
        graphs = md_panels.graphs(r, name)
        _need(graphs, r, name, "tables for it are written at the end of a run "
              f"whose deck has {md_panels.AVERAGED[name][1]}")
        return _wide(graphs)
    return draw


def _has_snapshot(r):
    return r.frames > 0 and "position" in r.fields() and r.particle_count > 0


def _need(condition, r, what, hint):
    if not condition:
        raise PostError(f"'{r.path}' has no {what}: {hint}")


# ---- figures ----

def _subtitle(r):
    run = r.run
    parts = []
    if r.is_frame:
        parts.append(" x ".join(str(n) for n in r.cells) + " cells")
        parts.append(f"step {r.step}, time {r.time:.6g} "
                     f"{r.frame_time_unit()}".rstrip())
    if r.particle_count is not None:
        parts.append(labels.count(r.particle_count, "particle"))
    if not r.is_frame and r.rows:
        parts.append(labels.count(int(r.row_times()[-1]), "path") if r.is_risk
                     else labels.count(int(r.row_steps()[-1]), "step"))
    parts.append(labels.count(int(run.get("ranks", 1)), "rank"))
    parts += [str(run[k]) for k in ("precision",) if run.get(k)]
    parts.append(f"Warpdeck {run.get('version', '')}".rstrip())
    return "  ·  ".join(parts)


def head(figure, r):
    """Title and one line below, in inches from the top."""
    height = figure.get_figheight()
    figure.suptitle(r.title, x=0.02, y=1 - 0.14 / height, ha="left", va="top",
                    fontsize=14, fontweight="bold")
    figure.text(0.02, 1 - 0.46 / height, _subtitle(r), ha="left", va="top",
                fontsize=9.5, color="0.35")
    if not r.complete:
        figure.text(0.98, 1 - 0.2 / height, "run not complete", ha="right",
                    va="top", fontsize=10, color=INCOMPLETE)


def framed(width, height):
    figure = pyplot.figure(figsize=(width, height), constrained_layout=True)
    figure.set_constrained_layout_pads(w_pad=0.1, h_pad=0.08, wspace=0.04,
                                       hspace=0.04)
    # Constrained layout keeps to this part; the head stands above it.
    figure.get_layout_engine().set(rect=(0.005, 0.01, 0.99,
                                         0.99 - 0.72 / height))
    return figure


def _fill(figure, grid, graphs, columns=2):
    """So many a row; the first one is as wide as what would stay empty."""
    rows = -(-len(graphs) // columns)
    more = rows * columns - len(graphs)
    cells = grid.subgridspec(rows, columns) if rows else None
    for i, graph in enumerate(graphs):
        at = i + more
        cell = cells[0, :1 + more] if i == 0 else cells[at // columns,
                                                        at % columns]
        graph(figure.add_subplot(cell))


# Graphs of particles beside their picture, and how many others are in a row below.
BESIDE, BELOW = 9, (5, 4)


def overview(r):
    """All that the file can show."""
    graphs = _graphs(r) + _tables(r)
    snapshot = _has_snapshot(r)
    _need(graphs or snapshot, r, "rows and no frames yet",
          "there is nothing to draw")
    columns = 2 if len(graphs) <= 6 else 3
    beside, below = graphs[:BESIDE], graphs[BESIDE:]
    rows = [max(-(-len(beside) // columns), 2)]
    if below:
        many = min(BELOW, key=lambda n: -len(below) % n)
        rows.append(-(-len(below) // many))
    widths = [panels.snapshot_width(r, 2.75 * rows[0])] if snapshot else []
    if graphs:
        widths.append((7.7 if columns == 2 else 12.2) if snapshot else 8.5)
    figure = framed(max(sum(widths), 8.5), 0.9 + 2.75 * sum(rows))
    grid = figure.add_gridspec(len(rows), 1, height_ratios=rows)
    upper = grid[0].subgridspec(1, len(widths), width_ratios=widths)
    if snapshot:
        panels.snapshot(figure.add_subplot(upper[0]), r, matplotlib, 1000)
    if beside:
        _fill(figure, upper[-1], beside, columns)
    if below:
        _fill(figure, grid[1], below, many)
    return figure


def _stack(r, graphs):
    figure = framed(8, 0.9 + 2.5 * len(graphs))
    axes = figure.subplots(len(graphs), 1, squeeze=False)[:, 0]
    for a, graph in zip(axes, graphs):
        graph(a)
    return figure


def thermo(r):
    """Energies, temperature and pressure over time."""
    graphs = _graphs(r)
    _need(graphs, r, "rows of observables yet", "wait, or run again")
    return _stack(r, graphs)


def rdf(r):
    """Radial distribution functions."""
    _need(r.tables("radial_distribution"), r, "radial distribution function",
          "it is written at the end of a run whose deck has "
          "[md.analysis.rdf]")
    figure = framed(7, 4.9)
    panels.distribution(figure.add_subplot(), r)
    return figure


def msd(r):
    """Mean squared displacement."""
    _need(r.tables("displacement"), r, "mean squared displacement",
          "it is written at the end of a run whose deck has "
          "[md.analysis.msd]")
    figure = framed(7, 4.9)
    panels.displacement(figure.add_subplot(), r)
    return figure


def snapshot(r):
    """The last frame."""
    _need(_has_snapshot(r), r, "frame with positions", "see output.fields and "
          "output.frames_every in the deck")
    figure = framed(8, 8.6)
    panels.snapshot(figure.add_subplot(), r, matplotlib, 1400)
    return figure


# ---- flows ----

def _wide(graphs):
    """Two a row."""
    rows = (len(graphs) + 1) // 2
    figure = framed(11 if len(graphs) > 1 else 7, 0.9 + 2.75 * max(rows, 1.4))
    _fill(figure, figure.add_gridspec(1, 1)[0], graphs)
    return figure


def _series_graphs(r, most=None):
    names = flow_panels.series_names(r, most) if r.rows else []
    return [lambda a, name=name, i=i: panels.series(a, r, name, i)
            for i, name in enumerate(names)]


def _profile_graphs(r, table=None):
    return [lambda a, p=p: flow_panels.profile(a, r, *p, others=table)
            for p in flow_panels.profiles(r)]


def _spectrum_graphs(r):
    return [lambda a, name=name: flow_panels.spectrum(a, r, name)
            for name in flow_panels.spectra(r)]


def last_frame(r):
    """The path of the last frame of a run that is there, or None."""
    series = os.path.splitext(r.path)[0] + frame.SERIES
    if not os.path.exists(series):
        return None
    here = [p for p, _ in frame.frames_of(series) if os.path.exists(p)]
    return here[-1] if here else None


def flow_overview(r):
    """The last frame in a plane, the telling series, and what statistics there
    are."""
    graphs = _series_graphs(r, 4) + _profile_graphs(r) + _spectrum_graphs(r)
    last = last_frame(r)
    if last is None:
        _need(graphs, r, "rows yet", "wait, or run again")
        return _wide(graphs)
    with frame.Frame(last) as f:
        if not graphs:
            return slice_(f, None, None, None)
        figure, grid, columns = _beside_slice(f, len(graphs))
        axes = figure.add_subplot(grid[0])
        flow_panels.slice_(axes, f, flow_panels.first_field(f),
                           flow_panels.normal_of(f), None, matplotlib)
        axes.set_title(f"{axes.get_title('left')}, time {f.time:.6g}",
                       loc="left")
    _fill(figure, grid[1], graphs, columns)
    return figure


def _beside_slice(f, n):
    """A figure with its grid, for a slice of the frame and n graphs: beside it,
    or below a slice that is low and long. Also how many graphs are in a row."""
    a, b = (d for d in range(3) if d != flow_panels.normal_of(f))
    ratio = numpy.ptp(f.faces(b)) / numpy.ptp(f.faces(a))
    if ratio >= 0.45:
        columns = 2 if n <= 6 else 3
        figure = framed(15 if columns == 2 else 19,
                        0.9 + 2.75 * max(-(-n // columns), 2))
        return figure, figure.add_gridspec(
            1, 2, width_ratios=[1.0, 1.5 if columns == 2 else 2.2]), columns
    columns = 3 if n != 4 else 2
    high = [12 * ratio + 1.5, 2.75 * -(-n // columns)]
    figure = framed(14, 0.9 + sum(high))
    return figure, figure.add_gridspec(2, 1, height_ratios=high), columns


def flow_series(r):
    """All observables over time."""
    graphs = _series_graphs(r)
    _need(graphs, r, "rows of observables yet", "wait, or run again")
    return _wide(graphs)


def flow_profiles(r, reference=None):
    """Means over planes, beside those of a table of others."""
    table = None if reference is None else flow_panels.references(reference)
    graphs = _profile_graphs(r, table)
    _need(graphs, r, "profiles", "they are written at the end of a run whose "
          "deck has statistics")
    return _wide(graphs)


def flow_spectra(r):
    """Spectra."""
    graphs = _spectrum_graphs(r)
    _need(graphs, r, "spectra", "they are written at the end of a run whose "
          "deck asks for them")
    return _wide(graphs)


def slice_(f, field, normal, at):
    """A plane of a frame."""
    if not f.names:
        raise PostError(f"'{f.path}' has no fields")
    d = flow_panels.normal_of(f) if normal is None else "xyz".index(normal)
    a, b = (k for k in range(3) if k != d)
    ratio = (numpy.ptp(f.faces(b)) / numpy.ptp(f.faces(a)))
    # Of about the shape of the plane, with room for words and colors.
    low = ratio < 0.6  # the bar of colors is below then
    width = min(max(6.5, 5.2 / ratio), 12)
    figure = framed(width + (1.0 if low else 2.0),
                    min(max(width * ratio, 2.0), 9) + (2.6 if low else 1.8))
    flow_panels.slice_(figure.add_subplot(), f,
                       field or flow_panels.first_field(f), d, at,
                       matplotlib)
    return figure


def lines(f, reference=None):
    """Velocities on the center lines, beside those of a table of others."""
    if "velocity" not in f.names:
        raise PostError(f"'{f.path}' has no field velocity")
    table = None if reference is None else flow_panels.references(reference)
    cells = f.cells
    wanted = [(over, c) for over, c in (("y", 0), ("x", 1), ("z", 0))
              if cells["xyz".index(over)] > 3]
    if table is not None:
        wanted = [(o, c) for o, c in wanted if o in table and any(
            k == "uvw"[c] or k.startswith("uvw"[c] + "_Re") for k in table)]
        if not wanted:
            raise PostError(f"'{reference}' has no columns y and u, x and v, "
                            "or z and u")
    graphs = [lambda a, o=o, c=c: flow_panels.line(
        a, f, o, c, table, flow_panels.reynolds(f) if (o, c) == ("y", 0) else None)
        for o, c in wanted]
    if not graphs:
        raise PostError(f"'{f.path}' has too few cells for lines")
    return _wide(graphs)


# ---- risk ----

def _risk_figure(r, name):
    graphs = risk_panels.graphs(r).get(name)
    hints = {
        "profits": "the deck's engines have no var",
        "frontier": "the deck's engines have no portfolio",
        "exposure": "the deck's engines have no exposure",
        "convergence": "it has one batch of paths, or none yet",
        "prices": "they are written at the end of a run"}
    _need(graphs, r, name, hints[name])
    if name == "prices":
        figure = framed(9, 2.1 + 0.32 * max(risk_panels.price_rows(r), 3))
        graphs[0](figure.add_subplot())
        return figure
    if len(graphs) == 1:
        figure = framed(9, 5.4)
        graphs[0](figure.add_subplot())
        return figure
    rows = (len(graphs) + 1) // 2
    figure = framed(12, 0.9 + max(3.0 * rows, 4.2))
    _fill(figure, figure.add_gridspec(1, 1)[0], graphs)
    return figure


def risk_overview(r):
    """What the run was for: the first of profits, frontier, exposure; above
    the prices, and the convergence where there is one."""
    found = risk_panels.graphs(r)
    if not found:  # not complete yet, and at most one batch
        _need(risk_panels.has_estimate(r), r, "batch of paths yet",
              "wait, or run again")
        figure = framed(9, 5.4)
        risk_panels.estimate(figure.add_subplot(), r)
        return figure
    first = next(iter(found))
    if list(found) == [first]:
        return _risk_figure(r, first)
    second = "prices" if "prices" in found and first != "prices" else (
        list(found)[1])
    top, below = found[first], found[second]
    rows = (len(top) + 1) // 2
    lower = (1.4 + 0.32 * max(risk_panels.price_rows(r), 3)
             if second == "prices" else 3.4)
    upper = 3.1 * rows if rows > 1 else 4.2
    figure = framed(12, 0.9 + upper + lower)
    grid = figure.add_gridspec(2, 1, height_ratios=[upper, lower])
    _fill(figure, grid[0], top)
    _fill(figure, grid[1], below)
    return figure


def risk_series(r):
    """All observables over the number of paths."""
    _need(r.rows and (r.row_times() > 0).sum() > 1, r, "series",
          "it has one batch of paths, or none yet")
    return flow_series(r)


def _risk_of(name):
    return lambda r: _risk_figure(r, name)


FIGURES_RISK = {"overview": risk_overview}
FIGURES_RISK.update({name: _risk_of(name) for name in (
    "profits", "exposure", "frontier", "convergence", "prices")})
FIGURES_RISK["series"] = risk_series
FIGURES_FLOW = {"overview": flow_overview, "series": flow_series,
                "profiles": flow_profiles, "spectra": flow_spectra}
FIGURES = {"overview": overview, "thermo": thermo, "rdf": rdf, "msd": msd,
           "snapshot": snapshot}
FIGURES.update({name: _average_figure(name) for name in md_panels.AVERAGED})


def figures_of(r):
    """What a result file can be drawn as: functions by name."""
    if r.is_risk:
        return FIGURES_RISK
    return FIGURES if r.is_md else FIGURES_FLOW


def _output(path, what, output):
    if output is None:
        base = os.path.splitext(path)[0]
        output = base + ("" if what == "overview" else "_" + what) + ".png"
    check_ending(output)
    return output


def check_ending(output):
    """Whether there can be such a picture."""
    ending = os.path.splitext(output)[1].lower().lstrip(".")
    if ending not in ("png", "pdf", "svg", "jpg", "jpeg"):
        raise PostError(f"cannot draw '{output}': the ending must be .png, "
                        ".pdf, .svg or .jpg")


def _draw_frame(path, what, field, normal, at, reference):
    if what not in ("overview", "slice", "lines"):
        raise PostError(f"'{path}' is a frame: it can be drawn as slice or "
                        "lines")
    if what == "lines" and not (field is None and normal is None and
                                at is None):
        raise PostError("--field, --axis and --at are for slices")
    if what != "lines" and reference is not None:
        raise PostError("--reference is for lines and profiles")
    with frame.Frame(path) as f:
        figure = (lines(f, reference) if what == "lines" else
                  slice_(f, field, normal, at))
        head(figure, f)
    return figure


def _draw(r, what, field, normal, at, reference):
    figures = figures_of(r)
    if what not in figures:
        raise PostError(f"'{r.path}' cannot be drawn as {what}; it can as "
                        + ", ".join(figures))
    if not (field is None and normal is None and at is None):
        raise PostError("--field, --axis and --at are for slices of a flow")
    if reference is not None and figures[what] is not flow_profiles:
        raise PostError("--reference is for lines and profiles")
    figure = (flow_profiles(r, reference) if reference is not None else
              figures[what](r))
    head(figure, r)
    return figure


def _frame_for(r, what):
    """The frame that a slice of a run's result file is of."""
    if r.is_frame:
        return r.path
    if what not in ("slice", "lines") or r.is_md or r.is_risk:
        return None
    last = last_frame(r)
    _need(last, r, "frames beside it", "see output.frames_every in the deck")
    return last


def run(path, what, output, field=None, normal=None, at=None, reference=None):
    """Draw; returns the exit status."""
    if frame.is_series(path):
        path = frame.frames_of(path)[-1][0]
    output = _output(path, what, output)
    panels.style(matplotlib)
    with Result(path) as r:
        of_frame = _frame_for(r, what)
        figure = None if of_frame else _draw(r, what, field, normal, at,
                                             reference)
    if of_frame:
        figure = _draw_frame(of_frame, what, field, normal, at, reference)
    panels.powers(figure)
    try:
        figure.savefig(output)
    except OSError as error:
        raise cannot_write(output, error) from None
    pyplot.close(figure)
    print(f"wrote {output}")
    return 0
