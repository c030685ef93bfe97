# timeout: 200
"""Flows whose answer is known: exact solutions of the equations, which the
scheme approaches with its order, and exact solutions of the discrete equations,
which it has to hit to round-off."""

import tap

tap.need("numpy", "h5py")

import numpy as np

import flowrun
from flowrun import TAU, deck, run, slope

ROUNDING = 1e-12  # thousands of operations of 1e-16 each, some of them a walk


def vortices(n, viscosity, drift, more, profile="taylor-green-2d"):
    return deck((n, n, 1), (TAU, TAU, TAU / n),
                f"viscosity = {viscosity}\n" + more,
                f'[fluid.initial]\nprofile = "{profile}"\n'
                f"velocity = {[*drift, 0]}")


def vortices_exact(n, viscosity, drift, t):
    """u and v on their faces: the vortices, carried along by the drift."""
    f, c = flowrun.faces(n, TAU)
    decay = np.exp(-2 * viscosity * t)
    x, y = f[None, :] - drift[0] * t, c[:, None] - drift[1] * t
    u = drift[0] + decay * np.sin(x) * np.cos(y)
    x, y = c[None, :] - drift[0] * t, f[:, None] - drift[1] * t
    return u, drift[1] - decay * np.cos(x) * np.sin(y)


def test_space():
    for drift in ((0.0, 0.0), (0.7, 0.4)):
        errors = []
        for n in (16, 32, 64):
            r = run(vortices(n, 0.05, drift, "timestep = 0.01\nend_time = 1.0"))
            u, v = r.state("u", "v")
            eu, ev = vortices_exact(n, 0.05, drift, 1.0)
            errors.append(flowrun.root_mean_square(u[0] - eu, v[0] - ev))
        order = slope(errors)
        tap.near(order[-1], 2.0, 0.05, "Taylor-Green vortices with drift "
                 f"{drift}: the error falls with slope 2 in space "
                 f"({order[0]:.3f}, {order[1]:.3f}; {errors[-1]:.1e} at 64^2)")


def test_time():
    """On one grid, against a step so small that its own error is 1/500 of
    the finest one compared."""
    text = vortices(24, 0.02, (0.7, 0.4), 'diffusion = "explicit"\n'
                    "end_time = 1.6")
    ends = [run(text, f"fluid.timestep={dt}").state("u", "v")
            for dt in (0.08, 0.04, 0.02, 0.0025)]
    errors = [flowrun.root_mean_square(e[0] - ends[-1][0], e[1] - ends[-1][1])
              for e in ends[:-1]]
    order = slope(errors)
    tap.ok(order.min() >= 2.9, "the time scheme has order 3 with explicit "
           f"diffusion ({order[0]:.3f}, {order[1]:.3f})")


def test_mode():
    """Its convection is a gradient also on the grid, so that the mode is an
    eigenvector of all that is left: viscosity times the discrete Laplacian."""
    n, viscosity, dt, steps = 20, 0.05, 0.1, 40
    laplacian = -2 * (2 * np.sin(np.pi / n) * n / TAU) ** 2
    factor = flowrun.amplification(viscosity * laplacian * dt) ** steps
    head = f"timestep = {dt}\nsteps = {steps}"
    slip = ('[fluid.boundary]\nx = "free-slip"\ny = "free-slip"')
    for name, text in (
            ("a periodic box", vortices(n, viscosity, (0, 0), head)),
            ("a box with free-slip walls", vortices(
                n, viscosity, (0, 0), head).replace("[fluid.initial]",
                                                    slip + "\n[fluid.initial]"))):
        r = run(text)
        u, v = r.state("u", "v")
        eu, ev = vortices_exact(n, 0, (0, 0), 0)
        worst = max(np.abs(u[0] - factor * eu).max(),
                    np.abs(v[0] - factor * ev).max())
        tap.below(worst, ROUNDING, f"Taylor-Green vortices in {name} are a mode "
                  "of the discrete equations and decay at its rate to "
                  "round-off")
        energy = r.row("kinetic_energy")
        tap.near(energy[-1] / energy[0], factor**2, ROUNDING,
                 f"the energy of the mode in {name} falls by the square of it")


def test_couette():
    walls = ('[fluid.boundary]\nz_min = { type = "wall", velocity = [-0.5, 0.2,'
             ' 0.0] }\nz_max = { type = "wall", velocity = [1.0, 0.0, 0.0] }')
    text = deck((4, 3, 16), (1, 1, 1), "viscosity = 0.3\ncfl = 1.0", walls,
                '[fluid.grid]\nstretching = "tanh"\nfactor = 1.2')
    start = '[fluid.initial]\nprofile = "couette"\n'
    for how in ("explicit", "implicit-z", "implicit"):
        # the slowest mode falls as exp(-pi^2 viscosity t), to 1e-17; the
        # fastest ones of an impulsive start ring in Crank and Nicolson's scheme
        # where a step is long
        r = run(text, f'fluid.diffusion="{how}"', "fluid.end_time=14.0",
                *["fluid.timestep=0.02"] * (how == "implicit"))
        u, v = r.state("u", "v")
        z = np.concatenate(([0], np.cumsum(np.ones(16)))) / 16
        z = 0.5 * (1 + np.tanh(1.2 * (2 * z - 1)) / np.tanh(1.2))
        c = 0.5 * (z[1:] + z[:-1])[:, None, None]
        worst = max(np.abs(u - (1.5 * c - 0.5)).max(),
                    np.abs(v - 0.2 * (1 - c)).max())
        tap.below(worst, ROUNDING, "from rest comes Couette's flow to round-off "
                  f"({how} diffusion, stretched grid)")
    r = run(text + start, "fluid.steps=20")
    tap.below(np.abs(r.state("u") - (1.5 * c - 0.5)).max(), ROUNDING,
              "Couette's flow as a start stays to round-off")


def test_poiseuille():
    """u(z) = 1.5 (1 - s^2) at viscosity 1/3 and acceleration 1, walls at s = -1
    and 1. A wall between two cells shifts the discrete parabola by h^2 / 8 times
    its curvature, and that is its only error."""
    errors = []
    for n in (8, 16, 32):
        r = run(deck((2, 2, n), (1, 1, 2), "viscosity = 0.3333333333333333\n"
                     "cfl = 1.0\nend_time = 45.0\ndiffusion = 'implicit-z'",
                     '[fluid.boundary]\nz = "wall"',
                     "[fluid.forcing]\nacceleration = [1.0, 0.0, 0.0]",
                     '[fluid.initial]\nprofile = "poiseuille"'))
        u = r.state("u")[:, 0, 0]
        s = (np.arange(n) + 0.5) * 2 / n - 1
        errors.append(np.abs(u - 1.5 * (1 - s * s)).max())
        if n == 16:
            tap.below(np.abs(u - 1.5 * (1 - s * s) - 3 / 8 * (2 / n) ** 2).max(),
                      ROUNDING, "Poiseuille's flow on the grid is the parabola, "
                      "shifted by what the wall's ghost cell makes of it")
            tap.near(r.row("friction_velocity")[-1], 1.0, ROUNDING,
                     "the walls take exactly the force that drives the flow")
    order = slope(errors)
    tap.near(order[-1], 2.0, 1e-6, "Poiseuille's flow: slope 2 "
             f"({order[0]:.6f}, {order[1]:.6f})")


def test_energy():
    """Convection and pressure do no work on the grid: what is left without
    viscosity is the error of the time scheme, of third order."""
    slip = '[fluid.boundary]\nx = "wall"\ny = "free-slip"\nz = "free-slip"'
    cases = {
        "a random flow": deck(
            (16, 15, 12), (TAU, 5, 4), "viscosity = 0.0\nend_time = 0.8",
            '[fluid.initial]\nprofile = "random"\npeak = 2.0'),
        "vortices between walls on a stretched grid": deck(
            (14, 12, 16), (TAU, TAU, TAU), "viscosity = 0.0\nend_time = 1.6",
            slip.replace('"wall"', '"free-slip"'),
            '[fluid.initial]\nprofile = "taylor-green"',
            '[fluid.grid]\nstretching = "tanh-min"\nfactor = 1.0')}
    for name, text in cases.items():
        lost = []
        for dt in (0.08, 0.04, 0.02):
            energy = run(text, f"fluid.timestep={dt}").row("kinetic_energy")
            lost.append(abs(energy[-1] / energy[0] - 1))
        order = slope(lost)
        tap.ok(order[-1] > 2.8, f"the energy of {name} without viscosity is "
               "kept to the order of the time scheme "
               f"({order[0]:.2f}, {order[1]:.2f}; loss {lost[-1]:.1e})")


def test_rigid():
    """Uniform flows: each step is that of an ordinary differential equation."""
    steps, dt, omega = 60, 0.05, 0.8
    text = deck((8, 6, 5), (1, 1, 1), f"viscosity = 0.01\ntimestep = {dt}\n"
                f"steps = {steps}",
                '[fluid.initial]\nprofile = "uniform"\n'
                "velocity = [1.0, 0.0, 0.3]")
    turn = flowrun.amplification(-2j * omega * dt) ** steps
    r = run(text, f"fluid.rotation.omega=[0.0, 0.0, {omega}]",
            "fluid.cfl=1.7")
    u, v, w = r.state("u", "v", "w")
    tap.below(max(np.abs(u - turn.real).max(), np.abs(v - turn.imag).max(),
                  np.abs(w - 0.3).max()), ROUNDING,
              "a uniform flow in a rotating frame turns in inertial circles")
    tap.near(abs(np.angle(turn / np.exp(-2j * omega * dt * steps))), 0, 1e-4,
             "which is the exact solution within the error of the time scheme")
    r = run(text, "fluid.forcing.acceleration=[0.0, 0.2, -0.1]",
            "fluid.cfl=1.7")
    t = steps * dt
    tap.below(max(np.abs(x - e).max() for x, e in zip(
        r.state("u", "v", "w"), (1, 0.2 * t, 0.3 - 0.1 * t))), ROUNDING,
              "a body force accelerates a uniform flow exactly")


def test_held():
    """The laminar friction of the held flow is that of the parabola."""
    text = deck((6, 4, 20), (1, 1, 2), "viscosity = 0.1\ncfl = 1.0\n"
                "end_time = 60.0", '[fluid.boundary]\nz = "wall"',
                "[fluid.forcing]\nbulk_velocity = [0.7, 0.0, 0.0]",
                '[fluid.initial]\nprofile = "channel"\namplitude = 0.7\n'
                "perturbation = 0.2", output="observables_every = 5")
    r = run(text)
    tap.below(np.abs(r.row("bulk_velocity_x") - 0.7).max(), ROUNDING,
              "the mean velocity that is asked for is held to round-off")
    # discrete parabola of n cells: mean = g (1/3 + 1/(6 n'^2)), n' = n / 2
    discrete = 0.7 * 0.1 / (1 / 3 + 1 / (6 * 10**2))
    tap.near(r.row("pressure_gradient_x")[-1] / discrete, 1, 1e-9,
             "and its pressure gradient becomes that of the discrete parabola")
    flowrun.divergence_is_rounding(r, 1 / 6, "the flow is free of divergence to "
                                   "1e-12 of velocity over cell size")


def test_scalars():
    flow = '[fluid.initial]\nprofile = "random"\npeak = 2.0'
    scalar = '[[fluid.scalar]]\nname = "%s"\ndiffusivity = 0.02\n'
    r = run(deck((15, 12, 10), (TAU, 5, 4), "viscosity = 0.02\nend_time = 1.0",
                 flow, scalar % "even" + "value = 3.0",
                 scalar % "uneven" + "value = 3.0\nperturbation = 1.0"))
    tap.below(np.abs(r.state("scalar/even") - 3).max(), ROUNDING,
              "a uniform scalar stays uniform in any flow")
    mean, spread = r.row("uneven_mean"), r.row("uneven_variance")
    tap.below(np.abs(mean - mean[0]).max(), ROUNDING,
              "the mean of a scalar is conserved to round-off")
    tap.ok((np.diff(spread) < 0).all(), "and its variance falls")
    r = run(deck((4, 3, 12), (1, 1, 1), "viscosity = 0.1\ntimestep = 0.1\n"
                 "steps = 700\ndiffusion = 'implicit'",
                 '[fluid.boundary]\nz = "wall"',
                 scalar.replace("0.02", "0.2") % "warm"
                 + "value_z_min = 2.0\nflux_z_max = -3.0"))
    z = (np.arange(12) + 0.5) / 12
    tap.below(np.abs(r.state("scalar/warm")[:, 0, 0] - (2 - 3 * z)).max(),
              1e-11, "between a fixed value and a fixed flux a scalar becomes "
              "linear to round-off")
    for how in ("explicit", "implicit"):
        r = run(deck((4, 3, 12), (1, 1, 1), "viscosity = 0.1\nsteps = 30\n"
                     f'gravity = [0.0, 0.0, -1.0]\ndiffusion = "{how}"',
                     '[fluid.boundary]\nz = "wall"',
                     scalar % "warm" + "value_z_min = 1.0\nvalue_z_max = 0.0\n"
                     'initial = "linear"\nexpansion = 10.0'))
        tap.below(max(np.abs(r.state("w")).max(),
                      np.abs(r.row("nusselt") - 1).max()), ROUNDING,
                  "heat is conducted and nothing moves in a layer at rest, its "
                  f"buoyancy held by pressure ({how})")


def test_random():
    r = run("decay", "domain.cells=[32,32,32]", "fluid.steps=8",
            "output.observables_every=1")
    tap.near(r.row("kinetic_energy")[0], 1.5 * 0.5**2, 1e-3,
             "the random flow has the root mean square that is asked for")
    flowrun.divergence_is_rounding(r, TAU / 32, "the random flow is free of "
                                   "divergence to round-off")
    t, energy = r.time(), r.row("kinetic_energy")
    lost = -np.gradient(energy, t, edge_order=2)[1:-1]
    tap.below(np.abs(lost / r.row("dissipation")[1:-1] - 1).max(), 2e-2,
              "its energy falls at the rate of the dissipation that is told")


def test_shear_layer():
    r = run("shear_layer", "domain.cells=[64,64,1]",
            "domain.size=[1.0,1.0,0.015625]", "fluid.end_time=0.8",
            "output.observables_every=5",
            'output.fields=["velocity","vorticity"]')
    t, energy = r.time(), r.row("kinetic_energy")
    told = -np.trapz(r.row("dissipation"), t)
    tap.near((energy[-1] - energy[0]) / told, 1, 1e-2,
             "the shear layer loses what its dissipation says")
    # the equations let it only fall; central differences know it nearly
    vorticity = r.row("enstrophy")
    tap.ok(vorticity.max() <= vorticity[0] * 1.001,
           "in two dimensions enstrophy does not grow "
           f"({vorticity.max():.4f} of {vorticity[0]:.4f})")
    tap.ok(energy[-1] > 0.97 * energy[0], "and most of the energy is kept")


test_space()
test_time()
test_mode()
test_couette()
test_poiseuille()
test_energy()
test_rigid()
test_held()
test_scalars()
test_random()
test_shear_layer()
tap.done()
