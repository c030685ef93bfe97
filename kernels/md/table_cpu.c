/* table_cpu.c: pair potentials as rows of polynomials: memory, and the few
 * pairs that get the exact functions.
 */
#include "kernels/md/table_cpu.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

static int copy_rows(const double *from, size_t n, scalar **out)
{
    size_t capacity = 0;
    if (md_grow((void **)out, &capacity, n + LANES, sizeof **out) != 0)
        return -1;
    for (size_t k = 0; k < n; k++)
        (*out)[k] = (scalar)from[k];
    return 0;
}

/* By species of i and j, rows of s->table_stride. */
static int make_lookups(const struct md_store *s, struct md_tables *t)
{
    const struct md_pair_tables *from = &t->from;
    int n = from->n_species;
    size_t size = (size_t)(n * s->table_stride), capacity[2] = {0, 0};
    if (md_grow((void **)&t->start, &capacity[0], size, sizeof *t->start) !=
            0 ||
        md_grow((void **)&t->least2, &capacity[1], size, sizeof *t->least2) !=
            0)
        return -1;
    memset(t->start, 0, size * sizeof *t->start);
    memset(t->least2, 0, size * sizeof *t->least2);
    for (int a = 0; a < n; a++)
        for (int b = 0; b < n; b++) {
            double inner = md_pair_inner(&from->form[a * n + b]);
            int k = a * s->table_stride + b;
            t->start[k] = (scalar)(from->table[a * n + b] * from->n_rows);
            t->least2[k] = (scalar)fmax(inner * inner, (double)t->begin);
        }
    return 0;
}

int md_tables_create(struct ctx *ctx, struct md_store *s)
{
    const struct md_pair_tables *from = s->setup.tables;
    struct md_tables *t = s->tables = calloc(1, sizeof *t);
    if (!t)
        return FAIL(ctx, STATUS_MEMORY, "no memory for pair tables");
    if (from->degree != ROW - 1)
        return FAIL(ctx, STATUS_INTERNAL,
                    "pair tables of degree %d for loops of degree %d",
                    from->degree, ROW - 1);
    size_t n = (size_t)from->n_tables * (size_t)from->n_rows * ROW;
    t->from = *from;
    t->end = (scalar)from->end;
    t->begin = (scalar)ldexp(1, from->first_octave);
    t->drop = MANTISSA_BITS - from->bits;
    t->first = (KERNEL_MASK_SCALAR)(BIAS + from->first_octave) << from->bits;
    if (copy_rows(from->force, n, &t->force) != 0 ||
        copy_rows(from->energy, n, &t->energy) != 0 || make_lookups(s, t) != 0)
        return FAIL(ctx, STATUS_MEMORY, "no memory for pair tables");
    return 0;
}

void md_tables_destroy(struct md_tables *t)
{
    if (!t)
        return;
    free(t->force);
    free(t->energy);
    free(t->start);
    free(t->least2);
    free(t);
}

double md_exact_pair(const struct md_store *s, struct md_worker *w, size_t i,
                     size_t j, double r2, double *g)
{
    const struct md_pair_form *form =
        &s->tables->from
             .form[s->species[i] * s->setup.n_species + s->species[j]];
    double inner = md_pair_inner(form);
    if (r2 < inner * inner) {
        w->near.found = 1;
        w->near.slot[0] = (uint32_t)i;
        w->near.slot[1] = (uint32_t)j;
        w->near.distance = sqrt(r2);
        w->near.inner = inner;
    }
    return md_pair_shifted(form, r2, g);
}

int md_check_tables(struct ctx *ctx, const struct md_store *s)
{
    for (int k = 0; k < s->n_workers; k++) {
        const struct md_worker *w = &s->workers[k];
        if (!w->near.found)
            continue;
        size_t other = w->near.slot[1];
        if (other / (size_t)LANES >= (size_t)s->n_clusters)
            other = w->near.slot[0]; /* of a copy only the owner knows the id */
        return FAIL(ctx, STATUS_PHYSICS,
                    "particles %" PRId64 " and %s%" PRId64
                    " came as near as %g to one another: the table of their "
                    "pair begins at %g only",
                    s->id[w->near.slot[0]],
                    other == w->near.slot[0] ? "a neighbor of " : "",
                    s->id[other], w->near.distance, w->near.inner);
    }
    return 0;
}
