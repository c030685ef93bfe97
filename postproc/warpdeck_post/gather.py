"""A table of the runs of a sweep: what differs in their decks, and what came
out."""

import os

import numpy

from . import labels
from .errors import PostError, cannot_write
from .export import _open
from .result import Result

BLOCKS = 8
LINE, FEWEST = 240, 6  # letters of a line on the screen; columns in any case


def _files(folder):
    """Result files in the folder and those below, by member."""
    if not os.path.isdir(folder):
        raise PostError(f"'{folder}' is not a folder")
    found = []
    for here, folders, names in os.walk(folder):
        folders.sort()
        # A run that was killed while it wrote has left NAME.h5.tmp.
        results = {n.removesuffix(".tmp") for n in names}
        found += [os.path.join(here, n) for n in results
                  if n.endswith(".h5") and ".ckpt." not in n]
    # Members are numbered, and 10 comes after 9.
    def order(path):
        parts = os.path.relpath(path, folder).split(os.sep)
        return [(0, int(p.split("_")[0]), p) if p.split("_")[0].isdigit()
                else (1, 0, p) for p in parts]
    return sorted(found, key=order)


def _flat(deck):
    """The resolved deck, in which a line is a key, as {"md.pair.cutoff":
    "2.5"}; of repeated sections, "output.slice.0.name"."""
    flat, section, seen = {}, "", {}
    for line in deck.splitlines():
        line = line.strip()
        if line.startswith("[[") and line.endswith("]]"):
            name = line.strip("[] ")
            seen[name] = seen.get(name, -1) + 1
            section = f"{name}.{seen[name]}"
        elif line.startswith("[") and line.endswith("]"):
            section = line.strip("[] ")
        elif "=" in line and not line.startswith("#"):
            key, value = line.split("=", 1)
            flat[f"{section}.{key.strip()}"] = value.strip().strip('"')
    return flat


def _mean(values):
    """Over the second half, with the error that blocks of it show."""
    half = values[len(values) // 2:]
    half = half[numpy.isfinite(half)]
    if len(half) == 0:
        return float("nan"), float("nan")
    n = min(BLOCKS, len(half))
    if n < 2:
        return float(half.mean()), float("nan")
    means = [b.mean() for b in numpy.array_split(half, n)]
    return float(half.mean()), float(numpy.std(means, ddof=1) / n ** 0.5)


def _member(path, folder):
    with Result(path) as r:
        values = {}
        for name in r.observables if r.rows else []:
            unit = labels.plain(r.observable_unit(name))
            head = f"{name} [{unit}]" if unit else name
            values[head] = _mean(r.observable(name))
        return {"folder": os.path.relpath(os.path.dirname(path), folder),
                "complete": int(r.complete),
                "step": int(r.row_steps()[-1]) if r.rows else 0,
                "deck": _flat(r.resolved_deck), "values": values}


def _differing(members):
    """Keys that do not have one value in all decks."""
    keys = dict.fromkeys(k for m in members for k in m["deck"])
    return [k for k in keys
            if len({m["deck"].get(k) for m in members}) > 1]


def _text(value):
    if isinstance(value, float):
        return f"{value:.17g}"
    text = "" if value is None else str(value)
    return '"' + text.replace('"', '""') + '"' if "," in text else text


def _short(text):
    """Of a cell of the file, for the screen."""
    if text.startswith('"'):
        return text[1:-1].replace('""', '"')
    try:
        number = float(text)
    except ValueError:
        return text
    return text if number == int(number) else f"{number:.6g}"


def _print(heads, rows):
    """The table on the screen, without the errors of the means, as many columns
    as a long line has; returns how many are left out."""
    shown = [i for i, h in enumerate(heads) if not h.startswith("error of ")]
    room = LINE
    for n, i in enumerate(shown):
        room -= 2 + max(len(_short(row[i])) for row in [heads] + rows)
        if room < 0 and n > FEWEST:
            left_out = len(shown) - n
            shown = shown[:n]
            break
    else:
        left_out = 0
    cells = [[heads[i] for i in shown]] + [
        [_short(row[i]) if row[i] not in ("nan", "inf", "-inf") else row[i]
         for i in shown] for row in rows]
    width = [max(len(row[i]) for row in cells) for i in range(len(shown))]
    for row in cells:
        print("  ".join([row[0].ljust(width[0])] + [
            c.rjust(w) for c, w in zip(row[1:], width[1:])]).rstrip())
    return left_out


def _columns(heads, name):
    """Where columns of that name are; its unit need not be said, nor the sections
    of a key. Runs of other units have columns of their own."""
    for fits in (lambda h: h == name, lambda h: h.split(" [")[0] == name,
                 lambda h: h.split(".")[-1] == name):
        found = [i for i, head in enumerate(heads) if fits(head)]
        if found:
            return found
    raise PostError(f"no column '{name}'; there are " + ", ".join(
        h for h in heads if not h.startswith("error of ")))


def _numbers(rows, i, name):
    try:
        return numpy.array([float(row[i] or "nan") for row in rows])
    except ValueError:
        raise PostError(f"the column '{name}' has words, not numbers") from None


def _both(heads, rows, names):
    """Of the columns of two names those that most runs have both of, and which
    runs these are."""
    most = None
    for a in _columns(heads, names[0]):
        for b in _columns(heads, names[1]):
            there = numpy.isfinite(_numbers(rows, a, names[0]) +
                                   _numbers(rows, b, names[1]))
            if most is None or there.sum() > most[1].sum():
                most = (a, b), there
    if not most[1].any():
        raise PostError(f"no run has both '{names[0]}' and '{names[1]}'")
    return most[0], [row for row, is_there in zip(rows, most[1]) if is_there]


def _words(head):
    """Of a column, without its unit."""
    words = head.split(" [")[0].split(".")[-1].replace("_", " ")
    return words[:1].upper() + words[1:]


def _draw(heads, rows, names, path):
    """y over x, a point a run, with the errors of the means."""
    from . import plot
    plot.check_ending(path)
    runs = labels.count(len(rows), "run")
    at, rows = _both(heads, rows, names)
    if labels.count(len(rows), "run") != runs:
        runs = f"{len(rows)} of {runs}"
    x, y = (_numbers(rows, i, name) for i, name in zip(at, names))
    errors = [_numbers(rows, heads.index("error of " + heads[i]), heads[i])
              if "error of " + heads[i] in heads else None for i in at]
    order = numpy.argsort(x, kind="stable")
    sort = [None if e is None else numpy.nan_to_num(e[order]) for e in errors]
    plot.panels.style(plot.matplotlib)
    figure = plot.framed(7, 4.9)
    figure.suptitle(f"{_words(heads[at[1]])} over {_words(heads[at[0]]).lower()}",
                    x=0.02, y=1 - 0.14 / 4.9, ha="left", va="top",
                    fontsize=14, fontweight="bold")
    figure.text(0.02, 1 - 0.46 / 4.9, f"{runs}, means of the "
                "second half with their errors", ha="left", va="top",
                fontsize=9.5, color="0.35")
    axes = figure.add_subplot()
    axes.errorbar(x[order], y[order], xerr=sort[0], yerr=sort[1], marker="o",
                  markersize=4, linewidth=1.0, capsize=2.5,
                  color=plot.panels.COLORS[0])
    for i, put in zip(at, (axes.set_xlabel, axes.set_ylabel)):
        name, _, unit = heads[i].rstrip("]").partition(" [")
        put(labels.axis(name.replace("_", " "), labels.drawn(unit)))
    try:
        plot.panels.powers(figure)
        figure.savefig(path)
    except OSError as error:
        raise cannot_write(path, error) from None
    plot.pyplot.close(figure)
    print(f"wrote {path}")


def run(folder, output, plotted=None):
    """Write, and draw one column over another; returns the exit status."""
    members = []
    for path in _files(folder):
        try:
            members.append(_member(path, folder))
        except PostError as error:
            print(f"warning: {error}; it is left out")
    if not members:
        raise PostError(f"there are no results in '{folder}'")
    keys = _differing(members)
    names = list(dict.fromkeys(k for m in members for k in m["values"]))
    heads = ["folder", *keys, "complete", "step"]
    for name in names:
        heads += [name, "error of " + name]
    rows = []
    for m in members:
        row = [m["folder"], *(_text(m["deck"].get(k)) for k in keys),
               str(m["complete"]), str(m["step"])]
        for name in names:
            row += [_text(x) for x in
                    m["values"].get(name, (float("nan"), float("nan")))]
        rows.append(row)
    left_out = _print(heads, rows)
    output = output or os.path.join(folder, "gathered.csv")
    with _open(output) as out:
        for row in [heads] + rows:
            out.write(",".join(row) + "\n")
    print(f"wrote {output} ({labels.count(len(rows), 'row')}" + (
        f", with {labels.count(left_out, 'column')} more)" if left_out else ")"))
    if plotted:
        _draw(heads, rows, plotted, os.path.splitext(output)[0] + ".png")
    return 0
