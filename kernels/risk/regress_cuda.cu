/* regress_cuda.cu: continuation values by regression on stored paths; the
 * card's twin of regress_cpu.c, with the same bits.
 *
 * Spots (and Heston's variances) stand date-major in single precision. A block
 * of threads sums one chunk: its threads first make the functions of
 * REGRESS_PATHS paths in shared memory, then each adds to its own sum: of one
 * pair of functions over every REGRESS_COLUMNS-th path, which is the CPU's
 * order. Where there are more sums than threads, more blocks do the same for
 * others.
 */
#include <stdlib.h>
#include <string.h>

#include "kernels/risk/exercise.h"
#include "kernels/risk/risk_cuda.h"

extern "C" {
#include "base/comm.h"
}

enum {
    REGRESS_THREADS = 128,
    REGRESS_COLUMNS = 8,
    REGRESS_SUMS = REGRESS_THREADS / REGRESS_COLUMNS, /* of a block */
    REGRESS_PATHS = 64,
    REGRESS_ROWS = RISK_BASIS_MAX + 2 /* functions, what comes, in or out */
};

/* A regression in the card's memory. */
struct fit {
    const struct risk_instrument *q;
    int n; /* functions */
    size_t paths;
    float *spot;          /* [n_dates][risk_looks(q)][paths] */
    double *value;        /* [paths]: what each brings, discounted to today */
    double *moments;      /* [n_chunks][risk_moments(n)] */
    double *coefficients; /* [RISK_BASIS_MAX], of one date */
};

static __device__ __forceinline__ void load_looks(const struct fit &f, int date,
                                                  size_t path, double *look)
{
    const int looks = risk_looks(f.q);
    const float *from = f.spot + (size_t)date * (size_t)looks * f.paths + path;
    for (int l = 0; l < looks; l++)
        look[l] = (double)from[(size_t)l * f.paths];
}

/* What is exercised at `date` replaces what the path brings later. */
static __global__ void __launch_bounds__(RISK_THREADS)
    update(struct fit f, int date, double discount)
{
    const size_t path = risk_path_of_thread();
    double look[RISK_LOOKS_MAX], v = f.value[path];
    load_looks(f, date, path, look);
    const double y = risk_exercised(f.q, look, f.coefficients);
    f.value[path] = exact_select(exact_less(0, y), y * discount, v);
}

/* The two functions of sum m: products by rows of the lower triangle, then
 * each with what the path brings (function n), then the number of paths, which
 * is the first function's square. */
static __device__ __forceinline__ void pair_of(int m, int n, int *j, int *k)
{
    const int products = n * (n + 1) / 2;
    *j = *k = 0;
    if (m >= products) {
        if (m < products + n) {
            *j = m - products;
            *k = n;
        }
        return;
    }
    while (m > *j)
        m -= ++*j;
    *k = m;
}

static __global__ void __launch_bounds__(REGRESS_THREADS)
    sum_moments(struct fit f, int date, double grown)
{
    __shared__ double x[REGRESS_ROWS][REGRESS_PATHS];
    const int t = (int)threadIdx.x, n = f.n, count = n * (n + 1) / 2 + n + 1;
    const int m = (int)blockIdx.y * REGRESS_SUMS + t / REGRESS_COLUMNS;
    const size_t chunk = blockIdx.x;
    int j, k;
    double sum = 0;
    pair_of(m, n, &j, &k);
    for (int from = 0; from < RISK_CHUNK; from += REGRESS_PATHS) {
        __syncthreads(); /* the paths before are added */
        if (t < REGRESS_PATHS) {
            const size_t path = chunk * RISK_CHUNK + (size_t)(from + t);
            double look[RISK_LOOKS_MAX], basis[RISK_BASIS_MAX];
            load_looks(f, date, path, look);
            const double h = risk_pay(f.q, look, 0, 0, 1);
            risk_basis(f.q, look, h, basis);
            for (int r = 0; r < n; r++)
                x[r][t] = basis[r];
            x[n][t] = grown * f.value[path];
            x[n + 1][t] = exact_select(exact_less(0, h), 1, 0);
        }
        __syncthreads();
        for (int i = t % REGRESS_COLUMNS; i < REGRESS_PATHS;
             i += REGRESS_COLUMNS)
            sum = exact_fma(x[n + 1][i] * x[j][i], x[k][i], sum);
    }
    /* exact_tree_sum() of the columns. */
    for (int h = REGRESS_COLUMNS / 2; h >= 1; h /= 2)
        sum = sum + __shfl_down_sync(0xffffffffu, sum, h, REGRESS_COLUMNS);
    if (t % REGRESS_COLUMNS == 0 && m < count)
        f.moments[chunk * (size_t)count + (size_t)m] = sum;
}

/* ---- the host's side ---- */

/* Memory of a regression, and where in it what stands. */
struct work {
    struct fit f;
    void *memory;
    const int32_t *steps; /* in the card's memory */
    double *moments;      /* the host's copy */
    size_t moments_bytes;
};

static int make_room(struct ctx *ctx, struct risk_store *s,
                     const struct risk_regression *job, struct work *w)
{
    struct fit *f = &w->f;
    const struct risk_instrument *q = &s->t.plan.instruments[job->instrument];
    size_t held = 0;
    f->q = s->view.instruments + job->instrument;
    f->n = risk_basis_size(q);
    f->paths = (size_t)job->n_chunks * RISK_CHUNK;
    w->moments_bytes =
        (size_t)job->n_chunks * risk_moments(f->n) * sizeof(double);
    const size_t values = f->paths * sizeof(double),
                 coefficients = RISK_BASIS_MAX * sizeof(double),
                 spots = (size_t)job->n_dates * (size_t)risk_looks(q) *
                         f->paths * sizeof(float);
    w->moments = (double *)calloc(1, w->moments_bytes + 1);
    if (w->moments == NULL)
        return FAIL(ctx, STATUS_MEMORY, "out of memory for a regression");
    TRY(cuda_grow(ctx, &w->memory, &held,
                  values + w->moments_bytes + coefficients + spots,
                  "the regression's paths"));
    char *at = (char *)w->memory;
    f->value = (double *)(void *)at, at += values;
    f->moments = (double *)(void *)at, at += w->moments_bytes;
    f->coefficients = (double *)(void *)at, at += coefficients;
    f->spot = (float *)(void *)at;
    const void *steps = NULL;
    TRY(risk_cuda_table(s, job->steps, (size_t)job->n_dates * sizeof(int32_t),
                        &steps));
    w->steps = (const int32_t *)steps;
    if (f->paths == 0)
        return 0;
    CUDA_TRY(ctx, cudaMemsetAsync(f->value, 0, values, s->device->stream));
    return 0;
}

static int make_paths(struct risk_store *s, const struct risk_regression *job,
                      const struct work *w)
{
    int64_t most = risk_cuda_launch_chunks(s);
    if (most > job->n_chunks)
        most = job->n_chunks;
    if (most > 0)
        TRY(risk_cuda_columns(s, most));
    for (int64_t done = 0; done < job->n_chunks; done += most) {
        const int64_t left = job->n_chunks - done;
        TRY(risk_cuda_legs(s,
                           RISK_REGRESSION_PATH +
                               (uint64_t)(job->first_chunk + done) * RISK_CHUNK,
                           left < most ? left : most, job->instrument,
                           job->n_dates, w->steps, w->f.spot, w->f.paths,
                           (size_t)done * RISK_CHUNK));
    }
    return 0;
}

/* The sums of a date, on the host. */
static int look_at(struct ctx *ctx, struct risk_store *s,
                   const struct risk_regression *job, struct work *w,
                   int32_t date)
{
    const unsigned chunks = (unsigned)job->n_chunks;
    const int count = (int)risk_moments(w->f.n);
    if (chunks == 0)
        return 0;
    TRY(cuda_to_device(ctx, s->device, w->f.coefficients,
                       job->coefficients +
                           (ptrdiff_t)RISK_BASIS_MAX * (date + 1),
                       RISK_BASIS_MAX * sizeof(double)));
    LAUNCH(update, chunks * (RISK_CHUNK / RISK_THREADS), RISK_THREADS, 0,
           s->device->stream, w->f, date + 1, job->discount[date + 1]);
    CUDA_TRY_LAUNCH(ctx, "update");
    LAUNCH(sum_moments,
           dim3(chunks, (unsigned)((count + REGRESS_SUMS - 1) / REGRESS_SUMS)),
           REGRESS_THREADS, 0, s->device->stream, w->f, date,
           1 / job->discount[date]);
    CUDA_TRY_LAUNCH(ctx, "sum_moments");
    return cuda_to_host(ctx, s->device, w->moments, w->f.moments,
                        w->moments_bytes);
}

/* Backwards: the last date's coefficients are 0, all that is in the money is
 * exercised there. */
static int go_back(struct ctx *ctx, struct risk_store *s,
                   const struct risk_regression *job, struct work *w)
{
    memset(job->coefficients, 0,
           (size_t)job->n_dates * RISK_BASIS_MAX * sizeof(double));
    for (int32_t date = job->n_dates - 2; date >= 0; date--) {
        /* No rank may wait for the sums of one whose card has failed. */
        TRY(comm_agree(ctx, look_at(ctx, s, job, w, date)));
        TRY(job->solve(ctx, job->argument, date, w->moments,
                       job->coefficients + (ptrdiff_t)RISK_BASIS_MAX * date));
    }
    return 0;
}

double risk_cuda_regress_bytes(const struct risk_regression *job, int n_looks)
{
    return (double)job->n_chunks * RISK_CHUNK *
           ((double)job->n_dates * n_looks * sizeof(float) + sizeof(double));
}

int risk_cuda_regress(struct ctx *ctx, struct risk_store *s,
                      const struct risk_regression *job)
{
    struct work w;
    memset(&w, 0, sizeof w);
    int status = make_room(ctx, s, job, &w);
    if (status == 0)
        status = make_paths(s, job, &w);
    status = comm_agree(ctx, status);
    if (status == 0)
        status = go_back(ctx, s, job, &w);
    int freed = cuda_release(ctx, w.memory);
    free(w.moments);
    return status != 0 ? status : freed;
}
