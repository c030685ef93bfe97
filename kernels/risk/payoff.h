/* payoff.h: what an instrument pays on one path.
 *
 * Formulas over exact_real. `acc` are the instrument's numbers on this path
 * (risk_kernels.h), `spot` the spots of its legs at the payment date.
 */
#ifndef WARPDECK_KERNELS_RISK_PAYOFF_H
#define WARPDECK_KERNELS_RISK_PAYOFF_H

#include "kernels/risk/exact.h"
#include "kernels/risk/risk_kernels.h"

/* max(side (s - strike), 0) */
EXACT_FN exact_real risk_vanilla(exact_real s, double strike, double side)
{
    return exact_positive(exact_set(side) * (s - exact_set(strike)));
}

/* The number that the payoff is a function of, for payoffs on several legs. */
EXACT_FN exact_real risk_combined(const struct risk_instrument *q,
                                  const exact_real *spot)
{
    exact_real s = exact_set(q->weight[0]) * spot[0];
    for (int l = 1; l < q->n_legs; l++) {
        exact_real t = exact_set(q->weight[l]) * spot[l];
        if (q->payoff == RISK_BEST_OF)
            s = exact_max(s, t);
        else if (q->payoff == RISK_WORST_OF)
            s = exact_min(s, t);
        else
            s = s + t;
    }
    return s;
}

/* Not discounted, of one unit. payoff: the instrument's, for callers that know
 * it before the paths; survival: acc[2]. */
EXACT_FN exact_real risk_pay_as(enum risk_payoff payoff,
                                const struct risk_instrument *q,
                                const exact_real *spot, exact_real acc0,
                                exact_real acc1, exact_real survival)
{
    const exact_real one = exact_set(1), s = spot[0];
    const double fixings = (double)(q->n_fixings > 0 ? q->n_fixings : 1);
    switch (payoff) {
    case RISK_FORWARD:
        return s - exact_set(q->strike);
    case RISK_DIGITAL:
        return exact_select(
            exact_less(exact_set(0),
                       exact_set(q->side) * (s - exact_set(q->strike))),
            exact_set(q->cash), exact_set(0));
    case RISK_ASIAN_ARITHMETIC:
        return risk_vanilla(acc0 * exact_set(1 / fixings), q->strike, q->side);
    case RISK_ASIAN_GEOMETRIC:
        return risk_vanilla(exact_exp(acc1 * exact_set(1 / fixings)), q->strike,
                            q->side);
    case RISK_BARRIER_OUT:
        return exact_fma(survival, risk_vanilla(s, q->strike, q->side),
                         (one - survival) * exact_set(q->rebate));
    case RISK_BARRIER_IN:
        return exact_fma(one - survival, risk_vanilla(s, q->strike, q->side),
                         survival * exact_set(q->rebate));
    case RISK_LOOKBACK_FIXED:
        return risk_vanilla(acc0, q->strike, q->side);
    case RISK_LOOKBACK_FLOATING:
        return exact_set(q->side) * (s - acc0);
    case RISK_BASKET:
    case RISK_SPREAD:
    case RISK_EXCHANGE:
    case RISK_BEST_OF:
    case RISK_WORST_OF:
        return risk_vanilla(risk_combined(q, spot), q->strike, q->side);
    default:
        return risk_vanilla(s, q->strike, q->side);
    }
}

EXACT_FN exact_real risk_pay(const struct risk_instrument *q,
                             const exact_real *spot, exact_real acc0,
                             exact_real acc1, exact_real survival)
{
    return risk_pay_as(q->payoff, q, spot, acc0, acc1, survival);
}

/* The twin's payoff at its spot, or of its geometric average. */
EXACT_FN exact_real risk_pay_twin(const struct risk_instrument *q, exact_real s)
{
    if (q->payoff == RISK_DIGITAL)
        return risk_pay(q, &s, s, s, s);
    return risk_vanilla(s, q->strike, q->side);
}

/* The control's payoff on the same path; twin: the logarithm of the spot's
 * twin. */
EXACT_FN exact_real risk_pay_control(const struct risk_instrument *q,
                                     const exact_real *spot, exact_real acc0,
                                     exact_real acc1, exact_real twin)
{
    const double fixings = (double)(q->n_fixings > 0 ? q->n_fixings : 1);
    const exact_real delta = exact_set(q->control_delta);
    exact_real s;
    switch (q->control) {
    case RISK_GEOMETRIC:
        return risk_vanilla(exact_exp(acc1 * exact_set(1 / fixings)), q->strike,
                            q->side);
    case RISK_UNDERLYING:
        return spot[0];
    case RISK_TWIN:
        s = exact_exp(twin);
        return exact_fma(delta, spot[0] - s, risk_pay_twin(q, s));
    case RISK_TWIN_GEOMETRIC:
        if (q->payoff == RISK_ASIAN_GEOMETRIC)
            return risk_pay_twin(q, exact_exp(acc0 * exact_set(1 / fixings)));
        s = exact_exp(acc1 * exact_set(1 / fixings));
        return exact_fma(delta, acc0 * exact_set(1 / fixings) - s,
                         risk_pay_twin(q, s));
    default:
        return exact_set(0);
    }
}

/* The second control, beside a twin. */
EXACT_FN exact_real risk_pay_second(const struct risk_instrument *q,
                                    const exact_real *spot, exact_real acc0)
{
    if (q->payoff == RISK_ASIAN_ARITHMETIC)
        return acc0 *
               exact_set(1 / (double)(q->n_fixings > 0 ? q->n_fixings : 1));
    return spot[0];
}

#endif
