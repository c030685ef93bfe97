"""g(r) and the mean square displacement are what the frames say.

The same steps are sampled and written; both tables are computed again from the
positions in the file by plain sums over all pairs. A pair within rounding of a
bin's edge may count on either side: of some 10^5 pairs none is expected.
"""

import re

import tap

tap.need("numpy", "h5py")

import numpy as np

import mdrun

EVERY, STEPS, BINS = 15, 90, 60
DECK = f"""
[run]
solver = "md"
seed = 17
[md]
timestep = 0.005
steps = {STEPS}
[[md.species]]
name = "A"
mass = 1.0
fraction = 0.6
[[md.species]]
name = "B"
mass = 3.0
fraction = 0.4
[md.initial]
read = "analysis.xyz"
temperature = 3.0
[md.pair]
style = "lj"
cutoff = 2.2
skin = 0.6
[[md.pair.coefficients]]
species = ["A", "A"]
epsilon = 1.0
sigma = 1.0
[[md.pair.coefficients]]
species = ["B", "B"]
epsilon = 0.5
sigma = 0.9
[md.ensemble]
type = "nve"
[md.analysis.rdf]
range = @RANGE@
bins = {BINS}
every = {EVERY}
[md.analysis.msd]
every = {EVERY}
[output]
observables_every = {EVERY}
frames_every = {EVERY}
fields = ["position", "image"]
"""

box, position = mdrun.jittered_box(9, cells=(6, 7, 6), spacing=1.15,
                                   jitter=0.1)
kind = np.random.default_rng(9).integers(0, 2, len(position))
mdrun.xyz("analysis.xyz", box, position, ["AB"[k] for k in kind])
deck = "\n".join(line for line in DECK.splitlines()
                 if not line.startswith("fraction"))


def plain_rdf(frames, reach, a, b):
    """g_ab of the frames, from all ordered pairs."""
    edges = np.linspace(0, reach, BINS + 1)
    counts = np.zeros(BINS)
    rows, columns = np.nonzero(kind == a)[0], np.nonzero(kind == b)[0]
    for x in frames:
        d = x[rows][:, None] - x[columns][None]
        d -= box * np.rint(d / box)
        r = np.sqrt((d * d).sum(-1))[rows[:, None] != columns[None]]
        counts += np.histogram(r[r < reach], edges)[0]
    pairs = len(rows) * (len(columns) - (a == b))
    shell = 4 * np.pi / 3 * (edges[1:] ** 3 - edges[:-1] ** 3)
    return counts / len(frames) / pairs / shell * np.prod(box)


for reach in (1.9, box.min() / 2):
    text = deck.replace("@RANGE@", repr(float(reach)))
    for ranks in mdrun.rank_counts(1, 3, 4, 8):
        r = mdrun.run(text, ranks=ranks)
        n_frames = STEPS // EVERY + 1
        frames = [r.frame("position", k) for k in range(n_frames)]
        on = f"range {reach:.3g}, {ranks} ranks"
        for a, b in ((0, 0), (0, 1), (1, 1)):
            name = f"{'AB'[a]}-{'AB'[b]}"
            table = r.table("radial_distribution/" + name)
            worst = np.abs(table["g"] - plain_rdf(frames, reach, a, b)).max()
            tap.below(worst, 1e-9, f"g_{name} is that of the frames ({on})")
        middle = (np.arange(BINS) + 0.5) * reach / BINS
        tap.below(np.abs(table["r"] - middle).max(), 1e-12,
                  f"r is the middle of the bin ({on})")
        msd = r.table("displacement/mean_squared")
        path = [x + r.frame("image", k) * box for k, x in enumerate(frames)]
        moved = np.array([((p - path[0]) ** 2).sum(1) for p in path])
        for name, rows in (("all", kind >= 0), ("A", kind == 0),
                           ("B", kind == 1)):
            tap.below(np.abs(msd[name] - moved[:, rows].mean(1)).max(), 1e-12,
                      f"the displacement of {name} is that of the frames ({on})")
        tap.below(np.abs(msd["time"] - np.arange(n_frames) * EVERY
                         * 0.005).max(), 1e-12,
                  f"displacements stand at their times ({on})")

# A run that goes on may have more steps, so it is no error.
late = deck.replace("@RANGE@", "1.9")
late = re.sub(r"(\[md.analysis.rdf\]\n)", rf"\1start = {STEPS + 1}\n", late)
late += (f"\n[md.analysis.profile]\nstart = {STEPS}\n"
         "[md.analysis.vacf]\nstart = 999\n")
status, said = mdrun.refused(late)
tap.ok(status == 0 and all(
    f"{section}.start = {start}: no sample is taken, since the run ends with "
    f"step {STEPS}" in said for section, start in
    (("md.analysis.rdf", STEPS + 1), ("md.analysis.vacf", 999)))
    and "profile.start" not in said,
    "analyses that begin after the last step are told of")
tap.done()
