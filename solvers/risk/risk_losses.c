/* risk_losses.c: what each position loses up to the horizon, path by path.
 *
 * Paths of the real world to the horizon, the value of each position there
 * (risk_revalue.c), losses = value today - value then: also what time alone
 * brings or takes. Losses stay on the rank that computed them: those of all
 * positions together, and those of a group of positions as large as fits in
 * RISK_LOSSES_BYTES. The next group's are computed when it is their turn, from
 * the same paths, whose numbers depend on nothing but the path.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/comm.h"
#include "base/ctx.h"
#include "base/error.h"
#include "kernels/risk/exact.h"
#include "solvers/risk/risk_reval.h"
#include "solvers/risk/risk_select.h"
#include "solvers/risk/risk_var.h"

/* What is needed beside the losses. */
struct risk_losses_work {
    struct risk_reval *then; /* [n] */
    double *now;             /* [n] */
    double *dates, *lengths; /* of the steps to the horizon */
    int32_t n_steps, *steps; /* steps: those that are looked at */
    struct risk_watch watch;
    struct risk_memory *memory;
    struct risk_factor *factors;
    struct risk_store *store;
    const struct risk_kernels *k;
};

static void work_free(struct risk_losses_work *w, size_t n)
{
    if (w == NULL)
        return;
    if (w->store != NULL)
        w->k->destroy(w->store);
    for (size_t q = 0; w->then != NULL && q < n; q++)
        risk_reval_free(&w->then[q]);
    free(w->then);
    free(w->now);
    free(w->dates);
    free(w->lengths);
    free(w->steps);
    free(w->watch.spot);
    free(w->watch.variance);
    free(w->memory);
    free(w->factors);
    free(w);
}

void risk_losses_free(struct risk_losses *l)
{
    work_free(l->work, l->n);
    free(l->of);
    free(l->all);
    free(l->scratch);
    free(l->digits);
}

size_t risk_losses_group(size_t positions, size_t room)
{
    const size_t fit = RISK_LOSSES_BYTES / (sizeof(double) * (room + 1));
    return fit < 1 ? 1 : fit < positions ? fit : positions;
}

static int allocate(struct ctx *ctx, const struct risk *risk,
                    struct risk_losses *l)
{
    const int size = comm_size(ctx->comm), rank = comm_rank(ctx->comm);
    l->n = (size_t)risk->portfolio.n;
    l->chunks = (risk->var->paths + RISK_CHUNK - 1) / RISK_CHUNK;
    l->first = l->chunks * rank / size;
    l->end = l->chunks * (rank + 1) / size;
    l->room = (size_t)(l->end - l->first) * RISK_CHUNK;
    /* Of the rank with most paths: all go through the same groups. */
    l->group = risk_losses_group(l->n, (size_t)((l->chunks + size - 1) / size) *
                                           RISK_CHUNK);
    l->to = l->group;
    l->of = calloc(l->group * l->room + 1, sizeof(double));
    l->all = calloc(l->room + 1, sizeof(double));
    l->scratch = calloc(l->room + 1, sizeof(double));
    l->digits = calloc(RISK_DIGITS, sizeof *l->digits);
    struct risk_losses_work *w = l->work = calloc(1, sizeof *w);
    if (w == NULL)
        return FAIL(ctx, STATUS_MEMORY, "out of memory for losses");
    w->k = risk->k->states != NULL ? risk->k : &risk_kernels_cpu;
    w->then = calloc(l->n + 1, sizeof *w->then);
    w->now = calloc(l->n + 1, sizeof(double));
    w->memory = calloc(1, sizeof *w->memory);
    w->factors = calloc((size_t)risk->market.n, sizeof *w->factors);
    if (l->of == NULL || l->all == NULL || l->scratch == NULL ||
        l->digits == NULL || w->then == NULL || w->now == NULL ||
        w->memory == NULL || w->factors == NULL)
        return FAIL(ctx, STATUS_MEMORY, "out of memory for losses");
    return 0;
}

/* ---- values today ---- */

/* In closed form, or where there is none as the run's paths had it. */
static int value_now(struct ctx *ctx, const struct risk *risk, int32_t q,
                     double *out)
{
    const struct risk_position *p = &risk->portfolio.positions[q];
    double spot[RISK_FACTORS_MAX * 8] __attribute__((aligned(64))),
        lane[8] __attribute__((aligned(64)));
    struct risk_valuation v;
    if (!risk_value_exists(risk, q, 0)) {
        *out = risk->prices[q].value.value;
        return 0;
    }
    TRY(risk_value_make(ctx, risk, q, 0, &v));
    for (int l = 0; l < p->n_legs; l++)
        for (int i = 0; i < 8; i++)
            spot[8 * p->factor[l] + i] =
                risk->market.assets[p->factor[l]].model.spot;
    risk_value_paths(&v, spot, 8, 8, lane);
    *out = lane[0];
    return 0;
}

static int make_positions(struct ctx *ctx, const struct risk *risk,
                          struct risk_losses_work *w)
{
    for (int32_t q = 0; q < risk->portfolio.n; q++) {
        TRY(risk_reval_make(ctx, risk, q, &w->then[q]));
        TRY(value_now(ctx, risk, q, &w->now[q]));
    }
    return 0;
}

/* ---- steps to the horizon ---- */

static int rising(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Equal steps, as many as the models want, and the dates at which positions
 * look that are not in closed form. */
static int make_dates(struct ctx *ctx, const struct risk *risk,
                      struct risk_losses_work *w)
{
    const double h = risk->var->horizon;
    const int64_t equal =
        (int64_t)fmax(ceil(h * risk->market.steps_per_year - 1e-9), 1);
    int64_t n = equal, kept = 0;
    for (int32_t q = 0; q < risk->portfolio.n; q++)
        if (w->then[q].kind != RISK_REVAL_CLOSED)
            n += risk_horizon_dates(&w->then[q].position, h, NULL, 0);
    w->dates = calloc((size_t)n + 1, sizeof(double));
    w->lengths = calloc((size_t)n + 1, sizeof(double));
    w->steps = calloc((size_t)n + 1, sizeof *w->steps);
    if (w->dates == NULL || w->lengths == NULL || w->steps == NULL)
        return FAIL(ctx, STATUS_MEMORY, "out of memory for dates");
    for (int64_t k = 0; k < equal; k++)
        w->dates[k] = h * (double)(k + 1) / (double)equal;
    int64_t at = equal;
    for (int32_t q = 0; q < risk->portfolio.n; q++)
        if (w->then[q].kind != RISK_REVAL_CLOSED)
            at += risk_horizon_dates(&w->then[q].position, h, w->dates + at,
                                     n - at);
    qsort(w->dates, (size_t)n, sizeof(double), rising);
    for (int64_t k = 0; k < n; k++)
        if (kept == 0 || w->dates[k] - w->dates[kept - 1] > RISK_SAME_DATE)
            w->dates[kept++] = w->dates[k];
    for (int64_t k = 0; k < kept; k++)
        w->lengths[k] = w->dates[k] - (k > 0 ? w->dates[k - 1] : 0);
    w->n_steps = (int32_t)kept;
    return 0;
}

/* All steps are looked at where a position remembers its path, else the last
 * one. */
static int make_watch(struct ctx *ctx, const struct risk *risk,
                      struct risk_losses_work *w)
{
    int all = 0;
    for (int32_t q = 0; q < risk->portfolio.n; q++)
        all |= w->then[q].kind != RISK_REVAL_CLOSED;
    struct risk_watch *h = &w->watch;
    const int32_t first = all ? 0 : w->n_steps - 1;
    *h = (struct risk_watch){.n = w->n_steps - first,
                             .steps = w->steps,
                             .dates = w->dates + first,
                             .lengths = w->lengths + first,
                             .n_factors = risk->market.n,
                             .factors = w->factors,
                             .seed = risk->seed};
    for (int32_t i = 0; i < h->n; i++)
        w->steps[i] = first + i;
    for (int f = 0; f < risk->market.n; f++)
        w->factors[f] = risk->market.assets[f].model;
    return risk_watch_room(ctx, h);
}

/* returns = "normal": the return is the normal number itself, not the
 * exponential of it. */
static void make_normal(const struct risk *risk, double *spot)
{
    const double h = risk->var->horizon;
    for (int f = 0; f < risk->market.n; f++) {
        const struct risk_factor *m = &risk->market.assets[f].model;
        double *s = spot + (size_t)f * RISK_CHUNK;
        for (size_t i = 0; i < RISK_CHUNK; i++) {
            const double r = exact_log(s[i] / m->spot);
            s[i] = m->spot * (1 + r + 0.5 * m->volatility * m->volatility * h);
        }
    }
}

/* ---- losses ---- */

/* States of chunk c's paths. */
static int walk(struct ctx *ctx, const struct risk *risk, int64_t c,
                struct risk_losses_work *w)
{
    struct risk_watch *h = &w->watch;
    h->path = (uint64_t)c * RISK_CHUNK;
    TRY(w->k->states(ctx, w->store, c, h->n, h->steps, h->spot, h->variance));
    if (risk->var->normal)
        make_normal(risk, h->spot + (size_t)(h->n - 1) * (size_t)h->n_factors *
                                        RISK_CHUNK);
    return 0;
}

/* Losses of position q on them. */
static int lose(struct ctx *ctx, const struct risk *risk, size_t q,
                const struct risk_losses_work *w, double *loss)
{
    const double quantity = risk->portfolio.positions[q].quantity;
    TRY(risk_reval_values(ctx, risk, &w->then[q], &w->watch, w->memory, loss));
    for (size_t i = 0; i < RISK_CHUNK; i++)
        loss[i] = quantity * (w->now[q] - loss[i]);
    return 0;
}

static double *column(const struct risk_losses *l, size_t q, size_t at)
{
    return l->of + (q - l->from) * l->room + at;
}

/* All positions of a chunk together; those of the group are kept. */
static int run_chunk(struct ctx *ctx, const struct risk *risk, int64_t c,
                     struct risk_losses *l)
{
    double other[RISK_CHUNK] __attribute__((aligned(64)));
    const size_t at = (size_t)(c - l->first) * RISK_CHUNK;
    TRY(walk(ctx, risk, c, l->work));
    for (size_t q = 0; q < l->n; q++) {
        double *loss = q >= l->from && q < l->to ? column(l, q, at) : other;
        TRY(lose(ctx, risk, q, l->work, loss));
        for (size_t i = 0; i < RISK_CHUNK; i++)
            l->all[at + i] += loss[i];
    }
    for (size_t i = 0; i < RISK_CHUNK; i++)
        if (!isfinite(l->all[at + i]))
            return FAIL(ctx, STATUS_PHYSICS,
                        "the loss on path %lld is not finite",
                        (long long)c * RISK_CHUNK + (long long)i);
    return 0;
}

/* The group's losses alone. */
static int run_group(struct ctx *ctx, const struct risk *risk,
                     struct risk_losses *l)
{
    for (int64_t c = l->first; c < l->end; c++) {
        const size_t at = (size_t)(c - l->first) * RISK_CHUNK;
        TRY(walk(ctx, risk, c, l->work));
        for (size_t q = l->from; q < l->to; q++)
            TRY(lose(ctx, risk, q, l->work, column(l, q, at)));
    }
    return 0;
}

static int prepare(struct ctx *ctx, const struct risk *risk,
                   struct risk_losses *l)
{
    TRY(allocate(ctx, risk, l));
    TRY(make_positions(ctx, risk, l->work));
    TRY(make_dates(ctx, risk, l->work));
    TRY(make_watch(ctx, risk, l->work));
    const struct risk_walks walks = {.k = l->work->k,
                                     .n_steps = l->work->n_steps,
                                     .dates = l->work->dates,
                                     .lengths = l->work->lengths,
                                     .real = 1};
    return risk_walks_store(ctx, risk, &walks, &l->work->store);
}

static void note_methods(struct risk *risk, const struct risk_losses_work *w)
{
    for (int32_t q = 0; q < risk->portfolio.n; q++) {
        const struct risk_reval *r = &w->then[q];
        double error = r->error;
        if (r->knocked != NULL)
            error = fmax(error, r->knocked->error);
        risk->var->methods[q] =
            (struct risk_var_method){risk_reval_method(r), error};
    }
}

int risk_losses_make(struct ctx *ctx, struct risk *risk, struct risk_losses *l)
{
    int status = comm_agree(ctx, prepare(ctx, risk, l));
    for (size_t q = 0; status == 0 && q < l->n; q++)
        status = risk_reval_fit(ctx, risk, &l->work->then[q]);
    for (int64_t c = l->first; status == 0 && c < l->end; c++)
        status = run_chunk(ctx, risk, c, l);
    status = comm_agree(ctx, status);
    if (status == 0)
        note_methods(risk, l->work);
    return status;
}

int risk_losses_next(struct ctx *ctx, const struct risk *risk,
                     struct risk_losses *l, int *more)
{
    *more = l->to < l->n;
    if (!*more)
        return 0;
    l->from = l->to;
    l->to = l->from + l->group < l->n ? l->from + l->group : l->n;
    return comm_agree(ctx, run_group(ctx, risk, l));
}
