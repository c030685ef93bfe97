/* fft_lanes.c: plans, and the complex transform in passes.
 *
 * Forward by decimation in frequency, inverse by decimation in time, each the
 * exact mirror of the other, both in place. Pass i treats blocks of length L =
 * radix * m: numbers j, j + m, .. of a block are combined and multiplied by
 * exp(-2 pi i q j / L). Only the first pass forward reads the caller's samples
 * and only the last pass back writes them, so that loading costs no pass of its
 * own. Blocks that fit a first-level cache go through all their passes before
 * the next block does.
 */
#include "kernels/fft_lanes.h"
#include "kernels/fft_butterfly.h"
#include "base/error.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double pi = 3.14159265358979323846;
/* Bytes of a block that should stay in a first-level cache, with room for the
 * caller's lines beside it. */
enum { SMALL_BYTES = 16384 };

/* ---- passes ---- */

/* Numbers j, j + m, .. of one block: from[2 * (j + q m)]. */
KERNEL_FN void load_block(const int radix, const real *from, size_t m, real *x)
{
    KERNEL_UNROLL
    for (int q = 0; q < radix; q++) {
        x[2 * q] = from[2 * (size_t)q * m];
        x[2 * q + 1] = from[2 * (size_t)q * m + 1];
    }
}

/* x(q) times exp(-+ 2 pi i q j / L); w: cosines and negative sines. */
KERNEL_FN void turn(const int radix, const int inverse, const scalar *w,
                    real *x)
{
    KERNEL_UNROLL
    for (int q = 1; q < radix; q++) {
        const scalar c = w[2 * (q - 1)];
        const scalar s = inverse ? -w[2 * (q - 1) + 1] : w[2 * (q - 1) + 1];
        real r = x[2 * q], i = x[2 * q + 1];
        x[2 * q] = r * c - i * s;
        x[2 * q + 1] = i * c + r * s;
    }
}

KERNEL_FN void store_forward(const int radix, const real *x, real *to, size_t m)
{
    KERNEL_UNROLL
    for (int q = 0; q < radix; q++) {
        to[2 * (size_t)q * m] = x[2 * q];
        to[2 * (size_t)q * m + 1] = x[2 * q + 1];
    }
}

/* Blocks of `length` numbers in n, in place. */
KERNEL_FN void pass_forward(const int radix, const scalar *w, size_t n,
                            size_t length, real *z)
{
    const size_t m = length / (size_t)radix;
    const size_t step = 2 * (size_t)(radix - 1);
    real x[2 * RADIX_MAX];
    if (m == 1) {
        for (size_t b = 0; b < n; b += (size_t)radix) {
            load_block(radix, z + 2 * b, 1, x);
            butterfly(radix, x);
            store_forward(radix, x, z + 2 * b, 1);
        }
        return;
    }
    for (size_t b = 0; b < n; b += length)
        for (size_t j = 0; j < m; j++) {
            load_block(radix, z + 2 * (b + j), m, x);
            butterfly(radix, x);
            turn(radix, 0, w + j * step, x);
            store_forward(radix, x, z + 2 * (b + j), m);
        }
}

/* Output q of the butterfly back is output radix - q of the one forward. */
KERNEL_FN void store_inverse(const int radix, const real *x, real *to, size_t m)
{
    KERNEL_UNROLL
    for (int q = 0; q < radix; q++) {
        const int s = q == 0 ? 0 : radix - q;
        to[2 * (size_t)q * m] = x[2 * s];
        to[2 * (size_t)q * m + 1] = x[2 * s + 1];
    }
}

KERNEL_FN void pass_inverse(const int radix, const scalar *w, size_t n,
                            size_t length, const real *from, real *z)
{
    const size_t m = length / (size_t)radix;
    const size_t step = 2 * (size_t)(radix - 1);
    real x[2 * RADIX_MAX];
    if (m == 1) {
        for (size_t b = 0; b < n; b += (size_t)radix) {
            load_block(radix, from + 2 * b, 1, x);
            butterfly(radix, x);
            store_inverse(radix, x, z + 2 * b, 1);
        }
        return;
    }
    for (size_t b = 0; b < n; b += length)
        for (size_t j = 0; j < m; j++) {
            load_block(radix, from + 2 * (b + j), m, x);
            turn(radix, 1, w + j * step, x);
            butterfly(radix, x);
            store_inverse(radix, x, z + 2 * (b + j), m);
        }
}

/* The first pass forward: from samples in memory. */
KERNEL_FN void pass_load(const int radix, const struct fft *f,
                         const scalar *from, size_t step, size_t half, real *z)
{
    const size_t m = f->n / (size_t)radix;
    const scalar *w = f->twiddle[0];
    const int32_t *order = f->order;
    real x[2 * RADIX_MAX];
    for (size_t j = 0; j < m; j++) {
        KERNEL_UNROLL
        for (int q = 0; q < radix; q++) {
            const scalar *p = from + (size_t)order[j + (size_t)q * m] * step;
            x[2 * q] = *(const real *)p;
            x[2 * q + 1] = *(const real *)(p + half);
        }
        butterfly(radix, x);
        turn(radix, 0, w + j * 2 * (size_t)(radix - 1), x);
        store_forward(radix, x, z + 2 * j, m);
    }
}

/* The last pass back: to samples in memory. */
KERNEL_FN void pass_save(const int radix, const struct fft *f, const real *from,
                         scalar *to, size_t step, size_t half)
{
    const size_t m = f->n / (size_t)radix;
    const scalar *w = f->twiddle[0];
    const int32_t *order = f->order;
    real x[2 * RADIX_MAX];
    for (size_t j = 0; j < m; j++) {
        load_block(radix, from + 2 * j, m, x);
        turn(radix, 1, w + j * 2 * (size_t)(radix - 1), x);
        butterfly(radix, x);
        KERNEL_UNROLL
        for (int q = 0; q < radix; q++) {
            const int s = q == 0 ? 0 : radix - q;
            scalar *p = to + (size_t)order[j + (size_t)q * m] * step;
            *(real *)p = x[2 * s];
            *(real *)(p + half) = x[2 * s + 1];
        }
    }
}

#define FOR_RADIX(radix, call) \
    switch (radix) {           \
    case 2:                    \
        call(2);               \
        break;                 \
    case 3:                    \
        call(3);               \
        break;                 \
    case 4:                    \
        call(4);               \
        break;                 \
    case 5:                    \
        call(5);               \
        break;                 \
    case 7:                    \
        call(7);               \
        break;                 \
    case 8:                    \
        call(8);               \
        break;                 \
    case 11:                   \
        call(11);              \
        break;                 \
    default:                   \
        call(13);              \
        break;                 \
    }

/* Pass i over n numbers at z, whole blocks. */
static void run_forward(const struct fft *f, int i, size_t n, real *z)
{
#define CALL(r) pass_forward(r, f->twiddle[i], n, f->length[i], z)
    FOR_RADIX(f->radix[i], CALL)
#undef CALL
}

static void run_inverse(const struct fft *f, int i, size_t n, const real *from,
                        real *z)
{
#define CALL(r) pass_inverse(r, f->twiddle[i], n, f->length[i], from, z)
    FOR_RADIX(f->radix[i], CALL)
#undef CALL
}

/* ---- the complex transform ---- */

static void load_samples(const struct fft *f, const scalar *from, size_t step,
                         size_t half, real *z)
{
    for (size_t j = 0; j < f->n; j++) {
        const scalar *p = from + (size_t)f->order[j] * step;
        real a = *(const real *)p, b = *(const real *)(p + half);
        z[2 * j] = a;
        z[2 * j + 1] = b;
    }
}

static void save_samples(const struct fft *f, const real *z, scalar *to,
                         size_t step, size_t half)
{
    for (size_t j = 0; j < f->n; j++) {
        scalar *p = to + (size_t)f->order[j] * step;
        real a = z[2 * j], b = z[2 * j + 1];
        *(real *)p = a;
        *(real *)(p + half) = b;
    }
}

void fft_complex_forward(const struct fft *f, const scalar *from, size_t step,
                         size_t half, real *z)
{
    if (f->n_passes == 0) {
        load_samples(f, from, step, half, z);
        if (f->other)
            fft_other_run(f->other, -1, z);
        return;
    }
#define CALL(r) pass_load(r, f, from, step, half, z)
    FOR_RADIX(f->radix[0], CALL)
#undef CALL
    int i = 1;
    for (; i < f->first_small; i++)
        run_forward(f, i, f->n, z);
    if (i == f->n_passes)
        return;
    const size_t block = f->length[i];
    for (size_t b = 0; b < f->n; b += block)
        for (int k = i; k < f->n_passes; k++)
            run_forward(f, k, block, z + 2 * b);
}

void fft_complex_inverse(const struct fft *f, const real *from, real *z,
                         scalar *to, size_t step, size_t half)
{
    if (f->n_passes == 0) {
        if (f->other) {
            if (z != from)
                memcpy(z, from, 2 * f->n * sizeof(real));
            fft_other_run(f->other, 1, z);
            from = z;
        }
        save_samples(f, from, to, step, half);
        return;
    }
    int last = f->n_passes - 1, i = f->first_small;
    if (i <= last) {
        const size_t block = f->length[i];
        for (size_t b = 0; b < f->n; b += block) {
            run_inverse(f, last, block, from + 2 * b, z + 2 * b);
            for (int k = last - 1; k >= i; k--)
                run_inverse(f, k, block, z + 2 * b, z + 2 * b);
        }
        from = z;
    }
    for (i--; i >= 1; i--) {
        run_inverse(f, i, f->n, from, z);
        from = z;
    }
#define CALL(r) pass_save(r, f, from, to, step, half)
    FOR_RADIX(f->radix[0], CALL)
#undef CALL
}

/* ---- plans ---- */

/* The radices of n in the order of the passes forward; 0 where another prime
 * divides n. */
static int factor(size_t n, int *radix)
{
    static const int odd[] = {13, 11, 7, 5, 3};
    int count = 0;
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++)
        for (; n % (size_t)odd[i] == 0; n /= (size_t)odd[i])
            radix[count++] = odd[i];
    int twos = 0;
    for (; n % 2 == 0; n /= 2)
        twos++;
    if (n != 1)
        return 0;
    /* Eights where they leave no two: fewest passes over the lines. */
    for (; twos >= 3 && twos != 4; twos -= 3)
        radix[count++] = 8;
    for (; twos >= 2; twos -= 2)
        radix[count++] = 4;
    if (twos == 1)
        radix[count++] = 2;
    return count;
}

static void fill_twiddles(struct fft *f)
{
    scalar *w = f->numbers;
    for (int i = 0; i < f->n_passes; i++) {
        size_t length = f->length[i], radix = (size_t)f->radix[i];
        f->twiddle[i] = w;
        for (size_t j = 0; j < length / radix; j++)
            for (size_t q = 1; q < radix; q++) {
                double angle =
                    2 * pi * (double)(q * j % length) / (double)length;
                *w++ = (scalar)cos(angle);
                *w++ = (scalar)-sin(angle);
            }
    }
    f->turn = w;
    if (f->kind == FFT_COSINE)
        for (size_t k = 0; k < f->n; k++) {
            double angle = pi * (double)k / (2 * (double)f->n);
            *w++ = (scalar)(0.5 * cos(angle));
            *w++ = (scalar)(0.5 * sin(angle));
        }
}

/* Where the passes leave frequency k: its digits, lowest first, choose the
 * blocks. */
static size_t position_of(const struct fft *f, size_t k)
{
    size_t position = 0;
    for (int i = 0; i < f->n_passes; i++) {
        size_t radix = (size_t)f->radix[i];
        position += k % radix * (f->length[i] / radix);
        k /= radix;
    }
    return f->n_passes > 0 ? position : k;
}

/* Even samples forward, then odd ones backward: their Fourier transform, turned
 * by exp(-i pi k / (2 n)), is the cosine transform (Makhoul 1980). */
static size_t sample_of(const struct fft *f, size_t j)
{
    if (f->kind != FFT_COSINE)
        return j;
    return j < (f->n + 1) / 2 ? 2 * j : 2 * (f->n - 1 - j) + 1;
}

int fft_create(struct ctx *ctx, size_t n, enum fft_kind kind, struct fft **out)
{
    int status = 0;
    struct fft *f = calloc(1, sizeof *f);
    if (!f)
        return FAIL(ctx, STATUS_MEMORY, "no memory for a transform");
    f->n = n;
    f->kind = kind;
    if (n > INT32_MAX)
        TRY_CLEANUP(FAIL(ctx, STATUS_UNSUPPORTED,
                         "transforms of more than %d cells", INT32_MAX));
    f->n_passes = factor(n, f->radix);
    size_t length = n, numbers = 2 * n;
    f->first_small = f->n_passes;
    for (int i = 0; i < f->n_passes; i++) {
        f->length[i] = length;
        numbers += 2 * length;
        if (i > 0 && i < f->first_small &&
            2 * length * sizeof(real) <= SMALL_BYTES)
            f->first_small = i;
        length /= (size_t)f->radix[i];
    }
    f->order = malloc(n * sizeof *f->order);
    f->position = malloc(n * sizeof *f->position);
    f->numbers = malloc(numbers * sizeof *f->numbers);
    if (!f->order || !f->position || !f->numbers)
        TRY_CLEANUP(FAIL(ctx, STATUS_MEMORY,
                         "no memory for transforms of %zu cells", n));
    for (size_t j = 0; j < n; j++) {
        f->order[j] = (int32_t)sample_of(f, j);
        f->position[j] = (int32_t)position_of(f, j);
    }
    fill_twiddles(f);
    if (f->n_passes == 0 && n > 1)
        TRY_CLEANUP(fft_other_create(ctx, n, &f->other));
    *out = f;
    return 0;
cleanup:
    fft_destroy(f);
    return status;
}

void fft_destroy(struct fft *f)
{
    if (!f)
        return;
    fft_other_destroy(f->other);
    free(f->order);
    free(f->position);
    free(f->numbers);
    free(f);
}
