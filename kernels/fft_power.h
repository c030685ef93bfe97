/* fft_power.h: mean squares by mode of real lines, for spectra of results.
 */
#ifndef WARPDECK_KERNELS_FFT_POWER_H
#define WARPDECK_KERNELS_FFT_POWER_H

#include <stddef.h>

struct ctx;
struct fft_power;

/* For lines of n >= 1 numbers. Errors: STATUS_MEMORY. The caller owns *out. */
int fft_power_create(struct ctx *ctx, size_t n, struct fft_power **out);
void fft_power_destroy(struct fft_power *p); /* NULL is fine */

/* How many modes a line has: n / 2 + 1. */
size_t fft_power_modes(size_t n);

/* Add to sums[fft_power_modes(n)] `weight` times what each mode has of the mean
 * square of a line, whose numbers stand `stride` apart: mode m's share is
 * 2 |X(m)|^2 / n^2, or half of it for m = 0 and m = n / 2, so that the sum over
 * modes is the mean square (Parseval). */
void fft_power_add(struct fft_power *p, const double *line, size_t stride,
                   double weight, double *sums);

#endif
