# %% [markdown]
# Ghia's cavity. The shipped deck drives the fluid of a square by its lid at
# Re = 1000; the velocities on the two center lines are those of Ghia, Ghia and
# Shin, J. Comput. Phys. 48, 387 (1982).
#
#     python3 cavity_profiles.py       (needs warpdeck, h5py, matplotlib)
#
# The picture: the curves go through the circles. The figures of the paper
# that stand below are the extremes and the middle; a CSV file with all of its
# table of u (columns y, u_Re100, u_Re400, u_Re1000) may be named by GHIA_TABLE.

# %%
import os
import subprocess

import h5py
import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as pyplot  # noqa: E402
import numpy  # noqa: E402

INPUTS = os.environ.get("WARPDECK_INPUTS", os.path.join(os.path.dirname(
    os.path.abspath(__file__)), "..", "..", "inputs"))
CELLS, REYNOLDS, END = os.environ.get("EXAMPLE_SIZE", "128 1000 60").split()

# u over y at x = 1/2, v over x at y = 1/2: least, in the middle, greatest.
GHIA_U = {"100": ((0.4531, -0.21090), (0.5, -0.20581)),
          "400": ((0.2813, -0.32726), (0.5, -0.11477)),
          "1000": ((0.1719, -0.38289), (0.5, -0.06080))}
GHIA_V = {"100": ((0.2344, 0.17527), (0.5, 0.05454), (0.8047, -0.24533)),
          "400": ((0.2266, 0.30203), (0.5, 0.05186), (0.8594, -0.44993)),
          "1000": ((0.1563, 0.37095), (0.5, 0.02526), (0.9063, -0.51550))}

# %%
n = int(CELLS)
subprocess.run([os.environ.get("WARPDECK", "warpdeck"), "run", "-q",
                "--overwrite", os.path.join(INPUTS, "fluid", "cavity.toml"),
                f"domain.cells=[{n},{n},1]", f"domain.size=[1.0,1.0,{1 / n!r}]",
                f"fluid.viscosity={1 / float(REYNOLDS)!r}",
                f"fluid.end_time={END}", f"output.frames_every={END}"],
               check=True)
names = sorted(name for name in os.listdir(".")
               if name.startswith("cavity_0") and name.endswith(".hdf"))
with h5py.File(names[-1], "r") as f:
    velocity = f["VTKHDF/PointData/velocity"][0]
    x, y = (f[f"coordinates/{axis}"][()] for axis in "xy")

# %%
# The frame has velocities at centers of cells; the lines lie between two.
middle = slice(n // 2 - 1, n // 2 + 1)
u = numpy.concatenate([[0], velocity[:, middle, 0].mean(1), [1]])
v = numpy.concatenate([[0], velocity[middle, :, 1].mean(0), [0]])
x, y = (numpy.concatenate([[0], c, [1]]) for c in (x, y))
points_u, points_v = (numpy.array(t[REYNOLDS]).T for t in (GHIA_U, GHIA_V))
if os.environ.get("GHIA_TABLE"):
    table = numpy.genfromtxt(os.environ["GHIA_TABLE"], delimiter=",")
    points_u = table[:, [0, {"100": 1, "400": 2, "1000": 3}[REYNOLDS]]].T
off_u = numpy.abs(numpy.interp(points_u[0], y, u) - points_u[1]).max()
off_v = numpy.abs(numpy.interp(points_v[0], x, v) - points_v[1]).max()
print(f"Re {REYNOLDS}, {n}^2: off by {off_u:.4f} in u and {off_v:.4f} in v, "
      f"at most; {points_u.shape[1]} and {points_v.shape[1]} points")

figure, (left, right) = pyplot.subplots(1, 2, figsize=(10, 4.6),
                                        constrained_layout=True)
ghia = {"linestyle": "", "marker": "o", "markerfacecolor": "none",
        "color": "#D55E00", "label": "Ghia, Ghia and Shin (1982)"}
left.plot(u, y, color="#0072B2", label=f"Warpdeck, {n} x {n}")
left.plot(points_u[1], points_u[0], **ghia)
left.set(xlabel="u at x = 1/2 (speed of the lid)", ylabel="y", ylim=(0, 1),
         title=f"Lid-driven cavity, Re = {REYNOLDS}")
right.plot(x, v, color="#0072B2", label=f"Warpdeck, {n} x {n}")
right.plot(*points_v, **ghia)
right.set(xlabel="x", ylabel="v at y = 1/2", xlim=(0, 1))
for axes in left, right:
    axes.legend()
figure.savefig("cavity_profiles.png", dpi=120)
