/* mix_cpu.c: Lennard-Jones coefficients that need no table.
 *
 * Where sigma of a pair is the mean of two radii and epsilon the geometric mean
 * of two depths (Lorentz and Berthelot), half a dozen multiplications make the
 * coefficients of a tile. That is less than loading those of each lane, which
 * many species need.
 */
#include "kernels/md/store_cpu.h"

#include <math.h>
#include <stdlib.h>

/* How far a coefficient may be from the rule: rounding. */
static const double tolerance = 1e-13;

static int is_close(double a, double b)
{
    return fabs(a - b) <= tolerance * fabs(b);
}

/* Half of sigma, and the root of 24 epsilon, of a species. */
static void shares_of(const struct lj_coeff *c, double out[2])
{
    out[0] = out[1] = 0;
    if (!(c->c12 > 0) || !(c->c6 > 0))
        return;
    out[0] = 0.5 * pow(c->c12 / c->c6, 1.0 / 6);
    out[1] = sqrt(6 * c->c6 * c->c6 / c->c12);
}

static int follows(const struct lj_coeff *c, const double a[2],
                   const double b[2], double cutoff2)
{
    double sigma = a[0] + b[0], s6 = pow(sigma, 6), f6 = a[1] * b[1] * s6;
    int none = !(fabs(c->c12) > 0) && !(fabs(c->c6) > 0);
    if (none)
        return !(f6 > 0);
    return is_close(6 * c->c6, f6) && is_close(12 * c->c12, 2 * f6 * s6) &&
           is_close(c->cutoff2, cutoff2);
}

void md_find_mixing(struct md_store *s)
{
    int n = s->setup.n_species;
    double share[MD_SPECIES_MAX][2], cutoff2 = 0;
    if (s->few_species || s->setup.force_shift || s->setup.tables ||
        s->setup.eam)
        return;
    for (int a = 0; a < n; a++)
        shares_of(&s->coeff[a * n + a], share[a]);
    for (int k = 0; k < n * n; k++)
        cutoff2 = fmax(cutoff2, s->coeff[k].cutoff2);
    for (int a = 0; a < n; a++)
        for (int b = 0; b < n; b++) {
            if (!follows(&s->coeff[a * n + b], share[a], share[b], cutoff2))
                return;
            int k = a * s->table_stride + b;
            if (s->coeff[a * n + b].cutoff2 >= cutoff2)
                s->mix_slope = s->table_slope[k];
        }
    for (int a = 0; a < n; a++)
        for (int k = 0; k < 2; k++)
            s->species_mix[k][a] = (scalar)share[a][k];
    s->mix_cut2 = (scalar)cutoff2;
    s->mixed = 1;
}

int md_fill_mixing(struct md_store *s)
{
    size_t slots = (size_t)(s->n_clusters + s->n_clusters_halo) * (size_t)LANES;
    for (int k = 0; k < 2; k++) {
        size_t capacity = s->cap_mix;
        if (md_grow((void **)&s->mix[k], &capacity, slots, sizeof(scalar)) != 0)
            return -1;
        if (k == 1)
            s->cap_mix = capacity;
        for (size_t i = 0; i < slots; i++)
            s->mix[k][i] = s->species_mix[k][s->species[i]];
    }
    return 0;
}
