"""Figures of LAMMPS, made with the inputs in peer/ by LAMMPS 29 Sep 2021
(Debian 12's package): mean and standard error by blocking, per particle where
that makes sense. See peer/README.md.
"""

import csv
import os

_PATH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "peer",
                     "values.csv")


def get(run, quantity):
    """(mean, standard error) of a quantity of a run."""
    with open(_PATH, encoding="ascii") as f:
        rows = csv.reader(line for line in f if not line.startswith("#"))
        for name, what, mean, error in rows:
            if name == run and what == quantity:
                return float(mean), float(error)
    raise KeyError(f"{run} {quantity}")
