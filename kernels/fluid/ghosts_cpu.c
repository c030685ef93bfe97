/* ghosts_cpu.c: values beyond walls and periodic ends, and rows with ghosts in
 * the sweep's cache. */
#include "kernels/fluid/fluid_cpu.h"

#include <string.h>

void fluid_make_rules(struct fluid_store *s)
{
    for (int d = 0; d < 3; d++)
        for (int side = 0; side < 2; side++)
            if (s->at_wall[d][side]) {
                double end = fluid_h(s, side ? (int64_t)s->n[2] - 1 : 0);
                fluid_set_wall_rules(&s->setup, d, side, end, s->rule);
            }
}

/* n numbers, a multiple of LANES in aligned rows. */
static void affine(scalar *to, const scalar *from, size_t n,
                   struct fluid_rule r)
{
    for (size_t i = 0; i < n; i += (size_t)LANES)
        *(real *)(to + i) = r.factor * *(const real *)(from + i) + r.offset;
}

static void fill_rows(const struct fluid_store *s, scalar *array,
                      const struct fluid_rule *rule, int side)
{
    int64_t n = (int64_t)s->n[1];
    int64_t to = side ? n : -1, from = side ? n - 1 : 0;
    if (!rule->wall)
        from = n - 1 - from;
    for (int64_t k = 0; k < (int64_t)s->n[2]; k++) {
        scalar *a = fluid_row(s, array, k, to);
        const scalar *b = fluid_row(s, array, k, from);
        if (rule->wall)
            affine(a, b, s->pitch, *rule);
        else
            memcpy(a, b, s->pitch * sizeof *a);
    }
}

static void fill_plane(const struct fluid_store *s, scalar *array,
                       const struct fluid_rule *rule, int side)
{
    int64_t n = (int64_t)s->n[2];
    int64_t to = side ? n : -1, from = side ? n - 1 : 0;
    if (!rule->wall)
        from = n - 1 - from;
    scalar *a = fluid_row(s, array, to, -1);
    const scalar *b = fluid_row(s, array, from, -1);
    if (rule->wall)
        affine(a, b, s->plane, *rule);
    else
        memcpy(a, b, s->plane * sizeof *a);
}

void fluid_fill_ghosts(const struct fluid_store *s, scalar *array, int r,
                       int axis, int side)
{
    const struct fluid_rule *rule = &s->rule[r][axis][side];
    if (!rule->wall && (s->cut[axis] || !s->periodic[axis]))
        return;
    if (axis == FLUID_Y)
        fill_rows(s, array, rule, side);
    else
        fill_plane(s, array, rule, side);
}

void fluid_fill_x(const struct fluid_store *s, int r, scalar *row)
{
    size_t n = s->n[0];
    const struct fluid_rule *lower = &s->rule[r][0][0];
    const struct fluid_rule *upper = &s->rule[r][0][1];
    row[-1] = lower->wall ? lower->factor * row[0] + lower->offset : row[n - 1];
    row[n] = upper->wall ? upper->factor * row[n - 1] + upper->offset : row[0];
    for (size_t i = n + 1; i < s->pitch; i++)
        row[i] = 0;
}

void fluid_load_rows(const struct fluid_store *s, struct fluid_plane *p,
                     int64_t k, int64_t j0, int64_t j1, int f0, int f1)
{
    enum { AHEAD = 4 }; /* rows asked for early */
    for (int64_t j = j0; j < j1; j++)
        for (int f = f0; f < f1; f++) {
            const scalar *from = fluid_row(s, s->field[f], k, j);
            scalar *to = fluid_ring_row(s, p, f, j);
            for (size_t i = 0; i < s->pitch; i += (size_t)LANES) {
                __builtin_prefetch(from + i + AHEAD * s->pitch, 1);
                *(real *)(to + i) = *(const real *)(from + i);
            }
            fluid_fill_x(s, f, to);
        }
}
