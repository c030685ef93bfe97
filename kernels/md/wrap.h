/* wrap.h: a coordinate back into its periodic box.
 *
 * Included by loop files that have defined KERNEL_FN.
 */
#ifndef WARPDECK_KERNELS_MD_WRAP_H
#define WARPDECK_KERNELS_MD_WRAP_H

/* Bring *x into [lo, lo + length), counting in *image how often it was wrapped.
 * Rounding never leaves it on the upper face. Returns 1 where it moved. */
KERNEL_FN int wrap_coordinate(double *x, double lo, double length,
                              int32_t *image)
{
    double hi = lo + length;
    if (*x >= lo && *x < hi)
        return 0;
    double turns = floor((*x - lo) / length);
    *x -= turns * length;
    if (*x < lo) { /* rounding at a face */
        *x += length;
        turns -= 1;
    }
    if (*x >= hi) {
        *x = lo;
        turns += 1;
    }
    *image += (int32_t)turns;
    return 1;
}

#endif
