# timeout: 200000
"""The turbulent channel of inputs/fluid/channel.toml against Moser, Kim and
Mansour (1999), Re_tau = 178.12.

Mean velocity and root mean squares in wall units, over y+ > 3, within 3 % of the
profile's greatest value. The run takes about an hour on two cores. With
WARPDECK_CHANNEL=FOLDER its results stay in that folder: a run that was stopped
there goes on from its last checkpoint, and one that is complete is compared at
once.
"""

import os

import tap

tap.need("numpy", "h5py")

import numpy as np

import flowrun

TOLERANCE = 0.03
# For where the data files are not at hand: greatest values of the same tables.
QUOTED = {"u": 18.301, "u_rms": 2.658, "v_rms": 1.087, "w_rms": 0.836}


def reference():
    """y+ and the four profiles, or None. In the tables y is across the channel
    and z along its width; here it is the other way round."""
    means = tap.reference("fluid", "mkm180", "chan180.means")
    stress = tap.reference("fluid", "mkm180", "chan180.reystress")
    if not means or not stress:
        return None
    m, s = np.loadtxt(means, comments="#"), np.loadtxt(stress, comments="#")
    return m[:, 1], {"u": m[:, 2], "u_rms": np.sqrt(s[:, 2]),
                     "w_rms": np.sqrt(s[:, 3]), "v_rms": np.sqrt(s[:, 4])}


def half(values):
    """Mean of both halves of the channel."""
    return 0.5 * (values + values[::-1])[:len(values) // 2]


def compare(flow):
    p, ref = flow.profiles(), reference()
    y = p["wall_distance_plus"][:len(p["z"]) // 2]
    for name in ("u", "u_rms", "v_rms", "w_rms"):
        got = (half(p[name + "_plus"]) if name == "u"
               else np.sqrt(half(p[name + "_plus"] ** 2)))
        if ref:
            keep, scale = y > 3, ref[1][name].max()
            want = np.interp(y, ref[0], ref[1][name])
            off = (got - want)[keep] / scale
            worst = np.abs(off).argmax()
            off, where = off[worst], f"y+ = {y[keep][worst]:.0f}"
        else:
            off, where = got.max() / QUOTED[name] - 1, "its maximum"
        tap.ok(abs(off) < TOLERANCE, f"channel: {name}+ is that of Moser, Kim "
               f"and Mansour within {TOLERANCE:.0%} (worst {off:+.2%} at "
               f"{where})")
    reynolds = flow.row("reynolds_tau")
    reynolds = reynolds[len(reynolds) // 2:].mean()
    tap.ok(abs(reynolds / 178.12 - 1) < TOLERANCE,
           f"channel: Re_tau is 178.12 within {TOLERANCE:.0%} "
           f"({reynolds:.2f})")


def main():
    folder = os.environ.get("WARPDECK_CHANNEL", "out")
    path = os.path.join(folder, "channel")
    if not os.path.exists(path + ".h5") or not flowrun.is_complete(path):
        tap.warpdeck("run", flowrun.INPUTS + "/channel.toml",
                     "checkpoint.every='20 min'", "--output", folder + "/",
                     "--resume", "auto", "-q",
                     ranks=2 if tap.have_mpi() else 1, timeout=190000)
    compare(flowrun.Flow(path))


if __name__ == "__main__":
    main()
    tap.done()
