/* rigid.h: particles held at fixed distances, one small group at a time.
 *
 * A group is a center with one to three others on rigid bonds; of two, their
 * distance may be fixed as well (rigid water). Positions: SHAKE (Ryckaert,
 * Ciccotti and Berendsen 1977, J. Comput. Phys. 23, 327), its equations solved
 * together by Newton's method, not one bond after the other, so that round-off
 * is reached in three or four passes. Velocities: RATTLE (Andersen 1983, J.
 * Comput. Phys. 52, 24), which is linear. For rigid water the positions are
 * those of SETTLE (Miyamoto and Kollman 1992), which solves the same equations.
 * A CUDA file defines RIGID_FN before it includes this one.
 */
#ifndef WARPDECK_KERNELS_MD_RIGID_H
#define WARPDECK_KERNELS_MD_RIGID_H

#include <math.h>
#include <string.h>

#include "kernels/md/md_terms.h"

#ifndef RIGID_FN
#define RIGID_FN static inline
#endif

/* Loops have bounds that are known: a card then keeps a group in registers. */
#ifdef __CUDACC__
#define RIGID_UNROLL _Pragma("unroll")
#else
#define RIGID_UNROLL
#endif

enum { RIGID_PARTICLES = 4, RIGID_BONDS = 3, RIGID_PASSES = 30 };

struct rigid_shape {
    int particles, n; /* n bonds, from a to b */
    int a[RIGID_BONDS], b[RIGID_BONDS];
    double square[RIGID_BONDS]; /* of the length */
    double inverse_mass[RIGID_PARTICLES];
};

/* The bonds of a group, with lengths; not the masses. */
static inline void rigid_shape_of(const struct md_force_field *field, int kind,
                                  int type, struct rigid_shape *out)
{
    int bonds = field->n_bonds, angle = -1;
    int types[RIGID_BONDS] = {type % bonds, type / bonds % bonds,
                              type / bonds / bonds};
    if (kind == MD_TERM_RIGID_WATER)
        angle = types[2];
    memset(out, 0, sizeof *out);
    out->particles = md_term_size(kind);
    out->n = out->particles - 1;
    for (int k = 0; k < out->n; k++) {
        double length = field->bonds[types[k]].r0;
        out->a[k] = 0;
        out->b[k] = k + 1;
        out->square[k] = length * length;
    }
    if (angle < 0)
        return;
    out->a[2] = 1;
    out->b[2] = 2;
    out->square[2] = out->square[0] + out->square[1] -
                     2 * sqrt(out->square[0] * out->square[1]) *
                         cos(field->angles[angle].theta0);
    out->n = 3;
}

RIGID_FN double rigid_dot(const double x[3], const double y[3])
{
    return x[0] * y[0] + x[1] * y[1] + x[2] * y[2];
}

RIGID_FN void rigid_bond(const struct rigid_shape *s, int k,
                         const double x[][3], double out[3])
{
    for (int d = 0; d < 3; d++)
        out[d] = x[s->a[k]][d] - x[s->b[k]][d];
}

/* How much a unit force along bond l moves the ends of bond k apart. */
RIGID_FN double rigid_coupling(const struct rigid_shape *s, int k, int l)
{
    const double *w = s->inverse_mass;
    return (s->a[k] == s->a[l] ? w[s->a[k]] : 0) +
           (s->b[k] == s->b[l] ? w[s->b[k]] : 0) -
           (s->a[k] == s->b[l] ? w[s->a[k]] : 0) -
           (s->b[k] == s->a[l] ? w[s->b[k]] : 0);
}

/* Two rows change places. */
RIGID_FN void rigid_exchange(int n, double a[RIGID_BONDS][RIGID_BONDS],
                             double y[RIGID_BONDS], int r, int c)
{
    double swap = y[c];
    y[c] = y[r];
    y[r] = swap;
    RIGID_UNROLL
    for (int k = 0; k < RIGID_BONDS && k < n; k++) {
        swap = a[c][k];
        a[c][k] = a[r][k];
        a[r][k] = swap;
    }
}

/* x of A x = y, n <= 3, by elimination with row exchange. */
RIGID_FN void rigid_solve(int n, double a[RIGID_BONDS][RIGID_BONDS],
                          double y[RIGID_BONDS])
{
    RIGID_UNROLL
    for (int c = 0; c < RIGID_BONDS && c < n; c++) {
        RIGID_UNROLL
        for (int r = c + 1; r < RIGID_BONDS && r < n; r++)
            if (fabs(a[r][c]) > fabs(a[c][c]))
                rigid_exchange(n, a, y, r, c);
        RIGID_UNROLL
        for (int r = c + 1; r < RIGID_BONDS && r < n; r++) {
            double factor = a[r][c] / a[c][c];
            RIGID_UNROLL
            for (int k = c; k < RIGID_BONDS && k < n; k++)
                a[r][k] -= factor * a[c][k];
            y[r] -= factor * y[c];
        }
    }
    RIGID_UNROLL
    for (int c = RIGID_BONDS - 1; c >= 0; c--) {
        if (c >= n)
            continue;
        RIGID_UNROLL
        for (int k = c + 1; k < RIGID_BONDS && k < n; k++)
            y[c] -= a[c][k] * y[k];
        y[c] /= a[c][c];
    }
}

/* x += w (impulses along the bonds r). */
RIGID_FN void rigid_push(const struct rigid_shape *s,
                         const double r[RIGID_BONDS][3],
                         const double impulse[RIGID_BONDS],
                         double x[RIGID_PARTICLES][3])
{
    RIGID_UNROLL
    for (int k = 0; k < RIGID_BONDS && k < s->n; k++)
        for (int d = 0; d < 3; d++) {
            x[s->a[k]][d] -= impulse[k] * s->inverse_mass[s->a[k]] * r[k][d];
            x[s->b[k]][d] += impulse[k] * s->inverse_mass[s->b[k]] * r[k][d];
        }
}

/* Bring x to the lengths, along the bonds of `old`. Returns 0, or 1 where no
 * such place is found: the group has been torn apart. */
RIGID_FN int rigid_place(const struct rigid_shape *s,
                         const double old[RIGID_PARTICLES][3], double tolerance,
                         double x[RIGID_PARTICLES][3])
{
    double from[RIGID_BONDS][3], a[RIGID_BONDS][RIGID_BONDS];
    RIGID_UNROLL
    for (int k = 0; k < RIGID_BONDS && k < s->n; k++)
        rigid_bond(s, k, old, from[k]);
    for (int pass = 0; pass < RIGID_PASSES; pass++) {
        double off[RIGID_BONDS], r[3], worst = 0;
        RIGID_UNROLL
        for (int k = 0; k < RIGID_BONDS && k < s->n; k++) {
            rigid_bond(s, k, (const double(*)[3])x, r);
            off[k] = rigid_dot(r, r) - s->square[k];
            worst = fmax(worst, fabs(off[k]) / s->square[k]);
            RIGID_UNROLL
            for (int l = 0; l < RIGID_BONDS && l < s->n; l++)
                a[k][l] = 2 * rigid_dot(r, from[l]) * rigid_coupling(s, k, l);
        }
        if (worst <= 2 * tolerance)
            return 0;
        rigid_solve(s->n, a, off);
        rigid_push(s, (const double(*)[3])from, off, x);
    }
    return 1;
}

/* The impulses along the bonds of x that take `rate` out of the rate at which
 * the squares of their lengths grow, halved. */
RIGID_FN void rigid_impulses(const struct rigid_shape *s,
                             const double r[RIGID_BONDS][3],
                             double rate[RIGID_BONDS])
{
    double a[RIGID_BONDS][RIGID_BONDS];
    RIGID_UNROLL
    for (int k = 0; k < RIGID_BONDS && k < s->n; k++)
        RIGID_UNROLL
    for (int l = 0; l < RIGID_BONDS && l < s->n; l++)
        a[k][l] = rigid_dot(r[k], r[l]) * rigid_coupling(s, k, l);
    rigid_solve(s->n, a, rate);
}

#endif
