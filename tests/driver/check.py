# timeout: 60
"""What `check` says of a run before it is one: memory, output, time, idle ranks.

Times are only bounded: machines differ, and others work on this one, too.
"""

import os
import re
import shutil

import tap

MD = """
[run]
solver = "md"
[md]
timestep = 0.005
steps = 4000
[md.initial]
lattice = "fcc"
cells = [5, 5, 5]
density = 0.8442
temperature = 1.44
[md.pair]
cutoff = 2.5
[output]
frames_every = 100
[checkpoint]
every = 1000
"""
FLUID = """
[run]
solver = "fluid"
[domain]
cells = [16, 16, 16]
size = [6.3, 6.3, 6.3]
[fluid]
viscosity = 0.05
steps = 1000
timestep = 0.01
[fluid.initial]
profile = "taylor-green"
[[output.slice]]
name = "middle"
normal = "z"
position = 3.0
every = 100
fields = ["velocity"]
"""
RISK = """
[run]
solver = "risk"
[risk]
paths = 8192
[[risk.factor]]
name = "A"
spot = 100.0
rate = 0.05
volatility = 0.2
[risk.portfolio]
file = "book.csv"
"""
BOOK = """id,type,factor,side,quantity,strike,maturity
a,european,A,call,25,100,1.0
"""
for name, text in (("md.toml", MD), ("fluid.toml", FLUID), ("risk.toml", RISK),
                   ("book.csv", BOOK)):
    with open(name, "w", encoding="utf-8") as out:
        out.write(text)
FILES = sorted(os.listdir("."))


def check(*args, ranks=1):
    """Both streams, each on one line."""
    got = tap.warpdeck("check", *args, ranks=ranks)
    return " ".join(got.stdout.split()), " ".join(got.stderr.split())


said, warned = check("md.toml")
tap.ok(" bonds " not in said, "no bonds are told of where there are none")
found = re.search(r"time about .* for (\d+) steps, without output from (\d+) "
                  r"steps on this machine's 1 rank, ([0-9.]+) ms each", said)
if not tap.ok(found, "the time of a run is told, from how many steps on how "
              "many ranks"):
    tap.note(said)
else:
    tap.is_(found[1], "4000", "it is that of all steps of the deck")
    tap.ok(3 <= int(found[2]) <= 4000 and float(found[3]) > 0,
           "some real steps were made")
# 500 particles: position, velocity and force are 36 kB at least; a checkpoint
# has nothing as large beside them.
found = re.search(r"checkpoints about ([0-9.]+) kB each, 2 kept", said)
tap.ok(found and 24 <= float(found[1]) <= 100,
       "the size of a checkpoint is that of its particles")
tap.ok("on the device cpu" in said and "1 rank on it" in said,
       "memory is told of the device, too")
tap.ok("41 frames of 12" in said, "frames are counted")
tap.is_(warned, "", "one rank is no reason to warn")

said, warned = check("md.toml", "--measure", "0")
tap.ok("time" not in said.split("output", 1)[1],
       "--measure 0 leaves the time out")
said, warned = check("md.toml", "--ranks", "64", "--measure", "0")
tap.ok("too little to do: 8 of its own" in warned,
       "64 ranks for 500 particles are warned of")
said, warned = check("md.toml", "md.initial.cells=[400,400,400]")
tap.ok("not measured" in said, "what would take long is not begun")

said, warned = check("fluid.toml", "--ranks", "4")
tap.ok("4 planes of cells along z" in warned and "at most 2 ranks" in warned,
       "few planes of cells are warned of, with how many ranks make sense")
tap.ok(", if 4 ranks are each as fast as one here" in said,
       "what one rank measured for others says so")
tap.ok("11 of slices and boxes" in said, "slices are counted")
each = re.search(r"about (\S+ \S+) a rank", said)
tap.ok(each and f"about {each[1]} of its" in said and "for each rank on" in said,
       "a device is told what one of the other ranks needs")
said, warned = check("fluid.toml", "domain.ranks=[1,1,4]", "--ranks", "4")
tap.ok("not measured: the deck does not run on the 1 rank here" in said,
       "a deck for other ranks than those here is planned, not measured")

said, warned = check("risk.toml", "--ranks", "8")
tap.ok("too little to do: 1024 paths" in warned,
       "few paths for each rank are warned of")

# What was guessed against what was counted, also of bonds, metals and meshes.
# Arrays have some slack, which is much of a small problem.
def bytes_of(text):
    number, unit = text.split()
    return float(number) * {"bytes": 1, "kB": 1e3, "MB": 1e6}[unit]


for name in ("lj_gas", "chains", "copper", "salt", "water"):
    deck = os.path.join(tap.TOP_SRCDIR, "inputs", "md", name + ".toml")
    said, _ = check(deck, "--measure", "0")
    guess = bytes_of(re.search(r"about (\S+ \S+) a rank", said)[1])
    run = tap.warpdeck("run", deck, "md.steps=1", "--output", "run",
                       "--overwrite").stdout
    real = bytes_of(re.search(r"of a rank: (\S+ \S+) of atom", run)[1])
    tap.ok(0.5 < guess / real < 2,
           f"{name}: memory is about what a run needs ({guess / real:.2f})")


def work(*more):
    text = check(deck, "--measure", "0", *more)[0]
    number, unit = re.search(r"work about (\S+) (.)", text).groups()
    return float(number) * {"k": 1e3, "M": 1e6}[unit]


# The last deck's water: a mesh of twice the points takes four transforms more.
tap.ok(work("md.coulomb.mesh=[64,64,64]") > work("md.coulomb.mesh=[32,32,32]")
       + 28 * 32**3 * 10, "work is that of a mesh, too")
shutil.rmtree("run")

if tap.have_mpi():
    said, _ = check("md.toml", ranks=2)
    tap.ok("on this machine's 2 ranks" in said, "two ranks measure together")
else:
    tap.skip(1, "this build is without MPI")
tap.is_(sorted(os.listdir(".")), FILES, "nothing was written")
tap.done()
