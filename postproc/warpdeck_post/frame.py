"""Read a frame of fields on a grid, NAME_000100.hdf, or the list of a row of
them, NAME.hdf.series."""

import json
import os

import numpy

from . import labels
from .errors import PostError
from .opening import text_of
from .result import Result

AXES = "xyz"
SERIES = ".hdf.series"


def is_series(path):
    return path.endswith(SERIES)


def frames_of(path):
    """Paths and times of the frames that a list has."""
    try:
        with open(path, encoding="utf-8") as f:
            files = json.load(f)["files"]
        listed = [(str(entry["name"]), float(entry["time"]))
                  for entry in files]
    except OSError as error:
        raise PostError(f"cannot read '{path}': {error.strerror}") from None
    except (ValueError, KeyError, TypeError):
        raise PostError(f"'{path}' is not a list of frames") from None
    folder = os.path.dirname(path)
    if not listed:
        raise PostError(f"'{path}' lists no frames")
    return [(os.path.join(folder, name), time) for name, time in listed]


class Frame(Result):
    """An open frame. Use it in a with statement."""

    def __init__(self, path):
        super().__init__(path)
        if not self.is_frame:
            self.file.close()
            raise PostError(f"'{path}' is no frame of a grid")
        self._image = self.file["VTKHDF"]
        self._points = self._image["PointData"]

    @property
    def names(self):
        """Names of the fields."""
        return list(self._points)

    @property
    def step(self):
        return int(self._image.attrs["step"])

    @property
    def time(self):
        return float(self._image.attrs["time"])

    def frame_time_unit(self):
        return labels.pretty(text_of(self._image.attrs.get("time_unit", "")))

    def centers(self, d):
        return self.file[f"coordinates/{AXES[d]}"][()]

    def faces(self, d):
        return self.file[f"coordinates/{AXES[d]}_faces"][()]

    @property
    def cells(self):
        """In x, y, z."""
        return tuple(len(self.file[f"coordinates/{a}"]) for a in AXES)

    @property
    def stretched(self):
        z = numpy.diff(self.faces(2))
        return bool(len(z) > 1 and numpy.ptp(z) > 1e-9 * abs(z.mean()))

    def length(self):
        return self.unit(self.file["coordinates/x"], "length")

    def field_unit(self, name):
        return self.unit(self._points[name], "")

    def description(self, name):
        return text_of(self._points[name].attrs.get("description", ""))

    def dataset(self, name):
        """To be read in pieces: [z][y][x], or [z][y][x][component]."""
        return self._points[name]

    def values(self, name):
        """[z][y][x], or [z][y][x][component]."""
        return self._points[name][()]

    def plane(self, name, normal, index):
        """The values in a plane of cells, with its two directions in the order
        of their names reversed, as pictures have rows: [b][a]."""
        at = [slice(None)] * 3
        at[2 - normal] = index
        return self._points[name][tuple(at)]

    def plane_line(self, name, d, point):
        """The values along direction d through a point, linearly between the
        lines of cells about it: [n] or [n][component]. Reads four lines."""
        sides = []
        for k in range(3):
            if k == d:
                sides.append([(None, 1.0)])
                continue
            x = self.centers(k)
            j = int(numpy.clip(numpy.searchsorted(x, point[k]), 1,
                               max(len(x) - 1, 1)))
            if len(x) == 1:
                sides.append([(0, 1.0)])
                continue
            t = float(numpy.clip((point[k] - x[j - 1]) / (x[j] - x[j - 1]),
                                 0, 1))
            sides.append([(j - 1, 1 - t), (j, t)])
        total = 0.0
        for i, a in sides[0]:
            for j, b in sides[1]:
                for k, c in sides[2]:
                    at = tuple(slice(None) if q is None else q
                               for q in (k, j, i))
                    total = total + a * b * c * self._points[name][at]
        return numpy.asarray(total)

    def scalar(self, name):
        """What "velocity", "velocity_z" or "pressure" means here: the field,
        and which component (None: all of it)."""
        if name in self.names:
            return name, None
        base, _, axis = name.rpartition("_")
        if base in self.names and axis in tuple(AXES) and (
                self._points[base].ndim == 4):
            return base, AXES.index(axis)
        raise PostError(f"'{self.path}' has no field '{name}'; there are "
                        + ", ".join(self.names))
