"""Names and units as people write them.

A file in reduced (lj) units has no unit attributes, so the unit is worked out
from what a number is. Texts are for matplotlib; plain() turns them into words.
"""

import math
import re

_REDUCED = {
    "length": r"$\sigma$",
    "area": r"$\sigma^2$",
    "volume": r"$\sigma^3$",
    "time": r"$\tau$",
    "velocity": r"$\sigma/\tau$",
    "energy": r"$\epsilon$",
    "work": r"$\epsilon$",
    "temperature": r"$\epsilon/k_\mathrm{B}$",
    "pressure": r"$\epsilon/\sigma^3$",
    "force": r"$\epsilon/\sigma$",
    "mass": r"$m$",
    "momentum": r"$m\,\sigma/\tau$",
    "frequency": r"$\tau^{-1}$",
    "wavenumber": r"$\sigma^{-1}$",
    "inverse_length": r"$\sigma^{-1}$",
    "number_density": r"$\sigma^{-3}$",
    "mass_density": r"$m\,\sigma^{-3}$",
    "diffusion": r"$\sigma^2/\tau$",
    "viscosity": r"$\epsilon\,\tau/\sigma^3$",
    "pressure_squared": r"$\epsilon^2/\sigma^6$",
    "velocity_squared": r"$\sigma^2/\tau^2$",
}

_PLAIN = {r"\sigma": "sigma", r"\tau": "tau", r"\epsilon": "epsilon",
          r"k_\mathrm{B}": "kB", r"\mathrm{\AA}": "Angstrom", r"\,": " ",
          "$": "", "{": "", "}": ""}


_LONGER = {"fs": "ps", "ps": "ns"}


def long_times(times, unit):
    """Times and their unit for people: what would be 10,000 of one unit and more
    is told in a thousand times that unit."""
    while len(times) and times[-1] >= 1e4 and unit in _LONGER:
        times, unit = times / 1000, _LONGER[unit]
    return times, unit


_STARTS = {"position": "length", "box_": "length", "speed": "velocity",
           "density": "mass_density", "shear_stress": "pressure",
           "pressure": "pressure", "deform_work": "work",
           "wall_force": "force", "temperature_": "temperature",
           "thermostat_temperature": "temperature"}


def quantity(name):
    """What an observable or field is: "energy", "work", "length", ..."""
    if name.endswith("energy"):
        return "energy"
    if name == "mean_squared_displacement":
        return "area"
    for start, kind in _STARTS.items():
        if name.startswith(start):
            return kind
    return name


# Columns that others stand over: these come first where a table is written.
OVER = ("r", "theta", "time", "frequency", "k", "x", "y", "z", "wavenumber")
_COLUMN = {"r": "length", "time": "time", "frequency": "frequency",
           "k": "wavenumber", "x": "length", "y": "length", "z": "length"}
_COLUMNS_OF = {"displacement/mean_squared": "area",
               "velocity_autocorrelation/function": "velocity_squared",
               "velocity_autocorrelation/diffusion": "diffusion",
               "velocity_autocorrelation/spectrum": "time",
               "velocity_autocorrelation/density_of_states": "time",
               "green_kubo/function": "pressure_squared",
               "green_kubo/viscosity": "viscosity"}


def column_kind(table, column):
    """What a column of a table of averages is."""
    if column in _COLUMN:
        return _COLUMN[column]
    for start in ("number_density", "mass_density", "temperature", "velocity",
                  "pressure", "viscosity", "diffusion"):
        if column.startswith(start):
            return start
    if table.startswith("bond_length/"):
        return "inverse_length"
    return _COLUMNS_OF.get(table, "")


def in_order(columns):
    """Their names, what others stand over first."""
    return sorted(columns, key=lambda c: (c not in OVER, c))


def reduced(kind):
    """The reduced unit of a kind of quantity, "" where it has none."""
    return _REDUCED.get(kind, "")


def pretty(unit):
    """A unit of a file, "Angstrom fs-1", for a label."""
    unit = re.sub(r"\bAngstrom(?![A-Za-z])", "\u00c5", unit)
    return re.sub(r"(?<=[A-Za-z\u00c5])\^?(-?\d+)", r"$^{\1}$", unit)


def drawn(unit):
    """A unit in words, as in tables, for a label."""
    for found in _REDUCED.values():
        if plain(found) == unit != "m":  # which are meters as well
            return found
    return pretty(unit)


def plain(unit):
    """A label's unit for a terminal."""
    for mathematical, word in _PLAIN.items():
        unit = unit.replace(mathematical, word)
    return unit.replace("\u00c5", "Angstrom")


def axis(name, unit):
    """"temperature (K)"."""
    return f"{name} ({unit})" if unit else name


def sentence(text):
    """"Number density H": the first letter alone is made a capital."""
    return text[:1].upper() + text[1:]


def count(n, thing):
    """"1 frame", "2 frames"."""
    return f"{n} {thing}{'' if n == 1 else 's'}"


def uncertain(value, error):
    """(text, text): both to the second digit of the error."""
    if not (0 < error < math.inf and math.isfinite(value)):
        return f"{value:.5g}", f"{error:.2g}"
    decimals = 1 - math.floor(math.log10(error))
    if decimals > 8 or abs(value) >= 1e9 or error >= 1e9:
        return f"{value:.6g}", f"{error:.2g}"
    return tuple(f"{round(number, decimals):.{max(decimals, 0)}f}"
                 for number in (value, error))
