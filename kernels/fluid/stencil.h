/* stencil.h: incompressible momentum on a staggered grid, one formula for every
 * loop.
 *
 * `real` is a number, a SIMD vector or a CUDA thread's register, `scalar` a
 * plain number of the same precision: the file that includes this one has
 * defined them and KERNEL_FN.
 *
 * Second-order central differences in skew-symmetric form (Morinishi et al.
 * 1998; Verstappen and Veldman 2003): what one cell loses by advection its
 * neighbor gains, and an advected product is weighted 1/2 : 1/2, so that
 * kinetic energy is conserved. Along a stretched z, cell k is h(k) high and
 * hc(k) lies between the centers of k and k + 1; the velocities that advect w
 * are weighted with the heights of the cells they stand in, for the cell of w
 * to receive exactly the fluxes of the two half cells it is made of.
 *
 * Compass names: e, w: i + 1, i - 1; n, s: j + 1, j - 1; t, b: k + 1, k - 1;
 * c: (i, j, k) itself. u_nw is u(i - 1, j + 1, k).
 */
#ifndef WARPDECK_KERNELS_FLUID_STENCIL_H
#define WARPDECK_KERNELS_FLUID_STENCIL_H

/* The factors of plane k. Filled in from the grid by fluid_plane_coeff(). A
 * direction whose diffusion is implicit has factors 0 here. */
struct fluid_coeff {
    scalar adv_x, adv_y, adv_z; /* 1/4 of 1/dx, 1/dy, 1/h(k) */
    scalar adv_zw;              /* 1/4 of 1/hc(k): for w */
    scalar here, above;         /* h(k) / hc(k), h(k+1) / hc(k) */
    scalar diff_x, diff_y;      /* viscosity / dx^2, / dy^2 */
    scalar diff_t, diff_b;      /* viscosity / (h(k) hc(k)), (h(k) hc(k-1)) */
    scalar diff_tw, diff_bw;    /* viscosity / (hc(k) h(k+1)), (hc(k) h(k)) */
    scalar diff_c, diff_cw;     /* minus the sums, for u and v, for w */
    scalar force[3];
};

/* Four times the transport of u along y through the edge (i+1/2, j+1/2), which
 * is also that of v along x; of u along z, which (on a uniform grid) is that of
 * w along x; of v along z. */
KERNEL_FN real fluid_product(real a, real a_next, real b, real b_next)
{
    return (a + a_next) * (b + b_next);
}

/* The acceleration of u(i,j,k): advection, diffusion, force. uv, uw: products
 * at the upper y and z edges (u + u_n)(v + v_e) and (u + u_t)(w + w_e). */
KERNEL_FN real fluid_momentum_u(const struct fluid_coeff *q, real u, real u_e,
                                real u_w, real u_n, real u_s, real u_t,
                                real u_b, real v_s, real v_se, real w_b,
                                real w_be, real uv, real uw)
{
    real e = u_e + u, w = u + u_w;
    real a = q->force[0] + q->diff_c * u;
    a += q->adv_x * (w * w - e * e);
    a += q->adv_y * ((u_s + u) * (v_s + v_se) - uv);
    a += q->adv_z * ((u_b + u) * (w_b + w_be) - uw);
    a += q->diff_x * (u_e + u_w);
    a += q->diff_y * (u_n + u_s);
    a += q->diff_t * u_t;
    return a + q->diff_b * u_b;
}

/* The acceleration of v(i,j,k). uv, vw: (u + u_n)(v + v_e), (v + v_t)(w + w_n).
 */
KERNEL_FN real fluid_momentum_v(const struct fluid_coeff *q, real v, real v_e,
                                real v_w, real v_n, real v_s, real v_t,
                                real v_b, real u_w, real u_nw, real w_b,
                                real w_bn, real uv, real vw)
{
    real n = v_n + v, s = v + v_s;
    real a = q->force[1] + q->diff_c * v;
    a += q->adv_y * (s * s - n * n);
    a += q->adv_x * ((u_w + u_nw) * (v_w + v) - uv);
    a += q->adv_z * ((v_b + v) * (w_b + w_bn) - vw);
    a += q->diff_x * (v_e + v_w);
    a += q->diff_y * (v_n + v_s);
    a += q->diff_t * v_t;
    return a + q->diff_b * v_b;
}

/* The acceleration of w(i,j,k): advected by u, v weighted with cell heights. */
KERNEL_FN real fluid_momentum_w(const struct fluid_coeff *q, real w, real w_e,
                                real w_w, real w_n, real w_s, real w_t,
                                real w_b, real u, real u_t, real u_w, real u_tw,
                                real v, real v_t, real v_s, real v_ts)
{
    real t = w_t + w, b = w + w_b;
    real a = q->force[2] + q->diff_cw * w;
    a += q->adv_zw * (b * b - t * t);
    a += q->adv_x * ((q->here * u_w + q->above * u_tw) * (w_w + w) -
                     (q->here * u + q->above * u_t) * (w + w_e));
    a += q->adv_y * ((q->here * v_s + q->above * v_ts) * (w_s + w) -
                     (q->here * v + q->above * v_t) * (w + w_n));
    a += q->diff_x * (w_e + w_w);
    a += q->diff_y * (w_n + w_s);
    a += q->diff_tw * w_t;
    return a + q->diff_bw * w_b;
}

/* Four-point means for the Coriolis force. Those between w and the other two
 * are weighted like the advection of w, so that no work is done. */
KERNEL_FN real fluid_mean4(real a, real b, real c, real d)
{
    return (scalar)0.25 * ((a + b) + (c + d));
}
KERNEL_FN real fluid_mean4_up(const struct fluid_coeff *q, real a, real b,
                              real a_t, real b_t)
{
    return (scalar)0.25 * (q->here * (a + b) + q->above * (a_t + b_t));
}

KERNEL_FN real fluid_divergence(real u, real u_w, real v, real v_s, real w,
                                real w_b, scalar inverse_dx, scalar inverse_dy,
                                scalar inverse_h)
{
    return inverse_dx * (u - u_w) + inverse_dy * (v - v_s) +
           inverse_h * (w - w_b);
}

/* The part of one coordinate direction in viscosity * Laplacian: lower and
 * upper are the factors of the neighbors (diff_b, diff_t and the like). */
KERNEL_FN real fluid_diffusion_1d(real c, real next, real before, scalar upper,
                                  scalar lower)
{
    return upper * (next - c) - lower * (c - before);
}

#endif
