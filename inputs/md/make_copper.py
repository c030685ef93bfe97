#!/usr/bin/env python3
"""Writes copper.eam.alloy: the copper of Sutton and Chen as a setfl table.

A. P. Sutton and J. Chen, Phil. Mag. Lett. 61, 139 (1990):
    phi(r) = eps (a/r)^9,  rho(r) = (a/r)^6,  F(rho) = -eps c sqrt(rho)
with eps = 1.2382e-2 eV, c = 39.432, a = 3.61 angstrom. Their sums go over all
distances; here both functions are taken to zero, smoothly, over the last
angstrom before the cutoff of twice the lattice constant.

    python3 make_copper.py > copper.eam.alloy
"""

import math

EPS, C, A = 1.2382e-2, 39.432, 3.61
CUTOFF, TAPER = 2 * A, 1.0
N_RHO, RHO_MAX, N_R = 500, 400.0, 800


def taper(r):
    """1 up to CUTOFF - TAPER, 0 from CUTOFF on; two derivatives go along."""
    x = (CUTOFF - r) / TAPER
    if x >= 1:
        return 1.0
    return x**3 * (10 + x * (6 * x - 15)) if x > 0 else 0.0


def table(values):
    """Five numbers a line."""
    text = [f"{v:.8e}" for v in values]
    for k in range(0, len(text), 5):
        print(" ".join(text[k:k + 5]))


def main():
    rho_step, r_step = RHO_MAX / (N_RHO - 1), CUTOFF / (N_R - 1)
    # Nobody comes nearer than 1 angstrom.
    r = [max(k * r_step, 1.0) for k in range(N_R)]
    print("UNITS: metal; copper of Sutton and Chen, Phil. Mag. Lett. 61, 139 "
          "(1990),")
    print("tapered over the last angstrom before the cutoff; made by")
    print("make_copper.py")
    print("1 Cu")
    print(f"{N_RHO} {rho_step!r} {N_R} {r_step!r} {CUTOFF!r}")
    print("29 63.546 3.61 fcc")
    table(-EPS * C * math.sqrt(k * rho_step) for k in range(N_RHO))
    table((A / x)**6 * taper(x) for x in r)
    table(EPS * (A / x)**9 * taper(x) * x for x in r)


if __name__ == "__main__":
    main()
