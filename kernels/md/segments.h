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

enum {
    SEGMENT_OCTAVES = 8,
    SEGMENT_DEGREE_MAX = 15,
};

typedef double (*segment_fn)(const void *user, double r2);

/* The polynomial c[0 .. degree] in s = -1 .. 1 through a function at the
 * Chebyshev nodes of [lo, hi] (Press et al. 2007, section 5.8): within a small
 * factor of the best one. */
static inline void segment_fit(segment_fn fn, const void *user, double lo,
                               double hi, int degree, double *c)
{
    const double pi = 3.14159265358979323846;
    double chebyshev[SEGMENT_DEGREE_MAX + 1];
    double older[SEGMENT_DEGREE_MAX + 1] = {1}; /* T_k as powers of s */
    double newer[SEGMENT_DEGREE_MAX + 1] = {0, 1};
    int n = degree + 1;
    for (int k = 0; k < n; k++) {
        chebyshev[k] = c[k] = 0;
        for (int q = 0; q < n; q++) {
            double angle = pi * (q + 0.5) / n;
            double u = 0.5 * (lo + hi) + 0.5 * (hi - lo) * cos(angle);
            chebyshev[k] += fn(user, u) * cos(k * angle) * 2 / n;
        }
    }
    chebyshev[0] *= 0.5;
    for (int k = 0; k < n; k++) {
        for (int d = 0; d <= k; d++)
            c[d] += chebyshev[k] * older[d];
        for (int d = n - 1; d >= 0; d--) { /* T_(k+2) = 2 s T_(k+1) - T_k */
            double next = (d > 0 ? 2 * newer[d - 1] : 0) - older[d];
            older[d] = next;
        }
        for (int d = 0; d < n; d++) {
            double swap = older[d];
            older[d] = newer[d];
            newer[d] = swap;
        }
    }
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
    for (int e = first; e < first + SEGMENT_OCTAVES; e++)
        for (int q = 0; q < parts; q++) {
            double c[SEGMENT_DEGREE_MAX + 1], power = 1;
            double width = 1.0 / parts, lo = 1 + q * width;
            /* both biases, 127 and 1023, are 7 modulo 8 */
            int k = ((e + 7) & (SEGMENT_OCTAVES - 1)) * parts + q;
            segment_fit(fn, user, ldexp(lo, e), ldexp(lo + width, e), degree,
                        c);
            for (int d = 0; d <= degree; d++) {
                out[d * all + k] = c[d] * power;
                power *= 2 / width;
            }
        }
}

#endif
