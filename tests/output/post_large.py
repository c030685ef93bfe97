# timeout: 5000
"""Ten million particles and 512^3 cells are shown, drawn and exported in less
than 2 GiB of memory, number by number."""

import os
import shutil
import sys
import tap

h5py, numpy = tap.need("h5py", "numpy")
tap.need("matplotlib")

PARTICLES, CELLS = 10_000_000, 512
LIMIT = 2 << 30
POST = os.path.join(tap.TOP_SRCDIR, "postproc", "warpdeck-post")
# A Python with more modules (VTK 9.3 or later, pyarrow) may be named.
PYTHON = os.environ.get("WARPDECK_POST_PYTHON", sys.executable)


def head(f, solver):
    """What every file of a run has."""
    f.attrs.update(suite="Warpdeck", version="0.1.0", format_version=1)
    run = f.create_group("run")
    run.attrs.update(solver=solver, units="lj", complete=1, ranks=8,
                     threads=1, precision="double", device="cpu", host="here",
                     start="2026-01-01T00:00:00Z", end="2026-01-01T01:00:00Z",
                     command="warpdeck run large.toml", deck_path="large.toml")
    deck = f'[run]\nsolver = "{solver}"\n'.encode()
    run["deck"] = run["resolved_deck"] = numpy.bytes_(deck)


def particles(path):
    """A liquid of density 0.8 on a lattice with noise, one frame."""
    n, edge = PARTICLES, (PARTICLES / 0.8) ** (1 / 3)
    side = int(numpy.ceil(n ** (1 / 3)))
    rng = numpy.random.default_rng(1)
    with h5py.File(path, "w") as f:
        head(f, "md")
        f.create_group("h5md").attrs["version"] = [1, 1]
        group = f.create_group("particles/all")
        box = group.create_group("box")
        box.attrs.update(dimension=3, origin=numpy.zeros(3),
                         boundary=numpy.array([b"periodic"] * 3))
        box["edges/value"] = [numpy.eye(3) * edge]
        box["edges/step"], box["edges/time"] = [7], [0.035]
        data = {k: group.create_dataset(f"{k}/value", (1, n, 3), "f8")
                for k in ("position", "velocity")}
        ids = group.create_dataset("id", (n,), "i8")
        species = group.create_dataset("species", (n,), "i4")
        species.attrs["description"] = "species: 0 = A"
        for first in range(0, n, 1 << 20):
            i = numpy.arange(first, min(first + (1 << 20), n))
            at = numpy.stack([i % side, i // side % side, i // side ** 2], 1)
            part = slice(first, first + len(i))
            data["position"][0, part] = (at + 0.5 + rng.uniform(
                -0.1, 0.1, at.shape)) * edge / side
            data["velocity"][0, part] = rng.normal(0, 1, at.shape)
            ids[part] = i + 1


def grid(path, kind):
    """A vortex and its pressure, of numbers of this kind."""
    n = CELLS
    x = (numpy.arange(n) + 0.5) * 2 * numpy.pi / n
    with h5py.File(path, "w") as f:
        head(f, "fluid")
        f.create_group("observables")
        image = f.create_group("VTKHDF")
        image.attrs.update(Version=[1, 0], Type=numpy.bytes_("ImageData"),
                           WholeExtent=[0, n - 1] * 3, Origin=[x[0]] * 3,
                           Spacing=[x[1] - x[0]] * 3, step=3, time=1.5,
                           Direction=numpy.eye(3).ravel())
        for axis in "xyz":
            f[f"coordinates/{axis}"] = x
            f[f"coordinates/{axis}_faces"] = numpy.linspace(0, 2 * numpy.pi,
                                                            n + 1)
        u = image.create_dataset("PointData/velocity", (n, n, n, 3), kind)
        p = image.create_dataset("PointData/pressure", (n, n, n), kind)
        s, c = numpy.sin(x), numpy.cos(x)
        for k in range(n):
            u[k] = numpy.stack([numpy.outer(c, s) * c[k],
                                -numpy.outer(s, c) * c[k],
                                numpy.zeros((n, n))], axis=2)
            p[k] = numpy.add.outer(numpy.cos(2 * x), numpy.cos(2 * x)) * (
                numpy.cos(2 * x[k]) + 2) / 16


def light(sentence, *args):
    """Whether the command succeeds, and with how much memory."""
    out = os.open("words.txt", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    child = os.fork()
    if child == 0:
        os.dup2(out, 1)
        os.dup2(out, 2)
        os.execv(PYTHON, [PYTHON, POST, *args])
    os.close(out)
    _, status, used = os.wait4(child, 0)
    memory = used.ru_maxrss * 1024
    if not tap.ok(status == 0 and memory < LIMIT, f"{sentence} in "
                  f"{memory / 2**30:.2f} GiB, {used.ru_utime:.0f} s"):
        with open("words.txt", encoding="utf-8") as f:
            tap.note(f.read()[-2000:])


def parquet(path, written, rows):
    """The same for Parquet, where pyarrow is there."""
    if tap.run(PYTHON, "-c", "import pyarrow", check=False).returncode != 0:
        tap.skip(2, f"{PYTHON} has no pyarrow")
        return
    light("exported to Parquet", "export", path, "--to", "parquet")
    count = tap.run(PYTHON, "-c", "import sys, pyarrow.parquet as p;"
                    "print(p.ParquetFile(sys.argv[1]).metadata.num_rows)",
                    written).stdout
    tap.is_(int(count), rows, "with all rows")
    os.unlink(written)


if shutil.disk_usage(".").free < 16 * 2**30:
    tap.skip_all("less than 16 GiB are free here")
particles("melt.h5")
light("ten million particles are shown", "show", "melt.h5")
light("plotted", "plot", "melt.h5", "snapshot")
light("rendered", "render", "melt.h5", "--plain")
light("rendered as VTK does, where it is there", "render", "melt.h5", "-o",
      "vtk.png")
light("reported", "report", "melt.h5")
light("exported to npz", "export", "melt.h5", "--to", "npz")
with numpy.load("melt.npz", mmap_mode="r") as z, h5py.File("melt.h5") as f:
    tap.ok(numpy.array_equal(z["particles/all/id"], f["particles/all/id"][()]),
           "with all ids")
os.unlink("melt.npz")
light("exported to a LAMMPS dump", "export", "melt.h5", "--to", "lammps")
with open("melt.lammpstrj", "rb") as f:
    f.seek(-400, os.SEEK_END)
    last = f.read().splitlines()[-1].split()
with h5py.File("melt.h5") as f:
    want = f["particles/all/position/value"][0, -1]
tap.ok(int(last[0]) == PARTICLES and
       numpy.array_equal([float(t) for t in last[2:5]], want),
       "down to the last particle")
os.unlink("melt.lammpstrj")
light("exported to XYZ", "export", "melt.h5", "--to", "xyz")
os.unlink("melt.xyz")
parquet("melt.h5", "melt.particles.parquet", PARTICLES)
os.unlink("melt.h5")
for kind, how in ("f4", ""), ("f8", " in double precision"):
    grid("flow_000003.hdf", kind)
    light(f"512^3 cells{how} are shown", "show", "flow_000003.hdf")
    light("plotted", "plot", "flow_000003.hdf", "--normal", "x")
    light("rendered", "render", "flow_000003.hdf", "--plain")
    light("rendered as VTK does, where it is there", "render",
          "flow_000003.hdf", "-o", "vtk.png")
    light("reported", "report", "flow_000003.hdf")
    light("exported to VTK", "export", "flow_000003.hdf")
    os.unlink("flow_000003.vtr")
    light("exported to npz", "export", "flow_000003.hdf", "--to", "npz")
    os.unlink("flow_000003.npz")
    parquet("flow_000003.hdf", "flow_000003.parquet", CELLS ** 3)
    light("compared", "diff", "flow_000003.hdf", "flow_000003.hdf")
    os.unlink("flow_000003.hdf")
tap.done()
