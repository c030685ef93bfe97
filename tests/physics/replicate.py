"""Copies of a start file side by side: energies by term are so many times those of
the file, forces and pressure are its own, and molecules go through faces into
the right copy; over formats, tilted boxes, ranks and backends, beside LAMMPS."""

import os
import shutil

import tap

tap.need("numpy", "h5py")

import h5py
import numpy as np

import bonds
import gromacs_cases
import mdrun

RANKS = mdrun.rank_counts(1, 2, 3)
N = [2, 1, 3]
COPIES = 6
BOX = np.diag([13.0, 13.5, 14.0])
LEAN = BOX + np.array([[0, 0, 0], [4.1, 0, 0], [-3.2, 2.9, 0]])
LOW = np.array([-1.5, 0.25, 3.0])
TERMS = ("bond", "angle", "dihedral", "improper")
PARTS = ["pair_energy", "coulomb_energy", "kinetic_energy"] + [
    name + "_energy" for name in TERMS]
TENSOR = ["pressure"] + [f"pressure_{c}"
                         for c in ("xx", "yy", "zz", "xy", "xz", "yz")]
rng = np.random.default_rng(12)


def molecules():
    """Eight molecules of six, and a chain of ten that closes through a face: no
    choice of images makes it whole. Places and terms, by kind."""
    _, _, *kinds = bonds.molecules(1)
    one = bonds.molecules(1)[0] - 2.0
    x = [one @ np.linalg.qr(rng.normal(size=(3, 3)))[0]
         + 6.5 * np.array([i, j, k]) + 2.0
         for i in range(2) for j in range(2) for k in range(2)]
    terms = [[tuple(m * 6 + i for i in t) for m in range(8) for t in k]
             for k in kinds]
    chain = np.array([[1.3 * i, 5.25 + 0.3 * (i % 2), 5.25] for i in range(10)])
    ring = [48 + i for i in range(10)] * 2
    for size, of_kind in ((2, 0), (3, 1), (4, 2)):
        terms[of_kind] += [tuple(ring[i:i + size]) for i in range(10)]
    return np.concatenate(x + [chain]), terms


X, BONDED = molecules()
V = rng.normal(0, 0.7, X.shape)
V -= V.mean(0)
CHARGE = np.where(np.arange(len(X)) % 2 == 0, 0.4, -0.4)


def wrapped(x, edges):
    """Places in the box, and the images that they had."""
    n = np.floor(x @ np.linalg.inv(edges)).astype(int)
    return x - n @ edges, n


def data_file(path, edges, x, images=None, terms=BONDED, atoms=len(X)):
    lines = ["molecules", "", f"{atoms} atoms", "1 atom types"]
    lines += [f"{len(t)} {k}s" for k, t in zip(TERMS, terms)]
    lines += [f"1 {k} types" for k in TERMS]
    lines += [f"{float(LOW[d])!r} {float(LOW[d] + edges[d, d])!r} {c}lo {c}hi"
              for d, c in enumerate("xyz")]
    if edges[1, 0]:
        lines += [f"{edges[1, 0]} {edges[2, 0]} {edges[2, 1]} xy xz yz"]
    lines += ["", "Masses", "", "1 1.5 # A", ""]
    lines += ["Bond Coeffs # harmonic", "", "1 100 1.15", ""]
    lines += ["Angle Coeffs # charmm", "", "1 40 125 5 2.1", ""]
    lines += ["Dihedral Coeffs # opls", "", "1 1.3 -0.3 0.6 0.1", ""]
    lines += ["Improper Coeffs # harmonic", "", "1 8 20", ""]
    lines += ["Atoms # full", ""]
    for i in range(atoms):
        place = " ".join(repr(float(v)) for v in x[i] + LOW)
        tail = "" if images is None else " {} {} {}".format(*images[i])
        lines += [f"{i + 1} {i // 6 + 1} 1 {CHARGE[i]} {place}{tail}"]
    lines += ["", "Velocities", ""]
    lines += [f"{i + 1} " + " ".join(repr(float(v)) for v in V[i])
              for i in range(atoms)]
    for name, rows in zip(TERMS, terms):
        lines += ["", name.capitalize() + "s", ""]
        lines += [f"{k + 1} 1 " + " ".join(str(i + 1) for i in row)
                  for k, row in enumerate(rows)]
    mdrun.write(path, "\n".join(lines) + "\n")


DECK = """[run]
solver = "md"
[md]
timestep = 0.001
steps = {steps}
pressure_tensor = true
[md.initial]
read = "{read}"
{more}
[md.pair]
cutoff = 2.5
skin = 0.4
[[md.pair.coefficients]]
species = ["A", "A"]
epsilon = 1
sigma = 0.9
[md.coulomb]
method = "{coulomb}"
{accuracy}
[output]
observables_every = {every}
frames_every = {every}
fields = ["position", "velocity", "force", "image"]
"""
BOUND = "[md.bonds]\nspecial_lj = [0, 0, 0.5]\nspecial_coulomb = [0, 0, 0.5]\n"
SPECIES = "[[md.species]]\nname = \"A\"\nmass = 1.5\n"


def deck(read, steps=0, more="", coulomb="cut", extra=BOUND, accuracy="",
         copies=None):
    more += f"\nreplicate = {copies}" if copies else ""
    return extra + DECK.format(read=read, steps=steps, more=more,
                               every=max(steps, 1), coulomb=coulomb,
                               accuracy=accuracy)


def off(one, many, names, copies):
    """The greatest difference of what should be so many times as much, and of
    pressures and forces that should be the same."""
    energies = [k for k in names if k.endswith("_energy")]
    scale = max(abs(one.observable(k)[0]) for k in energies)
    worst = max(abs(many.observable(k)[0] / copies - one.observable(k)[0])
                for k in energies) / scale
    scale = max(abs(one.observable(k)[0]) for k in TENSOR)
    worst = max([worst] + [abs(many.observable(k)[0] - one.observable(k)[0])
                           / scale for k in TENSOR])
    f = one.frame("force", 0)
    g = many.frame("force", 0).reshape(copies, *f.shape)
    return max(worst, np.abs(g - f).max() / np.abs(f).max())


def unwrapped(r, index=-1):
    return r.frame("position", index) + r.frame("image", index) @ r.cell(index)


def shifts(edges, n=N):
    """Where the copies stand, by their numbers."""
    return np.array([[i, j, k] for k in range(n[2]) for j in range(n[1])
                     for i in range(n[0])]) @ edges


def check_molecules():
    for name, edges in (("upright", BOX), ("tilted", LEAN)):
        y, images = wrapped(X, edges)
        far = images + rng.integers(-3, 4, (9, 3))[
            np.minimum(np.arange(len(X)) // 6, 8)]
        data_file(name + ".data", edges, y, far)
        one = mdrun.run(deck(name + ".data"))
        for ranks in RANKS:
            many = mdrun.run(deck(name + ".data", copies=N), ranks=ranks,
                             name=f"{name}{ranks}")
            tap.below(off(one, many, PARTS, COPIES), 1e-12,
                      f"{name}: energies by term are {COPIES} times, forces and "
                      f"pressure tensor those of the file, on {ranks} ranks")
        away = (unwrapped(many).reshape(COPIES, -1, 3) - unwrapped(one)
                - shifts(edges)[:, None])
        tap.below(np.abs(away).max(), 1e-11, f"{name}: copies stand where LAMMPS "
                  "puts them, by x, y, z in turn, with the images of the file")
        tap.ok(np.array_equal(many.frame("velocity", 0),
                              np.tile(V, (COPIES, 1))),
               f"{name}: with its velocities")
    # Without images, and places of whole molecules outside of the box.
    for name, place in (("no images", wrapped(X, LEAN)[0]), ("whole", X)):
        data_file("bare.data", LEAN, place)
        many = mdrun.run(deck("bare.data", copies=N), ranks=RANKS[-1])
        tap.below(off(one, many, PARTS, COPIES), 1e-12,
                  f"{name}: a molecule in pieces goes on in the next copy")


def check_motion():
    one = mdrun.run(deck("tilted.data", 100))
    held = mdrun.run(deck("tilted.data", 100, copies=N), ranks=RANKS[1])
    way = unwrapped(held).reshape(COPIES, -1, 3) - shifts(LEAN)[:, None]
    tap.below(np.abs(way - unwrapped(one)).max(), 1e-9,
              "copies go on as the file alone would")
    rigid = BOUND + "[md.constraints]\nbond_types = [1]\n"
    data_file("rigid.data", LEAN, wrapped(X, LEAN)[0],
              terms=[[(6 * m + 1, 6 * m + 2) for m in range(8)], [], [], []])
    one = mdrun.run(deck("rigid.data", extra=rigid))
    many = mdrun.run(deck("rigid.data", extra=rigid, copies=N), ranks=RANKS[-1])
    tap.below(max(abs(many.observable(k)[0] / one.observable(k)[0] - 1)
                  for k in ["pressure", "pressure_xy"]), 1e-11,
              "rigid bonds have the same pressure")
    group = ('[[md.group]]\nname = "last"\nids = [300, 348]\n'
             'action = "freeze"\n')
    held = mdrun.run(deck("tilted.data", 5, extra=BOUND + group, copies=N))
    still = np.flatnonzero(~held.frame("velocity").any(1)) + 1
    tap.is_(list(still), list(range(300, 349)), "groups by ids are of all copies")


def check_resume():
    text = mdrun.write("resume.toml", deck("tilted.data", 40, copies=N)
                       + "[checkpoint]\nevery = 20\n")
    whole = mdrun.run(text, ranks=RANKS[-1], name="whole")
    for more in (["md.steps=20"], ["--resume", "auto"]):
        tap.run(tap.WARPDECK, "run", text, "output.name=part", "--output",
                "kept", "-q", *more, ranks=RANKS[-1])
    part = mdrun.Result("kept/part.h5")
    tap.ok(all(np.array_equal(part.frame(f), whole.frame(f))
               for f in ("position", "velocity", "force", "image")),
           "a run of copies goes on bit by bit")


def check_card():
    program = os.path.join(tap.TOP_BUILDDIR, "warpdeck-cudasim")
    if not os.path.exists(program):
        tap.skip(1, "no simulated card in this build")
        return
    one = mdrun.run(deck("tilted.data"))
    many = mdrun.run(deck("tilted.data", copies=N), program=program,
                     device="cuda")
    tap.below(off(one, many, PARTS, COPIES), 1e-12, "the same on a card")


def check_ewald():
    """Other waves, of another box: to the accuracy asked for."""
    for method in ("ewald", "pme"):
        accuracy = "accuracy = 1e-6"
        one, many = (mdrun.run(deck("tilted.data", coulomb=method, copies=n,
                                    accuracy=accuracy), ranks=ranks)
                     for n, ranks in ((None, 1), (N, RANKS[1])))
        # The accuracy is that of forces, over those of unit charges one apart.
        f = one.frame("force", 0)
        g = many.frame("force", 0).reshape(COPIES, *f.shape)
        tap.below(np.sqrt(((g - f)**2).sum(2).mean()), 3e-6,
                  f"{method}: forces are those of the file to the accuracy")
        tap.below(abs(many.observable("potential_energy")[0] / COPIES
                      / one.observable("potential_energy")[0] - 1), 1e-6,
                  f"{method}: and so is the energy")


def check_pieces():
    """Files that are read piece by piece."""
    x, _ = wrapped(X, LEAN)
    lattice = " ".join(repr(float(c)) for c in LEAN.ravel())

    def xyz(path, box):
        rows = "\n".join("A " + " ".join(repr(float(c)) for c in (*p, *v, q))
                         for p, v, q in zip(x, V, CHARGE))
        mdrun.write(path, f"{len(x)}\n{box}Properties=species:S:1:pos:R:3:vel:R:"
                    f"3:charge:R:1\n{rows}\n")

    xyz("box.xyz", f'Lattice="{lattice}" ')
    xyz("none.xyz", "")
    plain = ["pair_energy", "coulomb_energy", "kinetic_energy"]
    one = mdrun.run(deck("box.xyz", 1, extra=SPECIES))
    for ranks in RANKS:
        many = mdrun.run(deck("box.xyz", extra=SPECIES, copies=N), ranks=ranks)
        tap.below(off(one, many, plain, COPIES), 1e-12,
                  f"extended XYZ: the same, on {ranks} ranks")
    tap.below(np.abs(unwrapped(many).reshape(COPIES, -1, 3)
                     - x - shifts(LEAN)[:, None]).max(), 1e-11,
              "with places in turn")
    domain = SPECIES + "[domain]\nsize = {}\ntilt = [{}, {}, {}]\n"
    size = np.diag(LEAN)
    alone = mdrun.run(deck("none.xyz", extra=domain.format(
        list(map(float, size)), 4.1, -3.2, 1.1)))
    many = mdrun.run(deck("none.xyz", copies=N, extra=domain.format(
        list(map(float, size * N)), N[1] * 4.1, N[2] * -3.2, N[2] * 1.1)))
    tap.below(off(alone, many, plain, COPIES), 1e-12,
              "[domain] is that of all copies, where the file has no box")
    status, said = mdrun.refused(deck("box.xyz", copies=N, extra=SPECIES
                                      + "[domain]\nsize = [13, 13.5, 14]\n"))
    tap.ok(status == 2 and "is 26 long in x, not 13" in said,
           "and where it has one, the same")
    shutil.copy(one.path, "frames.h5")
    with h5py.File("frames.h5", "r+") as f:
        image = f["particles/all/image/value"]
        image[-1] = image[-1] + rng.integers(-3, 4, image[-1].shape)
    last = mdrun.run(deck("frames.h5", extra=SPECIES))
    for ranks in RANKS:
        many = mdrun.run(deck("frames.h5", extra=SPECIES, copies=N), ranks=ranks)
        tap.below(off(last, many, plain, COPIES), 1e-12,
                  f"H5MD: the same, on {ranks} ranks")
    tap.below(np.abs(unwrapped(many).reshape(COPIES, -1, 3) - unwrapped(last)
                     - shifts(LEAN)[:, None]).max(), 1e-11,
              "with images of the file")


def check_gromacs():
    parts = [k for k in PARTS if k != "kinetic_energy"]
    for family in ("opls", "charmm"):
        gromacs_cases.write(family, family)
        text = gromacs_cases.deck(family)
        one = mdrun.run(text)
        for ranks in RANKS[:2]:
            many = mdrun.run(text, "md.initial.replicate=[1, 2, 2]", ranks=ranks)
            tap.below(off(one, many, parts, 4), 1e-12,
                      f"GROMACS's {family}: the same, on {ranks} ranks")
    rigid = gromacs_cases.deck("opls", define="", steps=5).replace("1 fs",
                                                                   "0.1 fs")
    r = mdrun.run(rigid, "md.initial.replicate=[1, 2, 2]", ranks=RANKS[-1])
    x = r.frame("position").reshape(4, -1, 3)[:, 7 * gromacs_cases.CHAINS:]
    d = np.diff(x.reshape(-1, 3, 3), axis=1)[:, 0]
    d -= r.edges() * np.rint(d / r.edges())
    tap.below(np.abs(np.sqrt((d * d).sum(1)) / 10 - 0.1).max(), 2e-9,
              "and rigid water of all copies is rigid")


LAMMPS = """units lj
box tilt large
atom_style full
pair_style lj/cut/coul/cut 2.5
bond_style harmonic
angle_style charmm
dihedral_style opls
improper_style harmonic
read_data peer.data
replicate {n[0]} {n[1]} {n[2]}
pair_coeff 1 1 1 0.9
special_bonds lj 0 0 0.5 coul 0 0 0.5
thermo_style custom evdwl ecoul ebond eangle edihed eimp press
thermo_modify norm no format float %.15g
dump d all custom 1 peer.dump id xu yu zu fx fy fz
dump_modify d sort id format float %.15g
run 0
"""


def check_peer():
    program = shutil.which("lmp")
    if not program:
        tap.skip(4, "no LAMMPS (lmp) here")
        return
    for name, edges in (("upright", BOX), ("tilted", LEAN)):
        y, images = wrapped(X[:48], edges)
        data_file("peer.data", edges, y, images, atoms=48,
                  terms=[[t for t in k if max(t) < 48] for k in BONDED])
        mdrun.write("peer.in", LAMMPS.format(n=N))
        out = tap.run(program, "-in", "peer.in", "-log", "none",
                      env={**os.environ, "OMP_NUM_THREADS": "1"}).stdout
        lines = out.splitlines()
        head = next(i for i, line in enumerate(lines)
                    if line.split()[:1] == ["E_vdwl"])
        row = [float(w) for w in lines[head + 1].split()]
        dump = np.loadtxt("peer.dump", skiprows=9)
        got = mdrun.run(deck("peer.data", copies=N))
        ours = [got.observable(k)[0] for k in
                ["pair_energy", "coulomb_energy"]
                + [t + "_energy" for t in TERMS] + ["pressure"]]
        tap.below(max(abs(a - b) / (1 + abs(b)) for a, b in zip(ours, row)),
                  1e-11, f"LAMMPS, {name}: energies by term and pressure")
        # Its places are rounded once more where it wraps them.
        tap.below(max(np.abs(unwrapped(got) - dump[:, 1:4]).max(),
                      mdrun.worst(got.frame("force"), dump[:, 4:])), 1e-11,
                  f"LAMMPS, {name}: each id stands in the same place, with the "
                  "same force")


def check_refusals():
    lattice = ('[run]\nsolver = "md"\n[md]\nsteps = 0\n[md.pair]\n'
               'cutoff = 2.5\n[md.initial]\nlattice = "fcc"\n'
               "cells = [6, 6, 6]\ndensity = 0.8\nreplicate = [2, 2, 2]\n")
    for text, said in (
            (deck("upright.data", copies=[2, 0, 1]), "must be at least 1"),
            (deck("upright.data", copies=[2, 2]), "md.initial.replicate"),
            (deck("upright.data", copies=[10**8, 10**8, 1]),
             "more than 10^15 copies"),
            (deck("upright.data", copies=[10**7, 10**7, 1]),
             "of 58 particles makes more than 10^15"),
            (deck("box.xyz", copies=[10**7, 10**7, 1], extra=SPECIES),
             "of 58 particles makes more than 10^15"),
            (lattice, "of a lattice md.initial.cells says how many")):
        status, err = mdrun.refused(text)
        errors = [s for s in err.splitlines() if "error" in s]
        if not tap.ok(status == 2 and said in err and len(errors) <= 2,
                      f"refused: {said}"):
            tap.note(err)
    y = X.copy()
    y[:6] *= 0.01
    y[1] = y[0]
    data_file("spot.data", BOX, y)
    with open("spot.data", encoding="utf-8") as f:
        line = f.read().split("\nBonds\n")[0].count("\n") + 4
    status, err = mdrun.refused(deck("spot.data", copies=N))
    tap.ok(status != 0 and f"spot.data:{line}: error: Bonds: atoms" in err,
           "a wrong bond is told with its line in the file")


if __name__ == "__main__":
    check_molecules()
    check_motion()
    check_resume()
    check_card()
    check_ewald()
    check_pieces()
    check_gromacs()
    check_peer()
    check_refusals()
    tap.done()
