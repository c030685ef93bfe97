/* risk_exposure.c: expected and potential exposure by date, CVA and DVA.
 *
 * CVA = (1 - R) sum_k D(t_k) E max(V(t_k), 0) (Q(t_{k-1}) - Q(t_k)), Q the
 * counterparty's chance to survive, exposure at the end of each interval (e.g.
 * Gregory 2015, section 14.2); a path's sample is its own sum over dates, so
 * that the error knows how dates hang together. DVA: the same of max(-V, 0)
 * with one's own default. Sums over chunks are joined by a fixed tree;
 * quantiles are order statistics of all samples, by bisection of their bits, so
 * that nothing depends on the ranks.
 */
#include "solvers/risk/risk_exposure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/comm.h"
#include "base/ctx.h"
#include "base/error.h"
#include "kernels/risk/exact.h"
#include "solvers/risk/risk_reval.h"
#include "solvers/risk/risk_var.h"

/* Sums of a chunk, for each set and date, and for each set. */
enum { POS, POS2, NEG, NEG2, VALUE, VALUE2, EACH_DATE };
enum { CVA, CVA2, DVA, DVA2, EACH_SET };

/* This rank's share. */
struct work {
    int64_t chunks, first, end;
    size_t room;   /* paths here */
    size_t n_sets; /* and one for all together */
    size_t n_dates;
    size_t each;     /* sums of a chunk */
    double *sums;    /* [chunks][each], and [chunks] for the tree */
    float *exposure; /* [n_sets][n_dates][room] */
    double *values;  /* [n_sets][RISK_CHUNK] */
    double *cva, *dva;
    double *default_weight; /* [n_sets][n_dates]; of exposure in CVA */
    double *own_weight;     /* [n_dates] */
    struct risk_exposure_paths *paths;
};

double risk_exposure_discount(const struct risk *risk, int d)
{
    const struct risk_exposure *e = risk->exposure;
    return exp(-risk_curve_integral(&risk->market.assets[e->discounting].rate,
                                    e->dates[d]));
}

double risk_exposure_default(const struct risk_exposure *e,
                             const struct risk_curve *hazard, int d)
{
    const double before = d > 0 ? e->dates[d - 1] : 0;
    return exp(-risk_curve_integral(hazard, before)) -
           exp(-risk_curve_integral(hazard, e->dates[d]));
}

static void make_weights(const struct risk *risk, struct work *w)
{
    const struct risk_exposure *e = risk->exposure;
    for (int d = 0; d < e->n_dates; d++) {
        const double discount = risk_exposure_discount(risk, d);
        for (int s = 0; s < e->n_sets; s++)
            w->default_weight[(size_t)s * w->n_dates + (size_t)d] =
                discount * (1 - e->sets[s].recovery) *
                risk_exposure_default(e, &e->sets[s].hazard, d);
        w->own_weight[d] = discount * (1 - e->own_recovery) *
                           risk_exposure_default(e, &e->own_hazard, d);
    }
}

/* ---- sums ---- */

static void add_square(double *sums, double x)
{
    sums[0] += x;
    sums[1] += x * x;
}

/* One set at one date on one path. */
static void add_sample(double *sums, double pos, double neg)
{
    add_square(sums + POS, pos);
    add_square(sums + NEG, neg);
    add_square(sums + VALUE, pos - neg);
}

/* All sets at date d, of the chunk's path i. */
static void add_path(struct work *w, size_t d, size_t at, size_t i,
                     double *sums)
{
    const size_t all = w->n_sets - 1;
    double pos = 0, neg = 0;
    for (size_t s = 0; s < all; s++) {
        const double v = w->values[s * RISK_CHUNK + i], p = v > 0 ? v : 0,
                     n = v < 0 ? -v : 0;
        const size_t cell = s * w->n_dates + d;
        pos += p;
        neg += n;
        add_sample(sums + cell * EACH_DATE, p, n);
        w->exposure[cell * w->room + at + i] = (float)p;
        w->cva[s * RISK_CHUNK + i] += w->default_weight[cell] * p;
        w->dva[s * RISK_CHUNK + i] += w->own_weight[d] * n;
    }
    const size_t cell = all * w->n_dates + d;
    add_sample(sums + cell * EACH_DATE, pos, neg);
    w->exposure[cell * w->room + at + i] = (float)pos;
}

static void add_costs(struct work *w, double *sums)
{
    const size_t all = w->n_sets - 1;
    double *to = sums + w->n_sets * w->n_dates * EACH_DATE;
    for (size_t i = 0; i < RISK_CHUNK; i++) {
        double cva = 0, dva = 0;
        for (size_t s = 0; s < all; s++) {
            const double c = w->cva[s * RISK_CHUNK + i],
                         v = w->dva[s * RISK_CHUNK + i];
            add_square(to + s * EACH_SET + CVA, c);
            add_square(to + s * EACH_SET + DVA, v);
            cva += c;
            dva += v;
        }
        add_square(to + all * EACH_SET + CVA, cva);
        add_square(to + all * EACH_SET + DVA, dva);
    }
}

static int run_chunk(struct ctx *ctx, const struct risk *risk, struct work *w,
                     int64_t c)
{
    const size_t at = (size_t)(c - w->first) * RISK_CHUNK,
                 bytes = w->n_sets * RISK_CHUNK * sizeof(double);
    double *sums = w->sums + w->each * (size_t)c;
    TRY(risk_exposure_paths_walk(ctx, w->paths, c));
    memset(w->cva, 0, bytes);
    memset(w->dva, 0, bytes);
    for (size_t d = 0; d < w->n_dates; d++) {
        TRY(risk_exposure_paths_values(ctx, w->paths, (int)d, w->values));
        for (size_t i = 0; i < RISK_CHUNK; i++) {
            for (size_t s = 0; s + 1 < w->n_sets; s++)
                if (!(fabs(w->values[s * RISK_CHUNK + i]) < 1e37))
                    return FAIL(
                        ctx, STATUS_PHYSICS,
                        "the value of netting set '%s' at %g years on path "
                        "%lld is not finite",
                        risk->exposure->sets[s].name, risk->exposure->dates[d],
                        (long long)c * RISK_CHUNK + (long long)i);
            add_path(w, d, at, i, sums);
        }
    }
    add_costs(w, sums);
    return 0;
}

/* The chunks' sums of all ranks, joined in a fixed order, in place. */
static int join(struct ctx *ctx, struct work *w)
{
    const size_t total = w->each * (size_t)w->chunks;
    double *leaf = w->sums + total;
    for (size_t at = 0; at < total; at += 1u << 20)
        TRY(comm_sum_double(
            ctx, w->sums + at,
            (int)(total - at < 1u << 20 ? total - at : 1u << 20)));
    for (size_t i = 0; i < w->each; i++) {
        for (int64_t c = 0; c < w->chunks; c++)
            leaf[c] = w->sums[w->each * (size_t)c + i];
        w->sums[i] = exact_tree_sum(leaf, w->chunks);
    }
    return 0;
}

static void take_sums(struct risk_exposure *e, const struct work *w)
{
    const double n = (double)w->chunks * RISK_CHUNK, *s = w->sums;
    for (size_t i = 0; i < w->n_sets * w->n_dates; i++, s += EACH_DATE) {
        e->at[i].epe = risk_mean(s[POS], s[POS2], n);
        e->at[i].ene = risk_mean(s[NEG], s[NEG2], n);
        e->at[i].value = risk_mean(s[VALUE], s[VALUE2], n);
    }
    for (size_t i = 0; i < w->n_sets; i++, s += EACH_SET) {
        e->cost[i].cva = risk_mean(s[CVA], s[CVA2], n);
        e->cost[i].dva = risk_mean(s[DVA], s[DVA2], n);
    }
}

/* Errors of positions at a date add up to one of their set, at most. */
static void take_errors(const struct risk *risk)
{
    struct risk_exposure *e = risk->exposure;
    for (int32_t q = 0; q < risk->portfolio.n; q++)
        for (int d = 0; d < e->n_dates; d++) {
            const double error = fabs(risk->portfolio.positions[q].quantity) *
                                 e->errors[(ptrdiff_t)q * e->n_dates + d];
            e->at[e->set_of[q] * e->n_dates + d].revaluation += error;
            e->at[e->n_sets * e->n_dates + d].revaluation += error;
        }
}

/* ---- quantiles ---- */

static uint32_t bits_of(float x)
{
    uint32_t u;
    memcpy(&u, &x, sizeof u);
    return u;
}

static int by_size(const void *a, const void *b)
{
    const float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

/* How many of n sorted numbers, none below 0, have bits up to these. */
static int64_t count_up_to(const float *x, size_t n, uint32_t bits)
{
    size_t low = 0, high = n;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (bits_of(x[middle]) <= bits)
            low = middle + 1;
        else
            high = middle;
    }
    return (int64_t)low;
}

/* Ranks, from 1, of the quantile at level a of n samples, and of a standard
 * error below and above it: that of the number of samples below. */
static void ranks_of(int64_t n, double a, int64_t *rank)
{
    const int64_t k = (int64_t)ceil((double)n * a - 1e-9),
                  width = (int64_t)ceil(sqrt((double)n * a * (1 - a)));
    rank[0] = k < 1 ? 1 : k > n ? n : k;
    rank[1] = rank[0] - width < 1 ? 1 : rank[0] - width;
    rank[2] = rank[0] + width > n ? n : rank[0] + width;
}

/* All quantiles at once: three of each set, date and level. Collective. */
static int select_all(struct ctx *ctx, struct risk_exposure *e, struct work *w,
                      uint32_t *low, uint32_t *high, int64_t *below)
{
    const size_t cells = w->n_sets * w->n_dates,
                 of_cell = 3 * (size_t)e->n_levels, total = cells * of_cell;
    for (size_t i = 0; i < total; i++)
        high[i] = UINT32_MAX;
    for (size_t cell = 0; cell < cells; cell++)
        qsort(w->exposure + cell * w->room, w->room, sizeof(float), by_size);
    for (int bit = 0; bit < 32; bit++) {
        for (size_t i = 0; i < total; i++)
            below[i] = count_up_to(w->exposure + i / of_cell * w->room, w->room,
                                   low[i] + (high[i] - low[i]) / 2);
        for (size_t at = 0; at < total; at += 1u << 20)
            TRY(comm_sum_int64(
                ctx, below + at,
                (int)(total - at < 1u << 20 ? total - at : 1u << 20)));
        for (size_t i = 0; i < total; i++) {
            int64_t rank[3];
            const uint32_t middle = low[i] + (high[i] - low[i]) / 2;
            ranks_of(w->chunks * RISK_CHUNK, e->levels[i % of_cell / 3], rank);
            if (low[i] >= high[i])
                continue;
            if (below[i] >= rank[i % 3])
                high[i] = middle;
            else
                low[i] = middle + 1;
        }
    }
    return 0;
}

static int quantiles(struct ctx *ctx, struct risk_exposure *e, struct work *w)
{
    const size_t total = w->n_sets * w->n_dates * 3 * (size_t)e->n_levels;
    uint32_t *low = calloc(2 * total + 1, sizeof *low);
    int64_t *below = calloc(total + 1, sizeof *below);
    int status = 0;
    if (low == NULL || below == NULL)
        status = FAIL(ctx, STATUS_MEMORY, "out of memory for quantiles");
    TRY_CLEANUP(comm_agree(ctx, status));
    TRY_CLEANUP(select_all(ctx, e, w, low, low + total, below));
    for (size_t i = 0; i < total; i += 3) {
        float x[3];
        memcpy(x, low + i, sizeof x);
        e->pfe[i / 3].value = (double)x[0];
        e->pfe[i / 3].error = 0.5 * ((double)x[2] - (double)x[1]);
    }
cleanup:
    free(low);
    free(below);
    return status;
}

/* ---- the whole ---- */

static void release(struct work *w)
{
    risk_exposure_paths_free(w->paths);
    free(w->sums);
    free(w->exposure);
    free(w->values);
    free(w->cva);
    free(w->dva);
    free(w->default_weight);
    free(w->own_weight);
}

static void release_numbers(struct risk_exposure *e)
{
    free(e->at);
    free(e->pfe);
    free(e->cost);
    free(e->methods);
    free(e->errors);
}

static int allocate(struct ctx *ctx, struct risk *risk, struct work *w)
{
    struct risk_exposure *e = risk->exposure;
    const int size = comm_size(ctx->comm), rank = comm_rank(ctx->comm);
    const size_t positions = (size_t)risk->portfolio.n;
    w->n_sets = (size_t)e->n_sets + 1;
    w->n_dates = (size_t)e->n_dates;
    const size_t cells = w->n_sets * w->n_dates;
    w->chunks = (e->paths + RISK_CHUNK - 1) / RISK_CHUNK;
    w->first = w->chunks * rank / size;
    w->end = w->chunks * (rank + 1) / size;
    w->room = (size_t)(w->end - w->first) * RISK_CHUNK;
    w->each = cells * EACH_DATE + w->n_sets * EACH_SET;
    w->sums = calloc((w->each + 1) * (size_t)w->chunks, sizeof(double));
    w->exposure = calloc(cells * w->room + 1, sizeof(float));
    w->values = calloc(w->n_sets * RISK_CHUNK, sizeof(double));
    w->cva = calloc(w->n_sets * RISK_CHUNK, sizeof(double));
    w->dva = calloc(w->n_sets * RISK_CHUNK, sizeof(double));
    w->default_weight = calloc(cells, sizeof(double));
    w->own_weight = calloc(w->n_dates, sizeof(double));
    release_numbers(e);
    e->at = calloc(cells, sizeof *e->at);
    e->pfe = calloc(cells * (size_t)e->n_levels + 1, sizeof *e->pfe);
    e->cost = calloc(w->n_sets, sizeof *e->cost);
    e->methods = calloc(positions * w->n_dates, sizeof *e->methods);
    e->errors = calloc(positions * w->n_dates, sizeof *e->errors);
    if (w->sums == NULL || w->exposure == NULL || w->values == NULL ||
        w->cva == NULL || w->dva == NULL || w->default_weight == NULL ||
        w->own_weight == NULL || e->at == NULL || e->pfe == NULL ||
        e->cost == NULL || e->methods == NULL || e->errors == NULL)
        return FAIL(ctx, STATUS_MEMORY,
                    "out of memory for exposures; fewer risk.exposure.paths");
    make_weights(risk, w);
    return 0;
}

int risk_exposure_run(struct ctx *ctx, struct risk *risk)
{
    struct work w = {0};
    struct risk_exposure *e = risk->exposure;
    int status;
    TRY_CLEANUP(comm_agree(ctx, allocate(ctx, risk, &w)));
    TRY_CLEANUP(risk_exposure_paths_make(ctx, risk, &w.paths));
    for (int64_t c = w.first; status == 0 && c < w.end; c++)
        status = run_chunk(ctx, risk, &w, c);
    TRY_CLEANUP(comm_agree(ctx, status));
    TRY_CLEANUP(join(ctx, &w));
    take_sums(e, &w);
    take_errors(risk);
    TRY_CLEANUP(quantiles(ctx, e, &w));
    e->paths_done = w.chunks * RISK_CHUNK;
    e->done = 1;
cleanup:
    release(&w);
    return status;
}

double risk_exposure_bytes(const struct risk *risk, int ranks)
{
    const struct risk_exposure *e = risk->exposure;
    if (e == NULL)
        return 0;
    const double chunks = ceil((double)e->paths / RISK_CHUNK),
                 mine = ceil(chunks / ranks) * RISK_CHUNK,
                 cells = (e->n_sets + 1.0) * e->n_dates,
                 steps = risk->plan.n_steps + e->n_dates +
                         e->dates[e->n_dates - 1] * risk->market.steps_per_year,
                 states = 2 * steps * risk->market.n * RISK_CHUNK;
    double regressed = 0;
    for (int32_t q = 0; q < risk->portfolio.n; q++)
        regressed += !risk_value_exists(risk, q, 0);
    /* States twice: a regression has its own. */
    return sizeof(float) * cells * mine +
           sizeof(double) * (cells * EACH_DATE * chunks + 2 * states +
                             3.0 * (e->n_sets + 1) * RISK_CHUNK) +
           regressed * e->n_dates *
               (sizeof(struct risk_reval) +
                sizeof(double) * steps * (3.0 + risk->market.n));
}

static void free_curve(struct risk_curve *c)
{
    free(c->times);
}

void risk_exposure_free(struct risk *risk)
{
    struct risk_exposure *e = risk->exposure;
    if (e == NULL)
        return;
    for (int s = 0; e->sets != NULL && s < e->n_sets; s++)
        free_curve(&e->sets[s].hazard);
    free_curve(&e->usual.hazard);
    free_curve(&e->own_hazard);
    release_numbers(e);
    free(e->sets);
    free(e->dates);
    free(e->set_of);
    free(e);
    risk->exposure = NULL;
}
