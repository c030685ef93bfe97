/* risk_frontier.c: the mean-CVaR efficient frontier over simulated returns.
 *
 * Rank 0 makes the scenarios, chooses weights by linear programmes (risk_lp.c)
 * and tells them to all; losses of these weights on other paths, which all
 * ranks share, give what can be expected of them: chosen weights look better
 * on the scenarios that chose them than they are. Paths have fixed numbers,
 * sums a fixed order: the same bits on any ranks.
 */
#include "solvers/risk/risk_frontier.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/comm.h"
#include "base/ctx.h"
#include "base/error.h"
#include "base/log.h"
#include "base/timer.h"
#include "kernels/risk/exact.h"
#include "kernels/risk/value.h"
#include "solvers/risk/risk_lp.h"
#include "solvers/risk/risk_reval.h"
#include "solvers/risk/risk_var.h"

/* ---- returns of the assets ---- */

/* What makes returns from spots at the horizon. */
struct market {
    const struct risk *risk;
    const struct risk_kernels *k;
    struct risk_store *store;
    int32_t last;
    double *spot;  /* [n_factors][RISK_CHUNK] */
    double *value; /* [RISK_CHUNK] */
    /* of positions: their value at the horizon, and that of today */
    struct risk_valuation *then;
    double *now;
};

static void market_free(struct market *m)
{
    if (m->store != NULL)
        m->k->destroy(m->store);
    free(m->spot);
    free(m->value);
    free(m->then);
    free(m->now);
}

/* Steps to the horizon in the real world. */
static int make_store(struct ctx *ctx, struct market *m)
{
    const struct risk *risk = m->risk;
    const double h = risk->frontier->horizon;
    const int32_t steps =
        (int32_t)fmax(ceil(h * risk->market.steps_per_year - 1e-9), 1);
    double *dates = calloc(2 * (size_t)steps, sizeof *dates),
           *lengths = dates == NULL ? NULL : dates + steps;
    if (dates == NULL)
        return FAIL(ctx, STATUS_MEMORY, "out of memory for scenarios");
    for (int32_t s = 0; s < steps; s++) {
        dates[s] = h * (s + 1) / steps;
        lengths[s] = dates[s] - (s > 0 ? dates[s - 1] : 0);
    }
    const struct risk_walks walks = {.k = m->k,
                                     .n_steps = steps,
                                     .dates = dates,
                                     .lengths = lengths,
                                     .real = 1};
    m->last = steps - 1;
    int status = risk_walks_store(ctx, risk, &walks, &m->store);
    free(dates);
    return status;
}

static int value_positions(struct ctx *ctx, struct market *m)
{
    const struct risk *risk = m->risk;
    for (int f = 0; f < risk->market.n; f++)
        for (int i = 0; i < 8; i++)
            m->spot[f * RISK_CHUNK + i] = risk->market.assets[f].model.spot;
    for (int32_t q = 0; q < risk->portfolio.n; q++) {
        TRY(risk_value_make(ctx, risk, q, 0, &m->then[q]));
        risk_value_paths(&m->then[q], m->spot, RISK_CHUNK, 8, m->value);
        m->now[q] = m->value[0];
        if (!(m->now[q] > 0))
            return FAIL(ctx, STATUS_INPUT,
                        "%s is worth %g today: it has no return; use assets = "
                        "\"factors\", or a position that costs something",
                        risk->portfolio.positions[q].id, m->now[q]);
        TRY(risk_value_make(ctx, risk, q, risk->frontier->horizon,
                            &m->then[q]));
    }
    return 0;
}

static int market_make(struct ctx *ctx, const struct risk *risk,
                       struct market *m)
{
    const size_t nf = (size_t)risk->market.n, np = (size_t)risk->portfolio.n;
    m->risk = risk;
    m->k = risk->k->states != NULL ? risk->k : &risk_kernels_cpu;
    m->spot = aligned_alloc(64, nf * RISK_CHUNK * sizeof(double));
    m->value = aligned_alloc(64, RISK_CHUNK * sizeof(double));
    m->then = calloc(np + 1, sizeof *m->then);
    m->now = calloc(np + 1, sizeof *m->now);
    if (m->spot == NULL || m->value == NULL || m->then == NULL ||
        m->now == NULL)
        return FAIL(ctx, STATUS_MEMORY, "no memory for scenarios");
    if (risk->frontier->of_positions)
        TRY(value_positions(ctx, m));
    return make_store(ctx, m);
}

/* Dividends are reinvested in the factor. */
static double dividend(const struct risk *risk, int f)
{
    return risk_curve_integral(&risk->market.assets[f].dividend,
                               risk->frontier->horizon);
}

/* Returns of factor f from its spots, in place. normal: the return is the
 * normal number itself, not the exponential of it. */
static void factor_returns(const struct risk *risk, int f, double *spot)
{
    const struct risk_factor *m = &risk->market.assets[f].model;
    const double h = risk->frontier->horizon, q = dividend(risk, f),
                 more = exp(q), half = 0.5 * m->volatility * m->volatility * h;
    for (int i = 0; i < RISK_CHUNK; i++)
        spot[i] = risk->frontier->normal
                      ? exact_log(spot[i] / m->spot) + half + q
                      : spot[i] / m->spot * more - 1;
}

/* Of n paths of chunk c: to out[asset * stride + path]. */
static int chunk_returns(struct ctx *ctx, struct market *m, int64_t c, size_t n,
                         size_t stride, double *out)
{
    const struct risk *risk = m->risk;
    TRY(m->k->states(ctx, m->store, c, 1, &m->last, m->spot, NULL));
    for (int a = 0; a < risk->frontier->n; a++) {
        double *from = m->spot + (size_t)a * RISK_CHUNK;
        if (risk->frontier->of_positions) {
            from = m->value;
            risk_value_paths(&m->then[a], m->spot, RISK_CHUNK, RISK_CHUNK,
                             from);
            for (int i = 0; i < RISK_CHUNK; i++)
                from[i] = from[i] / m->now[a] - 1;
        } else {
            factor_returns(risk, a, from);
        }
        for (size_t i = 0; i < n; i++)
            if (!isfinite(from[i]))
                return FAIL(ctx, STATUS_PHYSICS,
                            "the return of %s on path %lld is not finite",
                            risk->frontier->names[a],
                            (long long)(c * RISK_CHUNK + (int64_t)i));
        memcpy(out + (size_t)a * stride, from, n * sizeof *from);
    }
    return 0;
}

/* ---- the scenarios that choose ---- */

/* The mean return of a factor is known: the scenarios are moved to have it, so
 * that the frontier is not one of the noise in the means. */
static void centre(const struct risk *risk, int f, double *r, size_t n,
                   double *mean)
{
    const double g = risk_real_growth(&risk->market.assets[f], 0,
                                      risk->frontier->horizon),
                 q = dividend(risk, f), sampled = *mean;
    *mean = risk->frontier->normal ? g + q : expm1(g + q);
    for (size_t i = 0; i < n; i++)
        r[i] = risk->frontier->normal
                   ? r[i] - sampled + *mean
                   : (1 + r[i]) * ((1 + *mean) / (1 + sampled)) - 1;
}

static int make_scenarios(struct ctx *ctx, struct market *m, double *returns,
                          double *mean)
{
    const struct risk_frontier *f = m->risk->frontier;
    const size_t n = (size_t)f->scenarios;
    for (size_t at = 0; at < n; at += RISK_CHUNK) {
        size_t here = n - at < RISK_CHUNK ? n - at : RISK_CHUNK;
        TRY(chunk_returns(ctx, m, (int64_t)(at / RISK_CHUNK), here, n,
                          returns + at));
    }
    for (int a = 0; a < f->n; a++) {
        double *r = returns + (size_t)a * n;
        mean[a] = 0;
        for (size_t i = 0; i < n; i++)
            mean[a] += r[i] / (double)n;
        if (!f->of_positions)
            centre(m->risk, a, r, n, &mean[a]);
    }
    return 0;
}

/* ---- losses ---- */

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* VaR: the ceil(n level)-th smallest of n losses; CVaR: the mean of the worst
 * (1 - level) n, the last one in part, with its error (Manistre and Hancock
 * 2005). Sorts the losses. */
static void tail_of(double *loss, size_t n, double level, double *var,
                    struct risk_number *cvar)
{
    const double tail = (double)n * (1 - level);
    qsort(loss, n, sizeof *loss, by_size);
    size_t k = (size_t)fmax(ceil((double)n * level - 1e-9), 1);
    double sum = 0, squares = 0, m = (double)(n - k);
    *var = loss[k - 1];
    for (size_t i = k; i < n; i++) {
        const double d = loss[i] - *var;
        sum += d;
        squares += d * d;
    }
    const double mean = m > 0 ? sum / m : 0,
                 variance = m > 0 ? fmax(squares / m - mean * mean, 0) : 0;
    cvar->value = *var + sum / tail;
    cvar->error = sqrt((variance + level * mean * mean) / tail);
}

/* Weights of point k, one after the other. */
static void weights_of(const struct risk_frontier *f, int k, double *w)
{
    for (int a = 0; a < f->n; a++)
        w[a] = f->weights[a * f->n_points + k];
}

static void losses_of(const struct risk_frontier *f, const double *w,
                      const double *returns, size_t stride, size_t n,
                      double *loss)
{
    for (size_t i = 0; i < n; i++)
        loss[i] = 0;
    for (int a = 0; a < f->n; a++)
        for (size_t i = 0; i < n; i++)
            loss[i] -= w[a] * returns[(size_t)a * stride + i];
}

/* ---- the weights ---- */

/* The greatest mean return that the bounds allow: what is left beside the lower
 * bounds goes to the best assets first. */
static double greatest_return(const struct risk_frontier *f, const double *mean)
{
    double left = 1, sum = 0, room[RISK_FACTORS_MAX];
    for (int a = 0; a < f->n; a++) {
        left -= f->lower[a];
        sum += f->lower[a] * mean[a];
        room[a] = f->upper[a] - f->lower[a];
    }
    while (left > 1e-14) {
        int best = -1;
        for (int a = 0; a < f->n; a++)
            if (room[a] > 0 && (best < 0 || mean[a] > mean[best]))
                best = a;
        if (best < 0)
            break;
        const double part = fmin(room[best], left);
        sum += part * mean[best];
        left -= part;
        room[best] -= part;
    }
    return sum;
}

/* One point. The value that the programme gave is checked against that of the
 * weights, on the same scenarios. */
static int solve_point(struct ctx *ctx, struct risk_frontier *f,
                       struct risk_lp *lp, const struct risk_lp_problem *p,
                       int k, double target, double *room)
{
    double w[RISK_FACTORS_MAX], found, var;
    double *loss = room;
    struct risk_number cvar;
    struct risk_frontier_point *point = &f->points[k];
    const size_t n = (size_t)f->scenarios;
    TRY(risk_lp_solve(ctx, lp, target, w, &found));
    point->return_in_sample = 0;
    for (int a = 0; a < f->n; a++) {
        f->weights[a * f->n_points + k] = w[a];
        point->return_in_sample += w[a] * p->mean[a];
    }
    losses_of(f, w, p->returns, n, n, loss);
    tail_of(loss, n, f->level, &var, &cvar);
    point->cvar_in_sample = cvar.value;
    if (fabs(cvar.value - found) > 1e-6 * (fabs(found) + cvar.value - var))
        return FAIL(ctx, STATUS_PHYSICS,
                    "point %d of the frontier: GLPK's conditional value at "
                    "risk is %.10g, that of its weights %.10g",
                    k + 1, found, cvar.value);
    return 0;
}

static int solve_points(struct ctx *ctx, struct risk_frontier *f,
                        struct risk_lp *lp, const struct risk_lp_problem *p,
                        double *room)
{
    const double most = greatest_return(f, p->mean);
    TRY(solve_point(ctx, f, lp, p, 0, NAN, room));
    const double least = f->points[0].return_in_sample, span = most - least;
    f->n_done = 1;
    if (!(span > 1e-9 * (fabs(most) + 1e-3)))
        return 0;
    for (int k = 1; k < f->n_points; k++) {
        /* Rounding must not ask for more than there is. */
        double part = (double)k / (f->n_points - 1);
        TRY(solve_point(ctx, f, lp, p, k, least + span * fmin(part, 1 - 1e-10),
                        room));
        f->n_done++;
    }
    return 0;
}

/* On rank 0. */
static int choose(struct ctx *ctx, struct risk *risk, struct market *m)
{
    struct risk_frontier *f = risk->frontier;
    const size_t n = (size_t)f->scenarios;
    double *returns = calloc((size_t)f->n * n, sizeof *returns),
           *loss = calloc(n, sizeof *loss), mean[RISK_FACTORS_MAX];
    struct risk_lp *lp = NULL;
    int status = 0;
    if (returns == NULL || loss == NULL)
        status = FAIL(ctx, STATUS_MEMORY, "no memory for scenarios");
    if (status == 0)
        status = make_scenarios(ctx, m, returns, mean);
    const struct risk_lp_problem p = {.n = f->n,
                                      .scenarios = f->scenarios,
                                      .returns = returns,
                                      .mean = mean,
                                      .lower = f->lower,
                                      .upper = f->upper,
                                      .level = f->level};
    const double begin = timer_now();
    if (status == 0)
        status = risk_lp_make(ctx, &p, &lp);
    if (status == 0)
        status = solve_points(ctx, f, lp, &p, loss);
    f->seconds = timer_now() - begin;
    if (status == 0 && f->keep)
        memcpy(f->kept, returns, (size_t)f->n * n * sizeof *returns);
    risk_lp_free(lp);
    free(returns);
    free(loss);
    return status;
}

static int share(struct ctx *ctx, struct risk_frontier *f)
{
    const size_t points = (size_t)f->n_points, n = (size_t)f->n;
    TRY(comm_bcast(ctx, &f->n_done, sizeof f->n_done));
    TRY(comm_bcast(ctx, f->points, points * sizeof *f->points));
    TRY(comm_bcast(ctx, f->weights, n * points * sizeof *f->weights));
    if (f->keep)
        TRY(comm_bcast(ctx, f->kept,
                       n * (size_t)f->scenarios * sizeof *f->kept));
    return 0;
}

/* ---- out of sample ---- */

/* This rank's returns on paths behind those of the scenarios. */
struct sample {
    int64_t chunks, first, end; /* of all; here */
    size_t room;                /* paths here */
    double *returns;            /* [n][room] */
    double *loss;               /* of all ranks' paths */
};

static int sample_make(struct ctx *ctx, const struct risk_frontier *f,
                       struct sample *s)
{
    const int size = comm_size(ctx->comm), rank = comm_rank(ctx->comm);
    s->chunks = (f->paths + RISK_CHUNK - 1) / RISK_CHUNK;
    s->first = s->chunks * rank / size;
    s->end = s->chunks * (rank + 1) / size;
    s->room = (size_t)(s->end - s->first) * RISK_CHUNK;
    s->returns = calloc((size_t)f->n * s->room + 1, sizeof *s->returns);
    s->loss = calloc((size_t)s->chunks * RISK_CHUNK, sizeof *s->loss);
    if (s->returns == NULL || s->loss == NULL)
        return FAIL(ctx, STATUS_MEMORY, "no memory for losses");
    return 0;
}

static int sample_fill(struct ctx *ctx, struct market *m, struct sample *s)
{
    const int64_t used =
        (m->risk->frontier->scenarios + RISK_CHUNK - 1) / RISK_CHUNK;
    for (int64_t c = s->first; c < s->end; c++)
        TRY(chunk_returns(ctx, m, used + c, RISK_CHUNK, s->room,
                          s->returns + (size_t)(c - s->first) * RISK_CHUNK));
    return 0;
}

static int value_point(struct ctx *ctx, struct risk_frontier *f,
                       struct sample *s, int k)
{
    double w[RISK_FACTORS_MAX], sum = 0, squares = 0;
    const size_t all = (size_t)s->chunks * RISK_CHUNK;
    struct risk_frontier_point *point = &f->points[k];
    memset(s->loss, 0, all * sizeof *s->loss);
    weights_of(f, k, w);
    losses_of(f, w, s->returns, s->room, s->room,
              s->loss + s->first * RISK_CHUNK);
    for (size_t at = 0; at < all; at += 1u << 20)
        TRY(comm_sum_double(ctx, s->loss + at,
                            (int)(all - at < 1u << 20 ? all - at : 1u << 20)));
    tail_of(s->loss, all, f->level, &point->var, &point->cvar);
    for (size_t i = 0; i < all; i++)
        sum -= s->loss[i];
    point->mean.value = sum / (double)all;
    for (size_t i = 0; i < all; i++) {
        const double d = -s->loss[i] - point->mean.value;
        squares += d * d;
    }
    point->mean.error = sqrt(squares / ((double)all * ((double)all - 1)));
    return 0;
}

int risk_frontier_run(struct ctx *ctx, struct risk *risk)
{
    struct risk_frontier *f = risk->frontier;
    struct market m = {0};
    struct sample s = {0};
    int status = market_make(ctx, risk, &m);
    if (status == 0)
        status = sample_make(ctx, f, &s);
    if (status == 0 && comm_rank(ctx->comm) == 0)
        status = choose(ctx, risk, &m);
    if (status == 0)
        status = sample_fill(ctx, &m, &s);
    TRY_CLEANUP(comm_agree(ctx, status));
    TRY_CLEANUP(share(ctx, f));
    for (int k = 0; k < f->n_done; k++)
        TRY_CLEANUP(value_point(ctx, f, &s, k));
cleanup:
    market_free(&m);
    free(s.returns);
    free(s.loss);
    return status;
}

/* GLPK's figures are those of its version 5.0: a nonzero, with its place in the
 * row and the column, and a column with its basis. */
double risk_frontier_bytes(const struct risk *risk, int ranks)
{
    const struct risk_frontier *f = risk->frontier;
    if (f == NULL)
        return 0;
    const double n = f->n, rows = (double)f->scenarios,
                 chunks = ceil((double)f->paths / RISK_CHUNK),
                 nonzero = 48 + 2 * sizeof(int) + sizeof(double), column = 208,
                 solving =
                     rows * ((n + 1) * (nonzero + sizeof(double)) + column),
                 valuing = sizeof(double) * RISK_CHUNK *
                           (n * ceil(chunks / ranks) + chunks);
    return fmax(solving, valuing);
}
