"""One page about a run: self-contained HTML that opens offline, on a phone, on
paper and in the dark."""

import io
import os
import re

from . import facts, labels, logs, page
from . import frame as frames
from .errors import PostError, cannot_write
from .opening import refuse_itself
from .result import Result

# Observables worth a large number, of the solvers that have them.
KEYS = ("temperature", "pressure", "total_energy", "kinetic_energy",
        "dissipation", "reynolds_tau", "nusselt", "enstrophy")
CAPTIONS = {
    "snapshot": "The particles of the last frame",
    "thermo": "Energies, temperature and pressure over time",
    "rdf": "Radial distribution functions",
    "msd": "Mean squared displacement",
    "series": "Observables over time",
    "profiles": "Means over planes",
    "vacf": "Velocity correlations, spectra and diffusion",
    "map": "Averages over columns of the box",
    "structure": "Structure factor",
    "viscosity": "Viscosity by the fluctuations of the pressure",
    "bonds": "Bonds and angles",
    "spectra": "Spectra"}
RASTER = ("snapshot", "slice", "map")  # many colors: PNG, and no inverting
ROWS = 40


# ---- pictures ----

def _drawn(figure, what, plot):
    """The figure as a part of the page."""
    figure.get_layout_engine().set(rect=(0.005, 0.01, 0.99, 0.98))
    plot.panels.powers(figure)
    out = io.BytesIO()
    kind = "png" if what in RASTER else "svg"
    # Without a date, so that the same file gives the same page.
    figure.savefig(out, format=kind, dpi=130, bbox_inches="tight",
                   pad_inches=0.12,
                   metadata={"Date": None} if kind == "svg" else None)
    plot.pyplot.close(figure)
    return page.picture(out.getvalue(), kind,
                        CAPTIONS.get(what, labels.sentence(what.replace("_", " "))))


def _slice(path, plot):
    with frames.Frame(path) as f:
        caption = (f"Slice at step {f.step}, time {f.time:.6g} "
                   f"{labels.plain(f.frame_time_unit())}").rstrip()
        drawn = _drawn(plot.slice_(f, None, None, None), "slice", plot)
    return drawn.replace("Slice<", page.text(caption) + "<")


def _last_frame(r):
    """The last frame of a flow that is there, or None."""
    series = re.sub(r"\.h5$", "", r.path) + frames.SERIES
    if not os.path.exists(series):
        return None
    here = [p for p, _ in frames.frames_of(series) if os.path.exists(p)]
    return here[-1] if here else None


def _pictures(r):
    """What the file can fill; a reason where there is nothing."""
    try:
        from . import panels, plot
    except ImportError as error:
        return f"<p>No pictures: the Python module {error.name} is missing.</p>"
    panels.style(plot.matplotlib)
    plot.matplotlib.rcParams["svg.hashsalt"] = "warpdeck"
    found = []
    if r.is_frame:
        return _slice(r.path, plot)
    figures = plot.figures_of(r)
    names = [n for n in figures if n != "overview"]
    for what in sorted(names, key=lambda n: n not in RASTER):
        try:
            figure = figures[what](r)
        except PostError:  # the deck did not ask for it
            plot.pyplot.close("all")
            continue
        found.append(_drawn(figure, what, plot))
    last = _last_frame(r)
    if last is not None:
        found.insert(0, _slice(last, plot))
    return "".join(found) or "<p>There is nothing to draw yet.</p>"


# ---- words and numbers ----

def _keys(r, log):
    items = []
    if r.is_frame:
        items = [("cells", " x ".join(map(str, r.cells)), ""),
                 ("time", f"{r.time:.6g}", labels.plain(r.frame_time_unit())),
                 ("step", str(r.step), "")]
    else:
        if r.particle_count is not None:
            items.append(("particles", f"{r.particle_count}", ""))
        items.append(("steps", str(facts.reached(r) or 0),
                      f"of {r.steps_wanted}" if r.steps_wanted else ""))
        items += _observed(r) + _valued(r)
    rate = re.search(r"([\d.]+ ?[kMGT]? \S+-steps/s)",
                     log.rates[0] if log.rates else "")
    if rate and not re.match(r"0*\.?0* ", rate[1]):
        items.append(("speed", rate[1], ""))
    return page.keys(items)


def _observed(r):
    """Means of the second half."""
    rows = {row.title.removesuffix("/N").replace(" ", "_"): row
            for row in facts.results(r)}
    found = []
    for k in [k for k in KEYS if k in rows][:4]:
        mean, spread = labels.uncertain(rows[k].mean, rows[k].spread)
        found.append((rows[k].title, mean, f"± {spread} {rows[k].unit}".rstrip()))
    return found


def _valued(r):
    if "risk/portfolio" not in r.risk_tables():
        return []
    heads, rows = r.cells("risk/portfolio", 1)
    value = dict(zip(heads, rows[0])) if rows else {}
    if "value" not in value:
        return []
    told, error = labels.uncertain(value["value"],
                                   value.get("standard_error", 0.0))
    return [("value", told, f"± {error} standard error")]


def _results(r):
    if r.is_frame:
        rows = [[v.title, v.low, v.high, v.mean, v.rms, v.unit]
                for v in facts.fields(r)]
        return page.table(["field", "least", "greatest", "mean", "rms", "unit"],
                          rows)
    rows = [[v.title, float(v.first), float(v.last), float(v.mean),
             float(v.spread), v.unit] for v in facts.results(r)]
    table = page.table(["", "first", "last", "mean of the 2nd half", "spread",
                        "unit"], rows) if rows else "<p>No rows yet.</p>"
    return table + (page.pairs(facts.peaks(r) + facts.coefficients(r)))


def _tables(r):
    """Statistics folded, those of a book open."""
    out = []
    for name in r.risk_tables():
        heads, rows = r.cells(name, ROWS)
        out.append(f"<h3>{page.text(name)}</h3>" + page.table(heads, rows)
                   + _left_out(r.table_rows(name)))
    for name in r.tables():
        table = r.table(name)
        n = min((len(c) for c in table.values()), default=0)
        order = labels.in_order(table)
        rows = [[table[c][i].item() for c in order]
                for i in range(min(n, ROWS))]
        out.append(page.folded(
            f"{name}: {labels.count(n, 'row')} of {', '.join(order)}",
            page.table(order, rows) + _left_out(n)))
    return "".join(out)


def _left_out(rows):
    return (f'<p class="sub">The first {ROWS} of {rows} rows; all of them: '
            "warpdeck-post export --to csv</p>" if rows > ROWS else "")


def _guards(r, log):
    """What was watched, and what was said."""
    bounds = [(k, v) for k, v in r.deck_section("guard").items()]
    if r.complete:
        state = "The run came to its end, and no guard has stopped it."
    elif log.errors:
        state = "The run has failed."
    else:
        state = f"The run is {facts.state(r)}."
    out = f"<p>{page.text(state)}</p>"
    if log.errors:
        out += page.notes(log.errors, bad=True)
    if bounds:
        out += page.pairs([("guard." + k, v) for k, v in bounds])
    out += (page.notes(log.warnings, bad=True) if log.warnings else
            "<p>No warnings in the log.</p>" if log.changed else
            "<p>There is no log beside the file, so warnings aren't known.</p>")
    return out


def _performance(r, log):
    speed = None if r.is_frame else facts.speed(r)
    out = page.pairs([("time", speed),
                      ("rates", log.rates[0] if log.rates else None),
                      ("share of peak", f"{log.peak:g} % of the measured peak"
                       if log.peak is not None else None)])
    if log.phases:
        out += "<h3>Where the time went</h3>" + page.bars(log.phases)
    if log.notes:
        out += page.notes(log.notes)
    if log.rates and log.peak is None:
        out += ('<p class="sub">The share of the peak is measured by runs with '
                "-v.</p>")
    if not log.rates:
        out += ('<p class="sub">The log has no closing lines: phases are not '
                "known.</p>")
    return out


def _provenance(r):
    a = r.run
    items = [(k, a.get(k)) for k in (
        "command", "deck_path", "version", "git", "solver", "host", "device",
        "ranks", "decomposition", "threads", "precision", "units", "flags",
        "libraries", "start", "end")]
    items = [(k.replace("_", " "), " x ".join(map(str, v)) if
              k == "decomposition" and v is not None else v)
             for k, v in items]
    if not r.is_md:
        items = [(k, v) for k, v in items if k != "units"]
    items += [("file", f"{os.path.basename(r.path)}, "
               f"{facts.size(r.file.id.get_filesize())}"),
              ("complete", "yes" if r.complete else "no")]
    out = page.pairs(items)
    resumed = r.resumed()
    if resumed:
        out += "<h3>Gone on with</h3>" + page.table(
            ["from step", "start", "host", "ranks", "version"], resumed)
    return out


def _decks(r):
    return page.deck(r.deck) + page.folded(
        "with all defaults and overrides filled in", page.deck(r.resolved_deck))


def _body(r):
    log = logs.read(r.path)
    what = facts.grid(r) if r.is_frame else facts.system(r) or (
        facts.progress(r))
    state = facts.state(r)
    bad = "" if r.complete else " bad"
    solver = {"md": "molecular dynamics", "fluid": "incompressible flow",
              "risk": "Monte Carlo risk"}.get(r.run.get("solver"), "")
    return "".join([
        f"<header><h1>{page.text(r.title)}</h1>\n",
        f'<p class="sub">{page.text(", ".join(t for t in (solver, what) if t))}'
        f'</p>\n<p class="state{bad}">{page.text(state)}</p></header>\n',
        "<main>", _keys(r, log),
        page.section("Pictures", _pictures(r)),
        page.section("Results", _results(r)),
        page.section("Tables", "" if r.is_frame else _tables(r)),
        page.section("Guards and warnings", _guards(r, log)),
        page.section("Performance", _performance(r, log)),
        page.section("Provenance", _provenance(r)),
        page.section("Deck", _decks(r)),
        "</main><footer>Made by warpdeck-post report from ",
        page.text(os.path.basename(r.path)), ", of Warpdeck ",
        page.text(r.run.get("version", "")), ".</footer>\n"])


def _page(path):
    with Result(path) as r:
        if not r.is_frame:
            return page.whole(r.title, _body(r))
    with frames.Frame(path) as f:
        return page.whole(f.title, _body(f))


def run(path, output):
    """Write; returns the exit status."""
    if frames.is_series(path):
        path = frames.frames_of(path)[-1][0]
    output = output or os.path.splitext(path)[0] + ".html"
    refuse_itself(path, output)
    text = _page(path)
    try:
        with open(output, "w", encoding="utf-8", newline="\n") as out:
            out.write(text)
    except OSError as error:
        raise cannot_write(output, error) from None
    print(f"wrote {output} ({facts.size(len(text.encode()))})")
    return 0
