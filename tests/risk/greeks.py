"""Sensitivities against values in closed form (references.csv)."""
import tap

tap.need("h5py", "numpy")
import h5py  # noqa: E402
import risk_cases as rc  # noqa: E402

NAMES = {"delta": "delta", "gamma": "gamma", "vega": "vega", "rho": "rho",
         "dividendRho": "dividend_rho", "theta_per_year": "theta"}


def check(deck, wants):
    """Each within 3.5 standard errors, which are below 3 % of the value or of
    what is typical of the sensitivity."""
    deck.run('risk.engines=["price", "greeks"]')
    with h5py.File(deck.name + ".h5") as file:
        t = file["risk/greeks"]
        words = [[w.decode() for w in t[c][:]] for c in ("id", "greek", "method")]
        numbers = zip(t["per_unit"][:], t["per_unit_error"][:])
        got = {(i, g): (v, e, m) for i, g, m, (v, e) in zip(*words, numbers)}
    for (i, name), (value, title) in wants.items():
        v, e, method = got[f"p{i}", name]
        if not tap.ok(abs(v - value) <= 3.5 * e + 1e-9 * abs(value),
                      f"{name} ({method}) of {title}"):
            tap.note(f"got {v:.8g} +- {e:.2g}, want {value:.8g}")


def one(name, paths, case, kind, more):
    deck, wants, found = rc.Deck(name, paths, ("antithetic",)), {}, {}
    for quantity, key in NAMES.items():
        for _, p, words, value in rc.rows(case, quantity=quantity):
            title = rc.title(case, p, words)
            if title not in found:
                found[title] = len(deck.positions)
                side = "call" if "call" in words else "put"
                deck.add(0, deck.gbm(p), title, type=kind, side=side,
                         strike=p["K"], maturity=p["T"], **more(p))
            wants[found[title], key] = value, title
    check(deck, wants)


one("europeans", 200_000, "bs_european", "european", lambda p: {})
one("digitals", 2_000_000, "digital", "digital", lambda p: {"cash": p["cash"]})
one("asians", 20_000, "asian_geometric_discrete", "asian-geometric",
    lambda p: {"fixings": int(p["n"])})
tap.done()
