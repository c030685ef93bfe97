"""[domain] balance: faces of blocks that move to where the particles are. The
numbers stay those of equal blocks."""

import re

import tap

tap.need("numpy", "h5py")

import numpy as np

import mdrun

if not tap.have_mpi():
    tap.skip_all("built without MPI")

DECK = """
[run]
solver = "md"
seed = 4
[md]
timestep = 0.004
steps = 60
[md.initial]
read = "{file}"
temperature = 0.7
[md.pair]
style = "lj"
cutoff = 2.0
skin = 0.2
{more}
[output]
observables_every = 20
"""
SHORT = "skin = 0.2\nrebuild_every = 2"


def crystal(path, cells, factor, charges=False, tilt=(0, 0, 0)):
    """Cells of fcc in the lower part of a box that is `factor` as long; tilts in
    whole cells, so that the crystal goes on through the faces."""
    a = (4 / 0.8) ** (1 / 3)
    base = np.array([[0, 0, 0], [.5, .5, 0], [.5, 0, .5], [0, .5, .5]]) + .25
    x = np.array([(np.array([i, j, k]) + b) * a for i in range(cells[0])
                  for j in range(cells[1]) for k in range(cells[2])
                  for b in base])
    length = np.array(cells) * a * [factor, 1, 1]
    kinds = "species:S:1:pos:R:3" + (":charge:R:1" if charges else "")
    rows = ["A %.12f %.12f %.12f" % tuple(r) + (
        " %d" % (1 - 2 * (i % 2)) if charges else "")
            for i, r in enumerate(x)]
    xy, xz, yz = np.array(tilt) * a
    mdrun.write(path, "\n".join(
        [str(len(x)), 'Lattice="%.12f 0 0 %.12f %.12f 0 %.12f %.12f %.12f" '
         "Properties=%s" % (length[0], xy, length[1], xz, yz, length[2], kinds),
         *rows]) + "\n")


class Run:
    """What a run has left in a folder of its own, and what its closing lines
    say: moves, imbalance at the end and at first."""

    def __init__(self, folder, name, *more, ranks=1):
        done = tap.warpdeck("run", name + ".toml", *more, "--output", folder,
                            ranks=ranks)
        found = re.search(r"moved (\d+) times: .* most ([\d.]+) of .* ([\d.]+)"
                          " at first", done.stdout)
        self.path = f"{folder}/{name}.h5"
        self.moves, self.end, self.first = (
            [float(v) for v in found.groups()] if found else (0, 0, 0))

    def energies(self):
        r = mdrun.Result(self.path)
        return np.concatenate([r.observable(k) for k in (
            "potential_energy", "kinetic_energy")]) / r.n

    def box(self):
        return mdrun.Result(self.path).observable("box_x")

    def numbers(self):
        return tap.numbers(self.path)

    def far(self, other):
        """The greatest difference of an energy."""
        return float(np.abs(self.energies() - other.energies()).max())


BY_COUNT = ("domain.balance=count", "domain.balance_every=2")


def write_slab(name="slab", **how):
    crystal(name + ".xyz", (6, 4, 4), 2, **how)
    mdrun.write(name + ".toml", DECK.format(file=name + ".xyz", more="").replace(
        "skin = 0.2", SHORT))


def write_leaning():
    write_slab("leaning", tilt=(5, -3, 1))


def check_slab(folder, alone, cut, ranks, name="slab"):
    """Half of the box is empty."""
    r = Run(folder, name, *BY_COUNT, f"domain.ranks={cut}", ranks=ranks)
    tap.ok(0 < r.end < 1.1 and r.first > (1.4 if ranks == 3 else 1.9),
           f"half-empty {name} on {cut}: the busiest rank had {r.first} times the "
           f"mean particles, {r.end} after {r.moves:.0f} moves")
    # differences of rounding, 1e-16, grow a thousandfold in 60 steps at most
    tap.below(r.far(alone), 1e-11, f"{cut}: energies as on one rank")
    return r


def check_resume(whole):
    """`whole`: on [2,1,1], not stopped."""
    more = (*BY_COUNT, "checkpoint.every=1000")
    for folder, ranks in (("again", 2), ("other", 1)):
        cut = ["domain.ranks=[2,1,1]"] * (ranks == 2)
        Run(folder, "slab", *more, "domain.ranks=[2,1,1]", "md.steps=30",
            ranks=2)
        r = Run(folder, "slab", *more, *cut, "--resume", "auto", ranks=ranks)
        if ranks == 2:
            tap.ok(r.numbers() == whole.numbers(), "a run that goes on has the "
                   "bits of one that was not stopped")
        else:
            tap.below(r.far(whole), 1e-11,
                      "and on another number of ranks the same numbers")


def check_refused():
    done = tap.warpdeck("check", "slab.toml", "domain.balance_every=3",
                        check=False)
    tap.ok(done.returncode == 2 and "has no meaning" in done.stderr,
           "balance_every without balance is refused")


if __name__ == "__main__":
    write_slab()
    check_resume(check_slab("two", Run("one", "slab"), "[2,1,1]", 2))
    write_leaning()
    check_slab("four", Run("alone", "leaning"), "[2,2,1]", 4, "leaning")
    check_refused()
    tap.done()
