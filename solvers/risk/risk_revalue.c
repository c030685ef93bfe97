/* risk_revalue.c: how each position is valued at the horizon, and its values.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/ctx.h"
#include "base/error.h"
#include "solvers/risk/risk_reval.h"
#include "solvers/risk/risk_var.h"

/* ---- which way ---- */

/* Linear, or known already: always in closed form. */
static int is_plain(const struct risk_position *p)
{
    return p->type == RISK_TYPE_FORWARD || risk_position_is_known(p);
}

static int choose(struct ctx *ctx, const struct risk *risk, int32_t i,
                  enum risk_reval_kind *kind)
{
    const struct risk_position *p = &risk->portfolio.positions[i];
    const struct risk_var *v = risk->var;
    const char *factor = risk->market.assets[p->factor[0]].name;
    *kind = RISK_REVAL_CLOSED;
    const int asked = v->revaluation == RISK_REVALUE_REGRESSED ||
                      v->revaluation == RISK_REVALUE_NESTED;
    if ((!asked || is_plain(p)) && risk_value_exists(risk, i, 0) &&
        risk_value_exists(risk, i, v->horizon))
        return 0;
    if (v->normal)
        return FAIL(ctx, STATUS_UNSUPPORTED,
                    "%s: type '%s' has no closed form at the horizon %g; "
                    "risk.var.returns = \"normal\" takes positions that have "
                    "one",
                    p->id, risk_type_name(p->type), v->horizon);
    *kind = RISK_REVAL_PAID;
    if (p->maturity <= v->horizon + RISK_SAME_DATE)
        return 0;
    if (v->revaluation == RISK_REVALUE_CLOSED)
        return FAIL(ctx, STATUS_UNSUPPORTED,
                    "%s: type '%s' has no closed form at the horizon %g with "
                    "the model of factor %s; let risk.var.revaluation be "
                    "\"auto\" or \"regressed\"",
                    p->id, risk_type_name(p->type), v->horizon, factor);
    *kind = v->revaluation == RISK_REVALUE_NESTED ? RISK_REVAL_NESTED
                                                  : RISK_REVAL_REGRESSED;
    if (*kind == RISK_REVAL_NESTED && risk_remembers(p, v->horizon))
        return FAIL(ctx, STATUS_UNSUPPORTED,
                    "%s: type '%s' remembers its path up to the horizon %g, "
                    "and nested simulation begins with the state alone; let "
                    "risk.var.revaluation be \"auto\" or \"regressed\"",
                    p->id, risk_type_name(p->type), v->horizon);
    return 0;
}

int risk_reval_check(struct ctx *ctx, const struct risk *risk)
{
    enum risk_reval_kind kind;
    for (int32_t i = 0; risk->var != NULL && i < risk->portfolio.n; i++)
        TRY(choose(ctx, risk, i, &kind));
    return 0;
}

/* ---- a run of the position alone ---- */

static struct risk alone(const struct risk *risk, struct risk_reval *r)
{
    struct risk sub = *risk;
    sub.portfolio = (struct risk_portfolio){.n = 1, .positions = &r->position};
    sub.antithetic = sub.control = sub.sobol = 0;
    sub.plan_memory = NULL;
    sub.continuation = NULL;
    sub.greeks = NULL;
    sub.more_dates = &r->horizon;
    sub.n_more_dates = 1;
    return sub;
}

/* The step that ends at t. */
static int32_t step_at(const struct risk_plan *p, double t)
{
    double end = 0, nearest = INFINITY;
    int32_t at = 0;
    for (int32_t k = 0; k < p->n_steps; k++) {
        end += p->step_length[k];
        if (fabs(end - t) < nearest) {
            nearest = fabs(end - t);
            at = k;
        }
    }
    return at;
}

/* A barrier's and an exercise's events up to the horizon decide who is alive
 * there; what comes later is valued for those who are. */
static int keep_events(struct ctx *ctx, struct risk_reval *r)
{
    const struct risk_plan *p = &r->sub.plan;
    r->events = calloc((size_t)p->n_events + 1, sizeof *r->events);
    r->lengths = calloc((size_t)p->n_steps + 1, sizeof *r->lengths);
    if (r->events == NULL || r->lengths == NULL)
        return FAIL(ctx, STATUS_MEMORY, "out of memory for revaluation");
    for (int64_t e = 0; e < p->n_events; e++) {
        enum risk_action a = p->events[e].action;
        int before =
            p->events[e].step <= r->at &&
            (a == RISK_KNOCK || a == RISK_KNOCK_BRIDGE || a == RISK_EXERCISE);
        if (!before)
            r->events[r->n_events++] = p->events[e];
    }
    for (int32_t k = 0; k < p->n_steps; k++)
        r->lengths[k] = p->step_length[k] * (k <= r->at ? RISK_STRETCH : 1);
    return 0;
}

/* When the price's rule exercises: rows by date. */
static void copy_rule(const struct risk *risk, int32_t position,
                      struct risk_reval *r)
{
    ptrdiff_t row = 0;
    for (int64_t e = 0; e < risk->plan.n_events; e++) {
        const struct risk_event *v = &risk->plan.events[e];
        if (v->instrument != position || v->action != RISK_EXERCISE)
            continue;
        memcpy(r->sub.continuation + RISK_BASIS_MAX * row++,
               risk->continuation + (ptrdiff_t)RISK_BASIS_MAX * v->row,
               RISK_BASIS_MAX * sizeof(double));
    }
}

/* The price that the run's paths gave; of a position that is there until its
 * maturity, whatever the path. */
static struct risk_number price_today(const struct risk *risk, int32_t position)
{
    const struct risk_position *p = &risk->portfolio.positions[position];
    const int may_end = p->type == RISK_TYPE_BARRIER ||
                        p->type == RISK_TYPE_BERMUDAN ||
                        p->type == RISK_TYPE_AMERICAN;
    const struct risk_number none = {0, 0};
    if (risk->prices == NULL || may_end)
        return none;
    const struct risk_number v = risk->prices[position].value;
    return isfinite(v.error) ? v : none;
}

/* ---- life ---- */

static int make_of(struct ctx *ctx, const struct risk *risk, int32_t position,
                   const struct risk_position *p, struct risk_reval *r)
{
    r->position = *p;
    r->position.quantity = 1;
    if (p->type == RISK_TYPE_BARRIER && p->barrier_in && p->knocked) {
        r->position.type = r->position.underlying = RISK_TYPE_EUROPEAN;
        r->position.knocked = 0;
        r->position.fixings = 1;
        r->position.continuous = 0;
        r->position.barrier = 0;
    }
    r->today = price_today(risk, position);
    r->horizon = risk->var->horizon;
    r->sub = alone(risk, r);
    TRY(choose(ctx, &r->sub, 0, &r->kind));
    const struct risk_curve *rate = &risk->market.assets[p->factor[0]].rate;
    r->discount = exp(-risk_curve_integral(rate, r->horizon));
    r->later = exp(-risk_curve_integral(rate, p->maturity)) / r->discount;
    if (r->kind == RISK_REVAL_CLOSED)
        return risk_value_make(ctx, &r->sub, 0, r->horizon, &r->closed);
    TRY(risk_plan_make(ctx, &r->sub));
    r->at = step_at(&r->sub.plan, r->horizon);
    r->last = step_at(&r->sub.plan, p->maturity);
    TRY(keep_events(ctx, r));
    copy_rule(risk, position, r);
    if (r->kind == RISK_REVAL_PAID || r->position.type != RISK_TYPE_BARRIER ||
        !r->position.barrier_in)
        return 0;
    struct risk_position in = r->position;
    in.knocked = 1;
    r->knocked = calloc(1, sizeof *r->knocked);
    if (r->knocked == NULL)
        return FAIL(ctx, STATUS_MEMORY, "out of memory for revaluation");
    return make_of(ctx, risk, position, &in, r->knocked);
}

int risk_reval_make(struct ctx *ctx, const struct risk *risk, int32_t position,
                    struct risk_reval *r)
{
    return make_of(ctx, risk, position, &risk->portfolio.positions[position],
                   r);
}

void risk_reval_free(struct risk_reval *r)
{
    if (r == NULL)
        return;
    risk_reval_free(r->knocked);
    free(r->knocked);
    free(r->events);
    free(r->lengths);
    risk_plan_free(&r->sub);
}

int risk_reval_fit(struct ctx *ctx, const struct risk *risk,
                   struct risk_reval *r)
{
    if (r->knocked != NULL)
        TRY(risk_reval_fit(ctx, risk, r->knocked));
    if (r->kind == RISK_REVAL_REGRESSED)
        TRY(risk_regress_fit(ctx, risk, r));
    return 0;
}

/* ---- values ---- */

static int alive_values(struct ctx *ctx, const struct risk *risk,
                        const struct risk_reval *r, const struct risk_watch *w,
                        const struct risk_memory *m, double *value)
{
    if (r->kind == RISK_REVAL_NESTED)
        return risk_nested_values(ctx, risk, r, w, m, value);
    risk_regress_values(r, w, m, value);
    /* Nothing here that is not linear is worth less than nothing. */
    for (int32_t j = 0; j < RISK_CHUNK; j++)
        value[j] = fmax(value[j], 0);
    return 0;
}

int risk_reval_values(struct ctx *ctx, const struct risk *risk,
                      const struct risk_reval *r, const struct risk_watch *w,
                      struct risk_memory *m, double *value)
{
    double in[RISK_CHUNK] __attribute__((aligned(64)));
    const double *spot =
        w->spot + (ptrdiff_t)(w->n - 1) * w->n_factors * RISK_CHUNK;
    if (r->kind == RISK_REVAL_CLOSED) {
        risk_value_paths(&r->closed, spot, RISK_CHUNK, RISK_CHUNK, value);
        return 0;
    }
    if (r->knocked != NULL)
        TRY(risk_reval_values(ctx, risk, r->knocked, w, m, in));
    risk_remember(r, w, m);
    if (r->kind == RISK_REVAL_PAID) {
        memcpy(value, m->paid, sizeof m->paid);
        return 0;
    }
    TRY(alive_values(ctx, risk, r, w, m, value));
    for (int32_t j = 0; j < RISK_CHUNK; j++)
        if (m->alive[j] == 0)
            value[j] = r->knocked != NULL ? in[j] : m->paid[j];
    return 0;
}

const char *risk_reval_method(const struct risk_reval *r)
{
    switch (r->kind) {
    case RISK_REVAL_PAID:
        return "paid by the horizon";
    case RISK_REVAL_REGRESSED:
        return "regressed";
    case RISK_REVAL_NESTED:
        return "nested";
    default:
        return "closed form";
    }
}
