# timeout: 300
"""OVITO reads exported particles as the solver wrote them. WARPDECK_OVITO_PYTHON
names a Python that has its module (pip install ovito)."""

import os

import post
import tap

h5py, numpy = tap.need("h5py", "numpy")
PYTHON = os.environ.get("WARPDECK_OVITO_PYTHON", "")
LOOK = """
import sys
import numpy
from ovito.io import import_file
pipeline = import_file(sys.argv[1])
n = pipeline.source.num_frames
data = pipeline.compute(n - 1)
p = data.particles
numpy.savez("seen.npz", frames=n, position=p.positions, box=data.cell,
            id=p["Particle Identifier"], type=p.particle_types,
            velocity=p["Velocity"],
            step=data.attributes.get("Step", data.attributes.get("Timestep")))
"""


def seen(path):
    env = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    env["QT_QPA_PLATFORM"] = "offscreen"
    tap.run(PYTHON, "-c", LOOK, path, env=env)
    return numpy.load("seen.npz")


if not PYTHON or tap.run(PYTHON, "-c", "import ovito",
                         check=False).returncode != 0:
    tap.skip_all("WARPDECK_OVITO_PYTHON names no Python with OVITO's module")
post.particles("run.h5", particles=400, frames=3, rows=41)
for to, path in ("xyz", "run.xyz"), ("lammps", "run.lammpstrj"):
    post.post("export", "run.h5", "--to", to)
    got = seen(path)
    with h5py.File("run.h5") as f:
        group = f["particles/all"]
        frames = len(group["position/value"])
        tap.ok(got["frames"] == frames and
               got["step"] == group["box/edges/step"][-1],
               f"OVITO sees all frames of {path}, and their steps")
        # its reader is off by a rounding
        tap.ok(all(numpy.allclose(got[k], group[f"{k}/value"][-1], rtol=4e-16,
                                  atol=1e-15) for k in ("position", "velocity")),
               "positions and velocities")
        tap.ok(numpy.array_equal(got["id"], group["id"][()]) and
               len(set(zip(got["type"], group["species"][()]))) == 2,
               "ids and species")
        tap.ok(numpy.allclose(got["box"][:, :3], group["box/edges/value"][-1],
                              rtol=1e-15, atol=0), "and the box")
tap.done()
