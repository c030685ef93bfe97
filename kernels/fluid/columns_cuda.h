/* columns_cuda.h: the loops of the Poisson solver, in columns_cuda.cu. */
#ifndef WARPDECK_KERNELS_FLUID_COLUMNS_CUDA_H
#define WARPDECK_KERNELS_FLUID_COLUMNS_CUDA_H

#include "kernels/fluid/poisson_cuda.h"

/* What the elimination leaves of a column: for each of its two real parts six
 * numbers, see struct sweep in columns_cuda.cu. */
enum { RECORD_PART = 6, RECORD = 2 * RECORD_PART };

#define poisson_cuda_modes_to_rows FLUID_NAME(poisson_cuda_modes_to_rows)
#define poisson_cuda_rows_to_modes FLUID_NAME(poisson_cuda_rows_to_modes)
#define poisson_cuda_pack_rows FLUID_NAME(poisson_cuda_pack_rows)
#define poisson_cuda_unpack_rows FLUID_NAME(poisson_cuda_unpack_rows)
#define poisson_cuda_eliminate FLUID_NAME(poisson_cuda_eliminate)
#define poisson_cuda_substitute FLUID_NAME(poisson_cuda_substitute)

/* x_lines, transformed, to y_lines or, where y is cut, to by_mode: the pieces
 * of all ranks behind each other, each [k][row][j]. And back. */
int poisson_cuda_modes_to_rows(struct fluid_store *s,
                               const struct poisson_view *v);
int poisson_cuda_rows_to_modes(struct fluid_store *s,
                               const struct poisson_view *v);
/* y_lines to by_row, the pieces of all ranks, each [k][row][j]; and back. */
int poisson_cuda_pack_rows(struct fluid_store *s, const struct poisson_view *v);
int poisson_cuda_unpack_rows(struct fluid_store *s,
                             const struct poisson_view *v);
/* Tridiagonal systems along z in y_lines: what couples this rank's planes to
 * others, to this rank's records; then the solution, from all records. */
int poisson_cuda_eliminate(struct fluid_store *s, const struct poisson_view *v);
int poisson_cuda_substitute(struct fluid_store *s,
                            const struct poisson_view *v);

#endif
