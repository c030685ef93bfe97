"""Read large datasets piece by piece, so that memory does not grow with the
file."""

import numpy

BYTES = 1 << 25  # of a piece


def pieces(dataset, axis=0):
    """Slices along `axis`, of about BYTES each. Of frames of particles,
    [T][N]..., those along axis 1 are of one frame."""
    n = dataset.shape[axis]
    line = dataset.dtype.itemsize * int(
        numpy.prod(dataset.shape[axis + 1:], dtype=numpy.int64))
    yield from rows(n, max(1, BYTES // max(line, 1)))


def rows(n, size=1 << 18):
    """Slices that cut n rows."""
    for start in range(0, n, size):
        yield slice(start, min(start + size, n))


class Moments:
    """Least, greatest, mean and root of the mean square of what was added."""

    def __init__(self):
        self.n, self.low, self.high = 0, numpy.inf, -numpy.inf
        self.sum = self.squares = 0.0

    def add(self, values):
        if values.size == 0:
            return
        values = values.astype(float)
        self.n += values.size
        self.low = min(self.low, float(values.min()))
        self.high = max(self.high, float(values.max()))
        self.sum += float(values.sum())
        self.squares += float((values ** 2).sum())

    @property
    def mean(self):
        return self.sum / self.n if self.n else numpy.nan

    @property
    def rms(self):
        return (self.squares / self.n) ** 0.5 if self.n else numpy.nan

