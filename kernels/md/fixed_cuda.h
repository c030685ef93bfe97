/* fixed_cuda.h: adding numbers as integers; see fixed_cuda.cu.
 *
 * Private to the .cu files of kernels/md.
 */
#ifndef WARPDECK_KERNELS_MD_FIXED_CUDA_H
#define WARPDECK_KERNELS_MD_FIXED_CUDA_H

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

#endif
