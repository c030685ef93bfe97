/* fft_lanes.h: Fourier and cosine transforms of as many lines at once as a
 * vector has lanes.
 *
 * Compiled once per precision (FLUID_PRECISION 1 double, 3 single). Element j
 * of all lines stands in two vectors side by side: the real and imaginary part
 * of complex lines, or two independent sets of real lines ("slots" 0 and 1),
 * which then go through one complex transform together. The spectrum stays in
 * the order in which the passes leave it: position[k] says where frequency k
 * is. What works on each frequency alone does not care, and no pass over memory
 * is spent on putting it in order.
 *
 * Lengths 2^a 3^b 5^c 7^d 11^e 13^f run here; others go through FFTW on the
 * same data (fft_fftw.c). Scales: inverse(forward(x)) = n x.
 */
#ifndef WARPDECK_KERNELS_FFT_LANES_H
#define WARPDECK_KERNELS_FFT_LANES_H

#if FLUID_PRECISION == 3
#define KERNEL_SCALAR float
#define KERNEL_SCALAR_BYTES 4
#define KERNEL_MASK_SCALAR int32_t
#define FFT_NAME(base) base##_single
#else
#define KERNEL_SCALAR double
#define KERNEL_SCALAR_BYTES 8
#define KERNEL_MASK_SCALAR int64_t
#define FFT_NAME(base) base##_double
#endif
#include "kernels/simd.h"

#define fft_create FFT_NAME(fft_create)
#define fft_destroy FFT_NAME(fft_destroy)
#define fft_forward FFT_NAME(fft_forward)
#define fft_inverse FFT_NAME(fft_inverse)
#define fft_complex_forward FFT_NAME(fft_complex_forward)
#define fft_complex_inverse FFT_NAME(fft_complex_inverse)
#define fft_mode_at FFT_NAME(fft_mode_at)
#define fft_other_create FFT_NAME(fft_other_create)
#define fft_other_destroy FFT_NAME(fft_other_destroy)
#define fft_other_run FFT_NAME(fft_other_run)

struct ctx;

/* FFT_COMPLEX: X(k) = sum x(j) exp(-2 pi i j k / n).
 * FFT_REAL:    the same of real lines, in both slots.
 * FFT_COSINE:  DCT-II of real lines, in both slots,
 *              X(k) = sum x(j) cos(pi k (2 j + 1) / (2 n)):
 *              cells whose normal derivative is zero at both ends. */
enum fft_kind { FFT_COMPLEX, FFT_REAL, FFT_COSINE };

enum { FFT_PASSES_MAX = 64 };

struct fft {
    size_t n;
    enum fft_kind kind;
    int n_passes; /* pass i splits blocks of length[i] into radix[i] */
    int radix[FFT_PASSES_MAX];
    size_t length[FFT_PASSES_MAX];
    const scalar *twiddle[FFT_PASSES_MAX]; /* [length / radix][radix - 1][2] */
    int first_small;   /* from this pass on blocks fit a first-level cache */
    int32_t *order;    /* element j of the transform is sample order[j] */
    int32_t *position; /* of frequency k, k < n */
    scalar *turn;      /* cosine: cos, sin of pi k / (2 n), both halved */
    scalar *numbers;   /* all twiddles */
    struct fft_other *other; /* FFTW's plans, or NULL */
};

/* Which mode stands in a slot of a position: exp(i angle j) or
 * cos(angle (j + 1/2)), of which of the two real lines. */
struct fft_mode {
    double angle;
    int line; /* 0 or 1; of a complex line 0 */
};

/* Errors: STATUS_MEMORY, STATUS_UNSUPPORTED. The caller owns *out. */
int fft_create(struct ctx *ctx, size_t n, enum fft_kind kind, struct fft **out);
void fft_destroy(struct fft *f);

/* Sample j: a vector at from[j * step] and one at from[j * step + half].
 * Position p of the result: at to[2 * p] and to[2 * p + 1]. scratch: 2 n
 * vectors; `to` will do. Where step = 2 * LANES and half = LANES, `from` may be
 * `to`, and for other kinds than FFT_COSINE also the scratch. */
void fft_forward(const struct fft *f, const scalar *from, size_t step,
                 size_t half, real *scratch, real *to);
/* The reverse. scratch may be `from`, which is then lost; for other kinds than
 * FFT_COSINE it may also be `to`. */
void fft_inverse(const struct fft *f, const real *from, real *scratch,
                 scalar *to, size_t step, size_t half);

struct fft_mode fft_mode_at(const struct fft *f, size_t position, int slot);

/* ---- between the files of this module ---- */

/* The complex transform alone; fft_complex_inverse reads `from`, works in z and
 * leaves its result in `to`, in the order of samples. */
void fft_complex_forward(const struct fft *f, const scalar *from, size_t step,
                         size_t half, real *z);
void fft_complex_inverse(const struct fft *f, const real *from, real *z,
                         scalar *to, size_t step, size_t half);

/* Complex transforms of any length in place, in natural order (fft_fftw.c).
 * sign: -1 forward, +1 inverse. */
int fft_other_create(struct ctx *ctx, size_t n, struct fft_other **out);
void fft_other_destroy(struct fft_other *o);
void fft_other_run(const struct fft_other *o, int sign, real *z);

/* ---- transposition ---- */

#if defined(__GNUC__) && !defined(__clang__)
#define FFT_LOW_(l) ((l)&w ? LANES + (l)-w : (l))
#define FFT_HIGH_(l) ((l)&w ? LANES + (l) : (l) + w)
#define FFT_2_(f, l) f(l), f((l) + 1)
#define FFT_4_(f, l) FFT_2_(f, l), FFT_2_(f, (l) + 2)
#define FFT_8_(f, l) FFT_4_(f, l), FFT_4_(f, (l) + 4)
#define FFT_16_(f, l) FFT_8_(f, l), FFT_8_(f, (l) + 8)
#if SIMD_BYTES / KERNEL_SCALAR_BYTES == 16
#define FFT_LANES_(f) FFT_16_(f, 0)
#elif SIMD_BYTES / KERNEL_SCALAR_BYTES == 8
#define FFT_LANES_(f) FFT_8_(f, 0)
#elif SIMD_BYTES / KERNEL_SCALAR_BYTES == 4
#define FFT_LANES_(f) FFT_4_(f, 0)
#else
#define FFT_LANES_(f) FFT_2_(f, 0)
#endif

KERNEL_FN void fft_swap_stage(real *r, const int w)
{
    const lane_int low = {FFT_LANES_(FFT_LOW_)};
    const lane_int high = {FFT_LANES_(FFT_HIGH_)};
    KERNEL_UNROLL
    for (int i = 0; i < LANES; i++)
        if (!(i & w)) {
            real a = r[i], b = r[i + w];
            r[i] = __builtin_shuffle(a, b, low);
            r[i + w] = __builtin_shuffle(a, b, high);
        }
}

/* LANES vectors of LANES numbers: rows become columns. */
KERNEL_FN void fft_transpose(real *r)
{
    fft_swap_stage(r, 1);
    if (LANES > 2)
        fft_swap_stage(r, 2);
    if (LANES > 4)
        fft_swap_stage(r, 4);
    if (LANES > 8)
        fft_swap_stage(r, 8);
}
#else
KERNEL_FN void fft_transpose(real *r)
{
    for (int i = 0; i < LANES; i++)
        for (int l = 0; l < i; l++) {
            scalar t = r[i][l];
            r[i][l] = r[l][i];
            r[l][i] = t;
        }
}
#endif

#endif
