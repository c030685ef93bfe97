"""The same argon in four unit systems.

One deck with every quantity quoted runs in real, metal and SI units; in lj units
it is scaled by hand. Energy, pressure, temperature and displacement are converted
with the constants of CODATA 2018 and agree: the program's systems use the same ones, so what
is left is rounding, which 40 steps of motion enlarge.
"""

import tap

tap.need("numpy", "h5py")

import numpy as np

import mdrun

K = 1.380649e-23
AVOGADRO = 6.02214076e23
EV = 1.602176634e-19
KCAL = 4184.0 / AVOGADRO
MASS = 39.948e-3 / AVOGADRO
EPSILON, SIGMA = 120 * K, 3.4e-10
TAU = SIGMA * np.sqrt(MASS / EPSILON)

QUOTED = """
[run]
solver = "md"
units = "@UNITS@"
seed = 8
[md]
timestep = "5 fs"
steps = 40
[[md.species]]
name = "Ar"
mass = "39.948 g/mol"
[md.initial]
lattice = "fcc"
cells = [4, 4, 4]
lattice_constant = "5.8 angstrom"
temperature = "200 K"
[md.pair]
style = "lj"
cutoff = "0.9 nm"
skin = "1 angstrom"
tail = true
[[md.pair.coefficients]]
species = ["Ar", "Ar"]
epsilon = "10.34079991457 meV"
sigma = "0.34 nm"
[md.ensemble]
type = "bussi"
temperature = "150 K"
relaxation = "0.2 ps"
[md.analysis.msd]
every = 10
[output]
observables_every = 10
"""
REDUCED = QUOTED
for quantity, value in (
    ('"5 fs"', 5e-15 / TAU),
    ('"39.948 g/mol"', 1.0),
    ('"5.8 angstrom"', 5.8e-10 / SIGMA),
    ('"200 K"', 200 / 120),
    ('"0.9 nm"', 0.9e-9 / SIGMA),
    ('"1 angstrom"', 1e-10 / SIGMA),
    ('"10.34079991457 meV"', 1.0),
    ('"0.34 nm"', 1.0),
    ('"150 K"', 150 / 120),
    ('"0.2 ps"', 0.2e-12 / TAU),
):
    REDUCED = REDUCED.replace(quantity, repr(float(value)))

# energy, length, temperature, pressure in SI
SYSTEMS = {
    "si": (1.0, 1.0, 1.0, 1.0),
    "real": (KCAL, 1e-10, 1.0, 101325.0),
    "metal": (EV, 1e-10, 1.0, 1e5),
    "lj": (EPSILON, SIGMA, 120.0, EPSILON / SIGMA**3),
}


def in_si(units):
    energy, length, temperature, pressure = SYSTEMS[units]
    text = (REDUCED if units == "lj" else QUOTED).replace("@UNITS@", units)
    r = mdrun.run(text, name=units)
    return {
        "potential energy": r.observable("potential_energy") * energy,
        "kinetic energy": r.observable("kinetic_energy") * energy,
        "temperature": r.observable("temperature") * temperature,
        "pressure": r.observable("pressure") * pressure,
        "displacement": r.table("displacement/mean_squared")["all"] * length**2,
        "box": r.edges() * length,
    }


si = in_si("si")
tap.near(si["temperature"][0], 200, 1e-9, "si: the start is at 200 K")
tap.near(si["box"][0], 23.2e-10, 1e-20, "si: the box is 23.2 angstrom wide")
kinetic = 1.5 * (256 - 1) * K * 200
tap.near(si["kinetic energy"][0] / kinetic, 1, 1e-12,
         "si: kinetic energy is 3/2 (N - 1) k T joule")
for units in ("real", "metal", "lj"):
    other = in_si(units)
    for name, x in si.items():
        scale = np.abs(x).max()
        # The meV of the deck has thirteen digits.
        tap.below(np.abs(other[name] - x).max() / scale, 1e-9,
                  f"{units}: {name} is that of SI")


def table_of(units):
    """The terminal's table: a row of headings, one of units, rows of numbers."""
    with open(f"out/{units}.log", encoding="ascii") as f:
        lines = [line.split() for line in f]
    head = next(i for i, line in enumerate(lines) if line[:2] == ["step", "time"])
    rows = [line for line in lines[head + 1:head + 7] if line and
            line[0].isdigit()]
    return lines[head + 1], np.array([[float(x) for x in row[:7]]
                                      for row in rows])


for units, told in (("si", "s K Pa J J m^2"), ("lj", None),
                    ("real", "fs K atm kcal/mol kcal/mol Angstrom^2"),
                    ("metal", "ps K bar eV eV Angstrom^2")):
    named, rows = table_of(units)
    tap.is_(" ".join(named) if told else named[0], told or "0",
            f"{units}: the table has its units below the headings, if it has any")
    energy, length, temperature, pressure = SYSTEMS[units]
    r = mdrun.Result(f"out/{units}.h5")
    for column, x in ((1, r.time()), (2, r.observable("temperature")),
                      (3, r.observable("pressure")),
                      (4, r.observable("potential_energy") / 256)):
        tap.ok(np.all(np.abs(rows[:, column] - x) <= 0.004 * np.abs(x)),
               f"{units}: column {column} of the table has three digits of each "
               "number")
tap.done()
