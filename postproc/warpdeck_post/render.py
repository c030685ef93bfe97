"""Pictures in three dimensions and animations of them: particles as lit spheres,
surfaces and clouds of fields. By VTK where it is there, else by spheres and
rays."""

import os
import re
import shutil
import subprocess

import numpy
from matplotlib import cm, colors

from . import fields, labels, panels, particles, plot, rays, spheres, vtkscene
from . import frame as frames
from .errors import PostError, cannot_write
from .result import Result

CELLS, CELLS_PLAIN = 256, 128  # most in a direction
PIXELS = 1000
PER_SECOND = 12  # pictures of an animation
MOVIES = (".mp4", ".gif", ".webm", ".mkv")


class Wish:
    """What is asked for: `field`, `color`, `style`, `level`, `azimuth`,
    `elevation`, `plain` (without VTK). The `level` and the `limits` of colors of
    a film are those of the picture that is drawn first."""

    def __init__(self, **options):
        self.field = self.color = self.style = self.level = None
        self.azimuth, self.elevation = spheres.AZIMUTH, spheres.ELEVATION
        self.plain, self.limits, self.film = False, None, False
        self.__dict__.update({k: v for k, v in options.items()
                              if v is not None})


# ---- particles ----

def _particles(r, number, wish):
    scene = spheres.Scene(r.lattice(number)[0], PIXELS, wish.azimuth,
                          wish.elevation)
    field = wish.color or wish.field or particles.default_field(r)
    position, radius, shade = particles.gather(
        r, number, scene, particles.radii(r, r.box(number)[0]), field)
    wish.limits = wish.limits or panels.shade_limits(shade)
    figure = plot.framed(8, 8.6)
    axes = figure.add_subplot()
    tints = panels.shaded(axes, plot.matplotlib, shade, len(position),
                          wish.limits)
    if wish.plain:
        picture, extent = scene.paint(position, tints, radius)
    else:
        prop = vtkscene.spheres(position, tints, radius)
        picture, extent = vtkscene.picture(scene, prop,
                                           1.6 * float(radius.max(initial=0)))
    panels.box_and_picture(axes, scene, picture, extent)
    axes.set_title(panels.frame_title(r, number))
    return figure


# ---- fields ----

def _level(grid, name, film):
    """A level that shows shapes: of Q what a few percent of the cells exceed,
    else the middle."""
    values = grid.values
    if not numpy.isfinite(values).all():
        raise PostError(f"{name} is not finite everywhere")
    low, high = float(values.min()), float(values.max())
    if not high > low and not film:
        raise PostError(f"{name} is {low:g} everywhere: it has no surface; "
                        "choose another --field")
    if name in ("q_criterion", "vorticity"):
        level = float(numpy.quantile(values, 0.96))
        return level if level > low else (low + high) / 2
    return (low + high) / 2


def _ramp(shade, label, axes, limits):
    """A function from values to colors, with its bar."""
    low, high = limits
    signed = low < 0 < high
    shades = cm.ScalarMappable(colors.Normalize(low, high),
                               "RdBu_r" if signed else "viridis")
    panels.bar_below(axes, shades, label)
    return lambda values: shades.to_rgba(values)[:, :3]


def _range(values):
    low, high = float(values.min()), float(values.max())
    if low < 0 < high:
        low, high = -max(-low, high), max(-low, high)
    return low, high if high > low else low + 1.0


def _surface(f, grid, name, wish, scene, axes):
    level = wish.level if wish.level is not None else _level(
        grid, name, wish.film)
    wish.level = level
    low, high = float(grid.values.min()), float(grid.values.max())
    if not low < level < high and not wish.film:
        raise PostError(f"{name} is {low:g} to {high:g} on this grid: there is "
                        f"no surface at {level:g}")
    by = wish.color or ("speed" if "velocity" in f.names else None)
    shade, tint = None, numpy.array(colors.to_rgb(panels.COLORS[0]))
    if by:
        shade = fields.read(f, by, max(grid.values.shape)).values
        wish.limits = wish.limits or _range(shade)
        tint = _ramp(shade, fields.label(f, by), axes, wish.limits)
    axes.set_title(f"{fields.label(f, name)} = {level:.4g}")
    if not wish.plain:
        prop = vtkscene.surface(grid, level, shade, tint)
        return vtkscene.picture(scene, prop, 0.0)
    caster = rays.Rays(scene, grid, scene.pixels)
    hits, place, light, near = caster.surface(level)
    tints = tint if shade is None else tint(
        caster.sample(shade.ravel(), place)[0])
    return caster.picture(hits, numpy.broadcast_to(tints, (len(hits), 3)),
                          light, near), caster.extent


def _cloud(f, grid, name, wish, scene, axes):
    low, high = wish.limits = wish.limits or _range(grid.values)
    tint = _ramp(grid.values, fields.label(f, name), axes, wish.limits)
    span = max(abs(low), abs(high)) if low < 0 else high - low

    def opacity(values):
        part = numpy.abs(values if low < 0 else values - low) / span
        return 0.25 * numpy.clip((part - 0.15) / 0.85, 0, 1) ** 2

    axes.set_title(labels.sentence(fields.label(f, name)))
    if wish.plain:
        caster = rays.Rays(scene, grid, scene.pixels)
        return caster.cloud(tint, opacity), caster.extent
    prop = vtkscene.cloud(grid, low, high, tint, opacity)
    return vtkscene.picture(scene, prop, 0.0)


def _field(f, wish):
    name = wish.field or fields.default(f)
    grid = fields.read(f, name, CELLS_PLAIN if wish.plain else CELLS)
    if min(grid.values.shape) < 2:
        raise PostError(f"'{f.path}' has two cells at least in two directions "
                        "alone: plot it as slice")
    edges = [b - a for a, b in zip(grid.low, grid.high)]
    scene = spheres.Scene(edges, min(700, PIXELS) if wish.plain else PIXELS, wish.azimuth,
                          wish.elevation)
    figure = plot.framed(8, 8.6)
    axes = figure.add_subplot()
    draw = _cloud if wish.style == "volume" else _surface
    panels.box_and_picture(axes, scene, *draw(f, grid, name, wish, scene, axes))
    if max(grid.taken) > 1:
        axes.text(0.99, 0.0, "means of {} x {} x {} cells".format(*grid.taken),
                  transform=axes.transAxes, ha="right", fontsize=8, color="0.4")
    return figure


# ---- one picture, or many ----

def _save(figure, r, output):
    plot.head(figure, r)
    panels.powers(figure)
    try:
        figure.savefig(output)
    except OSError as error:
        raise cannot_write(output, error) from None
    finally:
        plot.pyplot.close(figure)


def _moments(path):
    """Functions that draw: for each moment that there is."""
    if frames.is_series(path):
        return [(lambda wish, output, p=p: _one_field(p, wish, output))
                for p, _ in frames.frames_of(path) if os.path.exists(p)]
    with Result(path) as r:
        if r.is_frame:
            return [lambda wish, output: _one_field(path, wish, output)]
        count = r.frames if r.has_particles else 0
        if not r.is_md:
            raise PostError(f"'{path}' has nothing in three dimensions: render "
                            "frames (.hdf) or their list (.hdf.series)")
        if count == 0:
            raise PostError(f"'{path}' has no frames yet")
        if "position" not in r.fields():
            raise PostError(f"'{path}' has no positions: add \"position\" to "
                            "output.fields in the deck")
        if not r.particle_count:
            raise PostError(f"'{path}' has no particles")
    return [(lambda wish, output, i=i: _one_particles(path, i, wish, output))
            for i in range(count)]


def _one_field(path, wish, output):
    with frames.Frame(path) as f:
        _save(_field(f, wish), f, output)


def _one_particles(path, number, wish, output):
    with Result(path) as r:
        _save(_particles(r, number, wish), r, output)


def _chosen(text, n):
    """Numbers of frames: "all", "3", "-1", or "first:last:step" as in Python."""
    if text == "all":
        return list(range(n))
    try:
        parts = [int(p) if p else None for p in text.split(":")]
        if len(parts) == 1:
            return [range(n)[parts[0]]]
        found = list(range(n))[slice(*parts)]
    except (ValueError, TypeError):
        raise PostError(f"--frames {text}: expected all, a number, or "
                        "first:last:step") from None
    except IndexError:
        raise PostError(f"there is no frame {text}; there are "
                        f"{n}, 0 to {n - 1}") from None
    if not found:
        raise PostError(f"--frames {text} leaves none of {n} frames")
    return found


def _movie(folder, output):
    """True where ffmpeg has made it of the pictures."""
    program = shutil.which("ffmpeg")
    if program is None:
        return False
    size = "scale=trunc(iw/2)*2:trunc(ih/2)*2"
    if output.endswith(".gif"):
        size = "scale=720:-1,split[a][b];[a]palettegen[p];[b][p]paletteuse"
    kind = [] if output.endswith((".gif", ".webm")) else [
        "-pix_fmt", "yuv420p"]
    made = subprocess.run(
        [program, "-v", "error", "-y", "-framerate", str(PER_SECOND), "-i",
         os.path.join(folder, "%05d.png"), "-filter_complex", size, *kind,
         output], stdin=subprocess.DEVNULL, capture_output=True, text=True,
        errors="replace", check=False)
    if made.returncode != 0:
        raise PostError("ffmpeg failed: " + " ".join(made.stderr.split())[-200:])
    return True


def _animate(draw, wish, output):
    """All pictures into a folder, and from there into a film."""
    folder, ending = os.path.splitext(output)
    movie = ending.lower() in MOVIES and shutil.which("ffmpeg") is not None
    work = folder + ".pictures" if movie else folder
    try:
        os.makedirs(work, exist_ok=True)
    except OSError as error:
        raise PostError(f"cannot make '{work}': {error.strerror}") from None
    for name in os.listdir(work):  # of an earlier film
        if re.fullmatch(r"\d{5}\.png", name):
            os.unlink(os.path.join(work, name))
    try:
        # From the last, which sets the level and the colors of all.
        for i, one in reversed(list(enumerate(draw))):
            one(wish, os.path.join(work, f"{i:05d}.png"))
        if movie:
            _movie(work, output)
    finally:
        if movie:
            shutil.rmtree(work, ignore_errors=True)
    count = labels.count(len(draw), "picture")
    if movie:
        return f"wrote {output} ({count})"
    return (f"wrote {work}{os.sep} ({count}); " + (
        "ffmpeg is not installed, so there is no film" if ending.lower() in MOVIES
        else "a film is made for an ending as .mp4"))


def run(path, output, which, **options):
    """Draw; returns the exit status."""
    wish = Wish(**options)
    reason = None if wish.plain else vtkscene.missing()
    wish.plain = wish.plain or reason is not None
    moments = _moments(path)
    chosen = [moments[i] for i in _chosen(which or "-1", len(moments))]
    base = re.sub(r"(\.hdf\.series|\.h5|\.hdf)$", "", path)
    output = output or base + ("_3d.png" if len(chosen) == 1 else "_3d.mp4")
    panels.style(plot.matplotlib)
    if len(chosen) == 1 and not output.endswith(MOVIES):
        plot.check_ending(output)
        chosen[0](wish, output)
        said = f"wrote {output}"
    else:
        wish.film = True
        said = _animate(chosen, wish, output)
    print(said + (f"; drawn without VTK: {reason}" if reason else ""))
    return 0
