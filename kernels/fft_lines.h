/* fft_lines.h: Fourier transforms of many lines, one behind the other, of any
 * length, in double precision.
 *
 * Nothing is scaled: back after forward gives n times what was there. Plans are
 * made without measuring, so that the same lines give the same bits in every
 * run.
 */
#ifndef WARPDECK_KERNELS_FFT_LINES_H
#define WARPDECK_KERNELS_FFT_LINES_H

#include <stddef.h>

struct ctx;
struct fft_lines;

/* Real lines become n / 2 + 1 complex numbers each, exp(-2 pi i j k / n);
 * complex ones (re, im, re, im, ...) are transformed in place. */
enum fft_lines_kind { FFT_LINES_REAL, FFT_LINES_COMPLEX };

/* For `lines` lines (0 is fine) of n numbers. Arrays must come from
 * fft_lines_alloc(). The caller owns *out. Errors: STATUS_MEMORY. */
int fft_lines_create(struct ctx *ctx, size_t n, size_t lines,
                     enum fft_lines_kind kind, struct fft_lines **out);
void fft_lines_destroy(struct fft_lines *f); /* NULL is fine */

/* Real lines: `real` is read and `modes` written; back destroys `modes`.
 * Complex lines: `real` is not looked at. */
void fft_lines_forward(const struct fft_lines *f, double *real, double *modes);
void fft_lines_back(const struct fft_lines *f, double *modes, double *real);

/* n doubles, zero, as aligned as the transforms like them; NULL without memory.
 * Freed with fft_lines_free(). */
double *fft_lines_alloc(size_t n);
void fft_lines_free(double *p);

#endif
