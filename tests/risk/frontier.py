"""The mean-CVaR frontier against mean-variance in closed form, a scan on the
same scenarios, and a peer's linear programme."""
import statistics

import tap

tap.need("h5py", "numpy")
import h5py  # noqa: E402
import numpy as np  # noqa: E402

HEAD = """[run]
solver = "risk"
seed = 5
[risk]
paths = 4096
engines = ["price", "portfolio"]
[[risk.instrument]]
id = "s"
factor = "f0"
quantity = 1
type = "stock"
[risk.frontier]
horizon = 0.25
write_scenarios = true
"""
FACTOR = """[[risk.factor]]
name = "f%d"
spot = 50.0
rate = 0.02
drift = %r
volatility = %r
"""


def run(name, factors, matrix, keys, ranks=1, check=True):
    text = HEAD + "\n".join(f"{k} = {v}" for k, v in keys.items()) + "\n"
    for i, (drift, sigma) in enumerate(factors):
        text += FACTOR % (i, drift, sigma)
    text += f"[risk.correlation]\nmatrix = {matrix}\n"
    with open(name + ".toml", "w") as file:
        file.write(text)
    said = tap.warpdeck("run", name + ".toml", "--overwrite", ranks=ranks,
                        check=check)
    if said.returncode != 0:
        return said, None, None
    with h5py.File(name + ".h5") as file:
        g = file["risk/frontier"]
        rows = {k: v[:] for k, v in g.items() if isinstance(v, h5py.Dataset)}
        n = len(factors)
        w = np.array([g[f"weight/f{i}"][:] for i in range(n)]).T
        r = np.array([g[f"scenario_returns/f{i}"][:] for i in range(n)])
    return rows, w, r


def cvar_of(losses, level):
    """Mean of the worst (1 - level) n, the last one in part; of each row."""
    losses = np.sort(losses, axis=-1)
    n = losses.shape[-1]
    tail = n * (1 - level)
    k = int(np.ceil(n * level - 1e-9))
    var = losses[..., k - 1]
    return var + (losses[..., k:] - var[..., None]).sum(axis=-1) / tail


FACTORS = [(0.03, 0.10), (0.08, 0.25), (0.06, 0.18), (0.05, 0.2)]
MATRIX = [[1, .2, .3, .1], [.2, 1, .5, .0], [.3, .5, 1, -.2], [.1, 0, -.2, 1]]
MATRIX = [[float(x) for x in row] for row in MATRIX]


def normal():
    """Normal returns, weights free: the frontier is that of mean and variance
    (two-fund theorem), with CVaR = -m + sigma phi(z) / (1 - a)."""
    a, h = 0.95, 0.25
    law = statistics.NormalDist()
    k = law.pdf(law.inv_cdf(a)) / (1 - a)
    mean = np.array([h * d for d, _ in FACTORS])
    sigma = np.array([s for _, s in FACTORS]) * np.sqrt(h)
    cov = np.array(MATRIX) * np.outer(sigma, sigma)
    rows, w, r = run("normal", FACTORS, MATRIX, {
        "level": a, "points": 5, "scenarios": 8192, "paths": 400_000,
        "returns": '"normal"', "lower": -3.0, "upper": 4.0})
    tap.ok(abs(r.mean(axis=1) - mean).max() < 1e-12,
           "the scenarios have the mean returns that are known")
    theory = -w @ mean + k * np.sqrt(np.einsum("ki,ij,kj->k", w, cov, w))
    tap.ok((abs(rows["cvar"] - theory) < 3.5 * rows["cvar_error"]).all() and
           (rows["cvar_error"] < 0.01 * theory).all(),
           "CVaR on other paths is that of the normal law")
    tap.ok((abs(rows["return"] - w @ mean) < 3.5 * rows["return_error"]).all()
           and abs(rows["return_in_sample"] - w @ mean).max() < 1e-12,
           "mean returns are those of the weights")
    inverse = np.linalg.inv(cov)
    one = np.ones(4)
    A, B, C = one @ inverse @ one, one @ inverse @ mean, mean @ inverse @ mean
    # Further on the bounds hold.
    inside = (w > -2.99).all(axis=1) & (w < 3.99).all(axis=1)
    tap.ok(inside[:2].all(), "the bounds are out of reach at first")
    m = (w @ mean)[inside]
    best = -m + k * np.sqrt((A * m * m - 2 * B * m + C) / (A * C - B * B))
    excess = theory[inside] / best - 1
    # Weights have an error of order N^-1/2, CVaR at them one of its square.
    tap.ok((excess > -1e-12).all() and (excess < 0.01).all(),
           "the frontier is that of mean and variance, within a hundredth")
    tap.note(f"above it by {excess}")
    # Least CVaR: minimise -m + k sigma(m) along that frontier.
    D = A * C - B * B
    s = np.linspace(B / A, B / A + 0.1, 100001)
    least = s[np.argmin(-s + k * np.sqrt((A * s * s - 2 * B * s + C) / D))]
    tap.near(m[0], least, 0.15 * abs(least), "the least CVaR is where it is")


def scan():
    """Two assets: all weights, one by one, on the same scenarios."""
    a = 0.9
    rows, w, r = run("scan", FACTORS[:2], [[1.0, 0.2], [0.2, 1.0]], {
        "level": a, "points": 5, "scenarios": 1000, "paths": 4096})
    grid = np.linspace(0, 1, 20001)
    cvar = np.concatenate([cvar_of(-(np.outer(g, r[0]) +
                                     np.outer(1 - g, r[1])), a)
                           for g in np.array_split(grid, 40)])
    mean = grid * r[0].mean() + (1 - grid) * r[1].mean()
    tap.near(rows["cvar_in_sample"][0], cvar.min(), 1e-8,
             "the least CVaR is that of a scan of 20001 weights")
    tap.near(w[0, 0], grid[cvar.argmin()], 1e-4, "so are the weights")
    held = True
    for k in range(5):
        enough = mean >= rows["return_in_sample"][k] - 1e-12
        held &= rows["cvar_in_sample"][k] <= cvar[enough].min() + 1e-10
    tap.ok(held, "no weights with that return have a smaller CVaR")
    tap.ok(abs(cvar_of(-(w @ r), a) - rows["cvar_in_sample"]).max() < 1e-13,
           "CVaR in sample is that of the weights written")


def shape():
    keys = {"points": 12, "scenarios": 4096, "paths": 40_960,
            "lower": 0.05, "upper": [1.0, 0.5, 0.5, 0.5]}
    rows, w, r = run("shape", FACTORS, MATRIX, keys)
    tap.ok(abs(w.sum(axis=1) - 1).max() < 1e-12, "weights add up to 1")
    tap.ok((w >= 0.05).all() and (w[:, 1:] <= 0.5).all(),
           "weights stay in their bounds")
    m, c = rows["return_in_sample"], rows["cvar_in_sample"]
    slope = np.diff(c) / np.diff(m)
    tap.ok((np.diff(m) > 0).all() and (slope > 0).all() and
           (np.diff(slope) > -1e-9).all(), "the frontier rises and is convex")
    tap.near(m[-1], r.mean(axis=1) @ [0.05, 0.5, 0.4, 0.05], 1e-9,
             "it ends at the greatest return that the bounds allow")
    for ranks in (2, 3) if tap.have_mpi() else ():
        other = run("shape", FACTORS, MATRIX, keys, ranks)
        tap.ok(all(np.array_equal(other[0][k], rows[k]) for k in rows) and
               np.array_equal(other[1], w) and np.array_equal(other[2], r),
               f"{ranks} ranks give the same bits")
    peer(rows, r)


def peer(rows, r):
    """scipy's HiGHS on the programme as it was published, on a part of the
    scenarios' number of points."""
    try:
        from scipy.optimize import linprog
        from scipy.sparse import csr_matrix, hstack, identity
    except ImportError:
        tap.skip(1, "scipy is not installed")
        return
    n, s = r.shape
    cost = np.concatenate([np.zeros(n), [1], np.full(s, 1 / (0.05 * s))])
    cut = hstack([csr_matrix(-r.T), csr_matrix(-np.ones((s, 1))),
                  -identity(s)])
    ret = csr_matrix(np.concatenate([-r.mean(axis=1), np.zeros(s + 1)]))
    from scipy.sparse import vstack
    total = csr_matrix(np.concatenate([np.ones(n), np.zeros(s + 1)]))
    bounds = [(0.05, 1)] + [(0.05, 0.5)] * 3 + [(None, None)] + [(0, None)] * s
    k = 6
    got = linprog(cost, vstack([cut, ret]),
                  np.concatenate([np.zeros(s), [-rows["return_in_sample"][k]]]),
                  total, [1], bounds, method="highs")
    tap.near(rows["cvar_in_sample"][k], got.fun, 1e-9,
             "scipy finds the same least CVaR")


def refused(what, text, factors=FACTORS, **keys):
    got, _, _ = run("bad", factors, MATRIX, keys, check=False)
    held = tap.ok(hasattr(got, "returncode") and got.returncode == 2 and
                  text in got.stderr, f"{what}: refused")
    if not held:
        tap.note(getattr(got, "stderr", "it ran"))


if "without GLPK" in tap.warpdeck("info").stdout:
    refused("no GLPK", "install it", level=0.95)
else:
    normal()
    scan()
    shape()
    refused("bounds of another number", "2 bounds for 4 assets",
            lower="[0.0, 0.1]")
    refused("too much at least", "add up to 1.2", lower=0.3)
    refused("too little at most", "add up to 0.8", upper=0.2)
    refused("too few beyond the level", "at least 1000 are needed",
            scenarios=500, level=0.99)
tap.done()
