/* md_influence.c: tables for the influence function of a mesh of charges
 * (kernels/md/influence.h).
 */
#include "md_ewald.h"

#include <math.h>
#include <stdlib.h>

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

int md_alias_count(int64_t n, double length, double alpha)
{
    /* waves beyond those have a Gaussian below some 1e-7 of the mesh's first,
     * as LAMMPS has it */
    return (int)(alpha * length / (pi * (double)n) * pow(-log(1e-7), 0.25));
}

int md_alias_make(struct md_alias *a, int64_t n, double length, int order,
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
            double wave = 2 * pi * turns / length;
            double sinc = base + n * m == 0 ? 1 : sin(x) / x;
            a->wave[at] = wave;
            a->weight[at] = power(sinc, 2 * order);
            a->gauss[at] = exp(-0.25 * wave * wave / (alpha * alpha));
        }
    }
    return 0;
}

void md_alias_free(struct md_alias *a)
{
    free(a->wave);
    *a = (struct md_alias){0};
}
