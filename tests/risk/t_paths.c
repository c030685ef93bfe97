/* t_paths: paths and payoffs of the CPU's kernels against closed forms. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef _OPENMP
#include <omp.h>
#endif

#include "base/comm.h"
#include "base/ctx.h"
#include "kernels/risk/plain.h"
#include "kernels/risk/risk_kernels.h"
#include "tests/tap.h"

enum { STEPS = 52, CHUNKS = 64 };

static struct ctx ctx;

/* Under sanitizers, where all is slow, a quarter of the paths: what is allowed
 * is counted in errors of that many, and the code is the same. */
static int fewer(int n)
{
    return getenv("WARPDECK_TEST_SHORT") ? n / 4 : n;
}

/* A market of one factor, one year, weekly steps, and one instrument. */
struct problem {
    struct risk_factor factor[2];
    double length[STEPS], drift[2 * STEPS];
    struct risk_instrument instrument;
    struct risk_event events[2 * STEPS];
    struct risk_plan plan;
};

static void make(struct problem *p, enum risk_model model,
                 enum risk_payoff payoff, double side, double strike)
{
    *p = (struct problem){
        .factor[0] = {.model = model,
                      .spot = 100,
                      .volatility = 0.2,
                      .jump_rate = 1,
                      .jump_mean = -0.1,
                      .jump_volatility = 0.15,
                      .variance = 0.04,
                      .kappa = 1.5,
                      .theta = 0.06,
                      .xi = 0.5,
                      .rho = -0.7},
        .instrument = {.payoff = payoff,
                       .n_legs = 1,
                       .weight = {1},
                       .side = side,
                       .quantity = 1,
                       .strike = strike,
                       .cash = 1,
                       .n_fixings = STEPS,
                       .discount = exp(-0.05)},
        .plan = {
            .seed = 42, .n_factors = 1, .n_steps = STEPS, .n_instruments = 1}};
    for (int k = 0; k < STEPS; k++) {
        p->length[k] = 1.0 / STEPS;
        p->drift[k] = 0.05 / STEPS;
    }
}

static void event(struct problem *p, int step, enum risk_action action)
{
    p->events[p->plan.n_events++] =
        (struct risk_event){.step = step, .instrument = 0, .action = action};
}

static void every_step(struct problem *p, enum risk_action action)
{
    for (int k = 0; k < STEPS; k++)
        event(p, k, action);
    event(p, STEPS - 1, RISK_PAY);
}

struct outcome {
    double value, error;
    uint64_t bits;
};

static struct outcome value(struct problem *p)
{
    struct risk_sums(*sums)[2] = calloc(CHUNKS, sizeof *sums);
    struct risk_chunk chunks[CHUNKS] = {0};
    struct risk_store *s;
    struct outcome o = {NAN, NAN, 0};
    const int chunks_run = fewer(CHUNKS);
    p->plan.factors = p->factor;
    p->plan.step_length = p->length;
    p->plan.drift = p->drift;
    p->plan.instruments = &p->instrument;
    p->plan.events = p->events;
    for (int c = 0; c < CHUNKS; c++)
        chunks[c].sums = sums[c];
    if (risk_kernels_cpu.create(&ctx, &p->plan, &s) == 0 &&
        risk_kernels_cpu.run(&ctx, s, 0, chunks_run, chunks) == 0) {
        double y = 0, yy = 0, n = (double)chunks_run * RISK_CHUNK;
        for (int c = 0; c < chunks_run; c++) {
            y += sums[c][0].y;
            yy += sums[c][0].yy;
            uint64_t b;
            memcpy(&b, &sums[c][0].y, sizeof b);
            o.bits = (o.bits ^ b) * 0x9E3779B97F4A7C15ull;
        }
        o.value = y / n;
        o.error = sqrt((yy / n - o.value * o.value) / n);
    }
    risk_kernels_cpu.destroy(s);
    free(sums);
    return o;
}

static void is(struct outcome o, double want, const char *sentence)
{
    tap_ok(fabs(o.value - want) <= 3.5 * o.error, "%s: %.5f +- %.5f for %.5f",
           sentence, o.value, o.error, want);
}

static double phi(double x)
{
    return erfc(-x / sqrt(2)) / 2;
}

/* Black and Scholes (1973), S = 100, r = 5 %, volatility 20 %, one year. */
static double black_scholes(double side, double strike)
{
    double d1 = (log(100 / strike) + 0.07) / 0.2, d2 = d1 - 0.2;
    return side * (100 * phi(side * d1) - strike * exp(-0.05) * phi(side * d2));
}

/* Merton (1976): a sum over the number of jumps. */
static double merton(double strike)
{
    double k = exp(-0.1 + 0.15 * 0.15 / 2) - 1, sum = 0, weight = exp(-1.0);
    for (int n = 0; n < 40; n++) {
        double v = sqrt(0.04 + n * 0.15 * 0.15);
        double forward = 100 * exp(0.05 - k + n * (-0.1 + 0.15 * 0.15 / 2));
        double d1 = log(forward / strike) / v + v / 2;
        sum += weight * exp(-0.05) * (forward * phi(d1) - strike * phi(d1 - v));
        weight /= n + 1;
    }
    return sum;
}

static void vanillas(void)
{
    struct problem p;
    make(&p, RISK_GBM, RISK_EUROPEAN, 1, 105);
    event(&p, STEPS - 1, RISK_PAY);
    is(value(&p), black_scholes(1, 105), "a call is Black and Scholes's");
    make(&p, RISK_GBM, RISK_EUROPEAN, -1, 105);
    event(&p, STEPS - 1, RISK_PAY);
    is(value(&p), black_scholes(-1, 105), "and a put");
    make(&p, RISK_GBM, RISK_DIGITAL, 1, 100);
    event(&p, STEPS - 1, RISK_PAY);
    is(value(&p), exp(-0.05) * phi(0.15), "and a digital call");
    make(&p, RISK_MERTON, RISK_EUROPEAN, 1, 110);
    event(&p, STEPS - 1, RISK_PAY);
    is(value(&p), merton(110), "a call with jumps is Merton's");
}

/* The discounted spot is a martingale in each model. */
static void martingales(void)
{
    static const char *const names[] = {"gbm", "heston", "merton"};
    struct problem p;
    for (int m = 0; m < 3; m++) {
        make(&p, (enum risk_model)m, RISK_FORWARD, 1, 0);
        event(&p, STEPS - 1, RISK_PAY);
        char text[64];
        snprintf(text, sizeof text, "%s: the discounted spot keeps its mean",
                 names[m]);
        is(value(&p), 100, text);
    }
}

/* Geometric mean at equal dates: normal log with these moments (Kemna and
 * Vorst 1990, discrete dates). */
static void asian(void)
{
    struct problem p;
    double n = STEPS, dt = 1 / n;
    double m = log(100) + 0.03 * dt * (n + 1) / 2;
    double v = 0.04 * dt * (n + 1) * (2 * n + 1) / (6 * n);
    double d1 = (m + v - log(100)) / sqrt(v);
    double want =
        exp(-0.05) * (exp(m + v / 2) * phi(d1) - 100 * phi(d1 - sqrt(v)));
    make(&p, RISK_GBM, RISK_ASIAN_GEOMETRIC, 1, 100);
    every_step(&p, RISK_SUM_LOG);
    is(value(&p), want, "a geometric Asian call has its closed form");
    make(&p, RISK_GBM, RISK_ASIAN_ARITHMETIC, 1, 100);
    every_step(&p, RISK_SUM_SPOT);
    tap_ok(value(&p).value > want, "the arithmetic one is worth more");
}

/* Down-and-in call below the strike, watched continuously: Reiner and
 * Rubinstein (1991). */
static double down_and_in(double h)
{
    double mu = 0.03 / 0.04; /* (r - v^2 / 2) / v^2 */
    double y = log(h * h / (100 * 100)) / 0.2 + (1 + mu) * 0.2;
    return 100 * pow(h / 100, 2 * (mu + 1)) * phi(y) -
           100 * exp(-0.05) * pow(h / 100, 2 * mu) * phi(y - 0.2);
}

static void barriers(void)
{
    struct problem p;
    make(&p, RISK_GBM, RISK_BARRIER_IN, 1, 100);
    p.instrument.log_barrier = log(90);
    every_step(&p, RISK_KNOCK_BRIDGE);
    struct outcome in = value(&p);
    is(in, down_and_in(90), "a down-and-in call watched all the time");
    p.plan.n_events = 0;
    p.instrument.payoff = RISK_BARRIER_OUT;
    every_step(&p, RISK_KNOCK_BRIDGE);
    struct outcome out = value(&p);
    p.plan.n_events = 0;
    p.instrument.payoff = RISK_EUROPEAN;
    event(&p, STEPS - 1, RISK_PAY);
    tap_near(in.value + out.value, value(&p).value, 1e-11,
             "in and out make a plain call, path by path");
    p.plan.n_events = 0;
    p.instrument.payoff = RISK_BARRIER_OUT;
    every_step(&p, RISK_KNOCK);
    tap_ok(value(&p).value > out.value,
           "watched once a week it knocks out less often");
}

/* Fixed lookback call at the spot (Conze and Viswanathan 1991). */
static void lookback(void)
{
    struct problem p;
    double r = 0.05, v = 0.2, d = (r + v * v / 2) / v;
    double want = 100 * phi(d) - 100 * exp(-r) * phi(d - v) +
                  100 * exp(-r) * v * v / (2 * r) *
                      (exp(r) * phi(d) - phi(d - 2 * r / v));
    make(&p, RISK_GBM, RISK_LOOKBACK_FIXED, 1, 100);
    every_step(&p, RISK_MAXIMUM_BRIDGE);
    is(value(&p), want, "a lookback call watched all the time");
}

/* Margrabe (1978), correlation 0.3. */
static void exchange(void)
{
    struct problem p;
    double root[4] = {1, 0, 0.3, sqrt(1 - 0.09)};
    make(&p, RISK_GBM, RISK_EXCHANGE, 1, 0);
    p.factor[1] = p.factor[0];
    p.factor[1].spot = 95;
    p.factor[1].volatility = 0.3;
    for (int k = 0; k < 2 * STEPS; k++)
        p.drift[k] = 0.05 / STEPS;
    p.plan.n_factors = 2;
    p.plan.root = root;
    p.instrument.n_legs = 2;
    p.instrument.factor[1] = 1;
    p.instrument.weight[1] = -1;
    event(&p, STEPS - 1, RISK_PAY);
    double v = sqrt(0.04 + 0.09 - 2 * 0.3 * 0.2 * 0.3),
           d1 = log(100.0 / 95) / v + v / 2;
    is(value(&p), 100 * phi(d1) - 95 * phi(d1 - v),
       "an exchange option on correlated factors is Margrabe's");
}

static void bits(void)
{
    struct problem p;
    make(&p, RISK_HESTON, RISK_EUROPEAN, 1, 100);
    event(&p, STEPS - 1, RISK_PAY);
    struct outcome a = value(&p);
#ifdef _OPENMP
    omp_set_num_threads(3);
    struct outcome b = value(&p);
    omp_set_num_threads(1);
    tap_ok(a.bits == b.bits, "1 and 3 threads give the same bits");
#else
    tap_skip(1, "built without OpenMP");
#endif
    p.plan.seed = 43;
    tap_ok(value(&p).bits != a.bits, "another seed gives others");
    p.plan.seed = 42;
    p.plan.antithetic = 1;
    tap_ok(value(&p).error < 0.6 * a.error,
           "pairs of mirrored paths nearly halve the error of a call");
}

/* The means of 16 chunks scatter a quarter as much as those of one. (A call's
 * price at its end is exact in steps of any length.) */
static void convergence(void)
{
    enum { ALL = 1024, GROUP = 16, FEW = 4 };
    struct problem p;
    struct risk_store *s;
    double one = 0, many = 0, part = 0, mean = 0, square = 0;
    make(&p, RISK_GBM, RISK_EUROPEAN, 1, 100);
    event(&p, FEW - 1, RISK_PAY);
    for (int k = 0; k < FEW; k++) {
        p.length[k] = 1.0 / FEW;
        p.drift[k] = 0.05 / FEW;
    }
    p.plan.n_steps = FEW;
    p.plan.factors = p.factor;
    p.plan.step_length = p.length;
    p.plan.drift = p.drift;
    p.plan.instruments = &p.instrument;
    p.plan.events = p.events;
    if (risk_kernels_cpu.create(&ctx, &p.plan, &s) != 0) {
        tap_ok(0, "a store for the error's slope");
        return;
    }
    for (int c = 0; c < ALL; c++) {
        struct risk_sums sums[2];
        struct risk_chunk chunk = {.sums = sums};
        risk_kernels_cpu.run(&ctx, s, c, 1, &chunk);
        double y = sums[0].y / RISK_CHUNK;
        mean += y / ALL;
        one += y * y / ALL;
        square += sums[0].yy / RISK_CHUNK / ALL;
        part += y / GROUP;
        if ((c + 1) % GROUP == 0) {
            many += part * part * GROUP / ALL;
            part = 0;
        }
    }
    risk_kernels_cpu.destroy(s);
    one = sqrt(one - mean * mean);
    many = sqrt(many - mean * mean);
    /* 64 groups tell their deviation to 9 %: 0.09 / log 16 = 0.03. */
    double slope = log(one / many) / log(GROUP);
    tap_ok(fabs(slope - 0.5) < 0.09, "the error falls as N^-%.3f", slope);
    double said = sqrt((square - mean * mean) / RISK_CHUNK);
    tap_ok(fabs(one / said - 1) < 0.07,
           "and is what a chunk's own sums say: %.5f for %.5f", one, said);
}

static double black(double strike, double side, double years)
{
    const double dev = 0.2 * sqrt(years), df = exp(-0.05 * years),
                 d = log(100 / df / strike) / dev + dev / 2;
    return side * (100 * phi(side * d) - strike * df * phi(side * (d - dev)));
}

/* The loops of `warpdeck bench risk` do what they are said to do: four standard
 * errors of the paths, 65,536, whose payoffs deviate by 14.7, 8 and 13.6; the
 * book's options hang together by one half, some 4,100 in all. */
static void bare_loops(void)
{
    const int64_t n = fewer(1024);
    const double per = 4 / sqrt(64.0 * (double)n);
    double all = 0;
    for (int o = 0; o < RISK_PLAIN_OPTIONS; o++)
        all += black(risk_plain_strike(o), risk_plain_side(o),
                     (o % 12 + 1) / 12.0);
    tap_near(risk_plain_value(RISK_PLAIN_EUROPEAN, n), black(100, 1, 1),
             14.7 * per, "the bench's bare loop of a call has its value");
    tap_near(risk_plain_value(RISK_PLAIN_ASIAN, n), 5.7945, 8 * per,
             "that of an Asian call of 252 dates, its own");
    tap_near(risk_plain_value(RISK_PLAIN_HESTON, n), 10.3619, 13.6 * per,
             "that of a call in Heston's model, the value by quadrature");
    tap_near(risk_plain_value(RISK_PLAIN_BOOK, n), all, 4100 * per,
             "that of 1,000 options, the sum of theirs");
    /* 8.7247: on a grid of 6,001 log spots, by the normal density between
     * dates; a rule of 4,096 paths loses up to 1 %. */
    const double put = risk_plain_value(RISK_PLAIN_AMERICAN, n);
    tap_ok(
        put < 8.7247 + 7.2 * per && put > 8.7247 * 0.99 - 7.2 * per,
        "that of a put that may be exercised at 50 dates, at most its value: "
        "%.4f for 8.7247",
        put);
}

int main(void)
{
    if (comm_start_alone(1, &ctx.comm) != 0)
        return tap_skip_all("no memory");
    vanillas();
    martingales();
    asian();
    barriers();
    lookback();
    exchange();
    bits();
    convergence();
    bare_loops();
    comm_finish(ctx.comm);
    return tap_done();
}
