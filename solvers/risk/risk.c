/* risk.c: Monte Carlo valuation of a portfolio. See docs/risk.md for models,
 * estimators and conventions. */
#include "solvers/risk/risk.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/comm.h"
#include "base/ctx.h"
#include "base/error.h"
#include "base/log.h"
#include "base/timer.h"
#include "domain/field.h"
#include "domain/state.h"
#include "kernels/device.h"
#include "solvers/risk/risk_exposure.h"
#include "solvers/risk/risk_frontier.h"
#include "solvers/risk/risk_lp.h"
#include "solvers/risk/risk_reval.h"
#include "solvers/risk/risk_scenarios.h"
#include "solvers/risk/risk_var.h"
#include "solvers/solver.h"

static void risk_destroy(struct ctx *ctx, void *state)
{
    struct risk *r = state;
    (void)ctx;
    if (!r)
        return;
    if (r->store)
        r->k->destroy(r->store);
    risk_results_free(r);
    risk_greeks_free(r);
    risk_var_free(r);
    risk_frontier_free(r);
    risk_scenarios_free(r);
    risk_exposure_free(r);
    risk_plan_free(r);
    for (int i = 0; r->market.assets && i < r->market.n; i++) {
        free(r->market.assets[i].rate.times);
        free(r->market.assets[i].dividend.times);
    }
    free(r->market.assets);
    free(r->market.correlation);
    free(r->market.root);
    free(r->portfolio.positions);
    free(r->portfolio.slots);
    free(r->sums);
    free(r->scenario_sums);
    free(r->part);
    free(r->part_scenarios);
    free(r->prices);
    free(r);
}

static int risk_create(struct ctx *ctx, struct params *p, void **state)
{
    int status = 0;
    *state = NULL;
    struct risk *r = calloc(1, sizeof *r);
    if (!r)
        status = FAIL(ctx, STATUS_MEMORY, "no memory for the solver");
    TRY_CLEANUP(comm_agree(ctx, status));
    TRY_CLEANUP(risk_read_params(ctx, p, r));
    TRY_CLEANUP(comm_agree(ctx, risk_reval_check(ctx, r)));
    TRY_CLEANUP(comm_agree(ctx, risk_plan_make(ctx, r)));
    if (r->engines & RISK_ENGINE_GREEKS)
        TRY_CLEANUP(comm_agree(ctx, risk_greeks_make(ctx, r)));
    TRY_CLEANUP(comm_agree(ctx, risk_price_prepare(ctx, r)));
    r->phase_paths = timer_phase(ctx->timers, "paths");
    r->phase_join = timer_phase(ctx->timers, "sums");
    *state = r;
    return 0;
cleanup:
    risk_destroy(ctx, r);
    return status;
}

/* ---- what it will need ---- */

static double paths_per_sample(const struct risk *r)
{
    return r->antithetic ? 2 : 1;
}

static double paths_total(const struct risk *r)
{
    return (double)r->chunks_total * RISK_CHUNK * paths_per_sample(r);
}

static double paths_done(const struct risk *r)
{
    return (double)r->chunks_done * RISK_CHUNK * paths_per_sample(r);
}

/* Those of the run's device, or of the CPU where none is chosen yet. */
static const struct risk_kernels *kernels_of(const struct ctx *ctx)
{
    if (!ctx->device)
        return &risk_kernels_cpu;
    return ctx->device->risk ? ctx->device->risk(PRECISION_DOUBLE) : NULL;
}

/* Operations of a step of a path, about: random numbers, the model, payoffs. */
enum { FLOPS_STEP = 60 };

static double flops_of_batch(const struct risk *r)
{
    return (double)risk_batch_chunks(r) * RISK_CHUNK * paths_per_sample(r) *
           (double)r->plan.n_steps * r->market.n * FLOPS_STEP;
}

static int64_t risk_steps_total(const void *state)
{
    const struct risk *r = state;
    int64_t batch = risk_batch_chunks(r);
    return r->target_error > 0 ? -1 : (r->chunks_total + batch - 1) / batch;
}

static int risk_estimate(struct ctx *ctx, void *state, struct estimate *out)
{
    const struct risk *r = state;
    const struct risk_kernels *k = kernels_of(ctx);
    *out = (struct estimate){
        .items = (int64_t)paths_total(r),
        .decomposition = {comm_size(ctx->comm), 1, 1},
        .items_per_rank = paths_total(r) / comm_size(ctx->comm),
        .memory_per_rank = (k ? k->estimate(&r->plan) : 0) +
                           risk_var_bytes(r, comm_size(ctx->comm)) +
                           risk_exposure_bytes(r, comm_size(ctx->comm)) +
                           risk_frontier_bytes(r, comm_size(ctx->comm)),
        .steps = risk_steps_total(r),
        .end_time = paths_total(r),
        .work_per_step = flops_of_batch(r)};
    snprintf(out->problem, sizeof out->problem,
             "%" PRId64 " paths of %d steps, %d position%s", out->items,
             (int)r->plan.n_steps, (int)r->portfolio.n,
             (int)r->portfolio.n == 1 ? "" : "s");
    snprintf(out->memory_hint, sizeof out->memory_hint,
             "fewer dates (risk.factor.steps_per_year, risk.exposure.dates) or "
             "fewer positions in one deck (risk.portfolio.file)");
    return 0;
}

/* ---- the start ---- */

/* What is allowed, but better known. */
static void say_notes(struct ctx *ctx, const struct risk *r)
{
    for (int i = 0; i < r->market.n; i++) {
        const struct risk_asset *a = &r->market.assets[i];
        const struct risk_factor *f = &a->model;
        if (f->model == RISK_HESTON && 2 * f->kappa * f->theta < f->xi * f->xi)
            log_info(ctx->log,
                     "factor %s: Feller's condition does not hold (2 kappa "
                     "theta = %.4g < xi^2 = %.4g); its variance reaches 0",
                     a->name, 2 * f->kappa * f->theta, f->xi * f->xi);
    }
    if (r->market.repair_distance > 0)
        log_warn(ctx->log,
                 "the correlation matrix was not positive semi-definite; "
                 "repair = \"%s\" changed it by %.4g (Frobenius norm)",
                 r->market.repair, r->market.repair_distance);
    for (int32_t i = 0; i < r->portfolio.n; i++) {
        const struct risk_position *p = &r->portfolio.positions[i];
        if (p->knocked)
            log_warn(ctx->log,
                     "%s: the spot is beyond the barrier already: it is worth "
                     "%s",
                     p->id,
                     p->barrier_in ? "the option without a barrier"
                                   : "its rebate");
    }
}

static int open_store(struct ctx *ctx, struct risk *r)
{
    r->k = kernels_of(ctx);
    if (!r->k)
        return FAIL(ctx, STATUS_UNSUPPORTED,
                    "device '%s' has no Monte Carlo valuation; use device = "
                    "\"cpu\"",
                    ctx->device->name);
    return risk_price_begin(ctx, r);
}

static int risk_start(struct ctx *ctx, void *state)
{
    TRY(comm_agree(ctx, open_store(ctx, state)));
    say_notes(ctx, state);
    return 0;
}

/* ---- one step: a batch of paths ---- */

static double paths_per_batch(const struct risk *r)
{
    return (double)risk_batch_chunks(r) * RISK_CHUNK * paths_per_sample(r);
}

static void risk_progress(const void *state, char *text, size_t size)
{
    const struct risk *r = state;
    if (r->seconds > 0)
        snprintf(text, size, "%.3g M paths/s  error %.4g",
                 1e-6 * paths_per_batch(r) / r->seconds,
                 r->prices[r->portfolio.n].value.error);
}

static int risk_step(struct ctx *ctx, void *state, int look, int *stop)
{
    struct risk *r = state;
    double nothing = 0;
    const double begin = timer_now();
    (void)look;
    int status = risk_price_batch(ctx, r);
    r->step++;
    if (status == 0) {
        risk_price_numbers(r);
        r->seconds = timer_now() - begin;
    }
    return comm_step(ctx, status, stop, &nothing);
}

static int64_t risk_step_number(const void *state)
{
    return ((const struct risk *)state)->step;
}

static double risk_time(const void *state)
{
    return paths_done(state);
}

static double risk_timestep(const void *state)
{
    return paths_per_batch(state);
}

static int risk_done(const void *state)
{
    const struct risk *r = state;
    if (r->chunks_done >= r->chunks_total)
        return 1;
    return r->target_error > 0 && r->chunks_done > 0 &&
           r->prices[r->portfolio.n].value.error <= r->target_error;
}

/* ---- what is shown ---- */

static const struct observable observables[] = {
    {.name = "portfolio_value",
     .unit = "",
     .description = "value of the portfolio from the paths so far; 0 before "
                    "the first",
     .heading = "value",
     .decimals = 4},
    {.name = "standard_error",
     .unit = "",
     .description = "standard error of the portfolio's value; 0 before there "
                    "are two samples",
     .heading = "error",
     .decimals = 6}};

static const struct observable *risk_observables(const void *state, int *n)
{
    (void)state;
    *n = 2;
    return observables;
}

static int risk_observe(struct ctx *ctx, void *state, double *values)
{
    const struct risk *r = state;
    const struct risk_number *v = &r->prices[r->portfolio.n].value;
    (void)ctx;
    values[0] = r->chunks_done > 0 ? v->value : 0;
    values[1] = r->chunks_done > 0 && isfinite(v->error) ? v->error : 0;
    return 0;
}

static const char *risk_time_unit(const void *state)
{
    (void)state;
    return "paths";
}

static const char *risk_precision(const void *state)
{
    (void)state;
    return "double";
}

static int risk_totals(struct ctx *ctx, void *state, struct solver_totals *out)
{
    const struct risk *r = state;
    double steps = (double)(r->step - r->first_step);
    double per_step = r->step > 0 ? paths_done(r) / (double)r->step : 0;
    *out = (struct solver_totals){
        .item = "path",
        .items = per_step * (double)r->plan.n_steps,
        .extra_rate = per_step,
        .extra = "paths",
        .flops = steps * per_step * (double)r->plan.n_steps * r->market.n *
                 FLOPS_STEP,
        .memory = r->k ? r->k->estimate(&r->plan) : 0};
    double fit = r->fit_steps, most[2] = {out->memory, r->fit_seconds};
    TRY(comm_sum_double(ctx, &fit, 1));
    TRY(comm_max_double(ctx, most, 2));
    out->memory = most[0];
    if (most[1] > 0)
        snprintf(out->notes[0], sizeof(out->notes[0]),
                 "regressions for early exercise: %.1f million path-steps in "
                 "%.3f s, %.1f M/s",
                 1e-6 * fit, most[1], 1e-6 * fit / most[1]);
    return 0;
}

/* ---- checkpoints ---- */

enum {
    SUMS = sizeof(struct risk_sums) / sizeof(double),
    SCENARIO_SUMS = sizeof(struct risk_scenario_sums) / sizeof(double),
    COUNTS = 3
};

static int move_state(struct ctx *ctx, struct risk *r, struct state_io *io,
                      int64_t *counts, int out)
{
    const int64_t n = r->portfolio.n + 1;
    struct state_array arrays[] = {
        state_shared("risk/counts", STATE_INT64, COUNTS, counts),
        state_shared("risk/sums", STATE_DOUBLE, n * SUMS, r->sums),
        state_shared("risk/scenario_sums", STATE_DOUBLE,
                     n * SCENARIO_SUMS * r->plan.n_scenarios, r->scenario_sums),
        state_shared("risk/part", STATE_DOUBLE, n * SUMS, r->part),
        state_shared("risk/part_scenarios", STATE_DOUBLE,
                     n * SCENARIO_SUMS * r->plan.n_scenarios,
                     r->part_scenarios)};
    for (int i = 0; i < (r->sobol ? 5 : 3); i++)
        TRY(out ? state_put(ctx, io, &arrays[i])
                : state_get(ctx, io, &arrays[i]));
    return 0;
}

static int risk_save(struct ctx *ctx, void *state, struct state_io *io)
{
    struct risk *r = state;
    int64_t counts[COUNTS] = {r->step, r->chunks_done,
                              r->plan.replicate_chunks};
    TRY(risk_files_save(ctx, r, io));
    return move_state(ctx, r, io, counts, 1);
}

static int risk_restore(struct ctx *ctx, void *state, struct state_io *io)
{
    struct risk *r = state;
    int64_t counts[COUNTS] = {0};
    TRY(risk_start(ctx, r));
    TRY(risk_files_check(ctx, r, io));
    TRY(move_state(ctx, r, io, counts, 0));
    if (counts[2] != r->plan.replicate_chunks)
        return FAIL(ctx, STATUS_INPUT,
                    "Sobol's replicates have another length than at the "
                    "checkpoint: go on with the same number of paths");
    r->step = r->first_step = counts[0];
    r->chunks_done = counts[1];
    if (r->chunks_done > 0)
        risk_price_numbers(r);
    return 0;
}

static const char *const later_keys[] = {"risk.paths", "risk.batches",
                                         "risk.target_error", NULL};

/* For `info`. */
static void risk_library(char *text, size_t size)
{
    const char *version = risk_lp_version();
    snprintf(text, size, "%s%s", version != NULL ? "GLPK " : "without GLPK",
             version != NULL ? version : "");
}

const struct solver solver_risk = {
    .name = "risk",
    .title = "Monte Carlo risk",
    .params = &risk_param_table,
    .starter = "# A European call on one factor, with its standard error.\n",
    .create = risk_create,
    .estimate = risk_estimate,
    .initial = risk_start,
    .save = risk_save,
    .restore = risk_restore,
    .later_keys = later_keys,
    .step = risk_step,
    .step_number = risk_step_number,
    .time = risk_time,
    .timestep = risk_timestep,
    .steps_total = risk_steps_total,
    .done = risk_done,
    .observables = risk_observables,
    .observe = risk_observe,
    .results = risk_results,
    .totals = risk_totals,
    .progress = risk_progress,
    .time_unit = risk_time_unit,
    .precision = risk_precision,
    .destroy = risk_destroy,
    .bench = &risk_bench,
    .library = risk_library,
};
