/* risk_control.c: which control of known mean stands beside a payoff, and that
 * mean.
 *
 * Under geometric Brownian motion: the geometric average for an arithmetic one,
 * else the spot. Under Heston's and Merton's models the spot has a twin, a
 * geometric Brownian motion of the mean variance that the same normals drive
 * (kernels/risk/models.h), and the control is what the twin pays, in closed
 * form, with delta (S - S_twin), delta that of the twin's price: where the
 * option is all but exercised, it is S that matters, where the spot jumps or
 * the variance is not the mean one, S - S_twin tells. The spot itself (an
 * arithmetic average: that average) stands beside it as a second control, where
 * the variance strays so far from its mean that the twin is of little use.
 */
#include <math.h>

#include "kernels/risk/analytic.h"
#include "solvers/risk/risk.h"

/* A lognormal number: the twin's spot at maturity, or a geometric average. */
struct lognormal {
    double mean, variance; /* of the number; of its logarithm */
};

static double discount(const struct risk_asset *a, double t)
{
    return exp(-risk_curve_integral(&a->rate, t));
}

/* The geometric average over the dates that there are (Kemna and Vorst 1990),
 * of a twin whose variance need not grow evenly. */
static struct lognormal geometric_average(const struct risk_asset *a,
                                          const struct risk_position *p)
{
    const double n = (double)p->fixings;
    double mean = log(a->model.spot), variance = 0;
    for (int64_t i = 1; i <= p->fixings; i++) {
        double t = risk_equal_date(p->maturity, i, p->fixings),
               v = risk_mean_variance(&a->model, t);
        mean += (risk_growth(a, 0, t) - 0.5 * v) / n;
        /* t_i is the smaller one of the pairs (i, j), j > i, twice, and (i, i)
         */
        variance += v * (2 * (n - (double)i) + 1);
    }
    variance /= n * n;
    return (struct lognormal){exp(mean + 0.5 * variance), variance};
}

static double arithmetic_mean(const struct risk_asset *a,
                              const struct risk_position *p)
{
    double sum = 0;
    for (int64_t i = 1; i <= p->fixings; i++)
        sum +=
            exp(risk_growth(a, 0, risk_equal_date(p->maturity, i, p->fixings)));
    return a->model.spot * sum / (double)p->fixings;
}

/* What the twin pays in the mean, and by how much more for a mean that is
 * higher by one. */
static double twin_price(const struct risk_position *p,
                         const struct lognormal *s, double *delta)
{
    const double root = sqrt(s->variance),
                 d1 = log(s->mean / p->strike) / root + 0.5 * root,
                 d2 = d1 - root;
    if (p->type == RISK_TYPE_DIGITAL) {
        *delta = p->side * p->cash * exp(-0.5 * d2 * d2) /
                 (sqrt(2 * M_PI) * root * s->mean);
        return p->cash *
               analytic_chance(s->mean, p->strike, s->variance, p->side);
    }
    *delta = p->side * exact_normal_cdf(p->side * d1);
    return analytic_black(s->mean, p->strike, s->variance, p->side);
}

/* The twin's payoff is a function of its spot, or of its average. */
static int has_twin(const struct risk_position *p)
{
    switch (p->type) {
    case RISK_TYPE_EUROPEAN:
    case RISK_TYPE_DIGITAL:
    case RISK_TYPE_BARRIER:
    case RISK_TYPE_LOOKBACK_FIXED:
    case RISK_TYPE_ASIAN_ARITHMETIC:
    case RISK_TYPE_ASIAN_GEOMETRIC:
        return p->strike > 0;
    default:
        return 0;
    }
}

/* Whether the twin moves at all. */
static int use_twin(const struct risk_asset *a, const struct risk_position *p,
                    struct risk_instrument *q)
{
    const int average = p->type == RISK_TYPE_ASIAN_ARITHMETIC ||
                        p->type == RISK_TYPE_ASIAN_GEOMETRIC;
    const double paid = discount(a, p->maturity);
    struct lognormal s = {a->model.spot * exp(risk_growth(a, 0, p->maturity)),
                          risk_mean_variance(&a->model, p->maturity)};
    if (average)
        s = geometric_average(a, p);
    if (!(s.variance > 1e-12))
        return 0;
    q->control = average ? RISK_TWIN_GEOMETRIC : RISK_TWIN;
    q->control_mean = twin_price(p, &s, &q->control_delta);
    q->second_mean = a->model.spot * exp(risk_growth(a, 0, p->maturity)) * paid;
    if (p->type == RISK_TYPE_ASIAN_ARITHMETIC) {
        q->second_mean = arithmetic_mean(a, p) * paid;
        q->control_mean += q->control_delta * (arithmetic_mean(a, p) - s.mean);
    }
    q->control_mean *= paid;
    return 1;
}

void risk_choose_control(const struct risk *risk, const struct risk_position *p,
                         struct risk_instrument *q)
{
    const struct risk_asset *a = &risk->market.assets[p->factor[0]];
    const int gbm = a->model.model == RISK_GBM;
    if (!risk->control || p->type == RISK_TYPE_BERMUDAN ||
        p->type == RISK_TYPE_AMERICAN)
        return;
    if (!gbm && has_twin(p) && p->maturity > 0 && use_twin(a, p, q))
        return;
    if (p->type == RISK_TYPE_ASIAN_ARITHMETIC && gbm && p->strike > 0) {
        q->control = RISK_GEOMETRIC;
        const struct lognormal g = geometric_average(a, p);
        q->control_mean =
            discount(a, p->maturity) *
            analytic_black(g.mean, p->strike, g.variance, p->side);
        return;
    }
    q->control = RISK_UNDERLYING;
    q->control_mean =
        a->model.spot * exp(-risk_curve_integral(&a->dividend, p->maturity));
}
