"""Bad decks and portfolio files get a clear error with exit status 2, and what
looks bad but is not gets right numbers."""
import os

import tap

h5py, numpy = tap.need("h5py", "numpy")

DECK = """
[run]
solver = "risk"
[risk]
paths = 20_000
[[risk.factor]]
name = "A"
spot = 100.0
rate = 0.05
volatility = 0.2
[[risk.factor]]
name = "B"
spot = 100.0
rate = 0.05
volatility = 0.2
[[risk.factor]]
name = "C"
spot = 100.0
rate = 0.05
volatility = 0.2
[risk.portfolio]
file = "book.csv"
"""
CORRELATION = "risk.correlation.matrix="
HEAD = "id,type,factor,side,quantity,strike,maturity\n"


def run(book, *overrides, command="run", deck=DECK):
    with open("bad.toml", "w") as file:
        file.write(deck)
    with open("book.csv", "wb") as file:
        file.write(book if isinstance(book, bytes) else book.encode())
    more = ["--overwrite"] if command == "run" else []
    return tap.warpdeck(command, "bad.toml", *more, *overrides, check=False)


def refused(what, book, text, *overrides, **more):
    got = run(book, *overrides, **more)
    held = tap.ok(got.returncode == 2 and text in got.stderr,
                  f"{what}: refused with a reason and status 2")
    if not held:
        tap.note(f"status {got.returncode}, want the text {text!r} in\n"
                 f"{got.stdout[-800:]}{got.stderr[-800:]}")
    tap_exists.append(os.path.exists("bad.h5"))


def numbers(what, book, *overrides, **more):
    """{id: (price, error, knocked)}; the run must succeed."""
    got = run(book, *overrides, **more)
    if got.returncode != 0:
        tap.ok(False, f"{what} runs")
        tap.note(got.stderr)
        return {}, got
    with h5py.File("bad.h5") as file:
        t = file["risk/instruments"]
        return {i.decode(): v for i, v in zip(
            t["id"][:], zip(t["price"][:], t["price_error"][:],
                            t["knocked"][:]))}, got


tap_exists = []
GOOD = HEAD + "x,european,A,call,1,100,1\n"

# ---- correlation
INDEFINITE = "[[1.0,0.9,-0.9],[0.9,1.0,0.9],[-0.9,0.9,1.0]]"
refused("a correlation that is not positive semi-definite", GOOD,
        "smallest eigenvalue is -0.8", CORRELATION + INDEFINITE)
refused("at its place in the deck", GOOD, "bad.toml:",
        deck=DECK + f"[risk.correlation]\nmatrix = {INDEFINITE}\n")
with open("matrix.csv", "w") as matrix:
    matrix.write("name,A,B,C\nA,1,0.9,-0.9\nB,0.9,1,0.9\nC,-0.9,0.9,1\n")
refused("one in a file, by the file's name", GOOD, "matrix of matrix.csv is not",
        'risk.correlation.file="matrix.csv"')
refused("a correlation that is not symmetric", GOOD, "not symmetric",
        CORRELATION + "[[1.0,0.1,0.0],[0.2,1.0,0.0],[0.0,0.0,1.0]]")
refused("a diagonal that is not 1", GOOD, "must be 1",
        CORRELATION + "[[1.0,0.1,0.0],[0.1,0.9,0.0],[0.0,0.0,1.0]]")
refused("a matrix of another size", GOOD, "there are 3 factors",
        CORRELATION + "[[1.0,0.1],[0.1,1.0]]")
refused("rows of different lengths", GOOD, "expected a row of 2 numbers",
        CORRELATION + "[[1.0,0.1],[0.1]]")
refused("a correlation above 1", GOOD, "must be at most 1",
        CORRELATION + "[[1.0,1.1,0.0],[1.1,1.0,0.0],[0.0,0.0,1.0]]")

# ---- files: each with its place
CSV = {
    "a number that is blank": ("x,european,A,call,,100,1", "2:19: error: quantity"),
    "NaN": ("x,european,A,call,nan,100,1", "2:19: error: quantity: 'nan'"),
    "inf": ("x,european,A,call,1,inf,1", "2:21: error: strike: 'inf'"),
    "a number too large for any": ("x,european,A,call,1e999,1,1",
                                   "2:19: error: quantity: '1e999'"),
    "a hexadecimal number": ("x,european,A,call,0x1p3,100,1",
                             "'0x1p3' is hexadecimal"),
    "a decimal comma": ('x,european,A,call,1,"100,5",1', "'100,5' has a comma"),
    "text for a number": ("x,european,A,call,1,1oo,1", "'1oo' is not a number"),
    "the same id twice": ("x,european,A,call,1,100,1\nx,stock,A,,1,,",
                          "3:1: error: id 'x' stands at"),
    "an unknown factor": ("x,european,ZZ,call,1,100,1",
                          "2:12: error: there is no factor 'ZZ'"),
    "an unknown type": ("x,europaen,A,call,1,100,1",
                        "did you mean 'european'"),
    "early exercise without dates": ("x,american,A,call,1,100,1",
                                  "exercise_dates is missing"),
    "a negative strike": ("x,european,A,call,1,-1,1", "2:21: error: strike"),
    "a quantity of 0": ("x,european,A,call,0,100,1", "must not be 0"),
    "a negative maturity": ("x,european,A,call,1,100,-1", "maturity = -1"),
    "a date for a maturity": ("x,european,A,call,1,100,2027-01-01",
                              "'2027-01-01' is not a number"),
    "a strike that the type does not take": ("x,stock,A,,1,100,",
                                             "takes no strike"),
    "a row that is too short": ("x,european,A,call,1",
                                "2:1: error: 5 cells, but the header has 7"),
    "a quote that is never closed": ('"x,european,A,call,1,100,1',
                                     "2:1: error: this quote is never closed"),
    "text behind a quote": ('"x"y,european,A,call,1,100,1',
                            "2:4: error: text behind a closed quote"),
    "two factors where one is meant": ("x,european,A;B,call,1,100,1",
                                       "takes 1 factor, not 2"),
}
for what, (row, text) in CSV.items():
    refused(what, HEAD + row + "\n", text)
refused("a column that is missing", "id,type,factor\nx,stock,A\n",
        "book.csv:1:1: error: column 'quantity' is missing")
refused("a column that nobody knows", "id,type,factor,quantity,strik\n",
        "did you mean 'strike'")
refused("a column that stands twice", "id,type,factor,quantity,id\n",
        "column 'id' stands twice")
refused("an empty file", "", "there is no header")
refused("a file of bytes", b"id,\0", "is not text")
refused("letters of another encoding", HEAD.encode() +
        b"x,stock,A,,1,,\ny\xe9,stock,A,,1,,\n",
        "book.csv:3:2: error: byte 0xE9 is not UTF-8")
refused("a header alone", HEAD, "there are no positions")
both = run(HEAD + "x,european,A,call,nan,100,1\ny,european,Z,call,1,-1,1\n")
tap.ok("book.csv:2" in both.stderr and "book.csv:3" in both.stderr and
       "2 errors; nothing was started" in both.stderr,
       "all rows that are wrong are told at once")
cut = run(GOOD.rstrip(), command="check")
tap.ok(cut.returncode == 0 and "book.csv:2: the file ends with a number and no "
       "end of the line" in cut.stdout + cut.stderr and
       "no end" not in run(GOOD, command="check").stderr,
       "a last number that may have been cut is told of")

# ---- keys
refused("a negative volatility", GOOD, "volatility = -0.2: must be at least 0",
        deck=DECK.replace("volatility = 0.2", "volatility = -0.2", 1))
refused("no paths", GOOD, "must be at least 1", "risk.paths=-5")
refused("a key of another model", GOOD, "takes no kappa",
        deck=DECK.replace("volatility = 0.2", "volatility = 0.2\nkappa = 1.0", 1))
refused("a model without its keys", GOOD, "needs it",
        deck=DECK.replace("volatility = 0.2", 'model = "heston"', 1))
refused("a curve without times", GOOD, "expected one time less than rates",
        deck=DECK.replace("rate = 0.05", "rate = [0.05, 0.06]", 1))
refused("frames of a portfolio", GOOD, "has no frames", "output.frames_every=5")
refused("units", GOOD, "no meaning", "run.units=si")
tap.ok(not any(tap_exists), "nothing was written by any of them")

# ---- what looks bad and is not
got, _ = numbers("rank-deficient", HEAD +
                 "x,exchange,A;B,,1,,1\n",
                 CORRELATION + "[[1.0,1.0,0.0],[1.0,1.0,0.0],[0.0,0.0,1.0]]")
tap.ok(abs(got["x"][0]) < 1e-9,
       "factors of correlation 1 move together: their exchange is worth 0")
for how, distance in (("spectral", 0.6), ("higham", 0.5)):
    _, said = numbers(how, GOOD, CORRELATION + INDEFINITE,
                      f"risk.correlation.repair={how}")
    with h5py.File("bad.h5") as file:
        c = numpy.array([file[f"risk/correlation/{n}"][:] for n in "ABC"])
        moved = file["risk/correlation_repair/distance"][0]
    wanted = numpy.linalg.norm(
        c - numpy.array([[1, .9, -.9], [.9, 1, .9], [-.9, .9, 1]]))
    tap.ok(numpy.linalg.eigvalsh(c)[0] > -1e-10 and
           abs(numpy.diag(c) - 1).max() < 1e-12 and
           abs(moved - wanted) < 1e-10 and "Frobenius" in said.stderr,
           f"repair = {how} writes a correlation matrix and its distance")

CRLF = (b'\xef\xbb\xbfstrike, type ,"maturity",factor,side,quantity,id\r\n\r\n'
        b'100,european,1,A,call,2,"a, ""b"""\r\n100,european,1,A,call,2,c')
got, _ = numbers("dialects", CRLF)
tap.ok(sorted(got) == ['a, "b"', "c"] and got["c"] == got['a, "b"'],
       "CRLF, a byte order mark, quoted commas and any order of columns are "
       "read")

BARRIER = ("id,type,factor,side,quantity,strike,maturity,barrier,kind,rebate,"
           "monitoring\n")
got, said = numbers("knocked", BARRIER +
                    "out,barrier,A,call,1,100,1,90,up-and-out,5,12\n"
                    "in,barrier,A,call,1,100,1,90,up-and-in,5,continuous\n"
                    "call,european,A,call,1,100,1,,,,\n")
tap.near(got["out"][0], 5 * numpy.exp(-0.05), 1e-12,
         "beyond the barrier a knock-out is worth its rebate")
tap.ok(got["in"][:2] == got["call"][:2] and got["in"][2] == 1 and
       got["out"][2] == 1 and "beyond the barrier" in said.stderr,
       "beyond the barrier a knock-in is the option itself, and flagged")

got, _ = numbers("matured", HEAD + "c,european,A,call,1,90,0\n"
                 "p,european,A,put,1,90,0\nd,digital,A,call,1,90,0\n"
                 "f,forward,A,,1,90,0\nx,exchange,A;B,,1,,0\n"
                 f"s,european,A,call,1,90,{0.5 / 365!r}\n")
tap.ok([got[k][0] for k in "cpdfx"] == [10, 0, 1, 10, 0] and
       all(got[k][1] == 0 for k in "cpdfx"),
       "at maturity options are worth what they pay")
tap.near(got["s"][0], 100 - 90 * numpy.exp(-0.05 * 0.5 / 365),
         3.5 * got["s"][1], "half a day is half a day")

got, _ = numbers("negative rates", HEAD + "f,forward,A,,1,100,1\n",
                 deck=DECK.replace("rate = 0.05", "rate = -0.02", 1))
tap.near(got["f"][0], 100 - 100 * numpy.exp(0.02), 3.5 * got["f"][1],
         "rates may be negative")
got, said = numbers("Feller", HEAD + "f,forward,A,,1,100,1\n",
                    deck=DECK.replace(
                        "volatility = 0.2", 'model = "heston"\nvariance = 0.04\n'
                        "kappa = 0.5\ntheta = 0.04\nxi = 1.0\nrho = -0.9", 1))
tap.ok("Feller" in said.stdout and
       abs(got["f"][0] - 100 + 100 * numpy.exp(-0.05)) < 3.5 * got["f"][1],
       "Feller's condition may be violated, and that is told")
got, _ = numbers("no volatility", HEAD + "f,european,A,call,1,100,1\n",
                 deck=DECK.replace("volatility = 0.2", "volatility = 0.0", 1))
tap.near(got["f"][0], 100 - 100 * numpy.exp(-0.05), 1e-10,
         "without volatility nothing is left to chance")
tap.done()
