# timeout: 120
"""Runs whose physics has failed end, with status 3 and a name for what failed.

A NaN is planted into the saved state of the last rank; bounds are set so that
the run has to break them.
"""

import re
import shutil

import tap

tap.need("numpy", "h5py")

import h5py
import numpy as np

import mdrun

MD = mdrun.write("m.toml", """
[run]
solver = "md"
[md]
timestep = 0.003
steps = 40
[md.initial]
lattice = "fcc"
cells = [6, 6, 6]
density = 0.8
temperature = 1.5
[md.pair]
cutoff = 2.5
""")
FLOW = mdrun.write("f.toml", """
[run]
solver = "fluid"
[domain]
cells = [16, 16, 16]
size = [6.283185307179586, 6.283185307179586, 2.0]
[fluid]
viscosity = 0.01
end_time = 1.0
[fluid.boundary.z]
type = "wall"
[fluid.initial]
profile = "channel"
perturbation = 0.2
[fluid.forcing]
bulk_velocity = [1.0, 0.0, 0.0]
""")


def run(deck, *more, ranks=1):
    return tap.run(tap.WARPDECK, "run", deck, "-q", "--overwrite", *more,
                   ranks=ranks, check=False)


def fails(got, parts, sentence):
    missing = [p for p in parts if p not in got.stderr]
    if not tap.ok(got.returncode == 3 and not missing, sentence):
        tap.note(f"status {got.returncode}; not said: {missing}\n{got.stderr}")


def plant(source, target, name, at):
    """A copy of a checkpoint with a NaN in it."""
    shutil.copy(source, target)
    with h5py.File(target, "r+") as f:
        values = f["state/" + name][...]
        values[at] = np.nan
        f["state/" + name][...] = values


for n in mdrun.rank_counts(1, 3):
    where = f"on rank {n - 1} of {n}"
    # Rows of particles stand in the order of ranks.
    run(MD, "--output", f"m{n}", "md.steps=20", "checkpoint.keep=1", ranks=n)
    good = f"m{n}/m.ckpt.0.h5"
    plant(good, "bad.h5", "particles/velocity", (-1, 1))
    with h5py.File(good) as f:
        last = int(f["state/particles/id"][-1, 0])
    fails(run(MD, "--output", f"mb{n}", "--resume", "bad.h5", ranks=n),
          ["step 20", f"particle {last} ", "not finite", where],
          f"{n} ranks: a NaN in the last particle is found, with rank and id")

    run(FLOW, "--output", f"f{n}", "fluid.end_time=0.3", "checkpoint.keep=1",
        ranks=n)
    plant(f"f{n}/f.ckpt.0.h5", "bad.h5", "fluid/v", (-1, 3, 2))
    fails(run(FLOW, "--output", f"fb{n}", "--resume", "bad.h5", ranks=n),
          ["cell (2, 3, 15) is not finite", where],
          f"{n} ranks: a NaN in a cell of the last rank, with rank and cell")

# While the crystal comes loose, pairs that cross the cutoff change the energy by
# some 0.01 for each particle.
fails(run(MD, "--output", "drift", "md.timestep=0.02", "guard.every=5",
          "guard.energy_drift=5e-3", "checkpoint.every=5"),
      ["step 10: the energy has drifted by ", "guard.energy_drift = 0.005",
       "to go on from the last good checkpoint, of step 5"],
      "an energy that drifts ends a run, and the last good state is offered")
tap.is_(run(MD, "--output", "steady", "guard.every=5",
            "guard.energy_drift=2e-2").returncode, 0,
        "one that does not drift does not")
fails(run(MD, "--output", "hot", "guard.every=5", "guard.temperature=0.9"),
      ["step 5: the temperature is 1.4", "above guard.temperature = 0.9"],
      "a temperature above its bound ends a run")
too_fast = run(FLOW, "--output", "cfl", "fluid.timestep=0.2", "fluid.cfl=0.8")
fails(too_fast,
      ["step 1: the flow has outrun its time step", "largest CFL 1.",
       "the limit is 0.8"], "a flow faster than its fixed time step allows")
said = re.search(r"largest CFL ([\d.]+), .* in cell \((\d+), (\d+), (\d+)\) "
                 r"at \(([\d.]+), ([\d.]+), ([\d.]+)\), velocity "
                 r"\(([-\d.e]+), ([-\d.e]+), ([-\d.e]+)\)", too_fast.stderr)
if tap.ok(said, "names the cell, where it is, and its velocity"):
    cfl, *rest = (float(x) for x in said.groups())
    cell, at, velocity = (np.array(rest[i:i + 3]) for i in (0, 3, 6))
    h = np.array([2 * np.pi / 16, 2 * np.pi / 16, 2.0 / 16])
    # The numbers are told with four digits or more; z begins at 0.
    tap.below(np.abs((cell + 0.5) * h - at).max(), 1e-4,
              "the place is the cell's center")
    tap.below(abs(0.2 * (np.abs(velocity) / h).sum() - cfl), 2e-3,
              "and the CFL number is that of its velocity")
fails(run(FLOW, "--output", "div", "guard.every=2", "guard.divergence=1e-20"),
      ["step 2: the divergence is ", "above guard.divergence = 1e-20"],
      "a divergence above its bound ends a run")
# 16 cells: sums of a few hundred terms of order 10 round to 1e-13.
tap.is_(run(FLOW, "--output", "free", "guard.every=1",
            "guard.divergence=1e-12").returncode, 0,
        "the flow is free of divergence within rounding at every step")
tap.done()
