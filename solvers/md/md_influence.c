/* md_influence.c: the optimal influence function of a mesh of charges.
 *
 * A mesh knows a wave only up to its aliases, k + 2 pi m / h. The function that
 * multiplies the modes is the one that makes the mean square error of forces
 * least, when they are the gradient by i k: Hockney and Eastwood (1988), eq.
 * 8-22,
 *
 *     G(k) = k . sum_m R(k_m) U(k_m)^2 / (k^2 (sum_m U(k_m)^2)^2),
 *     R(k) = 4 pi k / k^2 exp(-k^2 / (4 alpha^2)),
 *
 * with U the Fourier transform of the weights of a charge, a product over
 * directions of (sin(k h / 2) / (k h / 2))^order.
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
    size_t width = 2 * (size_t)aliases + 1, all = (size_t)n * width;
    *a = (struct md_alias){.aliases = aliases};
    a->wave = malloc((3 * all + (size_t)n) * sizeof *a->wave);
    if (!a->wave)
        return -1;
    a->weight = a->wave + all;
    a->gauss = a->weight + all;
    a->whole = a->gauss + all;
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

double md_influence(const struct md_alias a[3], const int64_t k[3])
{
    int width[3];
    size_t first[3];
    double k2 = 0, base[3], sum = 0, whole = 1;
    for (int d = 0; d < 3; d++) {
        width[d] = 2 * a[d].aliases + 1;
        first[d] = (size_t)k[d] * (size_t)width[d];
        base[d] = a[d].wave[first[d] + (size_t)a[d].aliases];
        k2 += base[d] * base[d];
        whole *= a[d].whole[k[d]];
    }
    if (!(k2 > 0))
        return 0;
    for (int z = 0; z < width[2]; z++)
        for (int y = 0; y < width[1]; y++)
            for (int x = 0; x < width[0]; x++) {
                size_t at[3] = {first[0] + (size_t)x, first[1] + (size_t)y,
                                first[2] + (size_t)z};
                double dot = 0, q2 = 0, part = 1;
                for (int d = 0; d < 3; d++) {
                    double q = a[d].wave[at[d]];
                    dot += base[d] * q;
                    q2 += q * q;
                    part *= a[d].weight[at[d]] * a[d].gauss[at[d]];
                }
                sum += dot / q2 * part;
            }
    return 4 * pi / k2 * sum / (whole * whole);
}
