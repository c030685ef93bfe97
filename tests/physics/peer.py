"""The same configuration in LAMMPS: energies, pressure and forces.

A second program, written by others, agrees on mixing rules, shifts and tails.
Runs where `lmp` is on the PATH; its printed digits (15) are the tolerance.
"""

import shutil

import tap

tap.need("numpy", "h5py")

import numpy as np

import mdrun

LMP = shutil.which("lmp")
if LMP is None:
    tap.skip_all("no program lmp on the PATH (LAMMPS)")

INPUT = """
units lj
atom_style atomic
read_data peer.data
pair_style {style}
pair_modify mix {mix} tail {tail} shift {shift}
{coefficients}
neighbor 0.3 bin
thermo_style custom step pe press temp
thermo_modify norm no format float %.15g
dump d all custom 1 peer.dump id fx fy fz
dump_modify d sort id format float %.15g
run 0
"""
DECK = """
[run]
solver = "md"
[md]
steps = 0
[md.initial]
read = "peer.xyz"
[[md.species]]
name = "A"
mass = 1.0
[[md.species]]
name = "B"
mass = 2.0
[md.pair]
style = "lj"
cutoff = 2.5
skin = 0.3
[[md.pair.coefficients]]
species = ["A", "A"]
epsilon = 1.0
sigma = 1.0
[[md.pair.coefficients]]
species = ["B", "B"]
epsilon = 0.7
sigma = 0.85
[md.ensemble]
type = "nve"
[output]
fields = ["position", "force"]
"""

box, position = mdrun.jittered_box(31, cells=(6, 5, 5), spacing=1.15)
rng = np.random.default_rng(31)
kind = rng.integers(0, 2, len(position))
velocity = rng.normal(size=position.shape)
velocity -= np.average(velocity, axis=0, weights=kind + 1)
mdrun.xyz("peer.xyz", box, position, ["AB"[k] for k in kind], velocity)
with open("peer.data", "w", encoding="ascii") as f:
    f.write(f"peer\n\n{len(position)} atoms\n2 atom types\n")
    for side, axis in zip(box, "xyz"):
        f.write(f"0 {float(side)!r} {axis}lo {axis}hi\n")
    f.write("\nMasses\n\n1 1.0\n2 2.0\n\nAtoms # atomic\n\n")
    for i, x in enumerate(position):
        f.write(f"{i + 1} {kind[i] + 1} "
                + " ".join(repr(float(c)) for c in x) + "\n")
    f.write("\nVelocities\n\n")
    for i, v in enumerate(velocity):
        f.write(f"{i + 1} " + " ".join(repr(float(c)) for c in v) + "\n")

COEFFICIENTS = "pair_coeff 1 1 1.0 1.0 2.5\npair_coeff 2 2 0.7 0.85 2.5"


def lammps(style="lj/cut 2.5", mix="arithmetic", tail="no", shift="no"):
    mdrun.write("peer.in", INPUT.format(style=style, mix=mix, tail=tail,
                                        shift=shift,
                                        coefficients=COEFFICIENTS))
    out = tap.run(LMP, "-in", "peer.in", "-log", "none").stdout.splitlines()
    head = next(i for i, line in enumerate(out)
                if line.split()[:2] == ["Step", "PotEng"])
    _, energy, pressure, temperature = map(float, out[head + 1].split())
    rows = np.loadtxt("peer.dump", skiprows=9)
    return energy, pressure, temperature, rows[:, 1:]


for mix, ours in (("arithmetic", "arithmetic"), ("geometric", "geometric"),
                  ("sixthpower", "sixth-power")):
    for keys, overrides, what in (
        ({"tail": "yes"}, ["md.pair.tail=true"], "tail"),
        ({"shift": "yes"}, ['md.pair.shift="energy"'], "energy shift"),
        ({"style": "lj/smooth/linear 2.5"}, ['md.pair.shift="force"'],
         "force shift"),
    ):
        energy, pressure, temperature, force = lammps(mix=mix, **keys)
        r = mdrun.run(DECK, f'md.pair.mixing="{ours}"', *overrides)
        name = f"LAMMPS, {ours} mixing, {what}"
        tap.near(r.observable("potential_energy")[0], energy,
                 1e-12 * abs(energy), f"{name}: energy")
        tap.near(r.observable("pressure")[0], pressure, 1e-12 * abs(pressure),
                 f"{name}: pressure")
        tap.near(r.observable("temperature")[0], temperature, 1e-13,
                 f"{name}: temperature")
        tap.below(np.abs(r.frame("force") - force).max() / np.abs(force).max(),
                  1e-12, f"{name}: forces")
tap.done()
