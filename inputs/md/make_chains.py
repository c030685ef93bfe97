#!/usr/bin/env python3
"""Write chains.data: bead-spring chains that wind through a cubic lattice.

A path that turns back at each wall visits all sites of a lattice, so that
neighbors along it are one lattice constant apart and nobody overlaps; cut into
pieces of equal length it makes the chains.
"""

import sys

EDGE, LENGTH, DENSITY = 10, 50, 0.85


def path(n):
    """All sites of an n^3 lattice, each a neighbor of the one before."""
    for z in range(n):
        ys = range(n) if z % 2 == 0 else range(n - 1, -1, -1)
        for row, y in enumerate(ys):
            forward = (z * n + row) % 2 == 0
            for x in range(n) if forward else range(n - 1, -1, -1):
                yield x, y, z


def main():
    spacing = DENSITY ** (-1 / 3)
    sites = list(path(EDGE))
    bonds = [i for i in range(1, len(sites)) if i % LENGTH]
    out = sys.stdout
    out.write("Bead-spring chains on a lattice (made by make_chains.py)\n\n"
              f"{len(sites)} atoms\n{len(bonds)} bonds\n\n"
              "1 atom types\n1 bond types\n\n")
    for c in "xyz":
        out.write(f"0 {EDGE * spacing:.12g} {c}lo {c}hi\n")
    out.write("\nMasses\n\n1 1\n\nBond Coeffs # fene\n\n1 30 1.5 1 1\n\n"
              "Atoms # bond\n\n")
    for i, site in enumerate(sites):
        x = " ".join(f"{(s + 0.5) * spacing:.6f}" for s in site)
        out.write(f"{i + 1} {i // LENGTH + 1} 1 {x}\n")
    out.write("\nBonds\n\n")
    for row, i in enumerate(bonds):
        out.write(f"{row + 1} 1 {i} {i + 1}\n")


if __name__ == "__main__":
    main()
