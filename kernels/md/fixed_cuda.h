/* fixed_cuda.h: adding numbers as integers; see fixed_cuda.cu.
 *
 * Private to the .cu files of kernels/md.
 */
#ifndef WARPDECK_KERNELS_MD_FIXED_CUDA_H
#define WARPDECK_KERNELS_MD_FIXED_CUDA_H

#include <math.h>

#include "kernels/md/store_cuda.h"

enum { UNIT_BITS = 38, RANGE_BITS = 62, GUARD_BITS = 20 };

/* Sum of absolute terms in units of 2^GUARD_BITS: whether the sum may have left
 * the range is known without a rounding error. */
typedef unsigned long long guard;

static __device__ __forceinline__ void add_fixed(fixed_sum *sum, guard *reach,
                                                 double term)
{
    const double term_max = 4611686018427387904.0; /* 2^RANGE_BITS */
    if (!(fabs(term) < term_max)) {
        *reach += (guard)1 << (RANGE_BITS - GUARD_BITS);
        return;
    }
    long long whole = __double2ll_rn(term);
    *sum += (fixed_sum)whole;
    *reach += (guard)(whole < 0 ? -whole : whole) >> GUARD_BITS;
}

static __device__ __forceinline__ double fixed_value(fixed_sum sum)
{
    return (double)(long long)sum;
}

/* Own ones and copies may each take half of the integers. */
static __device__ __forceinline__ int left_range(guard reach)
{
    return reach >> (RANGE_BITS - GUARD_BITS) != 0;
}

/* ---- a wider range ----
 *
 * Of forces whose greatest value is not known by two numbers: each term is
 * rounded to a whole number of units, of which 2^100 fit, and added in two
 * integers, of multiples of 2^40 and of what is left. A unit is 2^-78 of a
 * force greater than any that pairs come near enough for: cuda_set_wide(). */

static const double WIDE_LOW = 1099511627776.0; /* 2^40 */
static const double WIDE_TERM_MAX = WIDE_LOW * WIDE_LOW * 1048576.0;
enum { WIDE_TERM_BITS = 100, WIDE_UNIT_BITS = 78, WIDE_GUARD_BITS = 12 };
/* Sum of the absolute higher integers over 2^WIDE_GUARD_BITS that may not be
 * reached: own ones and copies take half of the range each. */
enum { WIDE_REACH_BITS = 60 - WIDE_GUARD_BITS };

struct wide_sum {
    unsigned long long high, low; /* signed, modulo 2^64 */
};

static __device__ __forceinline__ void
wide_add(struct wide_sum *sum, unsigned long long *reach, double term)
{
    if (!(fabs(term) < WIDE_TERM_MAX)) {
        *reach += 1ull << WIDE_REACH_BITS;
        return;
    }
    double high = floor(term * (1 / WIDE_LOW)); /* exact, and what is left */
    long long whole = __double2ll_rn(high);
    sum->high += (unsigned long long)whole;
    sum->low += (unsigned long long)__double2ll_rn(fma(-high, WIDE_LOW, term));
    *reach +=
        (unsigned long long)(whole < 0 ? -whole : whole) >> WIDE_GUARD_BITS;
}

static __device__ __forceinline__ double wide_value(struct wide_sum sum)
{
    return (double)(long long)sum.high * WIDE_LOW + (double)(long long)sum.low;
}

static __device__ __forceinline__ int wide_left_range(unsigned long long reach)
{
    return reach >> WIDE_REACH_BITS != 0;
}

/* ---- fixed_cuda.cu: see there ---- */
#define cuda_sums_are_wide MD_NAME(cuda_sums_are_wide)
#define cuda_set_wide MD_NAME(cuda_set_wide)
#define cuda_close_wide MD_NAME(cuda_close_wide)
#define cuda_reserve_wide MD_NAME(cuda_reserve_wide)
#define cuda_choose_fixed MD_NAME(cuda_choose_fixed)
#define cuda_reserve_fixed MD_NAME(cuda_reserve_fixed)
#define cuda_launch_fixed MD_NAME(cuda_launch_fixed)
#define cuda_sum_columns MD_NAME(cuda_sum_columns)
#define cuda_launch_own_sums MD_NAME(cuda_launch_own_sums)
#define cuda_own_sums MD_NAME(cuda_own_sums)
#define cuda_send_own_sums MD_NAME(cuda_send_own_sums)
#define cuda_add_column MD_NAME(cuda_add_column)
#define cuda_fail_beyond MD_NAME(cuda_fail_beyond)
#define cuda_check_beyond MD_NAME(cuda_check_beyond)
#define cuda_columns MD_NAME(cuda_columns)

/* Whether sums in any order need a wide range. */
int cuda_sums_are_wide(const struct md_setup *setup);
void cuda_choose_fixed(struct md_store *s);
/* After all those that may name forces. Errors: STATUS_UNSUPPORTED where none
 * did. */
int cuda_close_wide(struct md_store *s);
int cuda_reserve_fixed(struct md_store *s, size_t n);
int cuda_launch_fixed(struct md_store *s, int want, int halo);
/* Units of wide sums for forces up to `greatest` over a distance `reach`, and
 * for those that were named before. */
void cuda_set_wide(struct md_store *s, double greatest, double reach);
/* Room for its sums, with the list. */
int cuda_reserve_wide(struct md_store *s);
/* How many columns there are. */
size_t cuda_columns(const struct md_setup *setup);
/* Sum the first n_values columns of ARRAY_COLUMNS over own particles. */
int cuda_sum_columns(struct md_store *s, int n_values, double *out);
/* Sums over own particles of what a kernel left: in ARRAY_COLUMNS where they
 * are in any order, else in ARRAY_PARTIAL, an entry for each of its blocks. As
 * part of a call to ARRAY_RESULT, or on to *to of s->result; or waited for. */
int cuda_launch_own_sums(struct md_store *s, int n_values);
int cuda_send_own_sums(struct md_store *s, int n_values, double *to);
int cuda_own_sums(struct md_store *s, int n_values, double *out);
/* Add the sum of the first to a number on the card, in stream order. */
int cuda_add_column(struct md_store *s, double *to);
/* The failure of particle `id`, whose force is beyond the range; or 0 where
 * there is none. */
int cuda_fail_beyond(struct md_store *s, unsigned long long id);
int cuda_check_beyond(struct md_store *s);

#endif
