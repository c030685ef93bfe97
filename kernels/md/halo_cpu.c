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
    int32_t species;
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
    s->cap_channels = cap;
    s->n_channels = n_channels;
    s->n_send = 0;
    for (int c = 0; c < n_channels; c++) {
        size_t before = s->n_send;
        md_channel_offset(&channels[c], s->channel_offset[c]);
        if (select_channel(s, &channels[c]) != 0)
            return FAIL(ctx, STATUS_MEMORY, "no memory for halo copies");
        counts[c] = s->channel_n[c] = s->n_send - before;
    }
    return 0;
}

void md_pack_halo(struct md_store *s, int with_species, void *buffer)
{
    size_t k = 0;
    scalar *plain = buffer;
    struct halo_record *full = buffer;
    for (int c = 0; c < s->n_channels; c++) {
        double offset[3];
        for (int d = 0; d < 3; d++)
            offset[d] = s->channel_offset[c][d] + s->state_origin[d];
        for (size_t end = k + s->channel_n[c]; k < end; k++) {
            size_t slot = s->send_slot[k];
            const state *x = s->x + SLOT(slot, 0);
            scalar *out = with_species ? full[k].x : plain + 3 * k;
            for (int d = 0; d < 3; d++)
                out[d] = (scalar)((double)x[d * LANES] + offset[d]);
            if (with_species) {
                full[k].species = s->species[slot];
                full[k].charge = s->charge ? s->charge[slot] : 0;
                full[k].id = s->id[slot];
            }
        }
    }
}

/* Columns over this rank's block and what reaches in from around it. */
static int shape_halo_columns(struct ctx *ctx, struct md_store *s)
{
    double lo[3], hi[3];
    for (int d = 0; d < 3; d++) {
        double reach = s->setup.cut[d] ? s->setup.halo_radius : 0;
        lo[d] = s->setup.lo[d] - s->origin[d] - reach;
        hi[d] = s->setup.hi[d] - s->origin[d] + reach;
    }
    return md_shape_columns(ctx, &s->halo_columns, lo, hi, hi[2] - lo[2],
                            s->n_own + s->n_halo);
}

/* Give the received particles their slots behind the own clusters. */
static int place_halo(struct ctx *ctx, struct md_store *s,
                      const struct halo_record *from, size_t n)
{
    if (md_grow((void **)&s->key, &s->cap_key, n, sizeof *s->key) != 0 ||
        md_grow((void **)&s->z, &s->cap_z, n, sizeof *s->z) != 0 ||
        md_grow((void **)&s->halo_slot, &s->cap_halo_slot, n,
                sizeof *s->halo_slot) != 0)
        return FAIL(ctx, STATUS_MEMORY, "no memory for %zu halo copies", n);
    for (size_t k = 0; k < n; k++) {
        s->key[k] = md_column_of(&s->halo_columns, (double)from[k].x[0],
                                 (double)from[k].x[1]);
        s->z[k] = (double)from[k].x[2];
    }
    TRY(md_place(ctx, s, &s->halo_columns, n, s->n_clusters,
                 &s->n_clusters_halo));
    return md_reserve_clusters(
        ctx, s, (size_t)s->n_clusters + (size_t)s->n_clusters_halo);
}

int md_accept_halo(struct ctx *ctx, struct md_store *s, size_t n,
                   const void *buffer)
{
    const struct halo_record *from = buffer;
    s->n_halo = n;
    s->n_clusters_halo = 0;
    if (n == 0)
        return 0;
    if (n >= INT32_MAX)
        return FAIL(ctx, STATUS_UNSUPPORTED,
                    "more than 2^31 halo copies on one rank; use more ranks");
    TRY(shape_halo_columns(ctx, s));
    TRY(place_halo(ctx, s, from, n));
    size_t first = (size_t)s->n_clusters * (size_t)LANES;
    size_t slots = (size_t)s->n_clusters_halo * (size_t)LANES;
    for (size_t t = 0; t < slots; t++) {
        int64_t k = s->order[t];
        size_t slot = first + t;
        for (int d = 0; d < 3; d++)
            s->pair_x[SLOT(slot, d)] = k < 0 ? (scalar)s->far : from[k].x[d];
        s->species[slot] = k < 0 ? 0 : (uint8_t)from[k].species;
        s->id[slot] = k < 0 ? 0 : from[k].id;
        if (s->charge)
            s->charge[slot] = k < 0 ? 0 : from[k].charge;
        if (k >= 0)
            s->halo_slot[k] = (uint32_t)slot;
    }
    md_cluster_boxes(s, s->n_clusters, s->n_clusters + s->n_clusters_halo);
    return 0;
}

void md_unpack_halo(struct md_store *s, const void *buffer)
{
    const scalar *from = buffer;
    for (size_t k = 0; k < s->n_halo; k++) {
        scalar *x = s->pair_x + SLOT(s->halo_slot[k], 0);
        x[0] = from[3 * k];
        x[LANES] = from[3 * k + 1];
        x[2 * LANES] = from[3 * k + 2];
    }
}
