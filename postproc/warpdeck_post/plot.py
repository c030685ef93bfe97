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

from . import flow_panels, frame, labels, panels  # noqa: E402
from .errors import PostError  # noqa: E402
from .result import Result  # noqa: E402

INCOMPLETE = "#D55E00"


# ---- what there is to draw ----

def _has_energies(r):
    return any(labels.quantity(k) == "energy" for k in r.observables)


def _graphs(r):
    """All graphs that the file can fill, as functions of axes."""
    found = []
    if r.rows > 0 and _has_energies(r):
        found.append(lambda a: panels.energies(a, r))
    if r.rows > 0:
        for i, name in enumerate(("temperature", "pressure")):
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
    return found


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
        parts.append(labels.count(int(r.row_steps()[-1]), "step"))
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


def _fill(figure, grid, graphs):
    """Two a row; the first one takes a whole row where they are uneven."""
    wide = len(graphs) % 2
    rows = (len(graphs) + 1) // 2
    cells = grid.subgridspec(rows, 2) if rows else None
    for i, graph in enumerate(graphs):
        at = i + wide
        cell = cells[0, :] if wide and i == 0 else cells[at // 2, at % 2]
        graph(figure.add_subplot(cell))


def overview(r):
    """All that the file can show."""
    graphs = _graphs(r) + _tables(r)
    snapshot = _has_snapshot(r)
    _need(graphs or snapshot, r, "rows and no frames yet",
          "there is nothing to draw")
    rows = max((len(graphs) + 1) // 2, 2)
    figure = framed(13 if snapshot and graphs else 8.5, 0.9 + 2.75 * rows)
    grid = figure.add_gridspec(
        1, 2 if snapshot and graphs else 1,
        width_ratios=[1.0, 1.45] if snapshot and graphs else [1.0])
    if snapshot:
        panels.snapshot(figure.add_subplot(grid[0]), r, matplotlib, 1000)
    if graphs:
        _fill(figure, grid[-1], graphs)
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


def _profile_graphs(r):
    return [lambda a, p=p: flow_panels.profile(a, r, *p)
            for p in flow_panels.profiles(r)]


def _spectrum_graphs(r):
    return [lambda a, name=name: flow_panels.spectrum(a, r, name)
            for name in flow_panels.spectra(r)]


def flow_overview(r):
    """The telling series, and what statistics there are."""
    graphs = _series_graphs(r, 4) + _profile_graphs(r) + _spectrum_graphs(r)
    _need(graphs, r, "rows yet", "wait, or run again")
    return _wide(graphs)


def flow_series(r):
    """All observables over time."""
    graphs = _series_graphs(r)
    _need(graphs, r, "rows of observables yet", "wait, or run again")
    return _wide(graphs)


def flow_profiles(r):
    """Means over planes."""
    graphs = _profile_graphs(r)
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
    first = "velocity" if "velocity" in f.names else f.names[0]
    d = flow_panels.normal_of(f) if normal is None else "xyz".index(normal)
    a, b = (k for k in range(3) if k != d)
    ratio = (numpy.ptp(f.faces(b)) / numpy.ptp(f.faces(a)))
    # Of about the shape of the plane, with room for words and colors.
    figure = framed(min(max(6.5, 5.2 / ratio), 12) + 1.4,
                     min(max(min(6.5, 12 * ratio), 2.0), 9) + 2.2)
    flow_panels.slice_(figure.add_subplot(), f, field or first, d, at,
                       matplotlib)
    return figure


FIGURES_FLOW = {"overview": flow_overview, "series": flow_series,
                "profiles": flow_profiles, "spectra": flow_spectra}
FIGURES = {"overview": overview, "thermo": thermo, "rdf": rdf, "msd": msd,
           "snapshot": snapshot}


def figures_of(r):
    """What a result file can be drawn as: functions by name."""
    if r.is_risk:
        return {"overview": flow_series, "series": flow_series}
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


def _draw(r, what, field, normal, at):
    if r.is_frame:
        if what not in ("overview", "slice"):
            raise PostError(f"'{r.path}' is a frame: it can be drawn as slice")
        with frame.Frame(r.path) as f:
            figure = slice_(f, field, normal, at)
            head(figure, f)
        return figure
    figures = figures_of(r)
    if what not in figures:
        raise PostError(f"'{r.path}' cannot be drawn as {what}; it can as "
                        + ", ".join(figures))
    if not (field is None and normal is None and at is None):
        raise PostError("--field, --normal and --at are for slices of a frame "
                        "(.hdf)")
    figure = figures[what](r)
    head(figure, r)
    return figure


def run(path, what, output, field=None, normal=None, at=None):
    """Draw; returns the exit status."""
    if frame.is_series(path):
        path = frame.frames_of(path)[-1][0]
    output = _output(path, what, output)
    panels.style(matplotlib)
    with Result(path) as r:
        figure = _draw(r, what, field, normal, at)
    try:
        figure.savefig(output)
    except OSError as error:
        raise PostError(f"cannot write '{output}': {error.strerror}") from None
    pyplot.close(figure)
    print(f"wrote {output}")
    return 0
