/* walk_cpu.c: a block of paths walks through a market, and instruments look at
 * it on the way. */
#include "kernels/risk/risk_cpu.h"

#include <string.h>

#include "kernels/risk/exercise.h"
#include "kernels/risk/normals.h"
#include "kernels/risk/payoff.h"

#define EACH(i) for (int i = 0; i < RISK_BLOCK; i += EXACT_LANES)

/* A walk through one market with one sign of the random numbers. */
struct walk {
    const struct risk_store *s;
    const struct risk_market *m;
    struct risk_block *b;
    double sign, weight;
    risk_row *pay, *control;
};

static risk_row *acc_of(const struct walk *w, int32_t instrument)
{
    return w->b->acc + (ptrdiff_t)3 * w->s->acc[instrument];
}

/* ---- factors ---- */

static void begin(const struct walk *w)
{
    const struct risk_plan *p = &w->s->t.plan;
    for (int f = 0; f < p->n_factors; f++)
        EACH(i)
        {
            exact_store(w->b->x[f] + i, exact_set(w->m->log_spot[f]));
            exact_store(w->b->v[f] + i, exact_set(w->m->factors[f].variance));
            if (w->s->t.any_twin)
                exact_store(w->b->twin[f] + i, exact_set(w->m->log_spot[f]));
        }
    memset(w->b->acc, 0, sizeof(risk_row) * 3 * (size_t)w->s->n_acc);
    for (int32_t a = 0; a < w->s->n_acc; a++)
        EACH(i)
    exact_store(w->b->acc[3 * a + 2] + i, exact_set(1));
    for (int32_t q = 0; q < p->n_instruments; q++) {
        if (w->s->acc[q] == 0)
            continue;
        const struct risk_instrument *in = &p->instruments[q];
        double start = w->m->factors[in->factor[0]].spot;
        int extreme = in->payoff == RISK_LOOKBACK_FIXED ||
                      in->payoff == RISK_LOOKBACK_FLOATING;
        if (extreme)
            EACH(i)
        exact_store(acc_of(w, q)[0] + i, exact_set(start));
    }
}

/* 1 - u for the mirrored path: exact, since u is a multiple of 2^-33. */
EXACT_FN exact_real mirrored(exact_real u, double sign)
{
    return sign < 0 ? exact_set(1) - u : u;
}

/* The twin's step, before the factor's own changes its variance. */
static void step_twin(const struct walk *w, int f, int32_t k)
{
    const struct risk_store *s = w->s;
    struct risk_block *b = w->b;
    const int nf = s->t.plan.n_factors;
    const struct risk_step *st = &w->m->steps[(ptrdiff_t)k * nf + f];
    const ptrdiff_t at = k - b->first;
    const double *z = b->normals[at * nf + f];
    const int e = s->t.extra[f];
    const double *ze = e < 0 ? z : b->extra_z[at * s->t.n_extra + e],
                 *u = e < 0 ? z : b->extra_u[at * s->t.n_extra + e];
    const exact_real sign = exact_set(w->sign);
    EACH(i)
    exact_store(
        b->twin[f] + i,
        risk_twin_step(st, w->m->factors[f].model, exact_load(b->twin[f] + i),
                       exact_load(b->v[f] + i), sign * exact_load(z + i),
                       sign * exact_load(ze + i),
                       mirrored(exact_load(u + i), w->sign)));
}

static void step_factor(const struct walk *w, int f, int32_t k)
{
    const struct risk_store *s = w->s;
    struct risk_block *b = w->b;
    const struct risk_step *st =
        &w->m->steps[(ptrdiff_t)k * s->t.plan.n_factors + f];
    const double *z =
        b->normals[(ptrdiff_t)(k - b->first) * s->t.plan.n_factors + f];
    const exact_real sign = exact_set(w->sign);
    double *x = b->x[f];
    if (w->m->factors[f].model == RISK_GBM) {
        EACH(i)
        exact_store(x + i,
                    risk_gbm(st, exact_load(x + i), sign * exact_load(z + i)));
        return;
    }
    ptrdiff_t e = (ptrdiff_t)(k - b->first) * s->t.n_extra + s->t.extra[f];
    const double *ze = b->extra_z[e], *u = b->extra_u[e];
    if (w->m->factors[f].model == RISK_HESTON) {
        EACH(i)
        {
            exact_real v = exact_load(b->v[f] + i);
            exact_store(x + i,
                        risk_heston(st, exact_load(x + i), &v,
                                    sign * exact_load(z + i),
                                    sign * exact_load(ze + i),
                                    mirrored(exact_load(u + i), w->sign)));
            exact_store(b->v[f] + i, v);
        }
        return;
    }
    EACH(i)
    {
        exact_real y =
            risk_gbm(st, exact_load(x + i), sign * exact_load(z + i));
        y = y + risk_jumps(st, mirrored(exact_load(u + i), w->sign),
                           sign * exact_load(ze + i));
        exact_store(x + i, y);
    }
}

static void step(const struct walk *w, int32_t k)
{
    const struct risk_plan *p = &w->s->t.plan;
    const unsigned char *want =
        w->s->t.wants_spot + (ptrdiff_t)k * p->n_factors;
    for (int f = 0; f < p->n_factors; f++) {
        if (w->s->t.bridge[f] >= 0)
            memcpy(w->b->before[f], w->b->x[f], sizeof(risk_row));
        if (w->s->t.twin[f] && w->control != NULL)
            step_twin(w, f, k);
        step_factor(w, f, k);
        if (want[f])
            EACH(i)
        exact_store(w->b->spot[f] + i, exact_exp(exact_load(w->b->x[f] + i)));
    }
}

/* ---- instruments ---- */

static void extreme(double *acc, const double *spot, int greatest)
{
    EACH(i)
    {
        exact_real a = exact_load(acc + i), s = exact_load(spot + i);
        exact_store(acc + i, greatest ? exact_max(a, s) : exact_min(a, s));
    }
}

/* The variance of log S between the last two dates. */
EXACT_FN exact_real variance_of_step(const struct walk *w, int f, int32_t k,
                                     int i)
{
    const struct risk_step *st =
        &w->m->steps[(ptrdiff_t)k * w->s->t.plan.n_factors + f];
    if (w->m->factors[f].model != RISK_HESTON)
        return exact_set(st->variance);
    return exact_load(w->b->v[f] + i) * exact_set(st->dt);
}

static void extreme_bridge(const struct walk *w, double *acc, int f, int32_t k,
                           int greatest)
{
    struct risk_block *b = w->b;
    const double *u = b->bridge_u[(ptrdiff_t)(k - b->first) * w->s->t.n_bridge +
                                  w->s->t.bridge[f]];
    EACH(i)
    {
        exact_real x = risk_bridge_extreme(
            exact_load(b->before[f] + i), exact_load(b->x[f] + i),
            variance_of_step(w, f, k, i), mirrored(exact_load(u + i), w->sign),
            greatest);
        exact_real s = exact_exp(x), a = exact_load(acc + i);
        exact_store(acc + i, greatest ? exact_max(a, s) : exact_min(a, s));
    }
}

static void knock(const struct walk *w, const struct risk_instrument *q,
                  double *alive, int32_t k, int bridge)
{
    const int f = q->factor[0];
    const exact_real h = exact_set(q->log_barrier);
    EACH(i)
    {
        exact_real x = exact_load(w->b->x[f] + i), a = exact_load(alive + i);
        if (bridge) {
            a = a * risk_bridge_survival(exact_load(w->b->before[f] + i), x,
                                         variance_of_step(w, f, k, i),
                                         q->log_barrier, q->barrier_up);
        } else {
            exact_mask in = q->barrier_up ? exact_less(x, h) : exact_less(h, x);
            a = exact_select(in, a, exact_set(0));
        }
        exact_store(alive + i, a);
    }
}

static void load_spots(const struct walk *w, const struct risk_instrument *q,
                       int i, exact_real *spot)
{
    for (int l = 0; l < q->n_legs; l++)
        spot[l] = exact_load(w->b->spot[q->factor[l]] + i);
}

/* What stands in a row that a payment is added to. */
EXACT_FN exact_real so_far(int fresh, const double *row)
{
    return fresh ? exact_set(0) : exact_load(row);
}

static int is_fresh(const struct walk *w, int32_t number)
{
    return w->sign > 0 && w->s->pays_once[number];
}

/* payoff: a constant where this is inlined, for the payoffs that most
 * positions of a large portfolio have. */
EXACT_FN void pay_as(enum risk_payoff payoff, const struct walk *w,
                     int32_t number)
{
    const struct risk_instrument *q = &w->s->t.plan.instruments[number];
    const exact_real d = exact_set(w->m->discount[number] * w->weight);
    const risk_row *acc = acc_of(w, number);
    const int fresh = is_fresh(w, number);
    double *to = w->pay[number];
    EACH(i)
    {
        exact_real spot[RISK_LEGS_MAX];
        spot[0] = exact_load(w->b->spot[q->factor[0]] + i);
        if (payoff >= RISK_BASKET)
            load_spots(w, q, i, spot);
        exact_real y =
            risk_pay_as(payoff, q, spot, exact_load(acc[0] + i),
                        exact_load(acc[1] + i), exact_load(acc[2] + i));
        exact_store(to + i, exact_fma(d, y, so_far(fresh, to + i)));
    }
}

static void pay_control(const struct walk *w, int32_t number)
{
    const struct risk_instrument *q = &w->s->t.plan.instruments[number];
    const exact_real d = exact_set(w->m->discount[number] * w->weight);
    const risk_row *acc = acc_of(w, number);
    const int twin = q->control == RISK_TWIN, fresh = is_fresh(w, number);
    double *to = w->control[number];
    EACH(i)
    {
        exact_real spot[RISK_LEGS_MAX];
        load_spots(w, q, i, spot);
        exact_real y = risk_pay_control(
            q, spot, exact_load(acc[0] + i), exact_load(acc[1] + i),
            twin ? exact_load(w->b->twin[q->factor[0]] + i) : exact_set(0));
        exact_store(to + i, exact_fma(d, y, so_far(fresh, to + i)));
    }
    if (!risk_wants_twin(q))
        return;
    to = w->b->second[number];
    EACH(i)
    {
        const exact_real spot = exact_load(w->b->spot[q->factor[0]] + i),
                         y = risk_pay_second(q, &spot, exact_load(acc[0] + i));
        exact_store(to + i, exact_fma(d, y, so_far(fresh, to + i)));
    }
}

static void pay(const struct walk *w, int32_t number)
{
    const struct risk_instrument *q = &w->s->t.plan.instruments[number];
    switch (q->payoff) {
    case RISK_FORWARD:
        pay_as(RISK_FORWARD, w, number);
        break;
    case RISK_EUROPEAN:
        pay_as(RISK_EUROPEAN, w, number);
        break;
    case RISK_DIGITAL:
        pay_as(RISK_DIGITAL, w, number);
        break;
    default:
        pay_as(q->payoff, w, number);
        break;
    }
    if (w->control != NULL && q->control != RISK_NO_CONTROL)
        pay_control(w, number);
}

/* What an exercise is decided by: risk_looks(q) of them. */
static void load_looks(const struct walk *w, const struct risk_instrument *q,
                       int i, exact_real *look)
{
    load_spots(w, q, i, look);
    for (int v = 0; v < q->n_variances; v++)
        look[q->n_legs + v] = exact_load(w->b->v[q->variance_factor[v]] + i);
}

static void exercise(const struct walk *w, const struct risk_event *e)
{
    const struct risk_plan *p = &w->s->t.plan;
    const struct risk_instrument *q = &p->instruments[e->instrument];
    const double *c = p->continuation + (ptrdiff_t)RISK_BASIS_MAX * e->row;
    const exact_real d = exact_set(w->m->exercise_discount[e->row] * w->weight);
    double *alive = acc_of(w, e->instrument)[2], *to = w->pay[e->instrument];
    EACH(i)
    {
        exact_real look[RISK_LOOKS_MAX], a = exact_load(alive + i);
        load_looks(w, q, i, look);
        exact_real y = a * risk_exercised(q, look, c);
        a = exact_select(exact_less(exact_set(0), y), exact_set(0), a);
        exact_store(alive + i, a);
        exact_store(to + i, exact_fma(d, y, exact_load(to + i)));
    }
}

static void act(const struct walk *w, const struct risk_event *e)
{
    const struct risk_instrument *q = &w->s->t.plan.instruments[e->instrument];
    risk_row *acc = acc_of(w, e->instrument);
    const int f = q->factor[0];
    const double *spot = w->b->spot[f], *x = w->b->x[f];
    switch (e->action) {
    case RISK_SUM_SPOT:
        EACH(i)
        exact_store(acc[0] + i, exact_load(acc[0] + i) + exact_load(spot + i));
        break;
    case RISK_SUM_LOG:
        EACH(i)
        exact_store(acc[1] + i, exact_load(acc[1] + i) + exact_load(x + i));
        break;
    case RISK_SUM_TWIN: {
        double *to = acc[q->payoff == RISK_ASIAN_GEOMETRIC ? 0 : 1];
        if (w->control != NULL)
            EACH(i)
        exact_store(to + i, exact_load(to + i) + exact_load(w->b->twin[f] + i));
        break;
    }
    case RISK_MAXIMUM:
    case RISK_MINIMUM:
        extreme(acc[0], spot, e->action == RISK_MAXIMUM);
        break;
    case RISK_MAXIMUM_BRIDGE:
    case RISK_MINIMUM_BRIDGE:
        extreme_bridge(w, acc[0], f, e->step, e->action == RISK_MAXIMUM_BRIDGE);
        break;
    case RISK_KNOCK:
    case RISK_KNOCK_BRIDGE:
        knock(w, q, acc[2], e->step, e->action == RISK_KNOCK_BRIDGE);
        break;
    case RISK_PAY:
        pay(w, e->instrument);
        break;
    case RISK_EXERCISE:
        exercise(w, e);
        break;
    }
}

/* ---- the walk ---- */

/* Random numbers of step k; those of a whole path are kept where they fit. */
static void provide(const struct risk_store *s, struct risk_block *b,
                    uint64_t path, int32_t k)
{
    int32_t first = k - k % b->length, n = s->t.plan.n_steps - first;
    if (b->path == path && b->first == first)
        return;
    risk_fill(s, b, path, first, n < b->length ? n : b->length);
}

/* Whether nothing looks before the end of steps k ... k + 3. */
static int is_unwatched(const struct risk_store *s, int32_t k)
{
    return s->fused && k % 4 == 0 && k + 4 <= s->t.plan.n_steps &&
           s->t.event_begin[k] == s->t.event_begin[k + 3];
}

/* Four steps with nobody looking: normals stay in registers. The same bits as
 * four times step(). */
static void four_steps(const struct walk *w, uint64_t path, int32_t k)
{
    const int nf = w->s->t.plan.n_factors;
    const unsigned char *want = w->s->t.wants_spot + (ptrdiff_t)(k + 3) * nf;
    for (int f = 0; f < nf; f++) {
        const struct risk_step *st = &w->m->steps[(ptrdiff_t)k * nf + f];
        double *x = w->b->x[f];
        for (int i = 0; i < RISK_BLOCK; i += RISK_STRIDE) {
            exact_real z[4][EXACT_ALL_MAX];
            risk_four_normals_all(RISK_IN_STEP, w->s->t.plan.seed,
                                  path + (uint64_t)i, (uint32_t)k / 4, f, z);
            EXACT_EACH(j, RISK_IN_STEP)
            {
                exact_real y = exact_load(x + i + j * EXACT_LANES);
                for (int q = 0; q < 4; q++)
                    y = risk_gbm(st + (ptrdiff_t)q * nf, y, z[q][j]);
                exact_store(x + i + j * EXACT_LANES, y);
            }
        }
        if (want[f])
            EACH(i)
        exact_store(w->b->spot[f] + i, exact_exp(exact_load(x + i)));
    }
}

void risk_walk(const struct risk_store *s, const struct risk_market *m,
               struct risk_block *b, uint64_t path, double sign, double weight,
               risk_row *pay_rows, risk_row *control)
{
    struct walk w = {s, m, b, sign, weight, pay_rows, control};
    begin(&w);
    for (int32_t k = 0; k < s->t.plan.n_steps; k++) {
        if (is_unwatched(s, k)) {
            four_steps(&w, path, k);
            k += 3;
        } else {
            provide(s, b, path, k);
            step(&w, k);
        }
        risk_late_keep(s, b, k, sign);
        for (int64_t e = s->late.event_begin[k]; e < s->late.event_begin[k + 1];
             e++)
            act(&w, &s->late.events[e]);
    }
}

void risk_walk_states(const struct risk_store *s, struct risk_block *b,
                      uint64_t path, int n_steps, const int32_t *steps,
                      double *spot, double *variance, int64_t at)
{
    struct walk w = {s, &s->t.base, b, 1, 1, NULL, NULL};
    const int nf = s->t.plan.n_factors;
    int next = 0;
    begin(&w);
    for (int32_t k = 0; next < n_steps && k < s->t.plan.n_steps; k++) {
        provide(s, b, path, k);
        step(&w, k);
        if (k != steps[next])
            continue;
        for (int f = 0; f < nf; f++) {
            int64_t row = ((int64_t)next * nf + f) * RISK_CHUNK + at;
            EACH(i)
            {
                exact_store(spot + row + i, exact_exp(exact_load(b->x[f] + i)));
                if (variance != NULL)
                    exact_store(variance + row + i, exact_load(b->v[f] + i));
            }
        }
        next++;
    }
}

/* Look l of an instrument: a leg's spot, or a variance. */
static void keep_look(const struct risk_block *b,
                      const struct risk_instrument *q, int l, float *to)
{
    risk_row spot __attribute__((aligned(64)));
    const double *from = spot;
    if (l < q->n_legs) {
        const double *x = b->x[q->factor[l]];
        EACH(i)
        exact_store(spot + i, exact_exp(exact_load(x + i)));
    } else {
        from = b->v[q->variance_factor[l - q->n_legs]];
    }
    for (int i = 0; i < RISK_BLOCK; i++)
        to[i] = (float)from[i];
}

void risk_walk_spots(const struct risk_store *s, struct risk_block *b,
                     uint64_t path, const struct risk_instrument *q,
                     int32_t n_steps, const int32_t *steps, float *out,
                     size_t stride, size_t at)
{
    struct walk w = {s, &s->t.base, b, 1, 1, NULL, NULL};
    int32_t next = 0;
    begin(&w);
    for (int32_t k = 0; next < n_steps && k < s->t.plan.n_steps; k++) {
        provide(s, b, path, k);
        step(&w, k);
        if (k != steps[next])
            continue;
        const int looks = risk_looks(q);
        for (int l = 0; l < looks; l++) {
            float *to =
                out + ((size_t)next * (size_t)looks + (size_t)l) * stride + at;
            keep_look(b, q, l, to);
        }
        next++;
    }
}
