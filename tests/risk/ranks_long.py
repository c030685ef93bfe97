# timeout: 3000
"""Prices, Greeks, losses and exposures: the same bits on 1 to 4 ranks, 1 to 3
threads, and for a run that goes on with other ranks. Losses of 200 positions on
65,536 paths do not fit one rank's memory of a group, but that of two."""
import hashlib
import os

import tap

h5py, numpy = tap.need("h5py", "numpy")

DECK = """
[run]
solver = "risk"
seed = 7
[risk]
engines = ["price", "greeks", "var", "exposure"]
paths = 1_200_000
[[risk.factor]]
name = "A"
spot = 100.0
rate = 0.03
volatility = 0.2
[[risk.factor]]
name = "B"
spot = 100.0
rate = 0.03
volatility = 0.3
[risk.var]
horizon = 0.04
paths = 65_536
levels = [0.975, 0.99]
[risk.exposure]
dates = [0.25, 0.5]
paths = 8192
hazard = 0.02
[risk.portfolio]
file = "many.csv"
[checkpoint]
every = 1000
[output]
name = "NAME"
"""


def digest(name):
    h = hashlib.sha256()

    def add(path, item):
        if isinstance(item, h5py.Dataset):
            h.update(path.encode())
            h.update(numpy.asarray(item[()]).tobytes())
    with h5py.File(name + ".h5") as file:
        file["risk"].visititems(add)
    return h.hexdigest()


def run(name, ranks=1, threads=1, *arguments):
    with open(name + ".toml", "w") as file:
        file.write(DECK.replace("NAME", name))
    tap.warpdeck("run", name + ".toml", *arguments, ranks=ranks,
                 env={**os.environ, "OMP_NUM_THREADS": str(threads)})


with open("many.csv", "w") as book:
    book.write("id,type,factor,side,quantity,strike,maturity\n")
    for i in range(200):
        book.write(f"p{i},european,{'AB'[i % 2]},{('call', 'put')[i // 2 % 2]},"
                   f"{i % 7 + 1},{80 + i % 41},{0.25 * (i % 4 + 1)}\n")
run("one")
first = digest("one")
for threads in (2, 3):
    run("threads", 1, threads, "--overwrite")
    tap.is_(digest("threads"), first, f"{threads} threads leave the bits of one")
if not tap.have_mpi():
    tap.skip(4, "built without MPI")
    tap.done()
for ranks in (2, 3, 4):
    run("ranks", ranks, 1, "--overwrite")
    tap.is_(digest("ranks"), first, f"{ranks} ranks leave the bits of one")
# Whole batches, so that what follows begins where the first run's did.
run("on", 4, 1, "risk.paths=524288")
run("on", 2, 1, "--resume", "auto", "risk.paths=1048576")
run("on", 3, 1, "--resume", "auto")
tap.is_(digest("on"), first, "a run of 4, then 2, then 3 ranks leaves the bits "
        "of one that was not interrupted")
tap.done()
