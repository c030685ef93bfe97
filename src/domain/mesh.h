/* mesh.h: a periodic mesh that all ranks share, and its Fourier transform.
 *
 * A rank spreads its particles on a brick of the mesh (kernels/md/md_mesh.h).
 * Bricks overlap, so their rows go to the ranks that own them, which add them
 * up: rank r owns whole lines along x. Three transforms, with a transposition
 * after the first and the second, leave each rank with lines along z of modes.
 * Fields go the same way back, and to all bricks that have a copy of a point.
 *
 * Sums are taken in the order of ranks. Results on other numbers of ranks
 * differ by rounding.
 */
#ifndef WARPDECK_DOMAIN_MESH_H
#define WARPDECK_DOMAIN_MESH_H

#include "kernels/md/md_mesh.h"

struct ctx;
struct grid;
struct mesh_parts;

struct mesh {
    struct md_brick brick; /* this rank's */
    double *charge;        /* over the brick: read by mesh_forward() */
    double *field[3];      /* over the brick: written by mesh_return() */

    /* Modes (kx, ky, kz), kx from 0 to cells[0] / 2 only: the others are their
     * conjugates. This rank has mode_n[0] of kx from mode_first[0] and
     * mode_n[1] of ky, and all kz, at modes[2 (((ky - ..) mode_n[0] + kx - ..)
     * cells[2] + kz)], re and im. */
    int64_t mode_first[2], mode_n[2];
    double *modes;

    struct mesh_parts *parts;
};

/* A mesh over the ranks of a grid, whose box may be extent[d] times as long as
 * that of the grid, empty beyond it. stray[d]: how far particles may leave
 * their rank's block, as a part of the mesh's box. The caller owns *out.
 * Collective. Errors: STATUS_MEMORY. */
int mesh_create(struct ctx *ctx, const struct grid *grid,
                const double extent[3], const int64_t cells[3], int order,
                const double stray[3], struct mesh **out);
void mesh_destroy(struct mesh *m); /* NULL is fine */

/* Numbers of m->modes, re and im. */
size_t mesh_mode_numbers(const struct mesh *m);

/* Modes sum over points of charge exp(-i k x). Collective. */
int mesh_forward(struct ctx *ctx, struct mesh *m);
/* The field sum over modes of modes exp(i k x), kept as component d of three;
 * destroys m->modes. Collective. */
int mesh_back(struct ctx *ctx, struct mesh *m, int d);
/* Components 0 .. n - 1 to the bricks of all ranks. Collective. */
int mesh_return(struct ctx *ctx, struct mesh *m, int n);

/* Bytes that this rank holds for it. */
double mesh_bytes(const struct mesh *m);

#endif
