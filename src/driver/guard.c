#include "driver/guard.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/comm.h"
#include "base/ctx.h"
#include "base/error.h"
#include "base/param.h"
#include "base/timer.h"
#include "domain/field.h"
#include "domain/state.h"
#include "driver/job.h"

static int find_observable(const struct job *job, const char *name)
{
    int n = 0;
    const struct observable *o = job->solver->observables(job->state, &n);
    for (int i = 0; i < n; i++)
        if (strcmp(o[i].name, name) == 0)
            return i;
    return -1;
}

/* The observable that a bound of the deck is about, or -1 without one. */
static int bound_on(const struct job *job, const char *key, const char *first,
                    const char *second)
{
    if (!params_is_set(job->params, "guard", key))
        return -1;
    int i = find_observable(job, first);
    if (i < 0)
        i = find_observable(job, second);
    if (i < 0)
        params_error(job->params, "guard", key, "solver %s observes no %s",
                     job->solver->name, second);
    return i;
}

static int energy_of(const struct job *job)
{
    return bound_on(job, "energy_drift", "conserved_energy", "total_energy");
}

/* Keys of [guard], each the name of an observable, too. */
static const char *const bounded[GUARD_BOUNDS] = {"temperature", "divergence"};

static int bounded_of(const struct job *job, int b)
{
    return bound_on(job, bounded[b], bounded[b], bounded[b]);
}

void guard_check_deck(const struct job *job)
{
    energy_of(job);
    for (int b = 0; b < GUARD_BOUNDS; b++)
        bounded_of(job, b);
}

int guard_open(struct ctx *ctx, struct job *job, struct guard *out)
{
    int n = 0;
    *out = (struct guard){.job = job, .checked = -1};
    out->every = params_int(job->params, "guard", "every");
    out->phase = timer_phase(ctx->timers, "guard");
    out->energy = energy_of(job);
    if (out->energy >= 0)
        out->drift = params_double(job->params, "guard", "energy_drift");
    for (int b = 0; b < GUARD_BOUNDS; b++) {
        out->above[b] = bounded_of(job, b);
        if (out->above[b] >= 0)
            out->most[b] = params_double(job->params, "guard", bounded[b]);
    }
    job->solver->observables(job->state, &n);
    out->values = calloc((size_t)n + 1, sizeof(double));
    return comm_agree(ctx, out->values != NULL
                               ? 0
                               : FAIL(ctx, STATUS_MEMORY, "out of memory"));
}

void guard_free(struct guard *g)
{
    free(g->values);
    *g = (struct guard){.checked = -1};
}

int guard_due(const struct guard *g)
{
    int64_t step = g->job->solver->step_number(g->job->state) + 1;
    return g->every > 0 && step % g->every == 0;
}

int guard_looks(const struct guard *g)
{
    int looks = g->energy >= 0;
    for (int b = 0; b < GUARD_BOUNDS; b++)
        looks = looks || g->above[b] >= 0;
    return looks;
}

int guard_check(struct ctx *ctx, struct guard *g)
{
    const struct solver *s = g->job->solver;
    int64_t step = s->step_number(g->job->state);
    if (g->checked == step || s->guard == NULL)
        return 0;
    timer_begin(ctx->timers, g->phase);
    int status = s->guard(ctx, g->job->state);
    timer_end(ctx->timers, g->phase);
    if (status == 0)
        g->checked = step;
    return status;
}

static int check_bounds(struct ctx *ctx, const struct guard *g)
{
    const struct job *job = g->job;
    TRY(job_observe(ctx, job, g->values));
    for (int b = 0; b < GUARD_BOUNDS; b++)
        if (g->above[b] >= 0 && !(g->values[g->above[b]] <= g->most[b]))
            return FAIL(ctx, STATUS_PHYSICS,
                        "step %" PRId64 ": the %s is %g, above guard.%s = %g",
                        job->solver->step_number(job->state), bounded[b],
                        g->values[g->above[b]], bounded[b], g->most[b]);
    return 0;
}

static int check_energy(struct ctx *ctx, struct guard *g)
{
    double now = g->values[g->energy];
    double items = (double)g->job->plan.items;
    if (!g->has_start) {
        g->start = now;
        g->has_start = 1;
    }
    double drift = (now - g->start) / (items > 0 ? items : 1);
    if (fabs(drift) <= g->drift)
        return 0;
    return FAIL(ctx, STATUS_PHYSICS,
                "step %" PRId64 ": the energy has drifted by %g for each of "
                "%.0f, more than guard.energy_drift = %g; the timestep is "
                "probably too large",
                g->job->solver->step_number(g->job->state), drift, items,
                g->drift);
}

int guard_check_all(struct ctx *ctx, struct guard *g)
{
    TRY(guard_check(ctx, g));
    if (!guard_looks(g))
        return 0;
    timer_begin(ctx->timers, g->phase);
    int status = check_bounds(ctx, g);
    timer_end(ctx->timers, g->phase);
    TRY(status);
    return g->energy >= 0 ? check_energy(ctx, g) : 0;
}

int guard_save(struct ctx *ctx, const struct guard *g, struct state_io *io)
{
    double start[2] = {g->has_start, g->start};
    struct state_array array =
        state_shared("driver/energy_start", STATE_DOUBLE, 2, start);
    return state_put(ctx, io, &array);
}

int guard_restore(struct ctx *ctx, struct guard *g, struct state_io *io)
{
    double start[2];
    struct state_array array =
        state_shared("driver/energy_start", STATE_DOUBLE, 2, start);
    TRY(state_get(ctx, io, &array));
    g->has_start = start[0] > 0;
    g->start = start[1];
    return 0;
}
