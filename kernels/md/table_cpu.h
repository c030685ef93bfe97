/* table_cpu.h: pair potentials as rows of polynomials, as the CPU's loops read
 * them.
 *
 * Private to kernels/md/ *_cpu.c.
 */
#ifndef WARPDECK_KERNELS_MD_TABLE_CPU_H
#define WARPDECK_KERNELS_MD_TABLE_CPU_H

#include "kernels/md/pair_table.h"
#include "kernels/md/store_cpu.h"
#include "kernels/simd_pack.h"

#if KERNEL_SCALAR_BYTES == 8
enum { ROW = PAIR_DEGREE_DOUBLE + 1, MANTISSA_BITS = 52, BIAS = 1023 };
#define SEGMENT_ONE INT64_C(0x3ff0000000000000)
#else
enum { ROW = PAIR_DEGREE_FLOAT + 1, MANTISSA_BITS = 23, BIAS = 127 };
#define SEGMENT_ONE INT32_C(0x3f800000)
#endif

struct md_tables {
    struct md_pair_tables from; /* its arrays are the solver's */
    scalar *force, *energy;     /* [n_tables * n_rows][ROW] */
    scalar *start;              /* [n_species][table_stride]: first row */
    scalar *least2;             /* the same: nearer pairs are exact */
    scalar end, begin;          /* of r^2 in a table */
    int drop;                   /* bits that tell the place in a row */
    KERNEL_MASK_SCALAR first;   /* what the leading bits of `begin` are */
};

/* s->tables, from s->setup.tables. Errors: STATUS_MEMORY. */
#define md_tables_create MD_NAME(md_tables_create)
int md_tables_create(struct ctx *ctx, struct md_store *s);
#define md_tables_destroy MD_NAME(md_tables_destroy)
void md_tables_destroy(struct md_tables *t);

/* Energy and force over distance of a pair of slots, exactly; one nearer than
 * the points of a file is kept in w->near, for md_check_tables(). */
#define md_exact_pair MD_NAME(md_exact_pair)
double md_exact_pair(const struct md_store *s, struct md_worker *w, size_t i,
                     size_t j, double r2, double *g);
/* STATUS_PHYSICS where a pair came too near for a table. */
#define md_check_tables MD_NAME(md_check_tables)
int md_check_tables(struct ctx *ctx, const struct md_store *s);

/* The rows of r2, and the place in them. */
KERNEL_FN lane_int table_row(const struct md_tables *t, real start, real r2,
                             real *place)
{
    const KERNEL_MASK_SCALAR one = 1;
    const scalar middle =
        1 + (scalar)((one << t->drop) >> 1) / (scalar)(one << MANTISSA_BITS);
    /* padding lies far outside, and what is not a number goes with it */
    real inside = simd_least(r2, simd_set(t->end));
    inside = -simd_least(-inside, simd_set(-t->begin));
    lane_int bits = (lane_int)inside;
    lane_int within = bits & ((one << t->drop) - 1);
    *place = (real)(within | SEGMENT_ONE) - middle;
    return ((bits >> t->drop) - t->first +
            __builtin_convertvector(start, lane_int)) *
           ROW;
}

/* Horner's rule in these rows. */
KERNEL_FN real table_value(const scalar *rows, lane_int at, real place)
{
    real c[4], sum;
    simd_rows(rows + (ROW - 4), at, c);
    sum = ((c[3] * place + c[2]) * place + c[1]) * place + c[0];
    if (ROW == 4)
        return sum;
    simd_rows(rows, at, c);
    return (((sum * place + c[3]) * place + c[2]) * place + c[1]) * place +
           c[0];
}

#endif
