/* risk_exposure_paths.c: what netting sets are worth at each date of a chunk of
 * paths.
 *
 * Paths under the pricing measure. A position is valued at each date as VaR
 * values it at its horizon (risk_revalue.c): in closed form where there is one,
 * else by regression of what paths bring after the date. A payment counts up
 * to and with its date, then no longer.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/ctx.h"
#include "base/comm.h"
#include "base/error.h"
#include "kernels/risk/value.h"
#include "solvers/risk/risk_exposure.h"
#include "solvers/risk/risk_reval.h"
#include "solvers/risk/risk_var.h"

/* A position at a date. */
struct seen {
    int over;                     /* it has paid before */
    struct risk_valuation closed; /* where reval is NULL */
    struct risk_reval *reval;
};

struct risk_exposure_paths {
    const struct risk *risk;
    struct risk_var *asked;  /* [n_dates]: each date as a horizon */
    struct seen *seen;       /* [n_positions][n_dates] */
    double *dates, *lengths; /* of the steps */
    int32_t n_steps;
    int32_t *steps;       /* those that are watched */
    double *watched;      /* [watch.n] their dates, */
    double *watched_step; /* and lengths of the steps that end there */
    int32_t *ends;        /* [n_dates]: where each date is among the watched */
    struct risk_watch watch;
    struct risk_memory *memory;
    struct risk_store *store;
    const struct risk_kernels *k;
};

static struct seen *seen_at(const struct risk_exposure_paths *w, int32_t q,
                            int d)
{
    return &w->seen[(ptrdiff_t)q * w->risk->exposure->n_dates + d];
}

void risk_exposure_paths_free(struct risk_exposure_paths *w)
{
    if (w == NULL)
        return;
    const ptrdiff_t n =
        (ptrdiff_t)w->risk->portfolio.n * w->risk->exposure->n_dates;
    if (w->store != NULL)
        w->k->destroy(w->store);
    for (ptrdiff_t i = 0; w->seen != NULL && i < n; i++) {
        risk_reval_free(w->seen[i].reval);
        free(w->seen[i].reval);
    }
    free(w->seen);
    free(w->asked);
    free(w->dates);
    free(w->lengths);
    free(w->steps);
    free(w->watched);
    free(w->watched_step);
    free(w->ends);
    free(w->watch.spot);
    free(w->watch.variance);
    free(w->memory);
    free(w);
}

/* ---- positions ---- */

static int make_seen(struct ctx *ctx, struct risk_exposure_paths *w, int32_t q,
                     int d)
{
    const struct risk_position *p = &w->risk->portfolio.positions[q];
    const double t = w->risk->exposure->dates[d];
    struct seen *s = seen_at(w, q, d);
    s->over = p->type != RISK_TYPE_STOCK && p->maturity < t - RISK_SAME_DATE;
    if (s->over)
        return 0;
    if (risk_value_exists(w->risk, q, 0) && risk_value_exists(w->risk, q, t))
        return risk_value_make(ctx, w->risk, q, t, &s->closed);
    struct risk horizon = *w->risk;
    horizon.var = &w->asked[d];
    s->reval = calloc(1, sizeof *s->reval);
    if (s->reval == NULL)
        return FAIL(ctx, STATUS_MEMORY, "out of memory for exposures");
    return risk_reval_make(ctx, &horizon, q, s->reval);
}

static int make_positions(struct ctx *ctx, struct risk_exposure_paths *w)
{
    const struct risk_exposure *e = w->risk->exposure;
    for (int d = 0; d < e->n_dates; d++)
        w->asked[d] =
            (struct risk_var){.horizon = e->dates[d],
                              .revaluation = RISK_REVALUE_AUTO,
                              .regression_paths = e->regression_paths};
    for (int32_t q = 0; q < w->risk->portfolio.n; q++)
        for (int d = 0; d < e->n_dates; d++)
            TRY(make_seen(ctx, w, q, d));
    return 0;
}

/* Regressions of all. Collective. */
static int fit(struct ctx *ctx, struct risk_exposure_paths *w)
{
    const struct risk_exposure *e = w->risk->exposure;
    for (int32_t q = 0; q < w->risk->portfolio.n; q++)
        for (int d = 0; d < e->n_dates; d++) {
            struct seen *s = seen_at(w, q, d);
            struct risk horizon = *w->risk;
            horizon.var = &w->asked[d];
            if (s->reval != NULL)
                TRY(risk_reval_fit(ctx, &horizon, s->reval));
        }
    return 0;
}

static void note_methods(struct risk *risk, const struct risk_exposure_paths *w)
{
    struct risk_exposure *e = risk->exposure;
    for (int32_t q = 0; q < risk->portfolio.n; q++)
        for (int d = 0; d < e->n_dates; d++) {
            const struct seen *s = seen_at(w, q, d);
            const ptrdiff_t i = (ptrdiff_t)q * e->n_dates + d;
            const int paid =
                s->reval != NULL && s->reval->kind == RISK_REVAL_PAID;
            e->methods[i] = s->over            ? "paid before"
                            : s->reval == NULL ? "closed form"
                            : paid             ? "paid on the date"
                                               : risk_reval_method(s->reval);
            e->errors[i] = s->reval != NULL ? s->reval->error : 0;
            if (s->reval != NULL && s->reval->knocked != NULL)
                e->errors[i] = fmax(e->errors[i], s->reval->knocked->error);
        }
}

/* ---- dates ---- */

static int rising(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The last date at which the position remembers its path; 0: none. */
static double remembers_until(const struct risk_exposure_paths *w, int32_t q)
{
    double last = 0;
    for (int d = 0; d < w->risk->exposure->n_dates; d++)
        if (seen_at(w, q, d)->reval != NULL)
            last = w->risk->exposure->dates[d];
    return last;
}

/* Dates of exposures and those that positions look at; sorted, none twice. */
static int collect(struct ctx *ctx, struct risk_exposure_paths *w, double **out,
                   int64_t *kept, int *all)
{
    const struct risk *r = w->risk;
    const struct risk_exposure *e = r->exposure;
    int64_t n = e->n_dates, at = 0;
    for (int32_t q = 0; q < r->portfolio.n; q++)
        n += risk_horizon_dates(&r->portfolio.positions[q],
                                remembers_until(w, q), NULL, 0);
    double *t = *out = calloc((size_t)n + 1, sizeof *t);
    if (t == NULL)
        return FAIL(ctx, STATUS_MEMORY, "out of memory for dates");
    for (; at < e->n_dates; at++)
        t[at] = e->dates[at];
    *all = 0;
    for (int32_t q = 0; q < r->portfolio.n; q++) {
        const double until = remembers_until(w, q);
        at += risk_horizon_dates(&r->portfolio.positions[q], until, t + at,
                                 n - at);
        *all |= until > 0 && r->portfolio.positions[q].continuous;
    }
    qsort(t, (size_t)n, sizeof *t, rising);
    *kept = 0;
    for (int64_t i = 0; i < n; i++)
        if (*kept == 0 || t[i] - t[*kept - 1] > RISK_SAME_DATE)
            t[(*kept)++] = t[i];
    return 0;
}

/* Steps, none longer than the models want; watched are the ends of all where a
 * position looks all the time, else those of the dates t. */
static int make_steps(struct ctx *ctx, struct risk_exposure_paths *w,
                      const double *t, int64_t n, int all)
{
    const double finest = w->risk->market.steps_per_year;
    const size_t room = (size_t)n + (size_t)ceil(t[n - 1] * finest) + 2;
    w->dates = calloc(room, sizeof(double));
    w->lengths = calloc(room, sizeof(double));
    w->steps = calloc(room, sizeof *w->steps);
    w->watched = calloc(room, sizeof(double));
    w->watched_step = calloc(room, sizeof(double));
    if (w->dates == NULL || w->lengths == NULL || w->steps == NULL ||
        w->watched == NULL || w->watched_step == NULL)
        return FAIL(ctx, STATUS_MEMORY, "out of memory for dates");
    for (int64_t i = 0; i < n; i++) {
        const double from = i > 0 ? t[i - 1] : 0;
        const int64_t pieces =
            (int64_t)fmax(ceil((t[i] - from) * finest - 1e-9), 1);
        for (int64_t k = 1; k <= pieces; k++) {
            const int32_t s = w->n_steps++;
            w->dates[s] =
                k == pieces ? t[i]
                            : from + (t[i] - from) * (double)k / (double)pieces;
            w->lengths[s] = w->dates[s] - (s > 0 ? w->dates[s - 1] : 0);
            if (!all && k < pieces)
                continue;
            w->watched[w->watch.n] = w->dates[s];
            w->watched_step[w->watch.n] = w->lengths[s];
            w->steps[w->watch.n++] = s;
        }
    }
    return 0;
}

static int make_watch(struct ctx *ctx, struct risk_exposure_paths *w)
{
    const struct risk *r = w->risk;
    const struct risk_exposure *e = r->exposure;
    struct risk_watch *h = &w->watch;
    h->steps = w->steps;
    h->dates = w->watched;
    h->lengths = w->watched_step;
    h->n_factors = r->market.n;
    h->factors = r->plan.factors;
    h->seed = r->seed;
    for (int d = 0; d < e->n_dates; d++)
        for (int32_t i = 0; i < h->n; i++)
            if (fabs(w->watched[i] - e->dates[d]) <= RISK_SAME_DATE)
                w->ends[d] = i;
    return risk_watch_room(ctx, h);
}

/* ---- life ---- */

static int prepare(struct ctx *ctx, struct risk_exposure_paths *w)
{
    const size_t n_dates = (size_t)w->risk->exposure->n_dates;
    double *t = NULL;
    int64_t n = 0;
    int all = 0, status;
    w->asked = calloc(n_dates, sizeof *w->asked);
    w->seen = calloc((size_t)w->risk->portfolio.n * n_dates, sizeof *w->seen);
    w->ends = calloc(n_dates, sizeof *w->ends);
    w->memory = calloc(1, sizeof *w->memory);
    if (w->asked == NULL || w->seen == NULL || w->ends == NULL ||
        w->memory == NULL)
        return FAIL(ctx, STATUS_MEMORY, "out of memory for exposures");
    TRY(make_positions(ctx, w));
    TRY_CLEANUP(collect(ctx, w, &t, &n, &all));
    TRY_CLEANUP(make_steps(ctx, w, t, n, all));
    TRY_CLEANUP(make_watch(ctx, w));
    const struct risk_walks walks = {.k = w->k,
                                     .n_steps = w->n_steps,
                                     .dates = w->dates,
                                     .lengths = w->lengths};
    status = risk_walks_store(ctx, w->risk, &walks, &w->store);
cleanup:
    free(t);
    return status;
}

int risk_exposure_paths_make(struct ctx *ctx, struct risk *risk,
                             struct risk_exposure_paths **out)
{
    struct risk_exposure_paths *w = *out = calloc(1, sizeof *w);
    int status = 0;
    if (w == NULL)
        status = FAIL(ctx, STATUS_MEMORY, "out of memory for exposures");
    TRY(comm_agree(ctx, status));
    w->risk = risk;
    w->k = risk->k->states != NULL ? risk->k : &risk_kernels_cpu;
    TRY(comm_agree(ctx, prepare(ctx, w)));
    TRY(fit(ctx, w));
    note_methods(risk, w);
    return 0;
}

/* ---- values ---- */

int risk_exposure_paths_walk(struct ctx *ctx, struct risk_exposure_paths *w,
                             int64_t chunk)
{
    struct risk_watch *h = &w->watch;
    h->path = (uint64_t)chunk * RISK_CHUNK;
    return w->k->states(ctx, w->store, chunk, h->n, h->steps, h->spot,
                        h->variance);
}

/* What was exercised before the date is paid and gone. */
static void drop_exercised(const struct risk_exposure_paths *w,
                           const struct risk_reval *r,
                           const struct risk_watch *until, double *value)
{
    struct risk_watch before = *until;
    const enum risk_type type = r->position.type;
    if (type != RISK_TYPE_BERMUDAN && type != RISK_TYPE_AMERICAN)
        return;
    before.n--;
    risk_remember(r, &before, w->memory);
    for (int32_t j = 0; j < RISK_CHUNK; j++)
        if (w->memory->alive[j] == 0)
            value[j] = 0;
}

int risk_exposure_paths_values(struct ctx *ctx, struct risk_exposure_paths *w,
                               int d, double *out)
{
    double value[RISK_CHUNK] __attribute__((aligned(64)));
    const struct risk *r = w->risk;
    struct risk_watch until = w->watch;
    until.n = w->ends[d] + 1;
    const double *spot =
        until.spot + (ptrdiff_t)w->ends[d] * until.n_factors * RISK_CHUNK;
    memset(out, 0, (size_t)r->exposure->n_sets * RISK_CHUNK * sizeof(double));
    for (int32_t q = 0; q < r->portfolio.n; q++) {
        const struct seen *s = seen_at(w, q, d);
        double *to = out + (ptrdiff_t)r->exposure->set_of[q] * RISK_CHUNK;
        const double quantity = r->portfolio.positions[q].quantity;
        if (s->over)
            continue;
        if (s->reval == NULL) {
            risk_value_paths(&s->closed, spot, RISK_CHUNK, RISK_CHUNK, value);
        } else {
            TRY(risk_reval_values(ctx, r, s->reval, &until, w->memory, value));
            drop_exercised(w, s->reval, &until, value);
        }
        for (int32_t j = 0; j < RISK_CHUNK; j++)
            to[j] += quantity * value[j];
    }
    return 0;
}
