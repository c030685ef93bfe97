/* fluid_step.c: one step, as three substages of Wray's low-storage Runge-Kutta
 * scheme (Spalart, Moser and Rogers 1991), each with a projection. */
#include <inttypes.h>
#include <math.h>

#include "base/comm.h"
#include "base/ctx.h"
#include "base/error.h"
#include "base/timer.h"
#include "domain/exchange.h"
#include "fluid.h"

const double fluid_gamma[3] = {8.0 / 15, 5.0 / 12, 3.0 / 4};
const double fluid_zeta[3] = {0, -17.0 / 60, -5.0 / 12};

/* A step that adapts may pass its limit for a moment. */
enum { ADAPTIVE_SLACK = 2 };

static int carry(struct ctx *ctx, struct fluid *f, enum fluid_exchange kind)
{
    struct fluid_transfer t = {0};
    TRY(f->k->send_begin(ctx, f->store, kind, &t));
    TRY(exchange_post(ctx, f->exchange, kind, &t));
    TRY(exchange_wait(ctx, f->exchange, kind));
    return f->k->send_end(ctx, f->store, kind);
}

/* The same, in a phase of its own. */
static int carry_timed(struct ctx *ctx, struct fluid *f,
                       enum fluid_exchange kind, int phase)
{
    timer_begin(ctx->timers, phase);
    int status = carry(ctx, f, kind);
    timer_end(ctx->timers, phase);
    return status;
}

static int carry_pair(struct ctx *ctx, struct fluid *f, enum fluid_exchange y,
                      enum fluid_exchange z)
{
    TRY(carry_timed(ctx, f, y, f->phase_halo));
    return carry_timed(ctx, f, z, f->phase_halo);
}

int fluid_refresh(struct ctx *ctx, struct fluid *f)
{
    return carry_pair(ctx, f, FLUID_HALO_Y, FLUID_HALO_Z);
}

static int timed(struct ctx *ctx, int phase, int status)
{
    timer_end(ctx->timers, phase);
    return status;
}

#define TIMED(phase, call)                 \
    do {                                   \
        timer_begin(ctx->timers, (phase)); \
        TRY(timed(ctx, (phase), (call)));  \
    } while (0)

/* ---- implicit diffusion ---- */

static int diffuse_along(struct ctx *ctx, struct fluid *f, int axis,
                         const struct fluid_substage *sub)
{
    static const enum fluid_exchange kind[3] = {FLUID_EXCHANGES, FLUID_LINES_Y,
                                                FLUID_LINES_Z};
    TIMED(f->phase_lines, f->k->lines_begin(ctx, f->store, axis, sub));
    if (axis != FLUID_X)
        TRY(carry_timed(ctx, f, kind[axis], f->phase_transpose));
    TIMED(f->phase_lines, f->k->lines_end(ctx, f->store, axis, sub));
    return 0;
}

static int diffuse(struct ctx *ctx, struct fluid *f,
                   const struct fluid_substage *sub)
{
    int all = f->setup.diffusion == FLUID_IMPLICIT;
    for (int axis = FLUID_X; axis <= FLUID_Z; axis++)
        if (all || (f->setup.diffusion == FLUID_IMPLICIT_Z && axis == FLUID_Z))
            TRY(diffuse_along(ctx, f, axis, sub));
    return 0;
}

/* ---- the flow that is held ---- */

/* What a uniform pressure gradient has to add to u* so that the mean velocity
 * is the one asked for. */
static int find_extra(struct ctx *ctx, struct fluid *f, double extra[3])
{
    double flow[3] = {0, 0, 0};
    if (!f->held[0] && !f->held[1] && !f->held[2])
        return 0;
    TRY(f->k->predicted_flow(ctx, f->store, flow));
    TRY(comm_sum_double(ctx, flow, 3));
    double volume = f->length[0] * f->length[1] * f->length[2];
    for (int d = 0; d < 3; d++)
        extra[d] = f->held[d] ? f->bulk[d] - flow[d] / volume : 0;
    return 0;
}

/* ---- pressure ---- */

/* psi, where y is whole on each rank: the columns alone have to talk. */
static int solve_pressure(struct ctx *ctx, struct fluid *f)
{
    int cut_y = f->block.dims[1] > 1;
    if (cut_y) {
        TRY(carry_timed(ctx, f, FLUID_TRANSPOSE, f->phase_transpose));
        TIMED(f->phase_transform, f->k->transform_y(ctx, f->store));
    }
    TIMED(f->phase_columns, f->k->columns_begin(ctx, f->store));
    TRY(carry_timed(ctx, f, FLUID_COLUMNS, f->phase_columns));
    TIMED(f->phase_columns, f->k->columns_end(ctx, f->store));
    if (cut_y) {
        TIMED(f->phase_transform, f->k->inverse_y(ctx, f->store));
        TRY(carry_timed(ctx, f, FLUID_TRANSPOSE_BACK, f->phase_transpose));
        TIMED(f->phase_transform, f->k->inverse_x(ctx, f->store));
    }
    return carry_pair(ctx, f, FLUID_PSI_Y, FLUID_PSI_Z);
}

int fluid_substage(struct ctx *ctx, struct fluid *f,
                   const struct fluid_substage *sub, double gradient[3],
                   double *rate)
{
    double extra[3] = {0, 0, 0};
    TRY(fluid_refresh(ctx, f));
    TIMED(f->phase_predict, f->k->predict(ctx, f->store, sub));
    TRY(diffuse(ctx, f, sub));
    if (gradient)
        TRY(find_extra(ctx, f, extra));
    TRY(carry_pair(ctx, f, FLUID_LOW_Y, FLUID_LOW_Z));
    TIMED(f->phase_transform, f->k->source(ctx, f->store, sub));
    TRY(solve_pressure(ctx, f));
    TIMED(f->phase_correct, f->k->correct(ctx, f->store, sub, extra, rate));
    for (int d = 0; d < 3 && gradient; d++)
        gradient[d] += extra[d] / sub->dt;
    return 0;
}

/* ---- guards ---- */

static int fail_not_finite(struct ctx *ctx, const struct fluid *f,
                           const struct fluid_bad_cell *bad, double dt)
{
    int status = FAIL(
        ctx, STATUS_PHYSICS,
        "step %" PRId64 ": velocity (%g, %g, %g) in cell (%" PRId64 ", %" PRId64
        ", %" PRId64 ") is not finite; the largest CFL before was %.4g, the "
        "timestep %g is probably too large",
        f->step, bad->velocity[0], bad->velocity[1], bad->velocity[2],
        bad->cell[0], bad->cell[1], bad->cell[2], f->rate * dt, dt);
    return error_on_rank(ctx, status, comm_rank(ctx->comm),
                         comm_size(ctx->comm));
}

/* This rank's status after a step. */
static int check_finite(struct ctx *ctx, struct fluid *f, double dt,
                        double rate)
{
    struct fluid_bad_cell bad = {0};
    if (isfinite(rate))
        return 0;
    TRY(f->k->find_bad(ctx, f->store, &bad));
    return fail_not_finite(ctx, f, &bad, dt);
}

/* Whether the greatest rate of all ranks is one that the step allows. */
static int is_too_fast(const struct fluid *f, double dt, double rate)
{
    double limit = f->fixed_dt > 0 ? f->cfl * (1 + 1e-9)
                                   : FLUID_CFL_LIMIT * ADAPTIVE_SLACK;
    return !(rate * dt <= limit);
}

int fluid_guard(struct ctx *ctx, void *state)
{
    struct fluid *f = state;
    struct fluid_bad_cell bad = {0};
    int status = f->k->find_bad(ctx, f->store, &bad);
    if (status == 0 && bad.found)
        status = fail_not_finite(ctx, f, &bad, f->last_dt);
    return comm_agree(ctx, status);
}

/* ---- one step ---- */

static int make_substages(struct ctx *ctx, struct fluid *f, double dt,
                          double *rate)
{
    double held[3] = {0, 0, 0};
    for (int i = 0; i < 3; i++) {
        struct fluid_substage sub = {.first = i == 0,
                                     .last = i == 2,
                                     .dt = dt,
                                     .gamma = fluid_gamma[i],
                                     .zeta = fluid_zeta[i],
                                     .alpha = fluid_gamma[i] + fluid_zeta[i]};
        for (int d = 0; d < 3; d++)
            sub.force[d] = f->acceleration[d] + f->gradient[d];
        TRY(fluid_substage(ctx, f, &sub, held, rate));
    }
    /* What was missing of the force becomes part of the next step's. */
    for (int d = 0; d < 3; d++)
        f->gradient[d] += held[d];
    return 0;
}

int fluid_step(struct ctx *ctx, void *state, int look, int *stop)
{
    struct fluid *f = state;
    double dt = f->dt, rate = 0;
    (void)look; /* what is observed is computed where it is */
    f->step++;
    TRY(make_substages(ctx, f, dt, &rate));
    int status = check_finite(ctx, f, dt, rate);
    TRY(comm_step(ctx, status, stop, &rate));
    if (is_too_fast(f, dt, rate))
        return fluid_fail_too_fast(ctx, f, dt);
    f->rate = rate;
    f->last_dt = dt;
    f->time = isfinite(f->landing_on) ? f->landing_on : f->time + dt;
    fluid_choose_timestep(f);
    return fluid_statistics_step(ctx, f);
}
