"""Pair coefficients of a LAMMPS data file: "Pair Coeffs" of like types, which mix,
and "PairIJ Coeffs" of all, as `write_data NAME pair ij` makes them; numbers of
other styles than Lennard-Jones are not taken for its own."""

import shutil

import tap

tap.need("numpy", "h5py")

import numpy as np

import mdrun

CUTOFF = 2.4
EPSILON = np.array([[1.0, 0.8, 0.5], [0.8, 0.7, 0.9], [0.5, 0.9, 0.4]])
SIGMA = np.array([[1.0, 0.9, 1.1], [0.9, 0.8, 1.05], [1.1, 1.05, 1.2]])
ENDS = np.array([[2.4, 2.0, 2.4], [2.0, 2.4, 2.1], [2.4, 2.1, 2.4]])
DECK = f"""[run]
solver = "md"
[md]
timestep = 0.002
steps = 0
[md.initial]
read = "pairs.data"
overlap = 0
[md.pair]
cutoff = {CUTOFF}
shift = "energy"
[output]
fields = ["position", "force"]
"""
BOX, X = mdrun.jittered_box(11, cells=(5, 4, 6))
KIND = np.random.default_rng(4).integers(0, 3, len(X))


def data(section):
    """The file with this section, ahead of the atoms; the line of its third row."""
    mdrun.lammps_data("plain.data", BOX, X, KIND, [1.0, 2.0, 3.0])
    with open("plain.data", encoding="utf-8") as f:
        text = f.read()
    mdrun.write("pairs.data", text.replace("\nAtoms", section + "\nAtoms"))
    return text[:text.index("\nAtoms")].count("\n") + 6


def all_pairs(style="lj/cut", ends=False):
    rows = []
    for a in range(3):
        for b in range(a, 3):
            more = f" {ENDS[a, b]}" if ends else ""
            rows.append(f"{a + 1} {b + 1} {EPSILON[a, b]} {SIGMA[a, b]}{more}")
    return f"\nPairIJ Coeffs # {style}\n\n" + "\n".join(rows) + "\n"


def compare(what, cutoff, ranks=1):
    energy, virial, force = mdrun.pair_sums(X, BOX, KIND, EPSILON, SIGMA, cutoff,
                                            "energy")
    got = mdrun.run(DECK, ranks=ranks)
    tap.near(got.observable("potential_energy")[0], energy,
             1e-12 * abs(energy), f"{what}: energy equals the plain sum")
    tap.near(got.observable("pressure")[0], virial / (3 * np.prod(BOX)),
             1e-12 * np.abs(force).max(), f"{what}: so does the pressure")
    tap.below(mdrun.worst(got.frame("force"), force), 1e-12,
              f"{what}: so do the forces")


LMP = """units lj
atom_style atomic
pair_style lj/cut {cutoff}
pair_modify shift yes
read_data pairs.data
thermo_style custom step pe
thermo_modify norm no format float %.15g
neighbor 0.3 bin
run 0
"""


def peer():
    """LAMMPS takes the same file for the same."""
    lmp = shutil.which("lmp")
    if lmp is None:
        tap.skip(1, "no program lmp on the PATH (LAMMPS)")
        return
    mdrun.write("peer.in", LMP.format(cutoff=CUTOFF))
    out = tap.run(lmp, "-in", "peer.in", "-log", "none").stdout.splitlines()
    head = next(i for i, line in enumerate(out)
                if line.split()[:2] == ["Step", "PotEng"])
    want = float(out[head + 1].split()[1])
    tap.near(mdrun.run(DECK).observable("potential_energy")[0], want,
             1e-12 * abs(want), "LAMMPS has this energy from the same file")


def refused(what, section, says, *overrides):
    row = data(section)
    status, said = mdrun.refused(DECK, *overrides)
    if not tap.ok(status == 2 and says.format(row=row) in said,
                  f"refused: {what}"):
        tap.note(f"{status}: {said}")


data(all_pairs(ends=True))
for n in mdrun.rank_counts(1, 3):
    compare(f"all pairs with their cutoffs, {n} ranks", ENDS, n)
peer()
data(all_pairs())
compare("all pairs", np.full((3, 3), CUTOFF))
good = all_pairs()
refused("a pair twice", good.replace("\n1 2 ", "\n3 1 "),
        "pairs.data:{row}: error: PairIJ Coeffs: the pair of types 1 and 3 "
        "stands twice")
refused("too few pairs", good.replace("\n3 3 0.4 1.2", ""),
        "error: PairIJ Coeffs: only 5 of 6 lines")
refused("a type beyond", good.replace("\n1 2 ", "\n1 4 "),
        "PairIJ Coeffs: the second type: 4 is outside of 1 to 3")
refused("one number", good.replace("\n1 2 0.8 0.9", "\n1 2 0.8"),
        "the pair coefficients of types 1 and 2 are not 2 to 4 numbers")
like = "\nPair Coeffs # {}\n\n" + "".join(
    f"{k} {a} {b} {c}\n" for k, a, b, c in
    ((1, 1.0, 2.0, 1.1), (2, 0.7, 2.1, 1.2), (3, 0.4, 1.9, 1.0)))
for style in ("morse", "buck", "lj/expand", "lj96/cut"):
    refused(f"coefficients of {style}", like.format(style),
            f"has pair coefficients of style '{style}'")
data(like.format("lj/cut"))
own = mdrun.run(DECK)
given = DECK + "".join(
    f'[[md.pair.coefficients]]\nspecies = ["{k}", "{k}"]\nepsilon = {a}\n'
    f"sigma = {b}\ncutoff = {c}\n" for k, a, b, c in
    ((1, 1.0, 2.0, 1.1), (2, 0.7, 2.1, 1.2), (3, 0.4, 1.9, 1.0)))
data(like.format("morse"))
tap.is_(mdrun.run(given).observable("potential_energy")[0],
        own.observable("potential_energy")[0],
        "where the deck has coefficients, those of the file do not count")
tap.done()
