#include "domain/particles.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/comm.h"
#include "base/ctx.h"
#include "base/error.h"
#include "kernels/md/md_kernels.h"

/* A record on its way: the particle, and behind it its force where wanted. */
struct shuffle {
    size_t record;
    unsigned char *send;
    void *recv;
    size_t *send_bytes, *recv_bytes; /* a rank each */
};

void particles_slab(int64_t total, int rank, int size, int64_t *first,
                    int64_t *n)
{
    int64_t base = total / size, rest = total % size;

    *first = base * rank + (rank < rest ? rank : rest);
    *n = base + (rank < rest ? 1 : 0);
}

static int slab_owner(int64_t total, int size, int64_t row)
{
    int64_t base = total / size, rest = total % size;
    int64_t in_long_slabs = (base + 1) * rest;

    if (row < in_long_slabs)
        return (int)(row / (base + 1));
    return (int)(rest + (row - in_long_slabs) / base);
}

static int allocate_counts(struct ctx *ctx, int size, struct shuffle *s)
{
    s->send_bytes = calloc((size_t)size, sizeof *s->send_bytes);
    s->recv_bytes = calloc((size_t)size, sizeof *s->recv_bytes);
    if (s->send_bytes == NULL || s->recv_bytes == NULL)
        return FAIL(ctx, STATUS_MEMORY, "out of memory for %d ranks", size);
    return 0;
}

static int check_ids(struct ctx *ctx, int64_t total,
                     const struct md_particle *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (p[i].id < 1 || p[i].id > total)
            return FAIL(ctx, STATUS_LOST_PARTICLES,
                        "a particle has id %" PRId64 ", outside 1 to %" PRId64,
                        p[i].id, total);
    return 0;
}

/* Count, then place: records stand by receiving rank, as comm_alltoall() wants
 * them. */
static int pack(struct ctx *ctx, int64_t total, const struct md_particle *p,
                double (*force)[3], size_t n, struct shuffle *s)
{
    int size = comm_size(ctx->comm);
    size_t *next;

    TRY(allocate_counts(ctx, size, s));
    TRY(check_ids(ctx, total, p, n));
    next = calloc((size_t)size, sizeof *next);
    s->send = malloc(n * s->record + 1);
    if (next == NULL || s->send == NULL) {
        free(next);
        return FAIL(ctx, STATUS_MEMORY, "out of memory for %zu particles", n);
    }
    for (size_t i = 0; i < n; i++)
        s->send_bytes[slab_owner(total, size, p[i].id - 1)] += s->record;
    for (int r = 1; r < size; r++)
        next[r] = next[r - 1] + s->send_bytes[r - 1];
    for (size_t i = 0; i < n; i++) {
        int owner = slab_owner(total, size, p[i].id - 1);
        unsigned char *to = s->send + next[owner];

        memcpy(to, &p[i], sizeof p[i]);
        if (s->record > sizeof p[i])
            memcpy(to + sizeof p[i], force[i], sizeof force[i]);
        next[owner] += s->record;
    }
    free(next);
    return 0;
}

static int place(struct ctx *ctx, const struct shuffle *s, int64_t first,
                 int64_t n, struct md_particle *rows, double (*row_force)[3])
{
    size_t received = 0;
    const unsigned char *from = s->recv;

    for (int r = 0; r < comm_size(ctx->comm); r++)
        received += s->recv_bytes[r] / s->record;
    for (int64_t row = 0; row < n; row++)
        rows[row].id = 0;
    for (size_t i = 0; i < received; i++, from += s->record) {
        struct md_particle p;
        int64_t row;

        memcpy(&p, from, sizeof p);
        row = p.id - 1 - first;
        if (rows[row].id != 0)
            return FAIL(ctx, STATUS_LOST_PARTICLES,
                        "two particles have the id %" PRId64, p.id);
        rows[row] = p;
        if (row_force != NULL)
            memcpy(row_force[row], from + sizeof p, sizeof row_force[row]);
    }
    for (int64_t row = 0; row < n; row++)
        if (rows[row].id == 0)
            return FAIL(ctx, STATUS_LOST_PARTICLES,
                        "the particle with id %" PRId64 " is missing",
                        first + row + 1);
    return 0;
}

static int allocate_rows(struct ctx *ctx, int64_t n, int with_force,
                         struct md_particle **rows, double (**row_force)[3])
{
    size_t some = n > 0 ? (size_t)n : 1; /* never a NULL that means success */

    *rows = malloc(some * sizeof **rows);
    if (with_force)
        *row_force = malloc(some * sizeof **row_force);
    if (*rows == NULL || (with_force && *row_force == NULL))
        return FAIL(ctx, STATUS_MEMORY, "out of memory for %" PRId64 " rows",
                    n);
    return 0;
}

int particles_by_id(struct ctx *ctx, int64_t total, const struct md_particle *p,
                    double (*force)[3], size_t n, struct md_particle **rows,
                    double (**row_force)[3])
{
    struct shuffle s = {0};
    double(*forces)[3] = NULL;
    int64_t first, n_rows, with_force = force != NULL;
    int status;

    *rows = NULL;
    if (row_force != NULL)
        *row_force = NULL;
    particles_slab(total, comm_rank(ctx->comm), comm_size(ctx->comm), &first,
                   &n_rows);
    /* A rank without particles may have no array of forces. */
    TRY(comm_max_int64(ctx, &with_force, 1));
    s.record = sizeof *p + (with_force ? sizeof *force : 0);

    TRY_CLEANUP(comm_agree(ctx, pack(ctx, total, p, force, n, &s)));
    TRY_CLEANUP(
        comm_alltoall(ctx, s.send, s.send_bytes, &s.recv, s.recv_bytes));
    status = allocate_rows(ctx, n_rows, with_force != 0, rows, &forces);
    if (status == 0)
        status = place(ctx, &s, first, n_rows, *rows, forces);
    status = comm_agree(ctx, status);
cleanup:
    free(s.send);
    free(s.recv);
    free(s.send_bytes);
    free(s.recv_bytes);
    if (status != 0) {
        free(*rows);
        *rows = NULL;
    }
    if (status == 0 && row_force != NULL)
        *row_force = forces;
    else
        free(forces);
    return status;
}
