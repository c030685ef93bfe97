"""Chi-square test of kinetic energies against the canonical distribution.

At constant temperature the kinetic energy K of f degrees of freedom follows a
gamma distribution with shape f/2 and scale kT. The range of K is cut into bins
that are equally probable; the counts are compared with their expectation.
"""

import math

import numpy as np


def edges(freedom, kt, n_bins):
    """n_bins - 1 inner edges of equally probable bins. The distribution function
    is integrated by the trapezoidal rule on a fine grid."""
    shape = freedom / 2
    mean, sigma = shape * kt, math.sqrt(shape) * kt
    grid = np.linspace(max(1e-9 * kt, mean - 10 * sigma), mean + 12 * sigma,
                       200001)
    log_density = (shape - 1) * np.log(grid / kt) - grid / kt
    density = np.exp(log_density - log_density.max())
    cumulative = np.concatenate(
        [[0.0], np.cumsum(0.5 * (density[1:] + density[:-1]))])
    cumulative /= cumulative[-1]
    return np.interp(np.arange(1, n_bins) / n_bins, cumulative, grid)


def chi_square(kinetic, freedom, kt, n_bins=10):
    """The statistic; n_bins - 1 degrees of freedom."""
    inner = edges(freedom, kt, n_bins)
    counts = np.bincount(np.searchsorted(inner, kinetic), minlength=n_bins)
    expected = len(kinetic) / n_bins
    return float(((counts - expected) ** 2 / expected).sum())


def critical(n_bins):
    """What the statistic stays below with probability 0.9999 (Wilson and
    Hilferty 1931)."""
    k = n_bins - 1
    return k * (1 - 2 / (9 * k) + 3.719 * math.sqrt(2 / (9 * k))) ** 3
