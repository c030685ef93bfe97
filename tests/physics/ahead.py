"""Ranks go ahead with forces while they still agree on the greatest way, and go
back where the list does not hold after all. One rank does neither, so that its
motion is what all others are compared with.

The skin is about twice what the fastest particle goes in a step, and a thermostat
makes that another way at each step, so that lists last less than expected.
"""

import os
import re
import subprocess
import time

import tap

tap.need("h5py", "numpy")

import h5py
import numpy as np

import chains
import mdrun
import metals
import rigid
from mdrun import worst

if not tap.have_mpi():
    tap.skip_all("built without MPI: there is one rank only")

LIQUID = """[run]
solver = "md"
seed = 5
[md]
timestep = 0.004
[md.initial]
lattice = "fcc"
cells = [5, 5, 5]
density = 0.8442
temperature = 1.44
[md.pair]
cutoff = 2.3
[output]
"""
NPT = """[md.ensemble]
type = "npt"
temperature = 1.44
relaxation = 0.02
pressure = 3.0
pressure_relaxation = 0.3
"""
NOISE = """[md.ensemble]
type = "langevin"
temperature = {}
relaxation = {}
"""


STEPS = 80


def surprises(r, skin):
    """In how many steps the list was likely to hold, since the greatest way grows
    as in the step before, and did not."""
    box = r.edges()
    with h5py.File(r.path) as f:
        place = f["particles/all/position/value"][...]
        place += f["particles/all/image/value"][...] * box
    listed, built, last, growth, found = place[0], 0, 0.0, 0.0, 0
    for step in range(1, len(place)):
        before = 0.0 if built == step - 1 else last
        likely = before + growth < 0.5 * skin
        last = np.sqrt(((place[step] - listed) ** 2).sum(1).max())
        growth = last - before
        if last > 0.5 * skin:
            found += likely
            listed, built = place[step], step
    return found


def agree(name, deck, skin, *more, ranks=(2, 5), box_changes=False,
          look=1, **where):
    """where: others than mdrun.run()'s defaults, for more ranks than one. look:
    observables_every; on cards ranks do not go ahead in steps with sums."""
    more += (f"md.pair.skin={skin}", f"md.steps={STEPS}",
             "output.frames_every=1", f"output.observables_every={look}", 'output.frame_precision="double"',
             'output.fields=["position","velocity","image"]')
    one = mdrun.run(deck, *more)
    if not box_changes:
        found = surprises(one, skin)
        tap.ok(found >= 2, f"{name}: {found} lists last less than expected")
    for n in ranks:
        many = mdrun.run(deck, *more, ranks=n, **where)
        tap.is_(list(many.constant("id")), list(one.constant("id")),
                f"{name}, {n} ranks: nobody is lost")
        for what in ("position", "velocity"):
            off = worst(many.frame(what), one.frame(what))
            tap.below(off, 1e-9, f"{name}, {n} ranks: the same end ({what})")
        for what in ("potential_energy", "pressure"):
            off = worst(many.observable(what), one.observable(what))
            tap.below(off, 1e-9, f"{name}, {n} ranks: the same {what}")


def liquid(noise=True):
    return LIQUID + (NOISE.format(1.44, 0.02) if noise else NPT)


def melt():
    chains.write_data("melt.data", *chains.melt(), 1)
    return chains.deck("melt.data", 1.5) + NOISE.format(1.0, 0.02)


def metal():
    mdrun.write("metal.alloy", metals.setfl(metals.P, ["Ni", "Cu"]))
    mdrun.xyz("metal.xyz", metals.BOX, metals.X, metals.KIND, metals.V)
    return metals.deck() + NOISE.format(600, 0.02)


def bodies(method):
    rigid.data_file("bodies.data", charge=0.4)
    return rigid.DECK.format(
        file="bodies.data", epsilon=0.1, cutoff=5,
        more=f'[md.coulomb]\nmethod = "{method}"\n') + NOISE.format(300, 20)


def check_forces():
    agree("a liquid", liquid(), 0.038, ranks=(2, 5, 17))
    agree("threads", liquid(), 0.038, "run.threads=2", ranks=(2,))
    agree("blocks that move", liquid(), 0.038, 'domain.balance="count"',
          "domain.balance_every=1", "domain.balance_threshold=1", ranks=(3,))
    agree("a box that changes", liquid(noise=False), 0.034, ranks=(3,),
          box_changes=True)
    agree("chains", melt(), 0.015)
    agree("a metal", metal(), 0.04, ranks=(3,))
    for method in ("dsf", "pme"):
        agree(f"rigid bodies, {method}", bodies(method), 0.1, ranks=(3,))


# Ten particles on their way; at step 1 nothing tells that one of them is fast.
FAST = """[run]
solver = "md"
[md]
timestep = 0.01
steps = {steps}
[md.initial]
read = "fast.xyz"
[md.pair]
cutoff = 2.5
skin = 0.3
[output]
observables_every = 1
fields = ["position", "velocity", "image"]
"""


def write_fast(velocity):
    v = np.zeros((10, 3))
    v[7] = velocity
    mdrun.xyz("fast.xyz", [24, 6, 6],
              [[1.2 + 2.4 * i, 1, 1 + 0.3 * i] for i in range(10)],
              ["A"] * 10, v)


def check_fast():
    write_fast([30, 0, 9])  # twice the way that the list allows
    one = mdrun.run(FAST.format(steps=1))
    for n in (2, 7):
        many = mdrun.run(FAST.format(steps=1), ranks=n)
        for what in ("position", "velocity"):
            off = worst(many.frame(what), one.frame(what))
            tap.below(off, 1e-14, f"far at once, {n} ranks: the same {what}")
    write_fast([800, 0, 0])
    for n in (8, 17):
        code, said = mdrun.refused(FAST.format(steps=20),
                                   f"domain.ranks=[{n},1,1]", ranks=n)
        if not tap.ok(code == 3 and re.search(r"step 1: particle 8 at", said),
                      f"too far at once, {n} ranks: the particle is named"):
            tap.note(said)


def check_stop():
    """The wish comes with the reduction that ranks do not wait for."""
    for n in (3, 17):
        out = f"stopped{n}"
        deck = mdrun.write("stop.toml", LIQUID)
        with open("stop.out", "w", encoding="utf-8") as log:
            child = subprocess.Popen(
                tap.command(n, tap.WARPDECK, "run", deck, "md.steps=100000000",
                            "md.pair.skin=0.3", "output.name=s", "--output",
                            out), stdout=log, stderr=log)
        until = time.time() + 60
        while not os.path.exists(f"{out}/s.h5") and time.time() < until:
            time.sleep(0.1)
        mdrun.write(f"{out}/STOP", "")
        tap.is_(child.wait(timeout=100), 75, f"{n} ranks stop when asked to")


def main():
    check_forces()
    check_fast()
    check_stop()
    tap.done()


if __name__ == "__main__":
    main()
