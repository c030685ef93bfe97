/* poisson_tables.c: eigenvalues; and systems along z that are cut into pieces,
 * one for each rank, put together from what each piece does at its ends. */
#include "kernels/fluid/poisson_state.h"
#include <math.h>
#include <string.h>

/* ---- eigenvalues ---- */

/* Of the second difference for a mode, -(2 sin(angle / 2) / h)^2. */
static double eigenvalue(double angle, double h)
{
    double s = 2 * sin(angle / 2) / h;
    return -s * s;
}

/* Frequency of the first transform in a lane: its angle, or -1 in a lane that
 * only fills up. */
static double first_angle(const struct poisson *p, size_t group, int set,
                          size_t lane)
{
    const double pi = 3.14159265358979323846;
    const double n = (double)p->n[0];
    size_t k = p->paired ? group * LANES + lane
                         : (2 * group + (size_t)set) * LANES + lane;
    if (p->paired)
        return 2 * k <= p->n[0] ? 2 * pi * (double)k / n : -1;
    return k < p->n[0] ? pi * (double)k / n : -1;
}

/* The column of (group, second mode); h: spacing along first and second. */
static real column_eigenvalues(const struct poisson *p, size_t group,
                               struct fft_mode mode, const double h[2])
{
    real v = {0};
    for (size_t l = 0; l < LANES; l++) {
        double angle = first_angle(p, group, mode.line, l);
        double e = eigenvalue(angle, h[0]) + eigenvalue(mode.angle, h[1]);
        /* The mean mode is solved apart. There and where nothing is, any
         * regular system will do. */
        if (angle < 0 || e == 0)
            e = -4 / (h[0] * h[0]) - 4 / (h[1] * h[1]);
        v[l] = (scalar)e;
    }
    return v;
}

static struct wave wave_of(const struct poisson *p, real lambda)
{
    struct wave w = {lambda, lambda, lambda, lambda};
    size_t m = poisson_rank_planes(p, 0);
    for (int r = 1; r < p->z_ranks; r++)
        if (poisson_rank_planes(p, r) < m)
            m = poisson_rank_planes(p, r);
    for (int l = 0; l < LANES; l++) {
        double h = p->height[0];
        double log_r = -2 * asinh(sqrt(-(double)lambda[l]) * h / 2);
        w.r[l] = (scalar)exp(log_r);
        w.power[l] = (scalar)exp((double)m * log_r);
        w.sum[l] = (scalar)(exp(log_r) * expm1(2 * (double)m * log_r) /
                            expm1(2 * log_r));
        w.closed[l] = (scalar)(-1 / expm1((double)p->cells_z * log_r));
    }
    return w;
}

/* a(k), c(k) of the whole grid. */
static double row_low(const struct poisson *p, int64_t k)
{
    if (k == 0 && !p->periodic_z)
        return 0;
    int64_t below = k == 0 ? p->cells_z - 1 : k - 1;
    return 1 / (p->height[k] * p->center[below]);
}

static double row_high(const struct poisson *p, int64_t k)
{
    if (k == p->cells_z - 1 && !p->periodic_z)
        return 0;
    return 1 / (p->height[k] * p->center[k]);
}

/* See poisson_columns.c: elimination, without a right-hand side. */
static void fill_piece(const struct poisson *p, int rank, real lambda,
                       struct piece *out)
{
    real rho = {0}, s = simd_set(1), low = simd_set(1), ratios = simd_set(1);
    real first = {0};
    for (int64_t k = p->cuts_z[rank]; k < p->cuts_z[rank + 1]; k++) {
        const scalar a = (scalar)row_low(p, k), c = (scalar)row_high(p, k);
        real t = a * s - lambda;
        real w = (scalar)1 / (c + t);
        s = t * w;
        rho = c * w;
        low = a * low * w;
        first += ratios * low;
        ratios *= rho;
    }
    *out = (struct piece){first, ratios, low, rho};
}

void poisson_fill_tables(struct poisson *p, const struct fluid_setup *setup)
{
    const struct segment *own = &p->stage[p->y_rank];
    const double h[2] = {setup->spacing[p->first_axis],
                         setup->spacing[1 - p->first_axis]};
    const size_t in_pieces =
        p->paired ? p->table_vectors / 2 : p->table_vectors;
    for (int r = 0; r < p->y_ranks; r++) {
        const struct segment *s = &p->column[r];
        for (size_t i = 0; i < s->count; i++)
            for (int slot = 0; slot < 2; slot++) {
                struct fft_mode mode =
                    fft_mode_at(p->fft[1], s->first + i, slot);
                for (size_t g = 0; g < own->count; g++) {
                    size_t v = s->table + 2 * (g * s->count + i) + (size_t)slot;
                    real e = column_eigenvalues(p, own->first + g, mode, h);
                    p->lambda[v] = e * (scalar)p->scale;
                    if (p->paired && slot == 1)
                        continue;
                    size_t at = poisson_table_index(p, v);
                    if (p->wave)
                        p->wave[at] = wave_of(p, e);
                    for (int z = 0; p->pieces && z < p->z_ranks; z++)
                        fill_piece(p, z, e,
                                   &p->pieces[(size_t)z * in_pieces + at]);
                }
            }
    }
    for (size_t k = 0; k < p->planes; k++) {
        p->low[k] = (scalar)(row_low(p, p->first_z + (int64_t)k) * p->scale);
        p->high[k] = (scalar)(row_high(p, p->first_z + (int64_t)k) * p->scale);
    }
}

/* ---- the mean mode ---- */

void poisson_mean_solve(const struct poisson *p, double *column)
{
    const int64_t n = p->cells_z;
    double volume = 0, sum = 0;
    for (int64_t k = 0; k < n; k++) {
        volume += p->height[k];
        sum += p->height[k] * column[k];
    }
    const double mean = sum / volume;
    /* The flux through the upper face of cell k is the sum of what the cells
     * below give off, plus, in a ring, one that makes x single-valued. */
    double flux = 0, rise = 0, around = 0;
    for (int64_t k = 0; k < n; k++) {
        flux += p->height[k] * (column[k] - mean) / p->scale;
        rise += flux * p->center[k];
        around += p->center[k];
    }
    double x = 0, total = 0;
    flux = p->periodic_z ? -rise / around : 0;
    for (int64_t k = 0; k < n; k++) {
        flux += p->height[k] * (column[k] - mean) / p->scale;
        column[k] = x;
        total += p->height[k] * x;
        x += flux * p->center[k];
    }
    for (int64_t k = 0; k < n; k++)
        column[k] -= total / volume;
}

/* ---- pieces ---- */

KERNEL_FN real received(const struct poisson *p, int rank, size_t v, int which)
{
    return ((const real *)p->recv[rank])[2 * v + (size_t)which];
}

/* The chain of pieces with x(-1) = below of the first and x(m) = above of the
 * last; data: whether with what the ranks sent, or 0. First upward: the last
 * value of rank r is P(r) + Q(r) x(first of r + 1), and its first one is A(r) +
 * B(r) x(first of r + 1); then down. ends: the chain's first and last value;
 * low, high: what lies below and above this rank. */
static void chain(const struct poisson *p, size_t v, int data, real below,
                  real above, real *ends, real *low, real *high, real *scratch)
{
    const size_t in_pieces =
        p->paired ? p->table_vectors / 2 : p->table_vectors;
    const struct piece *piece = p->pieces + poisson_table_index(p, v);
    const int n = p->z_ranks;
    real P = below, Q = {0};
    for (int r = 0; r < n; r++, piece += in_pieces) {
        real first = data ? received(p, r, v, 0) : simd_set(0);
        real last = data ? received(p, r, v, 1) : simd_set(0);
        real w = (scalar)1 / ((scalar)1 - piece->first_from_low * Q);
        real A = (first + piece->first_from_low * P) * w;
        real B = piece->first_from_high * w;
        real *q = scratch + 4 * r;
        q[0] = A;
        q[1] = B;
        q[2] = P;
        q[3] = Q;
        P = last + piece->last_from_low * (P + Q * A);
        Q = piece->last_from_low * Q * B + piece->last_from_high;
    }
    real x = above;
    ends[1] = P + Q * above;
    for (int r = n - 1; r >= 0; r--) {
        const real *q = scratch + 4 * r;
        if (r == p->z_rank)
            *high = x;
        x = q[0] + q[1] * x;
        if (r == p->z_rank)
            *low = q[2] + q[3] * x;
    }
    ends[0] = x;
}

void poisson_piece_limits(const struct poisson *p, size_t v, real *low,
                          real *high, real *scratch)
{
    const real zero = {0}, one = simd_set(1);
    real ends[2], by_low[2], by_high[2];
    chain(p, v, 1, zero, zero, ends, low, high, scratch);
    if (!p->periodic_z)
        return;
    /* In a ring `below` is the chain's own last value and `above` its first:
     * two equations. */
    chain(p, v, 0, one, zero, by_low, low, high, scratch);
    chain(p, v, 0, zero, one, by_high, low, high, scratch);
    real a = (scalar)1 - by_low[1], b = -by_high[1];
    real c = -by_low[0], d = (scalar)1 - by_high[0];
    real w = (scalar)1 / (a * d - b * c);
    real below = (d * ends[1] - b * ends[0]) * w;
    real above = (a * ends[0] - c * ends[1]) * w;
    chain(p, v, 1, below, above, ends, low, high, scratch);
}

/* ---- waves ---- */

/* r^m and the sum of rank `rank`, which may have more planes than the fewest.*/
KERNEL_FN void wave_of_rank(const struct poisson *p, const struct wave *w,
                            size_t fewest, int rank, real *power, real *sum)
{
    *power = w->power;
    *sum = w->sum;
    for (size_t m = fewest; m < poisson_rank_planes(p, rank); m++) {
        *sum += *power * *power * w->r;
        *power *= w->r;
    }
}

void poisson_wave_limits(const struct poisson *p, size_t v, real *low,
                         real *high, real *scratch)
{
    const struct wave *w = &p->wave[poisson_table_index(p, v)];
    const int n = p->z_ranks;
    size_t fewest = SIZE_MAX;
    for (int r = 0; r < n; r++)
        if (poisson_rank_planes(p, r) < fewest)
            fewest = poisson_rank_planes(p, r);
    real *power = scratch, *sum = scratch + n, *y = scratch + 2 * n;
    for (int r = 0; r < n; r++)
        wave_of_rank(p, w, fewest, r, &power[r], &sum[r]);
    /* Once around from zero, then with what arrives again and again. */
    for (int turn = 0; turn < 2; turn++) {
        real in = turn == 0 ? simd_set(0) : y[n] * w->closed;
        for (int r = 0; r < n; r++) {
            y[r] = in;
            in = power[r] * in + received(p, r, v, 0);
        }
        y[n] = in;
    }
    *low = y[p->z_rank];
    real in = {0};
    for (int turn = 0; turn < 2; turn++) {
        if (turn == 1)
            in *= w->closed;
        for (int r = n - 1; r >= 0; r--) {
            if (r == p->z_rank)
                *high = in;
            in = power[r] * in + received(p, r, v, 1) + sum[r] * y[r];
        }
    }
}
