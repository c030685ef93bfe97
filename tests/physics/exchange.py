"""Replica exchange keeps the distribution at each temperature, against springs
whose distribution is known.

M springs of rest length 0 in three dimensions that feel nothing else: U has the
gamma distribution of shape 3 M / 2 and scale kT. From it follows the rate at
which neighbors exchange, min(1, exp(...)) averaged over both.
"""

import tap

tap.need("numpy", "h5py")

import numpy as np

import mdrun

SPRINGS = 8
SHAPE = 1.5 * SPRINGS
LADDER = [1.0, 1.3, 1.69]
# Friction and spring are such that energies forget within some 60 steps: the
# oscillation has omega^2 = 2 k (1/m + 1/m) = 4, the friction is 4.
EVERY = 60
DECK = """
[run]
solver = "md"
seed = 12
[md]
timestep = 0.05
steps = {steps}
[md.initial]
read = "springs.data"
temperature = 1.0
[md.pair]
cutoff = 1.0
skin = 1.0
[[md.pair.coefficients]]
species = ["A", "A"]
epsilon = 1e-30
sigma = 1e-3
[md.ensemble]
type = "langevin"
temperature = 1.0
relaxation = 0.25
[ensemble]
temperature_range = [1.0, 1.69]
replicas = 3
exchange_every = {every}
[output]
observables_every = {every}
"""


def springs(path, side=40.0):
    rng = np.random.default_rng(5)
    lines = ["springs", "", f"{2 * SPRINGS} atoms", f"{SPRINGS} bonds",
             "1 atom types", "1 bond types", ""]
    lines += [f"0 {side} {c}lo {c}hi" for c in "xyz"]
    lines += ["", "Masses", "", "1 1.0 # A", "", "Bond Coeffs # harmonic", "",
              "1 1.0 0.0", "", "Atoms # bond", ""]
    for i in range(SPRINGS):
        x = rng.uniform(0, side, 3)
        for k in range(2):
            y = x + k * rng.normal(0, 0.7, 3)
            lines.append(f"{2 * i + k + 1} {i + 1} 1 "
                         + " ".join(f"{v:.6f}" for v in y))
    lines += ["", "Bonds", ""]
    lines += [f"{i + 1} 1 {2 * i + 1} {2 * i + 2}" for i in range(SPRINGS)]
    mdrun.write(path, "\n".join(lines) + "\n")


def gamma(u, scale):
    """Its density, up to a factor."""
    p = np.exp((SHAPE - 1) * np.log(u) - u / scale)
    return p / p.sum()


def exact_rate(lower, upper):
    u = np.linspace(0.01, 90, 3000)
    a, b = gamma(u, lower)[:, None], gamma(u, upper)[None, :]
    exponent = (1 / lower - 1 / upper) * (u[:, None] - u[None, :])
    return float((a * b * np.exp(np.minimum(exponent, 0))).sum())


def by_temperature(folder):
    """Energies of each rung, whoever was on it."""
    at = [[] for _ in LADDER]
    for i in range(len(LADDER)):
        r = mdrun.Result(f"{folder}/replica-{i:04d}/springs.h5")
        t, u = r.observable("thermostat_temperature"), r.observable(
            "potential_energy")
        for k, want in enumerate(LADDER):
            at[k].append(u[10:][np.abs(t[10:] - want) < 1e-9])
    return [np.concatenate(a) for a in at], r.table("exchange/pairs"), r.table(
        "exchange/replicas")


def check_shirts(low, high):
    """The logarithm of the ratio of both histograms is a line of slope
    1/T_low - 1/T_high (Shirts 2013): here by the logistic regression that is
    its maximum likelihood, with its standard error."""
    x = np.concatenate([low, high])
    y = np.concatenate([np.zeros(len(low)), np.ones(len(high))])
    mean = x.mean()
    slope = offset = 0.0
    for _ in range(50):
        p = 1 / (1 + np.exp(-(offset + slope * (x - mean))))
        w = p * (1 - p)
        d = x - mean
        h = np.array([[w.sum(), (w * d).sum()], [(w * d).sum(),
                                                 (w * d * d).sum()]])
        g = np.array([(y - p).sum(), ((y - p) * d).sum()])
        offset, slope = np.array([offset, slope]) + np.linalg.solve(h, g)
    return slope, float(np.sqrt(np.linalg.inv(h)[1, 1]))


def main(samples, seed=12):
    springs("springs.data")
    mdrun.write("springs.toml",
                DECK.format(steps=samples * EVERY, every=EVERY))
    tap.warpdeck("run", "springs.toml", f"run.seed={seed}", "--output", "run",
                 "--overwrite", "-q", timeout=3000)
    at, pairs, replicas = by_temperature("run")
    for t, u in zip(LADDER, at):
        # variance of the mean of a gamma distribution; samples one EVERY apart
        # are independent to within the few percent that 4.5 leaves for
        error = t * np.sqrt(SHAPE / len(u))
        tap.near(u.mean(), SHAPE * t, 4.5 * error,
                 f"T = {t:.2f}: mean energy {u.mean():.3f} is 3/2 M kT within "
                 "4.5 standard errors")
        spread = u.var() / (SHAPE * t * t)
        # relative error of a variance: sqrt((2 + 6 / shape) / n)
        tap.near(spread, 1, 4.5 * np.sqrt((2 + 6 / SHAPE) / len(u)),
                 f"T = {t:.2f}: its variance is 3/2 M (kT)^2, ratio "
                 f"{spread:.3f}")
    for k in range(2):
        slope, error = check_shirts(at[k], at[k + 1])
        want = 1 / LADDER[k] - 1 / LADDER[k + 1]
        tap.near(slope, want, 4.5 * error,
                 f"ratio of the distributions at {LADDER[k]:.2f} and "
                 f"{LADDER[k + 1]:.2f}: slope {slope:.4f}, beta's difference "
                 f"{want:.4f}")
        rate, tried = pairs["rate"][k], pairs["attempts"][k]
        exact = exact_rate(LADDER[k], LADDER[k + 1])
        tap.near(rate, exact, 4.5 * np.sqrt(exact * (1 - exact) / tried),
                 f"{100 * rate:.1f} % of the exchanges are accepted, by the "
                 f"exact distributions {100 * exact:.1f} %")
    tap.ok(replicas["round_trips"].min() > 0.02 * samples,
           f"each replica goes up and down the ladder, "
           f"{replicas['round_trips'].astype(int)} times")


if __name__ == "__main__":
    main(2000)
    tap.done()
