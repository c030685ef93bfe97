#!/usr/bin/env python3
"""Write water.data: molecules of SPC/E water, each turned at random, on a cubic
lattice of the density 0.998 g/cm3. make_water.py [molecules along an edge]
"""

import math
import random
import sys

EDGE = int(sys.argv[1]) if len(sys.argv) > 1 else 6
SPACING = 3.106  # angstrom
ANGLE = math.radians(109.47)


def turned(rng):
    """Oxygen and two hydrogens at 1 angstrom, in a random rotation: three
    orthonormal axes from a random unit quaternion."""
    q = [rng.gauss(0, 1) for _ in range(4)]
    w, x, y, z = (c / math.sqrt(sum(v * v for v in q)) for c in q)
    rows = [(1 - 2 * (y * y + z * z), 2 * (x * y - z * w), 2 * (x * z + y * w)),
            (2 * (x * y + z * w), 1 - 2 * (x * x + z * z), 2 * (y * z - x * w)),
            (2 * (x * z - y * w), 2 * (y * z + x * w), 1 - 2 * (x * x + y * y))]
    s, c = math.sin(ANGLE / 2), math.cos(ANGLE / 2)
    return [[sum(r[k] * p[k] for k in range(3)) for r in rows]
            for p in ((0, 0, 0), (s, 0, c), (-s, 0, c))]


def main():
    rng = random.Random(2026)
    length, n = EDGE * SPACING, EDGE ** 3
    out = sys.stdout
    out.write("SPC/E water on a lattice (made by make_water.py)\n\n"
              f"{3 * n} atoms\n{2 * n} bonds\n{n} angles\n\n2 atom types\n"
              "1 bond types\n1 angle types\n\n")
    for c in "xyz":
        out.write(f"0 {length:.6f} {c}lo {c}hi\n")
    out.write("\nMasses\n\n1 15.9994 # O\n2 1.008 # H\n"
              "\nBond Coeffs # harmonic\n\n1 450 1.0\n"
              "\nAngle Coeffs # harmonic\n\n1 55 109.47\n\nAtoms # full\n\n")
    for m in range(n):
        cell = (m % EDGE, m // EDGE % EDGE, m // EDGE ** 2)
        for k, place in enumerate(turned(rng)):
            x = " ".join(f"{(cell[d] + 0.5) * SPACING + place[d]:.5f}"
                         for d in range(3))
            out.write(f"{3 * m + k + 1} {m + 1} {2 if k else 1} "
                      f"{0.4238 if k else -0.8476} {x}\n")
    out.write("\nBonds\n\n")
    for m in range(n):
        out.write(f"{2 * m + 1} 1 {3 * m + 1} {3 * m + 2}\n"
                  f"{2 * m + 2} 1 {3 * m + 1} {3 * m + 3}\n")
    out.write("\nAngles\n\n")
    for m in range(n):
        out.write(f"{m + 1} 1 {3 * m + 2} {3 * m + 1} {3 * m + 3}\n")


if __name__ == "__main__":
    main()
