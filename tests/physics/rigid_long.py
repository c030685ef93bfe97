# timeout: 20000
"""Rigid molecules over longer times: a solvated peptide with CHARMM's terms,
rigid bonds and a mesh moves as in LAMMPS; rigid bodies have the right volumes; SPC/E
water at 298 K and 1 atm has its density, and its structure.
"""

import os
import shutil
import subprocess

import numpy as np

import charges
import ensemble
import mdrun
import rigid
import tap

RIGID = """[md.coulomb]
method = "pme"
splitting = 0.3
mesh = [24, 24, 24]
[md.constraints]
bond_types = [4, 6, 8, 10, 12, 14, 18]
angle_types = [31]
"""
LAMMPS = """units real
atom_style full
pair_style lj/charmm/coul/long 8.0 10.0 10.0
bond_style harmonic
angle_style charmm
dihedral_style charmm
improper_style harmonic
kspace_style pppm 0.0001
read_data data.peptide
kspace_modify gewald 0.3 mesh 24 24 24 order 5
timestep 0.25
thermo_style custom step temp evdwl ecoul elong ebond eangle edihed eimp press
thermo_modify format float %.12g
thermo 40
fix 1 all nve
fix 2 all shake 1e-9 200 0 b 4 6 8 10 12 14 18 a 31
run 40
"""


def check_peptide():
    if not (os.path.exists(charges.PEPTIDE) and shutil.which("lmp")):
        tap.skip(8, "no LAMMPS (lmp) or its data.peptide here")
        return
    shutil.copy(charges.PEPTIDE, "data.peptide")
    mdrun.write("in.rigid", LAMMPS)
    said = subprocess.run(["lmp", "-in", "in.rigid", "-log", "none"],
                          capture_output=True, text=True, timeout=900,
                          check=True).stdout
    row = [r.split() for r in said.splitlines() if r.strip().startswith("40 ")]
    theirs = np.array(row[0][1:], float)
    deck = charges.PEPTIDE_DECK.replace("timestep = 1\nsteps = 0",
                                        "timestep = 0.25\nsteps = 40") + RIGID
    got = mdrun.run(deck)
    names = ["temperature", "pair_energy", "coulomb_energy", "mesh_energy",
             "bond_energy", "angle_energy", "dihedral_energy",
             "improper_energy"]
    for name, want in zip(names, theirs):
        # LAMMPS starts from lengths of five digits, which are then corrected
        # here; a term's difference is a few times 1e-5 of it.
        tap.near(got.observable(name)[-1] / want, 1, 2e-4,
                 f"peptide, after 40 steps: {name} is LAMMPS's")
    # the pressure of its rigid bonds is that of half a step later
    tap.near(got.observable("pressure")[-1], theirs[-1], 2,
             "peptide, after 40 steps: the pressure is LAMMPS's within 2 atm")


BODIES = """[md.ensemble]
type = "npt"
temperature = 300
relaxation = 50
barostat = "mtk"
pressure = %g
pressure_relaxation = 300
"""


def check_volumes():
    """Rigid bodies with Lennard-Jones forces under MTK: between two pressures the
    logarithm of the ratio of the volumes' distributions is a line of slope
    -(P2 - P1) / kT (Shirts 2013)."""
    rigid.data_file("bodies.data")
    volumes = []
    for pressure in (1500, 1800):
        deck = rigid.DECK.format(file="bodies.data", epsilon=0.1, cutoff=5,
                                 more=BODIES % pressure)
        r = mdrun.run(deck, "md.timestep=2", "md.steps=400000",
                      "output.observables_every=20",
                      "output.frames_every=400000", timeout=7200)
        volumes.append(ensemble.thin(r.observable("volume")[500:]))
        conserved = r.observable("conserved_energy")
        tap.below(abs(conserved[-1] - conserved[0]),
                  0.05 * r.observable("total_energy").std(),
                  "rigid bodies under MTK: what is conserved does not drift")
    got, error = ensemble.slope(*volumes)
    want = -300 / 68568.415 / (300 * 0.0019872067)
    tap.note(f"{got:.6f} +- {error:.6f}, {want:.6f} expected")
    tap.near(got, want, 3 * error, "rigid bodies under MTK: volumes at two "
             "pressures have the right ratio")


def check_water():
    """Berendsen, Grigera and Straatsma (1987): 0.998 g/cm3 at 1 atm with tail
    corrections, and a first peak of g(r) of oxygen at 2.76 angstrom, 3.0 high."""
    maker = os.path.join(mdrun.INPUTS, "make_water.py")
    data = subprocess.run([shutil.which("python3"), maker, "8"],
                          capture_output=True, text=True, check=True).stdout
    mdrun.write("water.data", data)
    with open(os.path.join(mdrun.INPUTS, "water.toml"), encoding="utf-8") as f:
        deck = f.read()
    r = mdrun.run(mdrun.write("water.toml", deck), "md.steps=100000",
                  "md.analysis.rdf.start=20000", ranks=2 if tap.have_mpi()
                  else 1, timeout=18000)
    keep = r.step("density") >= 20000
    density = r.observable("density")[keep]
    error = mdrun.standard_error(density)
    tap.note(f"{density.mean():.4f} +- {error:.4f} g/cm3, "
             f"{r.observable('pressure')[keep].mean():.0f} atm")
    tap.near(density.mean(), 0.998, 0.005, "water: 0.998 g/cm3 at 298 K and 1 atm")
    tap.below(error, 0.003, "water: and that is known well enough")
    t = r.table("radial_distribution/O-O")
    i = int(np.argmax(t["g"]))
    tap.near(t["r"][i], 2.76, 0.03, "water: g(r) of oxygen peaks at 2.76")
    tap.near(t["g"][i], 3.0, 0.15, "water: its first peak is 3.0 high")
    u = r.observable("potential_energy")[keep].mean() / 512
    tap.note(f"{u:.3f} kcal/mol a molecule, T = "
             f"{r.observable('temperature')[keep].mean():.2f} K, peak "
             f"{t['r'][i]:.3f} {t['g'][i]:.3f}")


def main():
    check_peptide()
    check_volumes()
    check_water()
    tap.done()


if __name__ == "__main__":
    main()
