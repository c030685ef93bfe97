/* block_cpu.c: fields as plain blocks of doubles, and the search for what is
 * not a number. */
#include "kernels/fluid/fluid_cpu.h"

#include <math.h>
#include <string.h>

#include "base/error.h"

static scalar *array_of(const struct fluid_store *s, enum fluid_field field)
{
    if (field <= FLUID_W)
        return s->field[field];
    if (field == FLUID_PRESSURE || field == FLUID_STORED_PRESSURE)
        return s->pressure;
    int f = (int)field - FLUID_SCALAR0;
    if (f < 0 || f >= s->setup.n_scalars)
        return NULL;
    return s->field[FLUID_FIRST_SCALAR + f];
}

/* The wall's own face, which belongs to the last cell, lets nothing through. */
static void close_wall(struct fluid_store *s, int d)
{
    int64_t n[3] = {(int64_t)s->n[0], (int64_t)s->n[1], (int64_t)s->n[2]};
    if (!s->at_wall[d][1])
        return;
    for (int64_t k = d == 2 ? n[2] - 1 : 0; k < n[2]; k++)
        for (int64_t j = d == 1 ? n[1] - 1 : 0; j < n[1]; j++) {
            scalar *row = fluid_row(s, s->field[d], k, j);
            for (int64_t i = d == 0 ? n[0] - 1 : 0; i < n[0]; i++)
                row[i] = 0;
        }
}

int fluid_set(struct ctx *ctx, struct fluid_store *s, enum fluid_field field,
              const double *block)
{
    scalar *array = array_of(s, field);
    double factor = field == FLUID_PRESSURE ? 1 / s->setup.density : 1;
    if (!array)
        return FAIL(ctx, STATUS_INTERNAL, "field %d is not stored", (int)field);
    for (int64_t k = 0; k < (int64_t)s->n[2]; k++)
        for (int64_t j = 0; j < (int64_t)s->n[1]; j++) {
            scalar *row = fluid_row(s, array, k, j);
            for (size_t i = 0; i < s->n[0]; i++)
                row[i] = (scalar)(factor * *block++);
        }
    if (field <= FLUID_W)
        close_wall(s, (int)field);
    return 0;
}

void fluid_get_raw(const struct fluid_store *s, const scalar *array,
                   double *block)
{
    for (size_t k = 0; k < s->n[2]; k++)
        for (size_t j = 0; j < s->n[1]; j++) {
            const scalar *row = array + k * s->plane + j * s->pitch;
            for (size_t i = 0; i < s->n[0]; i++)
                *block++ = (double)row[i];
        }
}

int fluid_find_bad(struct ctx *ctx, struct fluid_store *s,
                   struct fluid_bad_cell *out)
{
    (void)ctx;
    *out = (struct fluid_bad_cell){0};
    for (size_t k = 0; k < s->n[2]; k++)
        for (size_t j = 0; j < s->n[1]; j++)
            for (size_t i = 0; i < s->n[0]; i++) {
                size_t at = k * s->plane + j * s->pitch + i;
                int finite = 1;
                for (int f = 0; f < s->n_fields; f++)
                    finite = finite && isfinite(s->field[f][at]);
                if (finite)
                    continue;
                out->found = 1;
                out->cell[0] = s->setup.first[0] + (int64_t)i;
                out->cell[1] = s->setup.first[1] + (int64_t)j;
                out->cell[2] = s->setup.first[2] + (int64_t)k;
                for (int f = 0; f < 3; f++)
                    out->velocity[f] = (double)s->field[f][at];
                return 0;
            }
    return 0;
}
