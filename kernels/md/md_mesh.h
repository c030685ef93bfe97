/* md_mesh.h: a rank's share of a mesh of charges, and moments of charges.
 *
 * The mesh spans the periodic box; point j of direction d stands at box_lo[d] +
 * j h[d], h = box_length / cells, and in a tilted box (cell.h) at j / cells of
 * that edge. A rank spreads its own particles on a brick
 * of points that covers its block, as far as its particles stray from it, and
 * the reach of the weights; points of a brick are counted without wrapping, so
 * that they may be negative or beyond the last.
 *
 * Charges go to the `order` points around them in each direction with the
 * weights of a cardinal B-spline, which is Hockney and Eastwood's charge
 * assignment (1988, "Computer Simulation Using Particles", section 5-3-2).
 */
#ifndef WARPDECK_KERNELS_MD_MESH_H
#define WARPDECK_KERNELS_MD_MESH_H

#include <stddef.h>
#include <stdint.h>

enum {
    MD_MESH_ORDER_MIN = 2,
    MD_MESH_ORDER_MAX = 7,
    /* Behind each row and the whole of a brick there is room for a vector to be
     * written, of weights that are 0. */
    MD_MESH_PADDING = 8
};

/* Point (i, j, k) of a brick at [((k - first[2]) n[1] + j - first[1]) pitch + i
 * - first[0]]. */
struct md_brick {
    int order;
    int64_t cells[3]; /* of the whole mesh */
    double box_lo[3], box_length[3];
    int tilted;
    double tilt[3];
    int64_t first[3], n[3]; /* points of this brick */
    int64_t pitch;          /* n[0] + MD_MESH_PADDING */
};

/* Numbers of an array over a brick. */
static inline size_t md_brick_size(const struct md_brick *b)
{
    return (size_t)(b->pitch * b->n[1] * b->n[2] + MD_MESH_PADDING);
}

struct md_alias;

/* A mesh that one rank has alone, in the present box. */
struct md_whole_mesh {
    int order;
    int64_t cells[3];
    double box_lo[3], box_length[3];
    int tilted;
    double tilt[3];
    double alpha, scale; /* splitting; Coulomb's constant over the volume */
    int changed;         /* the influence function is another one than before */
    /* Tables for it (influence.h) of x, y and z; NULL: weights are as they
     * were, and as many, and the rest follows from the box. */
    const struct md_alias *alias;
};

/* Sums over own particles. */
struct md_charge_moments {
    double charge, squares;      /* q, q^2 */
    double dipole[3], second[3]; /* q x, q x^2 */
};

/* Wave vectors 2 pi (n[0] / L_x, n[1] / L_y, n[2] / L_z), in a tilted box those
 * of cell_wave(). */
struct md_waves {
    double box_lo[3], box_length[3], tilt[3];
    int most[3]; /* greatest of the absolute n */
    size_t count;
    double alpha, scale; /* as of a mesh */
    const int (*n)[3];
};

#endif
