"""What analyses say that are measured on the way is what the frames say.

One run with all of them writes its samples as frames as well; each table is
computed again from the frames by plain sums. The same on several ranks, and by
a run that goes on from a checkpoint, there to the last bit.
"""

import os

import tap

tap.need("numpy", "h5py")

import numpy as np

import mdrun

EVERY, STEPS, DT = 4, 120, 0.004
LENGTH, ORIGIN = 60, 20
KINDS = (("all", None), ("A", 0), ("B", 1))

DECK = mdrun.write("measured.toml", f"""
[run]
solver = "md"
seed = 17
[md]
timestep = {DT}
steps = {STEPS}
[[md.species]]
name = "A"
mass = 1.0
[[md.species]]
name = "B"
mass = 3.0
[md.initial]
read = "measured.xyz"
temperature = 1.5
[md.pair]
cutoff = 2.2
shift = "force"
[[md.pair.coefficients]]
species = ["A", "A"]
epsilon = 1.0
sigma = 1.0
[[md.pair.coefficients]]
species = ["B", "B"]
epsilon = 0.5
sigma = 0.9
[md.analysis.vacf]
every = {EVERY}
length = {LENGTH}
origin_every = {ORIGIN}
[output]
observables_every = {EVERY}
frames_every = {EVERY}
fields = ["position", "velocity"]
""")

box, position = mdrun.jittered_box(9, cells=(6, 7, 6), spacing=1.15,
                                   jitter=0.1)
kind = np.random.default_rng(9).integers(0, 2, len(position))
mass = np.where(kind == 0, 1.0, 3.0)
mdrun.xyz("measured.xyz", box, position, ["AB"[k] for k in kind])


def run(name, *more, ranks=1):
    tap.run(tap.WARPDECK, "run", DECK, "output.name=r", "--output", name, "-q",
            *more, ranks=ranks)
    return mdrun.Result(os.path.join(name, "r.h5"))


def close(table, column, want, on, tolerance=1e-11):
    """A column is what it should be, relative to its greatest value."""
    worst = mdrun.worst(table[column] / np.abs(want).max(),
                        want / np.abs(want).max())
    tap.below(worst, tolerance, f"{column} of {on}")


def frames(r, field):
    return np.array([r.frame(field, k) for k in range(STEPS // EVERY + 1)])


# ---- velocity autocorrelation ----

def check_vacf(r, on):
    v = frames(r, "velocity")
    lags, origins = LENGTH // EVERY + 1, range(0, len(v), ORIGIN // EVERY)
    t = np.arange(lags) * EVERY * DT
    tables = {name: r.table("velocity_autocorrelation/" + name)
              for name in ("function", "normalized", "diffusion", "spectrum",
                           "density_of_states")}
    f = np.arange(lags) / (2 * t[-1])
    hann = 0.5 * (1 + np.cos(np.pi * t / t[-1]))

    def transform(c):
        wave = hann * c * np.cos(2 * np.pi * f[:, None] * t)
        return 4 / c[0] * np.trapz(wave, t, axis=1)

    def correlate(rows, weight):
        return np.array([np.mean([np.mean(weight[rows] * (
            v[o][rows] * v[o + k][rows]).sum(1)) for o in origins
            if o + k < len(v)]) for k in range(lags)])

    close(tables["function"], "time", t, f"the correlation, {on}")
    close(tables["spectrum"], "frequency", f, f"the spectrum, {on}")
    for name, a in KINDS:
        c = correlate(kind == a if a is not None else kind >= 0,
                      np.ones(len(kind)))
        d = np.concatenate([[0], np.cumsum(c[1:] + c[:-1])]) * (t[1] / 6)
        close(tables["function"], name, c, f"velocities' correlation, {on}")
        close(tables["normalized"], name, c / c[0], f"the same over its first, "
              f"{on}")
        close(tables["diffusion"], name, d, f"its integral, {on}")
        close(tables["spectrum"], name, transform(c), f"its spectrum, {on}")
    close(tables["density_of_states"], "density",
          transform(correlate(kind >= 0, mass)), f"states by mass, {on}")
    last = r.table("velocity_autocorrelation/coefficients")
    tap.ok([s.decode() for s in last["species"]] == ["all", "A", "B"]
           and last["diffusion"][2] == tables["diffusion"]["B"][-1]
           and last["origins"][0] == len(origins)
           and last["particles"][1] == (kind == 0).sum(),
           f"coefficients are the ends of the integrals, {on}")


for ranks in mdrun.rank_counts(1, 3):
    on = f"{ranks} rank{"s" * (ranks > 1)}"
    r = run(f"whole{ranks}", ranks=ranks)
    check_vacf(r, on)

    parts = f"parts{ranks}"
    run(parts, "md.steps=50", "checkpoint.keep=2", ranks=ranks)
    run(parts, "--resume", "auto", ranks=ranks)
    a = mdrun.datasets(os.path.join(f"whole{ranks}", "r.h5"))
    b = mdrun.datasets(os.path.join(parts, "r.h5"))
    other = [n for n in sorted(set(a) | set(b)) if n not in a or n not in b
             or a[n].tobytes() != b[n].tobytes()]
    tap.is_(other, [], f"a run in two parts ends with the same bits ({on})")
tap.done()
