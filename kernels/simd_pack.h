/* simd_pack.h: lanes that matter packed together, and tables read row by row.
 *
 * Where few lanes of a vector are of use, what is costly is computed on packed
 * vectors, and the results go back to their lanes. A row of a table is loaded
 * whole and transposed: two to three times faster than gathering one number
 * after another.
 */
#ifndef WARPDECK_KERNELS_SIMD_PACK_H
#define WARPDECK_KERNELS_SIMD_PACK_H

#include "kernels/simd.h"

typedef scalar real_unaligned
    __attribute__((vector_size(SIMD_BYTES), aligned(sizeof(scalar))));

KERNEL_FN real simd_load(const scalar *from)
{
    return (real) * (const real_unaligned *)from;
}

KERNEL_FN void simd_store(scalar *to, real v)
{
    *(real_unaligned *)to = v;
}

#ifdef SIMD_AVX512

/* A bit for each lane of the mask. */
KERNEL_FN uint32_t simd_bits(simd_mask m)
{
    return m & ((1u << LANES) - 1);
}

/* The lanes of v whose bits are set, one behind the other, to out, which may be
 * written up to LANES entries. */
KERNEL_FN void simd_pack(uint32_t bits, real v, scalar *out)
{
    if (SIMD_IS_DOUBLE)
        _mm512_storeu_pd(out,
                         _mm512_maskz_compress_pd((__mmask8)bits, (__m512d)v));
    else
        _mm512_storeu_ps(out,
                         _mm512_maskz_compress_ps((__mmask16)bits, (__m512)v));
}

/* The way back: `from` (LANES entries are read) into the lanes whose bits are
 * set, 0 into the others. */
KERNEL_FN real simd_unpack(uint32_t bits, const scalar *from)
{
    if (SIMD_IS_DOUBLE)
        return (real)_mm512_maskz_expand_pd((__mmask8)bits,
                                            _mm512_loadu_pd(from));
    return (real)_mm512_maskz_expand_ps((__mmask16)bits, _mm512_loadu_ps(from));
}

KERNEL_FN real simd_least(real a, real b)
{
    if (SIMD_IS_DOUBLE)
        return (real)_mm512_min_pd((__m512d)a, (__m512d)b);
    return (real)_mm512_min_ps((__m512)a, (__m512)b);
}

/* The sum of all lanes, pairwise. */
KERNEL_FN scalar simd_fold(real v)
{
    if (SIMD_IS_DOUBLE)
        return (scalar)_mm512_reduce_add_pd((__m512d)v);
    return (scalar)_mm512_reduce_add_ps((__m512)v);
}

/* Rows of four numbers, one for each lane, transposed. */
KERNEL_FN void simd_transpose(const scalar *const row[LANES], real out[4])
{
    if (SIMD_IS_DOUBLE) {
#define SIMD_TWO_(a, b)                                               \
    _mm512_insertf64x4(                                               \
        _mm512_castpd256_pd512(                                       \
            _mm256_loadu_pd((const double *)(const void *)(row[a]))), \
        _mm256_loadu_pd((const double *)(const void *)(row[b])), 1)
        const __m512i even = _mm512_set_epi64(13, 12, 5, 4, 9, 8, 1, 0);
        const __m512i odd = _mm512_set_epi64(15, 14, 7, 6, 11, 10, 3, 2);
        __m512d a = SIMD_TWO_(0, 4 % LANES), b = SIMD_TWO_(1, 5 % LANES);
        __m512d c = SIMD_TWO_(2, 6 % LANES), d = SIMD_TWO_(3, 7 % LANES);
        __m512d ab = _mm512_unpacklo_pd(a, b), cd = _mm512_unpacklo_pd(c, d);
        out[0] = (real)_mm512_permutex2var_pd(ab, even, cd);
        out[2] = (real)_mm512_permutex2var_pd(ab, odd, cd);
        ab = _mm512_unpackhi_pd(a, b);
        cd = _mm512_unpackhi_pd(c, d);
        out[1] = (real)_mm512_permutex2var_pd(ab, even, cd);
        out[3] = (real)_mm512_permutex2var_pd(ab, odd, cd);
#undef SIMD_TWO_
    } else {
#define SIMD_ONE_(l) \
    _mm_loadu_ps((const float *)(const void *)(row[(l) % LANES]))
#define SIMD_FOUR_(l)                                                      \
    _mm512_insertf32x8(                                                    \
        _mm512_castps256_ps512(_mm256_insertf128_ps(                       \
            _mm256_castps128_ps256(SIMD_ONE_(l)), SIMD_ONE_((l) + 4), 1)), \
        _mm256_insertf128_ps(_mm256_castps128_ps256(SIMD_ONE_((l) + 8)),   \
                             SIMD_ONE_((l) + 12), 1),                      \
        1)
        __m512 a = SIMD_FOUR_(0), b = SIMD_FOUR_(1);
        __m512 c = SIMD_FOUR_(2), d = SIMD_FOUR_(3);
        __m512 ab = _mm512_unpacklo_ps(a, b), cd = _mm512_unpacklo_ps(c, d);
        out[0] = (real)_mm512_shuffle_ps(ab, cd, 0x44);
        out[1] = (real)_mm512_shuffle_ps(ab, cd, 0xee);
        ab = _mm512_unpackhi_ps(a, b);
        cd = _mm512_unpackhi_ps(c, d);
        out[2] = (real)_mm512_shuffle_ps(ab, cd, 0x44);
        out[3] = (real)_mm512_shuffle_ps(ab, cd, 0xee);
#undef SIMD_FOUR_
#undef SIMD_ONE_
    }
}

#elif defined(SIMD_AVX2)
#include "kernels/simd_pack_avx2.h"
#else

KERNEL_FN uint32_t simd_bits(simd_mask m)
{
    uint32_t bits = 0;
    for (int l = 0; l < LANES; l++)
        bits |= (uint32_t)(m[l] & 1) << l;
    return bits;
}

KERNEL_FN void simd_pack(uint32_t bits, real v, scalar *out)
{
    for (int l = 0, n = 0; l < LANES; l++) {
        out[n] = v[l];
        n += (int)(bits >> l & 1u);
    }
}

KERNEL_FN real simd_unpack(uint32_t bits, const scalar *from)
{
    real v = {0};
    for (int l = 0, n = 0; l < LANES; l++) {
        int set = (int)(bits >> l & 1u);
        v[l] = set ? from[n] : 0;
        n += set;
    }
    return v;
}

KERNEL_FN real simd_least(real a, real b)
{
    lane_int m = a < b;
    return (real)((m & (lane_int)a) | (~m & (lane_int)b));
}

KERNEL_FN scalar simd_fold(real v)
{
    return simd_sum(v);
}

KERNEL_FN void simd_transpose(const scalar *const row[LANES], real out[4])
{
    for (int k = 0; k < 4; k++) {
        real v = {0};
        for (int l = 0; l < LANES; l++)
            v[l] = row[l][k];
        out[k] = v;
    }
}

#endif

/* row[l] = table + at[l], by way of memory: gcc would pick the lanes one by
 * one. */
KERNEL_FN void simd_row_starts(const scalar *table, lane_int at,
                               const scalar *row[LANES])
{
    KERNEL_MASK_SCALAR first[LANES] __attribute__((aligned(SIMD_BYTES)));
    *(lane_int *)first = at;
    __asm__("" : "+m"(first));
    for (int l = 0; l < LANES; l++)
        row[l] = table + first[l];
}

/* out[k] has table[at[l] + k] in lane l, for k = 0 .. 3. */
KERNEL_FN void simd_rows(const scalar *table, lane_int at, real out[4])
{
    const scalar *row[LANES];
    simd_row_starts(table, at, row);
    simd_transpose(row, out);
}

/* out[k] has table[4 * index[l] + k] in lane l, for k = 0 .. 3. */
KERNEL_FN void simd_rows_of(const scalar *table, const uint8_t *index,
                            real out[4])
{
    const scalar *row[LANES];
    for (int l = 0; l < LANES; l++)
        row[l] = table + 4 * (size_t)index[l];
    simd_transpose(row, out);
}

/* Add the forces of the particles of one cluster, row by row, to f as it has
 * them, and clear them. */
KERNEL_FN void simd_flush(scalar *f, scalar (*i_force)[4])
{
    const scalar *row[LANES];
    real sum[4], *to = (real *)f;
    for (int l = 0; l < LANES; l++)
        row[l] = i_force[l];
    simd_transpose(row, sum);
    for (int d = 0; d < 3; d++)
        to[d] += sum[d];
    for (int k = 0; k < 4; k++)
        ((real *)(void *)i_force)[k] = (real){0};
}

#endif
