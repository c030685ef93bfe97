/* correct_cpu.c: psi back in space, plane by plane, and its gradient taken off
 * the velocity; and the calls of the solve between. */
#include "kernels/fluid/fluid_cpu.h"

#include <math.h>
#include <string.h>

#include "base/timer.h"

#define LOAD(p) (*(const real_unaligned *)(p))

/* ---- the solve ---- */

#define TIMED(s, phase, call)                      \
    do {                                           \
        double start_ = timer_now();               \
        call;                                      \
        s->seconds[phase] += timer_now() - start_; \
    } while (0)

int fluid_transform_y(struct ctx *ctx, struct fluid_store *s)
{
    (void)ctx;
    TIMED(s, FLUID_PHASE_TRANSFORM, poisson_transform_y(s->poisson));
    return 0;
}

int fluid_columns_begin(struct ctx *ctx, struct fluid_store *s)
{
    (void)ctx;
    TIMED(s, FLUID_PHASE_COLUMNS, poisson_columns_begin(s->poisson));
    return 0;
}

int fluid_columns_end(struct ctx *ctx, struct fluid_store *s)
{
    (void)ctx;
    TIMED(s, FLUID_PHASE_COLUMNS, poisson_columns_end(s->poisson));
    return 0;
}

int fluid_inverse_y(struct ctx *ctx, struct fluid_store *s)
{
    (void)ctx;
    TIMED(s, FLUID_PHASE_TRANSFORM, poisson_inverse_y(s->poisson));
    return 0;
}

void fluid_need_psi(struct fluid_store *s)
{
    if (s->psi_ready)
        return;
    s->psi_ready = 1;
    double start = timer_now();
    int workers = s->n_workers;
#pragma omp parallel for schedule(static, 1) num_threads(workers)
    for (int m = 0; m < workers; m++)
        for (int64_t k = s->workers[m].first; k < s->workers[m].last; k++)
            poisson_inverse_plane(s->poisson, k, fluid_row(s, s->psi, k, 0),
                                  s->pitch);
    s->seconds[FLUID_PHASE_TRANSFORM] += timer_now() - start;
}

int fluid_inverse_x(struct ctx *ctx, struct fluid_store *s)
{
    (void)ctx;
    if (s->own_psi)
        fluid_need_psi(s);
    return 0;
}

/* ---- psi of one plane, with its upper ghosts ---- */

static void psi_plane(const struct fluid_store *s, int64_t k, scalar *psi)
{
    size_t up = s->ring_pitch, n = s->n[1], row = s->pitch * sizeof *psi;
    if (s->own_psi) {
        for (size_t j = 0; j <= n; j++)
            memcpy(psi + j * up, fluid_row(s, s->psi, k, (int64_t)j), row);
    } else {
        if (k == (int64_t)s->n[2] && s->periodic[2] && !s->cut[2])
            k = 0;
        poisson_inverse_plane(s->poisson, k, psi, up);
        memcpy(psi + n * up, s->at_wall[1][1] ? psi + (n - 1) * up : psi, row);
    }
    for (size_t j = 0; j <= n; j++)
        fluid_fill_x(s, FLUID_RULE_PRESSURE, psi + j * up);
}

/* ---- the greatest rate ---- */

/* Rates are not negative; as whole numbers they are ordered like the numbers
 * they are, and what is not a number lies above infinity. */
KERNEL_FN lane_int greater_bits(lane_int a, lane_int b)
{
    lane_int m = a > b;
    return (m & a) | (~m & b);
}

KERNEL_FN real magnitude(real a)
{
    const real minus = -(real){0};
    return (real)((lane_int)a & ~(lane_int)minus);
}

static double greatest(lane_int bits)
{
    double most = 0;
    for (int l = 0; l < LANES; l++) {
        scalar rate = ((real)bits)[l];
        if (!isfinite(rate))
            return INFINITY;
        most = fmax(most, (double)rate);
    }
    return most;
}

/* ---- correction ---- */

struct correction {
    scalar dx, dy, dz, rate_z, extra[3];
};

/* One row; p: psi, n, t: of the next row and of the plane above. */
KERNEL_FN lane_int row(const struct fluid_store *s, const struct correction *c,
                       int64_t k, int64_t j, const scalar *p, const scalar *n,
                       const scalar *t, int want_rate, lane_int most)
{
    enum { AHEAD = 4 };
    const ptrdiff_t apart = s->field[1] - s->field[0];
    scalar *u = fluid_row(s, s->field[0], k, j);
    const size_t end = s->pitch, whole = s->n[0] / (size_t)LANES;
    for (size_t i = 0; i < end; i += (size_t)LANES, u += LANES) {
        for (int f = 0; f < 3; f++)
            __builtin_prefetch(u + AHEAD * s->pitch + f * apart, 1);
        real here = *(const real *)(p + i);
        real a = *(real *)u - (LOAD(p + i + 1) - here) * c->dx + c->extra[0];
        real b =
            *(real *)(u + apart) - (LOAD(n + i) - here) * c->dy + c->extra[1];
        real w = *(real *)(u + 2 * apart) - (LOAD(t + i) - here) * c->dz +
                 c->extra[2];
        *(real *)u = a;
        *(real *)(u + apart) = b;
        *(real *)(u + 2 * apart) = w;
        if (want_rate) {
            real rate = magnitude(a) * c->dx + magnitude(b) * c->dy +
                        magnitude(w) * c->rate_z;
            if (i == whole * (size_t)LANES) /* beyond the last cell */
                for (size_t l = s->n[0] - i; l < (size_t)LANES; l++)
                    rate[l] = 0;
            most = greater_bits((lane_int)rate, most);
        }
    }
    return most;
}

static lane_int correct_plane(const struct fluid_store *s,
                              const struct correction *c, int64_t k,
                              const scalar *psi, const scalar *above,
                              int want_rate, lane_int most)
{
    size_t up = s->ring_pitch;
    for (int64_t j = 0; j < (int64_t)s->n[1]; j++) {
        const scalar *p = psi + (size_t)j * up;
        const scalar *t = above + (size_t)j * up;
        if (want_rate)
            most = row(s, c, k, j, p, p + up, t, 1, most);
        else
            row(s, c, k, j, p, p + up, t, 0, most);
    }
    return most;
}

static void correct(struct fluid_store *s, struct fluid_worker *w,
                    const double extra[3], int want_rate)
{
    lane_int most = {0};
    double since = timer_now(), now;
    psi_plane(s, w->first, w->psi[0]);
    for (int64_t k = w->first; k < w->last; k++) {
        struct correction c = {.dx = (scalar)s->inverse_dx,
                               .dy = (scalar)s->inverse_dy,
                               .dz = (scalar)(1 / fluid_hc(s, k)),
                               .rate_z = (scalar)s->rate_z[k + 1]};
        int top = s->at_wall[2][1] && k + 1 == (int64_t)s->n[2];
        for (int f = 0; f < 3; f++)
            c.extra[f] = (scalar)extra[f];
        if (!top)
            psi_plane(s, k + 1, w->psi[1]);
        now = timer_now();
        w->seconds[FLUID_PHASE_TRANSFORM] += now - since;
        most = correct_plane(s, &c, k, w->psi[0], top ? w->psi[0] : w->psi[1],
                             want_rate, most);
        since = timer_now();
        w->seconds[FLUID_PHASE_CORRECT] += since - now;
        scalar *used = w->psi[0];
        w->psi[0] = w->psi[1];
        w->psi[1] = used;
    }
    w->rate = greatest(most);
}

/* ---- the pressure that implicit diffusion keeps ---- */

static scalar second_difference(scalar c, scalar next, scalar before,
                                scalar upper, scalar lower)
{
    return upper * (next - c) - lower * (c - before);
}

/* p += psi / (alpha dt) - viscosity / 2 L psi over the implicit directions
 * (Kim and Moin 1985, with the pressure kept as in Verzicco and Orlandi 1996).
 */
static void advance_pressure(const struct fluid_store *s, int64_t k)
{
    double half = -0.5 * s->setup.viscosity;
    double x = s->implicit[0] ? half * s->inverse_dx * s->inverse_dx : 0;
    double y = s->implicit[1] ? half * s->inverse_dy * s->inverse_dy : 0;
    double z = s->implicit[2] ? half : 0;
    double t = z / (fluid_h(s, k) * fluid_hc(s, k));
    double b = z / (fluid_h(s, k) * fluid_hc(s, k - 1));
    double share = s->alpha_dt > 0 ? 1 / s->alpha_dt : 0;
    size_t n = s->n[0];
    for (int64_t j = 0; j < (int64_t)s->n[1]; j++) {
        const scalar *q = fluid_row(s, s->psi, k, j);
        const scalar *above = q + s->plane, *below = q - s->plane;
        const scalar *north = q + s->pitch, *south = q - s->pitch;
        scalar *p = fluid_row(s, s->pressure, k, j);
        for (size_t i = 0; i < n; i++) {
            scalar c = q[i], wrap = s->periodic[0] ? 1 : 0;
            scalar e = i + 1 < n ? q[i + 1] : wrap * q[0] + (1 - wrap) * c;
            scalar w = i > 0 ? q[i - 1] : wrap * q[n - 1] + (1 - wrap) * c;
            p[i] +=
                (scalar)share * c +
                second_difference(c, e, w, (scalar)x, (scalar)x) +
                second_difference(c, north[i], south[i], (scalar)y, (scalar)y) +
                second_difference(c, above[i], below[i], (scalar)t, (scalar)b);
        }
    }
}

int fluid_correct(struct ctx *ctx, struct fluid_store *s,
                  const struct fluid_substage *sub, const double extra[3],
                  double *rate)
{
    (void)ctx;
    (void)sub;
    int workers = s->n_workers, want = rate != NULL;
    double add[3];
    for (int d = 0; d < 3; d++)
        add[d] = s->periodic[d] ? extra[d] : 0;
#pragma omp parallel for schedule(static, 1) num_threads(workers)
    for (int m = 0; m < workers; m++) {
        struct fluid_worker *w = &s->workers[m];
        correct(s, w, add, want);
        for (int64_t k = w->first; k < w->last && s->any_implicit; k++)
            advance_pressure(s, k);
    }
    for (int m = 0; want && m < workers; m++)
        *rate = m == 0 ? s->workers[0].rate : fmax(*rate, s->workers[m].rate);
    return 0;
}
