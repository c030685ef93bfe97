"""Angles and dihedrals that are wider than the cutoff, as those of stiff
bead-spring chains, and springs that thermal motion stretches beyond it: every
rank has the copies that they need, in tilted boxes on one rank, too."""

import numpy as np

import chains
import mdrun
import tap

tap.need("numpy", "h5py")

CUTOFF = 2 ** (1 / 6)
BEND, TURN = 1.5, 0.8
DECK = """[run]
solver = "md"
seed = 5
[md]
timestep = 0.003
steps = 60
[md.initial]
read = "{file}"
temperature = 1.0
[md.pair]
cutoff = {cutoff!r}
shift = "energy"
[[md.pair.coefficients]]
species = ["A", "A"]
epsilon = {epsilon}
sigma = 1
[md.bonds]
special_lj = {special}
[output]
observables_every = 20
frames_every = 60
fields = ["position", "velocity", "force"]
"""


def stiff(name, tilt=0.0):
    """The chains of chains.py without their branches, with all angles and
    dihedrals along them. Returns positions, angles and dihedrals."""
    x, _ = chains.melt()
    side = chains.SIDE * chains.SPACING
    firsts = range(0, len(x), chains.LENGTH)
    bonds, angles, dihedrals = (
        [tuple(f + i + k for k in range(n)) for f in firsts
         for i in range(chains.LENGTH + 1 - n)] for n in (2, 3, 4))
    lines = ["stiff chains", "", f"{len(x)} atoms", f"{len(bonds)} bonds",
             f"{len(angles)} angles", f"{len(dihedrals)} dihedrals",
             "1 atom types", "1 bond types", "1 angle types",
             "1 dihedral types", ""]
    lines += [f"0 {side!r} {c}lo {c}hi" for c in "xyz"]
    lines += [f"{tilt} 0 0 xy xz yz"] if tilt else []
    lines += ["", "Masses", "", "1 1 # A", "",
              "Bond Coeffs # fene", "", "1 30 1.5 1 1", "",
              "Angle Coeffs # cosine", "", f"1 {BEND}", "",
              "Dihedral Coeffs # opls", "", f"1 {TURN} 0 0 0", "",
              "Atoms # bond", ""]
    lines += [f"{i + 1} 1 1 " + " ".join(repr(float(v)) for v in r)
              for i, r in enumerate(x)]
    for title, terms in (("Bonds", bonds), ("Angles", angles),
                         ("Dihedrals", dihedrals)):
        lines += ["", title, ""]
        lines += [f"{k + 1} 1 " + " ".join(str(i + 1) for i in t)
                  for k, t in enumerate(terms)]
    mdrun.write(name, "\n".join(lines) + "\n")
    edges = np.diag([side] * 3)
    edges[1, 0] = tilt
    return x, edges, np.array(angles), np.array(dihedrals)


def nearest(d, edges):
    """Differences to the nearest images; bonds are short against the box."""
    return d - np.rint(d @ np.linalg.inv(edges)) @ edges


def plain(x, edges, angles, dihedrals):
    """Energies of angles and dihedrals by loops over all."""
    a = nearest(x[angles[:, 0]] - x[angles[:, 1]], edges)
    b = nearest(x[angles[:, 2]] - x[angles[:, 1]], edges)
    cosine = (a * b).sum(1) / np.sqrt((a * a).sum(1) * (b * b).sum(1))
    b1, b2, b3 = (nearest(x[dihedrals[:, k + 1]] - x[dihedrals[:, k]], edges)
                  for k in range(3))
    n1, n2 = np.cross(b1, b2), np.cross(b2, b3)
    turn = (n1 * n2).sum(1) / np.sqrt((n1 * n1).sum(1) * (n2 * n2).sum(1))
    return BEND * (1 + cosine).sum(), TURN / 2 * (1 + turn).sum()


def same(what, got, want):
    """Energies at the start, and places and velocities in the end."""
    worst = max(mdrun.worst(got.observable(f"{t}_energy"),
                            want.observable(f"{t}_energy"))
                for t in ("bond", "angle", "dihedral", "pair"))
    # 60 steps of a dense liquid make some 1e2 of a rounding of 1e-15
    for field in ("position", "velocity", "force"):
        worst = max(worst, mdrun.worst(got.frame(field), want.frame(field)))
    tap.below(worst, 1e-11, f"{what}: what one rank has")


def chains_of(tilt):
    name = f"stiff{'_tilted' if tilt else ''}"
    system = stiff(name + ".data", tilt)
    text = DECK.format(file=name + ".data", cutoff=CUTOFF, epsilon=1.0,
                       special="[0, 1, 1]")
    one = mdrun.run(text, name=name)
    bend, turn = plain(*system)
    tap.near(one.observable("angle_energy")[0], bend, 1e-12 * bend,
             f"{name}: angles twice as wide as bonds have their energy")
    tap.near(one.observable("dihedral_energy")[0], turn, 1e-12 * turn,
             f"{name}: so have dihedrals")
    for ranks in (2, 3, 5):
        if tap.have_mpi():
            same(f"{name}, {ranks} ranks", mdrun.run(text, ranks=ranks), one)
        else:
            tap.skip(1, "built without MPI")


def springs():
    """Dimers on a grid, 1.2 long at most in the beginning: u = 1.5 r^2 at kT = 1
    has 0.58 as its standard deviation in each direction."""
    side, n = 12.0, 6
    sites = np.stack(np.meshgrid(*[np.arange(n)] * 3), -1).reshape(-1, 3) + 0.5
    turned = np.random.default_rng(2).normal(size=(n ** 3, 3))
    turned *= 0.25 / np.linalg.norm(turned, axis=1)[:, None]
    x = np.stack([sites * side / n - turned, sites * side / n + turned], axis=1)
    x = x.reshape(-1, 3)
    lines = ["springs", "", f"{len(x)} atoms", f"{n ** 3} bonds",
             "1 atom types", "1 bond types", ""]
    lines += [f"0 {side} {c}lo {c}hi" for c in "xyz"]
    lines += ["", "Masses", "", "1 1 # A", "", "Bond Coeffs # harmonic", "",
              "1 1.5 0", "", "Atoms # bond", ""]
    lines += [f"{i + 1} 1 1 " + " ".join(repr(float(v)) for v in r)
              for i, r in enumerate(x)]
    lines += ["", "Bonds", ""]
    lines += [f"{b + 1} 1 {2 * b + 1} {2 * b + 2}" for b in range(n ** 3)]
    mdrun.write("springs.data", "\n".join(lines) + "\n")
    # hardly a pair force: what each dimer does is known
    text = DECK.format(file="springs.data", cutoff=0.9, epsilon=1e-6,
                       special="[0, 1, 1]")
    bath = ('md.ensemble.type="langevin"', "md.ensemble.temperature=1.0",
            "md.ensemble.relaxation=1.0", "md.timestep=0.02", "md.steps=400",
            "output.frames_every=400", "output.observables_every=400")
    one = mdrun.run(text, *bath, name="springs")
    box = np.array([side] * 3)
    d = one.frame("position")
    d = d[1::2] - d[::2]
    longest = np.linalg.norm(d - box * np.rint(d / box), axis=1).max()
    tap.ok(longest > 1.3, "springs are longer than the pair list reaches "
           f"({longest:.2f} > 1.01)")
    for ranks in (2, 3):
        if not tap.have_mpi():
            tap.skip(1, "built without MPI")
            continue
        got = mdrun.run(text, *bath, ranks=ranks)
        tap.below(mdrun.worst(got.frame("position"), one.frame("position")),
                  1e-10, f"{ranks} ranks see both ends of each")


for tilt in (0.0, 1.3):
    chains_of(tilt)
springs()
tap.done()
