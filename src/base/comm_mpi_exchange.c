#include <stdlib.h>
#include <string.h>

#include "base/comm.h"
#include "base/comm_mpi.h"
#include "base/ctx.h"

/* A growing list of requests in flight. */
struct requests {
    MPI_Request *r;
    int n, room;
};

struct comm_exchange {
    int n;
    int self; /* the peer that is this rank, or -1 */
    int card; /* buffers may be memory of a card */
    int *peer;
    int *tag_in; /* chosen by the peer, so that several exchanges between the
                  * same two ranks never take each other's messages */
    int tag_out;
    struct requests requests;
};

static int next_request(struct ctx *ctx, struct requests *q, MPI_Request **out)
{
    if (q->n == q->room) {
        int room = q->room == 0 ? 32 : 2 * q->room;
        MPI_Request *grown = realloc(q->r, (size_t)room * sizeof(*grown));
        if (grown == NULL)
            return FAIL(ctx, STATUS_MEMORY, "out of memory for messages");
        q->r = grown;
        q->room = room;
    }
    *out = &q->r[q->n++];
    **out = MPI_REQUEST_NULL;
    return 0;
}

static int post_receive(struct ctx *ctx, struct requests *q, void *bytes,
                        size_t n, int rank, int tag)
{
    for (size_t done = 0; done < n; done += COMM_PIECE) {
        size_t piece = n - done < COMM_PIECE ? n - done : COMM_PIECE;
        MPI_Request *request = NULL;
        TRY(next_request(ctx, q, &request));
        TRY(comm_check(ctx,
                       MPI_Irecv((char *)bytes + done, (int)piece, MPI_BYTE,
                                 rank, tag, ctx->comm->world, request),
                       "receive a message"));
    }
    return 0;
}

static int post_send(struct ctx *ctx, struct requests *q, const void *bytes,
                     size_t n, int rank, int tag)
{
    for (size_t done = 0; done < n; done += COMM_PIECE) {
        size_t piece = n - done < COMM_PIECE ? n - done : COMM_PIECE;
        MPI_Request *request = NULL;
        TRY(next_request(ctx, q, &request));
        TRY(comm_check(ctx,
                       MPI_Isend((const char *)bytes + done, (int)piece,
                                 MPI_BYTE, rank, tag, ctx->comm->world,
                                 request),
                       "send a message"));
    }
    return 0;
}

static int wait_all(struct ctx *ctx, struct requests *q)
{
    int n = q->n;
    q->n = 0;
    if (n == 0)
        return 0;
    return comm_check(ctx, MPI_Waitall(n, q->r, MPI_STATUSES_IGNORE),
                      "complete the messages");
}

/* ---- all to all ---- */

static size_t sum(const size_t *n, int count)
{
    size_t total = 0;
    for (int i = 0; i < count; i++)
        total += n[i];
    return total;
}

static int alltoall_bytes(struct ctx *ctx, struct requests *q, const char *send,
                          const size_t *send_bytes, char *recv,
                          const size_t *recv_bytes)
{
    struct comm *c = ctx->comm;
    for (int r = 0; r < c->size; recv += recv_bytes[r++])
        if (r != c->rank)
            TRY(post_receive(ctx, q, recv, recv_bytes[r], r,
                             COMM_TAG_ALLTOALL));
    for (int r = 0; r < c->size; send += send_bytes[r++]) {
        if (r == c->rank)
            continue;
        TRY(post_send(ctx, q, send, send_bytes[r], r, COMM_TAG_ALLTOALL));
        c->bytes_sent += send_bytes[r];
    }
    return wait_all(ctx, q);
}

int comm_alltoall(struct ctx *ctx, const void *send, const size_t *send_bytes,
                  void **recv, size_t *recv_bytes)
{
    struct comm *c = ctx->comm;
    int rank = c->rank, status = 0;
    struct requests q = {0};
    *recv = NULL;
    recv_bytes[rank] = send_bytes[rank];
    if (!c->alone)
        TRY(comm_check(ctx,
                       MPI_Alltoall(send_bytes, sizeof(size_t), MPI_BYTE,
                                    recv_bytes, sizeof(size_t), MPI_BYTE,
                                    c->world),
                       "tell all ranks the sizes"));
    size_t total = sum(recv_bytes, c->alone ? 1 : c->size);
    *recv = malloc(total > 0 ? total : 1);
    if (*recv == NULL)
        status = FAIL(ctx, STATUS_MEMORY,
                      "out of memory for %zu bytes from other ranks", total);
    TRY(comm_agree(ctx, status));
    if (send_bytes[rank] > 0)
        memcpy((char *)*recv + sum(recv_bytes, rank),
               (const char *)send + sum(send_bytes, rank), send_bytes[rank]);
    if (!c->alone)
        status = alltoall_bytes(ctx, &q, send, send_bytes, *recv, recv_bytes);
    free(q.r);
    return status;
}

/* ---- exchange with fixed peers ---- */

static int agree_on_tags(struct ctx *ctx, struct comm_exchange *x)
{
    struct requests *q = &x->requests;
    for (int p = 0; p < x->n; p++)
        if (p != x->self)
            TRY(post_receive(ctx, q, &x->tag_in[p], sizeof(int), x->peer[p],
                             COMM_TAG_GREET));
    for (int p = 0; p < x->n; p++)
        if (p != x->self)
            TRY(post_send(ctx, q, &x->tag_out, sizeof(int), x->peer[p],
                          COMM_TAG_GREET));
    return wait_all(ctx, q);
}

int comm_exchange_create(struct ctx *ctx, int n, const int *peers,
                         struct comm_exchange **out)
{
    struct comm *c = ctx->comm;
    size_t room = n > 0 ? (size_t)n : 1;
    int status = 0;
    struct comm_exchange *x = *out = calloc(1, sizeof(*x));
    if (x != NULL) {
        x->peer = calloc(room, sizeof(*x->peer));
        x->tag_in = calloc(room, sizeof(*x->tag_in));
    }
    if (x == NULL || x->peer == NULL || x->tag_in == NULL) {
        status = FAIL(ctx, STATUS_MEMORY, "out of memory for %d peers", n);
        goto cleanup;
    }
    x->n = n;
    x->self = -1;
    x->tag_out = COMM_TAG_FIRST + c->next_tag++ % COMM_TAG_COUNT;
    for (int p = 0; p < n; p++) {
        x->peer[p] = peers[p];
        if (peers[p] == c->rank)
            x->self = p;
        else if (c->alone || peers[p] < 0 || peers[p] >= c->size)
            TRY_CLEANUP(FAIL(ctx, STATUS_INTERNAL,
                             "rank %d is no peer among %d ranks", peers[p],
                             c->size));
    }
    TRY_CLEANUP(agree_on_tags(ctx, x));
    if (x->self >= 0)
        x->tag_in[x->self] = x->tag_out;
    return 0;
cleanup:
    comm_exchange_destroy(x);
    *out = NULL;
    return status;
}

void comm_exchange_destroy(struct comm_exchange *x)
{
    if (x == NULL)
        return;
    free(x->requests.r);
    free(x->tag_in);
    free(x->peer);
    free(x);
}

void comm_exchange_use_card(struct comm_exchange *x)
{
    x->card = 1;
}

int comm_exchange_sizes(struct ctx *ctx, struct comm_exchange *x,
                        const size_t *send_bytes, size_t *recv_bytes)
{
    struct requests q = {0};
    int status = 0;
    for (int p = 0; p < x->n; p++) {
        if (p == x->self)
            recv_bytes[p] = send_bytes[p];
        else
            TRY_CLEANUP(post_receive(ctx, &q, &recv_bytes[p], sizeof(size_t),
                                     x->peer[p], x->tag_in[p]));
    }
    for (int p = 0; p < x->n; p++)
        if (p != x->self)
            TRY_CLEANUP(post_send(ctx, &q, &send_bytes[p], sizeof(size_t),
                                  x->peer[p], x->tag_out));
    status = wait_all(ctx, &q);
cleanup:
    free(q.r);
    return status;
}

int comm_exchange_post(struct ctx *ctx, struct comm_exchange *x,
                       const void *const *send, const size_t *send_bytes,
                       void *const *recv, const size_t *recv_bytes)
{
    int by_hand = x->card ? -1 : x->self;
    for (int p = 0; p < x->n; p++)
        if (p != by_hand)
            TRY(post_receive(ctx, &x->requests, recv[p], recv_bytes[p],
                             x->peer[p], x->tag_in[p]));
    for (int p = 0; p < x->n; p++) {
        if (p == by_hand)
            continue;
        TRY(post_send(ctx, &x->requests, send[p], send_bytes[p], x->peer[p],
                      x->tag_out));
        if (p != x->self)
            ctx->comm->bytes_sent += send_bytes[p];
    }
    if (by_hand >= 0 && send_bytes[by_hand] > 0)
        memcpy(recv[by_hand], send[by_hand], send_bytes[by_hand]);
    return 0;
}

int comm_exchange_wait(struct ctx *ctx, struct comm_exchange *x)
{
    return wait_all(ctx, &x->requests);
}
