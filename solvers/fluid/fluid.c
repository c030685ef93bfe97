/* fluid.c: incompressible flow. See docs/fluid.md for the equations. */
#include "fluid.h"

#include <math.h>
#include <stdlib.h>

#include "base/comm.h"
#include "base/ctx.h"
#include "base/error.h"
#include "base/log.h"
#include "base/timer.h"
#include "solvers/solver.h"

static void fluid_destroy(struct ctx *ctx, void *state)
{
    struct fluid *f = state;
    (void)ctx;
    if (!f)
        return;
    fluid_close(f);
    fluid_frame_free(f);
    fluid_statistics_free(f);
    for (int d = 0; d < 3; d++) {
        free(f->face[d]);
        free(f->center[d]);
    }
    free(f);
}

static void name_phases(struct ctx *ctx, struct fluid *f)
{
    f->phase_predict = timer_phase(ctx->timers, "predict");
    f->phase_halo = timer_phase(ctx->timers, "halo");
    f->phase_transform = timer_phase(ctx->timers, "transform");
    f->phase_columns = timer_phase(ctx->timers, "columns");
    f->phase_transpose = timer_phase(ctx->timers, "transpose");
    f->phase_correct = timer_phase(ctx->timers, "correct");
    f->phase_lines = timer_phase(ctx->timers, "diffusion");
    f->phase_statistics = timer_phase(ctx->timers, "statistics");
}

static int fluid_create(struct ctx *ctx, struct params *p, void **state)
{
    int status = 0;
    *state = NULL;
    struct fluid *f = calloc(1, sizeof *f);
    if (!f)
        status = FAIL(ctx, STATUS_MEMORY, "no memory for the solver");
    TRY_CLEANUP(comm_agree(ctx, status));
    TRY_CLEANUP(fluid_read_params(ctx, p, f));
    name_phases(ctx, f);
    fluid_observe_init(f);
    *state = f;
    return 0;
cleanup:
    fluid_destroy(ctx, f);
    return status;
}

/* What makes a run needlessly slow is said once. */
static void hint_diffusion(struct ctx *ctx, const struct fluid *f)
{
    double rate = fmax(f->rate, f->rate_walls);
    double flow = rate > 0 ? f->cfl / rate : 0;
    if (f->fixed_dt <= 0 && f->viscous_dt * 10 < flow)
        log_warn(ctx->log,
                 "explicit diffusion limits the time step to %.3g, the flow "
                 "alone to %.3g; fluid.diffusion = \"implicit\" may be faster",
                 f->viscous_dt, flow);
}

static int fluid_start(struct ctx *ctx, void *state)
{
    struct fluid *f = state;
    TRY(fluid_open(ctx, f, NULL));
    TRY(fluid_place(ctx, f));
    hint_diffusion(ctx, f);
    fluid_start_phases(f);
    return fluid_statistics_start(ctx, f);
}

/* ---- where the run stands ---- */

static int64_t fluid_step_number(const void *state)
{
    return ((const struct fluid *)state)->step;
}

static double fluid_time(const void *state)
{
    return ((const struct fluid *)state)->time;
}

static double fluid_timestep(const void *state)
{
    return ((const struct fluid *)state)->dt;
}

static int64_t fluid_steps_total(const void *state)
{
    const struct fluid *f = state;
    double by_time =
        f->fixed_dt > 0 ? ceil(f->end_time / f->fixed_dt - 1e-6) : INFINITY;
    if (isfinite(by_time) && (f->steps < 0 || by_time < (double)f->steps))
        return (int64_t)by_time;
    /* A run that adapts its step may come to its end time earlier. */
    return isfinite(f->end_time) && f->fixed_dt <= 0 ? -1 : f->steps;
}

static int fluid_done(const void *state)
{
    const struct fluid *f = state;
    return (f->steps >= 0 && f->step >= f->steps) || f->time >= f->end_time;
}

static const struct observable *fluid_observables(const void *state, int *n)
{
    const struct fluid *f = state;
    *n = f->n_observables;
    return f->observables;
}

static const char *fluid_time_unit(const void *state)
{
    return ((const struct fluid *)state)->unit_text[FLUID_TIME];
}

static const char *fluid_precision(const void *state)
{
    return ((const struct fluid *)state)->precision == PRECISION_SINGLE
               ? "single"
               : "double";
}

/* What a run may go on with in another way. */
static const char *const later_keys[] = {"fluid.end_time",
                                         "fluid.steps",
                                         "fluid.cfl",
                                         "fluid.timestep",
                                         "fluid.viscosity",
                                         "fluid.forcing.acceleration",
                                         "fluid.forcing.bulk_velocity",
                                         "fluid.statistics.start",
                                         "fluid.statistics.every",
                                         "fluid.statistics.spectra",
                                         "fluid.statistics.spectra_at",
                                         NULL};

const struct solver solver_fluid = {
    .name = "fluid",
    .title = "incompressible flow",
    .params = &fluid_param_table,
    .starter = "# The Taylor-Green vortex at Re = 1600: large vortices decay "
               "into small\n# ones, and dissipate. On a coarse grid.\n",
    .create = fluid_create,
    .estimate = fluid_estimate,
    .initial = fluid_start,
    .save = fluid_save,
    .restore = fluid_restore,
    .guard = fluid_guard,
    .later_keys = later_keys,
    .step = fluid_step,
    .step_number = fluid_step_number,
    .time = fluid_time,
    .timestep = fluid_timestep,
    .steps_total = fluid_steps_total,
    .done = fluid_done,
    .observables = fluid_observables,
    .observe = fluid_observe,
    .grid_frame = fluid_frame,
    .field_names = fluid_field_names,
    .grid_field = fluid_grid_field,
    .results = fluid_results,
    .totals = fluid_totals,
    .time_unit = fluid_time_unit,
    .precision = fluid_precision,
    .destroy = fluid_destroy,
    .bench = &fluid_bench,
};
