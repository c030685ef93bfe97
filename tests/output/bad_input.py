# timeout: 200
"""What every command of warpdeck-post says of files that are none of ours, broken,
or without numbers yet."""

import os
import tap

h5py, numpy = tap.need("h5py", "numpy")
tap.need("matplotlib")
import post  # noqa: E402

post.quick()


def check_bad():
    """All files by all commands: one line, status 2."""
    files = [*post.bad_files(h5py, "good.h5"), ("empty.h5", "not an HDF5"),
             ("folder", "not a file"), ("headless.h5", "lacks the groups")]
    open("empty.h5", "w", encoding="utf-8").close()
    os.mkdir("folder")
    with h5py.File("headless.h5", "w") as f:
        f.attrs.update(suite="Warpdeck", format_version=1)
    with open("bad.hdf.series", "w", encoding="utf-8") as out:
        out.write("{}")
    for name, words in files:
        found = [c for c in ("show", "plot", "render", "export", "report",
                             "watch") if not post.refused(
                                 post.post(c, name), words)]
        # It compares what is there, and does not ask for more.
        if name != "damaged.h5" and not post.refused(
                post.post("diff", "good.h5", name), words):
            found.append("diff")
        tap.is_(found, [], f"every command refuses {name} in a line ({words})")
    found = [c for c in ("show", "plot", "render", "export", "report")
             if not post.refused(post.post(c, "bad.hdf.series"),
                                 "is not a list of frames")]
    tap.is_(found, [], "and a list of frames that is none")
    for kind in "csv", "xyz", "lammps", "npz", "parquet":
        got = post.post("export", "nothing.h5", "--to", kind)
        tap.ok(got.returncode == 2 * (kind != "npz") and
               got.stderr.count("\n") == got.returncode // 2,
               f"zero frames and rows go to {kind}, or a line says why not")
    for command in "plot", "render":
        tap.ok(post.refused(post.post(command, "nothing.h5"), "'nothing.h5'"),
               f"zero frames: {command} says so in a line")
    for command, word in ("show", "nothing yet"), ("report", "wrote"):
        tap.ok(post.works(post.post(command, "nothing.h5"), word),
               f"and {command} works")


post.particles("good.h5", particles=32, frames=2, rows=3)
post.particles("nothing.h5", frames=0)
check_bad()
tap.done()
