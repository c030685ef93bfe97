/* risk_horizon.c: what a position remembers of a path up to the horizon: the
 * sum of an average, an extreme, whether a barrier was crossed, whether it was
 * exercised.
 *
 * Between two dates watched all the time the extreme is drawn from the law of
 * the Brownian bridge, with the numbers that the kernels draw, so that these
 * are the same paths.
 */
#include <math.h>

#include "kernels/risk/exercise.h"
#include "kernels/risk/models.h"
#include "kernels/risk/normals.h"
#include "kernels/risk/payoff.h"
#include "solvers/risk/risk_reval.h"

static int64_t looks(const struct risk_position *p)
{
    switch (p->type) {
    case RISK_TYPE_ASIAN_ARITHMETIC:
    case RISK_TYPE_ASIAN_GEOMETRIC:
    case RISK_TYPE_BARRIER:
    case RISK_TYPE_LOOKBACK_FIXED:
    case RISK_TYPE_LOOKBACK_FLOATING:
        return p->fixings;
    case RISK_TYPE_BERMUDAN:
    case RISK_TYPE_AMERICAN:
        return p->exercises;
    default:
        return 1;
    }
}

static double date_of(const struct risk_position *p, int64_t k)
{
    const int64_t n = looks(p);
    return k == n ? p->maturity : p->maturity * (double)k / (double)n;
}

/* Which of the position's dates t is, from 1; 0: none. */
static int64_t number_of(const struct risk_position *p, double t)
{
    if (p->maturity <= 0 || t > p->maturity + RISK_SAME_DATE)
        return 0;
    int64_t k = llround(t * (double)looks(p) / p->maturity);
    return k >= 1 && fabs(date_of(p, k) - t) <= RISK_SAME_DATE ? k : 0;
}

int risk_remembers(const struct risk_position *p, double horizon)
{
    switch (p->type) {
    case RISK_TYPE_LOOKBACK_FIXED:
    case RISK_TYPE_LOOKBACK_FLOATING:
        return 1;
    case RISK_TYPE_ASIAN_ARITHMETIC:
    case RISK_TYPE_ASIAN_GEOMETRIC:
        return date_of(p, 1) <= horizon + RISK_SAME_DATE;
    default:
        return 0;
    }
}

int64_t risk_horizon_dates(const struct risk_position *p, double horizon,
                           double *dates, int64_t room)
{
    int64_t n = 0;
    for (int64_t k = 1; k <= looks(p); k++) {
        if (date_of(p, k) > horizon + RISK_SAME_DATE)
            break;
        if (n < room)
            dates[n] = date_of(p, k);
        n++;
    }
    return n;
}

/* ---- one date ---- */

static const double *row(const struct risk_watch *w, const double *of,
                         int32_t i, int f)
{
    return of + ((ptrdiff_t)i * w->n_factors + f) * RISK_CHUNK;
}

/* The greatest or least price since the date before, on path j. */
static double extreme_since(const struct risk_watch *w, int f, int32_t i,
                            int32_t j, int greatest)
{
    const struct risk_factor *m = &w->factors[f];
    const double to = row(w, w->spot, i, f)[j],
                 from = i > 0 ? row(w, w->spot, i - 1, f)[j] : m->spot;
    const double variance =
        (m->model == RISK_HESTON ? row(w, w->variance, i, f)[j]
                                 : m->volatility * m->volatility) *
        w->lengths[i];
    const uint32_t k = (uint32_t)w->steps[i];
    struct exact_block words =
        risk_words(w->seed, w->path + (uint64_t)j, k / 4, RISK_BRIDGE, f);
    return exact_exp(
        risk_bridge_extreme(exact_log(from), exact_log(to), variance,
                            exact_uniform32(words.w[k % 4]), greatest));
}

static void look_extreme(const struct risk_reval *r, const struct risk_watch *w,
                         int32_t i, struct risk_memory *m)
{
    const struct risk_position *p = &r->position;
    const int f = p->factor[0],
              greatest = (p->type == RISK_TYPE_LOOKBACK_FIXED) == (p->side > 0);
    const double *spot = row(w, w->spot, i, f);
    if (!p->continuous && number_of(p, w->dates[i]) == 0)
        return;
    for (int32_t j = 0; j < RISK_CHUNK; j++) {
        double s =
            p->continuous ? extreme_since(w, f, i, j, greatest) : spot[j];
        m->sum[j] = greatest ? fmax(m->sum[j], s) : fmin(m->sum[j], s);
    }
}

static void look_barrier(const struct risk_reval *r, const struct risk_watch *w,
                         int32_t i, struct risk_memory *m)
{
    const struct risk_position *p = &r->position;
    const int f = p->factor[0], up = p->barrier_up;
    const double *spot = row(w, w->spot, i, f);
    if (!p->continuous && number_of(p, w->dates[i]) == 0)
        return;
    for (int32_t j = 0; j < RISK_CHUNK; j++) {
        double s = p->continuous ? extreme_since(w, f, i, j, up) : spot[j];
        if (up ? s >= p->barrier : s <= p->barrier)
            m->alive[j] = 0;
    }
}

static void look_average(const struct risk_reval *r, const struct risk_watch *w,
                         int32_t i, struct risk_memory *m)
{
    const double *spot = row(w, w->spot, i, r->position.factor[0]);
    if (number_of(&r->position, w->dates[i]) == 0)
        return;
    for (int32_t j = 0; j < RISK_CHUNK; j++) {
        m->sum[j] += spot[j];
        m->logs[j] += exact_log(spot[j]);
    }
}

static void spots_of(const struct risk_reval *r, const struct risk_watch *w,
                     int32_t i, int32_t j, double *spot)
{
    for (int l = 0; l < r->position.n_legs; l++)
        spot[l] = row(w, w->spot, i, r->position.factor[l])[j];
}

/* Interest from t to the horizon. */
static double interest(const struct risk_reval *r, double t)
{
    const struct risk_curve *c =
        &r->sub.market.assets[r->position.factor[0]].rate;
    return exp(risk_curve_integral(c, r->horizon) - risk_curve_integral(c, t));
}

/* Exercised by the rule of the price. */
static void look_exercise(const struct risk_reval *r,
                          const struct risk_watch *w, int32_t i,
                          struct risk_memory *m)
{
    const int64_t k = number_of(&r->position, w->dates[i]);
    if (k == 0)
        return;
    const double *rule =
        r->sub.continuation + (ptrdiff_t)RISK_BASIS_MAX * (k - 1);
    const struct risk_instrument *q = &r->sub.plan.instruments[0];
    const double more = interest(r, w->dates[i]);
    for (int32_t j = 0; j < RISK_CHUNK; j++) {
        double look[RISK_LOOKS_MAX] = {0};
        if (m->alive[j] == 0)
            continue;
        spots_of(r, w, i, j, look);
        for (int v = 0; v < q->n_variances; v++)
            look[q->n_legs + v] =
                row(w, w->variance, i, q->variance_factor[v])[j];
        double y = risk_exercised(q, look, rule);
        if (!(y > 0))
            continue;
        m->alive[j] = 0;
        m->paid[j] = y * more;
    }
}

static void look_maturity(const struct risk_reval *r,
                          const struct risk_watch *w, int32_t i,
                          struct risk_memory *m)
{
    const double more = interest(r, r->position.maturity);
    for (int32_t j = 0; j < RISK_CHUNK; j++) {
        double spot[RISK_LEGS_MAX] = {0};
        spots_of(r, w, i, j, spot);
        m->paid[j] = more * risk_pay(&r->sub.plan.instruments[0], spot,
                                     m->sum[j], m->logs[j], m->alive[j]);
    }
}

/* ---- all dates ---- */

static void look(const struct risk_reval *r, const struct risk_watch *w,
                 int32_t i, struct risk_memory *m)
{
    const struct risk_position *p = &r->position;
    if (w->dates[i] > p->maturity + RISK_SAME_DATE)
        return;
    switch (p->type) {
    case RISK_TYPE_ASIAN_ARITHMETIC:
    case RISK_TYPE_ASIAN_GEOMETRIC:
        look_average(r, w, i, m);
        break;
    case RISK_TYPE_BARRIER:
        look_barrier(r, w, i, m);
        break;
    case RISK_TYPE_LOOKBACK_FIXED:
    case RISK_TYPE_LOOKBACK_FLOATING:
        look_extreme(r, w, i, m);
        break;
    case RISK_TYPE_BERMUDAN:
    case RISK_TYPE_AMERICAN:
        look_exercise(r, w, i, m);
        return;
    default:
        break;
    }
    if (fabs(w->dates[i] - p->maturity) <= RISK_SAME_DATE)
        look_maturity(r, w, i, m);
}

void risk_remember(const struct risk_reval *r, const struct risk_watch *w,
                   struct risk_memory *m)
{
    const struct risk_position *p = &r->position;
    const int extreme = p->type == RISK_TYPE_LOOKBACK_FIXED ||
                        p->type == RISK_TYPE_LOOKBACK_FLOATING;
    const double rebate = p->barrier_in ? 0 : p->rebate * r->later;
    for (int32_t j = 0; j < RISK_CHUNK; j++) {
        m->sum[j] = extreme ? w->factors[p->factor[0]].spot : 0;
        m->logs[j] = 0;
        m->alive[j] = !p->knocked;
        m->paid[j] = 0;
    }
    for (int32_t i = 0; i < w->n; i++)
        look(r, w, i, m);
    if (p->type != RISK_TYPE_BARRIER || r->kind == RISK_REVAL_PAID)
        return;
    for (int32_t j = 0; j < RISK_CHUNK; j++)
        if (m->alive[j] == 0)
            m->paid[j] = rebate;
}
