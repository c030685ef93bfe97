# timeout: 600
"""[domain] balance in all its forms: blocks in two directions, by time, in a
uniform box, under constant pressure, below a mesh, in boxes that lean."""

import tap

tap.need("numpy", "h5py")

import numpy as np

from balance import (BY_COUNT, DECK, SHORT, Run, check_slab, crystal,
                     write_leaning, write_slab)
import mdrun

NPT = """[md.ensemble]
type = "npt"
barostat = "mtk"
temperature = 0.7
relaxation = 0.2
pressure = 0.5
pressure_relaxation = 1.0
coupling = "anisotropic"
"""
MESH = """[md.coulomb]
method = "pme"
cutoff = 2.0
accuracy = 1e-3
"""


def check_cuts():
    write_slab()
    alone = Run("one", "slab")
    for ranks, cut in ((4, "[2,2,1]"), (4, "[4,1,1]"), (3, "[3,1,1]")):
        r = check_slab(cut, alone, cut, ranks)
    again = Run("again", "slab", *BY_COUNT, f"domain.ranks={cut}", ranks=ranks)
    tap.ok(r.numbers() == again.numbers(),
           "by counts a second run has the same bits")
    r = Run("time", "slab", "domain.balance=time", "domain.balance_every=2",
            "domain.ranks=[2,1,1]", ranks=2)
    tap.ok(r.moves > 0 and r.end < r.first and r.far(alone) < 1e-11,
           f"by time faces move, too ({r.first} to {r.end})")


def check_melt():
    """Nothing to gain."""
    mdrun.write("melt.toml", DECK.format(file="", more="").replace(
        'read = ""', 'lattice = "fcc"\ncells = [6, 6, 6]\ndensity = 0.8442'
    ).replace("skin = 0.2", SHORT))
    r = Run("looks", "melt", *BY_COUNT, ranks=2)
    tap.ok(r.moves == 0, f"a uniform melt keeps its faces ({r.end})")
    tap.ok(r.numbers() == Run("off", "melt", ranks=2).numbers(),
           "and has the bits of a run that does not look")


def check_npt():
    crystal("less.xyz", (6, 4, 4), 1.5)
    mdrun.write("npt.toml", DECK.format(file="less.xyz", more=NPT).replace(
        "skin = 0.2", SHORT))
    alone = Run("npt1", "npt")
    r = Run("npt2", "npt", *BY_COUNT, "domain.ranks=[2,1,1]", ranks=2)
    boxes = float(np.abs(r.box() / alone.box() - 1).max())
    tap.ok(r.moves > 0 and r.far(alone) < 1e-11 and boxes < 1e-11,
           f"npt: faces move {r.moves:.0f} times, energies and box as on one "
           f"rank ({r.far(alone):.1e}, {boxes:.1e})")


def check_mesh(tilt):
    crystal("salt.xyz", (6, 4, 4), 2, True, tilt)
    mdrun.write("mesh.toml", DECK.format(file="salt.xyz", more=MESH).replace(
        "skin = 0.2", SHORT))
    name = "-".join(map(str, tilt))
    alone = Run("mesh1" + name, "mesh", "md.steps=20")
    r = Run("mesh4" + name, "mesh", "md.steps=20", *BY_COUNT,
            "domain.ranks=[2,2,1]", ranks=4)
    tap.ok(r.moves > 0 and r.far(alone) < 1e-11,
           f"mesh, tilted by {tilt} cells: faces move {r.moves:.0f} times, "
           f"energies as on one rank ({r.far(alone):.1e})")


def check_strained():
    """Cuts in x and z: where nothing flows, and across the flow. A strain of 0.6
    in 60 steps turns the tilt over."""
    write_leaning()
    for name, keys in (("sheared", ('md.deform.plane="yz"',
                                    "md.deform.shear=2.5")),
                       ("stretched", ("md.deform.rate=[0.2,0.4,-0.3]",))):
        alone = Run(name, "leaning", *keys)
        for cut in ("[2,1,2]", "[4,1,1]"):
            r = Run(name + cut, "leaning", *BY_COUNT, *keys,
                    f"domain.ranks={cut}", ranks=4)
            tap.ok(r.moves > 0 and r.end < 0.6 * r.first
                   and r.far(alone) < 1e-10,
                   f"{name} and tilted, {cut}: faces move {r.moves:.0f} times "
                   f"({r.first} to {r.end}), energies as on one rank "
                   f"({r.far(alone):.1e})")


check_cuts()
check_melt()
check_npt()
check_mesh((0, 0, 0))
check_mesh((5, -3, 1))
check_strained()
tap.done()
