/* fft_power.c: see fft_power.h. */
#include "kernels/fft_power.h"

#include <fftw3.h>
#include <stdlib.h>

#include "base/ctx.h"
#include "base/error.h"

struct fft_power {
    size_t n;
    double *line;
    fftw_complex *modes;
    fftw_plan plan;
};

size_t fft_power_modes(size_t n)
{
    return n / 2 + 1;
}

void fft_power_destroy(struct fft_power *p)
{
    if (p == NULL)
        return;
    if (p->plan != NULL)
        fftw_destroy_plan(p->plan);
    fftw_free(p->line);
    fftw_free(p->modes);
    free(p);
}

int fft_power_create(struct ctx *ctx, size_t n, struct fft_power **out)
{
    struct fft_power *p = calloc(1, sizeof *p);
    *out = NULL;
    if (p != NULL) {
        p->n = n;
        p->line = fftw_alloc_real(n);
        p->modes = fftw_alloc_complex(fft_power_modes(n));
        if (p->line != NULL && p->modes != NULL)
            p->plan =
                fftw_plan_dft_r2c_1d((int)n, p->line, p->modes, FFTW_ESTIMATE);
    }
    if (p == NULL || p->plan == NULL) {
        fft_power_destroy(p);
        return FAIL(ctx, STATUS_MEMORY, "no memory for a transform of %zu", n);
    }
    *out = p;
    return 0;
}

void fft_power_add(struct fft_power *p, const double *line, size_t stride,
                   double weight, double *sums)
{
    const size_t n = p->n;
    const double scale = weight / ((double)n * (double)n);
    for (size_t i = 0; i < n; i++)
        p->line[i] = line[i * stride];
    fftw_execute(p->plan);
    for (size_t m = 0; m < fft_power_modes(n); m++) {
        const double *x = p->modes[m];
        double once = m == 0 || 2 * m == n ? 1 : 2;
        sums[m] += once * scale * (x[0] * x[0] + x[1] * x[1]);
    }
}
