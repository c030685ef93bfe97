# timeout: 3600
"""Heston's model over 5 to 15 years, with variances that stay at 0 for long, as
Andersen (2008) tests schemes; the European values beside the American puts of
Longstaff and Schwartz (2001); and the rows of references.py whose errors are
small beside 4 or 5 there (references.csv). The error of each price is 1e-3 of
it, or less."""
import tap

tap.need("h5py", "numpy")
import risk_cases as rc  # noqa: E402


PATHS = {"Andersen2008_I": 2_600_000, "Andersen2008_II": 5_200_000,
         "Andersen2008_III_r0": 6_200_000, "Andersen2008_III_r5": 4_400_000}


def paths_of(p, words):
    """Calls far above the spot want more paths than all others."""
    if "call" in words and p["K"] == 140 and p["T"] >= 10:
        return {10: 80_000_000, 15: 40_000_000}[p["T"]]
    return PATHS.get(words[0], 600_000)


decks = {}
for case, p, words, value in rc.rows("heston_european"):
    if p["T"] > 1:
        key = (paths_of(p, words),
               *(p[k] for k in ("r", "kappa", "theta", "T")))
        if key not in decks:
            decks[key] = rc.Deck(f"heston{len(decks)}", key[0])
        rc.add_heston(decks[key], p, value, rc.title(case, p, words), words)

puts = rc.Deck("puts", 16_000_000)
for case, p, words, value in rc.rows("american_put", quantity="price_european"):
    puts.add(value, puts.gbm(p), rc.title("european", p, words),
             type="european", side="put", strike=p["K"], maturity=p["T"])
puts.check()

rc.asians(2_600_000).check()
for deck in rc.barriers({0: 30_000_000, 12: 16_000_000, 50: 6_000_000,
                         52: 5_200_000, 252: 28_000_000}):
    deck.check()
for deck in sorted(decks.values(), key=lambda deck: deck.paths):
    deck.check()
tap.done()
