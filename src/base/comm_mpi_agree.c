/* comm_mpi_agree.c: small reductions that go on while ranks compute, and what
 * ranks agree on by them.
 *
 * MPI_Iallreduce() moves only while its caller is inside of MPI: after work in
 * between it waits as the blocking call does. Few ranks send their numbers to
 * all others at once, which are there when they are looked for.
 */
#include <math.h>
#include <string.h>
#include <time.h>

#include "base/comm.h"
#include "base/comm_mpi.h"
#include "base/ctx.h"
#include "base/timer.h"

/* ---- reductions under way ---- */

/* Every rank's numbers to every other. */
static int send_to_all(struct comm *c)
{
    struct comm_small *s = &c->small;
    int rc = MPI_SUCCESS, n = 0;
    for (int r = 0; r < c->size && rc == MPI_SUCCESS; r++)
        if (r != c->rank)
            rc = MPI_Irecv(s->from[r], s->n, MPI_DOUBLE, r, COMM_TAG_SMALL,
                           c->world, &s->request[n++]);
    for (int r = 0; r < c->size && rc == MPI_SUCCESS; r++)
        if (r != c->rank)
            rc = MPI_Isend(s->mine, s->n, MPI_DOUBLE, r, COMM_TAG_SMALL,
                           c->world, &s->request[n++]);
    s->n_requests = n;
    return rc;
}

int comm_reduce_begin(struct ctx *ctx, const double *v, int n,
                      enum comm_reduction how)
{
    struct comm *c = ctx->comm;
    struct comm_small *s = &c->small;
    TRY(c->left);
    if (n > COMM_SMALL || s->n != 0)
        return FAIL(ctx, STATUS_INTERNAL, "a reduction too many is under way");
    s->n = n;
    s->how = how;
    for (int k = 0; k < n; k++)
        s->mine[k] = how == COMM_GREATEST && isnan(v[k]) ? INFINITY : v[k];
    if (c->alone)
        return 0;
    s->n_requests = 1;
    int rc = c->size <= COMM_FEW
                 ? send_to_all(c)
                 : MPI_Iallreduce(s->mine, s->all, n, MPI_DOUBLE,
                                  how == COMM_SUM ? MPI_SUM : MPI_MAX, c->world,
                                  s->request);
    return comm_check(ctx, rc, "reduce over the ranks");
}

/* In the order of ranks, so that all have the same. */
static void combine(const struct comm *c, double *v)
{
    const struct comm_small *s = &c->small;
    for (int k = 0; k < s->n; k++)
        v[k] = s->how == COMM_SUM ? 0 : -INFINITY;
    for (int r = 0; r < c->size; r++) {
        const double *from = r == c->rank ? s->mine : s->from[r];
        for (int k = 0; k < s->n; k++)
            v[k] = s->how == COMM_SUM ? v[k] + from[k] : fmax(v[k], from[k]);
    }
}

int comm_reduce_end(struct ctx *ctx, double *v)
{
    struct comm *c = ctx->comm;
    struct comm_small *s = &c->small;
    int n = s->n;
    TRY(c->left);
    if (!c->alone)
        TRY(comm_check(
            ctx, MPI_Waitall(s->n_requests, s->request, MPI_STATUSES_IGNORE),
            "reduce over the ranks"));
    if (c->alone)
        memcpy(v, s->mine, (size_t)n * sizeof *v);
    else if (c->size <= COMM_FEW)
        combine(c, v);
    else
        memcpy(v, s->all, (size_t)n * sizeof *v);
    s->n = 0;
    return 0;
}

/* ---- agreement ---- */

/* A status and the rank that has it in one number, such that the greatest is
 * the lowest failing rank's. Exact in a double for any rank count. */
enum { CODE_BASE = 64 };
_Static_assert((int)STATUS_COUNT < (int)CODE_BASE,
               "a status must fit the code");

static double encode(const struct comm *c, int status)
{
    if (status == 0 || c->alone)
        return status;
    return (double)(c->size - c->rank) * CODE_BASE + status;
}

/* Some rank has failed: bring its message to all. */
static int share_failure(struct ctx *ctx, MPI_Comm comm, double code)
{
    struct comm *c = ctx->comm;
    int from_end = (int)(code / CODE_BASE);
    int status = (int)(code - (double)from_end * CODE_BASE);
    int rank = c->size - from_end;
    if (rank == c->rank) {
        if (ctx->error.status == 0)
            FAIL(ctx, status, "%s", status_text(status));
        if (rank > 0)
            error_on_rank(ctx, status, rank, c->size);
        ctx->error.status = status;
    }
    comm_bcast_from(ctx, comm, rank, &ctx->error, sizeof(ctx->error));
    return status;
}

/* What the greatest code of all ranks means to this one. */
static int decode(struct ctx *ctx, double code)
{
    struct comm *c = ctx->comm;
    if (c->alone)
        return (int)code;
    return code > 0 ? share_failure(ctx, c->world, code) : 0;
}

int comm_agree(struct ctx *ctx, int status)
{
    double code = encode(ctx->comm, status);
    TRY(comm_max_double(ctx, &code, 1));
    return decode(ctx, code);
}

int comm_agree_begin(struct ctx *ctx, int status)
{
    double code = encode(ctx->comm, status);
    return comm_reduce_begin(ctx, &code, 1, COMM_GREATEST);
}

int comm_agree_end(struct ctx *ctx)
{
    double code;
    TRY(comm_reduce_end(ctx, &code));
    return decode(ctx, code);
}

int comm_step(struct ctx *ctx, int status, int *stop, double *value)
{
    double v[3] = {encode(ctx->comm, status), *stop ? 1 : 0, *value};
    TRY(comm_max_double(ctx, v, 3));
    *stop = v[1] > 0;
    *value = v[2];
    return decode(ctx, v[0]);
}

int comm_step_begin(struct ctx *ctx, int status, int stop, double value)
{
    double v[3] = {encode(ctx->comm, status), stop ? 1 : 0, value};
    return comm_reduce_begin(ctx, v, 3, COMM_GREATEST);
}

int comm_step_end(struct ctx *ctx, int *stop, double *value)
{
    double v[3];
    TRY(comm_reduce_end(ctx, v));
    *stop = v[1] > 0;
    *value = v[2];
    return decode(ctx, v[0]);
}

/* How long a rank that failed waits for the others. They come at once where the
 * failure was agreed on; where they do not, they wait for this rank. */
static const double PATIENCE = 3;

int comm_farewell(struct ctx *ctx, int status, int *alone)
{
    struct comm *c = ctx->comm;
    *alone = c->left != 0;
    if (c->alone || c->left)
        return status;
    double mine = encode(c, status), code = 0;
    MPI_Request request;
    TRY(comm_check(ctx,
                   MPI_Iallreduce(&mine, &code, 1, MPI_DOUBLE, MPI_MAX,
                                  c->farewell, &request),
                   "reduce over the ranks"));
    double until = timer_now() + PATIENCE;
    for (;;) {
        int here = 0;
        TRY(comm_check(ctx, MPI_Test(&request, &here, MPI_STATUS_IGNORE),
                       "wait for all ranks"));
        if (here)
            break;
        if (status != 0 && timer_now() > until) {
            *alone = 1;
            return comm_drop_out(ctx, status);
        }
        nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
    }
    return code > 0 ? share_failure(ctx, c->farewell, code) : 0;
}
