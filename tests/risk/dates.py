"""Maturities as dates: years by an explicit day count, worked out by hand."""
import tap

tap.need("h5py", "numpy")
import h5py  # noqa: E402
import numpy as np  # noqa: E402

DECK = """[run]
solver = "risk"
[risk]
paths = 4096
%s
[[risk.factor]]
name = "A"
spot = 100.0
rate = 0.5
volatility = 0.0
[risk.portfolio]
file = "dates.csv"
"""
HEAD = "id,type,factor,quantity,strike,maturity,maturity_date\n"


def run(today, count, *rows):
    keys = f'valuation_date = "{today}"\n' if today else ""
    keys += f'day_count = "{count}"\n' if count else ""
    with open("dates.toml", "w") as file:
        file.write(DECK % keys)
    with open("dates.csv", "w") as file:
        file.write(HEAD + "\n".join(rows) + "\n")
    return tap.warpdeck("run", "dates.toml", "--overwrite", check=False)


# Days counted on a calendar; 2028 is a leap year.
CASES = (
    ("2027-01-15", "2028-01-15", "ACT/365F", 365 / 365),
    ("2027-01-15", "2027-07-15", "ACT/360", 181 / 360),
    ("2027-01-31", "2027-03-31", "30/360", 60 / 360),
    ("2027-01-30", "2027-02-28", "30/360", 28 / 360),
    ("2027-01-29", "2027-03-31", "30/360", 62 / 360),
    ("2027-11-01", "2028-05-01", "ACT/ACT ISDA", 61 / 365 + 121 / 366),
    ("2028-02-28", "2028-03-01", "ACT/365F", 2 / 365),
    ("2027-03-01", "2030-03-01", "ACT/ACT ISDA",
     306 / 365 + 1 + 1 + 59 / 365),
    ("2027-01-15", "2027-01-15", "ACT/360", 0.0),
)
for today, end, count, years in CASES:
    said = run(today, count, f"f,forward,A,1,100,,{end}")
    value = np.nan
    if said.returncode == 0:
        with h5py.File("dates.h5") as file:
            value = file["risk/instruments/price"][0]
    # A forward is worth S - K exp(-r t): t from its price.
    got = -np.log((100 - value) / 100) / 0.5
    tap.near(got, years, 1e-12, f"{count} from {today} to {end}")

for what, today, count, row, text in (
        ("a date without a day count", None, None,
         "f,forward,A,1,100,,2027-01-15", "2:20: error: maturity_date needs"),
        ("a date before today", "2027-01-15", "ACT/360",
         "f,forward,A,1,100,,2027-01-14", "is before the valuation date"),
        ("no date", "2027-01-15", "ACT/360", "f,forward,A,1,100,,2027-02-29",
         "'2027-02-29' is no date"),
        ("both", "2027-01-15", "ACT/360", "f,forward,A,1,100,1,2027-03-01",
         "not both"),
        ("half of the keys", "2027-01-15", None, "f,forward,A,1,100,1,",
         "dates need both"),
        ("a valuation date that is none", "2027-13-01", "ACT/360",
         "f,forward,A,1,100,1,", "is no date"),
        ("another day count", "2027-01-15", "ACT/364", "f,forward,A,1,100,1,",
         "ACT/365F")):
    said = run(today, count, row)
    if not tap.ok(said.returncode == 2 and text in said.stderr,
                  f"{what}: refused"):
        tap.note(said.stderr)
tap.done()
