"""Pair potentials in closed form, for tests: energy and force at distances r."""

import numpy as np

CUTOFF = 2.5


def lj(r, epsilon, sigma):
    s6 = (sigma / r)**6
    return 4 * epsilon * (s6 * s6 - s6), 24 * epsilon * (2 * s6 * s6 - s6) / r


def morse(r, d0, alpha, r0):
    e = np.exp(-alpha * (r - r0))
    return d0 * (e * e - 2 * e), 2 * d0 * alpha * (e * e - e)


def buckingham(r, a, rho, c):
    e = a * np.exp(-r / rho)
    return e - c / r**6, e / rho - 6 * c / r**7


def yukawa(r, strength, kappa):
    u = strength * np.exp(-kappa * r) / r
    return u, u * (kappa + 1 / r)


def soft(r, a, rc=CUTOFF):
    return (a * (1 + np.cos(np.pi * r / rc)),
            a * np.pi / rc * np.sin(np.pi * r / rc))


STYLES = {
    "lj": (lj, {"epsilon": 1.0, "sigma": 1.0}),
    "morse": (morse, {"d0": 1.0, "alpha": 5.0, "r0": 1.12}),
    "buckingham": (buckingham, {"a": 6000.0, "rho": 0.12, "c": 1.5}),
    "yukawa": (yukawa, {"strength": 5.0, "kappa": 1.5}),
    "soft": (soft, {"a": 10.0}),
}
