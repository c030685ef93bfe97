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
    /* Too fast, or no number: whoever looks for such particles says so. */
    if (!(fabs(turns) < 2e9))
        return 0;
    *x -= turns * length;
    if (*x < lo) { /* rounding at a face */
        *x += length;
        turns -= 1;
    }
    if (*x >= hi) {
        *x = lo;
        turns += 1;
    }
    *image = (int32_t)((int64_t)*image + (int64_t)turns);
    return 1;
}

/* The same for a position in a box with edges along a = (l0, 0, 0), b = (xy,
 * l1, 0), c = (xz, yz, l2), tilt = {xy, xz, yz}: into the brick of these
 * lengths, beginning with c. */
KERNEL_FN int wrap_position(double x[3], const double lo[3],
                            const double length[3], const double tilt[3],
                            int32_t image[3])
{
    int moved = 0;
    for (int d = 2; d >= 0; d--) {
        int32_t before = image[d];
        moved |= wrap_coordinate(&x[d], lo[d], length[d], &image[d]);
        double turns = (double)image[d] - (double)before;
        if (d == 2)
            x[1] -= turns * tilt[2];
        if (d > 0)
            x[0] -= turns * tilt[d - 1];
    }
    return moved;
}

/* A difference of positions to that of the nearest images: exact where it is
 * shorter than half of each edge. */
KERNEL_FN void nearest_difference(double x[3], const double length[3],
                                  const double tilt[3])
{
    for (int d = 2; d >= 0; d--) {
        double turns = rint(x[d] / length[d]);
        x[d] -= length[d] * turns;
        if (d == 2)
            x[1] -= turns * tilt[2];
        if (d > 0)
            x[0] -= turns * tilt[d - 1];
    }
}

#endif
