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

/* The same of n side by side, x[d][0 .. n). A product stands for the quotient:
 * it matters only where two images are equally near. */
KERNEL_FN void nearest_differences(const int n, double *const x[3],
                                   const double length[3], const double tilt[3])
{
    const double per[3] = {1 / length[0], 1 / length[1], 1 / length[2]};
    for (int l = 0; l < n; l++) {
        double c = rint(x[2][l] * per[2]);
        double y = x[1][l] - c * tilt[2], b = rint(y * per[1]);
        double w = x[0][l] - c * tilt[1] - b * tilt[0], a = rint(w * per[0]);
        x[2][l] -= c * length[2];
        x[1][l] = y - b * length[1];
        x[0][l] = w - a * length[0];
    }
}

#endif
