"""Metals: energies and forces of the embedded-atom method against plain sums over
all pairs and against LAMMPS; over ranks, threads, precisions and restarts; tables
that are wrong."""

import math
import re
import shutil

import tap

tap.need("numpy", "h5py")

import numpy as np

import mdrun

BAR = 1.602176634e6  # bar in eV / angstrom^3
BAR_LAMMPS = 1.6021765e6
MASS = {"Ni": 58.69, "Cu": 63.55}
HARTREE_BOHR = 27.2 * 0.529


# ---- tables ----

class Table:
    """A function on an even grid from 0, with the cubics that LAMMPS puts through
    it: slopes of five points, of fewer at the ends."""

    def __init__(self, f, step):
        self.f, self.step = np.array(f, float), step
        f = self.f
        s = np.empty_like(f)
        s[2:-2] = (f[:-4] - f[4:] + 8 * (f[3:-1] - f[1:-3])) / 12
        s[1], s[-2] = (f[2] - f[0]) / 2, (f[-1] - f[-3]) / 2
        s[0], s[-1] = f[1] - f[0], f[-1] - f[-2]
        self.slope = s

    def at(self, x):
        """Value and derivative by Hermite's form."""
        n = len(self.f)
        k = np.minimum((x / self.step).astype(int), n - 2)
        p = np.minimum(x / self.step - k, 1.0)
        f0, f1 = self.f[k], self.f[k + 1]
        s0, s1 = self.slope[k], self.slope[k + 1]
        value = ((1 + 2 * p) * (1 - p)**2 * f0 + p * (1 - p)**2 * s0
                 + p * p * (3 - 2 * p) * f1 + p * p * (p - 1) * s1)
        rate = (6 * p * (p - 1) * (f0 - f1) + (1 - p) * (1 - 3 * p) * s0
                + p * (3 * p - 2) * s1)
        return value, rate / self.step


class Potential:
    """All functions of some species, and what files say of them."""

    def __init__(self, n_rho, rho_step, n_r, r_step, cutoff):
        self.n_rho, self.rho_step = n_rho, rho_step
        self.n_r, self.r_step, self.cutoff = n_r, r_step, cutoff
        self.rho = rho_step * np.arange(n_rho)
        # nearer than 1 angstrom nothing happens
        self.r = np.maximum(r_step * np.arange(n_r), 1.0)
        self.F, self.density, self.pair = {}, {}, {}


def taper(r, cutoff):
    x = np.clip((cutoff - r) / 1.5, 0, 1)
    return x**3 * (10 + x * (6 * x - 15))


def alloy():
    """Two elements after Sutton and Chen, Johnson's way of mixing left out: the
    unlike pair has a function of its own."""
    p = Potential(400, 0.05, 600, 0.01, 5.9)
    for name, c, q in (("Ni", 1.1, 6.0), ("Cu", 0.9, 5.5)):
        p.F[name] = -c * np.sqrt(p.rho) + 0.01 * p.rho
        p.density[name] = (2.5 / p.r)**q * taper(p.r, p.cutoff)
    for pair, eps, m in ((("Ni", "Ni"), 0.13, 9), (("Cu", "Ni"), 0.12, 9.5),
                         (("Cu", "Cu"), 0.11, 10)):
        phi = eps * (2.5 / p.r)**m * taper(p.r, p.cutoff)
        p.pair[pair] = p.pair[pair[::-1]] = phi * p.r
    return p


def rows(values):
    text = [repr(float(v)) for v in values]
    return "".join(" ".join(text[k:k + 5]) + "\n"
                   for k in range(0, len(text), 5))


def setfl(p, names, note="made by a test"):
    text = f"{note}\n\n\n{len(names)} {' '.join(names)}\n"
    text += (f"{p.n_rho} {p.rho_step!r} {p.n_r} {p.r_step!r} "
             f"{p.cutoff!r}\n")
    for name in names:
        text += f"28 {MASS[name]} 3.5 fcc\n" + rows(p.F[name])
        text += rows(p.density[name])
    for i, a in enumerate(names):
        for b in names[:i + 1]:
            text += rows(p.pair[a, b])
    return text


def charge(p, name):
    """Effective charges whose square is the pair function of like atoms."""
    return np.sqrt(p.pair[name, name] / HARTREE_BOHR)


def funcfl(p, name, stretch=1.0):
    """One element; stretch: its grid of distances is so much wider."""
    n = int(round((p.n_r - 1) / stretch)) + 1
    step = p.r_step * stretch
    r = step * np.arange(n)
    grid = p.r_step * np.arange(p.n_r)
    z = np.interp(r, grid, charge(p, name))
    rho = np.interp(r, grid, p.density[name])
    return (f"made by a test\n28 {MASS[name]} 3.5 fcc\n"
            f"{p.n_rho} {p.rho_step!r} {n} {step!r} {p.cutoff!r}\n"
            + rows(p.F[name]) + rows(z) + rows(rho))


# ---- the plain sums ----

def plain(p, x, box, kind):
    """Pair energy, embedding energy, forces and virial by all pairs."""
    n = len(x)
    F = {k: Table(v, p.rho_step) for k, v in p.F.items()}
    f = {k: Table(v, p.r_step) for k, v in p.density.items()}
    z = {k: Table(v, p.r_step) for k, v in p.pair.items()}
    i, j = np.triu_indices(n, 1)
    d = x[i] - x[j]
    d -= box * np.rint(d / box)
    r2 = (d * d).sum(1)
    near = r2 < p.cutoff**2
    i, j, d, r = i[near], j[near], d[near], np.sqrt(r2[near])
    kind = np.array(kind)
    at_i, at_j = np.empty_like(r), np.empty_like(r)  # densities
    rate_i, rate_j = np.empty_like(r), np.empty_like(r)
    phi, phi_rate = np.empty_like(r), np.empty_like(r)
    for a in set(kind):
        m = kind[j] == a
        at_i[m], rate_i[m] = f[a].at(r[m])
        m = kind[i] == a
        at_j[m], rate_j[m] = f[a].at(r[m])
        for b in set(kind):
            m = (kind[i] == a) & (kind[j] == b)
            v, s = z[a, b].at(r[m])
            phi[m], phi_rate[m] = v / r[m], (s - v / r[m]) / r[m]
    rho = np.bincount(i, at_i, n) + np.bincount(j, at_j, n)
    u, slope = np.empty(n), np.empty(n)
    for a in set(kind):
        m = kind == a
        u[m], slope[m] = F[a].at(rho[m])
    g = -(phi_rate + slope[i] * rate_i + slope[j] * rate_j) / r
    force = np.zeros((n, 3))
    for e in range(3):
        force[:, e] = (np.bincount(i, g * d[:, e], n)
                       - np.bincount(j, g * d[:, e], n))
    return phi.sum(), u.sum(), force, (g * r * r).sum()


# ---- the system ----

DECK = """[run]
solver = "md"
units = "metal"
[md]
timestep = 0.002
steps = {steps}
[md.initial]
read = "metal.xyz"
[[md.species]]
name = "Cu"
mass = 63.55
{cu}
[[md.species]]
name = "Ni"
mass = 58.69
{ni}
[md.pair]
style = "{style}"
{file}
skin = 0.6
[output]
observables_every = 10
frames_every = 50
fields = ["position", "velocity", "force"]
"""


def deck(style="eam/alloy", steps=0, cu="", ni="", file='file = "metal.alloy"'):
    return DECK.format(style=style, steps=steps, cu=cu, ni=ni, file=file)


def system():
    """A crystal with every atom moved, of two elements, some of them fast."""
    rng = np.random.default_rng(11)
    a, cells = 3.6, (4, 4, 5)
    base = np.array([[0, 0, 0], [0, .5, .5], [.5, 0, .5], [.5, .5, 0]])
    at = np.stack(np.meshgrid(*[np.arange(c) for c in cells],
                              indexing="ij"), -1).reshape(-1, 1, 3)
    x = ((at + base).reshape(-1, 3) + 0.25) * a
    x = x + rng.uniform(-0.25, 0.25, x.shape)
    box = np.array(cells) * a
    kind = ["Cu" if k else "Ni" for k in rng.integers(0, 2, len(x))]
    v = rng.normal(0, 2.5, x.shape)  # some 500 K
    v -= v.mean(0)
    return x % box, box, kind, v


P = alloy()
X, BOX, KIND, V = system()


def check_sums():
    pair, embedding, force, virial = plain(P, X, BOX, KIND)
    one = None
    for ranks in mdrun.rank_counts(1, 2, 3, 4):
        got = mdrun.run(deck(), ranks=ranks)
        one = one or got
        e = got.observable("embedding_energy")[0]
        u = got.observable("pair_energy")[0]
        # sums of some 10^4 terms of one sign
        tap.ok(abs(e / embedding - 1) < 1e-12 and abs(u / pair - 1) < 1e-12,
               f"pair and embedding energy are the plain sums, {ranks} ranks")
        tap.note(f"{u:.10g} {e:.10g}; off by {u / pair - 1:.1e}, "
                 f"{e / embedding - 1:.1e}")
        worst = mdrun.worst(got.frame("force", 0), force)
        tap.ok(worst < 1e-11, f"forces as well, {ranks} ranks")
        tap.note(f"worst {worst:.1e}")
        worst = mdrun.worst(got.frame("force", 0), one.frame("force", 0))
        tap.ok(worst < 1e-12, f"forces are those of one rank, {ranks} ranks")
    f, h, worst = one.frame("force", 0), 1e-4, 0.0
    for a, d in ((2, 0), (101, 1), (255, 2)):
        e = []
        for s in (h, -h):
            y = X.copy()
            y[a, d] += s
            e.append(sum(plain(P, y, BOX, KIND)[:2]))
        worst = max(worst, abs(f[a, d] + (e[0] - e[1]) / (2 * h)))
    # h^2 of the third derivatives, and rounding over h
    tap.ok(worst < 1e-7 * np.abs(f).max(),
           "forces are slopes of the plain sums' energy")
    tap.note(f"worst {worst:.1e} of {np.abs(f).max():.2f}")
    e = [sum(plain(P, X * s, BOX * s, KIND)[:2]) for s in (1 + 1e-5, 1 - 1e-5)]
    volume = BOX.prod()
    slope = (e[0] - e[1]) / (3 * 2e-5 * volume)  # dU/dV
    kinetic = 2 * one.observable("kinetic_energy")[0] / (3 * volume)
    pressure = one.observable("pressure")[0] / BAR
    tap.ok(abs(pressure - kinetic + slope) < 1e-7 * abs(slope) + 1e-9,
           "the virial is the energy's slope in the volume")
    tap.note(f"{pressure - kinetic:.10g} {-slope:.10g} {virial / 3 / volume:.10g}")
    got = mdrun.run(deck(), "md.precision=mixed")
    worst = mdrun.worst(got.frame("force", 0), force)
    tap.ok(worst < 1e-5, "mixed precision is good to 1e-5")
    tap.note(f"worst {worst:.1e}")


def check_one():
    """One species alone goes through loops of its own."""
    mdrun.xyz("one.xyz", BOX, X, ["Cu"] * len(X), V)
    text = re.sub(r'\[\[md.species\]\]\nname = "Ni".*?\[md.pair\]', "[md.pair]",
                  deck(), flags=re.S).replace("metal.xyz", "one.xyz")
    pair, embedding, force, _ = plain(P, X, BOX, ["Cu"] * len(X))
    for precision, tolerance in (("double", 1e-11), ("single", 1e-5)):
        got = mdrun.run(text, f"md.precision={precision}")
        worst = max(mdrun.worst(got.frame("force", 0), force),
                    abs(got.observable("embedding_energy")[0] / embedding - 1),
                    abs(got.observable("pair_energy")[0] / pair - 1))
        tap.ok(worst < tolerance, "one species: energies and forces are the "
               f"plain sums, {precision}")
        tap.note(f"worst {worst:.1e}")


def check_motion():
    text = deck(steps=200) + "[checkpoint]\nevery = 97\n"
    whole = mdrun.run(text, name="whole")
    e = whole.observable("total_energy")
    drift = np.polyfit(np.arange(len(e)), e, 1)[0] * len(e) / len(X)
    # velocity Verlet's wobble at 2 fs; tables are smooth to third order
    tap.ok(np.ptp(e) / len(X) < 2e-4 and abs(drift) < 5e-5,
           "the energy of 200 steps is conserved")
    tap.note(f"spread {np.ptp(e) / len(X):.1e}, drift {drift:.1e} eV an atom")
    many = mdrun.run(text, "run.threads=3", "md.steps=100",
                     ranks=2 if tap.have_mpi() else 1)
    worst = mdrun.worst(many.frame("position"), whole.frame("position", 2))
    tap.ok(worst < 1e-9, "2 ranks of 3 threads go the same way")
    path = mdrun.write("half.toml", text)
    # at step 97 no sums are taken, but on the way back from the checkpoint
    for more in (["md.steps=97"], ["--resume", "auto"]):
        tap.run(tap.WARPDECK, "run", path, "output.name=part", "--output",
                "kept", "-q", *more)
    part = mdrun.Result("kept/part.h5")
    same = all(np.array_equal(part.frame(f), whole.frame(f))
               for f in ("position", "velocity", "force"))
    tap.ok(same, "a run of a metal goes on bit by bit")
    text = setfl(P, ["Ni", "Cu"])
    lines = text.split("\n")
    mdrun.write("metal.alloy", "\n".join(lines[:8] + lines[7:8] + lines[9:]))
    again = tap.warpdeck("run", path, "output.name=part", "md.steps=300",
                         "--output", "kept", "--resume", "auto", "-q",
                         check=False)
    tap.ok(again.returncode == 2 and "a file has changed" in again.stderr,
           "but not with other tables")
    mdrun.write("metal.alloy", text)


# ---- LAMMPS ----

LAMMPS = """units metal
atom_modify map array
read_data metal.data
{pair}
dump 1 all custom 1 forces.txt id fx fy fz
dump_modify 1 sort id format float %.17g
thermo_style custom pe press
thermo_modify norm no format float %.15g
run 0
"""


def lammps(pair):
    """Potential energy, virial's pressure, and forces by id."""
    mdrun.write("in.metal", LAMMPS.format(pair=pair))
    out = tap.run("lmp", "-log", "none", "-in", "in.metal").stdout
    lines = out.split("\n")
    at = next(k for k, line in enumerate(lines) if "PotEng" in line)
    row = [float(w) for w in lines[at + 1].split()]
    force = np.loadtxt("forces.txt", skiprows=9)[:, 1:]
    return row[0], row[1] * BAR / BAR_LAMMPS, force


def data_file():
    with open("metal.data", "w", encoding="utf-8") as f:
        f.write(f"made by a test\n\n{len(X)} atoms\n2 atom types\n\n")
        for d in range(3):
            f.write(f"0 {BOX[d]!r} {'xyz'[d]}lo {'xyz'[d]}hi\n")
        f.write("\nMasses\n\n1 63.55\n2 58.69\n\nAtoms # atomic\n\n")
        for k, x in enumerate(X):
            f.write(f"{k + 1} {1 + (KIND[k] == 'Ni')} "
                    + " ".join(repr(float(c)) for c in x) + "\n")


def same_as_lammps(name, pair, text):
    u, pressure, force = lammps(pair)
    mdrun.xyz("metal.xyz", BOX, X, KIND)
    got = mdrun.run(text)
    mdrun.xyz("metal.xyz", BOX, X, KIND, V)
    worst = max(abs(got.observable("potential_energy")[0] / u - 1),
                abs(got.observable("pressure")[0] / pressure - 1),
                mdrun.worst(got.frame("force", 0), force))
    # the same cubics, so that only rounding is left
    tap.ok(worst < 1e-10, f"{name}: energy, pressure and forces are LAMMPS's")
    tap.note(f"worst {worst:.1e}; U = {u:.12g}")


def check_peer():
    if not shutil.which("lmp"):
        tap.skip(2, "no LAMMPS (lmp) here")
        return
    data_file()
    same_as_lammps("eam/alloy", "pair_style eam/alloy\n"
                   "pair_coeff * * metal.alloy Cu Ni", deck())
    mdrun.write("cu.eam", funcfl(P, "Cu"))
    mdrun.write("ni.eam", funcfl(P, "Ni", 1.25))
    same_as_lammps("eam of two files", "pair_style eam\n"
                   "pair_coeff 1 1 cu.eam\npair_coeff 2 2 ni.eam",
                   deck("eam", cu='potential = "cu.eam"',
                        ni='potential = "ni.eam"', file=""))


# ---- what is wrong ----

def refused(text, *words):
    status, out = mdrun.refused(text)
    tap.ok(status == 2 and all(w in out for w in words),
           "refused: " + ", ".join(words))
    if not all(w in out for w in words):
        tap.note(out)


def check_files():
    """Each fault by file and line: line 4 names the elements, line 5 the grids.
    """
    good = setfl(P, ["Ni", "Cu"])
    lines = good.split("\n")

    def bad(change, *words):
        mdrun.write("bad.alloy", change if isinstance(change, str)
                    else "\n".join(change))
        refused(deck(file='file = "bad.alloy"'), "bad.alloy", *words)

    head = lines[4].split()
    bad(lines[:3] + ["2 Ni Al"] + lines[4:], ":4:", "no element 'Cu'",
        "Ni, Al")
    bad(lines[:4] + [" ".join(head[:4] + ["9.5"])] + lines[5:], ":5:",
        "too short", "9.5")
    bad(lines[:4] + [" ".join(["4"] + head[1:])] + lines[5:], ":5:",
        "number of densities", "4")
    bad(lines[:4] + [" ".join(head[:2] + ["601"] + head[3:])] + lines[5:],
        "rho(r) of Ni")
    bad(lines[:4] + [" ".join(head[:2] + ["595"] + head[3:])] + lines[5:],
        ":206:", "mass")
    bad(good.replace(lines[9], "1 2 x 4 5", 1), ":10:",
        "value 18 of F(rho) of Ni", "'x'")
    bad(lines[:300], ":300:", "the file ends")
    bad(good + "1.0 2.0\n", "numbers behind the last table")
    bad("UNITS: real\n" + "\n".join(lines[1:]), ":1:", "real")
    refused(deck(file='file = "nowhere.alloy"'), "cannot read", "nowhere.alloy")
    refused(deck(file=""), "needs md.pair.file")
    refused(deck("eam", cu='potential = "cu.eam"', file=""),
            "potential of Ni")
    refused(deck().replace("skin", "cutoff = 4\nskin"), "md.pair.cutoff",
            "tables")
    refused(deck().replace('"metal"', '"real"'), "metal")
    refused(deck().replace("[output]", '[[md.pair.coefficients]]\nspecies = '
                           '["Cu", "Cu"]\nepsilon = 1\nsigma = 1\n[output]'),
            "style \"lj\" only")


def main():
    mdrun.write("metal.alloy", setfl(P, ["Ni", "Cu"]))
    mdrun.xyz("metal.xyz", BOX, X, KIND, V)
    check_sums()
    check_one()
    check_motion()
    check_peer()
    check_files()
    tap.done()


if __name__ == "__main__":
    main()
