/* segments.h: a smooth function of the squared distance as polynomials, for
 * loops that hold them in registers.
 *
 * The segments are what the leading bits of a floating point number name: each
 * octave of r2 is cut into 2^bits equal parts, and SEGMENT_OCTAVES octaves are
 * kept. The number of a segment is the last three bits of the exponent and the
 * first bits of the mantissa, the same for float and double; what follows in
 * the mantissa is the place within it. So neither root nor division is needed,
 * and a table is a permutation.
 */
#ifndef WARPDECK_KERNELS_MD_SEGMENTS_H
#define WARPDECK_KERNELS_MD_SEGMENTS_H

#include <math.h>
#include <string.h>

enum {
    SEGMENT_OCTAVES = 8,
    SEGMENT_TERMS_MAX = 16, /* a degree is less than that */
};

typedef double (*segment_fn)(const void *user, double r2);

/* What fits of one degree have in common, made once for many. */
struct segment_basis {
    int n;                          /* nodes, and terms */
    double node[SEGMENT_TERMS_MAX]; /* of Chebyshev, within -1 .. 1 */
    /* Chebyshev's polynomials T_k: [q][k] at node q, [k][d] as powers of s */
    double at_node[SEGMENT_TERMS_MAX][SEGMENT_TERMS_MAX];
    double power[SEGMENT_TERMS_MAX][SEGMENT_TERMS_MAX];
};

static inline void segment_basis_make(struct segment_basis *b, int degree)
{
    const double pi = 3.14159265358979323846;
    memset(b, 0, sizeof *b);
    b->n = degree + 1;
    for (int q = 0; q < b->n; q++) {
        double angle = pi * (q + 0.5) / b->n;
        b->node[q] = cos(angle);
        for (int k = 0; k < b->n; k++)
            b->at_node[q][k] = cos(k * angle);
    }
    b->power[0][0] = b->power[1][1] = 1;
    for (int k = 2; k < b->n; k++) /* T_k = 2 s T_(k-1) - T_(k-2) */
        for (int d = 0; d <= k; d++)
            b->power[k][d] =
                (d > 0 ? 2 * b->power[k - 1][d - 1] : 0) - b->power[k - 2][d];
}

/* Where in lo .. hi a fit wants to know its function: node q. */
static inline double segment_node(const struct segment_basis *b, int q,
                                  double lo, double hi)
{
    return 0.5 * (lo + hi) + 0.5 * (hi - lo) * b->node[q];
}

/* The polynomial c[0 .. degree] in s = -1 .. 1 through a function's values at
 * the nodes (Press et al. 2007, section 5.8): within a small factor of the best
 * one. */
static inline void segment_through(const struct segment_basis *b,
                                   const double *value, double *c)
{
    double chebyshev[SEGMENT_TERMS_MAX] = {0};
    for (int q = 0; q < b->n; q++)
        for (int k = 0; k < b->n; k++)
            chebyshev[k] += value[q] * b->at_node[q][k];
    for (int k = 0; k < b->n; k++)
        chebyshev[k] *= (k > 0 ? 2.0 : 1.0) / b->n;
    for (int d = 0; d < b->n; d++)
        c[d] = 0;
    for (int k = 0; k < b->n; k++)
        for (int d = 0; d <= k; d++)
            c[d] += chebyshev[k] * b->power[k][d];
}

/* The same of a function of lo .. hi. */
static inline void segment_fit(const struct segment_basis *b, segment_fn fn,
                               const void *user, double lo, double hi,
                               double *c)
{
    double value[SEGMENT_TERMS_MAX] = {0};
    for (int q = 0; q < b->n; q++)
        value[q] = fn(user, segment_node(b, q, lo, hi));
    segment_through(b, value, c);
}

/* The octave whose lower end is the first that segments cover, where the last
 * one holds r2 = `end`: 2^(that) is the least r2. */
static inline int segment_first_octave(double end)
{
    return ilogb(end) - SEGMENT_OCTAVES + 1;
}

/* Coefficient d of segment k at out[d * (SEGMENT_OCTAVES << bits) + k], for
 * powers of the mantissa (1 .. 2) less the middle of its part. */
static inline void segment_table(segment_fn fn, const void *user, double end,
                                 int bits, int degree, double *out)
{
    int parts = 1 << bits, all = SEGMENT_OCTAVES * parts;
    int first = segment_first_octave(end);
    struct segment_basis basis;
    segment_basis_make(&basis, degree);
    for (int e = first; e < first + SEGMENT_OCTAVES; e++)
        for (int q = 0; q < parts; q++) {
            double c[SEGMENT_TERMS_MAX], power = 1;
            double width = 1.0 / parts, lo = 1 + q * width;
            /* both biases, 127 and 1023, are 7 modulo 8 */
            int k = ((e + 7) & (SEGMENT_OCTAVES - 1)) * parts + q;
            segment_fit(&basis, fn, user, ldexp(lo, e), ldexp(lo + width, e),
                        c);
            for (int d = 0; d <= degree; d++) {
                out[d * all + k] = c[d] * power;
                power *= 2 / width;
            }
        }
}

#endif
