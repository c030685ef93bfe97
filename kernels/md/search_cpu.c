/* search_cpu.c: which clusters are near which, by their boxes.
 *
 * Clusters of a column stand in order of z, so a sweep up a column of own
 * clusters moves along each of the columns near it once. A column to search,
 * under one periodic shift, is a link; many boxes are tested at a time.
 */
#include "kernels/md/store_cpu.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A column to search from a column of own clusters, under one shift of the
 * latter. */
struct md_link {
    int32_t cursor, end; /* clusters still in reach, first and behind last */
    int shift, bucket;
    int same;        /* the column itself: half of the pairs */
    float offset[3]; /* of the shift */
    float reach_z;   /* how far apart in z a pair may be */
};

static float gap_between(double alo, double ahi, double blo, double bhi)
{
    double below = blo - ahi, above = alo - bhi;
    double g = below > above ? below : above;
    return g > 0 ? (float)g : 0;
}

/* The columns [*first, *last] of direction d that meet [lo, hi]. */
static void column_range(const struct md_columns *c, int d, double lo,
                         double hi, int *first, int *last)
{
    double a = floor((lo - c->lo[d]) / c->side[d]);
    double b = floor((hi - c->lo[d]) / c->side[d]);
    *first = a < 0 ? 0 : a > c->n[d] ? c->n[d] : (int)a;
    *last = b < 0 ? -1 : b >= c->n[d] ? c->n[d] - 1 : (int)b;
}

/* All links from own column `column` for one shift in x and y. */
static int link_shift(struct md_store *s, struct md_worker *w, int32_t column,
                      int halo, double radius, int sx, int sy, size_t *n)
{
    const struct md_columns *const all[] = {&s->columns, &s->halo_columns,
                                            &s->below_columns};
    const struct md_columns *own = all[0], *to = all[halo];
    int at[2] = {column % own->n[0], column / own->n[0]};
    int shift_xy[2] = {sx, sy};
    double lo[2], hi[2];
    int first[2], last[2];
    for (int d = 0; d < 2; d++) {
        lo[d] = own->lo[d] + at[d] * own->side[d] +
                shift_xy[d] * s->setup.box_length[d] - s->box_tolerance;
        hi[d] = lo[d] + own->side[d] + 2 * s->box_tolerance;
        column_range(to, d, lo[d] - radius, hi[d] + radius, &first[d],
                     &last[d]);
    }
    for (int jy = first[1]; jy <= last[1]; jy++) {
        double y = to->lo[1] + jy * to->side[1];
        float gy = gap_between(lo[1], hi[1], y, y + to->side[1]);
        for (int jx = first[0]; jx <= last[0]; jx++) {
            double x = to->lo[0] + jx * to->side[0];
            float gx = gap_between(lo[0], hi[0], x, x + to->side[0]);
            double left = radius * radius - (double)(gx * gx + gy * gy);
            int32_t jc = jy * to->n[0] + jx;
            if (left <= 0 || to->start[jc] == to->start[jc + 1] ||
                (!halo && jc < column))
                continue;
            for (int sz = s->setup.cut[2] ? 0 : -1;
                 sz <= (s->setup.cut[2] ? 0 : 1); sz++) {
                if (md_grow((void **)&w->links, &w->cap_links, *n + 1,
                            sizeof *w->links) != 0)
                    return -1;
                struct md_link *link = &w->links[(*n)++];
                link->cursor = to->start[jc];
                link->end = to->start[jc + 1];
                link->shift = SHIFT_NONE + sx + 3 * sy + 9 * sz;
                link->bucket = link->shift + (halo ? BUCKET_HALO : 0);
                link->same = !halo && jc == column;
                for (int d = 0; d < 3; d++)
                    link->offset[d] = (float)s->shift[link->shift][d];
                link->reach_z = (float)(sqrt(left) + s->box_tolerance);
            }
        }
    }
    return 0;
}

static int link_column(struct md_store *s, struct md_worker *w, int32_t column,
                       double radius, int below, size_t *n)
{
    int mx = s->setup.cut[0] ? 0 : 1, my = s->setup.cut[1] ? 0 : 1;
    int kinds = s->n_halo == 0                            ? 1
                : below && s->setup.half == MD_HALF_PAIRS ? 3
                                                          : 2;
    *n = 0;
    for (int halo = 0; halo < kinds; halo++)
        for (int sy = -my; sy <= my; sy++)
            for (int sx = -mx; sx <= mx; sx++)
                if (link_shift(s, w, column, halo, radius, sx, sy, n) != 0)
                    return -1;
    return 0;
}

static int grow_candidates(struct md_worker *w)
{
    size_t cap = w->cap_candidates ? 2 * w->cap_candidates : 256;
    int32_t *fresh = malloc(BUCKETS * cap * sizeof *fresh);
    if (!fresh)
        return -1;
    for (int k = 0; k < BUCKETS && w->candidates; k++)
        memcpy(fresh + (size_t)k * cap,
               w->candidates + (size_t)k * w->cap_candidates,
               (size_t)w->n_candidates[k] * sizeof *fresh);
    free(w->candidates);
    w->candidates = fresh;
    w->cap_candidates = cap;
    return 0;
}

KERNEL_FN box_real box_gap(float lo, float hi, const float *blo,
                           const float *bhi)
{
    box_real below = *(const box_real_unaligned *)blo - simd_box_set(hi);
    box_real above = simd_box_set(lo) - *(const box_real_unaligned *)bhi;
    return simd_box_max(simd_box_max(below, above), simd_box_set(0));
}

/* Clusters of one link whose boxes are within reach of cluster i's, whose box
 * is b. Pointers are copied first: the list written could alias the store. */
KERNEL_FN int search_link(const float *const box[6], struct md_worker *w,
                          struct md_link *link, int32_t i, const float b[6],
                          float radius2)
{
    const float *x_lo = box[0], *x_hi = box[1], *y_lo = box[2], *y_hi = box[3],
                *z_lo = box[4], *z_hi = box[5];
    float top = b[5] + link->offset[2], bottom = b[4] + link->offset[2];
    float reach_z = link->reach_z;
    int32_t j = link->cursor, end = link->end;
    while (j < end && z_hi[j] < bottom - reach_z)
        j++;
    link->cursor = j;
    if (link->same) { /* j > i, and i itself under half of the shifts */
        int32_t least = link->shift > SHIFT_NONE ? i : i + 1;
        j = j < least ? least : j;
    }
    if (j >= end || z_lo[j] > top + reach_z)
        return 0;
    float left = b[0] + link->offset[0], right = b[1] + link->offset[0];
    float front = b[2] + link->offset[1], back = b[3] + link->offset[1];
    int32_t n = w->n_candidates[link->bucket];
    for (; j < end && z_lo[j] <= top + reach_z; j += BOX_LANES) {
        box_real gx = box_gap(left, right, x_lo + j, x_hi + j);
        box_real gy = box_gap(front, back, y_lo + j, y_hi + j);
        box_real gz = box_gap(bottom, top, z_lo + j, z_hi + j);
        uint32_t bits = simd_box_less_bits(gx * gx + gy * gy + gz * gz,
                                           simd_box_set(radius2));
        if (end - j < BOX_LANES)
            bits &= (1u << (end - j)) - 1u;
        w->n_candidates[link->bucket] = n;
        if ((size_t)n + BOX_LANES > w->cap_candidates &&
            grow_candidates(w) != 0)
            return -1;
        int32_t *out = w->candidates + (size_t)link->bucket * w->cap_candidates;
        n += simd_box_compress(bits, j, out + n);
    }
    w->n_candidates[link->bucket] = n;
    return 0;
}

/* All links of a column against its cluster i. */
static int search_links(const struct md_store *s, struct md_worker *w,
                        size_t n_links, int32_t i, float radius2)
{
    const float *const box[6] = {s->box[0], s->box[1], s->box[2],
                                 s->box[3], s->box[4], s->box[5]};
    float b[6];
    for (int k = 0; k < 6; k++)
        b[k] = box[k][i];
    memset(w->n_candidates, 0, sizeof w->n_candidates);
    for (size_t k = 0; k < n_links; k++)
        if (search_link(box, w, &w->links[k], i, b, radius2) != 0)
            return -1;
    return 0;
}

int md_find_candidates(struct md_store *s, struct md_worker *w, double radius,
                       int below, md_visit visit, void *user)
{
    const int32_t *start = s->columns.start;
    size_t columns = (size_t)s->columns.n[0] * (size_t)s->columns.n[1];
    double reach = radius + 2 * s->box_tolerance;
    float radius2 = (float)(reach * reach) * (1 + 4 * FLT_EPSILON);
    for (size_t c = 0; c < columns; c++) {
        int32_t i = start[c] > w->first ? start[c] : w->first;
        int32_t end = start[c + 1] < w->last ? start[c + 1] : w->last;
        size_t n_links;
        if (i >= end)
            continue;
        if (link_column(s, w, (int32_t)c, reach, below, &n_links) != 0)
            return -1;
        for (; i < end; i++) {
            if (search_links(s, w, n_links, i, radius2) != 0)
                return -1;
            int status = visit(s, w, i, user);
            if (status != 0)
                return status;
        }
    }
    return 0;
}
