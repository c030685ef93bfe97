/* center_cuda.h: velocity and its gradient at the centers of cells, for one
 * thread; the same forms as in terms_cpu.h.
 */
#ifndef WARPDECK_KERNELS_FLUID_CENTER_CUDA_H
#define WARPDECK_KERNELS_FLUID_CENTER_CUDA_H

#include "kernels/fluid/store_cuda.h"

#define fluid_center FLUID_NAME(fluid_center)

/* Velocity at the center and its gradient, g[component][direction]. */
struct fluid_center {
    scalar u[3], g[3][3];
};

static __device__ __forceinline__ void velocity_at(const struct fluid_view *m,
                                                   ptrdiff_t at, scalar out[3])
{
    const scalar half = (scalar)0.5;
    const scalar *u = m->field[0] + at, *v = m->field[1] + at,
                 *w = m->field[2] + at;
    out[0] = half * (u[0] + u[-1]);
    out[1] = half * (v[0] + v[-m->pitch]);
    out[2] = half * (w[0] + w[-m->plane]);
}

static __device__ __forceinline__ void center_at(const struct fluid_view *m,
                                                 ptrdiff_t at, int k,
                                                 struct fluid_center *out)
{
    const ptrdiff_t n = m->pitch, t = m->plane;
    const struct plane_metric *z = &m->metric[k];
    const scalar half = (scalar)0.5, quarter = (scalar)0.25;
    scalar dx = (scalar)m->inverse_d[0], dy = (scalar)m->inverse_d[1];
    scalar dz = (scalar)z->per_h;
    /* d/dz from the slopes above and below, weighted for their distances. */
    double both = z->hc + z->hc_below;
    scalar upper = (scalar)(z->hc_below / (z->hc * both));
    scalar lower = (scalar)(z->hc / (z->hc_below * both));
    const scalar *u = m->field[0] + at, *v = m->field[1] + at,
                 *w = m->field[2] + at;
    velocity_at(m, at, out->u);
    out->g[0][0] = dx * (u[0] - u[-1]);
    out->g[1][1] = dy * (v[0] - v[-n]);
    out->g[2][2] = dz * (w[0] - w[-t]);
    out->g[0][1] = (quarter * dy) * ((u[n] + u[n - 1]) - (u[-n] + u[-n - 1]));
    out->g[1][0] = (quarter * dx) * ((v[1] + v[1 - n]) - (v[-1] + v[-1 - n]));
    out->g[2][0] = (quarter * dx) * ((w[1] + w[1 - t]) - (w[-1] + w[-1 - t]));
    out->g[2][1] = (quarter * dy) * ((w[n] + w[n - t]) - (w[-n] + w[-n - t]));
    scalar above = half * (u[t] + u[t - 1]), below = half * (u[-t] + u[-t - 1]);
    out->g[0][2] = upper * (above - out->u[0]) + lower * (out->u[0] - below);
    above = half * (v[t] + v[t - n]);
    below = half * (v[-t] + v[-t - n]);
    out->g[1][2] = upper * (above - out->u[1]) + lower * (out->u[1] - below);
}

/* Component d of the vorticity. */
static __device__ __forceinline__ scalar vorticity(const struct fluid_center *c,
                                                   int d)
{
    int a = (d + 1) % 3, b = (d + 2) % 3;
    return c->g[b][a] - c->g[a][b];
}

#endif
