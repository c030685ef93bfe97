/* exchange.c: see exchange.h. */
#include "domain/exchange.h"

#include <stdlib.h>

#include "base/comm.h"
#include "base/error.h"
#include "domain/block.h"

struct exchange {
    int dims[3], coords[3];
    struct {
        struct comm_exchange *peers; /* NULL: none, or not made yet */
        int n;
    } kind[FLUID_EXCHANGES];
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
    for (int k = 0; x && k < FLUID_EXCHANGES; k++)
        comm_exchange_destroy(x->kind[k].peers);
    free(x);
}

/* The rank at a coordinate along the axis of a kind, otherwise as this one. */
static int partner_rank(const struct exchange *x, enum fluid_exchange kind,
                        int coordinate)
{
    int c[3] = {x->coords[0], x->coords[1], x->coords[2]};
    c[fluid_exchange_axis(kind)] = coordinate;
    return (c[2] * x->dims[1] + c[1]) * x->dims[0] + c[0];
}

static int connect(struct ctx *ctx, struct exchange *x,
                   enum fluid_exchange kind, const struct fluid_transfer *t)
{
    int *ranks = calloc((size_t)t->n, sizeof *ranks);
    if (!ranks)
        return FAIL(ctx, STATUS_MEMORY, "no memory for %d partners", t->n);
    for (int p = 0; p < t->n; p++)
        ranks[p] = partner_rank(x, kind, t->partner[p]);
    int status = comm_exchange_create(ctx, t->n, ranks, &x->kind[kind].peers);
    x->kind[kind].n = t->n;
    free(ranks);
    return status;
}

int exchange_post(struct ctx *ctx, struct exchange *x, enum fluid_exchange kind,
                  const struct fluid_transfer *t)
{
    if (t->n == 0)
        return 0;
    if (!x->kind[kind].peers)
        TRY(connect(ctx, x, kind, t));
    if (t->n != x->kind[kind].n)
        return FAIL(ctx, STATUS_INTERNAL, "transfer %d: %d partners, %d before",
                    (int)kind, t->n, x->kind[kind].n);
    return comm_exchange_post(ctx, x->kind[kind].peers, t->send, t->send_bytes,
                              t->recv, t->recv_bytes);
}

int exchange_wait(struct ctx *ctx, struct exchange *x, enum fluid_exchange kind)
{
    if (!x->kind[kind].peers)
        return 0;
    return comm_exchange_wait(ctx, x->kind[kind].peers);
}
