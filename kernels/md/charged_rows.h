/* charged_rows.h: the polynomials of coulomb_table.h and smooth.h in the order
 * in which a target likes to read them, and their values.
 *
 * Where a vector holds all that one coefficient has for the parts of a range,
 * it is a permutation of a register: coefficients stand together by their
 * degree. Elsewhere those of one part stand together, in a row that is loaded
 * for each lane and transposed, four at a time; measured 2 to 3 times faster
 * than to fetch one number after the other.
 *
 * Private to kernels/md/charge*_cpu.c.
 */
#ifndef WARPDECK_KERNELS_MD_CHARGED_ROWS_H
#define WARPDECK_KERNELS_MD_CHARGED_ROWS_H

#include "kernels/md/charged_cpu.h"
#include "kernels/simd_pack.h"

/* Parts of an octave (as a power of two), degree and number of all parts of
 * Coulomb's polynomials; parts and degree of the smooth ones. */
#ifdef SIMD_AVX512

enum {
    CHARGED_BITS = COULOMB_BITS,
    CHARGED_DEGREE = COULOMB_DEGREE,
    CHARGED_SEGMENTS = COULOMB_SEGMENTS,
    CHARGED_SMOOTH_PARTS = SMOOTH_PARTS,
    CHARGED_SMOOTH_DEGREE = SMOOTH_DEGREE
};

/* Of coefficient d and part k, one of `parts`. */
KERNEL_FN size_t charged_place(int parts, int d, int k)
{
    return (size_t)(d * parts + k);
}

/* One coefficient of all segments. Where that is two vectors, the loops hold
 * those of the force in registers. */
#if KERNEL_SCALAR_BYTES == 4
#define TABLE_HELD
typedef struct {
    real low, high;
} segment_row;
#else
typedef scalar segment_row[COULOMB_SEGMENTS];
#endif
_Static_assert(sizeof(segment_row) == COULOMB_SEGMENTS * sizeof(scalar),
               "rows stand as in coulomb_table.h");

/* What lanes have in their segments `at`, of whose bits the low ones count. */
KERNEL_FN real pick_segment(const segment_row *row, lane_int at)
{
#ifdef TABLE_HELD
    return simd_pick_of_two(row->low, row->high, at);
#else
    return simd_pick(*row, at);
#endif
}

/* Horner's rule. */
KERNEL_FN real polynomial(const segment_row *rows, lane_int at, real t)
{
    real sum = pick_segment(&rows[COULOMB_DEGREE], at);
    KERNEL_UNROLL for (int d = COULOMB_DEGREE - 1; d >= 0; d--) sum =
        sum * t + pick_segment(&rows[d], at);
    return sum;
}

/* Even and odd powers side by side: half as long a chain. */
KERNEL_FN real smooth_polynomial(const scalar *table, lane_int at, real t)
{
    enum { EVEN = SMOOTH_DEGREE & ~1, ODD = (SMOOTH_DEGREE - 1) | 1 };
    real t2 = t * t;
    real even = simd_pick_of_one(table + EVEN * SMOOTH_PARTS, at);
    real odd = simd_pick_of_one(table + ODD * SMOOTH_PARTS, at);
    KERNEL_UNROLL for (int d = EVEN - 2; d >= 0; d -= 2) even =
        even * t2 + simd_pick_of_one(table + d * SMOOTH_PARTS, at);
    KERNEL_UNROLL for (int d = ODD - 2; d >= 0; d -= 2) odd =
        odd * t2 + simd_pick_of_one(table + d * SMOOTH_PARTS, at);
    return odd * t + even;
}

#else

/* Where a part's coefficients are read from memory anyway, many parts cost no
 * more than few, and a low degree suffices: to 2e-14 of the force in doubles,
 * to 2e-8 in floats, of a plain charge. */
enum {
    CHARGED_BITS = KERNEL_SCALAR_BYTES == 8 ? 4 : 5,
    CHARGED_DEGREE = KERNEL_SCALAR_BYTES == 8 ? 7 : 3,
    CHARGED_SEGMENTS = SEGMENT_OCTAVES << CHARGED_BITS,
    CHARGED_SMOOTH_PARTS = 64,
    CHARGED_SMOOTH_DEGREE = 7,
    CHARGED_ROW = CHARGED_DEGREE + 1 /* a power of two: starts are shifts */
};
_Static_assert(KERNEL_SCALAR_BYTES == 4 ||
                   (int)CHARGED_SMOOTH_DEGREE == (int)CHARGED_DEGREE,
               "rows are as long");
typedef scalar segment_row[CHARGED_ROW];

KERNEL_FN size_t charged_place(int parts, int d, int k)
{
    (void)parts;
    return (size_t)(k * CHARGED_ROW + d);
}

/* The polynomials in t of the lanes' rows `at`, of a power of two of them: four
 * coefficients at a time, in pairs. */
KERNEL_FN real row_polynomial(const segment_row *rows, lane_int at,
                              const int parts, real t)
{
    const scalar *row[LANES], *from[LANES];
    real c[4], sum = {0}, t2 = t * t;
    at = (at & (parts - 1)) * CHARGED_ROW;
    simd_row_starts((const scalar *)rows, at, row);
    KERNEL_UNROLL for (int k = CHARGED_ROW - 4; k >= 0; k -= 4)
    {
        for (int l = 0; l < LANES; l++)
            from[l] = row[l] + k;
        simd_transpose(from, c);
        sum = sum * (t2 * t2) + ((c[3] * t + c[2]) * t2 + (c[1] * t + c[0]));
    }
    return sum;
}

KERNEL_FN real polynomial(const segment_row *rows, lane_int at, real t)
{
    return row_polynomial(rows, at, CHARGED_SEGMENTS, t);
}

KERNEL_FN real smooth_polynomial(const scalar *table, lane_int at, real t)
{
    return row_polynomial((const segment_row *)(const void *)table, at,
                          CHARGED_SMOOTH_PARTS, t);
}

#endif

#endif
