/* simd_avx2.h: what simd.h needs of a target with AVX2 and FMA, where masks are
 * vectors.
 *
 * Included by simd.h only.
 */
#ifndef WARPDECK_KERNELS_SIMD_AVX2_H
#define WARPDECK_KERNELS_SIMD_AVX2_H

#include "kernels/simd_order.h"

KERNEL_FN simd_mask simd_mask_of_bits(uint32_t bits)
{
    if (SIMD_IS_DOUBLE) {
        const __m256i lane = _mm256_set_epi64x(8, 4, 2, 1);
        __m256i all = _mm256_set1_epi64x((long long)bits);
        return (simd_mask)_mm256_cmpeq_epi64(all & lane, lane);
    }
    const __m256i lane = _mm256_set_epi32(128, 64, 32, 16, 8, 4, 2, 1);
    __m256i all = _mm256_set1_epi32((int)bits);
    return (simd_mask)_mm256_cmpeq_epi32(all & lane, lane);
}

KERNEL_FN int simd_any(simd_mask m)
{
    return !_mm256_testz_si256((__m256i)m, (__m256i)m);
}

KERNEL_FN real simd_greatest(real a, real b)
{
    if (SIMD_IS_DOUBLE)
        return (real)_mm256_max_pd((__m256d)a, (__m256d)b);
    return (real)_mm256_max_ps((__m256)a, (__m256)b);
}

KERNEL_FN real simd_sqrt(real a)
{
    if (SIMD_IS_DOUBLE)
        return (real)_mm256_sqrt_pd((__m256d)a);
    return (real)_mm256_sqrt_ps((__m256)a);
}

/* 1 / sqrt(a). Of doubles by an estimate y to 1.5 2^-12 and the binomial series
 * in e = 1 - a y^2 < 2^-10.4, whose first term left out is 63 / 256 e^5 <
 * 2^-53: root and quotient of four numbers keep the divider busy for 15 cycles.
 * Beyond the range of floats 0. */
KERNEL_FN real simd_inverse_root(real a)
{
    if (!SIMD_IS_DOUBLE)
        return 1 / simd_sqrt(a);
    const __m256d d = (__m256d)a;
    __m256d y = _mm256_cvtps_pd(_mm_rsqrt_ps(_mm256_cvtpd_ps(d)));
    __m256d e = _mm256_fnmadd_pd(d * y, y, _mm256_set1_pd(1));
    __m256d p = _mm256_fmadd_pd(e, _mm256_set1_pd(35.0 / 128),
                                _mm256_set1_pd(5.0 / 16));
    p = _mm256_fmadd_pd(e, p, _mm256_set1_pd(3.0 / 8));
    p = _mm256_fmadd_pd(e, p, _mm256_set1_pd(0.5));
    return (real)_mm256_fmadd_pd(y * e, p, y);
}

KERNEL_FN void simd_add_sums(scalar *out, real x, real y, real z)
{
    if (SIMD_IS_DOUBLE) {
        __m256d a = (__m256d)x, b = (__m256d)y, c = (__m256d)z;
        __m256d o = _mm256_setzero_pd();
        __m256d t = _mm256_unpacklo_pd(a, b) + _mm256_unpackhi_pd(a, b);
        __m256d u = _mm256_unpacklo_pd(c, o) + _mm256_unpackhi_pd(c, o);
        *(__m256d *)(void *)out += _mm256_permute2f128_pd(t, u, 0x20) +
                                   _mm256_permute2f128_pd(t, u, 0x31);
    } else {
        __m256 a = (__m256)x, b = (__m256)y, c = (__m256)z;
        __m256 o = _mm256_setzero_ps();
        __m256 t = _mm256_unpacklo_ps(a, b) + _mm256_unpackhi_ps(a, b);
        __m256 u = _mm256_unpacklo_ps(c, o) + _mm256_unpackhi_ps(c, o);
        t = _mm256_shuffle_ps(t, u, 0x44) + _mm256_shuffle_ps(t, u, 0xee);
        *(__m128 *)(void *)out +=
            _mm256_castps256_ps128(t) + _mm256_extractf128_ps(t, 1);
    }
}

/* table[index[l]] for each lane; indices are below LANES. */
KERNEL_FN real simd_pick_few(const scalar *table, const uint8_t *index)
{
    int32_t bytes;
    if (SIMD_IS_DOUBLE) {
        __builtin_memcpy(&bytes, index, sizeof bytes);
        const __m128d *halves = (const __m128d *)(const void *)table;
        __m256i at = _mm256_cvtepu8_epi64(_mm_cvtsi32_si128(bytes));
        __m256i odd = _mm256_slli_epi64(at, 1); /* bit 1 chooses */
        __m256d low = _mm256_broadcast_pd(halves);
        __m256d high = _mm256_broadcast_pd(halves + 1);
        return (real)_mm256_blendv_pd(
            _mm256_permutevar_pd(low, odd), _mm256_permutevar_pd(high, odd),
            _mm256_castsi256_pd(_mm256_slli_epi64(at, 62)));
    }
    return (real)_mm256_permutevar8x32_ps(
        *(const __m256 *)(const void *)table,
        _mm256_cvtepu8_epi32(_mm_loadl_epi64((const void *)index)));
}

KERNEL_FN box_real simd_box_max(box_real a, box_real b)
{
    return (box_real)_mm256_max_ps((__m256)a, (__m256)b);
}

KERNEL_FN uint32_t simd_box_less_bits(box_real a, box_real b)
{
    return (uint32_t)_mm256_movemask_ps((__m256)(a < b));
}

/* Eight numbers of a table of simd_order.h. */
KERNEL_FN __m256i simd_order_of(const uint64_t *entry)
{
    return _mm256_cvtepi8_epi32(_mm_loadl_epi64((const void *)entry));
}

KERNEL_FN int simd_box_compress(uint32_t bits, int32_t first, int32_t *out)
{
    __m256i lane = simd_order_of(&simd_order[bits]);
    _mm256_storeu_si256((void *)out,
                        _mm256_add_epi32(lane, _mm256_set1_epi32(first)));
    return __builtin_popcount(bits);
}

KERNEL_FN int simd_box_choose(const int32_t *flags, int32_t bit,
                              const uint32_t *from, uint32_t *out)
{
    __m256i all = _mm256_set1_epi32(bit);
    __m256i set = _mm256_loadu_si256((const void *)flags) & all;
    unsigned bits = (unsigned)_mm256_movemask_ps(
        _mm256_castsi256_ps(_mm256_cmpeq_epi32(set, all)));
    _mm256_storeu_si256((void *)out, _mm256_permutevar8x32_epi32(
                                         _mm256_loadu_si256((const void *)from),
                                         simd_order_of(&simd_order[bits])));
    return __builtin_popcount(bits);
}

KERNEL_FN uint32_t simd_box_equal_bits(const uint32_t *from, uint32_t value)
{
    __m256i same = _mm256_cmpeq_epi32(_mm256_loadu_si256((const void *)from),
                                      _mm256_set1_epi32((int)value));
    return (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(same));
}

#endif
