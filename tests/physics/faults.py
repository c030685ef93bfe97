"""Physics and start files that are wrong are named: what, where, which particle.

The program ends by itself with the right exit status on every rank count: 2 for
what is wrong in the input, 3 where the physics failed.
"""

import re

import tap

tap.need("numpy", "h5py")

import numpy as np

import mdrun

RANKS = mdrun.rank_counts(1, 3)
DECK = """
[run]
solver = "md"
[md]
timestep = 0.005
steps = 500
[md.initial]
lattice = "fcc"
cells = [5, 5, 5]
density = 0.8442
temperature = 1.44
[md.pair]
style = "lj"
cutoff = 2.5
skin = 0.3
[md.ensemble]
type = "nve"
"""
READ = """
[run]
solver = "md"
[md]
steps = 10
[md.initial]
read = "start.xyz"
[md.pair]
style = "lj"
cutoff = 2.5
skin = 0.3
[md.ensemble]
type = "nve"
"""


def says(got, status, patterns, sentence):
    code, text = got
    missing = [p for p in patterns if not re.search(p, text)]
    if not tap.ok(code == status and not missing, sentence):
        tap.note(f"status {code}, want {status}; not said: {missing}\n"
                 f"{text[-1500:]}")


# ---- the physics fails ----
for ranks in RANKS:
    says(mdrun.refused(DECK, "md.timestep=0.5", ranks=ranks), 3,
         [r"step \d+", r"particle \d+", r"timestep"],
         f"a timestep a hundred times too long: step and id ({ranks} ranks)")
    says(mdrun.refused(DECK, "md.timestep=1e30", ranks=ranks), 3,
         [r"step \d+"], f"a timestep of 1e30 ends at once ({ranks} ranks)")

for ranks in RANKS:
    for velocity in "1e149", "1e25":
        mdrun.write("start.xyz", '2\nLattice="8 0 0 0 8 0 0 0 8" Properties='
                    f"species:S:1:pos:R:3:vel:R:3\nA 1 1 1 0 {velocity} 0\n"
                    "A 4 4 4 0 0 0\n")
        code, said = mdrun.refused(READ, ranks=ranks)
        tap.ok(code == 3 and re.search(r"step 1: particle 1 at .* of the start "
                                       "is far from what its unit is for",
                                       said) and "nan" not in said,
               f"a velocity of {velocity} ends at once, with its particle and "
               f"what may be wrong ({ranks} ranks)")

# ---- the box ----
for ranks in RANKS:
    says(mdrun.refused(DECK, "md.initial.cells=[2,5,5]", ranks=ranks), 2,
         [r"cutoff", r"half"],
         f"a cutoff over half the box is refused with the reason ({ranks} "
         "ranks)")
side = 5 * (4 / 0.8442) ** (1 / 3)
says(mdrun.refused(DECK, f"md.pair.cutoff={side / 2 + 1e-9!r}"), 2,
     [r"cutoff", r"half"], "half the box and a billionth is refused")
r = mdrun.run(DECK, f"md.pair.cutoff={side / 2 - 1e-12!r}", "md.steps=5")
tap.is_(r.n, 500, "just below half the box is accepted")

# ---- start files ----
BOX = 'Lattice="8 0 0 0 8 0 0 0 8" Properties=species:S:1:pos:R:3'
GOOD = ["A 1.0 1.0 1.0", "A 3.0 1.0 1.0", "A 5.0 5.0 5.0"]


def start(*lines):
    mdrun.write("start.xyz", "\n".join(lines) + "\n")


start("3", BOX, *GOOD)
tap.is_(mdrun.run(READ).n, 3, "a good extended XYZ file runs")

for ranks in RANKS:
    start("3", BOX, GOOD[0], "A 3.0 1.0x 1.0", GOOD[2])
    says(mdrun.refused(READ, ranks=ranks), 2, [r"start\.xyz:4:\d+: "],
         f"a word where a number should be: line 4 and column ({ranks} ranks)")
    start("3", BOX, GOOD[0], "A 3.0 nan 1.0", GOOD[2])
    says(mdrun.refused(READ, ranks=ranks), 2, [r"start\.xyz:4:\d+: "],
         f"a position that is not a number: line 4 and column ({ranks} ranks)")
    start("3", BOX, GOOD[0], "A 1.0 1.0 1.05", GOOD[2])
    says(mdrun.refused(READ, ranks=ranks), 2,
         [r"\b1\b.*\b2\b", r"0\.05"],
         f"overlapping particles: the pair and its distance ({ranks} ranks)")
    start("3", BOX, GOOD[0], "A 1.0 1.0 1.0", GOOD[2])
    says(mdrun.refused(READ, ranks=ranks), 2, [r"\b1\b.*\b2\b"],
         f"two particles on one spot: the pair ({ranks} ranks)")
    start("3", BOX, "A 0.02 4.0 4.0", "A 7.98 4.0 4.0", GOOD[2])
    says(mdrun.refused(READ, ranks=ranks), 2, [r"\b1\b.*\b2\b", r"0\.04"],
         f"an overlap through the periodic face is seen ({ranks} ranks)")

for lines, where, sentence in (
    (["3", BOX, *GOOD[:2]], r"start\.xyz:", "a file that ends early"),
    (["2", BOX, *GOOD], r"start\.xyz:5", "more lines than announced: line 5"),
    (["many", BOX, *GOOD], r"start\.xyz:1:", "no particle count: line 1"),
    (["-3", BOX, *GOOD], r"start\.xyz:1:", "a negative count: line 1"),
    (["3", "Properties=species:S:1:pos:R:3", *GOOD], r"start\.xyz|domain.size",
     "no box anywhere"),
    (["3", BOX.replace("8 0 0 0 8", "8 1 0 0 8"), *GOOD], r"start\.xyz:2:",
     "a cell that is turned: line 2"),
    (["3", BOX, GOOD[0], "Q 3.0 1.0 1.0", GOOD[2]], r"start\.xyz:4:.*Q",
     "an unknown species: line 4 and its name"),
    (["3", BOX, GOOD[0], "A 3.0 1.0", GOOD[2]], r"start\.xyz:4:",
     "a missing number: line 4"),
    ([], r"start\.xyz", "an empty file"),
):
    start(*lines)
    says(mdrun.refused(READ), 2, [where], f"start file: {sentence}")

says(mdrun.refused(READ, 'md.initial.read="nowhere.xyz"'), 2,
     [r"nowhere\.xyz"], "a missing start file is named")

# ---- species ----
TWO = DECK + """
[[md.species]]
name = "A"
fraction = 0.5
[[md.species]]
name = "B"
fraction = 0.5
[[md.pair.coefficients]]
species = ["A", "A"]
epsilon = 1.0
sigma = 1.0
"""
says(mdrun.refused(TWO), 2, [r"B", r"coefficients"],
     "a species without coefficients is named")
says(mdrun.refused(TWO.replace('"A", "A"', '"A", "C"')), 2, [r"C"],
     "coefficients for an unknown species are refused")
tap.done()
