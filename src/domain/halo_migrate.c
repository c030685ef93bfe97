/* halo_migrate.c: particles, and the terms that they carry, cross to the ranks
 * that own them now.
 */
#include "domain/halo_parts.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/comm.h"
#include "base/error.h"
#include "domain/topology.h"
#include "kernels/md/md_kernels.h"

/* The index of `rank` among the peers, or -1. */
static int peer_index(const struct halo *h, int rank)
{
    int low = 0, high = h->n_peers - 1;
    while (low <= high) {
        int middle = (low + high) / 2;
        if (h->peers[middle] == rank)
            return middle;
        if (h->peers[middle] < rank)
            low = middle + 1;
        else
            high = middle - 1;
    }
    return -1;
}

static int fail_lost(struct ctx *ctx, const struct md_particle *p)
{
    const double *x = p->position, *v = p->velocity;
    return FAIL(ctx, STATUS_LOST_PARTICLES,
                "particle %" PRId64 " at (%g, %g, %g) with speed %g left the "
                "reach of its rank's neighbors between two redistributions; "
                "the timestep is probably too large",
                p->id, x[0], x[1], x[2],
                sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]));
}

/* ---- messages ---- */

/* A message has the number of particles, those, and then the terms of each. No
 * particles: no message. */
enum { HEAD = sizeof(uint64_t) };

/* Bytes for each peer, and particles in h->leaving. */
static int count_leavers(struct ctx *ctx, struct halo *h,
                         const struct md_particle *p, size_t n)
{
    memset(h->leaving, 0, (size_t)h->n_peers * sizeof *h->leaving);
    memset(h->send_bytes, 0, (size_t)h->n_peers * sizeof *h->send_bytes);
    for (size_t i = 0; i < n; i++) {
        int peer = peer_index(h, grid_owner(&h->grid, p[i].position));
        if (peer < 0)
            return fail_lost(ctx, &p[i]);
        if (h->leaving[peer]++ == 0)
            h->send_bytes[peer] = HEAD;
        h->send_bytes[peer] += sizeof *p;
        if (h->topology)
            h->send_bytes[peer] += topology_packed_bytes(h->topology, p[i].id);
    }
    return halo_reserve(ctx, &h->send,
                        halo_total(h->send_bytes, h->n_peers) + 1);
}

/* The messages to all peers, in their order; terms are gone from here then. */
static int pack_leavers(struct ctx *ctx, struct halo *h,
                        const struct md_particle *p, size_t n)
{
    TRY(count_leavers(ctx, h, p, n));
    unsigned char *out = h->send.bytes;
    size_t begin = 0;
    for (int q = 0; q < h->n_peers; q++) {
        uint64_t count = h->leaving[q];
        h->leaving[q] = begin + HEAD; /* from here on: where the next goes */
        if (count > 0)
            memcpy(out + begin, &count, HEAD);
        begin += h->send_bytes[q];
    }
    for (size_t i = 0; i < n; i++) {
        int peer = peer_index(h, grid_owner(&h->grid, p[i].position));
        memcpy(out + h->leaving[peer], &p[i], sizeof *p);
        h->leaving[peer] += sizeof *p;
    }
    for (size_t i = 0; i < n && h->topology; i++) {
        int peer = peer_index(h, grid_owner(&h->grid, p[i].position));
        h->leaving[peer] +=
            topology_pack(h->topology, p[i].id, out + h->leaving[peer]);
    }
    return 0;
}

/* Particles of the message at `in` to *arrived; its terms to the topology. */
static int take_message(struct ctx *ctx, struct halo *h,
                        const unsigned char *in, size_t bytes,
                        struct md_particle **arrived)
{
    uint64_t n = 0;
    if (bytes >= HEAD)
        memcpy(&n, in, HEAD);
    if (n < 1 || n > (bytes - HEAD) / sizeof **arrived)
        return FAIL(ctx, STATUS_INTERNAL, "particles arrived in pieces");
    size_t of_particles = (size_t)n * sizeof **arrived;
    memcpy(*arrived, in + HEAD, of_particles);
    *arrived += n;
    size_t rest = bytes - HEAD - of_particles;
    return rest > 0 ? topology_unpack(ctx, h->topology,
                                      in + HEAD + of_particles, rest)
                    : 0;
}

/* What all peers sent; the buffer that was sent from has room for particles. */
static int take_messages(struct ctx *ctx, struct halo *h,
                         const struct md_kernels *k, struct md_store *s)
{
    size_t bytes = halo_total(h->recv_bytes, h->n_peers);
    TRY(halo_reserve(ctx, &h->send, bytes + 1));
    struct md_particle *first = (struct md_particle *)(void *)h->send.bytes;
    struct md_particle *arrived = first;
    const unsigned char *in = h->recv.bytes;
    for (int q = 0; q < h->n_peers; q++) {
        if (h->recv_bytes[q] > 0)
            TRY(take_message(ctx, h, in, h->recv_bytes[q], &arrived));
        in += h->recv_bytes[q];
    }
    return k->insert(ctx, s, first, (size_t)(arrived - first));
}

static int exchange_leavers(struct ctx *ctx, struct halo *h,
                            const struct md_kernels *k, struct md_store *s)
{
    TRY(comm_exchange_sizes(ctx, h->exchange, h->send_bytes, h->recv_bytes));
    size_t arriving = halo_total(h->recv_bytes, h->n_peers);
    TRY(comm_drop_out(ctx, halo_reserve(ctx, &h->recv, arriving + 1)));
    TRY(halo_exchange(ctx, h, &h->send, &h->recv));
    return take_messages(ctx, h, k, s);
}

/* ---- all together ---- */

void halo_carry(struct halo *h, struct topology *topology)
{
    h->topology = topology;
}

/* All ranks learn here whether one of them has failed, and whether the
 * particles are still as many as at the start. */
static int agree_on_leavers(struct ctx *ctx, int status, int64_t expected)
{
    double sum[2];
    TRY(comm_reduce_end(ctx, sum));
    if (sum[1] > 0)
        return comm_agree(ctx, status);
    if (status == 0 && (int64_t)sum[0] != expected)
        return FAIL(ctx, STATUS_LOST_PARTICLES,
                    "there are %" PRId64 " particles, but there were %" PRId64
                    " at the start",
                    (int64_t)sum[0], expected);
    return status;
}

int halo_migrate(struct ctx *ctx, struct halo *h, const struct md_kernels *k,
                 struct md_store *s, int64_t expected)
{
    const struct md_particle *leavers = NULL;
    size_t n = 0;
    int status = k->extract_leavers(ctx, s, &leavers, &n);
    size_t count = k->count(s) + n;
    if (status == 0)
        status = pack_leavers(ctx, h, leavers, n);
    double sum[2] = {(double)count, status != 0};
    TRY(comm_reduce_begin(ctx, sum, 2, COMM_SUM));
    if (status != 0) /* the others wait for messages all the same */
        memset(h->send_bytes, 0, (size_t)h->n_peers * sizeof *h->send_bytes);
    if (h->n_peers > 0 && (n > 0 || !halo_stays_here(h, k))) {
        int taken = exchange_leavers(ctx, h, k, s);
        status = status ? status : taken;
    }
    TRY(agree_on_leavers(ctx, status, expected));
    return k->sort(ctx, s);
}
