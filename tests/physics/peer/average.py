#!/usr/bin/env python3
"""Means and standard errors (by blocking) of a LAMMPS log's last run.

    python3 average.py LOG FIRST_STEP [ATOMS]     energies are divided by ATOMS
"""

import os
import sys

import numpy as np

sys.path[:0] = [os.path.join(os.path.dirname(os.path.abspath(__file__)), up)
                for up in ("..", os.path.join("..", ".."))]

from mdrun import standard_error


def last_run(path):
    """Column names and rows of the last thermo table."""
    names, rows, table = None, [], False
    with open(path, encoding="ascii", errors="replace") as f:
        for line in f:
            words = line.split()
            if words[:1] == ["Step"]:
                names, rows, table = words, [], True
            elif line.startswith("Loop time"):
                table = False
            elif table and len(words) == len(names):
                try:
                    rows.append([float(w) for w in words])
                except ValueError:
                    pass  # a warning between the rows
    return names, np.array(rows)


def main():
    names, rows = last_run(sys.argv[1])
    rows = rows[rows[:, 0] > int(sys.argv[2])]
    atoms = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    for name, x in zip(names[1:], rows.T[1:]):
        x = x / (atoms if name in ("PotEng", "TotEng") else 1)
        print(f"{name},{x.mean():.7g},{standard_error(x):.2g}")


if __name__ == "__main__":
    main()
