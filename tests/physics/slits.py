"""Walls beside what changes or holds a box: constant pressure along the other
directions, rigid groups, and a descent of rigid molecules to a minimum."""

import tap

tap.need("numpy", "h5py")

import numpy as np

import mdrun
import rigid_cases

# ---- an ideal gas between plates under a pressure from the sides ----

GAS = """[run]
solver = "md"
seed = {seed}
[md]
timestep = 0.02
steps = {steps}
[md.initial]
lattice = "sc"
cells = [6, 6, 6]
density = 1.0
temperature = 1.5
[md.pair]
style = "soft"
cutoff = 0.5
skin = 1.0
[[md.pair.coefficients]]
species = ["A", "A"]
style = "none"
[[md.walls]]
face = "zlo"
style = "reflect"
[[md.walls]]
face = "zhi"
style = "reflect"
[md.ensemble]
type = "npt"
temperature = 1.5
relaxation = 0.4
pressure = 2.0
pressure_relaxation = 1.0
{more}
[output]
observables_every = 5
frames_every = 1000
fields = ["position", "velocity"]
[checkpoint]
keep = 2
"""
CELL = ('barostat_every = 4\ncompressibility = 1.0\n'
        'thermostat = "langevin"\n')
MTK = 'barostat = "mtk"\n'
N = 216


def gas(more, steps, seed=9):
    return GAS.format(more=more, steps=steps, seed=seed)


def check_area():
    """Areas are distributed as A^N exp(-P L A / kT): a gamma distribution."""
    r = mdrun.run(gas(CELL, 6000))
    area = (r.observable("box_x") * r.observable("box_y"))[100:]
    want = (N + 1) * 1.5 / (2.0 * 6.0)
    error = mdrun.standard_error(area)
    tap.near(area.mean(), want, 4 * error, "the area is N k T / P L")
    spread = area.std() / (want / np.sqrt(N + 1))
    tap.near(spread, 1, 0.25, "and so is its spread")
    tap.note(f"{area.mean():.3f} +- {error:.3f}, {want}; {spread:.3f}")
    check_edges(r, "cell rescaling", True)


def check_pressure():
    """Chains mix no directions of an ideal gas; its pressure is that asked for
    whatever part of the kinetic energy goes along the plates."""
    r = mdrun.run(gas(MTK + 'coupling = "anisotropic"\n', 4000))
    for d in "xy":
        p = r.observable(f"pressure_{d}{d}")[100:]
        error = mdrun.standard_error(p)
        tap.near(p.mean(), 2.0, 4 * error, f"the pressure along {d} is kept")
        tap.note(f"{p.mean():.3f} +- {error:.3f}")
    check_edges(r, "mtk", False)


def check_alone():
    """Without plates: one edge alone, or two, and the others stay."""
    lines = gas(CELL, 6000).split("[[md.walls]]")
    head, tail = lines[0], lines[2][lines[2].index("[md.ensemble]"):]
    for coupling, moves, ranks in (("z", "z", 1), ("x", "x", 2), ("xy", "xy", 1)):
        r = mdrun.run(head + tail.replace("[output]", f'coupling = "{coupling}"\n'
                                          "[output]"),
                      ranks=ranks if tap.have_mpi() else 1)
        edge = [r.observable(f"box_{d}") for d in "xyz"]
        tap.ok(all(np.ptp(e) > 0.1 if d in moves else np.ptp(e) == 0
                   for d, e in zip("xyz", edge)),
               f"{coupling}: these edges change, and no other")
        volume = np.prod(edge, axis=0)[100:]
        error = mdrun.standard_error(volume)
        tap.near(volume.mean(), (N + 1) * 1.5 / 2.0, 4 * error,
                 f"{coupling}: the volume is (N + 1) k T / P")
        tap.below(np.ptp(r.observable("conserved_energy")) / N, 0.05,
                  f"{coupling}: the energy is conserved")
    status, said = mdrun.refused(gas(CELL + 'coupling = "z"\n', 10))
    tap.ok(status == 2 and "without [[md.walls]]" in said,
           "walls in z leave nothing to coupling z")


def check_edges(r, name, together):
    tap.ok(np.array_equal(r.observable("box_z"), np.full(len(r.time()), 6.0)),
           f"{name}: the distance of the plates stays as it is")
    # x and y are one group, or each by itself
    x, y = r.observable("box_x"), r.observable("box_y")
    alike = np.abs(x - y).max() < 1e-9
    tap.ok(alike == together,
           f"{name}: edges change as md.ensemble.coupling says")
    e = r.observable("conserved_energy")
    tap.below(np.ptp(e) / N, 0.05, f"{name}: the energy is conserved")


def check_restart():
    text = gas(CELL, 40)
    name = mdrun.write("gas.toml", text)
    whole = mdrun.run(name, ranks=2 if tap.have_mpi() else 1)
    for more in (["md.steps=22"], ["--resume", "auto"]):
        tap.run(tap.WARPDECK, "run", name, "output.name=part", "--output",
                "kept", "-q", *more, ranks=2 if tap.have_mpi() else 1)
    part = mdrun.Result("kept/part.h5")
    tap.ok(np.array_equal(part.frame("position"), whole.frame("position"))
           and np.array_equal(part.observable("box_x"),
                              whole.observable("box_x")),
           "such a run goes on bit by bit")


# ---- rigid molecules between walls ----

def check_rigid():
    deck = rigid_cases.deck("slit", walls=True)
    r = mdrun.run(deck)
    tap.below(rigid_cases.worst_length(r), 1e-9,
              "rigid bonds keep their lengths between walls")
    e = r.observable("total_energy")
    tap.below(np.ptp(e) / np.abs(r.observable("kinetic_energy")).mean(), 2e-3,
              "the energy is conserved, that of the walls with it")
    tap.note(f"{np.ptp(e):.3g} of {e[0]:.6g}")
    z = r.frame("position")[:, 2]
    force = r.observable("wall_force_zhi")
    tap.ok(force.max() > 0 and z.min() > 0.2, "the walls push them")
    many = mdrun.run(deck, "md.steps=20", ranks=3 if tap.have_mpi() else 1)
    one = mdrun.run(deck, "md.steps=20")
    tap.below(np.abs(many.frame("position") - one.frame("position")).max(),
              1e-9, "three ranks go the same way")


def check_descent():
    r = mdrun.run(rigid_cases.deck("down", minimize=True), "md.steps=50")
    t = r.table("minimization/descent")
    tap.ok(t["greatest_force"][-1] < 1e-6 and t["energy"][-1] < t["energy"][0],
           "rigid molecules come down to a minimum")
    tap.below(rigid_cases.worst_length(r, 0), 1e-9, "at their lengths")
    k = r.observable("kinetic_energy").max()
    tap.below(k, 1e-10, "where nothing pushes them: from rest they stay")
    many = mdrun.run(rigid_cases.deck("down", minimize=True), "md.steps=0",
                     ranks=2 if tap.have_mpi() else 1)
    tap.near(many.observable("potential_energy")[0],
             r.observable("potential_energy")[0], 1e-8,
             "two ranks find the same minimum")


check_area()
check_pressure()
check_alone()
check_restart()
check_rigid()
check_descent()
tap.done()
