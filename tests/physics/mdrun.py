"""Run Warpdeck's molecular dynamics and read what it wrote; sums to compare with.

The tests of this folder run the program as users do and look only at its file.
The sums here are plain loops over all pairs, independent of the program's.
"""

import os

import h5py
import numpy as np

import tap

INPUTS = os.path.join(tap.TOP_SRCDIR, "inputs", "md")


class Result:
    """What a run left: observables as arrays, frames, and tables."""

    def __init__(self, path):
        self.path = path

    def observable(self, name):
        """All rows of a scalar of time."""
        with h5py.File(self.path, "r") as f:
            return f[f"observables/{name}/value"][...]

    def has(self, name):
        """Whether there is such an observable."""
        with h5py.File(self.path, "r") as f:
            return name in f["observables"]

    def time(self, name="potential_energy"):
        with h5py.File(self.path, "r") as f:
            return f[f"observables/{name}/time"][...]

    def step(self, name="potential_energy"):
        with h5py.File(self.path, "r") as f:
            return f[f"observables/{name}/step"][...]

    def table(self, group):
        """The columns of a table below /statistics, by name."""
        with h5py.File(self.path, "r") as f:
            return {k: v[...] for k, v in f[f"statistics/{group}"].items()}

    def frame(self, field, index=-1):
        """A frame of a particle field, rows by id."""
        with h5py.File(self.path, "r") as f:
            return f[f"particles/all/{field}/value"][index]

    def constant(self, field):
        """A particle field that does not change: species, mass, id."""
        with h5py.File(self.path, "r") as f:
            d = f[f"particles/all/{field}"]
            return d[...] if isinstance(d, h5py.Dataset) else d["value"][-1]

    def cell(self, index=-1):
        """The edges of the box, as rows."""
        with h5py.File(self.path, "r") as f:
            e = f["particles/all/box/edges"]
            e = e[...] if isinstance(e, h5py.Dataset) else e["value"][index]
            return np.diag(e) if e.ndim == 1 else e

    def edges(self, index=-1):
        """The three sides of the box."""
        return np.diag(self.cell(index))

    @property
    def n(self):
        with h5py.File(self.path, "r") as f:
            return f["particles/all/position/value"].shape[1]


def write(name, text):
    """A file in the folder of the test; returns its path."""
    with open(name, "w", encoding="utf-8") as f:
        f.write(text)
    return os.path.abspath(name)


_runs = 0


def run(deck, *overrides, ranks=1, name=None, program=None, device=None,
        **more):
    """Run a deck to its end and return its Result. `deck` is a path, or the
    deck's text (it has a newline)."""
    global _runs
    _runs += 1
    if "\n" in deck:
        deck = write(f"deck{_runs}.toml", deck)
    out = name or f"run{_runs}"
    where = ["--device", device] if device else []
    tap.run(program or tap.WARPDECK, "run", deck, f"output.name={out}",
            *overrides, *where, "--output", "out", "--overwrite", "-q",
            ranks=ranks, **more)
    return Result(os.path.join("out", out + ".h5"))


def refused(deck, *overrides, ranks=1):
    """Run a deck that should fail; returns (exit status, everything said)."""
    if "\n" in deck:
        deck = write("refused.toml", deck)
    done = tap.warpdeck("run", deck, *overrides, "--output", "out",
                        "--overwrite", "-q", ranks=ranks, check=False)
    return done.returncode, done.stderr + done.stdout


def datasets(path):
    """All datasets of a file but what the run says about itself, by name."""
    found = {}

    def visit(name, item):
        if isinstance(item, h5py.Dataset) and not name.startswith("run"):
            found[name] = item[...]

    with h5py.File(path, "r") as f:
        f.visititems(visit)
    return found


def worst(a, b):
    """Greatest difference relative to the largest value, or to 1 where all are
    smaller (the total momentum is rounding only)."""
    a, b = np.asarray(a, float), np.asarray(b, float)
    scale = max(np.abs(b).max(initial=0), 1.0)
    return np.abs(a - b).max(initial=0) / scale


def rank_counts(*counts):
    """Those of the counts that this build can run: without MPI only 1."""
    return [n for n in counts if n == 1 or tap.have_mpi()]


def lammps_data(path, box, position, kind, masses, charge=None, velocity=None):
    """Write a LAMMPS data file with every digit a double has; kind: 0, 1, ..."""
    def row(numbers):
        return " ".join(repr(float(c)) for c in numbers)

    with open(path, "w", encoding="utf-8") as f:
        f.write(f"made by a test\n\n{len(position)} atoms\n"
                f"{len(masses)} atom types\n\n")
        for d in range(3):
            f.write(f"0 {float(box[d])!r} {'xyz'[d]}lo {'xyz'[d]}hi\n")
        f.write("\nMasses\n\n")
        for k, mass in enumerate(masses):
            f.write(f"{k + 1} {mass}\n")
        f.write(f"\nAtoms # {'atomic' if charge is None else 'charge'}\n\n")
        for i, x in enumerate(position):
            own = "" if charge is None else f"{charge[i]} "
            f.write(f"{i + 1} {1 + kind[i]} {own}{row(x)}\n")
        if velocity is not None:
            f.write("\nVelocities\n\n")
            for i, v in enumerate(velocity):
                f.write(f"{i + 1} {row(v)}\n")


def xyz(path, box, position, species, velocity=None):
    """Write an extended XYZ file with every digit a double has. box: lengths, or
    edges as rows."""
    edges = np.diag(box) if np.ndim(box) == 1 else np.asarray(box)
    lattice = " ".join(repr(float(c)) for c in edges.ravel())
    with open(path, "w", encoding="utf-8") as f:
        extra = "" if velocity is None else ":vel:R:3"
        f.write(f"{len(position)}\n")
        f.write(f'Lattice="{lattice}" '
                f"Properties=species:S:1:pos:R:3{extra}\n")
        for i, x in enumerate(position):
            row = [repr(float(c)) for c in x]
            if velocity is not None:
                row += [repr(float(c)) for c in velocity[i]]
            f.write(species[i] + " " + " ".join(row) + "\n")
    return os.path.abspath(path)


def pair_sums(position, box, kind, epsilon, sigma, cutoff, shift="none"):
    """Energy, virial (sum of r . f) and forces by a plain sum over all pairs with
    the minimum image. kind[i] indexes the square tables epsilon, sigma, cutoff."""
    box = np.asarray(box)
    n = len(position)
    energy = virial = 0.0
    force = np.zeros((n, 3))
    for i in range(n - 1):
        d = position[i] - position[i + 1:]
        d -= box * np.rint(d / box)
        r2 = (d * d).sum(1)
        a, b = kind[i], kind[i + 1:]
        rc = cutoff[a, b]
        near = r2 < rc * rc
        d, r2, rc, b = d[near], r2[near], rc[near], b[near]
        eps, sig = epsilon[a, b], sigma[a, b]
        s6 = (sig * sig / r2) ** 3
        u = 4 * eps * (s6 * s6 - s6)
        f = 24 * eps * (2 * s6 * s6 - s6) / r2
        c6 = (sig / rc) ** 6
        uc = 4 * eps * (c6 * c6 - c6)
        fc = 24 * eps * (2 * c6 * c6 - c6) / rc
        if shift != "none":
            u = u - uc
        if shift == "force":
            r = np.sqrt(r2)
            u = u + (r - rc) * fc
            f = f - fc / r
        energy += u.sum()
        virial += (f * r2).sum()
        force[i] += (f[:, None] * d).sum(0)
        force[i + 1:][near] -= f[:, None] * d
    return energy, virial, force


def tail(count, volume, epsilon, sigma, cutoff):
    """Tail corrections of energy and pressure (Allen and Tildesley 2017, eqs.
    2.144 and 2.145) summed over ordered pairs of species."""
    energy = pressure = 0.0
    for a, na in enumerate(count):
        for b, nb in enumerate(count):
            s3 = sigma[a, b] ** 3
            c3 = (sigma[a, b] / cutoff[a, b]) ** 3
            energy += (na * nb / volume * 8 * np.pi / 3 * epsilon[a, b] * s3
                       * (c3**3 / 3 - c3))
            pressure += (na * nb / volume**2 * 16 * np.pi / 3 * epsilon[a, b]
                         * s3 * (2 * c3**3 / 3 - c3))
    return energy, pressure


def standard_error(x):
    """Standard error of the mean of a correlated series, by blocking (Flyvbjerg
    and Petersen 1989): the largest of the estimates with 16 blocks or more."""
    x = np.asarray(x, float)
    worst = 0.0
    while len(x) >= 16:
        worst = max(worst, x.std(ddof=1) / np.sqrt(len(x)))
        half = len(x) // 2 * 2
        x = (x[:half:2] + x[1:half:2]) / 2
    return worst


def jittered_box(seed, cells=(4, 5, 6), spacing=1.2, jitter=0.2):
    """A disordered but not overlapping configuration: a simple cubic lattice
    with every site moved at random. Returns (box, position)."""
    rng = np.random.default_rng(seed)
    box = np.array(cells) * spacing
    sites = np.stack(np.meshgrid(*[np.arange(c) for c in cells],
                                 indexing="ij"), -1).reshape(-1, 3)
    position = (sites + 0.5) * spacing
    position = position + rng.uniform(-jitter, jitter, position.shape)
    return box, position
