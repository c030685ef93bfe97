"""The graphs of a figure: each takes axes and fills them."""

import re

import numpy
from matplotlib import collections, colors

from . import curves, labels, particles, spheres

# Okabe and Ito's colors, told apart by all kinds of color vision.
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9",
          "#000000")
LINES = ("-", "--", "-.", (0, (1, 1.2)))
SPEED_COLORS = "viridis"


def style(matplotlib):
    """What all figures share."""
    matplotlib.rcParams.update({
        "font.size": 9.5, "axes.titlesize": 10.5, "axes.labelsize": 9.5,
        "axes.spines.top": False, "axes.spines.right": False,
        "axes.edgecolor": "0.35", "axes.linewidth": 0.8,
        "axes.titlelocation": "left", "axes.titleweight": "bold",
        "axes.grid": True, "grid.color": "0.9", "grid.linewidth": 0.7,
        "xtick.color": "0.25", "ytick.color": "0.25", "axes.axisbelow": True,
        "lines.linewidth": 1.6, "legend.frameon": False,
        "legend.fontsize": 8.5, "mathtext.fontset": "dejavusans",
        "axes.formatter.useoffset": False, "figure.dpi": 110,
        "savefig.dpi": 160})


def powers(figure):
    """The power of ten that all numbers of an axis have, with its unit: above
    the axis it would stand in the legend. Before a figure is saved."""
    figure.draw_without_rendering()  # limits are known then
    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            # with the minus sign of printers
            power = axis.get_major_formatter().get_offset().replace("−", "-")
            if not (axis.get_visible() and power.startswith("1e")):
                continue
            text, factor = axis.get_label_text(), f"$10^{{{int(power[2:])}}}$"
            name, unit, rest = text.rpartition(" (")
            axis.set_label_text(f"{name}{unit}{factor} {rest}" if unit else
                                f"{text} ({factor})")
            axis.offsetText.set_visible(False)


def line(i):
    """Color and dashes of the i-th curve: where the colors are used up they come
    again with other dashes."""
    return {"color": COLORS[i % len(COLORS)],
            "linestyle": LINES[i // len(COLORS) % len(LINES)]}


def area_color(i):
    """Of the i-th area or species; where there are more than colors, paler or
    darker ones."""
    base = numpy.array(colors.to_rgb(COLORS[i % len(COLORS)]))
    turn = i // len(COLORS) % 3
    if turn == 0:
        return base
    if not base.any():  # nothing is darker than black
        return base + 0.3 * (3 - turn)
    return base + 0.6 * ((turn == 1) - base)


def curve(axes, x, y, i, label=None):
    marker = "o" if len(x) <= 12 else None
    axes.plot(x, y, **line(i), marker=marker, markersize=3.5, label=label,
              clip_on=len(x) > 1)


def _settled(y):
    """How many of the first values (a twentieth at most) are so far out that
    the others would be squeezed into a quarter of the graph; 0 as a rule."""
    least = 1e-6 * numpy.abs(y).max(initial=0)
    for k in range(1, max(1, len(y) // 20) + 1):
        span = numpy.ptp(y[k:]) if len(y) >= k + 8 else 0
        if span > least and numpy.ptp(y) > 4 * span:
            return k
    return 0


def _farthest(y, k):
    """Which of the first k values is farthest from the others."""
    return int(numpy.argmax(numpy.abs(y[:k] - numpy.median(y[k:]))))


def _limits(axes, x, y):
    """Time from its start on; room around a curve that is flat to all
    digits; what only the first rows have is told in words."""
    if len(x) == 1:
        axes.set_xlim(x[0], x[0] + 1.0)
        return
    axes.margins(x=0.01)
    low, high = float(numpy.min(y)), float(numpy.max(y))
    k = _settled(y) if len(y) == len(x) else 0
    if k:
        low, high = float(numpy.min(y[k:])), float(numpy.max(y[k:]))
        room = 0.15 * (high - low)
        axes.set_ylim(low - room, high + room)
        far = _farthest(y, k)
        above = y[far] > high
        words = "begins at" if far == 0 else "at first " + (
            "up to" if above else "down to")
        # In the room, where of the curve only these rows are.
        axes.annotate(f"{words} {y[far]:.4g}",
                      (0.03 + float((x[k] - x[0]) / (x[-1] - x[0])),
                       0.97 if above else 0.03),
                      xycoords="axes fraction", fontsize=8.5, color="0.3",
                      va="top" if above else "bottom")
        return
    least = 1e-6 * (max(abs(low), abs(high)) or 1e-12)  # J may be 1e-21
    if high - low < least:
        axes.set_ylim(low - 5 * least, high + 5 * least)


def _beside(axes, words):
    """How many entries of a legend fit beside each other, by and large: the
    layout will give the axes a tenth less than they have now."""
    width = 0.9 * axes.get_position().width * axes.figure.get_figwidth()
    letters = [len(re.sub(r"[${}^_]", "", re.sub(r"\\[A-Za-z]+", "x", w)))
               for w in words]
    entries = [0.066 * n + 0.34 for n in letters]  # inches
    for n in range(len(words), 1, -1):
        if n * max(entries) <= width or n == len(words) and (
                sum(entries) <= width):
            return n
    return 1


def legend_above(axes, title):
    """A title, and below it rows for the legend, where no curve can be."""
    words = axes.get_legend_handles_labels()[1]
    columns = _beside(axes, words)
    rows = -(-len(words) // columns)
    axes.set_title(title, pad=19 + 12.5 * max(rows - 1, 0))
    axes.legend(loc="lower left", bbox_to_anchor=(-0.01, 1.0), ncol=columns,
                borderaxespad=0.15, borderpad=0.1, handlelength=1.4,
                handletextpad=0.45, columnspacing=1.1, labelspacing=0.25)


# Sums; the other energies are parts of the potential energy.
SUMS = ("potential_energy", "kinetic_energy", "total_energy",
        "conserved_energy")


def energy_names(r, parts=False):
    """Energies that a graph shows: sums, or the parts that are not 0 all
    over."""
    names = [k for k in r.observables if labels.quantity(k) == "energy"]
    if not parts:
        return [k for k in names if k in SUMS]
    return [k for k in names if k not in SUMS and r.observable(k).any()]


def energies(axes, r, parts=False):
    """Potential, kinetic and total energy per particle; or the parts of the
    potential one, as of pairs, bonds and charges."""
    n, names = r.particle_count, energy_names(r, parts)
    times, time_unit = labels.long_times(r.row_times(), r.time_unit())
    for i, name in enumerate(names):
        values = r.observable(name)
        curve(axes, times, values / n if n else values, i,
               name.replace("_energy", "").replace("_", " "))
    unit = r.observable_unit(names[0])
    if n and unit:
        unit += " per particle"
    axes.set_ylabel(labels.axis("energy", unit))
    axes.set_xlabel(labels.axis("time", time_unit))
    _limits(axes, times, axes.get_ylim())
    legend_above(axes, "Parts of the potential energy" if parts else "Energy")


def series(axes, r, name, i):
    """One observable, with the mean of its second half."""
    x, y = r.row_times(), r.observable(name)
    if r.is_risk and (x > 0).any():  # before the first path there is no value
        x, y = x[x > 0], y[x > 0]
    label = "paths"
    if not r.is_risk:
        x, unit = labels.long_times(x, r.time_unit())
        label = labels.axis("time", unit)
    title = name.replace("_", " ")
    curve(axes, x, y, i)
    _limits(axes, x, y)
    axes.set_title(labels.sentence(title))
    axes.set_ylabel(labels.axis(title, r.observable_unit(name)))
    axes.set_xlabel(label)
    if len(y) >= 8:
        half = len(y) // 2
        mean = y[half:].mean()
        axes.plot(x[half:], numpy.full(len(y) - half, mean), color="0.3",
                  linewidth=1.0, linestyle=(0, (4, 3)))
        axes.set_title(f"2nd half: {mean:.5g}", loc="right",
                       fontsize=8.5, fontweight="normal", color="0.3")


def distribution(axes, r):
    """Radial distribution functions."""
    names, most, bonds = r.tables("radial_distribution"), 0.0, []
    for i, name in enumerate(names):
        table, short = r.table(name), name.split("/")[-1]
        curve(axes, table["r"], table["g"], i, short)
        end = curves.bonded(table["g"])
        most = max(most, float(table["g"][end:].max(initial=0.0)))
        if end:
            top = int(table["g"][:end].argmax())
            bonds.append(f"{short}, bonded: {table['g'][top]:.3g} at "
                         f"{table['r'][top]:.3g}")
    unit = r.column_unit(names[0], "r", "length")
    axes.axhline(1.0, color="0.6", linewidth=0.8)
    axes.set_xlabel(labels.axis("distance r", unit))
    axes.set_ylabel("g(r)")
    axes.margins(x=0.01)
    axes.set_xlim(left=0.0)
    axes.set_ylim(bottom=0.0)
    if bonds:  # they would squeeze all else
        axes.set_ylim(0.0, 1.12 * most)
        axes.text(0.98, 0.96, "\n".join(bonds), transform=axes.transAxes,
                  ha="right", va="top", fontsize=8.5, color="0.3")
    legend_above(axes, "Radial distribution")


def displacement(axes, r):
    """Mean squared displacement, of all particles and by species."""
    name = r.tables("displacement")[0]
    table = r.table(name)
    order = ["all"] + sorted(k for k in table if k not in ("all", "time"))
    if len(order) == 2:  # one species is all
        order = order[:1]
    times, unit = labels.long_times(table["time"],
                                    r.column_unit(name, "time", "time"))
    for i, column in enumerate(k for k in order if k in table):
        curve(axes, times, table[column], i, column)
    axes.set_xlabel(labels.axis("time", unit))
    axes.set_ylabel(labels.axis("displacement²",
                                r.column_unit(name, "all", "area")))
    axes.margins(x=0.01)
    axes.set_xlim(left=0.0)
    axes.set_ylim(bottom=0.0)
    if len(order) > 1:
        legend_above(axes, "Mean squared displacement")
    else:
        axes.set_title("Mean squared displacement")


# ---- particles ----

def _by_species(axes, matplotlib, species, names):
    used = numpy.unique(species)
    palette = numpy.array([area_color(i) for i in range(len(names))])
    handles = [matplotlib.lines.Line2D(
        [], [], linestyle="", marker="o", markersize=8,
        color=palette[i], label=names[i]) for i in used]
    axes.legend(handles=handles, loc="upper center", ncol=min(len(used), 6),
                bbox_to_anchor=(0.5, 0.0), handletextpad=0.2)
    return palette[species]


def bar_below(axes, shades, label, extend="neither"):
    """A bar of colors below a picture in three dimensions."""
    bar = axes.figure.colorbar(shades, ax=axes, orientation="horizontal",
                               shrink=0.55, aspect=34, pad=0.02, extend=extend)
    bar.set_label(label)
    bar.outline.set_linewidth(0.5)


def shaded(axes, matplotlib, shade, n, limits=None):
    """Colors [n][3] of particles, with a legend or a bar; `limits`: of the bar,
    where several pictures share one."""
    if shade.values is None or n == 0:
        return numpy.tile(area_color(0), (n, 1))
    if shade.names is not None:
        return _by_species(axes, matplotlib, shade.values, shade.names)
    low, high = limits or shade_limits(shade)
    signed = low < 0 < high
    shades = matplotlib.cm.ScalarMappable(
        matplotlib.colors.Normalize(low, high),
        "RdBu_r" if signed else SPEED_COLORS)
    bar_below(axes, shades, shade.label, "both" if signed else "max")
    return shades.to_rgba(shade.values)[:, :3]


def shade_limits(shade):
    """Without the few that are far out; symmetric about 0 where both signs
    occur."""
    if shade.values is None or not len(shade.values):
        return 0.0, 1.0
    low, high = (float(q) for q in numpy.quantile(shade.values, (0.01, 0.99)))
    if low < 0 < high:
        return -max(-low, high), max(-low, high)
    if shade.field == "speed":
        low = 0.0
    return low, high if high > low else low + 1.0


def frame_title(r, frame):
    unit = r.unit(r.file["particles/all/box/edges/time"], "time")
    (time,), unit = labels.long_times(r.frame_times()[frame:frame + 1], unit)
    time = f"{time:.6g} {unit}".rstrip()
    return f"Step {r.frame_steps()[frame]}, time {time}"


def box_and_picture(axes, scene, picture, extent):
    """A painted picture between the edges of the box behind and before it."""
    for front in False, True:
        axes.add_collection(collections.LineCollection(
            scene.lines(front), colors="0.25" if front else "0.6",
            linewidths=0.9, zorder=3 if front else 1, capstyle="round"))
    axes.imshow(picture, extent=extent, interpolation="antialiased", zorder=2)
    axes.set_xlim(extent[:2])
    axes.set_ylim(extent[2:])
    axes.set_aspect("equal", anchor="N")
    axes.axis("off")


def snapshot_width(r, height):
    """Of the last frame's picture where it is so high, within what looks well, in
    inches: neither side of it stays empty."""
    scene = spheres.Scene(r.lattice(r.frames - 1)[0], 1)
    wide, high = (scene.high - scene.low)[:2]
    return float(numpy.clip(0.95 * height * wide / high, 3.6, 7.3))


def snapshot(axes, r, matplotlib, pixels):
    """The last frame as spheres in their box."""
    frame = r.frames - 1
    scene = spheres.Scene(r.lattice(frame)[0], pixels)
    position, radius, shade = particles.gather(
        r, frame, scene, particles.radii(r, r.box(frame)[0]), particles.default_field(r))
    picture, extent = scene.paint(
        position, shaded(axes, matplotlib, shade, len(position)), radius)
    box_and_picture(axes, scene, picture, extent)
    axes.set_title(frame_title(r, frame))
