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
BINS, START = 8, 20
STRESS_LENGTH = 12
K_MAX, SHELLS = 5.0, 25
KINDS = (("all", None), ("A", 0), ("B", 1))

DECK = mdrun.write("measured.toml", f"""
[run]
solver = "md"
seed = 17
[md]
timestep = {DT}
steps = {STEPS}
pressure_tensor = true
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
[md.analysis.profile]
axis = "y"
bins = {BINS}
every = {EVERY}
start = {START}
pressure = true
[md.analysis.green_kubo]
every = {EVERY}
length = {STRESS_LENGTH}
[md.analysis.structure_factor]
k_max = {K_MAX}
bins = {SHELLS}
every = {3 * EVERY}
[md.analysis.map]
axes = ["z", "x"]
bins = [3, 4]
every = {EVERY}
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


# ---- slabs and columns ----

EPSILON = np.array([[1.0, np.sqrt(0.5)], [np.sqrt(0.5), 0.5]])
SIGMA = np.array([[1.0, 0.95], [0.95, 0.9]])


def halves(x):
    """Half of each pair's r_a f_a for each of its two, by plain sums."""
    d = x[:, None] - x[None]
    d -= box * np.rint(d / box)
    r = np.sqrt((d * d).sum(-1))
    np.fill_diagonal(r, np.inf)
    eps, sig = EPSILON[kind[:, None], kind], SIGMA[kind[:, None], kind]

    def force(r):
        return 24 * eps * (2 * (sig / r) ** 12 - (sig / r) ** 6) / r

    f = np.where(r < 2.2, (force(r) - force(2.2)) / r, 0)
    return 0.5 * (f[:, :, None] * d * d).sum(1)


def cells_of(x, axes, bins):
    cell = np.zeros(len(x), int)
    for a, n in zip(axes, bins):
        cell = cell * n + np.minimum((x[:, a] / box[a] * n).astype(int), n - 1)
    return cell


def check_cells(table, r, axes, bins, first, pressure, on):
    x, v = frames(r, "position")[first:], frames(r, "velocity")[first:]
    n, samples = np.prod(bins), len(x)
    volume = np.prod(box) / n
    cell = np.concatenate([cells_of(p, axes, bins) for p in x])
    v, m = v.reshape(-1, 3), np.tile(mass, samples)

    def sums(values):
        return np.bincount(cell, values, n)

    count, weight = sums(np.ones(len(m))), sums(m)
    u = np.array([sums(m * v[:, a]) for a in range(3)]) / weight
    square = np.array([sums(m * (v[:, a] - u[a, cell]) ** 2)
                       for a in range(3)])
    freedom = (3 * len(kind) - 3) / len(kind)
    want = {"number_density": count / samples / volume,
            "mass_density": weight / samples / volume,
            "temperature": square.sum(0) / (freedom * count),
            "particles": count / samples}
    want.update({"velocity_" + "xyz"[a]: u[a] for a in range(3)})
    for s in (0, 1):
        of = np.tile(kind == s, samples)
        want["number_density_" + "AB"[s]] = sums(of * 1.0) / samples / volume
    if pressure:
        w = np.concatenate([halves(p) for p in x])
        want.update({"pressure_" + 2 * "xyz"[a]:
                     (square[a] + sums(w[:, a])) / samples / volume
                     for a in range(3)})
    middle = np.meshgrid(*[(np.arange(b) + 0.5) * box[a] / b
                           for a, b in zip(axes, bins)], indexing="ij")
    want.update({"xyz"[a]: g.ravel() for a, g in zip(axes, middle)})
    tap.is_(sorted(table), sorted(want), f"columns of {on}")
    for name, values in want.items():
        close(table, name, values, on)


def check_sums(r, table, on):
    """Slabs together are the box: with the mean motion put back."""
    step = r.step("pressure")
    p = r.observable("pressure")[step >= START].mean()
    flow = sum(table["mass_density"] * table["velocity_" + a] ** 2
               for a in "xyz") / 3
    all_of = sum(table["pressure_" + 2 * a] for a in "xyz") / 3 + flow
    tap.near(all_of.mean(), p, 1e-11, f"slabs' pressures add up to all, {on}")
    t = r.observable("temperature")[step >= START].mean()
    freedom = (3 * len(kind) - 3) / len(kind)
    warm = (table["temperature"] * table["number_density"]
            + 3 * flow / freedom).sum() / table["number_density"].sum()
    tap.near(warm, t, 1e-11, f"slabs' temperatures add up to all, {on}")


# ---- viscosity ----

def check_viscosity(r, on):
    """All directions by the tensor itself: the sum over its nine places of the
    traceless part's correlation is ten times that of one."""
    p = {ab: r.observable("pressure_" + ab) for ab in
         ("xx", "yy", "zz", "xy", "xz", "yz")}
    mean = (p["xx"] + p["yy"] + p["zz"]) / 3
    part = {"xy": p["xy"], "xz": p["xz"], "yz": p["yz"],
            "xx_yy": (p["xx"] - p["yy"]) / 2, "yy_zz": (p["yy"] - p["zz"]) / 2,
            "zz_xx": (p["zz"] - p["xx"]) / 2}
    places = [p["xx"] - mean, p["yy"] - mean, p["zz"] - mean] + 2 * [
        p["xy"], p["xz"], p["yz"]]
    lags, n = STRESS_LENGTH // EVERY + 1, len(mean)

    def correlate(x, first=0, last=None):
        return np.array([np.mean([x[i] * x[i - k] for i in
                                  range(max(first, k), last or n)])
                         for k in range(lags)])

    def whole(*range_):
        return sum(correlate(x, *range_) for x in places) / 10

    temperature = r.observable("temperature").mean()
    factor = np.prod(box) / temperature * EVERY * DT

    def integral(c):
        return factor * np.concatenate([[0], np.cumsum(c[1:] + c[:-1]) / 2])

    blocks = [whole(lags * b, lags * (b + 1)) for b in range(n // lags)]
    error = (np.std([integral(c) for c in blocks], axis=0, ddof=1)
             / np.sqrt(len(blocks)))
    function = r.table("green_kubo/function")
    viscosity = r.table("green_kubo/viscosity")
    close(function, "average", whole(), f"the pressure's correlation, {on}",
          1e-10)
    close(viscosity, "average", integral(whole()), f"its integral, {on}", 1e-10)
    close(viscosity, "error", error, f"the same by blocks, {on}", 1e-10)
    for name, x in part.items():
        close(function, name, correlate(x), f"the pressure's correlation, {on}",
              1e-10)
        close(viscosity, name, integral(correlate(x)), f"its integral, {on}",
              1e-10)
    last = r.table("green_kubo/coefficients")
    tap.ok(last["viscosity"][0] == viscosity["average"][-1]
           and last["error"][0] == viscosity["error"][-1]
           and last["samples"][0] == n and last["blocks"][0] == len(blocks),
           f"the viscosity is the end of the integral, {on}")
    tap.near(last["temperature"][0], temperature, 1e-12,
             f"at the mean temperature, {on}")


# ---- structure factor ----

def check_structure(r, on):
    x = frames(r, "position")[::3]
    most = (K_MAX * box / (2 * np.pi)).astype(int)
    n = np.stack(np.meshgrid(*[np.arange(-m, m + 1) for m in most],
                             indexing="ij"), -1).reshape(-1, 3)
    k = 2 * np.pi * n / box
    length = np.sqrt((k * k).sum(1))
    k, length = k[(length > 0) & (length <= K_MAX)], length[
        (length > 0) & (length <= K_MAX)]
    shell = (length / K_MAX * SHELLS).astype(int)
    full = np.bincount(shell, minlength=SHELLS) > 0
    waves = np.bincount(shell)[full]
    rho = [np.array([np.exp(1j * k @ p[kind == s].T).sum(1) for p in x])
           for s in (0, 1)]
    rho = {"all": rho[0] + rho[1], "A": rho[0], "B": rho[1]}
    count = {"all": len(kind), "A": (kind == 0).sum(), "B": (kind == 1).sum()}
    for name, a, b in (("all", "all", "all"), ("A-A", "A", "A"),
                       ("A-B", "A", "B"), ("B-B", "B", "B")):
        s = (rho[a] * rho[b].conj()).real.mean(0) / np.sqrt(
            count[a] * count[b])
        table = r.table("structure_factor/" + name)
        close(table, "S", np.bincount(shell, s)[full] / waves,
              f"the structure of {name}, {on}", 1e-10)
        close(table, "k", np.bincount(shell, length)[full] / waves,
              f"waves of {name}, {on}")
        close(table, "waves", waves, f"the structure of {name}, {on}")


for ranks in mdrun.rank_counts(1, 3):
    on = "1 rank" if ranks == 1 else f"{ranks} ranks"
    r = run(f"whole{ranks}", ranks=ranks)
    check_vacf(r, on)
    check_viscosity(r, on)
    check_structure(r, on)
    slabs = r.table("profile/slabs")
    check_cells(slabs, r, [1], [BINS], START // EVERY, True, f"slabs, {on}")
    check_sums(r, slabs, on)
    check_cells(r.table("map/columns"), r, [2, 0], [3, 4], 0, False,
                f"a map, {on}")

    parts = f"parts{ranks}"
    run(parts, "md.steps=50", "checkpoint.keep=2", ranks=ranks)
    run(parts, "--resume", "auto", ranks=ranks)
    a = mdrun.datasets(os.path.join(f"whole{ranks}", "r.h5"))
    b = mdrun.datasets(os.path.join(parts, "r.h5"))
    other = [n for n in sorted(set(a) | set(b)) if n not in a or n not in b
             or a[n].tobytes() != b[n].tobytes()]
    tap.is_(other, [], f"a run in two parts ends with the same bits ({on})")

# 50 steps on 2 ranks, the rest on 3: chaos has 0.3 time units to make 1e-15 grow
# by a factor of about e a unit.
if tap.have_mpi():
    run("moved", "md.steps=50", "checkpoint.keep=2", ranks=2)
    run("moved", "--resume", "auto", ranks=3)
    a = mdrun.datasets(os.path.join("whole1", "r.h5"))
    b = mdrun.datasets(os.path.join("moved", "r.h5"))
    tap.is_(sorted(a), sorted(b), "2 and then 3 ranks write the same datasets")
    worst = max(np.nanmax(np.abs(a[n] - b[n])) / max(np.nanmax(np.abs(a[n])), 1)
                for n in a if n.startswith("statistics") and a[n].dtype == float)
    tap.below(worst, 1e-9, "and the same tables")
else:
    tap.skip(2, "built without MPI")
tap.done()
