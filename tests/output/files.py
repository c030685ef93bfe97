"""Result files: the same on every rank count, whole after a kill or on a full
disk, and never half-written."""

import hashlib
import os
import subprocess
import tap

h5py, numpy = tap.need("h5py", "numpy")
WRITER = os.path.join(tap.TOP_BUILDDIR, "tests", "output", "write_h5md")
RANKS = (2, 3, 4, 7) if tap.have_mpi() else ()
MANY = 3 if tap.have_mpi() else 1


def write(path, ranks=1, check=True, **options):
    return tap.run(WRITER, path, *[f"{k}={v}" for k, v in options.items()],
                   ranks=ranks, check=check)


def datasets(path):
    found = {}
    with h5py.File(path, "r") as f:
        f.visititems(lambda name, item: found.update({name: item[()]})
                     if isinstance(item, h5py.Dataset) else None)
    return found


def digest(path):
    with open(path, "rb") as f:
        return hashlib.sha256(f.read()).hexdigest()


def check_rank_counts():
    options = dict(particles=10, frames=3, rows=5, force=1, image=1, table=1)
    write("one.h5", **options)
    one = datasets("one.h5")
    row = numpy.arange(10)
    tap.ok(numpy.array_equal(one["particles/all/id"], row + 1),
           "ten particles have the ids 1 to 10, in order")
    frame = numpy.arange(3)[:, None, None]
    force = row[None, :, None] + 0.25 * numpy.arange(3) + frame
    tap.ok(numpy.array_equal(one["particles/all/force/value"], force),
           "each particle keeps its own force")
    tap.is_(one["observables/pressure/value"].shape, (5,),
            "observables have all their rows")
    for ranks in RANKS:
        write(f"{ranks}.h5", ranks=ranks, **options)
        other = datasets(f"{ranks}.h5")
        tap.ok(one.keys() == other.keys() and
               all(numpy.array_equal(one[k], other[k]) for k in one),
               f"10 particles on {ranks} ranks give the numbers of one rank")
    write("few.h5", ranks=4 if RANKS else 1, particles=3, frames=2)
    few = datasets("few.h5")
    tap.ok(few["particles/all/position/value"].shape == (2, 3, 3) and
           list(few["particles/all/id"]) == [1, 2, 3],
           "more ranks than particles are fine")
    write("none.h5", ranks=MANY, particles=0, frames=2)
    none = datasets("none.h5")
    tap.is_(none["particles/all/position/value"].shape, (2, 0, 3),
            "frames without particles are fine")


def check_layout():
    with h5py.File("one.h5", "r") as f:
        tap.ok(list(f["h5md"].attrs["version"]) == [1, 1] and
               f["h5md/creator"].attrs["name"] == "Warpdeck" and
               f["h5md/author"].attrs["name"] != "",
               "the h5md group names version, creator and author")
        box = f["particles/all/box"]
        tap.ok(box.attrs["dimension"] == 3 and
               list(box.attrs["boundary"]) == [b"periodic"] * 3,
               "the box is periodic in three directions")
        edges = box["edges/value"]
        tap.ok(edges.shape == (3, 3, 3) and
               numpy.array_equal(edges[1], numpy.eye(3) * edges[1, 0, 0]),
               "box edges are a matrix a frame")
        tap.ok(f["particles/all/position/step"] == box["edges/step"] and
               f["particles/all/force/time"] == box["edges/time"],
               "steps and times of the particles are one dataset")
        tap.ok(list(box["edges/step"]) == [0, 10, 20] and
               numpy.allclose(box["edges/time"], [0, 0.05, 0.1], rtol=1e-15),
               "each frame has its step and time")
        run = f["run"].attrs
        tap.ok(f.attrs["suite"] == "Warpdeck" and f.attrs["version"] == "0.1.0"
               and f.attrs["format_version"] == 1 and run["complete"] == 1 and
               run["units"] == "lj" and run["ranks"] == 1 and
               run["start"] <= run["end"] and run["end"].endswith("Z"),
               "the file says what made it, and that it is complete")
        tap.ok(f["statistics/radial_distribution/A-A/g"].shape == (100,),
               "finished tables stand under /statistics")


def check_units():
    write("real.h5", ranks=MANY, units="real", velocity=0, force=1, table=1)
    write("metal.h5", units="metal", force=1)

    def lacking(path, *names):
        without = []
        with h5py.File(path, "r") as f:
            f.visititems(lambda name, item: without.append(name)
                         if isinstance(item, h5py.Dataset) and
                         not any(n in item.attrs for n in names) else None)
        return without

    for path in "one.h5", "real.h5", "metal.h5":
        tap.is_(lacking(path, "description"), [],
                f"every dataset of {path} has a description")
    tap.is_(lacking("real.h5", "unit"), [],
            "every dataset in real units has a unit")
    tap.is_(lacking("metal.h5", "unit"), ["particles/all/force/value"],
            "only a unit that MDAnalysis does not know has another name")
    tap.is_(lacking("metal.h5", "unit", "physical_unit"), [],
            "so that every dataset in metal units has one of the two")
    with h5py.File("one.h5", "r") as f:
        found = []
        f.visititems(lambda name, item: found.append(name)
                     if "unit" in item.attrs else None)
    tap.is_(found, [], "nothing in reduced units has a unit")


def check_deck():
    write("deck.h5", ranks=MANY, deck_bytes=200 * 1024)
    deck = datasets("deck.h5")["run/deck"]
    tap.ok(len(deck) == 200 * 1024 and deck.startswith(b"[run]\n") and
           deck.endswith(b"#####"),
           "a deck of 200 KiB is kept byte for byte")


def check_names():
    os.makedirs("år 1/出力", exist_ok=True)
    path = "år 1/出力/a b.h5"
    write(path, ranks=MANY, particles=5)
    tap.ok(len(datasets(path)) > 10 and os.listdir("år 1/出力") == ["a b.h5"],
           "blanks and letters of all kinds may stand in a path")
    before = digest(path)
    refused = write(path, ranks=MANY, check=False, particles=6)
    tap.ok(refused.returncode == 2 and "exists" in refused.stderr and
           digest(path) == before,
           "an existing file is refused and stays as it was")
    write(path, particles=6, overwrite=1)
    tap.ok(len(datasets(path)["particles/all/id"]) == 6,
           "it is replaced where that is asked for")
    missing = write("no/such/folder.h5", ranks=MANY, check=False)
    tap.ok(missing.returncode == 1 and "no/such/folder.h5" in missing.stderr
           and "No such file" in missing.stderr,
           "a missing folder is named, with the reason")
    device = write("/dev/full", check=False, overwrite=1)
    tap.ok(device.returncode == 2 and "not a file" in device.stderr,
           "a device is not replaced by a file")


def check_kill():
    for ranks in (1, MANY):
        for frames in 1, 4:
            path = f"killed{ranks}_{frames}.h5"
            write(path, ranks=ranks, check=False, particles=2000, frames=9,
                  kill_after=frames)
            with h5py.File(path, "r") as f:
                position = f["particles/all/position/value"]
                edge = f["particles/all/box/edges/value"][0, 0, 0]
                tap.ok(position.shape == (frames, 2000, 3) and
                       numpy.all(position[()] < edge) and
                       f["observables/pressure/value"].shape == (frames,) and
                       f["run"].attrs["complete"] == 0,
                       f"kill -9 after frame {frames} leaves {frames} frames, "
                       f"on {ranks} ranks")


def mounted(folder):
    os.makedirs(folder, exist_ok=True)
    try:
        return subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16m",
                               "tmpfs", folder], stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL).returncode == 0
    except OSError:
        return False


def check_full_disk():
    counts = (1, *RANKS)
    if not mounted("small"):
        tap.skip(3 * len(counts) + 3, "a small file system cannot be mounted "
                 "here (needs root)")
        return
    try:
        for ranks in counts:
            full = write("small/x.h5", ranks=ranks, check=False,
                         particles=50000, frames=60)
            tap.ok(full.returncode == 1 and "no space" in full.stderr and
                   "small/x.h5" in full.stderr,
                   f"a full disk ends the run in words, on {ranks} ranks")
            with h5py.File("small/x.h5", "r") as f:
                shape = f["particles/all/position/value"].shape
                tap.ok(shape[0] > 3 and f["run"].attrs["complete"] == 0,
                       f"and the {shape[0]} frames before are there")
            tap.ok(f"in the file stand the {shape[0]} frames before it" in
                   full.stderr, "which is told")
            os.unlink("small/x.h5")
        write("small/old.h5", particles=100)
        before = digest("small/old.h5")
        with open("small/filler", "wb") as f:
            try:
                while True:
                    f.write(bytes(65536))
                    f.flush()
            except OSError:
                pass
        full = write("small/new.h5", ranks=MANY, check=False)
        tap.ok(full.returncode == 1 and "no space" in full.stderr,
               "a disk that is full from the start is named")
        tap.ok(sorted(os.listdir("small")) == ["filler", "old.h5"],
               "and no beginning of a file is left")
        write("small/old.h5", ranks=MANY, check=False, overwrite=1)
        tap.is_(digest("small/old.h5"), before,
                "a file that could not be replaced stays as it was")
    finally:
        subprocess.run(["umount", "small"], check=False)


check_rank_counts()
check_layout()
check_units()
check_deck()
check_names()
check_kill()
check_full_disk()
tap.done()
