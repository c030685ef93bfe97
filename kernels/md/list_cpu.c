/* list_cpu.c: the pair list, from clusters to tiles of one row.
 *
 * First clusters against clusters by their boxes (a sweep along each column and
 * its neighbors, many boxes at a time), then each particle of the cluster
 * against the tiles found, by true distance: a tile stays in a particle's row
 * where it holds a partner within the list radius. Measured against lists of
 * 4 x 4 and 8 x 8 particles, rows of one particle waste the fewest lanes.
 */
#include "kernels/md/store_cpu.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

/* A column to search from a column of own clusters, under one shift of the
 * latter. */
struct md_link {
    int32_t cursor, end; /* clusters still in reach, first and behind last */
    int shift;
    int same;        /* the column itself: half of the pairs */
    float offset[3]; /* of the shift */
    float reach_z;   /* how far apart in z a pair may be */
};

static float gap_between(double alo, double ahi, double blo, double bhi)
{
    double g = fmax(blo - ahi, alo - bhi);
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
    const struct md_columns *own = &s->columns;
    const struct md_columns *to = halo ? &s->halo_columns : own;
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
                       int halo, double radius, size_t *n)
{
    int mx = s->setup.cut[0] ? 0 : 1, my = s->setup.cut[1] ? 0 : 1;
    *n = 0;
    for (int sy = -my; sy <= my; sy++)
        for (int sx = -mx; sx <= mx; sx++)
            if (link_shift(s, w, column, halo, radius, sx, sy, n) != 0)
                return -1;
    return 0;
}

static int grow_candidates(struct md_worker *w)
{
    size_t cap = w->cap_candidates ? 2 * w->cap_candidates : 256;
    int32_t *fresh = malloc(SHIFTS * cap * sizeof *fresh);
    if (!fresh)
        return -1;
    for (int k = 0; k < SHIFTS && w->candidates; k++)
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
    int32_t n = w->n_candidates[link->shift];
    for (; j < end && z_lo[j] <= top + reach_z; j += BOX_LANES) {
        box_real gx = box_gap(left, right, x_lo + j, x_hi + j);
        box_real gy = box_gap(front, back, y_lo + j, y_hi + j);
        box_real gz = box_gap(bottom, top, z_lo + j, z_hi + j);
        uint32_t bits = simd_box_less_bits(gx * gx + gy * gy + gz * gz,
                                           simd_box_set(radius2));
        if (end - j < BOX_LANES)
            bits &= (1u << (end - j)) - 1u;
        w->n_candidates[link->shift] = n;
        if ((size_t)n + BOX_LANES > w->cap_candidates &&
            grow_candidates(w) != 0)
            return -1;
        int32_t *out = w->candidates + (size_t)link->shift * w->cap_candidates;
        n += simd_box_compress(bits, j, out + n);
    }
    w->n_candidates[link->shift] = n;
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
                       int halo, md_visit visit, void *user)
{
    const int32_t *start = s->columns.start;
    size_t columns = (size_t)s->columns.n[0] * (size_t)s->columns.n[1];
    double reach = radius + 2 * s->box_tolerance;
    float radius2 = (float)(reach * reach) * (1 + 4 * FLT_EPSILON);
    if (halo && s->n_halo == 0)
        return 0;
    for (size_t c = 0; c < columns; c++) {
        int32_t i = start[c] > w->first ? start[c] : w->first;
        int32_t end = start[c + 1] < w->last ? start[c + 1] : w->last;
        size_t n_links;
        if (i >= end)
            continue;
        if (link_column(s, w, (int32_t)c, halo, reach, &n_links) != 0)
            return -1;
        for (; i < end; i++) {
            if (search_links(s, w, n_links, i, radius2) != 0)
                return -1;
            if (visit(s, w, i, halo, user) != 0)
                return -1;
        }
    }
    return 0;
}

/* ---- rows ---- */

/* A row before it is appended. */
struct draft {
    const uint32_t *tiles;
    uint32_t n;
    uint8_t lane, shift, self;
};

static int append_row(struct md_list *list, uint32_t cluster,
                      const struct draft *draft)
{
    const uint32_t *tiles = draft->tiles;
    uint32_t left = draft->n;
    uint8_t self = draft->self;
    if (md_grow_list((void **)&list->tiles, &list->cap_tiles,
                     list->n_tiles + left, sizeof *list->tiles) != 0)
        return -1;
    while (left > 0) {
        uint16_t n = left > UINT16_MAX ? UINT16_MAX : (uint16_t)left;
        if (md_grow_list((void **)&list->rows, &list->cap_rows,
                         list->n_rows + 1, sizeof *list->rows) != 0)
            return -1;
        list->rows[list->n_rows++] =
            (struct md_row){cluster, n, draft->lane, draft->shift, self};
        memcpy(list->tiles + list->n_tiles, tiles, n * sizeof *tiles);
        list->n_tiles += n;
        tiles += n;
        left -= n;
        self = 0;
    }
    return 0;
}

/* The bits of the lanes of cluster i, under one shift, that have a partner
 * within the list radius in the cluster whose first slot is j: |xj|^2 - 2 xi .
 * xj < r^2 - |xi|^2 needs half of the operations of a sum of squared
 * differences; the rounding of floats is covered by search_margin. */
KERNEL_FN int32_t near_lanes(float *const search[4], size_t j, lane_float x,
                             lane_float y, lane_float z, lane_float least)
{
    const float *xj = search[0] + j, *yj = search[1] + j, *zj = search[2] + j,
                *square = search[3] + j;
    lane_float nearest = x - x + FLT_MAX;
    KERNEL_UNROLL for (int l = 0; l < LANES; l++)
    {
        lane_float t = xj[l] * x + square[l];
        t = yj[l] * y + t;
        t = zj[l] * z + t;
        nearest = simd_lane_min(nearest, t);
    }
    return (int32_t)simd_lane_less_bits(nearest, least);
}

/* Tiles of one shift for each lane of cluster i: lane g's at
 * out[g * stride], n[g] of them. */
static void fill_lanes(const struct md_store *s, struct md_worker *w, int32_t i,
                       int shift, uint32_t *out, size_t stride, uint32_t *n)
{
    const int32_t *candidates =
        w->candidates + (size_t)shift * w->cap_candidates;
    int32_t n_candidates = w->n_candidates[shift];
    float *const search[4] = {s->search[0], s->search[1], s->search[2],
                              s->search[3]};
    int32_t *flags = w->flags;
    uint32_t *tiles = w->flag_tiles;
    double r = s->setup.list_radius;
    lane_float xi[3], least;

    lane_float sum = {0};
    for (int d = 0; d < 3; d++) {
        xi[d] = *(const lane_float *)(search[d] + (size_t)i * (size_t)LANES) +
                (float)s->shift[shift][d];
        sum += xi[d] * xi[d];
        xi[d] *= -2;
    }
    least = (float)(r * r + s->search_margin) - sum;
    for (int32_t q = 0; q < n_candidates; q++) {
        size_t j = (size_t)candidates[q] * (size_t)LANES;
        flags[q] = near_lanes(search, j, xi[0], xi[1], xi[2], least);
        tiles[q] = (uint32_t)(3 * j);
    }
    for (int32_t q = n_candidates; q % BOX_LANES != 0; q++)
        flags[q] = 0;
    for (int g = 0; g < LANES; g++) {
        uint32_t *row = out + (size_t)g * stride;
        for (int32_t q = 0; q < n_candidates; q += BOX_LANES)
            n[g] += (uint32_t)simd_box_choose(flags + q, 1 << g, tiles + q,
                                              row + n[g]);
    }
}

/* Positions as floats about the middle of the block, and their squares. */
static int fill_search(struct md_store *s)
{
    int32_t clusters = s->n_clusters + s->n_clusters_halo;
    size_t slots = (size_t)clusters * (size_t)LANES;
    double middle[3], greatest = 0;
    for (int d = 0; d < 4; d++) {
        size_t capacity = s->cap_search;
        if (md_grow((void **)&s->search[d], &capacity, slots + BOX_LANES,
                    sizeof(float)) != 0)
            return -1;
        if (d == 3)
            s->cap_search = capacity;
    }
    for (int d = 0; d < 3; d++) {
        middle[d] = 0.5 * (s->setup.lo[d] + s->setup.hi[d]) - s->origin[d];
        double reach =
            0.5 * (s->setup.hi[d] - s->setup.lo[d]) + s->setup.halo_radius;
        greatest += reach * reach;
    }
    s->search_margin = 8 * FLT_EPSILON * greatest;
#pragma omp parallel for schedule(static) num_threads(s->n_workers)
    for (int32_t c = 0; c < clusters; c++) {
        const scalar *x = s->pair_x + CLUSTER(c);
        for (int l = 0; l < LANES; l++) {
            float sum = 0;
            for (int d = 0; d < 3; d++) {
                float q = (float)((double)x[d * LANES + l] - middle[d]);
                s->search[d][c * LANES + l] = q;
                sum += q * q;
            }
            s->search[3][c * LANES + l] = sum;
        }
    }
    return 0;
}

static int real_lanes(const struct md_store *s, int32_t cluster)
{
    const int64_t *id = s->id + (size_t)cluster * (size_t)LANES;
    int n = 0;
    while (n < LANES && id[n] != 0)
        n++;
    return n;
}

/* Longest first: the inner loop's end is then well predicted. */
static void insert_by_length(struct draft *drafts, int n, struct draft fresh)
{
    int k = n;
    for (; k > 0 && drafts[k - 1].n < fresh.n; k--)
        drafts[k] = drafts[k - 1];
    drafts[k] = fresh;
}

/* Scratch of fill_lanes(), as long as a list of candidates. */
static int grow_flags(struct md_worker *w)
{
    size_t capacity = w->cap_flags, need = w->cap_candidates + BOX_LANES;
    if (md_grow((void **)&w->flags, &capacity, need, sizeof *w->flags) != 0)
        return -1;
    return md_grow((void **)&w->flag_tiles, &w->cap_flags, need,
                   sizeof *w->flag_tiles);
}

/* The rows of cluster i, from the clusters found near it. */
static int add_rows(struct md_store *s, struct md_worker *w, int32_t i,
                    int halo, void *user)
{
    (void)user;
    struct draft drafts[SHIFTS * LANES];
    struct md_list *list = halo ? &w->halo : &w->own;
    int lanes = real_lanes(s, i), n_drafts = 0;
    size_t need = 0, used = 0;

    for (int k = 0; k < SHIFTS; k++)
        need += ((size_t)w->n_candidates[k] + 1 + BOX_LANES) * (size_t)LANES;
    if (md_grow((void **)&w->lane_tiles, &w->cap_lane_tiles, need,
                sizeof *w->lane_tiles) != 0 ||
        grow_flags(w) != 0)
        return -1;
    for (int k = 0; k < SHIFTS; k++) {
        int with_self = !halo && k == SHIFT_NONE;
        if (w->n_candidates[k] == 0 && !with_self)
            continue;
        uint32_t *out = w->lane_tiles + used, n[LANES] = {0};
        size_t stride = (size_t)w->n_candidates[k] + 1 + BOX_LANES;
        used += stride * (size_t)LANES;
        /* Its own cluster first; the last particle has no partner there. */
        for (int g = 0; with_self && g + 1 < lanes; g++)
            out[(size_t)g * stride + n[g]++] = (uint32_t)CLUSTER(i);
        fill_lanes(s, w, i, k, out, stride, n);
        for (int g = 0; g < lanes; g++) {
            if (n[g] == 0)
                continue;
            struct draft fresh = {out + (size_t)g * stride, n[g], (uint8_t)g,
                                  (uint8_t)k, with_self && g + 1 < lanes};
            insert_by_length(drafts, n_drafts++, fresh);
        }
    }
    for (int k = 0; k < n_drafts; k++)
        if (append_row(list, (uint32_t)i, &drafts[k]) != 0)
            return -1;
    return 0;
}

/* Where this worker's rows add forces, for the sum over threads. */
static void mark_touched(const struct md_store *s, struct md_worker *w)
{
    size_t block = CLUSTER(TOUCH_BLOCK);
    memset(w->touched, 0, s->cap_clusters / TOUCH_BLOCK + 1);
    for (size_t t = 0; t < w->own.n_tiles; t++)
        w->touched[w->own.tiles[t] / block] = 1;
    for (int32_t c = w->first; c < w->last; c++)
        w->touched[c / TOUCH_BLOCK] = 1;
}

int md_build_list(struct ctx *ctx, struct md_store *s)
{
    double radius = s->setup.list_radius;
    if (fill_search(s) != 0)
        return FAIL(ctx, STATUS_MEMORY, "no memory for the pair list");
#pragma omp parallel for schedule(static, 1) num_threads(s->n_workers)
    for (int k = 0; k < s->n_workers; k++) {
        struct md_worker *w = &s->workers[k];
        w->own.n_rows = w->own.n_tiles = 0;
        w->halo.n_rows = w->halo.n_tiles = 0;
        w->failed = md_find_candidates(s, w, radius, 0, add_rows, NULL) != 0 ||
                    md_find_candidates(s, w, radius, 1, add_rows, NULL) != 0;
        if (s->n_workers > 1 && !w->failed)
            mark_touched(s, w);
    }
    for (int k = 0; k < s->n_workers; k++)
        if (s->workers[k].failed)
            return FAIL(ctx, STATUS_MEMORY,
                        "no memory for the pair list; use more ranks");
    memset(s->moved, 0, CLUSTER(s->n_clusters) * sizeof *s->moved);
    s->lists_built++;
    return 0;
}
