/* risk_exercise.c: when to exercise: continuation values by regression on
 * paths of their own (Longstaff and Schwartz 2001). The prices, on other paths,
 * then are those of a rule that does not know them: low-biased.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/comm.h"
#include "base/ctx.h"
#include "base/error.h"
#include "base/timer.h"
#include "kernels/linear.h"
#include "kernels/risk/exercise.h"
#include "solvers/risk/risk.h"

/* Chunks of paths for a regression, of all ranks; fewer where the stored paths
 * would take more than about this. */
enum { REGRESSION_CHUNKS = 32 };
#define REGRESSION_BYTES ((size_t)1 << 30)

/* A continuation value that nothing reaches. */
#define NEVER 1e300

/* ---- one regression ---- */

int risk_regression_solve(struct ctx *ctx, int n, const double *sums,
                          double *coefficients)
{
    double a[RISK_BASIS_MAX * RISK_BASIS_MAX], b[RISK_BASIS_MAX],
        x[RISK_BASIS_MAX], scale[RISK_BASIS_MAX];
    const double *products = sums, *targets = sums + n * (n + 1) / 2;
    int rank = 0;
    memset(coefficients, 0, RISK_BASIS_MAX * sizeof *coefficients);
    if (!(targets[n] > 0)) {
        coefficients[0] = NEVER;
        return 0;
    }
    for (int j = 0; j < n; j++) {
        double square = products[j * (j + 1) / 2 + j];
        scale[j] = square > 0 ? 1 / sqrt(square) : 0;
    }
    for (int j = 0; j < n; j++) {
        for (int k = 0; k <= j; k++)
            a[j * n + k] = a[k * n + j] =
                products[j * (j + 1) / 2 + k] * scale[j] * scale[k];
        b[j] = targets[j] * scale[j];
    }
    TRY(linear_least_squares(ctx, n, n, a, b, x, &rank));
    for (int j = 0; j < n; j++)
        coefficients[j] = x[j] * scale[j];
    return 0;
}

/* ---- the sums of all ranks ---- */

struct share {
    int n;
    int64_t chunks, begin, end; /* all; this rank's */
    double *all;                /* [chunks][risk_moments(n)] */
};

static int solve(struct ctx *ctx, void *argument, int32_t date,
                 const double *moments, double *coefficients)
{
    struct share *s = argument;
    const size_t each = risk_moments(s->n), total = each * (size_t)s->chunks;
    double joined[RISK_BASIS_MAX * (RISK_BASIS_MAX + 3) / 2 + 1],
        leaf[REGRESSION_CHUNKS];
    (void)date;
    /* All but one rank have 0 in each place: the sum is exact. */
    memset(s->all, 0, total * sizeof *s->all);
    memcpy(s->all + each * (size_t)s->begin, moments,
           each * (size_t)(s->end - s->begin) * sizeof *s->all);
    TRY(comm_sum_double(ctx, s->all, (int)total));
    for (size_t m = 0; m < each; m++) {
        for (int64_t c = 0; c < s->chunks; c++)
            leaf[c] = s->all[each * (size_t)c + m];
        joined[m] = exact_tree_sum(leaf, s->chunks);
    }
    return comm_agree(ctx,
                      risk_regression_solve(ctx, s->n, joined, coefficients));
}

/* ---- one instrument ---- */

/* Its dates and rows, from the plan's events. */
static int32_t dates_of(const struct risk_plan *p, int32_t instrument,
                        int32_t *steps, int32_t *rows)
{
    int32_t n = 0;
    for (int64_t e = 0; e < p->n_events; e++) {
        if (p->events[e].instrument != instrument ||
            p->events[e].action != RISK_EXERCISE)
            continue;
        if (steps != NULL) {
            steps[n] = p->events[e].step;
            rows[n] = p->events[e].row;
        }
        n++;
    }
    return n;
}

struct work {
    int32_t *steps, *rows;
    double *discount, *coefficients;
    struct share share;
    struct risk_store *store;
};

static int64_t chunks_for(int32_t n_dates, int n_looks)
{
    size_t each =
               (size_t)n_dates * (size_t)n_looks * sizeof(float) * RISK_CHUNK,
           most = REGRESSION_BYTES / each;
    return most < 1                   ? 1
           : most < REGRESSION_CHUNKS ? (int64_t)most
                                      : (int64_t)REGRESSION_CHUNKS;
}

static int allocate(struct ctx *ctx, const struct risk *risk, int32_t n,
                    const struct risk_instrument *q, struct work *w)
{
    const int size = comm_size(ctx->comm), rank = comm_rank(ctx->comm);
    struct share *s = &w->share;
    s->n = risk_basis_size(q);
    s->chunks = chunks_for(n, risk_looks(q));
    s->begin = s->chunks * rank / size;
    s->end = s->chunks * (rank + 1) / size;
    s->all = calloc((size_t)s->chunks * risk_moments(s->n), sizeof *s->all);
    w->steps = calloc((size_t)n, sizeof *w->steps);
    w->rows = calloc((size_t)n, sizeof *w->rows);
    w->discount = calloc((size_t)n, sizeof *w->discount);
    w->coefficients =
        calloc((size_t)n * RISK_BASIS_MAX, sizeof *w->coefficients);
    (void)risk;
    if (s->all == NULL || w->steps == NULL || w->rows == NULL ||
        w->discount == NULL || w->coefficients == NULL)
        return FAIL(ctx, STATUS_MEMORY, "out of memory for a regression");
    return 0;
}

/* A store of this one instrument, without events. */
static int open_store(struct ctx *ctx, const struct risk *risk,
                      const struct risk_kernels *k,
                      const struct risk_instrument *q, struct work *w)
{
    struct risk_plan plan = risk->plan;
    plan.antithetic = 0;
    plan.n_instruments = 1;
    plan.instruments = q;
    plan.n_events = 0;
    plan.n_rows = 0;
    plan.n_scenarios = 0;
    return k->create(ctx, &plan, &w->store);
}

static int fit(struct ctx *ctx, struct risk *risk, int32_t instrument,
               int32_t n, struct work *w)
{
    const struct risk_instrument *q = &risk->plan.instruments[instrument];
    const struct risk_kernels *k =
        risk->k->regress != NULL ? risk->k : &risk_kernels_cpu;
    TRY(comm_agree(ctx, allocate(ctx, risk, n, q, w)));
    TRY(comm_agree(ctx, open_store(ctx, risk, k, q, w)));
    dates_of(&risk->plan, instrument, w->steps, w->rows);
    for (int32_t d = 0; d < n; d++)
        w->discount[d] = risk->plan.exercise_discount[w->rows[d]];
    const struct risk_regression job = {.instrument = 0,
                                        .n_dates = n,
                                        .steps = w->steps,
                                        .discount = w->discount,
                                        .first_chunk = w->share.begin,
                                        .n_chunks =
                                            w->share.end - w->share.begin,
                                        .solve = solve,
                                        .argument = &w->share,
                                        .coefficients = w->coefficients};
    const double start = timer_now();
    TRY(k->regress(ctx, w->store, &job));
    risk->fit_seconds += timer_now() - start;
    risk->fit_steps +=
        (double)job.n_chunks * RISK_CHUNK * (w->steps[n - 1] + 1);
    for (int32_t d = 0; d < n; d++)
        memcpy(risk->continuation + (ptrdiff_t)RISK_BASIS_MAX * w->rows[d],
               w->coefficients + (ptrdiff_t)RISK_BASIS_MAX * d,
               RISK_BASIS_MAX * sizeof(double));
    return 0;
}

int risk_exercise_fit(struct ctx *ctx, struct risk *risk)
{
    int status = 0;
    for (int32_t i = 0; i < risk->plan.n_instruments && status == 0; i++) {
        int32_t n = dates_of(&risk->plan, i, NULL, NULL);
        if (n == 0)
            continue;
        struct work w = {0};
        status = fit(ctx, risk, i, n, &w);
        if (w.store != NULL)
            (risk->k->regress != NULL ? risk->k : &risk_kernels_cpu)
                ->destroy(w.store);
        free(w.share.all);
        free(w.steps);
        free(w.rows);
        free(w.discount);
        free(w.coefficients);
    }
    return status;
}
