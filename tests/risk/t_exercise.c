/* t_exercise: early exercise by regression, against recursions. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef _OPENMP
#include <omp.h>
#endif

#include "base/comm.h"
#include "base/ctx.h"
#include "base/timer.h"
#include "kernels/risk/exercise.h"
#include "solvers/risk/risk.h"
#include "tests/tap.h"

enum { FACTORS_MAX = 5 };

static struct ctx ctx;

/* n equal factors, one position on all of them. */
struct problem {
    struct risk_asset asset[FACTORS_MAX];
    double rate, dividend;
    struct risk_position position;
    struct risk risk;
};

static void make(struct problem *p, int n, double spot, double volatility,
                 double rate, double dividend)
{
    memset(p, 0, sizeof *p);
    p->rate = rate;
    p->dividend = dividend;
    for (int f = 0; f < n; f++) {
        p->asset[f].model = (struct risk_factor){
            .model = RISK_GBM, .spot = spot, .volatility = volatility};
        p->asset[f].rate = (struct risk_curve){.n = 1, .rates = &p->rate};
        p->asset[f].dividend =
            (struct risk_curve){.n = 1, .rates = &p->dividend};
        p->position.factor[f] = f;
        p->position.weight[f] = 1;
    }
    p->position.type = RISK_TYPE_BERMUDAN;
    p->position.n_legs = n;
    p->position.quantity = 1;
    p->risk.seed = 11;
    p->risk.market.n = n;
    p->risk.market.assets = p->asset;
    p->risk.portfolio =
        (struct risk_portfolio){.n = 1, .positions = &p->position};
    p->risk.k = &risk_kernels_cpu;
}

static void put(struct problem *p, double spot, double volatility,
                double maturity, double strike)
{
    make(p, 1, spot, volatility, 0.06, 0);
    p->position.side = -1;
    p->position.strike = strike;
    p->position.maturity = maturity;
    p->position.exercises = (int64_t)(50 * maturity);
}

struct outcome {
    double value, error;
    int finite; /* the coefficients */
};

static struct outcome price(struct problem *p, int64_t paths)
{
    struct risk *r = &p->risk;
    struct outcome o = {NAN, NAN, 1};
    r->paths = paths;
    r->antithetic = 1;
    int status = risk_plan_make(&ctx, r);
    if (status == 0)
        status = risk_price_prepare(&ctx, r);
    if (status == 0)
        status = risk_price_begin(&ctx, r);
    while (status == 0 && r->chunks_done < r->chunks_total)
        status = risk_price_batch(&ctx, r);
    if (status == 0) {
        risk_price_numbers(r);
        o.value = r->prices[0].value.value;
        o.error = r->prices[0].value.error;
        for (int i = 0; i < r->plan.n_rows * RISK_BASIS_MAX; i++)
            o.finite &= isfinite(r->continuation[i]);
    }
    if (r->store != NULL)
        r->k->destroy(r->store);
    risk_plan_free(r);
    free(r->sums);
    free(r->scenario_sums);
    free(r->prices);
    r->store = NULL;
    r->chunks_done = 0;
    return o;
}

/* A Bermudan put, 50 dates a year, not at 0: recursion over a grid of log
 * spots, the lognormal step as a sum over 2 REACH + 1 points, normalised. */
static double bermudan_put(double spot, double volatility, double maturity,
                           double strike)
{
    enum { N = 1601, REACH = 160 };
    static double value[N], next[N], weight[2 * REACH + 1];
    const int dates = (int)lround(50 * maturity);
    const double r = 0.06, dt = maturity / dates, s = volatility * sqrt(dt),
                 wide = 6 * volatility * sqrt(maturity), h = 2 * wide / (N - 1),
                 least = log(spot) - wide,
                 drift = (r - 0.5 * volatility * volatility) * dt;
    const int shift = (int)lround(drift / h);
    double sum = 0;
    for (int j = -REACH; j <= REACH; j++) {
        double z = (h * (shift + j) - drift) / s;
        sum += weight[j + REACH] = exp(-0.5 * z * z);
    }
    for (int i = 0; i < N; i++)
        value[i] = fmax(strike - exp(least + h * i), 0);
    for (int d = dates - 1; d >= 0; d--) {
        for (int i = 0; i < N; i++) {
            double c = 0;
            for (int j = -REACH; j <= REACH; j++) {
                int to = i + shift + j;
                double v = to < 0    ? fmax(strike - exp(least + h * to), 0)
                           : to >= N ? 0
                                     : value[to];
                c += weight[j + REACH] * v;
            }
            c *= exp(-r * dt) / sum;
            double now = strike - exp(least + h * i);
            next[i] = d > 0 ? fmax(c, now) : c;
        }
        memcpy(value, next, sizeof value);
    }
    return value[N / 2];
}

/* The rows of Longstaff and Schwartz (2001), table 1. Under sanitizers, where
 * all is slow, four of the twelve: each maturity and volatility, at one spot.
 */
static void puts_of_1(void)
{
    const int brief = getenv("WARPDECK_TEST_SHORT") != NULL;
    struct problem p;
    int high = 0, low = 0, rows = 0;
    double worst = 0, difference = 0;
    put(&p, 36, 0.2, 1, 40);
    tap_near(bermudan_put(36, 0.2, 1, 40), 4.47781111, 2e-4,
             "the recursion gives the reference of 50 dates");
    for (int years = 1; years <= 2; years++)
        for (int v = 0; v < 2; v++)
            for (int s = 36; s <= 44; s += 4) {
                if (brief && (years + v + s / 4) % 3 != 0)
                    continue;
                double volatility = v ? 0.4 : 0.2;
                put(&p, s, volatility, years, 40);
                struct outcome o = price(&p, 1 << 16);
                double want = bermudan_put(s, volatility, years, 40);
                rows++;
                high += !(o.value <= want + 3 * o.error);
                low += !(o.value >= 0.99 * want - 3 * o.error);
                worst = fmin(worst, (o.value - want) / want);
                difference += (o.value - want) / want;
            }
    tap_ok(high == 0, "%d puts are worth no more than their Bermudan value",
           rows);
    tap_ok(low == 0,
           "and within 1 %% of it: on average %.2f %%, at worst %.2f %%",
           100 * difference / rows, 100 * worst);
}

/* Broadie and Glasserman (1997); Andersen and Broadie (2004), table 1: nine
 * dates in three years, 13.902 for two factors; 26.12 to 26.17 for five. */
static void max_calls(void)
{
    static const struct {
        int n;
        double low, high;
    } known[] = {{2, 13.902, 13.902}, {5, 26.115, 26.165}};
    struct problem p;
    for (int i = 0; i < 2; i++) {
        make(&p, known[i].n, 100, 0.2, 0.05, 0.1);
        p.position.side = 1;
        p.position.strike = 100;
        p.position.maturity = 3;
        p.position.exercises = 9;
        p.position.underlying = RISK_TYPE_BEST_OF;
        struct outcome o = price(&p, 1 << 18);
        tap_ok(o.value <= known[i].high + 3 * o.error &&
                   o.value >= 0.99 * known[i].low - 3 * o.error,
               "a call on the best of %d: %.3f +- %.3f for %.3f to %.3f",
               known[i].n, o.value, o.error, known[i].low, known[i].high);
    }
}

/* Dates at which few paths or none are in the money. */
static void few_paths(void)
{
    struct problem p;
    int finite = 1;
    double last = 0;
    for (int i = 0; i < 6; i++) {
        put(&p, 40, 0.2, 1, 40 - 4 * i);
        struct outcome o = price(&p, RISK_CHUNK);
        finite &= o.finite && isfinite(o.value) && o.value >= 0;
        last = o.value;
    }
    tap_ok(finite,
           "strikes down to half the spot give finite numbers "
           "(the last one %.2g)",
           last);
    /* Sums of 0, 1 and 2 paths with x = -0.1 and -0.2. */
    for (int paths = 0; paths <= 2; paths++) {
        double sums[15] = {0}, c[RISK_BASIS_MAX], x = 0;
        for (int k = 0; k < paths; k++) {
            int m = 0;
            x -= 0.1;
            double f[4] = {1, x, x * x, x * x * x};
            for (int j = 0; j < 4; j++)
                for (int l = 0; l <= j; l++)
                    sums[m++] += f[j] * f[l];
            for (int j = 0; j < 4; j++)
                sums[m++] += f[j] * 3;
            sums[m] += 1;
        }
        int status = risk_regression_solve(&ctx, 4, sums, c);
        double at = c[0] + x * (c[1] + x * (c[2] + x * c[3]));
        tap_ok(status == 0 && (paths == 0 ? at > 1e200 && isfinite(at)
                                          : fabs(at - 3) < 1e-4),
               "%d paths in the money: a regression with finite numbers",
               paths);
    }
}

static void threads(void)
{
#ifdef _OPENMP
    struct problem p;
    const int before = omp_get_max_threads();
    put(&p, 40, 0.3, 1, 42);
    omp_set_num_threads(1);
    double one = price(&p, 1 << 15).value;
    omp_set_num_threads(3);
    put(&p, 40, 0.3, 1, 42);
    double three = price(&p, 1 << 15).value;
    omp_set_num_threads(before);
    tap_ok(memcmp(&one, &three, sizeof one) == 0,
           "1 and 3 threads give the same bits");
#else
    tap_skip(1, "built without OpenMP");
#endif
}

/* A call without dividends is never exercised early. */
static void call(void)
{
    struct problem p;
    put(&p, 40, 0.3, 1, 40);
    p.position.side = 1;
    struct outcome o = price(&p, 1 << 18);
    double d = (0.06 + 0.045) / 0.3;
    double want = 40 * erfc(-d / sqrt(2)) / 2 -
                  40 * exp(-0.06) * erfc(-(d - 0.3) / sqrt(2)) / 2;
    tap_ok(o.value <= want + 3 * o.error && o.value >= 0.995 * want,
           "a call without dividends is a European one: %.4f +- %.4f for %.4f",
           o.value, o.error, want);
}

int main(void)
{
    if (comm_start_alone(1, &ctx.comm) != 0)
        return tap_skip_all("no memory");
    ctx.timers = timers_create();
    puts_of_1();
    max_calls();
    few_paths();
    call();
    threads();
    timers_destroy(ctx.timers);
    comm_finish(ctx.comm);
    return tap_done();
}
