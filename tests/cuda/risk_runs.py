# timeout: 600
"""Whole valuations on the simulated card leave the files that the CPU leaves, to
the last bit, on one rank and on two: all payoffs on three models, mirrored
paths, sensitivities, early exercise, Sobol's points, value at risk.
"""
import hashlib
import os

import tap

h5py, numpy = tap.need("h5py", "numpy")

PROGRAM = tap.simulated_card()
# The order of blocks and threads changes from run to run; the memory need not
# be closed at every wait to see that bits are the same.
os.environ["CUDASIM_PROTECT"] = "0"

DECK = """
[run]
solver = "risk"
[risk]
paths = %d
%s
[[risk.factor]]
name = "A"
spot = 100.0
rate = 0.04
volatility = 0.2
%s
[risk.portfolio]
file = "book.csv"
"""
OTHERS = """
[[risk.factor]]
name = "H"
model = "heston"
spot = 50.0
rate = 0.05
variance = 0.04
kappa = 1.5
theta = 0.06
xi = 0.5
rho = -0.7
steps_per_year = 6
[[risk.factor]]
name = "M"
model = "merton"
spot = 20.0
rate = 0.02
volatility = 0.2
jump_rate = 1.0
jump_mean = -0.1
jump_volatility = 0.15
[risk.correlation]
matrix = [[1.0, 0.4, 0.1], [0.4, 1.0, 0.2], [0.1, 0.2, 1.0]]
"""
MIRRORED = """
engines = ["price"]
variance_reduction = ["antithetic", "control"]
"""
SOBOL = """
engines = ["price", "greeks", "var"]
variance_reduction = ["none"]
sampling = "sobol"
replicates = 8
[risk.var]
horizon = 0.1
paths = 4096
"""
BOOK = """id,type,factor,side,quantity,strike,maturity,barrier,kind,rebate,monitoring,fixings,weights,exercise_dates
a,forward,A,,100,101.5,1.0,,,,,,,
b,european,A,put,60,98,0.5,,,,,,,
"""
MORE = """c,asian-arithmetic,A,call,25,100,1.0,,,,,4,,
d,barrier,A,call,40,100,1.0,130,up-and-out,1,continuous,,,
e,digital,H,call,500,52,0.5,,,,,,,
f,european,H,put,60,48,0.75,,,,,,,
g,lookback-fixed,M,put,3,20,1.0,,,,continuous,,,
h,basket,A;H;M,call,2,60,1.0,,,,,,0.3;0.5;1,
i,american,A,put,10,105,1.0,,,,,,,4
j,best-of,A;H,call,2,60,1.0,,,,,,1;2,
k,american,A;H;M,call,1,60,1.0,,basket,,,,0.3;0.5;1,3
"""


def digest(name):
    """Of all numbers below /risk and of the observables."""
    h = hashlib.sha256()
    n = 0

    def add(path, item):
        nonlocal n
        if isinstance(item, h5py.Dataset):
            h.update(path.encode())
            h.update(numpy.asarray(item[()]).tobytes())
            n += 1
    with h5py.File(name + ".h5") as file:
        file["risk"].visititems(add)
        file["observables"].visititems(add)
    return n, h.hexdigest()


def run(name, device, ranks=1):
    done = tap.run(PROGRAM, "run", "deck.toml", "--device", device,
                   f'output.name="{name}"', ranks=ranks)
    tap.note(done.stdout.splitlines()[0])
    return digest(name)


def same(what, counts, paths, how, factors, book):
    with open("book.csv", "w") as file:
        file.write(book)
    with open("deck.toml", "w") as file:
        file.write(DECK % (paths, how, factors))
    name = what.split()[0]
    want = run(name, "cpu")
    tap.ok(want[0] > 10, f"{what}: the CPU leaves numbers ({want[0]} tables)")
    for ranks in counts:
        if ranks > 1 and not tap.have_mpi():
            tap.skip(1, "no MPI: two ranks")
            continue
        tap.is_(run(f"{name}{ranks}", "cuda", ranks), want,
                f"{what}: the card leaves the same bits, {ranks} rank(s)")


same("all payoffs, mirrored", (1, 2), 8_192, MIRRORED, OTHERS, BOOK + MORE)
same("points of Sobol, sensitivities and value at risk", (2,), 16_384, SOBOL, "",
     BOOK)
tap.done()
