/* risk_walks.c: paths of all factors without positions, for horizons, dates of
 * exposure and scenarios: steps of one's own, under the pricing measure or in
 * the real world.
 */
#include <stdlib.h>

#include "base/ctx.h"
#include "base/error.h"
#include "solvers/risk/risk_reval.h"

int risk_walks_store(struct ctx *ctx, const struct risk *risk,
                     const struct risk_walks *w, struct risk_store **out)
{
    const struct risk_market *m = &risk->market;
    const size_t nf = (size_t)m->n;
    double *drift = calloc((size_t)w->n_steps * nf + 1, sizeof *drift);
    struct risk_factor *factors = calloc(nf + 1, sizeof *factors);
    int status = 0;
    *out = NULL;
    if (drift == NULL || factors == NULL)
        status = FAIL(ctx, STATUS_MEMORY, "out of memory for paths");
    for (size_t f = 0; status == 0 && f < nf; f++) {
        const struct risk_asset *a = &m->assets[f];
        factors[f] = a->model;
        for (int32_t s = 0; s < w->n_steps; s++) {
            const double from = s > 0 ? w->dates[s - 1] : 0, to = w->dates[s];
            drift[(size_t)s * nf + f] = w->real ? risk_real_growth(a, from, to)
                                                : risk_growth(a, from, to);
        }
    }
    const struct risk_plan plan = {.seed = risk->seed,
                                   .n_factors = m->n,
                                   .factors = factors,
                                   .root = m->root,
                                   .n_steps = w->n_steps,
                                   .step_length = w->lengths,
                                   .drift = drift};
    if (status == 0)
        status = w->k->create(ctx, &plan, out);
    free(drift);
    free(factors);
    return status;
}

int risk_watch_room(struct ctx *ctx, struct risk_watch *h)
{
    const size_t bytes =
        (size_t)h->n * (size_t)h->n_factors * RISK_CHUNK * sizeof(double);
    h->spot = aligned_alloc(64, bytes);
    h->variance = aligned_alloc(64, bytes);
    if (h->spot == NULL || h->variance == NULL)
        return FAIL(ctx, STATUS_MEMORY,
                    "out of memory for the states of %d dates; fewer dates, or "
                    "fewer positions that look at their path",
                    (int)h->n);
    return 0;
}
