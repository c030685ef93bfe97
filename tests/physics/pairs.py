"""Pair potentials beside Lennard-Jones: energies, forces and pressures against
plain sums over all pairs and against LAMMPS; over ranks, precisions, bonds, charges
and restarts; tables from files, and files that are wrong."""

import shutil

import tap

tap.need("numpy", "h5py")

import numpy as np

import mdrun
from pair_forms import CUTOFF, STYLES, lj, morse

BOX, X = mdrun.jittered_box(17, cells=(6, 6, 7), spacing=1.1, jitter=0.12)
N = len(X)
rng = np.random.default_rng(17)
KIND = rng.integers(0, 2, N)
V = rng.normal(0, 0.5, X.shape)
V -= V.mean(0)
mdrun.xyz("pairs.xyz", BOX, X, ["AB"[k] for k in KIND], V)


DECK = """[run]
solver = "md"
[md]
timestep = 0.002
steps = {steps}
[md.initial]
read = "pairs.xyz"
overlap = 0
[[md.species]]
name = "A"
mass = 1.0
charge = 0.5
[[md.species]]
name = "B"
mass = 2.0
charge = -0.5
[md.pair]
style = "lj"
cutoff = 2.5
skin = 0.3
shift = "{shift}"
{pairs}
[output]
observables_every = 20
frames_every = 100
fields = ["position", "velocity", "force"]
"""


def coefficients(a, b, style, /, **values):
    text = (f'[[md.pair.coefficients]]\nspecies = ["{a}", "{b}"]\n'
            f'style = "{style}"\n')
    for key, v in values.items():
        text += f"{key} = " + (f'"{v}"' if isinstance(v, str) else f"{v!r}")
        text += "\n"
    return text


def deck(chosen, steps=0, shift="energy", more=""):
    """chosen: the style of A-A, A-B, B-B."""
    pairs = "".join(coefficients(*ab, s, **STYLES[s][1])
                    for ab, s in zip(("AA", "AB", "BB"), chosen))
    return DECK.format(steps=steps, shift=shift, pairs=pairs) + more


def plain(chosen, shift="energy", x=X, box=BOX):
    """Energy, forces and virial by all pairs."""
    i, j = np.triu_indices(N, 1)
    d = x[i] - x[j]
    d -= box * np.rint(d / box)
    r = np.sqrt((d * d).sum(1))
    near = r < CUTOFF
    i, j, d, r = i[near], j[near], d[near], r[near]
    u, f = np.empty_like(r), np.empty_like(r)
    for k, style in enumerate(chosen):
        form, values = STYLES[style]
        m = KIND[i] + KIND[j] == k
        u[m], f[m] = form(r[m], *values.values())
        uc, fc = form(np.array(CUTOFF), *values.values())
        if shift != "none":
            u[m] -= uc
        if shift == "force":
            u[m] += (r[m] - CUTOFF) * fc
            f[m] -= fc
    force = np.zeros((N, 3))
    for e in range(3):
        g = f / r * d[:, e]
        force[:, e] = np.bincount(i, g, N) - np.bincount(j, g, N)
    return u.sum(), force, (f * r).sum()


def errors(result, chosen, shift="energy"):
    """Of energy, forces, and the virial's part of the pressure, relative."""
    energy, force, virial = plain(chosen, shift)
    kinetic = result.observable("kinetic_energy")[0]
    pressure = (2 * kinetic + virial) / (3 * BOX.prod())
    return max(abs(result.observable("potential_energy")[0] / energy - 1),
               abs(result.observable("pressure")[0] / pressure - 1),
               mdrun.worst(result.frame("force", 0), force))


MIXED = ("morse", "buckingham", "lj")

# What LAMMPS says of these configurations, pair_modify shift yes.
LAMMPS_FIGURES = {
    ("morse",) * 3: (-868.736272257695, 1.22796931939279),
    ("buckingham",) * 3: (-279.92955759468, 0.133244766147745),
    ("yukawa",) * 3: (1189.98101591463, 4.93805895508774),
    ("soft",) * 3: (21747.2005821621, 67.559797312308),
    MIXED: (-567.004091662737, 1.32981378526283),
}


def check_sums():
    for chosen in [(s,) * 3 for s in STYLES] + [MIXED]:
        # rows are good to 1e-12 of the largest term
        got, name = mdrun.run(deck(chosen)), ", ".join(dict.fromkeys(chosen))
        tap.below(errors(got, chosen), 1e-11, f"{name}: energy, forces and "
                  "pressure are the plain sums")
        if chosen in LAMMPS_FIGURES:
            energy, pressure = LAMMPS_FIGURES[chosen]
            error = max(abs(got.observable("potential_energy")[0] / energy - 1),
                        abs(got.observable("pressure")[0] / pressure - 1))
            tap.below(error, 1e-11, f"{name}: energy and pressure are those "
                      "that LAMMPS gave")
    for shift in ("none", "force"):
        error = errors(mdrun.run(deck(MIXED, shift=shift)), MIXED, shift)
        tap.below(error, 1e-11, f"styles by pair of species, shift {shift}")
    for ranks, threads in ((1, 2), (2, 1), (3, 1), (4, 1)):
        if ranks not in mdrun.rank_counts(1, 2, 3, 4):
            continue
        error = errors(mdrun.run(deck(MIXED), f"run.threads={threads}",
                                 ranks=ranks), MIXED)
        tap.below(error, 1e-11, f"styles by pair of species, {ranks} ranks")
    for precision in ("mixed", "single"):
        error = errors(mdrun.run(deck(MIXED), f"md.precision={precision}"),
                       MIXED)
        tap.below(error, 2e-5, f"styles by pair of species, {precision}")
    h, worst = 1e-5, 0.0
    force = mdrun.run(deck(MIXED)).frame("force", 0)
    for a, d in ((2, 0), (101, 1), (250, 2)):
        e = []
        for s in (h, -h):
            y = X.copy()
            y[a, d] += s
            e.append(plain(MIXED, x=y)[0])
        worst = max(worst, abs(force[a, d] + (e[0] - e[1]) / (2 * h)))
    # h^2 of third derivatives
    tap.below(worst / np.abs(force).max(), 1e-7,
              "forces are slopes of the energy")


# ---- tables ----

def table(name, form, values, n=2000, lo=0.5, hi=2.6, spacing="R", error=0.0):
    r = np.linspace(lo, hi, n) if spacing != "RSQ" else np.sqrt(
        np.linspace(lo * lo, hi * hi, n))
    u, f = form(r, *values)
    head = "" if spacing == "" else f" {spacing} {lo!r} {hi!r}"
    text = f"# made by a test\n\n{name}\nN {n}{head}\n\n"
    for k in range(n):
        text += f"{k + 1} {r[k]:.9g} {u[k]:.16g} {f[k] * (1 + error):.16g}\n"
    return text


def table_deck(steps=0, keyword="LJ", more="", **values):
    pairs = coefficients("A", "A", "table", file="pairs.table",
                         keyword=keyword, **values)
    pairs += coefficients("A", "B", "table", file="pairs.table",
                          keyword="MORSE")
    pairs += coefficients("B", "B", "lj", **STYLES["lj"][1])
    return DECK.format(steps=steps, shift="energy", pairs=pairs) + more


TABLED = ("lj", "morse", "lj")


def write_tables(n=2000):
    text = table("LJ", lj, STYLES["lj"][1].values(), n=n)
    text += "\n" + table("MORSE", morse, STYLES["morse"][1].values(), n=n,
                         spacing="RSQ")
    return mdrun.write("pairs.table", text)


def check_tables():
    found = []
    for n in (500, 2000):
        write_tables(n)
        found.append(errors(mdrun.run(table_deck()), TABLED))
    # cubic splines: fourth order in the step, 1e-3 of the length
    tap.below(found[1], 1e-7, "tables of Lennard-Jones and Morse give their "
              "energies, forces and pressure")
    tap.ok(found[0] / found[1] > 4**3.3, "their error falls with the fourth "
           "power of the step")
    tap.note(" ".join(f"{e:.1e}" for e in found))
    form, values = STYLES["lj"]
    mdrun.write("pairs.table", table("LJ", form, values.values(), spacing="")
                + table("MORSE", morse, STYLES["morse"][1].values()))
    tap.below(errors(mdrun.run(table_deck()), TABLED), 1e-7,
              "so do tables that list their distances")


def check_motion():
    write_tables()
    more = "[checkpoint]\nevery = 97\n"
    for text, what in ((deck(MIXED, 200, "force", more), "closed forms"),
                       (table_deck(200, more=more)
                        .replace('"energy"', '"force"'), "tables")):
        name = what.split()[0]
        whole = mdrun.run(text, name="whole_" + name)
        e = whole.observable("total_energy")
        drift = np.polyfit(np.arange(len(e)), e, 1)[0] * len(e) / N
        # velocity Verlet's wobble at 0.002
        tap.ok(np.ptp(e) / N < 1e-3 and abs(drift) < 2e-4,
               f"{what}: the energy of 200 steps is conserved")
        tap.note(f"spread {np.ptp(e) / N:.1e}, drift {drift:.1e} a particle")
        path = mdrun.write(name + ".toml", text)
        for more_args in (["md.steps=97"], ["--resume", "auto"]):
            tap.run(tap.WARPDECK, "run", path, "output.name=part_" + name,
                    "--output", "kept", "-q", *more_args)
        part = mdrun.Result(f"kept/part_{name}.h5")
        same = all(np.array_equal(part.frame(f), whole.frame(f))
                   for f in ("position", "velocity", "force"))
        tap.ok(same, f"{what}: a run goes on bit by bit")
    write_tables(1999)
    again = tap.warpdeck("run", path, "output.name=part_tables", "md.steps=300",
                         "--output", "kept", "--resume", "auto", "-q",
                         check=False)
    tap.ok(again.returncode == 2 and "a file has changed" in again.stderr,
           "but not with another table")
    write_tables()


def check_others():
    """Beside charges; and at constant pressure."""
    coulomb = '[md.coulomb]\nmethod = "dsf"\n'
    alone = mdrun.run(deck(("lj",) * 3, more=coulomb, shift="none"))
    # the same in the loops of tables: Lennard-Jones, and one more style that
    # no pair has
    text = deck(("lj", "lj", "lj"), more=coulomb, shift="none")
    text = text.replace('style = "lj"\ncutoff', 'style = "morse"\ncutoff')
    other = text.replace('"B", "B"]\nstyle = "lj"',
                         '"B", "B"]\nstyle = "buckingham"')
    other = other.replace("epsilon = 1.0\nsigma = 1.0\n\n",
                          "a = 0.0\nrho = 1.0\nc = 0.0\n\n")
    got = mdrun.run(other)
    coulomb_same = (got.observable("coulomb_energy")[0]
                    / alone.observable("coulomb_energy")[0] - 1)
    tap.below(abs(coulomb_same), 1e-12, "charges are as beside Lennard-Jones")
    i, j = np.triu_indices(N, 1)
    bb = (KIND[i] == 1) & (KIND[j] == 1)
    d = X[i] - X[j]
    d -= BOX * np.rint(d / BOX)
    r = np.sqrt((d * d).sum(1))
    left_out = lj(r[bb & (r < CUTOFF)], 1.0, 1.0)[0].sum()
    tap.near(got.observable("pair_energy")[0] + left_out,
             alone.observable("pair_energy")[0],
             1e-10 * abs(left_out), "beside charges, a pair without strength "
             "has no energy")
    npt = ('[md.ensemble]\ntype = "npt"\ntemperature = 0.3\npressure = 1.0\n'
           "relaxation = 0.2\npressure_relaxation = 0.5\n"
           'barostat = "mtk"\n')
    r = mdrun.run(deck(MIXED, 200, "force", npt))
    e = r.observable("conserved_energy") / N
    tap.below(np.ptp(e), 2e-3, "constant pressure conserves its energy")
    tap.note(f"spread {np.ptp(e):.1e}; volume {r.observable('volume')[0]:.1f} "
             f"to {r.observable('volume')[-1]:.1f}")


CHAIN = """a chain

6 atoms
5 bonds
1 atom types
1 bond types
0 20 xlo xhi
0 20 ylo yhi
0 20 zlo zhi

Masses

1 1.0

Atoms # bond

1 1 1 5.0 5 5
2 1 1 6.0 5.1 5
3 1 1 7.0 5 5.2
4 1 1 8.0 5.1 5
5 1 1 9.0 5 5.3
6 1 1 10.0 5 5

Bonds

1 1 1 2
2 1 2 3
3 1 3 4
4 1 4 5
5 1 5 6

Bond Coeffs # harmonic

1 0 1.0
"""


def check_bonds():
    mdrun.write("chain.data", CHAIN)
    text = """[run]
solver = "md"
[md]
steps = 0
timestep = 0.001
[md.initial]
read = "chain.data"
[[md.species]]
name = "A"
mass = 1
[md.bonds]
special_lj = [0, 0.25, 1]
[md.pair]
style = "morse"
cutoff = 4.5
shift = "energy"
""" + coefficients("A", "A", "morse", d0=2.0, alpha=1.5, r0=1.3)
    got = mdrun.run(text).observable("pair_energy")[0]
    at = [line.split() for line in CHAIN.split("\n")]
    x = np.array([[float(c) for c in w[3:]] for w in at if len(w) == 6])
    u = 0.0
    for i in range(6):
        for j in range(i):
            r = np.linalg.norm(x[i] - x[j])
            share = {1: 0.0, 2: 0.25}.get(i - j, 1.0)
            if r < 4.5:
                u += share * (morse(r, 2.0, 1.5, 1.3)[0]
                              - morse(4.5, 2.0, 1.5, 1.3)[0])
    tap.below(abs(got / u - 1), 1e-12, "bonds leave shares of it to pairs")


# ---- files and decks that are wrong ----

def check_refusals():
    form, values = STYLES["lj"]
    good = table("LJ", form, values.values(), n=50)
    lines = good.split("\n")
    morse_table = "\n" + table("MORSE", morse, STYLES["morse"][1].values())

    def bad(text, says):
        mdrun.write("pairs.table", text + morse_table)
        status, said = mdrun.refused(table_deck())
        tap.ok(status == 2 and says in said, f"refused: {says}")
        if says not in said:
            tap.note(said)

    bad(table("LJ", form, values.values(), n=200, hi=2.0),
        "pairs.table:4: error: the table 'LJ' is too short: it ends at 2, "
        "before the cutoff 2.5")
    bad(good.replace("LJ", "OTHER"), "no section 'LJ'; there are OTHER, MORSE")
    bad("\n".join(lines[:30] + lines[31:]),
        "pairs.table:31: error: number 27 instead of 26")
    bad("\n".join(lines[:20]) + "\n1 2 3\n", "pairs.table:21: error: 3 words")
    bad(good + "51 2.7 0 0\n", "error: more points than the 50 that line 4")
    bad(good.replace("N 50", "M 50"), "pairs.table:4: error: 'M': behind")
    bad(table("LJ", form, values.values(), n=200, error=-2.0),
        "energies are not the integral of the forces")
    lines[10] = lines[10].replace(lines[10].split()[1], "0.9")
    bad("\n".join(lines), "pairs.table:11: error: point 6 is at 0.9, but")

    def bad_deck(text, says):
        status, said = mdrun.refused(text)
        tap.ok(status == 2 and says in said, f"refused: {says}")
        if says not in said:
            tap.note(said)

    write_tables()
    good = deck(MIXED)
    bad_deck(good.replace("d0 = 1.0\n", ""),
             'md.pair.coefficients.d0 is missing: style "morse" needs it')
    bad_deck(good.replace("d0 = 1.0\n", "d0 = 1.0\nsigma = 1.0\n"),
             'sigma has no meaning for style "morse"')
    bad_deck(good.replace(coefficients("A", "B", "buckingham",
                                       **STYLES["buckingham"][1]), ""),
             "no [[md.pair.coefficients]] for the pair A-B: only "
             "Lennard-Jones mixes")
    bad_deck(good.replace('shift = "energy"', "tail = true"),
             "md.pair.tail is of Lennard-Jones alone")
    # nearer than the first point of the table while it moves
    close = table("LJ", form, values.values(), n=200, lo=1.05)
    mdrun.write("pairs.table", close + morse_table)
    status, said = mdrun.refused(table_deck(10))
    tap.ok(status == 3 and "begins at 1.05 only" in said,
           "refused: pairs nearer than the table begins")
    if status != 3:
        tap.note(said)
    write_tables()


# ---- LAMMPS ----

LAMMPS = """units lj
read_data pairs.data
pair_style hybrid {styles}
{coefficients}
pair_modify shift yes
dump 1 all custom 1 forces.txt id fx fy fz
dump_modify 1 sort id format float %.17g
thermo_style custom pe press
thermo_modify norm no format float %.15g
run 0
"""


def check_peer():
    if not shutil.which("lmp"):
        tap.skip(6, "no LAMMPS (lmp) here")
        return
    mdrun.lammps_data("pairs.data", BOX, X, KIND, (1, 2), velocity=V)
    names = {"lj": ("lj/cut 2.5", "lj/cut"), "morse": ("morse 2.5", "morse"),
             "buckingham": ("buck 2.5", "buck"),
             "yukawa": ("yukawa 1.5 2.5", "yukawa"),
             "soft": ("soft 2.5", "soft"),
             "table": ("table spline 20000", "table")}

    def lammps(chosen):
        styles = " ".join(names[s][0] for s in sorted(set(chosen)))
        rows = ""
        for ab, s in zip(("1 1", "1 2", "2 2"), chosen):
            v = STYLES[s][1] if s in STYLES else {}
            v = [v["strength"]] if s == "yukawa" else list(v.values())
            if s == "table":
                v = ["pairs.table", "LJ", 2.5]
            rows += (f"pair_coeff {ab} {names[s][1]} "
                     + " ".join(str(c) for c in v) + "\n")
        mdrun.write("in.pairs", LAMMPS.format(styles=styles,
                                              coefficients=rows))
        out = tap.run("lmp", "-log", "none", "-in", "in.pairs").stdout
        lines = out.split("\n")
        at = next(k for k, line in enumerate(lines) if "PotEng" in line)
        row = [float(w) for w in lines[at + 1].split()]
        return row, np.loadtxt("forces.txt", skiprows=9)[:, 1:]

    for chosen in LAMMPS_FIGURES:
        (energy, pressure), force = lammps(chosen)
        got = mdrun.run(deck(chosen))
        worst = max(abs(got.observable("potential_energy")[0] / energy - 1),
                    abs(got.observable("pressure")[0] / pressure - 1),
                    mdrun.worst(got.frame("force", 0), force))
        tap.below(worst, 1e-11, "LAMMPS: energy, pressure and forces of "
                  + ", ".join(sorted(set(chosen))))
    (energy, pressure), force = lammps(("table",) * 3)
    text = table_deck(keyword="LJ").replace('"MORSE"', '"LJ"')
    text = text.replace(coefficients("B", "B", "lj", **STYLES["lj"][1]),
                        coefficients("B", "B", "table", file="pairs.table",
                                     keyword="LJ"))
    got = mdrun.run(text.replace('shift = "energy"', 'shift = "none"'))
    worst = max(abs(got.observable("potential_energy")[0] / energy - 1),
                abs(got.observable("pressure")[0] / pressure - 1),
                mdrun.worst(got.frame("force", 0), force))
    # LAMMPS makes a second spline, of its own points
    tap.below(worst, 1e-6, "LAMMPS: energy, pressure and forces of a table")


check_sums()
check_tables()
check_motion()
check_others()
check_bonds()
check_refusals()
check_peer()
tap.done()
