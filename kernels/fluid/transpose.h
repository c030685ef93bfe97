/* transpose.h: a square of vectors turned over its diagonal, in registers.
 * Include after simd.h. */
#ifndef WARPDECK_KERNELS_FLUID_TRANSPOSE_H
#define WARPDECK_KERNELS_FLUID_TRANSPOSE_H

/* r[a] lane b becomes r[b] lane a; a, b in [0, LANES). */
KERNEL_FN void fluid_transpose(real *r)
{
#if defined(__GNUC__) && !defined(__clang__)
    /* Squares of width 1, 2, 4, ...: swap those off the diagonal. */
    KERNEL_UNROLL
    for (int w = 1; w < LANES; w *= 2) {
        lane_int low = {0}, high = {0}; /* for -O1, which sees not all set */
        KERNEL_UNROLL
        for (int l = 0; l < LANES; l++) {
            low[l] = l & w ? LANES + l - w : l;
            high[l] = l & w ? LANES + l : l + w;
        }
        KERNEL_UNROLL
        for (int i = 0; i < LANES; i++)
            if (!(i & w)) {
                real a = r[i], b = r[i + w];
                r[i] = __builtin_shuffle(a, b, low);
                r[i + w] = __builtin_shuffle(a, b, high);
            }
    }
#else
    for (int i = 0; i < LANES; i++)
        for (int l = 0; l < i; l++) {
            scalar a = r[i][l];
            r[i][l] = r[l][i];
            r[l][i] = a;
        }
#endif
}

#endif
