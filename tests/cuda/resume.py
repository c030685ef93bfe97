# timeout: 600
"""Runs on the simulated card that go on from a checkpoint end as if they had not
been interrupted: every number of the result file and of the last checkpoint is
the same to the last bit. From one device to the other they do so within
rounding.
"""

import glob
import os
import sys

import tap

tap.need("numpy", "h5py")
sys.path.insert(0, os.path.join(tap.TOP_SRCDIR, "tests", "physics"))

import mdrun
import rigid

PROGRAM = tap.simulated_card()
# The order of blocks and threads changes from run to run; the memory need not
# be closed at every wait to see that bits are the same.
os.environ["CUDASIM_PROTECT"] = "0"

MD = """
[run]
solver = "md"
[md]
timestep = 0.004
steps = %d
[md.initial]
lattice = "fcc"
cells = [5, 5, 5]
density = 0.8
temperature = 2.0
[md.pair]
style = "lj"
cutoff = 2.3
skin = 0.25
[md.ensemble]
%s
[md.analysis.rdf]
every = 7
[output]
observables_every = 7
frames_every = 14
fields = ["position", "velocity", "image", "force"]
"""
IONS = """
[run]
solver = "md"
[md]
timestep = 0.002
steps = %d
[[md.species]]
name = "P"
fraction = 0.5
charge = 1.2
[[md.species]]
name = "N"
fraction = 0.5
charge = -1.2
[md.initial]
lattice = "fcc"
cells = [4, 4, 4]
density = 0.7
temperature = 1.2
[md.pair]
cutoff = 2.2
skin = 0.1
[[md.pair.coefficients]]
species = ["P", "P"]
epsilon = 1
sigma = 1
[[md.pair.coefficients]]
species = ["N", "N"]
epsilon = 1
sigma = 0.9
[md.coulomb]
method = "pme"
accuracy = 1e-2
[md.ensemble]
type = "npt"
barostat = "mtk"
pressure = 1
temperature = 1.2
pressure_relaxation = 0.5
relaxation = 0.2
[output]
observables_every = 6
fields = ["position", "velocity", "image", "force"]
"""
# Friction and noise between pairs; and Brownian motion, with groups by place.
FLUID = """
[run]
solver = "md"
[md]
timestep = 0.02
steps = %d
[md.initial]
lattice = "sc"
cells = [6, 6, 6]
density = 3
temperature = 1
overlap = 0
[md.pair]
style = "dpd"
cutoff = 1
skin = 0.3
[[md.pair.coefficients]]
species = ["A", "A"]
repulsion = 25
[md.ensemble]
type = "dpd"
gamma = 4.5
temperature = 1
[output]
observables_every = 6
fields = ["position", "velocity", "image", "force"]
"""
COLLOIDS = """
[run]
solver = "md"
[md]
timestep = 0.001
steps = %d
[md.initial]
lattice = "fcc"
cells = [4, 4, 4]
density = 0.5
[md.pair]
cutoff = 2.3
skin = 0.3
[[md.group]]
name = "slow"
region = "sphere"
center = [4, 4, 4]
radius = 2
friction = 40
[[md.group]]
name = "belt"
action = "move"
region = "box"
low = [0, 0, 0]
high = [9, 9, 1]
velocity = [1, 0, 0]
[md.ensemble]
type = "brownian"
temperature = 1
friction = 10
[output]
observables_every = 6
fields = ["position", "image", "force"]
"""
NVE = 'type = "nve"'
LANGEVIN = 'type = "langevin"\ntemperature = 1.5\nrelaxation = 0.5'
RISK = """
[run]
solver = "risk"
seed = 3
[risk]
paths = 1_572_864
variance_reduction = ["antithetic", "control"]
[[risk.factor]]
name = "A"
spot = 100.0
rate = 0.05
volatility = 0.2
[risk.portfolio]
file = "book.csv"
"""
BOOK = """id,type,factor,side,quantity,strike,maturity
a,european,A,call,25,100,1.0
"""
FEW_CELLS = ("output.observables_every=2", "output.frames_every=0")


def run(deck, out, *more, device="cuda", ranks=1, seed=1):
    tap.run(PROGRAM, "run", deck, "output.name=r", "--output", out, "-q",
            "checkpoint.keep=2", "--device", device, *more, ranks=ranks,
            env=tap.seeded(seed))


def numbers(out):
    """All that a run left: its results, and the state that it ended in."""
    def step(path):
        return int(os.path.getmtime(path) * 1e6)
    last = max(glob.glob(os.path.join(out, "r.ckpt.*.h5")), key=step)
    state = {n: v for n, v in mdrun.datasets(last).items()
             if n.startswith("state")}
    return mdrun.datasets(os.path.join(out, "r.h5")) | state


def differ(one, other):
    """The names of what differs in any bit or is missing."""
    a, b = numbers(one), numbers(other)
    return [n for n in sorted(set(a) | set(b))
            if n not in a or n not in b or a[n].shape != b[n].shape
            or a[n].tobytes() != b[n].tobytes()]


def worst(one, other, names):
    """The greatest difference of datasets whose names end so."""
    a, b = numbers(one), numbers(other)
    picked = [n for n in a if n.endswith(names)]
    tap.note(f"{len(picked)} datasets are compared")
    return max(mdrun.worst(b[n], a[n]) for n in picked) if picked else 1


def key(solver, n):
    return f"{solver}.steps={n}"


def check(what, solver, deck, total, first, *more, ranks=1):
    """The whole, and `first` steps and the rest."""
    whole, parts = f"{what}_whole", f"{what}_parts"
    run(deck, whole, *more, key(solver, total), ranks=ranks)
    run(deck, parts, *more, key(solver, first), ranks=ranks, seed=2)
    run(deck, parts, *more, key(solver, total), "--resume", "auto", ranks=ranks,
        seed=3)
    tap.is_(differ(whole, parts), [],
            f"{what}: {first} steps and the rest are the whole, bit by bit")


def cross(what, solver, deck, steps, names, bound, *more):
    """On the CPU, then on the card, then on the CPU again."""
    whole, parts = f"{what}_cpu", f"{what}_changes"
    run(deck, whole, *more, key(solver, steps[2]), device="cpu")
    run(deck, parts, *more, key(solver, steps[0]), device="cpu")
    run(deck, parts, *more, key(solver, steps[1]), "--resume", "auto")
    run(deck, parts, *more, key(solver, steps[2]), "--resume", "auto",
        device="cpu")
    tap.below(worst(whole, parts, names), bound,
              f"{what}: from the CPU to the card and back is the CPU's run")


# Of 40 steps, 23 lie between two builds of the list, and nothing is due there.
nve, langevin = (mdrun.write(f"md{n}.toml", MD % (40, text))
                 for n, text in enumerate((NVE, LANGEVIN)))
check("nve", "md", nve, 40, 23)
check("langevin in mixed precision", "md", langevin, 40, 23,
      'md.precision="mixed"')
for n in mdrun.rank_counts(2):
    check(f"nve on {n} ranks", "md", nve, 40, 23, ranks=n)
# Differences of 1e-15 grow by a factor of e in about a unit of time.
cross("nve", "md", nve, (15, 28, 40),
      ("position/value", "velocity/value", "energy/value"), 1e-10)
ions = mdrun.write("ions.toml", IONS % 24)
check("ions at constant pressure", "md", ions, 24, 15)
cross("ions", "md", ions, (8, 16, 24),
      ("position/value", "velocity/value", "energy/value", "box_x/value"), 1e-10)

# Goes over an edge's half, where images are counted anew, on the way.
sheared = mdrun.write("sheared.toml", MD % (40, NVE)
                      + "[domain]\ntilt = [3.5, 0, 1]\n"
                      "[md.deform]\nshear = 2.0\n")
check("sheared", "md", sheared, 40, 23)
cross("sheared", "md", sheared, (15, 28, 40),
      ("position/value", "velocity/value", "energy/value", "edges/value",
       "deform_work/value"), 1e-10)
fluid = mdrun.write("fluid.toml", FLUID % 24)
check("dpd", "md", fluid, 24, 15)
cross("dpd", "md", fluid, (8, 16, 24),
      ("position/value", "velocity/value", "energy/value"), 1e-10)
cross("brownian", "md", mdrun.write("colloids.toml", COLLOIDS % 24), (8, 16, 24),
      ("position/value", "energy/value"), 1e-10)

# Of metals the card has tables and slopes beside particles, all made anew.
cross("copper", "md", os.path.join(tap.TOP_SRCDIR, "inputs/md/copper.toml"),
      (7, 14, 21), ("position/value", "velocity/value", "energy/value"), 1e-10,
      "output.observables_every=7", "output.frames_every=14",
      "md.initial.cells=[4,4,4]", 'md.analysis.rdf.range="6 angstrom"')
# A melt of chains; groups of rigid bonds on a mesh. Their lists are built every few steps.
CHAINS = os.path.join(mdrun.INPUTS, "chains.toml")
RARE = ("output.observables_every=7", "output.frames_every=14",
        'output.fields=["position","velocity"]')
check("chains", "md", CHAINS, 40, 23, *RARE)
rigid.data_file("bodies.data", n=3, charge=0.3)
BODIES = mdrun.write("bodies.toml", rigid.DECK.format(
    file="bodies.data", epsilon=0.2, cutoff=5,
    more="[md.coulomb]\nmethod = \"pme\"\naccuracy = 1e-2\n"))
for n in mdrun.rank_counts(2):
    check(f"rigid groups with charges on {n} ranks", "md", BODIES, 40, 23, *RARE, ranks=n)
cross("rigid groups with charges", "md", BODIES, (15, 28, 40),
      ("position/value", "velocity/value", "energy/value"), 1e-10, *RARE)


def flow(name):
    return os.path.join(tap.TOP_SRCDIR, "inputs", "fluid", name + ".toml")


SMALL = (*FEW_CELLS, "domain.cells=[8,8,8]")
check("taylor_green", "fluid", flow("taylor_green"), 6, 3, *SMALL)
check("channel, implicit", "fluid", flow("channel"), 6, 3, *SMALL,
      'fluid.diffusion="implicit"')
check("rayleigh_benard", "fluid", flow("rayleigh_benard"), 6, 3, *FEW_CELLS,
      "domain.cells=[10,1,8]")
for n in mdrun.rank_counts(2):
    check(f"channel on {n} ranks", "fluid", flow("channel"), 6, 3, *SMALL,
          ranks=n)
cross("channel", "fluid", flow("channel"), (2, 4, 6),
      ("fluid/u", "fluid/v", "fluid/w", "energy/value"), 1e-10, *SMALL)

# A valuation in three steps of 524,288 paths: bit by bit, since its sums are
# exact, in whatever order they are taken.
risk = mdrun.write("risk.toml", RISK)
mdrun.write("book.csv", BOOK)
run(risk, "risk_cpu", device="cpu")
for n, (paths, device) in enumerate(((524288, "cpu"), (1048576, "cuda"),
                                     (1572864, "cpu"))):
    run(risk, "risk_changes", f"risk.paths={paths}", "--resume", "auto",
        device=device, seed=n)
tap.is_(differ("risk_cpu", "risk_changes"), [],
        "risk: from the CPU to the card and back is the CPU's run, bit by bit")
tap.done()
