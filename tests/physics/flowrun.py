"""Run Warpdeck's flows and read what they left: rows, profiles, frames, and the
staggered fields themselves, which stand in the last checkpoint in double."""

import glob
import os

import h5py
import numpy as np

import tap

INPUTS = os.path.join(tap.TOP_SRCDIR, "inputs", "fluid")
TAU = 2 * np.pi


class Flow:
    """The results of one run."""

    def __init__(self, path):
        self.path = path

    def row(self, name):
        """All values of an observable."""
        with h5py.File(self.path + ".h5") as f:
            return f[f"observables/{name}/value"][...]

    def time(self, name="kinetic_energy"):
        with h5py.File(self.path + ".h5") as f:
            return f[f"observables/{name}/time"][...]

    def steps(self, name="kinetic_energy"):
        """How many steps were made."""
        with h5py.File(self.path + ".h5") as f:
            return int(f[f"observables/{name}/step"][-1])

    def profiles(self):
        """The columns of the statistics, by name."""
        with h5py.File(self.path + ".h5") as f:
            return {k: v[...] for k, v in f["statistics/profiles"].items()}

    def state(self, *names):
        """Fields of the end as they are stored, [k][j][i]: u stands on the
        upper x face of its cell, v and w likewise, scalars in the middle."""
        last = max(glob.glob(self.path + ".ckpt.*.h5"), key=step_of)
        with h5py.File(last) as f:
            found = [f["state/fluid/" + n][...] for n in names]
        return found[0] if len(found) == 1 else found

    def frame(self, field, index=-1):
        """A field of a frame at the cell centers, [k][j][i] or
        [k][j][i][component]."""
        name = sorted(glob.glob(self.path + "_[0-9]*.hdf"))[index]
        with h5py.File(name) as f:
            return f["VTKHDF/PointData/" + field][...]


def step_of(path):
    with h5py.File(path) as f:
        return int(np.ravel(f["run/step"] if "step" in f["run"]
                            else f["run"].attrs["step"])[0])


_runs = 0


def run(deck, *overrides, ranks=1, **more):
    """Run a deck to its end, with a checkpoint there. `deck` is the name of a
    deck of inputs/fluid, or a text (it has a newline)."""
    global _runs
    _runs += 1
    if "\n" in deck:
        with open(f"deck{_runs}.toml", "w", encoding="utf-8") as f:
            f.write(deck)
        deck = f"deck{_runs}.toml"
    else:
        deck = os.path.join(INPUTS, deck + ".toml")
    out = f"run{_runs}"
    tap.warpdeck("run", deck, f"output.name={out}", "checkpoint.keep=1",
                 *overrides, "--output", "out", "--overwrite", "-q",
                 ranks=ranks, **more)
    return Flow(os.path.join("out", out))


def deck(cells, size, fluid, *sections, output=""):
    """The text of a deck: keys of [fluid] and further sections."""
    return "\n".join([
        '[run]', 'solver = "fluid"', '[domain]', f"cells = {list(cells)}",
        f"size = {[float(s) for s in size]}", '[fluid]', fluid, *sections,
        '[output]', output, ''])


def faces(n, length):
    """Where the upper faces of even cells stand, and their centers."""
    h = length / n
    return h * np.arange(1, n + 1), h * (np.arange(n) + 0.5)


def slope(errors):
    """The order seen between each pair of runs that halve a step."""
    e = np.asarray(errors)
    return np.log2(e[:-1] / e[1:])


def root_mean_square(*fields):
    return np.sqrt(sum((f * f).mean() for f in fields))


def amplification(z):
    """What a step of three stages makes of a mode of eigenvalue z / dt."""
    return 1 + z + z * z / 2 + z * z * z / 6


def divergence_is_rounding(flow, spacing, sentence):
    """1e-12 of the greatest velocity over the cell size is the promise."""
    scale = max(np.abs(c).max() for c in flow.state("u", "v", "w")) / spacing
    return tap.below(flow.row("divergence")[1:].max() / scale, 1e-12, sentence)


def interpolate(x, y, at):
    """y at some points, by the cubic through the four values around each."""
    x, y = np.asarray(x), np.asarray(y)
    found = []
    for a in np.atleast_1d(at):
        i = min(max(int(np.searchsorted(x, a)) - 2, 0), len(x) - 4)
        p, q = x[i:i + 4], y[i:i + 4]
        weight = [np.prod([(a - p[m]) / (p[n] - p[m]) for m in range(4)
                           if m != n]) for n in range(4)]
        found.append(np.dot(weight, q))
    return np.array(found)


def is_complete(path):
    """Whether a run came to its end."""
    with h5py.File(path + ".h5") as f:
        return bool(f["run"].attrs["complete"])
