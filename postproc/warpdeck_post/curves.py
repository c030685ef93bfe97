"""What is to be read off curves before they are drawn: the part of g(r) that is
of bonds, where a spectrum ends."""

import numpy

_GAP = 0.03  # of the height that g(r) has at large distances, 1
_STANDS_OUT = 5.0  # shells of a crystal at rest are up to twice each other


def bonded(g):
    """How many of the first values of g(r) belong to peaks of bonds: those that
    a gap parts from the rest, and that tower above all of it. The distances in
    a molecule that hardly vary give such; 0 where there are none."""
    g, end = numpy.asarray(g), 0
    while True:
        rest = numpy.flatnonzero(g[end:] > _GAP)
        if not len(rest):
            return end
        start = end + int(rest[0])
        low = numpy.flatnonzero(g[start:] <= _GAP)
        if not len(low):
            return end
        stop = start + int(low[0])
        beyond = float(g[stop:].max(initial=0.0))
        if not beyond > 0.5 or g[start:stop].max() < _STANDS_OUT * beyond:
            return end
        end = stop


def reach(y, share=0.005):
    """How many of the first values there are until all that follow are small:
    below `share` of the greatest."""
    large = numpy.flatnonzero(numpy.abs(y) > share * numpy.abs(y).max(initial=0))
    return int(large[-1]) + 1 if len(large) else len(y)
