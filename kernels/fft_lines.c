/* fft_lines.c: see fft_lines.h. By FFTW, which has algorithms for all lengths.
 */
#include "kernels/fft_lines.h"

#include <fftw3.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

struct fft_lines {
    enum fft_lines_kind kind;
    fftw_plan forward, back; /* NULL: there are no lines */
};

double *fft_lines_alloc(size_t n)
{
    double *p = fftw_alloc_real(n + 1);
    if (p)
        memset(p, 0, (n + 1) * sizeof *p);
    return p;
}

void fft_lines_free(double *p)
{
    fftw_free(p);
}

void fft_lines_destroy(struct fft_lines *f)
{
    if (!f)
        return;
#ifdef _OPENMP
#pragma omp critical(fftw_planner)
#endif
    {
        if (f->forward)
            fftw_destroy_plan(f->forward);
        if (f->back)
            fftw_destroy_plan(f->back);
    }
    free(f);
}

static void make_plans(struct fft_lines *f, int n, int lines, double *real,
                       double *numbers)
{
    fftw_complex *modes = (fftw_complex *)numbers;
    int half = n / 2 + 1;
    if (f->kind == FFT_LINES_REAL) {
        f->forward =
            fftw_plan_many_dft_r2c(1, &n, lines, real, NULL, 1, n, modes, NULL,
                                   1, half, FFTW_ESTIMATE);
        f->back = fftw_plan_many_dft_c2r(1, &n, lines, modes, NULL, 1, half,
                                         real, NULL, 1, n, FFTW_ESTIMATE);
        return;
    }
    f->forward = fftw_plan_many_dft(1, &n, lines, modes, NULL, 1, n, modes,
                                    NULL, 1, n, FFTW_FORWARD, FFTW_ESTIMATE);
    f->back = fftw_plan_many_dft(1, &n, lines, modes, NULL, 1, n, modes, NULL,
                                 1, n, FFTW_BACKWARD, FFTW_ESTIMATE);
}

int fft_lines_create(struct ctx *ctx, size_t n, size_t lines,
                     enum fft_lines_kind kind, struct fft_lines **out)
{
    int status = 0;
    double *real = NULL, *modes = NULL;
    struct fft_lines *f = *out = calloc(1, sizeof *f);
    if (!f)
        return FAIL(ctx, STATUS_MEMORY, "no memory for a transform");
    f->kind = kind;
    if (lines == 0)
        return 0;
    real = fft_lines_alloc(kind == FFT_LINES_REAL ? n * lines : 0);
    modes = fft_lines_alloc(2 * n * lines + 2 * lines);
    if (real && modes) {
#ifdef _OPENMP
#pragma omp critical(fftw_planner)
#endif
        make_plans(f, (int)n, (int)lines, real, modes);
    }
    if (!f->forward || !f->back)
        status = FAIL(ctx, STATUS_MEMORY,
                      "no memory for %zu transforms of %zu numbers", lines, n);
    fft_lines_free(real);
    fft_lines_free(modes);
    return status;
}

void fft_lines_forward(const struct fft_lines *f, double *real, double *modes)
{
    fftw_complex *z = (fftw_complex *)modes;
    if (!f->forward)
        return;
    if (f->kind == FFT_LINES_REAL)
        fftw_execute_dft_r2c(f->forward, real, z);
    else
        fftw_execute_dft(f->forward, z, z);
}

void fft_lines_back(const struct fft_lines *f, double *modes, double *real)
{
    fftw_complex *z = (fftw_complex *)modes;
    if (!f->back)
        return;
    if (f->kind == FFT_LINES_REAL)
        fftw_execute_dft_c2r(f->back, z, real);
    else
        fftw_execute_dft(f->back, z, z);
}
