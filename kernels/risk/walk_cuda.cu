/* walk_cuda.cu: paths walk through a market, and instruments look at them on
 * the way; the card's twin of walk_cpu.c, with the same bits. All instruments
 * share the paths.
 */
#include "kernels/risk/walker_cuda.h"

#include "kernels/risk/exercise.h"
#include "kernels/risk/payoff.h"

/* Where the payoffs of one sign of the random numbers go. */
struct target {
    double weight;
    double *pay, *control; /* columns; control may be NULL */
};

template <int KIND>
static __device__ __forceinline__ double *acc_of(risk_walker<KIND> &w, int q)
{
    return w.m.acc + (size_t)3 * (size_t)q * w.m.stride + w.at;
}

/* The numbers that instruments keep, at the start. */
template <int KIND>
static __device__ __forceinline__ void begin_instruments(risk_walker<KIND> &w)
{
    for (int q = 0; q < w.m.n_instruments; q++) {
        const struct risk_instrument *in = &w.m.instruments[q];
        const int extreme = in->payoff == RISK_LOOKBACK_FIXED ||
                            in->payoff == RISK_LOOKBACK_FLOATING;
        double *acc = acc_of(w, q);
        acc[0] = extreme ? w.market.factors[in->factor[0]].spot : 0;
        acc[w.m.stride] = 0;
        acc[2 * w.m.stride] = 1;
    }
}

static __device__ __forceinline__ double extreme_of(double a, double s,
                                                    int greatest)
{
    return greatest ? exact_max(a, s) : exact_min(a, s);
}

template <int KIND>
static __device__ __forceinline__ void knock(risk_walker<KIND> &w,
                                             const struct risk_instrument *q,
                                             double *alive, int k, int bridge)
{
    const int f = q->factor[0];
    const double x = w.x(f);
    if (bridge) {
        *alive = *alive * risk_bridge_survival(w.before(f), x, w.variance(k, f),
                                               q->log_barrier, q->barrier_up);
    } else {
        const int in = q->barrier_up ? exact_less(x, q->log_barrier)
                                     : exact_less(q->log_barrier, x);
        *alive = exact_select(in, *alive, 0);
    }
}

template <int KIND>
static __device__ __forceinline__ void
load_spots(risk_walker<KIND> &w, const struct risk_instrument *q, double *spot)
{
    for (int l = 0; l < q->n_legs; l++)
        spot[l] = w.spot(q->factor[l]);
}

template <int KIND>
static __device__ __forceinline__ void
pay(risk_walker<KIND> &w, int number, const double *acc, const struct target &t)
{
    const struct risk_instrument *q = &w.m.instruments[number];
    const double d = w.market.discount[number] * t.weight;
    const double acc1 = acc[w.m.stride];
    double spot[RISK_LEGS_MAX];
    load_spots(w, q, spot);
    double y = risk_pay(q, spot, acc[0], acc1, acc[2 * w.m.stride]);
    double *to = &w.column(t.pay, number);
    *to = exact_fma(d, y, *to);
    if (t.control == NULL || q->control == RISK_NO_CONTROL)
        return;
    y = risk_pay_control(q, spot, acc[0], acc1,
                         q->control == RISK_TWIN ? w.twin(q->factor[0]) : 0);
    to = &w.column(t.control, number);
    *to = exact_fma(d, y, *to);
    if (!risk_wants_twin(q))
        return;
    to = &w.column(w.m.second, number);
    *to = exact_fma(d, risk_pay_second(q, spot, acc[0]), *to);
}

template <int KIND>
static __device__ __forceinline__ void
exercise(risk_walker<KIND> &w, const struct risk_event *e, double *alive,
         const struct target &t)
{
    const struct risk_instrument *q = &w.m.instruments[e->instrument];
    const double *c = w.m.continuation + (ptrdiff_t)RISK_BASIS_MAX * e->row;
    const double d = w.market.exercise_discount[e->row] * t.weight;
    double look[RISK_LOOKS_MAX];
    load_spots(w, q, look);
    for (int v = 0; v < q->n_variances; v++)
        look[q->n_legs + v] = w.v(q->variance_factor[v]);
    const double y = *alive * risk_exercised(q, look, c);
    *alive = exact_select(exact_less(0, y), 0, *alive);
    double *to = &w.column(t.pay, e->instrument);
    *to = exact_fma(d, y, *to);
}

template <int KIND, bool EXERCISE>
static __device__ __forceinline__ void act(risk_walker<KIND> &w,
                                           const struct risk_event *e, int k,
                                           const struct target &t)
{
    const struct risk_instrument *q = &w.m.instruments[e->instrument];
    double *acc = acc_of(w, e->instrument);
    const int f = q->factor[0];
    switch (e->action) {
    case RISK_SUM_SPOT:
        acc[0] = acc[0] + w.spot(f);
        break;
    case RISK_SUM_LOG:
        acc[w.m.stride] = acc[w.m.stride] + w.x(f);
        break;
    case RISK_SUM_TWIN:
        if (t.control != NULL) {
            double *to =
                q->payoff == RISK_ASIAN_GEOMETRIC ? acc : acc + w.m.stride;
            *to = *to + w.twin(f);
        }
        break;
    case RISK_MAXIMUM:
    case RISK_MINIMUM:
        acc[0] = extreme_of(acc[0], w.spot(f), e->action == RISK_MAXIMUM);
        break;
    case RISK_MAXIMUM_BRIDGE:
    case RISK_MINIMUM_BRIDGE: {
        const int greatest = e->action == RISK_MAXIMUM_BRIDGE;
        acc[0] = extreme_of(
            acc[0],
            exact_exp(risk_bridge_extreme(w.before(f), w.x(f), w.variance(k, f),
                                          w.bridge_uniform(k, f), greatest)),
            greatest);
        break;
    }
    case RISK_KNOCK:
    case RISK_KNOCK_BRIDGE:
        knock(w, q, acc + 2 * w.m.stride, k, e->action == RISK_KNOCK_BRIDGE);
        break;
    case RISK_PAY:
        pay(w, e->instrument, acc, t);
        break;
    case RISK_EXERCISE:
        if constexpr (EXERCISE)
            exercise(w, e, acc + 2 * w.m.stride, t);
        break;
    }
}

/* Whether one factor of geometric Brownian motion may take steps k ... k + 3 at
 * once, with nobody looking before the last. */
template <int KIND>
static __device__ __forceinline__ bool is_unwatched(const risk_walker<KIND> &w,
                                                    int k)
{
    const struct risk_view &m = w.m;
    return KIND == RISK_GBM && k % 4 == 0 && k + 4 <= m.n_steps && !m.sobol &&
           m.event_begin[k] == m.event_begin[k + 3];
}

/* Normals stay in registers. The same bits as step by step. */
template <int KIND>
static __device__ __forceinline__ void four_steps(risk_walker<KIND> &w, int k)
{
#pragma unroll
    for (int q = 0; q < 4; q++) {
        w.before1 = w.x1;
        w.x1 = risk_gbm(&w.market.steps[k + q], w.x1, w.sign * w.z4[q]);
    }
}

template <int KIND, bool EXERCISE>
static __device__ __forceinline__ void walk_once(risk_walker<KIND> &w,
                                                 const struct target &t)
{
    w.begin();
    begin_instruments(w);
    for (int k = 0; k < w.m.n_steps; k++) {
        w.provide(k);
        if (is_unwatched(w, k)) {
            four_steps(w, k);
            k += 3;
        } else {
            w.step(k);
        }
        const int64_t end = w.m.event_begin[k + 1];
        int64_t e = w.m.event_begin[k];
        if (e == end)
            continue;
        w.make_spots(k);
        for (; e < end; e++)
            act<KIND, EXERCISE>(w, &w.m.events[e], k, t);
    }
}

/* The portfolio's row, the last one, from the instruments'. */
template <int KIND>
static __device__ __forceinline__ void add_up(risk_walker<KIND> &w, double *pay)
{
    double total = 0;
    for (int q = 0; q < w.m.n_instruments; q++)
        total = exact_fma(w.m.instruments[q].quantity, w.column(pay, q), total);
    w.column(pay, w.m.n_instruments) = total;
}

template <int KIND, bool EXERCISE>
static __device__ __forceinline__ void
walk_all(const struct risk_view &m, const struct risk_card_market &market,
         uint64_t first, double *pay, double *control)
{
    const size_t at = risk_path_of_thread();
    risk_walker<KIND> w(m, market, first + at, at);
    w.twins = control != NULL && m.twin != NULL;
    struct target t = {m.antithetic ? 0.5 : 1.0, pay, control};
    for (int q = 0; q < m.n_instruments; q++) {
        w.column(pay, q) = 0;
        if (control != NULL)
            w.column(control, q) = 0;
        if (w.twins)
            w.column(m.second, q) = 0;
    }
#pragma unroll 1
    for (int mirror = 0; mirror <= m.antithetic; mirror++) {
        w.sign = mirror ? -1 : 1;
        walk_once<KIND, EXERCISE>(w, t);
    }
    add_up(w, pay);
}

/* Blocks that a multiprocessor holds at least: as many as registers allow
 * without spilling. */
template <int KIND>
static __global__ void __launch_bounds__(RISK_THREADS,
                                         KIND == RISK_HESTON ? 5 : 6)
    walk(struct risk_view m, struct risk_card_market market, uint64_t first,
         double *pay, double *control)
{
    walk_all<KIND, false>(m, market, first, pay, control);
}

/* With instruments that may be exercised early: their functions take more
 * registers. */
template <int KIND>
static __global__ void __launch_bounds__(RISK_THREADS, 4)
    walk_early(struct risk_view m, struct risk_card_market market,
               uint64_t first, double *pay, double *control)
{
    walk_all<KIND, true>(m, market, first, pay, control);
}

int risk_cuda_walk(struct risk_store *s, const struct risk_card_market *m,
                   uint64_t path, int64_t chunks, double *pay, double *control)
{
    const unsigned grid = (unsigned)(chunks * (RISK_CHUNK / RISK_THREADS));
    if (s->t.plan.n_rows > 0)
        RISK_LAUNCH_KIND(risk_kind(&s->t), walk_early, grid, s->device->stream,
                         s->view, *m, path, pay, control);
    else
        RISK_LAUNCH_KIND(risk_kind(&s->t), walk, grid, s->device->stream,
                         s->view, *m, path, pay, control);
    CUDA_TRY_LAUNCH(s->ctx, "walk");
    return 0;
}
