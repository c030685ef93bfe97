/* risk_plan.c: positions become dates, steps and events.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/ctx.h"
#include "base/error.h"
#include "solvers/risk/risk.h"

/* Dates nearer than this are one date: a millionth of a second, in years. */
#define SAME_DATE 3e-14

/* What risk_plan_make() allocates. */
struct plan_memory {
    double *dates; /* ends of steps, rising */
    double *lengths, *drift;
    struct risk_factor *factors;
    struct risk_instrument *instruments;
    struct risk_event *events;
    double *continuation, *exercise_discount; /* rows of RISK_EXERCISE */
    size_t n_dates, room_dates, room_events;
};

/* ---- dates ---- */

static int add_date(struct ctx *ctx, struct plan_memory *m, double t)
{
    if (m->n_dates == m->room_dates) {
        size_t room = 2 * m->room_dates + 64;
        double *more = realloc(m->dates, room * sizeof *more);
        if (more == NULL)
            return FAIL(ctx, STATUS_MEMORY, "out of memory for dates");
        m->dates = more;
        m->room_dates = room;
    }
    m->dates[m->n_dates++] = t;
    return 0;
}

/* Date i of n equal ones up to maturity; the last is maturity itself. */
double risk_equal_date(double maturity, int64_t i, int64_t n)
{
    return i == n ? maturity : maturity * (double)i / (double)n;
}

static int64_t looks(const struct risk_position *p)
{
    switch (p->type) {
    case RISK_TYPE_ASIAN_ARITHMETIC:
    case RISK_TYPE_ASIAN_GEOMETRIC:
    case RISK_TYPE_BARRIER:
    case RISK_TYPE_LOOKBACK_FIXED:
    case RISK_TYPE_LOOKBACK_FLOATING:
        return p->fixings;
    case RISK_TYPE_BERMUDAN:
    case RISK_TYPE_AMERICAN:
        return p->exercises;
    default:
        return 1;
    }
}

static int rising(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static int collect_dates(struct ctx *ctx, const struct risk *risk,
                         struct plan_memory *m)
{
    for (int32_t i = 0; i < risk->portfolio.n; i++) {
        const struct risk_position *p = &risk->portfolio.positions[i];
        if (risk_position_is_known(p))
            continue;
        int64_t n = looks(p);
        for (int64_t k = 1; k <= n; k++)
            TRY(add_date(ctx, m, risk_equal_date(p->maturity, k, n)));
    }
    for (int k = 0; k < risk->n_more_dates; k++)
        TRY(add_date(ctx, m, risk->more_dates[k]));
    if (m->n_dates > 1)
        qsort(m->dates, m->n_dates, sizeof *m->dates, rising);
    size_t kept = 0;
    for (size_t i = 0; i < m->n_dates; i++)
        if (kept == 0 || m->dates[i] - m->dates[kept - 1] > SAME_DATE)
            m->dates[kept++] = m->dates[i];
    m->n_dates = kept;
    return 0;
}

/* More dates, so that no step is longer than the models want. */
static int refine(struct ctx *ctx, const struct risk *risk,
                  struct plan_memory *m)
{
    const double finest = risk->market.steps_per_year;
    const size_t n = m->n_dates;
    double from = 0;
    if (finest <= 0)
        return 0;
    for (size_t i = 0; i < n; i++) {
        double to = m->dates[i];
        double pieces = ceil((to - from) * finest - 1e-9);
        for (int64_t k = 1; k < (int64_t)pieces; k++)
            TRY(add_date(ctx, m, from + (to - from) * (double)k / pieces));
        from = to;
    }
    qsort(m->dates, m->n_dates, sizeof *m->dates, rising);
    return 0;
}

/* The step that ends at t. */
static int32_t step_of(const struct plan_memory *m, double t)
{
    size_t low = 0, high = m->n_dates;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (m->dates[middle] < t - SAME_DATE)
            low = middle + 1;
        else
            high = middle;
    }
    return (int32_t)low;
}

/* ---- events ---- */

static int add_event(struct ctx *ctx, struct risk *risk, struct plan_memory *m,
                     double t, int32_t instrument, enum risk_action action)
{
    if ((size_t)risk->plan.n_events == m->room_events) {
        size_t room = 2 * m->room_events + 256;
        struct risk_event *more = realloc(m->events, room * sizeof *more);
        if (more == NULL)
            return FAIL(ctx, STATUS_MEMORY, "out of memory for events");
        m->events = more;
        m->room_events = room;
    }
    m->events[risk->plan.n_events++] = (struct risk_event){
        .step = step_of(m, t),
        .instrument = instrument,
        .action = action,
        .row = action == RISK_EXERCISE ? risk->plan.n_rows : 0};
    return 0;
}

static int may_exercise(const struct risk_position *p)
{
    return p->type == RISK_TYPE_BERMUDAN || p->type == RISK_TYPE_AMERICAN;
}

/* A row of continuation values for each date of early exercise. */
static int add_exercises(struct ctx *ctx, struct risk *risk,
                         struct plan_memory *m, int32_t i)
{
    const struct risk_position *p = &risk->portfolio.positions[i];
    const struct risk_curve *rate = &risk->market.assets[p->factor[0]].rate;
    for (int64_t k = 1; k <= looks(p); k++) {
        double t = risk_equal_date(p->maturity, k, looks(p));
        m->exercise_discount[risk->plan.n_rows] =
            exp(-risk_curve_integral(rate, t));
        TRY(add_event(ctx, risk, m, t, i, RISK_EXERCISE));
        risk->plan.n_rows++;
    }
    return 0;
}

/* What a position does at each of its dates beside paying at the last; -1:
 * nothing. */
static int looking(const struct risk_position *p)
{
    const int greatest = p->side > 0;
    switch (p->type) {
    case RISK_TYPE_ASIAN_ARITHMETIC:
        return RISK_SUM_SPOT;
    case RISK_TYPE_ASIAN_GEOMETRIC:
        return RISK_SUM_LOG;
    case RISK_TYPE_BARRIER:
        return p->continuous ? RISK_KNOCK_BRIDGE : RISK_KNOCK;
    case RISK_TYPE_LOOKBACK_FIXED:
    case RISK_TYPE_LOOKBACK_FLOATING: {
        /* A floating call buys at the least price. */
        int up = p->type == RISK_TYPE_LOOKBACK_FIXED ? greatest : !greatest;
        if (p->continuous)
            return up ? RISK_MAXIMUM_BRIDGE : RISK_MINIMUM_BRIDGE;
        return up ? RISK_MAXIMUM : RISK_MINIMUM;
    }
    default:
        return -1;
    }
}

/* What its control does there. */
static int second_look(const struct risk_instrument *q)
{
    return q->control == RISK_GEOMETRIC        ? RISK_SUM_LOG
           : q->control == RISK_TWIN_GEOMETRIC ? RISK_SUM_TWIN
                                               : -1;
}

static int events_of(struct ctx *ctx, struct risk *risk, struct plan_memory *m,
                     int32_t i)
{
    const struct risk_position *p = &risk->portfolio.positions[i];
    const int first = looking(p), second = second_look(&m->instruments[i]);
    if (may_exercise(p))
        return add_exercises(ctx, risk, m, i);
    /* Watched all the time: at each step of the grid, also those of others. */
    if (p->continuous && first >= 0) {
        int32_t last = step_of(m, p->maturity);
        for (int32_t k = 0; k <= last; k++)
            TRY(add_event(ctx, risk, m, m->dates[k], i,
                          (enum risk_action)first));
    } else {
        for (int64_t k = 1; first >= 0 && k <= looks(p); k++) {
            double t = risk_equal_date(p->maturity, k, looks(p));
            TRY(add_event(ctx, risk, m, t, i, (enum risk_action)first));
            if (second >= 0)
                TRY(add_event(ctx, risk, m, t, i, (enum risk_action)second));
        }
    }
    return add_event(ctx, risk, m, p->maturity, i, RISK_PAY);
}

static int by_step(const void *a, const void *b)
{
    const struct risk_event *x = a, *y = b;
    if (x->step != y->step)
        return x->step < y->step ? -1 : 1;
    if (x->instrument != y->instrument)
        return x->instrument < y->instrument ? -1 : 1;
    return (int)x->action - (int)y->action;
}

/* ---- instruments ---- */

static enum risk_payoff payoff_of(const struct risk_position *p)
{
    const int early = may_exercise(p) && p->n_legs > 1;
    switch (early ? p->underlying : p->type) {
    case RISK_TYPE_FORWARD:
        return RISK_FORWARD;
    case RISK_TYPE_DIGITAL:
        return RISK_DIGITAL;
    case RISK_TYPE_ASIAN_ARITHMETIC:
        return RISK_ASIAN_ARITHMETIC;
    case RISK_TYPE_ASIAN_GEOMETRIC:
        return RISK_ASIAN_GEOMETRIC;
    case RISK_TYPE_BARRIER:
        if (p->knocked && p->barrier_in)
            return RISK_EUROPEAN;
        return p->barrier_in ? RISK_BARRIER_IN : RISK_BARRIER_OUT;
    case RISK_TYPE_LOOKBACK_FIXED:
        return RISK_LOOKBACK_FIXED;
    case RISK_TYPE_LOOKBACK_FLOATING:
        return RISK_LOOKBACK_FLOATING;
    case RISK_TYPE_BASKET:
        return RISK_BASKET;
    case RISK_TYPE_SPREAD:
        return RISK_SPREAD;
    case RISK_TYPE_EXCHANGE:
        return RISK_EXCHANGE;
    case RISK_TYPE_BEST_OF:
        return RISK_BEST_OF;
    case RISK_TYPE_WORST_OF:
        return RISK_WORST_OF;
    default:
        return RISK_EUROPEAN;
    }
}

/* What the continuation value depends on beside the spots. */
static void add_variances(const struct risk *risk, struct risk_instrument *q)
{
    for (int l = 0; l < q->n_legs; l++) {
        const struct risk_factor *f = &risk->market.assets[q->factor[l]].model;
        if (f->model != RISK_HESTON)
            continue;
        q->variance_factor[q->n_variances] = q->factor[l];
        q->per_variance[q->n_variances++] =
            1 / fmax(fmax(f->variance, f->theta), 1e-6);
    }
}

static void make_instrument(const struct risk *risk,
                            const struct risk_position *p,
                            struct risk_instrument *q)
{
    const struct risk_asset *a = &risk->market.assets[p->factor[0]];
    *q = (struct risk_instrument){.payoff = payoff_of(p),
                                  .n_legs = p->n_legs,
                                  .side = p->side,
                                  .quantity = p->quantity,
                                  .strike = p->strike,
                                  .cash = p->cash,
                                  .rebate = p->rebate,
                                  .barrier_up = p->barrier_up,
                                  .n_fixings = p->fixings};
    for (int l = 0; l < p->n_legs; l++) {
        q->factor[l] = p->factor[l];
        q->weight[l] = p->weight[l];
    }
    if (p->barrier > 0)
        q->log_barrier = log(p->barrier);
    q->discount = exp(-risk_curve_integral(&a->rate, p->maturity));
    q->pay_per_unit = 1 / (p->strike > 0 ? p->strike : a->model.spot);
    for (int l = 0; l < p->n_legs; l++)
        q->per_unit[l] = 1 / risk->market.assets[p->factor[l]].model.spot;
    if (p->n_legs == 1)
        q->per_unit[0] = q->pay_per_unit;
    if (may_exercise(p))
        add_variances(risk, q);
    risk_choose_control(risk, p, q);
}

/* ---- the whole ---- */

static void make_steps(const struct risk *risk, struct plan_memory *m)
{
    const int n = risk->market.n;
    double from = 0;
    for (size_t k = 0; k < m->n_dates; k++) {
        double to = m->dates[k];
        m->lengths[k] = to - from;
        for (int f = 0; f < n; f++) {
            const struct risk_asset *a = &risk->market.assets[f];
            m->drift[k * (size_t)n + (size_t)f] = risk_growth(a, from, to);
        }
        from = to;
    }
}

static int allocate(struct ctx *ctx, const struct risk *risk,
                    struct plan_memory *m)
{
    const size_t n = (size_t)risk->market.n;
    size_t rows = 1;
    for (int32_t i = 0; i < risk->portfolio.n; i++)
        if (may_exercise(&risk->portfolio.positions[i]))
            rows += (size_t)looks(&risk->portfolio.positions[i]);
    m->continuation = calloc(rows * RISK_BASIS_MAX, sizeof *m->continuation);
    m->exercise_discount = calloc(rows, sizeof *m->exercise_discount);
    m->lengths = calloc(m->n_dates + 1, sizeof *m->lengths);
    m->drift = calloc(m->n_dates * n + 1, sizeof *m->drift);
    m->factors = calloc(n + 1, sizeof *m->factors);
    m->instruments =
        calloc((size_t)risk->portfolio.n + 1, sizeof *m->instruments);
    if (m->lengths == NULL || m->drift == NULL || m->factors == NULL ||
        m->instruments == NULL || m->continuation == NULL ||
        m->exercise_discount == NULL)
        return FAIL(ctx, STATUS_MEMORY, "out of memory for the plan");
    return 0;
}

static int fill(struct ctx *ctx, struct risk *risk, struct plan_memory *m)
{
    TRY(collect_dates(ctx, risk, m));
    TRY(refine(ctx, risk, m));
    if (m->n_dates > (size_t)INT32_MAX - 4)
        return FAIL(ctx, STATUS_DECK,
                    "the portfolio asks for %zu dates; the most is 2^31",
                    m->n_dates);
    TRY(allocate(ctx, risk, m));
    make_steps(risk, m);
    for (int f = 0; f < risk->market.n; f++)
        m->factors[f] = risk->market.assets[f].model;
    for (int32_t i = 0; i < risk->portfolio.n; i++) {
        make_instrument(risk, &risk->portfolio.positions[i],
                        &m->instruments[i]);
        if (!risk_position_is_known(&risk->portfolio.positions[i]))
            TRY(events_of(ctx, risk, m, i));
    }
    if (risk->plan.n_events > 1)
        qsort(m->events, (size_t)risk->plan.n_events, sizeof *m->events,
              by_step);
    return 0;
}

int risk_plan_make(struct ctx *ctx, struct risk *risk)
{
    struct plan_memory *m = calloc(1, sizeof *m);
    if (m == NULL)
        return FAIL(ctx, STATUS_MEMORY, "out of memory for the plan");
    risk->plan_memory = m;
    risk->plan = (struct risk_plan){.seed = risk->seed,
                                    .antithetic = risk->antithetic,
                                    .n_factors = risk->market.n,
                                    .root = risk->market.root,
                                    .n_instruments = risk->portfolio.n,
                                    .sobol = risk->sobol};
    TRY(fill(ctx, risk, m));
    risk->plan.factors = m->factors;
    risk->plan.n_steps = (int32_t)m->n_dates;
    risk->plan.step_length = m->lengths;
    risk->plan.drift = m->drift;
    risk->plan.instruments = m->instruments;
    risk->plan.events = m->events;
    risk->plan.continuation = risk->continuation = m->continuation;
    risk->plan.exercise_discount = m->exercise_discount;
    return 0;
}

void risk_plan_free(struct risk *risk)
{
    struct plan_memory *m = risk->plan_memory;
    if (m == NULL)
        return;
    free(m->dates);
    free(m->lengths);
    free(m->drift);
    free(m->factors);
    free(m->instruments);
    free(m->events);
    free(m->continuation);
    free(m->exercise_discount);
    free(m);
    risk->plan_memory = NULL;
}
