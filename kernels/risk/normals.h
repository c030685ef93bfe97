/* normals.h: random words and normals by their address (risk_kernels.h). */
#ifndef WARPDECK_KERNELS_RISK_NORMALS_H
#define WARPDECK_KERNELS_RISK_NORMALS_H

#include "kernels/risk/exact.h"
#include "kernels/risk/risk_kernels.h"

/* One Philox block for each of the paths from `path` on. */
EXACT_FN struct exact_block risk_words(uint64_t seed, uint64_t path,
                                       uint32_t group,
                                       enum risk_purpose purpose, int driver)
{
    return exact_philox(exact_count_from(path), group,
                        (uint32_t)purpose << 16 | (uint32_t)driver,
                        (uint32_t)(path >> 32), (uint32_t)seed,
                        (uint32_t)(seed >> 32));
}

/* The normals of a driver in steps 4 group ... 4 group + 3. */
EXACT_FN void risk_four_normals(uint64_t seed, uint64_t path, uint32_t group,
                                int driver, exact_real z[4])
{
    struct exact_block w =
        risk_words(seed, path, group, RISK_SPOT_NORMAL, driver);
    exact_box_muller(exact_uniform32(w.w[0]), exact_uniform32(w.w[1]), &z[0],
                     &z[1]);
    exact_box_muller(exact_uniform32(w.w[2]), exact_uniform32(w.w[3]), &z[2],
                     &z[3]);
}

#endif
