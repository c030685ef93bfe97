/* store_cuda.cu: a plan in a card's memory, runs of chunks, and the card's
 * table of kernels. */
#include <stdlib.h>
#include <string.h>

#include "kernels/risk/risk_cuda.h"

extern "C" const struct risk_kernels *risk_kernels_cuda(void);

/* Columns of a launch take at most about this much of a card. */
static const size_t COLUMN_BYTES = (size_t)1 << 30;

/* ---- columns ---- */

/* How many numbers of each kind a path has. */
struct shape {
    size_t state, acc, normals, extra, bridge, points, rows, second, moved;
};

static struct shape shape_of(const struct risk_plan *p, size_t n_extra,
                             size_t n_bridge, size_t n_sobol, int twins)
{
    const size_t nf = (size_t)p->n_factors, many = nf == 1 ? 0 : nf;
    struct shape h;
    h.state = (twins ? 5 : 4) * many;
    h.acc = 3 * (size_t)p->n_instruments;
    h.normals = p->sobol ? 0 : 4 * many;
    h.extra = many > 0 ? 2 * n_extra : 0;
    h.bridge = many > 0 ? 4 * n_bridge : 0;
    h.points = (size_t)p->n_steps * n_sobol;
    h.rows = (size_t)p->n_instruments + 1;
    h.second = twins ? h.rows : 0;
    h.moved = p->n_scenarios > 0 ? 2 * h.rows : 0;
    return h;
}

static size_t numbers_of(const struct shape *h)
{
    return h->state + h->acc + h->normals + 2 * h->extra + h->bridge +
           h->points + 2 * h->rows + h->second + h->moved;
}

/* The shape before the plan's tables are made. */
static struct shape guess_shape(const struct risk_plan *p)
{
    size_t extra = 0, bridge = 0, sobol = (size_t)p->n_factors;
    for (int f = 0; f < p->n_factors; f++) {
        extra += p->factors[f].model != RISK_GBM;
        sobol += p->factors[f].model == RISK_HESTON;
    }
    for (int64_t e = 0; e < p->n_events && bridge == 0; e++)
        if (risk_needs_bridge(p->events[e].action))
            bridge = (size_t)p->n_factors;
    int twins = 0;
    for (int32_t q = 0; q < p->n_instruments; q++)
        twins |= risk_wants_twin(&p->instruments[q]);
    return shape_of(p, extra, bridge, p->sobol ? sobol : 0, twins);
}

static int64_t launch_chunks(const struct shape *h)
{
    const size_t each = numbers_of(h) * sizeof(double) * RISK_CHUNK,
                 most = COLUMN_BYTES / each;
    return most < 1                    ? 1
           : most < RISK_LAUNCH_CHUNKS ? (int64_t)most
                                       : (int64_t)RISK_LAUNCH_CHUNKS;
}

static struct shape shape_of_store(const struct risk_store *s)
{
    return shape_of(&s->t.plan, (size_t)s->t.n_extra, (size_t)s->t.n_bridge,
                    (size_t)s->t.sobol.drivers, s->t.any_twin);
}

int64_t risk_cuda_launch_chunks(const struct risk_store *s)
{
    const struct shape h = shape_of_store(s);
    return launch_chunks(&h);
}

int risk_cuda_columns(struct risk_store *s, int64_t chunks)
{
    struct risk_view *v = &s->view;
    const struct shape h = shape_of_store(s);
    const size_t paths = (size_t)chunks * RISK_CHUNK;
    if (paths <= v->stride)
        return 0;
    /* Nothing in them is needed from launch to launch. */
    TRY(cuda_release(s->ctx, s->columns));
    s->columns = NULL;
    s->columns_bytes = 0;
    v->stride = 0;
    TRY(cuda_grow(s->ctx, &s->columns, &s->columns_bytes,
                  numbers_of(&h) * paths * sizeof(double), "paths"));
    double *at = (double *)s->columns;
    v->stride = paths;
    v->state = at, at += h.state * paths;
    v->acc = at, at += h.acc * paths;
    v->normals = at, at += h.normals * paths;
    v->extra_z = at, at += h.extra * paths;
    v->extra_u = at, at += h.extra * paths;
    v->bridge_u = at, at += h.bridge * paths;
    v->points = at, at += h.points * paths;
    v->pay = at, at += h.rows * paths;
    v->control = at, at += h.rows * paths;
    v->second = at, at += h.second * paths;
    v->moved = at;
    return 0;
}

int risk_cuda_results(struct risk_store *s, size_t bytes)
{
    if (bytes <= s->results_bytes)
        return 0;
    TRY(cuda_release(s->ctx, s->results));
    s->results = NULL;
    s->results_bytes = 0;
    return cuda_grow(s->ctx, &s->results, &s->results_bytes, bytes, "sums");
}

/* ---- tables ---- */

int risk_cuda_table(struct risk_store *s, const void *from, size_t n,
                    const void **out)
{
    size_t held = 0;
    void *p = NULL;
    *out = NULL;
    if (n == 0 || from == NULL)
        return 0;
    void **blocks =
        (void **)realloc(s->blocks, (size_t)(s->n_blocks + 1) * sizeof *blocks);
    if (blocks == NULL)
        return FAIL(s->ctx, STATUS_MEMORY, "out of memory for tables");
    s->blocks = blocks;
    TRY(cuda_grow(s->ctx, &p, &held, n, "the plan"));
    s->blocks[s->n_blocks++] = p;
    TRY(cuda_to_device(s->ctx, s->device, p, from, n));
    *out = p;
    return 0;
}

/* n numbers of a table to the card: *out points to them there. */
template <class T>
static int put(struct risk_store *s, const T *from, size_t n, const T **out)
{
    const void *p = NULL;
    TRY(risk_cuda_table(s, from, n * sizeof *from, &p));
    *out = (const T *)p;
    return 0;
}

static int put_market(struct risk_store *s, const struct risk_market *m,
                      struct risk_card_market *out)
{
    const struct risk_plan *p = &s->t.plan;
    const size_t nf = (size_t)p->n_factors, ns = (size_t)p->n_steps;
    const struct risk_step *steps = m->steps;
    const double *log_spot = m->log_spot;
    TRY(put(s, steps, ns * nf, &out->steps));
    TRY(put(s, log_spot, nf, &out->log_spot));
    TRY(put(s, m->factors, nf, &out->factors));
    TRY(put(s, m->discount, (size_t)p->n_instruments, &out->discount));
    return put(s, m->exercise_discount, (size_t)p->n_rows,
               &out->exercise_discount);
}

/* Which of Sobol's drivers a factor's second normal is. */
static int put_sobol(struct risk_store *s)
{
    struct risk_view *v = &s->view;
    const struct risk_sobol *from = &s->t.sobol;
    int of[RISK_FACTORS_MAX];
    for (int e = 0; e < s->t.n_extra; e++)
        of[e] = -1;
    for (int d = v->n_factors; d < from->drivers; d++)
        of[s->t.sobol_extra[d - v->n_factors]] = d;
    v->n_sobol = from->drivers;
    v->dimensions = from->dimensions;
    v->replicate = s->t.plan.replicate;
    v->replicate_paths = (uint64_t)s->t.plan.replicate_chunks * RISK_CHUNK;
    TRY(put(s, (const int *)of, (size_t)s->t.n_extra, &v->sobol_of));
    TRY(put(s, (const struct risk_bridge_point *)from->order,
            (size_t)v->n_steps, &v->order));
    TRY(put(s, (const double *)from->per_root, (size_t)v->n_steps,
            &v->per_root));
    if (from->turn != NULL)
        TRY(put(s, (const double *)from->turn, (size_t)v->n_steps, &v->turn));
    return v->dimensions > 0 ? risk_cuda_directions(s) : 0;
}

static int put_plan(struct risk_store *s)
{
    const struct risk_tables *t = &s->t;
    const struct risk_plan *p = &t->plan;
    struct risk_view *v = &s->view;
    const size_t nf = (size_t)p->n_factors, ns = (size_t)p->n_steps;
    int purpose[RISK_FACTORS_MAX];
    v->seed = p->seed;
    v->antithetic = p->antithetic;
    v->sobol = p->sobol;
    v->n_factors = p->n_factors;
    v->n_steps = p->n_steps;
    v->n_instruments = p->n_instruments;
    v->n_extra = t->n_extra;
    v->n_bridge = t->n_bridge;
    for (int e = 0; e < t->n_extra; e++)
        purpose[e] = (int)t->extra_purpose[e];
    TRY(put(s, p->root, nf * nf, &v->root));
    TRY(put(s, p->instruments, (size_t)p->n_instruments, &v->instruments));
    TRY(put(s, p->events, (size_t)p->n_events, &v->events));
    TRY(put(s, (const int64_t *)t->event_begin, ns + 1, &v->event_begin));
    TRY(put(s, (const unsigned char *)t->wants_spot, ns * nf, &v->wants_spot));
    TRY(put(s, (const int *)t->extra, nf, &v->extra));
    TRY(put(s, (const int *)purpose, (size_t)t->n_extra, &v->extra_purpose));
    TRY(put(s, (const int *)t->extra_factor, (size_t)t->n_extra,
            &v->extra_factor));
    TRY(put(s, (const int *)t->bridge, nf, &v->bridge));
    TRY(put(s, (const int *)t->bridge_factor, (size_t)t->n_bridge,
            &v->bridge_factor));
    if (t->any_twin)
        TRY(put(s, (const unsigned char *)t->twin, nf, &v->twin));
    TRY(put(s, p->continuation, (size_t)p->n_rows * RISK_BASIS_MAX,
            &v->continuation));
    TRY(put_market(s, &t->base, &s->base));
    for (int c = 0; c < p->n_scenarios; c++)
        TRY(put_market(s, &t->scenarios[c], &s->scenarios[c]));
    return p->sobol ? put_sobol(s) : 0;
}

/* ---- life ---- */

static size_t results_of(const struct risk_plan *p, int64_t chunks)
{
    return (size_t)chunks * ((size_t)p->n_instruments + 1) *
           (sizeof(struct risk_sums) +
            (size_t)p->n_scenarios * sizeof(struct risk_scenario_sums));
}

static double estimate(const struct risk_plan *p)
{
    const struct shape h = guess_shape(p);
    const int64_t chunks = launch_chunks(&h);
    const double steps = (double)p->n_steps * p->n_factors;
    return (double)numbers_of(&h) * sizeof(double) * (double)chunks *
               RISK_CHUNK +
           (double)results_of(p, chunks) +
           steps * (double)sizeof(struct risk_step) * (1 + p->n_scenarios) +
           (double)p->n_events * (double)sizeof(struct risk_event) +
           (double)p->n_instruments * (double)sizeof(struct risk_instrument) +
           (double)p->n_rows * RISK_BASIS_MAX * sizeof(double);
}

static void destroy(struct risk_store *s)
{
    if (s == NULL)
        return;
    cudaStreamSynchronize(s->device->stream);
    for (int b = 0; b < s->n_blocks; b++)
        cuda_free(s->blocks[b]);
    cuda_free(s->columns);
    cuda_free(s->results);
    free(s->blocks);
    free(s->scenarios);
    risk_tables_free(&s->t);
    free(s);
}

static int fill_store(struct ctx *ctx, struct risk_store *s,
                      const struct risk_plan *plan)
{
    s->ctx = ctx;
    s->device = cuda_of(ctx);
    s->scenarios = (struct risk_card_market *)calloc(
        (size_t)plan->n_scenarios + 1, sizeof *s->scenarios);
    if (s->scenarios == NULL || risk_tables_make(&s->t, plan))
        return FAIL(ctx, STATUS_MEMORY, "out of memory for paths");
    return put_plan(s);
}

static int create(struct ctx *ctx, const struct risk_plan *plan,
                  struct risk_store **out)
{
    struct risk_store *s = (struct risk_store *)calloc(1, sizeof *s);
    *out = NULL;
    if (s == NULL)
        return FAIL(ctx, STATUS_MEMORY, "out of memory for paths");
    int status = fill_store(ctx, s, plan);
    if (status != 0)
        destroy(s);
    else
        *out = s;
    return status;
}

/* ---- chunks ---- */

/* Queue a launch of n chunks from `path` on; results are left on the card. */
static int queue(struct risk_store *s, uint64_t path, int64_t n,
                 struct risk_sums *sums, struct risk_scenario_sums *scenarios)
{
    struct risk_view *v = &s->view;
    const size_t rows = (size_t)v->n_instruments + 1;
    TRY(risk_cuda_points(s, path, n));
    TRY(risk_cuda_walk(s, &s->base, path, n, v->pay, v->control));
    TRY(risk_cuda_sums(s, n, sums));
    for (int c = 0; c + 1 < s->t.plan.n_scenarios; c += 2) {
        TRY(risk_cuda_walk(s, &s->scenarios[c], path, n, v->moved, NULL));
        TRY(risk_cuda_walk(s, &s->scenarios[c + 1], path, n,
                           v->moved + rows * v->stride, NULL));
        TRY(risk_cuda_pair_sums(s, n, scenarios + (size_t)c * rows));
    }
    return 0;
}

/* The portfolio's samples of a launch to where they are wanted. */
static int fetch_samples(struct risk_store *s, int64_t n,
                         struct risk_chunk *out)
{
    const double *from =
        s->view.pay + (size_t)s->view.n_instruments * s->view.stride;
    for (int64_t c = 0; c < n; c++)
        if (out[c].samples != NULL)
            TRY(cuda_to_host(s->ctx, s->device, out[c].samples,
                             from + (size_t)c * RISK_CHUNK,
                             RISK_CHUNK * sizeof(double)));
    return 0;
}

static int run_launch(struct risk_store *s, uint64_t path, int64_t n,
                      char *host, struct risk_chunk *out)
{
    const struct risk_plan *p = &s->t.plan;
    const size_t rows = (size_t)p->n_instruments + 1,
                 moved = rows * (size_t)p->n_scenarios,
                 bytes = results_of(p, n),
                 each = rows * sizeof(struct risk_sums),
                 each_moved = moved * sizeof(struct risk_scenario_sums);
    struct risk_sums *sums = (struct risk_sums *)s->results;
    CUDA_TRY(s->ctx, cudaMemsetAsync(s->results, 0, bytes, s->device->stream));
    TRY(queue(s, path, n, sums,
              (struct risk_scenario_sums *)(void *)(sums + (size_t)n * rows)));
    TRY(cuda_to_host(s->ctx, s->device, host, s->results, bytes));
    for (int64_t c = 0; c < n; c++) {
        memcpy(out[c].sums, host + each * (size_t)c, each);
        if (moved > 0)
            memcpy(out[c].scenarios,
                   host + each * (size_t)n + each_moved * (size_t)c,
                   each_moved);
    }
    return fetch_samples(s, n, out);
}

static int run(struct ctx *ctx, struct risk_store *s, int64_t first, int64_t n,
               struct risk_chunk *out)
{
    int64_t most = risk_cuda_launch_chunks(s);
    int status = 0;
    if (most > n)
        most = n;
    const size_t bytes = results_of(&s->t.plan, most);
    TRY(risk_cuda_columns(s, most));
    TRY(risk_cuda_results(s, bytes));
    char *host = (char *)malloc(bytes + 1);
    if (host == NULL)
        return FAIL(ctx, STATUS_MEMORY, "out of memory for sums");
    for (int64_t done = 0; done < n && status == 0; done += most) {
        const int64_t part = n - done < most ? n - done : most;
        status = run_launch(s, (uint64_t)(first + done) * RISK_CHUNK, part,
                            host, out + done);
    }
    free(host);
    return status;
}

/* ---- the table ---- */

extern "C" const struct risk_kernels *risk_kernels_cuda(void)
{
    static const struct risk_kernels kernels = {"double",
                                                estimate,
                                                create,
                                                destroy,
                                                run,
                                                risk_cuda_states,
                                                risk_cuda_regress,
                                                risk_cuda_regress_bytes};
    return &kernels;
}
