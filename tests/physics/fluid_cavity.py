# timeout: 120
"""The lid-driven cavity, in two dimensions against Ghia, Ghia and Shin (1982) and
the cube against Albensoeder and Kuhlmann (2005); here on a coarse grid, at full
size in fluid_cavity_long.py.

The velocity along the vertical center line is compared with the whole table
where the data files are, else with its least value, which is quoted here.
"""

import tap

tap.need("numpy", "h5py")

import numpy as np

import flowrun

# Least u on the vertical center line, and where (Ghia, Ghia and Shin, table I).
LEAST = {100: (-0.21090, 0.4531), 400: (-0.32726, 0.2813),
         1000: (-0.38289, 0.1719)}
COLUMN = {100: 1, 400: 2, 1000: 3}
# Greatest downward velocity on the horizontal center line of the cube.
CUBE = (-0.43423, 0.9063)


def square(n, reynolds, end, tolerance):
    """One grid and Reynolds number, to the time `end`."""
    r = flowrun.run("cavity", f"domain.cells=[{n},{n},1]",
                    f"domain.size=[1.0,1.0,{1 / n!r}]",
                    f"fluid.viscosity={1 / reynolds!r}",
                    f"fluid.end_time={end}", "output.frames_every=0",
                    timeout=3000)
    energy = r.row("kinetic_energy")
    tap.below(abs(energy[-1] / energy[-2] - 1), 1e-4,
              f"Re = {reynolds}, {n}^2: steady at t = {end}")
    y = np.concatenate(([0], (np.arange(n) + 0.5) / n, [1]))
    # an even count has a face in the middle, where u stands
    u = np.concatenate(([0], r.state("u")[0, :, n // 2 - 1], [1]))
    path = tap.reference("fluid", "ghia1982_u_x0.5.csv")
    if path:
        table = np.loadtxt(path, delimiter=",")
        at, want = table[:, 0], table[:, COLUMN[reynolds]]
    else:
        want, at = (np.array([x]) for x in LEAST[reynolds])
    off = flowrun.interpolate(y, u, at) - want
    worst = np.abs(off).argmax()
    tap.below(np.abs(off).max(), tolerance, f"Re = {reynolds}, {n}^2: u on the "
              "center line is Ghia's within "
              f"{tolerance:.1%} of the lid's speed (worst at y = {at[worst]})")


def cube(n, end, tolerance, ranks):
    r = flowrun.run("cavity_3d", f"domain.cells=[{n},{n},{n}]",
                    f"fluid.end_time={end}", "output.frames_every=0",
                    ranks=ranks, timeout=5000)
    energy = r.row("kinetic_energy")
    tap.below(abs(energy[-1] / energy[-2] - 1), 1e-4,
              f"cube, {n}^3: steady at t = {end}")
    v = r.state("v")[n // 2 - 1:n // 2 + 1, n // 2 - 1, :].mean(0)
    x = np.concatenate(([0], (np.arange(n) + 0.5) / n, [1]))
    v = np.concatenate(([0], v, [0]))
    path = tap.reference("fluid", "albensoeder2005_cube_re1000_u_of_y.csv")
    if path:
        # there the lid is at the lower end of x and moves along y
        table = np.loadtxt(path, delimiter=",")
        at, want = table[:, 0] + 0.5, -table[:, 1]
    else:
        want, at = (np.array([x]) for x in CUBE)
    off = flowrun.interpolate(x, v, at) - want
    worst = np.abs(off).argmax()
    tap.below(np.abs(off).max(), tolerance, f"cube, {n}^3: the velocity normal "
              "to the lid is that of Albensoeder and Kuhlmann within "
              f"{tolerance:.1%} of the lid's speed (worst at x = "
              f"{at[worst]:.4f})")


if __name__ == "__main__":
    # second order: 16 times the error of 128^2
    square(32, 100, 20, 0.01)
    tap.done()
