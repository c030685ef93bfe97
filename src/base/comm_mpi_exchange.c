#include <stdlib.h>
#include <string.h>

#include "base/comm.h"
#include "base/comm_mpi.h"
#include "base/comm_shared.h"
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
    struct comm_shared *shared; /* with ranks of this host; or NULL */
    int *is_shared; /* peers that see this rank's area, as I theirs */
    struct pending {
        void *into; /* NULL: nothing comes */
        size_t bytes;
        const void *at; /* where it stands; NULL: not yet there */
    } * pending;        /* what comes through areas, by peer */
    char *room;         /* for the next messages; NULL: nobody asked for it */
    char *own;          /* where there are no areas */
    size_t own_bytes;
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
    TRY(c->left);
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
    return comm_drop_out(ctx, status);
}

/* ---- exchange with fixed peers ---- */

/* Tell each peer n bytes of an array, hear as many from it. */
static int greet(struct ctx *ctx, struct comm_exchange *x, const void *mine,
                 void *theirs, size_t n)
{
    struct requests *q = &x->requests;
    for (size_t p = 0; p < (size_t)x->n; p++)
        if ((int)p != x->self)
            TRY(post_receive(ctx, q, (char *)theirs + p * n, n, x->peer[p],
                             COMM_TAG_GREET));
    for (size_t p = 0; p < (size_t)x->n; p++)
        if ((int)p != x->self)
            TRY(post_send(ctx, q, (const char *)mine + p * n, n, x->peer[p],
                          COMM_TAG_GREET));
    return wait_all(ctx, q);
}

/* Agree on tags, and with peers of this host on areas that both see. */
static int meet_peers(struct ctx *ctx, struct comm_exchange *x)
{
    struct comm *c = ctx->comm;
    size_t room = x->n > 0 ? (size_t)x->n : 1;
    int status = 0;
    struct comm_greeting *mine = calloc(room, sizeof(*mine));
    struct comm_greeting *theirs = calloc(room, sizeof(*theirs));
    int *opened = calloc(room, sizeof(*opened));
    if (mine == NULL || theirs == NULL || opened == NULL)
        TRY_CLEANUP(
            FAIL(ctx, STATUS_MEMORY, "out of memory for %d peers", x->n));
    for (int p = 0; p < x->n; p++) {
        mine[p].tag = x->tag_out;
        mine[p].node = c->node;
        comm_shared_greet(x->shared, p, &mine[p]);
    }
    TRY_CLEANUP(greet(ctx, x, mine, theirs, sizeof(*mine)));
    for (int p = 0; p < x->n; p++) {
        x->tag_in[p] = theirs[p].tag;
        if (p != x->self && theirs[p].node == c->node)
            opened[p] = comm_shared_open(x->shared, p, &theirs[p]);
    }
    TRY_CLEANUP(greet(ctx, x, opened, x->is_shared, sizeof(*opened)));
    for (int p = 0; p < x->n; p++)
        x->is_shared[p] &= opened[p];
cleanup:
    free(opened);
    free(theirs);
    free(mine);
    return status;
}

int comm_exchange_create(struct ctx *ctx, int n, const int *peers,
                         struct comm_exchange **out)
{
    struct comm *c = ctx->comm;
    size_t room = n > 0 ? (size_t)n : 1;
    int status = c->left;
    *out = NULL;
    TRY(status);
    struct comm_exchange *x = *out = calloc(1, sizeof(*x));
    if (x != NULL) {
        x->peer = calloc(room, sizeof(*x->peer));
        x->tag_in = calloc(room, sizeof(*x->tag_in));
        x->is_shared = calloc(room, sizeof(*x->is_shared));
        x->pending = calloc(room, sizeof(*x->pending));
    }
    if (x == NULL || x->peer == NULL || x->tag_in == NULL ||
        x->is_shared == NULL || x->pending == NULL) {
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
    if (c->node_size > 1)
        x->shared = comm_shared_create(n);
    TRY_CLEANUP(meet_peers(ctx, x));
    if (x->self >= 0)
        x->tag_in[x->self] = x->tag_out;
    return 0;
cleanup:
    comm_exchange_destroy(x);
    *out = NULL;
    return comm_drop_out(ctx, status);
}

void comm_exchange_destroy(struct comm_exchange *x)
{
    if (x == NULL)
        return;
    comm_shared_destroy(x->shared);
    free(x->requests.r);
    free(x->pending);
    free(x->own);
    free(x->is_shared);
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
    TRY(ctx->comm->left);
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
    return comm_drop_out(ctx, status);
}

/* ---- messages ---- */

/* Whether a message of n bytes to or from peer p goes through an area. Both
 * ranks know. */
static int goes_through_area(const struct comm_exchange *x, int p, size_t n)
{
    return x->is_shared[p] && !x->card && n > 0 && n <= COMM_SHARED_LONGEST;
}

int comm_exchange_room(struct ctx *ctx, struct comm_exchange *x, size_t n,
                       void **out)
{
    void *room = x->own;
    TRY(ctx->comm->left);
    if (x->shared != NULL) {
        TRY(comm_drop_out(ctx, comm_shared_room(ctx, x->shared, n, &room)));
    } else if (n > x->own_bytes) {
        room = realloc(x->own, n);
        if (room == NULL)
            return comm_drop_out(
                ctx, FAIL(ctx, STATUS_MEMORY, "out of memory for messages"));
        x->own = room;
        x->own_bytes = n;
    }
    *out = x->room = room;
    return 0;
}

/* Messages to ranks of this host, which are written into the room now where the
 * caller has not done so. */
static int post_to_host(struct ctx *ctx, struct comm_exchange *x,
                        const void *const *send, const size_t *send_bytes)
{
    size_t n = 0;
    void *room = NULL;
    int written = x->room != NULL;
    x->room = NULL;
    for (int p = 0; p < x->n; p++)
        if (goes_through_area(x, p, send_bytes[p]))
            n += send_bytes[p];
    if (n > 0 && !written)
        TRY(comm_shared_room(ctx, x->shared, n, &room));
    for (int p = 0; p < x->n && n > 0; p++) {
        const void *at = send[p];
        if (!goes_through_area(x, p, send_bytes[p]))
            continue;
        if (!written) {
            at = memcpy(room, send[p], send_bytes[p]);
            room = (char *)room + send_bytes[p];
        }
        comm_shared_post(x->shared, p, at);
    }
    return 0;
}

/* Messages that were left where their senders wrote them are of no use now. */
static void let_go(struct comm_exchange *x)
{
    for (int p = 0; p < x->n; p++) {
        if (x->pending[p].into != NULL)
            comm_shared_taken(x->shared, p);
        x->pending[p].into = NULL;
    }
}

static int post(struct ctx *ctx, struct comm_exchange *x,
                const void *const *send, const size_t *send_bytes,
                void *const *recv, const size_t *recv_bytes)
{
    int by_hand = x->card ? -1 : x->self;
    let_go(x);
    TRY(post_to_host(ctx, x, send, send_bytes));
    for (int p = 0; p < x->n; p++) {
        if (goes_through_area(x, p, recv_bytes[p]))
            x->pending[p] = (struct pending){recv[p], recv_bytes[p], NULL};
        else if (p != by_hand)
            TRY(post_receive(ctx, &x->requests, recv[p], recv_bytes[p],
                             x->peer[p], x->tag_in[p]));
    }
    for (int p = 0; p < x->n; p++) {
        if (p != x->self)
            ctx->comm->bytes_sent += send_bytes[p];
        if (p != by_hand && !goes_through_area(x, p, send_bytes[p]))
            TRY(post_send(ctx, &x->requests, send[p], send_bytes[p], x->peer[p],
                          x->tag_out));
    }
    if (by_hand >= 0 && send_bytes[by_hand] > 0)
        memcpy(recv[by_hand], send[by_hand], send_bytes[by_hand]);
    return 0;
}

int comm_exchange_post(struct ctx *ctx, struct comm_exchange *x,
                       const void *const *send, const size_t *send_bytes,
                       void *const *recv, const size_t *recv_bytes)
{
    TRY(ctx->comm->left);
    return comm_drop_out(ctx, post(ctx, x, send, send_bytes, recv, recv_bytes));
}

/* Look for what comes through areas. *left: messages not yet there. */
static int find_pending(struct ctx *ctx, struct comm_exchange *x, int *left)
{
    *left = 0;
    for (int p = 0; p < x->n; p++) {
        struct pending *m = &x->pending[p];
        int there;
        if (m->into == NULL || m->at != NULL)
            continue;
        TRY(comm_shared_find(ctx, x->shared, p, m->bytes, &m->at, &there));
        *left += !there;
    }
    return 0;
}

static int wait_here(struct ctx *ctx, struct comm_exchange *x)
{
    int left, all;
    for (unsigned k = 0;; k++) {
        TRY(find_pending(ctx, x, &left));
        if (left == 0)
            return wait_all(ctx, &x->requests);
        /* Others' messages need this rank inside of MPI. */
        if (x->requests.n > 0)
            TRY(comm_check(ctx,
                           MPI_Testall(x->requests.n, x->requests.r, &all,
                                       MPI_STATUSES_IGNORE),
                           "look for messages"));
        comm_shared_pause(k);
    }
}

/* Until all messages are there. */
static int await(struct ctx *ctx, struct comm_exchange *x)
{
    TRY(ctx->comm->left);
    return comm_drop_out(ctx, wait_here(ctx, x));
}

int comm_exchange_wait(struct ctx *ctx, struct comm_exchange *x)
{
    TRY(await(ctx, x));
    for (int p = 0; p < x->n; p++)
        if (x->pending[p].into != NULL)
            memcpy(x->pending[p].into, x->pending[p].at, x->pending[p].bytes);
    let_go(x);
    return 0;
}

int comm_exchange_wait_at(struct ctx *ctx, struct comm_exchange *x,
                          const void **at)
{
    TRY(await(ctx, x));
    for (int p = 0; p < x->n; p++)
        if (x->pending[p].into != NULL)
            at[p] = x->pending[p].at;
    return 0;
}
