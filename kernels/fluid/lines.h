/* lines.h: the tridiagonal systems of implicit diffusion, in numbers.
 *
 * Along one axis every line of unknowns solves the same small matrix
 *     T = 1 - a L,   a = alpha dt viscosity / 2,
 * L the second difference of the grid with homogeneous walls. A line may be cut
 * among ranks. Each rank eliminates its own piece; what couples the pieces is
 * the unknown before its first (xl) and the one after its last (xu). Both
 * follow from the first and last unknowns y of the uncoupled pieces:
 *     xl = sum over ranks q of  weight(q) . (y_first(q), y_last(q)),
 * and so for xu, with weights that belong to the matrix alone (partition
 * method, Wang 1981). They fall off geometrically with distance, so that a rank
 * hears only those whose weight is above round-off. A line that is periodic or
 * whole is the same with one rank.
 *
 * Everything here is in double and small; the loops over lines are elsewhere.
 */
#ifndef WARPDECK_KERNELS_FLUID_LINES_H
#define WARPDECK_KERNELS_FLUID_LINES_H

#include <stdint.h>

struct ctx;

/* Where the unknowns of a line stand and what they are at the walls. */
enum lines_wall {
    LINES_PERIODIC,
    LINES_PERIODIC_FACE,
    LINES_FACE, /* on the faces, 0 on the walls (the last one is the wall's) */
    LINES_ODD,  /* at the centers, 0 on the wall */
    LINES_EVEN  /* at the centers, no slope at the wall */
};

/* Rows of L for the whole axis: lower[i] x[i-1] + diagonal[i] x[i] +
 * upper[i] x[i+1]. A row that must stay 0 is zero itself. */
struct lines_rows {
    int64_t n;
    double *lower, *diagonal, *upper;
};

/* faces: n + 1 rising coordinates. Errors: STATUS_MEMORY. */
int lines_rows_create(struct ctx *ctx, struct lines_rows *rows, int64_t n,
                      const double *faces, enum lines_wall low,
                      enum lines_wall high);
void lines_rows_destroy(struct lines_rows *rows);

/* This rank's piece, eliminated. With r the right-hand side, i its rows:
 *     forward    d[i] = scale[i] r[i] - lower[i] d[i-1]          (d[-1] = 0)
 *     y_first = sum first[i] d[i],   y_last = d[n-1]
 *     backward   x[i] = d[i] - carry[i] xl - upper[i] x[i+1]     (x[n] = xu)
 */
struct lines_plan {
    int64_t n;
    double *scale, *lower, *upper, *first, *carry; /* [n], one allocation */
    int alone; /* nothing couples: xl = xu = 0 */
    /* Ranks that matter, in rising order, this one among them. */
    int n_ranks;
    int *rank;
    double *weight; /* [n_ranks][4]: xl of first, last; xu of first, last */
    double *scratch;
    int held; /* ranks that the arrays have room for */
};

/* How the axis is cut: cuts[ranks + 1], this rank's place, and whether the
 * first and last rank are neighbors. */
struct lines_cut {
    int ranks, rank, periodic;
    const int64_t *cuts;
};

/* Ranks on either side that T of these rows needs. */
int lines_reach(const struct lines_rows *rows, const struct lines_cut *cut,
                double a);
/* Make or renew the plan for a; zero-initialised before the first call. Errors:
 * STATUS_MEMORY. */
int lines_plan_set(struct ctx *ctx, struct lines_plan *plan,
                   const struct lines_rows *rows, const struct lines_cut *cut,
                   double a, int reach);
void lines_plan_destroy(struct lines_plan *plan);

#endif
