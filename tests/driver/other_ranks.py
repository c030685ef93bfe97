# timeout: 600
"""A run goes on with other ranks: 4, then 2, then 3, of each solver, against one
that was not stopped, on 1 rank. Sums over particles and cells come in another
order then, and rounding grows as the system makes it grow; risk adds in an order
of its own."""

import tap

h5py, numpy = tap.need("h5py", "numpy")
if not tap.have_mpi():
    tap.skip_all("this build is without MPI")

MD = """
[run]
solver = "md"
[md]
timestep = 0.003
steps = 90
[md.initial]
lattice = "fcc"
cells = [6, 6, 6]
density = 0.8442
temperature = 1.44
[md.pair]
cutoff = 2.5
[output]
observables_every = 10
frames_every = 30
fields = ["position", "velocity", "image"]
[checkpoint]
every = 30
"""
FLUID = """
[run]
solver = "fluid"
[domain]
cells = [16, 16, 18]
size = [6.283185307179586, 3.141592653589793, 2.0]
[fluid]
viscosity = 0.01
steps = 30
timestep = 0.002
[fluid.boundary.z]
type = "wall"
[fluid.initial]
profile = "channel"
perturbation = 0.3
[fluid.forcing]
bulk_velocity = [1.0, 0.0, 0.0]
[fluid.statistics]
every = 5
[output]
observables_every = 5
frames_every = 10
[checkpoint]
every = 10
"""
RISK = """
[run]
solver = "risk"
seed = 3
[risk]
paths = 3_145_728
[[risk.factor]]
name = "A"
spot = 100.0
rate = 0.05
volatility = 0.2
[risk.portfolio]
file = "book.csv"
[checkpoint]
every = 1
"""
# Deck, key and values of where a run ends, and how far numbers may differ, as a
# share of the greatest of their dataset, which is of the order of 1. Of
# Lennard-Jones atoms 90 steps of 0.003 let a difference grow by a factor of some
# ten; a flow's steps are implicit in their pressure, solved to rounding.
SOLVERS = {"md": (MD, "md.steps", (30, 60, 90), 1e-10),
           "fluid": (FLUID, "fluid.steps", (10, 20, 30), 1e-10),
           "risk": (RISK, "risk.paths", (1_048_576, 2_097_152, 3_145_728), 0)}
with open("book.csv", "w", encoding="utf-8") as book:
    book.write("id,type,factor,side,quantity,strike,maturity\n"
               "a,european,A,call,25,100,1.0\n")


def values(path):
    found = {}

    def visit(name, item):
        if (isinstance(item, h5py.Dataset) and item.dtype.kind in "fiu"
                and not name.startswith("run")):
            found[name] = item[...]

    with h5py.File(path) as f:
        f.visititems(visit)
    return found


def distance(one, other):
    """The greatest of all datasets, as a share of the dataset's greatest."""
    a, b = values(one), values(other)
    if sorted(a) != sorted(b):
        tap.note(f"{sorted(set(a) ^ set(b))}")
        return numpy.inf
    worst = 0.0
    for name, x in a.items():
        y = b[name]
        if x.shape != y.shape:
            tap.note(f"{name}: {x.shape}, {y.shape}")
            return numpy.inf
        if x.size == 0 or numpy.array_equal(x, y):
            continue
        # Some are nothing but rounding: momentum, divergence, flow through
        # walls. Others are small differences of powers, and lose digits.
        size = max(abs(x).max(), abs(y).max(), 1.0)
        if name.endswith(("_skewness", "_flatness")):
            size *= 1e5
        worst = max(worst, float(abs(x.astype(float) - y).max() / size))
    return worst


for solver, (deck, key, ends, tolerance) in SOLVERS.items():
    with open(f"{solver}.toml", "w", encoding="utf-8") as out:
        out.write(deck)
    command = (tap.WARPDECK, "run", f"{solver}.toml", "output.name=r", "-q")
    tap.run(*command, "--output", f"{solver}_whole")
    for n, end in zip((4, 2, 3), ends):
        tap.run(*command, "--output", solver, "--resume", "auto",
                f"{key}={end}", ranks=n)
    with h5py.File(f"{solver}/r.h5") as f:
        told = [int(f["run/resumed"][k].attrs["step"])
                for k in sorted(f["run/resumed"])]
    tap.is_(len(told), 2, f"{solver}: it went on twice, at {told}")
    far = distance(f"{solver}_whole/r.h5", f"{solver}/r.h5")
    tap.ok(far <= tolerance, f"{solver}: 4, 2, then 3 ranks end where 1 rank "
           f"does ({far:.2g} <= {tolerance:g})")
tap.done()
