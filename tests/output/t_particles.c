/* Particles by id: run on any number of ranks; rank 0 reports. */
#include <stdlib.h>

#include "base/comm.h"
#include "base/ctx.h"
#include "domain/particles.h"
#include "kernels/md/md_kernels.h"
#include "tests/tap.h"

enum { PLENTY = 64 };

/* Particle `id` lives on the rank that a scattered rule says. */
static size_t make(struct ctx *ctx, int64_t total, struct md_particle *p,
                   double (*force)[3])
{
    int size = comm_size(ctx->comm), rank = comm_rank(ctx->comm);
    size_t n = 0;

    for (int64_t id = total; id >= 1; id--) {
        if ((id * 7 + 3) % size != rank)
            continue;
        p[n] = (struct md_particle){.id = id, .species = (int32_t)(id % 3)};
        for (int d = 0; d < 3; d++) {
            p[n].position[d] = (double)id + 0.1 * d;
            p[n].velocity[d] = -(double)id - 0.1 * d;
            p[n].image[d] = (int32_t)id - d;
            force[n][d] = 100.0 * (double)id + d;
        }
        n++;
    }
    return n;
}

static int row_is_right(const struct md_particle *p, const double *force,
                        int64_t id)
{
    int right = p->id == id && p->species == (int32_t)(id % 3);

    for (int d = 0; d < 3; d++)
        right = right && p->position[d] == (double)id + 0.1 * d &&
                p->velocity[d] == -(double)id - 0.1 * d &&
                p->image[d] == (int32_t)id - d &&
                (force == NULL || force[d] == 100.0 * (double)id + d);
    return right;
}

static int all_agree(struct ctx *ctx, int held)
{
    int64_t wrong = !held;

    return comm_max_int64(ctx, &wrong, 1) == 0 && wrong == 0;
}

static void check_order(struct ctx *ctx, int64_t total, int with_force)
{
    struct md_particle p[PLENTY], *rows = NULL;
    double force[PLENTY][3], (*row_force)[3] = NULL;
    size_t n = make(ctx, total, p, force);
    int64_t first, count, sum;
    int status, right;

    particles_slab(total, comm_rank(ctx->comm), comm_size(ctx->comm), &first,
                   &count);
    sum = count;
    comm_sum_int64(ctx, &sum, 1);
    /* A rank without particles may have no arrays at all. */
    status = particles_by_id(ctx, total, n > 0 ? p : NULL,
                             with_force && n > 0 ? force : NULL, n, &rows,
                             &row_force);
    right = status == 0 && rows != NULL &&
            (total == 0 || (row_force != NULL) == with_force);
    for (int64_t i = 0; right && i < count; i++)
        right = row_is_right(&rows[i], row_force != NULL ? row_force[i] : NULL,
                             first + i + 1);
    tap_ok(all_agree(ctx, right) && sum == total,
           "%d particles on %d ranks come in the order of their ids, %s forces",
           (int)total, comm_size(ctx->comm), with_force ? "with" : "without");
    free(rows);
    free(row_force);
}

/* One id is changed on the rank that has it. */
static void check_refused(struct ctx *ctx, int64_t id, int64_t into,
                          const char *sentence)
{
    struct md_particle p[PLENTY], *rows = NULL;
    double force[PLENTY][3], (*row_force)[3] = NULL;
    size_t n = make(ctx, 10, p, force);
    int status;

    for (size_t i = 0; i < n; i++)
        if (p[i].id == id)
            p[i].id = into;
    status = particles_by_id(ctx, 10, p, force, n, &rows, &row_force);
    tap_ok(all_agree(ctx, status == STATUS_LOST_PARTICLES && rows == NULL &&
                              row_force == NULL),
           "%s", sentence);
    error_clear(ctx);
}

static void check_slabs(void)
{
    int64_t big = INT64_C(9000000000000000000), first, n, next = 0;
    int right = 1;

    for (int r = 0; r < 1000; r++) {
        particles_slab(big + 123, r, 1000, &first, &n);
        right = right && first == next && n >= big / 1000;
        next = first + n;
    }
    tap_ok(right && next == big + 123,
           "slabs of 9e18 rows on 1000 ranks leave none out");
}

int main(int argc, char **argv)
{
    static struct ctx ctx;
    int status;

    if (comm_start(&argc, &argv, &ctx.comm) != 0)
        return 1;
    if (comm_rank(ctx.comm) != 0)
        tap_silence();
    check_order(&ctx, 10, 1);
    check_order(&ctx, 10, 0);
    check_order(&ctx, 2, 1);
    check_order(&ctx, 0, 1);
    check_refused(&ctx, 4, 5, "an id that stands twice is refused");
    check_refused(&ctx, 4, 11, "an id beyond the last is refused");
    check_refused(&ctx, 4, 0, "an id of 0 is refused");
    check_slabs();
    status = tap_done();
    comm_finish(ctx.comm);
    return status;
}
