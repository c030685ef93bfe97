# timeout: 300
"""Several runs on one simulated card, and faces of blocks that move there: what
the CPU decides and writes, within rounding; in parts, to the bit.

replicas.py all: also what replicas_long.py adds, faces that move by time.
"""

import os
import re
import sys

import tap

tap.need("numpy", "h5py")
sys.path[:0] = [os.path.join(tap.TOP_SRCDIR, "tests", folder)
                for folder in ("physics", "driver")]

import balance
import bonds
import mdrun
import metals
import replicated
import teams
from replicated import N, path, same
from teams import PROGRAM, run

LADDER = replicated.LADDER.format(thermostat="nose-hoover", steps=40)
ALIKE = LADDER.replace(
    "temperatures   = [1.0, 1.05, 1.1, 1.15]\nexchange_every = 10",
    "replicas = 3").replace("= 40", "= 20")
SAVE = "checkpoint.every=1000"  # at the end
ALL = sys.argv[1:] == ["all"]
STEPS = 30 if ALL else 20


def each(out):
    return [path(out, i) for i in range(N)]


def far(one, other):
    """The greatest difference of what two files have, relative."""
    a, b = mdrun.datasets(one), mdrun.datasets(other)
    return max(mdrun.worst(b[k], a[k]) for k in a)


def check_exchange():
    deck = mdrun.write("ladder.toml", LADDER)
    run(deck, "cpu", device="cpu")
    run(deck, "card")
    walks = [[mdrun.Result(f).table("exchange/walk")["rung"].tolist()
              for f in each(out)] for out in ("cpu", "card")]
    tap.ok(walks[0] == walks[1] and len(set(walks[0][0])) > 1,
           "replicas on a card walk the ladder as on the CPU")
    # a liquid enlarges rounding by a factor of ten or so in 40 steps
    tap.below(max(far(a, b) for a, b in zip(each("cpu"), each("card"))), 1e-11,
              "all that they write is the CPU's")
    run(deck, "parts", SAVE, "md.steps=20", seed=2)
    run(deck, "parts", SAVE, "--resume", "auto", seed=3)
    tap.ok(same("card", "parts"), "in two parts it is the same, bit by bit")
    if tap.have_mpi():
        run(deck, "ranks", ranks=2, seed=2)
        tap.ok(same("card", "ranks"), "and on two ranks")


LJ = """
[[md.pair.coefficients]]
species = ["{a}", "{a}"]
epsilon = {epsilon}
sigma = {epsilon}
"""
MOLECULES = """
[md.initial]
read = "molecules.data"
temperature = 3.0
[[md.species]]
name = "1"
mass = 1.0
charge = -0.1
[[md.species]]
name = "2"
mass = 2.5
charge = 0.5
[md.pair]
cutoff = 2.5
skin = 0.2
rebuild_every = 5
[md.bonds]
special_lj = [0, 0, 0.5]
special_coulomb = [0, 0, 0.5]
[md.coulomb]
method = "dsf"
damping = 0.3
[md.ensemble]
type = "nose-hoover"
temperature = 3.0
relaxation = 0.2
""" + LJ.format(a=1, epsilon=0.9) + LJ.format(a=2, epsilon=0.8)
RIGID = MOLECULES.replace('method = "dsf"\ndamping = 0.3', 'method = "pme"') + """
[md.constraints]
bond_types = [1]
"""
# That bits are the same shows on a coarse mesh as well.
COARSE = "md.coulomb.accuracy=1e-2"
METAL = """
[md.initial]
lattice = "fcc"
lattice_constant = 3.6
cells = [4, 4, 4]
temperature = 600
[[md.species]]
name = "Cu"
mass = 63.546
fraction = 0.5
[[md.species]]
name = "Ni"
mass = 58.6934
fraction = 0.5
[md.pair]
style = "eam/alloy"
file = "metal.alloy"
skin = 0.1
rebuild_every = 5
"""
MORSE = teams.liquid(style="morse", pairs="""
[[md.pair.coefficients]]
species = ["A", "A"]
d0 = 1.0
alpha = 5.0
r0 = 1.12
[[md.pair.coefficients]]
species = ["A", "B"]
d0 = 0.9
alpha = 5.0
r0 = 1.1
[[md.pair.coefficients]]
species = ["B", "B"]
d0 = 0.8
alpha = 5.0
r0 = 1.08
[md.field]
acceleration = [0, 0, 0.1]
""")


def npt(temperature, relaxation, pressure_relaxation, pressure=0.0):
    """Keys of the command line."""
    keys = dict(type='"npt"', barostat='"mtk"', thermostat='"nose-hoover"',
                temperature=temperature, relaxation=relaxation,
                pressure=pressure, pressure_relaxation=pressure_relaxation)
    return [f"md.ensemble.{key}={value}" for key, value in keys.items()]


# Other forces, and other sums of them.
FORCES = {
    "molecules with charges": (MOLECULES, "md.precision=mixed"),
    "rigid bonds and a mesh": (RIGID, COARSE),
    "a metal, in any order": (METAL, "md.deterministic=true",
                              "run.units=metal"),
    "a metal in a tilted box": (METAL, "domain.tilt=[3.6,-1.8,0.9]",
                                "run.units=metal"),
    "molecules in a tilted box": (MOLECULES, "md.initial.read=leaning.data"),
    # sums in each step
    "a metal at constant pressure": (METAL, *npt(600, 0.1, 5, -1.6e5),
                                     "md.pair.skin=0.4", "run.units=metal"),
    "a metal at constant pressure, in any order":
        (METAL, *npt(600, 0.1, 5, -1.6e5), "md.pair.skin=0.4",
         "run.units=metal", "md.precision=mixed", "md.deterministic=true"),
    "rigid bonds and a mesh at constant pressure":
        (RIGID, COARSE, *npt(3, 0.2, 2)),
    "rigid bonds at constant pressure, in any order":
        (RIGID, *npt(3, 0.2, 2), "md.coulomb.method=dsf",
         "md.coulomb.damping=0.3", "md.deterministic=true"),
    "molecules at constant pressure": (MOLECULES, *npt(3, 0.2, 2)),
    "molecules at constant pressure, in any order":
        (MOLECULES, *npt(3, 0.2, 2), "md.deterministic=true",
         "md.initial.read=leaning.data"),
}


def alike(out, i, name="alike"):
    return f"{out}/replica-{i:04d}/{name}.h5"


# What is different in each: forces, thermostats, precisions, sums.
CASES = {
    "langevin, two species, lists together":
        (teams.deck(MORSE, 6), 'md.ensemble.type="langevin"',
         "md.ensemble.temperature=1", "md.ensemble.relaxation=0.2",
         "md.precision=single"),
    "nose-hoover, in any order": (ALIKE, "md.deterministic=true"),
}


def check_team():
    """Replicas that run together have the bits of runs one by one."""
    for n, (name, (content, *keys)) in enumerate(CASES.items()):
        deck = mdrun.write("alike.toml", content)
        text = run(deck, "team", *keys, seed=n + 1)
        with open("team/replica-0002/alike.log", encoding="utf-8") as f:
            log = f.read()
        tap.ok("3 run together" in text and "3 run together" in log
               and "ran together with other replicas" in log,
               f"{name}: three replicas run together, and the log says so")
        run(deck, "alone", *keys, "run.seed=9", "ensemble.replicas=1", seed=3)
        tap.ok(tap.numbers(alike("team", 2)) == tap.numbers("alone/alike.h5")
               and tap.numbers(alike("team", 0)) != tap.numbers(
                   alike("team", 2)),
               f"{name}: one of them has the bits of a run of its own")
    # the last of them, in two parts
    run(deck, "halves", *keys, SAVE, "md.steps=10", seed=2)
    os.rename("halves/replica-0001", "gone")
    run(deck, "halves", *keys, SAVE, "--resume", "auto", seed=3)
    tap.ok(all(tap.numbers(alike("team", i)) == tap.numbers(alike("halves", i))
               for i in range(3)),
           "in two parts they are the same, bit by bit, and so is one that "
           "began later")


def check_forces():
    """The same of what particles feel."""
    bonds.data_file("molecules.data", n=2)
    with open("molecules.data", encoding="utf-8") as f:
        mdrun.write("leaning.data", re.sub(r"(.* zlo zhi\n)",
                                           r"\g<1>1.5 -1.0 2.0 xy xz yz\n",
                                           f.read()))
    mdrun.write("metal.alloy", metals.setfl(metals.alloy(), ["Cu", "Ni"]))
    for n, (name, (system, *keys)) in enumerate(FORCES.items()):
        deck = mdrun.write("other.toml", teams.deck(system, 6))
        out, alone = f"forces{n}", f"alone{n}"
        text = run(deck, out, *keys, seed=n + 1)
        run(deck, alone, *keys, "run.seed=8", "ensemble.replicas=1", seed=4)
        one, other = (tap.numbers(alike(out, i, "other")) for i in (1, 2))
        tap.ok("3 run together" in text and one != other
               and one == tap.numbers(f"{alone}/other.h5"),
               f"{name}: they run together, each with the bits of a run of its "
               "own")
        if "pressure" in name:
            tap.below(100 - teams.share(text), 20,
                      f"{name}: percent of a step that ran apart")
        if system is not METAL:
            with open(f"{out}/replica-0002/other.log", encoding="utf-8") as f:
                tap.ok(re.search("^ *phase .* bonded ", f.read(), re.MULTILINE),
                       f"{name}: the closing table tells bonds from pairs")


def asked_per_step(replicas, keys, rebuild_every, first=2, last=10):
    """Launches and waits of a step."""
    out = []
    for steps in first, last:
        text = teams.errors("other.toml", f"count{steps}", *keys,
                            f"md.pair.rebuild_every={rebuild_every}",
                            f"ensemble.replicas={replicas}",
                            f"md.steps={steps}", "output.frames_every=0",
                            "output.observables_every=1000")
        found = re.search(r"(\d+) launches, \d+ copies, (\d+) waits", text)
        out.append([int(v) for v in found.groups()])
    return [(b - a) / (last - first) for a, b in zip(*out)]


def asked(system, *keys):
    """The same of a step between two rebuilds, and what one adds, each alone
    and of three."""
    os.environ["CUDASIM_COUNT"] = "1"
    mdrun.write("other.toml", teams.deck(system, 1000))
    step = [asked_per_step(n, keys, 1000) for n in (1, 3)]
    more = [[a - b for a, b in zip(asked_per_step(n, keys, 1), s)]
            for n, s in zip((1, 3), step)]
    del os.environ["CUDASIM_COUNT"]
    tap.note(f"launches, waits of a step: alone {step[0]}, of three {step[1]}; "
             f"a rebuild adds {more[0]} and {more[1]}")
    return *step, *more


def check_different():
    """Lists that are built at different steps, as particles move."""
    keys = (COARSE, *npt(3, 0.2, 2), "md.pair.skin=0.1")
    mdrun.write("other.toml", teams.deck(RIGID, 1000))
    os.environ["CUDASIM_COUNT"] = "1"
    one, three = (asked_per_step(n, keys, 0, 5, 35) for n in (1, 3))
    del os.environ["CUDASIM_COUNT"]
    tap.note(f"launches, waits of a step: alone {one}, of three {three}")
    tap.ok(three[1] < 3.5 and three[0] - one[0] < 20,
           "lists of different steps: a rebuild is one replica's, but forces "
           "and what follows are launched and waited for once")


def check_asked():
    """A step of several asks for no more than one alone, but for transforms; and
    so does a rebuild, for which the host waits once."""
    one, three, rebuild, rebuilds = asked(RIGID, COARSE,
                                           *npt(3, 0.2, 2))
    tap.ok(three[1] <= one[1] and three[1] <= 2,
           "rigid bonds and a mesh at constant pressure: three wait no more than "
           "one, and at most twice in a step")
    tap.below(three[0] - one[0], 2 * 2 + 4, "and launch once for all, but each "
              "its transforms, there and back")
    tap.ok(rebuilds[1] <= 1 and rebuild[1] <= 2,
           "for a list and the places of its terms three wait once, one twice")
    tap.below(rebuilds[0] - rebuild[0], 2, "and launch once for all")
    _, _, rebuild, rebuilds = asked(MORSE, "domain.tilt=[1.2,-0.7,0.9]")
    tap.ok(rebuilds[1] <= 2 and rebuild[1] <= 3,
           "with copies of a tilted box three wait twice, one three times")
    tap.below(rebuilds[0] - rebuild[0], 4, "and launch once for all")


def check_apart():
    """One that can not begin, and what does not go together."""
    os.makedirs("bad")
    mdrun.write("bad/replica-0000", "in the way")
    done = tap.run(PROGRAM, "run", "alike.toml", "--device", "cuda", "--output",
                   "bad", check=False, env=tap.seeded(1))
    tap.ok(done.returncode == 1 and "1 of 3 replicas failed" in done.stderr
           and "in replica 0 of 3" in done.stderr
           and tap.numbers(alike("bad", 1)) and tap.numbers(alike("bad", 2)),
           "one that can not begin leaves the others alone")
    text = run("alike.toml", "staged", "md.steps=2", "output.staging=on")
    tap.ok('one after another: with output.staging = "on"' in text
           and tap.numbers(alike("staged", 2)),
           "with staged output they run one after another, and the log says "
           "why")


def moves(text):
    found = re.search(r"moved (\d+) times: .* most ([\d.]+) of .* ([\d.]+) at "
                      "first", text)
    return [float(v) for v in found.groups()]


def check_balance():
    """Half of a box is empty."""
    balance.write_slab()
    balance.write_leaning()
    short = f"md.steps={STEPS}"
    cases = (("count", 2, "[2,1,1]", "leaning"), ("time", 3, "[3,1,1]", "slab"))
    for by, ranks, cut, box in cases if ALL else cases[:1]:
        run(f"{box}.toml", "one", short, device="cpu")
        keys = (f"domain.balance={by}", "domain.balance_every=2",
                f"domain.ranks={cut}")
        n, end, first = moves(run(f"{box}.toml", by, short, *keys, ranks=ranks))
        tap.ok(n > 0 and end < first and first > 1.4,
               f"{box} by {by}, {ranks} ranks with a card each: the busiest had "
               f"{first} times the mean particles, {end} after {n:.0f} moves")
        tap.below(max(mdrun.worst(mdrun.Result(f"{by}/{box}.h5").observable(k),
                                  mdrun.Result(f"one/{box}.h5").observable(k))
                      for k in ("potential_energy", "kinetic_energy")), 1e-11,
                  f"by {by}: energies are the CPU's")
    keys = ("domain.balance=count", "domain.balance_every=2",
            "domain.ranks=[2,1,1]")
    run("leaning.toml", "again", SAVE, *keys, f"md.steps={STEPS // 2}", ranks=2,
        seed=2)
    run("leaning.toml", "again", SAVE, short, *keys, "--resume", "auto",
        ranks=2, seed=3)
    tap.ok(tap.numbers("again/leaning.h5") == tap.numbers("count/leaning.h5"),
           "in two parts it is the same, bit by bit")


check_exchange()
check_team()
check_forces()
check_asked()
check_different()
check_apart()
if tap.have_mpi():
    check_balance()
else:
    tap.skip(5 if ALL else 3, "built without MPI")
tap.done()
