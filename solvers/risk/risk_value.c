/* risk_value.c: positions as they are seen from a later date. */
#include <math.h>

#include "base/ctx.h"
#include "base/error.h"
#include "solvers/risk/risk.h"
#include "solvers/risk/risk_var.h"

static double between(const struct risk_curve *c, double from, double to)
{
    return risk_curve_integral(c, to) - risk_curve_integral(c, from);
}

/* The average of a geometric Asian option whose dates all lie ahead is
 * lognormal: its variance, and its forward as a growth of the spot. */
static void average(const struct risk_asset *a, const struct risk_position *p,
                    double t, struct risk_valuation *v)
{
    const double n = (double)p->fixings,
                 v2 = a->model.volatility * a->model.volatility;
    double mean = 0, variance = 0, years = 0;
    for (int64_t i = 1; i <= p->fixings; i++) {
        double at = p->maturity * (double)i / n;
        mean += between(&a->rate, t, at) - between(&a->dividend, t, at);
        variance += (at - t) * (2 * (n - (double)i) + 1);
        years += at - t;
    }
    v->variance = variance * v2 / (n * n);
    v->carry[0] = mean / n - 0.5 * v2 * years / n + 0.5 * v->variance;
}

/* Options on one factor's end. Returns whether there is a closed form. */
static int on_one(const struct risk_asset *a, struct risk_valuation *v,
                  double years)
{
    if (a->model.model == RISK_HESTON)
        return 0;
    v->variance = a->model.volatility * a->model.volatility * years;
    if (a->model.model == RISK_MERTON) {
        v->jumps = a->model.jump_rate * years;
        v->jump_mean = a->model.jump_mean;
        v->jump_volatility = a->model.jump_volatility;
    }
    return v->strike > 0;
}

static int on_two(const struct risk_market *m, const struct risk_position *p,
                  struct risk_valuation *v, double t)
{
    const struct risk_asset *a = &m->assets[p->factor[0]],
                            *b = &m->assets[p->factor[1]];
    const double rho = m->correlation[p->factor[0] * m->n + p->factor[1]],
                 s = a->model.volatility, u = b->model.volatility;
    v->carry[1] = between(&b->rate, t, p->maturity) -
                  between(&b->dividend, t, p->maturity);
    v->variance = fmax(s * s + u * u - 2 * rho * s * u, 0) * (p->maturity - t);
    return a->model.model == RISK_GBM && b->model.model == RISK_GBM;
}

static int fill(const struct risk_market *m, const struct risk_position *p,
                double t, struct risk_valuation *v)
{
    const struct risk_asset *a = &m->assets[p->factor[0]];
    switch (p->type) {
    case RISK_TYPE_STOCK:
        v->kind = RISK_VALUE_SPOT;
        return 1;
    case RISK_TYPE_FORWARD:
        v->kind = RISK_VALUE_FORWARD;
        return 1;
    case RISK_TYPE_BARRIER:
        v->kind = p->barrier_in ? RISK_VALUE_EUROPEAN : RISK_VALUE_CASH;
        v->cash = p->rebate;
        return p->knocked && (!p->barrier_in || on_one(a, v, p->maturity - t));
    case RISK_TYPE_EUROPEAN:
    case RISK_TYPE_DIGITAL:
        v->kind = p->type == RISK_TYPE_DIGITAL ? RISK_VALUE_DIGITAL
                                               : RISK_VALUE_EUROPEAN;
        return on_one(a, v, p->maturity - t);
    case RISK_TYPE_ASIAN_GEOMETRIC:
        v->kind = RISK_VALUE_EUROPEAN;
        average(a, p, t, v);
        return a->model.model == RISK_GBM && p->strike > 0 &&
               t <= p->maturity / (double)p->fixings;
    case RISK_TYPE_EXCHANGE:
        v->kind = RISK_VALUE_EXCHANGE;
        return on_two(m, p, v, t);
    default:
        return 0;
    }
}

/* The valuation; 0 where there is none in closed form. */
static int make(const struct risk *risk, int32_t position, double t,
                struct risk_valuation *v)
{
    const struct risk_market *m = &risk->market;
    const struct risk_position *p = &risk->portfolio.positions[position];
    const struct risk_asset *a = &m->assets[p->factor[0]];
    *v = (struct risk_valuation){
        .side = p->side, .strike = p->strike, .cash = p->cash, .discount = 1};
    for (int l = 0; l < p->n_legs && l < 2; l++)
        v->leg[l] = p->factor[l];
    if (p->type != RISK_TYPE_STOCK && p->maturity < t) {
        v->kind = RISK_VALUE_CASH;
        v->cash = risk_known_value(m, p);
        return p->maturity <= 0;
    }
    if (p->type != RISK_TYPE_STOCK) {
        v->discount = exp(-between(&a->rate, t, p->maturity));
        v->carry[0] = between(&a->rate, t, p->maturity) -
                      between(&a->dividend, t, p->maturity);
    }
    return fill(m, p, t, v);
}

int risk_value_exists(const struct risk *risk, int32_t position, double t)
{
    struct risk_valuation v;
    return make(risk, position, t, &v);
}

int risk_value_make(struct ctx *ctx, const struct risk *risk, int32_t position,
                    double t, struct risk_valuation *v)
{
    const struct risk_position *p = &risk->portfolio.positions[position];
    if (!make(risk, position, t, v))
        return FAIL(ctx, STATUS_UNSUPPORTED,
                    "%s: a position of type %s has no closed form, seen from "
                    "%g years ahead, with the model of factor %s",
                    p->id, risk_type_name(p->type), t,
                    risk->market.assets[p->factor[0]].name);
    return 0;
}
