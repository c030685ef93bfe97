/* tensor.h: sums of a virial by directions: xx, yy, zz, xy, xz, yz.
 *
 * Included by loop files that have defined real, scalar and KERNEL_FN, after
 * store_cpu.h.
 */
#ifndef WARPDECK_KERNELS_MD_TENSOR_H
#define WARPDECK_KERNELS_MD_TENSOR_H

/* Pairs with force over distance g, weighted, at distance (dx, dy, dz). */
KERNEL_FN void simd_add_tensor(real sum[6], real g, real dx, real dy, real dz)
{
    g = simd_opaque(g); /* forces are the same bits with and without this */
    sum[0] += g * dx * dx;
    sum[1] += g * dy * dy;
    sum[2] += g * dz * dz;
    sum[3] += g * dx * dy;
    sum[4] += g * dx * dz;
    sum[5] += g * dy * dz;
}

KERNEL_FN void simd_sum_tensor(const real sum[6], double out[6])
{
    for (int t = 0; t < 6; t++)
        out[t] += (double)simd_sum(sum[t]);
}

/* The end of a row: the force on its particle, summed over the lanes. */
KERNEL_FN void simd_end_row(const struct md_store *s, struct md_worker *w,
                            const struct md_row *row, real x, real y, real z)
{
    simd_add_sums(w->i_force[row->lane], x, y, z);
    if (s->from_forces && row->shift != SHIFT_NONE) {
        _Alignas(4 * sizeof(scalar)) scalar force[4] = {0};
        simd_add_sums(force, x, y, z);
        for (int d = 0; d < 3; d++)
            w->shifted[row->shift][d] += (double)force[d];
    }
}

/* A force at a place, or a difference of two places. */
KERNEL_FN void add_tensor(double out[6], double share, const double force[3],
                          const double x[3])
{
    for (int d = 0; d < 3; d++)
        out[d] += share * force[d] * x[d];
    out[3] += share * force[0] * x[1];
    out[4] += share * force[0] * x[2];
    out[5] += share * force[1] * x[2];
}

#endif
