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

/* Count the leavers of each peer, then write them into the send buffer in peer
 * order. */
static int pack_leavers(struct ctx *ctx, struct halo *h,
                        const struct md_particle *p, size_t n)
{
    memset(h->leaving, 0, (size_t)h->n_peers * sizeof *h->leaving);
    for (size_t i = 0; i < n; i++) {
        int peer = peer_index(h, grid_owner(&h->grid, p[i].position));
        if (peer < 0)
            return fail_lost(ctx, &p[i]);
        h->leaving[peer]++;
    }
    TRY(halo_reserve(ctx, &h->send, n * sizeof *p));
    size_t at = 0;
    for (int q = 0; q < h->n_peers; q++) {
        h->send_bytes[q] = h->leaving[q] * sizeof *p;
        size_t next = at + h->leaving[q];
        h->leaving[q] = at; /* from here on: where the next one goes */
        at = next;
    }
    struct md_particle *out = (struct md_particle *)(void *)h->send.bytes;
    for (size_t i = 0; i < n; i++) {
        int peer = peer_index(h, grid_owner(&h->grid, p[i].position));
        out[h->leaving[peer]++] = p[i];
    }
    return 0;
}

/* All ranks learn here whether one of them has lost a particle, and whether
 * the particles are still as many as at the start. */
static int agree_on_leavers(struct ctx *ctx, int status, size_t count,
                            int64_t expected)
{
    int64_t sum[2] = {(int64_t)count, status != 0};
    TRY(comm_sum_int64(ctx, sum, 2));
    if (sum[1] != 0)
        return comm_agree(ctx, status);
    if (sum[0] != expected)
        return FAIL(ctx, STATUS_LOST_PARTICLES,
                    "there are %" PRId64 " particles, but there were %" PRId64
                    " at the start",
                    sum[0], expected);
    return 0;
}

void halo_carry(struct halo *h, struct topology *topology)
{
    h->topology = topology;
}

/* The terms of the particles that leave, in the order of peers; they are gone
 * from here afterwards. */
static int pack_terms(struct ctx *ctx, struct halo *h,
                      const struct md_particle *p, size_t n)
{
    memset(h->send_bytes, 0, (size_t)h->n_peers * sizeof *h->send_bytes);
    for (size_t i = 0; i < n; i++) {
        int peer = peer_index(h, grid_owner(&h->grid, p[i].position));
        h->send_bytes[peer] += topology_packed_bytes(h->topology, p[i].id);
    }
    TRY(halo_reserve(ctx, &h->send, halo_total(h->send_bytes, h->n_peers)));
    size_t at = 0;
    for (int q = 0; q < h->n_peers; q++)
        for (size_t i = 0; i < n && h->send_bytes[q] > 0; i++)
            if (peer_index(h, grid_owner(&h->grid, p[i].position)) == q)
                at += topology_pack(h->topology, p[i].id, h->send.bytes + at);
    return 0;
}

static int migrate_terms(struct ctx *ctx, struct halo *h,
                         const struct md_particle *leavers, size_t n)
{
    TRY(comm_agree(ctx, pack_terms(ctx, h, leavers, n)));
    TRY(comm_exchange_sizes(ctx, h->exchange, h->send_bytes, h->recv_bytes));
    size_t arriving = halo_total(h->recv_bytes, h->n_peers);
    TRY(comm_agree(ctx, halo_reserve(ctx, &h->recv, arriving)));
    TRY(halo_exchange(ctx, h, &h->send, &h->recv));
    return topology_unpack(ctx, h->topology, h->recv.bytes, arriving);
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
    TRY(agree_on_leavers(ctx, status, count, expected));
    if (h->n_peers == 0 || (n == 0 && halo_stays_here(h, k)))
        return k->sort(ctx, s);
    TRY(comm_exchange_sizes(ctx, h->exchange, h->send_bytes, h->recv_bytes));
    size_t arriving = halo_total(h->recv_bytes, h->n_peers);
    TRY(halo_reserve(ctx, &h->recv, arriving));
    TRY(halo_exchange(ctx, h, &h->send, &h->recv));
    TRY(k->insert(ctx, s, (const struct md_particle *)(void *)h->recv.bytes,
                  arriving / sizeof(struct md_particle)));
    if (h->topology)
        TRY(migrate_terms(ctx, h, leavers, n));
    return k->sort(ctx, s);
}
