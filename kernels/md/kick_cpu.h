/* kick_cpu.h: what all loops over velocities share.
 *
 * Private to kernels/md/ *_cpu.c.
 */
#ifndef WARPDECK_KERNELS_MD_KICK_CPU_H
#define WARPDECK_KERNELS_MD_KICK_CPU_H

#include "kernels/md/store_cpu.h"

/* Elements of a cluster in one component, as a loop that vectorises. */
#define EACH_LANE(l) for (int l = 0; l < LANES; l++)

/* dt / m for each lane of a cluster, with the unit factor. */
KERNEL_FN void kick_factors(const struct md_store *s, size_t cluster, double dt,
                            double *factor)
{
    const uint8_t *species = s->species + cluster * (size_t)LANES;
    if (s->setup.n_species == 1) {
        EACH_LANE(l) factor[l] = dt * s->inverse_mass[0];
        return;
    }
    EACH_LANE(l) factor[l] = dt * s->inverse_mass[species[l]];
}

#endif
