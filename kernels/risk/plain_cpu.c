/* plain_cpu.c: the standard problems as bare loops (plain.h). */
#include "kernels/risk/risk_cpu.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/risk/normals.h"
#include "kernels/risk/plain.h"

#define EACH(i) for (int i = 0; i < RISK_BLOCK; i += EXACT_LANES)

enum { DAYS = 252, MONTHS = 12 };

static const double spot = 100, strike = 100, rate = 0.05, volatility = 0.2;

/* A factor's step, as the solver's tables have it. */
static int make_step(enum risk_model model, int steps, struct risk_step *out)
{
    const double dt = 1.0 / steps, drift = rate / steps;
    const struct risk_factor factor = {.model = model,
                                       .spot = spot,
                                       .volatility = volatility,
                                       .variance = 0.04,
                                       .kappa = 1.5,
                                       .theta = 0.04,
                                       .xi = 0.3,
                                       .rho = -0.7};
    const struct risk_plan plan = {.n_factors = 1,
                                   .factors = &factor,
                                   .n_steps = 1,
                                   .step_length = &dt,
                                   .drift = &drift};
    struct risk_tables t;
    memset(&t, 0, sizeof t);
    const int failed = risk_tables_make(&t, &plan);
    if (!failed)
        *out = t.base.steps[0];
    risk_tables_free(&t);
    return failed;
}

/* The sum over lanes of discounted calls. */
static double calls(const double *price, double discount)
{
    double sum[EXACT_LANES] __attribute__((aligned(64)));
    exact_real all = exact_set(0);
    EACH(i)
    all = all + exact_positive(exact_load(price + i) - exact_set(strike));
    exact_store(sum, all * exact_set(discount));
    for (int l = 1; l < EXACT_LANES; l++)
        sum[0] += sum[l];
    return sum[0];
}

static double european(const struct risk_step *s, uint64_t path)
{
    risk_row x __attribute__((aligned(64)));
    const exact_real growth = exact_set(4 * s->growth),
                     deviation = exact_set(s->deviation);
    EACH(i)
    exact_store(x + i, exact_set(0));
    for (uint32_t k = 0; k < DAYS / 4; k++)
        EACH(i)
        {
            exact_real z[4];
            risk_four_normals(1, path + (uint64_t)i, k, 0, z);
            exact_store(x + i,
                        exact_fma(deviation, (z[0] + z[1]) + (z[2] + z[3]),
                                  exact_load(x + i) + growth));
        }
    EACH(i)
    exact_store(x + i, exact_set(spot) * exact_exp(exact_load(x + i)));
    return calls(x, exp(-rate));
}

static double asian(const struct risk_step *s, uint64_t path)
{
    risk_row x __attribute__((aligned(64))), mean __attribute__((aligned(64)));
    EACH(i)
    {
        exact_store(x + i, exact_set(0));
        exact_store(mean + i, exact_set(0));
    }
    for (uint32_t k = 0; k < DAYS / 4; k++)
        EACH(i)
        {
            exact_real z[4], y = exact_load(x + i), m = exact_load(mean + i);
            risk_four_normals(1, path + (uint64_t)i, k, 0, z);
            for (int q = 0; q < 4; q++) {
                y = risk_gbm(s, y, z[q]);
                m = m + exact_exp(y);
            }
            exact_store(x + i, y);
            exact_store(mean + i, m);
        }
    EACH(i)
    exact_store(mean + i, exact_set(spot / DAYS) * exact_load(mean + i));
    return calls(mean, exp(-rate));
}

static double heston(const struct risk_step *s, uint64_t path)
{
    risk_row x __attribute__((aligned(64))), v __attribute__((aligned(64)));
    EACH(i)
    {
        exact_store(x + i, exact_set(0));
        exact_store(v + i, exact_set(0.04));
    }
    for (uint32_t k = 0; k < DAYS / 4; k++)
        EACH(i)
        {
            exact_real z[4], zv[4], u[4], y = exact_load(x + i),
                                          w = exact_load(v + i);
            risk_four_normals(1, path + (uint64_t)i, k, 0, z);
            for (int h = 0; h < 2; h++) {
                const struct exact_block b =
                    risk_words(1, path + (uint64_t)i, 2 * k + (uint32_t)h,
                               RISK_VARIANCE, 0);
                exact_box_muller(exact_uniform32(b.w[0]),
                                 exact_uniform32(b.w[1]), &zv[2 * h],
                                 &zv[2 * h + 1]);
                u[2 * h] = exact_uniform32(b.w[2]);
                u[2 * h + 1] = exact_uniform32(b.w[3]);
            }
            for (int q = 0; q < 4; q++)
                y = risk_heston(s, y, &w, z[q], zv[q], u[q]);
            exact_store(x + i, y);
            exact_store(v + i, w);
        }
    EACH(i)
    exact_store(x + i, exact_set(spot) * exact_exp(exact_load(x + i)));
    return calls(x, exp(-rate));
}

/* ---- the book ---- */

double risk_plain_strike(int option)
{
    return 80 + 0.04 * option;
}

double risk_plain_side(int option)
{
    return option / 10 % 2 == 0 ? 1 : -1;
}

struct book {
    double root[RISK_PLAIN_FACTORS][RISK_PLAIN_FACTORS]; /* lower triangle */
    double discount[MONTHS];
    /* of each option, a vector of sums of payoffs and of their squares */
    double sum[RISK_PLAIN_OPTIONS][2][EXACT_LANES] __attribute__((aligned(64)));
    risk_row x[RISK_PLAIN_FACTORS], z[4][RISK_PLAIN_FACTORS], total;
};

/* Cholesky's root of the matrix with 1/2 beside its diagonal. */
static void make_book(struct book *b)
{
    memset(b, 0, sizeof *b);
    for (int i = 0; i < RISK_PLAIN_FACTORS; i++)
        for (int j = 0; j <= i; j++) {
            double rest = i == j ? 1 : 0.5;
            for (int k = 0; k < j; k++)
                rest -= b->root[i][k] * b->root[j][k];
            b->root[i][j] = i == j ? sqrt(rest) : rest / b->root[j][j];
        }
    for (int k = 0; k < MONTHS; k++)
        b->discount[k] = exp(-rate * (k + 1) / MONTHS);
}

/* Normals of four steps, correlated. */
static void book_normals(struct book *b, uint64_t path, uint32_t group)
{
    for (int f = 0; f < RISK_PLAIN_FACTORS; f++)
        EACH(i)
        {
            exact_real z[4];
            risk_four_normals(1, path + (uint64_t)i, group, f, z);
            for (int q = 0; q < 4; q++)
                exact_store(b->z[q][f] + i, z[q]);
        }
    for (int q = 0; q < 4; q++)
        for (int f = RISK_PLAIN_FACTORS - 1; f >= 0; f--)
            EACH(i)
            {
                exact_real z = exact_set(0);
                for (int g = 0; g <= f; g++)
                    z = exact_fma(exact_set(b->root[f][g]),
                                  exact_load(b->z[q][g] + i), z);
                exact_store(b->z[q][f] + i, z);
            }
}

static void book_options(struct book *b, risk_row *price, int month)
{
    for (int o = month; o < RISK_PLAIN_OPTIONS; o += MONTHS) {
        const exact_real k = exact_set(risk_plain_strike(o)),
                         side = exact_set(risk_plain_side(o)),
                         d = exact_set(b->discount[month]);
        const double *s = price[o % RISK_PLAIN_FACTORS];
        exact_real y1 = exact_load(b->sum[o][0]), y2 = exact_load(b->sum[o][1]);
        EACH(i)
        {
            const exact_real y =
                d * exact_positive(side * (exact_load(s + i) - k));
            y1 = y1 + y;
            y2 = exact_fma(y, y, y2);
            exact_store(b->total + i, exact_load(b->total + i) + y);
        }
        exact_store(b->sum[o][0], y1);
        exact_store(b->sum[o][1], y2);
    }
}

static double book(struct book *b, const struct risk_step *s, uint64_t path)
{
    double sum = 0;
    memset(b->x, 0, sizeof b->x);
    memset(b->total, 0, sizeof b->total);
    for (int k = 0; k < MONTHS; k++) {
        risk_row *price = b->z[k % 4];
        if (k % 4 == 0)
            book_normals(b, path, (uint32_t)k / 4);
        for (int f = 0; f < RISK_PLAIN_FACTORS; f++)
            EACH(i)
            {
                const exact_real x = risk_gbm(s, exact_load(b->x[f] + i),
                                              exact_load(price[f] + i));
                exact_store(b->x[f] + i, x);
                exact_store(price[f] + i, exact_set(spot) * exact_exp(x));
            }
        book_options(b, price, k);
    }
    for (int i = 0; i < RISK_BLOCK; i++)
        sum += b->total[i];
    return sum;
}

/* ---- all of them ---- */

int risk_plain_steps(enum risk_plain what)
{
    return what == RISK_PLAIN_BOOK ? MONTHS : DAYS;
}

double risk_plain_value(enum risk_plain what, int64_t n)
{
    struct risk_step s;
    struct book *b = NULL;
    double sum = 0;
    int failed = make_step(what == RISK_PLAIN_HESTON ? RISK_HESTON : RISK_GBM,
                           risk_plain_steps(what), &s);
    if (!failed && what == RISK_PLAIN_BOOK) {
        b = aligned_alloc(64, (sizeof *b + 63) / 64 * 64);
        failed = b == NULL;
        if (!failed)
            make_book(b);
    }
    for (int64_t i = 0; i < n && !failed; i++) {
        const uint64_t path = (uint64_t)i * RISK_BLOCK;
        sum += what == RISK_PLAIN_EUROPEAN ? european(&s, path)
               : what == RISK_PLAIN_ASIAN  ? asian(&s, path)
               : what == RISK_PLAIN_HESTON ? heston(&s, path)
                                           : book(b, &s, path);
    }
    free(b);
    return failed ? (double)NAN : sum / ((double)n * RISK_BLOCK);
}
