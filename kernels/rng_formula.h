/* rng_formula.h: from words to numbers, one formula for every device.
 *
 * The file that includes this one has defined KERNEL_FN. The words come from
 * Random123 on the CPU and from cuRAND's device Philox on a card; both give the
 * same ones.
 */
#ifndef WARPDECK_KERNELS_RNG_FORMULA_H
#define WARPDECK_KERNELS_RNG_FORMULA_H

#include <math.h>

#ifdef __cplusplus
extern "C" {
#endif
#include "kernels/rng.h"
#ifdef __cplusplus
}
#endif

#ifdef WARPDECK_KERNELS_GPU_H /* a .cu file */
#define QUALIFIERS static __forceinline__ __host__ __device__
#include <curand_philox4x32_x.h>
#else
#include <Random123/philox.h>
#endif

/* Words of counter (index, step and stream) under key seed. */
KERNEL_FN struct rng_words rng_formula_philox(uint64_t seed,
                                              enum rng_stream stream,
                                              uint64_t step, uint64_t index)
{
    uint32_t c[4] = {(uint32_t)index, (uint32_t)(index >> 32), (uint32_t)step,
                     (uint32_t)((step >> 32) & 0xffffffu) | (uint32_t)stream
                                                                << 24};
#ifdef WARPDECK_KERNELS_GPU_H
    uint4 counter = {c[0], c[1], c[2], c[3]};
    uint2 key = {(uint32_t)seed, (uint32_t)(seed >> 32)};
    uint4 r = curand_Philox4x32_10(counter, key);
    struct rng_words words = {{r.x, r.y, r.z, r.w}};
#else
    philox4x32_key_t key = {{(uint32_t)seed, (uint32_t)(seed >> 32)}};
    philox4x32_ctr_t counter = {{c[0], c[1], c[2], c[3]}};
    philox4x32_ctr_t r = philox4x32(counter, key);
    struct rng_words words = {{r.v[0], r.v[1], r.v[2], r.v[3]}};
#endif
    return words;
}

/* Uniform in the open interval (0, 1) with 53 bits. */
KERNEL_FN double rng_formula_uniform(uint32_t hi, uint32_t lo)
{
    uint64_t bits = ((uint64_t)hi << 32 | lo) >> 11;
    return ((double)bits + 0.5) * 1.1102230246251565e-16; /* 2^-53 */
}

/* Two standard normals (Box and Muller 1958). */
KERNEL_FN void rng_formula_normal2(struct rng_words r, double out[2])
{
    double radius = sqrt(-2 * log(rng_formula_uniform(r.w[0], r.w[1])));
    double angle =
        2 * 3.14159265358979323846 * rng_formula_uniform(r.w[2], r.w[3]);
    out[0] = radius * cos(angle);
    out[1] = radius * sin(angle);
}

KERNEL_FN void rng_formula_normal3(uint64_t seed, enum rng_stream stream,
                                   uint64_t step, uint64_t index, double out[3])
{
    double pair[2];
    /* Two items of 2^63 share the index space: bit 63 names the second call. */
    rng_formula_normal2(rng_formula_philox(seed, stream, step, index), out);
    rng_formula_normal2(
        rng_formula_philox(seed, stream, step, index | 1ull << 63), pair);
    out[2] = pair[0];
}

#endif
