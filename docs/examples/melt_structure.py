# %% [markdown]
# The structure of the Lennard-Jones melt. The shipped deck melts a crystal of
# 32,000 particles; g(r) is gathered once it is a liquid (density 0.8442,
# temperature 0.70: the triple point).
#
#     python3 melt_structure.py        (needs warpdeck, h5py, matplotlib)
#
# The picture, at the left: shells at 1.09 and 2.1 with a trough between them,
# some 12.5 neighbors in the first shell, no trace of the lattice. At the right:
# the structure factor that belongs to it; where a simple liquid freezes its
# highest peak is 2.85 (Hansen and Verlet, Phys. Rev. 184, 151, 1969).

# %%
import os
import subprocess

import h5py
import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as pyplot  # noqa: E402
import numpy  # noqa: E402

INPUTS = os.environ.get("WARPDECK_INPUTS", os.path.join(os.path.dirname(
    os.path.abspath(__file__)), "..", "..", "inputs"))
CELLS, STEPS = os.environ.get("EXAMPLE_SIZE", "20 4000").split()
DENSITY, FREEZING = 0.8442, 2.85

# %%
subprocess.run([os.environ.get("WARPDECK", "warpdeck"), "run", "-q",
                "--overwrite", os.path.join(INPUTS, "md", "lj_melt.toml"),
                f"md.initial.cells=[{CELLS},{CELLS},{CELLS}]",
                f"md.steps={STEPS}", f"md.analysis.rdf.start={int(STEPS) // 2}",
                "md.analysis.rdf.every=20", "md.analysis.rdf.range=6.5",
                "md.analysis.rdf.bins=325", "output.frames_every=0"],
               check=True)
with h5py.File("lj_melt.h5", "r") as f:
    r, g = (f["statistics/radial_distribution/A-A"][k][()] for k in "rg")
    warmth = f["observables/temperature/value"][()]
temperature = warmth[len(warmth) // 2:].mean()

# %%
# Where the shells are, and how many neighbors the first one has.
first = r[g.argmax()]
trough = r[numpy.where((r > first) & (r < 2), g, 9).argmin()]
second = r[numpy.where(r > trough, g, 0).argmax()]
width = r[1] - r[0]
shell = 4 * numpy.pi * DENSITY * (r ** 2 * g)[r < trough].sum() * width

# S(k) = 1 + 4 pi rho / k int (g - 1) r sin(k r) dr; Lorch's factor takes the
# waves away that come from where g ends.
k = numpy.linspace(2, 20, 541)
end = r[-1] + width / 2
lorch = numpy.sinc(r / end)
waves = (4 * numpy.pi * DENSITY * width *
         numpy.sin(numpy.outer(k, r)) @ ((g - 1) * r) / k)
smooth = (4 * numpy.pi * DENSITY * width *
          numpy.sin(numpy.outer(k, r)) @ ((g - 1) * r * lorch) / k)
peak = 1 + waves.max()
print(f"T {temperature:.3f}; g peaks with {g.max():.3f} at {first:.3f}, is least "
      f"at {trough:.3f}, again high at {second:.3f}; {shell:.2f} neighbors; "
      f"S peaks with {peak:.3f} at {k[waves.argmax()]:.2f}")

figure, (left, right) = pyplot.subplots(1, 2, figsize=(11, 4.4),
                                        constrained_layout=True)
left.plot(r, g, color="#0072B2")
left.axhline(1, color="0.6", linewidth=0.8)
for at, height, words in ((first, g.max(), f"{first:.2f}"),
                          (second, g[r == second][0], f"{second:.2f}")):
    left.annotate(words, (at, height), (at + 0.25, height), va="center",
                  arrowprops={"arrowstyle": "-", "color": "0.5"})
left.set(xlabel="distance r (sigma)", ylabel="g(r)", xlim=(0, end),
         ylim=(0, None), title=f"{shell:.1f} neighbors within {trough:.2f}")
right.plot(k, 1 + smooth, color="#0072B2", label="S(k), smoothed")
right.plot(k, 1 + waves, ".", color="#0072B2", markersize=2, label="as it is")
right.axhline(FREEZING, color="#D55E00", linestyle="--",
              label="freezing (Hansen and Verlet 1969)")
right.set(xlabel="wavenumber k (1/sigma)", ylabel="S(k)", xlim=(2, 20),
          ylim=(0, 3.3), title=f"Lennard-Jones melt at T = {temperature:.2f}")
right.legend()
figure.savefig("melt_structure.png", dpi=120)
