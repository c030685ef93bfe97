"""Charges: energies and forces of both methods against plain sums, against LAMMPS
and against Madelung's constant; over ranks, precisions and restarts."""

import math
import os
import re
import shutil

import numpy as np

import bonds
import mdrun
import tap

# Charges of the six particles of a molecule (bonds.py): they add up to 0.
CHARGE = np.array([0.4, -0.7, 0.5, 0.3, -0.9, 0.4])
CUTOFF = 3.0
DAMPING = 0.6
SHARE_LJ = (0, 0, 0.5)
SHARE_Q = (0, 0.25, 0.8)


erfc = np.vectorize(math.erfc, otypes=[float])


def data_file(path):
    """The molecules of bonds.py with charges."""
    bonds.data_file(path, shift=-3.7)
    with open(path, encoding="utf-8") as f:
        head, rows = f.read().split("Atoms # molecular")
    rows = rows.split("\nBonds")
    atoms = []
    for line in rows[0].split("\n"):
        w = line.split()
        if w:
            w.insert(3, repr(float(CHARGE[(int(w[0]) - 1) % bonds.CHAIN])))
        atoms.append(" ".join(w))
    mdrun.write(path, head + "Atoms # full" + "\n".join(atoms) + "\nBonds" +
                rows[1])


def deck(method, steps=0):
    text = bonds.deck("charged.data", steps)
    text = text.replace("special_lj = [0, 0, 0.5]",
                        f"special_lj = {list(SHARE_LJ)}\n"
                        f"special_coulomb = {list(SHARE_Q)}")
    more = f"damping = {DAMPING}\n" if method == "dsf" else ""
    return text + (f'[md.coulomb]\nmethod = "{method}"\ncutoff = {CUTOFF}\n'
                   + more)


def pair_energy(method, r, rc, a):
    """Of unit charges at r < rc, without excluded parts."""
    if method == "cut":
        return 1 / r
    end = erfc(a * rc) / rc
    slope = end / rc + 2 * a / np.sqrt(np.pi) * np.exp(-(a * rc) ** 2) / rc
    return erfc(a * r) / r - end + slope * (r - rc)


def plain_coulomb(x, length, method):
    """Coulomb's energy of the molecules by a loop over all pairs."""
    n, rc, a = bonds.CHAIN, CUTOFF, DAMPING
    far = np.full((n, n), 9)
    for i, j in bonds.molecules()[2]:
        far[i, j] = far[j, i] = 1
    for k in range(n):
        far = np.minimum(far, far[:, k:k + 1] + far[k:k + 1, :])
    share_of = np.array([1, *SHARE_Q] + [1] * 10, float)
    q = np.tile(CHARGE, len(x) // n)
    total = 0.0
    for i in range(len(x) - 1):
        d = x[i] - x[i + 1:]
        d -= length * np.rint(d / length)
        r = np.sqrt((d ** 2).sum(axis=1))
        near = np.nonzero(r < rc)[0]
        j = near + i + 1
        r = r[near]
        share = np.where(j // n == i // n,
                         share_of[far[i % n, j % n]], 1.0)
        u = pair_energy(method, r, rc, a)
        u = share * u if method == "cut" else u - (1 - share) / r
        total += (q[i] * q[j] * u).sum()
    if method == "dsf":
        end = erfc(a * rc) / rc
        slope = end / rc + (2 * a / np.sqrt(np.pi) *
                            np.exp(-(a * rc) ** 2) / rc)
        total -= (q ** 2).sum() * float(0.5 * (end + slope * rc) +
                                        a / np.sqrt(np.pi))
    return total


PARTS = ("pair", "coulomb", "bond", "angle", "dihedral", "improper")


def parts(result, row=0):
    return np.array([result.observable(k + "_energy")[row] for k in PARTS])


def check_sums():
    x, length, *_ = bonds.molecules()
    for method in ("cut", "dsf"):
        want = plain_coulomb(x, length, method)
        one = None
        for ranks in (1, 2, 3, 4) if tap.have_mpi() else (1,):
            got = mdrun.run(deck(method), ranks=ranks)
            one = one or got
            worst = abs(got.observable("coulomb_energy")[0] / want - 1)
            # the polynomials are good to 3e-12 of each pair
            tap.ok(worst < 1e-10, f"{method}: Coulomb's energy is the plain "
                   f"sum, {ranks} ranks")
            tap.note(f"{want:.8g}, worst {worst:.1e}")
            worst = mdrun.worst(got.frame("force", 0), one.frame("force", 0))
            tap.ok(worst < 1e-11, f"{method}: and forces are those of one rank")
        force = one.frame("force", 0)
        worst = 0
        for a in (2, 101, 355):
            e = []
            for h in (1e-5, -1e-5):
                y = x.copy()
                y[a, 1] += h
                e.append(plain_coulomb(y, length, method) +
                         sum(bonds.plain_sums(y, length).values()))
            worst = max(worst, abs(force[a, 1] + (e[0] - e[1]) / 2e-5))
        tap.ok(worst < 1e-5 * np.abs(force).max(),
               f"{method}: forces are slopes of the plain sum")
        tap.note(f"worst {worst:.1e} of {np.abs(force).max():.1f}")
        mixed = mdrun.run(deck(method), "md.precision=mixed")
        worst = mdrun.worst(mixed.frame("force", 0), force)
        tap.ok(worst < 1e-5, f"{method}: mixed precision is good to 1e-5")
        tap.note(f"worst {worst:.1e}")
        tap.below(abs(mixed.observable("coulomb_energy")[0] / want - 1), 1e-6,
                  f"{method}: and so is its energy")


def check_motion():
    """Energy over time, threads, ranks and a restart."""
    text = deck("dsf", 100) + "[checkpoint]\nevery = 50\n"
    whole = mdrun.run(text, name="whole")
    e = whole.observable("total_energy")
    tap.ok(np.ptp(e) < 2e-3 * whole.observable("kinetic_energy").mean(),
           "dsf: the energy of 100 steps is conserved")
    tap.note(f"spread {np.ptp(e):.1e} of {e.mean():.1f}")
    many = mdrun.run(text, "run.threads=3",
                     ranks=2 if tap.have_mpi() else 1)
    worst = mdrun.worst(many.frame("position"), whole.frame("position"))
    tap.ok(worst < 1e-9, "2 ranks of 3 threads go the same way")
    path = mdrun.write("half.toml", text)
    shutil.rmtree("kept", ignore_errors=True)
    tap.run(tap.WARPDECK, "run", path, "output.name=part", "md.steps=50",
            "--output", "kept", "-q")
    tap.run(tap.WARPDECK, "run", path, "output.name=part", "--output", "kept",
            "--resume", "auto", "-q")
    part = mdrun.Result("kept/part.h5")
    same = all(np.array_equal(part.frame(f), whole.frame(f))
               for f in ("position", "velocity", "force"))
    tap.ok(same, "a run with charges goes on bit by bit")


# ---- a crystal ----

SALT = """[run]
solver = "md"
[md]
timestep = 0.001
steps = 0
[md.initial]
read = "salt.xyz"
[[md.species]]
name = "P"
charge = 1
[[md.species]]
name = "M"
charge = -1
[md.pair]
cutoff = {cutoff}
skin = 0.2
[[md.pair.coefficients]]
species = ["P", "P"]
epsilon = 0
sigma = 0.1
[[md.pair.coefficients]]
species = ["M", "M"]
epsilon = 0
sigma = 0.1
[md.coulomb]
{coulomb}
"""
MADELUNG = 1.747564594633182  # of rock salt


def rock_salt(path, side, shift=0.3, lean=0.0):
    """Ions 1 apart in a cube, of which the second edge may lean along x."""
    grid = np.stack(np.meshgrid(*[np.arange(side)] * 3, indexing="ij"),
                    -1).reshape(-1, 3)
    kind = np.where(grid.sum(axis=1) % 2 == 0, "P", "M")
    edges = np.diag([float(side)] * 3)
    edges[1, 0] = lean
    mdrun.xyz(path, edges, grid + shift, kind)


def salt(cutoff, damping, method="dsf"):
    return SALT.format(cutoff=1.2, coulomb=f'method = "{method}"\n'
                       f"cutoff = {cutoff}\ndamping = {damping}")


def check_madelung():
    """Rock salt: Madelung's constant a pair of ions."""
    n = 14
    rock_salt("salt.xyz", n, 0.25)
    errors = []
    for cutoff, damping in ((3.3, 0.7), (4.6, 0.6), (6.8, 0.5)):
        got = mdrun.run(salt(cutoff, damping))
        u = got.observable("coulomb_energy")[0] / (n ** 3 / 2)
        errors.append(abs(u + MADELUNG))
        tap.note(f"cutoff {cutoff}: {u:.7f}")
    tap.ok(errors[2] < 1e-3 and errors[2] < errors[0],
           "rock salt: dsf comes to Madelung's constant with the cutoff")
    status, out = mdrun.refused(salt(7.3, 0.5))
    tap.ok(status == 2 and "half the box" in out,
           "a Coulomb cutoff beyond half the box is refused")
    status, out = mdrun.refused(salt(3, 0.5, "cut"))
    tap.ok(status == 2 and "damping" in out,
           "damping is refused for a plain cutoff")
    text = salt(3, 0.5).replace("charge = 1\n", "").replace("charge = -1\n", "")
    status, out = mdrun.refused(text)
    tap.ok(status == 2 and "no particle has a charge" in out,
           "forces between charges that nobody has are refused")
    # nearer than the polynomials reach: 1/16 of the cutoff
    near = [[1.0, 1, 1], [1.05, 1, 1], [9.0, 9, 9], [9.0, 9.1, 9]]
    mdrun.xyz("salt.xyz", (float(n),) * 3, np.array(near),
              ["P", "P", "M", "M"])
    got = mdrun.run(salt(3, 0, "dsf"), "md.initial.overlap=0")
    want = sum(float(pair_energy("dsf", np.array(r), 3.0, 0.0))
               for r in (0.05, 0.1)) - 4 / 3.0
    tap.ok(abs(got.observable("coulomb_energy")[0] - want) < 1e-11 * want,
           "charges that nearly touch have the exact energy")


# ---- LAMMPS ----

def lammps(style):
    return re.sub(r"pair_style .*", f"pair_style {style}", bonds.LAMMPS) \
        .replace("atom_style molecular", "atom_style full") \
        .replace("molecules.data", "charged.data") \
        .replace("special_bonds lj 0 0 0.5",
                 f"special_bonds lj 0 0 0.5 coul {SHARE_Q[0]} {SHARE_Q[1]} "
                 f"{SHARE_Q[2]}") \
        .replace("evdwl ebond", "evdwl ecoul ebond")


def check_peer():
    if not shutil.which("lmp"):
        tap.skip(2, "no LAMMPS (lmp) here")
        return
    for method, style in (
            ("cut", f"lj/cut/coul/cut 2.5 {CUTOFF}"),
            ("dsf", f"lj/cut/coul/dsf {DAMPING} 2.5 {CUTOFF}")):
        row = np.array(bonds.lammps(lammps(style)))
        got = mdrun.run(deck(method).replace("temperature = 1.0\n", ""))
        mine = np.append(parts(got), got.observable("pressure")[0])
        worst = np.max(np.abs(mine - row) / (1 + np.abs(row)))
        # LAMMPS's erfc is good to 1e-7 only
        tap.ok(worst < (1e-10 if method == "cut" else 2e-6),
               f"{method}: each term's energy and the pressure are LAMMPS's")
        tap.note(f"worst {worst:.1e}; {mine} {row}")


PEPTIDE = "/usr/share/lammps/examples/peptide/data.peptide"
PEPTIDE_DECK = """[run]
solver = "md"
units = "real"
[md]
timestep = 1
steps = 0
[md.initial]
read = "data.peptide"
atom_style = "full"
overlap = 0
[md.pair]
cutoff = 10
shift = "charmm-switch"
switch_from = 8
mixing = "arithmetic"
[md.bonds]
bond_style = "harmonic"
angle_style = "charmm"
dihedral_style = "charmm"
improper_style = "harmonic"
"""
PEPTIDE_LAMMPS = """units real
atom_style full
bond_style harmonic
angle_style charmm
dihedral_style charmm
improper_style harmonic
special_bonds charmm
pair_style lj/charmm/coul/charmm 8 10
pair_modify mix arithmetic
read_data data.peptide
thermo_style custom evdwl ecoul ebond eangle edihed eimp press
thermo_modify norm no format float %.13g
run 0
"""


def check_peptide():
    """CHARMM's terms, switch and 1-4 pairs: LAMMPS's solvated peptide."""
    if not (os.path.exists(PEPTIDE) and shutil.which("lmp")):
        tap.skip(2, "no LAMMPS (lmp) or its data.peptide here")
        return
    shutil.copy(PEPTIDE, "data.peptide")
    row = np.array(bonds.lammps(PEPTIDE_LAMMPS))
    got = mdrun.run(PEPTIDE_DECK)
    names = ("pair", "bond", "angle", "dihedral", "improper")
    mine = np.array([got.observable(k + "_energy")[0] for k in names])
    worst = np.max(np.abs(mine / np.delete(row, [1, 6]) - 1))
    tap.ok(worst < 1e-8, "peptide: each term's energy is LAMMPS's")
    tap.note(f"worst {worst:.1e}; {mine}")
    text = re.sub(r"pair_style .*", "pair_style lj/cut/coul/dsf 0.2 9.9 10",
                  PEPTIDE_LAMMPS).replace("dihedral_style charmm",
                                          "dihedral_style none")
    with open("data.peptide", encoding="utf-8") as f:
        data = f.read()
    data = re.sub(r"\n[ \t]+\n", "\n\n", data)
    two = re.search(r"Pair Coeffs\n\n(.*?)\n\n", data, re.S).group(1)
    cut = "\n".join(" ".join(r.split()[:3]) for r in two.split("\n"))
    data = data.replace(two, cut)
    for first, then in (("Dihedral Coeffs", "Improper Coeffs"),
                        ("\nDihedrals\n", "\nImpropers\n")):
        i, j = data.index(first), data.index(then)
        data = data[:i] + data[j:]
    data = re.sub(r"\n *\d+ +(dihedrals|dihedral types)", "", data)
    mdrun.write("plain.data", data)
    row = np.array(bonds.lammps(text.replace("data.peptide", "plain.data")))
    got = mdrun.run(PEPTIDE_DECK.replace("data.peptide", "plain.data") +
                    '[md.coulomb]\nmethod = "dsf"\ndamping = 0.2\n')
    ecoul = got.observable("coulomb_energy")[0]
    # LAMMPS's erfc is wrong by up to 1.5e-7 in each bonded pair, one way
    tap.ok(abs(ecoul / row[1] - 1) < 1e-5, "peptide: dsf is LAMMPS's")
    tap.note(f"{ecoul:.8g} {row[1]:.8g}")


def main():
    data_file("charged.data")
    check_sums()
    check_motion()
    check_madelung()
    check_peer()
    check_peptide()
    tap.done()


if __name__ == "__main__":
    main()
