"""Over 200 seeds the 95 % intervals of a price and of VaR hold the true value
as often as they say: 90 to 99 % of them (a right one is outside 1 time in 600)."""
import tap

tap.need("h5py")
import h5py  # noqa: E402
import risk_cases as rc  # noqa: E402

SEEDS = 200
DECK = """[run]
solver = "risk"
[risk]
paths = 8192
engines = ["price", "var"]
[risk.var]
horizon = %r
levels = [0.99]
paths = 8192
[[risk.factor]]
name = "f"
spot = 100.0
rate = 0.05
volatility = 0.2
[[risk.instrument]]
id = "put"
type = "european"
factor = "f"
side = "put"
quantity = 1.0
strike = 100.0
maturity = 1.0
""" % (10 / 252)

price = [v for _, p, words, v in rc.rows("bs_european")
         if "put" in words and p["K"] == 100 and p["T"] == 1][0]
var = rc.rows("var_option_fullreval", quantity="VaR_0.99")[0][3]
with open("coverage.toml", "w") as deck:
    deck.write(DECK)
held = [0, 0]
for seed in range(SEEDS):
    tap.warpdeck("run", "coverage.toml", "--overwrite", f"run.seed={seed}")
    with h5py.File("coverage.h5") as file:
        p, v = file["risk/portfolio"], file["risk/var"]
        held[0] += abs(p["value"][0] - price) <= 1.96 * p["standard_error"][0]
        held[1] += v["var_low"][0] <= var <= v["var_high"][0]
for name, n in zip(("price", "VaR 99 %"), held):
    tap.ok(0.90 * SEEDS <= n <= 0.99 * SEEDS,
           f"the interval of the {name} holds the true value {n} times of "
           f"{SEEDS}")
tap.done()
