/* poisson_cpu.h: the discrete Poisson equation on this rank's block, solved
 * directly: real transforms along x and y, tridiagonal systems along z.
 *
 * Compiled once per precision (FLUID_PRECISION 1 double, 3 single). The store
 * hands in one plane of the right-hand side at a time and takes one plane of
 * the solution at a time, so that planes can stay in cache between the stencil
 * and the transform. Nothing here talks to other ranks.
 *
 * Solves L psi = rhs with the second-order operator of the grid: dx, dy
 * uniform; along z rows a(k) = 1/(h(k) hc(k-1)), c(k) = 1/(h(k) hc(k)), b =
 * -(a + c), a(0) = 0 at the lower wall, c(n-1) = 0 at the upper one, h cell
 * heights, hc distances of centers. Normalisation of the transforms is folded
 * in. The mean mode, singular where no direction fixes a value, gets a finite
 * solution.
 */
#ifndef WARPDECK_KERNELS_FLUID_POISSON_CPU_H
#define WARPDECK_KERNELS_FLUID_POISSON_CPU_H

#include "kernels/fluid/fluid_kernels.h"

#if FLUID_PRECISION == 3
typedef float fluid_scalar_t;
#define FLUID_NAME(base) base##_single
#else
typedef double fluid_scalar_t;
#define FLUID_NAME(base) base##_double
#endif

#define poisson_create FLUID_NAME(poisson_create)
#define poisson_destroy FLUID_NAME(poisson_destroy)
#define poisson_bytes FLUID_NAME(poisson_bytes)
#define poisson_forward_plane FLUID_NAME(poisson_forward_plane)
#define poisson_inverse_plane FLUID_NAME(poisson_inverse_plane)
#define poisson_send_begin FLUID_NAME(poisson_send_begin)
#define poisson_send_end FLUID_NAME(poisson_send_end)
#define poisson_transform_y FLUID_NAME(poisson_transform_y)
#define poisson_inverse_y FLUID_NAME(poisson_inverse_y)
#define poisson_columns_begin FLUID_NAME(poisson_columns_begin)
#define poisson_columns_end FLUID_NAME(poisson_columns_end)

struct poisson;

/* Errors: STATUS_MEMORY. The caller owns *out. */
int poisson_create(struct ctx *ctx, const struct fluid_setup *setup,
                   struct poisson **out);
void poisson_destroy(struct poisson *p);
size_t poisson_bytes(const struct fluid_setup *setup);

/* Plane k of the right-hand side, local[1] rows of local[0] numbers, `pitch`
 * numbers apart (a multiple of the vector's lanes, rows aligned to a vector;
 * what stands beyond local[0] is not looked at): transformed along x and, where
 * y is not cut, along y, into the spectrum. rhs may be overwritten. Planes may
 * come in any order, from several threads for different k. */
void poisson_forward_plane(struct poisson *p, int64_t k, fluid_scalar_t *rhs,
                           size_t pitch);
/* The reverse: plane k of the solution. The spectrum stays, so that a plane may
 * be asked for again (the pressure of a frame). k = -1 and k = local[2]: the
 * planes of the neighbors in z, where FLUID_PSI_Z has brought them. */
void poisson_inverse_plane(struct poisson *p, int64_t k, fluid_scalar_t *psi,
                           size_t pitch);

/* FLUID_TRANSPOSE, FLUID_TRANSPOSE_BACK, FLUID_COLUMNS as in
 * fluid_kernels.h; and, where y is not cut, FLUID_PSI_Z: the spectrum of the
 * first plane goes down, that of the upper neighbor's first plane is stored as
 * plane local[2]. */
int poisson_send_begin(struct ctx *ctx, struct poisson *p,
                       enum fluid_exchange what, struct fluid_transfer *out);
int poisson_send_end(struct ctx *ctx, struct poisson *p,
                     enum fluid_exchange what);
void poisson_transform_y(struct poisson *p);
void poisson_inverse_y(struct poisson *p);
/* Tridiagonal systems along z for all columns of this rank; where z is cut,
 * _begin leaves a reduced system in the message and _end substitutes. */
void poisson_columns_begin(struct poisson *p);
void poisson_columns_end(struct poisson *p);

#endif
