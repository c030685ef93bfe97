/* particles.h: particles of all ranks in the order of their ids.
 *
 * Output and analyses want row i to be the particle of the i-th id whatever
 * rank owns it. Rows are dealt in slabs: rank r holds rows [first, first + n),
 * n nearly equal; ids are 1..N without gaps.
 */
#ifndef WARPDECK_DOMAIN_PARTICLES_H
#define WARPDECK_DOMAIN_PARTICLES_H

#include <stddef.h>
#include <stdint.h>

struct ctx;
struct md_particle;

/* The slab of `rank` among `size` for `total` rows. */
void particles_slab(int64_t total, int rank, int size, int64_t *first,
                    int64_t *n);

/* Send each particle (and its force, where force is not NULL) to the rank of
 * its slab and put it in its row. On return *rows has the slab's n records and
 * *row_force n entries (NULL without forces); the caller frees both. An id that
 * is missing or stands twice is STATUS_LOST_PARTICLES, naming it. Collective.
 */
int particles_by_id(struct ctx *ctx, int64_t total, const struct md_particle *p,
                    double (*force)[3], size_t n, struct md_particle **rows,
                    double (**row_force)[3]);

#endif
