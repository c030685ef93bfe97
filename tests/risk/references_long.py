# timeout: 3600
"""Heston's model over 5 to 15 years, with variances that stay at 0 for long, as
Andersen (2008) tests schemes; the European values beside the American puts of
Longstaff and Schwartz (2001); and the rows of references.py whose errors are
small beside 4 or 5 there (references.csv). The error of each price is 1e-3 of
it, or less."""
import sys

import tap

tap.need("h5py", "numpy")
import risk_cases as rc  # noqa: E402


PATHS = {"Andersen2008_I": 2_600_000, "Andersen2008_II": 5_200_000,
         "Andersen2008_III_r0": 6_200_000, "Andersen2008_III_r5": 4_400_000}


def paths_of(p, words):
    """Calls far above the spot, which one path in a hundred pays, want more
    than all others."""
    if "call" in words and p["K"] == 140 and p["T"] >= 10:
        return {10: 80_000_000, 15: 40_000_000}[p["T"]]
    return PATHS.get(words[0], 600_000)


def heston():
    """With the steps that are the default, 64 a year: 16 would take a far call
    of 10 years to 1.0045 +- 0.0015 of its value."""
    decks = {}
    for case, p, words, value in rc.rows("heston_european"):
        if p["T"] > 1:
            key = (paths_of(p, words),
                   *(p[k] for k in ("r", "kappa", "theta", "T")))
            if key not in decks:
                decks[key] = rc.Deck(f"heston{len(decks)}", key[0])
            rc.add_heston(decks[key], p, value, rc.title(case, p, words),
                          words)
    return sorted(decks.values(), key=lambda deck: deck.paths)


def puts():
    deck = rc.Deck("puts", 16_000_000)
    for case, p, words, value in rc.rows("american_put",
                                         quantity="price_european"):
        deck.add(value, deck.gbm(p), rc.title("european", p, words),
                 type="european", side="put", strike=p["K"], maturity=p["T"])
    return deck


wanted = sys.argv[1:]  # names of decks; none: all
for some in (puts(), rc.asians(2_600_000),
             *rc.barriers({0: 30_000_000, 12: 16_000_000, 50: 6_000_000,
                           52: 5_200_000, 252: 28_000_000}), *heston()):
    if not wanted or some.name in wanted:
        some.check()
tap.done()
