"""Value at risk of what is regressed at the horizon: against closed forms,
against Heston's own by its characteristic function, and against a simulation
from each state. Parts of revaluation.py and revaluation_long.py."""
import math

import tap

tap.need("h5py", "numpy")
import h5py  # noqa: E402
import numpy as np  # noqa: E402

HEAD = """[run]
solver = "risk"
seed = 3
[risk]
paths = %d
engines = ["price", "var"]
[risk.var]
horizon = %r
levels = [0.95, 0.99]
paths = %d
%s
[[risk.factor]]
name = "A"
spot = 100.0
rate = 0.05
dividend = 0.02
volatility = 0.2
[[risk.factor]]
name = "B"
spot = 90.0
rate = 0.05
volatility = 0.3
[[risk.factor]]
name = "H"
model = "heston"
spot = 50.0
rate = 0.05
variance = 0.04
kappa = 1.5
theta = 0.06
xi = 0.5
rho = -0.7
[risk.correlation]
matrix = [[1.0, 0.5, 0.2], [0.5, 1.0, 0.0], [0.2, 0.0, 1.0]]
"""
PUT = dict(type="european", side="put", factor="H", strike=48.0, maturity=0.75)
BOOK = {
    "forward": dict(type="forward", factor="A", strike=101.5, maturity=1.0),
    "european": dict(type="european", side="put", factor="A", strike=100.0,
                     maturity=0.5),
    "exchange": dict(type="exchange", factor=["A", "B"], maturity=0.5),
    "asian": dict(type="asian-geometric", side="call", factor="A",
                  strike=100.0, maturity=1.0, fixings=4),
    "digital": dict(type="digital", side="call", factor="A", strike=100.0,
                    maturity=0.5)}
NESTED = {
    "american": dict(type="american", side="put", factor="A", strike=100.0,
                     maturity=0.5, exercise_dates=50),
    "barrier": dict(type="barrier", side="call", factor="A", strike=100.0,
                    barrier=125.0, kind="up-and-out", rebate=2.0,
                    monitoring="continuous", maturity=0.5),
    "knock-in": dict(type="barrier", side="put", factor="A", strike=100.0,
                     barrier=92.0, kind="down-and-in", monitoring=26,
                     maturity=0.5),
    "best-of": dict(type="best-of", side="call", factor=["A", "B"],
                    strike=100.0, maturity=0.5)}
REMEMBER = {
    "average": dict(type="asian-arithmetic", side="call", factor="A",
                    strike=100.0, maturity=0.08, fixings=20),
    "lookback": dict(type="lookback-fixed", side="call", factor="A",
                     strike=100.0, maturity=0.08, monitoring="continuous"),
    "paid": dict(type="european", side="call", factor="A", strike=100.0,
                 maturity=0.02),
    "heston": PUT}


def toml(value):
    if isinstance(value, list):
        return "[" + ", ".join(toml(v) for v in value) + "]"
    return '"' + value + '"' if isinstance(value, str) else repr(value)


def run(name, book, way, paths, *arguments, horizon=0.04, price_paths=4096,
        ranks=1, check=True):
    text = HEAD % (price_paths, horizon, paths, f'revaluation = "{way}"')
    for key, position in book.items():
        text += f'[[risk.instrument]]\nid = "{key}"\nquantity = 1\n'
        text += "".join(f"{k} = {toml(v)}\n" for k, v in position.items())
    with open(name + ".toml", "w") as file:
        file.write(text)
    done = tap.warpdeck("run", name + ".toml", "--overwrite", *arguments,
                        ranks=ranks, check=check)
    if done.returncode != 0:
        return done, None, None
    with h5py.File(name + ".h5") as file:
        tables = [{k: v[:] for k, v in file[t].items()} for t in
                  ("risk/var", "risk/var_instruments", "risk/instruments")]
    return tables


def alone(way, book, paths, price_paths=4096):
    """Each position alone: {id: (var, half its interval, shortfall, its error,
    error of the value at the horizon)} at both levels."""
    found = {}
    for key in book:
        t, _, _ = run("alone", {key: book[key]}, way, paths,
                      price_paths=price_paths)
        found[key] = (t["var"], (t["var_high"] - t["var_low"]) / 2,
                      t["expected_shortfall"], t["expected_shortfall_error"],
                      t["revaluation_error"][0])
    return found


def closed():
    """The same paths, valued in two ways: what differs is the regression."""
    exact, fitted = alone("closed-form", BOOK, 100_000), alone(
        "regressed", BOOK, 100_000)
    for key in BOOK:
        error = fitted[key][4]
        for i, level in enumerate(("95", "99")):
            # The tail lies within the regression's states; 3.5 errors.
            tap.ok(np.allclose(fitted[key][0][i], exact[key][0][i], rtol=1e-9,
                               atol=3.5 * error) and
                   np.allclose(fitted[key][2][i], exact[key][2][i], rtol=1e-9,
                               atol=3.5 * error) and
                   error < 0.03 * exact[key][0][i],
                   f"{key}: regressed VaR and shortfall of {level} % are those "
                   f"in closed form ({fitted[key][0][i]:.4f}, "
                   f"{exact[key][0][i]:.4f}; the regression's error "
                   f"{error:.2g})")
    tap.ok(fitted["forward"][4] == 0 and
           np.array_equal(fitted["forward"][0], exact["forward"][0]),
           "a forward is linear, and valued exactly")


def heston_put(spot, variance, years, strike, rate=0.05, kappa=1.5, theta=0.06,
               xi=0.5, rho=-0.7):
    """Heston (1993) by Lewis's (2000) single integral, for arrays of states;
    the form of the characteristic function is that without a branch cut
    (Albrecher et al. 2007)."""
    nodes, weights = np.polynomial.laguerre.laggauss(48)
    u = nodes / 2 / max(np.sqrt(theta * years) * 2, 0.2)
    w = weights * np.exp(nodes) / 2 / max(np.sqrt(theta * years) * 2, 0.2)
    z = u - 0.5j
    beta = kappa - rho * xi * 1j * z
    d = np.sqrt(beta ** 2 + xi ** 2 * (z ** 2 + 1j * z))
    g = (beta - d) / (beta + d)
    e = np.exp(-d * years)
    c = kappa * theta / xi ** 2 * ((beta - d) * years -
                                   2 * np.log((1 - g * e) / (1 - g)))
    dv = (beta - d) / xi ** 2 * (1 - e) / (1 - g * e)
    x = np.log(spot / strike) + rate * years
    phi = np.exp(1j * np.outer(x, u) + c + np.outer(variance, dv))
    integral = (phi / (u ** 2 + 0.25)).real @ w
    call = spot - np.sqrt(spot * strike) / np.pi * integral * np.exp(
        -rate * years / 2)
    return call - spot + strike * np.exp(-rate * years)


def heston():
    """An own simulation to the horizon (full truncation, small steps) with the
    closed form there."""
    rng = np.random.default_rng(5)
    n, steps, h = 200_000, 80, 0.04
    x, v, dt = np.zeros(n), np.full(n, 0.04), h / steps
    for _ in range(steps):
        z, y = rng.standard_normal(n), rng.standard_normal(n)
        p = np.maximum(v, 0)
        x += (0.05 - p / 2) * dt + np.sqrt(p * dt) * z
        v += 1.5 * (0.06 - p) * dt + 0.5 * np.sqrt(p * dt) * (
            -0.7 * z + np.sqrt(1 - 0.49) * y)
    now = heston_put(np.array([50.0]), np.array([0.04]), 0.75, 48.0)[0]
    loss = np.sort(now - heston_put(50 * np.exp(x), np.maximum(v, 0), 0.71,
                                    48.0))
    t, parts, prices = run("heston", {"put": PUT}, "auto", 200_000,
                           price_paths=500_000)
    error = t["revaluation_error"][0] + prices["price_error"][0]
    tap.near(prices["price"][0], now, 3.5 * prices["price_error"][0],
             f"Heston's put today is that of its characteristic function, "
             f"{now:.5f}")
    for i, level in enumerate((0.95, 0.99)):
        k = int(np.ceil(n * level)) - 1
        half = (t["var_high"][i] - t["var_low"][i]) / 2 / 1.96
        tap.near(t["var"][i], loss[k], 3.5 * (1.5 * half + error),
                 f"Heston's put: VaR {level} is that of the closed form "
                 "at the horizon")
        es_error = t["expected_shortfall_error"][i]
        tap.near(t["expected_shortfall"][i], loss[k:].mean(),
                 3.5 * (1.5 * es_error + error),
                 f"Heston's put: so is the shortfall {level}")
    tap.ok(error < 0.05 * t["var"][0], "and the errors are small beside them")
    tap.is_(parts["revaluation"][0].decode(), "regressed", "it was regressed")


def nested(keys):
    book = {key: NESTED[key] for key in keys}
    fitted = alone("regressed", book, 100_000, 200_000)
    inner = alone("nested", book, 4096, 200_000)
    for key in book:
        a, b = fitted[key], inner[key]
        room = 3.5 * (np.hypot(a[1], b[1]) / 1.96 + a[4])
        tap.ok((abs(a[0] - b[0]) <= room).all(),
               f"{key}: VaR by regression and by nested simulation agree "
               f"({a[0][0]:.3f}, {b[0][0]:.3f}; {a[0][1]:.3f}, {b[0][1]:.3f})")


def cdf(x):
    return 0.5 * (1 + np.vectorize(math.erf)(x / math.sqrt(2)))


def geometric(spot, logs, fixed, n, dt, strike, v=0.2, r=0.05, b=0.03):
    """A geometric average of n dates dt apart, of which `fixed` are past, seen
    on a date: the logarithm of the average is normal."""
    left, k = n - fixed, np.arange(1, n - fixed + 1)
    mean = (logs + left * np.log(spot) + (b - v * v / 2) * dt * k.sum()) / n
    variance = v * v * dt * ((left - k + 1) ** 2).sum() / n ** 2
    d1 = (mean - math.log(strike) + variance) / math.sqrt(variance)
    return math.exp(-r * left * dt) * (
        np.exp(mean + variance / 2) * cdf(d1) -
        strike * cdf(d1 - math.sqrt(variance)))


def lookback(spot, most, years, strike, v=0.2, r=0.05, b=0.03):
    """A fixed-strike call on the greatest price, `most` so far, at least the
    strike (Conze and Viswanathan 1991)."""
    root = v * math.sqrt(years)
    d1 = (np.log(spot / most) + (b + v * v / 2) * years) / root
    return math.exp(-r * years) * (
        most - strike + spot * math.exp(b * years) * cdf(d1) -
        most * cdf(d1 - root) + spot * v * v / (2 * b) *
        (math.exp(b * years) * cdf(d1) - (spot / most) ** (-2 * b / v ** 2) *
         cdf(d1 - 2 * b * math.sqrt(years) / v)))


def compare(name, key, position, now, then, n):
    """VaR and shortfall against losses that were simulated here."""
    loss = np.sort(now - then)
    t, _, prices = run(name, {key: position}, "auto", 200_000,
                       price_paths=500_000)
    error = t["revaluation_error"][0] + prices["price_error"][0]
    for i, level in enumerate((0.95, 0.99)):
        k = int(np.ceil(n * level)) - 1
        half = (t["var_high"][i] - t["var_low"][i]) / 2 / 1.96
        tap.near(t["var"][i], loss[k], 3.5 * (1.5 * half + error),
                 f"{key}: VaR {level} is that of the closed form")
        tap.near(t["expected_shortfall"][i], loss[k:].mean(),
                 3.5 * (1.5 * t["expected_shortfall_error"][i] + error),
                 f"{key}: so is the shortfall {level}")
    tap.ok(error < 0.05 * t["var"][0],
           f"{key}: the errors are small beside them")


def path_dependent():
    """Half of an average is fixed at the horizon; an extreme has gone on."""
    rng = np.random.default_rng(8)
    n, dt, v = 200_000, 0.004, 0.2
    steps = rng.standard_normal((n, 10)) * v * math.sqrt(dt) + (
        0.03 - v * v / 2) * dt
    x = np.log(100.0) + np.cumsum(steps, axis=1)
    hundred = np.array([100.0])
    compare("average", "geometric average",
            dict(type="asian-geometric", side="call", factor="A",
                 strike=100.0, maturity=0.08, fixings=20),
            geometric(hundred, 0.0, 0, 20, dt, 100.0)[0],
            geometric(np.exp(x[:, -1]), x.sum(axis=1), 10, 20, dt, 100.0), n)
    before = np.hstack([np.full((n, 1), np.log(100.0)), x[:, :-1]])
    most = (before + x + np.sqrt(steps ** 2 - 2 * v * v * dt *
                                 np.log(rng.random((n, 10))))) / 2
    compare("extreme", "lookback", REMEMBER["lookback"],
            lookback(hundred, hundred, 0.08, 100.0)[0],
            lookback(np.exp(x[:, -1]), np.exp(most.max(axis=1)), 0.04, 100.0),
            n)


def remembered():
    """A book of what needs more than the spot at the horizon."""
    first = run("ranks", REMEMBER, "auto", 65_536, price_paths=65_536)
    t, parts, prices = first
    n = len(REMEMBER)
    words = [w.decode() for w in parts["revaluation"][:n]]
    tap.is_(words, ["regressed", "regressed", "paid by the horizon",
                    "regressed"], "ways are told by position")
    for k in range(2):
        rows = slice(n * k, n * k + n)
        for column, whole in (("component_var", "var"),
                              ("component_shortfall", "expected_shortfall")):
            tap.near(parts[column][rows].sum(), t[whole][k],
                     1e-9 * t["var"][k], f"{column} adds up to {whole}")
    if tap.have_mpi():
        other = run("ranks", REMEMBER, "auto", 65_536, price_paths=65_536,
                    ranks=3)
        tap.ok(all(np.array_equal(a[k], b[k]) for a, b in zip(first, other)
                   for k in a), "three ranks leave the bits of one")
    else:
        tap.skip(1, "built without MPI")
    refused, _, _ = run("refused", REMEMBER, "nested", 4096, check=False)
    tap.ok(refused.returncode == 2 and "remembers its path" in refused.stderr,
           "nested simulation refuses what remembers its path")
    refused, _, _ = run("closed", {"put": PUT}, "closed-form", 4096,
                        check=False)
    tap.ok(refused.returncode == 2 and
           "no closed form at the horizon 0.04" in refused.stderr,
           "closed-form alone is refused with the horizon and the factor")
