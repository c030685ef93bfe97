"""A running job in the terminal: how far, how long still, what it observes, how
old its checkpoint is.

The file is opened for reading alone and without locks, read, and closed before
anything is shown, so the run is never hindered. While a run writes, what is read
may be torn: that is done by a process of its own, which may fail, and is tried
again.
"""

import glob
import os
import pickle
import re
import select
import shutil
import signal
import sys
import time
from collections import namedtuple

import numpy

from . import facts, labels, logs
from .errors import PostError
from .opening import changed, is_there
from .result import Result

TRYING, PAUSE, LIMIT = 3.0, 0.05, 20.0  # of reading; seconds
POINTS = 40  # of a small graph
SHOWN = ("temperature", "pressure", "total_energy", "conserved_energy",
         "kinetic_energy", "dissipation", "divergence", "nusselt",
         "reynolds_tau", "portfolio_value", "standard_error")
MOST = 6
BLOCKS, PLAIN = "▁▂▃▄▅▆▇█", ".:-=+*#@"
RUNNING, STALLED = "running", "stalled"

Series = namedtuple("Series", "name last unit points")


class Look:
    """What a look at the file has found."""

    def __init__(self, r):
        self.title, self.complete = r.title, r.complete
        self.rows, self.frames = r.rows, r.frames
        self.step = facts.reached(r)
        self.progress = facts.progress(r)
        self.series = _series(r)
        resumed = r.resumed()
        start = resumed[-1][1] if resumed else r.run.get("start")
        begun, ended = facts.when(start), facts.when(r.run.get("end"))
        self.begun = begun.timestamp() if begun else None
        # An end may be that of an earlier job.
        self.ended = bool(ended and begun and ended >= begun)
        first = resumed[-1][0] if resumed else 0
        self.done, self.before = _share(r, self.step, first)
        self.new_rows = _rows_after(r, first)


def _rows_after(r, step):
    return int((r.row_steps() > step).sum()) if r.rows else 0


def _share(r, step, first):
    """How much is done, and how much was when this job began; 0 to 1, or None
    where the deck does not say when it ends."""
    if step is None:
        return 0.0, 0.0
    if r.is_risk:
        wanted = _number(r.deck_value("risk", "paths"))
    else:
        wanted = r.time_wanted
    if wanted and r.rows:
        times = r.row_times()
        at = times[r.row_steps() <= first]
        before = float(at[-1]) if first and len(at) else 0.0
        return min(float(times[-1]) / wanted, 1.0), min(before / wanted, 1.0)
    if r.steps_wanted:
        return min(step / r.steps_wanted, 1.0), min(first / r.steps_wanted, 1.0)
    return None, None


def _number(text):
    try:
        return float((text or "").split("#")[0].replace("_", ""))
    except ValueError:
        return None


def _series(r):
    """The last of each observable, with its course."""
    found = []
    if r.rows == 0:
        return found
    names = [n for n in SHOWN if n in r.observables] + [
        n for n in r.observables if n not in SHOWN]
    for name in names[:MOST]:
        values = r.file[f"observables/{name}/value"]
        stride = max(1, r.rows // POINTS)
        points = values[(r.rows - 1) % stride:r.rows:stride][-POINTS:]
        scale = 1
        if labels.quantity(name) == "energy" and r.particle_count:
            scale, name = r.particle_count, name + "/N"
        found.append(Series(name.replace("_", " "), float(points[-1]) / scale,
                            labels.plain(r.observable_unit(name.split("/")[0])),
                            (points / scale).tolist()))
    return found


# ---- reading beside a writer ----

def _read(path):
    """A look, or the words of an error."""
    try:
        with Result(path) as r:
            if r.is_frame:
                return f"'{path}' is a frame of a grid: watch the NAME.h5"
            return Look(r)
    except PostError as error:
        return str(error)


def _apart(path):
    """_read() by a process of its own; None where it died or did not end."""
    ours, theirs = os.pipe()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            os.close(ours)
            with os.fdopen(theirs, "wb") as out:
                pickle.dump(_read(path), out)
            status = 0
        finally:
            os._exit(status)
    os.close(theirs)
    data, until = b"", time.monotonic() + LIMIT
    while True:
        if not select.select([ours], [], [], max(until - time.monotonic(), 0))[0]:
            os.kill(child, signal.SIGKILL)
            data = b""
            break
        got = os.read(ours, 1 << 16)
        if not got:
            break
        data += got
    os.close(ours)
    _, status = os.waitpid(child, 0)
    return pickle.loads(data) if status == 0 and data else None


def _look(path):
    """A look; an error where all tries fail: a run that writes often may come
    between many of them."""
    until = time.monotonic() + TRYING
    while True:
        found = _apart(path)
        if (isinstance(found, Look) or not is_there(path)
                or time.monotonic() > until):
            break
        time.sleep(PAUSE)
    if isinstance(found, Look):
        return found
    raise PostError(found or f"'{path}' cannot be read, it is being written to "
                    "or damaged")


# ---- what it means ----

def _checkpoint(path):
    """Path and time of the newest, or None."""
    base = re.sub(r"\.h5$", "", path)
    found = []
    for p in glob.glob(glob.escape(base) + ".ckpt.*.h5"):
        try:
            found.append((os.path.getmtime(p), p))
        except OSError:  # just replaced
            pass
    return max(found) if found else None


def _quiet(path, now):
    """Seconds since the last sign of life."""
    times = [changed(path)]
    log, save = logs.path_of(path), _checkpoint(path)
    if os.path.exists(log):
        times.append(os.path.getmtime(log))
    return max(now - max(times + ([save[0]] if save else [])), 0.0)


def _state(look, quiet, patience):
    if look.complete:
        return "complete"
    if look.ended:
        return "stopped before its end"
    if patience is None:
        rows = max(look.new_rows, 1)
        spent = time.time() - quiet - (look.begun or time.time())
        patience = max(60.0, 10.0 * spent / rows)
    return STALLED if quiet > patience else RUNNING


def _left(look, quiet, earlier):
    """Seconds until the end, or None. `earlier`: (time, share) of looks of this
    program; the run's own start is as good where there are none."""
    now = time.time() - quiet
    if look.done is None or look.begun is None:
        return None
    since, before = earlier[0] if len(earlier) > 1 else (
        look.begun, look.before)
    gained = look.done - before
    if not (gained > 0 and now > since):
        return None
    return (1.0 - look.done) * (now - since) / gained


def _spark(points, letters):
    points = numpy.asarray(points)
    fine = numpy.isfinite(points)
    if not fine.any():
        return "?" * len(points)
    low, high = points[fine].min(), points[fine].max()
    span = high - low if high > low else 1.0
    return "".join(
        letters[int((p - low) / span * (len(letters) - 1) + 0.5)]
        if ok else "?" for p, ok in zip(points, fine))


def _unicode():
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    return encoding.lower().replace("-", "") == "utf8"


def _colors():
    return (sys.stdout.isatty() and "NO_COLOR" not in os.environ and
            os.environ.get("TERM", "dumb") != "dumb")


def _paint(text, code):
    return f"\033[{code}m{text}\033[0m" if _colors() else text


def _lines(path, look, state, quiet, earlier):
    color = {"complete": 32, RUNNING: 36}.get(state, 31)
    lines = [f"{path}  {_paint(state, color)}", f"  {look.progress}"]
    if look.done is not None:
        full = int(40 * look.done)
        bar = ("█" if _unicode() else "#") * full + "." * (40 - full)
        text = f"  [{bar}] {100 * look.done:.0f} %"
        left = _left(look, quiet, earlier) if state == RUNNING else None
        if left is not None:
            text += f", about {facts.duration(left)} left"
        lines.append(text)
    letters = BLOCKS if _unicode() else PLAIN
    for s in look.series:
        lines.append(f"  {s.name:22}{s.last:13.6g} {s.unit:16}"
                     f"{_paint(_spark(s.points, letters), 34)}")
    now, save = time.time(), _checkpoint(path)
    lines.append(f"  {'checkpoint':22}" + (
        f"{os.path.basename(save[1])}, {facts.duration(now - save[0])} ago"
        if save else "none yet"))
    if not look.complete:
        lines.append(f"  {'last sign of life':22}"
                     f"{facts.duration(quiet)} ago")
    if state == STALLED:
        lines.append("  nothing has been written for much longer than usual: the "
                     "run was probably killed")
        lines.append("  go on with it by: warpdeck run DECK --resume auto" if save else
                     "  there is no checkpoint to go on from")
    return lines


def _show(lines, height):
    """In place of what stood there; returns the new height."""
    columns = shutil.get_terminal_size().columns
    if not _colors():
        print("\n".join(lines), flush=True)
        return 0
    plain = re.compile(r"\033\[\d+m")
    cut = [line if len(plain.sub("", line)) < columns else
           plain.sub("", line)[:columns - 1] for line in lines]
    back = f"\033[{height}A" if height else ""
    print(back + "".join(f"\r\033[K{line}\n" for line in cut) + "\033[J",
          end="", flush=True)
    return len(cut)


def _once(path, patience, earlier):
    look = _look(path)
    quiet = _quiet(path, time.time())
    state = _state(look, quiet, patience)
    earlier.append((time.time() - quiet, look.done))
    return state, _lines(path, look, state, quiet, earlier[-20:])


def run(path, once=False, every=2.0, patience=None):
    """Show until the run has ended; returns the exit status: 0, or 1 for a run
    that is stalled or stopped before its end."""
    if path.endswith((".hdf", ".hdf.series")):
        raise PostError(f"'{path}' is of frames of a grid: watch the NAME.h5")
    earlier, height, state = [], 0, ""
    while True:
        state, lines = _once(path, patience, earlier)
        height = _show(lines, height)
        # On a terminal a stalled run may be gone on with while one watches.
        over = state not in (RUNNING, STALLED) or (
            state == STALLED and not sys.stdout.isatty())
        if once or over:
            return 0 if state in (RUNNING, "complete") else 1
        time.sleep(every)
