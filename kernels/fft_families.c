/* fft_families.c: real transforms, two lines in one complex transform. */
#include "kernels/fft_lanes.h"
#include <math.h>

/* With Z = A + i B, A and B transforms of real lines: A(n - k) is the conjugate
 * of A(k), so that Z(k) and Z(n - k) hold A(k) and B(k). */
struct pair {
    real ar, ai, br, bi;
};

/* Twice A(k) and B(k) of Z(k), Z(n - k). */
KERNEL_FN struct pair take_apart(const real *p, const real *q)
{
    return (struct pair){p[0] + q[0], p[1] - q[1], p[1] + q[1], q[0] - p[0]};
}

KERNEL_FN void put_together(struct pair v, real *p, real *q)
{
    p[0] = v.ar - v.bi;
    p[1] = v.ai + v.br;
    q[0] = v.ar + v.bi;
    q[1] = v.br - v.ai;
}

/* A(k) where Z(k) was, B(k) where Z(n - k) was; frequencies 0 and n / 2, which
 * are real, stay side by side. */
static void real_split(const struct fft *f, real *z)
{
    for (size_t k = 1; 2 * k < f->n; k++) {
        real *p = z + 2 * (size_t)f->position[k];
        real *q = z + 2 * (size_t)f->position[f->n - k];
        struct pair v = take_apart(p, q);
        p[0] = (scalar)0.5 * v.ar;
        p[1] = (scalar)0.5 * v.ai;
        q[0] = (scalar)0.5 * v.br;
        q[1] = (scalar)0.5 * v.bi;
    }
}

static void real_join(const struct fft *f, const real *from, real *z)
{
    if (from != z)
        for (size_t p = 0; p < 2 * f->n; p++)
            z[p] = from[p];
    for (size_t k = 1; 2 * k < f->n; k++) {
        real *p = z + 2 * (size_t)f->position[k];
        real *q = z + 2 * (size_t)f->position[f->n - k];
        put_together((struct pair){p[0], p[1], q[0], q[1]}, p, q);
    }
}

/* Both lines turned by exp(-i pi k / (2 n)): the real part is the cosine
 * transform at k, the negative imaginary part that at n - k. */
static void cosine_turn(const struct fft *f, const real *z, real *to)
{
    to[0] = z[0];
    to[1] = z[1];
    for (size_t k = 1; 2 * k <= f->n; k++) {
        size_t at_p = 2 * (size_t)f->position[k];
        size_t at_q = 2 * (size_t)f->position[f->n - k];
        const scalar c = f->turn[2 * k], s = f->turn[2 * k + 1];
        struct pair v = take_apart(z + at_p, z + at_q);
        to[at_p] = c * v.ar + s * v.ai;
        to[at_p + 1] = c * v.br + s * v.bi;
        if (at_p == at_q)
            continue;
        to[at_q] = s * v.ar - c * v.ai;
        to[at_q + 1] = s * v.br - c * v.bi;
    }
}

static void cosine_turn_back(const struct fft *f, const real *from, real *z)
{
    z[0] = from[0];
    z[1] = from[1];
    for (size_t k = 1; 2 * k <= f->n; k++) {
        size_t at_p = 2 * (size_t)f->position[k];
        size_t at_q = 2 * (size_t)f->position[f->n - k];
        const scalar c = 2 * f->turn[2 * k], s = 2 * f->turn[2 * k + 1];
        real ap = from[at_p], bp = from[at_p + 1];
        real aq = from[at_q], bq = from[at_q + 1];
        struct pair v = {c * ap + s * aq, s * ap - c * aq, c * bp + s * bq,
                         s * bp - c * bq};
        if (at_p == at_q) { /* k = n / 2: c = s, both are real */
            z[at_p] = v.ar;
            z[at_p + 1] = v.br;
            continue;
        }
        put_together(v, z + at_p, z + at_q);
    }
}

void fft_forward(const struct fft *f, const scalar *from, size_t step,
                 size_t half, real *scratch, real *to)
{
    switch (f->kind) {
    case FFT_COMPLEX:
        fft_complex_forward(f, from, step, half, to);
        break;
    case FFT_REAL:
        fft_complex_forward(f, from, step, half, to);
        real_split(f, to);
        break;
    case FFT_COSINE:
        fft_complex_forward(f, from, step, half, scratch);
        cosine_turn(f, scratch, to);
        break;
    }
}

void fft_inverse(const struct fft *f, const real *from, real *scratch,
                 scalar *to, size_t step, size_t half)
{
    switch (f->kind) {
    case FFT_COMPLEX:
        fft_complex_inverse(f, from, scratch, to, step, half);
        break;
    case FFT_REAL:
        real_join(f, from, scratch);
        fft_complex_inverse(f, scratch, scratch, to, step, half);
        break;
    case FFT_COSINE:
        cosine_turn_back(f, from, scratch);
        fft_complex_inverse(f, scratch, scratch, to, step, half);
        break;
    }
}

struct fft_mode fft_mode_at(const struct fft *f, size_t position, int slot)
{
    const double pi = 3.14159265358979323846;
    size_t k = 0;
    while ((size_t)f->position[k] != position)
        k++;
    double n = (double)f->n;
    switch (f->kind) {
    case FFT_REAL:
        if (k == 0 || 2 * k == f->n)
            return (struct fft_mode){2 * pi * (double)k / n, slot};
        if (2 * k > f->n)
            return (struct fft_mode){2 * pi * (double)(f->n - k) / n, 1};
        return (struct fft_mode){2 * pi * (double)k / n, 0};
    case FFT_COSINE:
        return (struct fft_mode){pi * (double)k / n, slot};
    default:
        if (2 * k > f->n)
            k = f->n - k;
        return (struct fft_mode){2 * pi * (double)k / n, 0};
    }
}
