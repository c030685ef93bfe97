"""MDAnalysis opens the files and sees what was written."""

import os
import warnings
import tap

warnings.simplefilter("ignore")
h5py, numpy, MDAnalysis = tap.need("h5py", "numpy", "MDAnalysis")
WRITER = os.path.join(tap.TOP_BUILDDIR, "tests", "output", "write_h5md")
RANKS = 3 if tap.have_mpi() else 1


def universe(path, n, **options):
    u = MDAnalysis.Universe.empty(n, trajectory=True)
    u.load_new(path, format="H5MD", **options)
    return u


def same_frames(u, path):
    """Positions are single precision in MDAnalysis."""
    with h5py.File(path, "r") as f:
        group = f["particles/all"]
        positions = group["position/value"][()]
        edges = group["box/edges/value"][()]
        times = group["box/edges/time"][()]
    return (len(u.trajectory) == len(positions) and all(
        numpy.array_equal(ts.positions, positions[i].astype("f4")) and
        numpy.allclose(ts.dimensions, [*numpy.diag(edges[i]), 90, 90, 90],
                       rtol=1e-6) and
        abs(ts.time - times[i]) <= 1e-12 and ts.data["step"] == 10 * i
        for i, ts in enumerate(u.trajectory)))


for units in "lj", "real", "metal":
    path = f"{units}.h5"
    tap.run(WRITER, path, "particles=500", "frames=4", "rows=6", "table=1",
            "force=1", f"units={units}", ranks=RANKS)
    u = universe(path, 500, convert_units=False)
    tap.ok(same_frames(u, path),
           f"MDAnalysis sees positions, boxes, steps and times in {units} "
           "units")
    with h5py.File(path, "r") as f:
        velocities = f["particles/all/velocity/value"][3]
        forces = f["particles/all/force/value"][3]
        pressure = f["observables/pressure/value"][3]
    u.trajectory[3]
    tap.ok(numpy.array_equal(u.trajectory.ts.velocities,
                             velocities.astype("f4")) and
           numpy.array_equal(u.trajectory.ts.forces, forces.astype("f4")) and
           u.trajectory.ts.data["pressure"] == pressure,
           f"and velocities, forces and observables, row by row ({units})")


def refuses(path):
    try:
        universe(path, 500)
    except (RuntimeError, ValueError):
        return True
    return False


for units in "lj", "real", "metal":
    tap.ok(refuses(f"{units}.h5"), f"MDAnalysis says that it cannot convert "
           f"{units} units with velocities and forces, instead of doing it "
           "wrong")

tap.run(WRITER, "force.h5", "particles=500", "frames=4", "units=real",
        "velocity=0", "force=1")
u = universe("force.h5", 500)
u.trajectory[2]
with h5py.File("force.h5", "r") as f:
    time = f["particles/all/box/edges/time"][2]
    force = f["particles/all/force/value"][2].astype("f4")
tap.near(u.trajectory.ts.time, 1e-3 * time, 1e-12,
         "MDAnalysis converts times from fs to ps")
tap.ok(numpy.allclose(u.trajectory.ts.forces, 4.184 * force, rtol=1e-5),
       "and forces from kcal to kJ")
tap.run(WRITER, "velocity.h5", "particles=500", "frames=4", "units=metal")
u = universe("velocity.h5", 500)
tap.ok(same_frames(u, "velocity.h5"),
       "positions and velocities in metal units are its own")
tap.done()
