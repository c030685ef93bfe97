# timeout: 300
"""LAMMPS's own benchmarks, read from its own files, against what it prints at
step 0: decks of inputs/lammps, values of lammps_step0.csv.

Small systems of each kind, always tested, are in bonds.py, charges.py, metals.py
and rigid.py.
"""

import os
import re
import shutil

import tap

tap.need("numpy", "h5py")

import numpy as np

import mdrun
from lammps_files import (DECKS, bonds_of_hydrogen, bring, lengths, published,
                          sections, start)


def agrees(problem, name, got, want, digits=6, why=""):
    """Whether both have the same first digits, to a unit of the last."""
    unit = 10.0 ** (np.floor(np.log10(abs(want))) + 1 - digits)
    tap.ok(abs(got - want) < unit,
           f"{problem}: {name} is LAMMPS's {want} to {digits} digits{why}")
    tap.note(f"{got:.9g}")


def check_chain():
    if not bring("data.chain", 4):
        return
    got, want = start("chain"), published("chain")
    n = got.n
    for name in ("pair_energy", "bond_energy", "total_energy"):
        agrees("chain", name, got.observable(name)[0] / n,
               want[name + "_per_atom"])
    agrees("chain", "pressure", got.observable("pressure")[0],
           want["pressure"])


def check_copper():
    if not bring("Cu_u3.eam", 3):
        return
    got, want = start("copper"), published("eam")
    for name in ("potential_energy", "total_energy"):
        agrees("copper", name, got.observable(name)[0], want[name + "_total"])
    # the pressure's last digits hang on Boltzmann's constant
    agrees("copper", "pressure", got.observable("pressure")[0],
           want["pressure"], 5)


# ---- the protein ----

def of_rigid_bonds(path, edges):
    """What bonds that the deck makes rigid have of energy at the places of the
    file. LAMMPS leaves them out of the sum."""
    rows = sorted((int(r[0]), r[4:7]) for r in sections(path)["Atoms"])
    x = np.array([r[1] for r in rows], float)
    first, second, length, stiff = bonds_of_hydrogen(path)
    return (stiff * (lengths(x, first, second, edges) - length) ** 2).sum()


def check_protein():
    """Without rigid bonds, which would first be brought to their lengths: the
    file has five digits of each place."""
    if not bring("data.rhodo", 9):
        return
    shutil.copy(os.path.join(DECKS, "protein.toml"), "whole.toml")
    with open("whole.toml", encoding="utf-8") as f:
        deck = re.sub(r"\[md\.constraints\].*?\n\n", "", f.read(), flags=re.S)
    got = mdrun.run(deck, "md.steps=0")
    want = published("rhodo")
    rigid = of_rigid_bonds("data.rhodo", got.edges())
    agrees("protein", "energy of bonds",
           got.observable("bond_energy")[0] - rigid, want["bond"], 7,
           ", those of hydrogen left out")
    for mine, theirs, digits in (
            ("angle_energy", "angle", 7), ("dihedral_energy", "dihedral", 8),
            ("improper_energy", "improper", 7),
            ("pair_energy", "van_der_waals", 8),
            # whose erfc() is good to 1e-6 of all that cancels
            ("coulomb_energy", "coulomb_real", 6),
            ("mesh_energy", "coulomb_mesh", 7)):
        agrees("protein", mine, got.observable(mine)[0], want[theirs], digits)
    # Its pressure at step 0, -149.33 atm, has the force of rigid bonds half a
    # step late. Without them LAMMPS (2022) has this:
    agrees("protein", "pressure without rigid bonds",
           got.observable("pressure")[0], 11039.2320, 5)
    # The motion with them: LAMMPS (2022) at constant energy.
    moved = start("protein", "md.steps=50")
    tap.near(moved.observable("temperature")[-1], 299.6376, 0.02,
             "protein: after 100 fs the temperature is LAMMPS's")


def check_ranks():
    if not (tap.have_mpi() and os.path.exists("data.rhodo")):
        tap.skip(1, "no MPI, or no data.rhodo")
        return
    one, three = start("protein"), start("protein", ranks=3)
    off = max(abs(three.observable(name)[0] / one.observable(name)[0] - 1)
              for name in ("potential_energy", "coulomb_energy", "mesh_energy",
                           "temperature", "pressure"))
    tap.below(off, 1e-11, "protein: three ranks give the same")


check_chain()
check_copper()
check_protein()
check_ranks()
tap.done()
