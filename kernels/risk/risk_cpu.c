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

/* ---- tables ---- */

static void *copy(const void *from, size_t n, size_t size, int *failed)
{
    void *to = calloc(n + 1, size);
    if (to == NULL)
        *failed = 1;
    else if (from != NULL && n > 0)
        memcpy(to, from, n * size);
    return to;
}

static int make_market(const struct risk_plan *p,
                       const struct risk_factor *factors, const double *drift,
                       const double *discount, const double *exercise,
                       const double *length, struct risk_market *m)
{
    const size_t nf = (size_t)p->n_factors;
    int failed = 0;
    m->factors = copy(factors, nf, sizeof *factors, &failed);
    m->discount =
        copy(discount, (size_t)p->n_instruments, sizeof *discount, &failed);
    m->exercise_discount =
        copy(exercise != NULL ? exercise : p->exercise_discount,
             (size_t)p->n_rows, sizeof *exercise, &failed);
    m->log_spot = copy(NULL, nf, sizeof *m->log_spot, &failed);
    m->steps = copy(NULL, nf * (size_t)p->n_steps, sizeof *m->steps, &failed);
    if (failed)
        return 1;
    for (int f = 0; f < p->n_factors; f++) {
        double lane[EXACT_LANES];
        exact_store(lane, exact_log(exact_set(factors[f].spot)));
        m->log_spot[f] = lane[0];
    }
    for (int32_t k = 0; k < p->n_steps; k++)
        for (size_t f = 0; f < nf; f++)
            risk_model_step(&factors[f], length[k], drift[(size_t)k * nf + f],
                            &m->steps[(size_t)k * nf + f]);
    return 0;
}

static void free_market(struct risk_market *m)
{
    free((void *)m->factors);
    free((void *)m->discount);
    free((void *)m->exercise_discount);
    free(m->log_spot);
    free(m->steps);
}

static int needs_bridge(enum risk_action a)
{
    return a == RISK_KNOCK_BRIDGE || a == RISK_MAXIMUM_BRIDGE ||
           a == RISK_MINIMUM_BRIDGE;
}

/* Where spots are wanted, which factors need what beside their normals, and
 * where the events of each step begin. */
static void survey(struct risk_store *s)
{
    const struct risk_plan *p = &s->plan;
    for (int f = 0; f < p->n_factors; f++) {
        s->extra[f] = s->bridge[f] = -1;
        if (p->factors[f].model == RISK_GBM)
            continue;
        s->extra[f] = s->n_extra;
        s->extra_factor[s->n_extra] = f;
        s->extra_purpose[s->n_extra++] =
            p->factors[f].model == RISK_HESTON ? RISK_VARIANCE : RISK_JUMP;
    }
    for (int64_t e = 0; e < p->n_events; e++) {
        const struct risk_event *v = &p->events[e];
        const struct risk_instrument *q = &p->instruments[v->instrument];
        s->event_begin[v->step + 1]++;
        if (needs_bridge(v->action) && s->bridge[q->factor[0]] < 0) {
            s->bridge_factor[s->n_bridge] = q->factor[0];
            s->bridge[q->factor[0]] = s->n_bridge++;
        }
        for (int l = 0; l < q->n_legs; l++)
            s->wants_spot[(ptrdiff_t)v->step * p->n_factors + q->factor[l]] |=
                v->action == RISK_PAY || v->action == RISK_EXERCISE ||
                v->action == RISK_SUM_SPOT || v->action == RISK_MAXIMUM ||
                v->action == RISK_MINIMUM;
    }
    for (int32_t k = 0; k < p->n_steps; k++)
        s->event_begin[k + 1] += s->event_begin[k];
    s->fused = p->root == NULL && s->n_extra == 0 && s->n_bridge == 0 &&
               !p->antithetic && p->n_scenarios == 0 && !p->sobol;
}

static int copy_plan(struct risk_store *s, const struct risk_plan *from)
{
    struct risk_plan *p = &s->plan;
    const size_t nf = (size_t)from->n_factors, ns = (size_t)from->n_steps;
    int failed = 0;
    *p = *from;
    p->factors = copy(from->factors, nf, sizeof *p->factors, &failed);
    p->root = from->root == NULL
                  ? NULL
                  : copy(from->root, nf * nf, sizeof *p->root, &failed);
    p->step_length =
        copy(from->step_length, ns, sizeof *p->step_length, &failed);
    p->drift = NULL; /* it went into the markets' steps */
    p->instruments = copy(from->instruments, (size_t)from->n_instruments,
                          sizeof *p->instruments, &failed);
    p->events =
        copy(from->events, (size_t)from->n_events, sizeof *p->events, &failed);
    p->continuation =
        copy(from->continuation, (size_t)from->n_rows * RISK_BASIS_MAX,
             sizeof *p->continuation, &failed);
    p->exercise_discount = NULL; /* the markets' */
    p->scenarios = NULL;
    s->event_begin = copy(NULL, ns + 1, sizeof *s->event_begin, &failed);
    s->wants_spot = copy(NULL, ns * nf, 1, &failed);
    s->extra = copy(NULL, nf, sizeof *s->extra, &failed);
    s->extra_factor = copy(NULL, nf, sizeof *s->extra_factor, &failed);
    s->extra_purpose = copy(NULL, nf, sizeof *s->extra_purpose, &failed);
    s->bridge = copy(NULL, nf, sizeof *s->bridge, &failed);
    s->bridge_factor = copy(NULL, nf, sizeof *s->bridge_factor, &failed);
    s->scenarios =
        copy(NULL, (size_t)from->n_scenarios, sizeof *s->scenarios, &failed);
    return failed;
}

static int make_markets(struct risk_store *s, const struct risk_plan *from)
{
    double *discount =
        calloc((size_t)from->n_instruments + 1, sizeof *discount);
    if (discount == NULL)
        return 1;
    for (int32_t q = 0; q < from->n_instruments; q++)
        discount[q] = from->instruments[q].discount;
    int failed = make_market(from, from->factors, from->drift, discount, NULL,
                             from->step_length, &s->base);
    for (int c = 0; c < from->n_scenarios && !failed; c++) {
        const struct risk_scenario *v = &from->scenarios[c];
        failed = make_market(
            from, v->factors, v->drift, v->discount, v->exercise_discount,
            v->step_length != NULL ? v->step_length : from->step_length,
            &s->scenarios[c]);
    }
    free(discount);
    return failed;
}

/* Sobol's drivers: the factors, then Heston's variances. */
static int make_sobol(struct risk_store *s)
{
    int more = 0, failed = 0;
    s->sobol_extra =
        copy(NULL, (size_t)s->n_extra, sizeof *s->sobol_extra, &failed);
    if (!s->plan.sobol || failed)
        return failed;
    for (int e = 0; e < s->n_extra; e++)
        if (s->extra_purpose[e] == RISK_VARIANCE)
            s->sobol_extra[more++] = e;
    return risk_sobol_make(&s->sobol, s->plan.n_steps, s->plan.step_length,
                           s->plan.n_factors + more);
}

/* ---- blocks ---- */

struct shape {
    size_t factors, instruments, extra, bridge, length;
    size_t coordinates; /* Sobol's */
};

static size_t block_rows(const struct shape *h)
{
    return 4 * h->factors + 7 * (h->instruments + 1) +
           h->length * (h->factors + 2 * h->extra + h->bridge) +
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
    b->acc = at, at += 3 * (h->instruments + 1);
    b->pay = at, at += h->instruments + 1;
    b->control = at, at += h->instruments + 1;
    b->moved = at, at += 2 * (h->instruments + 1);
    b->normals = at, at += h->length * h->factors;
    b->extra_z = at, at += h->length * h->extra;
    b->extra_u = at, at += h->length * h->extra;
    b->bridge_u = at, at += h->length * h->bridge;
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

static int make_blocks(struct risk_store *s)
{
    struct shape h = {.factors = (size_t)s->plan.n_factors,
                      .instruments = (size_t)s->plan.n_instruments,
                      .extra = (size_t)s->n_extra,
                      .bridge = (size_t)s->n_bridge,
                      .coordinates = (size_t)s->sobol.dimensions};
    h.length = block_length(&s->plan, h.extra, h.bridge);
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
                      .extra = extra,
                      .bridge = bridge,
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
    free_market(&s->base);
    for (int c = 0; s->scenarios != NULL && c < s->plan.n_scenarios; c++)
        free_market(&s->scenarios[c]);
    for (int t = 0; t < s->n_blocks; t++)
        free(s->blocks[t].memory);
    free(s->blocks);
    risk_sobol_free(&s->sobol);
    free(s->sobol_extra);
    free(s->scenarios);
    free((void *)s->plan.factors);
    free((void *)s->plan.root);
    free((void *)s->plan.step_length);
    free((void *)s->plan.instruments);
    free((void *)s->plan.events);
    free((void *)s->plan.continuation);
    free(s->event_begin);
    free(s->wants_spot);
    free(s->extra);
    free(s->extra_factor);
    free(s->extra_purpose);
    free(s->bridge);
    free(s->bridge_factor);
    free(s);
}

static int create(struct ctx *ctx, const struct risk_plan *plan,
                  struct risk_store **out)
{
    struct risk_store *s = calloc(1, sizeof *s);
    *out = NULL;
    int failed = s == NULL || copy_plan(s, plan);
    if (!failed) {
        survey(s);
        failed = make_markets(s, plan) || make_sobol(s) || make_blocks(s);
    }
    if (failed) {
        destroy(s);
        return FAIL(ctx, STATUS_MEMORY, "out of memory for paths");
    }
    *out = s;
    return 0;
}

/* ---- sums ---- */

/* The sum of a row by a fixed tree. */
static double row_sum(const double *row)
{
    double v[RISK_BLOCK / 2] __attribute__((aligned(64)));
    for (int i = 0; i < RISK_BLOCK / 2; i += EXACT_LANES)
        exact_store(v + i,
                    exact_load(row + i) + exact_load(row + RISK_BLOCK / 2 + i));
    for (int h = RISK_BLOCK / 4; h >= 1; h /= 2)
        for (int i = 0; i < h; i++)
            v[i] = v[i] + v[i + h];
    return v[0];
}

static double row_product(const double *a, const double *b)
{
    risk_row p __attribute__((aligned(64)));
    for (int i = 0; i < RISK_BLOCK; i += EXACT_LANES)
        exact_store(p + i, exact_load(a + i) * exact_load(b + i));
    return row_sum(p);
}

/* The portfolio's row, the last one, from the instruments'. */
static void add_up(const struct risk_plan *p, risk_row *rows)
{
    double *total = rows[p->n_instruments];
    memset(total, 0, sizeof(risk_row));
    for (int32_t q = 0; q < p->n_instruments; q++) {
        const exact_real quantity = exact_set(p->instruments[q].quantity);
        for (int i = 0; i < RISK_BLOCK; i += EXACT_LANES)
            exact_store(total + i, exact_fma(quantity, exact_load(rows[q] + i),
                                             exact_load(total + i)));
    }
}

static void walk_both(const struct risk_store *s, const struct risk_market *m,
                      struct risk_block *b, uint64_t path, risk_row *pay,
                      risk_row *control)
{
    const size_t rows = (size_t)s->plan.n_instruments + 1;
    memset(pay, 0, rows * sizeof(risk_row));
    if (control != NULL)
        memset(control, 0, rows * sizeof(risk_row));
    if (s->plan.antithetic) {
        risk_walk(s, m, b, path, 1, 0.5, pay, control);
        risk_walk(s, m, b, path, -1, 0.5, pay, control);
    } else {
        risk_walk(s, m, b, path, 1, 1, pay, control);
    }
    add_up(&s->plan, pay);
}

static void add_sums(const struct risk_store *s, const struct risk_block *b,
                     struct risk_sums *out)
{
    for (int32_t q = 0; q <= s->plan.n_instruments; q++) {
        const double *y = b->pay[q], *c = b->control[q];
        out[q].y += row_sum(y);
        out[q].yy += row_product(y, y);
        if (q < s->plan.n_instruments &&
            s->plan.instruments[q].control != RISK_NO_CONTROL) {
            out[q].c += row_sum(c);
            out[q].cc += row_product(c, c);
            out[q].yc += row_product(y, c);
        }
    }
}

/* Scenarios 2i and 2i + 1, in b->moved. */
static void add_pair(const struct risk_store *s, const struct risk_block *b,
                     struct risk_scenario_sums *low,
                     struct risk_scenario_sums *high)
{
    const int32_t n = s->plan.n_instruments + 1;
    for (int32_t q = 0; q < n; q++) {
        const double *y0 = b->moved[q], *y1 = b->moved[n + q], *y = b->pay[q];
        risk_row d __attribute__((aligned(64))),
            d2 __attribute__((aligned(64)));
        for (int i = 0; i < RISK_BLOCK; i += EXACT_LANES) {
            exact_real a = exact_load(y0 + i), c = exact_load(y1 + i),
                       m = exact_load(y + i);
            exact_store(d + i, c - a);
            exact_store(d2 + i, (c - m) - (m - a));
        }
        low[q].y += row_sum(y0);
        low[q].yy += row_product(y0, y0);
        high[q].y += row_sum(y1);
        high[q].yy += row_product(y1, y1);
        low[q].difference += row_sum(d);
        low[q].difference2 += row_product(d, d);
        low[q].second += row_sum(d2);
        low[q].second2 += row_product(d2, d2);
    }
}

static void run_block(const struct risk_store *s, struct risk_block *b,
                      uint64_t path, struct risk_chunk *out, int64_t at)
{
    const ptrdiff_t n = s->plan.n_instruments + 1;
    walk_both(s, &s->base, b, path, b->pay, b->control);
    add_sums(s, b, out->sums);
    if (out->samples != NULL)
        memcpy(out->samples + at, b->pay[n - 1], sizeof(risk_row));
    for (int c = 0; c + 1 < s->plan.n_scenarios; c += 2) {
        walk_both(s, &s->scenarios[c], b, path, b->moved, NULL);
        walk_both(s, &s->scenarios[c + 1], b, path, b->moved + n, NULL);
        add_pair(s, b, out->scenarios + c * n, out->scenarios + (c + 1) * n);
    }
}

static void run_chunk(const struct risk_store *s, struct risk_block *b,
                      int64_t chunk, struct risk_chunk *out)
{
    const size_t n = (size_t)s->plan.n_instruments + 1;
    memset(out->sums, 0, n * sizeof *out->sums);
    if (s->plan.n_scenarios > 0)
        memset(out->scenarios, 0,
               n * (size_t)s->plan.n_scenarios * sizeof *out->scenarios);
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
