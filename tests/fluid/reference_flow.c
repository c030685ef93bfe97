/* reference_flow.c: incompressible flow with plain loops. */
#include "tests/fluid/reference_flow.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

int reference_create(struct reference *r, const struct fluid_setup *setup)
{
    memset(r, 0, sizeof *r);
    r->setup = setup;
    r->cells = 1;
    for (int d = 0; d < 3; d++) {
        r->n[d] = setup->cells[d];
        r->cells *= (size_t)setup->cells[d];
    }
    double **all[] = {&r->u[0],      &r->u[1],      &r->u[2],    &r->before[0],
                      &r->before[1], &r->before[2], &r->psi,     &r->work[0],
                      &r->work[1],   &r->work[2],   &r->work[3], &r->work[4],
                      &r->work[5]};
    for (size_t m = 0; m < sizeof all / sizeof all[0]; m++)
        if (!(*all[m] = calloc(r->cells, sizeof **all[m])))
            return -1;
    return 0;
}

void reference_destroy(struct reference *r)
{
    for (int d = 0; d < 3; d++) {
        free(r->u[d]);
        free(r->before[d]);
    }
    for (int m = 0; m < 6; m++)
        free(r->work[m]);
    free(r->psi);
    memset(r, 0, sizeof *r);
}

static int periodic(const struct reference *r, int d)
{
    return r->setup->face[d][0].type == FLUID_PERIODIC;
}

double reference_h(const struct reference *r, int64_t k)
{
    int64_t n = r->n[2];
    if (periodic(r, 2))
        k = ((k % n) + n) % n;
    else
        k = k < 0 ? 0 : k >= n ? n - 1 : k;
    return r->setup->face_z[k + 1] - r->setup->face_z[k];
}

double reference_hc(const struct reference *r, int64_t k)
{
    return 0.5 * (reference_h(r, k) + reference_h(r, k + 1));
}

size_t reference_index(const struct reference *r, int64_t i, int64_t j,
                       int64_t k)
{
    return (size_t)((k * r->n[1] + j) * r->n[0] + i);
}

double reference_at(const struct reference *r, int c, int64_t i, int64_t j,
                    int64_t k)
{
    int64_t at[3] = {i, j, k};
    double sign = 1, add = 0;
    for (int d = 0; d < 3; d++) {
        int64_t n = r->n[d];
        if (at[d] >= 0 && at[d] < n)
            continue;
        if (periodic(r, d)) {
            at[d] = ((at[d] % n) + n) % n;
            continue;
        }
        if (c == d)
            return add;
        const struct fluid_face *face = &r->setup->face[d][at[d] >= n];
        at[d] = at[d] < 0 ? -1 - at[d] : 2 * n - 1 - at[d];
        if (face->type == FLUID_NO_SLIP) {
            add += sign * 2 * face->velocity[c];
            sign = -sign;
        }
    }
    return add + sign * r->u[c][reference_index(r, at[0], at[1], at[2])];
}

static double spacing(const struct reference *r, int d, int64_t k)
{
    return d < 2 ? r->setup->spacing[d] : reference_h(r, k);
}

/* c's own cell is the mean of two in its direction: heights along z. */
static double advection(const struct reference *r, int c, const int64_t x[3],
                        int d)
{
    double flux[2];
    for (int side = 0; side < 2; side++) {
        /* The face at the upper or lower end along d of the cell of c. */
        int64_t lo[3] = {x[0], x[1], x[2]}, hi[3], next[3];
        lo[d] -= 1 - side;
        memcpy(hi, lo, sizeof hi);
        hi[d]++;
        double mean = 0.5 * (reference_at(r, c, lo[0], lo[1], lo[2]) +
                             reference_at(r, c, hi[0], hi[1], hi[2]));
        double carrier = mean;
        if (d != c) {
            memcpy(next, lo, sizeof next);
            next[c]++;
            double a = 1, b = 1;
            if (c == 2) {
                a = reference_h(r, x[2]) / reference_hc(r, x[2]);
                b = reference_h(r, x[2] + 1) / reference_hc(r, x[2]);
            }
            carrier = 0.5 * (a * reference_at(r, d, lo[0], lo[1], lo[2]) +
                             b * reference_at(r, d, next[0], next[1], next[2]));
        }
        flux[side] = carrier * mean;
    }
    double width =
        c == 2 && d == 2 ? reference_hc(r, x[2]) : spacing(r, d, x[2]);
    return -(flux[1] - flux[0]) / width;
}

static double diffusion(const struct reference *r, int c, const int64_t x[3],
                        int d)
{
    int64_t up[3] = {x[0], x[1], x[2]}, down[3] = {x[0], x[1], x[2]};
    up[d]++;
    down[d]--;
    double here = reference_at(r, c, x[0], x[1], x[2]);
    double above = reference_at(r, c, up[0], up[1], up[2]) - here;
    double below = here - reference_at(r, c, down[0], down[1], down[2]);
    if (d < 2) {
        double h = r->setup->spacing[d];
        return r->setup->viscosity * (above - below) / (h * h);
    }
    int64_t k = x[2];
    if (c == 2)
        return r->setup->viscosity *
               (above / reference_h(r, k + 1) - below / reference_h(r, k)) /
               reference_hc(r, k);
    return r->setup->viscosity *
           (above / reference_hc(r, k) - below / reference_hc(r, k - 1)) /
           reference_h(r, k);
}

/* Component b at the place of component c: the mean over four. */
static double mean_at(const struct reference *r, int b, int c,
                      const int64_t x[3])
{
    double sum = 0;
    for (int m = 0; m < 2; m++)
        for (int l = 0; l < 2; l++) {
            int64_t y[3] = {x[0], x[1], x[2]};
            y[c] += m;
            y[b] -= l;
            double weight =
                c != 2 ? 1 : reference_h(r, x[2] + m) / reference_hc(r, x[2]);
            sum += weight * reference_at(r, b, y[0], y[1], y[2]);
        }
    return 0.25 * sum;
}

static double acceleration(const struct reference *r, int c, const int64_t x[3],
                           const double force[3])
{
    double a = force[c];
    for (int d = 0; d < 3; d++)
        a += advection(r, c, x, d) + diffusion(r, c, x, d);
    const double *omega = r->setup->rotation;
    int p = (c + 1) % 3, q = (c + 2) % 3;
    return a - 2 * (omega[p] * mean_at(r, q, c, x) -
                    omega[q] * mean_at(r, p, c, x));
}

void reference_predict(struct reference *r, const struct fluid_substage *sub)
{
    for (int c = 0; c < 3; c++)
        for (int64_t k = 0; k < r->n[2]; k++)
            for (int64_t j = 0; j < r->n[1]; j++)
                for (int64_t i = 0; i < r->n[0]; i++) {
                    int64_t x[3] = {i, j, k};
                    size_t m = reference_index(r, i, j, k);
                    double a = acceleration(r, c, x, sub->force);
                    double old = sub->first ? 0 : r->before[c][m];
                    int wall = !periodic(r, c) && x[c] == r->n[c] - 1;
                    r->work[c][m] =
                        wall ? 0
                             : r->u[c][m] +
                                   sub->dt * (sub->gamma * a + sub->zeta * old);
                    r->work[3 + c][m] = a;
                }
    for (int c = 0; c < 3; c++) {
        memcpy(r->u[c], r->work[c], r->cells * sizeof(double));
        memcpy(r->before[c], r->work[3 + c], r->cells * sizeof(double));
    }
}

double reference_divergence(const struct reference *r, double *out)
{
    double most = 0;
    for (int64_t k = 0; k < r->n[2]; k++)
        for (int64_t j = 0; j < r->n[1]; j++)
            for (int64_t i = 0; i < r->n[0]; i++) {
                int64_t x[3] = {i, j, k};
                double sum = 0;
                for (int d = 0; d < 3; d++) {
                    int64_t y[3] = {i, j, k};
                    y[d]--;
                    sum += (reference_at(r, d, x[0], x[1], x[2]) -
                            reference_at(r, d, y[0], y[1], y[2])) /
                           spacing(r, d, k);
                }
                if (out)
                    out[reference_index(r, i, j, k)] = sum;
                most = fmax(most, fabs(sum));
            }
    return most;
}

/* out = psi at the next cell along d minus psi here, over their distance; 0 at
 * a wall. */
static double slope(const struct reference *r, const double *psi,
                    const int64_t x[3], int d)
{
    int64_t y[3] = {x[0], x[1], x[2]};
    y[d]++;
    if (y[d] == r->n[d]) {
        if (!periodic(r, d))
            return 0;
        y[d] = 0;
    }
    double distance = d < 2 ? r->setup->spacing[d] : reference_hc(r, x[2]);
    return (psi[reference_index(r, y[0], y[1], y[2])] -
            psi[reference_index(r, x[0], x[1], x[2])]) /
           distance;
}

/* out = -h(k) times the Laplacian: symmetric, not negative. */
static void apply(const struct reference *r, const double *psi, double *out)
{
    for (int64_t k = 0; k < r->n[2]; k++)
        for (int64_t j = 0; j < r->n[1]; j++)
            for (int64_t i = 0; i < r->n[0]; i++) {
                int64_t x[3] = {i, j, k};
                double sum = 0;
                for (int d = 0; d < 3; d++) {
                    int64_t y[3] = {i, j, k};
                    double lower = 0;
                    y[d]--;
                    if (y[d] < 0 && periodic(r, d))
                        y[d] = r->n[d] - 1;
                    if (y[d] >= 0)
                        lower = slope(r, psi, y, d);
                    sum += (slope(r, psi, x, d) - lower) / spacing(r, d, k);
                }
                out[reference_index(r, i, j, k)] = -sum * reference_h(r, k);
            }
}

static double dot(const struct reference *r, const double *a, const double *b)
{
    double sum = 0;
    for (size_t m = 0; m < r->cells; m++)
        sum += a[m] * b[m];
    return sum;
}

static void remove_mean(const struct reference *r, double *a)
{
    double sum = 0;
    for (size_t m = 0; m < r->cells; m++)
        sum += a[m];
    for (size_t m = 0; m < r->cells; m++)
        a[m] -= sum / (double)r->cells;
}

/* Conjugate gradients, to round-off. */
static void solve(struct reference *r)
{
    double *res = r->work[0], *p = r->work[1], *ap = r->work[2];
    reference_divergence(r, res);
    for (int64_t k = 0, m = 0; k < r->n[2]; k++)
        for (int64_t l = 0; l < r->n[0] * r->n[1]; l++, m++)
            res[m] *= -reference_h(r, k);
    memset(r->psi, 0, r->cells * sizeof *r->psi);
    remove_mean(r, res);
    memcpy(p, res, r->cells * sizeof *p);
    double rr = dot(r, res, res), end = fmax(rr, 1) * 1e-30;
    for (size_t it = 0; it < 10 * r->cells + 100 && rr > end; it++) {
        apply(r, p, ap);
        double a = rr / dot(r, p, ap);
        for (size_t m = 0; m < r->cells; m++) {
            r->psi[m] += a * p[m];
            res[m] -= a * ap[m];
        }
        remove_mean(r, res);
        double next = dot(r, res, res);
        for (size_t m = 0; m < r->cells; m++)
            p[m] = res[m] + next / rr * p[m];
        rr = next;
    }
}

void reference_project(struct reference *r)
{
    solve(r);
    for (int64_t k = 0; k < r->n[2]; k++)
        for (int64_t j = 0; j < r->n[1]; j++)
            for (int64_t i = 0; i < r->n[0]; i++)
                for (int d = 0; d < 3; d++) {
                    int64_t x[3] = {i, j, k};
                    r->u[d][reference_index(r, i, j, k)] -=
                        slope(r, r->psi, x, d);
                }
}

double reference_energy(const struct reference *r)
{
    double sum = 0;
    for (int64_t k = 0, m = 0; k < r->n[2]; k++)
        for (int64_t l = 0; l < r->n[0] * r->n[1]; l++, m++)
            sum += 0.5 * (reference_h(r, k) * (r->u[0][m] * r->u[0][m] +
                                               r->u[1][m] * r->u[1][m]) +
                          reference_hc(r, k) * r->u[2][m] * r->u[2][m]);
    return sum * r->setup->spacing[0] * r->setup->spacing[1];
}
