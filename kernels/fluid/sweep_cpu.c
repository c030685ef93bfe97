/* sweep_cpu.c: one substage's prediction, and the divergence that the pressure
 * has to remove, in one sweep over planes.
 *
 * While plane k + 1 is loaded into the cache a block of rows at a time, plane k
 * is advanced in place, its divergence taken while its rows are still near, and
 * the plane transformed. The first plane of each worker has to wait for w* of
 * the plane below it: source() does those.
 */
#include "kernels/fluid/sweep_cpu.h"

#include <string.h>

#include "base/timer.h"

enum { ROWS = 16 }; /* a block */

#define LOAD(p) (*(const real_unaligned *)(p))

static void lap(struct fluid_worker *w, int phase, double *since)
{
    double now = timer_now();
    w->seconds[phase] += now - *since;
    *since = now;
}

/* ---- divergence ---- */

static void divergence_rows(const struct fluid_store *s, int64_t k, int64_t j0,
                            int64_t j1, scalar *rhs)
{
    scalar dx = (scalar)s->inverse_dx, dy = (scalar)s->inverse_dy;
    scalar dz = (scalar)(1 / fluid_h(s, k));
    size_t n = s->n[0];
    for (int64_t j = j0; j < j1; j++) {
        const scalar *u = fluid_row(s, s->field[0], k, j);
        const scalar *v = fluid_row(s, s->field[1], k, j);
        const scalar *vs = v - s->pitch;
        const scalar *w = fluid_row(s, s->field[2], k, j);
        const scalar *wb = w - s->plane;
        scalar *to = rhs + (size_t)j * s->pitch;
        for (size_t i = 0; i < s->pitch; i += (size_t)LANES)
            *(real *)(to + i) = fluid_divergence(
                LOAD(u + i), LOAD(u + i - 1), LOAD(v + i), LOAD(vs + i),
                LOAD(w + i), LOAD(wb + i), dx, dy, dz);
        scalar before = s->periodic[0] ? u[n - 1] : 0;
        real first = fluid_divergence((real){u[0]}, (real){before},
                                      (real){v[0]}, (real){vs[0]}, (real){w[0]},
                                      (real){wb[0]}, dx, dy, dz);
        to[0] = first[0];
    }
}

/* v* of the row before the first, where the block ends itself. */
static void wrap_row(const struct fluid_store *s, int64_t k)
{
    if (s->periodic[1] && !s->cut[1])
        memcpy(fluid_row(s, s->field[1], k, -1),
               fluid_row(s, s->field[1], k, (int64_t)s->n[1] - 1),
               s->pitch * sizeof(scalar));
}

/* ---- sums of the predicted flow ---- */

static double row_sum(const scalar *row, size_t n)
{
    real sum = {0};
    size_t i = 0;
    for (; i + (size_t)LANES <= n; i += (size_t)LANES)
        sum += *(const real *)(row + i);
    double total = (double)simd_sum(sum);
    for (; i < n; i++)
        total += (double)row[i];
    return total;
}

/* Adds rows [j0, j1); in the same order whenever it is called, so that what is
 * summed early and what is summed late are equal bit by bit. */
static void sum_rows(const struct fluid_store *s, int64_t k, int64_t j0,
                     int64_t j1)
{
    double *sum = s->flow + 3 * k;
    for (int f = 0; f < 3 && j0 == 0; f++)
        sum[f] = 0;
    for (int64_t j = j0; j < j1; j++)
        for (int f = 0; f < 3; f++)
            sum[f] += row_sum(fluid_row(s, s->field[f], k, j), s->n[0]);
}

int fluid_predicted_flow(struct ctx *ctx, struct fluid_store *s, double flow[3])
{
    (void)ctx;
    fluid_apply_delta(s);
    if (!s->flow_ready)
        for (int64_t k = 0; k < (int64_t)s->n[2]; k++)
            sum_rows(s, k, 0, (int64_t)s->n[1]);
    s->flow_ready = s->want_flow = 1;
    double area = s->setup.spacing[0] * s->setup.spacing[1];
    for (int f = 0; f < 3; f++) {
        flow[f] = 0;
        for (int64_t k = 0; k < (int64_t)s->n[2]; k++)
            flow[f] += s->flow[3 * k + f] * area *
                       (f == 2 ? fluid_hc(s, k) : fluid_h(s, k));
    }
    return 0;
}

/* ---- prediction ---- */

/* What the sweep needs of planes that other workers change. */
static void load_ends(const struct fluid_store *s, struct fluid_worker *w)
{
    int64_t n = (int64_t)s->n[1];
    double since = timer_now();
    w->below = &w->ring[0];
    w->here = &w->ring[1];
    w->above = &w->ring[2];
    fluid_load_rows(s, w->below, w->first - 1, -1, n + 1, 0, s->n_fields);
    fluid_load_rows(s, w->here, w->first, -1, n + 1, 0, s->n_fields);
    fluid_load_rows(s, &w->top, w->last, -1, n + 1, 0, s->n_fields);
    lap(w, FLUID_PHASE_PREDICT, &since);
}

static void predict_plane(struct fluid_store *s, struct fluid_worker *w,
                          const struct fluid_substage *sub,
                          const struct fluid_stage *stage, int64_t k)
{
    int64_t n = (int64_t)s->n[1], loaded = -1;
    int load = k + 1 < w->last;
    int early = s->transformed && k > w->first;
    struct fluid_coeff q;
    fluid_plane_coeff(s, k, sub->force, &q);
    for (int64_t j = 0; j < n; j += ROWS) {
        int64_t end = j + ROWS < n ? j + ROWS : n;
        if (load)
            fluid_load_rows(s, w->above, k + 1, loaded, end + 1, 0,
                            s->n_fields);
        loaded = end + 1;
        fluid_momentum_rows(s, w, &q, stage, k, j, end);
        if (early)
            divergence_rows(s, k, j > 0 ? j : 1, end, w->rhs);
        if (s->flow_ready)
            sum_rows(s, k, j, end);
    }
    wrap_row(s, k);
    if (early)
        divergence_rows(s, k, 0, 1, w->rhs);
}

static void predict(struct fluid_store *s, struct fluid_worker *w,
                    const struct fluid_substage *sub,
                    const struct fluid_stage *stage)
{
    double since = timer_now();
    for (int64_t k = w->first; k < w->last; k++) {
        struct fluid_plane *used = w->above;
        if (k + 1 == w->last)
            w->above = &w->top;
        predict_plane(s, w, sub, stage, k);
        lap(w, FLUID_PHASE_PREDICT, &since);
        if (s->n_fields > FLUID_FIRST_SCALAR) {
            fluid_scalar_predict(s, w, sub, k);
            lap(w, FLUID_PHASE_SCALARS, &since);
        }
        if (s->transformed && k > w->first) {
            poisson_forward_plane(s->poisson, k, w->rhs, s->pitch);
            lap(w, FLUID_PHASE_TRANSFORM, &since);
        }
        if (k + 1 == w->last)
            w->above = used;
        struct fluid_plane *oldest = w->below;
        w->below = w->here;
        w->here = w->above;
        w->above = oldest;
    }
}

int fluid_predict(struct ctx *ctx, struct fluid_store *s,
                  const struct fluid_substage *sub)
{
    (void)ctx;
    const double *omega = s->setup.rotation;
    const struct fluid_stage stage = {
        .gamma_dt = (scalar)(sub->gamma * sub->dt),
        .zeta_dt = (scalar)(sub->zeta * sub->dt),
        .alpha_dt = (scalar)(sub->alpha * sub->dt),
        .keep = s->any_implicit ? 0 : 1,
        .first = sub->first,
        .last = sub->last,
        .more = s->any_implicit || s->setup.n_scalars > 0 || omega[0] != 0 ||
                omega[1] != 0 || omega[2] != 0};
    s->alpha_dt = sub->alpha * sub->dt;
    s->transformed = !s->cut[1] && !s->any_implicit;
    s->delta_pending = s->any_implicit;
    s->flow_ready = s->want_flow && !s->any_implicit;
    s->psi_ready = 0;
    int workers = s->n_workers;
#pragma omp parallel num_threads(workers)
    {
#pragma omp for schedule(static, 1)
        for (int k = 0; k < workers; k++)
            load_ends(s, &s->workers[k]);
#pragma omp for schedule(static, 1)
        for (int k = 0; k < workers; k++)
            predict(s, &s->workers[k], sub, &stage);
    }
    return 0;
}

void fluid_apply_delta(struct fluid_store *s)
{
    if (!s->delta_pending)
        return;
    s->delta_pending = 0;
    int workers = s->n_workers;
#pragma omp parallel for schedule(static, 1) num_threads(workers)
    for (int m = 0; m < workers; m++)
        for (int64_t k = s->workers[m].first; k < s->workers[m].last; k++)
            for (int f = 0; f < s->n_fields; f++) {
                scalar *to = fluid_row(s, s->field[f], k, 0);
                const scalar *from = fluid_row(s, s->delta[f], k, 0);
                size_t n = s->n[1] * s->pitch;
                for (size_t i = 0; i < n; i += (size_t)LANES)
                    *(real *)(to + i) += *(const real *)(from + i);
            }
}

/* ---- the source of pressure ---- */

int fluid_source(struct ctx *ctx, struct fluid_store *s,
                 const struct fluid_substage *sub)
{
    (void)ctx;
    (void)sub;
    fluid_apply_delta(s);
    int workers = s->n_workers;
#pragma omp parallel for schedule(static, 1) num_threads(workers)
    for (int m = 0; m < workers; m++) {
        struct fluid_worker *w = &s->workers[m];
        int64_t last = s->transformed ? w->first + 1 : w->last;
        double since = timer_now();
        for (int64_t k = w->first; k < last; k++) {
            wrap_row(s, k);
            divergence_rows(s, k, 0, (int64_t)s->n[1], w->rhs);
            lap(w, FLUID_PHASE_PREDICT, &since);
            poisson_forward_plane(s->poisson, k, w->rhs, s->pitch);
            lap(w, FLUID_PHASE_TRANSFORM, &since);
        }
    }
    return 0;
}
