# timeout: 900
"""Replica exchange of a liquid with thermostats that hold its kinetic energy as
one: the ratio of distributions, and the rate of exchanges."""

import math

import tap

tap.need("numpy", "h5py")

import numpy as np

from exchange import check_shirts, main
import mdrun

LADDER = [1.5, 1.6, 1.7]
EVERY = 50
DECK = """
[run]
solver = "md"
seed = 21
[md]
timestep = 0.004
steps = 200000
[md.initial]
lattice = "fcc"
cells = [3, 3, 3]
density = 0.5
temperature = 1.5
[md.pair]
style = "lj"
cutoff = 2.5
skin = 0.4
shift = "force"
[md.ensemble]
type = "{kind}"
temperature = 1.5
relaxation = 0.1
[ensemble]
temperatures = [1.5, 1.6, 1.7]
exchange_every = 50
[output]
observables_every = 50
"""


def of(folder, name, column):
    """A column of all replicas, and where each row belongs."""
    rows = [mdrun.Result(f"{folder}/replica-{i:04d}/{name}.h5")
            for i in range(len(LADDER))]
    return [np.concatenate([r.observable(column)[40:][
        np.abs(r.observable("thermostat_temperature")[40:] - t) < 1e-9]
        for r in rows]) for t in LADDER], rows[0]


def memory(u):
    """Samples that count as one: 1 + 2 sum of correlations, to the first that
    is below 0.05. Rows of one temperature come replica after replica, so this
    sees the walks, too."""
    x = u - u.mean()
    n, total = len(x), 1.0
    for k in range(1, n // 4):
        c = (x[k:] * x[:-k]).mean() / (x * x).mean()
        if c < 0.05:
            break
        total += 2 * c
    return total


def check_liquid(kind):
    name = kind.replace("-", "_")
    mdrun.write(name + ".toml", DECK.format(kind=kind))
    tap.warpdeck("run", name + ".toml", "--output", kind, "-q", timeout=800)
    u, r = of(kind, name, "potential_energy")
    pairs = r.table("exchange/pairs")
    for k in range(2):
        slope, error = check_shirts(u[k], u[k + 1])
        error *= math.sqrt(max(memory(u[k]), memory(u[k + 1])))
        want = 1 / LADDER[k] - 1 / LADDER[k + 1]
        tap.near(slope, want, 4 * error,
                 f"{kind}: slope {slope:.4f} +- {error:.4f} between "
                 f"{LADDER[k]} and {LADDER[k + 1]}, beta's difference "
                 f"{want:.4f}")
        # of two Gaussians whose means are as far apart as detailed balance has
        # it (Predescu and others, J. Chem. Phys. 120, 4119, 2004); 0.03 for
        # their skewness and for the sampling of both
        gap = want * (u[k + 1].mean() - u[k].mean())
        estimate = math.erfc(0.5 * math.sqrt(gap))
        tap.near(pairs["rate"][k], estimate, 0.03,
                 f"{kind}: {100 * pairs['rate'][k]:.1f} % accepted, by "
                 f"Gaussians {100 * estimate:.1f} %")
    kinetic, _ = of(kind, name, "temperature")
    for t, x in zip(LADDER, kinetic):
        # 2 T^2 / n_f of variance, 105 particles' freedom
        tap.near(x.mean(), t, 5 * t * math.sqrt(
            2 / 321 * memory(x) / len(x)), f"{kind}: temperature is {t}")
    moves = [float(np.ptp(mdrun.Result(
        f"{kind}/replica-{i:04d}/{name}.h5").observable("conserved_energy")))
        for i in range(3)]
    tap.below(max(moves) / 108, 0.02,
              f"{kind}: the conserved energy, an atom, stays within")


main(40000, 5)
for thermostat in ("bussi", "nose-hoover"):
    check_liquid(thermostat)
tap.done()
