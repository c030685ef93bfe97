/* md_balance.h: faces between the ranks' blocks that move to where the work is.
 *
 * Faces stay planes through the whole box. Every so many rebuilds of the pair
 * list, where the busiest rank has too much, those of each direction move
 * toward the places that part what lies between them into equal shares, by half
 * a block at most, so that particles go to neighbors only.
 */
#ifndef WARPDECK_SOLVERS_MD_BALANCE_H
#define WARPDECK_SOLVERS_MD_BALANCE_H

#include <stddef.h>
#include <stdint.h>

struct ctx;
struct md;
struct params;
struct state_io;

struct md_balance {
    int by_time; /* what pairs took; else numbers of particles */
    int64_t every;
    double threshold; /* greatest over mean that is left alone */
    double *cuts[3];  /* [dims + 1], as grid.h has them; owned */
    int64_t rebuilds, moves;
    double first;   /* greatest over mean particles of a rank at the first look;
                     * 0: there was none */
    double seconds; /* that pairs had taken at the last look */
};

/* The keys balance, balance_every and balance_threshold of [domain] into
 * md->balance, NULL for "off"; once the grid is chosen. Errors go to
 * params_error(), and STATUS_MEMORY. */
int md_balance_read(struct ctx *ctx, struct params *p, struct md *md);
void md_balance_free(struct md *md);
/* Whether the device can. Errors: STATUS_UNSUPPORTED. */
int md_balance_check(struct ctx *ctx, const struct md *md);
/* Before a rebuild of the pair list: move faces, if it is time and of use.
 * Collective. */
int md_balance(struct ctx *ctx, struct md *md);
/* Faces and counts, into a checkpoint and back, before the store is opened;
 * elsewhere than on the same ranks it begins anew. Collective. */
int md_balance_save(struct ctx *ctx, struct md *md, struct state_io *io);
int md_balance_restore(struct ctx *ctx, struct md *md, struct state_io *io);
/* A few words for the closing lines, or "". Collective. */
int md_balance_note(struct ctx *ctx, const struct md *md, char *text,
                    size_t size);

#endif
