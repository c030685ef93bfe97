/* exact_lanes.h: the operations below exact.h, for a plain number or a vector.
 *
 * The only part of it that differs between machines; see exact.h for the rules.
 */
#ifndef WARPDECK_KERNELS_RISK_EXACT_LANES_H
#define WARPDECK_KERNELS_RISK_EXACT_LANES_H

#include <stdint.h>

#ifdef __FAST_MATH__
#error "exact.h: -ffast-math breaks the identity of bits"
#endif

#ifndef EXACT_LANES
#define EXACT_LANES 1
#endif

#ifdef __CUDACC__
#define EXACT_FN static __host__ __device__ __forceinline__
#define EXACT_UNROLL _Pragma("unroll")
#else
#define EXACT_FN static inline __attribute__((always_inline, unused))
#define EXACT_UNROLL _Pragma("GCC unroll 32")
#endif

/* ---- the layer below: what differs between machines ---- */

#if EXACT_LANES == 1

typedef double exact_real;
typedef uint64_t exact_word;
typedef int exact_mask;

EXACT_FN exact_real exact_set(double a)
{
    return a;
}
EXACT_FN exact_word exact_set_word(uint64_t a)
{
    return a;
}
/* first, first + 1, ... by lane. */
EXACT_FN exact_word exact_count_from(uint64_t first)
{
    return first;
}
EXACT_FN exact_real exact_load(const double *p)
{
    return *p;
}
EXACT_FN void exact_store(double *p, exact_real a)
{
    *p = a;
}
#ifdef __CUDA_ARCH__
EXACT_FN exact_real exact_fma(exact_real a, exact_real b, exact_real c)
{
    return __fma_rn(a, b, c);
}
EXACT_FN exact_real exact_sqrt(exact_real a)
{
    return __dsqrt_rn(a);
}
EXACT_FN exact_real exact_of_bits(exact_word a)
{
    return __longlong_as_double((long long)a);
}
EXACT_FN exact_word exact_bits(exact_real a)
{
    return (exact_word)__double_as_longlong(a);
}
#else
EXACT_FN exact_real exact_fma(exact_real a, exact_real b, exact_real c)
{
    return __builtin_fma(a, b, c);
}
EXACT_FN exact_real exact_sqrt(exact_real a)
{
    return __builtin_sqrt(a);
}
EXACT_FN exact_real exact_of_bits(exact_word a)
{
    exact_real r;
    __builtin_memcpy(&r, &a, sizeof r);
    return r;
}
EXACT_FN exact_word exact_bits(exact_real a)
{
    exact_word r;
    __builtin_memcpy(&r, &a, sizeof r);
    return r;
}
#endif
EXACT_FN exact_mask exact_less(exact_real a, exact_real b)
{
    return a < b;
}
EXACT_FN exact_mask exact_not_zero(exact_word a)
{
    return a != 0;
}
/* a where the mask holds, else b. */
EXACT_FN exact_real exact_select(exact_mask m, exact_real a, exact_real b)
{
    return m ? a : b;
}
EXACT_FN int exact_any(exact_mask m)
{
    return m;
}
/* The lower 32 bits of a times b, 64 bits of it. */
EXACT_FN exact_word exact_multiply32(exact_word a, uint32_t b)
{
    return (uint64_t)(uint32_t)a * b;
}

#else /* vectors */

typedef double exact_real __attribute__((vector_size(8 * EXACT_LANES)));
typedef uint64_t exact_word __attribute__((vector_size(8 * EXACT_LANES)));

EXACT_FN exact_real exact_set(double a)
{
    return a - (exact_real){0}; /* x - (+0) is x for each x, -0 too */
}
EXACT_FN exact_word exact_set_word(uint64_t a)
{
    return a - (exact_word){0};
}
EXACT_FN exact_word exact_count_from(uint64_t first)
{
    static const uint64_t count[16] = {0, 1, 2,  3,  4,  5,  6,  7,
                                       8, 9, 10, 11, 12, 13, 14, 15};
    exact_word r;
    __builtin_memcpy(&r, count, sizeof r);
    return r + first;
}
EXACT_FN exact_real exact_load(const double *p)
{
    exact_real r;
    __builtin_memcpy(&r, p, sizeof r);
    return r;
}
EXACT_FN void exact_store(double *p, exact_real a)
{
    __builtin_memcpy(p, &a, sizeof a);
}
EXACT_FN exact_real exact_of_bits(exact_word a)
{
    return (exact_real)a;
}
EXACT_FN exact_word exact_bits(exact_real a)
{
    return (exact_word)a;
}

#if EXACT_LANES == 8 && defined(__AVX512F__) && defined(__AVX512DQ__)
#include <immintrin.h>
typedef __mmask8 exact_mask;
EXACT_FN exact_real exact_fma(exact_real a, exact_real b, exact_real c)
{
    return (exact_real)_mm512_fmadd_pd((__m512d)a, (__m512d)b, (__m512d)c);
}
EXACT_FN exact_real exact_sqrt(exact_real a)
{
    return (exact_real)_mm512_sqrt_pd((__m512d)a);
}
EXACT_FN exact_mask exact_less(exact_real a, exact_real b)
{
    return _mm512_cmp_pd_mask((__m512d)a, (__m512d)b, _CMP_LT_OQ);
}
EXACT_FN exact_mask exact_not_zero(exact_word a)
{
    return _mm512_test_epi64_mask((__m512i)a, (__m512i)a);
}
EXACT_FN exact_real exact_select(exact_mask m, exact_real a, exact_real b)
{
    return (exact_real)_mm512_mask_blend_pd(m, (__m512d)b, (__m512d)a);
}
EXACT_FN int exact_any(exact_mask m)
{
    return m != 0;
}
EXACT_FN exact_word exact_multiply32(exact_word a, uint32_t b)
{
    return (exact_word)_mm512_mul_epu32((__m512i)a,
                                        _mm512_set1_epi64((long long)b));
}
#elif EXACT_LANES == 4 && defined(__AVX2__) && defined(__FMA__)
#include <immintrin.h>
typedef exact_real exact_mask;
EXACT_FN exact_real exact_fma(exact_real a, exact_real b, exact_real c)
{
    return (exact_real)_mm256_fmadd_pd((__m256d)a, (__m256d)b, (__m256d)c);
}
EXACT_FN exact_real exact_sqrt(exact_real a)
{
    return (exact_real)_mm256_sqrt_pd((__m256d)a);
}
EXACT_FN exact_mask exact_less(exact_real a, exact_real b)
{
    return (exact_real)_mm256_cmp_pd((__m256d)a, (__m256d)b, _CMP_LT_OQ);
}
EXACT_FN exact_mask exact_not_zero(exact_word a)
{
    return (exact_real)(a != 0);
}
EXACT_FN exact_real exact_select(exact_mask m, exact_real a, exact_real b)
{
    return (exact_real)_mm256_blendv_pd((__m256d)b, (__m256d)a, (__m256d)m);
}
EXACT_FN int exact_any(exact_mask m)
{
    return _mm256_movemask_pd((__m256d)m) != 0;
}
EXACT_FN exact_word exact_multiply32(exact_word a, uint32_t b)
{
    return (exact_word)_mm256_mul_epu32((__m256i)a,
                                        _mm256_set1_epi64x((long long)b));
}
#else
typedef exact_word exact_mask;
EXACT_FN exact_real exact_fma(exact_real a, exact_real b, exact_real c)
{
    exact_real r;
    for (int l = 0; l < EXACT_LANES; l++)
        r[l] = __builtin_fma(a[l], b[l], c[l]);
    return r;
}
EXACT_FN exact_real exact_sqrt(exact_real a)
{
    exact_real r;
    for (int l = 0; l < EXACT_LANES; l++)
        r[l] = __builtin_sqrt(a[l]);
    return r;
}
EXACT_FN exact_mask exact_less(exact_real a, exact_real b)
{
    return (exact_word)(a < b);
}
EXACT_FN exact_mask exact_not_zero(exact_word a)
{
    return (exact_word)(a != 0);
}
EXACT_FN exact_real exact_select(exact_mask m, exact_real a, exact_real b)
{
    return (exact_real)((m & (exact_word)a) | (~m & (exact_word)b));
}
EXACT_FN int exact_any(exact_mask m)
{
    uint64_t r = 0;
    for (int l = 0; l < EXACT_LANES; l++)
        r |= m[l];
    return r != 0;
}
EXACT_FN exact_word exact_multiply32(exact_word a, uint32_t b)
{
    return (a & 0xffffffffu) * (uint64_t)b;
}
#endif
#endif /* lanes */

EXACT_FN exact_real exact_negate(exact_real a)
{
    return exact_of_bits(exact_bits(a) ^ exact_set_word(1ull << 63));
}
EXACT_FN exact_real exact_abs(exact_real a)
{
    return exact_of_bits(exact_bits(a) & exact_set_word(~(1ull << 63)));
}
/* The greater of a and 0; 0 for NaN. */
EXACT_FN exact_real exact_positive(exact_real a)
{
    return exact_select(exact_less(exact_set(0), a), a, exact_set(0));
}
EXACT_FN exact_real exact_max(exact_real a, exact_real b)
{
    return exact_select(exact_less(a, b), b, a);
}
EXACT_FN exact_real exact_min(exact_real a, exact_real b)
{
    return exact_select(exact_less(b, a), b, a);
}

#endif
