# timeout: 1800
"""Files beyond 2^31 bytes from one rank come back number by number."""

import os
import shutil
import tap

h5py, numpy = tap.need("h5py", "numpy")
WRITER = os.path.join(tap.TOP_BUILDDIR, "tests", "output", "write_large")
COUNT = 2**28 + 1

if shutil.disk_usage(".").free < 5 * 2**30:
    tap.skip_all("less than 5 GiB are free here")
for ranks in (1, 2) if tap.have_mpi() else (1,):
    tap.run(WRITER, "large.h5", ranks=ranks, timeout=800)
    right = True
    with h5py.File("large.h5", "r") as f:
        values = f["values"]
        tap.is_(values.shape, (1, COUNT),
                f"2^31 + 8 bytes are all there, written on {ranks} ranks")
        for first in range(0, COUNT, 2**24):
            last = min(first + 2**24, COUNT)
            want = numpy.arange(first, last) / 2**20
            right = right and numpy.array_equal(values[0, first:last], want)
    tap.ok(right, "and every number is where it belongs")
    os.unlink("large.h5")
tap.done()
