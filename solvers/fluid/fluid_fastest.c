/* fluid_fastest.c: where a flow is faster than its time step allows.
 *
 * The kernels keep the greatest rate only. Which cell it was is looked for when
 * a run has failed, in velocities that come back from the device.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/comm.h"
#include "base/ctx.h"
#include "base/error.h"
#include "solvers/fluid/fluid.h"

struct fastest {
    double rate; /* |u|/dx + |v|/dy + |w|/dz; -1: this rank has no cell */
    int64_t cell[3];
    double velocity[3];
};

/* 1/dz of w, which stands between cells k and k + 1: of the thinner one. */
static double rate_of_w(const struct fluid *f, int64_t k)
{
    const double *z = f->face[2];
    int64_t n = f->setup.cells[2];
    int64_t above = k + 1 < n                                    ? k + 1
                    : f->setup.face[2][1].type == FLUID_PERIODIC ? 0
                                                                 : k;
    return 1 / fmin(z[k + 1] - z[k], z[above + 1] - z[above]);
}

static void search(const struct fluid *f, const double *u, struct fastest *out)
{
    const int64_t *n = f->block.local, *first = f->block.first;
    size_t cells = fluid_block_cells(f), at = 0;
    *out = (struct fastest){.rate = -1};
    for (int64_t k = 0; k < n[2]; k++) {
        double across = rate_of_w(f, first[2] + k);
        for (int64_t j = 0; j < n[1]; j++)
            for (int64_t i = 0; i < n[0]; i++, at++) {
                double v[3] = {u[at], u[at + cells], u[at + 2 * cells]};
                double rate = fabs(v[0]) / f->setup.spacing[0] +
                              fabs(v[1]) / f->setup.spacing[1] +
                              fabs(v[2]) * across;
                if (rate > out->rate)
                    *out = (struct fastest){
                        rate,
                        {first[0] + i, first[1] + j, first[2] + k},
                        {v[0], v[1], v[2]}};
            }
    }
}

static int find_here(struct ctx *ctx, struct fluid *f, struct fastest *out)
{
    size_t cells = fluid_block_cells(f);
    double *u = malloc((3 * cells + 1) * sizeof *u);
    int status =
        u ? 0 : FAIL(ctx, STATUS_MEMORY, "no memory to look for a cell");
    for (int d = 0; d < 3 && status == 0; d++)
        status = f->k->get(ctx, f->store, (enum fluid_field)(FLUID_U + d),
                           u + (size_t)d * cells);
    if (status == 0)
        search(f, u, out);
    free(u);
    return status;
}

/* Of those with the greatest rate the first rank speaks. */
int fluid_fail_too_fast(struct ctx *ctx, struct fluid *f, double dt)
{
    struct fastest here = {.rate = -1};
    double most, limit = f->fixed_dt > 0 ? f->cfl : FLUID_CFL_LIMIT;
    TRY(comm_agree(ctx, find_here(ctx, f, &here)));
    most = here.rate;
    TRY(comm_max_double(ctx, &most, 1));
    if (here.rate < most)
        return comm_agree(ctx, 0);
    int status = FAIL(
        ctx, STATUS_PHYSICS,
        "step %" PRId64 ": the flow has outrun its time step: largest CFL "
        "%.4g, the limit is %.4g, in cell (%" PRId64 ", %" PRId64 ", %" PRId64
        ") at (%.6g, %.6g, %.6g), velocity (%.4g, %.4g, %.4g); the timestep %g "
        "is too large",
        f->step, here.rate * dt, limit, here.cell[0], here.cell[1],
        here.cell[2], f->center[0][here.cell[0]], f->center[1][here.cell[1]],
        f->center[2][here.cell[2]], here.velocity[0], here.velocity[1],
        here.velocity[2], dt);
    error_on_rank(ctx, status, comm_rank(ctx->comm), comm_size(ctx->comm));
    return comm_agree(ctx, status);
}
