/* md_minimize.h: particles brought to rest before a run, and put at random
 * places.
 */
#ifndef WARPDECK_SOLVERS_MD_MINIMIZE_H
#define WARPDECK_SOLVERS_MD_MINIMIZE_H

#include <stddef.h>
#include <stdint.h>

struct ctx;
struct md;
struct md_list;
struct params;
struct state_io;

struct md_minimize {
    int on;
    double tolerance; /* of the greatest force on a particle */
    double longest;   /* way of a particle in one step */
    int64_t steps, every;

    /* [n][3] of what has been done: step, energy, greatest force; the same on
     * all ranks */
    double (*rows)[3];
    size_t n, capacity;
};

/* ---- md_minimize.c ---- */
/* [md.minimize], after pairs and rigid bonds are read; errors go to
 * params_error. */
void md_minimize_read(struct params *p, struct md *md);
void md_minimize_free(struct md *md);
/* Once there are forces, with their sums: down to a minimum of the energy.
 * Velocities are then those of md.initial.temperature, or zero. Without the
 * section nothing is done. Collective. */
int md_minimize(struct ctx *ctx, struct md *md);
/* The table of what has been done. Collective. */
int md_minimize_table(struct ctx *ctx, struct md *md);
int md_minimize_save(struct ctx *ctx, const struct md *md, struct state_io *io);
int md_minimize_restore(struct ctx *ctx, struct md *md, struct state_io *io);

/* ---- md_random.c ---- */
/* md.initial.random: number and box; size: domain.size, or NULL. */
void md_random_read(struct params *p, struct md *md, const double *size);
/* The separation that the deck leaves open, once pairs are read. */
void md_random_fill(struct params *p, struct md *md);
/* This rank's particles, the same for any number of ranks. Errors:
 * STATUS_INPUT where there is no room. Not collective. */
int md_random_place(struct ctx *ctx, const struct md *md, struct md_list *list);

#endif
