/* risk_var.c: value at risk and expected shortfall from losses at a horizon
 * (risk_losses.c).
 *
 * The quantile at level a of n
 * losses is the ceil(n a)-th smallest one; its interval is that of order
 * statistics, from the binomial distribution of the number of losses below the
 * true quantile (David and Nagaraja 2003, section 7.1). Expected shortfall is
 * the mean of the worst (1 - a) n losses, the last one in part (Acerbi and
 * Tasche 2002), its error that of Manistre and Hancock (2005). Losses stay
 * where they were computed (risk_select.c). Numbers of positions are made group
 * by group, so that memory does not grow with the portfolio.
 */
#include "solvers/risk/risk_var.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/comm.h"
#include "base/ctx.h"
#include "base/error.h"
#include "kernels/risk/exact.h"
#include "solvers/risk/risk.h"
#include "solvers/risk/risk_select.h"

/* The rank-th smallest loss (from 1) of all ranks. Collective. */
static int select_rank(struct ctx *ctx, struct risk_losses *l, int64_t rank,
                       double *out)
{
    memcpy(l->scratch, l->all, l->room * sizeof(double));
    return risk_select(ctx, l->scratch, l->room, rank, l->digits, out);
}

void risk_interval_ranks(int64_t n, double level, double chance, int64_t *low,
                         int64_t *high)
{
    const double each = (1 - chance) / 2, mean = (double)n * level,
                 width = 14 * sqrt(mean * (1 - level)) + 60;
    int64_t from = (int64_t)fmax(floor(mean - width), 0),
            to = (int64_t)fmin(ceil(mean + width), (double)n);
    double k = (double)from, m = (double)n, sum = 0;
    double p = exp(lgamma(m + 1) - lgamma(k + 1) - lgamma(m - k + 1) +
                   k * log(level) + (m - k) * log1p(-level));
    *low = 0;
    *high = n + 1;
    for (int64_t i = from; i <= to; i++) {
        sum += p; /* of at most i losses below the quantile */
        if (sum <= each)
            *low = i + 1;
        if (sum >= 1 - each && *high > n) {
            *high = i + 1;
            break;
        }
        p *= (m - (double)i) / ((double)i + 1) * level / (1 - level);
    }
    if (*high > n)
        *high = n + 1;
}

/* ---- sums in a fixed order ---- */

/* Sums of one chunk: over losses beyond the quantile v, and over those within
 * [low, high]; d = loss - v. */
enum { TAIL_COUNT, TAIL, TAIL2, NEAR_COUNT, NEAR, NEAR2, HEAD };
enum { OF_TAIL, OF_TAIL2, OF_NEAR, OF_NEAR2, OF_CROSS, EACH_POSITION };

static void add_chunk(const struct risk_losses *l, size_t at, double v,
                      double low, double high, double *s)
{
    for (size_t i = at; i < at + RISK_CHUNK; i++) {
        const double d = l->all[i] - v;
        const int tail = d > 0, near = l->all[i] >= low && l->all[i] <= high;
        if (!tail && !near)
            continue;
        s[TAIL_COUNT] += tail;
        s[TAIL] += tail ? d : 0;
        s[TAIL2] += tail ? d * d : 0;
        s[NEAR_COUNT] += near;
        s[NEAR] += near ? d : 0;
        s[NEAR2] += near ? d * d : 0;
        for (size_t q = 0; q < l->to - l->from; q++) {
            double x = l->of[q * l->room + i],
                   *p = s + HEAD + q * EACH_POSITION;
            p[OF_TAIL] += tail ? x : 0;
            p[OF_TAIL2] += tail ? x * x : 0;
            p[OF_NEAR] += near ? x : 0;
            p[OF_NEAR2] += near ? x * x : 0;
            p[OF_CROSS] += near ? x * d : 0;
        }
    }
}

/* Sums of all chunks, of the positions at hand. Collective. */
static int sums_of(struct ctx *ctx, const struct risk_losses *l, double v,
                   double low, double high, double *out)
{
    const size_t each = HEAD + (l->to - l->from) * EACH_POSITION,
                 total = each * (size_t)l->chunks;
    double *all = calloc(total + (size_t)l->chunks, sizeof *all);
    int status = 0;
    if (all == NULL)
        status = FAIL(ctx, STATUS_MEMORY, "out of memory for sums");
    TRY_CLEANUP(comm_agree(ctx, status));
    for (int64_t c = l->first; c < l->end; c++)
        add_chunk(l, (size_t)(c - l->first) * RISK_CHUNK, v, low, high,
                  all + each * (size_t)c);
    for (size_t at = 0; at < total; at += 1u << 20)
        TRY_CLEANUP(comm_sum_double(
            ctx, all + at,
            (int)(total - at < 1u << 20 ? total - at : 1u << 20)));
    for (size_t i = 0; i < each; i++) {
        double *leaf = all + total;
        for (int64_t c = 0; c < l->chunks; c++)
            leaf[c] = all[each * (size_t)c + i];
        out[i] = exact_tree_sum(leaf, l->chunks);
    }
cleanup:
    free(all);
    return status;
}

/* ---- numbers ---- */

/* What each position has in VaR: its mean loss where the portfolio's is VaR,
 * by a line through the losses near it. A line, so that the parts add up to
 * VaR whatever the slope of the density. */
static void component(const double *s, const double *p, double tail_n,
                      const struct risk_var_level *level,
                      struct risk_var_part *out)
{
    const double n = s[NEAR_COUNT], mean_d = s[NEAR] / n,
                 vd = s[NEAR2] / n - mean_d * mean_d, mean = p[OF_NEAR] / n,
                 slope = vd > 0 ? (p[OF_CROSS] / n - mean * mean_d) / vd : 0;
    out->var.value = mean - slope * mean_d;
    double rest = p[OF_NEAR2] / n - mean * mean - slope * slope * vd;
    out->var.error = sqrt(fmax(rest, 0) / n);
    const double m = s[TAIL_COUNT];
    out->shortfall.value =
        (p[OF_TAIL] + (tail_n - m) * out->var.value) / tail_n;
    double tail_mean = m > 0 ? p[OF_TAIL] / m : 0,
           tail_var =
               m > 0 ? fmax(p[OF_TAIL2] / m - tail_mean * tail_mean, 0) : 0,
           off = tail_mean - out->var.value;
    out->shortfall.error = sqrt((tail_var + level->level * off * off) / tail_n);
}

/* Ranks of what a level wants, from 1: of VaR, of the ends of its interval and
 * of the losses near it. */
struct ranks {
    int64_t var, low, high, from, to;
};

static struct ranks ranks_of(const struct risk *risk,
                             const struct risk_losses *l, double level)
{
    const int64_t n = l->chunks * RISK_CHUNK;
    const int64_t near = (int64_t)fmax(ceil(0.25 * (double)n * (1 - level)), 1);
    int64_t k = (int64_t)ceil((double)n * level - 1e-9);
    struct ranks r = {.var = k < 1 ? 1 : k > n ? n : k};
    r.from = r.var - near < 1 ? 1 : r.var - near;
    r.to = r.var + near > n ? n : r.var + near;
    risk_interval_ranks(n, level, risk->var->confidence, &r.low, &r.high);
    return r;
}

/* VaR, its interval, and the losses within which it is near. */
static int level_ends(struct ctx *ctx, const struct risk *risk,
                      struct risk_losses *l, struct risk_var_level *level)
{
    const struct ranks r = ranks_of(risk, l, level->level);
    level->low = -INFINITY;
    level->high = INFINITY;
    TRY(select_rank(ctx, l, r.var, &level->var));
    if (r.low >= 1)
        TRY(select_rank(ctx, l, r.low, &level->low));
    if (r.high <= l->chunks * RISK_CHUNK)
        TRY(select_rank(ctx, l, r.high, &level->high));
    TRY(select_rank(ctx, l, r.from, &level->near_low));
    return select_rank(ctx, l, r.to, &level->near_high);
}

/* VaR less that without position q, of the group. */
static int incremental(struct ctx *ctx, const struct risk *risk,
                       struct risk_losses *l, size_t q,
                       const struct risk_var_level *level, double *out)
{
    const double *of = l->of + (q - l->from) * l->room;
    double without = 0;
    for (size_t i = 0; i < l->room; i++)
        l->scratch[i] = l->all[i] - of[i];
    TRY(risk_select(ctx, l->scratch, l->room,
                    ranks_of(risk, l, level->level).var, l->digits, &without));
    *out = level->var - without;
    return 0;
}

/* A level's shortfall, and the parts of the positions at hand. */
static int level_numbers(struct ctx *ctx, const struct risk *risk,
                         struct risk_losses *l, struct risk_var_level *level,
                         struct risk_var_part *parts, double *s)
{
    const double tail_n = (double)(l->chunks * RISK_CHUNK) * (1 - level->level);
    TRY(sums_of(ctx, l, level->var, level->near_low, level->near_high, s));
    const double m = s[TAIL_COUNT], mean = m > 0 ? s[TAIL] / m : 0,
                 variance = m > 0 ? fmax(s[TAIL2] / m - mean * mean, 0) : 0;
    level->shortfall.value = level->var + s[TAIL] / tail_n;
    level->shortfall.error =
        sqrt((variance + level->level * mean * mean) / tail_n);
    for (size_t q = l->from; q < l->to; q++) {
        component(s, s + HEAD + (q - l->from) * EACH_POSITION, tail_n, level,
                  &parts[q]);
        TRY(incremental(ctx, risk, l, q, level, &parts[q].incremental));
    }
    return 0;
}

static int all_levels(struct ctx *ctx, struct risk *risk, struct risk_losses *l,
                      double *s)
{
    struct risk_var *v = risk->var;
    for (int i = 0; i < v->n_levels; i++)
        TRY(level_ends(ctx, risk, l, &v->levels[i]));
    for (int more = 1; more;) {
        for (int i = 0; i < v->n_levels; i++)
            TRY(level_numbers(ctx, risk, l, &v->levels[i],
                              v->parts + (size_t)i * l->n, s));
        TRY(risk_losses_next(ctx, risk, l, &more));
    }
    return 0;
}

/* The bins are between losses that all ranks agree on, and counts are whole
 * numbers: the same for any number of ranks. Where all paths lose the same,
 * one bin without width holds them. */
static int count_profits(struct ctx *ctx, struct risk_losses *l,
                         struct risk_profits *out)
{
    const int64_t n = l->chunks * RISK_CHUNK, out_of = n / 2000;
    const int inner = RISK_PROFIT_BINS - 2;
    double least, low, high, greatest; /* losses */
    TRY(select_rank(ctx, l, 1, &least));
    TRY(select_rank(ctx, l, 1 + out_of, &low));
    TRY(select_rank(ctx, l, n - out_of, &high));
    TRY(select_rank(ctx, l, n, &greatest));
    const double from = -high, width = (high - low) / inner;
    *out = (struct risk_profits){0};
    for (int i = 1; i < RISK_PROFIT_BINS; i++)
        out->edges[i] = from + width * (i - 1);
    out->edges[0] = -greatest;
    out->edges[RISK_PROFIT_BINS - 1] = -low;
    out->edges[RISK_PROFIT_BINS] = -least;
    for (size_t i = 0; i < l->room; i++) {
        const double profit = -l->all[i];
        int bin = 1;
        if (profit < from)
            bin = 0;
        else if (profit > -low)
            bin = RISK_PROFIT_BINS - 1;
        else if (width > 0)
            bin = 1 + (int)fmin((profit - from) / width, inner - 1);
        out->count[bin]++;
    }
    return comm_sum_int64(ctx, out->count, RISK_PROFIT_BINS);
}

int risk_var_run(struct ctx *ctx, struct risk *risk)
{
    struct risk_var *v = risk->var;
    struct risk_losses l = {0};
    const size_t n = (size_t)risk->portfolio.n;
    int status = 0;
    double *s = calloc(HEAD + n * EACH_POSITION, sizeof *s);
    free(v->parts);
    free(v->methods);
    v->parts = calloc((size_t)v->n_levels * n + 1, sizeof *v->parts);
    v->methods = calloc(n + 1, sizeof *v->methods);
    if (s == NULL || v->parts == NULL || v->methods == NULL)
        status = FAIL(ctx, STATUS_MEMORY, "out of memory for losses");
    TRY_CLEANUP(comm_agree(ctx, status));
    TRY_CLEANUP(risk_losses_make(ctx, risk, &l));
    v->paths_done = l.chunks * RISK_CHUNK;
    TRY_CLEANUP(all_levels(ctx, risk, &l, s));
    TRY_CLEANUP(count_profits(ctx, &l, &v->profits));
    v->done = 1;
cleanup:
    risk_losses_free(&l);
    free(s);
    return status;
}

double risk_var_bytes(const struct risk *risk, int ranks)
{
    if (risk->var == NULL)
        return 0;
    const double chunks = ceil((double)risk->var->paths / RISK_CHUNK),
                 mine = ceil(chunks / ranks) * RISK_CHUNK,
                 group = (double)risk_losses_group((size_t)risk->portfolio.n,
                                                   (size_t)mine);
    return sizeof(double) *
           ((group + 2) * mine + chunks * (HEAD + group * EACH_POSITION) +
            RISK_DIGITS);
}

void risk_var_free(struct risk *risk)
{
    if (risk->var == NULL)
        return;
    free(risk->var->levels);
    free(risk->var->parts);
    free(risk->var->methods);
    free(risk->var);
    risk->var = NULL;
}
