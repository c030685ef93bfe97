/* poisson_cuda.h: the discrete Poisson equation on a card, see poisson_cpu.h.
 *
 * Everything along x and y is a real transform of lines that lie behind each
 * other: a periodic line becomes the real and imaginary parts of its Fourier
 * modes, one between walls becomes its cosine modes, by a Fourier transform of
 * the reordered line and a rotation of each mode (Makhoul 1980). Reordering
 * happens where a line is written, rotating where modes are read anyway: in the
 * transposition and in the sweep along z. As the operator is real and the same
 * for both parts of a mode, real and imaginary parts of x modes are lines of
 * their own along y.
 *
 *     x_lines[k][j][]      the right-hand side, then x modes, in the end psi
 *     y_lines[k][row][]    lines along y of x modes, then modes of both
 *
 * Where z is cut or periodic, each rank's planes but its last are eliminated,
 * what remains is a small cyclic system of the last planes of all ranks, which
 * each rank solves for itself.
 */
#ifndef WARPDECK_KERNELS_FLUID_POISSON_CUDA_H
#define WARPDECK_KERNELS_FLUID_POISSON_CUDA_H

#include "kernels/fft_cuda.h"
#include "kernels/fluid/store_cuda.h"

struct alignas(2 * sizeof(scalar)) scalar_pair {
    scalar re, im;
};

struct poisson_view {
    int nx, ny, nz; /* ny: of the whole grid; nz: of this rank */
    int ny_here;    /* rows of this rank */
    int cx, cy;     /* complex numbers of a line */
    int cosine_x, cosine_y;
    int modes_x; /* rows of all ranks: real lines along y */
    int rows;    /* of this rank, from row0 on */
    int row0;
    int ranks_y, rank_y, ranks_z, rank_z;
    int reduced; /* z is cut or periodic */
    scalar *x_lines, *y_lines;
    scalar_pair *work;        /* x_lines while they are not needed */
    scalar *by_mode, *by_row; /* where y is cut: what goes and comes */
    double *records;          /* [ranks_z][RECORD][columns] */
    const scalar_pair *twiddle_x, *twiddle_y;
    const double *lambda_x;     /* [modes_x] */
    const double *lambda_y;     /* [2 cy] */
    const double *row_z;        /* [3][nz]: lower, diagonal, upper */
    const double *upper_z;      /* [ranks_z]: upper of each rank's last plane */
    const int *row_cut, *y_cut; /* [ranks_y + 1] */
    scalar scale;               /* of both transforms */
};

/* Where value i of a line of n stands before a cosine transform. */
KERNEL_FN int cosine_place(int i, int n)
{
    return i % 2 == 0 ? i / 2 : n - 1 - i / 2;
}

/* psi, or the right-hand side, of cell (i,j,k). */
static __device__ __forceinline__ size_t
poisson_at(const struct poisson_view *p, int i, int j, int k)
{
    int place = p->cosine_x ? cosine_place(i, p->nx) : i;
    return ((size_t)k * (size_t)p->ny_here + (size_t)j) * (size_t)(2 * p->cx) +
           (size_t)place;
}

#define poisson_cuda_estimate FLUID_NAME(poisson_cuda_estimate)
#define poisson_cuda_create FLUID_NAME(poisson_cuda_create)
#define poisson_cuda_destroy FLUID_NAME(poisson_cuda_destroy)
#define poisson_cuda_view FLUID_NAME(poisson_cuda_view)
#define poisson_cuda_forward FLUID_NAME(poisson_cuda_forward)
#define poisson_cuda_transform_y FLUID_NAME(poisson_cuda_transform_y)
#define poisson_cuda_columns_begin FLUID_NAME(poisson_cuda_columns_begin)
#define poisson_cuda_columns_end FLUID_NAME(poisson_cuda_columns_end)
#define poisson_cuda_inverse_y FLUID_NAME(poisson_cuda_inverse_y)
#define poisson_cuda_inverse_x FLUID_NAME(poisson_cuda_inverse_x)
#define poisson_cuda_send_begin FLUID_NAME(poisson_cuda_send_begin)
#define poisson_cuda_send_end FLUID_NAME(poisson_cuda_send_end)

double poisson_cuda_estimate(const struct fluid_setup *setup);
/* Errors: STATUS_MEMORY, STATUS_UNSUPPORTED (no cuFFT). */
int poisson_cuda_create(struct fluid_store *s, struct poisson_cuda **out);
void poisson_cuda_destroy(struct poisson_cuda *p);
const struct poisson_view *poisson_cuda_view(const struct poisson_cuda *p);

/* x_lines hold the right-hand side: transform along x and, where y is not cut,
 * y. The other calls do nothing where y is not cut; columns_end() then goes on
 * to psi in space. */
int poisson_cuda_forward(struct fluid_store *s);
int poisson_cuda_transform_y(struct fluid_store *s);
int poisson_cuda_columns_begin(struct fluid_store *s);
int poisson_cuda_columns_end(struct fluid_store *s);
int poisson_cuda_inverse_y(struct fluid_store *s);
int poisson_cuda_inverse_x(struct fluid_store *s);
/* FLUID_TRANSPOSE, FLUID_TRANSPOSE_BACK, FLUID_COLUMNS. */
int poisson_cuda_send_begin(struct fluid_store *s, enum fluid_exchange what,
                            struct fluid_transfer *out);
int poisson_cuda_send_end(struct fluid_store *s, enum fluid_exchange what);

#endif
