/* md_bond_images.h: bonds that would be taken to another image.
 *
 * Along a bond the nearest image of a partner counts. Where a rank spans the
 * box, a bond that grows beyond half of it therefore turns around and pulls its
 * particles on, to another image, and a little later it looks like any other.
 * How often each particle was wrapped tells: within a bond that stays as it is,
 * the images of the two differ as they did in the beginning.
 *
 * That is looked at where all particles are at hand anyway, in slabs by their
 * ids: before a frame or a checkpoint is written, and at the end, so that a
 * step costs what it did. A rank looks at bonds whose lower ids are in its
 * slab, and is sent the places of partners in others. Along a direction in
 * which the box is cut a bond is found sooner, when a partner leaves what its
 * rank can see.
 */
#ifndef WARPDECK_SOLVERS_MD_BOND_IMAGES_H
#define WARPDECK_SOLVERS_MD_BOND_IMAGES_H

#include <stddef.h>
#include <stdint.h>

struct ctx;
struct md;
struct md_particle;

/* Two particles that stand next to one another in a term. */
struct md_bound {
    int64_t id[2];
    int32_t kind;     /* enum md_term_kind */
    int32_t is_known; /* how many turns there were in the beginning */
    int32_t turns[3]; /* images of the second beyond those of the first */
};

struct md_bond_images {
    int64_t step; /* when all were last found as they should be */
    /* Lower ids in this rank's slab, each pair once: those with both ids in it,
     * then the others by their higher id; owned, as all below. */
    struct md_bound *pairs;
    size_t n, n_within, capacity;
    int64_t *asked; /* ids whose places other ranks want, by rank */
    size_t *asked_bytes;
};

/* Remember the images of now, when particles and terms are in their places.
 * Collective. */
int md_bond_images_begin(struct ctx *ctx, struct md *md);
/* Compare with them. rows: this rank's slab (domain/particles.h), or NULL.
 * Collective. Errors: STATUS_LOST_PARTICLES, with step and ids. */
int md_bond_images_check(struct ctx *ctx, struct md *md,
                         const struct md_particle *rows);
void md_bond_images_free(struct md *md);

#endif
