"""What the tests of several runs of one deck share."""

import tap

# Four temperatures of a small liquid.
LADDER = """
[run]
solver = "md"
seed   = 7
[md]
timestep = 0.005
steps    = {steps}
[md.initial]
lattice     = "fcc"
cells       = [3, 3, 3]
density     = 0.6
temperature = 1.0
[md.pair]
style  = "lj"
cutoff = 1.5
skin   = 0.2
[md.ensemble]
type        = "{thermostat}"
temperature = 1.0
relaxation  = 0.2
[ensemble]
temperatures   = [1.0, 1.05, 1.1, 1.15]
exchange_every = 10
[output]
observables_every = 10
frames_every      = {steps}
"""
N = 4


def run(deck, *more, ranks=1, status=0):
    """A run of the deck, which ends with `status`."""
    result = tap.warpdeck("run", deck, *more, ranks=ranks, check=False)
    if result.returncode != status:
        tap.note(result.stdout[-2000:] + result.stderr[-2000:])
    return result


def path(folder, i):
    """What replica i of the ladder wrote."""
    return f"{folder}/replica-{i:04d}/ladder.h5"


def same(a, b):
    return all(tap.numbers(path(a, i)) == tap.numbers(path(b, i))
               for i in range(N))
