"""The same systems computed by GROMACS itself in double precision: energies by term,
virials and forces, plain and with PME; a peptide in water in the force fields that
GROMACS brings."""

import os

import tap

tap.need("numpy", "h5py")

import numpy as np

import gromacs_cases as cases
import mdrun

if not cases.PROGRAM:
    tap.skip_all("gmx_d (GROMACS in double precision) is not installed")

# The heavy atoms of Ala-Ser-Phe-Gly: residue, atom, place in angstrom.
PEPTIDE = """1 ALA N 0.000 0.000 0.000
1 ALA CA 1.458 0.000 0.000
1 ALA C 2.005 1.424 0.000
1 ALA O 1.470 2.298 -0.682
1 ALA CB 1.994 -0.766 -1.211
2 SER N 3.068 1.653 0.764
2 SER CA 3.708 2.963 0.815
2 SER C 4.525 3.221 -0.446
2 SER O 5.193 2.319 -0.954
2 SER CB 4.602 3.075 2.051
2 SER OG 5.644 2.115 2.006
3 PHE N 4.472 4.451 -0.950
3 PHE CA 5.243 4.831 -2.127
3 PHE C 6.718 5.008 -1.780
3 PHE O 7.051 5.548 -0.725
3 PHE CB 4.690 6.121 -2.736
3 PHE CG 3.290 5.984 -3.284
3 PHE CD1 2.195 6.234 -2.465
3 PHE CD2 3.096 5.608 -4.609
3 PHE CE1 0.906 6.108 -2.970
3 PHE CE2 1.807 5.482 -5.113
3 PHE CZ 0.712 5.732 -4.294
4 GLY N 7.597 4.554 -2.668
4 GLY CA 9.034 4.704 -2.470
4 GLY C 9.474 6.141 -2.730
4 GLY O 8.993 6.782 -3.664
"""


def relative(got, want):
    """The worst energy, and the worst of the virial's components."""
    size = max(abs(v) for k, v in want.items() if k.startswith("virial"))
    # GROMACS's splines of correction maps are natural ones over two turns, and
    # its energy of 1e-7 of the map's greatest.
    energies = [abs(got[k] - v) / max(abs(v), 50 if k == "cmap" else 1e-3)
                for k, v in want.items() if not k.startswith("virial")]
    virial = [abs(got[k] - v) / size
              for k, v in want.items() if k.startswith("virial")]
    return max(energies), max(virial)


def compare(name, got, peer, forces, bound=(2e-8, 1e-8, 3e-6)):
    energy, virial = relative(got, peer[0])
    tap.below(energy, bound[0], f"{name}: energies by term, relatively")
    tap.below(virial, bound[1], f"{name}: virial, relatively")
    # gmx dump shows six digits.
    off = np.sqrt(((forces - peer[1])**2).sum() / (peer[1]**2).sum())
    tap.below(off, bound[2], f"{name}: forces, root mean square")


def force(result):
    return result.frame("force") * cases.KCAL * 10


for family in cases.VALUES:
    cases.write(family, family)
    peer = cases.peer(family)
    if not tap.ok(peer is not None, f"{family}: GROMACS runs"):
        continue
    r = mdrun.run(cases.deck(family), name=family)
    compare(family, cases.energies(r), peer, force(r))

# All images: the sum of both parts. Both meshes are good to 1e-6 or so of a
# force, the energy to 1e-6 of the charges' own.
peer = cases.peer("amber", coulomb="PME", rtol=1e-9)
if tap.ok(peer is not None, "amber: GROMACS runs with PME"):
    r = mdrun.run(cases.deck("amber", method="pme"), "md.coulomb.accuracy=1e-6",
                  name="pme")
    got = cases.energies(r)
    got["coulomb"] += r.observable("mesh_energy")[0] * cases.KCAL
    compare("amber, PME", got, peer, force(r), (2e-5, 2e-5, 1e-5))


# ---- force fields that come with GROMACS ----

TOP = "/usr/share/gromacs/top"
SIZE = (3.2, 3.3, 3.4)


def peptide(field, folder):
    """Ala-Ser-Phe-Gly in water by GROMACS's tools. Whether all of them ran."""
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "pep.pdb"), "w", encoding="utf-8") as f:
        for k, row in enumerate(PEPTIDE.strip().splitlines()):
            number, residue, atom, *x = row.split()
            f.write("ATOM  %5d  %-3s %s A%4s    %8.3f%8.3f%8.3f\n"
                    % (k + 1, atom, residue, number, *map(float, x)))
        f.write("END\n")
    steps = [
        ("pdb2gmx", "-f", "pep.pdb", "-ff", field, "-water", "tip3p", "-ignh",
         "-o", "dry.gro", "-p", "topol.top"),
        ("editconf", "-f", "dry.gro", "-o", "box.gro", "-box",
         *map(str, SIZE), "-center", "1.5", "1.6", "1.7"),
        ("solvate", "-cp", "box.gro", "-cs", "spc216.gro", "-p", "topol.top",
         "-o", "conf.gro", "-maxsol", "300")]
    return all(cases.gmx(folder, *s)[0] for s in steps)


for field in ("oplsaa", "amber99sb-ildn", "charmm27"):
    if not os.path.isdir(os.path.join(TOP, field + ".ff")):
        tap.skip(4, f"{TOP} has no {field}.ff")
        continue
    ran = peptide(field, field)
    peer = cases.peer(field, cutoff=1.2, include="") if ran else None
    if not tap.ok(peer is not None, f"{field}: GROMACS makes a peptide"):
        continue
    r = mdrun.run(cases.deck(field, cutoff=1.2, include=TOP), name=field)
    compare(f"a peptide in water, {field}", cases.energies(r, box=SIZE), peer,
            force(r))
tap.done()
