/* risk_nested.c: values at the horizon by a simulation from each state.
 *
 * GROUP states are the moved markets of one run, so that they share their
 * random numbers: the error of their values is nearly the same for all, and
 * hardly disturbs their order.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/ctx.h"
#include "base/error.h"
#include "solvers/risk/risk_reval.h"
#include "solvers/risk/risk_var.h"

enum { GROUP = 64 };

/* Paths of no other purpose. */
static const int64_t first_chunk =
    (int64_t)(RISK_REGRESSION_PATH / RISK_CHUNK) + (1 << 21);

struct nest {
    struct risk_plan plan; /* from the horizon on */
    struct risk_instrument instrument;
    struct risk_event *events;
    double *exercise;
    struct risk_factor *factors; /* [GROUP][n_factors] */
    struct risk_scenario scenarios[GROUP];
    int64_t chunks; /* of each run */
    struct risk_chunk *out;
    struct risk_sums *sums;
    struct risk_scenario_sums *moved;
};

static void nest_free(struct nest *n)
{
    free(n->events);
    free(n->exercise);
    free(n->factors);
    free(n->out);
    free(n->sums);
    free(n->moved);
}

/* The plan of the position's own run, without what is before the horizon. */
static void cut(const struct risk_reval *r, struct nest *n)
{
    const struct risk_plan *whole = &r->sub.plan;
    const int32_t first = r->at + 1;
    n->plan = *whole;
    n->plan.antithetic = 1;
    n->plan.n_steps = whole->n_steps - first;
    n->plan.step_length = whole->step_length + first;
    n->plan.drift = whole->drift + (ptrdiff_t)first * whole->n_factors;
    n->instrument = whole->instruments[0];
    n->instrument.discount /= r->discount;
    n->plan.instruments = &n->instrument;
    n->plan.n_events = 0;
    for (int64_t e = 0; e < r->n_events; e++)
        if (r->events[e].step >= first) {
            struct risk_event *to = &n->events[n->plan.n_events++];
            *to = r->events[e];
            to->step -= first;
        }
    n->plan.events = n->events;
    for (int32_t i = 0; i < whole->n_rows; i++)
        n->exercise[i] = whole->exercise_discount[i] / r->discount;
    n->plan.exercise_discount = n->exercise;
    n->plan.n_scenarios = GROUP;
    n->plan.scenarios = n->scenarios;
}

static int nest_make(struct ctx *ctx, const struct risk *risk,
                     const struct risk_reval *r, struct nest *n)
{
    const size_t nf = (size_t)risk->market.n;
    n->chunks =
        (risk->var->inner_paths + 2 * RISK_CHUNK - 1) / (2 * RISK_CHUNK);
    const size_t chunks = (size_t)n->chunks;
    n->events = calloc((size_t)r->n_events + 1, sizeof *n->events);
    n->exercise = calloc((size_t)r->sub.plan.n_rows + 1, sizeof(double));
    n->factors = calloc(GROUP * nf, sizeof *n->factors);
    n->out = calloc(chunks, sizeof *n->out);
    n->sums = calloc(2 * chunks, sizeof *n->sums);
    n->moved = calloc(chunks * GROUP * 2, sizeof *n->moved);
    if (n->events == NULL || n->exercise == NULL || n->factors == NULL ||
        n->out == NULL || n->sums == NULL || n->moved == NULL)
        return FAIL(ctx, STATUS_MEMORY, "out of memory for nested paths");
    cut(r, n);
    for (size_t c = 0; c < chunks; c++)
        n->out[c] = (struct risk_chunk){.sums = n->sums + 2 * c,
                                        .scenarios = n->moved + 2 * GROUP * c};
    for (size_t g = 0; g < GROUP; g++)
        n->scenarios[g] =
            (struct risk_scenario){.factors = n->factors + g * nf,
                                   .drift = n->plan.drift,
                                   .discount = &n->instrument.discount,
                                   .exercise_discount = n->exercise,
                                   .step_length = n->plan.step_length};
    return 0;
}

/* The markets of states j ... j + GROUP - 1. */
static void move_markets(const struct risk *risk, const struct risk_watch *w,
                         int32_t j, struct nest *n)
{
    const int nf = risk->market.n;
    for (int g = 0; g < GROUP; g++)
        for (int f = 0; f < nf; f++) {
            const ptrdiff_t at =
                ((ptrdiff_t)(w->n - 1) * nf + f) * RISK_CHUNK + j + g;
            struct risk_factor *to = &n->factors[g * nf + f];
            *to = risk->market.assets[f].model;
            to->spot = w->spot[at];
            if (to->model == RISK_HESTON)
                to->variance = w->variance[at];
        }
}

static int run_group(struct ctx *ctx, const struct risk_kernels *k,
                     struct nest *n, int64_t first, double *value)
{
    struct risk_store *store = NULL;
    TRY(k->create(ctx, &n->plan, &store));
    int status = k->run(ctx, store, first, n->chunks, n->out);
    k->destroy(store);
    for (int g = 0; status == 0 && g < GROUP; g++) {
        double sum = 0;
        for (int64_t c = 0; c < n->chunks; c++)
            sum += n->out[c].scenarios[2 * g].y;
        value[g] = sum / ((double)n->chunks * RISK_CHUNK);
    }
    return status;
}

int risk_nested_values(struct ctx *ctx, const struct risk *risk,
                       const struct risk_reval *r, const struct risk_watch *w,
                       const struct risk_memory *m, double *value)
{
    struct nest n = {0};
    int status = nest_make(ctx, risk, r, &n);
    for (int32_t j = 0; status == 0 && j < RISK_CHUNK; j += GROUP) {
        int any = 0;
        for (int g = 0; g < GROUP; g++)
            any |= m->alive[j + g] != 0;
        if (!any)
            continue;
        move_markets(risk, w, j, &n);
        status = run_group(
            ctx, risk->k, &n,
            first_chunk + ((int64_t)w->path + j) / GROUP * n.chunks, value + j);
    }
    nest_free(&n);
    return status;
}
