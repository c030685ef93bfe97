"""The same bits on any number of ranks and threads, and after a stop."""
import hashlib
import os

import tap

h5py, numpy = tap.need("h5py", "numpy")

DECK = """
[run]
solver = "risk"
seed = 0
[risk]
paths = 1_000_000
variance_reduction = ["antithetic", "control"]
[[risk.factor]]
name = "A"
spot = 100.0
rate = [0.05, 0.04]
rate_times = 0.5
volatility = 0.2
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
steps_per_year = 8
[[risk.factor]]
name = "M"
model = "merton"
spot = 20.0
rate = 0.02
dividend = 0.01
volatility = 0.2
jump_rate = 1.0
jump_mean = -0.1
jump_volatility = 0.15
[risk.correlation]
matrix = [[1.0, 0.4, 0.1], [0.4, 1.0, 0.2], [0.1, 0.2, 1.0]]
[risk.portfolio]
file = "book.csv"
[output]
name = "NAME"
"""

BOOK = """id,type,factor,side,quantity,strike,maturity,barrier,kind,rebate,monitoring,fixings,weights
a,forward,A,,100,101.5,1.0,,,,,,
b,asian-arithmetic,A,call,25,100,1.0,,,,,12,
c,barrier,A,call,40,100,1.0,130,up-and-out,1,continuous,,
d,digital,H,call,500,52,0.5,,,,,,
"e, protective",european,H,put,60,48,0.75,,,,,,
f,lookback-fixed,M,put,3,20,1.0,,,,continuous,,
g,basket,A;H;M,call,2,60,1.0,,,,,,0.3;0.5;1
h,stock,M,,-7,,,,,,,,
"""


def digest(name):
    """Of all numbers below /risk and of the observables."""
    h = hashlib.sha256()

    def add(path, item):
        if isinstance(item, h5py.Dataset):
            h.update(path.encode())
            h.update(numpy.asarray(item[()]).tobytes())
    with h5py.File(name + ".h5") as file:
        file["risk"].visititems(add)
        file["observables"].visititems(add)
    return h.hexdigest()


def run(name, ranks=1, threads=1, *arguments, **more):
    with open(name + ".toml", "w") as file:
        file.write(DECK.replace("NAME", name))
    return tap.warpdeck("run", name + ".toml", *arguments, ranks=ranks,
                        env={**os.environ, "OMP_NUM_THREADS": str(threads)},
                        **more)


with open("book.csv", "w") as book:
    book.write(BOOK)
run("one")
first = digest("one")
run("threads", threads=2)
tap.is_(digest("threads"), first, "two threads leave the bits of one")
if tap.have_mpi():
    for ranks in (2, 3, 4):
        run(f"ranks{ranks}", ranks)
        tap.is_(digest(f"ranks{ranks}"), first,
                f"{ranks} ranks leave the bits of one")
else:
    tap.skip(3, "built without MPI")

# Ended after the first batch, and gone on with.
run("half", 1, 1, "risk.paths=524288", "checkpoint.every=1000")
tap.ok(digest("half") != first, "half a run leaves other bits")
run("half", 1, 2, "--resume", "auto", "checkpoint.every=1000")
tap.is_(digest("half"), first, "a run that goes on leaves the bits of one that "
        "was not interrupted")
with open("book.csv", "a") as book:
    book.write("i,stock,A,,1,,,,,,,,\n")
changed = run("half", 1, 1, "--resume", "auto", "checkpoint.every=1000",
              "risk.paths=2_000_000", check=False)
tap.ok(changed.returncode == 2 and
       "book.csv has changed since the checkpoint" in changed.stderr,
       "a portfolio that has changed is refused by its name")
tap.note(changed.stderr)
with open("book.csv", "w") as book:
    book.write(BOOK + "\n")
forced = run("half", 1, 1, "--resume", "auto", "checkpoint.every=1000",
             "risk.paths=2_000_000", "--force", check=False)
tap.ok(forced.returncode == 0 and
       "book.csv has changed since the checkpoint" in forced.stdout +
       forced.stderr, "--force goes on, with a warning")

with h5py.File("one.h5") as file:
    method = [m.decode() for m in file["risk/instruments/method"][:]]
    ids = [m.decode() for m in file["risk/instruments/id"][:]]
    value = file["risk/instruments/value"][:]
    total = file["risk/portfolio/value"][0]
tap.is_(ids[4], "e, protective", "an id may hold a comma")
tap.ok(method[7] == "known" and value[7] == -140.0, "a stock needs no paths")
tap.near(float(value.sum()), float(total), 40.0,
         "values of positions, with controls, add up to that of all within "
         "errors")
tap.done()
