/* simd_pack_avx2.h: what simd_pack.h needs of a target with AVX2.
 *
 * Included by simd_pack.h only.
 */
#ifndef WARPDECK_KERNELS_SIMD_PACK_AVX2_H
#define WARPDECK_KERNELS_SIMD_PACK_AVX2_H

KERNEL_FN uint32_t simd_bits(simd_mask m)
{
    if (SIMD_IS_DOUBLE)
        return (uint32_t)_mm256_movemask_pd((__m256d)m);
    return (uint32_t)_mm256_movemask_ps((__m256)m);
}

KERNEL_FN void simd_pack(uint32_t bits, real v, scalar *out)
{
    const uint64_t *order =
        SIMD_IS_DOUBLE ? &simd_order_halves[bits] : &simd_order[bits];
    __m256 packed = _mm256_permutevar8x32_ps((__m256)v, simd_order_of(order));
    _mm256_storeu_ps((float *)(void *)out, packed);
}

KERNEL_FN real simd_unpack(uint32_t bits, const scalar *from)
{
    const uint64_t *place =
        SIMD_IS_DOUBLE ? &simd_place_halves[bits] : &simd_place[bits];
    __m256i at = simd_order_of(place); /* negative where not set */
    __m256i v =
        _mm256_permutevar8x32_epi32(_mm256_loadu_si256((const void *)from), at);
    return (real)_mm256_andnot_si256(_mm256_srai_epi32(at, 31), v);
}

KERNEL_FN real simd_least(real a, real b)
{
    if (SIMD_IS_DOUBLE)
        return (real)_mm256_min_pd((__m256d)a, (__m256d)b);
    return (real)_mm256_min_ps((__m256)a, (__m256)b);
}

KERNEL_FN scalar simd_fold(real v)
{
    scalar sum[4] __attribute__((aligned(SIMD_BYTES))) = {0};
    simd_add_sums(sum, v, (real){0}, (real){0});
    return sum[0];
}

KERNEL_FN void simd_transpose(const scalar *const row[LANES], real out[4])
{
    if (SIMD_IS_DOUBLE) {
#define SIMD_HALF_(l, k) \
    _mm_loadu_pd((const double *)(const void *)(row[l] + (k)))
#define SIMD_TWO_(l, k)                                            \
    _mm256_insertf128_pd(_mm256_castpd128_pd256(SIMD_HALF_(l, k)), \
                         SIMD_HALF_((l) + 2, k), 1)
        for (int k = 0; k < 4; k += 2) {
            __m256d a = SIMD_TWO_(0, k), b = SIMD_TWO_(1, k);
            out[k] = (real)_mm256_unpacklo_pd(a, b);
            out[k + 1] = (real)_mm256_unpackhi_pd(a, b);
        }
#undef SIMD_TWO_
#undef SIMD_HALF_
    } else {
#define SIMD_ONE_(l) \
    _mm_loadu_ps((const float *)(const void *)(row[(l) % LANES]))
#define SIMD_TWO_(l)                                           \
    _mm256_insertf128_ps(_mm256_castps128_ps256(SIMD_ONE_(l)), \
                         SIMD_ONE_((l) + 4), 1)
        __m256 a = SIMD_TWO_(0), b = SIMD_TWO_(1);
        __m256 c = SIMD_TWO_(2), d = SIMD_TWO_(3);
        __m256 ab = _mm256_unpacklo_ps(a, b), cd = _mm256_unpacklo_ps(c, d);
        out[0] = (real)_mm256_shuffle_ps(ab, cd, 0x44);
        out[1] = (real)_mm256_shuffle_ps(ab, cd, 0xee);
        ab = _mm256_unpackhi_ps(a, b);
        cd = _mm256_unpackhi_ps(c, d);
        out[2] = (real)_mm256_shuffle_ps(ab, cd, 0x44);
        out[3] = (real)_mm256_shuffle_ps(ab, cd, 0xee);
#undef SIMD_TWO_
#undef SIMD_ONE_
    }
}

#endif
