# timeout: 200
"""warpdeck-post export to LAMMPS, NumPy and Parquet: other programs read the
numbers that the file has."""

import os
import shutil
import subprocess
import warnings
import tap

h5py, numpy = tap.need("h5py", "numpy")
import post  # noqa: E402

# What LAMMPS makes of a dump: read it, write what it has.
LAMMPS = """units lj
boundary p p p
atom_style atomic
region box block 0 1 0 1 0 1
create_box 2 box
mass * 1.0
read_dump run.lammpstrj 10 x y z vx vy vz box yes add yes replace no
dump out all custom 1 seen.txt id type x y z vx vy vz
dump_modify out sort id format float %.17g
pair_style zero 1.0 nocoeff
pair_coeff * *
run 0
"""


def frame(number):
    with h5py.File("run.h5", "r") as f:
        group = f["particles/all"]
        return (group["position/value"][number], group["velocity/value"][number],
                group["id"][()], group["species"][()],
                group["box/edges/value"][number])


def check_lammps():
    tap.ok(post.works(post.post("export", "run.h5", "--to", "lammps"),
                      "wrote run.lammpstrj (3 frames)"), "export makes a dump")
    position, velocity, ids, species, box = frame(1)
    program = shutil.which("lmp")
    if program is None:
        tap.skip(1, "no LAMMPS (lmp) here")
    else:
        with open("in.read", "w", encoding="utf-8") as out:
            out.write(LAMMPS)
        got = subprocess.run([program, "-in", "in.read", "-log", "none"],
                             capture_output=True, text=True, check=False)
        held = got.returncode == 0 and os.path.exists("seen.txt")
        if held:
            rows = numpy.loadtxt("seen.txt", skiprows=9)
            # LAMMPS may wrap a particle at the very edge
            apart = numpy.abs(rows[:, 2:5] - position)
            apart = numpy.minimum(apart, numpy.abs(apart - box[0, 0]))
            held = (numpy.array_equal(rows[:, 0], ids) and
                    numpy.array_equal(rows[:, 1], species + 1) and
                    apart.max() < 1e-12 * box[0, 0] and
                    numpy.array_equal(rows[:, 5:], velocity))
        if not tap.ok(held, "LAMMPS reads it: ids, types, positions, and every "
                      "digit of velocities"):
            tap.note(got.stdout[-1500:] + got.stderr)
    try:
        warnings.simplefilter("ignore")
        import MDAnalysis
    except ImportError:
        tap.skip(1, "the Python module MDAnalysis is not installed")
        return
    u = MDAnalysis.Universe("run.lammpstrj", format="LAMMPSDUMP",
                            topology_format="LAMMPSDUMP")
    u.trajectory[1]
    tap.ok(len(u.trajectory) == 3 and
           numpy.allclose(u.atoms.positions, position, atol=1e-5) and
           numpy.allclose(u.dimensions[:3], numpy.diag(box), rtol=1e-6) and
           list(u.atoms.types) == [str(s + 1) for s in species],
           "MDAnalysis reads it: frames, box, types, positions")


def check_npz():
    tap.ok(post.works(post.post("export", "run.h5", "--to", "npz"),
                      "wrote run.npz"), "export makes npz")
    arrays = numpy.load("run.npz")
    with h5py.File("run.h5", "r") as f:
        names = [n for n in arrays if not n.startswith("run/")]
        tap.ok(len(names) > 10 and all(
            numpy.array_equal(arrays[n], f[n][()]) for n in names),
            "with all arrays, under their names in the file")
    tap.ok("steps = 100" in str(arrays["run/deck"]), "and the deck")
    shutil.copy("run.h5", "texts.h5")
    with h5py.File("texts.h5", "r+") as f:  # as the program stores texts
        f.create_dataset("statistics/kinds/species", data=[b"O", b"HW"],
                         dtype=h5py.string_dtype("ascii", 3))
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        said = post.post("export", "texts.h5", "--to", "npz")
    tap.ok(post.works(said, "wrote texts.npz") and not told and list(
        numpy.load("texts.npz")["statistics/kinds/species"]) == [b"O", b"HW"],
        "and texts, without a word of warning")
    post.post("export", "flow_000005.hdf", "--to", "npz", "-o", "flow.npz")
    with h5py.File("flow_000005.hdf", "r") as f:
        tap.ok(numpy.array_equal(numpy.load("flow.npz")[
            "VTKHDF/PointData/velocity"], f["VTKHDF/PointData/velocity"][()]),
            "a frame of a flow goes to npz, too")
    from warpdeck_post import chunks
    chunks.BYTES, before = 1 << 12, chunks.BYTES
    post.post("export", "run.h5", "--to", "npz", "-o", "small.npz")
    post.post("export", "flow_000005.hdf", "--to", "vtr", "-o", "small.vtr")
    chunks.BYTES = before
    post.post("export", "flow_000005.hdf", "--to", "vtr", "-o", "big.vtr")
    small = numpy.load("small.npz")
    tap.ok(all(numpy.array_equal(small[n], arrays[n]) for n in arrays),
           "and small pieces are the same whole")
    with open("small.vtr", "rb") as a, open("big.vtr", "rb") as b:
        tap.ok(a.read() == b.read(), "also of VTK files")


def check_parquet():
    try:
        from pyarrow import parquet
    except ImportError:
        tap.ok(post.refused(post.post("export", "run.h5", "--to", "parquet"),
                            "pip install pyarrow"),
               "without pyarrow there is a line that says what is missing")
        tap.skip(4, "the Python module pyarrow is not installed")
        return
    tap.ok(post.works(post.post("export", "run.h5", "--to", "parquet"),
                      "wrote run.parquet (41 rows)",
                      "wrote run.particles.parquet (1200 rows)"),
           "export makes Parquet")
    position, velocity, ids, _, _ = frame(1)
    table = parquet.read_table("run.particles.parquet")
    part = slice(400, 800)
    tap.ok(numpy.array_equal(table["position_y"].to_numpy()[part],
                             position[:, 1]) and
           numpy.array_equal(table["velocity_z"].to_numpy()[part],
                             velocity[:, 2]) and
           numpy.array_equal(table["id"].to_numpy()[part], ids),
           "a row for each particle of each frame")
    rows = parquet.read_table("run.parquet")
    with h5py.File("run.h5", "r") as f:
        tap.ok(numpy.array_equal(rows["pressure"].to_numpy(),
                                 f["observables/pressure/value"][()]) and
               rows.schema.field("pressure").metadata[b"unit"] ==
               b"epsilon/sigma^3", "observables with their units")
    post.post("export", "flow_000005.hdf", "--to", "parquet", "-o", "f.parquet")
    cells = parquet.read_table("f.parquet")
    with h5py.File("flow_000005.hdf", "r") as f:
        tap.ok(numpy.array_equal(cells["velocity_x"].to_numpy(), f[
            "VTKHDF/PointData/velocity"][..., 0].ravel()) and
            cells["x"].to_numpy()[1] == f["coordinates/x"][1],
            "a row for each cell of a grid")
    post.post("export", "flow.hdf.series", "--to", "parquet")
    cells = parquet.read_table("flow.parquet")
    last = cells.filter(cells["step"].to_numpy() == 10)
    with h5py.File("flow_000010.hdf", "r") as f:
        tap.ok(cells.num_rows == 3 * last.num_rows and numpy.array_equal(
            last["velocity_z"].to_numpy(),
            f["VTKHDF/PointData/velocity"][..., 2].ravel()),
            "and all frames of a list in one file")


def check_book():
    tap.ok(post.works(post.post("export", "book.h5"),
                      "wrote book.instruments.csv (1 row)"),
           "the tables of a book go to CSV")
    with open("book.instruments.csv", encoding="utf-8") as f:
        tap.ok(f.readline().startswith("id,type,quantity,price,value,") and
               f.readline().startswith("call,european,10,"),
               "with words and numbers")


def check_errors():
    for to in "lammps", "npz", "parquet", "xyz":
        for name, words in post.bad_files(h5py, "run.h5"):
            if to != "npz" and name == "damaged.h5":
                continue  # seen only where what is missing is read
            tap.ok(post.refused(post.post("export", name, "--to", to), words),
                   f"{name} does not go to {to}, and a line says why")
    tap.ok(post.refused(post.post("export", "nothing.h5", "--to", "lammps"),
                        "no frames"), "no frames, no dump")
    tap.ok(post.refused(post.post("export", "book.h5", "--to", "lammps"),
                        "no particles"), "a book has no particles")
    tap.ok(post.works(post.post("export", "killed.h5", "--to", "lammps"),
                      "(2 frames)"), "a killed run has the frames that it has")
    shutil.copy("run.h5", "start.h5")
    with h5py.File("start.h5", "r+") as f:
        del f["run/resolved_deck"]
        f["run/resolved_deck"] = b'[md.initial]\nread = "a/start.xyz"\n'
    with open("start.xyz", "w", encoding="utf-8") as f:
        f.write("where a run begins")
    tap.ok(post.refused(post.post("export", "start.h5"), "give another name"),
           "a file that the deck reads is not written over")
    tap.ok(post.works(post.post("export", "start.h5", "-o", "frames.xyz"),
                      "(3 frames)"), "another name does")


post.particles("run.h5", particles=400, frames=3, rows=41, table=1,
               deck_bytes=38, title="Crystal")
post.particles("killed.h5", particles=400, frames=9, kill_after=2)
post.particles("nothing.h5", frames=0)
post.flow()
post.risk()
check_lammps()
check_npz()
check_parquet()
check_book()
check_errors()
tap.done()
