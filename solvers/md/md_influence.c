/* md_influence.c: tables for the influence function of a mesh of charges
 * (kernels/md/influence.h).
 */
#include "md_ewald.h"

#include <math.h>
#include <stdlib.h>

#include "md.h"

static const double pi = 3.14159265358979323846;

/* M_order at the integers 1 .. order - 1. */
static void spline_at_integers(int order, double *m)
{
    for (int i = 0; i <= order; i++)
        m[i] = 0;
    m[1] = 1; /* M_2 */
    for (int n = 3; n <= order; n++)
        for (int i = n - 1; i >= 1; i--)
            m[i] = (i * m[i] + (n - i) * m[i - 1]) / (n - 1);
}

/* The sum over all aliases of (sin x / x)^(2 order): a spline of twice the
 * order is what the weights of two charges have in common, and by Poisson's
 * formula its values at the integers are the Fourier coefficients of it. */
static double whole_weight(int order, double x)
{
    double m[2 * MD_MESH_ORDER_MAX + 1];
    spline_at_integers(2 * order, m);
    double sum = m[order];
    for (int j = 1; j < order; j++)
        sum += 2 * m[order + j] * cos(2 * j * x);
    return sum;
}

static double power(double x, int n)
{
    double y = 1;
    for (int i = 0; i < n; i++)
        y *= x;
    return y;
}

int md_aliases_count(const struct md *md, int d, int64_t n, double alpha)
{
    /* waves beyond those have a Gaussian below some 1e-7 of the mesh's first,
     * as LAMMPS has it */
    return (int)(alpha * md_ewald_reach(md, d) / (pi * (double)n) *
                 pow(-log(1e-7), 0.25));
}

static int make_alias(struct md_alias *a, int64_t n, double length, int order,
                      double alpha, int aliases)
{
    size_t width = 2 * (size_t)aliases + 1;
    double *numbers = malloc(md_alias_numbers(n, aliases) * sizeof *numbers);
    *a = (struct md_alias){.aliases = aliases};
    if (!numbers)
        return -1;
    md_alias_place(a, n, aliases, numbers);
    for (int64_t k = 0; k < n; k++) {
        int64_t base = k - n * (2 * k / n); /* in [-n/2, n/2) */
        a->whole[k] = whole_weight(order, pi * (double)base / (double)n);
        for (int m = -aliases; m <= aliases; m++) {
            size_t at = (size_t)k * width + (size_t)(m + aliases);
            double turns = (double)(base + n * m), x = pi * turns / (double)n;
            double sinc = base + n * m == 0 ? 1 : sin(x) / x;
            a->wave[at] = md_alias_entry(n, length, alpha, k, m, &a->gauss[at]);
            a->weight[at] = power(sinc, 2 * order);
        }
    }
    return 0;
}

int md_aliases_make(const struct md *md, const int64_t cells[3], int order,
                    double alpha, int aliases, struct md_alias a[3])
{
    int failed = 0;
    for (int d = 0; d < 3; d++) {
        int n =
            aliases >= 0 ? aliases : md_aliases_count(md, d, cells[d], alpha);
        /* of an edge of length 1 wave numbers are phases */
        failed |=
            make_alias(&a[d], cells[d], md->tilted ? 1 : md_ewald_edge(md, d),
                       order, alpha, n);
    }
    return failed;
}

void md_aliases_free(struct md_alias a[3])
{
    for (int d = 0; d < 3; d++) {
        free(a[d].wave);
        a[d] = (struct md_alias){0};
    }
}

/* ---- modes ---- */

double md_alias_wave(const struct md *md, double alpha,
                     const struct md_alias a[3], const size_t at[3],
                     double q[3])
{
    double length[3], gauss = 1;
    for (int d = 0; d < 3; d++) {
        length[d] = md_ewald_edge(md, d);
        q[d] = a[d].wave[at[d]];
        gauss *= a[d].gauss[at[d]];
    }
    return md->tilted ? md_tilted_wave(length, md->tilt, alpha, a, at, q)
                      : gauss;
}

double md_mode_influence(const struct md *md, double alpha,
                         const struct md_alias a[3], const int64_t cells[3],
                         const int64_t k[3])
{
    double length[3];
    for (int d = 0; d < 3; d++)
        length[d] = md_ewald_edge(md, d);
    return md->tilted
               ? md_tilted_influence(length, md->tilt, alpha, a, cells, k)
               : md_influence(a, k);
}
