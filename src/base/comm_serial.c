/* A build without MPI: one process, which is all ranks there are. A plan for
 * more (comm_start_alone) answers as rank 0 of that many. */
#include "base/comm.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ctx.h"

struct comm {
    int size;
    int n; /* numbers of a reduction that is under way */
    double v[COMM_SMALL];
};

struct comm_exchange {
    int n;
    void *room;
};

int comm_start(int *argc, char ***argv, struct comm **out)
{
    (void)argc;
    (void)argv;
    if (comm_start_alone(1, out) == 0)
        return 0;
    fputs("error: out of memory before the start\n", stderr);
    return STATUS_MEMORY;
}

int comm_launched(void)
{
    return 0;
}

int comm_start_alone(int size, struct comm **out)
{
    *out = calloc(1, sizeof(**out));
    if (*out == NULL)
        return STATUS_MEMORY;
    (*out)->size = size;
    return 0;
}

void comm_finish(struct comm *comm)
{
    free(comm);
}

int comm_duplicate(struct ctx *ctx, struct comm **out)
{
    *out = calloc(1, sizeof(**out));
    if (*out == NULL)
        return FAIL(ctx, STATUS_MEMORY, "out of memory");
    (*out)->size = ctx->comm->size;
    return 0;
}

int comm_split(struct ctx *ctx, int group, struct comm **out)
{
    (void)group;
    return comm_duplicate(ctx, out);
}

void comm_release(struct comm *comm)
{
    free(comm);
}

int comm_takes_threads(const struct comm *comm)
{
    (void)comm;
    return 1;
}

const void *comm_handle(const struct comm *comm)
{
    (void)comm;
    return NULL;
}

int comm_farewell(struct ctx *ctx, int status, int *alone)
{
    (void)ctx;
    *alone = 0;
    return status;
}

int comm_drop_out(struct ctx *ctx, int status)
{
    (void)ctx;
    return status;
}

void comm_abort(struct comm *comm, int exit_status)
{
    (void)comm;
    (void)exit_status;
}

int comm_rank(const struct comm *comm)
{
    (void)comm;
    return 0;
}

int comm_size(const struct comm *comm)
{
    return comm->size;
}

int comm_node_rank(const struct comm *comm)
{
    (void)comm;
    return 0;
}

int comm_node_size(const struct comm *comm)
{
    (void)comm;
    return 1;
}

int comm_node_count(const struct comm *comm)
{
    (void)comm;
    return 1;
}

int comm_has_mpi(void)
{
    return 0;
}

const char *comm_library_version(void)
{
    return "built without MPI";
}

int comm_takes_card_memory(void)
{
    return -1;
}

int comm_sum_double(struct ctx *ctx, double *v, int n)
{
    (void)ctx;
    (void)v;
    (void)n;
    return 0;
}

int comm_sum_int64(struct ctx *ctx, int64_t *v, int n)
{
    (void)ctx;
    (void)v;
    (void)n;
    return 0;
}

int comm_max_double(struct ctx *ctx, double *v, int n)
{
    (void)ctx;
    for (int i = 0; i < n; i++)
        if (isnan(v[i]))
            v[i] = INFINITY;
    return 0;
}

int comm_min_double(struct ctx *ctx, double *v, int n)
{
    (void)ctx;
    for (int i = 0; i < n; i++)
        if (isnan(v[i]))
            v[i] = -INFINITY;
    return 0;
}

int comm_max_int64(struct ctx *ctx, int64_t *v, int n)
{
    (void)ctx;
    (void)v;
    (void)n;
    return 0;
}

int comm_exscan_int64(struct ctx *ctx, int64_t value, int64_t *below)
{
    (void)ctx;
    (void)value;
    *below = 0;
    return 0;
}

int comm_barrier(struct ctx *ctx)
{
    (void)ctx;
    return 0;
}

int comm_bcast(struct ctx *ctx, void *bytes, size_t n)
{
    (void)ctx;
    (void)bytes;
    (void)n;
    return 0;
}

int comm_allgather_double(struct ctx *ctx, double value, double *out)
{
    for (int i = 0; i < ctx->comm->size; i++)
        out[i] = value;
    return 0;
}

int comm_allgather_int64(struct ctx *ctx, int64_t value, int64_t *out)
{
    for (int i = 0; i < ctx->comm->size; i++)
        out[i] = value;
    return 0;
}

int comm_alltoall(struct ctx *ctx, const void *send, const size_t *send_bytes,
                  void **recv, size_t *recv_bytes)
{
    size_t n = recv_bytes[0] = send_bytes[0];
    *recv = malloc(n > 0 ? n : 1);
    if (*recv == NULL)
        return FAIL(ctx, STATUS_MEMORY, "out of memory for %zu bytes", n);
    if (n > 0)
        memcpy(*recv, send, n);
    return 0;
}

int comm_agree(struct ctx *ctx, int status)
{
    (void)ctx;
    return status;
}

int comm_step(struct ctx *ctx, int status, int *stop, double *value)
{
    (void)stop;
    TRY(comm_max_double(ctx, value, 1));
    return status;
}

int comm_reduce_begin(struct ctx *ctx, const double *v, int n,
                      enum comm_reduction how)
{
    struct comm *c = ctx->comm;
    if (n > COMM_SMALL || c->n != 0)
        return FAIL(ctx, STATUS_INTERNAL, "a reduction too many is under way");
    c->n = n;
    for (int k = 0; k < n; k++)
        c->v[k] = how == COMM_GREATEST && isnan(v[k]) ? INFINITY : v[k];
    return 0;
}

int comm_reduce_end(struct ctx *ctx, double *v)
{
    struct comm *c = ctx->comm;
    memcpy(v, c->v, (size_t)c->n * sizeof *v);
    c->n = 0;
    return 0;
}

int comm_agree_begin(struct ctx *ctx, int status)
{
    double code = status;
    return comm_reduce_begin(ctx, &code, 1, COMM_GREATEST);
}

int comm_agree_end(struct ctx *ctx)
{
    double code;
    TRY(comm_reduce_end(ctx, &code));
    return (int)code;
}

int comm_step_begin(struct ctx *ctx, int status, int stop, double value)
{
    double v[3] = {status, stop, value};
    return comm_reduce_begin(ctx, v, 3, COMM_GREATEST);
}

int comm_step_end(struct ctx *ctx, int *stop, double *value)
{
    double v[3];
    TRY(comm_reduce_end(ctx, v));
    *stop = v[1] > 0;
    *value = v[2];
    return (int)v[0];
}

int comm_exchange_create(struct ctx *ctx, int n, const int *peers,
                         struct comm_exchange **out)
{
    *out = NULL;
    if (n > 1 || (n == 1 && peers[0] != 0))
        return FAIL(ctx, STATUS_INTERNAL, "there is no peer but rank 0");
    *out = calloc(1, sizeof(**out));
    if (*out == NULL)
        return FAIL(ctx, STATUS_MEMORY, "out of memory for %d peers", n);
    (*out)->n = n;
    return 0;
}

void comm_exchange_destroy(struct comm_exchange *x)
{
    if (x != NULL)
        free(x->room);
    free(x);
}

void comm_exchange_use_card(struct comm_exchange *x)
{
    (void)x; /* nobody opens a card for messages to itself */
}

int comm_exchange_sizes(struct ctx *ctx, struct comm_exchange *x,
                        const size_t *send_bytes, size_t *recv_bytes)
{
    (void)ctx;
    if (x->n == 1)
        recv_bytes[0] = send_bytes[0];
    return 0;
}

int comm_exchange_post(struct ctx *ctx, struct comm_exchange *x,
                       const void *const *send, const size_t *send_bytes,
                       void *const *recv, const size_t *recv_bytes)
{
    (void)ctx;
    (void)recv_bytes;
    if (x->n == 1 && send_bytes[0] > 0)
        memcpy(recv[0], send[0], send_bytes[0]);
    return 0;
}

int comm_exchange_wait(struct ctx *ctx, struct comm_exchange *x)
{
    (void)ctx;
    (void)x;
    return 0;
}

int comm_exchange_wait_at(struct ctx *ctx, struct comm_exchange *x,
                          const void **at)
{
    (void)at;
    return comm_exchange_wait(ctx, x);
}

int comm_exchange_room(struct ctx *ctx, struct comm_exchange *x, size_t n,
                       void **out)
{
    void *room = realloc(x->room, n > 0 ? n : 1);
    if (room == NULL)
        return FAIL(ctx, STATUS_MEMORY, "out of memory for messages");
    *out = x->room = room;
    return 0;
}

uint64_t comm_bytes_sent(const struct comm *comm)
{
    (void)comm;
    return 0;
}
