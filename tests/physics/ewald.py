"""Ewald sums, on a mesh and wave by wave: forces against a plain sum, Madelung's
constants, water of NIST's, over ranks, restarts; decks that are refused."""

import math
import os
import re
import shutil

import numpy as np

import mdrun
import tap
from charges import MADELUNG, rock_salt

erf = np.vectorize(math.erf, otypes=[float])
erfc = np.vectorize(math.erfc, otypes=[float])

DECK = """[run]
solver = "md"
[md]
timestep = 0.001
steps = {steps}
[md.initial]
read = "charges.xyz"
overlap = 0
[[md.species]]
name = "P"
charge = 1.5
[[md.species]]
name = "M"
charge = -1
[md.pair]
cutoff = 2.3
skin = 0.2
[[md.pair.coefficients]]
species = ["P", "P"]
epsilon = {epsilon}
sigma = 0.9
[[md.pair.coefficients]]
species = ["M", "M"]
epsilon = {epsilon}
sigma = 0.9
[md.coulomb]
method = "{method}"
{more}
[output]
fields = ["position", "velocity", "force"]
observables_every = {every}
"""
CHARGE = {"P": 1.5, "M": -1.0}


def deck(method="pme", more="", steps=0, epsilon=0, every=1):
    return DECK.format(method=method, more=more, steps=steps, epsilon=epsilon,
                       every=every)


def gas(path="charges.xyz", seed=7):
    """100 charges that add up to 0 in a box of unequal edges: position, charge
    and box."""
    box, x = mdrun.jittered_box(seed, (4, 5, 5), 1.15, 0.25)
    kind = np.array(["P"] * 40 + ["M"] * 60)
    kind = kind[np.random.default_rng(seed).permutation(100)]
    mdrun.xyz(path, tuple(map(float, box)), x, kind)
    return x, np.array([CHARGE[k] for k in kind]), np.array(box)


def tilted_gas(path="charges.xyz"):
    """The same charges in a box of the same volume that leans in all directions:
    position, charge and edges."""
    x, q, box = gas(path)
    edges = np.array([[6, 0, 0], [2.2, 6.3, 0], [-2.9, 2.6, 5.8]])
    edges *= (np.prod(box) / np.linalg.det(edges)) ** (1 / 3)
    x = x / box @ edges
    mdrun.xyz(path, edges, x, np.where(q > 0, "P", "M"))
    return x, q, edges


def waves_below(most, edges):
    """All waves n up to a wave number, but n = 0, and their vectors."""
    top = most * np.linalg.norm(edges, axis=1) / (2 * math.pi) + 1e-6
    n = np.stack(np.meshgrid(*[np.arange(-int(t), int(t) + 1) for t in top],
                             indexing="ij"), -1).reshape(-1, 3)
    k = 2 * math.pi * n @ np.linalg.inv(edges).T
    k2 = (k ** 2).sum(1)
    keep = (k2 > 0) & (k2 <= most ** 2)
    return n[keep], k[keep]


def sum_waves(x, q, edges, alpha, k):
    """Energy and forces of these waves; Allen and Tildesley (2017), eq. 6.5."""
    k2 = (k ** 2).sum(1)
    g = 4 * math.pi / np.linalg.det(edges) / k2 * \
        np.exp(-k2 / (4 * alpha ** 2))
    phase = np.exp(1j * x @ k.T)
    s = q @ phase
    force = q[:, None] * ((phase * (g * s.conj())).imag @ k)
    return 0.5 * (g * abs(s) ** 2).sum(), force


def plain_sum(x, q, box, alpha=1.25, images=1):
    """Energy and forces of charges in a periodic box, given by its lengths or its
    edges, that stands in a conductor; Allen and Tildesley (2017), eq. 6.5,
    converged to some 1e-12."""
    edges = np.diag(box) if np.ndim(box) == 1 else box
    n, volume = len(q), np.linalg.det(edges)
    force = np.zeros((n, 3))
    energy = -alpha / math.sqrt(math.pi) * (q ** 2).sum()
    energy -= math.pi * q.sum() ** 2 / (2 * volume * alpha ** 2)
    shifts = np.array([(a, b, c) for a in range(-images, images + 1)
                       for b in range(-images, images + 1)
                       for c in range(-images, images + 1)]) @ edges
    for s in shifts:
        d = x[:, None] - x[None] + s
        r = np.sqrt((d ** 2).sum(-1))
        np.fill_diagonal(r, np.inf if not s.any() else r[0, 0])
        near = erfc(np.minimum(alpha * r, 7)) / r
        energy += 0.5 * (q[:, None] * q * near).sum()
        g = near / r ** 2 + (2 * alpha / math.sqrt(math.pi) *
                             np.exp(-(alpha * np.minimum(r, 99)) ** 2) / r ** 2)
        force += ((q[:, None] * q * g)[:, :, None] * d).sum(1)
    far, more = sum_waves(x, q, edges, alpha,
                          waves_below(2 * alpha * math.sqrt(34), edges)[1])
    return energy + far, force + more


def rms(a):
    return math.sqrt((a ** 2).sum(1).mean())


def check_accuracy():
    x, q, box = gas()
    energy, force = plain_sum(x, q, box)
    for accuracy in (1e-3, 1e-4, 1e-5, 1e-6):
        order = 7 if accuracy < 1e-5 else 5
        got = mdrun.run(deck("pme", f"accuracy = {accuracy}\n"
                             f"order = {order}"))
        wrong = rms(got.frame("force", 0) - force)
        tap.ok(wrong < accuracy, f"pme: forces are right to the {accuracy:g} "
               "that was asked for")
        u = got.observable("potential_energy")[0]
        p = got.observable("pressure")[0] * 3 * np.prod(box)
        tap.note(f"wrong by {wrong:.2e}; energy {u / energy - 1:.1e}, "
                 f"virial {p / energy - 1:.1e}")
        # a force's error times a way of the order of 1, of 100 charges
        tap.ok(abs(u - energy) < 100 * accuracy and
               abs(p - energy) < 300 * accuracy,
               "and so are energy and virial, which for charges alone is the "
               "energy")
    got = mdrun.run(deck("ewald", "accuracy = 1e-13"))
    wrong = rms(got.frame("force", 0) - force)
    tap.ok(wrong < 1e-11, "ewald: forces are right to 1e-11")
    worst = max(abs(got.observable(o)[0] * f / energy - 1) for o, f in
                (("potential_energy", 1), ("pressure", 3 * np.prod(box))))
    # the last waves give more of the virial than of forces
    tap.ok(worst < 1e-10, "ewald: energy and virial are the plain sum's")
    tap.note(f"forces wrong by {wrong:.1e}, energy and virial {worst:.1e}")


def check_orders():
    """Each order at one mesh: measured errors against what is estimated."""
    for box, orders in ((gas()[2], (3, 5, 7)), (tilted_gas()[2], (4, 6, 7))):
        edges = np.diag(box) if box.ndim == 1 else box
        q = gas()[1]
        x = np.random.default_rng(3).uniform(0, 1, (len(q), 3)) @ edges
        mdrun.xyz("charges.xyz", edges, x, np.where(q > 0, "P", "M"))
        force = plain_sum(x, q, edges, images=2)[1]
        before, held = 1, True
        for order in orders:
            got = mdrun.run(deck("pme", "splitting = 1.9\norder = %d\n" % order +
                                 "mesh = [24, 27, 30]\naccuracy = 0.1"),
                            "md.pair.cutoff=2.1", name=f"order{order}")
            wrong = rms(got.frame("force", 0) - force)
            with open("out/order%d.log" % order, encoding="utf-8") as f:
                said = float(f.read().split("estimated error ")[1].split()[0])
            tap.note(f"order {order}: wrong by {wrong:.2e}, estimated "
                     f"{said:.2e}")
            # 100 charges that know nothing of one another, as the estimate has
            # it
            held = held and 0.7 < wrong / said < 1.4 and wrong < before
            before = wrong
        tap.ok(held, f"orders {orders}{' in a tilted box' * (box.ndim - 1)}: "
               "errors fall, and are those estimated")


def check_ranks():
    if not tap.have_mpi():
        tap.skip(6, "no MPI here")
        return
    for method, cuts in (("pme", ((3, "[3, 1, 1]"), (4, "[1, 2, 2]"))),
                         ("ewald", ((3, "[1, 1, 3]"),))):
        x, q, box = tilted_gas() if method == "pme" else gas()
        cutoff = "md.pair.cutoff=2.1"
        one = mdrun.run(deck(method), cutoff)
        wrong = rms(one.frame("force", 0) - plain_sum(x, q, box, images=2)[1])
        tap.below(wrong, 1e-4, method + ": forces" +
                  " in a tilted box" * (np.ndim(box) - 1) +
                  " are right to the accuracy asked for")
        worst = 0
        for ranks, cut in cuts:
            many = mdrun.run(deck(method), cutoff, f"domain.ranks={cut}",
                             ranks=ranks)
            worst = max(worst, mdrun.worst(many.frame("force", 0),
                                           one.frame("force", 0)))
            worst = max([worst] + [
                mdrun.worst(many.observable(o), one.observable(o)) for o in
                ("mesh_energy", "coulomb_energy", "pressure")])
        tap.ok(worst < 1e-12, f"{method}: more ranks agree with one to 1e-12")
        tap.note(f"worst {worst:.1e}")
    one = mdrun.run(deck(), "md.precision=mixed")
    two = mdrun.run(deck(), "md.precision=single", "run.threads=2", ranks=2)
    want = mdrun.run(deck()).frame("force", 0)
    worst = [mdrun.worst(r.frame("force", 0), want) for r in (one, two)]
    tap.ok(worst[0] < 1e-5, "pme: mixed precision is good to 1e-5")
    tap.ok(worst[1] < 1e-4, "pme: and single to 1e-4, on 2 ranks of 2 threads")
    tap.note(f"worst {worst}")


def check_constants():
    """Sums that are known to all digits."""
    n = 4
    rock_salt("charges.xyz", n)
    text = deck("ewald", "accuracy = 1e-12").replace("1.5", "1") \
        .replace("cutoff = 2.3", "cutoff = 2")
    u = mdrun.run(text).observable("potential_energy")[0] / (n ** 3 / 2)
    tap.ok(abs(u + MADELUNG) < 1e-12,
           "rock salt: Madelung's constant, 1.747564594633, to 1e-12")
    tap.note(f"{u:.15f}")
    mesh = text.replace('"ewald"', '"pme"').replace("1e-12", "1e-6\norder = 7")
    u = mdrun.run(mesh).observable("potential_energy")[0] / (n ** 3 / 2)
    tap.ok(abs(u + MADELUNG) < 1e-6, "and on a mesh to 1e-6")
    for precision in ("mixed", "single"):
        u = mdrun.run(mesh, f"md.precision={precision}")
        u = u.observable("potential_energy")[0] / (n ** 3 / 2)
        tap.below(abs(u + MADELUNG), 3e-6, f"in {precision} precision, too")
    # the same by the cell of one pair of ions, of three edges 60 degrees apart
    edges = math.sqrt(2) * np.array(
        [[1, 0, 0], [0.5, math.sqrt(3 / 4), 0],
         [0.5, math.sqrt(1 / 12), math.sqrt(2 / 3)]])
    mdrun.xyz("charges.xyz", edges, 0.1 + np.array([[0, 0, 0], edges.sum(0) / 2]),
              ["P", "M"])
    for method, small in (("ewald", 1e-12), ("pme", 1e-6)):
        got = mdrun.run(text if method == "ewald" else mesh, "md.pair.cutoff=0.57")
        u = got.observable("potential_energy")[0]
        tap.ok(abs(u + MADELUNG) < small,
               f"{method}: its cell of two ions, a tilted box, has that to {small}")
        tap.note(f"{u:.15f}")
        p = got.observable("pressure")[0] * 3 * 2
        tap.ok(abs(p - u) < 100 * small, "and the virial of it")
    # one charge and its images in an even background: Nijboer and Ruijgrok
    # (1988), J. Stat. Phys. 53, 361
    mdrun.xyz("charges.xyz", (5.0,) * 3, np.array([[1.0, 2, 3]]), ["M"])
    status, out = mdrun.refused(deck())
    tap.ok(status == 2 and "add up to -1" in out and "background" in out,
           "charges that do not add up to 0 are refused")
    for method, small in (("ewald", "1e-12"), ("pme", "1e-5")):
        got = mdrun.run(deck(method, f"accuracy = {small}\nbackground = true"))
        u = got.observable("potential_energy")[0]
        tap.ok(abs(u + 2.837297479480619 / 10) < float(small),
               f"{method}: one charge in a background has Wigner's energy")
        p = got.observable("pressure")[0] * 3 * 125
        tap.ok(abs(p - u) < 100 * float(small),
               "and the virial of it")


def check_slab():
    """A slab that leans in its plane."""
    x, q, box = gas()
    box = np.diag(box)
    box[1, 0] = 0.3 * box[0, 0]
    x = x @ np.linalg.inv(np.diag(np.diag(box))) @ box
    tall = box * np.array([[1], [1], [3]])
    kind = np.where(q > 0, "P", "M")
    mdrun.xyz("charges.xyz", tall, x, kind)
    energy, force = plain_sum(x, q, tall, images=2)
    dipole, volume = (q * x[:, 2]).sum(), np.linalg.det(tall)
    energy += 2 * math.pi * dipole ** 2 / volume
    force[:, 2] -= 4 * math.pi * q * dipole / volume
    cutoff = "md.pair.cutoff=2.1"
    got = mdrun.run(deck("ewald", "accuracy = 1e-9\nslab = true"), cutoff)
    worst = max(mdrun.worst(got.frame("force", 0), force),
                abs(got.observable("potential_energy")[0] / energy - 1))
    tap.ok(worst < 1e-8, "slab: energy and forces are corrected for the dipole")
    tap.note(f"worst {worst:.1e}, energy {energy:.6g}")
    # The same between walls, with the empty space given by the program.
    mdrun.xyz("charges.xyz", box, x, kind)
    walls = "".join(f'[[md.walls]]\nface = "{f}"\nstyle = "reflect"\n'
                    for f in ("zlo", "zhi"))
    for method, more, small in (("ewald", "accuracy = 1e-9\n", 1e-8),
                                ("pme", "accuracy = 1e-5\norder = 7\n", 2e-5)):
        got = mdrun.run(deck(method, more + "slab = true") + walls, cutoff,
                        ranks=3 if tap.have_mpi() else 1)
        worst = max(mdrun.worst(got.frame("force", 0), force),
                    abs(got.observable("potential_energy")[0] / energy - 1))
        tap.ok(worst < small, f"{method}: walls in z give a slab its space")
        tap.note(f"worst {worst:.1e}")


# ---- NIST's water ----

# https://www.nist.gov/mml/csd/chemical-informatics-group/
# spce-water-reference-calculations-10a-cutoff, configuration 1: energies over
# Boltzmann's constant, in K; alpha = 5.6 / L, waves up to n^2 = 26, 10 angstrom.
NIST = {"disp": 9.95387e4, "tail": -8.23715e2, "real": -5.58889e5,
        "waves": 6.27009e3, "self": -2.84469e6, "bound": 2.80999e6}
# e^2 / (4 pi epsilon_0 k) in K angstrom, CODATA 2010
COULOMB = 1.602176565e-19 ** 2 / (4 * math.pi * 8.854187817e-12 *
                                  1.3806488e-23) * 1e10
WATER = """[run]
solver = "md"
[md]
timestep = 0.001
steps = 0
[md.initial]
read = "water.data"
[[md.species]]
name = "O"
mass = 16
[[md.species]]
name = "H"
mass = 1
[md.pair]
cutoff = 10
skin = 0.5
tail = true
[[md.pair.coefficients]]
species = ["O", "O"]
epsilon = 78.19743111
sigma = 3.16555789
[[md.pair.coefficients]]
species = ["H", "H"]
epsilon = 0
sigma = 1
[md.bonds]
bond_style = "none"
angle_style = "none"
[md.coulomb]
method = "ewald"
splitting = 0.28
wave_cutoff = {waves!r}
"""


def read_water(path):
    with open(path, encoding="utf-8") as f:
        rows = [line.split() for line in f]
    box = float(rows[1][1])
    x = np.array([[float(c) for c in r[1:4]] for r in rows[2:] if len(r) > 4])
    return x, box


def write_water(x, box, q):
    n = len(x) // 3
    out = [f"water\n\n{3 * n} atoms\n{2 * n} bonds\n{n} angles\n2 atom types\n"
           "1 bond types\n1 angle types\n"]
    out += [f"{-box / 2!r} {box / 2!r} {d}lo {d}hi" for d in "xyz"]
    out.append("\nAtoms # full\n")
    for i, r in enumerate(x):
        out.append(f"{i + 1} {i // 3 + 1} {1 + (i % 3 > 0)} {float(q[i])!r} " +
                   " ".join(repr(float(c)) for c in r))
    out.append("\nBonds\n")
    out += [f"{2 * m + e} 1 {3 * m + 1} {3 * m + 1 + e}" for m in range(n)
            for e in (1, 2)]
    out.append("\nAngles\n")
    out += [f"{m + 1} 1 {3 * m + 2} {3 * m + 1} {3 * m + 3}" for m in range(n)]
    mdrun.write("water.data", "\n".join(out) + "\n")


def check_nist(ranks_of=(1, 3), where="", **more):
    name = tap.reference("md", "spce_sample_config_periodic1.xyz")
    if not name or not os.path.exists(name):
        tap.skip(len(ranks_of), "NIST's configurations of water are not here")
        return
    x, box = read_water(name)
    q = np.tile([-0.8476, 0.4238, 0.4238], len(x) // 3) * math.sqrt(COULOMB)
    write_water(x, box, q)
    alpha = 5.6 / box
    known = {"self": -alpha / math.sqrt(math.pi) * (q ** 2).sum(), "bound": 0}
    for a, b in ((0, 1), (0, 2), (1, 2)):
        d = x[a::3] - x[b::3]
        r = np.sqrt(((d - box * np.rint(d / box)) ** 2).sum(1))
        known["bound"] -= (q[a] * q[b] * erf(alpha * r) / r).sum()
    text = WATER.format(waves=2 * math.pi * math.sqrt(26.5) / box)
    for ranks in mdrun.rank_counts(*ranks_of):
        got = mdrun.run(text, ranks=ranks, **more)

        def value(o):
            return got.observable(o + "_energy")[0]
        mine = {"disp": value("pair") - NIST["tail"],
                "real": value("coulomb") - known["bound"],
                "waves": value("mesh") - known["self"], **known}
        digits = {k: f"{v:.5e}" for k, v in mine.items()}
        same = all(digits[k] == f"{NIST[k]:.5e}" for k in digits)
        tap.ok(same, f"SPC/E water, {where}{ranks} rank(s): each term of NIST's energy "
               "to all digits")
        tap.note(f"{digits}")


# ---- motion ----

def check_motion():
    gas()
    text = deck("pme", "accuracy = 1e-5", 60, 1) + "[checkpoint]\nevery = 30\n"
    whole = mdrun.run(text, "md.initial.temperature=1", name="whole")
    path = mdrun.write("half.toml", text)
    shutil.rmtree("kept", ignore_errors=True)
    for more in (("md.steps=30",), ("--resume", "auto")):
        tap.run(tap.WARPDECK, "run", path, "output.name=part",
                "md.initial.temperature=1", "--output", "kept", "-q", *more)
    part = mdrun.Result("kept/part.h5")
    same = all(np.array_equal(part.frame(f), whole.frame(f))
               for f in ("position", "velocity", "force"))
    tap.ok(same, "a run with a mesh goes on bit by bit")


def check_refused():
    gas()
    for more, said in (("wave_cutoff = 3", "wave_cutoff has no meaning"),
                       ("order = 8", "order")):
        status, out = mdrun.refused(deck("pme", more))
        tap.ok(status == 2 and said in out, f"pme: '{more.split()[0]}' refused")
    status, out = mdrun.refused(deck("dsf", "mesh = [8, 8, 8]"))
    tap.ok(status == 2 and "mesh has no meaning" in out,
           "a mesh for another method is refused")
    for method, more, want in (
            ("ewald", "wave_cutoff = 1e6", r"\d: error: waves up to "
             r"md.coulomb.wave_cutoff = 1e\+06 are \S+ in this box"),
            ("ewald", "accuracy = 1e-300", r"are \S+ in this box"),
            ("pme", "accuracy = 1e-300", r"\d: error: no mesh reaches")):
        status, out = mdrun.refused(deck(method, more))
        tap.ok(status == 2 and re.search(want, out),
               f"{method}: '{more}' is refused, with what it means")
    done = tap.warpdeck("check", mdrun.write("long.toml", deck(
        "ewald", "wave_cutoff = 230")), "--measure", "0", check=False)
    if not tap.ok(re.search(r"a step takes about \S+ \w floating-point operations "
                     "of each rank, up to .*pme", done.stderr),
           "waves that take a long time are told of before they do"):
        tap.note(done.stdout + done.stderr)
    done = tap.warpdeck("run", mdrun.write("coarse.toml", deck(
        "pme", "splitting = 2\nmesh = [6, 6, 6]")), "--output", "out",
        "--overwrite", "-q")
    tap.ok("more than md.coulomb.accuracy" in done.stderr,
           "a mesh too coarse for the accuracy is warned about")


def main():
    os.makedirs("out", exist_ok=True)
    check_accuracy()
    check_orders()
    check_ranks()
    check_constants()
    check_slab()
    check_nist()
    check_motion()
    check_refused()
    tap.done()


if __name__ == "__main__":
    main()
