/* halo_parts.h: what halo.c and halo_migrate.c share. */
#ifndef WARPDECK_DOMAIN_HALO_PARTS_H
#define WARPDECK_DOMAIN_HALO_PARTS_H

#include "domain/halo.h"

struct comm_exchange;
struct device;
struct md_channel;

/* Memory of the host, or what the device likes for messages. */
struct buffer {
    unsigned char *bytes;
    size_t capacity;
    const struct device *device; /* NULL: malloc() */
};

struct halo {
    struct grid grid;
    double radius;
    int n_peers, n_channels;
    int *peers;         /* ranks, ascending; this rank may be among them */
    int *first_channel; /* [n_peers + 1] */
    struct md_channel *channels;     /* by peer */
    int (*delta)[3];                 /* of each channel's block from this one */
    size_t *channel_count;           /* copies chosen for each channel */
    size_t *leaving;                 /* particles for each peer */
    size_t *send_bytes, *recv_bytes; /* of the present message, by peer */
    size_t *send_count, *recv_count; /* halo copies, by peer */
    size_t *above_count;             /* of these received: from above */
    enum md_half half;
    const void **send_at;
    void **recv_at;
    struct buffer send, recv;     /* particles that change owners */
    struct buffer copies, copied; /* halo copies: to others, from others */
    struct topology *topology;    /* NULL: particles have no terms */
    struct comm_exchange *exchange;
    int phase_migrate, phase_halo;
};

/* Whether all copies are of this rank's own particles, and the backend makes
 * them without messages. */
static inline int halo_stays_here(const struct halo *h,
                                  const struct md_kernels *k)
{
    return k->copy_own && h->n_peers == 1 && h->peers[0] == h->grid.rank;
}

/* Room for n bytes; grows by a quarter more than asked for, so that a slowly
 * changing size settles. Errors: STATUS_MEMORY. */
int halo_reserve(struct ctx *ctx, struct buffer *b, size_t n);

/* Send what is in `from`, send_bytes of each peer back to back, and receive
 * recv_bytes of each into `to`. */
int halo_exchange(struct ctx *ctx, struct halo *h, const struct buffer *from,
                  const struct buffer *to);

/* Everybody to his rank; the store is sorted then. */
int halo_migrate(struct ctx *ctx, struct halo *h, const struct md_kernels *k,
                 struct md_store *s, int64_t expected);

static inline size_t halo_total(const size_t *n, int count)
{
    size_t sum = 0;
    for (int i = 0; i < count; i++)
        sum += n[i];
    return sum;
}

#endif
