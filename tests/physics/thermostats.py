"""Thermostats give the whole distribution of the kinetic energy, not only its
mean.

A small dense liquid with samples far apart in time compared with the memory of
the thermostat, so that they count as independent. The short form takes 800
samples of each thermostat, the long one (thermostats_long.py) 8,000 at a
smaller step.
"""

import tap

tap.need("numpy", "h5py")

import numpy as np

import gammatest
import mdrun

CELLS = 3
DECK = """
[run]
solver = "md"
seed = 99
[md]
timestep = 0.004
[md.initial]
lattice = "fcc"
cells = [3, 3, 3]
density = 0.5
temperature = 1.5
[md.pair]
style = "lj"
cutoff = 2.5
skin = 0.4
shift = "force"
[md.ensemble]
temperature = 1.5
relaxation = 0.05
[output]
fields = ["position", "velocity"]
"""
N = 4 * CELLS**3
# Langevin kicks each particle by itself, so the total momentum is free.
FREEDOM = {"bussi": 3 * N - 3, "langevin": 3 * N, "nose-hoover": 3 * N - 3}


def check(kind, samples, every, timestep, ranks=1, seed=99):
    steps = (samples + 20) * every
    r = mdrun.run(DECK.replace("[md.ensemble]",
                               f'[md.ensemble]\ntype = "{kind}"'),
                  f"md.steps={steps}", f"md.timestep={timestep}",
                  f"run.seed={seed}",
                  f"output.observables_every={every}", ranks=ranks,
                  timeout=3000)
    kinetic = r.observable("kinetic_energy")[21:]
    freedom = FREEDOM[kind]
    what = f"{kind} on {ranks} ranks"
    chi = gammatest.chi_square(kinetic, freedom, 1.5)
    tap.below(chi, gammatest.critical(10),
              f"{what}: chi-square of {len(kinetic)} kinetic energies")
    error = 1.5 * np.sqrt(2 / freedom / len(kinetic))
    tap.near(2 * kinetic.mean() / freedom, 1.5, 4 * error,
             f"{what}: mean temperature within four standard errors")
    ratio = kinetic.var(ddof=1) / (freedom / 2 * 1.5**2)
    tap.near(ratio, 1, 4 * np.sqrt(2 / len(kinetic)),
             f"{what}: variance of the kinetic energy is canonical")
    lag = np.corrcoef(kinetic[1:], kinetic[:-1])[0, 1]
    tap.below(abs(lag), 4 / np.sqrt(len(kinetic)),
              f"{what}: samples are independent")
    return r


if __name__ == "__main__":
    for kind in ("bussi", "langevin"):
        r = check(kind, 800, 150, 0.004)
        momentum = np.abs(r.frame("velocity").sum(0)).max()
        if kind == "bussi":
            tap.below(momentum, 1e-11, "bussi: total momentum stays zero")
    tap.done()
