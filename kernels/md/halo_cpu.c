/* halo_cpu.c: copies of particles for other ranks, and theirs here. */
#include "kernels/md/store_cpu.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"

/* What travels at a redistribution; between two, the position alone. */
struct halo_record {
    int64_t id;
    scalar x[3], charge;
    int32_t species, above;
};

size_t md_halo_record_bytes(int with_species)
{
    return with_species ? sizeof(struct halo_record) : 3 * sizeof(scalar);
}

/* Origin of a rank's pair coordinates: the middle of its block keeps floats
 * short; doubles need none. */
void md_channel_offset(const struct md_channel *channel, double offset[3])
{
    for (int d = 0; d < 3; d++) {
        double middle =
            0.5 * (channel->receiver_lo[d] + channel->receiver_hi[d]);
        offset[d] = channel->shift[d] - (MD_PRECISION == 1 ? 0 : middle);
    }
}

/* How far [lo, hi] is below or above [from, to]; 0 where they overlap. */
static inline double gap_to(double lo, double hi, double from, double to)
{
    double g = from - hi > lo - to ? from - hi : lo - to;
    return g > 0 ? g : 0;
}

static double square_distance_to_box(const double x[3], const double lo[3],
                                     const double hi[3])
{
    double sum = 0;
    for (int d = 0; d < 3; d++) {
        double g = gap_to(x[d], x[d], lo[d], hi[d]);
        sum += g * g;
    }
    return sum;
}

/* Add the particles within reach of one channel's block. Returns 0 or -1. */
static int select_channel(struct md_store *s, const struct md_channel *channel)
{
    double reach = s->setup.halo_radius + s->box_tolerance;
    for (int32_t c = 0; c < s->n_clusters; c++) {
        double sum = 0;
        for (int d = 0; d < 3; d++) {
            double lo = (double)s->box[2 * d][c] + s->origin[d];
            double hi = (double)s->box[2 * d + 1][c] + s->origin[d];
            double g = gap_to(lo, hi, channel->lo[d], channel->hi[d]);
            sum += g * g;
        }
        if (sum > reach * reach)
            continue;
        if (md_grow((void **)&s->send_slot, &s->cap_send,
                    s->n_send + (size_t)LANES, sizeof *s->send_slot) != 0)
            return -1;
        for (size_t l = 0; l < (size_t)LANES; l++) {
            size_t slot = (size_t)c * (size_t)LANES + l;
            double x[3];
            if (s->id[slot] == 0)
                break;
            for (int d = 0; d < 3; d++)
                x[d] = (double)s->x[SLOT(slot, d)] + s->state_origin[d];
            if (square_distance_to_box(x, channel->lo, channel->hi) <
                reach * reach)
                s->send_slot[s->n_send++] = (uint32_t)slot;
        }
    }
    return 0;
}

static int keep_above_send(struct ctx *ctx, struct md_store *s)
{
    size_t k = 0;
    s->n_above_send = 0;
    if (!s->setup.half)
        return 0;
    if (md_grow((void **)&s->above_send, &s->cap_above_send, s->n_send,
                sizeof *s->above_send) != 0)
        return FAIL(ctx, STATUS_MEMORY, "no memory for halo copies");
    for (int c = 0; c < s->n_channels; k += s->channel_n[c++])
        for (size_t i = 0; s->channel_above[c] && i < s->channel_n[c]; i++)
            s->above_send[s->n_above_send++] = s->send_slot[k + i];
    return 0;
}

int md_select_halo(struct ctx *ctx, struct md_store *s, int n_channels,
                   const struct md_channel *channels, size_t *counts)
{
    size_t n = (size_t)n_channels, cap = s->cap_channels;
    if (md_grow((void **)&s->channel_offset, &cap, n,
                sizeof *s->channel_offset) != 0)
        return FAIL(ctx, STATUS_MEMORY, "no memory for %d channels",
                    n_channels);
    cap = s->cap_channels;
    if (md_grow((void **)&s->channel_n, &cap, n, sizeof *s->channel_n) != 0)
        return FAIL(ctx, STATUS_MEMORY, "no memory for %d channels",
                    n_channels);
    cap = s->cap_channels;
    if (md_grow((void **)&s->channel_above, &cap, n,
                sizeof *s->channel_above) != 0)
        return FAIL(ctx, STATUS_MEMORY, "no memory for %d channels",
                    n_channels);
    s->cap_channels = cap;
    s->n_channels = n_channels;
    s->n_send = 0;
    for (int c = 0; c < n_channels; c++) {
        size_t before = s->n_send;
        md_channel_offset(&channels[c], s->channel_offset[c]);
        s->channel_above[c] = channels[c].above;
        int wanted = s->setup.half != MD_HALF_COPIES || channels[c].above;
        if (wanted && select_channel(s, &channels[c]) != 0)
            return FAIL(ctx, STATUS_MEMORY, "no memory for halo copies");
        counts[c] = s->channel_n[c] = s->n_send - before;
    }
    return keep_above_send(ctx, s);
}

/* The positions, or whole records, that go through one channel. */
static void pack_channel(const struct md_store *s, int c,
                         const uint32_t *chosen, scalar *plain,
                         struct halo_record *full)
{
    double offset[3];
    for (int d = 0; d < 3; d++)
        offset[d] = s->channel_offset[c][d] + s->state_origin[d];
    for (size_t k = 0; k < s->channel_n[c]; k++) {
        size_t slot = chosen[k];
        const state *x = s->x + SLOT(slot, 0);
        scalar *out = full ? full[k].x : plain + 3 * k;
        for (int d = 0; d < 3; d++)
            out[d] = (scalar)((double)x[d * LANES] + offset[d]);
        if (full) {
            full[k].species = s->species[slot];
            full[k].above = s->channel_above[c];
            full[k].charge = s->charge ? s->charge[slot] : 0;
            full[k].id = s->id[slot];
        }
    }
}

void md_pack_halo(struct md_store *s, int with_species, void *buffer)
{
    scalar *plain = buffer;
    struct halo_record *full = buffer;
    size_t k = 0;
    for (int c = 0; c < s->n_channels; k += s->channel_n[c++])
        pack_channel(s, c, s->send_slot + k, plain + 3 * k,
                     with_species ? full + k : NULL);
}

/* Columns over this rank's block and what reaches in from around it. */
static int shape_halo_columns(struct ctx *ctx, struct md_store *s,
                              struct md_columns *columns)
{
    double lo[3], hi[3];
    for (int d = 0; d < 3; d++) {
        double reach = s->setup.cut[d] ? s->setup.halo_radius : 0;
        lo[d] = s->setup.lo[d] - s->origin[d] - reach;
        hi[d] = s->setup.hi[d] - s->origin[d] + reach;
    }
    size_t copies = s->setup.half == MD_HALF_COPIES ? 2 * s->n_halo : s->n_halo;
    return md_shape_columns(ctx, columns, lo, hi, hi[2] - lo[2],
                            s->n_own + copies);
}

/* Room for n received particles, and their heights. */
static int prepare_halo(struct ctx *ctx, struct md_store *s,
                        const struct halo_record *from, size_t n)
{
    if (md_grow((void **)&s->key, &s->cap_key, n, sizeof *s->key) != 0 ||
        md_grow((void **)&s->z, &s->cap_z, n, sizeof *s->z) != 0 ||
        md_grow((void **)&s->halo_slot, &s->cap_halo_slot, n,
                sizeof *s->halo_slot) != 0)
        return FAIL(ctx, STATUS_MEMORY, "no memory for %zu halo copies", n);
    for (size_t k = 0; k < n; k++)
        s->z[k] = (double)from[k].x[2];
    return 0;
}

/* What a slot is to have: that of its record, or padding. */
static void fill_slot(struct md_store *s, size_t slot,
                      const struct halo_record *r)
{
    for (int d = 0; d < 3; d++)
        s->pair_x[SLOT(slot, d)] = r ? r->x[d] : (scalar)s->far;
    s->species[slot] = r ? (uint8_t)r->species : 0;
    s->id[slot] = r ? r->id : 0;
    if (s->charge)
        s->charge[slot] = r ? r->charge : 0;
}

/* Give the n received particles their slots in clusters behind those that there
 * are: those from above, or those from below, or all of them. */
static int place_halo(struct ctx *ctx, struct md_store *s,
                      struct md_columns *columns,
                      const struct halo_record *from, size_t n, int above,
                      int below)
{
    int32_t first = s->n_clusters + s->n_clusters_halo, more;
    TRY(shape_halo_columns(ctx, s, columns));
    for (size_t k = 0; k < n; k++)
        s->key[k] = (from[k].above ? above : below)
                        ? md_column_of(columns, (double)from[k].x[0],
                                       (double)from[k].x[1])
                        : -1;
    TRY(md_place(ctx, s, columns, n, first, &more));
    TRY(md_reserve_clusters(ctx, s, (size_t)first + (size_t)more));
    for (size_t t = 0; t < (size_t)more * (size_t)LANES; t++) {
        int64_t k = s->order[t];
        size_t slot = (size_t)first * (size_t)LANES + t;
        fill_slot(s, slot, k < 0 ? NULL : &from[k]);
        if (k >= 0)
            s->halo_slot[k] = (uint32_t)slot;
    }
    md_cluster_boxes(s, first, first + more);
    s->n_clusters_halo += more;
    return 0;
}

static int keep_above_slots(struct ctx *ctx, struct md_store *s,
                            const struct halo_record *from)
{
    if (md_grow((void **)&s->above_slot, &s->cap_above_slot, s->n_halo,
                sizeof *s->above_slot) != 0)
        return FAIL(ctx, STATUS_MEMORY, "no memory for %zu halo copies",
                    s->n_halo);
    for (size_t k = 0; k < s->n_halo; k++)
        if (from[k].above)
            s->above_slot[s->n_above++] = s->halo_slot[k];
    return 0;
}

int md_accept_halo(struct ctx *ctx, struct md_store *s, size_t n,
                   const void *buffer)
{
    s->n_halo = n;
    s->n_clusters_halo = s->n_clusters_above = 0;
    s->n_above = 0;
    if (n == 0)
        return 0;
    if (n >= INT32_MAX)
        return FAIL(ctx, STATUS_UNSUPPORTED,
                    "more than 2^31 halo copies on one rank; use more ranks");
    TRY(prepare_halo(ctx, s, buffer, n));
    if (!s->setup.half)
        return place_halo(ctx, s, &s->halo_columns, buffer, n, 1, 1);
    TRY(place_halo(ctx, s, &s->halo_columns, buffer, n, 1, 0));
    s->n_clusters_above = s->n_clusters_halo;
    TRY(keep_above_slots(ctx, s, buffer));
    if (s->setup.half == MD_HALF_COPIES)
        return 0;
    return place_halo(ctx, s, &s->below_columns, buffer, n, 0, 1);
}

/* Positions of copies into their slots. */
static void unpack_positions(struct md_store *s, const uint32_t *slot, size_t n,
                             const scalar *from)
{
    for (size_t k = 0; k < n; k++) {
        scalar *x = s->pair_x + SLOT(slot[k], 0);
        x[0] = from[3 * k];
        x[LANES] = from[3 * k + 1];
        x[2 * LANES] = from[3 * k + 2];
    }
}

void md_unpack_halo(struct md_store *s, const void *buffer)
{
    unpack_positions(s, s->halo_slot, s->n_halo, buffer);
}

/* ---- forces on copies from above, on their way back ---- */

void md_count_above(const struct md_store *s, int n_peers, const size_t *n,
                    size_t *above)
{
    uint32_t end = (uint32_t)md_clusters_pushed(s) * (uint32_t)LANES;
    size_t k = 0;
    for (int p = 0; p < n_peers; p++) {
        above[p] = 0;
        for (size_t last = k + n[p]; k < last; k++)
            above[p] += s->halo_slot[k] < end;
    }
}

void md_pack_forces(const struct md_store *s, void *buffer)
{
    scalar *out = buffer;
    for (size_t k = 0; k < s->n_above; k++) {
        const scalar *f = s->f + SLOT(s->above_slot[k], 0);
        out[3 * k] = f[0];
        out[3 * k + 1] = f[LANES];
        out[3 * k + 2] = f[2 * LANES];
    }
}

void md_add_forces(struct md_store *s, const void *buffer)
{
    const scalar *from = buffer;
    for (size_t k = 0; k < s->n_above_send; k++) {
        scalar *f = s->f + SLOT(s->above_send[k], 0);
        f[0] += from[3 * k];
        f[LANES] += from[3 * k + 1];
        f[2 * LANES] += from[3 * k + 2];
    }
}
