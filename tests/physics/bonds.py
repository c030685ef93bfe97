"""Molecules from a LAMMPS data file: energies and forces against plain sums and
against LAMMPS, over ranks, threads and restarts; files that are refused."""

import os
import re
import shutil
import subprocess

import h5py
import numpy as np

import mdrun
import tap

CHAIN = 6


def molecules(n=4, seed=3):
    """n^3 short chains with a branch, far enough apart, in a box of their own:
    positions, and the terms of one of them as indices."""
    rng = np.random.default_rng(seed)
    one = np.array([[0, 0, 0], [1.0, 0.55, 0.1], [2.0, 0, -0.1],
                    [3.0, 0.6, 0.2], [4.0, 0.1, 0], [2.1, -0.9, 0.6]])
    one -= one.mean(axis=0)
    step = 5.2
    x = []
    for i in range(n):
        for j in range(n):
            for k in range(n):
                turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
                x.append(one @ turn + np.array([i, j, k]) * step + 2.0 +
                         0.05 * rng.normal(size=(CHAIN, 3)))
    bonds = [(0, 1), (1, 2), (2, 3), (3, 4), (2, 5)]
    angles = [(0, 1, 2), (1, 2, 3), (2, 3, 4), (1, 2, 5)]
    dihedrals = [(0, 1, 2, 3), (1, 2, 3, 4), (0, 1, 2, 5)]
    impropers = [(2, 1, 3, 5)]
    return np.concatenate(x), step * n, bonds, angles, dihedrals, impropers


def data_file(path, shift=0.0, n=4):
    """Write it as LAMMPS reads it, its particles in another order."""
    x, length, *kinds = molecules(n)
    n = len(x) // CHAIN
    order = np.random.default_rng(1).permutation(len(x))
    names = ["bond", "angle", "dihedral", "improper"]
    lines = ["molecules of six", "", f"{len(x)} atoms"]
    lines += [f"{n * len(k)} {name}s" for k, name in zip(kinds, names)]
    lines += ["2 atom types", "2 bond types", "1 angle types",
              "2 dihedral types", "1 improper types", ""]
    lines += [f"{shift} {length + shift} {c}lo {c}hi" for c in "xyz"]
    lines += ["", "Masses", "", "1 1.0 # C", "2 2.5 # D", ""]
    lines += ["Bond Coeffs # harmonic", "", "1 100 1.15", "2 60 1.05", ""]
    lines += ["Angle Coeffs # charmm", "", "1 40 125 5 2.1", ""]
    lines += ["Dihedral Coeffs # opls", "", "1 1.3 -0.3 0.6 0.1",
              "2 0.4 0.2 -0.5 0.3", ""]
    lines += ["Improper Coeffs # harmonic", "", "1 8 20", ""]
    lines += ["Atoms # molecular", ""]
    for a in order:
        kind = 2 if a % CHAIN == 5 else 1
        place = " ".join(f"{v + shift:.15g}" for v in x[a])
        lines.append(f"{a + 1} {a // CHAIN + 1} {kind} {place}")
    for k, name in zip(kinds, names):
        lines += ["", name.capitalize() + "s", ""]
        row = 0
        for m in range(n):
            for t, ids in enumerate(k):
                row += 1
                kind = 1 + (t % 2 if name in ("bond", "dihedral") else 0)
                lines.append(f"{row} {kind} " + " ".join(
                    str(m * CHAIN + i + 1) for i in ids))
    mdrun.write(path, "\n".join(lines) + "\n")


DECK = """[run]
solver = "md"
seed = 3
[md]
timestep = 0.002
steps = {steps}
[md.initial]
read = "{file}"
temperature = 1.0
[md.pair]
cutoff = 2.5
skin = 0.4
shift = "energy"
[[md.pair.coefficients]]
species = ["C", "C"]
epsilon = 1
sigma = 0.9
[[md.pair.coefficients]]
species = ["D", "D"]
epsilon = 0.5
sigma = 1.0
[md.bonds]
special_lj = [0, 0, 0.5]
[output]
observables_every = {every}
frames_every = {every}
fields = ["position", "velocity", "force"]
"""


def deck(name="molecules.data", steps=0, every=20):
    return DECK.format(file=name, steps=steps, every=every)


# ---- plain sums ----

SIGMA = np.array([[0.9, 0.95], [0.95, 1.0]])
EPSILON = np.array([[1.0, np.sqrt(0.5)], [np.sqrt(0.5), 0.5]])


def lj(r2, a, b):
    s6 = SIGMA[a, b] ** 6
    inv6 = 1 / r2 ** 3
    end = 1 / 2.5 ** 6
    c12, c6 = 4 * EPSILON[a, b] * s6 * s6, 4 * EPSILON[a, b] * s6
    return c12 * inv6 ** 2 - c6 * inv6 - (c12 * end ** 2 - c6 * end)


def torsion(x):
    """The angle of four positions by arctangent of planes."""
    b1, b2, b3 = x[1] - x[0], x[2] - x[1], x[3] - x[2]
    n1, n2 = np.cross(b1, b2), np.cross(b2, b3)
    return np.arctan2(np.dot(np.cross(n1, n2), b2) / np.linalg.norm(b2),
                      np.dot(n1, n2))


def plain_sums(x, length):
    """Energies by term, by loops that share nothing with the program."""
    _, _, bonds, angles, dihedrals, impropers = molecules()
    out = dict.fromkeys(("pair", "bond", "angle", "dihedral", "improper"), 0.0)
    kind = np.where(np.arange(len(x)) % CHAIN == 5, 1, 0)
    # how many bonds apart, within one molecule
    far = np.full((CHAIN, CHAIN), 9)
    for i, j in bonds:
        far[i, j] = far[j, i] = 1
    for k in range(CHAIN):
        far = np.minimum(far, far[:, k:k + 1] + far[k:k + 1, :])
    share = {1: 0.0, 2: 0.0, 3: 0.5}
    for i in range(len(x)):
        d = x[i] - x[i + 1:]
        d -= length * np.rint(d / length)
        r2 = (d ** 2).sum(axis=1)
        near = np.nonzero(r2 < 2.5 ** 2)[0]
        for j in near + i + 1:
            w = 1.0
            if j // CHAIN == i // CHAIN:
                w = share.get(far[i % CHAIN, j % CHAIN], 1.0)
            out["pair"] += w * lj(r2[j - i - 1], kind[i], kind[j])
    c = [np.array([1.3, -0.3, 0.6, 0.1]), np.array([0.4, 0.2, -0.5, 0.3])]
    for m in range(0, len(x), CHAIN):
        y = x[m:m + CHAIN]
        y = y - length * np.rint((y - y[2]) / length)
        for t, (i, j) in enumerate(bonds):
            k, r0 = ((100, 1.15), (60, 1.05))[t % 2]
            out["bond"] += k * (np.linalg.norm(y[i] - y[j]) - r0) ** 2
        for i, j, k in angles:
            a, b = y[i] - y[j], y[k] - y[j]
            theta = np.arccos(a @ b / np.linalg.norm(a) / np.linalg.norm(b))
            out["angle"] += 40 * (theta - np.radians(125)) ** 2
            out["angle"] += 5 * (np.linalg.norm(y[i] - y[k]) - 2.1) ** 2
        for t, ids in enumerate(dihedrals):
            phi = torsion(y[list(ids)])
            v = c[t % 2]
            out["dihedral"] += 0.5 * (
                v[0] * (1 + np.cos(phi)) + v[1] * (1 - np.cos(2 * phi)) +
                v[2] * (1 + np.cos(3 * phi)) + v[3] * (1 - np.cos(4 * phi)))
        for ids in impropers:
            chi = abs(torsion(y[list(ids)]))
            out["improper"] += 8 * (chi - np.radians(20)) ** 2
    return out


def check_sums():
    data_file("molecules.data", shift=-3.7)
    x, length, *_ = molecules()
    want = plain_sums(x, length)
    for ranks in (1, 2, 3, 4) if tap.have_mpi() else (1,):
        got = mdrun.run(deck(), ranks=ranks)
        worst = max(abs(got.observable(k + "_energy")[0] - v) / (1 + abs(v))
                    for k, v in want.items())
        tap.ok(worst < 1e-12, f"each term's energy is the plain sum, {ranks} "
               "ranks")
        tap.note(f"worst {worst:.1e}")
    one = mdrun.run(deck())
    force = one.frame("force", 0)
    worst = 0
    for a in (2, 40, 101, 355):
        for d in range(3):
            e = []
            for h in (1e-5, -1e-5):
                y = x.copy()
                y[a, d] += h
                e.append(sum(plain_sums(y, length).values()))
            worst = max(worst, abs(force[a, d] + (e[0] - e[1]) / 2e-5))
    tap.ok(worst < 1e-5 * np.abs(force).max(),
           "forces of some particles are slopes of the plain sum")
    tap.note(f"worst {worst:.1e} of {np.abs(force).max():.1f}")


def check_polynomials():
    """Four cosines of a dihedral's multiples as powers of its cosine."""
    lines = open("molecules.data", encoding="ascii").read()
    for number, k in ((1, (1.3, -0.3, 0.6, 0.1)), (2, (0.4, 0.2, -0.5, 0.3))):
        powers = (k[0] / 2 + k[1] + k[2] / 2, k[0] / 2 - 1.5 * k[2],
                  4 * k[3] - k[1], 2 * k[2], -4 * k[3])
        old = f"\n{number} " + " ".join(str(v) for v in k)
        assert lines.count(old) == 1
        lines = lines.replace(old, f"\n{number} " +
                              " ".join(f"{v:.15g}" for v in powers))
    mdrun.write("powers.data", lines.replace("# opls", "# multi/harmonic"))
    one, two = mdrun.run(deck()), mdrun.run(deck("powers.data"))
    force = one.frame("force", 0)
    tap.below(mdrun.worst(two.frame("force", 0), force), 1e-12,
              "multi/harmonic of the same dihedrals as opls has the same forces")
    e = [r.observable("dihedral_energy")[0] for r in (one, two)]
    tap.near(e[1], e[0], 1e-12 * abs(e[0]), "and the same energy")


def check_motion():
    one = mdrun.run(deck(steps=200))
    e = one.observable("total_energy")
    tap.ok(np.ptp(e) < 2e-3 * one.observable("kinetic_energy").mean(),
           "the energy of 200 steps is conserved to the time step's order")
    tap.note(f"spread {np.ptp(e):.2e} of {e.mean():.1f}")
    more = [(dict(ranks=r), f"{r} ranks") for r in (2, 3, 4)]
    more = more if tap.have_mpi() else []
    more.append((dict(), "3 threads"))
    for how, name in more:
        extra = ["run.threads=3"] if "threads" in name else []
        two = mdrun.run(deck(steps=200), *extra, **how)
        worst = mdrun.worst(two.frame("position"), one.frame("position"))
        tap.ok(worst < 1e-9, f"200 steps on {name} end in the same places")
        tap.note(f"worst {worst:.1e}")
    mixed = mdrun.run(deck(), "md.precision=mixed")
    worst = max(abs(mixed.observable(k + "_energy")[0] -
                    one.observable(k + "_energy")[0]) /
                abs(one.observable(k + "_energy")[0])
                for k in ("pair", "bond", "angle", "dihedral", "improper"))
    tap.ok(worst < 1e-5, "mixed precision gives the same energies to 1e-5")


def check_resume():
    text = deck(steps=200) + "[checkpoint]\nevery = 100\n"
    for ranks in (1, 3) if tap.have_mpi() else (1,):
        shutil.rmtree("kept", ignore_errors=True)
        whole = mdrun.run(text, ranks=ranks, name="whole")
        path = mdrun.write("half.toml", text)
        tap.run(tap.WARPDECK, "run", path, "output.name=part", "md.steps=100",
                "--output", "kept", "-q", ranks=ranks)
        tap.run(tap.WARPDECK, "run", path, "output.name=part", "--output",
                "kept", "--resume", "auto", "-q", ranks=ranks)
        part = mdrun.Result("kept/part.h5")
        same = all(np.array_equal(part.frame(f), whole.frame(f))
                   for f in ("position", "velocity", "force"))
        tap.ok(same, f"a run with bonds goes on bit by bit, {ranks} ranks")
    if not tap.have_mpi():
        tap.skip(1, "built without MPI")
        return
    tap.run(tap.WARPDECK, "run", path, "output.name=part", "md.steps=300",
            "--output", "kept", "--resume", "auto", "-q", ranks=2)
    long = mdrun.run(deck(steps=300), name="long")
    worst = mdrun.worst(mdrun.Result("kept/part.h5").frame("position"),
                        long.frame("position"))
    tap.ok(worst < 1e-8, "3 ranks' checkpoint goes on on 2 ranks")
    tap.note(f"worst {worst:.1e}")


def check_counts():
    """Of each molecule: 5 pairs one bond apart, 5 two and 4 three."""
    path = mdrun.write("count.toml", deck())
    for more, pairs in (([], 14), (["md.bonds.special_lj=[0,1,1]"], 5)):
        said = tap.warpdeck("check", path, *more, "--measure", "0").stdout
        want = (f" 320 bonds, 256 angles, 192 dihedrals, 64 impropers, "
                f"{64 * pairs} pairs that bonds exclude or scale\n")
        tap.ok(want in said, f"check counts what is bound, and {pairs} pairs of "
               "each molecule")


# ---- LAMMPS ----

LAMMPS = """units lj
atom_style molecular
bond_style harmonic
angle_style charmm
dihedral_style opls
improper_style harmonic
special_bonds lj 0 0 0.5
pair_style lj/cut 2.5
pair_modify shift yes mix arithmetic
read_data molecules.data
pair_coeff 1 1 1 0.9
pair_coeff 2 2 0.5 1.0
thermo_style custom evdwl ebond eangle edihed eimp press
thermo_modify norm no format float %.13g
run 0
"""


def lammps(text):
    """The first row of numbers of a LAMMPS run, or None without LAMMPS."""
    program = shutil.which("lmp")
    if not program:
        return None
    mdrun.write("in.test", text)
    env = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run([program, "-in", "in.test"], capture_output=True,
                          text=True, env=env, timeout=120, check=False)
    for line in done.stdout.splitlines():
        words = line.split()
        if len(words) >= 6 and all(w.replace(".", "").replace("e", "")
                                   .replace("-", "").replace("+", "")
                                   .isdigit() for w in words):
            return [float(w) for w in words]
    tap.note(done.stdout[-500:] + done.stderr[-500:])
    return None


def check_peer():
    row = lammps(LAMMPS)
    if row is None:
        tap.skip(2, "no LAMMPS (lmp) here")
        return
    got = mdrun.run(deck().replace("temperature = 1.0\n", ""))
    names = ["pair", "bond", "angle", "dihedral", "improper"]
    worst = max(abs(got.observable(n + "_energy")[0] - v) / (1 + abs(v))
                for n, v in zip(names, row))
    tap.ok(worst < 1e-11, "each term's energy is LAMMPS's")
    tap.note(f"worst {worst:.1e}")
    tap.ok(abs(got.observable("pressure")[0] - row[5]) < 1e-10 *
           (1 + abs(row[5])), "the pressure is LAMMPS's")


# ---- a bond that stands twice ----

def check_twins():
    """It counts twice, as LAMMPS has it, and is told of."""
    data_file("once.data")
    with open("once.data", encoding="utf-8") as f:
        once = f.read()
    bonds = int(re.search(r"(\d+) bonds", once).group(1))
    mdrun.write("twice.data", once.replace(f"{bonds} bonds",
                                           f"{bonds + 1} bonds")
                .replace("\n1 1 1 2\n", f"\n1 1 1 2\n{bonds + 1} 1 2 1\n"))
    row = once.split("\n").index("1 1 1 2") + 2
    told = (f"twice.data:{row}: Bonds: the bond of atoms 1 and 2 stands more "
            "than once")
    said = [mdrun.refused(deck(f"{name}.data"), "md.steps=0",
                          f"output.name={name}")
            for name in ("once", "twice")]
    tap.ok([s[0] for s in said] == [0, 0] and told not in said[0][1] and
           said[1][1].count(told) == 1, "a bond that stands twice is told of")
    energy = [mdrun.Result(f"out/{name}.h5").observable("bond_energy")[0]
              for name in ("once", "twice")]
    x, length, *_ = molecules(4)
    d = x[1] - x[0]
    d -= length * np.round(d / length)
    one = 100 * (np.linalg.norm(d) - 1.15) ** 2
    tap.ok(abs(energy[1] - energy[0] - one) < 1e-10, "and counts twice")
    tap.note(f"{energy[1] - energy[0]:.6g}, {one:.6g}")


# ---- files that are refused ----

def check_refused():
    data_file("good.data")
    with open("good.data", encoding="utf-8") as f:
        good = f.read()

    def at(line):
        return good.split("\n").index(line) + 1

    cases = [
        ("an atom twice", good.replace("\n7 2 1 ", "\n8 2 1 ", 1), "twice"),
        ("an unknown type", good.replace("\n7 2 1 ", "\n7 2 9 ", 1),
         "outside of 1 to 2"),
        ("a missing line", good.replace("384 atoms", "385 atoms"), "lines"),
        ("lines beyond the header", good.replace("384 atoms", "383 atoms"),
         "Atoms"),
        ("a bond to nobody", good.replace("\n1 1 1 2\n", "\n1 1 1 9999\n"),
         "Bonds"),
        ("no coefficients", good.replace("\n2 60 1.05", ""), "Bond Coeffs"),
        ("too few numbers", good.replace("\n2 60 1.05", "\n2 60"),
         f"bad.data:{at('2 60 1.05')}: bond type 2: 1 numbers, but style "
         "'harmonic' takes 2"),
        ("a tilt cut short", good.replace("\nMasses", "\n9 0 xy xz yz\n\n"
                                          "Masses"),
         f"bad.data:{at('Masses')}: error: a line of the header that is not "
         "understood"),
        ("two atoms on one spot", re.sub(r"\n2 1 1 .*", "\n2 1 1 " + " ".join(
            re.search(r"\n1 1 1 (.*)", good)[1].split()), good),
         f"bad.data:{at('1 1 1 2')}: error: Bonds: atoms 1 and 2 are bound and "
         "stand on one spot"),
        ("an unknown style", good.replace("# opls", "# fourier"), "fourier"),
        ("a tilt too far", good.replace("\nMasses", "\n1e6 0 0 xy xz yz\n\n"
                                        "Masses"), "xy = 1e+06 is more than"),
        ("an unknown section", good.replace("\nMasses", "\nBodies"), "Bodies"),
        ("no atom style", good.replace("Atoms # molecular", "Atoms"),
         "atom_style"),
        ("a word for a number", good.replace("1 100 1.15", "1 x 1.15"), "'x'"),
        ("a mass twice", good.replace("\n2 2.5 # D", "\n1 2.5 # D"),
         "bad.data:21: error: Masses: type 1 stands twice"),
        ("a velocity twice", good + "\nVelocities\n\n" + 384 * "7 0 0 0\n",
         "Velocities: atom 7 stands twice"),
        ("too many atoms", good.replace("384 atoms", "99999999 atoms"),
         "bad.data:18: error: the header promises 99999999 atoms, more than"),
        ("an endless box", re.sub(r"\S+ \S+ zlo", "-1e308 1e308 zlo", good),
         "bad.data:16: error: the box's lower edge: '-1e308' is too large"),
        ("a bond across the box", good.replace("\n1 1 1 2\n", "\n1 1 1 200\n"),
         f"bad.data:{at('1 1 1 2')}: error: Bonds: the bond of atoms 1 and 200 "
         "is 10.6555 long, more than half the box"),
        ("a FENE bond that is broken", good.replace("Coeffs # harmonic",
                                                    "Coeffs # fene", 1)
         .replace("\n1 100 1.15", "\n1 30 3 1 1")
         .replace("\n2 60 1.05", "\n2 30 1.1 1 1"),
         f"bad.data:{at('2 2 2 3')}: error: Bonds: the FENE bond of atoms 2 and "
         "3 is "),
        ("nothing", "", "empty"),
    ]
    for name, text, said in cases:
        mdrun.write("bad.data", text)
        status, out = mdrun.refused(deck("bad.data"))
        tap.ok(status == 2 and said in out and "bad.data" in out
               and "Traceback" not in out,
               f"a data file with {name} is refused")
        if status != 2 or said not in out:
            tap.note(out)
    status, out = mdrun.refused(deck("absent.data"))
    tap.ok(status == 2 and "absent.data" in out, "an absent file is refused")


def main():
    check_sums()
    check_polynomials()
    check_motion()
    check_counts()
    check_resume()
    check_peer()
    check_twins()
    check_refused()
    tap.done()


if __name__ == "__main__":
    main()
