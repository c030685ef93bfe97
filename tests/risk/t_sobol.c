/* t_sobol: Sobol's points, their scrambling, and what they do for an Asian. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/comm.h"
#include "base/ctx.h"
#include "kernels/risk/risk_kernels.h"
#include "kernels/risk/sobol.h"
#include "tests/tap.h"

enum { STEPS = 64, DRIVERS = 8 };

static struct ctx ctx;

static void points(const struct risk_sobol *t)
{
    /* Point 1000 in Gray's order is 1000 ^ 500 in ours; numerators over 2^32
     * as scipy.stats.qmc.Sobol 1.10 gives them. */
    static const struct {
        int d;
        uint32_t one, thousand;
    } known[] = {{0, 1u << 31, 0},
                 {1, 2147483648u, 415236096u},
                 {2, 2147483648u, 2227175424u},
                 {10, 2147483648u, 364904448u},
                 {100, 2147483648u, 3300917248u},
                 {511, 2147483648u, 1698693120u}};
    int wrong = 0;
    for (int i = 0; i < 6; i++) {
        const uint32_t *v = t->direction + (ptrdiff_t)32 * known[i].d;
        uint32_t one = risk_reversed_bits(risk_sobol_word(1, v)),
                 far = risk_reversed_bits(risk_sobol_word(1000 ^ 500, v));
        wrong += one != known[i].one;
        wrong += known[i].d > 0 && far != known[i].thousand;
    }
    tap_ok(wrong == 0, "coordinates 1 to 512 are Joe and Kuo's");
}

/* Whether the first 2^m points of coordinate d, or of its scramble, lie in
 * 2^m intervals, one each. */
static int stratified(const uint32_t *v, int m, uint32_t seed, int scrambled)
{
    const uint32_t n = 1u << m;
    unsigned char *seen = calloc(n, 1);
    int good = seen != NULL;
    for (uint32_t i = 0; i < n && good; i++) {
        uint32_t x = risk_sobol_word(i, v);
        x = scrambled ? risk_scrambled(x, seed) : risk_reversed_bits(x);
        good = !seen[x >> (32 - m)];
        seen[x >> (32 - m)] = 1;
    }
    free(seen);
    return good;
}

static void strata(const struct risk_sobol *t)
{
    int plain = 0, scrambled = 0;
    for (int d = 0; d < t->dimensions; d++) {
        const uint32_t *v = t->direction + (ptrdiff_t)32 * d;
        plain += stratified(v, 10, 0, 0);
        scrambled += stratified(v, 10, 0x9E3779B9u * (uint32_t)(d + 1), 1);
    }
    tap_ok(plain == t->dimensions, "1024 points fill 1024 intervals in each "
                                   "coordinate");
    tap_ok(scrambled == t->dimensions, "and so do scrambled ones");
    /* Two coordinates: a (0, m, 2)-net has one point in each 2^5 x 2^5 box. */
    unsigned char seen[1024] = {0};
    int boxes = 0;
    for (uint32_t i = 0; i < 1024; i++) {
        uint32_t x = risk_scrambled(risk_sobol_word(i, t->direction), 1234567),
                 y = risk_scrambled(risk_sobol_word(i, t->direction + 32),
                                    7654321);
        uint32_t box = (x >> 27) * 32 + (y >> 27);
        boxes += !seen[box];
        seen[box] = 1;
    }
    tap_ok(boxes == 1024, "scrambling keeps the net of two coordinates");
    /* A bit flips for half of all seeds, whatever the point. */
    double mean = 0;
    for (uint32_t s = 0; s < 4096; s++)
        mean += risk_scrambled(0, s * 0x85EBCA6Bu + 12345) * 0x1p-32 / 4096;
    tap_near(mean, 0.5, 4 * 0.2887 / 64, "a scrambled point is uniform");
}

static void bridge(void)
{
    const double length[5] = {0.1, 0.5, 0.02, 1, 0.3};
    struct risk_sobol t;
    int failed = risk_sobol_make(&t, 5, length, 1);
    double date[5], sum = 0, worst = 0, root[5][5] = {{0}};
    for (int k = 0; k < 5; k++)
        date[k] = sum += length[k];
    for (int j = 0; j < 5 && !failed; j++) {
        const struct risk_bridge_point *p = &t.order[j];
        for (int c = 0; c < j; c++) {
            if (p->left >= 0)
                root[p->at][c] += p->left_weight * root[p->left][c];
            if (p->right >= 0)
                root[p->at][c] += p->right_weight * root[p->right][c];
        }
        root[p->at][j] = p->deviation;
    }
    for (int a = 0; a < 5; a++)
        for (int b = 0; b <= a; b++) {
            double covariance = 0;
            for (int c = 0; c < 5; c++)
                covariance += root[a][c] * root[b][c];
            worst = fmax(worst, fabs(covariance - date[b]));
        }
    tap_ok(!failed && worst < 1e-14,
           "a bridge over unequal steps has Brownian covariances (%.1e)",
           worst);
    risk_sobol_free(&t);
}

/* An arithmetic Asian call, chunks of 4096 points; each scramble's mean. */
static int replicates(int sobol, int steps, int64_t each, int n, double *mean)
{
    static double length[STEPS], drift[STEPS];
    static struct risk_event events[STEPS + 1];
    const struct risk_factor factor = {
        .model = RISK_GBM, .spot = 100, .volatility = 0.2};
    const struct risk_instrument call = {.payoff = RISK_ASIAN_ARITHMETIC,
                                         .n_legs = 1,
                                         .weight = {1},
                                         .side = 1,
                                         .quantity = 1,
                                         .strike = 100,
                                         .n_fixings = steps,
                                         .discount = exp(-0.05)};
    for (int k = 0; k < steps; k++) {
        length[k] = 1.0 / steps;
        drift[k] = 0.05 / steps;
        events[k] = (struct risk_event){.step = k, .action = RISK_SUM_SPOT};
    }
    events[steps] = (struct risk_event){.step = steps - 1, .action = RISK_PAY};
    const struct risk_plan plan = {.seed = 7,
                                   .n_factors = 1,
                                   .factors = &factor,
                                   .n_steps = steps,
                                   .step_length = length,
                                   .drift = drift,
                                   .n_instruments = 1,
                                   .instruments = &call,
                                   .n_events = steps + 1,
                                   .events = events,
                                   .sobol = sobol,
                                   .replicate_chunks = each};
    struct risk_store *s;
    int status = risk_kernels_cpu.create(&ctx, &plan, &s);
    for (int r = 0; r < n && status == 0; r++) {
        mean[r] = 0;
        for (int64_t c = 0; c < each && status == 0; c++) {
            struct risk_sums sums[2];
            struct risk_chunk chunk = {.sums = sums};
            status = risk_kernels_cpu.run(&ctx, s, r * each + c, 1, &chunk);
            mean[r] += sums[0].y / ((double)each * RISK_CHUNK);
        }
    }
    risk_kernels_cpu.destroy(s);
    return status;
}

static double error_of(const double *mean, int n, double *centre)
{
    double m = 0, v = 0;
    for (int r = 0; r < n; r++)
        m += mean[r] / n;
    for (int r = 0; r < n; r++)
        v += (mean[r] - m) * (mean[r] - m);
    *centre = m;
    return sqrt(v / (n - 1));
}

static void asian(void)
{
    enum { R = 24 };
    double mean[R], few, many, plain, m_few, m_many, m_plain;
    /* 4096 to 65536 points, sixty-four dates: a bridge alone gives N^-0.7
     * there, however well its points are scrambled. */
    enum { SIZES = 5 };
    double sum = 0, slope = 0;
    int failed = 0;
    few = many = m_few = m_many = 0;
    for (int i = 0; i < SIZES; i++) {
        failed |= replicates(1, STEPS, (int64_t)1 << i, R, mean);
        many = error_of(mean, R, &m_many);
        if (i == 0) {
            tap_ok(!failed && mean[0] != mean[1], "scrambles differ");
            few = many;
            m_few = m_many;
        }
        sum += log2(many) * (i - (SIZES - 1) / 2.0);
    }
    /* Each deviation is known to 15 %, 0.21 in log2; over the sum of squares
     * of the places, 10, the exponent's error is 0.07. */
    slope = -sum / 10;
    tap_ok(!failed && slope > 0.9,
           "the error of an Asian of 64 dates falls faster than N^-0.9: "
           "N^-%.3f, to %.2e",
           slope, many);
    tap_near(m_few, m_many, 4 * few / sqrt(R),
             "few points agree with many within their error");
    failed |= replicates(0, STEPS, 1, R, mean);
    plain = error_of(mean, R, &m_plain);
    tap_ok(!failed && few < 0.03 * plain,
           "4096 points are worth a thousand times as many random ones: "
           "%.1e for %.1e",
           few, plain);
    tap_near(m_few, m_plain, 4 * plain / sqrt(R),
             "the mean is that of random paths");
}

int main(void)
{
    double length[STEPS];
    struct risk_sobol t;
    if (comm_start_alone(1, &ctx.comm) != 0)
        return tap_skip_all("no memory");
    for (int k = 0; k < STEPS; k++)
        length[k] = 1.0 / STEPS;
    if (risk_sobol_make(&t, STEPS, length, DRIVERS) == 0) {
        points(&t);
        strata(&t);
    }
    risk_sobol_free(&t);
    bridge();
    asian();
    comm_finish(ctx.comm);
    return tap_done();
}
