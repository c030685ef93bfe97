"""What the log of a run says, NAME.log beside NAME.h5: warnings, and how fast it
was. The log is text for people; what isn't found in it is left out."""

import os
import re

MOST = 1 << 22  # bytes that are looked at, from each end


class Log:
    """Words of a log: `head`, `warnings`, `errors`, `rates`, `notes` (lists of
    lines), `phases` (pairs of name and share in percent), `peak` (share of the
    peak in percent, or None), `changed` (when it was last written, or None)."""

    def __init__(self):
        self.head, self.peak, self.changed = "", None, None
        self.warnings, self.errors, self.rates = [], [], []
        self.notes, self.phases = [], []


def path_of(path):
    """The log that belongs to a result file or a frame."""
    base = re.sub(r"(\.hdf\.series|\.h5|_\d+\.hdf|\.hdf)$", "", path)
    return base + ".log"


def _lines(path):
    """Those at its beginning and its end, where a log is very long."""
    with open(path, "rb") as f:
        data = f.read(MOST)
        size = os.fstat(f.fileno()).st_size
        if size > MOST:
            f.seek(max(MOST, size - MOST))
            data += b"\n" + f.read(MOST)
    return data.decode("utf-8", "replace").splitlines()


def _phases(names, shares):
    """Of the line of names and that of shares, "61 %    19 %"."""
    names = re.split(r"\s{2,}", names.strip())[1:]
    shares = re.findall(r"([\d.]+) %", shares)
    return [(n, float(s)) for n, s in zip(names, shares)]


def _closing(log, lines):
    """The lines after the last "N steps in ..."."""
    starts = [i for i, line in enumerate(lines)
              if re.match(r"\d+ steps? in ", line)]
    if not starts:
        return
    closing = lines[starts[-1]:]
    log.rates = [closing[0].strip()]
    for i, line in enumerate(closing[1:], 1):
        if line.startswith(("wrote ", "frames: ", "next: ")):
            break
        if line.startswith("  phase ") and i + 1 < len(closing):
            log.phases = _phases(line, closing[i + 1])
        elif line.startswith(("  time ", "  max/mean")):
            continue
        elif line.startswith("  "):
            log.notes.append(line.strip())
            peak = re.search(r"([\d.]+) % of (?:the )?(?:measured )?\S* ?peak",
                             line)
            log.peak = float(peak[1]) if peak else log.peak


def read(path):
    """The log of the result file `path`; empty where it is not there."""
    log, where = Log(), path_of(path)
    try:
        lines = _lines(where)
        log.changed = os.path.getmtime(where)
    except OSError:
        return log
    log.head = lines[0] if lines else ""
    for line in lines:
        for mark, found in ("warning: ", log.warnings), ("error: ", log.errors):
            if line.startswith(mark):
                found.append(line[len(mark):])
    _closing(log, lines)
    return log
