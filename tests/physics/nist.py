"""NIST's Lennard-Jones reference configuration 4: 30 particles, box 8.

Published: pair energy, virial (sum of r . f), tail correction for cutoffs 3 and
4 (4 is half the box exactly), and the linear force shift at cutoff 3, with ten
decimals each: 6e-11 is half a unit of the last one and a bit. The configuration
itself is not part of the sources.
"""

import tap

tap.need("numpy", "h5py")

import numpy as np

import mdrun

SOURCE = tap.reference("md", "lj_sample_config_periodic4.xyz")
if SOURCE is None:
    tap.skip_all("no reference data: configure --with-reference-data=DIR with "
                 "NIST's lj_sample_config_periodic4.xyz in DIR/md")

DIGITS = 6e-11
DECK = """
[run]
solver = "md"
[md]
steps = 0
[md.initial]
read = "nist4.xyz"
[md.pair]
style = "lj"
cutoff = 3.0
skin = 0.3
[md.ensemble]
type = "nve"
"""

rows = open(SOURCE, encoding="ascii").read().splitlines()
box = [float(w) for w in rows[1].split()[-3:]]
position = np.array([[float(w) for w in row.split()[1:4]] for row in rows[2:]
                     if row.split()])
volume = float(np.prod(box))
mdrun.xyz("nist4.xyz", box, position, ["A"] * len(position))

for ranks in mdrun.rank_counts(1, 2, 3, 4, 8):
    on = f"on {ranks} ranks"
    for rc, energy, virial in ((3, -16.7903213046, -46.2491967463),
                               (4, -17.0604532203, -47.8688281911)):
        r = mdrun.run(DECK, f"md.pair.cutoff={rc}.0", ranks=ranks)
        tap.near(r.observable("potential_energy")[0], energy, DIGITS,
                 f"NIST 4: pair energy is {energy} at cutoff {rc} {on}")
        tap.near(3 * volume * r.observable("pressure")[0], virial, DIGITS,
                 f"NIST 4: virial is {virial} at cutoff {rc} {on}")
    r = mdrun.run(DECK, 'md.pair.shift="force"', ranks=ranks)
    tap.near(r.observable("potential_energy")[0], -15.0014022869, DIGITS,
             f"NIST 4: force-shifted energy is -15.0014022869 {on}")
    tap.near(3 * volume * r.observable("pressure")[0], -43.0960055392, DIGITS,
             f"NIST 4: force-shifted virial is -43.0960055392 {on}")

for rc, energy, correction in ((3, -16.7903213046, -0.5451660015),
                               (4, -17.0604532203, -0.2300783928)):
    r = mdrun.run(DECK, f"md.pair.cutoff={rc}.0", "md.pair.tail=true")
    tap.near(r.observable("potential_energy")[0], energy + correction,
             2 * DIGITS, f"NIST 4: tail correction is {correction} at cutoff "
             f"{rc}")
tap.done()
