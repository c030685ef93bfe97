#include "base/comm.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/comm_mpi.h"
#include "base/ctx.h"
#include "base/timer.h"

/* Where Open MPI and its kin say what they were built with. */
#ifdef __has_include
#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif
#endif

int comm_check(struct ctx *ctx, int rc, const char *what)
{
    if (rc == MPI_SUCCESS)
        return 0;
    char text[MPI_MAX_ERROR_STRING];
    int length = 0;
    if (MPI_Error_string(rc, text, &length) != MPI_SUCCESS)
        length = 0;
    text[length] = '\0';
    return FAIL(ctx, STATUS_MPI, "MPI could not %s: %s", what, text);
}

/* ---- start and end ---- */

static int find_node(struct comm *c)
{
    MPI_Comm node;
    int rc = MPI_Comm_split_type(c->world, MPI_COMM_TYPE_SHARED, c->rank,
                                 MPI_INFO_NULL, &node);
    if (rc != MPI_SUCCESS)
        return rc;
    MPI_Comm_rank(node, &c->node_rank);
    MPI_Comm_size(node, &c->node_size);
    c->node = c->rank;
    MPI_Bcast(&c->node, 1, MPI_INT, 0, node);
    MPI_Comm_free(&node);
    int first = c->node_rank == 0;
    return MPI_Allreduce(&first, &c->node_count, 1, MPI_INT, MPI_SUM, c->world);
}

int comm_start(int *argc, char ***argv, struct comm **out)
{
    *out = NULL;
    struct comm *c = calloc(1, sizeof(*c));
    if (c == NULL) {
        fputs("error: out of memory before the start\n", stderr);
        return STATUS_MEMORY;
    }
    int provided;
    int rc = MPI_Init_thread(argc, argv, MPI_THREAD_MULTIPLE, &provided);
    if (rc == MPI_SUCCESS) {
        c->started = 1;
        c->threads = provided == MPI_THREAD_MULTIPLE;
        MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
        rc = MPI_Comm_dup(MPI_COMM_WORLD, &c->world);
    }
    if (rc == MPI_SUCCESS)
        rc = MPI_Comm_dup(MPI_COMM_WORLD, &c->farewell);
    if (rc == MPI_SUCCESS) {
        MPI_Comm_rank(c->world, &c->rank);
        MPI_Comm_size(c->world, &c->size);
        c->alone = c->size == 1;
        rc = find_node(c);
    }
    if (rc != MPI_SUCCESS) {
        fprintf(stderr, "error: MPI could not start (error %d)\n", rc);
        free(c);
        return STATUS_MPI;
    }
    *out = c;
    return 0;
}

int comm_launched(void)
{
    static const char *const marks[] = {"OMPI_COMM_WORLD_SIZE", "PMIX_RANK",
                                        "PMI_RANK", "PMI_SIZE"};
    for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++)
        if (getenv(marks[i]) != NULL)
            return 1;
    return 0;
}

int comm_start_alone(int size, struct comm **out)
{
    struct comm *c = *out = calloc(1, sizeof(*c));
    if (c == NULL)
        return STATUS_MEMORY;
    c->size = size;
    c->alone = 1;
    c->node_size = c->node_count = 1;
    return 0;
}

void comm_finish(struct comm *comm)
{
    if (comm == NULL)
        return;
    if (comm->started) {
        MPI_Comm_free(&comm->farewell);
        MPI_Comm_free(&comm->world);
        MPI_Finalize();
    }
    free(comm);
}

int comm_duplicate(struct ctx *ctx, struct comm **out)
{
    const struct comm *from = ctx->comm;
    struct comm *c = *out = calloc(1, sizeof(*c));
    int status = 0;
    if (c == NULL)
        status = FAIL(ctx, STATUS_MEMORY, "out of memory");
    TRY_CLEANUP(comm_agree(ctx, status));
    *c = *from;
    c->bytes_sent = 0;
    c->farewell = MPI_COMM_NULL;
    if (from->started)
        TRY_CLEANUP(comm_check(ctx, MPI_Comm_dup(from->world, &c->world),
                               "make another channel"));
    return 0;
cleanup:
    free(c);
    *out = NULL;
    return status;
}

int comm_drop_out(struct ctx *ctx, int status)
{
    struct comm *c = ctx->comm;
    if (status != 0 && !c->alone && c->left == 0)
        c->left = status;
    return status;
}

int comm_split(struct ctx *ctx, int group, struct comm **out)
{
    const struct comm *from = ctx->comm;
    struct comm *c;
    TRY(comm_duplicate(ctx, &c));
    *out = c;
    if (!from->started)
        return 0;
    int rc = MPI_Comm_free(&c->world);
    if (rc == MPI_SUCCESS)
        rc = MPI_Comm_split(from->world, group, from->rank, &c->world);
    if (rc == MPI_SUCCESS)
        rc = MPI_Comm_dup(c->world, &c->farewell);
    TRY(comm_check(ctx, rc, "make groups of ranks"));
    MPI_Comm_rank(c->world, &c->rank);
    MPI_Comm_size(c->world, &c->size);
    c->alone = c->size == 1;
    return 0;
}

void comm_release(struct comm *comm)
{
    if (comm != NULL && comm->started) {
        MPI_Comm_free(&comm->world);
        if (comm->farewell != MPI_COMM_NULL)
            MPI_Comm_free(&comm->farewell);
    }
    free(comm);
}

int comm_takes_threads(const struct comm *comm)
{
    return comm->threads || !comm->started;
}

void comm_abort(struct comm *comm, int exit_status)
{
    if (comm->started)
        MPI_Abort(comm->world, exit_status);
}

const void *comm_handle(const struct comm *comm)
{
    return comm->started ? &comm->world : NULL;
}

int comm_rank(const struct comm *comm)
{
    return comm->rank;
}

int comm_size(const struct comm *comm)
{
    return comm->size;
}

int comm_node_rank(const struct comm *comm)
{
    return comm->node_rank;
}

int comm_node_size(const struct comm *comm)
{
    return comm->node_size;
}

int comm_node_count(const struct comm *comm)
{
    return comm->node_count;
}

int comm_has_mpi(void)
{
    return 1;
}

const char *comm_library_version(void)
{
    /* One line of what some libraries tell in many; written once. */
    static char text[MPI_MAX_LIBRARY_VERSION_STRING];
    int length;
    if (MPI_Get_library_version(text, &length) != MPI_SUCCESS)
        return "MPI";
    text[strcspn(text, ",\n")] = '\0';
    return text;
}

int comm_takes_card_memory(void)
{
#ifdef MPIX_CUDA_AWARE_SUPPORT
    return MPIX_Query_cuda_support() != 0;
#else
    return -1;
#endif
}

uint64_t comm_bytes_sent(const struct comm *comm)
{
    return comm->bytes_sent;
}

/* ---- reductions ---- */

static int reduce(struct ctx *ctx, void *v, int n, MPI_Datatype type, MPI_Op op)
{
    TRY(ctx->comm->left);
    if (ctx->comm->alone)
        return 0;
    return comm_check(
        ctx, MPI_Allreduce(MPI_IN_PLACE, v, n, type, op, ctx->comm->world),
        "reduce over the ranks");
}

int comm_sum_double(struct ctx *ctx, double *v, int n)
{
    return reduce(ctx, v, n, MPI_DOUBLE, MPI_SUM);
}

int comm_sum_int64(struct ctx *ctx, int64_t *v, int n)
{
    return reduce(ctx, v, n, MPI_INT64_T, MPI_SUM);
}

int comm_max_double(struct ctx *ctx, double *v, int n)
{
    for (int i = 0; i < n; i++)
        if (isnan(v[i]))
            v[i] = INFINITY;
    return reduce(ctx, v, n, MPI_DOUBLE, MPI_MAX);
}

int comm_min_double(struct ctx *ctx, double *v, int n)
{
    for (int i = 0; i < n; i++)
        if (isnan(v[i]))
            v[i] = -INFINITY;
    return reduce(ctx, v, n, MPI_DOUBLE, MPI_MIN);
}

int comm_max_int64(struct ctx *ctx, int64_t *v, int n)
{
    return reduce(ctx, v, n, MPI_INT64_T, MPI_MAX);
}

int comm_exscan_int64(struct ctx *ctx, int64_t value, int64_t *below)
{
    *below = 0; /* MPI leaves rank 0's result undefined */
    TRY(ctx->comm->left);
    if (ctx->comm->alone)
        return 0;
    int64_t sum = 0;
    TRY(comm_check(
        ctx,
        MPI_Exscan(&value, &sum, 1, MPI_INT64_T, MPI_SUM, ctx->comm->world),
        "sum over the lower ranks"));
    if (ctx->comm->rank > 0)
        *below = sum;
    return 0;
}

int comm_barrier(struct ctx *ctx)
{
    TRY(ctx->comm->left);
    if (ctx->comm->alone)
        return 0;
    return comm_check(ctx, MPI_Barrier(ctx->comm->world), "wait for all ranks");
}

int comm_bcast_from(struct ctx *ctx, MPI_Comm comm, int root, void *bytes,
                    size_t n)
{
    for (size_t done = 0; done < n; done += COMM_PIECE) {
        size_t piece = n - done < COMM_PIECE ? n - done : COMM_PIECE;
        TRY(comm_check(
            ctx,
            MPI_Bcast((char *)bytes + done, (int)piece, MPI_BYTE, root, comm),
            "send to all ranks"));
    }
    return 0;
}

int comm_bcast(struct ctx *ctx, void *bytes, size_t n)
{
    TRY(ctx->comm->left);
    if (ctx->comm->alone)
        return 0;
    return comm_bcast_from(ctx, ctx->comm->world, 0, bytes, n);
}

int comm_allgather_double(struct ctx *ctx, double value, double *out)
{
    struct comm *c = ctx->comm;
    if (c->alone) {
        for (int i = 0; i < c->size; i++)
            out[i] = value;
        return 0;
    }
    TRY(c->left);
    return comm_check(
        ctx, MPI_Allgather(&value, 1, MPI_DOUBLE, out, 1, MPI_DOUBLE, c->world),
        "gather from all ranks");
}

int comm_allgather_int64(struct ctx *ctx, int64_t value, int64_t *out)
{
    struct comm *c = ctx->comm;
    if (c->alone) {
        for (int i = 0; i < c->size; i++)
            out[i] = value;
        return 0;
    }
    TRY(c->left);
    return comm_check(
        ctx,
        MPI_Allgather(&value, 1, MPI_INT64_T, out, 1, MPI_INT64_T, c->world),
        "gather from all ranks");
}
