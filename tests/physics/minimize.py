"""Minimization and random starts: a cluster and a crystal find their known
minima, on any number of ranks; random places keep their distance, and a liquid
begins from them.
"""

import numpy as np

import mdrun
import tap

# The greatest force at which a descent ends. At such a force the energy is above
# the minimum by about force^2 / stiffness < 1e-13 (a well's stiffness is 57).
FORCE = 1e-7
DECK = """[run]
solver = "md"
seed = 3
[md]
timestep = 0.005
steps = 0
[md.initial]
read = "{file}"
[md.pair]
cutoff = {cutoff}
skin = 0.3
shift = "{shift}"
[md.minimize]
force = {force}
[output]
fields = ["position", "velocity", "force"]
"""


def check_cluster():
    """Hoare and Pal (1971): 13 atoms are an icosahedron, -44.326801."""
    golden = (1 + np.sqrt(5)) / 2
    shell = np.array([[0, a, b * golden] for a in (-1, 1) for b in (-1, 1)])
    x = np.concatenate([[[0, 0, 0]]] + [np.roll(shell, k, 1) for k in range(3)])
    x *= 1.12 / np.sqrt(1 + golden**2)
    x += np.random.default_rng(1).uniform(-0.15, 0.15, x.shape) + 6
    mdrun.xyz("cluster.xyz", [12.0] * 3, x, ["A"] * 13)
    deck = DECK.format(file="cluster.xyz", cutoff=5.9, shift="none", force=FORCE)
    run = mdrun.run(deck)
    # The table of Wales and Doye (1997) has 6 digits after the point.
    tap.near(run.observable("potential_energy")[0], -44.326801, 1e-6,
             "13 atoms have the energy of the icosahedron")
    f = run.frame("force")
    tap.below(np.linalg.norm(f, axis=1).max(), FORCE,
              "the greatest force is below what was asked for")
    t = run.table("minimization/descent")
    tap.ok(t["step"][-1] < 1000 and t["greatest_force"][-1] < FORCE and
           abs(t["energy"][-1] - run.observable("potential_energy")[0]) < 1e-9,
           f"the table ends where the run begins ({t['step'][-1]:.0f} steps)")
    tap.ok(not run.frame("velocity").any(), "and all are at rest")


def check_crystal():
    """A crystal whose atoms are displaced goes back to where it was."""
    a, n = 2**(2 / 3), 4
    sites = np.array([[0, 0, 0], [0, .5, .5], [.5, 0, .5], [.5, .5, 0]]) + 0.25
    perfect = (np.array(list(np.ndindex(n, n, n)))[:, None] + sites
               ).reshape(-1, 3) * a
    away = np.random.default_rng(2).uniform(-0.1, 0.1, perfect.shape)
    mdrun.xyz("crystal.xyz", [n * a] * 3, perfect + away, ["A"] * len(away))
    deck = DECK.format(file="crystal.xyz", cutoff=2.5, shift="force",
                       force=FORCE)
    energy = None
    for ranks in mdrun.rank_counts(1, 4):
        run = mdrun.run(deck, "md.initial.temperature=0.5", ranks=ranks)
        x = run.frame("position") - perfect
        x -= n * a * np.rint(x / (n * a))
        # All may have moved together by the mean of what they were displaced.
        tap.near(np.abs(x - away.mean(0)).max(), 0, 1e-7,
                 f"{ranks} ranks: displaced atoms of a crystal go back")
        u = run.observable("potential_energy")[0]
        if energy is not None:
            tap.near(u / energy, 1, 1e-12, f"{ranks} ranks: the energy is that "
                     "of one")
        energy = u
        tap.near(run.observable("temperature")[0], 0.5, 1e-12,
                 f"{ranks} ranks: then velocities are drawn")
    bare = mdrun.run(deck.replace("[md.minimize]\nforce = 1e-07\n", ""),
                     "md.initial.temperature=0.5")
    tap.below(np.abs(run.frame("velocity") - bare.frame("velocity")).max(),
              1e-14, "they are those of a run without minimization")


LIQUID = """[run]
solver = "md"
seed = 5
[md]
timestep = 0.004
steps = 60
[md.initial]
random = 800
density = 0.8442
temperature = 1.0
[[md.species]]
name = "A"
fraction = 0.75
[[md.species]]
name = "B"
fraction = 0.25
[[md.pair.coefficients]]
species = ["A", "A"]
epsilon = 1.0
sigma = 1.0
[[md.pair.coefficients]]
species = ["B", "B"]
epsilon = 0.5
sigma = 0.88
[md.pair]
cutoff = 2.5
shift = "force"
[md.minimize]
force = 1.0
steps = 2000
[output]
fields = ["position", "velocity"]
observables_every = 10
frames_every = 60
"""


def nearest(x, box):
    d = x[:, None] - x[None]
    d -= box * np.rint(d / box)
    r = np.sqrt((d**2).sum(-1))
    return r[np.triu_indices(len(x), 1)].min()


def check_random():
    plain = LIQUID.replace("[md.minimize]\nforce = 1.0\nsteps = 2000\n", "")
    places = {n: mdrun.run(plain, "md.steps=0", ranks=n)
              for n in mdrun.rank_counts(1, 3)}
    one = places[1]
    x, box = one.frame("position", 0), one.edges()
    tap.near(800 / box.prod(), 0.8442, 1e-12, "random places: the density")
    tap.ok(0.85 * 0.88 <= nearest(x, box) < 0.86 * 0.88,
           "random places: none is nearer than 0.85 of the smallest sigma")
    for n, other in places.items():
        tap.ok(n == 1 or np.array_equal(other.frame("position", 0), x),
               f"random places: the same on {n} ranks")
    # Uniform: a chi-square over octants, 7 degrees of freedom, of which a
    # repulsive order makes the counts more even, not less.
    octant = ((x / box * 2).astype(int) * [1, 2, 4]).sum(1)
    count = np.bincount(octant, minlength=8)
    tap.below(((count - 100)**2 / 100).sum(), 24.3,
              "random places: all parts of the box alike")
    kind = one.constant("species")
    tap.is_(sorted(np.unique(kind, return_counts=True)[1]), [200, 600],
            "random places: species by their fractions")
    run = mdrun.run(LIQUID)
    t = run.table("minimization/descent")
    tap.ok(t["energy"][0] > 0 > t["energy"][-1] and
           t["greatest_force"][-1] <= 1, "a liquid at random places comes to "
           f"rest in {t['step'][-1]:.0f} steps")
    e = run.observable("total_energy")
    tap.below(np.abs(e - e[0]).max() / 800, 2e-3,
              "and runs from there with its energy kept")
    for last in (31, 60):
        tap.run(tap.WARPDECK, "run", mdrun.write("kept.toml", LIQUID),
                f"md.steps={last}", "--output", "kept", "--resume", "auto",
                "-q", "checkpoint.every=10")
    a, b = mdrun.datasets(run.path), mdrun.datasets("kept/kept.h5")
    tap.is_([k for k in a if not np.array_equal(a[k], b[k])], [],
            "in two parts it is the same bit by bit, its descent too")


def check_overlaps():
    """Places drawn without regard to one another, pairs of them almost in one
    place, where a step's length is cut to a trifle: the way back from too far is
    cut likewise."""
    n, edge = 300, 7.2
    x = np.random.default_rng(7).uniform(0, edge, (n, 3))
    x[1] = x[0] + [0.02, 0, 0]
    mdrun.xyz("overlaps.xyz", [edge] * 3, x, ["A"] * n)
    deck = DECK.format(file="overlaps.xyz", cutoff=2.5, shift="force", force=0.1)
    t = mdrun.run(deck).table("minimization/descent")
    tap.ok(t["energy"][0] > 1e18 and t["energy"][-1] < -3 * n and
           t["greatest_force"][-1] < 0.1, "overlapping particles come apart: "
           f"{t['energy'][0]:.1g} to {t['energy'][-1] / n:.3f} n in "
           f"{t['step'][-1]:.0f} steps")
    bare = deck.replace("[md.minimize]\nforce = 0.1\n", "")
    status, said = mdrun.refused(bare)
    tap.ok(status == 2 and "0.02 apart" in said and "[md.minimize]" in said,
           "without a minimization they are refused, with what to do")


def check_refused():
    for change, words in (
            ("md.initial.separation=1.2", "no random place is left"),
            ("md.initial.cells=[2, 2, 2]", "is that of a lattice"),
            ("md.initial.lattice=sc", "give one of"),
            ("domain.size=[9, 9, 9]", "one of md.initial.density and")):
        status, said = mdrun.refused(LIQUID, change)
        tap.ok(status == 2 and words in said, f"refused: {words}" +
               ("" if words in said else f": {status} {said[:300]}"))
    status, said = mdrun.refused(
        LIQUID.replace("force = 1.0\nsteps = 2000", "steps = 2000"))
    tap.ok(status == 2 and "force" in said, "refused: no force to end at")


def main():
    check_cluster()
    check_crystal()
    check_random()
    check_overlaps()
    check_refused()
    tap.done()


if __name__ == "__main__":
    main()
