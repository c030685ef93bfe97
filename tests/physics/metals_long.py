"""Metals with the tables that come with LAMMPS: energy, pressure and forces are
LAMMPS's for each; the energy of a crystal at rest in motion is conserved."""

import os
import re
import shutil

import tap

tap.need("numpy", "h5py")

import numpy as np

import mdrun
import metals

FOLDER = os.environ.get("LAMMPS_POTENTIALS", "/usr/share/lammps/potentials")

# setfl: file, elements of the first and the second species
SETFL = (("CuNi.eam.alloy", "Cu", "Ni"), ("AlCu.eam.alloy", "Cu", "Al"),
         ("NiAlH_jea.eam.alloy", "Al", "H"), ("CuTa.eam.alloy", "Ta", "Cu"),
         ("CoAl.eam.alloy", "Co", "Al"), ("Cu_mishin1.eam.alloy", "Cu", "Cu"))
# funcfl: files of the first and the second species
FUNCFL = (("Cu_u3.eam", "Ni_u3.eam"), ("Ag_u3.eam", "Pd_u3.eam"),
          ("Cu_smf7.eam", "Ni_u3.eam"), ("Cu_u6.eam", "Au_u3.eam"))


def check_setfl(name, first, second):
    file = os.path.join(FOLDER, name)
    if not os.path.exists(file):
        tap.skip(1, f"no {file} (Debian's lammps-data, or LAMMPS_POTENTIALS)")
        return
    metals.same_as_lammps(
        f"{name}, {first} and {second}", "pair_style eam/alloy\n"
        f"pair_coeff * * {file} {first} {second}",
        metals.deck(cu=f'element = "{first}"', ni=f'element = "{second}"',
                    file=f'file = "{file}"'))


def check_funcfl(names):
    files = [os.path.join(FOLDER, name) for name in names]
    if not all(os.path.exists(f) for f in files):
        tap.skip(1, f"no {names} (Debian's lammps-data, or LAMMPS_POTENTIALS)")
        return
    metals.same_as_lammps(
        " with ".join(names), "pair_style eam\n" + "".join(
            f"pair_coeff {k + 1} {k + 1} {f}\n" for k, f in enumerate(files)),
        metals.deck("eam", cu=f'potential = "{files[0]}"',
                    ni=f'potential = "{files[1]}"', file=""))


def check_drift():
    """20 ps of the shipped copper at constant energy."""
    with open(os.path.join(mdrun.INPUTS, "copper.toml"),
              encoding="utf-8") as f:
        text = re.sub(r"\[md.ensemble\].*?\n\n", "", f.read(), flags=re.S)
    shutil.copy(os.path.join(mdrun.INPUTS, "copper.eam.alloy"), ".")
    for precision, bound in (("double", 2e-6), ("mixed", 1e-5)):
        got = mdrun.run(text, "md.steps=10000", f"md.precision={precision}",
                        "output.observables_every=50", name="drift" + precision)
        t, e = got.time("total_energy"), got.observable("total_energy") / got.n
        drift = np.polyfit(t, e, 1)[0] * 20
        # kinetic energy is 0.04 eV; mixed forces are good to 2e-6
        tap.ok(abs(drift) < bound, f"copper, {precision}: the energy drifts by "
               f"less than {bound:g} eV an atom in 20 ps")
        tap.note(f"{drift:.1e}, spread {np.ptp(e):.1e}")


def main():
    if shutil.which("lmp"):
        mdrun.xyz("metal.xyz", metals.BOX, metals.X, metals.KIND, metals.V)
        metals.data_file()
        for row in SETFL:
            check_setfl(*row)
        for names in FUNCFL:
            check_funcfl(names)
    else:
        tap.skip(len(SETFL) + len(FUNCFL), "no LAMMPS (lmp) here")
    check_drift()
    tap.done()


if __name__ == "__main__":
    main()
