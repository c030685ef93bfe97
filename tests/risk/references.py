"""Prices against values in closed form and by quadrature (references.csv)."""
import tap

h5py, _ = tap.need("h5py", "numpy")
import risk_cases as rc  # noqa: E402


def side(words):
    return "call" if "call" in words else "put"


def twin(deck, factor, model):
    """The Black-Scholes twin of the price takes its part of the variance, of
    pairs of mirrored paths: the least factor there is is 1.6 and 3.2."""
    with h5py.File(deck.name + ".h5") as file:
        table = file["risk/instruments"]
        share = [s for s, m in zip(table["control_share"][:],
                                   table["method"][:]) if b"twin" in m]
    least = 1 / (1 - min(share)) if share else 0
    tap.ok(least > factor, f"{model}: the control leaves at most a part in "
           f"{least:.1f} of the variance of {len(share)} prices")


def plain():
    """What depends on the spots at maturity alone, with jumps."""
    deck = rc.Deck("plain", 8_000_000)
    for case, p, words, value in rc.rows("bs_european", "digital"):
        more = {"cash": p["cash"]} if case == "digital" else {}
        kind = "digital" if case == "digital" else "european"
        deck.add(value, deck.gbm(p), rc.title(case, p, words), type=kind,
                 side=side(words), strike=p["K"], maturity=p["T"], **more)
    for case, p, words, value in rc.rows("merton_jump"):
        f = deck.factor(model="merton", spot=p["S"], rate=p["r"],
                        dividend=p["q"], volatility=p["sigma"],
                        jump_rate=p["lambda"], jump_mean=p["meanLogJump"],
                        jump_volatility=p["jumpVol"])
        deck.add(value, f, rc.title(case, p, words), type="european",
                 side=side(words), strike=p["K"], maturity=p["T"])
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


def asians():
    deck = rc.Deck("asians", 600_000)
    for case, p, words, value in rc.rows("asian_arithmetic_discrete",
                                         "asian_geometric_discrete"):
        kind = case.replace("_discrete", "").replace("_", "-")
        deck.add(value, deck.gbm(p), rc.title(case, p, words), type=kind,
                 side=side(words), strike=p["K"], maturity=p["T"],
                 fixings=int(p["n"]))
    deck.check(floor=4)


def barriers():
    """Watched all the time (the chance of a Brownian bridge is exact on a step
    of any length), and on dates: one deck for each grid of dates."""
    decks = {}
    for case, p, words, value in rc.rows("barrier_continuous",
                                         "barrier_discrete_exact"):
        dates = int(p.get("m", 0))
        grid = (dates, p["T"])
        if grid not in decks:
            paths = 30_000_000 if dates == 0 else 150_000_000 // dates
            decks[grid] = rc.Deck(f"barriers{len(decks)}", paths)
        deck = decks[grid]
        way, end = words[0].split("-")
        deck.add(value, deck.gbm(p), rc.title(case, p, words), type="barrier",
                 side=side(words), strike=p["K"], maturity=p["T"],
                 barrier=p["H"], rebate=p["rebate"], kind=f"{way}-and-{end}",
                 monitoring=dates if dates else "continuous")
    for deck in decks.values():
        deck.check(floor=4)


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
    deck = rc.Deck("heston", 3_000_000)
    for case, p, words, value in rc.rows("heston_european"):
        if p["T"] == 1:
            rc.add_heston(deck, p, value, rc.title(case, p, words), words)
    deck.check(floor=5)
    twin(deck, 3, "Heston's model")


plain()
pairs()
asians()
barriers()
lookbacks()
heston()
tap.done()
