/* risk.c: paths on a card are those on the CPU: the sums of chunks, samples,
 * spots and regressions of both tables of kernels have the same bits, for each
 * model and payoff, Philox's numbers and Sobol's, mirrored paths, and moved
 * markets.
 */
#include <stdio.h>
#include <string.h>

#include "base/comm.h"
#include "base/ctx.h"
#include "base/error.h"
#include "kernels/device.h"
#include "kernels/risk/exercise.h"
#include "kernels/risk/risk_kernels.h"
#include "tests/tap.h"

enum {
    STEPS = 10, /* neither fours nor twos of steps end with the grid */
    FACTORS = 3,
    MOST = 32, /* instruments */
    EVENTS = MOST * (STEPS + 1),
    CHUNKS = 2,
    SCENARIOS = 4
};

static const double lengths[STEPS] = {0.1, 0.05, 0.2, 0.1,  0.15,
                                      0.1, 0.1,  0.1, 0.05, 0.1};

/* A plan and all that it points to. */
struct problem {
    struct risk_factor factors[FACTORS], moved[SCENARIOS][FACTORS];
    double drift[STEPS * FACTORS], root[FACTORS * FACTORS];
    struct risk_instrument instruments[MOST];
    enum risk_action watch[MOST]; /* at each step; RISK_PAY: nothing */
    struct risk_event events[EVENTS];
    double continuation[EVENTS][RISK_BASIS_MAX], exercise_discount[EVENTS];
    double discount[MOST];
    struct risk_scenario scenarios[SCENARIOS];
    struct risk_plan plan;
};

/* ---- plans ---- */

static struct risk_instrument *add(struct problem *p, enum risk_payoff payoff,
                                   int factor, enum risk_action watch)
{
    const int n = p->plan.n_instruments++;
    p->watch[n] = watch;
    struct risk_instrument *q = &p->instruments[n];
    *q = (struct risk_instrument){.payoff = payoff,
                                  .n_legs = 1,
                                  .side = n % 2 ? -1 : 1,
                                  .quantity = 1.5 - 0.25 * n,
                                  .strike = 98 + n,
                                  .cash = 7,
                                  .rebate = 1,
                                  .n_fixings = STEPS,
                                  .discount = 0.95};
    q->factor[0] = factor;
    q->weight[0] = 1;
    return q;
}

/* A variance that decides on exercise, where the factor has one. */
static void add_variance(const struct problem *p, struct risk_instrument *q,
                         int f)
{
    if (p->factors[f].model != RISK_HESTON)
        return;
    q->variance_factor[q->n_variances] = f;
    q->per_variance[q->n_variances++] = 20;
}

static void add_legs(struct problem *p, enum risk_payoff payoff, int n,
                     enum risk_action watch)
{
    struct risk_instrument *q = add(p, payoff, 0, watch);
    q->n_legs = n;
    q->strike = payoff == RISK_BASKET ? 0 : 5;
    q->pay_per_unit = 0.01;
    for (int l = 0; l < n; l++) {
        q->factor[l] = l % p->plan.n_factors;
        q->weight[l] = payoff == RISK_SPREAD && l == 1 ? -1 : 0.5 + 0.1 * l;
        q->per_unit[l] = 0.01;
        if (watch == RISK_EXERCISE)
            add_variance(p, q, q->factor[l]);
        if (payoff == RISK_BASKET)
            q->strike += 100 * q->weight[l];
    }
}

/* One of each payoff on a factor, in each way of watching. */
static void add_all(struct problem *p, int f)
{
    struct risk_instrument *q;
    const int twin = p->factors[f].model != RISK_GBM;
    add(p, RISK_FORWARD, f, RISK_PAY);
    add(p, RISK_EUROPEAN, f, RISK_PAY)->control = RISK_UNDERLYING;
    q = add(p, RISK_DIGITAL, f, RISK_PAY);
    q->control = twin ? RISK_TWIN : RISK_NO_CONTROL;
    q->control_delta = 0.4;
    q = add(p, RISK_ASIAN_ARITHMETIC, f, RISK_SUM_SPOT);
    q->control = twin ? RISK_TWIN_GEOMETRIC : RISK_NO_CONTROL;
    q = add(p, RISK_ASIAN_GEOMETRIC, f, twin ? RISK_SUM_TWIN : RISK_SUM_LOG);
    q->control = twin ? RISK_TWIN_GEOMETRIC : RISK_GEOMETRIC;
    q = add(p, RISK_BARRIER_OUT, f, RISK_KNOCK_BRIDGE);
    q->log_barrier = exact_log(115);
    q->barrier_up = 1;
    q = add(p, RISK_BARRIER_IN, f, RISK_KNOCK);
    q->log_barrier = exact_log(92);
    add(p, RISK_LOOKBACK_FIXED, f, RISK_MAXIMUM_BRIDGE);
    add(p, RISK_LOOKBACK_FLOATING, f, RISK_MINIMUM_BRIDGE);
    add(p, RISK_LOOKBACK_FIXED, f, RISK_MINIMUM);
    add(p, RISK_LOOKBACK_FLOATING, f, RISK_MAXIMUM);
}

/* An option that may be exercised at each step, by some rule. */
static void add_early(struct problem *p, int legs)
{
    if (legs > 1) {
        add_legs(p, RISK_BASKET, legs, RISK_EXERCISE);
        return;
    }
    struct risk_instrument *q = add(p, RISK_EUROPEAN, 0, RISK_EXERCISE);
    q->side = -1;
    q->per_unit[0] = 0.01;
    add_variance(p, q, 0);
}

static void set_events(struct problem *p)
{
    for (int k = 0; k < STEPS; k++)
        for (int q = 0; q < p->plan.n_instruments; q++) {
            struct risk_event e = {.step = k, .instrument = q};
            e.action = p->watch[q];
            if (e.action == RISK_EXERCISE) {
                e.row = p->plan.n_rows++;
                p->exercise_discount[e.row] = 1 - 0.005 * k;
                for (int j = 0; j < RISK_BASIS_MAX && k + 1 < STEPS; j++)
                    p->continuation[e.row][j] = 5.0 / (j + 1) - 0.3 * k;
            }
            if (e.action != RISK_PAY)
                p->events[p->plan.n_events++] = e;
            if (k + 1 == STEPS && e.action != RISK_EXERCISE) {
                e.action = RISK_PAY;
                p->events[p->plan.n_events++] = e;
            }
        }
}

static void set_scenarios(struct problem *p)
{
    for (int c = 0; c < SCENARIOS; c++) {
        for (int f = 0; f < p->plan.n_factors; f++) {
            p->moved[c][f] = p->factors[f];
            p->moved[c][f].spot *= c % 2 ? 1.01 : 0.99;
            p->moved[c][f].volatility *= c < 2 ? 1 : 1.1;
        }
        p->scenarios[c] = (struct risk_scenario){
            .factors = p->moved[c], .drift = p->drift, .discount = p->discount};
    }
    for (int q = 0; q < MOST; q++)
        p->discount[q] = 0.94;
}

/* n_factors of the models from `model` on. */
static void make(struct problem *p, enum risk_model model, int n_factors,
                 int early)
{
    memset(p, 0, sizeof *p);
    p->plan = (struct risk_plan){
        .seed = 0x123456789abcull, .n_factors = n_factors, .n_steps = STEPS};
    for (int f = 0; f < n_factors; f++)
        p->factors[f] = (struct risk_factor){
            .model = (enum risk_model)(((int)model + f) % 3),
            .spot = 100 + 3 * f,
            .volatility = 0.2 + 0.05 * f,
            .jump_rate = 1,
            .jump_mean = -0.1,
            .jump_volatility = 0.15,
            .variance = 0.04,
            .kappa = 1.5,
            .theta = 0.06,
            .xi = 0.9,
            .rho = -0.7};
    for (int i = 0; i < STEPS * n_factors; i++)
        p->drift[i] = 0.001 * (i % 7);
    for (int f = 0; f < n_factors; f++)
        for (int g = 0; g <= f; g++)
            p->root[f * n_factors + g] = f == g ? 1 - 0.2 * f : 0.3 - 0.1 * g;
    if (early) {
        add_early(p, 1);
        add_early(p, 2);
        add_early(p, 7);
    } else {
        add_all(p, n_factors - 1);
    }
    if (n_factors > 1 && !early) {
        add_legs(p, RISK_BASKET, 3, RISK_PAY);
        add_legs(p, RISK_SPREAD, 2, RISK_PAY);
        add_legs(p, RISK_EXCHANGE, 2, RISK_PAY);
        add_legs(p, RISK_BEST_OF, 3, RISK_PAY);
        add_legs(p, RISK_WORST_OF, 3, RISK_PAY);
        add(p, RISK_BARRIER_OUT, 0, RISK_KNOCK_BRIDGE)->log_barrier =
            exact_log(90);
    }
    set_events(p);
    set_scenarios(p);
    p->plan.root = n_factors > 1 || model == RISK_MERTON ? p->root : NULL;
    p->plan.factors = p->factors;
    p->plan.step_length = lengths;
    p->plan.drift = p->drift;
    p->plan.instruments = p->instruments;
    p->plan.events = p->events;
    p->plan.continuation = p->continuation[0];
    p->plan.exercise_discount = p->exercise_discount;
    p->plan.scenarios = p->scenarios;
}

/* ---- what comes of them ---- */

enum { SPOTS = 3 };

struct outcome {
    struct risk_sums sums[CHUNKS][MOST + 1];
    struct risk_scenario_sums scenarios[CHUNKS][SCENARIOS * (MOST + 1)];
    double samples[RISK_CHUNK];
    double spot[SPOTS * FACTORS * RISK_CHUNK];
    double variance[SPOTS * FACTORS * RISK_CHUNK];
};

static struct problem problem;         /* large */
static struct outcome on_cpu, on_card; /* large */

static int run_all(struct ctx *ctx, const struct risk_kernels *k,
                   const struct risk_plan *plan, int n, struct outcome *o)
{
    static const int32_t steps[SPOTS] = {0, 6, STEPS - 1};
    struct risk_chunk chunks[CHUNKS] = {{0}};
    struct risk_store *s = NULL;
    memset(o, 0, sizeof *o);
    for (int c = 0; c < CHUNKS; c++) {
        chunks[c].sums = o->sums[c];
        chunks[c].scenarios = o->scenarios[c];
    }
    chunks[n - 1].samples = o->samples;
    TRY(k->create(ctx, plan, &s));
    int status = k->run(ctx, s, 3, n, chunks);
    if (status == 0)
        status = k->states(ctx, s, 5, SPOTS, steps, o->spot, o->variance);
    /* Fewer chunks, in the memory of more. */
    if (status == 0 && n > 1 && !plan->sobol)
        status = k->run(ctx, s, 7, 1, chunks);
    k->destroy(s);
    return status;
}

static int same(const void *a, const void *b, size_t n)
{
    return memcmp(a, b, n) == 0;
}

static void compare(struct ctx *ctx, struct ctx *host,
                    const struct risk_kernels *card,
                    const struct risk_plan *plan, int n, const char *what)
{
    int status = run_all(host, &risk_kernels_cpu, plan, n, &on_cpu);
    if (status == 0)
        status = run_all(ctx, card, plan, n, &on_card);
    if (!tap_ok(status == 0, "%s: paths can be made", what)) {
        tap_note("%s%s", host->error.text, ctx->error.text);
        return;
    }
    tap_ok(on_cpu.sums[0][0].yy > 0 && on_cpu.samples[0] != on_cpu.samples[1],
           "they differ from each other");
    tap_ok(same(on_cpu.sums, on_card.sums, sizeof on_cpu.sums),
           "sums have the bits of the CPU's");
    tap_ok(same(on_cpu.samples, on_card.samples, sizeof on_cpu.samples),
           "so do samples");
    tap_ok(same(on_cpu.spot, on_card.spot, sizeof on_cpu.spot) &&
               same(on_cpu.variance, on_card.variance, sizeof on_cpu.variance),
           "so do spots on the way");
    if (plan->n_scenarios > 0)
        tap_ok(
            same(on_cpu.scenarios, on_card.scenarios, sizeof on_cpu.scenarios),
            "so do sums of differences between markets");
}

/* ---- regressions ---- */

struct moments {
    size_t each, chunks;
    double sums[STEPS][CHUNKS * (RISK_BASIS_MAX + 3) * RISK_BASIS_MAX];
    double coefficients[STEPS][RISK_BASIS_MAX];
};

/* Keeps the sums; a rule of a kind: the mean of what comes. */
static int keep(struct ctx *ctx, void *argument, int32_t date,
                const double *moments, double *coefficients)
{
    struct moments *m = argument;
    (void)ctx;
    memcpy(m->sums[date], moments, m->each * m->chunks * sizeof *moments);
    coefficients[0] = 0.9 + moments[m->each - 1] / RISK_CHUNK;
    coefficients[1] = -0.25;
    return 0;
}

static int regress(struct ctx *ctx, const struct risk_kernels *k,
                   const struct risk_plan *plan, int instrument,
                   struct moments *m)
{
    int32_t steps[STEPS];
    double discount[STEPS];
    struct risk_store *s = NULL;
    memset(m, 0, sizeof *m);
    m->each = risk_moments(risk_basis_size(&plan->instruments[instrument]));
    m->chunks = CHUNKS;
    for (int d = 0; d < STEPS; d++) {
        steps[d] = d;
        discount[d] = 1 - 0.004 * d;
    }
    const struct risk_regression job = {.instrument = instrument,
                                        .n_dates = STEPS,
                                        .steps = steps,
                                        .discount = discount,
                                        .first_chunk = 1,
                                        .n_chunks = CHUNKS,
                                        .solve = keep,
                                        .argument = m,
                                        .coefficients = m->coefficients[0]};
    TRY(k->create(ctx, plan, &s));
    int status = k->regress(ctx, s, &job);
    k->destroy(s);
    return status;
}

static void compare_regressions(struct ctx *ctx, struct ctx *host,
                                const struct risk_kernels *card,
                                const struct risk_plan *plan, const char *what)
{
    static struct moments by_cpu, by_card; /* large */
    for (int q = 0; q < plan->n_instruments; q++) {
        int status = regress(host, &risk_kernels_cpu, plan, q, &by_cpu);
        if (status == 0)
            status = regress(ctx, card, plan, q, &by_card);
        tap_ok(status == 0 && by_cpu.sums[0][by_cpu.each - 1] > 0 &&
                   same(&by_cpu, &by_card, sizeof by_cpu),
               "%s: a regression on %d legs has the sums and rules of the CPU",
               what, plan->instruments[q].n_legs);
        if (status != 0)
            tap_note("%s%s", host->error.text, ctx->error.text);
    }
}

/* ---- all of it ---- */

static void test_plan(struct ctx *ctx, struct ctx *host,
                      const struct risk_kernels *card, enum risk_model model,
                      int n_factors, int early, const char *what)
{
    struct risk_plan *plan = &problem.plan;
    char text[96];
    make(&problem, model, n_factors, early);
    compare(ctx, host, card, plan, CHUNKS, what);
    if (early)
        compare_regressions(ctx, host, card, plan, what);
    plan->antithetic = 1;
    plan->n_scenarios = model == RISK_GBM ? SCENARIOS : 2;
    snprintf(text, sizeof text, "%s, mirrored, in moved markets", what);
    compare(ctx, host, card, plan, 1, text);
    plan->antithetic = plan->n_scenarios = 0;
    plan->sobol = 1;
    plan->replicate = 2;
    plan->replicate_chunks = 4; /* the chunks lie in two of them */
    snprintf(text, sizeof text, "%s, Sobol's points", what);
    compare(ctx, host, card, plan, CHUNKS, text);
    if (early && n_factors > 1)
        compare_regressions(ctx, host, card, plan, text);
}

int main(int argc, char **argv)
{
    struct ctx ctx, host;
    struct device cpu = {.name = "cpu", .threads = 1};
    memset(&ctx, 0, sizeof ctx);
    if (comm_start(&argc, &argv, &ctx.comm) != 0 ||
        device_open(&ctx, "cuda", 1e9, &ctx.device) != 0) {
        tap_note("%s", ctx.error.text);
        return 1;
    }
    host = ctx;
    host.device = &cpu;
    const struct risk_kernels *card = ctx.device->risk(PRECISION_DOUBLE);
    const int in_short = argc > 1 && strcmp(argv[1], "short") == 0;
    if (!in_short) {
        test_plan(&ctx, &host, card, RISK_GBM, 1, 0, "one factor, gbm");
        test_plan(&ctx, &host, card, RISK_HESTON, 1, 0, "one factor, heston");
        test_plan(&ctx, &host, card, RISK_MERTON, 1, 0, "one factor, merton");
        test_plan(&ctx, &host, card, RISK_HESTON, 3, 0, "three factors");
        test_plan(&ctx, &host, card, RISK_GBM, 1, 1, "exercised early");
    }
    test_plan(&ctx, &host, card, RISK_MERTON, 2, 1,
              "two factors, exercised early");
    device_close(ctx.device);
    comm_finish(ctx.comm);
    return tap_done();
}
