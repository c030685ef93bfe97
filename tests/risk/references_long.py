"""Heston's model over 5 to 15 years, with variances that stay at 0 for long, as
Andersen (2008) tests schemes; and the European values beside the American puts
of Longstaff and Schwartz (2001) (references.csv)."""
import tap

tap.need("h5py", "numpy")
import risk_cases as rc  # noqa: E402

decks = {}
for case, p, words, value in rc.rows("heston_european"):
    if p["T"] > 1:
        key = tuple(p[k] for k in ("r", "kappa", "theta", "T"))
        if key not in decks:
            decks[key] = rc.Deck(f"heston{len(decks)}", 8_000_000)
        rc.add_heston(decks[key], p, value, rc.title(case, p, words), words)
for deck in decks.values():
    deck.check(relative=2e-3, floor=5)

puts = rc.Deck("puts", 16_000_000)
for case, p, words, value in rc.rows("american_put", quantity="price_european"):
    puts.add(value, puts.gbm(p), rc.title("european", p, words),
             type="european", side="put", strike=p["K"], maturity=p["T"])
puts.check()
tap.done()
