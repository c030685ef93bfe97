/* linear.c: see linear.h. */
#include "kernels/linear.h"

#include <lapacke.h>
#include <stdlib.h>
#include <string.h>

#include "base/ctx.h"
#include "base/error.h"

int linear_eigen(struct ctx *ctx, int n, const double *a, double *values,
                 double *vectors)
{
    const size_t bytes = (size_t)n * (size_t)n * sizeof(double);
    double *work = malloc(bytes > 0 ? bytes : 1);
    if (work == NULL)
        return FAIL(ctx, STATUS_MEMORY, "out of memory for eigenvalues");
    memcpy(work, a, bytes);
    /* The lower triangle by rows is the upper one by columns; LAPACK leaves
     * eigenvectors in columns, which are our rows. */
    lapack_int info =
        LAPACKE_dsyev(LAPACK_COL_MAJOR, vectors != NULL ? 'V' : 'N', 'U', n,
                      work, n > 0 ? n : 1, values);
    if (info == 0 && vectors != NULL)
        memcpy(vectors, work, bytes);
    free(work);
    if (info == LAPACK_WORK_MEMORY_ERROR)
        return FAIL(ctx, STATUS_MEMORY, "out of memory for eigenvalues");
    if (info != 0)
        return FAIL(ctx, STATUS_INTERNAL, "dsyev failed with %d", (int)info);
    return 0;
}

int linear_least_squares(struct ctx *ctx, int rows, int n, double *a, double *b,
                         double *x, int *rank)
{
    lapack_int *pivot = calloc((size_t)n + 1, sizeof *pivot);
    const int longer = rows > n ? rows : n;
    double *rhs = calloc((size_t)longer + 1, sizeof *rhs);
    lapack_int used = 0, info = LAPACK_WORK_MEMORY_ERROR;
    if (pivot != NULL && rhs != NULL) {
        memcpy(rhs, b, (size_t)rows * sizeof *b);
        info = LAPACKE_dgelsy(LAPACK_ROW_MAJOR, rows, n, 1, a, n, rhs, 1, pivot,
                              1e-12, &used);
    }
    if (info == 0) {
        memcpy(x, rhs, (size_t)n * sizeof *x);
        *rank = (int)used;
    }
    free(rhs);
    free(pivot);
    if (info == LAPACK_WORK_MEMORY_ERROR)
        return FAIL(ctx, STATUS_MEMORY, "out of memory for a regression");
    if (info != 0)
        return FAIL(ctx, STATUS_INTERNAL, "dgelsy failed with %d", (int)info);
    return 0;
}
