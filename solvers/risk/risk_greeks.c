/* risk_greeks.c: sensitivities from markets moved a little, on the same random
 * numbers.
 *
 * Each sensitivity is a central difference, path by path. Where the discounted
 * payoff is continuous along a path, the step is so small that the difference
 * is the pathwise derivative (Glasserman 2004, section 7.2). Where it jumps (a
 * digital option, a barrier watched on dates, early exercise) the step is a
 * hundredth, which trades a bias of its square for a finite variance (section
 * 7.1). Second derivatives always take the greater step. A pair of markets
 * costs two more walks of every path.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/ctx.h"
#include "base/error.h"
#include "solvers/risk/risk.h"

/* What is moved. */
enum bump_kind {
    BUMP_SPOT,
    BUMP_VOLATILITY,
    BUMP_RATE,
    BUMP_DIVIDEND,
    BUMP_TIME
};

/* Two moved markets: by -h and by +h of kind. */
struct bump {
    enum bump_kind kind;
    int factor; /* spot, volatility; -1: of all factors */
    int large;
    double h;
};

struct risk_greeks {
    int n_bumps;
    struct bump *bumps;
    struct risk_scenario *scenarios; /* [2 n_bumps] */
    double *memory;                  /* what they point to */
    struct risk_factor *factors;
    int64_t n_rows;
    struct risk_greek *rows;
};

/* ---- a market that is moved ---- */

/* Today's volatility: the root of the variance of Heston's model. */
static double volatility_of(const struct risk_factor *f)
{
    return f->model == RISK_HESTON ? sqrt(f->variance) : f->volatility;
}

static void move_volatility(struct risk_factor *f, double by)
{
    if (f->model != RISK_HESTON) {
        f->volatility += by;
        return;
    }
    double now = sqrt(f->variance) + by, later = sqrt(f->theta) + by;
    f->variance = now * now;
    f->theta = later * later;
}

static double step_of(const struct risk *risk, enum bump_kind kind, int factor,
                      int large)
{
    const double first =
        risk->plan.n_steps > 0 ? risk->plan.step_length[0] : 0.01;
    const struct risk_factor *f =
        factor >= 0 ? &risk->market.assets[factor].model : NULL;
    switch (kind) {
    case BUMP_SPOT:
        return f->spot * (large ? 1e-2 : 1e-6);
    case BUMP_VOLATILITY:
        return fmax(volatility_of(f), 0.05) * (large ? 1e-2 : 1e-6);
    case BUMP_TIME:
        return first * (large ? 1e-2 : 1e-6);
    default:
        return large ? 1e-3 : 1e-7;
    }
}

/* Integrals of rate and dividend from today, which may be moved on, to t. */
static double moved_integral(const struct risk_curve *c, double t, double now,
                             double by)
{
    double passed = now > 0 ? risk_curve_integral(c, now) : now * c->rates[0];
    return risk_curve_integral(c, t) - passed + by * (t - now);
}

struct shifts {
    double rate, dividend, now;
};

static struct shifts shifts_of(const struct bump *b, double by)
{
    return (struct shifts){.rate = b->kind == BUMP_RATE ? by : 0,
                           .dividend = b->kind == BUMP_DIVIDEND ? by : 0,
                           .now = b->kind == BUMP_TIME ? by : 0};
}

static double discount_to(const struct risk_asset *a, double t,
                          const struct shifts *s)
{
    return exp(-moved_integral(&a->rate, t, s->now, s->rate));
}

static double growth_to(const struct risk_asset *a, double t,
                        const struct shifts *s)
{
    return moved_integral(&a->rate, t, s->now, s->rate) -
           moved_integral(&a->dividend, t, s->now, s->dividend);
}

/* Where the arrays of one scenario lie. */
struct arrays {
    struct risk_factor *factors;
    double *drift, *discount, *exercise, *lengths;
};

static void move_steps(const struct risk *risk, const struct shifts *s,
                       const struct arrays *to)
{
    const size_t nf = (size_t)risk->market.n;
    double t = 0;
    for (int32_t k = 0; k < risk->plan.n_steps; k++) {
        double from = k == 0 ? s->now : t;
        t += risk->plan.step_length[k];
        to->lengths[k] = t - from;
        for (size_t f = 0; f < nf; f++) {
            const struct risk_asset *a = &risk->market.assets[f];
            to->drift[(size_t)k * nf + f] =
                growth_to(a, t, s) - (k == 0 ? 0 : growth_to(a, from, s));
        }
    }
}

static void move_discounts(const struct risk *risk, const struct shifts *s,
                           const struct arrays *to)
{
    const struct risk_plan *plan = &risk->plan;
    double t = 0;
    int32_t k = 0;
    for (int32_t i = 0; i < risk->portfolio.n; i++) {
        const struct risk_position *p = &risk->portfolio.positions[i];
        to->discount[i] =
            discount_to(&risk->market.assets[p->factor[0]], p->maturity, s);
    }
    for (int64_t e = 0; e < plan->n_events; e++) {
        const struct risk_event *v = &plan->events[e];
        for (; k <= v->step; k++)
            t += plan->step_length[k];
        if (v->action == RISK_EXERCISE)
            to->exercise[v->row] = discount_to(
                &risk->market.assets[risk->portfolio.positions[v->instrument]
                                         .factor[0]],
                t, s);
    }
}

static void move_market(const struct risk *risk, const struct bump *b,
                        double by, const struct arrays *to,
                        struct risk_scenario *out)
{
    const struct shifts s = shifts_of(b, by);
    for (int f = 0; f < risk->market.n; f++)
        to->factors[f] = risk->market.assets[f].model;
    if (b->kind == BUMP_SPOT)
        to->factors[b->factor].spot += by;
    if (b->kind == BUMP_VOLATILITY)
        move_volatility(&to->factors[b->factor], by);
    move_steps(risk, &s, to);
    move_discounts(risk, &s, to);
    *out = (struct risk_scenario){.factors = to->factors,
                                  .drift = to->drift,
                                  .discount = to->discount,
                                  .exercise_discount = to->exercise,
                                  .step_length = to->lengths};
}

/* ---- the list of moves ---- */

/* Whether a path's payoff jumps where the market moves smoothly. */
static int jumps(const struct risk_position *p)
{
    return p->type == RISK_TYPE_DIGITAL || p->type == RISK_TYPE_BERMUDAN ||
           p->type == RISK_TYPE_AMERICAN ||
           (p->type == RISK_TYPE_BARRIER && !p->continuous);
}

static void add_bump(const struct risk *risk, struct risk_greeks *g,
                     enum bump_kind kind, int factor, int large)
{
    g->bumps[g->n_bumps++] =
        (struct bump){kind, factor, large, step_of(risk, kind, factor, large)};
}

static void list_bumps(const struct risk *risk, struct risk_greeks *g)
{
    int any = 0;
    for (int32_t i = 0; i < risk->portfolio.n; i++)
        any |= jumps(&risk->portfolio.positions[i]);
    for (int f = 0; f < risk->market.n; f++)
        for (int large = 0; large < 2; large++) {
            add_bump(risk, g, BUMP_SPOT, f, large);
            if (!large || any)
                add_bump(risk, g, BUMP_VOLATILITY, f, large);
        }
    for (int large = 0; large <= any; large++)
        for (int kind = BUMP_RATE; kind <= BUMP_TIME; kind++)
            add_bump(risk, g, (enum bump_kind)kind, -1, large);
}

int risk_greeks_make(struct ctx *ctx, struct risk *risk)
{
    struct risk_greeks *g = calloc(1, sizeof *g);
    risk->greeks = g;
    if (g == NULL)
        return FAIL(ctx, STATUS_MEMORY, "out of memory for sensitivities");
    const size_t nf = (size_t)risk->market.n, most = 4 * nf + 6,
                 ns = (size_t)risk->plan.n_steps,
                 ni = (size_t)risk->portfolio.n,
                 each = ns * (nf + 1) + ni + (size_t)risk->plan.n_rows + 1;
    g->bumps = calloc(most, sizeof *g->bumps);
    g->scenarios = calloc(2 * most, sizeof *g->scenarios);
    g->rows = calloc((ni + 1) * (3 * nf + 3), sizeof *g->rows);
    if (g->bumps != NULL)
        list_bumps(risk, g);
    g->factors = calloc(2 * (size_t)g->n_bumps * nf + 1, sizeof *g->factors);
    g->memory = calloc(2 * (size_t)g->n_bumps * each + 1, sizeof *g->memory);
    if (g->bumps == NULL || g->scenarios == NULL || g->rows == NULL ||
        g->factors == NULL || g->memory == NULL)
        return FAIL(ctx, STATUS_MEMORY, "out of memory for sensitivities");
    for (size_t s = 0; s < 2 * (size_t)g->n_bumps; s++) {
        const struct bump *b = &g->bumps[s / 2];
        double *at = g->memory + s * each;
        struct arrays to = {.factors = g->factors + s * nf,
                            .drift = at,
                            .lengths = at + ns * nf,
                            .discount = at + ns * (nf + 1),
                            .exercise = at + ns * (nf + 1) + ni};
        move_market(risk, b, s % 2 ? b->h : -b->h, &to, &g->scenarios[s]);
    }
    risk->plan.n_scenarios = 2 * g->n_bumps;
    risk->plan.scenarios = g->scenarios;
    return 0;
}

void risk_greeks_free(struct risk *risk)
{
    struct risk_greeks *g = risk->greeks;
    if (g == NULL)
        return;
    free(g->bumps);
    free(g->scenarios);
    free(g->memory);
    free(g->factors);
    free(g->rows);
    free(g);
    risk->greeks = NULL;
}

/* ---- numbers ---- */

static int find_bump(const struct risk_greeks *g, enum bump_kind kind,
                     int factor, int large)
{
    for (int b = 0; b < g->n_bumps; b++)
        if (g->bumps[b].kind == kind && g->bumps[b].factor == factor &&
            g->bumps[b].large == large)
            return b;
    return -1;
}

/* A known value in the market moved by `by`. */
static double known_moved(const struct risk *risk, const struct bump *b,
                          double by, const struct risk_position *at)
{
    struct risk_position p = *at;
    struct risk_asset assets[RISK_LEGS_MAX];
    struct risk_market m = {.n = p.n_legs, .assets = assets};
    const struct shifts s = shifts_of(b, by);
    for (int l = 0; l < p.n_legs; l++) {
        assets[l] = risk->market.assets[p.factor[l]];
        if (b->kind == BUMP_SPOT && b->factor == p.factor[l])
            assets[l].model.spot += by;
        p.factor[l] = l;
    }
    double v = risk_known_value(&m, &p);
    if (p.maturity <= 0 || p.type == RISK_TYPE_STOCK)
        return v;
    /* A rebate to come: its discount is all that moves. */
    const struct shifts none = {0, 0, 0};
    return v / discount_to(&assets[0], p.maturity, &none) *
           discount_to(&assets[0], p.maturity, &s);
}

static struct risk_number first_of(const struct risk *risk, int b, int32_t i)
{
    const size_t n = (size_t)risk->portfolio.n + 1;
    const double h = risk->greeks->bumps[b].h;
    const struct risk_scenario_sums *s =
        &risk->scenario_sums[2 * (size_t)b * n + (size_t)i];
    struct risk_number d =
        risk_mean(s->difference, s->difference2, risk_samples_done(risk));
    return (struct risk_number){d.value / (2 * h), d.error / (2 * h)};
}

static struct risk_number second_of(const struct risk *risk, int b, int32_t i)
{
    const size_t n = (size_t)risk->portfolio.n + 1;
    const double h = risk->greeks->bumps[b].h;
    const struct risk_scenario_sums *s =
        &risk->scenario_sums[2 * (size_t)b * n + (size_t)i];
    struct risk_number d =
        risk_mean(s->second, s->second2, risk_samples_done(risk));
    return (struct risk_number){d.value / (h * h), d.error / (h * h)};
}

static const struct {
    const char *name;
    enum bump_kind kind;
    int second;
} kinds[] = {{"delta", BUMP_SPOT, 0},
             {"gamma", BUMP_SPOT, 1},
             {"vega", BUMP_VOLATILITY, 0},
             {"rho", BUMP_RATE, 0},
             {"dividend_rho", BUMP_DIVIDEND, 0},
             {"theta", BUMP_TIME, 0}};

static const char *method_of(enum bump_kind kind, int large)
{
    if (!large)
        return "pathwise, by a difference on the same path";
    return kind == BUMP_RATE || kind == BUMP_DIVIDEND
               ? "common random numbers, h = 0.1 % a year"
           : kind == BUMP_TIME ? "common random numbers, h = 1 % of a step"
                               : "common random numbers, h = 1 %";
}

static void known_row(const struct risk *risk, const struct bump *b, int second,
                      const struct risk_position *p, struct risk_greek *out)
{
    double low = known_moved(risk, b, -b->h, p),
           high = known_moved(risk, b, b->h, p);
    double middle = known_moved(risk, b, 0, p);
    out->unit = (struct risk_number){
        second ? ((high - middle) - (middle - low)) / (b->h * b->h)
               : (high - low) / (2 * b->h),
        0};
    out->method = "known value, by a difference";
}

static void add_row(struct risk *risk, int32_t i, size_t kind, int factor)
{
    struct risk_greeks *g = risk->greeks;
    const int whole = i == risk->portfolio.n;
    const struct risk_position *p =
        whole ? NULL : &risk->portfolio.positions[i];
    const int second = kinds[kind].second;
    int large = second;
    for (int32_t q = 0; whole && q < i; q++)
        large |= jumps(&risk->portfolio.positions[q]);
    if (!whole)
        large |= jumps(p);
    const int b = find_bump(g, kinds[kind].kind, factor, large);
    struct risk_greek *out = &g->rows[g->n_rows++];
    *out = (struct risk_greek){.position = i,
                               .factor = factor,
                               .name = kinds[kind].name,
                               .method = method_of(kinds[kind].kind, large)};
    if (!whole && risk_position_is_known(p))
        known_row(risk, &g->bumps[b], second, p, out);
    else
        out->unit = second ? second_of(risk, b, i) : first_of(risk, b, i);
    for (int32_t q = 0; whole && q < i; q++) {
        const struct risk_position *known = &risk->portfolio.positions[q];
        struct risk_greek more;
        if (!risk_position_is_known(known))
            continue;
        known_row(risk, &g->bumps[b], second, known, &more);
        out->unit.value += known->quantity * more.unit.value;
    }
}

static int depends_on(const struct risk_position *p, int factor)
{
    for (int l = 0; l < p->n_legs; l++)
        if (p->factor[l] == factor)
            return 1;
    return 0;
}

const struct risk_greek *risk_greeks_numbers(struct risk *risk, int64_t *n)
{
    struct risk_greeks *g = risk->greeks;
    g->n_rows = 0;
    for (int32_t i = 0; i <= risk->portfolio.n; i++) {
        for (int f = 0; f < risk->market.n; f++) {
            if (i < risk->portfolio.n &&
                !depends_on(&risk->portfolio.positions[i], f))
                continue;
            for (size_t k = 0; k < 3; k++)
                add_row(risk, i, k, f);
        }
        for (size_t k = 3; k < sizeof kinds / sizeof kinds[0]; k++)
            add_row(risk, i, k, -1);
    }
    *n = g->n_rows;
    return g->rows;
}
