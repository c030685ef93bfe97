/* value_cpu.c: closed forms over the lanes of a block of paths. */
#include "kernels/risk/value.h"

#include "kernels/risk/risk_cpu.h"

#include "kernels/risk/analytic.h"

static double plain_exp(double x)
{
    double lane[EXACT_LANES] __attribute__((aligned(64)));
    exact_store(lane, exact_exp(exact_set(x)));
    return lane[0];
}

/* Undiscounted, for a lognormal end. */
static exact_real lognormal(const struct risk_valuation *v, exact_real forward,
                            double variance)
{
    const exact_real strike = exact_set(v->strike), var = exact_set(variance);
    if (v->kind == RISK_VALUE_DIGITAL)
        return exact_set(v->cash) *
               analytic_chance(forward, strike, var, v->side);
    return analytic_black(forward, strike, var, v->side);
}

/* Merton (1976): a sum over the number of jumps, until the rest has a chance
 * below 1e-16. */
static exact_real with_jumps(const struct risk_valuation *v, exact_real forward)
{
    const double s2 = v->jump_volatility * v->jump_volatility,
                 log_jump = v->jump_mean + 0.5 * s2,
                 drift = -v->jumps * (plain_exp(log_jump) - 1);
    double chance = plain_exp(-v->jumps), left = 1 - chance;
    exact_real sum = exact_set(0);
    for (int k = 0; k <= 200; k++) {
        exact_real f = forward * exact_set(plain_exp(drift + k * log_jump));
        sum = exact_fma(exact_set(chance),
                        lognormal(v, f, v->variance + k * s2), sum);
        if (k > v->jumps && left < 1e-16)
            break;
        chance *= v->jumps / (k + 1);
        left -= chance;
    }
    return sum;
}

static exact_real value_of(const struct risk_valuation *v, exact_real s0,
                           exact_real s1, double grow0, double grow1)
{
    exact_real f = s0 * exact_set(grow0), u;
    switch (v->kind) {
    case RISK_VALUE_CASH:
        u = exact_set(v->cash);
        break;
    case RISK_VALUE_SPOT:
        return s0;
    case RISK_VALUE_FORWARD:
        u = f - exact_set(v->strike);
        break;
    case RISK_VALUE_EXCHANGE:
        u = analytic_exchange(f, s1 * exact_set(grow1), exact_set(v->variance));
        break;
    default:
        u = v->jumps > 0 ? with_jumps(v, f) : lognormal(v, f, v->variance);
        break;
    }
    return u * exact_set(v->discount);
}

void risk_value_paths(const struct risk_valuation *v, const double *spot,
                      size_t stride, size_t n, double *out)
{
    const double *s0 = spot + (size_t)v->leg[0] * stride,
                 *s1 = spot + (size_t)v->leg[1] * stride;
    const double grow0 = plain_exp(v->carry[0]), grow1 = plain_exp(v->carry[1]);
    for (size_t i = 0; i < n; i += EXACT_LANES)
        exact_store(out + i, value_of(v, exact_load(s0 + i), exact_load(s1 + i),
                                      grow0, grow1));
}
