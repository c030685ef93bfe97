"""Rigid water-like molecules for the tests: a file, decks, and their lengths."""

import numpy as np

import mdrun

MOLECULES, STEP, OH, ANGLE = 27, 3.6, 1.0, 109.47


def data_file(path, charge=0.4):
    """A cube of molecules with oxygen, two hydrogens, at random orientations."""
    rng = np.random.default_rng(3)
    half = np.radians(ANGLE / 2)
    shape = OH * np.array([[0, 0, 0], [np.sin(half), 0, np.cos(half)],
                           [-np.sin(half), 0, np.cos(half)]])
    rows, n = [], 1
    for cell in np.ndindex(3, 3, 3):
        turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
        at = (np.array(cell) + 0.5) * STEP
        for k, x in enumerate(shape @ turn + at):
            q = -2 * charge if k == 0 else charge
            rows.append(f"{n} {(n + 2) // 3} {1 + (k > 0)} {q} "
                        + " ".join(f"{v:.15g}" for v in x))
            n += 1
    bonds = [f"{2 * m + k + 1} 1 {3 * m + 1} {3 * m + 2 + k}"
             for m in range(MOLECULES) for k in range(2)]
    angles = [f"{m + 1} 1 {3 * m + 2} {3 * m + 1} {3 * m + 3}"
              for m in range(MOLECULES)]
    text = ["rigid water", "", f"{3 * MOLECULES} atoms", f"{len(bonds)} bonds",
            f"{len(angles)} angles", "2 atom types", "1 bond types",
            "1 angle types", ""]
    text += [f"0 {3 * STEP} {c}lo {c}hi" for c in "xyz"]
    text += ["", "Masses", "", "1 15.9994 # O", "2 1.008 # H", "",
             "Bond Coeffs # harmonic", "", f"1 450 {OH}", "",
             "Angle Coeffs # harmonic", "", f"1 55 {ANGLE}", "",
             "Atoms # full", ""] + rows + ["", "Bonds", ""] + bonds
    text += ["", "Angles", ""] + angles
    mdrun.write(path, "\n".join(text) + "\n")


DECK = """[run]
solver = "md"
units = "real"
seed = 4
[md]
timestep = 0.5
steps = 300
[md.initial]
read = "water.data"
{start}
[md.pair]
cutoff = 5.0
skin = 1.0
shift = "force"
[[md.pair.coefficients]]
species = ["O", "O"]
epsilon = 0.1554
sigma = 3.166
[md.coulomb]
method = "dsf"
cutoff = 5.0
[md.constraints]
rigid_water = ["O", "H"]
{more}
[output]
observables_every = 10
frames_every = 100
frame_precision = "double"
fields = ["position", "velocity", "image"]
"""


def deck(name, walls=False, minimize=False):
    data_file("water.data")
    more = "".join(f'[[md.walls]]\nface = "{f}"\nstyle = "lj93"\n'
                   'epsilon = 0.5\nsigma = 1.6\ncutoff = 5.0\n'
                   'species = ["O"]\n'
                   for f in ("zlo", "zhi")) if walls else ""
    start = "temperature = 300.0\n"
    if minimize:
        start = ("[md.minimize]\nforce = 1e-6\nsteps = 6000\n"
                 "longest_step = 0.2\n")
    return DECK.format(start=start, more=more)


def worst_length(r, index=-1):
    """The greatest relative error of a bond, through periodic faces."""
    x = r.frame("position", index).reshape(MOLECULES, 3, 3)
    box = r.edges()
    hh = 2 * OH * np.sin(np.radians(ANGLE / 2))
    worst = 0
    for a, b, want in ((0, 1, OH), (0, 2, OH), (1, 2, hh)):
        d = x[:, a] - x[:, b]
        d -= box * np.rint(d / box)
        worst = max(worst, np.abs(np.sqrt((d * d).sum(1)) / want - 1).max())
    return worst
