"""Surfaces and clouds of fields without VTK: rays through an even grid, one a
pixel, parallel to each other."""

import numpy

LIGHT = numpy.array([-0.45, 0.6, 0.66])  # right, up, towards the viewer


class Rays:
    """Those of a spheres.Scene whose box holds the grid. Coordinates are from
    the lower corner of the box on."""

    def __init__(self, scene, grid, pixels):
        left, right, bottom, top = scene.extent(0.0)
        size = max(right - left, top - bottom) / pixels
        nx, ny = int((right - left) / size) + 1, int((top - bottom) / size) + 1
        a = left + (numpy.arange(nx) + 0.5) * size
        b = top - (numpy.arange(ny) + 0.5) * size
        self.shape = (ny, nx)
        self.extent = (left, left + nx * size, top - ny * size, top)
        self.rotation = scene.rotation
        self.values, self.flat = grid.values, grid.values.ravel()
        # Index of cell = (position - first center) / step, in x, y, z.
        self.first = numpy.array(grid.start) - numpy.array(grid.low)
        self.step = numpy.array(grid.step)
        b, a = numpy.meshgrid(b, a, indexing="ij")
        self.start = (a.ravel()[:, None] * self.rotation[0] +
                      b.ravel()[:, None] * self.rotation[1])
        self.near, self.far = scene.high[2], scene.low[2]
        self.stride = float(min(grid.step)) * 0.9
        self.limit = numpy.array(grid.values.shape[::-1]) - 1

    def _place(self, rays, depth):
        return ((self.start[rays] + numpy.reshape(depth, (-1, 1)) *
                 self.rotation[2] - self.first) / self.step)

    def sample(self, flat, place):
        """Trilinear, and whether inside of the cells' centers (half a cell
        beyond counts)."""
        inside = ((place >= -0.5) & (place <= self.limit + 0.5)).all(axis=1)
        place = numpy.clip(place, 0, self.limit)
        low = numpy.minimum(place.astype(numpy.int64),
                            numpy.maximum(self.limit - 1, 0))
        w = (place - low).astype("f4")
        nx, ny = self.limit[0] + 1, self.limit[1] + 1
        up = numpy.minimum(self.limit, 1) * (1, nx, nx * ny)
        base = low[:, 0] + nx * (low[:, 1] + ny * low[:, 2])
        out = numpy.zeros(len(place), "f4")
        for corner in range(8):
            at, part = base, 1.0
            for d in range(3):
                if corner >> d & 1:
                    at, part = at + up[d], part * w[:, d]
                else:
                    part = part * (1 - w[:, d])
            out += part * flat[at]
        return out, inside

    def _steps(self):
        return numpy.arange(self.near, self.far - self.stride, -self.stride)

    def surface(self, level):
        """Where each ray meets the surface first: number of ray, place, and
        brightness; and the nearness of it, 0 (far) to 1."""
        rays = numpy.arange(len(self.start))
        before = numpy.full(len(rays), -1.0, "f4")
        hits, depths = [], []
        for depth in self._steps():
            value, inside = self.sample(self.flat, self._place(rays, depth))
            above = numpy.where(inside, value - level, numpy.float32(-1e30))
            hit = above >= 0
            back = numpy.where(before[hit] > -1e29, above[hit] / numpy.maximum(
                above[hit] - before[hit], 1e-30), 0.0)
            hits.append(rays[hit])
            depths.append(depth + self.stride * back)
            rays, before = rays[~hit], above[~hit]
        hits = numpy.concatenate(hits)
        depths = numpy.concatenate(depths)
        place = self._place(hits, depths)
        near = (depths - self.far) / (self.near - self.far)
        return hits, place, self._light(place), near

    def _light(self, place):
        """Of the surface's slope, seen from both sides."""
        slope = numpy.empty((len(place), 3))
        for d in range(3):
            shift = numpy.zeros(3)
            shift[d] = 0.75
            slope[:, d] = (self.sample(self.flat, place - shift)[0] -
                           self.sample(self.flat, place + shift)[0]) / (
                               self.step[d])
        seen = slope @ self.rotation.T
        seen /= numpy.maximum(numpy.sqrt((seen ** 2).sum(axis=1)),
                              1e-30)[:, None]
        seen *= numpy.where(seen[:, 2:] < 0, -1.0, 1.0)
        lit = numpy.clip(seen @ (LIGHT / numpy.linalg.norm(LIGHT)), 0, 1)
        return 0.35 + 0.65 * lit, 0.35 * lit ** 24

    def picture(self, hits, colors, light, near):
        """RGBA [row][column][4]."""
        bright, glint = light
        lit = (colors * bright[:, None] + glint[:, None]).clip(0, 1)
        fade = (0.35 * (1 - near))[:, None]
        out = numpy.zeros((len(self.start), 4))
        out[hits, :3] = lit * (1 - fade) + fade
        out[hits, 3] = 1
        return out.clip(0, 1).reshape(*self.shape, 4)

    def cloud(self, colors, opacity):
        """`colors` and `opacity` (of a step as long as a cell): functions of the
        values."""
        rays = numpy.arange(len(self.start))
        out = numpy.zeros((len(rays), 4))
        for depth in self._steps():
            value, inside = self.sample(self.flat, self._place(rays, depth))
            part = numpy.where(inside, opacity(value), 0.0) * (
                1 - out[rays, 3])
            shown = part > 1e-4
            at = rays[shown]
            out[at, :3] += part[shown, None] * colors(value[shown])
            out[at, 3] += part[shown]
            rays = rays[out[rays, 3] < 0.99]
        out[:, :3] /= numpy.maximum(out[:, 3:], 1e-9)
        return out.clip(0, 1).reshape(*self.shape, 4)
