/* noise_cpu.c: thermostat noise, many particles at a time. */
#include <string.h>

#include "kernels/rng.h"

/* No contraction to fused operations but those written: the same numbers from
 * every compiler. */
#if defined(__clang__)
#pragma clang fp contract(off)
#elif defined(__GNUC__)
#pragma GCC optimize("fp-contract=off")
#endif

#define KERNEL_SCALAR double
#define KERNEL_SCALAR_BYTES 8
#define KERNEL_MASK_SCALAR int64_t
#include "kernels/simd.h"

typedef real noise_real;
typedef uint64_t noise_bits __attribute__((vector_size(SIMD_BYTES)));

KERNEL_FN noise_real noise_set(double a)
{
    return simd_set(a);
}

KERNEL_FN noise_bits noise_set_bits(uint64_t a)
{
    return a - (noise_bits){0};
}

KERNEL_FN noise_bits noise_as_bits(noise_real a)
{
    return (noise_bits)a;
}

KERNEL_FN noise_real noise_as_real(noise_bits a)
{
    return (noise_real)a;
}

KERNEL_FN noise_real noise_sqrt(noise_real a)
{
    return simd_sqrt(a);
}

KERNEL_FN noise_real noise_fma(noise_real a, noise_real b, noise_real c)
{
#if defined(SIMD_AVX512)
    return (noise_real)_mm512_fmadd_pd((__m512d)a, (__m512d)b, (__m512d)c);
#elif defined(SIMD_AVX2)
    return (noise_real)_mm256_fmadd_pd((__m256d)a, (__m256d)b, (__m256d)c);
#else
    noise_real r = {0};
    for (int l = 0; l < LANES; l++)
        r[l] = __builtin_fma(a[l], b[l], c[l]);
    return r;
#endif
}

KERNEL_FN noise_real noise_minus(noise_real a, noise_real b)
{
    return a - b;
}

KERNEL_FN noise_bits noise_mul32(noise_bits a, uint32_t b)
{
#if defined(SIMD_AVX512)
    return (noise_bits)_mm512_mul_epu32((__m512i)a,
                                        _mm512_set1_epi64((long long)b));
#elif defined(SIMD_AVX2)
    return (noise_bits)_mm256_mul_epu32((__m256i)a,
                                        _mm256_set1_epi64x((long long)b));
#else
    return (a & noise_set_bits(0xffffffffu)) * noise_set_bits(b);
#endif
}

#include "kernels/noise.h"

/* Normals of `n` items, up to LANES of them; where n is known to be LANES whole
 * vectors are read and written. */
KERNEL_FN void some_noise(uint64_t seed, uint32_t stream, uint64_t step,
                          const int64_t *index, const int n,
                          double (*out)[RNG_NOISE_MOST], int first)
{
    noise_bits id = {0};
    noise_real normal[3];
    memcpy(&id, index + first, (size_t)n * sizeof *index);
    noise_normal3(seed, stream, step, id, normal);
    for (int d = 0; d < 3; d++)
        memcpy(out[d] + first, &normal[d], (size_t)n * sizeof(double));
}

void rng_noise(uint64_t seed, enum rng_stream stream, uint64_t step,
               const int64_t *index, int n, double (*out)[RNG_NOISE_MOST])
{
    int first = 0;
    for (; first + LANES <= n; first += LANES)
        some_noise(seed, (uint32_t)stream, step, index, LANES, out, first);
    if (first < n)
        some_noise(seed, (uint32_t)stream, step, index, n - first, out, first);
}

void rng_even(uint64_t seed, enum rng_stream stream, uint64_t step,
              const uint64_t *index, int n, double *out)
{
    for (int first = 0; first < n; first += LANES) {
        noise_bits item = {0};
        int left = n - first < LANES ? n - first : LANES;
        for (int l = 0; l < left; l++)
            item[l] = index[first + l];
        noise_real even = noise_even(seed, (uint32_t)stream, step, item);
        for (int l = 0; l < left; l++)
            out[first + l] = even[l];
    }
}
