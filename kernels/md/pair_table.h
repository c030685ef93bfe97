/* pair_table.h: any smooth pair potential as polynomials in r^2.
 *
 * Each octave of r^2 is cut into 2^bits equal parts, named by the leading bits
 * of the floating point number r^2 (segments.h), so that neither root nor
 * division is needed; each has a row of coefficients for the force over r, and
 * one for the energy. Pairs nearer than the first octave are rare and get the
 * exact functions (pair_forms.h). Rows of double precision are of degree 7, a
 * cache line long; those of single precision cubics.
 */
#ifndef WARPDECK_KERNELS_MD_PAIR_TABLE_H
#define WARPDECK_KERNELS_MD_PAIR_TABLE_H

#include <float.h>
#include <math.h>
#include <stddef.h>

#include "kernels/md/pair_forms.h"
#include "kernels/md/segments.h"

enum {
    PAIR_DEGREE_DOUBLE = 7,
    PAIR_DEGREE_FLOAT = 3,
    PAIR_BITS_LEAST = 4,
    PAIR_BITS_MOST = 10,
    /* rows of all tables together, whose numbers a float holds exactly */
    PAIR_ROWS_MOST = 1 << 24
};

/* Arrays are borrowed, and live longer than what is created from them. */
struct md_pair_tables {
    int n_species;
    const struct md_pair_form *form; /* [n_species][n_species] */
    const int *table;                /* of each of these its table */
    int n_tables, n_rows;            /* rows of one table */
    int bits, degree, first_octave;
    double end; /* greatest r^2 */
    /* [n_tables][n_rows][degree + 1]: coefficients of powers of the mantissa (1
     * .. 2) less the middle of its part */
    const double *force, *energy;
};

/* Rows up to the one that holds r^2 = `end`. */
static inline __attribute__((unused)) int pair_table_rows(double end, int bits)
{
    int e = ilogb(end);
    return (SEGMENT_OCTAVES - 1) * (1 << bits) +
           (int)((ldexp(end, -e) - 1) * (1 << bits)) + 1;
}

/* Where row k lies. */
static inline __attribute__((unused)) void
pair_table_part(const struct md_pair_tables *t, int k, double *lo, double *hi)
{
    int parts = 1 << t->bits, e = t->first_octave + k / parts;
    *lo = ldexp(1 + (double)(k % parts) / parts, e);
    *hi = ldexp(1 + (double)(k % parts + 1) / parts, e);
}

/* A row at r2 as the loops evaluate it: Horner's rule, in floats with t->degree
 * of single precision. */
static inline __attribute__((unused)) double
pair_table_at(const struct md_pair_tables *t, const double *rows, int k,
              double r2)
{
    int parts = 1 << t->bits;
    double middle = 1 + (k % parts + 0.5) / parts;
    double x = ldexp(r2, -(t->first_octave + k / parts)) - middle;
    const double *c = rows + (ptrdiff_t)k * (t->degree + 1);
    if (t->degree == PAIR_DEGREE_FLOAT) {
        float sum = (float)c[t->degree];
        for (int d = t->degree - 1; d >= 0; d--)
            sum = sum * (float)x + (float)c[d];
        return (double)sum;
    }
    double sum = c[t->degree];
    for (int d = t->degree - 1; d >= 0; d--)
        sum = sum * x + c[d];
    return sum;
}

#endif
