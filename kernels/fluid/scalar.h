/* scalar.h: a scalar carried by the flow, one formula for every loop.
 *
 * `real`, `scalar` and KERNEL_FN as in stencil.h. Values stand at the centers
 * of cells; what flows through a face is u (T + T_next) / 2 minus diffusivity
 * times slope. The mean is advected with weights 1/2 : 1/2 also on a stretched
 * grid, so that what one cell loses the next gains, a constant stays constant
 * and advection alone keeps the sum of squares. Second order in space on a grid
 * that changes smoothly.
 *
 * Buoyancy takes the scalar at a face from the same mean: the work it does on
 * the flow is then exactly what the scalar's convection takes from potential
 * energy.
 */
#ifndef WARPDECK_KERNELS_FLUID_SCALAR_H
#define WARPDECK_KERNELS_FLUID_SCALAR_H

/* The factors of a plane; a direction whose diffusion is implicit has its own
 * set and zeros in the explicit one. */
struct fluid_scalar_coeff {
    scalar adv_x, adv_y, adv_z; /* 1/2 of 1/dx, 1/dy, 1/h(k) */
    scalar diff_x, diff_y;      /* diffusivity / dx^2, / dy^2 */
    scalar diff_t, diff_b;      /* diffusivity / (h(k) hc(k)), (h(k) hc(k-1)) */
};

KERNEL_FN real fluid_scalar_advection(const struct fluid_scalar_coeff *q,
                                      real c, real c_e, real c_w, real c_n,
                                      real c_s, real c_t, real c_b, real u,
                                      real u_w, real v, real v_s, real w,
                                      real w_b)
{
    real a = q->adv_x * (u_w * (c_w + c) - u * (c + c_e));
    a += q->adv_y * (v_s * (c_s + c) - v * (c + c_n));
    return a + q->adv_z * (w_b * (c_b + c) - w * (c + c_t));
}

KERNEL_FN real fluid_scalar_diffusion(const struct fluid_scalar_coeff *q,
                                      real c, real c_e, real c_w, real c_n,
                                      real c_s, real c_t, real c_b)
{
    real a = q->diff_x * ((c_e - c) - (c - c_w));
    a += q->diff_y * ((c_n - c) - (c - c_s));
    return a + (q->diff_t * (c_t - c) - q->diff_b * (c - c_b));
}

#endif
