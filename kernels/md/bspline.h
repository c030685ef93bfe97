/* bspline.h: weights of cardinal B-splines.
 *
 * Included by loop files that have defined KERNEL_FN.
 */
#ifndef WARPDECK_KERNELS_MD_BSPLINE_H
#define WARPDECK_KERNELS_MD_BSPLINE_H

/* Values at the `order` points that a spline reaches of particles that stand
 * `w` (0 to 1) beyond where it begins to reach the first one: weight k is
 * M_order(order - 1 + w - k), from
 *     M_n(x) = (x M_(n-1)(x) + (n - x) M_(n-1)(x - 1)) / (n - 1),
 * Essmann et al. (1995), J. Chem. Phys. 103, 8577, eq. 4.1. b[k][lane], of
 * `lanes` particles. */
KERNEL_FN void bspline_weights(const int order, const int lanes,
                               const double *restrict w, double *restrict b)
{
    for (int l = 0; l < lanes; l++)
        b[l] = 1;
    for (int n = 2; n <= order; n++) {
        const double scale = 1.0 / (n - 1);
        for (int l = 0; l < lanes; l++)
            b[(n - 1) * lanes + l] = w[l] * b[(n - 2) * lanes + l] * scale;
        for (int k = n - 2; k > 0; k--)
            for (int l = 0; l < lanes; l++)
                b[k * lanes + l] =
                    ((n - 1 + w[l] - k) * b[(k - 1) * lanes + l] +
                     (1 - w[l] + k) * b[k * lanes + l]) *
                    scale;
        for (int l = 0; l < lanes; l++)
            b[l] *= (1 - w[l]) * scale;
    }
}

#endif
