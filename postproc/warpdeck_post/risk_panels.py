"""The graphs of risk: prices, convergence, profits, exposures, frontiers.

Each takes axes and fills them. Numbers are in the currency of the spots, which
a deck does not name.
"""

import numpy

from . import labels, panels
from .opening import text_of

MONEY = "currency of the spots"
MOST = 24  # instruments that a graph has room for
DOTTED = (0, (1, 1.2))


def columns(r, name):
    """A table's columns by name, of as many rows as all have; {} without."""
    if f"risk/{name}" not in r.risk_tables():
        return {}
    group, n = r.file[f"risk/{name}"], r.table_rows(f"risk/{name}")
    found = {}
    for key in group:
        if hasattr(group[key], "keys"):  # a table below: weights by asset
            continue
        values = group[key][:n]
        found[key] = ([text_of(v) for v in values] if values.dtype.kind in "SO"
                      else values)
    return found


# ---- prices ----

def has_prices(r):
    return bool(columns(r, "instruments"))


def _short(text, most=24):
    return text if len(text) <= most else text[:most - 1] + "\u2026"


def price_rows(r):
    """How many lines the graph of prices has."""
    return min(len(columns(r, "instruments").get("value", ())), MOST)


def prices(axes, r):
    """Values of the positions, the greatest first, as bars with the interval of
    95 %, and beside each its price and error in figures."""
    table = columns(r, "instruments")
    order = numpy.argsort(-numpy.abs(table["value"]), kind="stable")[:MOST]
    y = numpy.arange(len(order))
    value, error = table["value"][order], 1.96 * table["standard_error"][order]
    colors = [panels.COLORS[0 if v >= 0 else 1] for v in value]
    axes.barh(y, value, color=colors, height=0.62, alpha=0.85)
    axes.errorbar(value, y, xerr=error, fmt="none", ecolor="0.1",
                  elinewidth=1.1, capsize=3)
    axes.axvline(0, color="0.35", linewidth=0.8)
    axes.set_yticks(y, [_short(table["id"][i]) for i in order])
    axes.set_ylim(len(order) - 0.4, -0.6)
    axes.grid(False, axis="y")
    axes.set_xlabel(f"value ({MONEY}); bar: 95 % interval")
    # Figures in a column of their own, right of the axes.
    for k, i in enumerate(order):
        axes.text(1.02, k, " \u00b1 ".join(labels.uncertain(
            table["price"][i], table["price_error"][i])),
                  transform=axes.get_yaxis_transform(), va="center",
                  fontsize=8.5, color="0.2")
    left = len(table["id"]) - len(order)
    axes.set_title("Positions" + (f" (the greatest {MOST}, {left} left out)"
                                  if left else ""))
    axes.set_title("price \u00b1 standard error", loc="right", fontsize=8.5,
                   fontweight="normal", color="0.3")


# ---- convergence ----

def _running(r):
    """Paths, value and standard error after each batch."""
    names = ("portfolio_value", "standard_error")
    if r.rows == 0 or not set(names) <= set(r.observables):
        return None
    paths = r.row_times()
    value, error = (r.observable(n) for n in names)
    there = (paths > 0) & (error > 0)
    return (paths[there], value[there], error[there]) if there.any() else None


def has_estimate(r):
    found = _running(r)
    return found is not None and len(found[0]) > 0


def has_convergence(r):
    found = _running(r)
    return found is not None and len(found[0]) > 1


def estimate(axes, r):
    """The value from the paths so far, with its interval of 95 %."""
    paths, value, error = _running(r)
    axes.fill_between(paths, value - 1.96 * error, value + 1.96 * error,
                      color=panels.COLORS[5], alpha=0.35, linewidth=0,
                      label="95 % interval")
    axes.plot(paths, value, color=panels.COLORS[0], marker="o", markersize=3,
              label="value")
    if len(paths) == 1:  # a band has no width there
        axes.errorbar(paths, value, 1.96 * error, color=panels.COLORS[0],
                      capsize=4)
    axes.set_xscale("log")
    axes.set_xlabel("paths")
    axes.set_ylabel(f"value ({MONEY})")
    panels.legend_above(axes, "Value of the portfolio")


def convergence(axes, r):
    """The standard error over the number of paths, and the line N^-1/2 through
    its last point."""
    paths, _, error = _running(r)
    axes.loglog(paths, error, color=panels.COLORS[0], marker="o", markersize=3,
                label="standard error")
    axes.loglog(paths, error[-1] * numpy.sqrt(paths[-1] / paths),
                color=panels.COLORS[1], linewidth=1.2, linestyle=(0, (4, 3)),
                label=r"$\propto 1/\sqrt{N}$")
    axes.set_xlabel("paths N")
    axes.set_ylabel(f"standard error ({MONEY})")
    panels.legend_above(axes, "Convergence")


# ---- profits ----

def has_profits(r):
    return bool(columns(r, "profit_histogram")) and bool(columns(r, "var"))


def _density(table):
    """Equal bins: edges, and shares of the paths per unit; what is beyond both
    ends is left to the caption."""
    low, high, count = (table[k] for k in ("low", "high", "count"))
    edges = numpy.append(low[1:-1], high[-2])
    width = numpy.diff(edges)
    if not width.max(initial=0) > 0:  # all paths have the same profit
        half = 0.5 * max(abs(edges[0]), 1.0) * 1e-2
        return numpy.array([edges[0] - half, edges[0] + half]), (
            numpy.array([0.5 / half]))
    return edges, count[1:-1] / count.sum() / width


def profits(axes, r):
    """Histogram of profits; VaR and expected shortfall stand at minus their
    values, with their intervals as bands."""
    histogram = columns(r, "profit_histogram")
    edges, density = _density(histogram)
    var = columns(r, "var")
    axes.stairs(density, edges, fill=True, color=panels.COLORS[5], alpha=0.6)
    axes.stairs(density, edges, color=panels.COLORS[0], linewidth=1.0)
    for i, level in enumerate(var["level"]):
        color = panels.area_color((1, 3, 6, 2, 4)[i % 5] +
                                  len(panels.COLORS) * (i // 5))
        v, es = var["var"][i], var["expected_shortfall"][i]
        error = 1.96 * var["expected_shortfall_error"][i]
        low, high = (x if numpy.isfinite(x) else v
                     for x in (var["var_low"][i], var["var_high"][i]))
        told = [labels.uncertain(x, (high - low) / 2)[0]
                for x in (v, low, high)]
        axes.axvspan(-high, -low, color=color, alpha=0.3, linewidth=0)
        axes.axvspan(-es - error, -es + error, color=color, alpha=0.15,
                     linewidth=0)
        axes.axvline(-v, color=color, linewidth=1.3,
                     label=f"VaR {100 * level:g} %: {told[0]} "
                     f"[{told[1]}, {told[2]}]")
        axes.axvline(-es, color=color, linewidth=1.3, linestyle=DOTTED,
                     label=f"ES {100 * level:g} %: "
                     + " \u00b1 ".join(labels.uncertain(es, error)))
    axes.set_xlim(min(edges[0], -var["expected_shortfall"].max() * 1.05),
                  edges[-1])
    axes.set_ylim(bottom=0)
    axes.set_xlabel(f"profit over {var['horizon'][0]:.4g} years ({MONEY})")
    # Not those of the prices, which the figure's head has.
    axes.set_ylabel(f"density of {histogram['count'].sum():.0f} paths")
    axes.set_title("Profit and loss, with intervals of "
                   f"{100 * var['confidence'][0]:g} % (VaR) and 95 % (ES)")
    # At the side where the distribution is thin.
    thin = density[:len(density) // 2].sum() < density[len(density) // 2:].sum()
    axes.legend(loc="upper left" if thin else "upper right", frameon=True,
                framealpha=0.85, edgecolor="none")


# ---- exposure ----

def netting_sets(r):
    """Their names, in the file's order."""
    return list(dict.fromkeys(columns(r, "exposure").get("set", ())))


def fan(axes, r, name):
    """EPE, minus ENE and the highest quantiles of a netting set over dates."""
    table = columns(r, "exposure")
    at = numpy.array([s == name for s in table["set"]])
    date = table["date"][at]
    levels = sorted(float(k[4:]) for k in table
                    if k.startswith("pfe_") and not k.endswith("_error"))
    top = table["epe"][at]
    shades = numpy.linspace(0.55, 0.2, max(len(levels), 1))
    for i, (level, shade) in enumerate(zip(levels, shades)):
        high = table[f"pfe_{level:g}"][at]
        axes.fill_between(date, top, high, color=panels.COLORS[5], alpha=shade,
                          linewidth=0)
        axes.plot(date, high, linewidth=1.2,
                  color=panels.area_color(5 + len(panels.COLORS) * (i // 4)),
                  linestyle=panels.LINES[i % 4],
                  label=f"PFE {100 * level:g} %")
        top = numpy.maximum(top, high)
    for i, (key, sign, label) in enumerate((("epe", 1, "EPE"),
                                            ("ene", -1, "\u2212ENE"))):
        y = sign * table[key][at]
        error = 1.96 * table[key + "_error"][at]
        axes.errorbar(date, y, yerr=error, color=panels.COLORS[i], marker="o",
                      markersize=3, elinewidth=1.0, capsize=2, label=label)
    axes.plot(date, table["value"][at], color="0.2", linewidth=1.0,
              linestyle=(0, (4, 3)), label="E V")
    axes.axhline(0, color="0.35", linewidth=0.8)
    axes.margins(x=0.02)
    axes.set_xlabel("date (years)")
    axes.set_ylabel(f"exposure ({MONEY})")
    panels.legend_above(axes, "All sets" if name == "all" else
                        f"Netting set {_short(name)}")


# ---- frontier ----

def has_frontier(r):
    return bool(columns(r, "frontier"))


def frontier(axes, r):
    """Mean return over conditional value at risk, on paths that did not choose
    the weights, with intervals of 95 %; in sample as a line."""
    table = columns(r, "frontier")
    axes.errorbar(100 * table["cvar"], 100 * table["return"],
                  xerr=196 * table["cvar_error"],
                  yerr=196 * table["return_error"], color=panels.COLORS[0],
                  marker="o", markersize=4, capsize=2, elinewidth=1.0,
                  label="on other paths, with 95 % intervals")
    axes.plot(100 * table["cvar_in_sample"], 100 * table["return_in_sample"],
              color=panels.COLORS[1], linewidth=1.2, linestyle=(0, (4, 3)),
              zorder=3, label="on the scenarios that chose the weights")
    axes.set_xlabel(f"CVaR {100 * table['level'][0]:g} % over "
                    f"{table['horizon'][0]:.4g} years (% of the money)")
    axes.set_ylabel("mean return (%)")
    axes.set_title("Efficient frontier")
    axes.legend(loc="lower right")


def weights(axes, r):
    """What the money is in along the frontier, as stacked areas."""
    table = columns(r, "frontier")
    group = r.file["risk/frontier/weight"]
    n = len(table["return"])
    names = list(group)
    # The assets in the order in which they lead along the frontier.
    names.sort(key=lambda k: float((group[k][:n] * numpy.arange(n)).sum() /
                                   max(group[k][:n].sum(), 1e-12)))
    parts = [100 * group[k][:n] for k in names]
    if min(p.min() for p in parts) < -1e-9:  # short: areas would overlap
        for i, part in enumerate(parts):
            panels.curve(axes, 100 * table["return"], part, i, _short(names[i]))
    else:
        colors = [panels.area_color(i) for i in range(len(names))]
        axes.stackplot(100 * table["return"], parts, labels=map(_short, names),
                       colors=colors, alpha=0.8, edgecolor="white",
                       linewidth=0.6)
        axes.set_ylim(0, 100)
    axes.margins(x=0)
    axes.set_xlabel("mean return (%)")
    axes.set_ylabel("weight (%)")
    panels.legend_above(axes, "Weights")


# ---- all of them ----

def graphs(r):
    """All graphs by the name of their figure, the telling ones first."""
    found = {}
    if has_profits(r):
        found["profits"] = [lambda a: profits(a, r)]
    if has_frontier(r):
        found["frontier"] = [lambda a: frontier(a, r),
                             lambda a: weights(a, r)]
    sets = netting_sets(r)
    if sets:
        found["exposure"] = [lambda a, n=n: fan(a, r, n)
                             for n in sets]
    if has_convergence(r):
        found["convergence"] = [lambda a: estimate(a, r),
                                lambda a: convergence(a, r)]
    if has_prices(r):
        found["prices"] = [lambda a: prices(a, r)]
    return found
