# timeout: 900
"""LAMMPS's benchmark of a solvated protein on the simulated card: 32,000 atoms,
each kind of CHARMM's terms, rigid bonds of hydrogen and the mesh, beside the CPU.

Small twins, always tested, are those of molecules_charged.c: chains with all
terms and a switch on a mesh, and rigid groups on a mesh.
"""

import os
import sys

import tap

tap.need("numpy", "h5py")
sys.path.insert(0, os.path.join(tap.TOP_SRCDIR, "tests", "physics"))

import numpy as np

import lammps_files
import mdrun

PROGRAM = tap.simulated_card()
# Memory need not be closed at every wait.
os.environ["CUDASIM_PROTECT"] = "0"
STEPS = 10
KEYS = ("output.observables_every=1", f"output.frames_every={STEPS}",
        'output.fields=["position","velocity","force","image"]')
PARTS = ("bond_energy", "angle_energy", "dihedral_energy", "improper_energy",
         "pair_energy", "coulomb_energy", "mesh_energy", "kinetic_energy",
         "potential_energy", "temperature", "pressure")


def on_card(*keys, ranks=1):
    return lammps_files.start("protein", *KEYS, *keys, ranks=ranks,
                              program=PROGRAM, device="cuda")


def far(got, want, row, tolerance, what):
    """Each part of the energy, of its own size; the sum, of the greatest part;
    the pressure, which is a difference of some thousand."""
    size = {"potential_energy": abs(want.observable("mesh_energy")[row]),
            "pressure": 1e4}
    off = {k: abs(got.observable(k)[row] - want.observable(k)[row])
           / size.get(k, abs(want.observable(k)[row])) for k in PARTS}
    worst = max(off, key=off.get)
    tap.below(off[worst], tolerance, f"{what}: all parts of the energy are the "
              f"CPU's ({worst} least)")


def check_forces(got, want, index, tolerance, what):
    f = want.frame("force", index)
    tap.below(np.abs(got.frame("force", index) - f).max()
              / np.sqrt((f * f).mean()), tolerance, f"{what}: forces are the CPU's")


def check_steps(got, want):
    """Rigid bonds meet the forces of all other kinds in each step. Rounding
    grows tenfold in about as many steps."""
    far(got, want, STEPS, 1e-11, f"after {STEPS} steps")
    check_forces(got, want, -1, 1e-10, f"after {STEPS} steps")
    x, edges = got.frame("position"), got.edges()
    tap.below(np.abs(x - want.frame("position")).max() / edges.min(), 1e-13,
              "all atoms are where the CPU has them")
    tap.ok(np.array_equal(got.frame("image"), want.frame("image"))
           and np.abs(x - want.frame("position", 0)).max() > 0.1,
           "and have gone some way, through the same faces")
    v = want.frame("velocity")
    tap.below(np.abs(got.frame("velocity") - v).max()
              / np.sqrt((v * v).mean()), 1e-11, "and so are their velocities")
    first, second, length, _ = lammps_files.bonds_of_hydrogen("data.rhodo")
    now = lammps_files.lengths(x, first, second, edges)
    tap.below(np.abs(now / length - 1).max(), 1e-8,
              f"{len(length)} bonds of hydrogen keep their lengths")
    axis = x[first] - x[second]
    axis -= edges * np.rint(axis / edges)
    along = ((got.frame("velocity")[first] - got.frame("velocity")[second])
             * axis).sum(1) / now
    tap.below(np.abs(along).max() / np.sqrt((v * v).mean()), 1e-8,
              "and nothing moves along them")


if not lammps_files.bring("data.rhodo", 13):
    tap.done()
    sys.exit()
cpu = lammps_files.start("protein", *KEYS, f"md.steps={STEPS}")
one = on_card(f"md.steps={STEPS}")
far(one, cpu, 0, 1e-12, "at the start")
check_forces(one, cpu, 0, 1e-12, "at the start")
check_steps(one, cpu)
# The mesh goes over ranks, each with a card.
two = on_card("md.steps=0", ranks=2)
far(two, cpu, 0, 1e-12, "two cards")
check_forces(two, cpu, 0, 1e-12, "two cards")
# Single precision rounds places alike on both, and sums of pairs not.
MIXED = ("md.steps=0", 'md.precision="mixed"')
mixed = on_card(*MIXED)
far(mixed, cpu, 0, 1e-5, "mixed precision")
want = lammps_files.start("protein", *KEYS, *MIXED).frame("force")
tap.below(np.sqrt(((mixed.frame("force") - want)**2).mean() / (want**2).mean()),
          1e-5, "mixed precision: forces are those of the CPU's (rms)")
tap.done()
