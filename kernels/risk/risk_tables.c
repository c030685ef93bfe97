/* risk_tables.c: what every backend makes of a plan once a run. */
#include "kernels/risk/risk_tables.h"

#include <stdlib.h>
#include <string.h>

#include "kernels/risk/exact.h"

/* ---- constants of steps ---- */

/* Heston: Andersen (2008), quadratic-exponential, equal weights of the ends of
 * a step, critical ratio 1.5. K1 v0 is part of the martingale correction K0,
 * which is made path by path. */
static void heston_step(const struct risk_factor *f, double dt,
                        struct risk_step *s)
{
    double e = exact_exp(-f->kappa * dt);
    double xi2 = f->xi * f->xi;
    s->decay = e;
    s->theta = f->theta;
    s->half1 = 0.5 * xi2 * e / f->kappa * (1 - e);
    s->half2 = 0.5 * f->theta * xi2 / (2 * f->kappa) * (1 - e) * (1 - e);
    double half = 0.5 * dt;
    s->k2 = half * (f->kappa * f->rho / f->xi - 0.5) + f->rho / f->xi;
    s->k3 = half * (1 - f->rho * f->rho);
    s->a = s->k2 + 0.5 * s->k3;
}

double risk_mean_variance(const struct risk_factor *f, double t)
{
    if (f->model != RISK_HESTON)
        return f->volatility * f->volatility * t;
    return f->theta * t +
           (f->variance - f->theta) * (1 - exact_exp(-f->kappa * t)) / f->kappa;
}

/* A geometric Brownian motion of the mean variance in the step from `from` on,
 * whose driver is made of the model's own normals. */
static void twin_step(const struct risk_factor *f, double from, double drift,
                      struct risk_step *s)
{
    const double variance =
        risk_mean_variance(f, from + s->dt) - risk_mean_variance(f, from);
    const double deviation = __builtin_sqrt(variance > 0 ? variance : 0);
    s->twin_growth = drift - 0.5 * variance;
    s->twin_spot = deviation;
    if (f->model != RISK_HESTON)
        return;
    s->twin_spot = deviation * __builtin_sqrt(1 - f->rho * f->rho);
    s->twin_variance = deviation * f->rho;
}

/* Constants of a step of length dt, with `drift` the integral of rate minus
 * dividend over it. */
static void model_step(const struct risk_factor *f, double dt, double from,
                       double drift, struct risk_step *s)
{
    double v2 = f->volatility * f->volatility * dt;
    *s = (struct risk_step){.dt = dt, .growth = drift};
    twin_step(f, from, drift, s);
    if (f->model == RISK_HESTON) {
        heston_step(f, dt, s);
        return;
    }
    s->variance = v2;
    s->deviation = f->volatility * __builtin_sqrt(dt);
    s->growth = drift - 0.5 * v2;
    if (f->model == RISK_MERTON) {
        /* Compensated, so that the spot stays a martingale: E[J] - 1. */
        double jump = exact_exp(f->jump_mean +
                                0.5 * f->jump_volatility * f->jump_volatility);
        s->growth -= f->jump_rate * dt * (jump - 1);
        s->jump_chance = f->jump_rate * dt;
        s->jump_none = exact_exp(-s->jump_chance);
        s->jump_mean = f->jump_mean;
        s->jump_volatility = f->jump_volatility;
    }
}

/* ---- markets ---- */

static void *copy(const void *from, size_t n, size_t size, int *failed)
{
    void *to = calloc(n + 1, size);
    if (to == NULL)
        *failed = 1;
    else if (from != NULL && n > 0)
        memcpy(to, from, n * size);
    return to;
}

static int make_market(const struct risk_plan *p,
                       const struct risk_factor *factors, const double *drift,
                       const double *discount, const double *exercise,
                       const double *length, struct risk_market *m)
{
    const size_t nf = (size_t)p->n_factors;
    int failed = 0;
    m->factors = copy(factors, nf, sizeof *factors, &failed);
    m->discount =
        copy(discount, (size_t)p->n_instruments, sizeof *discount, &failed);
    m->exercise_discount =
        copy(exercise != NULL ? exercise : p->exercise_discount,
             (size_t)p->n_rows, sizeof *exercise, &failed);
    m->log_spot = copy(NULL, nf, sizeof *m->log_spot, &failed);
    m->steps = copy(NULL, nf * (size_t)p->n_steps, sizeof *m->steps, &failed);
    if (failed)
        return 1;
    for (int f = 0; f < p->n_factors; f++)
        m->log_spot[f] = exact_log(factors[f].spot);
    double from = 0;
    for (int32_t k = 0; k < p->n_steps; k++) {
        for (size_t f = 0; f < nf; f++)
            model_step(&factors[f], length[k], from, drift[(size_t)k * nf + f],
                       &m->steps[(size_t)k * nf + f]);
        from += length[k];
    }
    return 0;
}

static void free_market(struct risk_market *m)
{
    free((void *)m->factors);
    free((void *)m->discount);
    free((void *)m->exercise_discount);
    free(m->log_spot);
    free(m->steps);
}

/* Where spots are wanted, which factors need what beside their normals, and
 * where the events of each step begin. */
static void survey(struct risk_tables *t)
{
    const struct risk_plan *p = &t->plan;
    for (int f = 0; f < p->n_factors; f++) {
        t->extra[f] = t->bridge[f] = -1;
        if (p->factors[f].model == RISK_GBM)
            continue;
        t->extra[f] = t->n_extra;
        t->extra_factor[t->n_extra] = f;
        t->extra_purpose[t->n_extra++] =
            p->factors[f].model == RISK_HESTON ? RISK_VARIANCE : RISK_JUMP;
    }
    for (int64_t e = 0; e < p->n_events; e++) {
        const struct risk_event *v = &p->events[e];
        const struct risk_instrument *q = &p->instruments[v->instrument];
        t->event_begin[v->step + 1]++;
        if (risk_needs_bridge(v->action) && t->bridge[q->factor[0]] < 0) {
            t->bridge_factor[t->n_bridge] = q->factor[0];
            t->bridge[q->factor[0]] = t->n_bridge++;
        }
        if (risk_wants_twin(q))
            t->any_twin = t->twin[q->factor[0]] = 1;
        for (int l = 0; l < q->n_legs; l++)
            t->wants_spot[(ptrdiff_t)v->step * p->n_factors + q->factor[l]] |=
                v->action == RISK_PAY || v->action == RISK_EXERCISE ||
                v->action == RISK_SUM_SPOT || v->action == RISK_MAXIMUM ||
                v->action == RISK_MINIMUM;
    }
    for (int32_t k = 0; k < p->n_steps; k++)
        t->event_begin[k + 1] += t->event_begin[k];
}

static int copy_plan(struct risk_tables *t, const struct risk_plan *from)
{
    struct risk_plan *p = &t->plan;
    const size_t nf = (size_t)from->n_factors, ns = (size_t)from->n_steps;
    int failed = 0;
    *p = *from;
    p->factors = copy(from->factors, nf, sizeof *p->factors, &failed);
    p->root = from->root == NULL
                  ? NULL
                  : copy(from->root, nf * nf, sizeof *p->root, &failed);
    p->step_length =
        copy(from->step_length, ns, sizeof *p->step_length, &failed);
    p->drift = NULL; /* it went into the markets' steps */
    p->instruments = copy(from->instruments, (size_t)from->n_instruments,
                          sizeof *p->instruments, &failed);
    p->events =
        copy(from->events, (size_t)from->n_events, sizeof *p->events, &failed);
    p->continuation =
        copy(from->continuation, (size_t)from->n_rows * RISK_BASIS_MAX,
             sizeof *p->continuation, &failed);
    p->exercise_discount = NULL; /* the markets' */
    p->scenarios = NULL;
    t->event_begin = copy(NULL, ns + 1, sizeof *t->event_begin, &failed);
    t->wants_spot = copy(NULL, ns * nf, 1, &failed);
    t->extra = copy(NULL, nf, sizeof *t->extra, &failed);
    t->extra_factor = copy(NULL, nf, sizeof *t->extra_factor, &failed);
    t->extra_purpose = copy(NULL, nf, sizeof *t->extra_purpose, &failed);
    t->twin = copy(NULL, nf, sizeof *t->twin, &failed);
    t->bridge = copy(NULL, nf, sizeof *t->bridge, &failed);
    t->bridge_factor = copy(NULL, nf, sizeof *t->bridge_factor, &failed);
    t->scenarios =
        copy(NULL, (size_t)from->n_scenarios, sizeof *t->scenarios, &failed);
    return failed;
}

static int make_markets(struct risk_tables *t, const struct risk_plan *from)
{
    double *discount =
        calloc((size_t)from->n_instruments + 1, sizeof *discount);
    if (discount == NULL)
        return 1;
    for (int32_t q = 0; q < from->n_instruments; q++)
        discount[q] = from->instruments[q].discount;
    int failed = make_market(from, from->factors, from->drift, discount, NULL,
                             from->step_length, &t->base);
    for (int c = 0; c < from->n_scenarios && !failed; c++) {
        const struct risk_scenario *v = &from->scenarios[c];
        failed = make_market(
            from, v->factors, v->drift, v->discount, v->exercise_discount,
            v->step_length != NULL ? v->step_length : from->step_length,
            &t->scenarios[c]);
    }
    free(discount);
    return failed;
}

/* Sobol's drivers: the factors, then Heston's variances. */
static int make_sobol(struct risk_tables *t)
{
    int more = 0, failed = 0;
    t->sobol_extra =
        copy(NULL, (size_t)t->n_extra, sizeof *t->sobol_extra, &failed);
    if (!t->plan.sobol || failed)
        return failed;
    for (int e = 0; e < t->n_extra; e++)
        if (t->extra_purpose[e] == RISK_VARIANCE)
            t->sobol_extra[more++] = e;
    return risk_sobol_make(&t->sobol, t->plan.n_steps, t->plan.step_length,
                           t->plan.n_factors + more) ||
           risk_sobol_aim(&t->sobol, &t->plan);
}

int risk_tables_make(struct risk_tables *t, const struct risk_plan *plan)
{
    if (copy_plan(t, plan))
        return 1;
    survey(t);
    return make_markets(t, plan) || make_sobol(t);
}

void risk_tables_free(struct risk_tables *t)
{
    free_market(&t->base);
    for (int c = 0; t->scenarios != NULL && c < t->plan.n_scenarios; c++)
        free_market(&t->scenarios[c]);
    risk_sobol_free(&t->sobol);
    free(t->sobol_extra);
    free(t->scenarios);
    free((void *)t->plan.factors);
    free((void *)t->plan.root);
    free((void *)t->plan.step_length);
    free((void *)t->plan.instruments);
    free((void *)t->plan.events);
    free((void *)t->plan.continuation);
    free(t->event_begin);
    free(t->wants_spot);
    free(t->extra);
    free(t->extra_factor);
    free(t->extra_purpose);
    free(t->twin);
    free(t->bridge);
    free(t->bridge_factor);
}
