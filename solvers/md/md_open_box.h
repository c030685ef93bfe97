/* md_open_box.h: faces of the box that follow the outermost particles
 * (domain.boundary "shrink" and "minimum").
 *
 * The box ends at such a face: there are no images beyond it, nobody is wrapped
 * there, and nothing acts on a particle that goes. Stores know the direction as
 * one without bounds; only the blocks of ranks, the volume and what is written
 * follow the particles, each time before a pair list is built. Until then a
 * particle may be outside by half a skin.
 */
#ifndef WARPDECK_SOLVERS_MD_OPEN_BOX_H
#define WARPDECK_SOLVERS_MD_OPEN_BOX_H

struct ctx;
struct md;
struct params;
struct state_io;

struct md_open_box {
    int on[3], minimum[3];
    int held;                       /* bounds stay in the next redistribution */
    double margin[3];               /* beyond the outermost particle */
    double lo[3], length[3], hi[3]; /* of the box at the start */
};

/* domain.boundary, after all that does not go with it. Errors go to
 * params_error. */
void md_open_box_read(struct params *p, struct md *md);
/* Whether some direction is open. */
int md_open_box(const struct md *md);
/* The bounds of the start, before stores and halo are made. Collective. */
int md_open_box_start(struct ctx *ctx, struct md *md);
/* The box at the start for the present one, and back again. */
void md_open_box_swap(struct md *md);
/* The present ones. Collective. Errors: STATUS_PHYSICS. */
int md_open_box_follow(struct ctx *ctx, struct md *md);
/* A difference of places to that of the nearest images, where there are some.
 */
void md_nearest(const struct md *md, double x[3]);
/* The bounds into a checkpoint, or back. */
int md_open_box_state(struct ctx *ctx, struct state_io *io, struct md *md,
                      int put);

/* ---- md_initial.c ---- */
/* This rank's particles as they start, and their terms where there is a
 * topology already. Collective. */
struct md_list;
int md_list_particles(struct ctx *ctx, struct md *md, struct md_list *list);

#endif
