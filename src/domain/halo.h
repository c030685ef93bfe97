/* halo.h: particles cross block faces, and copies of the neighbors' particles.
 *
 * A rank computes on the particles it owns and reads copies of those that
 * others own within halo_radius of its block. Every block that may need a copy
 * is a peer, also beyond the nearest neighbors where blocks are thinner than
 * the radius, and also this rank itself through the periodic boundary. All
 * copies for a peer travel in one message. Post early, compute the interior,
 * complete late: the exchange hides behind the work.
 */
#ifndef WARPDECK_DOMAIN_HALO_H
#define WARPDECK_DOMAIN_HALO_H

#include <stddef.h>
#include <stdint.h>

#include "domain/grid.h"
#include "kernels/md/md_kernels.h"

struct ctx;
struct halo;
struct md_geometry;
struct topology;

/* radius: how far copies reach. Directions with grid.dims = 1 need no halo (the
 * kernels shift). Errors: STATUS_MEMORY, STATUS_MPI. Collective. */
int halo_create(struct ctx *ctx, const struct grid *grid, double radius,
                struct halo **out);
void halo_destroy(struct halo *h);

/* The box has changed, and with it all blocks in proportion: `grid` is the same
 * ranks' in the new one. Peers and the choice of copies stay as they are until
 * the next redistribution, so that *out, for md_kernels.set_box(), fits the
 * copies that there are; it borrows the channels. */
void halo_set_box(struct halo *h, const struct grid *grid,
                  struct md_geometry *out);
/* Before a redistribution in a box that has changed: whoever is within reach
 * now is a peer. Errors: STATUS_MEMORY, STATUS_MPI. Collective. */
int halo_fit(struct ctx *ctx, struct halo *h);

/* That of md_setup. Before the first redistribution; MD_WHOLE where it is not
 * called. */
void halo_halve(struct halo *h, enum md_half half);

/* Particles that move to other ranks take their terms along, out of and into
 * this topology (borrowed). */
void halo_carry(struct halo *h, struct topology *topology);

/* Move particles to the ranks that own them, then choose, send and accept the
 * halo copies: extract_leavers, migrate, insert, sort, select, pack, accept.
 * Afterwards the store is ready for build_list(). A particle that went further
 * than any peer is STATUS_LOST_PARTICLES, with id, position and speed; the
 * total count is compared with `expected` (all ranks). Collective. */
int halo_redistribute(struct ctx *ctx, struct halo *h,
                      const struct md_kernels *k, struct md_store *s,
                      int64_t expected);

/* Fresh positions for the copies: post, then complete. Collective over peers.
 */
int halo_post(struct ctx *ctx, struct halo *h, const struct md_kernels *k,
              struct md_store *s);
int halo_complete(struct ctx *ctx, struct halo *h, const struct md_kernels *k,
                  struct md_store *s);

/* The forces on copies from above back to their owners: post, then complete.
 * Nothing with MD_WHOLE. */
int halo_post_forces(struct ctx *ctx, struct halo *h,
                     const struct md_kernels *k, struct md_store *s);
int halo_complete_forces(struct ctx *ctx, struct halo *h,
                         const struct md_kernels *k, struct md_store *s);

/* The same at once for densities, md_kernels.pack_densities(). */
int halo_densities(struct ctx *ctx, struct halo *h, const struct md_kernels *k,
                   struct md_store *s);

/* Post and complete for what densities make of particles,
 * md_kernels.pack_extra(). */
int halo_post_extra(struct ctx *ctx, struct halo *h, const struct md_kernels *k,
                    struct md_store *s);
int halo_complete_extra(struct ctx *ctx, struct halo *h,
                        const struct md_kernels *k, struct md_store *s);

/* Values of the particles for their copies, md_kernels.pack_values(). They need
 * no more room than what travels at a redistribution. */
int halo_values(struct ctx *ctx, struct halo *h, const struct md_kernels *k,
                struct md_store *s, enum md_value what);

#endif
