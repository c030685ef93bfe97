"""Numbers of input files: every reader takes the same ones, names the others
with file and line, and tells of a last line that may have been cut."""

import os
import re

import tap

tap.need("numpy", "h5py")

import gromacs_cases
import mdrun

HEAD = """
[run]
solver = "md"
{units}
[md]
steps = 0
timestep = {dt}
[md.initial]
overlap = 0
"""
SPECIES = '[[md.species]]\nname = "A"\nmass = 1.0\n'
LJ = HEAD.format(units="", dt=0.001) + """{start}
[md.pair]
style = "lj"
cutoff = 2.5
skin = 0.3
"""
METAL = HEAD.format(units='units = "metal"', dt=0.001) + """
lattice = "fcc"
cells = [4, 4, 4]
lattice_constant = 3.6
[[md.species]]
name = "Cu"
mass = 63.5
{extra}
[md.pair]
{pair}
"""
SITES = [(1, 1, 1), (3, 1, 1), (5, 5, 5), (1, 4, 2)]


def data():
    rows = "".join(f"{i + 1} 1 {x}.5 {y}.5 {z}.5\n"
                   for i, (x, y, z) in enumerate(SITES))
    return ("a test\n\n4 atoms\n1 atom types\n0 8 xlo xhi\n0 8 ylo yhi\n"
            "0 8 zlo zhi\n\nMasses\n\n1 1.0\n\nPair Coeffs # lj/cut\n\n"
            f"1 1.0 1.0\n\nAtoms # atomic\n\n{rows}")


def xyz():
    return ('4\nLattice="8 0 0 0 8 0 0 0 8" Properties=species:S:1:pos:R:3\n'
            + "".join(f"A {x}.5 {y}.5 {z}.5\n" for x, y, z in SITES))


def table():
    rows = "".join(f"{k + 1} {1 + 0.05 * k:.2f} {1.5 - 0.05 * k:.2f} 1.0\n"
                   for k in range(31))
    return "LINE\nN 31\n\n" + rows


def alloy():
    numbers = "".join(f"{0.1 * k:.2f}\n" for k in range(40))
    grid = "40 0.1 40 0.1 3.9\n29 63.5 3.6 fcc\n"
    return "a\nb\nc\n1 Cu\n" + grid + 3 * numbers


def funcfl():
    return ("a\n29 63.5 3.6 fcc\n40 0.1 40 0.1 3.9\n"
            + "".join(f"{0.1 * k:.2f}\n" for _ in range(3) for k in range(40)))


PAIR = """[[md.pair.coefficients]]
species = ["A", "A"]
style = "table"
file = "n.table"
keyword = "LINE"
"""

# Name, deck, text, the line looked at, and which word there.
CASES = [
    ("n.data", LJ.format(start='read = "n.data"') + """
[[md.pair.coefficients]]
species = ["1", "1"]
epsilon = 1.0
sigma = 1.0
""", data(), [(6, 1, "upper edge"), (11, 1, "mass"), (15, 1, "coefficient"),
              (20, 2, "position")]),
    ("n.xyz", LJ.format(start='read = "n.xyz"') + SPECIES, xyz(),
     [(5, 1, ""), (2, 4, "Lattice")]),
    ("n.table", LJ.format(start='lattice = "fcc"\ncells = [4, 4, 4]\n'
                                "density = 0.8") + SPECIES + PAIR, table(),
     [(10, 1, "distance"), (10, 2, "energy"), (10, 3, "force")]),
    ("n.alloy", METAL.format(extra="", pair='style = "eam/alloy"\n'
                                            'file = "n.alloy"'), alloy(),
     [(5, 1, "step of densities"), (6, 1, "mass"), (20, 0, "F\\(rho\\)"),
      (110, 0, "phi")]),
    ("n.eam", METAL.format(extra='potential = "n.eam"', pair='style = "eam"'),
     funcfl(), [(2, 1, "mass"), (50, 0, "Z\\(r\\)")]),
]
WRONG = [("0x1p3", "is hexadecimal"), ("inf", "is not a finite number"),
         ("-nan", "is not a finite number"), ("1e308", "is too large"),
         ("1e999", "is too large"), ("1,5", "has a comma"),
         ("1.5D+00", "has Fortran's exponent"), ("1.5x", "is not a number")]


def check_refused(name, deck, text, places):
    """Each wrong number at each place, with file, line, word and reason."""
    for line, word, what in places:
        missed = []
        for bad, why in WRONG:
            rows = text.splitlines()
            words = rows[line - 1].split()
            words[word] = bad
            rows[line - 1] = " ".join(words)
            mdrun.write(name, "\n".join(rows) + "\n")
            status, said = mdrun.refused(deck)
            if status != 2 or not re.search(
                    rf"{name}:{line}(:\d+)?: error: .*{what}.*'{re.escape(bad)}'"
                    f" {why}", said):
                missed.append((bad, status, said))
        if not tap.ok(not missed, f"{name}:{line}: wrong numbers are refused, "
                      f"word {word + 1} ({what or 'position'})"):
            tap.note(str(missed[:2]))


def check_cut(name, deck, text):
    """A last line without its end may be whole; that is told, and no more."""
    mdrun.write(name, text)
    status, whole = mdrun.refused(deck)
    mdrun.write(name, text.rstrip("\n"))
    other, said = mdrun.refused(deck)
    last = text.count("\n")
    tap.ok((status, other) == (0, 0) and "no end" not in whole and
           said.count(f"{name}:{last}: the file ends with a number and no end "
                      "of the line") == 1,
           f"{name}: without its last line's end it is read, with one warning")
    # In the middle of the row before: the counts tell, and so does the line.
    words = text.rstrip("\n").split("\n")
    mdrun.write(name, "\n".join(words[:-2]) + "\n" + words[-2][:3])
    status, said = mdrun.refused(deck)
    if not tap.ok(status == 2 and re.search(
            rf"{name}:{last - 1}.*in the middle of a line", said) or
            status == 2 and re.search(rf"{name}:{last}.*in the middle", said),
            f"{name}: cut before its end, the message says so"):
        tap.note(said)
    mdrun.write(name, text.rstrip("\n") + "\n# the end")
    status, said = mdrun.refused(deck)
    tap.ok("no end" not in said, f"{name}: a last word is not told of")


def check_marks():
    """What editors put before the first line is nothing."""
    mdrun.write("n.table", "\ufeff" + table())
    status, said = mdrun.refused(CASES[2][1])
    tap.ok(status == 0, "a byte order mark before a table changes nothing")
    mdrun.write("n.eam", "")
    status, said = mdrun.refused(CASES[4][1])
    tap.ok(status == 2 and "n.eam:1: error: " in said,
           "an empty file ends before its line 1")


def check_gromacs():
    """.gro files have columns, topologies sections."""
    for name, what, by, want in (
            ("conf.gro", r"\A([^\n]*\n[^\n]*\n.{20}).{13}", r"\g<1>        1e200",
             r"conf.gro:3: error: position x: '1e200' is too large"),
            ("conf.gro", r"[0-9.]+ *\n\Z", "0x3\n",
             r"conf.gro:131: error: the box: '0x3' is hexadecimal"),
            ("conf.gro", r"\n128\n", "\n0x80\n",
             r"conf.gro:2: error: expected the number of atoms"),
            ("topol.top", r"SOL 24", "SOL 2,4",
             r"topol.top:\d+: error: .*'2,4' has a comma"),
            ("ff/types.itp", r"12\.011", "inf",
             r"types.itp:\d+: error: .*'inf' is not a finite number"),
            ("topol.top", r"SOL 24\n\Z", "SOL 24",
             r"topol.top:\d+: the file ends with a number and no end")):
        gromacs_cases.write("opls", "wrong")
        path = os.path.join("wrong", name)
        with open(path, encoding="utf-8") as f:
            text = f.read()
        changed = re.sub(what, by, text, count=1)
        with open(path, "w", encoding="utf-8") as f:
            f.write(changed)
        _, said = mdrun.refused(gromacs_cases.deck("wrong"))
        if not tap.ok(changed != text and re.search(want, said),
                      f"told: {want.replace(chr(92), '')}"):
            tap.note(said)


for case in CASES:
    mdrun.write(case[0], case[2])
    check_refused(*case)
    check_cut(*case[:3])
check_marks()
check_gromacs()
tap.done()
