/* profile_cpu.c: sums over planes of what statistics are made of, from values
 * at centers of cells. */
#include "kernels/fluid/terms_cpu.h"

#include "base/error.h"

#include <stdlib.h>
#include <string.h>

enum { MOMENTS_MAX = FLUID_M_T0 + FLUID_M_PER_SCALAR * FLUID_SCALARS_MAX };

/* What the moments of a row of cells come from. */
struct source {
    struct fluid_rows rows;
    struct fluid_slopes slopes;
    const scalar *pressure;
    const scalar *value[FLUID_SCALARS_MAX];
    scalar pressure_factor, viscosity;
    int n_scalars;
};

KERNEL_FN void moments_at(const struct source *from, size_t at, real *m)
{
    struct fluid_center c;
    fluid_center_at(&from->rows, &from->slopes, at, 1, &c);
    real p = from->pressure_factor * *(const real *)(from->pressure + at);
    real uu = c.u[0] * c.u[0], vv = c.u[1] * c.u[1], ww = c.u[2] * c.u[2];
    m[FLUID_M_U] = c.u[0];
    m[FLUID_M_V] = c.u[1];
    m[FLUID_M_W] = c.u[2];
    m[FLUID_M_P] = p;
    m[FLUID_M_UU] = uu;
    m[FLUID_M_VV] = vv;
    m[FLUID_M_WW] = ww;
    m[FLUID_M_PP] = p * p;
    m[FLUID_M_UV] = c.u[0] * c.u[1];
    m[FLUID_M_UW] = c.u[0] * c.u[2];
    m[FLUID_M_VW] = c.u[1] * c.u[2];
    m[FLUID_M_UUU] = uu * c.u[0];
    m[FLUID_M_VVV] = vv * c.u[1];
    m[FLUID_M_WWW] = ww * c.u[2];
    m[FLUID_M_UUUU] = uu * uu;
    m[FLUID_M_VVVV] = vv * vv;
    m[FLUID_M_WWWW] = ww * ww;
    KERNEL_UNROLL
    for (int d = 0; d < 3; d++) {
        real o = fluid_vorticity(&c, d);
        m[FLUID_M_OXX + d] = o * o;
    }
    real g = {0};
    KERNEL_UNROLL
    for (int a = 0; a < 3; a++)
        KERNEL_UNROLL
    for (int d = 0; d < 3; d++)
        g += c.g[a][d] * c.g[a][d];
    m[FLUID_M_DISSIPATION] = from->viscosity * g;
    for (int n = 0; n < from->n_scalars; n++) {
        real t = *(const real_unaligned *)(from->value[n] + at);
        real *mt = m + FLUID_M_T0 + n * FLUID_M_PER_SCALAR;
        mt[0] = t;
        mt[1] = t * t;
        mt[2] = c.u[0] * t;
        mt[3] = c.u[1] * t;
        mt[4] = c.u[2] * t;
    }
}

/* Sums along the row, added to sums[moment]. */
static void add_row(const struct source *from, size_t n, int moments,
                    double *sums)
{
    real total[MOMENTS_MAX], m[MOMENTS_MAX];
    memset(total, 0, sizeof total);
    for (size_t at = 0; at < n; at += (size_t)LANES) {
        size_t left = n - at;
        moments_at(from, at, m);
        if (left < (size_t)LANES) {
            simd_mask in = simd_mask_of_bits((1u << left) - 1);
            for (int q = 0; q < moments; q++)
                total[q] += simd_keep(in, m[q]);
        } else {
            for (int q = 0; q < moments; q++)
                total[q] += m[q];
        }
    }
    for (int q = 0; q < moments; q++) {
        double sum = 0;
        for (int l = 0; l < LANES; l++)
            sum += (double)total[q][l];
        sums[q] += sum;
    }
}

/* Each cell of the row to its own sums, [i][moment]. */
static void add_columns(const struct source *from, size_t n, int moments,
                        double *sums)
{
    real m[MOMENTS_MAX];
    for (size_t at = 0; at < n; at += (size_t)LANES) {
        size_t left = n - at;
        moments_at(from, at, m);
        for (size_t l = 0; l < (size_t)LANES && l < left; l++) {
            double *to = sums + (at + l) * (size_t)moments;
            for (int q = 0; q < moments; q++)
                to[q] += (double)m[q][l];
        }
    }
}

static void add_plane(const struct fluid_store *s, struct fluid_worker *w,
                      int64_t k, int axis, int moments, double *sums)
{
    double factor;
    const scalar *p = fluid_pressure_plane(s, w, k, &factor);
    for (size_t j = 0; j < s->n[1]; j++) {
        struct source from = {.rows = fluid_rows_of(s, w, (int64_t)j),
                              .slopes = fluid_slopes_of(s, k),
                              .pressure = p + j * s->pitch,
                              .pressure_factor = (scalar)factor,
                              .viscosity = (scalar)s->setup.viscosity,
                              .n_scalars = s->setup.n_scalars};
        for (int n = 0; n < s->setup.n_scalars; n++)
            from.value[n] =
                fluid_ring_row(s, w->here, FLUID_FIRST_SCALAR + n, (int64_t)j);
        if (axis == FLUID_X)
            add_columns(&from, s->n[0], moments, sums);
        else
            add_row(&from, s->n[0], moments,
                    sums + (axis == FLUID_Y ? j : (size_t)k) * (size_t)moments);
    }
}

int fluid_profile(struct ctx *ctx, struct fluid_store *s, int axis,
                  double *sums)
{
    int workers = s->n_workers, moments = fluid_moments(s->setup.n_scalars);
    size_t n = s->n[axis] * (size_t)moments;
    /* Along z each worker has its own rows of the result; along the other two
     * each has its own sums, added in order. */
    double *parts = sums;
    if (axis != FLUID_Z && workers > 1) {
        parts = malloc((size_t)workers * n * sizeof *parts);
        if (!parts)
            return FAIL(ctx, STATUS_MEMORY, "no memory for profiles");
        memset(parts, 0, (size_t)workers * n * sizeof *parts);
    }
    memset(sums, 0, n * sizeof *sums);
    fluid_pressure_begin(s);
#pragma omp parallel for schedule(static, 1) num_threads(workers)
    for (int m = 0; m < workers; m++) {
        struct fluid_worker *w = &s->workers[m];
        double *own = parts == sums ? sums : parts + (size_t)m * n;
        for (int64_t k = w->first; k < w->last; k++) {
            fluid_walk_to(s, w, k, s->n_fields, k == w->first);
            fluid_smooth_walls(s, w, k, k == w->first);
            add_plane(s, w, k, axis, moments, own);
        }
    }
    if (parts != sums) {
        for (size_t m = 0; m < (size_t)workers; m++)
            for (size_t q = 0; q < n; q++)
                sums[q] += parts[m * n + q];
        free(parts);
    }
    return 0;
}
