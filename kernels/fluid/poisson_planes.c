/* poisson_planes.c: transforms of one plane, along x and y. */
#include "kernels/fluid/poisson_state.h"
#include <string.h>

enum { BLOCK = 2 * LANES }; /* lines that go through a transform together */

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* ---- the first transform's samples, when along x: rows become lanes ---- */

/* BLOCK rows from row c on; where there are fewer, the last one again. */
static void load_rows(const struct poisson *p, const scalar *rhs, size_t pitch,
                      size_t c, real *line)
{
    const size_t last = p->size[1] - 1;
    for (size_t i = 0; i < p->size[0]; i += LANES)
        for (size_t h = 0; h < 2; h++) {
            real r[LANES];
            KERNEL_UNROLL
            for (size_t l = 0; l < LANES; l++)
                r[l] = *(
                    const real *)(rhs +
                                  smaller(c + h * LANES + l, last) * pitch + i);
            fft_transpose(r);
            KERNEL_UNROLL
            for (size_t l = 0; l < LANES; l++)
                line[2 * (i + l) + h] = r[l];
        }
}

static void save_rows(const struct poisson *p, const real *line, size_t c,
                      scalar *psi, size_t pitch)
{
    for (size_t i = 0; i < p->size[0]; i += LANES)
        for (size_t h = 0; h < 2; h++) {
            real r[LANES];
            KERNEL_UNROLL
            for (size_t l = 0; l < LANES; l++)
                r[l] = line[2 * (i + l) + h];
            fft_transpose(r);
            for (size_t l = 0; l < LANES; l++)
                if (c + h * LANES + l < p->size[1])
                    *(real *)(psi + (c + h * LANES + l) * pitch + i) = r[l];
        }
}

/* ---- groups: frequencies become lanes ---- */

/* Twice the transforms A(k), B(k) of the two real lines in Z = A + iB. */
KERNEL_FN void fourier_take(const struct fft *f, const real *z, size_t k,
                            size_t l, real *ar, real *ai, real *br, real *bi)
{
    const real *a = z + 2 * (size_t)f->position[k];
    const real *b = z + 2 * (size_t)f->position[k == 0 ? 0 : f->n - k];
    ar[l] = a[0] + b[0];
    ai[l] = a[1] - b[1];
    br[l] = a[1] + b[1];
    bi[l] = b[0] - a[0];
}

/* Group g of the lines in z: a[0], a[1] slots of the first LANES lines, b of
 * the others, still with lines as lanes. */
KERNEL_FN void take_group(const struct poisson *p, const real *z, size_t g,
                          real a[2][LANES], real b[2][LANES])
{
    const struct fft *f = p->fft[0];
    const real zero = {0};
    if (p->paired) {
        const size_t end = f->n / 2 + 1, k = g * LANES;
        if (k + LANES <= end) {
            for (size_t l = 0; l < LANES; l++)
                fourier_take(f, z, k + l, l, a[0], a[1], b[0], b[1]);
            return;
        }
        for (size_t l = 0; l < LANES; l++)
            if (k + l < end)
                fourier_take(f, z, k + l, l, a[0], a[1], b[0], b[1]);
            else
                a[0][l] = a[1][l] = b[0][l] = b[1][l] = zero;
        return;
    }
    for (size_t h = 0; h < 2; h++)
        for (size_t l = 0; l < LANES; l++) {
            size_t k = (2 * g + h) * LANES + l;
            const real *v = z + 2 * (size_t)f->position[k < f->n ? k : 0];
            a[h][l] = k < f->n ? v[0] : zero;
            b[h][l] = k < f->n ? v[1] : zero;
        }
}

KERNEL_FN void put_group(const struct poisson *p, size_t g, real a[2][LANES],
                         real b[2][LANES], real *z)
{
    const struct fft *f = p->fft[0];
    if (p->paired) {
        for (size_t l = 0; l < LANES; l++) {
            size_t k = g * LANES + l;
            if (2 * k > f->n)
                break;
            real *v = z + 2 * (size_t)f->position[k];
            if (k == 0 || 2 * k == f->n) {
                v[0] = a[0][l];
                v[1] = b[0][l];
                continue;
            }
            real *w = z + 2 * (size_t)f->position[f->n - k];
            v[0] = a[0][l] - b[1][l];
            v[1] = a[1][l] + b[0][l];
            w[0] = a[0][l] + b[1][l];
            w[1] = b[0][l] - a[1][l];
        }
        return;
    }
    for (size_t h = 0; h < 2; h++)
        for (size_t l = 0; l < LANES; l++) {
            size_t k = (2 * g + h) * LANES + l;
            if (k >= f->n)
                break;
            z[2 * (size_t)f->position[k]] = a[h][l];
            z[2 * (size_t)f->position[k] + 1] = b[h][l];
        }
}

/* to: where line c of the group stands; n lines are there, up to BLOCK. */
KERNEL_FN void store_group(real a[2][LANES], real b[2][LANES], size_t n,
                           real *to)
{
    for (int h = 0; h < 2; h++) {
        fft_transpose(a[h]);
        fft_transpose(b[h]);
    }
    if (n >= BLOCK) {
        KERNEL_UNROLL
        for (size_t l = 0; l < LANES; l++) {
            to[2 * l] = a[0][l];
            to[2 * l + 1] = a[1][l];
            to[2 * (l + LANES)] = b[0][l];
            to[2 * (l + LANES) + 1] = b[1][l];
        }
        return;
    }
    for (size_t l = 0; l < n; l++) {
        to[2 * l] = l < LANES ? a[0][l] : b[0][l - LANES];
        to[2 * l + 1] = l < LANES ? a[1][l] : b[1][l - LANES];
    }
}

KERNEL_FN void load_group(const real *from, size_t n, real a[2][LANES],
                          real b[2][LANES])
{
    if (n >= BLOCK) {
        KERNEL_UNROLL
        for (size_t l = 0; l < LANES; l++) {
            a[0][l] = from[2 * l];
            a[1][l] = from[2 * l + 1];
            b[0][l] = from[2 * (l + LANES)];
            b[1][l] = from[2 * (l + LANES) + 1];
        }
    } else {
        for (size_t l = 0; l < LANES; l++) {
            size_t la = smaller(l, n - 1), lb = smaller(l + LANES, n - 1);
            a[0][l] = from[2 * la];
            a[1][l] = from[2 * la + 1];
            b[0][l] = from[2 * lb];
            b[1][l] = from[2 * lb + 1];
        }
    }
    for (int h = 0; h < 2; h++) {
        fft_transpose(a[h]);
        fft_transpose(b[h]);
    }
}

/* ---- planes ---- */

static void first_forward(struct poisson *p, struct poisson_work *w, size_t k,
                          const scalar *rhs, size_t pitch, size_t c)
{
    const struct fft *f = p->fft[0];
    if (p->first_axis == FLUID_Y) {
        /* A row may end before the second half: then the first again. */
        size_t half = c + LANES < p->size[0] ? LANES : 0;
        fft_forward(f, rhs + c, pitch, half, w->z, w->z);
    } else {
        load_rows(p, rhs, pitch, c, w->line);
        fft_forward(f, (const scalar *)w->line, 2 * LANES, LANES, w->z, w->z);
    }
    const size_t n = smaller(BLOCK, p->lines - c);
    for (int r = 0; r < p->y_ranks; r++) {
        const struct segment *s = &p->stage[r];
        real *plane = (real *)(s->base + k * s->plane);
        for (size_t g = 0; g < s->count; g++) {
            real a[2][LANES], b[2][LANES];
            take_group(p, w->z, s->first + g, a, b);
            store_group(a, b, n, plane + 2 * (g * p->lines + c));
        }
    }
}

void poisson_forward_plane(struct poisson *p, int64_t k, fluid_scalar_t *rhs,
                           size_t pitch)
{
    struct poisson_work *w = poisson_scratch(p);
    for (size_t c = 0; c < p->lines; c += BLOCK)
        first_forward(p, w, (size_t)k, rhs, pitch, c);
    if (p->cut_y)
        return;
    const struct segment *s = p->column;
    scalar *plane = s->base + (size_t)k * s->plane;
    for (size_t g = 0; g < p->groups; g++) {
        scalar *chunk = plane + g * p->lines * 2 * LANES;
        fft_forward(p->fft[1], chunk, 2 * LANES, LANES, w->z, (real *)chunk);
    }
}

static void first_inverse(struct poisson *p, struct poisson_work *w,
                          scalar *psi, size_t pitch, size_t c)
{
    const struct fft *f = p->fft[0];
    if (p->first_axis == FLUID_X) {
        fft_inverse(f, w->z, w->z, (scalar *)w->line, 2 * LANES, LANES);
        save_rows(p, w->line, c, psi, pitch);
        return;
    }
    if (c + LANES < p->size[0]) {
        fft_inverse(f, w->z, w->z, psi + c, pitch, LANES);
        return;
    }
    /* The row ends before the second half. */
    fft_inverse(f, w->z, w->z, (scalar *)w->line, 2 * LANES, LANES);
    for (size_t j = 0; j < p->size[1]; j++)
        *(real *)(psi + j * pitch + c) = w->line[2 * j];
}

/* The plane's place in the spectrum: neighbors across a periodic face, where
 * one rank has all planes, are its own. */
static size_t plane_of(const struct poisson *p, int64_t k)
{
    if (p->z_ranks == 1 && p->periodic_z)
        return (size_t)((k + (int64_t)p->planes) % (int64_t)p->planes);
    return (size_t)k;
}

void poisson_inverse_plane(struct poisson *p, int64_t k, fluid_scalar_t *psi,
                           size_t pitch)
{
    struct poisson_work *w = poisson_scratch(p);
    const size_t at = plane_of(p, k);
    if (!p->cut_y) {
        const struct segment *s = p->column;
        const real *plane = (const real *)(s->base + at * s->plane);
        real *scratch = p->fft[1]->kind == FFT_COSINE ? w->z : NULL;
        for (size_t g = 0; g < p->groups; g++) {
            real *to = w->plane + 2 * g * p->lines;
            fft_inverse(p->fft[1], plane + 2 * g * p->lines,
                        scratch ? scratch : to, (scalar *)to, 2 * LANES, LANES);
        }
    }
    for (size_t c = 0; c < p->lines; c += BLOCK) {
        const size_t n = smaller(BLOCK, p->lines - c);
        for (int r = 0; r < p->y_ranks; r++) {
            const struct segment *s = &p->stage[r];
            const real *plane =
                p->cut_y ? (const real *)(s->base + at * s->plane) : w->plane;
            for (size_t g = 0; g < s->count; g++) {
                real a[2][LANES], b[2][LANES];
                load_group(plane + 2 * (g * p->lines + c), n, a, b);
                put_group(p, s->first + g, a, b, w->z);
            }
        }
        first_inverse(p, w, psi, pitch, c);
    }
}

/* ---- the second transform where y is cut ---- */

/* Line g of plane k: from the segments to `line` (or back). */
static void gather(const struct poisson *p, size_t k, size_t g, real *line)
{
    for (int r = 0; r < p->y_ranks; r++) {
        const struct segment *s = &p->column[r];
        memcpy(line + 2 * s->first,
               s->base + k * s->plane + g * s->count * 2 * LANES,
               2 * s->count * sizeof *line);
    }
}

static void scatter(const struct poisson *p, size_t k, size_t g,
                    const real *line)
{
    for (int r = 0; r < p->y_ranks; r++) {
        const struct segment *s = &p->column[r];
        memcpy(s->base + k * s->plane + g * s->count * 2 * LANES,
               line + 2 * s->first, 2 * s->count * sizeof *line);
    }
}

void poisson_transform_y(struct poisson *p)
{
    if (!p->cut_y)
        return;
    const size_t own = p->stage[p->y_rank].count, n = own * p->planes;
#ifdef _OPENMP
#pragma omp parallel for schedule(static) num_threads(p->n_threads)
#endif
    for (size_t i = 0; i < n; i++) {
        struct poisson_work *w = poisson_scratch(p);
        gather(p, i / own, i % own, w->line);
        fft_forward(p->fft[1], (const scalar *)w->line, 2 * LANES, LANES, w->z,
                    w->z);
        scatter(p, i / own, i % own, w->z);
    }
}

void poisson_inverse_y(struct poisson *p)
{
    if (!p->cut_y)
        return;
    const size_t own = p->stage[p->y_rank].count, n = own * p->planes;
#ifdef _OPENMP
#pragma omp parallel for schedule(static) num_threads(p->n_threads)
#endif
    for (size_t i = 0; i < n; i++) {
        struct poisson_work *w = poisson_scratch(p);
        gather(p, i / own, i % own, w->z);
        fft_inverse(p->fft[1], w->z, w->z, (scalar *)w->line, 2 * LANES, LANES);
        scatter(p, i / own, i % own, w->line);
    }
}
