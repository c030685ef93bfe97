# timeout: 600
"""American puts of Longstaff and Schwartz (2001), table 1, from paths that did
not find the rule: at most the Bermudan option of the same dates, and hardly
less. The Bermudan values are an own recursion by quadrature. The table's
finite differences, where it is at hand, allow exercise at the same dates."""
import csv
import os

import tap

tap.need("h5py", "numpy")
import numpy as np  # noqa: E402
import risk_cases as rc  # noqa: E402

RATE, STRIKE = 0.06, 40.0
# Spot, volatility, years and the finite-difference values that are printed.
STATED = [(36.0, 0.2, 1, 4.478), (44.0, 0.4, 2, 5.647)]


def bermudan(spot, sigma, years, dates):
    """Backwards on a grid of the logarithm: the trapezoidal rule converges
    faster than any power for a smooth kernel, so that the kink of the payoff
    at one point is all its error."""
    dt = years / dates
    root = sigma * np.sqrt(dt)
    h = root / 12
    reach = 6 * sigma * np.sqrt(years)
    n = int(reach / h)
    x = np.log(STRIKE) + h * np.arange(-n, n + 1)
    width = int(9 * root / h)
    k = h * np.arange(-width, width + 1)
    drift = (RATE - sigma ** 2 / 2) * dt
    kernel = h * np.exp(-(k - drift) ** 2 / (2 * root ** 2) - RATE * dt) / (
        root * np.sqrt(2 * np.pi))
    pays = np.maximum(STRIKE - np.exp(x), 0)
    value = pays
    for _ in range(dates - 1):
        padded = np.concatenate([np.full(width, value[0]), value,
                                 np.zeros(width)])
        value = np.maximum(np.convolve(padded, kernel[::-1], "valid"), pays)
    y = np.log(spot) + drift + root * np.linspace(-9, 9, 2001)
    weight = np.exp(-np.linspace(-9, 9, 2001) ** 2 / 2)
    return np.exp(-RATE * dt) * (np.interp(y, x, value) @ weight) / weight.sum()


def table():
    path = os.path.join(tap.REFERENCE, "risk", "ls2001_table1.csv")
    if not os.path.exists(path):
        return None
    with open(path, newline="") as file:
        return [(float(r["Spot"]), float(r["Volatility"]),
                 int(r["TimeToExpiry"]), float(r["American"]))
                for r in csv.DictReader(file)]


def check(rows):
    """Fifty dates a year, as the table has them."""
    for years in sorted({r[2] for r in rows}):
        deck = rc.Deck(f"ls{years}", 300_000, ("antithetic",))
        dates = 50 * years
        for spot, sigma, t, american in rows:
            if t != years:
                continue
            f = deck.factor(model="gbm", spot=spot, rate=RATE, dividend=0.0,
                            volatility=sigma)
            deck.add(american, f, f"S = {spot:g}, sigma = {sigma:g}, T = {t}",
                     type="bermudan", side="put", strike=STRIKE,
                     maturity=float(t), exercise_dates=dates)
        price, error = deck.run()
        for i, (american, f, title, _) in enumerate(deck.positions):
            keys = dict(deck.factors[f][1])
            exact = bermudan(keys["spot"], keys["volatility"], years, dates)
            # Their grid ends somewhere: it tells at high spots and 2 years.
            tap.near(exact, american, 0.001 if years == 1 else 0.0065,
                     f"{title}: the Bermudan value {exact:.4f} is the table's")
            tap.ok(0.99 * exact <= price[i] <= exact + 3 * error[i] and
                   error[i] < 4e-3 * exact,
                   f"{title}: {price[i]:.4f} +- {error[i]:.4f} is at most "
                   "that, and less by a hundredth at most")


rows = table()
if rows is None:
    tap.skip(1, "no ls2001_table1.csv in the reference data")
    rows = STATED
check(rows)
tap.done()
