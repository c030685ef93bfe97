"""Decks of replicas that run together on a simulated card, and runs of them."""

import os
import re

import tap

PROGRAM = tap.simulated_card()
# Bits are compared: memory need not be closed at every wait.
os.environ["CUDASIM_PROTECT"] = "0"

DECK = """
[run]
solver = "md"
seed = 7
[md]
timestep = 0.002
steps = 12
{system}
[ensemble]
replicas = 3
[output]
observables_every = {every}
frames_every = 12
"""
LIQUID = """
[md.initial]
lattice = "fcc"
cells = [3, 3, 3]
density = 0.6
{temperature}
[[md.species]]
name = "A"
mass = 1.0
fraction = 0.5
{friction}
[[md.species]]
name = "B"
mass = 2.0
fraction = 0.5
[md.pair]
style = "{style}"
cutoff = 1.7
skin = 0.2
rebuild_every = 5
"""
WARM = "temperature = 1.0"


def deck(system, every=12):
    """every: rows of observables, which ask for what a step alone does not."""
    return DECK.format(system=system, every=every)


def liquid(pairs, friction="", style="lj", warm=WARM):
    """Two species; pairs: their coefficients."""
    return LIQUID.format(temperature=warm, friction=friction,
                         style=style) + pairs


def run(name, out, *more, device="cuda", ranks=1, seed=1):
    """What a run of this deck says."""
    return finish(name, out, *more, device=device, ranks=ranks,
                  seed=seed).stdout


def errors(name, out, *more):
    """What it and the simulator say on stderr."""
    return finish(name, out, *more).stderr


def finish(name, out, *more, device="cuda", ranks=1, seed=1):
    where = [] if "--resume" in more else ["--overwrite"]
    return tap.run(PROGRAM, "run", name, "--output", out, "--device", device,
                   *where, *more, ranks=ranks, env=tap.seeded(seed))


def share(text):
    """Percent of each step that ran together, as a run says."""
    found = re.search(r"(\d+) % of each step ran together", text)
    return int(found[1]) if found else 0
