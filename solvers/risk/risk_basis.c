/* risk_basis.c: the functions of the state that values at the horizon are made
 * of, and controls of mean 0 given the state (risk_regress.c).
 */
#include <math.h>
#include <string.h>

#include "kernels/risk/analytic.h"
#include "solvers/risk/risk_reval.h"

void risk_state_load(const struct risk_reval *r, const struct risk_watch *w,
                     int32_t i, const struct risk_memory *m, int32_t j,
                     struct risk_state *s)
{
    for (int l = 0; l < r->position.n_legs; l++) {
        ptrdiff_t at =
            ((ptrdiff_t)i * w->n_factors + r->position.factor[l]) * RISK_CHUNK +
            j;
        s->spot[l] = w->spot[at];
        s->variance[l] = w->variance[at];
    }
    s->sum = m->sum[j];
    s->logs = m->logs[j];
}

static const struct risk_factor *model(const struct risk_reval *r, int leg)
{
    return &r->sub.market.assets[r->position.factor[leg]].model;
}

/* Variance a year of a factor's logarithm, about. */
static double yearly(const struct risk_factor *f)
{
    if (f->model == RISK_HESTON)
        return fmax(f->variance, f->theta);
    double v = f->volatility * f->volatility;
    if (f->model == RISK_MERTON)
        v += f->jump_rate * (f->jump_mean * f->jump_mean +
                             f->jump_volatility * f->jump_volatility);
    return v;
}

static int moves_in_variance(const struct risk_factor *f)
{
    return f->model == RISK_HESTON && f->xi > 0;
}

/* ---- functions ---- */

static void variables(const struct risk_reval *r, const struct risk_state *s,
                      double *x)
{
    const struct risk_position *p = &r->position;
    const struct risk_fit *f = &r->fit;
    int n = 0;
    for (int l = 0; l < p->n_legs; l++, n++)
        x[n] = exact_log(s->spot[l] / model(r, l)->spot) * f->scale[n];
    for (int l = 0; l < p->n_legs; l++)
        if (moves_in_variance(model(r, l))) {
            x[n] = (s->variance[l] - model(r, l)->variance) * f->scale[n];
            n++;
        }
    if (n == f->n_variables)
        return;
    double memory;
    if (p->type == RISK_TYPE_ASIAN_GEOMETRIC)
        memory = s->logs / (double)f->fixed - exact_log(s->spot[0]);
    else if (p->type == RISK_TYPE_ASIAN_ARITHMETIC)
        memory = s->sum / (double)f->fixed / s->spot[0] - 1;
    else
        memory = exact_log(s->sum / s->spot[0]);
    x[n] = memory * f->scale[n];
}

/* Discounted growth of a leg from the horizon to maturity. */
static double carry(const struct risk_reval *r, int leg)
{
    const struct risk_asset *a = &r->sub.market.assets[r->position.factor[leg]];
    const double T = r->position.maturity, h = r->horizon;
    return risk_growth(a, h, T);
}

/* Mean variance a year of a leg from the horizon on, given the state. */
static double variance_ahead(const struct risk_reval *r,
                             const struct risk_state *s, int leg)
{
    const struct risk_factor *f = model(r, leg);
    if (f->model != RISK_HESTON)
        return yearly(f);
    const double years = f->kappa * (r->position.maturity - r->horizon),
                 weight = years > 1e-8 ? (1 - exact_exp(-years)) / years : 1;
    return f->theta + (fmax(s->variance[leg], 0) - f->theta) * weight;
}

/* What the payoff is taken on, as if it were lognormal. */
struct alike {
    double forward, variance, strike;
};

/* What is left of an average, its dates spread evenly. */
static void average(const struct risk_reval *r, const struct risk_state *s,
                    struct alike *a)
{
    const struct risk_position *p = &r->position;
    const double n = (double)p->fixings, fixed = (double)r->fit.fixed;
    double known = s->sum;
    if (p->type == RISK_TYPE_ASIAN_GEOMETRIC)
        known = fixed > 0 ? fixed * exact_exp(s->logs / fixed) : 0;
    a->strike = (p->strike - known / n) * n / (n - fixed);
    a->forward = s->spot[0] * exact_exp(0.5 * carry(r, 0));
    a->variance /= 3;
}

/* The greatest or least leg alone. */
static void one_of(const double *f, const double *v, int n, int greatest,
                   struct alike *a)
{
    for (int l = 1; l < n; l++)
        if ((f[l] > a->forward) == greatest) {
            a->forward = f[l];
            a->variance = v[l];
        }
}

/* A sum, by its first two moments (Levy 1992). */
static void sum_of(const struct risk_reval *r, const double *f, const double *v,
                   struct alike *a)
{
    const struct risk_position *p = &r->position;
    const struct risk_market *m = &r->sub.market;
    double second = 0;
    for (int l = 1; l < p->n_legs; l++)
        a->forward += f[l];
    for (int l = 0; l < p->n_legs; l++)
        for (int k = 0; k < p->n_legs; k++)
            second +=
                f[l] * f[k] *
                exact_exp(m->correlation[p->factor[l] * m->n + p->factor[k]] *
                          sqrt(v[l] * v[k]));
    const double ratio = second / (a->forward * a->forward);
    a->variance = ratio > 1 ? exact_log(ratio) : 0;
}

static void find_alike(const struct risk_reval *r, const struct risk_state *s,
                       struct alike *a)
{
    const struct risk_position *p = &r->position;
    const int n = p->n_legs, type = (int)p->underlying,
              two = type == RISK_TYPE_SPREAD || type == RISK_TYPE_EXCHANGE;
    double f[RISK_LEGS_MAX], v[RISK_LEGS_MAX];
    for (int l = 0; l < n; l++) {
        f[l] = (n > 1 && !two ? p->weight[l] : 1) * s->spot[l] *
               exact_exp(carry(r, l));
        v[l] = variance_ahead(r, s, l) * (p->maturity - r->horizon);
    }
    *a = (struct alike){f[0], v[0], p->strike};
    if (type == RISK_TYPE_ASIAN_ARITHMETIC || type == RISK_TYPE_ASIAN_GEOMETRIC)
        average(r, s, a);
    else if (two) {
        a->strike = f[1] + (type == RISK_TYPE_SPREAD ? p->strike : 0);
        a->variance = v[0] + v[1];
    } else if (type == RISK_TYPE_BEST_OF || type == RISK_TYPE_WORST_OF)
        one_of(f, v, n, type == RISK_TYPE_BEST_OF, a);
    else if (n > 1)
        sum_of(r, f, v, a);
}

/* The price of something alike, in units of the strike or the spot. */
static double price_alike(const struct risk_reval *r, const struct alike *a)
{
    const struct risk_position *p = &r->position;
    const double unit = p->strike > 0 ? p->strike : model(r, 0)->spot;
    if (!(a->strike > 0))
        return fmax(p->side * (a->forward - a->strike), 0) / unit;
    if (!(a->forward > 0))
        return fmax(p->side * (a->forward - a->strike), 0) / unit;
    if (p->type == RISK_TYPE_DIGITAL)
        return analytic_chance(a->forward, a->strike, a->variance, p->side);
    return analytic_black(a->forward, a->strike, a->variance, p->side) / unit;
}

/* Prices of something alike; the same number of them for every state. */
static int prices(const struct risk_reval *r, const struct risk_state *s,
                  const double *x, double *out)
{
    const struct risk_position *p = &r->position;
    struct alike a;
    double barrier = 0;
    find_alike(r, s, &a);
    out[0] = price_alike(r, &a);
    out[1] = out[0] * x[0];
    if (p->type != RISK_TYPE_BARRIER)
        return 2;
    /* The other side of the barrier has no price of this kind. */
    const int within =
        p->barrier_up ? s->spot[0] < p->barrier : s->spot[0] > p->barrier;
    if (within && p->strike > 0 && a.variance > 1e-12)
        barrier = analytic_barrier(s->spot[0], p->strike, p->barrier,
                                   p->barrier_up, !p->barrier_in, carry(r, 0),
                                   1, a.variance, p->side) /
                  p->strike;
    out[2] = barrier;
    return 3;
}

int risk_functions(const struct risk_reval *r, const struct risk_state *s,
                   double *out)
{
    const struct risk_fit *f = &r->fit;
    double x[RISK_VARIABLES_MAX];
    variables(r, s, x);
    for (int k = 0; k < f->n_monomials; k++) {
        double y = 1;
        for (int d = 0; d < f->n_variables; d++)
            for (int q = f->power[k][d]; q > 0; q--)
                y *= x[d];
        out[k] = y;
    }
    return f->n_monomials + prices(r, s, x, out + f->n_monomials);
}

/* All monomials up to a degree, or with many variables their own squares. */
static void list_monomials(struct risk_fit *f)
{
    static const int degrees[] = {0, 6, 4, 3, 3, 2, 2, 2, 2, 2};
    const int n = f->n_variables, most = n <= 9 ? degrees[n] : 2;
    unsigned char p[RISK_VARIABLES_MAX] = {0};
    int d = 0, total = 0;
    while (d < n) {
        int used = 0;
        for (int i = 0; i < n; i++)
            used += p[i] > 0;
        if (n <= 9 || used <= 1)
            memcpy(f->power[f->n_monomials++], p, sizeof p);
        for (d = 0; d < n; d++) {
            if (total < most) {
                p[d]++;
                total++;
                break;
            }
            total -= p[d];
            p[d] = 0;
        }
    }
}

void risk_fit_make(struct risk_reval *r)
{
    const struct risk_position *p = &r->position;
    struct risk_fit *f = &r->fit;
    int n = 0;
    *f = (struct risk_fit){0};
    for (int l = 0; l < p->n_legs; l++)
        f->scale[n++] = 1 / sqrt(fmax(yearly(model(r, l)), 1e-6) *
                                 RISK_STRETCH * r->horizon);
    for (int l = 0; l < p->n_legs; l++)
        if (moves_in_variance(model(r, l))) {
            const struct risk_factor *m = model(r, l);
            f->scale[n++] =
                1 /
                (m->xi * sqrt(fmax(m->variance, m->theta) *
                              fmin(RISK_STRETCH * r->horizon, 0.5 / m->kappa)));
        }
    if (risk_remembers(p, r->horizon)) {
        f->fixed =
            p->fixings > 0 ? risk_horizon_dates(p, r->horizon, NULL, 0) : 0;
        f->scale[n++] = f->scale[0];
    }
    f->n_variables = n;
    list_monomials(f);
    f->n = f->n_monomials + (p->type == RISK_TYPE_BARRIER ? 3 : 2);
}

/* ---- controls ---- */

static double twin(const struct risk_reval *r, double spot)
{
    return exact_positive(r->position.side * (spot - r->position.strike));
}

static int has_twin(const struct risk_reval *r)
{
    return r->position.n_legs == 1 && model(r, 0)->model == RISK_GBM &&
           r->position.strike > 0;
}

int risk_n_controls(const struct risk_reval *r)
{
    return 2 + (r->position.n_legs - 1) + 2 * has_twin(r);
}

void risk_controls(const struct risk_reval *r, const struct risk_state *s,
                   const double *end, double *out)
{
    const struct risk_position *p = &r->position;
    int n = 0;
    for (int l = 0; l < p->n_legs; l++)
        out[n++] =
            (end[l] * exact_exp(-carry(r, l)) - s->spot[l]) / model(r, l)->spot;
    const double x =
        exact_log(s->spot[0] / model(r, 0)->spot) * r->fit.scale[0];
    out[n++] = out[0] * x;
    if (!has_twin(r))
        return;
    out[n] =
        (twin(r, end[0]) -
         analytic_black(s->spot[0] * exact_exp(carry(r, 0)), p->strike,
                        variance_ahead(r, s, 0) * (p->maturity - r->horizon),
                        p->side)) /
        p->strike;
    out[n + 1] = out[n] * x;
}
