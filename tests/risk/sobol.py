"""Prices from Sobol's points: exact, with honest errors, the same bits."""
import tap

h5py = tap.need("h5py")

DECK = """
[run]
solver = "risk"
seed = 5
[risk]
paths = 262_144
sampling = "sobol"
[[risk.factor]]
name = "A"
spot = 100.0
rate = 0.05
volatility = 0.2
[[risk.instrument]]
id = "call"
type = "european"
factor = "A"
side = "call"
quantity = 1
strike = 100.0
maturity = 1.0
[[risk.instrument]]
id = "american"
type = "american"
factor = "A"
side = "put"
quantity = 1
strike = 140.0
maturity = 1.0
exercise_dates = 12
[output]
name = "NAME"
"""


def run(name, ranks=1, *arguments, **more):
    with open(name + ".toml", "w") as file:
        file.write(DECK.replace("NAME", name))
    return tap.warpdeck("run", name + ".toml", *arguments, ranks=ranks, **more)


def numbers(name):
    with h5py.File(name + ".h5") as file:
        return (list(file["risk/instruments/value"][:]),
                list(file["risk/instruments/standard_error"][:]),
                [m.decode() for m in file["risk/instruments/method"][:]])


run("one")
value, error, method = numbers("one")
EXACT = 10.4505835722
tap.ok(abs(value[0] - EXACT) <= 3.5 * error[0],
       f"a call from 16 scrambles: {value[0]:.6f} +- {error[0]:.1e}")
tap.ok(error[0] < 1e-3, "whose error random paths would need 50 times as many "
       "for")
tap.ok(value[1] == 40.0 and method[1] == "exercised today",
       "an American put far in the money is exercised today")
if tap.have_mpi():
    run("three", 3)
    tap.is_(numbers("three"), (value, error, method),
            "three ranks leave the bits of one")
else:
    tap.skip(1, "built without MPI")
wrong = run("wrong", 1, 'risk.variance_reduction=["control"]', check=False)
tap.ok(wrong.returncode == 2, "controls are refused beside Sobol's points")
tap.done()
