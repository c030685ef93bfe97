# timeout: 300
"""warpdeck bench io: the table of what a run loses to its output."""

import os
import re

import tap

got = tap.warpdeck("bench", "io", "--steps", "4", "--output", ".",
                   check=False)
tap.is_(got.returncode, 0, "bench io measures") or tap.note(got.stderr)
LINE = re.compile(
    r"^  (particles|flow), (frames|checkpoints) +(\d+) of +([\d.]+ \wB) +"
    r"([\d.]+) s +([\d.]+) s +(-?[\d.]+) % +(?:([\d.]+) s +(-?[\d.]+) %|- +-) +"
    r"([\d.]+)$")
rows = [m.groups() for m in map(LINE.match, got.stdout.splitlines()) if m]
tap.is_([r[:2] for r in rows],
        [(a, b) for a in ("particles", "flow")
         for b in ("frames", "checkpoints")],
        "particles and flows, frames and checkpoints have a line each")
tap.is_({r[2] for r in rows}, {"4"}, "four of each are written")
# Times are shown to a thousandth of a second, shares to a tenth of a percent.
good = all(abs(100 * (float(wait) - float(none)) / float(wait) - float(lost))
           < 0.1 + 100 * 0.001 / float(wait)
           for _, _, _, _, none, wait, lost, *_ in rows)
tap.ok(good, "what is lost is the time beyond that without output")
tap.ok(all((r[7] is not None) == (r[1] == "frames") for r in rows),
       "frames are also written by a helper thread, checkpoints are not")
# 32,000 particles with at least a position of three doubles; 96^3 cells with a
# velocity and a pressure in single or double precision.
sizes = {r[:2]: r[3] for r in rows}
kB = {"kB": 1, "MB": 1000, "GB": 1e6}
for key, least in ((("particles", "frames"), 768.0),
                   (("flow", "frames"), 96**3 * 16 / 1000)):
    number, unit = sizes.get(key, "0 kB").split()
    tap.ok(float(number) * kB[unit] > 0.99 * least,
           f"a frame of a {key[0]} case has all its numbers: {number} {unit}")
tap.ok(not os.path.exists("warpdeck-bench-io"), "its folder is gone")
os.mkdir("warpdeck-bench-io")
got = tap.warpdeck("bench", "io", check=False)
tap.ok(got.returncode == 2 and "warpdeck-bench-io'" in got.stderr,
       "a folder of that name is left alone")
tap.done()
