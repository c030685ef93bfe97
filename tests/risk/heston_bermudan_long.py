"""Bermudan puts under Heston's model against finite differences of the
pricing equation on a grid of spots and variances. The rule of exercise needs
the variance: one of the spot alone leaves 3 to 5 % of these values.
"""
import tap

tap.need("h5py", "numpy", "scipy")
import numpy as np  # noqa: E402
import risk_cases as rc  # noqa: E402
import scipy.sparse as sp  # noqa: E402
from scipy.interpolate import RectBivariateSpline  # noqa: E402
from scipy.sparse.linalg import splu  # noqa: E402

RATE, STRIKE, YEARS, DATES = 0.05, 100.0, 1.0, 12
KAPPA, THETA, XI, RHO = 1.5, 0.06, 0.9, -0.5
POINTS = [(90.0, 0.04), (100.0, 0.04), (110.0, 0.04), (100.0, 0.12)]


def grids(strike, spots, variances):
    """Dense about the strike, and about a variance of 0."""
    c = strike / 5
    s = strike + c * np.sinh(np.linspace(np.arcsinh(-5), np.arcsinh(45),
                                         spots + 1))
    s[0] = 0
    d = 3 / 500
    return s, d * np.sinh(np.linspace(0, np.arcsinh(500), variances + 1))


def differences(x):
    """First and second derivatives on an uneven grid (in 't Hout and Foulon
    2010): one-sided at the low end, no slope at the high one."""
    n = len(x) - 1
    first, second = sp.lil_matrix((n + 1, n + 1)), sp.lil_matrix((n + 1, n + 1))
    for i in range(1, n):
        a, b = x[i] - x[i - 1], x[i + 1] - x[i]
        first[i, i - 1:i + 2] = [-b / (a * (a + b)), (b - a) / (a * b),
                                 a / (b * (a + b))]
        second[i, i - 1:i + 2] = [2 / (a * (a + b)), -2 / (a * b),
                                  2 / (b * (a + b))]
    h = x[n] - x[n - 1]
    second[n, n - 1:n + 1] = [2 / h ** 2, -2 / h ** 2]
    a, b = x[1] - x[0], x[2] - x[1]
    first[0, 0:3] = [-(2 * a + b) / (a * (a + b)), (a + b) / (a * b),
                     -a / (b * (a + b))]
    return first.tocsr(), second.tocsr()


def bermudan(strike, years, dates, rate, kappa, theta, xi, rho, points, steps):
    """Crank-Nicolson steps, the first after each date by two implicit halves
    (Rannacher 1984)."""
    s, v = grids(strike, 240, 90)
    (s1, s2), (v1, v2) = differences(s), differences(v)
    of_s, of_v = sp.identity(len(s)), sp.identity(len(v))
    spot, variance = sp.diags(s), sp.diags(v)
    at_zero = sp.diags((s > 0).astype(float)) @ s1
    operator = (
        sp.kron(variance, 0.5 * spot @ spot @ s2)
        + sp.kron(of_v, rate * spot @ at_zero)
        + sp.kron(0.5 * xi ** 2 * variance @ v2
                  + sp.diags(kappa * (theta - v)) @ v1, of_s)
        + rho * xi * sp.kron(variance @ v1, spot @ at_zero)
        - rate * sp.identity(len(s) * len(v))).tocsc()
    h = years / dates / steps
    one = sp.identity(operator.shape[0]).tocsc()
    implicit = splu((one - 0.5 * h * operator).tocsc())
    explicit = (one + 0.5 * h * operator).tocsr()
    pays = np.tile(np.maximum(strike - s, 0), len(v))
    value = pays.copy()
    for date in range(dates):
        value = implicit.solve(implicit.solve(value))
        for _ in range(steps - 1):
            value = implicit.solve(explicit @ value)
        if date < dates - 1:
            value = np.maximum(value, pays)
    f = RectBivariateSpline(v, s, value.reshape(len(v), len(s)))
    return [float(f(b, a)[0, 0]) for a, b in points]


# The American put that Fang and Oosterlee (2011) value in their test 4; with
# 200 dates a little less.
published = [2.000000, 1.107621, 0.520030, 0.213677, 0.082044]
got = bermudan(10, 0.25, 200, 0.1, 5, 0.16, 0.9, 0.1,
               [(s, 0.0625) for s in (8, 9, 10, 11, 12)], 2)
for s, a, b in zip((8, 9, 10, 11, 12), got, published):
    tap.near(a, b, 1.3e-3, f"finite differences at S = {s}: {a:.5f} is the "
             "published American put")

exact = bermudan(STRIKE, YEARS, DATES, RATE, KAPPA, THETA, XI, RHO, POINTS, 8)
deck = rc.Deck("heston_bermudan", 2_000_000, ("antithetic",))
for (spot, variance), value in zip(POINTS, exact):
    f = deck.factor(model="heston", spot=spot, rate=RATE, variance=variance,
                    kappa=KAPPA, theta=THETA, xi=XI, rho=RHO,
                    steps_per_year=96)
    deck.add(value, f, f"S = {spot:g}, v = {variance:g}", type="bermudan",
             side="put", strike=STRIKE, maturity=YEARS, exercise_dates=DATES)
price, error = deck.run()
for i, (value, _, title, _) in enumerate(deck.positions):
    tap.ok(0.99 * value <= price[i] <= value + 3.5 * error[i] and
           error[i] < 2e-3 * value,
           f"{title}: {price[i]:.4f} +- {error[i]:.4f} is at most {value:.4f}, "
           "and less by a hundredth at most")
tap.done()
