"""Correction maps over two dihedrals (CMAP) from LAMMPS's and GROMACS's files: the
energy of a smooth map, its order, forces, virial, ranks, restarts, cards; LAMMPS
beside; files that are wrong."""

import os
import re
import shutil
import subprocess

import tap

tap.need("numpy", "h5py")

import numpy as np

import mdrun

KCAL = 4.184  # kJ/mol
SIDE = 3
BOX = 24.0  # angstrom
# A chain of six: two terms, of its first and of its last five.
CHAIN = np.array([[0, 0, 0], [1.40, 0.20, 0.10], [2.05, 1.50, 0.00],
                  [3.50, 1.60, 0.40], [4.20, 2.70, -0.50], [5.55, 2.60, 0.1]])
N = SIDE**3 * len(CHAIN)


def smooth(phi, psi, kind):
    """The energies that the maps are points of, kcal/mol."""
    if kind == 0:
        return (1.5 * np.sin(phi + 0.3) * np.cos(2 * psi) + 0.7 * np.cos(phi)
                - 1.1 * np.sin(psi - 0.4))
    return 0.9 * np.sin(2 * phi - psi + 0.2) + 0.6 * np.cos(phi + psi)


def grid(n, kind):
    at = -np.pi + 2 * np.pi * np.arange(n) / n
    return smooth(at[:, None], at[None, :], kind)


def places():
    rng = np.random.default_rng(8)
    x = []
    for cell in np.ndindex(SIDE, SIDE, SIDE):
        q = np.linalg.qr(rng.normal(size=(3, 3)))[0]
        q *= np.linalg.det(q)
        # Turns about the bonds in the middle, so that the angles are all around.
        shape = CHAIN.copy()
        for k in range(1, 4):
            axis = shape[k + 1] - shape[k]
            axis /= np.linalg.norm(axis)
            a = rng.uniform(-np.pi, np.pi)
            v = shape[k + 2:] - shape[k + 1]
            shape[k + 2:] = (shape[k + 1] + v * np.cos(a)
                             + np.cross(axis, v) * np.sin(a)
                             + np.outer(v @ axis, axis) * (1 - np.cos(a)))
        shape -= shape.mean(0)
        x.append(shape @ q.T + (np.array(cell) + 0.5) * BOX / SIDE)
    return np.concatenate(x)


X = places()
TERMS = [(6 * m + s, s) for m in range(SIDE**3) for s in range(2)]


def angle(a, b, c, d):
    """As IUPAC has it: 180 degrees where the four zigzag."""
    p, q, r = b - a, c - b, d - c
    m, n = np.cross(p, q), np.cross(q, r)
    return np.arctan2(np.dot(np.cross(m, n), q) / np.linalg.norm(q),
                      np.dot(m, n))


EXACT = sum(smooth(angle(*X[i:i + 4]), angle(*X[i + 1:i + 5]), kind)
            for i, kind in TERMS)


def write_data(path="chain.data"):
    rows = ["chains", "", f"{N} atoms", f"{5 * N // 6} bonds",
            f"{len(TERMS)} crossterms", "1 atom types", "1 bond types", ""]
    rows += [f"0 {BOX} {c}lo {c}hi" for c in "xyz"]
    rows += ["", "Masses", "", "1 12", "", "Bond Coeffs # harmonic", "",
             "1 300 1.5", "", "Atoms # molecular", ""]
    rows += [f"{k + 1} {k // 6 + 1} 1 " + " ".join(f"{v:.15g}" for v in x)
             for k, x in enumerate(X)]
    rows += ["", "Bonds", ""]
    rows += [f"{k + 1} 1 {i} {i + 1}" for k, i in enumerate(
        i for i in range(1, N) if i % 6)]
    rows += ["", "CMAP", ""]
    rows += [f"{k + 1} {kind + 1} " + " ".join(str(i + e) for e in range(1, 6))
             for k, (i, kind) in enumerate(TERMS)]
    mdrun.write(path, "\n".join(rows) + "\n")


def write_maps(path="own.cmap"):
    text = "# UNITS: real\n"
    for kind in range(2):
        text += f"\n# map {kind + 1}\n"
        for k, row in enumerate(grid(24, kind)):
            text += f"\n# {-180 + 15 * k}\n"
            for at in range(0, 24, 5):
                text += " ".join(f"{v:.15g}" for v in row[at:at + 5]) + "\n"
    mdrun.write(path, text)


def write_topology(folder, n):
    """The same in GROMACS's files, in kJ/mol, on grids of n x n points."""
    os.makedirs(folder, exist_ok=True)
    text = "[ defaults ]\n1 2 no 1 1\n[ atomtypes ]\n"
    text += "".join(f"{t} 6 12 0 A 0.3 0\n" for t in ("A", "B"))
    text += "[ bondtypes ]\n" + "".join(
        f"{p} {q} 1 0.15 {2 * 300 * KCAL * 100}\n"
        for p, q in ("AA", "AB", "BB")) + "[ cmaptypes ]\n"
    for kind in range(2):
        text += ("A A A A A" if kind == 0 else "A A A A B") + f" 1 {n} {n}\\\n"
        text += "\\\n".join(" ".join(f"{v * KCAL:.15g}" for v in row)
                            for row in grid(n, kind)) + "\n"
    text += "[ moleculetype ]\nCH 3\n[ atoms ]\n" + "".join(
        f"{k + 1} {'B' if k == 5 else 'A'} 1 CH C{k + 1} 1 0 12\n"
        for k in range(6))
    text += "[ bonds ]\n" + "".join(f"{k} {k + 1} 1\n" for k in range(1, 6))
    text += "[ cmap ]\n1 2 3 4 5 1\n2 3 4 5 6 1\n[ system ]\nchains\n"
    text += f"[ molecules ]\nCH {SIDE**3}\n"
    mdrun.write(os.path.join(folder, "topol.top"), text)
    gro = f"chains\n{N}\n" + "".join(
        "%5d%-5s%5s%5d%15.10f%15.10f%15.10f\n"
        % (k // 6 + 1, "CH", f"C{k % 6 + 1}", k + 1, *(x / 10))
        for k, x in enumerate(X)) + f"{BOX / 10} {BOX / 10} {BOX / 10}\n"
    mdrun.write(os.path.join(folder, "conf.gro"), gro)


DECK = """[run]
solver = "md"
units = "real"
[md]
timestep = "0.5 fs"
steps = 0
pressure_tensor = true
[md.initial]
{start}
overlap = 0
[md.pair]
cutoff = "6 angstrom"
skin = "1 angstrom"
{pair}[output]
observables_every = 5
fields = ["position", "velocity", "force"]
"""
NO_PAIRS = """[[md.pair.coefficients]]
species = ["1", "1"]
epsilon = 0
sigma = 1
"""
LAMMPS = DECK.format(start='read = "chain.data"', pair=NO_PAIRS + """[md.bonds]
cmap = "own.cmap"
""")


def gromacs(folder):
    return DECK.format(start=f'read = "{folder}/conf.gro"\n'
                       f'topology = "{folder}/topol.top"', pair="")


write_data()
write_maps()
one = mdrun.run(LAMMPS, name="one")
energy = one.observable("cmap_energy")[0]
# Splines of two waves a turn on 24 points: (2 h)^4 / 384 of an amplitude of 1.5
# at most, 54 terms of either sign.
tap.near(energy, EXACT, 54 * 1.5 * (4 * np.pi / 24)**4 / 384,
         "the energy is that of the smooth function, which it interpolates")

by_points = {}
for n in (12, 24, 48, 90):
    write_topology(f"top{n}", n)
    r = mdrun.run(gromacs(f"top{n}"), name=f"top{n}")
    by_points[n] = r.frame("force")
    if n == 24:
        # Places in a .gro file have 10 digits behind the point here, of nm.
        tap.near(r.observable("cmap_energy")[0], energy, 1e-7,
                 "GROMACS's files give the energy of LAMMPS's")
# A cubic spline's slope is good to h^3. Of 12 and 24 points there are 6 and 12 a
# wave, too few for the last power to be alone; the fourth grid stands for no
# error at all, and has a seventh of the third's.
errors = [np.sqrt(((by_points[n] - by_points[90])**2).mean())
          for n in (12, 24, 48)]
tap.ok(all(6 < a / b < 13 for a, b in zip(errors, errors[1:])),
       "twice the points make the error of forces 8 times smaller")
tap.note(f"errors {errors}")

# The whole of the force: bonds are the other part, and known.
force = one.frame("force")
bonds = np.zeros_like(X)
for i in range(N - 1):
    if i % 6 < 5:
        d = X[i] - X[i + 1]
        r = np.linalg.norm(d)
        g = -2 * 300 * (r - 1.5) / r * d
        bonds[i] += g
        bonds[i + 1] -= g
maps = force - bonds
h = 1e-5
seen = 0
for k in (1, 9, 70):
    slopes = []
    for d in range(3):
        sides = []
        for sign in (1, -1):
            X[k, d] += sign * h
            write_data("moved.data")
            X[k, d] -= sign * h
            sides.append(mdrun.run(LAMMPS.replace("chain.data", "moved.data"),
                                   name="moved").observable("cmap_energy")[0])
        slopes.append((sides[0] - sides[1]) / (2 * h))
    seen = max(seen, np.abs(maps[k] + slopes).max())
# Rounding of 50 kcal/mol over h, and the third derivative times h^2.
tap.below(seen, 1e-7, "forces are the slope of the energy")
tap.below(np.abs(maps.sum(0)).max(), 1e-11, "and add up to zero")

pressure = np.array([one.observable(f"pressure_{c}")[0]
                     for c in ("xx", "yy", "zz", "xy", "xz", "yz")])


def same(other, sentence, tolerance=1e-11):
    tap.below(mdrun.worst(other.observable("cmap_energy"),
                          one.observable("cmap_energy")), tolerance,
              f"{sentence}: the energy")
    tap.below(np.abs(other.frame("force", 0) - force).max()
              / np.abs(force).max(), tolerance, f"{sentence}: forces")
    tap.below(max(abs(other.observable(f"pressure_{c}")[0] - p) for c, p in
                  zip(("xx", "yy", "zz", "xy", "xz", "yz"), pressure))
              / np.abs(pressure).max(), tolerance,
              f"{sentence}: the pressure tensor")


if tap.have_mpi():
    for ranks in (2, 4, 7):
        same(mdrun.run(LAMMPS, name="ranks", ranks=ranks), f"{ranks} ranks")
    tap.near(mdrun.run(gromacs("top24"), ranks=4, name="four")
             .observable("cmap_energy")[0], energy, 1e-7,
             "a topology on four ranks")
else:
    tap.skip(10, "built without MPI")
# Positions of 24 bits.
same(mdrun.run(LAMMPS, "md.precision=mixed", name="mixed"),
     "mixed precision", 2e-5)

double = mdrun.run(LAMMPS, "md.initial.replicate=[2,1,1]", name="double")
tap.near(double.observable("cmap_energy")[0], 2 * energy, 1e-11,
         "two copies of the file have twice the energy")
said = tap.warpdeck("check", mdrun.write("count.toml", LAMMPS),
                    "md.initial.replicate=[2,1,1]", "--measure", "0").stdout
tap.ok(f" {2 * len(TERMS)} correction maps, " in said, "check counts them")

if os.environ.get("WARPDECK_NO_CUDASIM"):
    tap.skip(9, os.environ["WARPDECK_NO_CUDASIM"])
else:
    SIMULATED = tap.simulated_card()
    for more in ((), ("md.deterministic=true",)):
        same(mdrun.run(LAMMPS, *more, name="card", program=SIMULATED,
                       device="cuda"), " ".join(("a card",) + more), 1e-10)
    if tap.have_mpi():
        same(mdrun.run(LAMMPS, name="cards", program=SIMULATED, device="cuda",
                       ranks=3), "three cards")
    else:
        tap.skip(3, "built without MPI")

# ---- runs ----

moving = ("md.steps=200", "md.initial.temperature=300 K",
          "md.timestep=0.1 fs")
whole = mdrun.run(LAMMPS, *moving, name="whole")
total = whole.observable("total_energy")
# Verlet's share of the bonds' energy, which turn by 0.02 in a step: half its
# square, of 144 kcal/mol of motion.
tap.below(np.abs(total - total[0]).max(), 0.03,
          "the energy is conserved, kcal/mol")
tap.ok(np.ptp(whole.observable("cmap_energy")) > 0.1,
       "while that of the maps changes")
moved = mdrun.write("moved.toml", LAMMPS + "[checkpoint]\nevery = 100\n")


def go_on(steps, *how, check=True):
    return tap.run(tap.WARPDECK, "run", moved, "output.name=part",
                   *moving[1:], f"md.steps={steps}", "--output", "kept", *how, "-q",
                   check=check)


go_on(100)
go_on(200, "--resume", "auto")
part = mdrun.Result("kept/part.h5")
tap.ok(all(np.array_equal(part.frame(f), whole.frame(f))
           for f in ("position", "velocity", "force")),
       "a run that is resumed ends in the same bits")

# ---- LAMMPS itself ----

PEER = """units real
atom_style molecular
bond_style harmonic
pair_style zero 6
fix maps all cmap own.cmap
fix_modify maps energy yes virial yes
read_data chain.data fix maps crossterm CMAP
pair_coeff * *
thermo_style custom f_maps pxx pyy pzz pxy pxz pyz
thermo_modify format float %.15g
dump d all custom 1 peer.dump id fx fy fz
dump_modify d sort id format float %.15g
run 0
"""
LMP = shutil.which("lmp")
helped = subprocess.run([LMP, "-h"], capture_output=True, text=True,
                        check=False).stdout if LMP else ""
if not re.search(r"\bcmap\b", helped):
    tap.skip(3, "LAMMPS with fix cmap is not installed")
else:
    mdrun.write("peer.in", PEER)
    said = subprocess.run([LMP, "-in", "peer.in"], capture_output=True,
                          text=True, check=True).stdout
    row = re.search(r"\bf_maps .*\n(.*)\n", said).group(1).split()
    peer = np.array([float(w) for w in row])
    # Its splines are natural ones over two turns: 1e-7 of a slope is theirs.
    tap.below(abs(peer[0] / energy - 1), 1e-6, "LAMMPS has the energy")
    tap.below(np.abs(peer[1:] - pressure).max() / np.abs(pressure).max(),
              1e-6, "LAMMPS has the pressure tensor")
    table = np.loadtxt("peer.dump", skiprows=9)[:, 1:]
    tap.below(np.abs(table - force).max() / np.abs(maps).max(), 1e-6,
              "LAMMPS has the forces")

# ---- files that are wrong ----


def change(path, what, by):
    with open(path, encoding="utf-8") as f:
        text = f.read()
    changed = re.sub(what, by, text, count=1)
    assert changed != text, what
    return changed


WRONG = [
    ("chain.data", r"\n1 1 1 2 3 4 5\n", "\n1 3 1 2 3 4 5\n",
     r"chain.data:\d+: error: CMAP: type 3, of atoms 1 to 5, but '.*own.cmap' "
     r"has 2 maps"),
    ("chain.data", r"\n1 1 1 2 3 4 5\n", "\n1 1 1 2 3 4 4\n",
     r"chain.data:\d+: error: CMAP: atom 4 stands in it twice"),
    ("chain.data", r"\n1 1 1 2 3 4 5\n", "\n1 1 1 2 3 4\n",
     r"chain.data:\d+: error: CMAP: 6 columns instead of 7"),
    ("chain.data", r"\n1 1 1 2 3 4 5\n", "\n1 1 1 2 3 4 999\n",
     r"chain.data:\d+: error: CMAP: .*an atom's id"),
    ("chain.data", r"54 crossterms", "55 crossterms",
     r"chain.data:\d+: error: CMAP: only 54 of 55 lines"),
    ("chain.data", r"54 crossterms\n", "",
     r"chain.data:\d+: error: .*more lines"),
    ("chain.data", r"\n1 1 1 2 3 4 5\n", "\n1 1 1 2 3 4 90\n",
     r"chain.data:\d+: error: CMAP: atoms 4 and 90, which follow one another in "
     r"the correction map of atoms 1 to 90, are \S+ apart"),
    ("own.cmap", r"\S+\s*\Z", "",
     r"own.cmap:\d+: error: .*ends after 575 of the 24 x 24 = 576 energies of "
     r"map 2"),
    ("own.cmap", r"\n# map 2", "\n1 2 3\n# map 2", r"ends after 3 of the"),
    ("own.cmap", r"\n# map 2", "\nA B\n# map 2",
     r"own.cmap:\d+: error: an energy of a map: 'A' is not a number"),
    ("own.cmap", r"(?s).*", "# nothing\n", r"own.cmap' has no maps"),
]
for name, what, by, want in WRONG:
    write_data()
    write_maps()
    mdrun.write(name, change(name, what, by))
    status, said = mdrun.refused(LAMMPS)
    if not tap.ok(status == 2 and re.search(want, said),
                  f"refused: {want.replace(chr(92), '')}"):
        tap.note(f"status {status}: {said}")
write_data()
write_maps()
REFUSED = [
    (LAMMPS.replace('cmap = "own.cmap"', ""),
     r"has 54 crossterms, and no file of their maps is named; set "
     r"md.bonds.cmap"),
    (LAMMPS.replace("own.cmap", "gone.cmap"), r"cannot open '.*gone.cmap'"),
]
for text, want in REFUSED:
    status, said = mdrun.refused(text)
    if not tap.ok(status == 2 and re.search(want, said),
                  f"refused: {want.replace(chr(92), '')}"):
        tap.note(f"status {status}: {said}")
mdrun.write("plain.data", re.sub(r"54 crossterms\n|\nCMAP\n(?s:.*)", "",
                                 change("chain.data", "chains", "plain")))
status, said = mdrun.refused(LAMMPS.replace("chain.data", "plain.data"))
tap.ok(status == 2 and "plain.data' has no crossterms" in said,
       "maps that nothing needs are refused")

TOP = [
    (r"A A A A A 1 24 24", "A A A A A 1 24 23", r"topol.top:\d+: error: "
     r"\[ cmaptypes \]: 24 x 23 points"),
    (r"A A A A A 1 24 24", "A A A A A 1 23 23",
     r"\[ cmaptypes \]: 576 energies, but a map of 23 x 23 has 529"),
    (r"A A A A A 1 24 24", "A A A A A 2 24 24",
     r"\[ cmaptypes \]: function 2 is not computed"),
    (r"A A A A B 1 24 24", "A A A A A 1 24 24",
     r"\[ cmaptypes \]: the map of these types stands in line 11 of "
     r"'.*topol.top' already"),
    (r"A A A A B 1 24 24", "B A A A A 1 24 24",
     r"topol.top:\d+: error: \[ cmap \]: \[ cmaptypes \] has no map for the "
     r"types A A A A B in this order"),
    (r"\n1 2 3 4 5 1\n", "\n1 2 3 4 1\n", r"\[ cmap \]: .*atom 1 stands in it"),
    (r"\n1 2 3 4 5 1\n", "\n1 2 3 4 5 2\n",
     r"\[ cmap \]: function 2 is not computed"),
]
for what, by, want in TOP:
    write_topology("wrong", 24)
    mdrun.write("wrong/topol.top", change("wrong/topol.top", what, by))
    status, said = mdrun.refused(gromacs("wrong"))
    if not tap.ok(status == 2 and re.search(want, said),
                  f"refused: {want.replace(chr(92), '')}"):
        tap.note(f"status {status}: {said}")

# The maps are part of what a checkpoint was computed with.
mdrun.write("own.cmap", change("own.cmap", r"\n# -180\n\S+", "\n# -180\n0.5"))
done = go_on(300, "--resume", "auto", check=False)
tap.ok(done.returncode == 2 and "correction maps (CMAP) are not those that "
       "the checkpoint" in done.stderr + done.stdout,
       "a run does not go on with other maps")
tap.done()
