"""Value at risk and expected shortfall against values in closed form."""
import math

import tap

tap.need("h5py", "numpy")
import h5py  # noqa: E402
import numpy as np  # noqa: E402
import risk_cases as rc  # noqa: E402

HEAD = """[run]
solver = "risk"
seed = 11
[risk]
paths = 4096
engines = ["price", "var"]
[risk.var]
horizon = %r
levels = [0.975, 0.99]
paths = %d
returns = "%s"
"""
FACTOR = """[[risk.factor]]
name = "%s"
spot = %r
rate = %r
drift = %r
volatility = %r
"""
POSITION = """[[risk.instrument]]
id = "%s"
factor = "%s"
quantity = %r
type = "%s"
"""
MATRIX = """[risk.correlation]
matrix = [[1.0, 0.5, 0.2], [0.5, 1.0, -0.1], [0.2, -0.1, 1.0]]
"""


def want(case, quantity):
    return rc.rows(case, quantity=quantity)[0][3]


def run(name, text, ranks=1):
    with open(name + ".toml", "w") as file:
        file.write(text)
    tap.warpdeck("run", name + ".toml", "--overwrite", ranks=ranks)
    with h5py.File(name + ".h5") as file:
        return ({k: v[:] for k, v in file["risk/var"].items()},
                {k: v[:] for k, v in file["risk/var_instruments"].items()})


def check_levels(case, t):
    """The interval of 95 % is 1.96 errors to each side; 3.5 errors are
    allowed."""
    for i, level in enumerate(("0.975", "0.99")):
        var, es = want(case, "VaR_" + level), want(case, "ES_" + level)
        room = 3.5 / 1.96 * (t["var_high"][i] - t["var_low"][i]) / 2
        tap.near(t["var"][i], var, room, f"{case}: VaR {level}")
        tap.near(t["expected_shortfall"][i], es,
                 3.5 * t["expected_shortfall_error"][i],
                 f"{case}: expected shortfall {level}")
        tap.ok(room < 0.05 * var, f"{case}: the interval {level} is narrow")


def delta_normal():
    text = HEAD % (1 / 252, 1_000_000, "normal") + MATRIX
    for i, (sigma, w) in enumerate(((0.2, 1e6), (0.3, 2e6), (0.25, -0.5e6))):
        text += FACTOR % (f"f{i}", 1.0, 0.0, 0.0, sigma)
        text += POSITION % (f"p{i}", f"f{i}", w, "stock")
    t, parts = run("normal", text)
    check_levels("var_delta_normal", t)
    for k, level in enumerate(("0.975", "0.99")):
        rows = slice(3 * k, 3 * k + 3)
        room = 3.5 / 1.96 * (t["var_high"][k] - t["var_low"][k])
        tap.near(parts["component_var"][rows].sum(), t["var"][k],
                 1e-9 * t["var"][k], f"components add up to VaR {level}")
        tap.near(parts["component_shortfall"][rows].sum(),
                 t["expected_shortfall"][k], 1e-9 * t["var"][k],
                 f"components add up to the shortfall {level}")
        for i in range(3):
            # The line through the neighbourhood moves with VaR's own error.
            error = parts["component_var_error"][3 * k + i]
            tap.near(parts["component_var"][3 * k + i],
                     want("var_delta_normal", f"componentVaR{i + 1}_{level}"),
                     3.5 * error + room, f"component {i + 1} of VaR {level}")
            tap.near(parts["incremental_var"][3 * k + i],
                     want("var_delta_normal", f"incrementalVaR{i + 1}_{level}"),
                     room, f"incremental VaR {level} of position {i + 1}")
    for ranks in (2, 3):
        other = run("normal", text, ranks)
        tap.ok(all(np.array_equal(a[k], b[k]) for a, b in
                   zip((t, parts), other) for k in a if k != "id"),
               f"{ranks} ranks give the same bits")


def check_histogram(path, t):
    """Profits of a lognormal stock by bins, against their chances."""
    with h5py.File(path, "r") as file:
        h = {k: v[:] for k, v in file["risk/profit_histogram"].items()}
    years, n = 10 / 252, t["paths"][0]
    tap.ok(h["count"].sum() == n and (h["low"][1:] == h["high"][:-1]).all(),
           "each path is in one bin of the histogram of profits")

    def below(profit):
        z = ((np.log1p(profit / 100.0) - (0.05 - 0.02) * years) /
             (0.2 * years ** 0.5))
        return np.array([math.erfc(-x / 2 ** 0.5) / 2 for x in z])
    expected = n * np.diff(below(h["high"][:-1]))
    chi2 = ((h["count"][1:-1] - expected) ** 2 / expected).sum()
    # of 200 degrees of freedom: mean 200, deviation 20
    tap.below(chi2, 300, "bins have as many paths as their chances say")


def one_factor():
    text = HEAD % (10 / 252, 400_000, "model")
    text += FACTOR % ("f", 100.0, 0.05, 0.05, 0.2)
    t, _ = run("stock", text + POSITION % ("s", "f", 1.0, "stock"))
    check_levels("var_lognormal_stock", t)
    check_histogram("stock.h5", t)
    put = 'side = "put"\nstrike = 100.0\nmaturity = 1.0\n'
    t, _ = run("put", text + POSITION % ("s", "f", 1.0, "european") + put)
    check_levels("var_option_fullreval", t)


delta_normal()
one_factor()
tap.done()
