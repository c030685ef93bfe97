/* fft_cuda.h: many real transforms at once, of lines or boxes, on a card by
 * cuFFT.
 *
 * Lines stand one behind the other, each with room for its transform: n real
 * numbers become n/2 + 1 complex ones in place, cuda_fft_pitch(n) real numbers
 * from line to line. Nothing is scaled: forward and inverse give n times what
 * was there. Work is done in pieces, so that the workspace stays small.
 *
 * cuFFT is a library of several hundred MB that nothing else needs. It is
 * loaded when the first transform is made: a machine without it can do all that
 * takes no transforms.
 */
#ifndef WARPDECK_KERNELS_FFT_CUDA_H
#define WARPDECK_KERNELS_FFT_CUDA_H

#include <stddef.h>
#include <stdint.h>

#include "kernels/device_cuda.h"

struct cuda_fft;

static inline int64_t cuda_fft_pitch(int64_t n)
{
    return 2 * (n / 2 + 1);
}

/* Bytes of the workspace that cuda_fft_create() will most probably ask for.
 * real_bytes: 8 (double) or 4 (single). */
double cuda_fft_estimate(int64_t n, int64_t lines, size_t real_bytes);

/* Plans for `lines` lines of n numbers in the device's stream; *workspace is
 * raised to what they need. No memory of the card is taken but by cuFFT for its
 * tables. The caller owns *out. Errors: STATUS_UNSUPPORTED where cuFFT is
 * missing, STATUS_MEMORY, STATUS_FAILED. */
int cuda_fft_create(struct ctx *ctx, int64_t n, int64_t lines,
                    size_t real_bytes, size_t *workspace,
                    struct cuda_fft **out);
void cuda_fft_destroy(struct cuda_fft *f);

/* Boxes of n[2] planes of n[1] such lines of n[0] numbers: one forward, `back`
 * of them one behind the other at once back. The plans keep their own memory.
 */
int cuda_fft_create_box(struct ctx *ctx, const int64_t n[3], int back,
                        struct cuda_fft **out);

/* The memory to work in, of the size that was asked for; transforms of one
 * stream may share it. */
int cuda_fft_set_workspace(struct ctx *ctx, struct cuda_fft *f, void *area);

int cuda_fft_forward(struct ctx *ctx, struct cuda_fft *f, void *lines);
int cuda_fft_inverse(struct ctx *ctx, struct cuda_fft *f, void *lines);

#endif
