"""What a file has to say, as pairs of a head and a text and as tables: show
prints them, report sets them in a page."""

from collections import namedtuple
from datetime import datetime, timezone

import numpy

from . import chunks, curves, labels
from . import frame as frames
from .opening import changed

SPECIES = 8  # named in the line of the system

Row = namedtuple("Row", "title first last mean spread unit")
Field = namedtuple("Field", "title low high mean rms unit")


def size(n):
    for unit in "bytes", "kB", "MB", "GB", "TB":
        if n < 1000 or unit == "TB":
            return f"{n} bytes" if unit == "bytes" else f"{n:.3g} {unit}"
        n /= 1000


def duration(seconds):
    """"1:02:03", "12:34", "8 s"."""
    seconds = int(max(seconds, 0) + 0.5)
    if seconds < 60:
        return f"{seconds} s"
    hours, rest = divmod(seconds, 3600)
    text = f"{rest // 60:02d}:{rest % 60:02d}"
    days, hours = divmod(hours, 24)
    return (f"{days} d " if days else "") + (
        f"{hours}:{text}" if hours or days else text)


def when(text):
    try:
        return datetime.strptime(text, "%Y-%m-%dT%H:%M:%SZ").replace(
            tzinfo=timezone.utc)
    except (TypeError, ValueError):
        return None


def reached(r):
    """The last step, or None."""
    steps = [int(s[-1]) for s in (r.row_steps() if r.rows else (),
                                  r.frame_steps() if r.frames else ())
             if len(s)]
    return max(steps, default=None)


def state(r):
    if r.complete:
        return "complete"
    if "end" in r.run:
        return "stopped before its end"
    return "not complete: still running, or killed"


def run(r):
    """What ran, where and how."""
    a = r.run
    cut = " x ".join(str(n) for n in a.get("decomposition", []))
    return [
        ("command", a.get("command", "")),
        ("run", f"{a.get('solver', '?')}, Warpdeck {a.get('version', '?')}"
         f" (git {a.get('git') or 'unknown'}), on {a.get('host')}"),
        ("", f"{labels.count(int(a.get('ranks', 1)), 'rank')} ({cut}) x "
         f"{labels.count(int(a.get('threads', 1)), 'thread')}, "
         f"{a.get('device')}, {a.get('precision')}"
         + (f", {a.get('units')} units" if r.is_md else ""))]


def system(r):
    """Particles and their box, or None."""
    n = r.particle_count
    if n is None:
        return None
    text = labels.count(n, "particle")
    names, counts = r.species_counts()
    if len(names) > 1:
        # Species of a data file may be called "1", "2" and so on.
        of = "of " if all(name.isdigit() for name in names) else ""
        listed = [f"{c} {of}{name}" for name, c in zip(names, counts)]
        if len(listed) > SPECIES:  # a force field has dozens
            rest = len(listed) - SPECIES
            listed[SPECIES:] = [f"and {rest} species more"]
        text += " (" + ", ".join(listed) + ")"
    if r.frames:
        edges, _ = r.box(r.frames - 1)
        unit = labels.plain(r.length_unit())
        text += ", box " + " x ".join(f"{e:.6g}" for e in edges) + f" {unit}"
        tilt = r.lattice(r.frames - 1)[0][[1, 2, 2], [0, 0, 1]]
        if tilt.any():
            text += ", tilted by " + ", ".join(f"{t:.6g}" for t in tilt)
        if edges.prod() > 0:
            text += f", density {n / edges.prod():.5g} {unit}^-3"
    return text


def progress(r):
    """How far it came."""
    at, wanted = reached(r), r.steps_wanted
    text = "nothing yet"
    if at is not None:
        text = f"step {at}"
        if wanted is not None:
            text += f" of {wanted}"
    if r.is_risk and r.rows:  # its time is the number of paths
        text += f", {r.row_times()[-1]:.0f} paths"
    elif r.rows:
        unit = labels.plain(r.time_unit())
        text += f", time {r.row_times()[-1]:.6g} {unit}".rstrip()
        if r.time_wanted is not None:
            text += f" of {r.time_wanted:g}"
    text += f"; {labels.count(r.rows, 'row')} of observables"
    if r.is_md:
        text += f", {labels.count(r.frames, 'frame')}"
    if r.probes:
        text += f", {labels.count(len(r.probes), 'probe')}"
    return text


def speed(r):
    """When it began, and how fast it was over all, of several jobs the last one;
    or None."""
    start, end, at = when(r.run.get("start")), when(r.run.get("end")), reached(r)
    if start is None or at is None:
        return None
    if end is None:  # the last sign of life
        end = datetime.fromtimestamp(changed(r.path), timezone.utc)
    text, steps = f"{start:%Y-%m-%d %H:%M:%S} UTC, ", at
    if r.rows:  # another run's checkpoint may have been the start
        steps -= int(r.row_steps()[0])
    jobs = r.resumed()
    if jobs:
        start, steps = when(jobs[-1][1]) or start, at - jobs[-1][0]
        text += f"the last of {len(jobs) + 1} jobs took "
    seconds = (end - start).total_seconds()
    text += f"{seconds:.0f} s"
    if seconds >= 1 and steps > 0:
        rate = steps / seconds  # whole seconds: no more than two digits
        text += f": about {rate:.2g} steps/s"
        if r.particle_count:
            text += f", {rate * r.particle_count / 1e6:.2g} M particle-steps/s"
    return text


def results(r):
    """Observables: first, last, mean and spread of the second half. Energies
    are for each particle."""
    found = []
    if r.rows == 0:
        return found
    half, n = r.rows // 2, r.particle_count
    for name in r.observables:
        per_particle = bool(labels.quantity(name) == "energy" and n)
        values = r.observable(name) / (n if per_particle else 1)
        late = values[half:]
        found.append(Row(
            name.replace("_", " ") + ("/N" if per_particle else ""), values[0],
            values[-1], late.mean(), late.std(),
            labels.plain(r.observable_unit(name))))
    return found


def _highest(table, part, unit):
    g, at = table["g"][part], table["r"][part]
    top = int(g.argmax())
    return f"{g[top]:.4g} at r = {at[top]:.4g} {unit}".rstrip()


def peaks(r):
    """The highest points of radial distribution functions."""
    found = []
    for name in r.tables("radial_distribution"):
        table = r.table(name)
        if {"r", "g"} <= table.keys() and len(table["g"]):
            bonds = curves.bonded(table["g"])
            unit = labels.plain(r.column_unit(name, "r", "length"))
            text = "highest " + _highest(table, slice(bonds, None), unit)
            if bonds:
                text += f" (bonded: {_highest(table, slice(bonds), unit)})"
            found.append(("g(r) " + name.split("/")[-1], text))
    return found


def coefficients(r):
    """Of transport, each by the integral of a correlation up to its end."""
    found, tables = [], r.tables()
    name = "velocity_autocorrelation/coefficients"
    if name in tables:
        table = r.table(name)
        unit = labels.plain(r.column_unit(name, "diffusion"))
        kinds = list(zip(table["species"], table["diffusion"]))
        found += [(f"diffusion {k}", f"{d:.4g} {unit}") for k, d in (
            kinds if len(kinds) > 2 else kinds[:1])]
    name = "green_kubo/coefficients"
    if name in tables:
        table = r.table(name)
        unit = labels.plain(r.column_unit(name, "viscosity"))
        found += [("viscosity", f"{' ± '.join(labels.uncertain(v, e))} {unit}")
                  for v, e in zip(table["viscosity"], table["error"])]
    return found


def other_tables(r):
    """Names of finished tables with their rows and columns."""
    found = []
    for name in r.tables():
        if not name.startswith(("radial_distribution", "displacement")) and (
                not name.endswith("/coefficients")):
            columns = r.table_columns(name)
            found.append((name, max(columns.values(), default=0),
                          list(columns)))
    return found


# ---- frames of grids ----

def grid(f):
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
    return text


def fields(f):
    """Range and means of each component of each field."""
    found = []
    for name in f.names:
        data = f.dataset(name)
        parts = [name] if data.ndim == 3 else [
            f"{name}_{axis}" for axis in frames.AXES[:data.shape[3]]]
        moments = [chunks.Moments() for _ in parts]
        for piece in chunks.pieces(data):
            values = data[piece]
            for i, m in enumerate(moments):
                m.add(values if data.ndim == 3 else values[..., i])
        found += [Field(p.replace("_", " "), m.low, m.high, m.mean, m.rms,
                        labels.plain(f.field_unit(name)))
                  for p, m in zip(parts, moments)]
    return found
