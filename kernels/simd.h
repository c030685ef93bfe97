/* simd.h: vectors of the target's width, with operators and a few named
 * functions.
 *
 * A loop file defines KERNEL_SCALAR (double or float), KERNEL_SCALAR_BYTES and
 * KERNEL_MASK_SCALAR
 * (int64_t or int32_t) and includes this file. `real` is then a vector of LANES
 * scalars (GCC/Clang vector extension), so that a formula written with + - * /
 * serves it as it serves a plain number. Only what operators cannot say has a
 * function here; AVX-512 has masks in registers of their own, other targets
 * keep a mask as a vector of 0 / -1.
 */
#ifndef WARPDECK_KERNELS_SIMD_H
#define WARPDECK_KERNELS_SIMD_H

#include <stddef.h>
#include <stdint.h>

#if defined(__AVX512F__) && defined(__AVX512DQ__) && defined(__AVX512VL__)
#define SIMD_AVX512 1
#include <immintrin.h>
#define SIMD_BYTES 64
#elif defined(__AVX2__) && defined(__FMA__)
#define SIMD_AVX2 1
#include <immintrin.h>
#define SIMD_BYTES 32
#elif defined(__AVX__)
#include <immintrin.h>
#define SIMD_BYTES 32
#else
#define SIMD_BYTES 16
#endif

#define KERNEL_FN static inline __attribute__((always_inline, unused))
/* What is compiled once for each kind of deck. Sanitizers see no more in forty
 * copies of a loop than in one, and take a minute to compile those. */
#ifdef __SANITIZE_ADDRESS__
#define KERNEL_LOOP static __attribute__((noinline))
#else
#define KERNEL_LOOP KERNEL_FN
#endif
#define KERNEL_UNROLL _Pragma("GCC unroll 16")

typedef KERNEL_SCALAR scalar;
typedef scalar real __attribute__((vector_size(SIMD_BYTES)));
typedef KERNEL_MASK_SCALAR lane_int __attribute__((vector_size(SIMD_BYTES)));
enum { LANES = SIMD_BYTES / (int)sizeof(scalar) };
/* Named by the size of the scalar: 8 bytes or 4. */
#define SIMD_IS_DOUBLE (sizeof(scalar) == 8)

/* Floats of the same width, for bounding boxes in every precision. */
typedef float box_real __attribute__((vector_size(SIMD_BYTES)));
typedef float box_real_unaligned
    __attribute__((vector_size(SIMD_BYTES), aligned(4)));
typedef int32_t box_int __attribute__((vector_size(SIMD_BYTES)));
enum { BOX_LANES = SIMD_BYTES / 4 };

/* One float for each lane of `real`. */
typedef float lane_float
    __attribute__((vector_size(SIMD_BYTES * 4 / sizeof(scalar)), aligned(4)));
typedef int32_t lane_flag
    __attribute__((vector_size(SIMD_BYTES * 4 / sizeof(scalar))));

KERNEL_FN real simd_set(scalar a)
{
    return a - (real){0};
}

KERNEL_FN box_real simd_box_set(float a)
{
    return a - (box_real){0};
}

KERNEL_FN scalar simd_sum(real v)
{
    scalar s = 0;
    for (int l = 0; l < LANES; l++)
        s += v[l];
    return s;
}

#ifdef SIMD_AVX512

typedef uint32_t simd_mask;

/* a < b in the lanes of m. */
KERNEL_FN simd_mask simd_less_in(simd_mask m, real a, real b)
{
    if (SIMD_IS_DOUBLE)
        return _mm512_mask_cmp_pd_mask((__mmask8)m, (__m512d)a, (__m512d)b,
                                       _CMP_LT_OQ);
    return _mm512_mask_cmp_ps_mask((__mmask16)m, (__m512)a, (__m512)b,
                                   _CMP_LT_OQ);
}

/* v in the lanes of m, 0 elsewhere. */
KERNEL_FN real simd_keep(simd_mask m, real v)
{
    if (SIMD_IS_DOUBLE)
        return (real)_mm512_maskz_mov_pd((__mmask8)m, (__m512d)v);
    return (real)_mm512_maskz_mov_ps((__mmask16)m, (__m512)v);
}

KERNEL_FN real simd_greatest(real a, real b)
{
    if (SIMD_IS_DOUBLE)
        return (real)_mm512_max_pd((__m512d)a, (__m512d)b);
    return (real)_mm512_max_ps((__m512)a, (__m512)b);
}

KERNEL_FN simd_mask simd_mask_of_bits(uint32_t bits)
{
    return bits;
}

KERNEL_FN real simd_sqrt(real a)
{
    if (SIMD_IS_DOUBLE)
        return (real)_mm512_sqrt_pd((__m512d)a);
    return (real)_mm512_sqrt_ps((__m512)a);
}

/* 1 / sqrt(a). Of doubles by an estimate y of 14 bits and the binomial series
 * in e = 1 - a y^2 < 2^-13, whose first term left out is 35 / 128 e^4 < 2^-53:
 * eight numbers' root and quotient keep an Intel core's divider busy for 40
 * cycles. */
KERNEL_FN real simd_inverse_root(real a)
{
    if (!SIMD_IS_DOUBLE)
        return 1 / simd_sqrt(a);
    const __m512d d = (__m512d)a, half = _mm512_set1_pd(0.5);
    __m512d y = _mm512_rsqrt14_pd(d);
    __m512d e = _mm512_fnmadd_pd(d * y, y, _mm512_set1_pd(1));
    __m512d p =
        _mm512_fmadd_pd(e, _mm512_set1_pd(5.0 / 16), _mm512_set1_pd(3.0 / 8));
    return (real)_mm512_fmadd_pd(y * e, _mm512_fmadd_pd(p, e, half), y);
}

/* out[0..2] += the sums over the lanes of x, y, z (out: 4 scalars, aligned). */
KERNEL_FN void simd_add_sums(scalar *out, real x, real y, real z)
{
    if (SIMD_IS_DOUBLE) {
#define SIMD_FOLD_(v)                       \
    (_mm512_castpd512_pd256((__m512d)(v)) + \
     _mm512_extractf64x4_pd((__m512d)(v), 1))
        __m256d a = SIMD_FOLD_(x), b = SIMD_FOLD_(y), c = SIMD_FOLD_(z);
        __m256d o = _mm256_setzero_pd();
        __m256d t = _mm256_unpacklo_pd(a, b) + _mm256_unpackhi_pd(a, b);
        __m256d u = _mm256_unpacklo_pd(c, o) + _mm256_unpackhi_pd(c, o);
        *(__m256d *)(void *)out += _mm256_permute2f128_pd(t, u, 0x20) +
                                   _mm256_permute2f128_pd(t, u, 0x31);
#undef SIMD_FOLD_
    } else {
#define SIMD_FOLD_(v)                      \
    (_mm512_castps512_ps256((__m512)(v)) + \
     _mm512_extractf32x8_ps((__m512)(v), 1))
        __m256 a = SIMD_FOLD_(x), b = SIMD_FOLD_(y), c = SIMD_FOLD_(z);
        __m256 o = _mm256_setzero_ps();
        __m256 t = _mm256_unpacklo_ps(a, b) + _mm256_unpackhi_ps(a, b);
        __m256 u = _mm256_unpacklo_ps(c, o) + _mm256_unpackhi_ps(c, o);
        t = _mm256_shuffle_ps(t, u, 0x44) + _mm256_shuffle_ps(t, u, 0xee);
        *(__m128 *)(void *)out +=
            _mm256_castps256_ps128(t) + _mm256_extractf128_ps(t, 1);
#undef SIMD_FOLD_
    }
}

KERNEL_FN int simd_any(simd_mask m)
{
    return (m & ((1u << LANES) - 1)) != 0;
}

/* Lane index[l] of `low`, or of `high`, which follow each other. */
KERNEL_FN real simd_pick_of_two(real low, real high, lane_int index)
{
    if (SIMD_IS_DOUBLE)
        return (real)_mm512_permutex2var_pd((__m512d)low, (__m512i)index,
                                            (__m512d)high);
    return (real)_mm512_permutex2var_ps((__m512)low, (__m512i)index,
                                        (__m512)high);
}

/* table[index[l] modulo 2 LANES] for each lane; aligned as a vector. */
KERNEL_FN real simd_pick(const scalar *table, lane_int index)
{
    return simd_pick_of_two(*(const real *)table,
                            *(const real *)(table + LANES), index);
}

/* table[index[l] modulo LANES] for each lane; aligned as a vector. */
KERNEL_FN real simd_pick_of_one(const scalar *table, lane_int index)
{
    if (SIMD_IS_DOUBLE)
        return (real)_mm512_permutexvar_pd(
            (__m512i)index, *(const __m512d *)(const void *)table);
    return (real)_mm512_permutexvar_ps((__m512i)index,
                                       *(const __m512 *)(const void *)table);
}

KERNEL_FN box_real simd_box_max(box_real a, box_real b)
{
    return (box_real)_mm512_max_ps((__m512)a, (__m512)b);
}

KERNEL_FN uint32_t simd_box_less_bits(box_real a, box_real b)
{
    return _mm512_cmp_ps_mask((__m512)a, (__m512)b, _CMP_LT_OQ);
}

/* out[] = first + l for each lane l whose bit is set, in order; returns how
 * many. May write BOX_LANES entries. */
KERNEL_FN int simd_box_compress(uint32_t bits, int32_t first, int32_t *out)
{
    const __m512i lane =
        _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
    __m512i index = _mm512_add_epi32(lane, _mm512_set1_epi32(first));
    index = _mm512_maskz_compress_epi32((__mmask16)bits, index);
    _mm512_storeu_si512(out, index);
    return __builtin_popcount(bits);
}

/* The entries of from[0 .. BOX_LANES) whose flags have the bit set, in order,
 * to out (which may be written up to BOX_LANES entries); returns how many. */
KERNEL_FN int simd_box_choose(const int32_t *flags, int32_t bit,
                              const uint32_t *from, uint32_t *out)
{
    __mmask16 chosen = _mm512_test_epi32_mask(_mm512_loadu_si512(flags),
                                              _mm512_set1_epi32(bit));
    _mm512_storeu_si512(
        out, _mm512_maskz_compress_epi32(chosen, _mm512_loadu_si512(from)));
    return __builtin_popcount(chosen);
}

/* A bit for each of from[0 .. BOX_LANES) that is `value`. */
KERNEL_FN uint32_t simd_box_equal_bits(const uint32_t *from, uint32_t value)
{
    return _mm512_cmpeq_epi32_mask(_mm512_loadu_si512(from),
                                   _mm512_set1_epi32((int)value));
}

#else

typedef lane_int simd_mask;

KERNEL_FN simd_mask simd_less_in(simd_mask m, real a, real b)
{
    return m & (a < b);
}

KERNEL_FN real simd_keep(simd_mask m, real v)
{
    return (real)(m & (lane_int)v);
}

#ifdef SIMD_AVX2
#include "kernels/simd_avx2.h"
#else

KERNEL_FN simd_mask simd_mask_of_bits(uint32_t bits)
{
    simd_mask m = {0};
    for (int l = 0; l < LANES; l++)
        m[l] = -(KERNEL_MASK_SCALAR)((bits >> l) & 1u);
    return m;
}

KERNEL_FN real simd_greatest(real a, real b)
{
    lane_int m = a > b;
    return (real)((m & (lane_int)a) | (~m & (lane_int)b));
}

KERNEL_FN real simd_sqrt(real a)
{
    real r = {0};
    for (int l = 0; l < LANES; l++)
        r[l] = sizeof(scalar) == 8 ? (scalar)__builtin_sqrt((double)a[l])
                                   : (scalar)__builtin_sqrtf((float)a[l]);
    return r;
}

KERNEL_FN real simd_inverse_root(real a)
{
    return 1 / simd_sqrt(a);
}

KERNEL_FN int simd_any(simd_mask m)
{
    KERNEL_MASK_SCALAR any = 0;
    for (int l = 0; l < LANES; l++)
        any |= m[l];
    return any != 0;
}

KERNEL_FN void simd_add_sums(scalar *out, real x, real y, real z)
{
    out[0] += simd_sum(x);
    out[1] += simd_sum(y);
    out[2] += simd_sum(z);
}

KERNEL_FN box_real simd_box_max(box_real a, box_real b)
{
    box_int m = a > b;
    return (box_real)((m & (box_int)a) | (~m & (box_int)b));
}

KERNEL_FN uint32_t simd_box_less_bits(box_real a, box_real b)
{
    box_int m = a < b;
    uint32_t bits = 0;
    for (int l = 0; l < BOX_LANES; l++)
        bits |= (uint32_t)(m[l] & 1) << l;
    return bits;
}

KERNEL_FN int simd_box_compress(uint32_t bits, int32_t first, int32_t *out)
{
    int n = 0;
    for (; bits; bits &= bits - 1)
        out[n++] = first + __builtin_ctz(bits);
    return n;
}

KERNEL_FN int simd_box_choose(const int32_t *flags, int32_t bit,
                              const uint32_t *from, uint32_t *out)
{
    int n = 0;
    for (int l = 0; l < BOX_LANES; l++) {
        out[n] = from[l];
        n += (flags[l] & bit) != 0;
    }
    return n;
}

KERNEL_FN uint32_t simd_box_equal_bits(const uint32_t *from, uint32_t value)
{
    uint32_t bits = 0;
    for (int l = 0; l < BOX_LANES; l++)
        bits |= (uint32_t)(from[l] == value) << l;
    return bits;
}

#endif /* AVX2 */
#endif /* AVX-512 */

KERNEL_FN lane_float simd_lane_min(lane_float a, lane_float b)
{
#if defined(SIMD_AVX512) && KERNEL_SCALAR_BYTES == 4
    return (lane_float)_mm512_min_ps((__m512)a, (__m512)b);
#elif defined(SIMD_AVX512)
    return (lane_float)_mm256_min_ps((__m256)a, (__m256)b);
#elif defined(SIMD_AVX2) && KERNEL_SCALAR_BYTES == 4
    return (lane_float)_mm256_min_ps((__m256)a, (__m256)b);
#elif defined(SIMD_AVX2)
    return (lane_float)_mm_min_ps((__m128)a, (__m128)b);
#else
    lane_flag m = a < b;
    return (lane_float)((m & (lane_flag)a) | (~m & (lane_flag)b));
#endif
}

KERNEL_FN uint32_t simd_lane_less_bits(lane_float a, lane_float b)
{
#if defined(SIMD_AVX512) && KERNEL_SCALAR_BYTES == 4
    return _mm512_cmp_ps_mask((__m512)a, (__m512)b, _CMP_LT_OQ);
#elif defined(SIMD_AVX512)
    return _mm256_cmp_ps_mask((__m256)a, (__m256)b, _CMP_LT_OQ);
#elif defined(SIMD_AVX2) && KERNEL_SCALAR_BYTES == 4
    return (uint32_t)_mm256_movemask_ps((__m256)(a < b));
#elif defined(SIMD_AVX2)
    return (uint32_t)_mm_movemask_ps((__m128)(a < b));
#else
    lane_flag m = a < b;
    uint32_t bits = 0;
    for (int l = 0; l < LANES; l++)
        bits |= (uint32_t)(m[l] & 1) << l;
    return bits;
#endif
}

typedef uint8_t lane_bytes __attribute__((vector_size(LANES), aligned(1)));

/* table[index[l]] for each lane; the table has at least LANES entries when
 * few = 1 (then every index is below LANES and one permutation serves). */
KERNEL_FN real simd_lookup(const scalar *table, const uint8_t *index, int few)
{
    real r = {0};
#ifdef SIMD_AVX512 /* gcc would widen the bytes one by one */
    if (few && SIMD_IS_DOUBLE)
        return (real)_mm512_permutexvar_pd(
            _mm512_cvtepu8_epi64(_mm_loadl_epi64((const void *)index)),
            *(const __m512d *)(const void *)table);
    if (few)
        return (real)_mm512_permutexvar_ps(
            _mm512_cvtepu8_epi32(_mm_loadu_si128((const void *)index)),
            *(const __m512 *)(const void *)table);
#elif defined(SIMD_AVX2)
    if (few)
        return simd_pick_few(table, index);
#elif defined(__GNUC__) && !defined(__clang__)
    if (few) {
        lane_bytes bytes = *(const lane_bytes *)index;
        lane_int lane = __builtin_convertvector(bytes, lane_int);
        return __builtin_shuffle(*(const real *)table, lane);
    }
#endif
    (void)few;
    for (int l = 0; l < LANES; l++)
        r[l] = table[index[l]];
    return r;
}

/* The same value, of which the compiler does not know where it comes from: what
 * is computed from it cannot change how other sums are rounded (a product that
 * is needed twice is not fused into an addition). */
KERNEL_FN real simd_opaque(real v)
{
#if defined __x86_64__
    __asm__("" : "+v"(v));
#else
    __asm__("" : "+m"(v));
#endif
    return v;
}

#endif
