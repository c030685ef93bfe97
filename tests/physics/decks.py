"""Every shipped deck runs, shortened, and gives the figures it promises.

Tolerances are a few standard errors of runs this short. The full decks are
compared closely by the long tests.
"""

import glob
import os

import tap

tap.need("numpy", "h5py")

import numpy as np

import mdrun
import peer_values

checked = set()


def deck(name, *overrides, ranks=1):
    checked.add(name)
    return mdrun.run(os.path.join(mdrun.INPUTS, name), *overrides, ranks=ranks,
                     name=name.replace(".toml", ""))


def mean(result, name, first, per_particle=False):
    x = result.observable(name)[result.step() >= first].mean()
    return x / result.n if per_particle else x


def peak(r, g):
    """Where g is largest, and how large."""
    i = int(np.argmax(g))
    return r[i], g[i]


def rdf(result, pair):
    t = result.table("radial_distribution/" + pair)
    return t["r"], t["g"]


# ---- the melt ----
r = deck("lj_melt.toml", ranks=2 if tap.have_mpi() else 1)
tap.near(r.observable("potential_energy")[0] / r.n, -6.7733681, 6e-8,
         "lj_melt: step-0 energy is -6.7733681")
tap.near(r.observable("total_energy")[-1] / r.n, -4.6223, 1e-3,
         "lj_melt: total energy per particle is -4.622 at step 100, as LAMMPS "
         "has it")
tap.ok(0.6 < r.observable("temperature")[-1] < 0.9,
       "lj_melt: half of the kinetic energy has gone into the melt")

# ---- the liquid that finds its density ----
r = deck("liquid_npt.toml", "md.steps=6000")
tap.near(mean(r, "density", 3000), 0.820, 0.012,
         "liquid_npt: density is NIST's 0.820")

# ---- the liquid of NIST ----
r = deck("lj_liquid.toml", "md.steps=8000", "md.analysis.rdf.start=3000")
tap.near(mean(r, "temperature", 3000), 0.85, 0.02, "lj_liquid: temperature")
tap.near(mean(r, "potential_energy", 3000, True), -5.512, 0.05,
         "lj_liquid: energy per particle is NIST's -5.512")
tap.near(mean(r, "pressure", 3000), 0.007, 0.25,
         "lj_liquid: pressure is NIST's 0.007")
where, height = peak(*rdf(r, "A-A"))
tap.near(where, 1.08, 0.04, "lj_liquid: g(r) peaks near 1.08")
tap.near(height, 2.75, 0.2, "lj_liquid: the peak's height is near 2.75")

# ---- copper ----
r = deck("copper.toml", "md.steps=0", "md.initial.temperature=0",
         "md.initial.lattice_constant=3.605")
tap.near(r.observable("potential_energy")[0] / r.n, -3.4400, 1e-4,
         "copper: the crystal has -3.4400 eV an atom")
r = deck("copper.toml", "md.steps=800")
u = mean(r, "potential_energy", 400, True) + 3.43779
kt = 8.617333e-5 * mean(r, "temperature", 400)
tap.near(u / kt, 1.5, 0.1, "copper: and at 300 K 3/2 k T an atom more")

# ---- copper as pairs ----
u = [deck("copper_morse.toml", "md.steps=0", "md.initial.temperature=0",
          f"md.initial.lattice_constant={a}").observable("potential_energy")[0]
     / 500 for a in (3.6002, 3.6102, 3.6202)]
tap.near(u[1], -3.51514, 1e-5, "copper_morse: the crystal has -3.5151 eV an "
         "atom")
slope = (u[2] - u[0]) / 0.02
tap.near(slope, 0, 1e-2, "copper_morse: 3.6102 angstrom is its best lattice "
         "constant")
modulus = (u[0] - 2 * u[1] + u[2]) / 0.01**2 * 4 / (9 * 3.6102) * 160.2177
tap.near(modulus, 139.8, 0.5, "copper_morse: its bulk modulus is 140 GPa")
r = deck("copper_morse.toml", "md.steps=400")
u = mean(r, "potential_energy", 200, True) + 3.51514
kt = 8.617333e-5 * mean(r, "temperature", 200)
tap.near(u / kt, 1.5, 0.15, "copper_morse: and at 300 K 3/2 k T an atom more")

# ---- soft matter ----
r = deck("dpd.toml", "md.steps=500", "md.analysis.rdf.start=300")
tap.near(mean(r, "pressure", 200), 23.65, 0.15,
         "dpd: pressure of Groot and Warren's fluid")
r = deck("colloids.toml", "md.steps=1200", "md.analysis.rdf.start=800",
         "md.analysis.msd.every=2")
t = r.table("displacement/mean_squared")
tap.near(t["all"][1] / (6 * (t["time"][1] - 0.5e-4)), 1, 0.12,
         "colloids: kT / (m friction) is the diffusion at short times")
r = deck("heat_flow.toml", "md.steps=1500", "md.analysis.profile.start=500")
warm, cold = (mean(r, f"temperature_{n}", 500) for n in ("warm", "cold"))
tap.ok(0.37 < warm < 0.5 and 0.13 < cold < 0.22,
       f"heat_flow: layers have the temperatures of their baths ({warm:.3f}, "
       f"{cold:.3f})")

# ---- a fluid between walls ----
r = deck("slit.toml", "md.steps=4000", "md.analysis.profile.start=2000")
tap.near(mean(r, "potential_energy", 2000, True), -4.3735, 0.05,
         "slit: energy per particle is LAMMPS's -4.3735")
low, high = (mean(r, f"wall_force_z{e}", 2000) for e in ("lo", "hi"))
tap.near((high - low) / 2, 72, 15, "slit: the force on a wall is LAMMPS's 72")
t = r.table("profile/slabs")
z, n = t["z"], t["number_density"]
where, height = peak(z[z < 3], n[z < 3])
tap.near(where, 0.87, 0.06, "slit: the first layer is 0.87 from its wall")
tap.ok(2 < height / n[np.abs(z - z.mean()) < 1].mean() < 4,
       "slit: and three times as dense as the middle")

# ---- a liquid that flows ----
r = deck("shear.toml", "md.steps=4000")
tap.near(mean(r, "temperature", 1000), 0.722, 0.01,
         "shear: the thermostat holds the temperature of what flows")
tap.near(mean(r, "shear_stress", 1000), 2.11, 0.15,
         "shear: the stress is LAMMPS's 2.1")

# ---- Kob and Andersen's mixture ----
r = deck("lj_binary.toml", "md.steps=5000", "md.analysis.rdf.start=2000")
u, _ = peer_values.get("kob_andersen", "potential_energy")
p, _ = peer_values.get("kob_andersen", "pressure")
tap.near(mean(r, "potential_energy", 2000, True), u, 0.05,
         f"lj_binary: energy per particle is LAMMPS's {u:.3f}")
tap.near(mean(r, "pressure", 2000), p, 0.3,
         f"lj_binary: pressure is LAMMPS's {p:.2f}")
aa, ab, bb = (peak(*rdf(r, pair)) for pair in ("A-A", "A-B", "B-B"))
tap.near(aa[0], 1.05, 0.04, "lj_binary: g_AA peaks near 1.05")
tap.near(ab[0], 0.87, 0.04, "lj_binary: g_AB peaks near 0.87, inside g_AA")
tap.ok(ab[1] > 1.1 * aa[1], "lj_binary: the unlike peak is the highest")
r_bb, g_bb = rdf(r, "B-B")
tap.ok(g_bb[np.abs(r_bb - 0.95) < 0.05].max() < aa[1] / 1.5,
       "lj_binary: B and B hardly touch")

# ---- Rahman's argon ----
r = deck("argon.toml", "md.steps=8000", "md.analysis.rdf.start=3000")
u, _ = peer_values.get("argon", "potential_energy")
p, _ = peer_values.get("argon", "pressure")
tap.near(mean(r, "temperature", 3000), 94.4, 2.0, "argon: temperature is 94.4 K")
tap.near(mean(r, "potential_energy", 3000, True), u, abs(0.01 * u),
         f"argon: energy per atom is LAMMPS's {u:.4f} kcal/mol")
tap.near(mean(r, "pressure", 3000), p, 100,
         f"argon: pressure is LAMMPS's {p:.0f} atm")
where, height = peak(*rdf(r, "Ar-Ar"))
tap.near(where, 3.7, 0.1, "argon: g(r) has Rahman's first peak at 3.7 angstrom")
msd = r.table("displacement/mean_squared")
t, x = msd["time"], msd["all"]
later = t > 10_000  # fs
diffusion = np.polyfit(t[later], x[later], 1)[0] / 6 * 0.1  # cm2/s
tap.near(diffusion, 2.43e-5, 0.6e-5,
         "argon: the diffusion coefficient is Rahman's 2.43e-5 cm2/s")

# ---- the gas ----
r = deck("lj_gas.toml", "md.steps=6000")
temperature = mean(r, "temperature", 1000)
tap.near(temperature, 3.418, 0.08, "lj_gas: temperature is 3.418")
ratio = mean(r, "pressure", 1000) / (0.02 * temperature)
tap.near(ratio, 1, 0.02, "lj_gas: P / (n k T) is 1 at the Boyle temperature")

# ---- the cluster ----
r = deck("lj_cluster.toml", "md.steps=4000")
tap.near(r.observable("potential_energy")[0], -173.928427, 1e-6,
         "lj_cluster: step-0 energy is that of the global minimum")
energy = r.observable("total_energy")
tap.below(np.abs(energy - energy[0]).max() / r.n, 1e-3,
          "lj_cluster: energy per particle stays constant")
tap.near(mean(r, "temperature", 1000), 0.05, 0.015,
         "lj_cluster: half of the heat goes into the springs")
x = r.frame("position") - r.edges() / 2
tap.below(np.sqrt((x**2).sum(1)).max(), 2.5, "lj_cluster: it stays whole")

# ---- chains ----
r = deck("chains.toml")
tap.near(mean(r, "temperature", 1000), 1.0, 0.03, "chains: temperature is 1")
x = r.frame("position")
bonds = np.array([i for i in range(1, len(x)) if i % 50])
d = x[bonds] - x[bonds - 1]
d -= r.edges() * np.rint(d / r.edges())
tap.near(np.sqrt((d**2).sum(1)).mean(), 0.965, 0.005,
         "chains: bonds of Kremer and Grest's melt are 0.965 long")

# ---- water ----
r = deck("water.toml", "md.steps=600", "md.analysis.rdf.start=100")
tap.near(mean(r, "temperature", 450), 298, 30, "water: temperature is 298 K")
u = mean(r, "potential_energy", 450, True) * 3
tap.ok(-11.5 < u < -7, f"water: the lattice has fallen most of the way to "
       f"-11.1 kcal/mol a molecule ({u:.2f})")
where, height = peak(*rdf(r, "O-H"))
tap.near(where, 1.0, 0.02, "water: hydrogen is 1 angstrom from its oxygen")

# ---- salt ----
r = deck("salt.toml")
u = r.observable("coulomb_energy")[0] + r.observable("mesh_energy")[0]
tap.near(u / 108 * 3.2 / 332.06371, -1.7475646, 2e-3,
         "salt: the crystal has the energy of Madelung's constant")
where, height = peak(*rdf(r, "Na-Cl"))
x, g = rdf(r, "Na-Na")
tap.ok(g[x < where].max() < 0.1 and peak(x, g)[0] > 1.3 * where,
       "salt: like ions stand in the next layer")
tap.ok(1.4 < peak(x, g)[1] < 2.6 and 3 < height < 5,
       "salt: it is molten, not a crystal")

# ---- a ladder of temperatures ----
checked.add("lj_ladder.toml")
tap.warpdeck("run", os.path.join(mdrun.INPUTS, "lj_ladder.toml"),
             "md.steps=20000", "output.observables_every=200", "-q")
u = []
for i in range(8):
    r = mdrun.Result(f"replica-{i:04d}/lj_ladder.h5")
    cold = r.observable("thermostat_temperature") < 0.1001
    late = r.step() > 10000
    u += list(r.observable("potential_energy")[cold & late])
tap.ok(len(u) == 50 and -44.327 < np.mean(u) < -41.47 + 1.5,
       "lj_ladder: the coldest is on its way to the icosahedron "
       f"({np.mean(u):.2f})")
tap.ok(r.table("exchange/pairs")["rate"].min() > 0.05,
       "lj_ladder: all neighbors exchange")

names = {os.path.basename(p) for p in glob.glob(mdrun.INPUTS + "/*.toml")}
tap.is_(names, checked, "every deck in inputs/md has been run")
tap.done()
