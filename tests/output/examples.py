# timeout: 200
"""The examples reproduce the figures that they say; here shortened, at their full
size in examples_long.py."""

import os
import runpy
import tap

tap.need("h5py", "numpy", "matplotlib")

FOLDER = os.path.join(tap.TOP_SRCDIR, "docs", "examples")


def example(name, size):
    """Its names and values after it has run in this folder; None: in full."""
    os.environ.pop("EXAMPLE_SIZE", None)
    if size:
        os.environ["EXAMPLE_SIZE"] = size
    left = runpy.run_path(os.path.join(FOLDER, name + ".py"))
    left["pyplot"].close("all")
    tap.ok(os.path.getsize(name + ".png") > 10000, f"{name} has a picture")
    return left


def check(melt, cavity, profiles_within, var, noise):
    e = example("melt_structure", melt)
    tap.near(e["first"], 1.09, 0.02, "the melt's first shell is at 1.09")
    tap.near(e["second"], 2.08, 0.06, "its second near 2.08")
    tap.near(e["shell"], 12.5, 0.4, "with 12.5 neighbors in the first")
    # of the freezing line; a shaken crystal has peaks many times as high
    tap.near(e["peak"], 2.85, 0.25, "its structure factor is that of a liquid "
             "about to freeze (Hansen and Verlet 1969)")
    table = tap.reference("fluid", "ghia1982_u_x0.5.csv")
    if table:
        os.environ["GHIA_TABLE"] = table
    e = example("cavity_profiles", cavity)
    tap.below(e["off_u"], profiles_within, "u of the cavity is Ghia's" + (
        ", all of the table" if table else ""))
    tap.below(e["off_v"], profiles_within, "and v")
    e = example("var_convergence", var)
    tap.near(e["slope"], -0.5, noise, "VaR's interval shrinks as N^-1/2")
    tap.near(e["value"][-1], e["known"], 3 * e["width"][-1],
             "and VaR is the known one within three half widths")


if __name__ == "__main__":
    # Re = 100 on 32^2: 0.3 % of the lid's speed is the grid's error.
    check("8 1200", "32 100 12", 0.006, "11 14 17", 0.1)
    tap.done()
