/* linear.h: small dense linear algebra, by LAPACK. The home of <lapacke.h>.
 */
#ifndef WARPDECK_KERNELS_LINEAR_H
#define WARPDECK_KERNELS_LINEAR_H

struct ctx;

/* Eigenvalues, rising, and eigenvectors of a symmetric matrix a[n][n], of which
 * the lower triangle is read. vectors[j][i]: component i of the j-th; NULL: not
 * wanted. Errors: STATUS_MEMORY, STATUS_INTERNAL. */
int linear_eigen(struct ctx *ctx, int n, const double *a, double *values,
                 double *vectors);

/* The shortest x among those that minimise |a x - b|, for a[rows][n] of any
 * rank: singular directions below 1e-12 of the greatest are left out
 * (complete orthogonal factorisation). a and b are overwritten; x[n]; *rank:
 * how many directions were used. */
int linear_least_squares(struct ctx *ctx, int rows, int n, double *a, double *b,
                         double *x, int *rank);

#endif
