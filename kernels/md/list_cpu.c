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

/* Clusters of one link whose boxes are within reach of cluster i's. */
static int search_link(struct md_store *s, struct md_worker *w,
                       struct md_link *link, int32_t i, float radius2)
{
    float lo[3], hi[3];
    for (int d = 0; d < 3; d++) {
        lo[d] = s->box[2 * d][i] + link->offset[d];
        hi[d] = s->box[2 * d + 1][i] + link->offset[d];
    }
    while (link->cursor < link->end &&
           s->box[5][link->cursor] < lo[2] - link->reach_z)
        link->cursor++;
    int32_t j = link->cursor;
    if (link->same) { /* j > i, and i itself under half of the shifts */
        int32_t least = link->shift > SHIFT_NONE ? i : i + 1;
        j = j < least ? least : j;
    }
    for (; j < link->end && s->box[4][j] <= hi[2] + link->reach_z;
         j += BOX_LANES) {
        box_real gx = box_gap(lo[0], hi[0], s->box[0] + j, s->box[1] + j);
        box_real gy = box_gap(lo[1], hi[1], s->box[2] + j, s->box[3] + j);
        box_real gz = box_gap(lo[2], hi[2], s->box[4] + j, s->box[5] + j);
        uint32_t bits = simd_box_less_bits(gx * gx + gy * gy + gz * gz,
                                           simd_box_set(radius2));
        int32_t left = link->end - j;
        if (left < BOX_LANES)
            bits &= (1u << left) - 1u;
        int32_t n = w->n_candidates[link->shift];
        if ((size_t)n + BOX_LANES > w->cap_candidates &&
            grow_candidates(w) != 0)
            return -1;
        int32_t *out = w->candidates + (size_t)link->shift * w->cap_candidates;
        for (; bits; bits &= bits - 1)
            out[n++] = j + __builtin_ctz(bits);
        w->n_candidates[link->shift] = n;
    }
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
            memset(w->n_candidates, 0, sizeof w->n_candidates);
            for (size_t k = 0; k < n_links; k++)
                if (search_link(s, w, &w->links[k], i, radius2) != 0)
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

/* Tiles of one shift for each lane of cluster i: lane g's at
 * out[g * stride], n[g] of them. */
static void fill_lanes(const struct md_store *s, int32_t i, int shift,
                       const int32_t *candidates, int32_t n_candidates,
                       real radius2, uint32_t *out, size_t stride, uint32_t *n)
{
    const scalar *xi = s->pair_x + CLUSTER(i);
    const real *pi = (const real *)xi;
    real x = pi[0] + s->shift[shift][0], y = pi[1] + s->shift[shift][1],
         z = pi[2] + s->shift[shift][2];
    for (int32_t q = 0; q < n_candidates; q++) {
        uint32_t tile = (uint32_t)CLUSTER(candidates[q]);
        const scalar *pj = s->pair_x + tile;
        real nearest = simd_set((scalar)FLT_MAX);
        KERNEL_UNROLL for (int l = 0; l < LANES; l++)
        {
            real dx = x - pj[l], dy = y - pj[l + LANES],
                 dz = z - pj[l + 2 * LANES];
            nearest = simd_min(nearest, dx * dx + dy * dy + dz * dz);
        }
        uint32_t bits = simd_bits(simd_less(nearest, radius2));
        if (bits == 0)
            continue;
        KERNEL_UNROLL for (int g = 0; g < LANES; g++)
        {
            out[(size_t)g * stride + n[g]] = tile;
            n[g] += (bits >> g) & 1u;
        }
    }
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

/* The rows of cluster i, from the clusters found near it. */
static int add_rows(struct md_store *s, struct md_worker *w, int32_t i,
                    int halo, void *user)
{
    (void)user;
    struct draft drafts[SHIFTS * LANES];
    struct md_list *list = halo ? &w->halo : &w->own;
    double r = s->setup.list_radius;
    real radius2 = simd_set((scalar)(r * r * (1 + 16 * FLT_EPSILON)));
    int lanes = real_lanes(s, i), n_drafts = 0;
    size_t need = 0, used = 0;

    for (int k = 0; k < SHIFTS; k++)
        need += ((size_t)w->n_candidates[k] + 2) * (size_t)LANES;
    if (md_grow((void **)&w->lane_tiles, &w->cap_lane_tiles, need,
                sizeof *w->lane_tiles) != 0)
        return -1;
    for (int k = 0; k < SHIFTS; k++) {
        int with_self = !halo && k == SHIFT_NONE;
        if (w->n_candidates[k] == 0 && !with_self)
            continue;
        uint32_t *out = w->lane_tiles + used, n[LANES] = {0};
        size_t stride = (size_t)w->n_candidates[k] + 2;
        used += stride * (size_t)LANES;
        /* Its own cluster first; the last particle has no partner there. */
        for (int g = 0; with_self && g + 1 < lanes; g++)
            out[(size_t)g * stride + n[g]++] = (uint32_t)CLUSTER(i);
        fill_lanes(s, i, k, w->candidates + (size_t)k * w->cap_candidates,
                   w->n_candidates[k], radius2, out, stride, n);
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
