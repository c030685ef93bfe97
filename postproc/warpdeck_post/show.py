"""One screen of words: what ran, how far, how fast, with what result."""

import os

from . import facts, labels
from . import frame as frames
from .result import Result

WIDTH = 78


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


def _print_results(r):
    rows = facts.results(r)
    if not rows:
        return
    print(f"\n  {'':28}{'first':>13}{'last':>13}{'mean':>13}{'spread':>10}"
          "   (second half)")
    for row in rows:
        print(f"  {row.title:28}{row.first:13.6g}{row.last:13.6g}"
              f"{row.mean:13.6g}{row.spread:10.2g}   {row.unit}".rstrip())


def _print_fields(f):
    print(f"\n  {'':28}{'least':>13}{'greatest':>13}{'mean':>13}{'rms':>13}")
    for v in facts.fields(f):
        print(f"  {v.title:28}{v.low:13.6g}{v.high:13.6g}{v.mean:13.6g}"
              f"{v.rms:13.6g}   {v.unit}".rstrip())


def _cell(value):
    return f"{value:.7g}" if isinstance(value, float) else str(value)


def _print_table(r, name):
    """A table of positions and the like, as many columns as fit."""
    heads, rows = r.cells(name, 12)
    cells = [heads] + [[_cell(v) for v in row] for row in rows]
    width = [max(len(row[i]) for row in cells) for i in range(len(heads))]
    shown, used = [], 0
    for i, w in enumerate(width):
        if used + w + 2 <= WIDTH - 2:
            shown.append(i)
            used += w + 2
    total = r.table_rows(name)
    print(f"\n  {name}" + (f", the first {len(rows)} of {total} rows"
                           if total > len(rows) else "")
          + (f", {len(shown)} of {len(heads)} columns"
             if len(shown) < len(heads) else ""))
    for row in cells:
        print("  " + "  ".join(
            row[i].ljust(width[i]) if isinstance((rows or [row])[0][i], str)
            else row[i].rjust(width[i]) for i in shown).rstrip())


def _show_frame(path, deck):
    with frames.Frame(path) as f:
        if deck:
            print(f.deck, end="")
            return 0
        unit = labels.plain(f.frame_time_unit())
        print(f"{path}  {facts.size(os.path.getsize(path))}  step {f.step}, "
              f"time {f.time:.6g} {unit}".rstrip())
        if f.run.get("title"):
            _line("title", f.run["title"])
        for head, text in facts.run(f):
            _line(head, text)
        _print_deck(f)
        _line("grid", facts.grid(f))
        _print_fields(f)
    return 0


def _show_series(path, deck):
    listed = frames.frames_of(path)
    if deck:
        return _show_frame(listed[-1][0], deck)
    here = [os.path.getsize(p) for p, _ in listed if os.path.exists(p)]
    print(f"{path}  {labels.count(len(listed), 'frame')}, "
          f"{facts.size(sum(here))}, "
          f"times {listed[0][1]:.6g} to {listed[-1][1]:.6g}")
    for p, _ in listed:
        if not os.path.exists(p):
            print(f"  missing: {p}")
    print()
    return _show_frame(listed[-1][0], deck)


def _show_result(r):
    # Before the first word: a damaged file is to give one line.
    words = (("system", facts.system(r)), ("reached", facts.progress(r)),
             ("time", facts.speed(r)))
    print(f"{r.path}  {facts.size(r.file.id.get_filesize())}  {facts.state(r)}")
    if r.run.get("title"):
        _line("title", r.run["title"])
    for head, text in facts.run(r):
        _line(head, text)
    _print_deck(r)
    for head, text in words:
        if text:
            _line(head, text)
    _print_results(r)
    for name, text in facts.peaks(r) + facts.coefficients(r):
        print(f"  {name:28}{text}")
    for name, rows, columns in facts.other_tables(r):
        _line("table", f"{name}: {labels.count(rows, 'row')} of "
              + ", ".join(columns))
    for name in r.risk_tables():
        _print_table(r, name)


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
        _show_result(r)
    return 0
