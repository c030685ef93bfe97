/* risk_cpu.c: the CPU's backend for Monte Carlo valuation: tables of a run,
 * chunks dealt to threads, and their sums.
 */
#include "kernels/risk/risk_cpu.h"

#include <stdlib.h>
#include <string.h>

#ifdef _OPENMP
#include <omp.h>
#endif

#include "base/ctx.h"
#include "base/error.h"

/* Random numbers of whole paths are kept, for a second walk, up to this. */
#define KEEP_BYTES ((size_t)4 << 20)

/* ---- blocks ---- */

struct shape {
    size_t factors, instruments, acc, extra, bridge, length, twins, late;
    size_t coordinates; /* Sobol's */
};

static size_t block_rows(const struct shape *h)
{
    return 4 * h->factors + h->twins + 3 * h->acc +
           (h->twins > 0 ? 5 : 4) * (h->instruments + 1) +
           h->length * (h->factors + 2 * h->extra + h->bridge) + h->late +
           (h->coordinates + RISK_BLOCK - 1) / RISK_BLOCK;
}

/* How many steps' random numbers a block holds: those of the whole path where
 * it is walked more than once and they fit the cache. */
static size_t block_length(const struct risk_plan *p, size_t extra,
                           size_t bridge)
{
    size_t whole = ((size_t)p->n_steps + 3) / 4 * 4;
    size_t bytes =
        whole * sizeof(risk_row) * ((size_t)p->n_factors + 2 * extra + bridge);
    int again = p->antithetic || p->n_scenarios > 0;
    if (p->sobol || (again && bytes <= KEEP_BYTES) || whole < RISK_SEGMENT)
        return whole;
    return RISK_SEGMENT;
}

static int make_block(const struct shape *h, struct risk_block *b)
{
    b->bytes = block_rows(h) * sizeof(risk_row);
    b->memory = aligned_alloc(64, b->bytes);
    if (b->memory == NULL)
        return 1;
    memset(b->memory, 0, b->bytes);
    risk_row *at = b->memory;
    b->x = at, at += h->factors;
    b->before = at, at += h->factors;
    b->spot = at, at += h->factors;
    b->v = at, at += h->factors;
    b->twin = at, at += h->twins;
    b->acc = at, at += 3 * h->acc;
    b->pay = at, at += h->instruments + 1;
    b->control = at, at += h->instruments + 1;
    b->second = at, at += h->twins > 0 ? h->instruments + 1 : 0;
    b->moved = at, at += 2 * (h->instruments + 1);
    b->normals = at, at += h->length * h->factors;
    b->extra_z = at, at += h->length * h->extra;
    b->extra_u = at, at += h->length * h->extra;
    b->bridge_u = at, at += h->length * h->bridge;
    b->late = at, at += h->late;
    b->scramble = (uint64_t *)(void *)at;
    b->length = (int32_t)h->length;
    b->first = -1;
    return 0;
}

static int thread_count(void)
{
#ifdef _OPENMP
    return omp_get_max_threads();
#else
    return 1;
#endif
}

/* Who remembers something of its path: who does more than pay. */
static int make_acc(struct risk_store *s)
{
    const struct risk_plan *p = &s->t.plan;
    s->n_acc = 1;
    s->acc = calloc((size_t)p->n_instruments + 1, sizeof *s->acc);
    if (s->acc == NULL)
        return 1;
    for (int64_t e = 0; e < p->n_events; e++) {
        const struct risk_event *v = &p->events[e];
        if (v->action != RISK_PAY && s->acc[v->instrument] == 0)
            s->acc[v->instrument] = s->n_acc++;
    }
    for (int32_t q = 0; q < p->n_instruments; q++)
        s->controls |= p->instruments[q].control != RISK_NO_CONTROL;
    return 0;
}

static int find_single_payments(struct risk_store *s)
{
    const struct risk_plan *p = &s->t.plan;
    s->pays_once = calloc((size_t)p->n_instruments + 1, 1);
    if (s->pays_once == NULL)
        return 1;
    /* 1: one payment yet, 2: more, or others */
    for (int64_t e = 0; e < p->n_events; e++) {
        unsigned char *once = &s->pays_once[p->events[e].instrument];
        if (p->events[e].action == RISK_PAY)
            *once = *once == 0 ? 1 : 2;
        else if (p->events[e].action == RISK_EXERCISE)
            *once = 2;
    }
    for (int32_t q = 0; q < p->n_instruments; q++)
        s->pays_once[q] = s->pays_once[q] == 1;
    return 0;
}

static int make_blocks(struct risk_store *s)
{
    struct shape h = {.factors = (size_t)s->t.plan.n_factors,
                      .instruments = (size_t)s->t.plan.n_instruments,
                      .acc = (size_t)s->n_acc,
                      .extra = (size_t)s->t.n_extra,
                      .bridge = (size_t)s->t.n_bridge,
                      .twins = s->t.any_twin ? (size_t)s->t.plan.n_factors : 0,
                      .late = (size_t)risk_late_rows(s),
                      .coordinates = (size_t)s->t.sobol.dimensions};
    h.length = block_length(&s->t.plan, h.extra, h.bridge);
    int n = thread_count();
    s->blocks = calloc((size_t)n, sizeof *s->blocks);
    if (s->blocks == NULL)
        return 1;
    for (; s->n_blocks < n; s->n_blocks++) {
        if (make_block(&h, &s->blocks[s->n_blocks]))
            return 1;
        s->bytes += s->blocks[s->n_blocks].bytes;
    }
    return 0;
}

/* ---- life ---- */

static double estimate(const struct risk_plan *p)
{
    size_t extra = 0, bridge = (size_t)p->n_factors;
    for (int f = 0; f < p->n_factors; f++)
        extra += p->factors[f].model != RISK_GBM;
    struct shape h = {.factors = (size_t)p->n_factors,
                      .instruments = (size_t)p->n_instruments,
                      .acc = (size_t)p->n_instruments + 1,
                      .extra = extra,
                      .bridge = bridge,
                      .twins = (size_t)p->n_factors,
                      .late = 2 * (size_t)p->n_instruments,
                      .length = block_length(p, extra, bridge),
                      .coordinates = p->sobol ? RISK_SOBOL_DIMENSIONS : 0};
    double steps = (double)p->n_steps * p->n_factors;
    return (double)(block_rows(&h) * sizeof(risk_row)) * thread_count() +
           steps * (double)sizeof(struct risk_step) * (1 + p->n_scenarios) +
           (double)p->n_events * (double)sizeof(struct risk_event) +
           (double)p->n_instruments * (double)sizeof(struct risk_instrument);
}

static void destroy(struct risk_store *s)
{
    if (s == NULL)
        return;
    risk_tables_free(&s->t);
    for (int t = 0; t < s->n_blocks; t++)
        free(s->blocks[t].memory);
    free(s->blocks);
    free(s->acc);
    free(s->pays_once);
    risk_late_free(&s->late);
    free(s);
}

static int create(struct ctx *ctx, const struct risk_plan *plan,
                  struct risk_store **out)
{
    struct risk_store *s = calloc(1, sizeof *s);
    *out = NULL;
    int failed = s == NULL || risk_tables_make(&s->t, plan);
    if (!failed) {
        const struct risk_plan *p = &s->t.plan;
        s->fused = p->root == NULL && s->t.n_extra == 0 && s->t.n_bridge == 0 &&
                   !p->antithetic && p->n_scenarios == 0 && !p->sobol;
        failed = make_acc(s) || find_single_payments(s) || risk_late_make(s) ||
                 make_blocks(s);
    }
    if (failed) {
        destroy(s);
        return FAIL(ctx, STATUS_MEMORY, "out of memory for paths");
    }
    *out = s;
    return 0;
}

/* ---- chunks ---- */

static void walk_both(const struct risk_store *s, const struct risk_market *m,
                      struct risk_block *b, uint64_t path, risk_row *pay,
                      risk_row *control)
{
    for (int32_t q = 0; q < s->t.plan.n_instruments; q++) {
        if (s->pays_once[q])
            continue;
        memset(pay[q], 0, sizeof(risk_row));
        if (control != NULL)
            memset(control[q], 0, sizeof(risk_row));
        if (control != NULL && s->t.any_twin)
            memset(b->second[q], 0, sizeof(risk_row));
    }
    if (s->t.plan.antithetic) {
        risk_walk(s, m, b, path, 1, 0.5, pay, control);
        risk_walk(s, m, b, path, -1, 0.5, pay, control);
    } else {
        risk_walk(s, m, b, path, 1, 1, pay, control);
    }
}

static void run_block(const struct risk_store *s, struct risk_block *b,
                      uint64_t path, struct risk_chunk *out, int64_t at)
{
    const ptrdiff_t n = s->t.plan.n_instruments + 1;
    walk_both(s, &s->t.base, b, path, b->pay, s->controls ? b->control : NULL);
    risk_add_sums(s, b, out->sums);
    if (out->samples != NULL)
        memcpy(out->samples + at, b->pay[n - 1], sizeof(risk_row));
    for (int c = 0; c + 1 < s->t.plan.n_scenarios; c += 2) {
        walk_both(s, &s->t.scenarios[c], b, path, b->moved, NULL);
        walk_both(s, &s->t.scenarios[c + 1], b, path, b->moved + n, NULL);
        risk_add_pair(s, b, out->scenarios + c * n,
                      out->scenarios + (c + 1) * n);
    }
}

static void run_chunk(const struct risk_store *s, struct risk_block *b,
                      int64_t chunk, struct risk_chunk *out)
{
    const size_t n = (size_t)s->t.plan.n_instruments + 1;
    memset(out->sums, 0, n * sizeof *out->sums);
    if (s->t.plan.n_scenarios > 0)
        memset(out->scenarios, 0,
               n * (size_t)s->t.plan.n_scenarios * sizeof *out->scenarios);
    b->first = -1;
    for (int64_t at = 0; at < RISK_CHUNK; at += RISK_BLOCK)
        run_block(s, b, (uint64_t)(chunk * RISK_CHUNK + at), out, at);
}

static int run(struct ctx *ctx, struct risk_store *s, int64_t first, int64_t n,
               struct risk_chunk *out)
{
    (void)ctx;
#pragma omp parallel for schedule(dynamic) num_threads(s->n_blocks)
    for (int64_t c = 0; c < n; c++) {
#ifdef _OPENMP
        int t = omp_get_thread_num();
#else
        int t = 0;
#endif
        run_chunk(s, &s->blocks[t], first + c, &out[c]);
    }
    return 0;
}

static int states(struct ctx *ctx, struct risk_store *s, int64_t chunk,
                  int n_steps, const int32_t *steps, double *spot,
                  double *variance)
{
    (void)ctx;
#pragma omp parallel for schedule(dynamic) num_threads(s->n_blocks)
    for (int64_t at = 0; at < RISK_CHUNK; at += RISK_BLOCK) {
#ifdef _OPENMP
        int t = omp_get_thread_num();
#else
        int t = 0;
#endif
        s->blocks[t].first = -1;
        risk_walk_states(s, &s->blocks[t], (uint64_t)(chunk * RISK_CHUNK + at),
                         n_steps, steps, spot, variance, at);
    }
    return 0;
}

const struct risk_kernels risk_kernels_cpu = {
    .name = "double",
    .estimate = estimate,
    .create = create,
    .destroy = destroy,
    .run = run,
    .states = states,
    .regress = risk_regress_cpu,
    .regress_bytes = risk_regress_bytes_cpu,
};
