"""Exposure by date, CVA and DVA against values in closed form, and what is
refused."""
import math
import re

import tap

tap.need("h5py", "numpy")
import h5py  # noqa: E402
import numpy as np  # noqa: E402
import risk_cases as rc  # noqa: E402

HEAD = """[run]
solver = "risk"
seed = %d
[risk]
paths = 4096
engines = ["price", "exposure"]
[risk.exposure]
dates = %s
levels = [0.95, 0.99]
hazard = 0.02
recovery = 0.4
paths = %d
"""
FACTOR = """[[risk.factor]]
name = "A"
spot = 100.0
rate = 0.03
volatility = 0.25
"""
FORWARD = """[[risk.instrument]]
id = "%s"
type = "forward"
factor = "A"
quantity = %g
strike = 100.0
maturity = 5.0
netting = "%s"
"""
HESTON = """[[risk.factor]]
name = "H"
model = "heston"
spot = 50.0
rate = 0.05
variance = 0.04
kappa = 1.5
theta = 0.06
xi = 0.5
rho = -0.7
[[risk.instrument]]
id = "digital"
type = "digital"
side = "put"
factor = "H"
quantity = 500
strike = 48.0
maturity = 1.0
"""
QUARTERS = [0.25 * k for k in range(1, 21)]


def run(name, text, *overrides, ranks=1):
    """{table: {column: numbers}}"""
    with open(name + ".toml", "w") as file:
        file.write(text)
    tap.warpdeck("run", name + ".toml", "--overwrite", *overrides, ranks=ranks)
    with h5py.File(name + ".h5") as file:
        return {table: {k: v[:] for k, v in columns.items()}
                for table, columns in file["risk"].items()}


def of_set(tables, name, table="exposure"):
    t = tables[table]
    rows = t["set"] == name.encode()
    return {k: v[rows] for k, v in t.items()}


def within(got, want, error, sentence, errors=3.5):
    """Arrays: of a hundred right numbers one in twenty runs has one outside 3.5
    standard errors, and the seed is fixed."""
    off = np.abs(np.asarray(got) - want) / np.maximum(error, 1e-300)
    if not tap.ok(off.max() <= errors, sentence):
        tap.note(f"errors away: {np.round(off, 2)}")


# ---- a forward, in closed form

def forward():
    t = run("forward", HEAD % (11, QUARTERS, 200_000) + FACTOR +
            FORWARD % ("f", 1, "bank"))
    x = of_set(t, "bank")
    for epe, column in (("EPE_undiscounted", "epe"), ("ENE_undiscounted", "ene"),
                        ("PFE_0.95", "pfe_0.95"), ("PFE_0.99", "pfe_0.99")):
        at, want = [], []
        for years in ("0.25", "1", "2", "3", "4", "5"):
            want.append(rc.rows("exposure_forward",
                                quantity=f"{epe}_t={years}")[0][3])
            at.append(int(np.argmin(abs(x["date"] - float(years)))))
        within(x[column][at], want, x[column + "_error"][at],
               f"forward: {epe} from 0.25 to 5 years")
        tap.below((x[column + "_error"][at] / want).max(), 0.01,
                  f"forward: the error of {epe} means something")
    tap.near(abs(x["epe"] - x["ene"] - x["value"]).max(), 0, 1e-9,
             "forward: EPE - ENE is the mean value, on the same paths")
    growth = 100 * np.exp(0.03 * x["date"]) - 100 * np.exp(
        -0.03 * (5 - x["date"]))
    within(x["value"], growth, x["value_error"],
           "forward: EPE - ENE is the forward's value")
    tap.near(abs(x["discounted_epe"] - np.exp(-0.03 * x["date"]) *
                 x["epe"]).max(), 0, 1e-9, "forward: discounted with the rate")
    c = of_set(t, "bank", "cva")
    want = next(row[3] for row in rc.rows("cva_forward",
                                          quantity="CVA_bucket_end")
                if "20" in row[2])
    within(c["cva"], want, c["cva_error"], "forward: CVA of 20 buckets")
    tap.below(c["cva_error"][0] / want, 0.005, "forward: and it is sharp")
    tap.is_(c["dva"][0], 0.0, "forward: without a hazard of one's own no DVA")
    return want


def seeds(want):
    """Of 12 intervals of 95 %, 9 or more hold the true value with chance
    0.998."""
    held = 0
    for seed in range(12):
        t = run("seeds", HEAD % (seed, QUARTERS, 8192) + FACTOR +
                FORWARD % ("f", 1, "bank"))
        c = of_set(t, "bank", "cva")
        held += abs(c["cva"][0] - want) < 1.96 * c["cva_error"][0]
    if not tap.ok(held >= 9, "CVA's intervals of 95 % hold it, over seeds"):
        tap.note(f"{held} of 12")


# ---- netting sets

SETS = """[[risk.netting]]
name = "long"
hazard = [0.01, 0.05]
hazard_times = [2.0]
[[risk.netting]]
name = "short"
[[risk.netting]]
name = "flat"
recovery = 0.0
"""


def survival(t):
    return np.exp(-np.where(t < 2, 0.01 * t, 0.02 + 0.05 * (t - 2)))


def netting():
    text = (HEAD.replace("[risk.exposure]",
                         "[risk.exposure]\nown_hazard = 0.02")
            % (3, [1.0, 2.0, 3.0, 5.0], 20_000) + FACTOR + SETS)
    for name, quantity, where in (("a", 2, "long"), ("b", -2, "short"),
                                  ("c", 2, "flat"), ("d", -2, "flat")):
        text += FORWARD % (name, quantity, where)
    t = run("netting", text)
    long, short, flat, whole = (of_set(t, k) for k in
                                ("long", "short", "flat", "all"))
    cva = {k: of_set(t, k, "cva") for k in ("long", "short", "flat", "all")}
    tap.ok(np.all(flat["epe"] == 0) and np.all(flat["pfe_0.99"] == 0) and
           cva["flat"]["cva"][0] == 0,
           "a long and a short position in one set owe nothing")
    tap.ok(np.array_equal(long["epe"], short["ene"]) and
           np.array_equal(long["ene"], short["epe"]),
           "what one side expects to get, the other expects to pay")
    tap.is_(cva["short"]["cva"][0], cva["long"]["dva"][0],
            "DVA is the other side's CVA")
    tap.near(abs(whole["epe"] - long["epe"] - short["epe"]).max(), 0, 1e-9,
             "between sets nothing is netted")
    q = survival(np.append(0, long["date"]))
    tap.near(cva["long"]["cva"][0],
             0.6 * np.sum(long["discounted_epe"] * (q[:-1] - q[1:])), 1e-9,
             "CVA of a piecewise hazard is the sum over dates")
    tap.near(cva["all"]["cva"][0], cva["long"]["cva"][0] +
             cva["short"]["cva"][0], 1e-9, "CVA of all is the sum of the sets'")
    tap.ok(cva["all"]["cva_error"][0] < cva["long"]["cva_error"][0] +
           cva["short"]["cva_error"][0],
           "its error is that of the paths' sums, not the sum of errors")


# ---- options: bought, they are worth what they may bring

OPTIONS = FACTOR + """[[risk.factor]]
name = "H"
model = "heston"
spot = 50.0
rate = 0.03
variance = 0.04
kappa = 1.5
theta = 0.06
xi = 0.5
rho = -0.7
steps_per_year = 32
"""
POSITION = """[[risk.instrument]]
id = "%s"
netting = "%s"
quantity = 1
side = "call"
maturity = %g
"""
KINDS = {
    "european": ("A", 'type = "european"\nstrike = 100.0\n'),
    "heston": ("H", 'type = "european"\nstrike = 50.0\n'),
    "asian": ("A", 'type = "asian-arithmetic"\nstrike = 100.0\nfixings = 8\n'),
    "up-and-out": ("A", 'type = "barrier"\nstrike = 100.0\nbarrier = 150.0\n'
                        'kind = "up-and-out"\nmonitoring = 8\n'),
    "up-and-in": ("A", 'type = "barrier"\nstrike = 90.0\nbarrier = 120.0\n'
                       'kind = "up-and-in"\nmonitoring = "continuous"\n'),
    "lookback": ("A", 'type = "lookback-floating"\nmonitoring = 8\n'),
    "bermudan": ("A", 'type = "bermudan"\nstrike = 100.0\nexercise_dates = 8\n'),
}


def options_text(paths, regression):
    text = (HEAD.replace("paths = 4096", "paths = %d" % (4 * paths))
            % (5, [0.25, 0.5, 1.0, 1.5], paths) +
            f"regression_paths = {regression}\n" + OPTIONS)
    for name, (factor, keys) in KINDS.items():
        text += POSITION % (name, name, 1.0) + f'factor = "{factor}"\n' + keys
    return text


def options():
    t = run("options", options_text(40_000, 40_000))
    names = [k.decode() for k in t["instruments"]["id"]]
    price = dict(zip(names, t["instruments"]["price"]))
    error = dict(zip(names, t["instruments"]["price_error"]))
    d1 = (0.03 + 0.5 * 0.25**2) / 0.25
    cdf = [0.5 * math.erfc(-d / math.sqrt(2)) for d in (d1, d1 - 0.25)]
    price["european"] = 100 * cdf[0] - 100 * math.exp(-0.03) * cdf[1]
    error["european"] = 0
    for name in KINDS:
        x = of_set(t, name)
        now = x["date"] <= 1
        room = np.sqrt(x["discounted_epe_error"]**2 + error[name]**2 +
                       x["revaluation_error"]**2)
        within(x["discounted_epe"][now], price[name], room[now],
               f"{name}: the discounted EPE is its value today")
        tap.ok(np.all(x["epe"][~now] == 0) and np.all(x["ene"] == 0),
               f"{name}: nothing is owed by its holder, nor after it has paid")
    how = {}
    for i, m, d in zip(*(t["exposure_instruments"][k] for k in
                         ("id", "revaluation", "date"))):
        how[i.decode(), d] = m.decode()
    tap.is_([how["european", 0.5], how["asian", 0.5], how["asian", 1.0],
             how["asian", 1.5]],
            ["closed form", "regressed", "paid on the date", "paid before"],
            "how each position was valued is said")


def heston():
    """A digital put of Heston's model, whose discounted mean at every date is
    its price, by inversion of the characteristic function. Its values at the
    dates have an error of their own, 0.3 % of the price from the paths that
    find their mean."""
    text = HEAD % (5, [0.25, 0.5], 50_000) + HESTON
    t = of_set(run("heston", text), "all")
    price = 140.862403
    within(t["value"] * t["discount"] / price, 1,
           np.hypot(t["value_error"] * t["discount"] / price, 0.004),
           "a regressed digital put keeps its discounted mean")


def ranks():
    text = options_text(16_384, 12_000)
    one = run("ranks", text)
    for n in (2, 3, 4):
        other = run("ranks", text, ranks=n)
        tap.ok(all(np.array_equal(v, other[k][c], equal_nan=v.dtype.kind == "f")
                   for k in one for c, v in one[k].items()),
               f"{n} ranks give the same bits")


# ---- what is refused

def refused(what, text, *overrides, change=("", "")):
    deck = HEAD % (1, [1.0, 2.0], 4096) + FACTOR + FORWARD % ("f", 1, "bank")
    with open("bad.toml", "w") as file:
        file.write(deck.replace(*change) if change[0] else deck)
    got = tap.warpdeck("run", "bad.toml", *overrides, check=False)
    if not tap.ok(got.returncode == 2 and re.search(text, got.stderr),
                  f"{what}: refused with a reason and status 2"):
        tap.note(f"status {got.returncode}, want {text!r}\n{got.stderr[-600:]}")


def bad_input():
    key = "risk.exposure."
    refused("a negative hazard", "hazard = -0.1: must be at least 0",
            key + "hazard=-0.1")
    refused("a recovery of 1", r"recovery = 1.*must be below 1|less than 1",
            key + "recovery=1.0")
    refused("a negative recovery", "must be at least 0", key + "recovery=-0.1")
    refused("dates that do not rise", "dates must rise: 1 comes after 2",
            key + "dates=[2.0,1.0]")
    refused("a date twice", "dates must rise", key + "dates=[1.0,1.0]")
    refused("today as a date", "must be greater than 0", key + "dates=[0.0]")
    refused("no dates", "expected at least one of", key + "dates=[]")
    refused("no levels", "expected at least one of", key + "levels=[]")
    refused("hazards without times", "one time less than rates",
            key + "hazard=[0.01,0.02]")
    refused("hazard times that fall", "hazard_times must rise",
            key + "hazard=[0.01,0.02,0.03]", key + "hazard_times=[2.0,1.0]")
    refused("a factor that is none", 'no factor "Z"', key + "discounting=Z")
    refused("an unknown netting set", "netting set 'bank', which no",
            change=("[[risk.factor]]",
                    '[[risk.netting]]\nname = "bnak"\n[[risk.factor]]'))
    refused("a netting set twice", 'a netting set "x" already',
            change=("[[risk.factor]]", '[[risk.netting]]\nname = "x"\n' * 2 +
                    "[[risk.factor]]"))
    refused("a section that no engine reads", 'does not name "exposure"',
            'risk.engines=["price"]')


def main():
    want = forward()
    seeds(want)
    netting()
    options()
    heston()
    ranks()
    bad_input()
    tap.done()


main()
