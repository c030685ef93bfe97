/* extra_cpu.c: what accelerates the velocity beside advection, explicit
 * diffusion and a uniform force, a row at a time: rotation, buoyancy, and with
 * implicit diffusion the implicit terms and the pressure. Only runs that have
 * such terms come here. */
#include "kernels/fluid/sweep_cpu.h"

#include <string.h>

#define LOAD(p) (*(const real_unaligned *)(p))

/* -2 Omega x u with four-point means (stencil.h). */
static void rotate(const struct fluid_store *s, const struct fluid_worker *w,
                   const struct fluid_coeff *q, int64_t j)
{
    const ptrdiff_t up = (ptrdiff_t)s->ring_pitch;
    const scalar x = (scalar)(2 * s->setup.rotation[0]);
    const scalar y = (scalar)(2 * s->setup.rotation[1]);
    const scalar z = (scalar)(2 * s->setup.rotation[2]);
    const scalar *c[3], *t[3], *b[3];
    for (int f = 0; f < 3; f++) {
        c[f] = fluid_ring_row(s, w->here, f, j);
        t[f] = fluid_ring_row(s, w->above, f, j);
        b[f] = fluid_ring_row(s, w->below, f, j);
    }
    for (size_t i = 0; i < s->pitch; i += (size_t)LANES) {
        const scalar *u = c[0] + i, *v = c[1] + i, *ww = c[2] + i;
        const scalar *ut = t[0] + i, *vt = t[1] + i, *wb = b[2] + i;
        real v_at_u =
            fluid_mean4(LOAD(v), LOAD(v + 1), LOAD(v - up), LOAD(v - up + 1));
        real w_at_u =
            fluid_mean4(LOAD(ww), LOAD(ww + 1), LOAD(wb), LOAD(wb + 1));
        real u_at_v =
            fluid_mean4(LOAD(u), LOAD(u - 1), LOAD(u + up), LOAD(u + up - 1));
        real w_at_v =
            fluid_mean4(LOAD(ww), LOAD(ww + up), LOAD(wb), LOAD(wb + up));
        real u_at_w =
            fluid_mean4_up(q, LOAD(u), LOAD(u - 1), LOAD(ut), LOAD(ut - 1));
        real v_at_w =
            fluid_mean4_up(q, LOAD(v), LOAD(v - up), LOAD(vt), LOAD(vt - up));
        *(real *)(w->acc[0] + i) += z * v_at_u - y * w_at_u;
        *(real *)(w->acc[1] + i) += x * w_at_v - z * u_at_v;
        *(real *)(w->acc[2] + i) += y * u_at_w - x * v_at_w;
    }
}

/* Factors of the neighbors in one direction of viscosity * Laplacian, lower and
 * upper, for component f. */
static void factors(const struct fluid_store *s, int f, int d, int64_t k,
                    scalar out[2])
{
    double nu = s->setup.viscosity;
    double inverse = d == 0 ? s->inverse_dx : s->inverse_dy;
    out[0] = out[1] = (scalar)(nu * inverse * inverse);
    if (d == 2 && f == 2) {
        out[0] = (scalar)(nu / (fluid_hc(s, k) * fluid_h(s, k)));
        out[1] = (scalar)(nu / (fluid_hc(s, k) * fluid_h(s, k + 1)));
    } else if (d == 2) {
        out[0] = (scalar)(nu / (fluid_h(s, k) * fluid_hc(s, k - 1)));
        out[1] = (scalar)(nu / (fluid_h(s, k) * fluid_hc(s, k)));
    }
}

static void add_implicit(const struct fluid_store *s,
                         const struct fluid_worker *w, int64_t k, int64_t j)
{
    const ptrdiff_t up = (ptrdiff_t)s->ring_pitch;
    for (int d = 0; d < 3; d++)
        for (int f = 0; f < 3 && s->implicit[d]; f++) {
            const scalar *c = fluid_ring_row(s, w->here, f, j);
            const scalar *t = fluid_ring_row(s, w->above, f, j);
            const scalar *b = fluid_ring_row(s, w->below, f, j);
            const scalar *next = d == 0 ? c + 1 : d == 1 ? c + up : t;
            const scalar *before = d == 0 ? c - 1 : d == 1 ? c - up : b;
            scalar q[2];
            factors(s, f, d, k, q);
            for (size_t i = 0; i < s->pitch; i += (size_t)LANES)
                *(real *)(w->push[f] + i) += fluid_diffusion_1d(
                    LOAD(c + i), LOAD(next + i), LOAD(before + i), q[1], q[0]);
        }
}

/* Subtract grad p; p has no ghosts in x, so that the last cell is apart. */
static void add_pressure(const struct fluid_store *s,
                         const struct fluid_worker *w, int64_t k, int64_t j)
{
    const scalar *p = fluid_row(s, s->pressure, k, j);
    const scalar *north = fluid_row(s, s->pressure, k, j + 1);
    const scalar *top = fluid_row(s, s->pressure, k + 1, j);
    scalar dx = (scalar)s->inverse_dx, dy = (scalar)s->inverse_dy;
    scalar dz = (scalar)(1 / fluid_hc(s, k));
    size_t n = s->n[0];
    for (size_t i = 0; i + 1 < n; i++)
        w->push[0][i] -= dx * (p[i + 1] - p[i]);
    if (s->periodic[0])
        w->push[0][n - 1] -= dx * (p[0] - p[n - 1]);
    for (size_t i = 0; i < n; i++) {
        w->push[1][i] -= dy * (north[i] - p[i]);
        w->push[2][i] -= dz * (top[i] - p[i]);
    }
}

void fluid_extra_row(const struct fluid_store *s, const struct fluid_worker *w,
                     int64_t k, int64_t j)
{
    /* The six rows are one piece of memory. */
    memset(w->acc[0], 0, 6 * s->pitch * sizeof(scalar));
    const double *omega = s->setup.rotation;
    if (omega[0] != 0 || omega[1] != 0 || omega[2] != 0) {
        struct fluid_coeff q;
        fluid_plane_coeff(s, k, NULL, &q);
        rotate(s, w, &q, j);
    }
    if (s->setup.n_scalars > 0)
        fluid_scalar_buoyancy(s, w, k, j, w->acc);
    if (s->any_implicit) {
        add_implicit(s, w, k, j);
        add_pressure(s, w, k, j);
    }
}
