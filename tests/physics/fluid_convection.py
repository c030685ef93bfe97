# timeout: 150
"""Natural convection: the heated square of de Vahl Davis (1983), and the onset of
convection in a layer heated from below (Rayleigh 1916; Pellew and Southwell
1940). Lengths are in units of the height, times in height^2 / diffusivity.
"""

import tap

tap.need("numpy", "h5py")

import numpy as np

import flowrun

PRANDTL = 0.71
# de Vahl Davis's means over the hot wall; at 1e6 that of Le Quere (1991).
NUSSELT = {1e3: 1.118, 1e4: 2.243, 1e5: 4.519, 1e6: 8.8252}
CRITICAL, LENGTH = 1707.76, 2.0158  # Ra and wavelength at the onset


def square(rayleigh, n, end, tolerance, walls="x", stretching=0.0):
    """Warm and cold walls along x or along z, gravity along the other."""
    up = {"x": "[0.0, 0.0, -1.0]", "z": "[-1.0, 0.0, 0.0]"}[walls]
    grid = ('[fluid.grid]\nstretching = "tanh"\nfactor = '
            f"{stretching}" if stretching else "")
    r = flowrun.run(flowrun.deck(
        (n, 1, n), (1, 1 / n, 1), f"viscosity = {PRANDTL}\ncfl = 1.0\n"
        f"end_time = {end}\ngravity = {up}", grid,
        '[fluid.boundary]\nx = "wall"\nz = "wall"',
        '[[fluid.scalar]]\nname = "temperature"\ndiffusivity = 1.0\n'
        f"expansion = {rayleigh * PRANDTL}\nvalue_{walls}_min = 0.5\n"
        f"value_{walls}_max = -0.5", output="observables_every = 100"),
        timeout=3000)
    wall, volume = r.row("nusselt"), r.row("nusselt_volume")
    tap.below(abs(wall[-1] / wall[-2] - 1), 1e-4,
              f"Ra = {rayleigh:.0e}, {n}^2: steady at t = {end}")
    want = NUSSELT[rayleigh]
    tap.ok(abs(wall[-1] / want - 1) < tolerance, f"Ra = {rayleigh:.0e}, {n}^2: "
           f"the Nusselt number is {want} within {tolerance:.1%} "
           f"({wall[-1]:.4f}, {wall[-1] / want - 1:+.2%})")
    tap.near(volume[-1] / wall[-1], 1, 1e-3, f"Ra = {rayleigh:.0e}, {n}^2: as "
             "much heat crosses the square as leaves the wall")


def growth(rayleigh, nz=48):
    """The rate at which the amplitude of small rolls grows; other waves are gone
    at t = 1."""
    with open(flowrun.INPUTS + "/rayleigh_benard.toml", encoding="utf-8") as f:
        text = f.read()
    for old, new in (("expansion    = 2500.0", f"expansion = {rayleigh}"),
                     ("perturbation = 0.01", "perturbation = 1e-6")):
        assert old in text, old
        text = text.replace(old, new)
    r = flowrun.run(text, f"domain.cells=[32,1,{nz}]",
                    f"domain.size=[{LENGTH},{LENGTH / 32},1.0]",
                    "fluid.end_time=1.6", "output.observables_every=0.2",
                    "output.frames_every=0", timeout=400)
    t, energy = r.time(), r.row("kinetic_energy")
    late = t > 0.99
    return np.polyfit(t[late], 0.5 * np.log(energy[late]), 1)[0]


def test_onset():
    below, above = growth(0.99 * CRITICAL), growth(1.01 * CRITICAL)
    tap.ok(below < 0, f"1 % below Ra = {CRITICAL} rolls die away (rate "
           f"{below:.4f})")
    tap.ok(above > 0, f"1 % above it they grow (rate {above:.4f})")
    found = CRITICAL * (0.99 - 0.02 * below / (above - below))
    tap.ok(abs(found / CRITICAL - 1) < 0.01, "the onset between them is at Ra = "
           f"{found:.2f} ({found / CRITICAL - 1:+.2%})")


def rolls():
    """The deck as it is: Ra = 2500 (Clever and Busse, J. Fluid Mech. 65, 625,
    1974)."""
    r = flowrun.run("rayleigh_benard", "output.frames_every=0", timeout=400)
    nusselt = r.row("nusselt")[-1]
    tap.ok(abs(nusselt / 1.475 - 1) < 0.005, "rolls at Ra = 2500: the Nusselt "
           f"number is 1.475 within 0.5 % ({nusselt:.4f})")


if __name__ == "__main__":
    square(1e3, 32, 1.0, 0.005)
    test_onset()
    tap.done()
