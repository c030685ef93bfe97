/* halo.c: see halo.h.
 *
 * A channel leads to one periodic image of one rank's block; all channels to a
 * rank make one message. Whether two blocks are within reach follows from their
 * coordinates and the widths of those between them, which all ranks know to the
 * last bit: both sides come to the same answer without talking.
 */
#include "domain/halo_parts.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/comm.h"
#include "base/ctx.h"
#include "base/error.h"
#include "base/timer.h"
#include "kernels/device.h"
#include "kernels/md/md_kernels.h"

static void buffer_free(struct buffer *b)
{
    if (b->device)
        b->device->message_free(b->bytes, b->device->direct);
    else
        free(b->bytes);
    b->bytes = NULL;
    b->capacity = 0;
}

int halo_reserve(struct ctx *ctx, struct buffer *b, size_t n)
{
    if (n <= b->capacity)
        return 0;
    size_t capacity = n + n / 4 + 4096;
    buffer_free(b);
    if (b->device) {
        void *fresh = NULL;
        TRY(b->device->message_alloc(ctx, capacity, &fresh));
        b->bytes = fresh;
    } else {
        b->bytes = malloc(capacity);
    }
    if (!b->bytes)
        return FAIL(ctx, STATUS_MEMORY, "no memory for %zu bytes of halo",
                    capacity);
    b->capacity = capacity;
    return 0;
}

/* ---- who is within reach ---- */

/* One block within reach: the coordinates' difference, not yet wrapped. */
struct reach {
    int rank;
    int delta[3];
};

static int by_rank_and_delta(const void *a, const void *b)
{
    const struct reach *p = a, *q = b;
    if (p->rank != q->rank)
        return p->rank < q->rank ? -1 : 1;
    for (int d = 2; d >= 0; d--)
        if (p->delta[d] != q->delta[d])
            return p->delta[d] < q->delta[d] ? -1 : 1;
    return 0;
}

/* Whether the gap between two blocks `delta` apart is at most the radius, and
 * no wall stands between them. */
static int is_within(const struct halo *h, const int delta[3])
{
    int image[3];
    double gap2 = 0, shift[3];
    grid_image(&h->grid, delta, image, shift);
    for (int d = 0; d < 3; d++) {
        if (h->grid.walled[d] && image[d] != 0)
            return 0;
        double gap =
            grid_gap(&h->grid, d, h->grid.coords[d], delta[d], shift[d]);
        gap2 += gap * gap;
    }
    double reach = h->radius * (1 + 1e-9);
    return gap2 <= reach * reach;
}

/* How many blocks to look at, at most, on either side. In a tilted box blocks
 * beyond a face stand further along the directions before; and copies come
 * through all faces, since the kernels' shifts know edges with right angles
 * only. */
static void count_hops(const struct halo *h, int hops[3])
{
    const struct grid *g = &h->grid;
    double reach[3] = {h->radius, h->radius, h->radius};
    for (int d = 2; d >= 0; d--) {
        double width = grid_narrowest(g, d);
        hops[d] = g->dims[d] > 1 || g->tilted ? (int)(reach[d] / width) + 2 : 0;
        if (g->walled[d] && !g->tilted && hops[d] > g->dims[d] - 1)
            hops[d] = g->dims[d] - 1; /* no block is beyond the last one */
        int images = hops[d] / g->dims[d] + 1;
        if (d == 2)
            reach[1] += images * fabs(g->tilt[2]);
        if (d > 0)
            reach[0] += images * fabs(g->tilt[d - 1]);
    }
}

/* List the blocks within reach of this one; returns how many. out == NULL:
 * count only. */
static int find_reach(const struct halo *h, struct reach *out)
{
    const struct grid *g = &h->grid;
    int hops[3], n = 0;
    count_hops(h, hops);
    for (int z = -hops[2]; z <= hops[2]; z++)
        for (int y = -hops[1]; y <= hops[1]; y++)
            for (int x = -hops[0]; x <= hops[0]; x++) {
                int delta[3] = {x, y, z};
                if ((x == 0 && y == 0 && z == 0) || !is_within(h, delta))
                    continue;
                if (out) {
                    int at[3];
                    for (int d = 0; d < 3; d++) {
                        at[d] = g->coords[d] + delta[d];
                        out[n].delta[d] = delta[d];
                    }
                    out[n].rank = grid_rank(g, at);
                }
                n++;
            }
    return n;
}

/* The channel to the block `delta` away. */
static void channel_init(struct md_channel *c, const struct grid *g,
                         const int delta[3])
{
    int at[3], image[3];
    double shift[3];
    for (int d = 0; d < 3; d++)
        at[d] = g->coords[d] + delta[d];
    grid_block(g, at, c->receiver_lo, c->receiver_hi);
    grid_image(g, delta, image, shift);
    for (int d = 0; d < 3; d++) {
        c->image[d] = image[d];
        c->shift[d] = -image[d] * g->box_length[d] - shift[d];
        c->lo[d] = c->receiver_lo[d] - c->shift[d];
        c->hi[d] = c->receiver_hi[d] - c->shift[d];
    }
    int last = delta[2] ? 2 : delta[1] ? 1 : 0;
    c->above = delta[last] < 0;
}

static int allocate(struct ctx *ctx, struct halo *h, int n_channels)
{
    size_t n = (size_t)n_channels + 1; /* peers are at most as many */
    h->peers = calloc(n, sizeof *h->peers);
    h->first_channel = calloc(n + 1, sizeof *h->first_channel);
    h->channels = calloc(n, sizeof *h->channels);
    h->delta = calloc(n, sizeof *h->delta);
    h->channel_count = calloc(n, sizeof *h->channel_count);
    h->leaving = calloc(n, sizeof *h->leaving);
    h->send_bytes = calloc(n, sizeof *h->send_bytes);
    h->recv_bytes = calloc(n, sizeof *h->recv_bytes);
    h->send_count = calloc(n, sizeof *h->send_count);
    h->recv_count = calloc(n, sizeof *h->recv_count);
    h->above_count = calloc(n, sizeof *h->above_count);
    h->send_at = calloc(n, sizeof *h->send_at);
    h->recv_at = calloc(n, sizeof *h->recv_at);
    if (!h->peers || !h->first_channel || !h->channels || !h->delta ||
        !h->channel_count || !h->leaving || !h->send_bytes || !h->recv_bytes ||
        !h->send_count || !h->recv_count || !h->above_count || !h->send_at ||
        !h->recv_at)
        return FAIL(ctx, STATUS_MEMORY, "no memory for %d halo channels",
                    n_channels);
    return 0;
}

static int find_peers(struct ctx *ctx, struct halo *h)
{
    int n = find_reach(h, NULL);
    struct reach *reach = calloc((size_t)n + 1, sizeof *reach);
    if (!reach)
        return FAIL(ctx, STATUS_MEMORY, "no memory for %d halo channels", n);
    find_reach(h, reach);
    qsort(reach, (size_t)n, sizeof *reach, by_rank_and_delta);
    int status = allocate(ctx, h, n);
    for (int c = 0; c < n && status == 0; c++) {
        memcpy(h->delta[c], reach[c].delta, sizeof h->delta[c]);
        channel_init(&h->channels[c], &h->grid, h->delta[c]);
        if (c == 0 || reach[c].rank != reach[c - 1].rank) {
            h->peers[h->n_peers] = reach[c].rank;
            h->first_channel[h->n_peers++] = c;
        }
        h->first_channel[h->n_peers] = c + 1;
    }
    h->n_channels = n;
    free(reach);
    return status;
}

static int open_exchange(struct ctx *ctx, struct halo *h)
{
    TRY(comm_exchange_create(ctx, h->n_peers, h->peers, &h->exchange));
    if (ctx->device && ctx->device->message_alloc) {
        h->copies.device = h->copied.device = ctx->device;
        if (ctx->device->direct)
            comm_exchange_use_card(h->exchange);
    }
    return 0;
}

int halo_create(struct ctx *ctx, const struct grid *grid, double radius,
                struct halo **out)
{
    int status = 0;
    *out = NULL;
    struct halo *h = calloc(1, sizeof *h);
    if (!h) {
        status = FAIL(ctx, STATUS_MEMORY, "no memory for the halo");
    } else {
        h->grid = *grid;
        h->radius = radius;
        h->phase_migrate = timer_phase(ctx->timers, "migrate");
        h->phase_halo = timer_phase(ctx->timers, "halo");
        status = find_peers(ctx, h);
    }
    TRY_CLEANUP(comm_agree(ctx, status));
    TRY_CLEANUP(open_exchange(ctx, h));
    *out = h;
    return 0;
cleanup:
    halo_destroy(h);
    return status;
}

void halo_halve(struct halo *h, enum md_half half)
{
    h->half = half;
}

/* What find_peers() and open_exchange() have made. */
static void forget_peers(struct halo *h)
{
    void **owned[] = {(void **)&h->peers,         (void **)&h->first_channel,
                      (void **)&h->channels,      (void **)&h->delta,
                      (void **)&h->channel_count, (void **)&h->leaving,
                      (void **)&h->send_bytes,    (void **)&h->recv_bytes,
                      (void **)&h->send_count,    (void **)&h->recv_count,
                      (void **)&h->above_count,   (void **)&h->send_at,
                      (void **)&h->recv_at};
    for (size_t k = 0; k < sizeof owned / sizeof owned[0]; k++) {
        free(*owned[k]);
        *owned[k] = NULL;
    }
    comm_exchange_destroy(h->exchange);
    h->exchange = NULL;
    h->n_peers = h->n_channels = 0;
}

void halo_destroy(struct halo *h)
{
    if (!h)
        return;
    forget_peers(h);
    buffer_free(&h->send);
    buffer_free(&h->recv);
    buffer_free(&h->copies);
    buffer_free(&h->copied);
    free(h);
}

/* ---- a box that changes ---- */

void halo_set_box(struct halo *h, const struct grid *grid,
                  struct md_geometry *out)
{
    h->grid = *grid;
    for (int c = 0; c < h->n_channels; c++)
        channel_init(&h->channels[c], &h->grid, h->delta[c]);
    for (int d = 0; d < 3; d++) {
        out->box_length[d] =
            grid->open[d] ? MD_OPEN_LENGTH : grid->box_length[d];
        out->lo[d] = grid->lo[d];
        out->hi[d] = grid->hi[d];
        out->tilt[d] = grid->tilt[d];
    }
    out->n_channels = h->n_channels;
    out->channels = h->channels;
}

/* Whether the same blocks are within reach as when peers were found. */
static int is_same_reach(const struct halo *h)
{
    int n = find_reach(h, NULL);
    for (int c = 0; c < h->n_channels && n == h->n_channels; c++)
        if (!is_within(h, h->delta[c]))
            return 0;
    return n == h->n_channels;
}

/* In a box with right angles and blocks of equal size that repeats all ranks
 * come to the same answer. */
static int all_have_same_reach(struct ctx *ctx, const struct halo *h, int *same)
{
    int64_t changed = !is_same_reach(h);
    const struct grid *g = &h->grid;
    int ends = g->walled[0] || g->walled[1] || g->walled[2];
    if (ends || g->tilted || g->cuts[0] || g->cuts[1] || g->cuts[2])
        TRY(comm_max_int64(ctx, &changed, 1));
    *same = !changed;
    return 0;
}

int halo_fit(struct ctx *ctx, struct halo *h)
{
    int same;
    TRY(all_have_same_reach(ctx, h, &same));
    if (same)
        return 0;
    forget_peers(h);
    TRY(comm_agree(ctx, find_peers(ctx, h)));
    return open_exchange(ctx, h);
}
