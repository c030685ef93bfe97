/* plain_cpu.c: the standard problems as bare loops (plain.h). */
#include "kernels/risk/risk_cpu.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/risk/normals.h"
#include "kernels/risk/plain.h"

#define EACH(i) for (int i = 0; i < RISK_BLOCK; i += EXACT_LANES)
/* Vectors i, i + EXACT_LANES ... whose random numbers are made in step, and
 * each of them. */
#define EACH_FEW(i) for (int i = 0; i < RISK_BLOCK; i += RISK_STRIDE)
#define EACH_OF(j) EXACT_EACH(j, RISK_IN_STEP)

enum { DAYS = 252, MONTHS = 12, DATES = 50, FIT = 4096 };

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
        EACH_FEW(i)
        {
            exact_real z[4][EXACT_ALL_MAX];
            risk_four_normals_all(RISK_IN_STEP, 1, path + (uint64_t)i, k, 0, z);
            EACH_OF(j)
            {
                double *at = x + i + j * EXACT_LANES;
                const exact_real sum =
                    (z[0][j] + z[1][j]) + (z[2][j] + z[3][j]);
                exact_store(at,
                            exact_fma(deviation, sum, exact_load(at) + growth));
            }
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
        EACH_FEW(i)
        {
            exact_real z[4][EXACT_ALL_MAX];
            risk_four_normals_all(RISK_IN_STEP, 1, path + (uint64_t)i, k, 0, z);
            EACH_OF(j)
            {
                const int at = i + j * EXACT_LANES;
                exact_real y = exact_load(x + at), m = exact_load(mean + at);
                for (int q = 0; q < 4; q++) {
                    y = risk_gbm(s, y, z[q][j]);
                    m = m + exact_exp(y);
                }
                exact_store(x + at, y);
                exact_store(mean + at, m);
            }
        }
    EACH(i)
    exact_store(mean + i, exact_set(spot / DAYS) * exact_load(mean + i));
    return calls(mean, exp(-rate));
}

/* Four steps of Heston's numbers: [step][vector]. */
struct four {
    exact_real z[4][EXACT_ALL_MAX], zv[4][EXACT_ALL_MAX], u[4][EXACT_ALL_MAX];
};

EXACT_FN void make_four(uint64_t path, uint32_t k, struct four *n)
{
    risk_four_normals_all(RISK_IN_STEP, 1, path, k, 0, n->z);
    for (uint32_t h = 0; h < 2; h++) {
        struct exact_block w[EXACT_ALL_MAX];
        risk_words_all(RISK_IN_STEP, 1, path, 2 * k + h, RISK_VARIANCE, 0, w);
        risk_two_normals_all(RISK_IN_STEP, w, 0, n->zv[2 * h],
                             n->zv[2 * h + 1]);
        EACH_OF(j) n->u[2 * h][j] = exact_uniform32(w[j].w[2]);
        EACH_OF(j) n->u[2 * h + 1][j] = exact_uniform32(w[j].w[3]);
    }
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
        EACH_FEW(i)
        {
            struct four n;
            make_four(path + (uint64_t)i, k, &n);
            for (int q = 0; q < 4; q++)
                EACH_OF(j)
                {
                    const int at = i + j * EXACT_LANES;
                    exact_real w = exact_load(v + at);
                    exact_store(x + at,
                                risk_heston(s, exact_load(x + at), &w,
                                            n.z[q][j], n.zv[q][j], n.u[q][j]));
                    exact_store(v + at, w);
                }
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
        EACH_FEW(i)
        {
            exact_real z[4][EXACT_ALL_MAX];
            risk_four_normals_all(RISK_IN_STEP, 1, path + (uint64_t)i, group, f,
                                  z);
            for (int q = 0; q < 4; q++)
                EACH_OF(j)
            exact_store(b->z[q][f] + i + j * EXACT_LANES, z[q][j]);
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

/* ---- the American put ---- */

static const double high_strike = 105;

struct put {
    double rule[DATES][4], discount[DATES]; /* powers of S / K - 1 */
    double value[FIT] __attribute__((aligned(64)));
    float spot[DATES][FIT] __attribute__((aligned(64)));
};

typedef float few_floats __attribute__((vector_size(4 * EXACT_LANES)));

/* What exercising brings in place of waiting, or 0. */
EXACT_FN exact_real exercised(const double *c, exact_real s)
{
    const exact_real h = exact_set(high_strike) - s,
                     x = exact_fma(s, exact_set(1 / high_strike),
                                   exact_set(-1));
    exact_real wait = exact_set(c[3]);
    for (int j = 2; j >= 0; j--)
        wait = exact_fma(wait, x, exact_set(c[j]));
    return exact_select(exact_less(h, wait), exact_set(0), exact_positive(h));
}

/* A block's spots at the dates of a group of four steps. */
EXACT_FN void put_spots(const struct risk_step *s, uint64_t path, uint32_t k,
                        double *x, risk_row *out)
{
    EACH_FEW(i)
    {
        exact_real z[4][EXACT_ALL_MAX];
        risk_four_normals_all(RISK_IN_STEP, 1, path + (uint64_t)i, k, 0, z);
        EACH_OF(j)
        {
            const int at = i + j * EXACT_LANES;
            exact_real y = exact_load(x + at);
            for (int q = 0; q < 4; q++) {
                y = risk_gbm(s, y, z[q][j]);
                exact_store(out[q] + at, exact_set(spot) * exact_exp(y));
            }
            exact_store(x + at, y);
        }
    }
}

/* Normal equations of a cubic in x, on the paths in the money: sums of powers
 * 0 ... 6 of x, then of the first four times y. */
static void put_moments(const struct put *b, int date, double *sum)
{
    exact_real all[11];
    for (int m = 0; m < 11; m++)
        all[m] = exact_set(0);
    for (int i = 0; i < FIT; i += EXACT_LANES) {
        few_floats single;
        memcpy(&single, &b->spot[date][i], sizeof single);
        const exact_real s = __builtin_convertvector(single, exact_real),
                         x = exact_fma(s, exact_set(1 / high_strike),
                                       exact_set(-1)),
                         y = exact_load(b->value + i) *
                             exact_set(1 / b->discount[date]);
        exact_real power = exact_select(exact_less(s, exact_set(high_strike)),
                                        exact_set(1), exact_set(0));
        for (int m = 0; m < 7; m++, power = power * x) {
            all[m] = all[m] + power;
            if (m < 4)
                all[7 + m] = exact_fma(power, y, all[7 + m]);
        }
    }
    for (int m = 0; m < 11; m++) {
        double lane[EXACT_LANES] __attribute__((aligned(64)));
        exact_store(lane, all[m]);
        sum[m] = exact_tree_sum(lane, EXACT_LANES);
    }
}

/* By elimination; with few paths in the money nothing is exercised. */
static void put_solve(const double *sum, double *c)
{
    double a[4][5];
    for (int i = 0; i < 4; i++) {
        for (int j = 0; j < 4; j++)
            a[i][j] = sum[i + j];
        a[i][4] = sum[7 + i];
    }
    c[0] = 1e300, c[1] = c[2] = c[3] = 0;
    if (sum[0] < 16)
        return;
    for (int k = 0; k < 4; k++)
        for (int i = k + 1; i < 4; i++)
            for (int j = 4; j >= k; j--)
                a[i][j] -= a[i][k] / a[k][k] * a[k][j];
    for (int i = 3; i >= 0; i--) {
        c[i] = a[i][4];
        for (int j = i + 1; j < 4; j++)
            c[i] -= a[i][j] * c[j];
        c[i] /= a[i][i];
    }
}

/* The rule, by regression on FIT paths of its own (Longstaff and Schwartz
 * 2001): stored in single precision, date by date. */
static void make_put(const struct risk_step *s, struct put *b)
{
    risk_row x __attribute__((aligned(64))),
        out[4] __attribute__((aligned(64)));
    memset(b, 0, sizeof *b);
    for (int date = 0; date < DATES; date++)
        b->discount[date] = exp(-rate * (date + 1) / DATES);
    for (int path = 0; path < FIT; path += RISK_BLOCK) {
        memset(x, 0, sizeof x);
        for (int date = 0; date < DATES; date++) {
            if (date % 4 == 0)
                put_spots(s, RISK_REGRESSION_PATH + (uint64_t)path,
                          (uint32_t)date / 4, x, out);
            for (int i = 0; i < RISK_BLOCK; i++)
                b->spot[date][path + i] = (float)out[date % 4][i];
        }
    }
    for (int date = DATES - 1; date >= 0; date--) {
        double sum[11];
        put_moments(b, date, sum);
        if (date < DATES - 1)
            put_solve(sum, b->rule[date]);
        for (int i = 0; i < FIT; i += EXACT_LANES) {
            few_floats single;
            memcpy(&single, &b->spot[date][i], sizeof single);
            const exact_real y = exercised(
                b->rule[date], __builtin_convertvector(single, exact_real));
            exact_store(b->value + i,
                        exact_select(exact_less(exact_set(0), y),
                                     y * exact_set(b->discount[date]),
                                     exact_load(b->value + i)));
        }
    }
}

static double put(const struct put *b, const struct risk_step *s, uint64_t path)
{
    risk_row x __attribute__((aligned(64))),
        out[4] __attribute__((aligned(64))), paid __attribute__((aligned(64))),
        alive __attribute__((aligned(64)));
    double sum = 0;
    memset(x, 0, sizeof x);
    memset(paid, 0, sizeof paid);
    EACH(i) exact_store(alive + i, exact_set(1));
    for (int date = 0; date < DATES; date++) {
        const exact_real d = exact_set(b->discount[date]);
        if (date % 4 == 0)
            put_spots(s, path, (uint32_t)date / 4, x, out);
        EACH(i)
        {
            const exact_real a = exact_load(alive + i),
                             y = a * exercised(b->rule[date],
                                               exact_load(out[date % 4] + i));
            exact_store(paid + i, exact_fma(d, y, exact_load(paid + i)));
            exact_store(alive + i, exact_select(exact_less(exact_set(0), y),
                                                exact_set(0), a));
        }
    }
    for (int i = 0; i < RISK_BLOCK; i++)
        sum += paid[i];
    return sum;
}

/* ---- all of them ---- */

int risk_plain_steps(enum risk_plain what)
{
    return what == RISK_PLAIN_BOOK       ? MONTHS
           : what == RISK_PLAIN_AMERICAN ? DATES
                                         : DAYS;
}

int64_t risk_plain_first(enum risk_plain what)
{
    return what == RISK_PLAIN_AMERICAN ? FIT / RISK_BLOCK : 0;
}

double risk_plain_value(enum risk_plain what, int64_t n)
{
    const int is_book = what == RISK_PLAIN_BOOK,
              is_put = what == RISK_PLAIN_AMERICAN;
    struct risk_step s;
    struct book *b = NULL;
    struct put *p = NULL;
    double sum = 0;
    int failed = make_step(what == RISK_PLAIN_HESTON ? RISK_HESTON : RISK_GBM,
                           risk_plain_steps(what), &s);
    if (!failed && is_book)
        failed = (b = aligned_alloc(64, (sizeof *b + 63) / 64 * 64)) == NULL;
    if (!failed && is_put)
        failed = (p = aligned_alloc(64, (sizeof *p + 63) / 64 * 64)) == NULL;
    if (b != NULL)
        make_book(b);
    if (p != NULL)
        make_put(&s, p);
    for (int64_t i = 0; i < n && !failed; i++) {
        const uint64_t path = (uint64_t)i * RISK_BLOCK;
        sum += what == RISK_PLAIN_EUROPEAN ? european(&s, path)
               : what == RISK_PLAIN_ASIAN  ? asian(&s, path)
               : what == RISK_PLAIN_HESTON ? heston(&s, path)
               : is_put                    ? put(p, &s, path)
                                           : book(b, &s, path);
    }
    free(b);
    free(p);
    return failed ? (double)NAN : sum / ((double)n * RISK_BLOCK);
}
