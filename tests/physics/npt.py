"""Constant pressure, seen through the files: an ideal gas has the volumes of a
gamma distribution, runs go on bit by bit, each frame has its box, and what is
asked for in vain is refused.
"""

import os

import tap

tap.need("numpy", "h5py")

import h5py
import numpy as np

import gammatest
import mdrun

# ---- an ideal gas ----
# Particles of depth 0 do not see one another: with n_f = 3 N - 3 the volumes are
# distributed as V^(N - 1) exp(-P V / kT), a gamma distribution of shape N. The
# gas's own compressibility 1 / P makes them relax in pressure_relaxation = 25
# steps; samples 100 steps apart count as independent.
N, SAMPLES = 125, 500
GAS = f"""
[run]
solver = "md"
seed = 12
[md]
timestep = 0.02
steps = {100 * SAMPLES}
[md.initial]
lattice = "sc"
cells = [5, 5, 5]
density = 0.1
temperature = 1.0
[md.pair]
cutoff = 0.2
skin = 2.0
[[md.species]]
name = "A"
[[md.pair.coefficients]]
species = ["A", "A"]
epsilon = 0.0
sigma = 0.2
[md.ensemble]
type = "npt"
temperature = 1.0
relaxation = 0.1
pressure = 0.1
pressure_relaxation = 0.5
compressibility = 10.0
barostat_every = 1
[output]
observables_every = 100
"""
r = mdrun.run(GAS)
volume = r.observable("volume")[5:]
tap.below(gammatest.chi_square(volume, 2 * N, 10.0), gammatest.critical(10),
          "ideal gas: volumes follow the gamma distribution of N and kT/P")
tap.near(volume.mean(), N / 0.1, 4 * np.sqrt(N / len(volume)) / 0.1,
         "ideal gas: the mean volume is N kT / P")
conserved = r.observable("conserved_energy")
tap.below(abs(conserved[-1] - conserved[0]), 0.1 * r.observable(
    "total_energy").std() * np.sqrt(len(conserved)),
    "ideal gas: what is conserved does not wander off")

# ---- a dense gas ----
DECK = """
[run]
solver = "md"
seed = 4
[md]
timestep = 0.004
steps = 60
[md.initial]
lattice = "fcc"
cells = [4, 4, 4]
density = 0.5
temperature = 1.5
[md.pair]
cutoff = 1.9
skin = 0.3
tail = true
[md.ensemble]
type = "npt"
temperature = 1.5
relaxation = 0.3
pressure = 1.0
pressure_relaxation = 0.5
%s
[md.analysis.rdf]
every = 10
[md.analysis.msd]
every = 10
[output]
observables_every = 5
frames_every = 15
fields = ["position", "velocity"]
"""
KINDS = {"mtk": 'barostat = "mtk"\ncoupling = "anisotropic"',
         "cell-rescaling": 'coupling = "semi-isotropic"\nbarostat_every = 4'}


def result(out):
    return mdrun.datasets(os.path.join(out, "r.h5"))


for kind, text in KINDS.items():
    deck = mdrun.write(kind + ".toml", DECK % text)

    def run(out, *more, ranks=1):
        tap.run(tap.WARPDECK, "run", deck, "output.name=r", "--output", out,
                "-q", *more, ranks=ranks)

    run(kind)
    run(kind + "_parts", "md.steps=31", "checkpoint.keep=2")
    run(kind + "_parts", "--resume", "auto")
    a, b = result(kind), result(kind + "_parts")
    tap.is_([n for n in sorted(set(a) | set(b)) if n not in a or n not in b
             or a[n].tobytes() != b[n].tobytes()], [],
            f"{kind}: 31 steps and the rest are the whole, bit by bit")
    run(kind + "_seldom", "output.observables_every=60")
    b = result(kind + "_seldom")
    tap.is_([n for n in a if "particles" in n and
             a[n].tobytes() != b[n].tobytes()], [],
            f"{kind}: who looks at energies changes nothing")
    if tap.have_mpi():
        other = kind + "_ranks"
        run(other, "md.steps=31", "checkpoint.keep=2", ranks=4)
        run(other, "--resume", "auto", ranks=3)
        b = result(other)
        # Rounding grows by e in about 0.4 units of time; here are 0.24.
        tap.below(max(mdrun.worst(b[n], a[n]) for n in a
                      if not n.endswith("id")), 1e-10,
                  f"{kind}: 31 steps on 4 ranks and the rest on 3 end as on 1")

path = os.path.join("mtk", "r.h5")
with h5py.File(path) as f:
    edges = f["particles/all/box/edges/value"][...]
    steps = f["particles/all/box/edges/step"][...]
    rows = {d: dict(zip(f[f"observables/box_{d}/step"][...],
                        f[f"observables/box_{d}/value"][...])) for d in "xyz"}
    volumes = f["observables/volume/value"][...]
    x = f["particles/all/position/value"][...]
box = np.array([[rows[d][s] for d in "xyz"] for s in steps])
tap.ok(np.array_equal(box, edges[:, range(3), range(3)])
       and np.ptp(edges[:, 0, 0]) > 0, "each frame has the box of its step")
tap.ok((x >= 0).all() and (x < box[:, None, :]).all(),
       "positions of a frame lie in its box")
tap.ok(np.ptp(volumes) > 0 and len({tuple(b / b[0]) for b in box}) == len(box),
       "anisotropic: the shape of the box changes")
try:
    import MDAnalysis
except ImportError:
    tap.skip(1, "no MDAnalysis")
else:
    u = MDAnalysis.Universe.empty(x.shape[1], trajectory=False)
    u.load_new(path, format="H5MD", convert_units=False)
    seen = np.array([ts.dimensions[:3].copy() for ts in u.trajectory])
    tap.below(np.abs(seen / box - 1).max(), 1e-6,
              "MDAnalysis sees the box of each frame")

# ---- a temperature that goes from one to another ----
RAMP = ("md.ensemble.temperature_end=0.9", "md.ensemble.ramp_steps=240",
        "md.ensemble.relaxation=0.08", "md.pair.shift=force",
        "md.pair.tail=false")
deck = mdrun.write("ramp.toml", DECK % KINDS["cell-rescaling"])
for thermostat in ("bussi", "langevin"):
    r = mdrun.run(deck, *RAMP, f"md.ensemble.thermostat={thermostat}",
                  "md.steps=480", "output.frames_every=480")
    step = r.step()
    kept = r.observable("thermostat_temperature")
    tap.below(np.abs(kept - (1.5 - 0.6 * np.minimum(step / 240, 1))).max(), 1e-12,
              f"{thermostat}: the thermostat's temperature is the line asked for")
    # 256 particles: T of one moment is known to 5 %, 24 of them are as good as
    # 6 that are independent.
    tap.near(r.observable("temperature")[step > 360].mean(), 0.9, 0.08,
             f"{thermostat}: and that of the particles follows")
    conserved = r.observable("conserved_energy")
    tap.below(np.abs(conserved - conserved[0]).max(),
              0.005 * np.ptp(r.observable("total_energy")),
              f"{thermostat}: what is conserved stays so")


def ramp(out, *more):
    tap.run(tap.WARPDECK, "run", deck, "output.name=r", "--output", out, "-q",
            *RAMP, *more)


ramp("ramp")
ramp("ramp_parts", "md.steps=31", "checkpoint.keep=2")
ramp("ramp_parts", "--resume", "auto")
a, b = result("ramp"), result("ramp_parts")
tap.is_([n for n in a if a[n].tobytes() != b[n].tobytes()], [],
        "in two parts it is the same, bit by bit")

# ---- a box that becomes too small ----
tight = DECK % 'barostat = "mtk"'
status, said = mdrun.refused(tight, "md.ensemble.pressure=60", "md.steps=3000",
                             "md.pair.cutoff=3.4", "md.pair.tail=false",
                             "md.analysis.rdf.range=3.4",
                             "md.ensemble.pressure_relaxation=2")
tap.is_(status, 3, "a box below twice the cutoff ends the run with status 3")
tap.ok("longest cutoff, 3.4" in said and "checkpoint" in said,
       "and it says why, and where the checkpoint is")
tap.note(said.strip().replace("\n", " | "))

# ---- what is refused ----
for change, words in (
        ('md.ensemble.barostat="berendsen"', "fluctuate too little"),
        ('md.ensemble.type="berendsen"', "fluctuate too little"),
        ('md.ensemble.thermostat="nose-hoover"', "goes with thermostat"),
        ("md.ensemble.chain=3", "no meaning"),
        ("md.ensemble.pressure_relaxation=0.05", "five times"),
        ("md.ensemble.ramp_steps=10", "go together")):
    status, said = mdrun.refused(DECK % "", change)
    tap.ok(status == 2 and words in said, f"{change} is refused: {words}")
tap.done()
