# timeout: 1800
"""The error of a price falls as N^-0.5 up to 1e7 paths: root mean square, over
64 seeds, of the distance from the closed form."""
import math

import tap

h5py, numpy = tap.need("h5py", "numpy")

SEEDS = 64
PATHS = [4096 * 4 ** k for k in range(0, 6)] + [4096 * 2560]
DECK = """
[run]
solver = "risk"
[risk]
paths = 4096
variance_reduction = ["none"]
[[risk.factor]]
name = "A"
spot = 100.0
rate = 0.05
volatility = 0.2
[[risk.instrument]]
id = "call"
type = "european"
factor = "A"
quantity = 1
side = "call"
strike = 105.0
maturity = 1.0
"""


def phi(x):
    return math.erfc(-x / math.sqrt(2)) / 2


def price(paths, seed):
    """(value, its error) of a run."""
    tap.warpdeck("run", "slope.toml", "--overwrite", f"risk.paths={paths}",
                 f"run.seed={seed}")
    with h5py.File("slope.h5") as file:
        table = file["risk/instruments"]
        return table["price"][0], table["price_error"][0]


with open("slope.toml", "w") as deck:
    deck.write(DECK)
D1 = (math.log(100 / 105) + 0.07) / 0.2
TRUE = 100 * phi(D1) - 105 * math.exp(-0.05) * phi(D1 - 0.2)
found = []
for n in PATHS:
    runs = numpy.array([price(n, seed) for seed in range(SEEDS)])
    off = math.sqrt(numpy.mean((runs[:, 0] - TRUE) ** 2))
    said = math.sqrt(numpy.mean(runs[:, 1] ** 2))
    found.append(off)
    # 64 numbers tell their root mean square to 9 %: 3.5 times that.
    tap.ok(abs(off / said - 1) < 0.31, f"of {n} paths the prices are off by "
           f"{off:.2g}, and say {said:.2g}")
slope = numpy.polyfit(numpy.log(PATHS), numpy.log(found), 1)[0]
# Each point is known to 9 %, over a factor of 2560: the slope to 0.014.
tap.ok(abs(slope + 0.5) <= 0.05, f"the error falls as N^{slope:.3f} up to "
       f"{PATHS[-1]} paths")
tap.done()
