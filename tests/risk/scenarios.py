"""Historical value at risk and stress against numbers made here."""
import math
import statistics

import tap

tap.need("h5py", "numpy")
import h5py  # noqa: E402
import numpy as np  # noqa: E402

DECK = """[run]
solver = "risk"
[risk]
paths = 4096
engines = ["price", "var"]
[risk.var]
horizon = 0.04
levels = [0.9, 0.975]
paths = 4096
[risk.scenarios]
history = "history.csv"
stress = "stress.csv"
shocks = "%s"
"""
for name in "AB":
    DECK += f"""[[risk.factor]]
name = "{name}"
spot = 100.0
rate = 0.03
volatility = 0.2
"""
DECK += """[[risk.instrument]]
id = "stock"
type = "stock"
factor = "A"
quantity = 3
[[risk.instrument]]
id = "put"
type = "european"
side = "put"
factor = "B"
strike = 95.0
maturity = 0.5
quantity = -10
"""


def put(spot, strike=95.0, rate=0.03, sigma=0.2, t=0.5):
    law, s = statistics.NormalDist(), sigma * math.sqrt(t)
    d = (math.log(spot / strike) + (rate + sigma * sigma / 2) * t) / s
    return strike * math.exp(-rate * t) * law.cdf(s - d) - spot * law.cdf(-d)


def run(history, stress, shocks="relative"):
    for name, text in (("history.csv", history), ("stress.csv", stress),
                       ("case.toml", DECK % shocks)):
        with open(name, "w") as file:
            file.write(text)
    return tap.warpdeck("run", "case.toml", "--overwrite", check=False)


rng = np.random.default_rng(3)
moves = rng.normal(0, 0.02, (250, 2))
HISTORY = "B,A\n" + "".join(f"{b!r},{a!r}\n" for a, b in moves.tolist())
STRESS = 'name,A\n"crash, of A",-0.3\nboom,0.2\n'
for shocks, spot in (("relative", lambda x: 100 * (1 + x)),
                     ("log", lambda x: 100 * math.exp(x)),
                     ("absolute", lambda x: 100 + x)):
    said = run(HISTORY, STRESS, shocks)
    with h5py.File("case.h5") as file:
        g = file["risk/scenarios"]
        pnl = g["history/pnl"][:]
        var = {k: v[:] for k, v in g["var"].items()}
        stress = g["stress/pnl"][:]
        parts = {k: v[:] for k, v in g["stress_instruments"].items()}
    want = np.array([3 * (spot(a) - 100) - 10 * (put(spot(b)) - put(100.0))
                     for a, b in moves])
    tap.ok(abs(pnl - want).max() < 1e-9,
           f"{shocks}: each day's profit is that of full revaluation")
    loss = np.sort(-want)
    # 250 days: the 225th and the ceil(243.75) = 244th loss; the worst 6.25.
    tap.near(var["var"][0], loss[224], 1e-9, f"{shocks}: VaR 90 %")
    tap.near(var["var"][1], loss[243], 1e-9, f"{shocks}: VaR 97.5 %")
    tap.near(var["expected_shortfall"][1],
             (loss[244:].sum() + 0.25 * loss[243]) / 6.25, 1e-9,
             f"{shocks}: expected shortfall, one day in part")
    tap.ok(abs(stress - [3 * (spot(-0.3) - 100), 3 * (spot(0.2) - 100)]).max()
           < 1e-9 and abs(parts["pnl"][1::2]).max() < 1e-9 and
           parts["name"][0].decode() == "crash, of A",
           f"{shocks}: stress by name and position; a factor left out stays")
# At least the confidence, and not much more.
low, high = var["var_low"][0], var["var_high"][0]
below = int((loss < low - 1e-12).sum()), int((loss < high - 1e-12).sum())
cover = sum(math.comb(250, i) * 0.9 ** i * 0.1 ** (250 - i)
            for i in range(below[0] + 1, below[1] + 1))
tap.ok(0.95 <= cover < 0.975, f"the interval holds VaR with chance {cover:.4f}")
tap.ok("historical VaR" in said.stdout and "crash, of A" in said.stdout,
       "the terminal shows both")

for what, history, stress, text in (
        ("an unknown factor", "A,Z\n0.1,0.1\n", STRESS,
         "history.csv:1:3: error: there is no factor 'Z'"),
        ("a price below 0", "A\n0.1\n-1.5\n", STRESS, "history.csv:3:1: error"),
        ("no number", "A\nnan\n", STRESS, "history.csv:2:1: error"),
        ("no names", HISTORY, "A\n0.1\n", "stress.csv:1:1: error: column"),
        ("an empty name", HISTORY, "name,A\n,0.1\n", "stress.csv:2:1: error"),
        ("no rows", "A\n", STRESS, "there are no scenarios")):
    said = run(history, stress)
    if not tap.ok(said.returncode == 2 and text in said.stderr,
                  f"{what}: refused with its place"):
        tap.note(said.stderr)
tap.done()
