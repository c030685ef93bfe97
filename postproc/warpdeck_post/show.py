"""One screen of words: what ran, how far, how fast, with what result."""

import os
from datetime import datetime, timezone

import numpy

from . import frame as frames
from . import labels
from .result import Result

WIDTH = 78


def _size(n):
    for unit in "bytes", "kB", "MB", "GB", "TB":
        if n < 1000 or unit == "TB":
            return f"{n} bytes" if unit == "bytes" else f"{n:.3g} {unit}"
        n /= 1000


def _when(text):
    try:
        return datetime.strptime(text, "%Y-%m-%dT%H:%M:%SZ").replace(
            tzinfo=timezone.utc)
    except (TypeError, ValueError):
        return None


def _line(head, text):
    """A head and text, cut at the width of the screen, in as many lines as it
    takes."""
    lines = [""]
    for word in text.split():
        if lines[-1] and len(lines[-1]) + 1 + len(word) > WIDTH - 11:
            lines.append("")
        lines[-1] += (" " if lines[-1] else "") + word
    for i, line in enumerate(lines):
        print(f"  {head if i == 0 else '':9}{line}")


def _reached(r):
    steps = [int(s[-1]) for s in (r.row_steps() if r.rows else (),
                                  r.frame_steps() if r.frames else ())
             if len(s)]
    return max(steps, default=None)


def _state(r, reached):
    if r.complete:
        return "complete"
    if "end" in r.run:
        return "stopped before its end"
    return "not complete: still running, or killed"


def _print_run(r):
    run = r.run
    cut = " x ".join(str(n) for n in run.get("decomposition", []))
    _line("command", run.get("command", ""))
    _line("run", f"{run.get('solver', '?')}, Warpdeck {run.get('version', '?')}"
          f" (git {run.get('git') or 'unknown'}), on {run.get('host')}")
    _line("", f"{labels.count(int(run.get('ranks', 1)), 'rank')} ({cut}) x "
          f"{labels.count(int(run.get('threads', 1)), 'thread')}, "
          f"{run.get('device')}, {run.get('precision')}"
          + (f", {run.get('units')} units" if "h5md" in r.file else ""))


def _print_deck(r):
    """The lines of the deck without comments, a section a line."""
    sections = []
    for line in r.deck.splitlines():
        line = line.split("#")[0].strip()
        if line.startswith("["):
            sections.append(line)
        elif line and sections:
            sections[-1] += "  " + " ".join(line.split())
    for i, section in enumerate(sections[:12]):
        if len(section) > WIDTH - 11:
            section = section[:WIDTH - 15] + " ..."
        print(f"  {'deck' if i == 0 else '':9}{section}")
    if len(sections) > 12:
        print(f"  {'':9}... ({len(sections) - 12} sections more: show --deck)")


def _print_system(r):
    n = r.particle_count
    if n is None:
        return
    text = labels.count(n, "particle")
    species = r.field("species")
    names = r.species_names()
    if len(names) > 1:
        counts = numpy.bincount(species, minlength=len(names))
        text += " (" + ", ".join(f"{c} {name}" for name, c in
                                 zip(names, counts)) + ")"
    if r.frames:
        edges, _ = r.box(r.frames - 1)
        unit = labels.plain(r.length_unit())
        text += ", box " + " x ".join(f"{e:.6g}" for e in edges) + f" {unit}"
        if edges.prod() > 0:
            text += f", density {n / edges.prod():.5g} {unit}^-3"
    _line("system", text)


def _print_progress(r, reached):
    wanted = r.steps_wanted
    text = "nothing yet"
    if reached is not None:
        text = f"step {reached}"
        if wanted is not None:
            text += f" of {wanted}"
    if r.rows:
        unit = labels.plain(r.time_unit())
        text += f", time {r.row_times()[-1]:.6g} {unit}".rstrip()
        if r.time_wanted is not None:
            text += f" of {r.time_wanted:g}"
    text += f"; {labels.count(r.rows, 'row')} of observables"
    if "h5md" in r.file:
        text += f", {labels.count(r.frames, 'frame')}"
    if r.probes:
        text += f", {labels.count(len(r.probes), 'probe')}"
    _line("reached", text)


def _print_speed(r, reached):
    start, end = _when(r.run.get("start")), _when(r.run.get("end"))
    if start is None or reached is None:
        return
    if end is None:  # the last sign of life
        end = datetime.fromtimestamp(os.path.getmtime(r.path), timezone.utc)
    seconds = (end - start).total_seconds()
    text = f"{start:%Y-%m-%d %H:%M:%S} UTC, {seconds:.0f} s"
    if seconds >= 1 and reached > 0:
        rate = reached / seconds  # whole seconds: no more than two digits
        text += f": about {rate:.2g} steps/s"
        if r.particle_count:
            text += f", {rate * r.particle_count / 1e6:.2g} M particle-steps/s"
    _line("time", text)


def _scale(r, name):
    """Energies are shown per particle."""
    n = r.particle_count
    per_particle = labels.quantity(name) == "energy" and n
    return (1.0 / n if per_particle else 1.0), per_particle


def _print_results(r):
    if r.rows == 0:
        return
    half = r.rows // 2
    print(f"\n  {'':28}{'first':>13}{'last':>13}{'mean':>13}{'spread':>10}"
          "   (second half)")
    for name in r.observables:
        scale, per_particle = _scale(r, name)
        values = scale * r.observable(name)
        unit = labels.plain(r.observable_unit(name))
        title = name.replace("_", " ") + ("/N" if per_particle else "")
        late = values[half:]
        print(f"  {title:28}{values[0]:13.6g}{values[-1]:13.6g}"
              f"{late.mean():13.6g}{late.std():10.2g}   {unit}".rstrip())


def _print_tables(r):
    for name in r.tables("radial_distribution"):
        table = r.table(name)
        if not {"r", "g"} <= table.keys() or len(table["g"]) == 0:
            continue
        top = int(table["g"].argmax())
        unit = labels.plain(r.column_unit(name, "r", "length"))
        print(f"  {'g(r) ' + name.split('/')[-1]:28}highest {table['g'][top]:.4g}"
              f" at r = {table['r'][top]:.4g} {unit}".rstrip())


def _print_grid(f):
    unit = labels.plain(f.length())
    text = " x ".join(str(n) for n in f.cells) + " cells"
    text += ", " + " x ".join(f"{f.faces(d)[-1] - f.faces(d)[0]:.6g}"
                              for d in range(3)) + f" {unit}".rstrip()
    z = numpy.diff(f.faces(2))
    if f.stretched:
        text += f", stretched in z: {z.min():.4g} to {z.max():.4g}"
    start = [f.faces(d)[0] for d in range(3)]
    if any(abs(x) > 1e-12 for x in start):
        text += ", from (" + ", ".join(f"{x:.6g}" for x in start) + ")"
    _line("grid", text)


def _print_fields(f):
    print(f"\n  {'':28}{'least':>13}{'greatest':>13}{'mean':>13}{'rms':>13}")
    for name in f.names:
        values = f.values(name).astype(float)
        unit = labels.plain(f.field_unit(name))
        parts = [(name, values)] if values.ndim == 3 else [
            (f"{name}_{axis}", values[..., i])
            for i, axis in enumerate(frames.AXES)]
        for title, v in parts:
            print(f"  {title.replace('_', ' '):28}{v.min():13.6g}"
                  f"{v.max():13.6g}{v.mean():13.6g}"
                  f"{numpy.sqrt((v ** 2).mean()):13.6g}   {unit}".rstrip())


def _show_frame(path, deck):
    with frames.Frame(path) as f:
        if deck:
            print(f.deck, end="")
            return 0
        unit = labels.plain(f.frame_time_unit())
        print(f"{path}  {_size(os.path.getsize(path))}  step {f.step}, time "
              f"{f.time:.6g} {unit}".rstrip())
        if f.run.get("title"):
            _line("title", f.run["title"])
        _print_run(f)
        _print_deck(f)
        _print_grid(f)
        _print_fields(f)
    return 0


def _show_series(path, deck):
    listed = frames.frames_of(path)
    if deck:
        return _show_frame(listed[-1][0], deck)
    here = [os.path.getsize(p) for p, _ in listed if os.path.exists(p)]
    print(f"{path}  {labels.count(len(listed), 'frame')}, {_size(sum(here))}, "
          f"times {listed[0][1]:.6g} to {listed[-1][1]:.6g}")
    for p, _ in listed:
        if not os.path.exists(p):
            print(f"  missing: {p}")
    print()
    return _show_frame(listed[-1][0], deck)


def _print_profiles(r):
    for name in r.tables():
        if name.startswith(("radial_distribution", "displacement")):
            continue
        table = r.table(name)
        rows = max((len(c) for c in table.values()), default=0)
        _line("table", f"{name}: {labels.count(rows, 'row')} of "
              + ", ".join(table))


def run(path, deck=False):
    """Print; returns the exit status."""
    if frames.is_series(path):
        return _show_series(path, deck)
    with Result(path) as r:
        if r.is_frame:
            return _show_frame(path, deck)
        if deck:
            print(r.deck, end="")
            return 0
        reached = _reached(r)
        print(f"{path}  {_size(os.path.getsize(path))}  {_state(r, reached)}")
        if r.run.get("title"):
            _line("title", r.run["title"])
        _print_run(r)
        _print_deck(r)
        _print_system(r)
        _print_progress(r, reached)
        _print_speed(r, reached)
        _print_results(r)
        _print_tables(r)
        _print_profiles(r)
    return 0
