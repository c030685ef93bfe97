/* risk_market.c: curves, and the correlation of the factors.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/ctx.h"
#include "base/error.h"
#include "kernels/linear.h"
#include "solvers/risk/risk.h"

double risk_curve_integral(const struct risk_curve *c, double t)
{
    double sum = 0, from = 0;
    for (int i = 0; i < c->n; i++) {
        double to = i == c->n - 1 || c->times[i] > t ? t : c->times[i];
        if (to > from)
            sum += c->rates[i] * (to - from);
        from = to > from ? to : from;
    }
    return sum;
}

int risk_curve_make(struct ctx *ctx, const double *rates, size_t n,
                    const double *times, struct risk_curve *c)
{
    c->times = calloc(2 * n, sizeof *c->times);
    if (c->times == NULL)
        return FAIL(ctx, STATUS_MEMORY, "no memory for a curve");
    c->rates = c->times + n;
    c->n = (int)n;
    memcpy(c->rates, rates, n * sizeof *rates);
    if (n > 1)
        memcpy(c->times, times, (n - 1) * sizeof *times);
    c->times[n - 1] = INFINITY;
    return 0;
}

double risk_growth(const struct risk_asset *a, double from, double to)
{
    return risk_curve_integral(&a->rate, to) -
           risk_curve_integral(&a->rate, from) -
           risk_curve_integral(&a->dividend, to) +
           risk_curve_integral(&a->dividend, from);
}

double risk_real_growth(const struct risk_asset *a, double from, double to)
{
    return isfinite(a->drift) ? a->drift * (to - from)
                              : risk_growth(a, from, to);
}

/* ---- correlation ---- */

/* a := V diag(max(values, floor)) V^T. */
static void rebuild(int n, const double *values, const double *vectors,
                    double floor, double *a)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) {
            double sum = 0;
            for (int k = 0; k < n; k++)
                sum += fmax(values[k], floor) * vectors[k * n + i] *
                       vectors[k * n + j];
            a[i * n + j] = sum;
        }
}

static void unit_diagonal(int n, double *a)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++)
            a[i * n + j] = a[j * n + i] =
                a[i * n + j] / sqrt(a[i * n + i] * a[j * n + j]);
    for (int i = 0; i < n; i++)
        a[i * n + i] = 1;
}

/* Rebonato and Jaeckel (1999): negative eigenvalues become 0, and rows are
 * scaled back to a unit diagonal. */
static int repair_spectral(struct ctx *ctx, int n, double *a, double *values,
                           double *vectors)
{
    TRY(linear_eigen(ctx, n, a, values, vectors));
    rebuild(n, values, vectors, 0, a);
    unit_diagonal(n, a);
    return 0;
}

/* Higham (2002): alternating projections on the semi-definite matrices, with
 * Dykstra's correction, and on those of unit diagonal: the nearest correlation
 * matrix in the Frobenius norm. */
static int repair_higham(struct ctx *ctx, int n, double *a, double *values,
                         double *vectors)
{
    const size_t nn = (size_t)n * (size_t)n;
    double *correction = calloc(2 * nn + 1, sizeof *correction);
    if (correction == NULL)
        return FAIL(ctx, STATUS_MEMORY, "out of memory");
    double *r = correction + nn, change = 1;
    int status = 0;
    for (int k = 0; k < 1000 && change > 1e-13; k++) {
        change = 0;
        for (size_t i = 0; i < nn; i++)
            r[i] = a[i] - correction[i];
        status = linear_eigen(ctx, n, r, values, vectors);
        if (status != 0)
            break;
        rebuild(n, values, vectors, 0, correction); /* the projection of r */
        for (size_t i = 0; i < nn; i++) {
            double next = i % ((size_t)n + 1) == 0 ? 1 : correction[i];
            change = fmax(change, fabs(next - a[i]));
            a[i] = next;
            correction[i] -= r[i];
        }
    }
    free(correction);
    return status;
}

/* root root^T = a for a semi-definite a, by Cholesky without pivots: a pivot of
 * round-off is taken for 0, and its column vanishes (rho = 1 is allowed). */
static void semidefinite_root(int n, const double *a, double *root)
{
    memset(root, 0, (size_t)n * (size_t)n * sizeof *root);
    for (int j = 0; j < n; j++) {
        double pivot = a[j * n + j];
        for (int k = 0; k < j; k++)
            pivot -= root[j * n + k] * root[j * n + k];
        if (pivot < 1e-12 * n)
            continue;
        root[j * n + j] = sqrt(pivot);
        for (int i = j + 1; i < n; i++) {
            double sum = a[i * n + j];
            for (int k = 0; k < j; k++)
                sum -= root[i * n + k] * root[j * n + k];
            root[i * n + j] = sum / root[j * n + j];
        }
    }
}

static int is_identity(int n, const double *a)
{
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++)
            if (a[i * n + j] != 0)
                return 0;
    return 1;
}

/* The drivers beside Heston's variance: a spot's Brownian motion is rho times
 * the variance's plus sqrt(1 - rho^2) times the driver's, and the variances are
 * independent of the other factors; so the drivers must be correlated more than
 * the spots. */
static void to_drivers(const struct risk_market *m, double *a)
{
    for (int i = 0; i < m->n; i++)
        for (int j = 0; j < m->n; j++) {
            double scale = 1;
            for (int side = 0; side < 2; side++) {
                const struct risk_factor *f =
                    &m->assets[side == 0 ? i : j].model;
                if (f->model == RISK_HESTON)
                    scale *= sqrt(1 - f->rho * f->rho);
            }
            const double c = m->correlation[i * m->n + j];
            /* A price that is all its variance's (rho = 1 or -1) can go with no
             * other: 2 is refused as a correlation. */
            a[i * m->n + j] = i == j      ? 1
                              : scale > 0 ? c / scale
                              : c == 0    ? 0
                                          : 2;
        }
}

static double distance(int n, const double *a, const double *b)
{
    double sum = 0;
    for (int i = 0; i < n * n; i++)
        sum += (a[i] - b[i]) * (a[i] - b[i]);
    return sqrt(sum);
}

int risk_market_has_heston(const struct risk_market *m)
{
    for (int i = 0; i < m->n; i++)
        if (m->assets[i].model.model == RISK_HESTON)
            return 1;
    return 0;
}

/* Check, or repair, a; work has room for 3 n^2 + n. */
static int make_definite(struct ctx *ctx, struct risk_market *m, double *a,
                         double *work)
{
    const int n = m->n;
    double *values = work, *vectors = values + n, *before = vectors + n * n;
    TRY(linear_eigen(ctx, n, a, values, NULL));
    m->repair_distance = m->indefinite = 0;
    if (values[0] >= -1e-12 * n)
        return 0;
    if (strcmp(m->repair, "none") == 0) {
        m->indefinite = values[0];
        return 0;
    }
    memcpy(before, a, (size_t)(n * n) * sizeof *a);
    if (strcmp(m->repair, "higham") == 0)
        TRY(repair_higham(ctx, n, a, values, vectors));
    else
        TRY(repair_spectral(ctx, n, a, values, vectors));
    m->repair_distance = distance(n, a, before);
    return 0;
}

int risk_market_root(struct ctx *ctx, struct risk_market *m)
{
    const size_t nn = (size_t)m->n * (size_t)m->n;
    double *work = calloc(4 * nn + (size_t)m->n + 1, sizeof *work);
    if (work == NULL)
        return FAIL(ctx, STATUS_MEMORY, "out of memory");
    double *a = work + 3 * nn + (size_t)m->n;
    to_drivers(m, a);
    int status = make_definite(ctx, m, a, work);
    free(m->root);
    m->root = NULL;
    if (status == 0 && m->indefinite == 0 && !is_identity(m->n, a)) {
        m->root = calloc(nn, sizeof *m->root);
        if (m->root == NULL)
            status = FAIL(ctx, STATUS_MEMORY, "out of memory");
        else
            semidefinite_root(m->n, a, m->root);
    }
    if (status == 0 && m->repair_distance > 0 && !risk_market_has_heston(m))
        memcpy(m->correlation, a, nn * sizeof *a);
    free(work);
    return status;
}
