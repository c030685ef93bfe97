/* precision.h: one source, three precisions.
 *
 * The loop files of this folder are compiled three times, with MD_PRECISION 1,
 * 2 and 3. `scalar` is the type of pair terms and forces, `state` that of
 * positions and velocities; every public name gets the suffix of its precision.
 *
 *     1 double   scalar double, state double
 *     2 mixed    scalar float,  state double
 *     3 single   scalar float,  state float
 */
#ifndef WARPDECK_KERNELS_MD_PRECISION_H
#define WARPDECK_KERNELS_MD_PRECISION_H

#include <stdint.h>

#if MD_PRECISION == 1
#define KERNEL_SCALAR double
#define KERNEL_SCALAR_BYTES 8
#define KERNEL_MASK_SCALAR int64_t
#define MD_NAME(name) name##_double
#define MD_PRECISION_NAME "double"
typedef double state;
#elif MD_PRECISION == 2
#define KERNEL_SCALAR float
#define KERNEL_SCALAR_BYTES 4
#define KERNEL_MASK_SCALAR int32_t
#define MD_NAME(name) name##_mixed
#define MD_PRECISION_NAME "mixed"
typedef double state;
#elif MD_PRECISION == 3
#define KERNEL_SCALAR float
#define KERNEL_SCALAR_BYTES 4
#define KERNEL_MASK_SCALAR int32_t
#define MD_NAME(name) name##_single
#define MD_PRECISION_NAME "single"
typedef float state;
#else
#error "compile with -DMD_PRECISION=1, 2 or 3"
#endif

#include "kernels/simd.h"

#endif
