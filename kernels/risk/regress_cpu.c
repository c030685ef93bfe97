/* regress_cpu.c: continuation values by regression on stored paths (Longstaff
 * and Schwartz 2001).
 *
 * Spots (and Heston's variances) stand date-major in single precision: a sweep
 * streams two dates, the one whose coefficients were just found (what paths
 * bring is brought up to date) and the one before (sums for its regression).
 * Sums are made in COLUMNS columns whatever the width of vectors, so that their
 * bits do not depend on it.
 */
#include "kernels/risk/risk_cpu.h"

#include <stdlib.h>
#include <string.h>

#ifdef _OPENMP
#include <omp.h>
#endif

#include "base/comm.h"
#include "base/ctx.h"
#include "base/error.h"
#include "kernels/risk/exercise.h"

enum { COLUMNS = 8, PARTS = COLUMNS / EXACT_LANES };

typedef float real32 __attribute__((vector_size(4 * EXACT_LANES)));

struct fit {
    const struct risk_store *s;
    const struct risk_regression *job;
    const struct risk_instrument *q;
    int n; /* functions */
    size_t paths;
    float *spot;     /* [n_dates][risk_looks(q)][paths] */
    double *value;   /* [paths]: what each brings, discounted to today */
    double *moments; /* [n_chunks][risk_moments(n)] */
};

EXACT_FN void load_looks(const struct fit *f, int looks, int32_t date, size_t i,
                         exact_real *look)
{
    const float *from = f->spot + (size_t)date * (size_t)looks * f->paths + i;
    int l = 0;
    do {
        real32 x;
        memcpy(&x, from + (size_t)l * f->paths, sizeof x);
        look[l] = __builtin_convertvector(x, exact_real);
    } while (++l < looks);
}

/* What is exercised at `date` replaces what the path brings later. */
static void update(const struct fit *f, int32_t date, size_t first)
{
    const double *c = f->job->coefficients + (ptrdiff_t)RISK_BASIS_MAX * date;
    const exact_real d = exact_set(f->job->discount[date]);
    for (size_t i = first; i < first + RISK_CHUNK; i += EXACT_LANES) {
        exact_real look[RISK_LOOKS_MAX], v = exact_load(f->value + i);
        load_looks(f, risk_looks(f->q), date, i, look);
        exact_real y = risk_exercised(f->q, look, c);
        v = exact_select(exact_less(exact_set(0), y), y * d, v);
        exact_store(f->value + i, v);
    }
}

/* Sums of a chunk for the regression at `date`; n and looks are constants where
 * this is inlined. */
EXACT_FN void sum_moments(const struct fit *f, const int n, const int looks,
                          int32_t date, size_t first, double *out)
{
    exact_real sum[RISK_BASIS_MAX * (RISK_BASIS_MAX + 3) / 2 + 1][PARTS];
    const int count = n * (n + 1) / 2 + n + 1;
    const exact_real none = exact_set(0), one = exact_set(1),
                     grown = exact_set(1 / f->job->discount[date]);
    for (int m = 0; m < count; m++)
        for (int c = 0; c < PARTS; c++)
            sum[m][c] = none;
    for (size_t i = first; i < first + RISK_CHUNK; i += COLUMNS)
        for (int c = 0; c < PARTS; c++) {
            const size_t at = i + (size_t)c * EXACT_LANES;
            exact_real look[RISK_LOOKS_MAX], x[RISK_BASIS_MAX];
            load_looks(f, looks, date, at, look);
            if (looks == 1 && f->q->n_legs != 1)
                __builtin_unreachable(); /* one look is one leg's */
            exact_real h = risk_pay(f->q, look, none, none, one);
            exact_real in = exact_select(exact_less(none, h), one, none);
            exact_real y = grown * exact_load(f->value + at);
            int m = 0;
            risk_basis(f->q, look, h, x);
            for (int j = 0; j < n; j++) {
                exact_real xj = in * x[j];
                for (int k = 0; k <= j; k++, m++)
                    sum[m][c] = exact_fma(xj, x[k], sum[m][c]);
            }
            for (int j = 0; j < n; j++, m++)
                sum[m][c] = exact_fma(in * x[j], y, sum[m][c]);
            sum[m][c] = sum[m][c] + in;
        }
    for (int m = 0; m < count; m++) {
        double column[COLUMNS];
        for (int c = 0; c < PARTS; c++)
            exact_store(column + (ptrdiff_t)c * EXACT_LANES, sum[m][c]);
        out[m] = exact_tree_sum(column, COLUMNS);
    }
}

static void chunk_moments(const struct fit *f, int32_t date, int64_t chunk)
{
    double *out = f->moments + (size_t)chunk * risk_moments(f->n);
    const size_t first = (size_t)chunk * RISK_CHUNK;
    const int looks = risk_looks(f->q);
    if (looks == 1)
        sum_moments(f, 4, 1, date, first, out);
    else
        sum_moments(f, f->n, looks, date, first, out);
}

static void make_paths(const struct fit *f)
{
    const struct risk_regression *job = f->job;
    const uint64_t begin =
        RISK_REGRESSION_PATH + (uint64_t)job->first_chunk * RISK_CHUNK;
#pragma omp parallel for schedule(dynamic, 4) num_threads(f->s->n_blocks)
    for (int64_t at = 0; at < job->n_chunks * RISK_CHUNK; at += RISK_BLOCK) {
#ifdef _OPENMP
        struct risk_block *b = &f->s->blocks[omp_get_thread_num()];
#else
        struct risk_block *b = &f->s->blocks[0];
#endif
        b->first = -1;
        risk_walk_spots(f->s, b, begin + (uint64_t)at, f->q, job->n_dates,
                        job->steps, f->spot, f->paths, (size_t)at);
    }
}

/* Backwards: the last date's coefficients are 0, all that is in the money is
 * exercised there. */
static int go_back(struct ctx *ctx, const struct fit *f)
{
    const struct risk_regression *job = f->job;
    memset(job->coefficients, 0,
           (size_t)job->n_dates * RISK_BASIS_MAX * sizeof(double));
    for (int32_t date = job->n_dates - 2; date >= 0; date--) {
#pragma omp parallel for schedule(dynamic) num_threads(f->s->n_blocks)
        for (int64_t c = 0; c < job->n_chunks; c++) {
            update(f, date + 1, (size_t)c * RISK_CHUNK);
            chunk_moments(f, date, c);
        }
        TRY(job->solve(ctx, job->argument, date, f->moments,
                       job->coefficients + (ptrdiff_t)RISK_BASIS_MAX * date));
    }
    return 0;
}

double risk_regress_bytes_cpu(const struct risk_regression *job, int n_looks)
{
    return (double)job->n_chunks * RISK_CHUNK *
           ((double)job->n_dates * n_looks * sizeof(float) + sizeof(double));
}

int risk_regress_cpu(struct ctx *ctx, struct risk_store *s,
                     const struct risk_regression *job)
{
    const struct risk_instrument *q = &s->t.plan.instruments[job->instrument];
    struct fit f = {.s = s,
                    .job = job,
                    .q = q,
                    .n = risk_basis_size(q),
                    .paths = (size_t)job->n_chunks * RISK_CHUNK};
    const size_t rows = (size_t)job->n_dates * (size_t)risk_looks(q);
    f.spot = malloc(rows * f.paths * sizeof *f.spot + 1);
    f.value = calloc(f.paths + 1, sizeof *f.value);
    f.moments =
        calloc((size_t)job->n_chunks * risk_moments(f.n) + 1, sizeof(double));
    int status = f.spot == NULL || f.value == NULL || f.moments == NULL
                     ? FAIL(ctx, STATUS_MEMORY,
                            "out of memory for the regression's paths")
                     : 0;
    status = comm_agree(ctx, status);
    if (status == 0) {
        make_paths(&f);
        status = go_back(ctx, &f);
    }
    free(f.spot);
    free(f.value);
    free(f.moments);
    return status;
}
