"""Systems in GROMACS's files: energies by term and virials beside its own, in other
units, over ranks; rigid water of [ settles ]; and files that are wrong."""

import os
import re
import resource

import tap

tap.need("numpy", "h5py")

import numpy as np

import gromacs_cases as cases
import mdrun

# Bonded terms agree to rounding. Coulomb's constant is LAMMPS's, with eight
# digits, of which the last is 1e-8 off; Lennard-Jones comes from r^-12 in
# another order.
TOLERANCE = {"lj": 1e-10, "coulomb": 2e-8, "potential": 2e-8}


def compare(got, want, sentence):
    scale = max(abs(v) for k, v in want.items() if k.startswith("virial"))
    worst, term = 0, ""
    for k, v in want.items():
        size = scale if k.startswith("virial") else max(abs(v), 1e-6)
        off = abs(got[k] - v) / size / TOLERANCE.get(
            k, 1e-8 if k.startswith("virial") else 1e-11)
        if not off <= worst:
            worst, term = off, k
    if not tap.ok(worst <= 1, sentence):
        tap.note(f"{term}: got {got[term]!r}, want {want[term]!r}")


for family in cases.VALUES:
    cases.write(family, family)
    r = mdrun.run(cases.deck(family), name=family)
    compare(cases.energies(r), cases.VALUES[family],
            f"{family}: energies by term and virial are those of GROMACS")

r = mdrun.run(cases.deck("charmm", units="metal"), name="metal")
e_volt = 96.48533212331  # kJ/mol
got = cases.energies(r, energy=e_volt, pressure=1.0)
want = cases.VALUES["charmm"]
tap.below(max(abs(got[k] / want[k] - 1)
              for k in ("bond", "angle", "dihedral", "improper", "lj")), 1e-10,
          "metal units give the same energies, relatively")

if tap.have_mpi():
    r4 = mdrun.run(cases.deck("amber"), name="four", ranks=4)
    compare(cases.energies(r4), cases.VALUES["amber"],
            "four ranks give the same energies and virial")
else:
    tap.skip(1, "built without MPI")

r = mdrun.run(cases.deck("opls", define="", steps=5).replace("1 fs", "0.1 fs"),
              name="rigid")
x = r.frame("position")[7 * cases.CHAINS:].reshape(-1, 3, 3) / 10


def length(a, b):
    d = x[:, a] - x[:, b]
    d -= np.array(cases.BOX) * np.rint(d / cases.BOX)
    return np.sqrt((d * d).sum(1))


off = max(np.abs(length(0, 1) - 0.1).max(), np.abs(length(0, 2) - 0.1).max(),
          np.abs(length(1, 2) - 0.1633).max())
tap.below(off, 2e-9, "[ settles ] holds water's three distances, nm")

# 18 pairs of a chain and 3 of a water are up to 3 and 2 bonds apart.
said = tap.warpdeck("check", mdrun.write("count.toml", cases.deck("opls")),
                    "--measure", "0").stdout
tap.ok(" 96 bonds, 72 angles, 56 dihedrals, 216 pairs that bonds exclude or "
       "scale\n" in said, "check counts the terms of all molecules")

# ---- short texts that stand for much ----


def change(name, what, by):
    """One of opls's files, in the folder wrong, with a change."""
    cases.write("opls", "wrong")
    path = os.path.join("wrong", name)
    with open(path, encoding="utf-8") as f:
        text = f.read()
    with open(path, "w", encoding="utf-8") as f:
        f.write(re.sub(what, by, text, count=1))


def nested(levels, times, last):
    """x0 is `last`, and each further one its predecessor some times over."""
    return f"#define x0 {last}\n" + "".join(
        f"#define x{k} " + " ".join([f"x{k - 1}"] * times) + "\n"
        for k in range(1, levels))


change("ff/bonded.itp", "#define turn_c (.*)",
       nested(15, 1, r"\1") + "#define turn_c x14")
r = mdrun.run(cases.deck("wrong"), name="nested")
compare(cases.energies(r), cases.VALUES["opls"],
        "definitions within one another, 16 of them, change nothing")

change("topol.top", r"\A", "\ufeff")
r = mdrun.run(cases.deck("wrong"), name="marked")
compare(cases.energies(r), cases.VALUES["opls"],
        "a byte order mark before a topology changes nothing")

# Molecules of a mixture in any order, a line each. Once the time went up with the
# square of the lines: 77 s for these.
change("topol.top", r"SOL 24\n", "SOL 1\nSOL 0\n" * 200_000)
before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
status, said = mdrun.refused(cases.deck("wrong"))
took = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before
tap.ok(status == 2 and "conf.gro:2: " in said and "have 600056" in said,
       "a topology of 400000 lines of molecules is read")
tap.below(took, 10, "in seconds")

# ---- files that are wrong ----

WRONG = [
    ("topol.top", r"ff\.itp", "gone.itp", r"topol.top:2: .*'gone.itp'"),
    ("ff/types.itp", r"\A", '#include "ff.itp"\n', r"circle"),
    ("topol.top", r"SOL 24", "SOL 23",
     r"conf.gro:2: .*128 atoms, but .* have 125"),
    ("topol.top", r"1 opls_1 ", "1 opls_9 ",
     r"topol.top:6: error: \[ atoms \].*opls_9"),
    ("topol.top", r"\[ bonds \]", "[ bonds ]\n5 7 1",
     r"topol.top:14: error: \[ bonds \]: no parameters .* HC-HC"),
    ("topol.top", r"\[ bonds \]", "[ bonds ]\n1 2 4",
     r"\[ bonds \]: function 4 is not computed"),
    ("topol.top", r"\[ bonds \]", "[ bonds ]\n1 8 1",
     r"atom 8, but molecule 'CHN' has 7"),
    ("topol.top", r"\[ pairs \]", "[ virtual_sites2 ]\n1 2 3 1 0.5\n[ pairs ]",
     r"\[ virtual_sites2 \]: the section is not computed"),
    ("topol.top", r"\[ angles \]", "#ifdef NOWHERE\n[ angles ]",
     r"without its #endif"),
    ("ff/ff.itp", r"\n1 3 yes", "\n2 3 yes", r"\[ defaults \]: nbfunc 2"),
    ("ff/bonded.itp", r"NT NT|CT NT 1 0.1448 319657.6", "CT NT 1 0.1448",
     r"bonded.itp:4: .*takes 2 numbers, not 1"),
    ("ff/bonded.itp", r"180 4\.6 2", "180 4.6 7",
     r"bonded.itp:\d+: error: \[ dihedraltypes \]: the multiplicity, 7, is"),
    ("topol.top", r"CHN 8", "CHM 8", r"no \[ moleculetype \] 'CHM'"),
    ("ff/bonded.itp", r"#define turn_c .*",
     nested(16, 1, "2 2 2 2 2 2") + "#define turn_c x15",
     r"bonded.itp:29: error: \[ dihedraltypes \]: the definition of 'x0' stands "
     r"within 16 others, or within itself; write"),
    ("ff/bonded.itp", r"#define turn_c .*",
     nested(15, 9, "") + "#define turn_c x14",
     r"bonded.itp:28: error: \[ dihedraltypes \]: definitions within one "
     r"another are put in place more than 32768 times in this line; write"),
    ("ff/bonded.itp", r"#define turn_c .*",
     nested(15, 9, "2") + "#define turn_c x14",
     r"bonded.itp:28: error: .*more than 8192 words"),
    ("conf.gro", r"[0-9. ]*\n\Z", " 2.5 2.6 2.7 0.3 0 0 0 0 0\n",
     r"conf.gro:131: .*first edge"),
    ("conf.gro", r"\n[^\n]*\n\Z", "\n", r"conf.gro:131: .*ends here"),
    ("conf.gro", r"\A([^\n]*\n[^\n]*\n.{25})...", r"\1abc",
     r"conf.gro:3: .*position x: '0.abc\d+' is not a number"),
]
for name, what, by, want in WRONG:
    change(name, what, by)
    status, said = mdrun.refused(cases.deck("wrong"))
    if not tap.ok(status == 2 and re.search(want, said),
                  f"refused: {want.replace(chr(92), '')}"):
        tap.note(f"status {status}: {said}")

change("topol.top", r"\A", '#include "twice0.itp"\n')
for k in range(20):
    with open(f"wrong/twice{k}.itp", "w", encoding="utf-8") as f:
        f.write(f'#include "twice{k + 1}.itp"\n' * 2 if k < 19 else "\n")
status, said = mdrun.refused(cases.deck("wrong"))
tap.ok(status == 2 and re.search(
    r"twice\d+.itp:[12]: error: more than 10000 files are included; include "
    "each", said), "files that include one another twice are refused")

status, said = mdrun.refused(re.sub(r'"(\S+) (fs|nm)"', r"\1",
                                    cases.deck("opls", units="lj")))
tap.ok(status == 2 and "lj units" in said, "lj units are refused")
status, said = mdrun.refused(
    cases.deck("opls").replace('topology = "opls/topol.top"', ""))
tap.ok(status == 2 and "md.initial.topology" in said,
       "a .gro file without its topology is refused")
tap.done()
