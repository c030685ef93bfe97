/* look_cpu.c: sums and maxima over a block, in one pass over planes with
 * ghosts.
 *
 * The forms are those of the scheme itself. With volumes V of the staggered
 * cells (dx dy h(k) for u and v, dx dy hc(k) for w), L the viscous operator and
 * U the velocity of the walls,
 *     -viscosity <u, L u> = dissipation + sum over walls of U . shear,
 * dissipation the sum of squared differences over neighbors (half of it at a
 * wall, whose ghost is a reflection), shear the force of the flow on the wall.
 * Advection and pressure do no work, so that
 *     d(kinetic)/dt = force . flow - dissipation - sum U . shear (+ buoyancy)
 * up to the error of the time scheme.
 */
#include "kernels/fluid/terms_cpu.h"

#include <math.h>
#include <string.h>

/* Sums of one row, a lane each; in double after the row. */
struct row_sums {
    real kinetic, strain, enstrophy, flow[3];
    real divergence, rate, speed;
};

/* Factors of one plane and row. Faces on a wall count half, faces that the wall
 * owns not at all. */
struct row_factors {
    scalar x, y, z;              /* 1/dx, 1/dy, 1/h */
    scalar rate_z;               /* of the convective limit */
    scalar h, hc;                /* heights that belong to u, v and to w */
    scalar own_v, own_w;         /* 0 on the wall's face, else 1 */
    scalar xx, yy, zz;           /* h/dx^2, h/dy^2, 1/h: squares in cells */
    scalar xx_w, yy_w;           /* hc/dx^2, hc/dy^2 */
    scalar yy_face, yy_w_face;   /* the same for the upper y face */
    scalar zz_face;              /* 1/hc for the upper z face */
    scalar low_y, low_yw, low_z; /* for faces on the lower wall, else 0 */
    scalar z_t, z_b;             /* 1/hc(k), 1/hc(k-1) */
    scalar edge; /* h / 8: a cell's share of its edges' squares */
};

static struct row_factors factors_of(const struct fluid_store *s, int64_t k,
                                     int64_t j)
{
    double x = s->inverse_dx, y = s->inverse_dy, h = fluid_h(s, k);
    double hc = fluid_hc(s, k), below = fluid_hc(s, k - 1);
    int top_y = s->at_wall[FLUID_Y][1] && j + 1 == (int64_t)s->n[1];
    int top_z = s->at_wall[FLUID_Z][1] && k + 1 == (int64_t)s->n[2];
    int low_y = s->at_wall[FLUID_Y][0] && j == 0;
    int low_z = s->at_wall[FLUID_Z][0] && k == 0;
    double wy = top_y ? 0.5 : 1, wz = top_z ? 0.5 : 1, own = top_z ? 0 : hc;
    return (struct row_factors){
        .x = (scalar)x,
        .y = (scalar)y,
        .z = (scalar)(1 / h),
        .rate_z = (scalar)s->rate_z[k + 1],
        .h = (scalar)h,
        .hc = (scalar)own,
        .own_v = top_y ? 0 : 1,
        .own_w = top_z ? 0 : 1,
        .xx = (scalar)(h * x * x),
        .yy = (scalar)(h * y * y),
        .zz = (scalar)(1 / h),
        .xx_w = (scalar)(own * x * x),
        .yy_w = (scalar)(own * y * y),
        .yy_face = (scalar)(wy * h * y * y),
        .yy_w_face = (scalar)(wy * own * y * y),
        .zz_face = (scalar)(wz / hc),
        .low_y = (scalar)(low_y ? 0.5 * h * y * y : 0),
        .low_yw = (scalar)(low_y ? 0.5 * own * y * y : 0),
        .low_z = (scalar)(low_z ? 0.5 / below : 0),
        .z_t = (scalar)(1 / hc),
        .z_b = (scalar)(1 / below),
        .edge = (scalar)(h / 8),
    };
}

KERNEL_FN real absolute(real a)
{
    lane_int negative = a < 0;
    return (real)((negative & (lane_int)-a) | (~negative & (lane_int)a));
}

KERNEL_FN real greater(real a, real b)
{
    lane_int m = a > b;
    return (real)((m & (lane_int)a) | (~m & (lane_int)b));
}

KERNEL_FN real square(real a)
{
    return a * a;
}

/* Where a row reads: [below, here, above][south, here, north]. */
struct looked {
    const scalar *u[3][3], *v[3][3], *w[3][3];
};

static struct looked looked_at(const struct fluid_store *s,
                               const struct fluid_worker *w, int64_t j)
{
    const struct fluid_plane *plane[3] = {w->below, w->here, w->above};
    struct looked r;
    for (int k = 0; k < 3; k++)
        for (int m = 0; m < 3; m++) {
            r.u[k][m] = fluid_ring_row(s, plane[k], FLUID_X, j + m - 1);
            r.v[k][m] = fluid_ring_row(s, plane[k], FLUID_Y, j + m - 1);
            r.w[k][m] = fluid_ring_row(s, plane[k], FLUID_Z, j + m - 1);
        }
    return r;
}

#define U(dk, dj, di) (*(const real_unaligned *)(r->u[dk + 1][dj + 1] + i + di))
#define V(dk, dj, di) (*(const real_unaligned *)(r->v[dk + 1][dj + 1] + i + di))
#define W(dk, dj, di) (*(const real_unaligned *)(r->w[dk + 1][dj + 1] + i + di))

/* The sum of squares of vorticity over the twelve edges of each cell. */
KERNEL_FN real edges(const struct looked *r, const struct row_factors *q,
                     size_t i)
{
    real sum = {0};
    KERNEL_UNROLL
    for (int a = -1; a < 1; a++)
        KERNEL_UNROLL
    for (int b = -1; b < 1; b++) {
        scalar z = b ? q->z_b : q->z_t;
        sum += square(q->x * (V(0, b, a + 1) - V(0, b, a)) -
                      q->y * (U(0, b + 1, a) - U(0, b, a)));
        sum += square(z * (U(b + 1, 0, a) - U(b, 0, a)) -
                      q->x * (W(b, 0, a + 1) - W(b, 0, a)));
        sum += square(q->y * (W(b, a + 1, 0) - W(b, a, 0)) -
                      z * (V(b + 1, a, 0) - V(b, a, 0)));
    }
    return sum;
}

/* in: lanes of the block; own_u: those whose u is not a wall's. */
KERNEL_FN void look_lanes(const struct looked *r, const struct row_factors *q,
                          size_t i, simd_mask in, simd_mask own_u,
                          struct row_sums *t)
{
    real u = U(0, 0, 0), u_w = U(0, 0, -1), v = V(0, 0, 0), v_s = V(0, -1, 0);
    real w = W(0, 0, 0), w_b = W(-1, 0, 0);
    real kinetic = q->h * (u * u + v * v) + q->hc * (w * w);
    t->kinetic += simd_keep(in, kinetic);
    t->flow[0] += simd_keep(in, u);
    t->flow[1] += simd_keep(in, v);
    t->flow[2] += simd_keep(in, w);

    real of_u = q->yy_face * square(U(0, 1, 0) - u) +
                q->zz_face * square(U(1, 0, 0) - u) +
                q->low_y * square(u - U(0, -1, 0)) +
                q->low_z * square(u - U(-1, 0, 0));
    real of_v = q->xx * square(V(0, 0, 1) - v) +
                q->zz_face * square(V(1, 0, 0) - v) +
                q->low_z * square(v - V(-1, 0, 0));
    real of_w = q->xx_w * square(W(0, 0, 1) - w) +
                q->yy_w_face * square(W(0, 1, 0) - w) +
                q->low_yw * square(w - W(0, -1, 0));
    real inside = q->xx * square(u - u_w) + q->yy * square(v - v_s) +
                  q->zz * square(w - w_b);
    t->strain +=
        simd_keep(own_u, of_u) + simd_keep(in, inside + q->own_v * of_v + of_w);
    t->enstrophy += simd_keep(in, q->edge * edges(r, q, i));

    real au = absolute(u), av = absolute(v), aw = absolute(w);
    real rate = q->x * au + q->y * av + q->rate_z * aw;
    real div = fluid_divergence(u, u_w, v, v_s, w, w_b, q->x, q->y, q->z);
    t->rate = greater(simd_keep(in, rate), t->rate);
    t->speed = greater(simd_keep(in, greater(greater(au, av), aw)), t->speed);
    t->divergence = greater(simd_keep(in, absolute(div)), t->divergence);
}

#undef U
#undef V
#undef W

static void look_row(const struct looked *r, const struct row_factors *q,
                     size_t n, size_t n_u, struct row_sums *t)
{
    size_t lanes = (size_t)LANES, whole = n_u / lanes * lanes, i = 0;
    uint32_t all = (uint32_t)((1ull << LANES) - 1);
    simd_mask full = simd_mask_of_bits(all);
    for (; i < whole; i += lanes)
        look_lanes(r, q, i, full, full, t);
    for (; i < n; i += lanes) {
        uint32_t in = n - i < lanes ? (1u << (n - i)) - 1 : all;
        uint32_t own = i >= n_u          ? 0
                       : n_u - i < lanes ? (1u << (n_u - i)) - 1
                                         : all;
        look_lanes(r, q, i, simd_mask_of_bits(in), simd_mask_of_bits(own), t);
    }
}

/* ---- walls ---- */

/* Squared differences across walls of x at row j of plane k: the sweep over
 * rows counted the upper one in full and the lower one not at all. */
static double strain_at_x_walls(const struct fluid_store *s,
                                const struct looked *r,
                                const struct row_factors *q)
{
    double sum = 0;
    size_t n = s->n[0];
    for (int side = 0; side < 2; side++) {
        const scalar *v = r->v[1][1] + (side ? n : 0);
        const scalar *w = r->w[1][1] + (side ? n : 0);
        if (!s->at_wall[FLUID_X][side])
            continue;
        double dv = (double)v[0] - (double)v[-1];
        double dw = (double)w[0] - (double)w[-1];
        sum += (side ? -0.5 : 0.5) * ((double)(q->own_v * q->xx) * dv * dv +
                                      (double)q->xx_w * dw * dw);
    }
    return sum;
}

static double sum_difference(const scalar *in, const scalar *out, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += (double)in[i] - (double)out[i];
    return sum;
}

/* Slopes into the block of field f at the walls that row j of plane k touches,
 * each times the area of its faces over spacing. own: height that belongs to
 * the value. */
static void slopes_at_walls(const struct fluid_store *s,
                            const struct fluid_worker *w, int f, int64_t k,
                            int64_t j, double own, double sum[3][2])
{
    double dx = s->setup.spacing[0], dy = s->setup.spacing[1];
    const scalar *row = fluid_ring_row(s, w->here, f, j);
    size_t n = s->n[0], n_f = n;
    if (f == FLUID_X && s->at_wall[FLUID_X][1])
        n_f = n - 1;
    int wall_v =
        f == FLUID_Y && s->at_wall[FLUID_Y][1] && j + 1 == (int64_t)s->n[1];
    if (s->at_wall[FLUID_X][0] && f != FLUID_X && !wall_v) {
        double area = dy * own / dx;
        sum[0][0] += area * ((double)row[0] - (double)row[-1]);
        sum[0][1] += area * ((double)row[n - 1] - (double)row[n]);
    }
    for (int side = 0; side < 2; side++) {
        int64_t last_j = (int64_t)s->n[1] - 1, last_k = (int64_t)s->n[2] - 1;
        if (s->at_wall[FLUID_Y][side] && f != FLUID_Y &&
            j == (side ? last_j : 0))
            sum[1][side] +=
                dx * own / dy *
                sum_difference(
                    row, fluid_ring_row(s, w->here, f, side ? j + 1 : j - 1),
                    n_f);
        if (s->at_wall[FLUID_Z][side] && f != FLUID_Z && !wall_v &&
            k == (side ? last_k : 0))
            sum[2][side] +=
                dx * dy / fluid_hc(s, side ? k : k - 1) *
                sum_difference(
                    row, fluid_ring_row(s, side ? w->above : w->below, f, j),
                    n_f);
    }
}

/* ---- scalars ---- */

struct scalar_sums {
    real mean, variance, convection[3];
};

static struct scalar_sums scalar_row(const struct fluid_store *s,
                                     const struct fluid_worker *w, int f,
                                     int64_t j)
{
    const scalar *c = fluid_ring_row(s, w->here, f, j);
    const scalar *c_n = fluid_ring_row(s, w->here, f, j + 1);
    const scalar *c_t = fluid_ring_row(s, w->above, f, j);
    const scalar *u = fluid_ring_row(s, w->here, FLUID_X, j);
    const scalar *v = fluid_ring_row(s, w->here, FLUID_Y, j);
    const scalar *x = fluid_ring_row(s, w->here, FLUID_Z, j);
    struct scalar_sums t = {{0}, {0}, {{0}, {0}, {0}}};
    for (size_t i = 0; i < s->n[0]; i += (size_t)LANES) {
        size_t left = s->n[0] - i;
        simd_mask in = simd_mask_of_bits((uint32_t)(left < (size_t)LANES
                                                        ? (1ull << left) - 1
                                                        : (1ull << LANES) - 1));
        real a = *(const real_unaligned *)(c + i);
        real e = *(const real_unaligned *)(c + i + 1);
        t.mean += simd_keep(in, a);
        t.variance += simd_keep(in, a * a);
        t.convection[0] +=
            simd_keep(in, *(const real_unaligned *)(u + i) * (a + e));
        e = *(const real_unaligned *)(c_n + i);
        t.convection[1] +=
            simd_keep(in, *(const real_unaligned *)(v + i) * (a + e));
        e = *(const real_unaligned *)(c_t + i);
        t.convection[2] +=
            simd_keep(in, *(const real_unaligned *)(x + i) * (a + e));
    }
    return t;
}

static double lanes_sum(real v)
{
    double sum = 0;
    for (int l = 0; l < LANES; l++)
        sum += (double)v[l];
    return sum;
}

static double lanes_most(real v)
{
    double most = 0;
    for (int l = 0; l < LANES; l++)
        most = fmax(most, (double)v[l]);
    return most;
}

/* ---- planes ---- */

static void look_scalars(const struct fluid_store *s,
                         const struct fluid_worker *w, int64_t k, int64_t j,
                         struct fluid_look *out)
{
    double area = s->setup.spacing[0] * s->setup.spacing[1];
    double h = area * fluid_h(s, k), hc = area * fluid_hc(s, k);
    for (int n = 0; n < s->setup.n_scalars; n++) {
        int f = FLUID_FIRST_SCALAR + n;
        struct scalar_sums t = scalar_row(s, w, f, j);
        out->scalar_mean[n] += h * lanes_sum(t.mean);
        out->scalar_variance[n] += h * lanes_sum(t.variance);
        for (int d = 0; d < 3; d++)
            out->scalar_convection[n][d] +=
                0.5 * (d == FLUID_Z ? hc : h) * lanes_sum(t.convection[d]);
        double slope[3][2] = {{0}};
        slopes_at_walls(s, w, f, k, j, fluid_h(s, k), slope);
        for (int d = 0; d < 3; d++)
            for (int side = 0; side < 2; side++)
                out->scalar_flux[n][d][side] -=
                    s->setup.scalar[n].diffusivity * slope[d][side];
    }
}

static void look_plane(const struct fluid_store *s,
                       const struct fluid_worker *w, int64_t k,
                       struct fluid_look *out)
{
    double area = s->setup.spacing[0] * s->setup.spacing[1];
    double nu = s->setup.viscosity, hc = fluid_hc(s, k), h = fluid_h(s, k);
    size_t n_u = s->n[0] - (s->at_wall[FLUID_X][1] ? 1 : 0);
    int any_wall = 0;
    for (int d = 0; d < 3; d++)
        any_wall |= s->at_wall[d][0] | s->at_wall[d][1];
    for (int64_t j = 0; j < (int64_t)s->n[1]; j++) {
        struct row_factors q = factors_of(s, k, j);
        struct looked r = looked_at(s, w, j);
        struct row_sums t;
        memset(&t, 0, sizeof t);
        look_row(&r, &q, s->n[0], n_u, &t);
        double strain = lanes_sum(t.strain) + strain_at_x_walls(s, &r, &q);
        out->kinetic += 0.5 * area * lanes_sum(t.kinetic);
        out->dissipation += nu * area * strain;
        out->enstrophy += area * lanes_sum(t.enstrophy);
        for (int d = 0; d < 3; d++)
            out->flow[d] +=
                area * (d == FLUID_Z ? hc : h) * lanes_sum(t.flow[d]);
        out->divergence = fmax(out->divergence, lanes_most(t.divergence));
        out->cfl_rate = fmax(out->cfl_rate, lanes_most(t.rate));
        out->speed = fmax(out->speed, lanes_most(t.speed));
        for (int f = 0; f < 3 && any_wall; f++) {
            double slope[3][2] = {{0}};
            double own = f < FLUID_Z ? h : (double)q.hc;
            slopes_at_walls(s, w, f, k, j, own, slope);
            for (int d = 0; d < 3; d++)
                for (int side = 0; side < 2; side++)
                    out->shear[d][side][f] += nu * slope[d][side];
        }
        look_scalars(s, w, k, j, out);
    }
}

/* ---- the block ---- */

static void add_look(const struct fluid_store *s, const struct fluid_look *from,
                     struct fluid_look *to)
{
    to->kinetic += from->kinetic;
    to->dissipation += from->dissipation;
    to->enstrophy += from->enstrophy;
    to->divergence = fmax(to->divergence, from->divergence);
    to->cfl_rate = fmax(to->cfl_rate, from->cfl_rate);
    to->speed = fmax(to->speed, from->speed);
    for (int d = 0; d < 3; d++) {
        to->flow[d] += from->flow[d];
        for (int side = 0; side < 2; side++)
            for (int f = 0; f < 3; f++)
                to->shear[d][side][f] += from->shear[d][side][f];
    }
    for (int n = 0; n < s->setup.n_scalars; n++) {
        to->scalar_mean[n] += from->scalar_mean[n];
        to->scalar_variance[n] += from->scalar_variance[n];
        for (int d = 0; d < 3; d++) {
            to->scalar_convection[n][d] += from->scalar_convection[n][d];
            for (int side = 0; side < 2; side++)
                to->scalar_flux[n][d][side] += from->scalar_flux[n][d][side];
        }
    }
}

int fluid_look_at(struct ctx *ctx, struct fluid_store *s,
                  struct fluid_look *out)
{
    int workers = s->n_workers;
    (void)ctx;
    memset(out, 0, sizeof *out);
#pragma omp parallel for ordered schedule(static, 1) num_threads(workers)
    for (int m = 0; m < workers; m++) {
        struct fluid_worker *w = &s->workers[m];
        struct fluid_look part;
        memset(&part, 0, sizeof part);
        for (int64_t k = w->first; k < w->last; k++) {
            fluid_walk_to(s, w, k, s->n_fields, k == w->first);
            look_plane(s, w, k, &part);
        }
#pragma omp ordered
        add_look(s, &part, out);
    }
    /* A maximum does not see what is not a number; sums do. */
    if (!isfinite(out->kinetic))
        out->divergence = out->cfl_rate = out->speed = INFINITY;
    return 0;
}
