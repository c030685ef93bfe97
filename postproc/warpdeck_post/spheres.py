"""A picture of particles as shaded spheres in their box.

Painter's algorithm: from the farthest to the nearest, a small picture of a lit
sphere is pasted for each particle. Drawn at twice the size and averaged, so that
edges are smooth. Parallel projection; what is far fades into the background.
"""

import numpy

from .errors import PostError

# Directions of the picture's right, up, and towards the viewer: a look from the
# front, the right and above.
AZIMUTH, ELEVATION = 28.0, 20.0  # degrees
_LIGHT = numpy.array([-0.45, 0.6, 0.66])
_MOST_FAR = 0.45  # how much of the background the farthest particle takes
_DENSE_SHELL = 4000  # above so many particles, hidden ones are left out


def view(azimuth=AZIMUTH, elevation=ELEVATION):
    """The rotation: rows are right, up, towards the viewer."""
    ca, sa = numpy.cos(numpy.radians(azimuth)), numpy.sin(
        numpy.radians(azimuth))
    ce, se = numpy.cos(numpy.radians(elevation)), numpy.sin(
        numpy.radians(elevation))
    right = [ca, sa, 0.0]
    toward = [ce * sa, -ce * ca, se]
    up = [-se * sa, se * ca, ce]
    return numpy.array([right, up, toward])


def _sprite(radius):
    """Brightness, highlight and coverage of a sphere of `radius` pixels."""
    reach = int(numpy.ceil(radius))
    y, x = numpy.mgrid[reach:-reach - 1:-1, -reach:reach + 1] / radius
    r2 = x * x + y * y
    z = numpy.sqrt(numpy.clip(1.0 - r2, 0.0, None))
    light = _LIGHT / numpy.linalg.norm(_LIGHT)
    lit = numpy.clip(x * light[0] + y * light[1] + z * light[2], 0.0, None)
    bright = 0.36 + 0.64 * lit
    bright *= 0.55 + 0.45 * numpy.sqrt(z)  # a dark rim parts neighbors
    glint = 0.55 * lit ** 28
    cover = numpy.clip((1.0 - numpy.sqrt(r2)) * radius + 0.5, 0.0, 1.0)
    return bright[..., None], glint[..., None], cover[..., None]


class Scene:
    """Particles in a box from 0 on, seen from the front, right and above if
    nothing else is asked for. edges: lengths [3] or, with any angles, vectors as
    rows [3][3]; units are those of the positions."""

    def __init__(self, edges, pixels, azimuth=AZIMUTH, elevation=ELEVATION):
        edges = numpy.asarray(edges, dtype=float)
        self.edges = edges if edges.ndim == 2 else numpy.diag(edges)
        self.rotation = view(azimuth, elevation)
        corners = numpy.array([[i, j, k] for i in (0, 1) for j in (0, 1)
                               for k in (0, 1)]) @ self.edges
        seen = corners @ self.rotation.T
        self.low, self.high = seen.min(axis=0), seen.max(axis=0)
        if not numpy.all(self.high[:2] > self.low[:2]):
            raise PostError("the box has no volume: nothing to draw")
        self.pixels = pixels
        # Columns: across the faces, as long as one over the faces' distance.
        self.across = numpy.linalg.inv(self.edges)

    def is_dense(self, count, radius):
        """Whether what lies deep inside cannot be seen."""
        return (count > _DENSE_SHELL and
                count * radius ** 3 / abs(numpy.linalg.det(self.edges))
                >= 0.03)

    def visible(self, position, radius):
        """Those near the faces that are seen, where they lie densely."""
        depth = 8.0 * radius
        keep = numpy.zeros(len(position), dtype=bool)
        share = position @ self.across
        for d, normal in enumerate(self.across.T):
            size = numpy.linalg.norm(normal)
            toward = self.rotation[2] @ normal / size
            if toward > 1e-6:
                keep |= share[:, d] > 1 - depth * size
            elif toward < -1e-6:
                keep |= share[:, d] < depth * size
        return keep

    def extent(self, margin):
        """Left, right, bottom, top of the picture."""
        return (self.low[0] - margin, self.high[0] + margin,
                self.low[1] - margin, self.high[1] + margin)

    def lines(self, front):
        """The edges of the box that are in front of the particles (or behind),
        as pairs of points in the picture."""
        hidden = numpy.where(self.rotation[2] @ self.across > 0, 0, 1)
        found = []
        for axis in range(3):
            b, c = [d for d in range(3) if d != axis]
            for i in (0, 1):
                for j in (0, 1):
                    start = i * self.edges[b] + j * self.edges[c]
                    end = start + self.edges[axis]
                    behind = i == hidden[b] and j == hidden[c]
                    if behind != front:
                        found.append((self.rotation @ start,
                                      self.rotation @ end))
        return [(p[:2], q[:2]) for p, q in found]

    def paint(self, position, colors, radius):
        """An RGBA picture and its extent. colors: [n][3] in 0 to 1; radius:
        [n]."""
        margin = 1.6 * float(radius.max(initial=0.0))
        left, right, bottom, top = self.extent(margin)
        scale = 2 * self.pixels / max(right - left, top - bottom)
        shape = (2 * int(numpy.ceil((top - bottom) * scale / 2)),
                 2 * int(numpy.ceil((right - left) * scale / 2)))
        sizes, kind = numpy.unique(radius, return_inverse=True)
        sprites = [_sprite(max(size * scale, 1.5)) for size in sizes]
        seen = position @ self.rotation.T
        colors = self._fade(seen[:, 2], colors)
        reaches = [s[0].shape[0] // 2 for s in sprites]
        reach = max(reaches, default=0)
        column = numpy.rint((seen[:, 0] - left) * scale).astype(int)
        row = numpy.rint((top - seen[:, 1]) * scale).astype(int)
        canvas = numpy.zeros((shape[0] + 4 * reach, shape[1] + 4 * reach, 4))
        for i in numpy.argsort(seen[:, 2], kind="stable"):
            shift = 2 * reach - reaches[kind[i]]
            self._paste(canvas, sprites[kind[i]], row[i] + shift,
                        column[i] + shift, colors[i])
        canvas = canvas[2 * reach:2 * reach + shape[0],
                        2 * reach:2 * reach + shape[1]]
        return self._halve(canvas), (left, left + shape[1] / scale,
                                     top - shape[0] / scale, top)

    def _fade(self, depth, colors):
        span = self.high[2] - self.low[2]
        far = _MOST_FAR * numpy.clip((self.high[2] - depth) / span, 0, 1)
        return numpy.hstack([colors * (1.0 - far[:, None]),
                             far[:, None]])

    @staticmethod
    def _paste(canvas, sprite, row, column, color):
        """`color` is premultiplied: its last number is the share of white."""
        bright, glint, cover = sprite
        size = bright.shape[0]
        part = canvas[row:row + size, column:column + size]
        lit = (color[:3] * bright + color[3] +
               (1.0 - color[3]) * glint).clip(0.0, 1.0)
        part[..., :3] += cover * (lit - part[..., :3])
        part[..., 3:] += cover * (1.0 - part[..., 3:])

    @staticmethod
    def _halve(canvas):
        """The mean of 2 x 2 pixels, with color weighted by coverage."""
        h, w = canvas.shape[0] // 2, canvas.shape[1] // 2
        small = canvas.reshape(h, 2, w, 2, 4).mean(axis=(1, 3))
        alpha = small[..., 3:]
        small[..., :3] = numpy.where(
            alpha > 0, small[..., :3] / numpy.maximum(alpha, 1e-9), 0.0)
        return small.clip(0.0, 1.0)
