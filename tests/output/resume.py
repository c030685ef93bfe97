# timeout: 120
"""Files that a later run goes on with: cut back to a step, and grown again."""

import os
import sys
import tap

h5py, numpy = tap.need("h5py", "numpy")
sys.path.insert(0, os.path.join(tap.TOP_SRCDIR, "postproc"))
from warpdeck_post import cli  # noqa: E402

WRITER = os.path.join(tap.TOP_BUILDDIR, "tests", "output", "write_h5md")
MANY = 3 if tap.have_mpi() else 1
SIZE = ("particles=500", "force=1", "image=1", "units=metal", "table=1")


def write(path, *more, ranks=1, check=True):
    return tap.run(WRITER, path, *SIZE, *more, ranks=ranks, check=check)


def same(a, b):
    return cli.main(["diff", a, b]) == 0


def story(path):
    with h5py.File(path, "r") as f:
        group = f["run"].get("resumed", {})
        return (int(f["run"].attrs["complete"]),
                [int(group[k].attrs["step"]) for k in sorted(group)])


write("whole.h5", "frames=8", "rows=11")
write("again.h5", "frames=6", "rows=9", "finish=0", ranks=MANY)
write("again.h5", "frames=8", "rows=11", "resume=2")
tap.ok(same("whole.h5", "again.h5"),
       "what is gone on with is equal to what was never stopped")
tap.is_(story("again.h5"), (1, [20]), "it tells from where it went on")
with h5py.File("whole.h5", "r") as f, open("whole.h5", "rb") as raw:
    begin = raw.read(4096)
    tap.is_([k for k in f if k.encode() not in begin], [],
            "names of the root stand in its header: they come in one write")

write("killed.h5", "frames=6", "rows=6", "kill_after=5", check=False)
write("killed.h5", "frames=7", "rows=7", "resume=3", "finish=0", ranks=MANY)
with h5py.File("killed.h5", "r") as f:
    tap.is_((int(f["run"].attrs["complete"]),
             len(f["particles/all/position/value"]),
             list(f["observables/pressure/step"])),
            (0, 7, [0, 10, 20, 30, 40, 50, 60]),
            "also a file of a killed run, on other ranks")
write("killed.h5", "frames=8", "rows=11", "resume=5", ranks=MANY)
tap.ok(same("whole.h5", "killed.h5"), "and more than once")
tap.is_(story("killed.h5"), (1, [30, 50]), "each time is told")

write("early.h5", "frames=3", "rows=3")
write("early.h5", "frames=8", "rows=11", "resume=0", ranks=MANY)
tap.ok(same("whole.h5", "early.h5"), "back to the first frame, too")
got = write("early.h5", "frames=9", "rows=9", "resume=2", "velocity=0",
            "particles=400", check=False)
tap.ok(got.returncode != 0 and "differs from the first frame" in got.stderr,
       "another number of particles is refused")


def place(path, name):
    """Where the object's header stands in the file."""
    with h5py.File(path, "r") as f:
        return h5py.h5o.get_info(f[name].id).addr


def overwrite(path, at, what):
    with open(path, "r+b") as f:
        f.seek(at)
        f.write(what)


# What a kill in the middle of a flush leaves, under the name that the file has
# in these moments: an object behind the end that the superblock (bytes 40 to 47)
# records, or one that was never written.
for name, damage in (
        ("an end recorded too early", lambda p: overwrite(
            p, 40, place(p, "statistics").to_bytes(8, "little"))),
        ("a table that was not written", lambda p: overwrite(
            p, place(p, "statistics"), bytes(64))),
        # Bytes 4 to 7 of a header: how many links lead there.
        ("a table older than the link to it", lambda p: overwrite(
            p, place(p, "statistics") + 4, bytes(4))),
        ("what the run says about itself unreadable", lambda p: overwrite(
            p, place(p, "run"), bytes(64)))):
    if os.path.exists("hurt.h5"):
        os.remove("hurt.h5")
    write("hurt.h5", "frames=6", "rows=6")
    damage("hurt.h5")
    os.rename("hurt.h5", "hurt.h5.tmp")
    write("hurt.h5", "frames=8", "rows=11", "resume=3", ranks=MANY)
    tap.ok(same("whole.h5", "hurt.h5") and not os.path.exists("hurt.h5.tmp"),
           name + " is mended, and nothing is lost")
write("hurt.h5", "frames=6", "rows=6", "overwrite=1")
overwrite("hurt.h5", place("hurt.h5", "particles"), bytes(64))
got = write("hurt.h5", "frames=8", "rows=11", "resume=3", check=False)
tap.ok(got.returncode != 0 and "'/particles' cannot be read" in got.stderr,
       "frames that cannot be read are told of")

os.rename("early.h5", "left.h5.tmp")
tap.is_(cli.main(["show", "left.h5"]), 0,
       "a file that a killed run has left as .tmp is found by its name")
with open("left.h5.tmp", "r+b") as out:
    out.truncate(1000)
got = write("left.h5", "frames=9", "rows=12", "resume=5", check=False)
tap.ok(got.returncode == 1 and "'left.h5.tmp'" in got.stderr and
       "move" in got.stderr, "one that has lost its end is told of")

with open("text.h5", "w", encoding="utf-8") as out:
    out.write("no HDF5")
got = write("text.h5", "resume=0", check=False)
tap.ok(got.returncode == 1 and "'text.h5': cannot open" in got.stderr and
       os.path.getsize("text.h5") == 7,
       "a file that is none of ours is told, and left alone")
tap.done()
