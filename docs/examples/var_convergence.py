# %% [markdown]
# VaR's interval shrinks with the number of paths as N^-1/2. One share, ten
# days: its value at risk is known, S (1 - exp(m + s z)).
#
#     python3 var_convergence.py       (needs warpdeck, h5py, matplotlib)
#
# The picture: the interval's half width on two logarithmic axes; the points lie
# within some 10 % of the dashed line of slope -1/2.

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

# %%
paths, width, value = [], [], []
for power in os.environ.get("EXAMPLE_SIZE", "13 15 17 19").split():
    n = 2 ** int(power)
    subprocess.run([os.environ.get("WARPDECK", "warpdeck"), "run", "-q",
                    "--overwrite", os.path.join(INPUTS, "risk", "var.toml"),
                    f"risk.var.paths={n}"],
                   check=True)
    with h5py.File("var.h5", "r") as f:
        var = f["risk/var"]
        paths.append(var["paths"][0])
        value.append(var["var"][0])
        width.append((var["var_high"][0] - var["var_low"][0]) / 2)

# %%
known = 100 * (1 - numpy.exp((0.05 - 0.02) * 0.04 - 0.2 * 0.2 * 2.3263479))
slope = numpy.polyfit(numpy.log(paths), numpy.log(width), 1)[0]
print(f"VaR {value[-1]:.4f}, known {known:.4f}; slope {slope:.3f}")
pyplot.loglog(paths, width, "o", label="half width of VaR's interval")
pyplot.loglog(paths, width[-1] * numpy.sqrt(paths[-1] / numpy.array(paths)),
              "--", color="0.4", label="slope -1/2")
pyplot.xlabel("paths")
pyplot.ylabel("half width (currency of the spots)")
pyplot.legend()
pyplot.savefig("var_convergence.png")
