/* fluid_store.c: the kernels, their store, and the cut that is fastest. */
#include <math.h>
#include <stdlib.h>

#include "base/comm.h"
#include "base/ctx.h"
#include "base/error.h"
#include "base/log.h"
#include "base/timer.h"
#include "domain/exchange.h"
#include "fluid.h"

enum {
    CUTS_MEASURED = 4,  /* decompositions that are tried */
    RANKS_MEASURED = 4, /* with fewer ranks slabs are best */
    SUBSTAGES_MEASURED = 3
};

double fluid_store_bytes(const struct fluid *f)
{
    const struct fluid_kernels *k = f->precision == PRECISION_SINGLE
                                        ? &fluid_kernels_cpu_single
                                        : &fluid_kernels_cpu_double;
    return (f->k ? f->k : k)->estimate(&f->setup);
}

static void close_store(struct fluid *f)
{
    if (f->k)
        f->k->destroy(f->store);
    f->store = NULL;
    exchange_destroy(f->exchange);
    f->exchange = NULL;
}

void fluid_close(struct fluid *f)
{
    close_store(f);
    block_free(&f->block);
}

static int find_kernels(struct ctx *ctx, struct fluid *f)
{
    const struct device *d = ctx->device;
    f->k = d && d->fluid ? d->fluid(f->precision) : NULL;
    if (!f->k)
        return FAIL(ctx, STATUS_UNSUPPORTED,
                    "device '%s' has no flow in this precision",
                    d ? d->name : "none");
    return 0;
}

static int choose_diffusion(struct ctx *ctx, struct fluid *f)
{
    static const char *const names[] = {"explicit", "implicit-z", "implicit"};
    int can = f->k->lines_begin != NULL;
    if (f->auto_diffusion) {
        fluid_limits(f);
        f->setup.diffusion = can ? fluid_best_diffusion(f) : FLUID_EXPLICIT;
        if (f->setup.diffusion != FLUID_EXPLICIT)
            log_info(ctx->log,
                     "fluid.diffusion: %s, since explicit diffusion would "
                     "limit the time step to %.3g",
                     names[f->setup.diffusion],
                     fluid_viscous_limit(f, FLUID_EXPLICIT));
    }
    if (f->setup.diffusion != FLUID_EXPLICIT && !can)
        return FAIL(ctx, STATUS_UNSUPPORTED,
                    "device '%s' has explicit diffusion only",
                    ctx->device->name);
    fluid_limits(f);
    if (f->fixed_dt > 1.25 * f->viscous_dt)
        return FAIL(ctx, STATUS_INPUT,
                    "fluid.timestep = %g is beyond the limit of explicit "
                    "diffusion, %.3g",
                    f->fixed_dt, 1.25 * f->viscous_dt);
    return 0;
}

static int open_store(struct ctx *ctx, struct fluid *f, const int dims[3])
{
    int status = fluid_set_block(ctx, f, dims);
    if (status == 0)
        status = exchange_create(ctx, &f->block, &f->exchange);
    if (status == 0)
        status = f->k->create(ctx, &f->setup, &f->store);
    return comm_agree(ctx, status);
}

/* Seconds that a few substages of a fluid at rest take, greatest rank. */
static int measure(struct ctx *ctx, struct fluid *f, const int dims[3],
                   double *seconds)
{
    struct fluid_substage sub = {
        .first = 1, .last = 1, .dt = 1e-6, .gamma = 1, .alpha = 1};
    double rate, start = 0;
    TRY(open_store(ctx, f, dims));
    for (int i = 0; i <= SUBSTAGES_MEASURED; i++) {
        if (i == 1) /* the first is for page faults and connections */
            start = timer_now();
        TRY(fluid_substage(ctx, f, &sub, NULL, &rate));
    }
    *seconds = (timer_now() - start) / SUBSTAGES_MEASURED;
    close_store(f);
    return comm_max_double(ctx, seconds, 1);
}

/* Slabs, and the cuts whose pieces along y and z are most alike. */
static int shortlist(int (*dims)[3], int n)
{
    int best = 0, kept = n < CUTS_MEASURED ? n : CUTS_MEASURED;
    for (int i = 1; i < n; i++)
        if (abs(dims[i][1] - dims[i][2]) < abs(dims[best][1] - dims[best][2]))
            best = i;
    int from = best - 1 < 1 ? 1 : best - 1;
    if (from > n - kept + 1)
        from = n - kept + 1;
    for (int i = 1; i < kept; i++, from++)
        for (int d = 0; d < 3; d++)
            dims[i][d] = dims[from][d];
    return kept;
}

static int measure_cuts(struct ctx *ctx, struct fluid *f, int chosen[3])
{
    int dims[FLUID_CUTS_MAX][3], best = 0;
    double seconds[CUTS_MEASURED];
    int n = block_candidates(comm_size(ctx->comm), f->setup.cells,
                             FLUID_CUTS_MAX, dims);
    n = shortlist(dims, n < FLUID_CUTS_MAX ? n : FLUID_CUTS_MAX);
    for (int i = 0; i < n && n > 1; i++) {
        TRY(measure(ctx, f, dims[i], &seconds[i]));
        if (seconds[i] < seconds[best])
            best = i;
    }
    for (int d = 0; d < 3; d++)
        chosen[d] = dims[best][d];
    if (n > 1)
        log_info(ctx->log,
                 "ranks: 1 x %d x %d, at %.3g s a substage the fastest of %d "
                 "decompositions (domain.ranks fixes one)",
                 chosen[1], chosen[2], seconds[best], n);
    return 0;
}

/* The cut of an earlier run. Returns whether it fits. */
static int take_cut(struct ctx *ctx, const struct fluid *f, const int64_t *cut,
                    int dims[3])
{
    int trial[3] = {(int)cut[0], (int)cut[1], (int)cut[2]};
    if (cut[0] != 1 || cut[1] * cut[2] != comm_size(ctx->comm) ||
        !block_is_legal(f->setup.cells, trial))
        return 0;
    for (int d = 0; d < 3; d++)
        dims[d] = trial[d];
    return 1;
}

int fluid_open(struct ctx *ctx, struct fluid *f, const int64_t *cut)
{
    int dims[3] = {f->block.dims[0], f->block.dims[1], f->block.dims[2]};
    int given = f->ranks_given;
    int status = find_kernels(ctx, f);
    if (status == 0)
        status = choose_diffusion(ctx, f);
    TRY(comm_agree(ctx, status));
    if (!given && cut)
        given = take_cut(ctx, f, cut, dims);
    if (!given && comm_size(ctx->comm) >= RANKS_MEASURED)
        TRY(measure_cuts(ctx, f, dims));
    return open_store(ctx, f, dims);
}
