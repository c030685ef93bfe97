/* risk_price.c: paths in batches, and what their sums say.
 *
 * A batch is a fixed number of chunks, whatever the number of ranks; each chunk
 * is run by one rank. Chunk sums are joined by a fixed tree, batches one after
 * the other: the bits of the result do not depend on who computed what.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/comm.h"
#include "base/ctx.h"
#include "base/error.h"
#include "base/timer.h"
#include "kernels/risk/exact.h"
#include "solvers/risk/risk.h"

/* Chunk sums of a batch take at most about this much; a batch is smaller where
 * there are many instruments and scenarios. */
#define BATCH_BYTES ((size_t)64 << 20)

enum {
    SUMS = sizeof(struct risk_sums) / sizeof(double),
    SCENARIO_SUMS = sizeof(struct risk_scenario_sums) / sizeof(double)
};

/* Doubles that one chunk leaves. */
static size_t chunk_doubles(const struct risk *risk)
{
    const size_t n = (size_t)risk->portfolio.n + 1;
    return n * (SUMS + SCENARIO_SUMS * (size_t)risk->plan.n_scenarios);
}

int64_t risk_batch_chunks(const struct risk *risk)
{
    size_t most = BATCH_BYTES / (chunk_doubles(risk) * sizeof(double));
    int64_t n = most > RISK_BATCH ? RISK_BATCH : most < 1 ? 1 : (int64_t)most;
    if (!risk->sobol)
        return n;
    /* A power of two, so that replicates are whole batches. */
    int64_t whole = 1;
    while (2 * whole <= n && (risk->plan.replicate_chunks == 0 ||
                              2 * whole <= risk->plan.replicate_chunks))
        whole *= 2;
    return whole;
}

/* Replicates of a power of two of chunks, in all about as many chunks as
 * asked for, or more. */
static int make_replicates(struct ctx *ctx, struct risk *risk)
{
    int64_t each = 1;
    while (each * risk->replicates < risk->chunks_total)
        each *= 2;
    if (each > (1 << 20))
        return FAIL(ctx, STATUS_DECK,
                    "Sobol's sequence has 2^32 points; ask for at most %.0f "
                    "paths in %d replicates",
                    0x1p32 * risk->replicates * (risk->antithetic ? 2 : 1),
                    risk->replicates);
    risk->plan.replicate_chunks = each;
    risk->chunks_total = each * risk->replicates;
    return 0;
}

int risk_price_prepare(struct ctx *ctx, struct risk *risk)
{
    const size_t n = (size_t)risk->portfolio.n + 1;
    const int64_t samples =
        risk->antithetic ? risk->paths / 2 + risk->paths % 2 : risk->paths;
    risk->sums = calloc(n, sizeof *risk->sums);
    risk->scenario_sums = calloc(n * (size_t)risk->plan.n_scenarios + 1,
                                 sizeof *risk->scenario_sums);
    risk->prices = calloc(n, sizeof *risk->prices);
    risk->chunks_total = (samples + RISK_CHUNK - 1) / RISK_CHUNK;
    if (risk->batches > 0)
        risk->chunks_total = risk->batches * risk_batch_chunks(risk);
    if (risk->sums == NULL || risk->scenario_sums == NULL ||
        risk->prices == NULL)
        return FAIL(ctx, STATUS_MEMORY, "out of memory for sums");
    if (!risk->sobol)
        return 0;
    risk->part = calloc(n, sizeof *risk->part);
    risk->part_scenarios = calloc(n * (size_t)risk->plan.n_scenarios + 1,
                                  sizeof *risk->part_scenarios);
    if (risk->part == NULL || risk->part_scenarios == NULL)
        return FAIL(ctx, STATUS_MEMORY, "out of memory for sums");
    return make_replicates(ctx, risk);
}

int risk_price_begin(struct ctx *ctx, struct risk *risk)
{
    TRY(risk_exercise_fit(ctx, risk));
    return risk->k->create(ctx, &risk->plan, &risk->store);
}

/* Run this rank's chunks of a batch; all[chunk] has chunk_doubles() each. */
static int run_mine(struct ctx *ctx, struct risk *risk, int64_t first,
                    int64_t n, double *all)
{
    const int size = comm_size(ctx->comm), rank = comm_rank(ctx->comm);
    const int64_t begin = n * rank / size, end = n * (rank + 1) / size;
    const size_t each = chunk_doubles(risk),
                 rows = (size_t)risk->portfolio.n + 1;
    struct risk_chunk *chunks = calloc((size_t)n, sizeof *chunks);
    if (chunks == NULL)
        return FAIL(ctx, STATUS_MEMORY, "out of memory for chunks");
    for (int64_t c = begin; c < end; c++) {
        double *at = all + each * (size_t)c;
        chunks[c].sums = (struct risk_sums *)(void *)at;
        chunks[c].scenarios =
            (struct risk_scenario_sums *)(void *)(at + rows * SUMS);
    }
    int status = 0;
    if (end > begin)
        status = risk->k->run(ctx, risk->store, first + begin, end - begin,
                              chunks + begin);
    free(chunks);
    return status;
}

/* total[i] += the sum over chunks of all[chunk][i], by a tree. */
static void join(const double *all, size_t each, int64_t n, double *total,
                 size_t first, size_t count)
{
    double leaf[RISK_BATCH];
    for (size_t i = 0; i < count; i++) {
        for (int64_t c = 0; c < n; c++)
            leaf[c] = all[each * (size_t)c + first + i];
        total[i] += exact_tree_sum(leaf, n);
    }
}

/* A replicate is complete: its means are one sample. The sums stand in pairs,
 * of a number and of its square (and the control's products, unused here). */
static void end_replicate(struct risk *risk)
{
    const double n = (double)risk->plan.replicate_chunks * RISK_CHUNK;
    const size_t rows = (size_t)risk->portfolio.n + 1,
                 scenarios = rows * (size_t)risk->plan.n_scenarios;
    for (size_t i = 0; i < rows; i++) {
        double y = risk->part[i].y / n;
        risk->sums[i].y += y;
        risk->sums[i].yy += y * y;
    }
    for (size_t i = 0; i < scenarios; i++) {
        const struct risk_scenario_sums *p = &risk->part_scenarios[i];
        struct risk_scenario_sums *s = &risk->scenario_sums[i];
        double y = p->y / n, d = p->difference / n, d2 = p->second / n;
        s->y += y;
        s->yy += y * y;
        s->difference += d;
        s->difference2 += d * d;
        s->second += d2;
        s->second2 += d2 * d2;
    }
    memset(risk->part, 0, rows * sizeof *risk->part);
    memset(risk->part_scenarios, 0, scenarios * sizeof *risk->part_scenarios);
}

int risk_price_batch(struct ctx *ctx, struct risk *risk)
{
    int64_t n = risk_batch_chunks(risk);
    if (n > risk->chunks_total - risk->chunks_done)
        n = risk->chunks_total - risk->chunks_done;
    const size_t each = chunk_doubles(risk),
                 rows = (size_t)risk->portfolio.n + 1, total = each * (size_t)n;
    double *all = calloc(total, sizeof *all);
    timer_begin(ctx->timers, risk->phase_paths);
    int status = all == NULL
                     ? FAIL(ctx, STATUS_MEMORY, "out of memory for sums")
                     : run_mine(ctx, risk, risk->chunks_done, n, all);
    timer_end(ctx->timers, risk->phase_paths);
    timer_begin(ctx->timers, risk->phase_join);
    status = comm_agree(ctx, status);
    /* All but one rank have 0 in each place: the sum is exact. */
    for (size_t at = 0; status == 0 && at < total; at += 1u << 20) {
        size_t part = total - at < 1u << 20 ? total - at : 1u << 20;
        status = comm_sum_double(ctx, all + at, (int)part);
    }
    if (status == 0) {
        struct risk_sums *sums = risk->sobol ? risk->part : risk->sums;
        struct risk_scenario_sums *scenarios =
            risk->sobol ? risk->part_scenarios : risk->scenario_sums;
        join(all, each, n, &sums->y, 0, rows * SUMS);
        join(all, each, n, &scenarios->y, rows * SUMS, each - rows * SUMS);
        risk->chunks_done += n;
        if (risk->sobol && risk->chunks_done % risk->plan.replicate_chunks == 0)
            end_replicate(risk);
    }
    timer_end(ctx->timers, risk->phase_join);
    free(all);
    return status;
}

double risk_samples_done(const struct risk *risk)
{
    if (risk->sobol)
        return (double)(risk->chunks_done / risk->plan.replicate_chunks);
    return (double)risk->chunks_done * RISK_CHUNK;
}

/* Mean and standard error of n samples with these sums. */
struct risk_number risk_mean(double sum, double squares, double n)
{
    double mean = sum / n, variance = squares / n - mean * mean;
    return (struct risk_number){mean, n > 1 ? sqrt(fmax(variance, 0) / (n - 1))
                                            : INFINITY};
}

/* Coefficients of the two controls, or 0 for one that does not vary, or (the
 * second) that varies as the other does but for rounding. */
static void two_controls(double vc, double vs, double cs, double yc, double ys,
                         double b[2])
{
    const double det = vc * vs - cs * cs;
    b[0] = b[1] = 0;
    if (vc > 0 && vs > 0 && det > 1e-9 * vc * vs) {
        b[0] = (vs * yc - cs * ys) / det;
        b[1] = (vc * ys - cs * yc) / det;
    } else if (vc > 0) {
        b[0] = yc / vc;
    } else if (vs > 0) {
        b[1] = ys / vs;
    }
}

/* With controls of known mean: y - beta . (c - mean), beta from the same
 * samples, which biases by O(1/n) only (Glasserman 2004, section 4.1). */
static void controlled(const struct risk_sums *s, double n,
                       const struct risk_instrument *q, struct risk_price *out)
{
    const double y = s->y / n, c = s->c / n, second = s->s / n,
                 vy = s->yy / n - y * y, yc = s->yc / n - y * c,
                 ys = s->ys / n - y * second;
    double vc = s->cc / n - c * c, vs = s->ss / n - second * second, b[2];
    out->value = risk_mean(s->y, s->yy, n);
    out->control_share = 0;
    /* What is left of a number that does not vary is rounding. */
    vc = vc > 1e-14 * s->cc / n ? vc : 0;
    vs = vs > 1e-14 * s->ss / n ? vs : 0;
    if (!(vy > 0))
        return;
    two_controls(vc, vs, s->cs / n - c * second, yc, ys, b);
    const double share = (b[0] * yc + b[1] * ys) / vy;
    out->control_share = fmin(share, 1);
    out->value.value =
        y - b[0] * (c - q->control_mean) - b[1] * (second - q->second_mean);
    out->value.error = sqrt(vy * fmax(1 - share, 0) / (n - 1));
}

static const char *method_of(const struct risk *risk, int32_t i)
{
    const enum risk_type type = risk->portfolio.positions[i].type;
    if (type == RISK_TYPE_BERMUDAN || type == RISK_TYPE_AMERICAN)
        return "Longstaff-Schwartz, low-biased";
    if (risk->sobol)
        return "Sobol, scrambled";
    switch (risk->plan.instruments[i].control) {
    case RISK_GEOMETRIC:
        return "Monte Carlo, control: geometric Asian";
    case RISK_UNDERLYING:
        return "Monte Carlo, control: underlying";
    case RISK_TWIN:
    case RISK_TWIN_GEOMETRIC:
        return "Monte Carlo, controls: Black-Scholes twin, underlying";
    default:
        return "Monte Carlo";
    }
}

/* An American option that is worth more exercised today than kept; what that
 * adds to the portfolio. */
static double exercise_today(const struct risk *risk,
                             const struct risk_position *p,
                             struct risk_price *out)
{
    const double now = risk_exercise_now(&risk->market, p),
                 more = now - out->value.value;
    if (!(more >= 0))
        return 0;
    out->value = (struct risk_number){now, 0};
    out->method = "exercised today";
    return p->quantity * more;
}

/* The portfolio's samples have no control. Where positions have, their sum may
 * be better, though nothing is known of how their errors go together: the sum
 * of the errors is the most that it can have. */
static void sum_of_positions(const struct risk *risk, struct risk_price *all)
{
    struct risk_number sum = {0, 0};
    for (int32_t i = 0; i < risk->portfolio.n; i++) {
        double quantity = risk->portfolio.positions[i].quantity;
        sum.value += quantity * risk->prices[i].value.value;
        sum.error += fabs(quantity) * risk->prices[i].value.error;
    }
    if (!(sum.error < all->value.error))
        return;
    all->value = sum;
    all->method = "sum of positions with controls, error at most";
}

void risk_price_numbers(struct risk *risk)
{
    const double n = risk_samples_done(risk);
    const int32_t last = risk->portfolio.n;
    double known = 0;
    int32_t n_known = 0;
    if (n < 1) {
        risk->prices[last].value = (struct risk_number){0, INFINITY};
        return;
    }
    for (int32_t i = 0; i < last; i++) {
        const struct risk_position *p = &risk->portfolio.positions[i];
        struct risk_price *out = &risk->prices[i];
        if (risk_position_is_known(p)) {
            out->value =
                (struct risk_number){risk_known_value(&risk->market, p), 0};
            out->method = "known";
            known += p->quantity * out->value.value;
            n_known++;
            continue;
        }
        controlled(&risk->sums[i], n, &risk->plan.instruments[i], out);
        out->method = method_of(risk, i);
        if (p->type == RISK_TYPE_AMERICAN)
            known += exercise_today(risk, p, out);
    }
    risk->prices[last].value =
        risk_mean(risk->sums[last].y, risk->sums[last].yy, n);
    risk->prices[last].value.value += known;
    risk->prices[last].method = n_known == last ? "known"
                                : risk->sobol   ? "Sobol, scrambled"
                                                : "Monte Carlo";
    if (risk->control)
        sum_of_positions(risk, &risk->prices[last]);
}
