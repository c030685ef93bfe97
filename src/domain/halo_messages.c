/* halo_messages.c: what travels between a rank and those within reach. */
#include "domain/halo_parts.h"

#include <string.h>

#include "base/comm.h"
#include "base/ctx.h"
#include "base/error.h"
#include "base/timer.h"
#include "kernels/md/md_kernels.h"

/* ---- messages ---- */

/* Point send_at and recv_at into the memory, peer after peer, and start. */
static int start_messages(struct ctx *ctx, struct halo *h, unsigned char *send,
                          unsigned char *recv)
{
    for (int p = 0; p < h->n_peers; p++) {
        h->send_at[p] = send;
        h->recv_at[p] = recv;
        if (send)
            send += h->send_bytes[p];
        if (recv)
            recv += h->recv_bytes[p];
    }
    return comm_exchange_post(ctx, h->exchange, h->send_at, h->send_bytes,
                              h->recv_at, h->recv_bytes);
}

int halo_exchange(struct ctx *ctx, struct halo *h, const struct buffer *from,
                  const struct buffer *to)
{
    TRY(start_messages(ctx, h, from->bytes, to->bytes));
    return comm_exchange_wait(ctx, h->exchange);
}

/* Where messages of send_bytes are to be packed: the device's own buffer, or
 * where ranks of this host read them. */
static int room_to_pack(struct ctx *ctx, struct halo *h,
                        const struct buffer *buffer, unsigned char **room)
{
    void *out = buffer->bytes;
    if (!buffer->device)
        TRY(comm_exchange_room(ctx, h->exchange,
                               halo_total(h->send_bytes, h->n_peers), &out));
    *room = out;
    return 0;
}

/* The bytes of a halo message from the counts of copies. */
static void set_halo_bytes(struct halo *h, size_t record)
{
    for (int p = 0; p < h->n_peers; p++) {
        h->send_bytes[p] = h->send_count[p] * record;
        h->recv_bytes[p] = h->recv_count[p] * record;
    }
}

/* ---- halo copies ---- */

/* Choose the copies of each channel; on failure there are none, so that the
 * peers, who wait for a message, get an empty one. */
static int choose_copies(struct ctx *ctx, struct halo *h,
                         const struct md_kernels *k, struct md_store *s)
{
    size_t record = k->halo_record_bytes(1);
    int status =
        k->select_halo(ctx, s, h->n_channels, h->channels, h->channel_count);
    size_t n = halo_total(h->channel_count, h->n_channels);
    if (status == 0)
        status = halo_reserve(ctx, &h->copies, n * record);
    for (int p = 0; p < h->n_peers; p++) {
        int first = h->first_channel[p];
        size_t copies = halo_total(&h->channel_count[first],
                                   h->first_channel[p + 1] - first);
        h->send_count[p] = status == 0 ? copies : 0;
        h->send_bytes[p] = h->send_count[p] * record;
    }
    return status;
}

static int exchange_copies(struct ctx *ctx, struct halo *h,
                           const struct md_kernels *k, struct md_store *s,
                           int status)
{
    size_t record = k->halo_record_bytes(1);
    if (status == 0)
        status = choose_copies(ctx, h, k, s);
    else
        memset(h->send_bytes, 0, (size_t)h->n_peers * sizeof *h->send_bytes);
    TRY(comm_exchange_sizes(ctx, h->exchange, h->send_bytes, h->recv_bytes));
    for (int p = 0; p < h->n_peers; p++)
        h->recv_count[p] = h->recv_bytes[p] / record;
    size_t n = halo_total(h->recv_count, h->n_peers);
    TRY(comm_drop_out(ctx, halo_reserve(ctx, &h->copied, n * record)));
    if (status == 0)
        k->pack_halo(s, 1, h->copies.bytes);
    TRY(halo_exchange(ctx, h, &h->copies, &h->copied));
    TRY(status);
    TRY(k->accept_halo(ctx, s, n, h->copied.bytes));
    if (h->half != MD_WHOLE)
        k->count_above(s, h->n_peers, h->recv_count, h->above_count);
    return 0;
}

int halo_redistribute(struct ctx *ctx, struct halo *h,
                      const struct md_kernels *k, struct md_store *s,
                      int64_t expected)
{
    timer_begin(ctx->timers, h->phase_migrate);
    int status = halo_migrate(ctx, h, k, s, expected);
    timer_end(ctx->timers, h->phase_migrate);
    timer_begin(ctx->timers, h->phase_halo);
    if (h->n_peers == 0) {
        if (status == 0)
            status = k->select_halo(ctx, s, 0, NULL, NULL);
        if (status == 0)
            status = k->accept_halo(ctx, s, 0, NULL);
    } else if (halo_stays_here(h, k)) {
        if (status == 0)
            status = k->copy_own(ctx, s, h->n_channels, h->channels);
    } else {
        status = exchange_copies(ctx, h, k, s, status);
    }
    timer_end(ctx->timers, h->phase_halo);
    return status;
}

/* The same of a message with the copies from above alone; back: of one with
 * their forces, to those who sent them. */
static void set_above_bytes(struct halo *h, size_t record, int back)
{
    size_t *out = back ? h->recv_bytes : h->send_bytes;
    size_t *in = back ? h->send_bytes : h->recv_bytes;
    for (int p = 0; p < h->n_peers; p++) {
        in[p] = h->above_count[p] * record;
        out[p] = 0;
        for (int c = h->first_channel[p]; c < h->first_channel[p + 1]; c++)
            if (h->channels[c].above)
                out[p] += h->channel_count[c] * record;
    }
}

int halo_post(struct ctx *ctx, struct halo *h, const struct md_kernels *k,
              struct md_store *s)
{
    if (h->n_peers == 0)
        return 0;
    if (halo_stays_here(h, k)) {
        k->move_copies(s); /* before the forces, where a rebuild would be */
        return 0;
    }
    unsigned char *room;
    int status;
    timer_begin(ctx->timers, h->phase_halo);
    set_halo_bytes(h, k->halo_record_bytes(0));
    TRY_CLEANUP(room_to_pack(ctx, h, &h->copies, &room));
    k->pack_halo(s, 0, room);
    status = start_messages(ctx, h, room, h->copied.bytes);
cleanup:
    timer_end(ctx->timers, h->phase_halo);
    return status;
}

/* What has come, at `from`, into the store; the message of a single peer is
 * read where that wrote it. */
static int complete(struct ctx *ctx, struct halo *h, const struct buffer *from,
                    void (*take)(struct md_store *, const void *),
                    struct md_store *s)
{
    const void *at = from->bytes;
    timer_begin(ctx->timers, h->phase_halo);
    int status = h->n_peers == 1 ? comm_exchange_wait_at(ctx, h->exchange, &at)
                                 : comm_exchange_wait(ctx, h->exchange);
    if (status == 0)
        take(s, at);
    timer_end(ctx->timers, h->phase_halo);
    return status;
}

int halo_complete(struct ctx *ctx, struct halo *h, const struct md_kernels *k,
                  struct md_store *s)
{
    if (h->n_peers == 0 || halo_stays_here(h, k))
        return 0;
    return complete(ctx, h, &h->copied, k->unpack_halo, s);
}

/* Pack messages of send_bytes and start them; from: where a device packs. */
static int post(struct ctx *ctx, struct halo *h, const struct buffer *from,
                const struct buffer *to,
                void (*pack)(const struct md_store *, void *),
                const struct md_store *s)
{
    unsigned char *room;
    int status;
    timer_begin(ctx->timers, h->phase_halo);
    TRY_CLEANUP(room_to_pack(ctx, h, from, &room));
    pack(s, room);
    status = start_messages(ctx, h, room, to->bytes);
cleanup:
    timer_end(ctx->timers, h->phase_halo);
    return status;
}

/* What was found for copies from above, to their owners; nothing where they are
 * not told. */
static int post_back(struct ctx *ctx, struct halo *h, size_t record,
                     void (*pack)(const struct md_store *, void *),
                     const struct md_store *s)
{
    if (h->n_peers == 0 || h->half == MD_WHOLE)
        return 0;
    set_above_bytes(h, record, 1);
    return post(ctx, h, &h->copied, &h->copies, pack, s);
}

static int complete_back(struct ctx *ctx, struct halo *h,
                         void (*add)(struct md_store *, const void *),
                         struct md_store *s)
{
    if (h->n_peers == 0 || h->half == MD_WHOLE)
        return 0;
    return complete(ctx, h, &h->copies, add, s);
}

int halo_post_forces(struct ctx *ctx, struct halo *h,
                     const struct md_kernels *k, struct md_store *s)
{
    return post_back(ctx, h, k->halo_record_bytes(0), k->pack_forces, s);
}

int halo_complete_forces(struct ctx *ctx, struct halo *h,
                         const struct md_kernels *k, struct md_store *s)
{
    return complete_back(ctx, h, k->add_forces, s);
}

int halo_densities(struct ctx *ctx, struct halo *h, const struct md_kernels *k,
                   struct md_store *s)
{
    TRY(post_back(ctx, h, k->extra_bytes(), k->pack_densities, s));
    return complete_back(ctx, h, k->add_densities, s);
}

int halo_post_extra(struct ctx *ctx, struct halo *h, const struct md_kernels *k,
                    struct md_store *s)
{
    if (h->n_peers == 0 || halo_stays_here(h, k))
        return 0;
    if (h->half == MD_WHOLE)
        set_halo_bytes(h, k->extra_bytes());
    else
        set_above_bytes(h, k->extra_bytes(), 0);
    return post(ctx, h, &h->copies, &h->copied, k->pack_extra, s);
}

int halo_complete_extra(struct ctx *ctx, struct halo *h,
                        const struct md_kernels *k, struct md_store *s)
{
    if (h->n_peers == 0)
        return 0;
    if (halo_stays_here(h, k)) {
        k->copy_extra(s);
        return 0;
    }
    return complete(ctx, h, &h->copied, k->unpack_extra, s);
}

int halo_values(struct ctx *ctx, struct halo *h, const struct md_kernels *k,
                struct md_store *s, enum md_value what)
{
    if (h->n_peers == 0)
        return 0;
    if (halo_stays_here(h, k)) {
        k->copy_values(s, what);
        return 0;
    }
    timer_begin(ctx->timers, h->phase_halo);
    set_halo_bytes(h, 3 * sizeof(double));
    k->pack_values(s, what, (double(*)[3])(void *)h->copies.bytes);
    int status = halo_exchange(ctx, h, &h->copies, &h->copied);
    if (status == 0)
        k->unpack_values(s, (const double(*)[3])(void *)h->copied.bytes);
    timer_end(ctx->timers, h->phase_halo);
    return status;
}
