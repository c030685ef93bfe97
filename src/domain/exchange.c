/* exchange.c: see exchange.h. */
#include "domain/exchange.h"

#include <stdlib.h>

#include "base/comm.h"
#include "base/ctx.h"
#include "base/error.h"
#include "domain/block.h"
#include "kernels/device.h"

/* A kind's connection with all ranks along its axis but this one, in order of
 * their coordinate; its partners may differ from call to call. */
struct connection {
    struct comm_exchange *peers; /* NULL: not made yet */
    int n;
    const void **send;
    void **recv;
    size_t *send_bytes, *recv_bytes;
};

struct exchange {
    int dims[3], coords[3];
    struct connection kind[FLUID_EXCHANGES];
};

int exchange_create(struct ctx *ctx, const struct block *block,
                    struct exchange **out)
{
    struct exchange *x = *out = calloc(1, sizeof *x);
    if (!x)
        return FAIL(ctx, STATUS_MEMORY, "no memory for the exchange");
    for (int d = 0; d < 3; d++) {
        x->dims[d] = block->dims[d];
        x->coords[d] = block->coords[d];
    }
    return 0;
}

void exchange_destroy(struct exchange *x)
{
    for (int k = 0; x && k < FLUID_EXCHANGES; k++) {
        struct connection *c = &x->kind[k];
        comm_exchange_destroy(c->peers);
        free((void *)c->send);
        free((void *)c->recv);
        free(c->send_bytes);
        free(c->recv_bytes);
    }
    free(x);
}

/* The rank at a coordinate along the axis of a kind, otherwise as this one. */
static int rank_at(const struct exchange *x, enum fluid_exchange kind,
                   int coordinate)
{
    int c[3] = {x->coords[0], x->coords[1], x->coords[2]};
    c[fluid_exchange_axis(kind)] = coordinate;
    return (c[2] * x->dims[1] + c[1]) * x->dims[0] + c[0];
}

static int connect(struct ctx *ctx, struct exchange *x,
                   enum fluid_exchange kind)
{
    struct connection *c = &x->kind[kind];
    int axis = fluid_exchange_axis(kind), n = 0;
    size_t room = (size_t)x->dims[axis];
    int *ranks = calloc(room, sizeof *ranks);
    c->send = calloc(room, sizeof *c->send);
    c->recv = calloc(room, sizeof *c->recv);
    c->send_bytes = calloc(room, sizeof *c->send_bytes);
    c->recv_bytes = calloc(room, sizeof *c->recv_bytes);
    int status = 0;
    if (!ranks || !c->send || !c->recv || !c->send_bytes || !c->recv_bytes)
        status = FAIL(ctx, STATUS_MEMORY, "no memory for %zu partners", room);
    for (int i = 0; i < x->dims[axis] && status == 0; i++)
        if (i != x->coords[axis])
            ranks[n++] = rank_at(x, kind, i);
    if (status == 0)
        status = comm_exchange_create(ctx, n, ranks, &c->peers);
    if (status == 0 && ctx->device && ctx->device->direct)
        comm_exchange_use_card(c->peers);
    c->n = n;
    free(ranks);
    return comm_drop_out(ctx, status);
}

int exchange_post(struct ctx *ctx, struct exchange *x, enum fluid_exchange kind,
                  const struct fluid_transfer *t)
{
    struct connection *c = &x->kind[kind];
    int mine = x->coords[fluid_exchange_axis(kind)];
    if (x->dims[fluid_exchange_axis(kind)] == 1)
        return 0;
    if (!c->peers)
        TRY(connect(ctx, x, kind));
    for (int p = 0; p < c->n; p++)
        c->send_bytes[p] = c->recv_bytes[p] = 0;
    for (int i = 0; i < t->n; i++) {
        int p = t->partner[i] - (t->partner[i] > mine);
        c->send[p] = t->send[i];
        c->recv[p] = t->recv[i];
        c->send_bytes[p] = t->send_bytes[i];
        c->recv_bytes[p] = t->recv_bytes[i];
    }
    return comm_exchange_post(ctx, c->peers, c->send, c->send_bytes, c->recv,
                              c->recv_bytes);
}

int exchange_wait(struct ctx *ctx, struct exchange *x, enum fluid_exchange kind)
{
    if (!x->kind[kind].peers)
        return 0;
    return comm_exchange_wait(ctx, x->kind[kind].peers);
}
