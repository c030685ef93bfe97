# timeout: 250
"""warpdeck-post render: particles, surfaces and clouds, with and without VTK;
films."""

import os
import shutil
import tap

h5py, numpy = tap.need("h5py", "numpy")
tap.need("matplotlib")
import post  # noqa: E402
import matplotlib.image  # noqa: E402



def colored(path):
    """The share of pixels that have a color, in the part for the picture."""
    picture = matplotlib.image.imread(path)[..., :3]
    high = picture.shape[0]
    part = picture[int(0.12 * high):int(0.86 * high)]
    return float((part.max(axis=2) - part.min(axis=2) > 0.15).mean())


def check_particles(plain):
    how = ["--plain"] if plain else []
    words = "without VTK" if plain else "by VTK"
    tap.ok(post.works(post.post("render", "run.h5", *how), "wrote run_3d.png")
           and 0.2 < colored("run_3d.png") < 0.9,
           f"particles fill the picture, {words}")
    tap.ok(post.works(post.post("render", "run.h5", "--color", "velocity_x",
                                "--frames", "0", "--azimuth", "200",
                                "--elevation", "-10", "-o", "side.png", *how))
           and 0.1 < colored("side.png") < 0.9,
           f"any side, any frame, any component as color, {words}")


def check_fields(plain):
    how = ["--plain"] if plain else []
    words = "without VTK" if plain else "by VTK"
    got = post.post("render", "ball.hdf", "--field", "pressure", "--level", "0.5",
                    "--color", "velocity_x", "-o", "ball.png", *how)
    # A ball of radius 1/2 in a cube of 2: pi/4 of the area of a face of 4, and
    # of the picture's hexagon of about 6.9, in 0.62 of the part looked at.
    tap.ok(post.works(got, "wrote ball.png") and
           0.04 < colored("ball.png") < 0.15,
           f"the surface of a ball has a ball's size, {words}")
    got = post.post("render", "ball.hdf", "--field", "pressure", "--style",
                    "volume", "-o", "cloud.png", *how)
    tap.ok(post.works(got, "wrote cloud.png") and colored("cloud.png") > 0.01,
           f"a field can be a cloud, {words}")


def ball():
    """A frame in which the pressure is 1 - r and all else is smooth."""
    shutil.copy("flow_000005.hdf", "ball.hdf")
    n = 24
    x = (numpy.arange(n) + 0.5) * 2 / n - 1
    z, y, x3 = numpy.meshgrid(x, x, x, indexing="ij")
    with h5py.File("ball.hdf", "r+") as f:
        points = f["VTKHDF/PointData"]
        for name, values in (("pressure", 1 - numpy.sqrt(x3**2 + y**2 + z**2)),
                             ("velocity", numpy.stack([-y, x3, 0 * z], 3))):
            old = dict(points[name].attrs)
            del points[name]
            points[name] = values.astype("f4")
            points[name].attrs.update(old)
        for axis in "xyz":
            for name, values in ((axis, x),
                                 (axis + "_faces", numpy.linspace(-1, 1, n + 1))):
                old = dict(f["coordinates/" + name].attrs)
                del f["coordinates/" + name]
                f["coordinates/" + name] = values
                f["coordinates/" + name].attrs.update(old)


def check_derived():
    """Of a solid rotation the vorticity is 2 and Q is 1, all over."""
    from warpdeck_post import fields, frame
    with frame.Frame("ball.hdf") as f:
        whole = fields.read(f, "vorticity", 64)
        q = fields.read(f, "q_criterion", 64)
        half = fields.read(f, "pressure", 12)
        full = fields.read(f, "pressure", 64)
    tap.ok(numpy.allclose(whole.values, 2, atol=1e-4) and
           numpy.allclose(q.values, 1, atol=1e-4),
           "a solid rotation has vorticity 2 and Q 1")
    means = full.values.reshape(12, 2, 12, 2, 12, 2).mean(axis=(1, 3, 5))
    tap.ok(half.taken == [2, 2, 2] and numpy.allclose(half.values, means,
                                                      atol=1e-6),
           "where there are too many cells, means of them are drawn")


def check_films():
    got = post.post("render", "run.h5", "--frames", "all", "--plain", "-o",
                    "film.gif")
    if shutil.which("ffmpeg"):
        with open("film.gif", "rb") as f:
            head = f.read(6)
        tap.ok(post.works(got, "wrote film.gif (3 pictures)") and
               head == b"GIF89a" and not os.path.exists("film.pictures"),
               "all frames make a film")
    else:
        tap.ok(post.works(got, "wrote film/ (3 pictures)", "ffmpeg") and
               len(os.listdir("film")) == 3,
               "without ffmpeg the pictures go to a folder")
    tap.ok(post.works(post.post("render", "killed.h5", "--frames", "::1",
                                "--plain", "-o", "set"),
                      "wrote set/ (2 pictures)") and
           sorted(os.listdir("set")) == ["00000.png", "00001.png"],
           "a killed run has the frames that it has")


def check_errors():
    def refused(sentence, words, *args):
        tap.ok(post.refused(post.post("render", *args), words), sentence)

    refused("an unknown field is refused", "no field 'heat'", "run.h5",
            "--color", "heat")
    refused("also of a flow", "no field 'heat'", "ball.hdf", "--field", "heat")
    refused("a level that does not occur is refused", "no surface at 7",
            "ball.hdf", "--field", "pressure", "--level", "7")
    refused("a frame that is not there is refused", "no frame 9", "run.h5",
            "--frames", "9")
    refused("words for frames are refused", "first:last:step", "run.h5",
            "--frames", "some")
    refused("no frames, no picture", "no frames", "nothing.h5")
    refused("a file of series is told where the fields are", ".hdf.series",
            "flow.h5")
    refused("so is a book", ".hdf.series", "book.h5")
    refused("an unknown ending is refused", "ending", "run.h5", "-o", "x.doc")


post.particles("run.h5", particles=400, frames=3, rows=41, title="Crystal")
post.particles("killed.h5", particles=400, frames=9, kill_after=2)
post.particles("nothing.h5", frames=0)
post.flow()
post.risk()
ball()
from warpdeck_post import render, vtkscene  # noqa: E402
render.PIXELS = 300  # smaller pictures than people want, for the time they take
check_particles(True)
check_fields(True)
why = vtkscene.missing()
if why:
    tap.skip(4, why)
else:
    check_particles(False)
    check_fields(False)
check_derived()
check_films()
check_errors()
tap.done()
