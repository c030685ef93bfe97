/* risk_known.c: what needs no path. */
#include <math.h>

#include "solvers/risk/risk.h"

int risk_position_is_known(const struct risk_position *p)
{
    return p->type == RISK_TYPE_STOCK || p->maturity <= 0 ||
           (p->type == RISK_TYPE_BARRIER && p->knocked && !p->barrier_in);
}

/* What an option on `s` pays where it is exercised now. */
static double intrinsic(const struct risk_position *p, double s)
{
    return fmax(p->side * (s - p->strike), 0);
}

/* The number that a payoff on several spots depends on. */
static double combined(const struct risk_market *m,
                       const struct risk_position *p)
{
    double s = 0;
    for (int l = 0; l < p->n_legs; l++) {
        double v = p->weight[l] * m->assets[p->factor[l]].model.spot;
        if (l == 0)
            s = v;
        else if (p->underlying == RISK_TYPE_BEST_OF)
            s = fmax(s, v);
        else if (p->underlying == RISK_TYPE_WORST_OF)
            s = fmin(s, v);
        else
            s += v;
    }
    return s;
}

/* Of a barrier option at maturity, or one that is out already. */
static double known_barrier(const struct risk_asset *a,
                            const struct risk_position *p)
{
    int alive = p->knocked == p->barrier_in;
    double pay = alive ? intrinsic(p, a->model.spot) : p->rebate;
    return pay * exp(-risk_curve_integral(&a->rate, p->maturity));
}

double risk_exercise_now(const struct risk_market *m,
                         const struct risk_position *p)
{
    return intrinsic(p, combined(m, p));
}

double risk_known_value(const struct risk_market *m,
                        const struct risk_position *p)
{
    const struct risk_asset *a = &m->assets[p->factor[0]];
    const double spot = a->model.spot;
    switch (p->type) {
    case RISK_TYPE_STOCK:
        return spot;
    case RISK_TYPE_FORWARD:
        return spot - p->strike;
    case RISK_TYPE_DIGITAL:
        return p->side * (spot - p->strike) > 0 ? p->cash : 0;
    case RISK_TYPE_BARRIER:
        return known_barrier(a, p);
    case RISK_TYPE_LOOKBACK_FLOATING:
        return 0;
    case RISK_TYPE_BASKET:
    case RISK_TYPE_SPREAD:
    case RISK_TYPE_EXCHANGE:
    case RISK_TYPE_BEST_OF:
    case RISK_TYPE_WORST_OF:
        return intrinsic(p, combined(m, p));
    case RISK_TYPE_BERMUDAN:
    case RISK_TYPE_AMERICAN:
        return intrinsic(p, combined(m, p));
    default:
        return intrinsic(p, spot);
    }
}
