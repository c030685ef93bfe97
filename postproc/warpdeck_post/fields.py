"""A field of a frame as numbers on an even grid that fits into memory: cells are
taken together where there are too many, and a stretched z is made even."""

import numpy

from . import frame, labels
from .errors import PostError

DERIVED = ("q_criterion", "vorticity", "speed")


class Grid:
    """values: [z][y][x]; start: centers of the first cell, and step, in x, y,
    z; low, high: the box; taken: how many cells went into one, each way."""

    def __init__(self, values, start, step, low, high, taken):
        self.values, self.start, self.step = values, start, step
        self.low, self.high, self.taken = low, high, taken


def _shares(n, most):
    return max(1, -(-n // most))


def _blocks(values, axis, share):
    """Means of `share` neighbors; the last may be of fewer."""
    if share == 1:
        return values
    at = numpy.arange(0, values.shape[axis], share)
    total = numpy.add.reduceat(values, at, axis=axis)
    counts = numpy.diff(numpy.append(at, values.shape[axis]))
    shape = [1] * values.ndim
    shape[axis] = len(at)
    return total / counts.reshape(shape).astype(values.dtype)


def _reduced(f, name, most, of):
    """`of` planes [z][y][x](...) of a dataset, with cells taken together."""
    data = f.dataset(name)
    share = [_shares(n, most) for n in f.cells]  # x, y, z
    plane = data.dtype.itemsize * int(numpy.prod(data.shape[1:]))
    planes = max(1, (1 << 26) // max(plane, 1)) // share[2] * share[2]
    found = []
    for z in range(0, data.shape[0], max(planes, share[2])):
        values = of(data[z:z + max(planes, share[2])].astype("f4", copy=False))
        for axis, s in ((0, share[2]), (1, share[1]), (2, share[0])):
            values = _blocks(values, axis, s)
        found.append(values.astype("f4", copy=False))
    return numpy.concatenate(found), share


def _centers(f, d, share):
    return _blocks(f.centers(d).astype(float), 0, share)


def _even(values, z):
    """Onto as many even heights."""
    even = numpy.linspace(z[0], z[-1], len(z))
    after = numpy.clip(numpy.searchsorted(z, even), 1, len(z) - 1)
    weight = ((even - z[after - 1]) / (z[after] - z[after - 1])).astype("f4")
    weight = weight.reshape(-1, *[1] * (values.ndim - 1))
    return values[after - 1] * (1 - weight) + values[after] * weight, even


def _magnitude(values):
    return numpy.sqrt((values ** 2).sum(axis=3)) if values.ndim == 4 else values


def _gradient(u, component, along, step):
    return numpy.gradient(u[..., component], step[along], axis=2 - along,
                          edge_order=1)


def _derive(name, u, step):
    """Of a velocity [z][y][x][3], by central differences."""
    if min(u.shape[:3]) < 2:
        raise PostError(f"{name} needs two cells at least in each direction")
    if name == "vorticity":
        out = numpy.zeros(u.shape[:3], "f4")
        for a, b in ((1, 2), (2, 0), (0, 1)):
            out += (_gradient(u, b, a, step) - _gradient(u, a, b, step)) ** 2
        return numpy.sqrt(out)
    out = numpy.zeros(u.shape[:3], "f4")  # -1/2 du_i/dx_j du_j/dx_i
    for i in range(3):
        out -= 0.5 * _gradient(u, i, i, step) ** 2
        for j in range(i):
            out -= _gradient(u, i, j, step) * _gradient(u, j, i, step)
    return out


def default(f):
    """What to draw where nothing is said."""
    if "q_criterion" in f.names or "velocity" in f.names:
        return "q_criterion"
    if not f.names:
        raise PostError(f"'{f.path}' has no fields")
    return f.names[0]


def label(f, name):
    """With its unit, where that is known."""
    title = name.replace("_", " ")
    if name in DERIVED and name not in f.names:
        unit = f.field_unit("velocity") if name == "speed" else ""
        return labels.axis("speed" if name == "speed" else title, unit)
    base, _ = f.scalar(name)
    if f.dataset(base).ndim == 4 and name == base:
        title = "magnitude of " + title
    return labels.axis(title, f.field_unit(base))


def read(f, name, most):
    """The Grid of a field, a component, a magnitude, or of DERIVED."""
    derived = name in DERIVED and name not in f.names
    if derived and "velocity" not in f.names:
        raise PostError(f"'{f.path}' has no field '{name}', and no velocity to "
                        "work it out from")
    base, component = ("velocity", None) if derived else f.scalar(name)
    if name == "speed" and derived or not derived and component is None:
        of = _magnitude
    elif derived:
        def of(v):
            return v
    else:
        def of(v):
            return v[..., component]
    values, share = _reduced(f, base, most, of)
    centers = [_centers(f, d, share[d]) for d in range(3)]
    if f.stretched and len(centers[2]) > 1:
        values, centers[2] = _even(values, centers[2])
    step = [float(c[1] - c[0]) if len(c) > 1 else
            float(numpy.ptp(f.faces(d))) for d, c in enumerate(centers)]
    if derived and name != "speed":
        values = _derive(name, values, step)
    return Grid(numpy.ascontiguousarray(values, "f4"),
                [float(c[0]) for c in centers], step,
                [float(f.faces(d)[0]) for d in range(3)],
                [float(f.faces(d)[-1]) for d in range(3)], share)
