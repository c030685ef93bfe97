/* terms_cpu.h: what the functions that look at a flow have in common: walking
 * over planes with ghosts, and the velocity gradient at centers of cells.
 */
#ifndef WARPDECK_KERNELS_FLUID_TERMS_CPU_H
#define WARPDECK_KERNELS_FLUID_TERMS_CPU_H

#include "kernels/fluid/fluid_cpu.h"

#define fluid_walk_to FLUID_NAME(fluid_walk_to)
#define fluid_smooth_walls FLUID_NAME(fluid_smooth_walls)
#define fluid_pressure_begin FLUID_NAME(fluid_pressure_begin)
#define fluid_pressure_plane FLUID_NAME(fluid_pressure_plane)

/* Make w->below, here and above the planes k - 1, k, k + 1 of fields [0, n).
 * Planes must come in rising order; the first after a change of the flow with
 * `fresh`. Ghosts of the store must be up to date. */
void fluid_walk_to(const struct fluid_store *s, struct fluid_worker *w,
                   int64_t k, int n, int fresh);

/* The ghosts of the sweep make the viscous force at a wall right, not the slope
 * in the cell beside it. Replace those of the tangential velocity at no-slip
 * walls, in the planes of fluid_walk_to(), by the parabola through the wall and
 * two cells: differences are second order up to the wall then. */
void fluid_smooth_walls(const struct fluid_store *s, struct fluid_worker *w,
                        int64_t k, int fresh);

/* Physical pressure of plane k: rows s->pitch apart, to be multiplied by
 * *factor. Valid until the worker's next call. fluid_pressure_begin() once
 * before, by one thread. */
void fluid_pressure_begin(struct fluid_store *s);
const scalar *fluid_pressure_plane(const struct fluid_store *s,
                                   struct fluid_worker *w, int64_t k,
                                   double *factor);

/* ---- gradient ---- */

/* Factors of one plane. d/dz at a center from the slopes above and below,
 * weighted for their distances: upper * (a_t - a) + lower * (a - a_b). */
struct fluid_slopes {
    scalar x, y, z; /* 1/dx, 1/dy, 1/h(k) */
    scalar upper, lower;
};

static inline struct fluid_slopes fluid_slopes_of(const struct fluid_store *s,
                                                  int64_t k)
{
    double up = fluid_hc(s, k), down = fluid_hc(s, k - 1);
    return (struct fluid_slopes){(scalar)s->inverse_dx, (scalar)s->inverse_dy,
                                 (scalar)(1 / fluid_h(s, k)),
                                 (scalar)(down / (up * (up + down))),
                                 (scalar)(up / (down * (up + down)))};
}

/* Rows around row j that the gradient reads: [field][south, here, north] of
 * each plane. */
struct fluid_rows {
    const scalar *below[3], *here[3][3], *above[3];
    const scalar *below_s, *above_s; /* of v */
    const scalar *w_below_s, *w_below_n;
};

static inline struct fluid_rows fluid_rows_of(const struct fluid_store *s,
                                              const struct fluid_worker *w,
                                              int64_t j)
{
    struct fluid_rows r;
    for (int f = 0; f < 3; f++) {
        r.below[f] = fluid_ring_row(s, w->below, f, j);
        r.above[f] = fluid_ring_row(s, w->above, f, j);
        for (int m = 0; m < 3; m++)
            r.here[f][m] = fluid_ring_row(s, w->here, f, j + m - 1);
    }
    r.below_s = fluid_ring_row(s, w->below, FLUID_Y, j - 1);
    r.above_s = fluid_ring_row(s, w->above, FLUID_Y, j - 1);
    r.w_below_s = fluid_ring_row(s, w->below, FLUID_Z, j - 1);
    r.w_below_n = fluid_ring_row(s, w->below, FLUID_Z, j + 1);
    return r;
}

/* Velocity at the center and its gradient, g[component][direction]. */
struct fluid_center {
    real u[3], g[3][3];
};

KERNEL_FN void fluid_center_at(const struct fluid_rows *r,
                               const struct fluid_slopes *q, size_t at,
                               int gradient, struct fluid_center *out)
{
#define FLUID_AT(p, shift) (*(const real_unaligned *)((p) + at + (shift)))
    const scalar half = (scalar)0.5, quarter = (scalar)0.25;
    const scalar *u = r->here[0][1], *v = r->here[1][1], *w = r->here[2][1];
    const scalar *v_s = r->here[1][0], *w_b = r->below[2];
    real u0 = FLUID_AT(u, 0), u1 = FLUID_AT(u, -1);
    real v0 = FLUID_AT(v, 0), v1 = FLUID_AT(v_s, 0);
    real w0 = FLUID_AT(w, 0), w1 = FLUID_AT(w_b, 0);
    out->u[0] = half * (u0 + u1);
    out->u[1] = half * (v0 + v1);
    out->u[2] = half * (w0 + w1);
    if (!gradient)
        return;
    out->g[0][0] = q->x * (u0 - u1);
    out->g[1][1] = q->y * (v0 - v1);
    out->g[2][2] = q->z * (w0 - w1);
    const scalar *u_n = r->here[0][2], *u_s = r->here[0][0];
    out->g[0][1] = (quarter * q->y) * ((FLUID_AT(u_n, 0) + FLUID_AT(u_n, -1)) -
                                       (FLUID_AT(u_s, 0) + FLUID_AT(u_s, -1)));
    out->g[1][0] = (quarter * q->x) * ((FLUID_AT(v, 1) + FLUID_AT(v_s, 1)) -
                                       (FLUID_AT(v, -1) + FLUID_AT(v_s, -1)));
    out->g[2][0] = (quarter * q->x) * ((FLUID_AT(w, 1) + FLUID_AT(w_b, 1)) -
                                       (FLUID_AT(w, -1) + FLUID_AT(w_b, -1)));
    out->g[2][1] = (quarter * q->y) *
                   ((FLUID_AT(r->here[2][2], 0) + FLUID_AT(r->w_below_n, 0)) -
                    (FLUID_AT(r->here[2][0], 0) + FLUID_AT(r->w_below_s, 0)));
    real t = half * (FLUID_AT(r->above[0], 0) + FLUID_AT(r->above[0], -1));
    real b = half * (FLUID_AT(r->below[0], 0) + FLUID_AT(r->below[0], -1));
    out->g[0][2] = q->upper * (t - out->u[0]) + q->lower * (out->u[0] - b);
    t = half * (FLUID_AT(r->above[1], 0) + FLUID_AT(r->above_s, 0));
    b = half * (FLUID_AT(r->below[1], 0) + FLUID_AT(r->below_s, 0));
    out->g[1][2] = q->upper * (t - out->u[1]) + q->lower * (out->u[1] - b);
#undef FLUID_AT
}

/* Component d of the vorticity. */
KERNEL_FN real fluid_vorticity(const struct fluid_center *c, int d)
{
    int a = (d + 1) % 3, b = (d + 2) % 3;
    return c->g[b][a] - c->g[a][b];
}

#endif
