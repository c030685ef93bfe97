/* risk_regress.c: values at the horizon by regression.
 *
 * What a path brings after the horizon, discounted to it, has the value there
 * as its mean, given the state; least squares over paths of their own find it
 * as a combination of functions of the state (Glasserman 2004, section 8.6).
 * Three things make it sharp. Steps to the horizon are as if they were STRETCH
 * times as long, so that the states of the tail lie well within those of the
 * regression; what comes after does not depend on how a state was reached.
 * Functions are monomials beside the price in closed form of something alike.
 * And controls of mean 0 given the state stand beside the functions: what the
 * spots gain until maturity, and the European option where it has a closed
 * form.
 *
 * Least squares over stretched states leave the mean over those that really
 * occur a little wrong. Paths of a second set, of the true steps, therefore
 * tell what values must be multiplied by so that their discounted mean is
 * today's price: what those paths bring, less the same controls, and the price
 * itself where nothing can be paid before the horizon.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/comm.h"
#include "base/ctx.h"
#include "base/error.h"
#include "kernels/linear.h"
#include "kernels/risk/exact.h"
#include "solvers/risk/risk_reval.h"
#include "solvers/risk/risk_var.h"

/* Chunks of paths that are walked together. */
enum { GROUP = 8 };

/* Paths for these regressions: none of those that find when to exercise. */
static const int64_t first_chunk =
    (int64_t)(RISK_REGRESSION_PATH / RISK_CHUNK) + (1 << 20);
/* And for the mean. */
static const int64_t first_mean_chunk =
    (int64_t)(RISK_REGRESSION_PATH / RISK_CHUNK) + (1 << 28);

/* A mean that is not known better than this, relatively, changes nothing. */
#define MEAN_ERROR_MAX 0.02

/* ---- sums ---- */

struct share {
    int m;    /* functions and controls */
    int mean; /* the second set of paths */
    size_t each;
    int64_t chunks, begin, end;
    double *all;     /* [chunks][each] */
    double *samples; /* [GROUP][RISK_CHUNK] */
    double *spot, *variance;
    int32_t *steps;
    double *dates, *lengths;
    struct risk_memory *memory;
    struct risk_store *store;
};

/* Beyond a barrier nobody is alive to be valued. */
static int counts(const struct risk_reval *r, const struct risk_state *s)
{
    const struct risk_position *p = &r->position;
    if (p->type != RISK_TYPE_BARRIER || !p->continuous)
        return 1;
    return p->barrier_up ? s->spot[0] < p->barrier : s->spot[0] > p->barrier;
}

static void add_path(const double *z, int m, double y, double *sums)
{
    double *row = sums;
    for (int j = 0; j < m; row += ++j)
        for (int k = 0; k <= j; k++)
            row[k] += z[j] * z[k];
    for (int j = 0; j < m; j++)
        row[j] += z[j] * y;
    row[m] += y * y;
    row[m + 1] += 1;
}

enum { MEAN_SUMS = 6 };

/* What a path brings without the controls, and the value that was found for
 * it. */
static void add_mean(const struct risk_reval *r, const double *z, int m,
                     double y, double *sums)
{
    double f = 0;
    for (int j = 0; j < r->fit.n; j++)
        f += r->fit.coefficients[j] * z[j];
    for (int j = r->fit.n; j < m; j++)
        y -= r->fit.coefficients[j] * z[j];
    f = fmax(f, 0);
    sums[0] += y;
    sums[1] += f;
    sums[2] += y * y;
    sums[3] += y * f;
    sums[4] += f * f;
    sums[5] += 1;
}

static void add_chunk(const struct risk_reval *r, const struct share *h,
                      const struct risk_watch *w, const double *samples,
                      double *sums)
{
    const int32_t at = w->n - 1;
    for (int32_t j = 0; j < RISK_CHUNK; j++) {
        struct risk_state s;
        double z[RISK_FIT_MAX], end[RISK_LEGS_MAX];
        risk_state_load(r, w, at, h->memory, j, &s);
        if (h->mean ? h->memory->alive[j] == 0 : !counts(r, &s))
            continue;
        for (int l = 0; l < r->position.n_legs; l++)
            end[l] = w->spot[((ptrdiff_t)w->n * w->n_factors +
                              r->position.factor[l]) *
                                 RISK_CHUNK +
                             j];
        int n = risk_functions(r, &s, z);
        risk_controls(r, &s, end, z + n);
        if (h->mean)
            add_mean(r, z, h->m, samples[j] / r->discount, sums);
        else
            add_path(z, h->m, samples[j] / r->discount, sums);
    }
}

/* Sums of this rank's chunks. */
static int add_chunks(struct ctx *ctx, const struct risk *risk,
                      const struct risk_kernels *k, struct risk_reval *r,
                      struct share *h)
{
    struct risk_watch w = {.n = r->at + 1,
                           .steps = h->steps,
                           .dates = h->dates,
                           .lengths = h->lengths,
                           .n_factors = risk->market.n,
                           .factors = r->sub.plan.factors,
                           .seed = risk->seed,
                           .spot = h->spot,
                           .variance = h->variance};
    const int64_t first = h->mean ? first_mean_chunk : first_chunk;
    for (int64_t c = h->begin; c < h->end; c += GROUP) {
        struct risk_sums sums[GROUP][2];
        struct risk_chunk chunk[GROUP];
        const int64_t n = h->end - c < GROUP ? h->end - c : GROUP;
        for (int64_t g = 0; g < n; g++)
            chunk[g] = (struct risk_chunk){
                .sums = sums[g], .samples = h->samples + g * RISK_CHUNK};
        TRY(k->run(ctx, h->store, first + c, n, chunk));
        for (int64_t g = 0; g < n; g++) {
            w.path = (uint64_t)(first + c + g) * RISK_CHUNK;
            TRY(k->states(ctx, h->store, first + c + g, w.n + 1, h->steps,
                          h->spot, h->variance));
            risk_remember(r, &w, h->memory);
            add_chunk(r, h, &w, h->samples + g * RISK_CHUNK,
                      h->all + h->each * (size_t)(c + g));
        }
    }
    return 0;
}

/* ---- the regression ---- */

static int solve(struct ctx *ctx, struct risk_reval *r, const struct share *h,
                 const double *sums)
{
    const int m = h->m, n = r->fit.n;
    const double *products = sums, *targets = sums + m * (m + 1) / 2;
    double scale[RISK_FIT_MAX], x[RISK_FIT_MAX], b[RISK_FIT_MAX];
    double *a = calloc((size_t)(m * m), sizeof *a);
    int rank = 0;
    if (a == NULL)
        return FAIL(ctx, STATUS_MEMORY, "out of memory for a regression");
    for (int j = 0; j < m; j++) {
        double square = products[j * (j + 1) / 2 + j];
        scale[j] = square > 0 ? 1 / sqrt(square) : 0;
        b[j] = targets[j] * scale[j];
        for (int k = 0; k <= j; k++)
            a[j * m + k] = a[k * m + j] =
                products[j * (j + 1) / 2 + k] * scale[j] * scale[k];
    }
    int status = linear_least_squares(ctx, m, m, a, b, x, &rank);
    double rest = targets[m];
    for (int j = 0; status == 0 && j < m; j++) {
        double of = 0;
        for (int k = 0; k < m; k++)
            of += products[j > k ? j * (j + 1) / 2 + k : k * (k + 1) / 2 + j] *
                  x[k] * scale[k];
        rest += x[j] * scale[j] * (of - 2 * targets[j]);
        r->fit.coefficients[j] = x[j] * scale[j];
    }
    const double paths = targets[m + 1];
    r->error =
        paths > m ? sqrt(fmax(rest, 0) / (paths - m) * n / paths) : INFINITY;
    free(a);
    return status;
}

/* The mean of what was found becomes that of what paths bring, joined with the
 * price of the run's own paths, each by its variance: the two are independent.
 */
static void correct(struct risk_reval *r, const double *s)
{
    const double n = s[5], value = s[1] / n;
    if (!(n > 1) || !(s[0] > 0) || !(s[1] > 0))
        return;
    const double d = (s[0] - s[1]) / n,
                 variance =
                     fmax((s[2] - 2 * s[3] + s[4]) / n - d * d, 0) / (n - 1);
    double weight = 1 / fmax(variance, 1e-300), more = d * weight;
    if (r->today.error > 0) {
        const double price = r->today.value / r->discount,
                     error = r->today.error / r->discount,
                     w = 1 / (error * error +
                              fmax(s[4] / n - value * value, 0) / (n - 1));
        more += w * (price - value);
        weight += w;
    }
    const double error = 1 / sqrt(weight) / value;
    if (!(error <= MEAN_ERROR_MAX))
        return;
    const double factor = 1 + more / weight / value;
    for (int j = 0; j < r->fit.n; j++)
        r->fit.coefficients[j] *= factor;
    r->error = hypot(r->error, error * sqrt(s[4] / n));
}

static int allocate(struct ctx *ctx, const struct risk *risk,
                    const struct risk_reval *r, struct share *h)
{
    const int size = comm_size(ctx->comm), rank = comm_rank(ctx->comm);
    const size_t m = (size_t)h->m,
                 rows = (size_t)(r->at + 2) * (size_t)risk->market.n;
    h->chunks = (risk->var->regression_paths + RISK_CHUNK - 1) / RISK_CHUNK;
    h->begin = h->chunks * rank / size;
    h->end = h->chunks * (rank + 1) / size;
    h->each = h->mean ? MEAN_SUMS : m * (m + 1) / 2 + m + 2;
    h->all =
        calloc(h->each * (size_t)h->chunks + (size_t)h->chunks, sizeof *h->all);
    h->samples = calloc((size_t)GROUP * RISK_CHUNK, sizeof(double));
    h->spot = aligned_alloc(64, rows * RISK_CHUNK * sizeof(double));
    h->variance = aligned_alloc(64, rows * RISK_CHUNK * sizeof(double));
    h->steps = calloc((size_t)r->at + 2, sizeof *h->steps);
    h->dates = calloc((size_t)r->at + 2, sizeof *h->dates);
    h->lengths = calloc((size_t)r->at + 2, sizeof *h->lengths);
    h->memory = calloc(1, sizeof *h->memory);
    if (h->all == NULL || h->samples == NULL || h->spot == NULL ||
        h->variance == NULL || h->steps == NULL || h->dates == NULL ||
        h->lengths == NULL || h->memory == NULL)
        return FAIL(ctx, STATUS_MEMORY, "out of memory for a regression");
    double t = 0;
    for (int32_t k = 0; k <= r->at; k++) {
        h->steps[k] = k;
        h->dates[k] = t += r->sub.plan.step_length[k];
        h->lengths[k] = h->mean ? r->sub.plan.step_length[k] : r->lengths[k];
    }
    h->dates[r->at] = r->horizon;
    h->steps[r->at + 1] = r->last;
    return 0;
}

static int open_store(struct ctx *ctx, const struct risk_kernels *k,
                      const struct risk_reval *r, struct share *h)
{
    struct risk_plan plan = r->sub.plan;
    if (!h->mean)
        plan.step_length = r->lengths;
    plan.events = r->events;
    plan.n_events = r->n_events;
    return k->create(ctx, &plan, &h->store);
}

static void release(const struct risk_kernels *k, struct share *h)
{
    if (h->store != NULL)
        k->destroy(h->store);
    free(h->all);
    free(h->samples);
    free(h->spot);
    free(h->variance);
    free(h->steps);
    free(h->dates);
    free(h->lengths);
    free(h->memory);
}

/* The chunks' sums of all ranks, joined in a fixed order, in place. */
static int join(struct ctx *ctx, const struct share *h)
{
    const size_t total = h->each * (size_t)h->chunks;
    double *leaf = h->all + total;
    for (size_t at = 0; at < total; at += 1u << 20)
        TRY(comm_sum_double(
            ctx, h->all + at,
            (int)(total - at < 1u << 20 ? total - at : 1u << 20)));
    for (size_t i = 0; i < h->each; i++) {
        for (int64_t c = 0; c < h->chunks; c++)
            leaf[c] = h->all[h->each * (size_t)c + i];
        h->all[i] = exact_tree_sum(leaf, h->chunks);
    }
    return 0;
}

/* Paths of one of the two sets, and their sums, at h->all. */
static int walk(struct ctx *ctx, const struct risk *risk,
                const struct risk_kernels *k, struct risk_reval *r,
                struct share *h)
{
    int status = allocate(ctx, risk, r, h);
    if (status == 0)
        status = open_store(ctx, k, r, h);
    if (status == 0)
        status = add_chunks(ctx, risk, k, r, h);
    status = comm_agree(ctx, status);
    return status == 0 ? join(ctx, h) : status;
}

int risk_regress_fit(struct ctx *ctx, const struct risk *risk,
                     struct risk_reval *r)
{
    const struct risk_kernels *k =
        risk->k->states != NULL ? risk->k : &risk_kernels_cpu;
    struct share h = {0}, mean = {.mean = 1};
    risk_fit_make(r);
    h.m = mean.m = r->fit.n + risk_n_controls(r);
    int status = walk(ctx, risk, k, r, &h);
    if (status == 0)
        status = comm_agree(ctx, solve(ctx, r, &h, h.all));
    release(k, &h);
    if (status != 0)
        return status;
    status = walk(ctx, risk, k, r, &mean);
    if (status == 0)
        correct(r, mean.all);
    release(k, &mean);
    return status;
}

void risk_regress_values(const struct risk_reval *r, const struct risk_watch *w,
                         const struct risk_memory *m, double *value)
{
    for (int32_t j = 0; j < RISK_CHUNK; j++) {
        struct risk_state s;
        double z[RISK_FIT_MAX], sum = 0;
        risk_state_load(r, w, w->n - 1, m, j, &s);
        int n = risk_functions(r, &s, z);
        for (int k = 0; k < n; k++)
            sum += r->fit.coefficients[k] * z[k];
        value[j] = sum;
    }
}
