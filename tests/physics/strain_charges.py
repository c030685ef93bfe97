"""Charges in boxes that are strained in the run: waves and mesh follow the box."""

import re

import tap

tap.need("numpy", "h5py")

import numpy as np

import mdrun

TENSOR = [f"pressure_{c}" for c in ("xx", "yy", "zz", "xy", "xz", "yz")]
RANKS = mdrun.rank_counts(1, 3)
rng = np.random.default_rng(11)
BOX, X = mdrun.jittered_box(5, cells=(4, 4, 4), spacing=1.15, jitter=0.1)
KIND = ["PM"[k] for k in rng.permutation(len(X)) % 2]
V = rng.normal(0, 0.7, X.shape)
V -= V.mean(0)
mdrun.xyz("salt.xyz", BOX, X, KIND, V)

DECK = """[run]
solver = "md"
[md]
timestep = {dt}
steps = {steps}
pressure_tensor = true
[md.initial]
read = "{read}"
{species}[md.pair]
cutoff = 1.5
skin = 0.15
shift = "force"
[[md.pair.coefficients]]
species = ["P", "P"]
epsilon = 1.0
sigma = 0.9
[[md.pair.coefficients]]
species = ["M", "M"]
epsilon = 1.0
sigma = 0.9
[md.coulomb]
{coulomb}
{deform}
[output]
observables_every = {every}
frames_every = {every}
fields = ["position", "velocity", "force", "image"]
"""
IONS = """[[md.species]]
name = "P"
charge = 1
[[md.species]]
name = "M"
charge = -1
"""
# Both parts are cut off below 1e-5 of the first wave; of what the slack of a
# strained box's list adds, see check_static().
WAVES = 'method = "ewald"\nsplitting = 2.2\nwave_cutoff = 19.0\naccuracy = 1e-2'
MESH = 'method = "pme"\naccuracy = 1e-3'
SHEAR = "[md.deform]\nshear = {}\n"
STRETCH = "[md.deform]\nrate = [2.0, -0.8, 0.0]\n"


def deck(deform, coulomb=WAVES, steps=75, dt=0.002, every=25,
         read="salt.xyz"):
    """From a file of a run charges are known."""
    ions = IONS if read.endswith("xyz") else re.sub("charge.*", "", IONS)
    return DECK.format(deform=deform, coulomb=coulomb, steps=steps, dt=dt,
                       every=every, read=read, species=ions)


def check_shear():
    """Over a flip of the box, wave by wave."""
    runs = [mdrun.run(deck(SHEAR.format(4.0), WAVES, round(0.15 / dt), dt,
                           round(0.03 / dt))) for dt in (0.002, 0.001)]
    wrong = [np.ptp(r.observable("conserved_energy")) for r in runs]
    work = runs[1].observable("deform_work")[-1]
    tap.note(f"work {work:.3f}, errors {wrong}")
    tap.near(wrong[0] / wrong[1], 4, 0.5, "sheared ions: work is what the energy "
             "gains, but for dt^2")
    tap.below(wrong[1], 1e-3 * abs(work), "which is little of it")
    r = runs[0]
    tap.near(r.cell()[1, 0] / BOX[0], 0.6 - 1, 1e-12, "the tilt has gone over")
    again = mdrun.run(deck("", WAVES, 0, read=r.path))
    # Waves that only the strained box's list has: exp(-19^2 / 4 2.2^2) = 8e-9.
    tap.below(max(mdrun.worst(again.observable(k)[0], r.observable(k)[-1])
                  for k in ["potential_energy"] + TENSOR), 1e-7,
              "its last state is that of a run which starts there")
    tap.below(mdrun.worst(again.frame("force", 0), r.frame("force")), 1e-7,
              "and so are the forces")
    check_stress(r)
    check_return(r)


def check_stress(r):
    """-P_xy is the energy's slope, from boxes that are sheared as a whole."""
    h, u = 1e-4, []
    for strain in (h, -h):
        map_ = np.eye(3)
        map_[1, 0] = strain
        mdrun.xyz("static.xyz", r.cell() @ map_, r.frame("position") @ map_, KIND)
        u.append(mdrun.run(deck("", WAVES, 0, read="static.xyz"))
                 .observable("potential_energy")[0])
    v = r.frame("velocity")
    want = (u[0] - u[1]) / (2 * h) - (v[:, 0] * v[:, 1]).sum()
    tap.below(abs(r.observable("shear_stress")[-1] * np.prod(BOX) / want - 1), 1e-5,
              "the shear stress is the energy's slope by strain")


def check_return(r):
    """Turned around in time, the box and all ions come back."""
    mdrun.xyz("turned.xyz", r.cell(), r.frame("position"), KIND,
              -r.frame("velocity"))
    back = mdrun.run(deck(SHEAR.format(-4.0), read="turned.xyz"))
    way = back.frame("position") - r.frame("position", 0)
    way -= BOX * np.rint(way / BOX)
    tap.below(np.abs(way).max(), 1e-9, "strained back, ions are where they were")
    tap.below(np.abs(back.cell() - np.diag(BOX)).max(), 1e-12,
              "and so is the box")


def check_mesh():
    """The accuracy asked for holds at the end, for which the mesh of the start
    would be too coarse; ranks go the same way."""
    edges = BOX * np.array([[1, 0, 0], [0.4, 1, 0], [-0.3, 0.5, 1]])
    mdrun.xyz("leaning.xyz", edges, X / BOX @ edges, KIND, V)
    for name, deform, read in (("sheared", SHEAR.format(4.0), "salt.xyz"),
                               ("stretched", STRETCH, "salt.xyz"),
                               ("tilted and stretched", STRETCH, "leaning.xyz")):
        results = [mdrun.run(deck(deform, MESH, read=read), ranks=n)
                   for n in RANKS]
        r = results[0]
        exact = mdrun.run(deck("", WAVES, 0, read=r.path))
        wrong = r.frame("force") - exact.frame("force", 0)
        tap.below(np.sqrt((wrong**2).sum(1).mean()), 1e-3,
                  f"a mesh in a {name} box is right to the accuracy asked for")
        e = r.observable("conserved_energy")
        tap.below(np.ptp(e), 2e-3 * abs(r.observable("deform_work")[-1]),
                  "energy grows by the work")
        for n, other in zip(RANKS[1:], results[1:]):
            tap.below(np.abs(other.frame("velocity") - r.frame("velocity")).max(),
                      1e-11, f"and {n} ranks go the same way")


def check_resume():
    """A run goes on with what it has chosen, and says so where that is too little
    for the box that it comes to."""
    text = mdrun.write("longer.toml", deck(STRETCH, MESH, 120, every=25)
                       + "[checkpoint]\nevery = 25\n")
    tap.run(tap.WARPDECK, "run", text, "md.steps=25", "--output", "kept", "-q",
            "--overwrite")
    done = tap.run(tap.WARPDECK, "run", text, "--resume", "auto", "--output",
                   "kept", "-q")
    tap.ok("at the end forces are wrong by" in done.stderr + done.stdout,
           "a longer run tells where its accuracy has gone")


check_shear()
check_mesh()
check_resume()
tap.done()
