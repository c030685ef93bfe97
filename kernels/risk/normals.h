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

/* The same of n vectors of paths, one behind the other and in step; none of
 * them crosses a multiple of 2^32. */
EXACT_FN void risk_words_all(int n, uint64_t seed, uint64_t path,
                             uint32_t group, enum risk_purpose purpose,
                             int driver, struct exact_block *out)
{
    exact_word count[EXACT_ALL_MAX];
    EXACT_EACH(j, n)
    count[j] = exact_count_from(path + (uint64_t)j * EXACT_LANES);
    exact_philox_all(
        n, count, group, (uint32_t)purpose << 16 | (uint32_t)driver,
        (uint32_t)(path >> 32), (uint32_t)seed, (uint32_t)(seed >> 32), out);
}

/* Two normals of words `first` and first + 1 of each block. */
EXACT_FN void risk_two_normals_all(int n, const struct exact_block *w,
                                   int first, exact_real *z0, exact_real *z1)
{
    exact_real u[EXACT_ALL_MAX], v[EXACT_ALL_MAX];
    EXACT_EACH(j, n) u[j] = exact_uniform32(w[j].w[first]);
    EXACT_EACH(j, n) v[j] = exact_uniform32(w[j].w[first + 1]);
    exact_box_muller_all(n, u, v, z0, z1);
}

/* The normals of a driver in steps 4 group ... 4 group + 3, of n vectors of
 * paths: z[step][vector]. */
EXACT_FN void risk_four_normals_all(int n, uint64_t seed, uint64_t path,
                                    uint32_t group, int driver,
                                    exact_real z[4][EXACT_ALL_MAX])
{
    struct exact_block w[EXACT_ALL_MAX];
    risk_words_all(n, seed, path, group, RISK_SPOT_NORMAL, driver, w);
    risk_two_normals_all(n, w, 0, z[0], z[1]);
    risk_two_normals_all(n, w, 2, z[2], z[3]);
}

/* The same of one vector. */
EXACT_FN void risk_four_normals(uint64_t seed, uint64_t path, uint32_t group,
                                int driver, exact_real z[4])
{
    struct exact_block w =
        risk_words(seed, path, group, RISK_SPOT_NORMAL, driver);
    risk_two_normals_all(1, &w, 0, &z[0], &z[1]);
    risk_two_normals_all(1, &w, 2, &z[2], &z[3]);
}

#endif
