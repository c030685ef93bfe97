/* momentum_cpu.c: the velocity of some rows of a plane by one substage.
 *
 * This loop takes most of a step. Its speed hangs on addresses: 45 loads from
 * three cached planes and six arrays must not need more pointers than there are
 * registers. So the components of the cached planes stand a constant distance
 * apart (`gap`, one of a few; the memory between is not used), which becomes
 * part of the instruction, three rows are reached from one pointer by adding
 * the distance of rows once or twice, and the six arrays of velocity and
 * history stand one distance apart.
 */
#include "kernels/fluid/sweep_cpu.h"

#include <string.h>

enum {
    /* Rings of up to GAP_i numbers fit; in a larger one the distance is not a
     * constant. With an odd number of lines, lest the components of a cell meet
     * in one set of the cache. */
    GAP_0 = (1 << 16) + 9 * LANES,
    GAP_1 = (1 << 19) + 9 * LANES,
    GAP_2 = (1 << 22) + 9 * LANES,
    GAP_3 = (1 << 25) + 9 * LANES,
    AHEAD = 4 /* rows asked for early */
};

size_t fluid_choose_gap(size_t numbers)
{
    static const size_t gaps[] = {GAP_0, GAP_1, GAP_2, GAP_3};
    for (size_t g = 0; g < sizeof gaps / sizeof gaps[0]; g++)
        if (numbers <= gaps[g])
            return gaps[g];
    return (numbers + (size_t)LANES - 1) / (size_t)LANES * (size_t)LANES;
}

#define LOAD(p) (*(const real_unaligned *)(p))
#define STORE(p, x) (*(real *)(p) = (x))

KERNEL_FN void prefetch_rows(const struct fluid_store *s, const scalar *o,
                             const scalar *h, ptrdiff_t apart,
                             const scalar *here, const scalar *below,
                             ptrdiff_t row, ptrdiff_t gap, int history)
{
    const ptrdiff_t next = AHEAD * (ptrdiff_t)s->pitch;
    for (int f = 0; f < 3; f++) {
        __builtin_prefetch(o + next + f * apart, 1);
        if (history)
            __builtin_prefetch(h + next + f * apart, 1);
    }
    for (int f = 0; f < 3; f++) {
        __builtin_prefetch(here + f * gap + AHEAD * row);
        __builtin_prefetch(below + f * gap + AHEAD * row);
    }
}

/* u + (a alpha + before beta), before = the history, which a replaces. */
KERNEL_FN void advance(scalar *field, scalar *history, real old, real a,
                       const struct fluid_stage *g, int first, int last)
{
    real r = old + g->gamma_dt * a;
    if (!first)
        r += g->zeta_dt * *(const real *)history;
    if (!last)
        STORE(history, a);
    STORE(field, r);
}

/* One row. first, last, more and, but for the largest grids, gap are constants
 * where this is inlined. */
KERNEL_FN void row(const struct fluid_store *s, const struct fluid_worker *w,
                   const struct fluid_coeff *coeff,
                   const struct fluid_stage *stage, int64_t k, int64_t j,
                   int first, int last, int more, ptrdiff_t gap)
{
    const struct fluid_coeff q = *coeff;
    const struct fluid_stage g = *stage;
    const ptrdiff_t up = (ptrdiff_t)s->ring_pitch;
    const ptrdiff_t apart = s->field[1] - s->field[0];
    const scalar *c = fluid_ring_row(s, w->here, 0, j - 1);
    const scalar *t = fluid_ring_row(s, w->above, 0, j - 1);
    const scalar *b = fluid_ring_row(s, w->below, 0, j);
    scalar *o =
        fluid_row(s, more && g.keep == 0 ? s->delta[0] : s->field[0], k, j);
    scalar *h = fluid_row(s, s->history[0], k, j);
    /* Component f at (i + di, j + dj) of this plane, the upper and the lower
     * one. */
#define C(f, di, dj) LOAD(c + (f)*gap + ((dj) + 1) * up + (di))
#define T(f, di, dj) LOAD(t + (f)*gap + ((dj) + 1) * up + (di))
#define B(f, di, dj) LOAD(b + (f)*gap + (dj)*up + (di))
#define MORE(f, old)                                            \
    if (more) {                                                 \
        a += LOAD(w->acc[f] + i);                               \
        old = g.keep * old + g.alpha_dt * LOAD(w->push[f] + i); \
    }
    for (size_t i = 0; i < s->pitch; i += (size_t)LANES) {
        prefetch_rows(s, o, h, apart, c, b, up, gap, !first);
        real u = C(0, 0, 0), v = C(1, 0, 0), z = C(2, 0, 0), old = u;
        real uv = fluid_product(u, C(0, 0, 1), v, C(1, 1, 0));
        real uz = fluid_product(u, T(0, 0, 0), z, C(2, 1, 0));
        real vz = fluid_product(v, T(1, 0, 0), z, C(2, 0, 1));
        real a =
            fluid_momentum_u(&q, u, C(0, 1, 0), C(0, -1, 0), C(0, 0, 1),
                             C(0, 0, -1), T(0, 0, 0), B(0, 0, 0), C(1, 0, -1),
                             C(1, 1, -1), B(2, 0, 0), B(2, 1, 0), uv, uz);
        MORE(0, old)
        advance(o, h, old, a, &g, first, last);
        a = fluid_momentum_v(&q, v, C(1, 1, 0), C(1, -1, 0), C(1, 0, 1),
                             C(1, 0, -1), T(1, 0, 0), B(1, 0, 0), C(0, -1, 0),
                             C(0, -1, 1), B(2, 0, 0), B(2, 0, 1), uv, vz);
        old = v;
        MORE(1, old)
        advance(o + apart, h + apart, old, a, &g, first, last);
        a = fluid_momentum_w(&q, z, C(2, 1, 0), C(2, -1, 0), C(2, 0, 1),
                             C(2, 0, -1), T(2, 0, 0), B(2, 0, 0), u, T(0, 0, 0),
                             C(0, -1, 0), T(0, -1, 0), v, T(1, 0, 0),
                             C(1, 0, -1), T(1, 0, -1));
        old = z;
        MORE(2, old)
        advance(o + 2 * apart, h + 2 * apart, old, a, &g, first, last);
        c += LANES;
        t += LANES;
        b += LANES;
        o += LANES;
        h += LANES;
    }
#undef C
#undef T
#undef B
#undef MORE
}

/* Nothing passes through a wall's own face. */
static void hold_walls(const struct fluid_store *s, scalar *const field[3],
                       int64_t k, int64_t j)
{
    size_t bytes = s->pitch * sizeof(scalar);
    if (s->at_wall[0][1])
        fluid_row(s, field[0], k, j)[s->n[0] - 1] = 0;
    if (s->at_wall[1][1] && j == (int64_t)s->n[1] - 1)
        memset(fluid_row(s, field[1], k, j), 0, bytes);
    if (s->at_wall[2][1] && k == (int64_t)s->n[2] - 1)
        memset(fluid_row(s, field[2], k, j), 0, bytes);
}

KERNEL_FN void rows(const struct fluid_store *s, const struct fluid_worker *w,
                    const struct fluid_coeff *q, const struct fluid_stage *g,
                    int64_t k, int64_t j0, int64_t j1, int more, ptrdiff_t gap)
{
    scalar *const *to = more && g->keep == 0 ? s->delta : s->field;
    for (int64_t j = j0; j < j1; j++) {
        if (more)
            fluid_extra_row(s, w, k, j);
        if (g->first && g->last)
            row(s, w, q, g, k, j, 1, 1, more, gap);
        else if (g->first)
            row(s, w, q, g, k, j, 1, 0, more, gap);
        else if (g->last)
            row(s, w, q, g, k, j, 0, 1, more, gap);
        else
            row(s, w, q, g, k, j, 0, 0, more, gap);
        hold_walls(s, to, k, j);
    }
}

void fluid_momentum_rows(const struct fluid_store *s,
                         const struct fluid_worker *w,
                         const struct fluid_coeff *q,
                         const struct fluid_stage *stage, int64_t k, int64_t j0,
                         int64_t j1)
{
    if (stage->more)
        rows(s, w, q, stage, k, j0, j1, 1, (ptrdiff_t)s->ring_gap);
    else if (s->ring_gap == GAP_0)
        rows(s, w, q, stage, k, j0, j1, 0, GAP_0);
    else if (s->ring_gap == GAP_1)
        rows(s, w, q, stage, k, j0, j1, 0, GAP_1);
    else if (s->ring_gap == GAP_2)
        rows(s, w, q, stage, k, j0, j1, 0, GAP_2);
    else if (s->ring_gap == GAP_3)
        rows(s, w, q, stage, k, j0, j1, 0, GAP_3);
    else
        rows(s, w, q, stage, k, j0, j1, 0, (ptrdiff_t)s->ring_gap);
}
