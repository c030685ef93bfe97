/* The transforms along lines against the sums that define them. */
#include "base/ctx.h"
#include "kernels/fft_lanes.h"
#include "tests/tap.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double pi = 3.14159265358979323846;

/* Lengths with every radix, alone and mixed, primes for FFTW, and 1. */
static const size_t sizes[] = {1,   2,   3,   4,   5,   6,   7,   8,   9,   10,
                               11,  12,  13,  14,  15,  16,  17,  19,  24,  25,
                               27,  30,  32,  34,  37,  40,  48,  60,  64,  77,
                               91,  96,  99,  100, 101, 120, 127, 128, 130, 135,
                               143, 150, 254, 256, 360, 375, 512, 720, 1024};
enum { N_SIZES = sizeof sizes / sizeof *sizes };

static real *vectors(size_t n)
{
    real *p = aligned_alloc(64, (n * sizeof(real) + 63) / 64 * 64);
    if (p)
        memset(p, 0, n * sizeof(real));
    return p;
}

static uint32_t state = 12345;
static double noise(void)
{
    state = state * 1664525u + 1013904223u;
    return (double)(state >> 8) / 16777216.0 - 0.5;
}

/* The number at a slot of a position by the definition, of lane l of samples
 * x (2 n vectors). */
static double by_sum(const struct fft *f, const real *x, size_t p, int slot,
                     int l)
{
    size_t n = f->n, k = 0;
    while ((size_t)f->position[k] != p)
        k++;
    double sum = 0;
    if (f->kind == FFT_COSINE) {
        for (size_t j = 0; j < n; j++)
            sum +=
                (double)x[2 * j + (size_t)slot][l] *
                cos(pi * (double)(k * (2 * j + 1) % (4 * n)) / (2 * (double)n));
        return sum;
    }
    int line = 0, part = slot;
    if (f->kind == FFT_REAL) {
        if (k == 0 || 2 * k == n) {
            line = slot;
            part = 0;
        } else if (2 * k > n) {
            line = 1;
            k = n - k;
        }
    }
    for (size_t j = 0; j < n; j++) {
        double angle = -2 * pi * (double)(j * k % n) / (double)n;
        double c = cos(angle), s = sin(angle);
        double re = (double)x[2 * j + (size_t)line][l];
        double im = f->kind == FFT_COMPLEX ? (double)x[2 * j + 1][l] : 0;
        sum += part == 0 ? re * c - im * s : re * s + im * c;
    }
    return sum;
}

struct worst {
    double sum, back;
    size_t at_sum, at_back;
};

static void check_size(struct ctx *ctx, size_t n, enum fft_kind kind,
                       struct worst *w)
{
    struct fft *f = NULL;
    real *x = vectors(4 * n), *z = vectors(2 * n), *scratch = vectors(2 * n);
    real *y = vectors(4 * n);
    if (!x || !y || !z || !scratch || fft_create(ctx, n, kind, &f) != 0) {
        w->sum = w->back = INFINITY;
        return;
    }
    /* Rows 4 vectors apart with the second slot 2 vectors on. */
    const size_t step = 4 * LANES, half = 2 * LANES;
    for (size_t j = 0; j < n; j++)
        for (size_t slot = 0; slot < 2; slot++)
            for (int l = 0; l < LANES; l++)
                x[2 * j + slot][l] = (scalar)noise();
    for (size_t j = 0; j < 2 * n; j++)
        y[2 * j] = x[j];
    fft_forward(f, (const scalar *)y, step, half, scratch, z);
    double scale = sqrt((double)n);
    for (size_t p = 0; p < n; p++)
        for (int slot = 0; slot < 2; slot++)
            for (int l = 0; l < LANES; l += LANES - 1) {
                double e = fabs((double)z[2 * p + (size_t)slot][l] -
                                by_sum(f, x, p, slot, l)) /
                           scale;
                if (!(e <= w->sum)) {
                    w->sum = e;
                    w->at_sum = n;
                }
            }
    fft_inverse(f, z, scratch, (scalar *)y, step, half);
    for (size_t j = 0; j < 2 * n; j++)
        for (int l = 0; l < LANES; l++) {
            double e = fabs((double)y[2 * j][l] / (double)n - (double)x[j][l]);
            if (!(e <= w->back)) {
                w->back = e;
                w->at_back = n;
            }
        }
    fft_destroy(f);
    free(x);
    free(y);
    free(z);
    free(scratch);
}

/* Each mode of the operator of differences is an eigenvector with the
 * eigenvalue of its angle: what the Poisson equation relies on. */
static double worst_mode(struct ctx *ctx, size_t n, enum fft_kind kind)
{
    struct fft *f = NULL;
    real *x = vectors(2 * n), *d = vectors(2 * n), *scratch = vectors(2 * n);
    double worst = 0;
    if (!x || !d || !scratch || fft_create(ctx, n, kind, &f) != 0)
        return INFINITY;
    for (size_t j = 0; j < 2 * n; j++)
        for (int l = 0; l < LANES; l++)
            x[j][l] = (scalar)noise();
    for (size_t j = 0; j < n; j++)
        for (size_t s = 0; s < 2; s++) {
            size_t low = j > 0 ? j - 1 : kind == FFT_COSINE ? 0 : n - 1;
            size_t high = j + 1 < n ? j + 1 : kind == FFT_COSINE ? j : 0;
            d[2 * j + s] = x[2 * low + s] - 2 * x[2 * j + s] + x[2 * high + s];
        }
    real *zx = vectors(2 * n), *zd = vectors(2 * n);
    if (!zx || !zd)
        return INFINITY;
    fft_forward(f, (scalar *)x, 2 * LANES, LANES, scratch, zx);
    fft_forward(f, (scalar *)d, 2 * LANES, LANES, scratch, zd);
    for (size_t p = 0; p < n; p++)
        for (int slot = 0; slot < 2; slot++) {
            struct fft_mode m = fft_mode_at(f, p, slot);
            double s = 2 * sin(m.angle / 2);
            size_t at = 2 * p + (size_t)slot;
            worst = fmax(worst,
                         fabs((double)zd[at][0] + s * s * (double)zx[at][0]));
        }
    fft_destroy(f);
    free(x);
    free(d);
    free(scratch);
    free(zx);
    free(zd);
    return worst / sqrt((double)n);
}

int main(void)
{
    static const char *const names[] = {"complex Fourier", "real Fourier",
                                        "cosine"};
    /* Rounding grows with the logarithm of n; FFTW's primes are the worst. */
    const double eps = sizeof(scalar) == 8 ? 2.3e-16 : 1.2e-7;
    struct ctx ctx;
    memset(&ctx, 0, sizeof ctx);
    for (int kind = 0; kind < 3; kind++) {
        struct worst w = {0, 0, 0, 0};
        double mode = 0;
        for (size_t i = 0; i < N_SIZES; i++) {
            check_size(&ctx, sizes[i], (enum fft_kind)kind, &w);
            mode = fmax(mode, worst_mode(&ctx, sizes[i], (enum fft_kind)kind));
        }
        tap_ok(w.sum < 30 * eps,
               "%s transforms of %d lengths are the sums of their definition "
               "(worst %.1e, at %zu)",
               names[kind], N_SIZES, w.sum, w.at_sum);
        tap_ok(w.back < 10 * eps,
               "%s transforms forward and back give n times the samples "
               "(worst %.1e, at %zu)",
               names[kind], w.back, w.at_back);
        tap_ok(mode < 60 * eps,
               "%s: differences only multiply each mode, by the eigenvalue of "
               "its angle (worst %.1e)",
               names[kind], mode);
    }
    return tap_done();
}
