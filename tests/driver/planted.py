# timeout: 60
"""What is not a number in the middle of a run is found and named.

A NaN is put into one particle or one cell of a checkpoint, with h5py, which
makes its sums anew, so the file is whole. The run that goes on from it looks at
its state before its first step, and must name step, rank and place. With risk
there is nothing to plant: its state is sums, and every path comes anew from
numbers of which all are finite.
"""

import tap

h5py, numpy = tap.need("h5py", "numpy")

MD = """
[run]
solver = "md"
[md]
timestep = 0.003
steps = 20
[md.initial]
lattice = "fcc"
cells = [6, 6, 6]
density = 0.8442
temperature = 1.44
[md.pair]
cutoff = 2.5
[checkpoint]
every = 10
"""
FLUID = """
[run]
solver = "fluid"
[domain]
cells = [16, 16, 18]
size = [6.0, 6.0, 9.0]
[fluid]
viscosity = 0.05
steps = 20
timestep = 0.01
[fluid.initial]
profile = "taylor-green"
[checkpoint]
every = 10
"""
for name, text in (("md", MD), ("fluid", FLUID)):
    with open(f"{name}.toml", "w", encoding="utf-8") as out:
        out.write(text)


def go_on(solver, ranks):
    return tap.warpdeck("run", f"{solver}.toml", "--resume",
                        f"{solver}.ckpt.0.h5", f"{solver}.steps=40",
                        ranks=ranks, check=False)


def test(solver, name, where, named, ranks):
    """`named`: how the place is called, from the checkpoint and where it is."""
    tap.warpdeck("run", f"{solver}.toml", "--overwrite", ranks=ranks)
    path = f"{solver}.ckpt.0.h5"
    with h5py.File(path, "r+") as f:
        values = f[name][...]
        values[where] = numpy.nan
        f[name][...] = values
        place = named(f, values.shape)
    got = go_on(solver, ranks)
    said = " ".join(got.stderr.split())
    held = tap.is_(got.returncode, 3,
                   f"{solver}, {ranks} ranks: the run ends with status 3")
    held &= tap.ok("step 10: " in said and place in said and
                   f"on rank {ranks - 1} of {ranks}" in said,
                   f"{solver}, {ranks} ranks: step, {place} and the last rank "
                   "are named")
    if not held:
        tap.note(said)


for n in (1, 3) if tap.have_mpi() else (1,):
    # Particles stand there rank by rank, so the last row is the last rank's.
    test("md", "state/particles/velocity", (-1, 0),
         lambda f, shape: f"particle {f['state/particles/id'][-1, 0]} at", n)
    # Indices are [k][j][i]; ranks have slabs along z.
    test("fluid", "state/fluid/u", (-2, 4, 5),
         lambda f, shape: f"cell (5, 4, {shape[0] - 2})", n)
tap.done()
