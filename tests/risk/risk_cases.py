"""Decks from the rows of references.csv, and the check of their prices."""
import csv
import os
import re

import h5py
import tap

HERE = os.path.dirname(os.path.abspath(__file__))


def rows(*cases, quantity="price"):
    """[(case, parameters as a dict, words in front, value)] of some cases."""
    found = []
    with open(os.path.join(HERE, "references.csv"), newline="") as file:
        for row in csv.DictReader(file):
            if row["case"] not in cases or row["quantity"] != quantity:
                continue
            p = {k: float(v) for k, v in
                 re.findall(r"(\w+)=(-?\d+(?:\.\d+)?)", row["parameters"])}
            words = [w for w in row["parameters"].split() if "=" not in w]
            found.append((row["case"], p, words, float(row["value"])))
    return found


class Deck:
    """A deck that grows by positions; equal factors are shared."""

    def __init__(self, name, paths, reduction=("antithetic", "control")):
        self.name, self.paths, self.reduction = name, paths, reduction
        self.factors, self.positions, self.pairs = [], [], {}

    def factor(self, same_as=None, **keys):
        """The number of the factor with these keys. same_as: what tells apart
        factors that are equal but move on their own."""
        mark = (same_as, tuple(sorted(keys.items())))
        if mark not in self.factors:
            self.factors.append(mark)
        return self.factors.index(mark)

    def gbm(self, p, sigma="sigma", spot="S", mark=None):
        return self.factor(same_as=mark, model="gbm", spot=p[spot], rate=p["r"],
                           dividend=p.get("q", 0.0), volatility=p[sigma])

    def add(self, value, factor, title, **keys):
        self.positions.append((value, factor, title, keys))

    def text(self):
        def toml(v):
            return '"' + v + '"' if isinstance(v, str) else repr(v)
        words = ", ".join(f'"{w}"' for w in self.reduction)
        out = ['[run]\nsolver = "risk"\nseed = 7\n[risk]', f"paths = {self.paths}",
               f"variance_reduction = [{words}]"]
        for i, (_, keys) in enumerate(self.factors):
            out += ["[[risk.factor]]", f'name = "f{i}"']
            out += [f"{k} = {toml(v)}" for k, v in keys]
        if self.pairs:
            n = len(self.factors)
            matrix = [[1.0 if i == j else
                       self.pairs.get((min(i, j), max(i, j)), 0.0)
                       for j in range(n)] for i in range(n)]
            out += ["[risk.correlation]", f"matrix = {matrix}"]
        for i, (_, factor, _, keys) in enumerate(self.positions):
            names = ['"f%d"' % f for f in
                     (factor if isinstance(factor, tuple) else (factor,))]
            out += ["[[risk.instrument]]", f'id = "p{i}"', "quantity = 1",
                    f"factor = [{', '.join(names)}]"]
            out += [f"{k} = {toml(v)}" for k, v in keys.items()]
        return "\n".join(out) + "\n"

    def run(self, *overrides, ranks=1):
        with open(self.name + ".toml", "w") as file:
            file.write(self.text())
        tap.warpdeck("run", self.name + ".toml", "--overwrite", *overrides,
                     ranks=ranks, timeout=3000)
        with h5py.File(self.name + ".h5") as file:
            table = file["risk/instruments"]
            return table["price"][:], table["price_error"][:]

    def check(self, relative=1e-3, floor=0.0, slack=0.0):
        """Each price within 3.5 standard errors of its value: of a hundred
        right ones, one in twenty runs has one outside, and the seed is fixed.
        The error itself is at most `relative` of the value (of `floor`, where
        the value is smaller). slack: the relative error of the values."""
        price, error = self.price, self.error = self.run()
        for i, (value, _, title, _) in enumerate(self.positions):
            held = tap.ok(abs(price[i] - value) <= 3.5 * error[i] + 1e-12 +
                          slack * abs(value) and
                          error[i] <= relative * max(value, floor), title)
            if not held:
                tap.note(f"got {price[i]:.8g} +- {error[i]:.2g}, want "
                         f"{value:.8g}: "
                         f"{(price[i] - value) / error[i]:+.2f} errors")


def title(case, p, words):
    numbers = " ".join(f"{k}={v:g}" for k, v in p.items())
    return f"{case} {' '.join(w for w in words[:3])}: {numbers}"


def side(words):
    return "call" if "call" in words else "put"


def asians(paths):
    """Averages of a geometric Brownian motion over equal dates."""
    deck = Deck("asians", paths)
    for case, p, words, value in rows("asian_arithmetic_discrete",
                                      "asian_geometric_discrete"):
        kind = case.replace("_discrete", "").replace("_", "-")
        deck.add(value, deck.gbm(p), title(case, p, words), type=kind,
                 side=side(words), strike=p["K"], maturity=p["T"],
                 fixings=int(p["n"]))
    return deck


def barriers(paths):
    """Watched all the time (the chance of a Brownian bridge is exact on a step
    of any length), and on dates: one deck for each grid of dates. paths: by
    the number of dates, 0: all the time."""
    decks = {}
    for case, p, words, value in rows("barrier_continuous",
                                      "barrier_discrete_exact"):
        dates = int(p.get("m", 0))
        grid = (dates, p["T"])
        if grid not in decks:
            decks[grid] = Deck(f"barriers{len(decks)}", paths[dates])
        deck = decks[grid]
        way, end = words[0].split("-")
        deck.add(value, deck.gbm(p), title(case, p, words), type="barrier",
                 side=side(words), strike=p["K"], maturity=p["T"],
                 barrier=p["H"], rebate=p["rebate"], kind=f"{way}-and-{end}",
                 monitoring=dates if dates else "continuous")
    return decks.values()


def add_heston(deck, p, value, name, words):
    f = deck.factor(model="heston", spot=p["S"], rate=p["r"], dividend=p["q"],
                    variance=p["v0"], kappa=p["kappa"], theta=p["theta"],
                    xi=p["volofvol"], rho=p["rho"])
    deck.add(value, f, name, type="european", side=side(words),
             strike=p["K"], maturity=p["T"])
