/* lj.h: the Lennard-Jones pair, one formula for every loop.
 *
 * `real` is a number, a SIMD vector or a CUDA thread's register: the file that
 * includes this one has defined real and KERNEL_FN.
 */
#ifndef WARPDECK_KERNELS_MD_LJ_H
#define WARPDECK_KERNELS_MD_LJ_H

/* u(r) = c12 / r^12 - c6 / r^6 with c12 = 4 epsilon sigma^12 and c6 = 4 epsilon
 * sigma^6 (Allen and Tildesley 2017, eq. 1.6). inv2: 1 over the squared
 * distance; f12 = 12 c12, f6 = 6 c6. Returns the force over the distance, so
 * that the force on i is the result times (r_i - r_j); *inv6 = r^-6 serves
 * lj_energy(). */
KERNEL_FN real lj_force_of_inverse(real inv2, real f12, real f6, real *inv6)
{
    real inv4 = inv2 * inv2;
    *inv6 = inv4 * inv2;
    return inv4 * inv4 * (f12 * *inv6 - f6);
}

/* r2: the squared distance. */
KERNEL_FN real lj_force_over_r(real r2, real f12, real f6, real *inv6)
{
    return lj_force_of_inverse(1 / r2, f12, f6, inv6);
}

KERNEL_FN real lj_energy(real inv6, real c12, real c6)
{
    return inv6 * (c12 * inv6 - c6);
}

/* The linear force shift (Toxvaerd and Dyre 2011, eq. 3): u(r) - u(rc) -
 * (r - rc) u'(rc), so that force and energy go to zero at the cutoff. slope =
 * -u'(rc); adds to force over r, and returns the energy to add (without the
 * constant u(rc)). inv_r: 1 / r. */
KERNEL_FN real lj_force_shift(real r, real slope, real cutoff, real *f_over_r)
{
    *f_over_r -= slope / r;
    return slope * (r - cutoff);
}

/* CHARMM's switch, see lj_pair() of pairs.h: scales force over r and energy.
 * over: r^2 - rs^2, or 0 below; width: rc^2 - rs^2; scale: 1 / width^3. */
KERNEL_FN void lj_switch(real over, real width, real scale, real *g, real *u)
{
    real left = width - over;
    real s = left * left * (left + 3 * over) * scale;
    *g = *g * s + *u * (12 * left * over * scale);
    *u *= s;
}

#endif
