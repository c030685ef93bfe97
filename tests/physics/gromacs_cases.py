"""Small systems in the files of GROMACS: four force fields of our own, one of each
family of functions and rules, with a chain of seven atoms and SPC/E water. What
gmx_d 2022.5 gave for them, in kJ/mol (Debian's gromacs), stands in VALUES."""

import os
import re
import shutil
import subprocess

import numpy as np

import tap

KCAL = 4.184  # kJ/mol
BOX = (2.5, 2.6, 2.7)
CUTOFF = 1.1  # nm
CHAINS, WATERS = 8, 24

# 1-2-3-4-5, and 6-7 on the third.
CHAIN = np.array([[0.00, 0.00, 0.00], [0.15, 0.02, 0.01], [0.21, 0.16, 0.00],
                  [0.36, 0.17, 0.03], [0.41, 0.29, -0.05], [0.14, 0.26, 0.09],
                  [0.19, 0.35, 0.16]])
WATER = np.array([[0, 0, 0], [0.0816495809, 0.0577350269, 0],
                  [-0.0816495809, 0.0577350269, 0]])
NAMES = ["C1", "C2", "C3", "C4", "H5", "N6", "H7"]

DEFAULTS = {"opls": "1 3 yes 0.5 0.5", "amber": "1 2 yes 0.5 0.8333",
            "charmm": "1 2 yes 1.0 1.0", "gromos": "1 1 no 1.0 1.0"}

# name, bonded type, number, mass, charge, letter, two numbers; each family has
# other columns.
TYPES = {
    "opls": """opls_1 CT 6 12.011 -0.12 A 0.35 0.276144
opls_2 NT 7 14.0067 -0.3 A 0.325 0.71128
opls_3 HC 1 1.008 0.06 A 0.25 0.12552
""",
    "amber": """CT 12.01 0.0 A 3.39967e-01 4.57730e-01
N3 7 14.01 0.0 A 3.25000e-01 7.11280e-01 ; with its number
HC 1.008 0.0000 A 2.64953e-01 6.56888e-02
""",
    "charmm": """CT 6 12.011 0.1 A 0.405358916754 0.08368
N3 7 14.007 0.1 A 0.329632525712 0.8368
HC 1 1.008 0.1 A 0.0400013524445 0.192464
""",
    "gromos": """CT 6 12.011 0.0 A 0.0023406244 4.937284e-06
N3 7 14.0067 0.0 A 0.0024364096 2.319529e-06
HC 1 1.008 0.0 A 8.464e-05 1.5129e-08
""",
}
WATER_TYPES = {
    "gromos": "OW 8 15.9994 0.0 A 0.0026173456 2.634129e-06\n"
              "HW 1 1.008 0.0 A 0.0 0.0\n",
}
SPCE_TYPES = {
    "opls": "OW OW 8 15.9994 -0.8476 A 0.316557 0.650194\n"
            "HW HW 1 1.008 0.4238 A 0 0\n",
    "amber": "OW 15.9994 0.0 A 0.316557 0.650194\nHW 1.008 0.0 A 0 0\n",
    "charmm": "OW 8 15.9994 0.0 A 0.316557 0.650194\n"
              "HW 1 1.008 0.0 A 0 0\n",
}

# Pairs of types beside the rule: LJ of a pair, and of a 1-4 pair.
PAIRS = {
    "opls": "", "amber": "[ nonbond_params ]\nN3 OW 1 0.31 0.9\n",
    "charmm": "[ pairtypes ]\nCT CT 1 0.338541512893 0.04184\n"
              "HC CT 1 0.2 0.05\n",
    "gromos": "[ nonbond_params ]\nCT OW 1 0.0025 3.0e-06\n[ pairtypes ]\n"
              "CT CT 1 0.0022 3.4e-06\nCT HC 1 0.0004 2.7e-07\n"
              "HC HC 1 8.464e-05 1.5129e-08\nCT N3 1 0.002 2.0e-06\n"
              "HC N3 1 0.0004 2.0e-07\n",
}

ANGLES = {
    "charmm": """CT CT CT 5 113.6 488.2728 0.2561 9338.688
CT CT HC 5 110.1 221.752 0.2179 18853.104
CT CT N3 5 110.0 566.5136 0.0 0.0
CT N3 HC 5 109.5 251.04 0.2056 5020.8
""",
    None: """CT CT CT 1 112.7 488.273
HC CT CT 1 110.7 313.8
CT CT N3 1 111.2 669.44
CT N3 HC 1 109.5 292.88
""",
}

DIHEDRALS = {
    "opls": """#define turn_c 2.9288 -1.4644 0.2092 -1.6736 0.1 0.05
[ dihedraltypes ]
CT CT CT CT 3 turn_c
HC CT CT CT 3 0.6276 1.8828 0.0 -2.5104 0.0 0.0
CT CT CT N3 5 3.3 -1.2 2.7 0.4
CT CT N3 HC 5 -0.8 -1.7 2.6 0.0
HC CT CT N3 3 -4.0961 5.0877 2.9664 -3.9580 0.0 0.0
CT CT N3 CT 1 180 4.6 2
""",
    "amber": """[ dihedraltypes ]
X CT CT X 9 0.0 0.65084 3
CT CT CT CT 9 180.0 0.83680 1
CT CT CT CT 9 180.0 1.04600 2
CT CT CT CT 9 0.0 0.75312 3
X CT N3 X 9 20.0 1.2 3
CT X X N3 4 180.0 43.93200 2
""",
    "charmm": """[ dihedraltypes ]
CT CT CT CT 9 0.0 0.6276 1
CT CT CT CT 9 180.0 0.4 6
X CT CT X 9 0.0 0.8368 3
X CT N3 X 9 0.0 0.4184 3
CT X X N3 2 31.0 376.56
""",
    "gromos": """[ dihedraltypes ]
CT CT 1 0.0 5.92 3
CT N3 1 180.0 1.0 6
CT N3 2 35.26439 334.84617
""",
}

SPCE = """[ moleculetype ]
SOL 2
[ atoms ]
1 OW 1 SOL OW 1 -0.8476
2 HW 1 SOL HW1 1 0.4238 1.008
3 HW 1 SOL HW2 1 0.4238 1.008
#ifndef FLEXIBLE
[ settles ]
1 1 0.1 0.16330
[ exclusions ]
1 2 3
2 1 3
3 1 2
#else
[ bonds ]
1 2 1 0.1 345000 0.1 345000
1 3 1 0.1 345000
[ angles ]
2 1 3 1 109.47 383
#endif
"""

BONDS = "1 2|2 3|3 4|4 5|3 6|6 7"
BENDS = "1 2 3|2 3 4|2 3 6|4 3 6|3 4 5|3 6 7"
TURNS = "1 2 3 4|1 2 3 6|2 3 4 5|6 3 4 5|2 3 6 7|4 3 6 7"


def lines(text, funct):
    return "".join(f"{row} {funct}\n" for row in text.split("|"))


def chain(family):
    """The molecule: 1-4 pairs are the ends of its dihedrals."""
    opls = family == "opls"
    types = {"C": "opls_1" if opls else "CT", "N": "opls_2" if opls else "N3",
             "H": "opls_3" if opls else "HC"}
    charges = [0.1, -0.2, 0.35, -0.1, 0.15, -0.5, 0.2]
    text = f"[ moleculetype ]\nCHN {2 if family == 'gromos' else 3}\n[ atoms ]\n"
    for k, (name, q) in enumerate(zip(NAMES, charges)):
        text += f"{k + 1} {types[name[0]]} 1 CHN {name} 1 {q}\n"
    turns = {"opls": None, "amber": 9, "charmm": 9, "gromos": 1}[family]
    rows = TURNS.split("|")
    if opls:
        functs = dict(zip(rows, [3, 5, 3, 3, 5, 5]))
        dihedrals = "".join(f"{r} {functs[r]}\n" for r in rows)
    else:
        dihedrals = lines(TURNS, turns)
    improper = {"opls": "2 4 3 6 1 180 10.46 2\n", "amber": "2 3 4 6 4\n",
                "charmm": "2 3 4 6 2\n", "gromos": "2 3 4 6 2\n"}[family]
    pairs = lines("|".join(" ".join((r.split()[0], r.split()[3]))
                           for r in rows), 1)
    extra = {"gromos": "1 7 1 0.002 1e-06\n",
             "amber": "1 7 2 0.5 0.3 -0.2 0.3 0.4\n"}.get(family, "")
    exclusions = "[ exclusions ]\n1 7\n" if family == "gromos" else ""
    last = {"charmm": "3 7 6 0.21 1200\n", "amber": "5 7 3 0.3 5.0 10.0\n"}
    return (text + "[ bonds ]\n" + lines(BONDS, 1) + last.get(family, "")
            + "[ angles ]\n" + lines(BENDS, 5 if family == "charmm" else 1)
            + "[ dihedrals ]\n" + dihedrals + improper + "[ pairs ]\n" + pairs
            + extra + exclusions)


def write(family, folder):
    """conf.gro and topol.top with its includes into a folder."""
    os.makedirs(os.path.join(folder, "ff"), exist_ok=True)
    bonds = ("CT CT 1 0.1529 224262.4\nHC CT 1 0.109 284512\nCT N3 1 0.1448 "
             "319657.6\nHC N3 1 0.101 363171.2\n")
    angles = ANGLES.get(family, ANGLES[None])
    dihedrals = DIHEDRALS[family]
    if family == "opls":
        bonds, angles = bonds.replace("N3", "NT"), angles.replace("N3", "NT")
        dihedrals = dihedrals.replace("N3", "NT")
    parts = {
        "ff/ff.itp": f"* a comment\n[ defaults ]\n{DEFAULTS[family]}\n"
                     "#include \"types.itp\"\n#include \"bonded.itp\"\n",
        "ff/types.itp": "[ atomtypes ]\n" + TYPES[family]
                        + SPCE_TYPES.get(family, WATER_TYPES["gromos"])
                        + PAIRS[family],
        "ff/bonded.itp": "[ bondtypes ]\n" + bonds + "[ angletypes ]\n"
                         + angles + dihedrals,
        "topol.top": f"; {family}\n#include \"ff.itp\"\n" + chain(family)
                     + SPCE + f"[ system ]\n{family}\n[ molecules ]\n"
                     f"CHN {CHAINS}\nSOL {WATERS}\n",
    }
    for name, text in parts.items():
        with open(os.path.join(folder, name), "w", encoding="utf-8") as f:
            f.write(text)
    write_gro(os.path.join(folder, "conf.gro"))


def places():
    """Turned copies of the molecules on the places of a grid."""
    rng = np.random.default_rng(4)
    grid = np.array([[x, y, z] for x in range(3) for y in range(3)
                     for z in range(4)], float)
    grid = grid[rng.permutation(36)]
    grid = (grid + 0.5) * np.array(BOX) / np.array([3, 3, 4])
    x, names = [], []
    for k in range(CHAINS + WATERS):
        shape = CHAIN if k < CHAINS else WATER
        q, _ = np.linalg.qr(rng.normal(size=(3, 3)))
        q *= np.linalg.det(q)
        jitter = rng.normal(0, 0.004, shape.shape) if k < CHAINS else 0
        x.append((shape - shape.mean(0) + jitter) @ q.T + grid[k])
        names += NAMES if k < CHAINS else ["OW", "HW1", "HW2"]
    return np.concatenate(x), names


def write_gro(path):
    x, names = places()
    v = np.random.default_rng(5).normal(0, 0.3, x.shape)
    with open(path, "w", encoding="utf-8") as f:
        f.write(f"chains and water\n{len(x)}\n")
        for k, name in enumerate(names):
            chain_ = k < 7 * CHAINS
            number = k // 7 if chain_ else CHAINS + (k - 7 * CHAINS) // 3
            f.write("%5d%-5s%5s%5d" % (number + 1, "CHN" if chain_ else "SOL",
                                       name, k + 1)
                    + "%13.8f%13.8f%13.8f" % tuple(x[k])
                    + "%13.9f%13.9f%13.9f" % tuple(v[k]) + "\n")
        f.write("%13.8f%13.8f%13.8f\n" % BOX)


DECK = """[run]
solver = "md"
units = "{units}"
[md]
timestep = "1 fs"
steps = {steps}
pressure_tensor = true
[md.initial]
read = "{folder}/conf.gro"
topology = "{folder}/topol.top"
include = [{include}]
{define}overlap = 0
[md.pair]
cutoff = "{cutoff} nm"
[md.coulomb]
method = "{method}"
[output]
fields = ["position", "velocity", "force"]
"""


def deck(folder, units="real", steps=0, define="FLEXIBLE", cutoff=CUTOFF,
         method="cut", include=None):
    return DECK.format(units=units, steps=steps, folder=folder, method=method,
                       cutoff=cutoff,
                       include=f'"{include or folder + "/ff"}"',
                       define=f'define = ["{define}"]\n' if define else "")


def energies(result, energy=KCAL, pressure=1.01325, box=BOX):
    """The terms of a run at step 0 in kJ/mol, and the virial as GROMACS has it
    (-1/2 sum of r f), with velocities taken out of the pressure."""
    def at(name):
        return result.observable(name)[0] * energy

    volume = np.prod(box) / 16.6053906717  # bar nm3 in kJ/mol
    out = {"bond": at("bond_energy"), "angle": at("angle_energy"),
           "dihedral": at("dihedral_energy"),
           "improper": at("improper_energy"), "lj": at("pair_energy"),
           "cmap": at("cmap_energy") if result.has("cmap_energy") else 0,
           "coulomb": at("coulomb_energy"),
           "potential": at("potential_energy")}
    mass = result.constant("mass")
    v = result.frame("velocity", 0)
    # (g/mol) (angstrom/fs)^2 = 1e4 kJ/mol; in (angstrom/ps)^2 1e-2
    per = 1e4 if energy == KCAL else 1e-2
    for a, b in ("xx", "yy", "zz", "xy"):
        i, j = "xyz".index(a), "xyz".index(b)
        moving = per * (mass * v[:, i] * v[:, j]).sum()
        stress = result.observable(f"pressure_{a}{b}")[0] * pressure * volume
        out["virial " + a + b] = -0.5 * (stress - moving)
    return out


# ---- GROMACS itself ----

MDP = """include = {include}
integrator = md
nsteps = 0
dt = 0.001
define = {define}
cutoff-scheme = Verlet
verlet-buffer-tolerance = -1
nstlist = 1
rlist = {rlist}
coulombtype = {coulomb}
coulomb-modifier = None
rcoulomb = {cutoff}
ewald-rtol = {rtol}
fourierspacing = 0.05
pme-order = 8
vdwtype = Cut-off
vdw-modifier = None
rvdw = {cutoff}
nstenergy = 1
nstcalcenergy = 1
nstfout = 1
constraints = none
continuation = yes
comm-mode = None
gen-vel = no
"""
TERMS = {"bond": ["Bond", "Harmonic Pot.", "Morse"], "angle": ["Angle", "U-B"],
         "dihedral": ["Proper Dih.", "Ryckaert-Bell.", "Per. Imp. Dih.",
                      "Fourier Dih."],
         "improper": ["Improper Dih."], "cmap": ["CMAP Dih."], "lj": ["LJ (SR)", "LJ-14"],
         "coulomb": ["Coulomb (SR)", "Coulomb-14", "Coul. recip."],
         "potential": ["Potential"], "virial xx": ["Vir-XX"],
         "virial yy": ["Vir-YY"], "virial zz": ["Vir-ZZ"],
         "virial xy": ["Vir-XY"]}
PROGRAM = shutil.which("gmx_d")


def gmx(folder, *args, stdin=""):
    done = subprocess.run([PROGRAM, *args], cwd=folder, input=stdin, text=True,
                          capture_output=True, check=False,
                          env=dict(os.environ, GMX_MAXBACKUP="-1"))
    if done.returncode != 0:
        tap.note(done.stderr[-2000:])
    return done.returncode == 0, done.stdout


def peer(folder, define="-DFLEXIBLE", cutoff=CUTOFF, coulomb="Cut-off",
         rtol=1e-5, conf="conf.gro",
         include="-Iff"):
    """Energies of step 0 by GROMACS in double precision, and forces in
    kJ/mol/nm; None where one of its programs fails."""
    with open(os.path.join(folder, "run.mdp"), "w", encoding="utf-8") as f:
        f.write(MDP.format(define=define, cutoff=cutoff, coulomb=coulomb,
                           rlist=cutoff + 0.05, rtol=rtol,
                           include=include))
    steps = [("grompp", "-f", "run.mdp", "-c", conf, "-p", "topol.top", "-o",
              "run.tpr", "-maxwarn", "9"),
             ("mdrun", "-s", "run.tpr", "-deffnm", "run", "-nt", "1")]
    if not all(gmx(folder, *s)[0] for s in steps):
        return None
    every = "\n".join(str(k) for k in range(1, 60)) + "\n0\n"
    gmx(folder, "energy", "-f", "run.edr", "-o", "run.xvg", "-dp", stdin=every)
    names, row = [], []
    with open(os.path.join(folder, "run.xvg"), encoding="utf-8") as f:
        for line in f:
            legend = re.match(r'@ s\d+ legend "(.*)"', line)
            if legend:
                names.append(legend.group(1))
            elif line[0] not in "#@":
                row = [float(w) for w in line.split()[1:]]
    got = dict(zip(names, row))
    text = gmx(folder, "dump", "-f", "run.trr")[1]
    force = [[float(w) for w in m.split(",")]
             for m in re.findall(r"\sf\[\s*\d+\]=\{([^}]*)\}", text)]
    return ({term: sum(got.get(n, 0) for n in from_)
             for term, from_ in TERMS.items()}, np.array(force))


VALUES = {
    "opls": {
        "bond": 3336.90924321, "angle": 160.3696385,
        "dihedral": 118.958730533, "improper": 0.0, "lj": 3172.52644536,
        "coulomb": -45.5226990396, "potential": 6743.24135856,
        "virial xx": 3506.31221278, "virial yy": -1129.95939301,
        "virial zz": -8158.20434717, "virial xy": 520.384237878,
    },
    "amber": {
        "bond": 3337.22980634, "angle": 160.3696385,
        "dihedral": 518.539421946, "improper": 0.0, "lj": 3692.21588093,
        "coulomb": -488.203137915, "potential": 7220.1516098,
        "virial xx": 3607.08589607, "virial yy": -1694.70109669,
        "virial zz": -10680.6868857, "virial xy": 637.632052244,
    },
    "charmm": {
        "bond": 3343.95852256, "angle": 212.410734052,
        "dihedral": 21.9504128877, "improper": 11285.0088015,
        "lj": 5718.1186066, "coulomb": -430.259925203,
        "potential": 20151.1871524, "virial xx": 2609.38460662,
        "virial yy": -3903.11438088, "virial zz": -18725.9608726,
        "virial xy": 1125.65155599,
    },
    "gromos": {
        "bond": 3336.90924321, "angle": 160.3696385,
        "dihedral": 94.1869938994, "improper": 10587.8884062,
        "lj": 4212.04594742, "coulomb": -1199.73437753,
        "potential": 17191.6658517, "virial xx": 2684.11103329,
        "virial yy": -2247.84074031, "virial zz": -12083.3719483,
        "virial xy": 774.108592643,
    },
}
