/* place_cpu.c: which particle goes into which slot.
 *
 * Columns along z over a grid in x and y; within a column particles stand in
 * order of z and are cut into clusters. The old order is nearly right when a
 * list is renewed, so an insertion sort finishes it in about linear time; where
 * it is not (a fresh start), a shell sort takes over.
 */
#include "kernels/md/store_cpu.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

/* Clusters as wide as they are high, with this many lanes; measured best. */
static double column_side(double density)
{
    double factor = LANES == 16 ? 1.08 : 1.0;
    return cbrt((double)LANES / density) * factor;
}

int md_shape_columns(struct ctx *ctx, struct md_columns *columns,
                     const double lo[2], const double hi[2], double length_z,
                     size_t n)
{
    double width[2] = {hi[0] - lo[0], hi[1] - lo[1]};
    double density = (double)(n > 0 ? n : 1) / (width[0] * width[1] * length_z);
    double side = column_side(density);
    for (int d = 0; d < 2; d++) {
        double count = floor(width[d] / side + 0.5);
        columns->n[d] = count < 1 ? 1 : count > 30000 ? 30000 : (int)count;
        columns->lo[d] = lo[d];
        columns->side[d] = width[d] / columns->n[d];
        columns->per_length[d] = columns->n[d] / width[d];
    }
    size_t total = (size_t)columns->n[0] * (size_t)columns->n[1];
    if (md_grow((void **)&columns->start, &columns->capacity, total + 1,
                sizeof *columns->start) != 0)
        return FAIL(ctx, STATUS_MEMORY, "no memory for %zu columns", total);
    return 0;
}

int32_t md_column_of(const struct md_columns *columns, double x, double y)
{
    double p[2] = {x, y};
    int c[2];
    for (int d = 0; d < 2; d++) {
        double q = (p[d] - columns->lo[d]) * columns->per_length[d];
        c[d] = q < 0 ? 0 : q >= columns->n[d] ? columns->n[d] - 1 : (int)q;
    }
    return c[1] * columns->n[0] + c[0];
}

static void shell_sort(double *z, int32_t *particle, size_t n)
{
    static const size_t gaps[] = {3905, 1750, 701, 301, 132, 57, 23, 10, 4, 1};
    size_t first = 3905;
    while (first < n / 3)
        first = first * 9 / 4;
    for (size_t g = 0; g < sizeof gaps / sizeof gaps[0];) {
        size_t gap = first > 3905 ? first : gaps[g];
        for (size_t i = gap; i < n; i++) {
            double zi = z[i];
            int32_t pi = particle[i];
            size_t k = i;
            for (; k >= gap && z[k - gap] > zi; k -= gap) {
                z[k] = z[k - gap];
                particle[k] = particle[k - gap];
            }
            z[k] = zi;
            particle[k] = pi;
        }
        if (first > 3905)
            first = first * 4 / 9;
        else
            g++;
    }
}

static void sort_column(double *z, int32_t *particle, size_t n)
{
    size_t budget = 16 * n + 64;
    for (size_t i = 1; i < n; i++) {
        double zi = z[i];
        int32_t pi = particle[i];
        size_t k = i;
        for (; k > 0 && z[k - 1] > zi; k--) {
            z[k] = z[k - 1];
            particle[k] = particle[k - 1];
        }
        z[k] = zi;
        particle[k] = pi;
        if (i - k > budget) {
            shell_sort(z, particle, n);
            return;
        }
        budget -= i - k;
    }
}

/* Cut a sorted column into clusters; a wide gap starts a new one, so that boxes
 * stay small where particles are sparse. Returns 0 or -1. */
static int cut_column(struct md_store *s, const double *z,
                      const int32_t *particle, size_t n, double gap,
                      size_t *slot)
{
    for (size_t i = 0; i < n; i++) {
        if (i > 0 && z[i] - z[i - 1] > gap)
            while (*slot % (size_t)LANES != 0)
                s->order[(*slot)++] = -1;
        if (*slot + 2 * (size_t)LANES > s->cap_order &&
            md_grow((void **)&s->order, &s->cap_order,
                    *slot + 2 * (size_t)LANES, sizeof *s->order) != 0)
            return -1;
        s->order[(*slot)++] = particle[i];
    }
    while (*slot % (size_t)LANES != 0)
        s->order[(*slot)++] = -1;
    return 0;
}

int md_place(struct ctx *ctx, struct md_store *s, struct md_columns *columns,
             size_t n, int32_t first_cluster, int32_t *n_clusters)
{
    size_t total = (size_t)columns->n[0] * (size_t)columns->n[1];
    int32_t *start = columns->start;
    double side = fmax(columns->side[0], columns->side[1]);
    double gap = fmax(s->setup.list_radius, side);
    /* Room for clusters that are half empty at the end of their column. */
    size_t slots = n + total * (size_t)LANES / 2 + 2 * (size_t)LANES;

    if (md_grow((void **)&s->by_column, &s->cap_by_column, n,
                sizeof *s->by_column) != 0 ||
        md_grow((void **)&s->z_by_column, &s->cap_z_by_column, n,
                sizeof *s->z_by_column) != 0 ||
        md_grow((void **)&s->order, &s->cap_order, slots, sizeof *s->order) !=
            0)
        return FAIL(ctx, STATUS_MEMORY, "no memory to sort %zu particles", n);
    memset(start, 0, (total + 1) * sizeof *start);
    for (size_t k = 0; k < n; k++)
        if (s->key[k] >= 0)
            start[s->key[k] + 1]++;
    for (size_t c = 0; c < total; c++)
        start[c + 1] += start[c];
    for (size_t k = 0; k < n; k++) {
        if (s->key[k] < 0)
            continue;
        int32_t to = start[s->key[k]]++;
        s->by_column[to] = (int32_t)k;
        s->z_by_column[to] = s->z[k];
    }
    size_t slot = 0, begin = 0; /* now start[c] is the end of column c */
    for (size_t c = 0; c < total; c++) {
        size_t end = (size_t)start[c];
        sort_column(s->z_by_column + begin, s->by_column + begin, end - begin);
        start[c] = first_cluster + (int32_t)(slot / (size_t)LANES);
        if (cut_column(s, s->z_by_column + begin, s->by_column + begin,
                       end - begin, gap, &slot) != 0)
            return FAIL(ctx, STATUS_MEMORY, "no memory to sort %zu particles",
                        n);
        begin = end;
    }
    *n_clusters = (int32_t)(slot / (size_t)LANES);
    start[total] = first_cluster + *n_clusters;
    return 0;
}

void md_cluster_boxes(struct md_store *s, int32_t first, int32_t last)
{
    for (int32_t c = first; c < last; c++) {
        const scalar *x = s->pair_x + CLUSTER(c);
        for (int d = 0; d < 3; d++) {
            float lo = 3e38f, hi = -3e38f;
            for (int l = 0; l < LANES; l++) {
                if ((double)x[l] > 0.5 * s->far) /* padding, at the end */
                    break;
                float q = (float)x[d * LANES + l];
                lo = q < lo ? q : lo;
                hi = q > hi ? q : hi;
            }
            s->box[2 * d][c] = lo;
            s->box[2 * d + 1][c] = hi;
        }
    }
}
