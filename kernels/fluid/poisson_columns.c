/* poisson_columns.c: systems along z, a few vectors of columns at a time.
 *
 * Elimination: with x(k-1) = rho(k-1) x(k) + e(k-1), row k gives
 *     q = a (1 - rho(k-1)) - lambda,  w = 1 / (c + q),
 *     rho = c w,  1 - rho = q w,  e = (a e(k-1) - rhs) w,
 * in which nothing is subtracted (lambda <= 0), so that the smallest
 * eigenvalues keep their digits. What lies beyond the ends enters as e(-1) =
 * x(-1), rho(-1) = 0 and x(m).
 *
 * Uniform periodic z: the operator is -(1 - r S)(1 - r S^-1) / (r dz^2) with
 * the shift S, so y(k) = r y(k-1) + f(k) upward and x(k) = r x(k+1) + y(k)
 * downward, f = -dz^2 r rhs. The values to start from are geometric sums over
 * the ring: no second solution is needed.
 */
#include "kernels/fluid/poisson_state.h"
#include <string.h>
#ifdef _OPENMP
#include <omp.h>
#endif

enum { AHEAD = 8 }; /* planes that are fetched ahead */

KERNEL_FN void fetch(const int vectors, const scalar *p)
{
    KERNEL_UNROLL
    for (int v = 0; v < vectors; v++)
        __builtin_prefetch(p + v * LANES, 1);
}

/* ---- elimination ---- */

/* n columns with n_rhs right-hand sides each, neighbors in memory. low, high:
 * x(-1), x(m), or NULL: 0. limits: NULL, or takes x(0), x(m - 1) of each vector
 * instead of writing the solution. */
KERNEL_FN void eliminate(const int n, const int n_rhs, const struct poisson *p,
                         scalar *at, size_t plane, const real *lambda,
                         const real *low, const real *high, real *limits,
                         real *scratch)
{
    const int vectors = n * n_rhs, all = n + vectors;
    const size_t m = p->planes;
    real s[COLUMN_VECTORS], e[COLUMN_VECTORS];
    KERNEL_UNROLL
    for (int i = 0; i < n; i++)
        s[i] = simd_set(1);
    KERNEL_UNROLL
    for (int v = 0; v < vectors; v++)
        e[v] = low ? low[v] : simd_set(0);
    for (size_t k = 0; k < m; k++) {
        const real *d = (const real *)(at + k * plane);
        real *q = scratch + k * (size_t)all;
        const scalar a = p->low[k], c = p->high[k];
        if (k + AHEAD < m)
            fetch(vectors, at + (k + AHEAD) * plane);
        KERNEL_UNROLL
        for (int i = 0; i < n; i++) {
            real t = a * s[i] - lambda[i * n_rhs];
            real w = (scalar)1 / (c + t);
            s[i] = t * w;
            q[i] = c * w;
            KERNEL_UNROLL
            for (int h = 0; h < n_rhs; h++) {
                const int v = i * n_rhs + h;
                e[v] = (a * e[v] - d[v]) * w;
                q[n + v] = e[v];
            }
        }
    }
    if (limits)
        for (int v = 0; v < vectors; v++)
            limits[2 * v + 1] = e[v]; /* x(m) = 0 */
    KERNEL_UNROLL
    for (int v = 0; v < vectors; v++)
        e[v] = high ? high[v] : simd_set(0);
    for (size_t k = m; k-- > 0;) {
        real *x = (real *)(at + k * plane);
        const real *q = scratch + k * (size_t)all;
        KERNEL_UNROLL
        for (int v = 0; v < vectors; v++) {
            e[v] = q[v / n_rhs] * e[v] + q[n + v];
            if (!limits)
                x[v] = e[v];
        }
    }
    if (limits)
        for (int v = 0; v < vectors; v++)
            limits[2 * v] = e[v];
}

/* ---- recursions ---- */

/* Sums over this rank's planes from y(-1) = 0: limits[2 v] = y(m - 1),
 * limits[2 v + 1] = sum r^k y(k). keep: NULL, or takes f. */
KERNEL_FN void wave_sums(const int n, const int n_rhs, const struct poisson *p,
                         const scalar *at, size_t plane,
                         const struct wave *wave, real *limits, real *keep)
{
    const int vectors = n * n_rhs;
    real r[COLUMN_VECTORS], power[COLUMN_VECTORS], factor[COLUMN_VECTORS];
    real y[COLUMN_VECTORS], x[COLUMN_VECTORS];
    KERNEL_UNROLL
    for (int i = 0; i < n; i++) {
        r[i] = wave[i].r;
        factor[i] = (scalar)p->wave_rhs * r[i];
        power[i] = simd_set(1);
    }
    KERNEL_UNROLL
    for (int v = 0; v < vectors; v++)
        y[v] = x[v] = simd_set(0);
    for (size_t k = 0; k < p->planes; k++) {
        const real *d = (const real *)(at + k * plane);
        if (k + AHEAD < p->planes)
            fetch(vectors, at + (k + AHEAD) * plane);
        KERNEL_UNROLL
        for (int v = 0; v < vectors; v++) {
            const int i = v / n_rhs;
            real f = d[v] * factor[i];
            if (keep)
                keep[k * (size_t)vectors + (size_t)v] = f;
            y[v] = r[i] * y[v] + f;
            x[v] += power[i] * y[v];
        }
        KERNEL_UNROLL
        for (int i = 0; i < n; i++)
            power[i] *= r[i];
    }
    KERNEL_UNROLL
    for (int v = 0; v < vectors; v++) {
        limits[2 * v] = y[v];
        limits[2 * v + 1] = x[v];
    }
}

/* Both recursions from y(-1) = low, x(m) = high; f from `kept` (which may be
 * scratch), or NULL: from the planes. */
KERNEL_FN void wave_solve(const int n, const int n_rhs, const struct poisson *p,
                          scalar *at, size_t plane, const struct wave *wave,
                          const real *low, const real *high, const real *kept,
                          real *scratch)
{
    const int vectors = n * n_rhs;
    real r[COLUMN_VECTORS], factor[COLUMN_VECTORS];
    real y[COLUMN_VECTORS], x[COLUMN_VECTORS];
    KERNEL_UNROLL
    for (int i = 0; i < n; i++) {
        r[i] = wave[i].r;
        factor[i] = (scalar)p->wave_rhs * r[i];
    }
    KERNEL_UNROLL
    for (int v = 0; v < vectors; v++) {
        y[v] = low[v];
        x[v] = high[v];
    }
    for (size_t k = 0; k < p->planes; k++) {
        const real *d = (const real *)(at + k * plane);
        real *q = scratch + k * (size_t)vectors;
        if (!kept && k + AHEAD < p->planes)
            fetch(vectors, at + (k + AHEAD) * plane);
        KERNEL_UNROLL
        for (int v = 0; v < vectors; v++) {
            const int i = v / n_rhs;
            real f =
                kept ? kept[k * (size_t)vectors + (size_t)v] : d[v] * factor[i];
            q[v] = y[v] = r[i] * y[v] + f;
        }
    }
    for (size_t k = p->planes; k-- > 0;) {
        real *to = (real *)(at + k * plane);
        const real *q = scratch + k * (size_t)vectors;
        KERNEL_UNROLL
        for (int v = 0; v < vectors; v++)
            to[v] = x[v] = r[v / n_rhs] * x[v] + q[v];
    }
}

/* One rank has the whole ring. */
KERNEL_FN void wave_ring(const int n, const int n_rhs, const struct poisson *p,
                         scalar *at, size_t plane, const struct wave *wave,
                         real *scratch)
{
    const int vectors = n * n_rhs;
    real limits[2 * COLUMN_VECTORS], low[COLUMN_VECTORS], high[COLUMN_VECTORS];
    wave_sums(n, n_rhs, p, at, plane, wave, limits, scratch);
    KERNEL_UNROLL
    for (int v = 0; v < vectors; v++) {
        const struct wave *t = &wave[v / n_rhs];
        low[v] = limits[2 * v] * t->closed;
        high[v] = (limits[2 * v + 1] + t->sum * low[v]) * t->closed;
    }
    wave_solve(n, n_rhs, p, at, plane, wave, low, high, scratch, scratch);
}

/* ---- a few vectors ---- */

/* Vectors v .. v + n n_rhs - 1 of segment s. end: after the message. */
KERNEL_FN void solve(const int n, const int n_rhs, struct poisson *p,
                     const struct segment *s, size_t v, int end)
{
    const int vectors = n * n_rhs;
    scalar *at = s->base + v * LANES;
    const size_t t = s->table + v, plane = s->plane;
    real *scratch = poisson_scratch(p)->columns;
    const real *lambda = p->lambda + t;
    real *limits = (real *)p->send + 2 * t;
    const int alone = p->z_ranks == 1;
    if (!end) {
        if (p->waves && alone)
            wave_ring(n, n_rhs, p, at, plane,
                      p->wave + poisson_table_index(p, t), scratch);
        else if (p->waves)
            wave_sums(n, n_rhs, p, at, plane,
                      p->wave + poisson_table_index(p, t), limits, NULL);
        else if (alone && !p->periodic_z)
            eliminate(n, n_rhs, p, at, plane, lambda, NULL, NULL, NULL,
                      scratch);
        else
            eliminate(n, n_rhs, p, at, plane, lambda, NULL, NULL, limits,
                      scratch);
        return;
    }
    real low[COLUMN_VECTORS], high[COLUMN_VECTORS];
    for (int i = 0; i < vectors; i++)
        if (p->waves)
            poisson_wave_limits(p, t + (size_t)i, &low[i], &high[i], scratch);
        else
            poisson_piece_limits(p, t + (size_t)i, &low[i], &high[i], scratch);
    if (p->waves)
        wave_solve(n, n_rhs, p, at, plane, p->wave + poisson_table_index(p, t),
                   low, high, NULL, scratch);
    else
        eliminate(n, n_rhs, p, at, plane, lambda, low, high, NULL, scratch);
}

static void solve_all(struct poisson *p, int end)
{
    enum { N = COLUMN_VECTORS };
    for (int r = 0; r < p->y_ranks; r++) {
        const struct segment *s = &p->column[r];
        const size_t whole = s->vectors / N;
#ifdef _OPENMP
#pragma omp parallel for schedule(static) num_threads(p->n_threads)
#endif
        for (size_t i = 0; i < whole; i++)
            if (p->paired)
                solve(N / 2, 2, p, s, i * N, end);
            else
                solve(N, 1, p, s, i * N, end);
        for (size_t v = whole * N; v < s->vectors; v += 2)
            if (p->paired)
                solve(1, 2, p, s, v, end);
            else
                solve(2, 1, p, s, v, end);
    }
}

/* ---- the mean mode: the first number of each plane ---- */

static void mean_take(struct poisson *p)
{
    const scalar *from = p->column[0].base;
    scalar *to = p->send + p->mean_at;
    for (size_t k = 0; k < p->planes; k++)
        to[k] = from[k * p->column[0].plane];
}

static void mean_put(struct poisson *p)
{
    scalar *to = p->column[0].base;
    for (int r = 0; r < p->z_ranks; r++) {
        const scalar *from = p->recv[r] + p->mean_at;
        double *mean = p->mean + p->cuts_z[r];
        for (size_t k = 0; k < poisson_rank_planes(p, r); k++)
            mean[k] = (double)from[k];
    }
    poisson_mean_solve(p, p->mean);
    for (size_t k = 0; k < p->planes; k++)
        to[k * p->column[0].plane] = (scalar)p->mean[(size_t)p->first_z + k];
}

void poisson_columns_begin(struct poisson *p)
{
    if (p->has_mean)
        mean_take(p);
    solve_all(p, 0);
}

void poisson_columns_end(struct poisson *p)
{
    /* One rank with walls or waves has finished in _begin. */
    if (p->z_ranks > 1 || (p->periodic_z && !p->waves))
        solve_all(p, 1);
    if (p->has_mean)
        mean_put(p);
}
