/* rigid_lanes.h: rigid_place() of rigid.h for several groups at once.
 *
 * A group is a few hundred operations that wait for each other; groups side by
 * side fill the time. Three bonds always: those that a group has not are of no
 * length and move nothing. What a lane finds does not depend on the others: a
 * group that is there stays as it is.
 */
#ifndef WARPDECK_KERNELS_MD_RIGID_LANES_H
#define WARPDECK_KERNELS_MD_RIGID_LANES_H

#include <stdint.h>

#include "kernels/md/rigid.h"

#define RIGID_LANES_FN static inline __attribute__((always_inline))

enum { RIGID_WIDE = 8 };

typedef double rigid_real __attribute__((vector_size(RIGID_WIDE * 8)));
typedef int64_t rigid_mask __attribute__((vector_size(RIGID_WIDE * 8)));

struct rigid_block {
    rigid_real held[RIGID_PARTICLES][3]; /* places to start from */
    rigid_real x[RIGID_PARTICLES][3];    /* in, and out */
    rigid_real square[RIGID_BONDS];      /* 0: no such bond */
    rigid_real per_square[RIGID_BONDS];
    rigid_real inverse_mass[RIGID_PARTICLES];
};

/* Whether the third bond joins the two others' ends, as in water; else all
 * begin at the first particle. */
static inline int rigid_is_triangle(const struct rigid_shape *s)
{
    return s->n == RIGID_BONDS && s->a[RIGID_BONDS - 1] != 0;
}

/* The ends of the bonds. */
#define RIGID_FROM(triangle)     \
    {                            \
        0, 0, (triangle) ? 1 : 0 \
    }
#define RIGID_TO(triangle)       \
    {                            \
        1, 2, (triangle) ? 2 : 3 \
    }

/* Macros and pointers: vectors wider than a processor's are no arguments. */
#define RIGID_CHOOSE(m, a, b) \
    ((rigid_real)(((m) & (rigid_mask)(a)) | (~(m) & (rigid_mask)(b))))
#define RIGID_PRODUCT(x, y) \
    ((x)[0] * (y)[0] + (x)[1] * (y)[1] + (x)[2] * (y)[2])

/* y of A y = off by Cramer's rule; y[k] comes in as off[k]. */
RIGID_LANES_FN void rigid_cramer(const rigid_real a[RIGID_BONDS][RIGID_BONDS],
                                 rigid_real y[RIGID_BONDS])
{
    rigid_real c[RIGID_BONDS][RIGID_BONDS], off[RIGID_BONDS];
    for (int k = 0; k < RIGID_BONDS; k++)
        for (int m = 0; m < RIGID_BONDS; m++) {
            int k1 = (k + 1) % RIGID_BONDS, k2 = (k + 2) % RIGID_BONDS;
            int m1 = (m + 1) % RIGID_BONDS, m2 = (m + 2) % RIGID_BONDS;
            c[k][m] = a[k1][m1] * a[k2][m2] - a[k1][m2] * a[k2][m1];
        }
    rigid_real per =
        1 / (a[0][0] * c[0][0] + a[0][1] * c[0][1] + a[0][2] * c[0][2]);
    for (int k = 0; k < RIGID_BONDS; k++)
        off[k] = y[k];
    for (int k = 0; k < RIGID_BONDS; k++)
        y[k] = per * (c[0][k] * off[0] + c[1][k] * off[1] + c[2][k] * off[2]);
}

/* rigid_coupling() of bonds k and m, into *both. */
RIGID_LANES_FN void rigid_couple(const rigid_real w[RIGID_PARTICLES],
                                 const int from[RIGID_BONDS],
                                 const int to[RIGID_BONDS], int k, int m,
                                 rigid_real *both)
{
    const rigid_real none = {0};
    *both = (from[k] == from[m] ? w[from[k]] : none) +
            (to[k] == to[m] ? w[to[k]] : none) -
            (from[k] == to[m] ? w[from[k]] : none) -
            (to[k] == from[m] ? w[to[k]] : none);
}

/* Bonds that are not there take nothing from the others' equations. */
RIGID_LANES_FN void rigid_leave_out(const rigid_real square[RIGID_BONDS],
                                    rigid_real a[RIGID_BONDS][RIGID_BONDS])
{
    const rigid_real none = {0};
    for (int k = 1; k < RIGID_BONDS; k++)
        a[k][k] = RIGID_CHOOSE(square[k] > none, a[k][k], none + 1);
}

/* One step of Newton's method. *rest: what was left before it, the greatest of
 * a lane's bonds and relative to their squares; where that is not more than
 * `most` nothing moves. */
RIGID_LANES_FN void rigid_step(struct rigid_block *b, const int triangle,
                               double most, rigid_real *rest)
{
    const int from[] = RIGID_FROM(triangle), to[] = RIGID_TO(triangle);
    const rigid_real none = {0}, *w = b->inverse_mass;
    rigid_real old[RIGID_BONDS][3], r[RIGID_BONDS][3], y[RIGID_BONDS];
    rigid_real a[RIGID_BONDS][RIGID_BONDS], worst = none;
    for (int k = 0; k < RIGID_BONDS; k++) {
        for (int d = 0; d < 3; d++) {
            old[k][d] = b->held[from[k]][d] - b->held[to[k]][d];
            r[k][d] = b->x[from[k]][d] - b->x[to[k]][d];
        }
        y[k] = RIGID_PRODUCT(r[k], r[k]) - b->square[k];
        rigid_real part = y[k] * b->per_square[k];
        part = RIGID_CHOOSE(part < none, -part, part);
        worst = RIGID_CHOOSE(part > worst, part, worst);
    }
    for (int k = 0; k < RIGID_BONDS; k++)
        for (int m = 0; m < RIGID_BONDS; m++) {
            rigid_real both;
            rigid_couple(w, from, to, k, m, &both);
            a[k][m] = 2 * both * RIGID_PRODUCT(r[k], old[m]);
        }
    rigid_leave_out(b->square, a);
    rigid_cramer((const rigid_real(*)[RIGID_BONDS])a, y);
    for (int k = 0; k < RIGID_BONDS; k++) {
        y[k] = RIGID_CHOOSE(worst > most, y[k], none);
        for (int d = 0; d < 3; d++) {
            b->x[from[k]][d] -= y[k] * w[from[k]] * old[k][d];
            b->x[to[k]][d] += y[k] * w[to[k]] * old[k][d];
        }
    }
    *rest = worst;
}

/* The bonds of the places b->held. */
RIGID_LANES_FN void rigid_bonds_lanes(const struct rigid_block *b,
                                      const int triangle,
                                      rigid_real r[RIGID_BONDS][3])
{
    const int from[] = RIGID_FROM(triangle), to[] = RIGID_TO(triangle);
    for (int k = 0; k < RIGID_BONDS; k++)
        for (int d = 0; d < 3; d++)
            r[k][d] = b->held[from[k]][d] - b->held[to[k]][d];
}

/* rigid_impulses() in every lane, along the bonds r. */
RIGID_LANES_FN void rigid_impulses_lanes(const struct rigid_block *b,
                                         const int triangle,
                                         const rigid_real r[RIGID_BONDS][3],
                                         rigid_real rate[RIGID_BONDS])
{
    const int from[] = RIGID_FROM(triangle), to[] = RIGID_TO(triangle);
    rigid_real a[RIGID_BONDS][RIGID_BONDS];
    for (int k = 0; k < RIGID_BONDS; k++)
        for (int m = 0; m < RIGID_BONDS; m++) {
            rigid_couple(b->inverse_mass, from, to, k, m, &a[k][m]);
            a[k][m] *= RIGID_PRODUCT(r[k], r[m]);
        }
    rigid_leave_out(b->square, a);
    rigid_cramer((const rigid_real(*)[RIGID_BONDS])a, rate);
}

/* Take out of the velocities v what changes the lengths of the bonds, whose
 * particles are at b->held: RATTLE, as rigid_impulses() and rigid_push(). Out
 * comes the square of the velocity of one end beside the other, too. */
RIGID_LANES_FN void rigid_stop_lanes(const struct rigid_block *b,
                                     const int triangle,
                                     rigid_real v[RIGID_PARTICLES][3],
                                     rigid_real speed2[RIGID_BONDS])
{
    const int from[] = RIGID_FROM(triangle), to[] = RIGID_TO(triangle);
    const rigid_real *w = b->inverse_mass;
    rigid_real r[RIGID_BONDS][3], u[3], rate[RIGID_BONDS];
    rigid_bonds_lanes(b, triangle, r);
    for (int k = 0; k < RIGID_BONDS; k++) {
        for (int d = 0; d < 3; d++)
            u[d] = v[from[k]][d] - v[to[k]][d];
        rate[k] = RIGID_PRODUCT(r[k], u);
    }
    rigid_impulses_lanes(b, triangle, (const rigid_real(*)[3])r, rate);
    for (int k = 0; k < RIGID_BONDS; k++)
        for (int d = 0; d < 3; d++) {
            v[from[k]][d] -= rate[k] * w[from[k]] * r[k][d];
            v[to[k]][d] += rate[k] * w[to[k]] * r[k][d];
        }
    for (int k = 0; k < RIGID_BONDS; k++) {
        for (int d = 0; d < 3; d++)
            u[d] = v[from[k]][d] - v[to[k]][d];
        speed2[k] = RIGID_PRODUCT(u, u);
    }
}

/* rigid_place() in every lane. Returns the bits of lanes without a solution. */
RIGID_LANES_FN unsigned rigid_place_lanes(struct rigid_block *b,
                                          const int triangle, double tolerance)
{
    unsigned torn = 0;
    for (int pass = 0; pass < RIGID_PASSES; pass++) {
        rigid_real rest;
        rigid_step(b, triangle, 2 * tolerance, &rest);
        torn = 0;
        for (int l = 0; l < RIGID_WIDE; l++)
            torn |= (unsigned)(rest[l] > 2 * tolerance) << l;
        if (!torn)
            break;
    }
    return torn;
}

#endif
