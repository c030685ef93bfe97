/* noise_cuda.h: kernels/noise.h for one thread of a card.
 *
 * Included by .cu files, once each, after KERNEL_FN is defined.
 */
#ifndef WARPDECK_KERNELS_NOISE_CUDA_H
#define WARPDECK_KERNELS_NOISE_CUDA_H

#include <math.h>
#include <stdint.h>
#include <string.h>

extern "C" {
#include "kernels/rng.h"
}

typedef double noise_real;
typedef uint64_t noise_bits;

KERNEL_FN double noise_set(double a)
{
    return a;
}

KERNEL_FN uint64_t noise_set_bits(uint64_t a)
{
    return a;
}

KERNEL_FN uint64_t noise_as_bits(double a)
{
    uint64_t bits;
    memcpy(&bits, &a, sizeof bits);
    return bits;
}

KERNEL_FN double noise_as_real(uint64_t bits)
{
    double a;
    memcpy(&a, &bits, sizeof a);
    return a;
}

KERNEL_FN double noise_sqrt(double a)
{
    return sqrt(a);
}

KERNEL_FN double noise_fma(double a, double b, double c)
{
    return fma(a, b, c);
}

KERNEL_FN double noise_minus(double a, double b)
{
#ifdef __CUDA_ARCH__
    return __dsub_rn(a, b);
#else
    return fma(-1.0, b, a);
#endif
}

KERNEL_FN uint64_t noise_mul32(uint64_t a, uint32_t b)
{
    return (uint64_t)(uint32_t)a * b;
}

#include "kernels/noise.h"

#endif
