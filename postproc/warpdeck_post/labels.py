"""Names and units as people write them.

A file in reduced (lj) units has no unit attributes, so the unit is worked out
from what a number is. Texts are for matplotlib; plain() turns them into words.
"""

import re

_REDUCED = {
    "length": r"$\sigma$",
    "area": r"$\sigma^2$",
    "time": r"$\tau$",
    "velocity": r"$\sigma/\tau$",
    "energy": r"$\epsilon$",
    "temperature": r"$\epsilon/k_\mathrm{B}$",
    "pressure": r"$\epsilon/\sigma^3$",
    "force": r"$\epsilon/\sigma$",
    "mass": r"$m$",
    "momentum": r"$m\,\sigma/\tau$",
}

_PLAIN = {r"\sigma": "sigma", r"\tau": "tau", r"\epsilon": "epsilon",
          r"k_\mathrm{B}": "kB", r"\mathrm{\AA}": "Angstrom", r"\,": " ",
          "$": "", "{": "", "}": ""}


def quantity(name):
    """What an observable or field is: "energy", "length", ... or ""."""
    if name.endswith("energy"):
        return "energy"
    if name == "mean_squared_displacement":
        return "area"
    return {"position": "length", "speed": "velocity"}.get(name, name)


def reduced(kind):
    """The reduced unit of a kind of quantity, "" where it has none."""
    return _REDUCED.get(kind, "")


def pretty(unit):
    """A unit of a file, "Angstrom fs-1", for a label."""
    unit = re.sub(r"\bAngstrom\b", "\u00c5", unit)
    return re.sub(r"(?<=[A-Za-z\u00c5])\^?(-?\d+)", r"$^{\1}$", unit)


def plain(unit):
    """A label's unit for a terminal."""
    for mathematical, word in _PLAIN.items():
        unit = unit.replace(mathematical, word)
    return unit.replace("\u00c5", "Angstrom")


def axis(name, unit):
    """"temperature (K)"."""
    return f"{name} ({unit})" if unit else name


def count(n, thing):
    """"1 frame", "2 frames"."""
    return f"{n} {thing}{'' if n == 1 else 's'}"
