# timeout: 120
"""The Taylor-Green vortex at Re = 1600, coarse, with fixed steps: the early flow
against the spectral curve, the later one against what CaNS gives on this grid.

fluid_tgv_long.py has 128^3 and 256^3 against the spectral peak of dissipation,
0.012858 at t = 8.97 (512^3, case C3.5 of the workshops on high-order methods).
"""

import tap

tap.need("numpy", "h5py")

import numpy as np

import flowrun

PEAK, PEAK_TIME = 0.012858, 8.97


def peak(flow):
    """The greatest dissipation and its time, of a parabola through the three
    rows around it."""
    t, d = flow.time(), flow.row("dissipation")
    i = min(max(int(np.argmax(d)), 1), len(d) - 2)
    a, b, c = np.polyfit(t[i - 1:i + 2] - t[i], d[i - 1:i + 2], 2)
    return c - b * b / (4 * a), t[i] - b / (2 * a)


def test_coarse():
    r = flowrun.run("taylor_green", "fluid.timestep=0.025",
                    "output.observables_every=1", "output.frames_every=0")
    t, energy, lost = r.time(), r.row("kinetic_energy"), r.row("dissipation")
    tap.near(energy[0], 0.125, 0.125 * 2e-3, "the vortex begins with energy 1/8")
    path = tap.reference("fluid", "spectral_Re1600_512.gdiag")
    if path:
        spectral = np.loadtxt(path)
        early = t <= 2.0
        want = np.interp(t[early], spectral[:, 0], spectral[:, 1])
        off = np.abs(energy[early] / want - 1).max()
        # the interpolation of sin^2 on 64 cells alone is within 1e-3
        tap.below(off, 1e-3, "to t = 2 its energy is the spectral one")
        want = np.interp(t[early], spectral[:, 0], spectral[:, 2])
        off = np.abs(lost[early] / want - 1).max()
        tap.below(off, 2e-2, "to t = 2 its dissipation is the spectral one")
    else:
        tap.skip(2, "the spectral curve is not here (--with-reference-data)")
    balance = np.abs(-np.gradient(energy, t) - lost)[1:-1].max()
    tap.below(balance / lost.max(), 5e-3,
              "it loses the energy that its dissipation says")
    height, when = peak(r)
    tap.ok(abs(height / 0.01187 - 1) < 0.01, "64^3: the peak of dissipation is "
           f"CaNS's 0.01187 within 1 % ({height:.5f})")
    tap.ok(abs(when / 8.38 - 1) < 0.01, "64^3: it stands at CaNS's t = 8.38 "
           f"within 1 % ({when:.3f})")
    flowrun.divergence_is_rounding(r, flowrun.TAU / 64, "it stays free of "
                                   "divergence to round-off")


def test_fine(n, tolerance, late, ranks):
    r = flowrun.run("taylor_green", f"domain.cells=[{n},{n},{n}]",
                    "output.observables_every=5", "output.frames_every=0",
                    'output.fields=["pressure"]',
                    ranks=ranks, timeout=7000)
    height, when = peak(r)
    tap.ok(abs(height / PEAK - 1) < tolerance, f"{n}^3: the peak of dissipation "
           f"is the spectral one within {tolerance:.0%} ({height:.6f}, "
           f"{height / PEAK - 1:+.2%})")
    tap.ok(abs(when - PEAK_TIME) < late, f"{n}^3: it stands at t = {PEAK_TIME} "
           f"within {late} ({when:.3f})")


if __name__ == "__main__":
    test_coarse()
    tap.done()
