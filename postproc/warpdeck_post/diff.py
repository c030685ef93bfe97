"""Compare the numbers of two result files or frames."""

import h5py
import numpy

from .errors import PostError
from .result import Result

# What a run says about itself: where, when, by which version.
ABOUT = ("run", "h5md")
BLOCK = 1 << 22  # numbers compared at once


def _datasets(result, only):
    """Names of the datasets to compare, with their addresses in the file: one
    of several names (steps and times) has the same address under each."""
    found = {}

    def visit(name):  # all names: visititems would tell one of each dataset
        item = result.file[name]
        if isinstance(item, h5py.Dataset):
            found[name] = h5py.h5o.get_info(item.id).addr
            return
        for key in item:
            visit(f"{name}/{key}")

    for group in result.file:
        if group not in ABOUT:
            visit(group)
    if not only:
        return found
    prefixes = [p.strip("/") for p in only]
    return {name: address for name, address in found.items()
            if any(name == p or name.startswith(p + "/") for p in prefixes)}


def _blocks(dataset):
    """Slices of the first direction that fit in memory."""
    if dataset.ndim == 0:
        yield ()
        return
    row = max(1, int(numpy.prod(dataset.shape[1:])))
    step = max(1, BLOCK // row)
    for first in range(0, dataset.shape[0], step):
        yield slice(first, first + step)


def _worst(a, b, rtol, atol):
    """(by how much, where, how many) the two differ beyond the tolerance, or
    None. NaN equals NaN."""
    worst, where, count = 0.0, None, 0
    for block in _blocks(a):
        x = numpy.asarray(a[block], dtype=float)
        y = numpy.asarray(b[block], dtype=float)
        with numpy.errstate(invalid="ignore"):
            gap = numpy.abs(x - y)
            equal = (gap <= atol + rtol * numpy.abs(y)) | (x == y) | (
                numpy.isnan(x) & numpy.isnan(y))
        if equal.all():
            continue
        count += int((~equal).sum())
        gap[equal] = -1.0
        gap[~equal & numpy.isnan(gap)] = numpy.inf
        top = numpy.unravel_index(int(gap.argmax()), gap.shape)
        if where is None or gap[top] > worst:
            worst = float(gap[top])
            where = list(int(i) for i in top)
            if where:
                where[0] += block.start
    return None if where is None else (worst, where, count)


def _compare(name, a, b, rtol, atol):
    """A line that says how they differ, or None."""
    if a.shape != b.shape:
        return f"{name}: shape {a.shape} and {b.shape}"
    if a.dtype.kind not in "iuf" or b.dtype.kind not in "iuf":
        same = numpy.array_equal(a[()], b[()])
        return None if same else f"{name}: different"
    worst = _worst(a, b, rtol, atol)
    if worst is None:
        return None
    gap, where, count = worst
    at = tuple(where)
    return (f"{name}: {count} of {a.size} numbers differ, most by {gap:.3g} at "
            f"{where}: {a[at]!r} and {b[at]!r}")


def run(path_a, path_b, rtol, atol, only):
    """Print the differences; returns 0 (equal) or 1."""
    with Result(path_a) as a, Result(path_b) as b:
        if a.is_frame != b.is_frame:
            raise PostError("one of the files is a frame, the other is not")
        in_a, in_b = _datasets(a, only), _datasets(b, only)
        if only and not in_a and not in_b:
            raise PostError(f"nothing in the files begins with "
                            f"{' or '.join(only)}")
        different, total, seen = 0, 0, set()
        for name in in_a:
            if name not in in_b:
                line = f"{name}: only in {path_a}"
            elif (in_a[name], in_b[name]) in seen:  # under another name
                continue
            else:
                seen.add((in_a[name], in_b[name]))
                line = _compare(name, a.file[name], b.file[name], rtol, atol)
            total += 1
            if line:
                different += 1
                print(line)
        for name in in_b:
            if name not in in_a:
                different, total = different + 1, total + 1
                print(f"{name}: only in {path_b}")
        print(f"{different} of {total} datasets differ" if different else
              f"{total} datasets are equal")
    return 1 if different else 0
