/* looks_cuda.cu: the spots of paths at chosen steps: for horizons and
 * exposures, and for regressions. */
#include "kernels/risk/exercise.h"
#include "kernels/risk/walker_cuda.h"

/* With four blocks on a multiprocessor, of which each may have more registers
 * than it takes by itself, nothing is spilled. */
template <int KIND>
static __global__ void __launch_bounds__(RISK_THREADS, 4)
    look_spots(struct risk_view m, struct risk_card_market market,
               uint64_t first, int n, const int32_t *steps, double *spot,
               double *variance)
{
    const size_t at = risk_path_of_thread();
    risk_walker<KIND> w(m, market, first + at, at);
    w.begin();
    for (int k = 0, next = 0; next < n && k < m.n_steps; k++) {
        w.provide(k);
        w.step(k);
        if (k != steps[next])
            continue;
        for (int f = 0; f < w.factors(); f++) {
            const size_t to =
                ((size_t)next * (size_t)w.factors() + (size_t)f) * RISK_CHUNK +
                at;
            spot[to] = exact_exp(w.x(f));
            if (variance != NULL)
                variance[to] = w.v(f);
        }
        next++;
    }
}

template <int KIND>
static __global__ void __launch_bounds__(RISK_THREADS)
    look_legs(struct risk_view m, struct risk_card_market market,
              uint64_t first, int instrument, int n, const int32_t *steps,
              float *out, size_t each)
{
    const size_t at = risk_path_of_thread();
    const struct risk_instrument *q = &m.instruments[instrument];
    risk_walker<KIND> w(m, market, first + at, at);
    w.begin();
    for (int k = 0, next = 0; next < n && k < m.n_steps; k++) {
        w.provide(k);
        w.step(k);
        if (k != steps[next])
            continue;
        float *to = out + (size_t)next * (size_t)risk_looks(q) * each + at;
        for (int l = 0; l < q->n_legs; l++)
            to[(size_t)l * each] = (float)exact_exp(w.x(q->factor[l]));
        for (int v = 0; v < q->n_variances; v++)
            to[(size_t)(q->n_legs + v) * each] =
                (float)w.v(q->variance_factor[v]);
        next++;
    }
}

int risk_cuda_spots(struct risk_store *s, uint64_t path, int n_steps,
                    const int32_t *steps, double *spot, double *variance)
{
    TRY(risk_cuda_columns(s, 1));
    TRY(risk_cuda_points(s, path, 1));
    RISK_LAUNCH_KIND(risk_kind(&s->t), look_spots, RISK_CHUNK / RISK_THREADS,
                     s->device->stream, s->view, s->base, path, n_steps, steps,
                     spot, variance);
    CUDA_TRY_LAUNCH(s->ctx, "look_spots");
    return 0;
}

int risk_cuda_legs(struct risk_store *s, uint64_t path, int64_t chunks,
                   int instrument, int n_steps, const int32_t *steps,
                   float *out, size_t each, size_t at)
{
    const unsigned grid = (unsigned)(chunks * (RISK_CHUNK / RISK_THREADS));
    TRY(risk_cuda_points(s, path, chunks));
    RISK_LAUNCH_KIND(risk_kind(&s->t), look_legs, grid, s->device->stream,
                     s->view, s->base, path, instrument, n_steps, steps,
                     out + at, each);
    CUDA_TRY_LAUNCH(s->ctx, "look_legs");
    return 0;
}

/* Steps, spots and variances in one piece of the card's memory. */
int risk_cuda_states(struct ctx *ctx, struct risk_store *s, int64_t chunk,
                     int n_steps, const int32_t *steps, double *spot,
                     double *variance)
{
    const size_t each = (size_t)n_steps * (size_t)s->view.n_factors *
                        RISK_CHUNK * sizeof(double),
                 step_bytes = (size_t)n_steps * sizeof *steps;
    if (n_steps == 0)
        return 0;
    TRY(risk_cuda_results(s, 2 * each + step_bytes));
    char *at = (char *)s->results;
    double *card_spot = (double *)(void *)at,
           *card_variance = (double *)(void *)(at + each);
    int32_t *card_steps = (int32_t *)(void *)(at + 2 * each);
    TRY(cuda_to_device(ctx, s->device, card_steps, steps, step_bytes));
    TRY(risk_cuda_spots(s, (uint64_t)chunk * RISK_CHUNK, n_steps, card_steps,
                        card_spot, variance != NULL ? card_variance : NULL));
    TRY(cuda_to_host(ctx, s->device, spot, card_spot, each));
    return variance == NULL
               ? 0
               : cuda_to_host(ctx, s->device, variance, card_variance, each);
}
