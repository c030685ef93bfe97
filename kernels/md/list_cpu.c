/* list_cpu.c: the pair list, from near clusters to the tiles of each row.
 *
 * Each particle of a cluster is tested against the clusters found near it, by
 * true distance: a tile stays in a particle's row where it holds a partner
 * within the list radius. Measured against lists of 4 x 4 and 8 x 8 particles,
 * rows of one particle waste the fewest lanes.
 */
#include "kernels/md/eam_cpu.h"
#include "kernels/md/terms_cpu.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

/* A row before it is appended. */
struct draft {
    uint32_t *tiles;
    uint32_t n, n_halo;
    size_t at; /* its first tile in the list */
    uint8_t lane, shift;
    uint8_t with_self; /* the first tile is the own cluster */
};

/* Room for the rows of one cluster: `tiles` in all. */
static int reserve_rows(const struct md_store *s, struct md_list *list,
                        size_t rows, size_t tiles)
{
    rows += list->n_rows + 2 * (tiles / UINT16_MAX);
    tiles += list->n_tiles + BOX_LANES;
    if (md_grow_list((void **)&list->tiles, &list->cap_tiles, tiles,
                     sizeof *list->tiles) != 0 ||
        (s->masked && md_grow_list((void **)&list->masks, &list->cap_masks,
                                   tiles, sizeof *list->masks) != 0))
        return -1;
    return md_grow_list((void **)&list->rows, &list->cap_rows, rows,
                        sizeof *list->rows);
}

static uint16_t at_most(uint32_t n)
{
    return n > UINT16_MAX ? UINT16_MAX : (uint16_t)n;
}

/* Copies whole vectors: both sides have room for one more. pushed: copies get
 * forces as own particles do. */
static void append_row(struct md_list *list, uint32_t cluster, int pushed,
                       struct draft *draft)
{
    uint32_t all = draft->n + draft->n_halo;
    uint32_t left = pushed ? all : draft->n, left_halo = all - left;
    uint8_t with_self = draft->with_self;
    for (uint32_t q = 0; q < all; q += BOX_LANES)
        memcpy(list->tiles + list->n_tiles + q, draft->tiles + q,
               BOX_LANES * sizeof *draft->tiles);
    draft->at = list->n_tiles;
    list->n_tiles += all;
    while (left + left_halo > 0) {
        uint16_t n = at_most(left);
        uint16_t n_halo = left > n ? 0 : at_most(left_halo);
        list->rows[list->n_rows++] = (struct md_row){
            cluster, n, n_halo, draft->lane, draft->shift, with_self};
        left -= n;
        left_halo -= n_halo;
        with_self = 0;
    }
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

/* Tiles of one bucket for each lane of cluster i: lane g's at
 * out[g * stride], behind the n[g] that stand there. */
static void fill_lanes(const struct md_store *s, struct md_worker *w, int32_t i,
                       int bucket, uint32_t *out, size_t stride, uint32_t *n)
{
    const int32_t *candidates =
        w->candidates + (size_t)bucket * w->cap_candidates;
    int32_t n_candidates = w->n_candidates[bucket];
    int shift = bucket % SHIFTS;
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
    double greatest = 0;
    for (int d = 0; d < 4; d++) {
        size_t capacity = s->cap_search;
        if (md_grow((void **)&s->search[d], &capacity, slots + BOX_LANES,
                    sizeof(float)) != 0)
            return -1;
        if (d == 3)
            s->cap_search = capacity;
    }
    for (int d = 0; d < 3; d++) {
        s->search_middle[d] =
            0.5 * (s->setup.lo[d] + s->setup.hi[d]) - s->origin[d];
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
                float q =
                    (float)((double)x[d * LANES + l] - s->search_middle[d]);
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

enum { DRAFT_BITS = 9 }; /* SHIFTS * LANES <= 2^9 */

/* Longest first, so that the inner loop's end is well predicted: keys of length
 * and number in descending order. */
static void insert_by_length(uint32_t *keys, int n, uint32_t key)
{
    int k = n;
    for (; k > 0 && keys[k - 1] < key; k--)
        keys[k] = keys[k - 1];
    keys[k] = key;
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

/* Rows of one cluster before they are appended. */
struct md_drafts {
    struct draft row[SHIFTS * LANES];
    uint32_t key[SHIFTS * LANES];
    int16_t of[SHIFTS][LANES]; /* row of each shift and lane, or -1 */
    int n, lanes;
    size_t tiles, tiles_halo;
    size_t used; /* of the worker's lane_tiles */
};

/* The rows of cluster i under one shift. */
static void draft_rows(struct md_store *s, struct md_worker *w, int32_t i,
                       int shift, struct md_drafts *drafts)
{
    int with_self = shift == SHIFT_NONE, lanes = drafts->lanes;
    uint32_t *out = w->lane_tiles + drafts->used, n[LANES] = {0}, own[LANES];
    size_t stride = (size_t)w->n_candidates[shift] +
                    (size_t)w->n_candidates[BUCKET_HALO + shift] + 1 +
                    BOX_LANES;
    drafts->used += stride * (size_t)LANES;
    /* Its own cluster first; the last particle has no partner there. */
    for (int g = 0; with_self && g + 1 < lanes; g++)
        out[(size_t)g * stride + n[g]++] = (uint32_t)CLUSTER(i);
    fill_lanes(s, w, i, shift, out, stride, n);
    memcpy(own, n, sizeof own);
    if (w->n_candidates[BUCKET_HALO + shift] > 0)
        fill_lanes(s, w, i, BUCKET_HALO + shift, out, stride, n);
    for (int g = 0; g < lanes; g++) {
        if (n[g] == 0)
            continue;
        uint32_t number = (uint32_t)drafts->n;
        struct draft *draft = &drafts->row[number];
        draft->tiles = out + (size_t)g * stride;
        draft->n = own[g];
        draft->n_halo = n[g] - own[g];
        draft->lane = (uint8_t)g;
        draft->shift = (uint8_t)shift;
        draft->with_self = with_self && g + 1 < lanes;
        drafts->of[shift][g] = (int16_t)number;
        insert_by_length(drafts->key, drafts->n++, n[g] << DRAFT_BITS | number);
        drafts->tiles += n[g];
        drafts->tiles_halo += n[g] - own[g];
    }
}

/* ---- partners that are left out ---- */

/* Clear one lane of a tile in a row, where the row has that tile. Behind the
 * last tile there is room for a vector more. */
static void mask_lane(struct md_list *list, const struct draft *draft, int halo,
                      uint32_t tile, int lane)
{
    size_t at = draft->at + (halo ? draft->n : 0);
    size_t end = at + (halo ? draft->n_halo : draft->n);
    for (; at < end; at += BOX_LANES) {
        uint32_t bits = simd_box_equal_bits(list->tiles + at, tile);
        if (end - at < BOX_LANES)
            bits &= (1u << (end - at)) - 1u;
        if (bits) {
            list->masks[at + (size_t)__builtin_ctz(bits)] &=
                (uint16_t) ~(1u << lane);
            return;
        }
    }
}

/* The shift under which slot i sees the nearest image of slot t: *shift, or 0
 * where t is not the nearest one in a direction without shifts. */
static int nearest_shift(const struct md_store *s, const double half[3],
                         size_t i, size_t t, int *shift)
{
    static const int stride[] = {1, 3, 9};
    int far = 0;
    *shift = SHIFT_NONE;
    for (int d = 0; d < 3; d++) {
        double x =
            (double)s->pair_x[SLOT(t, d)] - (double)s->pair_x[SLOT(i, d)];
        int turns = (x > half[d]) - (x < -half[d]);
        far |= fabs(x) >= 3 * half[d];
        far |= s->setup.cut[d] & (turns != 0);
        *shift += stride[d] * turns;
    }
    return !far;
}

/* Take the partners that are bound to the particles of cluster i out of its
 * rows. */
static void mask_bonded(const struct md_store *s, struct md_list *list,
                        int32_t i, const struct md_drafts *drafts)
{
    uint32_t own = (uint32_t)s->n_clusters * (uint32_t)LANES;
    double half[3];
    for (int d = 0; d < 3; d++)
        half[d] = 0.5 * s->setup.box_length[d];
    for (int g = 0; g < drafts->lanes; g++) {
        size_t slot = (size_t)i * (size_t)LANES + (size_t)g;
        size_t n = 0;
        const uint32_t *partner = md_excluded(s, slot, &n);
        for (size_t k = 0; k < n; k++)
            for (uint32_t t = partner[k]; t != UINT32_MAX;
                 t = md_next_image(s, t)) {
                int shift, halo = t >= own;
                if (nearest_shift(s, half, slot, t, &shift) &&
                    drafts->of[shift][g] >= 0)
                    mask_lane(list, &drafts->row[drafts->of[shift][g]], halo,
                              (uint32_t)CLUSTER(t / (uint32_t)LANES),
                              (int)(t % (uint32_t)LANES));
            }
    }
}

/* The masks of cluster i's rows, whose tiles stand behind `first`: in its own
 * cluster a particle has only partners behind it. */
static void make_masks(const struct md_store *s, struct md_list *list,
                       int32_t i, size_t first, const struct md_drafts *drafts)
{
    memset(list->masks + first, 0xff,
           (list->n_tiles - first) * sizeof *list->masks);
    for (int k = 0; k < drafts->n; k++)
        if (drafts->row[k].with_self)
            list->masks[drafts->row[k].at] =
                (uint16_t) ~((2u << drafts->row[k].lane) - 1u);
    if (s->terms && s->terms->n_apart > 0)
        mask_bonded(s, list, i, drafts);
}

/* ---- the rows of a cluster ---- */

static int reserve_drafts(struct md_worker *w)
{
    size_t need = SHIFTS * (1 + BOX_LANES) * (size_t)LANES;
    for (int k = 0; k < BUCKETS; k++)
        need += (size_t)w->n_candidates[k] * (size_t)LANES;
    if (!w->drafts)
        w->drafts = malloc(sizeof *w->drafts);
    if (!w->drafts || md_grow((void **)&w->lane_tiles, &w->cap_lane_tiles, need,
                              sizeof *w->lane_tiles) != 0)
        return -1;
    return grow_flags(w);
}

/* Of cluster i's rows. Half of the way through a worker's clusters those left
 * for later begin. */
static int part_of(const struct md_store *s, const struct md_worker *w,
                   int32_t i, const struct md_drafts *drafts)
{
    if (drafts->tiles_halo > 0)
        return ROWS_BOUNDARY;
    return md_has_late(s) && i - w->first >= (w->last - w->first) / 2
               ? ROWS_LATE
               : ROWS_INTERIOR;
}

/* The rows of cluster i, from the clusters found near it. */
static int add_rows(struct md_store *s, struct md_worker *w, int32_t i,
                    void *user)
{
    (void)user;
    if (reserve_drafts(w) != 0)
        return -1;
    struct md_drafts *drafts = w->drafts;
    drafts->n = 0;
    drafts->lanes = real_lanes(s, i);
    drafts->tiles = drafts->tiles_halo = drafts->used = 0;
    if (s->masked)
        memset(drafts->of, -1, sizeof drafts->of);
    for (int k = 0; k < SHIFTS; k++)
        if (k == SHIFT_NONE || w->n_candidates[k] > 0 ||
            w->n_candidates[BUCKET_HALO + k] > 0)
            draft_rows(s, w, i, k, drafts);
    struct md_list *list = &w->list[part_of(s, w, i, drafts)];
    size_t first = list->n_tiles;
    if (reserve_rows(s, list, (size_t)drafts->n, drafts->tiles) != 0)
        return -1;
    for (int k = 0; k < drafts->n; k++)
        append_row(list, (uint32_t)i, s->setup.half,
                   &drafts->row[drafts->key[k] & ((1u << DRAFT_BITS) - 1)]);
    if (s->masked)
        make_masks(s, list, i, first, drafts);
    return 0;
}

/* Where this worker's rows add forces, for the sum over threads. */
static void mark_touched(const struct md_store *s, struct md_worker *w)
{
    size_t block = CLUSTER(TOUCH_BLOCK),
           pushed = CLUSTER(md_clusters_pushed(s));
    memset(w->touched, 0, s->cap_clusters / TOUCH_BLOCK + 1);
    for (int part = 0; part < ROWS_PARTS; part++) {
        const struct md_list *list = &w->list[part];
        for (size_t t = 0; t < list->n_tiles; t++)
            if (list->tiles[t] < pushed)
                w->touched[list->tiles[t] / block] = 1;
    }
    for (int32_t c = w->first; c < w->last; c++)
        w->touched[c / TOUCH_BLOCK] = 1;
    if (s->terms)
        md_mark_terms(s, w);
}

int md_build_list(struct ctx *ctx, struct md_store *s)
{
    double radius = s->setup.list_radius;
    if (fill_search(s) != 0 || (s->mixed && md_fill_mixing(s) != 0))
        return FAIL(ctx, STATUS_MEMORY, "no memory for the pair list");
#pragma omp parallel for schedule(static, 1) num_threads(s->n_workers)
    for (int k = 0; k < s->n_workers; k++) {
        struct md_worker *w = &s->workers[k];
        for (int part = 0; part < ROWS_PARTS; part++)
            w->list[part].n_rows = w->list[part].n_tiles = 0;
        w->failed = md_find_candidates(s, w, radius, 0, add_rows, NULL);
        if (s->n_workers > 1 && !w->failed)
            mark_touched(s, w);
    }
    for (int k = 0; k < s->n_workers; k++) {
        if (s->workers[k].failed)
            return FAIL(ctx, STATUS_MEMORY,
                        "no memory for the pair list; use more ranks");
    }
    memset(s->moved, 0, CLUSTER(s->n_clusters) * sizeof *s->moved);
    if (s->n_clusters > 0)
        memcpy(s->listed, s->x, CLUSTER(s->n_clusters) * sizeof *s->listed);
    s->lists_built++;
    return s->eam ? md_eam_reserve(ctx, s) : 0;
}
