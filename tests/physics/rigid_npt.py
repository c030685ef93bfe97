# timeout: 300
"""Rigid groups at constant pressure: free bodies have the volumes of an ideal gas,
what is conserved shows that box and forces belong together, lengths stay, and
runs go on bit by bit and over ranks.
"""

import numpy as np

import gammatest
import mdrun
import rigid
import tap

# ---- an ideal gas of rigid bodies ----
# Bodies that do not feel one another, N of them, in a bath that also moves the
# total momentum: volumes are distributed as V^N exp(-P V / kT), a gamma
# distribution of shape N + 1, however many particles a body has. The gas's own
# compressibility 1 / P makes them relax in pressure_relaxation = 20 steps, and the
# bath velocities in 5; samples 100 steps apart count as independent.
EDGE, STEP, SAMPLES, KT = 3, 6.0, 300, 300 * 0.0019872067
PRESSURE = KT / STEP**3  # kcal/mol/angstrom^3
ATM = 68568.415          # of these
GAS = f"""[md.ensemble]
type = "npt"
temperature = 300
relaxation = 10
thermostat = "langevin"
pressure = {PRESSURE * ATM}
pressure_relaxation = 40
compressibility = {1 / (PRESSURE * ATM)}
barostat_every = 1
"""


def check_gas():
    # Two dumbbells to a molecule of water.
    shapes = [rigid.SHAPES[k] for k in (2, 2, 0)]
    bonds = rigid.data_file("gas.data", shapes, n=EDGE, step=STEP)[2]
    deck = rigid.DECK.format(file="gas.data", epsilon=0, cutoff=2, more=GAS)
    run = mdrun.run(deck, "md.timestep=2", f"md.steps={100 * SAMPLES}",
                    "md.pair.skin=6", "output.observables_every=100",
                    f"output.frames_every={50 * SAMPLES}")
    n, volume = EDGE**3, run.observable("volume")[5:]
    tap.below(gammatest.chi_square(volume, 2 * (n + 1), KT / PRESSURE),
              gammatest.critical(10), "free bodies: volumes follow the gamma "
              "distribution of the number of bodies and kT/P")
    tap.near(volume.mean() * PRESSURE / KT, n + 1,
             4 * np.sqrt((n + 1) / len(volume)),
             "free bodies: the mean of P V / kT is their number, and one for "
             "the motion of all")
    off, _ = rigid.lengths(run, -1, bonds)
    tap.below(np.abs(off).max(), 1e-9, "free bodies: lengths stay")


# ---- a dense gas with charges ----
LIQUID = """[md.ensemble]
type = "npt"
temperature = 300
relaxation = 50
pressure = 3000
pressure_relaxation = 1000
%s
"""
MTK = 'barostat = "mtk"\ncoupling = "anisotropic"'
KINDS = {"mtk": (MTK, None),
         "mtk, tilted": (MTK, (3.5, -2.5, 5)),
         "cell-rescaling": ('barostat_every = 5\ncoupling = "semi-isotropic"',
                            None)}


def check_liquid():
    for kind, (text, tilt) in KINDS.items():
        bonds = rigid.data_file("liquid.data", charge=0.3, tilt=tilt)[2]
        deck = rigid.DECK.format(file="liquid.data", epsilon=0.1, cutoff=5,
                                 more=rigid.CHARGED + LIQUID % text)
        spread = []
        for dt in (2, 1):
            more = ([f"md.ensemble.barostat_every={10 // dt}"]
                    if text != MTK else [])
            run = mdrun.run(deck, f"md.timestep={dt}", f"md.steps={60 // dt}",
                            "output.observables_every=1", *more)
            spread.append(run.observable("conserved_energy").std())
        # An error of the pressure that is not one of the timestep would stay.
        tap.near(spread[0] / spread[1], 4, 0.5, f"{kind}: what is conserved "
                 "wanders with the square of the timestep")
        tap.below(spread[1], 0.01 * run.observable("total_energy").std(),
                  f"{kind}: while energy is exchanged")
        off, _ = rigid.lengths(run, -1, bonds)
        tap.below(np.abs(off).max(), 1e-9, f"{kind}: lengths stay")
        if kind == "mtk":
            continue
        ranks = 3 if tilt and tap.have_mpi() else 1
        path = mdrun.write(kind + ".toml", deck)
        for last in (31, 60):
            tap.run(tap.WARPDECK, "run", path, f"md.steps={last}", "-q",
                    "output.name=parts", "--output", kind, "--resume", "auto",
                    "checkpoint.every=10", "output.observables_every=1",
                    ranks=ranks)
        whole = mdrun.run(deck, "output.observables_every=1", ranks=ranks)
        a, b = mdrun.datasets(whole.path), mdrun.datasets(f"{kind}/parts.h5")
        tap.is_([k for k in a if not np.array_equal(a[k], b[k])], [],
                f"{kind}: 31 steps and the rest are the whole, bit by bit, on "
                f"{ranks} ranks")
        # Steps without energies have another way to the pressure of pairs.
        seldom = mdrun.run(deck, "output.observables_every=60", ranks=ranks)
        tap.ok(np.array_equal(seldom.edges(), whole.edges()) and
               np.array_equal(seldom.frame("position"), whole.frame("position")),
               f"{kind}: who looks at energies changes nothing")
        if ranks > 1:
            tap.below(max(mdrun.worst(a[k], v) for k, v in
                          mdrun.datasets(run.path).items()), 1e-9,
                      f"{kind}: 3 ranks do as one")


def main():
    check_gas()
    check_liquid()
    tap.done()


if __name__ == "__main__":
    main()
