/* fields_cpu.c: fields as plain blocks: those stored, and those that follow
 * from them at the centers of cells. */
#include "kernels/fluid/terms_cpu.h"

#include "base/error.h"

#include <string.h>

/* ---- planes with ghosts ---- */

static struct fluid_plane *slot(struct fluid_worker *w, int64_t k)
{
    return &w->ring[(k + 3) % 3];
}

void fluid_walk_to(const struct fluid_store *s, struct fluid_worker *w,
                   int64_t k, int n, int fresh)
{
    int64_t rows = (int64_t)s->n[1];
    for (int64_t m = fresh ? k - 1 : k + 1; m <= k + 1; m++)
        fluid_load_rows(s, slot(w, m), m, -1, rows + 1, 0, n);
    w->below = slot(w, k - 1);
    w->here = slot(w, k);
    w->above = slot(w, k + 1);
}

/* Whether field f has a no-slip wall at [d][side] of this block, and enough
 * cells for a parabola. */
static int smooth_here(const struct fluid_store *s, int f, int d, int side)
{
    return f != d && s->at_wall[d][side] && s->setup.cells[d] > 1 &&
           s->setup.face[d][side].type == FLUID_NO_SLIP;
}

/* ghost = wall part + near * (cell beside the wall) + far * (the next one). */
static void parabola(scalar *ghost, const scalar *near, const scalar *far,
                     int64_t from, int64_t to, const double weight[3])
{
    scalar wall = (scalar)weight[0];
    scalar a = (scalar)weight[1], b = (scalar)weight[2];
    for (int64_t i = from; i < to; i++)
        ghost[i] = wall + a * near[i] + b * far[i];
}

/* The parabola through the wall's velocity and centers at d0 and d1 from it,
 * at -d0. */
static void weights(double velocity, double d0, double d1, double out[3])
{
    out[0] = velocity * 2 * (d0 + d1) / d1;
    out[1] = -(d0 + d1) / (d1 - d0);
    out[2] = 2 * d0 * d0 / (d1 * (d1 - d0));
}

static void smooth_plane(const struct fluid_store *s,
                         const struct fluid_plane *p)
{
    int64_t nx = (int64_t)s->n[0], ny = (int64_t)s->n[1];
    double by[3];
    for (int f = 0; f < 3; f++)
        for (int side = 0; side < 2; side++) {
            if (smooth_here(s, f, FLUID_X, side)) {
                int64_t at = side ? nx : -1, in = side ? -1 : 1;
                weights(s->setup.face[FLUID_X][side].velocity[f], 0.5, 1.5, by);
                for (int64_t j = -1; j <= ny; j++) {
                    scalar *row = fluid_ring_row(s, p, f, j);
                    parabola(row + at, row + at + in, row + at + 2 * in, 0, 1,
                             by);
                }
            }
            if (smooth_here(s, f, FLUID_Y, side)) {
                int64_t at = side ? ny : -1, in = side ? -1 : 1;
                weights(s->setup.face[FLUID_Y][side].velocity[f], 0.5, 1.5, by);
                parabola(fluid_ring_row(s, p, f, at),
                         fluid_ring_row(s, p, f, at + in),
                         fluid_ring_row(s, p, f, at + 2 * in), -1, nx + 1, by);
            }
        }
}

static void smooth_end(const struct fluid_store *s, struct fluid_worker *w,
                       int64_t k, int side)
{
    const struct fluid_plane *ghost = side ? w->above : w->below;
    const struct fluid_plane *far = side ? w->below : w->above;
    int64_t next = side ? k - 1 : k + 1;
    double d0 = 0.5 * fluid_h(s, k), by[3];
    double d1 = 2 * d0 + 0.5 * fluid_h(s, next);
    for (int f = 0; f < 3; f++) {
        if (!smooth_here(s, f, FLUID_Z, side))
            continue;
        weights(s->setup.face[FLUID_Z][side].velocity[f], d0, d1, by);
        for (int64_t j = -1; j <= (int64_t)s->n[1]; j++)
            parabola(fluid_ring_row(s, ghost, f, j),
                     fluid_ring_row(s, w->here, f, j),
                     fluid_ring_row(s, far, f, j), -1, (int64_t)s->n[0] + 1,
                     by);
    }
}

void fluid_smooth_walls(const struct fluid_store *s, struct fluid_worker *w,
                        int64_t k, int fresh)
{
    if (fresh) {
        smooth_plane(s, w->below);
        smooth_plane(s, w->here);
    }
    smooth_plane(s, w->above);
    if (k == 0)
        smooth_end(s, w, k, 0);
    if (k + 1 == (int64_t)s->n[2])
        smooth_end(s, w, k, 1);
}

/* ---- pressure ---- */

void fluid_pressure_begin(struct fluid_store *s)
{
    if (s->alpha_dt > 0 && !s->any_implicit && s->own_psi)
        fluid_need_psi(s);
}

const scalar *fluid_pressure_plane(const struct fluid_store *s,
                                   struct fluid_worker *w, int64_t k,
                                   double *factor)
{
    *factor = s->setup.density;
    if (s->any_implicit)
        return fluid_row(s, s->pressure, k, 0);
    if (s->alpha_dt <= 0) { /* nothing was solved yet */
        memset(w->rhs, 0, s->pitch * s->n[1] * sizeof *w->rhs);
        return w->rhs;
    }
    *factor = s->setup.density / s->alpha_dt;
    if (s->own_psi)
        return fluid_row(s, s->psi, k, 0);
    poisson_inverse_plane(s->poisson, k, w->rhs, s->pitch);
    return w->rhs;
}

/* ---- blocks ---- */

static double *block_row(const struct fluid_store *s, double *block, int64_t k,
                         size_t j)
{
    return block + ((size_t)k * s->n[1] + j) * s->n[0];
}

static void put_row(const struct fluid_store *s, const scalar *from,
                    double factor, double *to)
{
    for (size_t i = 0; i < s->n[0]; i++)
        to[i] = factor * (double)from[i];
}

static void put_lanes(const struct fluid_store *s, real v, size_t at,
                      double *to)
{
    size_t left = s->n[0] - at, n = left < (size_t)LANES ? left : (size_t)LANES;
    for (size_t l = 0; l < n; l++)
        to[at + l] = (double)v[l];
}

KERNEL_FN void derived_row(const struct fluid_store *s,
                           const struct fluid_rows *r,
                           const struct fluid_slopes *q, enum fluid_field field,
                           double *to)
{
    for (size_t at = 0; at < s->n[0]; at += (size_t)LANES) {
        struct fluid_center c;
        real out;
        fluid_center_at(r, q, at, field >= FLUID_VORTICITY_X, &c);
        if (field <= FLUID_CENTER_W)
            out = c.u[field - FLUID_CENTER_U];
        else if (field <= FLUID_VORTICITY_Z)
            out = fluid_vorticity(&c, (int)(field - FLUID_VORTICITY_X));
        else
            /* -1/2 of the trace of the gradient's square */
            out =
                (scalar)-0.5 * (c.g[0][0] * c.g[0][0] + c.g[1][1] * c.g[1][1] +
                                c.g[2][2] * c.g[2][2]) -
                (c.g[0][1] * c.g[1][0] + c.g[0][2] * c.g[2][0] +
                 c.g[1][2] * c.g[2][1]);
        put_lanes(s, out, at, to);
    }
}

static void get_derived(struct fluid_store *s, enum fluid_field field,
                        double *block)
{
    int workers = s->n_workers;
#pragma omp parallel for schedule(static, 1) num_threads(workers)
    for (int m = 0; m < workers; m++) {
        struct fluid_worker *w = &s->workers[m];
        for (int64_t k = w->first; k < w->last; k++) {
            struct fluid_slopes q = fluid_slopes_of(s, k);
            fluid_walk_to(s, w, k, FLUID_FIRST_SCALAR, k == w->first);
            if (field >= FLUID_VORTICITY_X)
                fluid_smooth_walls(s, w, k, k == w->first);
            for (size_t j = 0; j < s->n[1]; j++) {
                struct fluid_rows r = fluid_rows_of(s, w, (int64_t)j);
                derived_row(s, &r, &q, field, block_row(s, block, k, j));
            }
        }
    }
}

static void get_pressure(struct fluid_store *s, double *block)
{
    int workers = s->n_workers;
    fluid_pressure_begin(s);
#pragma omp parallel for schedule(static, 1) num_threads(workers)
    for (int m = 0; m < workers; m++) {
        struct fluid_worker *w = &s->workers[m];
        for (int64_t k = w->first; k < w->last; k++) {
            double factor;
            const scalar *p = fluid_pressure_plane(s, w, k, &factor);
            for (size_t j = 0; j < s->n[1]; j++)
                put_row(s, p + j * s->pitch, factor, block_row(s, block, k, j));
        }
    }
}

int fluid_get(struct ctx *ctx, struct fluid_store *s, enum fluid_field field,
              double *block)
{
    int f = (int)field;
    if (field == FLUID_STORED_PRESSURE && s->any_implicit) {
        fluid_get_raw(s, s->pressure, block);
        return 0;
    }
    if (field == FLUID_STORED_PRESSURE)
        return FAIL(ctx, STATUS_INTERNAL, "no pressure is stored");
    if (field >= FLUID_SCALAR0)
        f = FLUID_FIRST_SCALAR + (int)(field - FLUID_SCALAR0);
    else if (field == FLUID_PRESSURE)
        get_pressure(s, block);
    else if (field > FLUID_W)
        get_derived(s, field, block);
    if (field > FLUID_W && field < FLUID_SCALAR0)
        return 0;
    if (f >= s->n_fields)
        return FAIL(ctx, STATUS_INTERNAL, "the flow has no scalar %d",
                    f - FLUID_FIRST_SCALAR);
    fluid_get_raw(s, s->field[f], block);
    return 0;
}
