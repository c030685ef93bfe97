"""Prices against values in closed form and by quadrature (references.csv).
Where a price is small its error is 1e-3 of 4 or 5 here; references_long.py has
the same rows with 1e-3 of the price itself."""
import tap

h5py, _ = tap.need("h5py", "numpy")
import risk_cases as rc  # noqa: E402


def twin(deck, factor, model):
    """The Black-Scholes twin and the price itself take their part of the
    variance of pairs of mirrored paths: the least factor there is is 1.7 and
    3.6."""
    with h5py.File(deck.name + ".h5") as file:
        table = file["risk/instruments"]
        share = [s for s, m in zip(table["control_share"][:],
                                   table["method"][:]) if b"twin" in m]
    least = 1 / (1 - min(share)) if share else 0
    tap.ok(least > factor, f"{model}: the control leaves at most a part in "
           f"{least:.1f} of the variance of {len(share)} prices")


def parity(deck):
    """A call less a put is linear in the price, which is a control: what is
    left of it is rounding."""
    found = {}
    for i, (value, factor, _, keys) in enumerate(deck.positions):
        found.setdefault((factor, keys["strike"]), {})[keys["side"]] = \
            deck.price[i] - value
    off = [abs(both["call"] - both["put"]) for both in found.values()
           if len(both) == 2]
    tap.ok(len(off) > 5 and max(off) < 1e-9,
           f"{len(off)} calls less puts are forwards to {max(off):.0e}")


def plain():
    """What depends on the spots at maturity alone, with jumps."""
    deck = rc.Deck("plain", 8_000_000)
    for case, p, words, value in rc.rows("bs_european", "digital"):
        more = {"cash": p["cash"]} if case == "digital" else {}
        kind = "digital" if case == "digital" else "european"
        deck.add(value, deck.gbm(p), rc.title(case, p, words), type=kind,
                 side=rc.side(words), strike=p["K"], maturity=p["T"], **more)
    for case, p, words, value in rc.rows("merton_jump"):
        f = deck.factor(model="merton", spot=p["S"], rate=p["r"],
                        dividend=p["q"], volatility=p["sigma"],
                        jump_rate=p["lambda"], jump_mean=p["meanLogJump"],
                        jump_volatility=p["jumpVol"])
        deck.add(value, f, rc.title(case, p, words), type="european",
                 side=rc.side(words), strike=p["K"], maturity=p["T"])
    deck.check()
    twin(deck, 1.5, "Merton's model")


def pairs():
    """Two assets, a pair of factors for each correlation."""
    types = {"margrabe_exchange": ("exchange", {}),
             "spread_exact": ("spread", {"side": "call"}),
             "call_on_max_2assets": ("best-of", {"side": "call"}),
             "call_on_min_2assets": ("worst-of", {"side": "call"})}
    deck = rc.Deck("pairs", 8_000_000, ("antithetic",))
    for case, p, words, value in rc.rows(*types):
        mark = p["rho"]
        f = (deck.gbm(p, "sigma1", "S1", (mark, 1)),
             deck.gbm(p, "sigma2", "S2", (mark, 2)))
        deck.pairs[f] = p["rho"]
        kind, more = types[case]
        if kind != "exchange":
            more = {**more, "strike": p["K"]}
        deck.add(value, f, rc.title(case, p, words), type=kind,
                 maturity=p["T"], **more)
    deck.check()


def averages_from_today():
    """Of n dates the first of which is today: (n - 1)/n of an option on the
    others' average with the strike (n K - S)/(n - 1). The values are simulated,
    on dates rounded to days: off by 2e-4 for two dates, which have a closed
    form, and by 1.8e-3 for 26. The file exchanges rate and dividend yield, as
    two dates show, too."""
    deck = rc.Deck("levy", 100_000)
    for case, p, words, value in rc.rows("asian_arithmetic_discrete_levy1997"):
        n, years = int(p["fixings"]), 11 / 12
        p["r"], p["q"] = p["q"], p["r"]
        deck.add(value * n / (n - 1), deck.gbm(p), rc.title(case, p, words),
                 type="asian-arithmetic", side=rc.side(words), maturity=years,
                 strike=(n * p["K"] - p["S"]) / (n - 1), fixings=n - 1)
    deck.check(floor=3, slack=2e-3)


def lookbacks():
    deck = rc.Deck("lookbacks", 4_000_000)
    for case, p, words, value in rc.rows("lookback_fixed_continuous",
                                         "lookback_floating_continuous"):
        more = {"strike": p["K"]} if "fixed" in case else {}
        kind = "lookback-fixed" if "fixed" in case else "lookback-floating"
        deck.add(value, deck.gbm(p), rc.title(case, p, words), type=kind,
                 side="call", maturity=p["T"], monitoring="continuous", **more)
    deck.check()


def heston():
    """Of one year; longer ones stand in references_long.py."""
    deck = rc.Deck("heston", 1_500_000)
    for case, p, words, value in rc.rows("heston_european"):
        if p["T"] == 1:
            rc.add_heston(deck, p, value, rc.title(case, p, words), words)
    deck.check()
    twin(deck, 3, "Heston's model")
    parity(deck)


plain()
pairs()
rc.asians(600_000).check(floor=4)
for some in rc.barriers({0: 30_000_000, 12: 12_500_000, 50: 3_000_000,
                         52: 3_000_000, 252: 600_000}):
    some.check(floor=4)
averages_from_today()
lookbacks()
heston()
tap.done()
