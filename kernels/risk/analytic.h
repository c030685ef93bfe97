/* analytic.h: prices in closed form under geometric Brownian motion, for
 * revaluation on paths, for control variates, and for tests.
 *
 * Formulas over exact_real, so that they run on the lanes of a block of paths
 * and on a plain number alike. Rates enter as integrals over the remaining
 * life: carry = integral of rate - dividend, discount = exp(-integral of rate),
 * variance = volatility^2 times time. A variance of 0 gives the intrinsic
 * value.
 */
#ifndef WARPDECK_KERNELS_RISK_ANALYTIC_H
#define WARPDECK_KERNELS_RISK_ANALYTIC_H

#include "kernels/risk/exact.h"

/* Undiscounted max(side (S - strike), 0) for a lognormal S of mean `forward`
 * and deviation of its logarithm sqrt(variance): Black (1976). strike > 0. */
EXACT_FN exact_real analytic_black(exact_real forward, exact_real strike,
                                   exact_real variance, double side)
{
    exact_real s = exact_set(side);
    exact_mask some = exact_less(exact_set(1e-300), variance);
    exact_real dev = exact_sqrt(exact_select(some, variance, exact_set(1)));
    exact_real d1 = exact_log(forward / strike) / dev + exact_set(0.5) * dev;
    exact_real d2 = d1 - dev;
    exact_real v = s * (forward * exact_normal_cdf(s * d1) -
                        strike * exact_normal_cdf(s * d2));
    exact_real intrinsic = exact_positive(s * (forward - strike));
    return exact_select(some, exact_positive(v), intrinsic);
}

/* Undiscounted chance that side (S - strike) > 0. */
EXACT_FN exact_real analytic_chance(exact_real forward, exact_real strike,
                                    exact_real variance, double side)
{
    exact_real s = exact_set(side);
    exact_mask some = exact_less(exact_set(1e-300), variance);
    exact_real dev = exact_sqrt(exact_select(some, variance, exact_set(1)));
    exact_real d2 = exact_log(forward / strike) / dev - exact_set(0.5) * dev;
    exact_real over =
        exact_select(exact_less(exact_set(0), s * (forward - strike)),
                     exact_set(1), exact_set(0));
    return exact_select(some, exact_normal_cdf(s * d2), over);
}

/* Exchange of asset 2 for asset 1, undiscounted: max(S1 - S2, 0), with the
 * variance of log(S1 / S2): Margrabe (1978). */
EXACT_FN exact_real analytic_exchange(exact_real forward1, exact_real forward2,
                                      exact_real variance)
{
    return analytic_black(forward1, forward2, variance, 1);
}

/* The pieces A to F of Reiner and Rubinstein (1991), as Haug (2007), section
 * 4.17, numbers them; phi = side, eta = +1 for a barrier below, -1 above. */
struct analytic_pieces {
    exact_real a, b, c, d;
};

EXACT_FN struct analytic_pieces
analytic_barrier_pieces(exact_real spot, double strike, double barrier,
                        double carry, double discount, double variance,
                        double side, double eta)
{
    const double dev = __builtin_sqrt(variance), mu = carry / variance - 0.5;
    const exact_real phi = exact_set(side), e = exact_set(eta),
                     h = exact_set(barrier), k = exact_set(strike),
                     w = exact_set(1 / dev), shift = exact_set((1 + mu) * dev),
                     deviation = exact_set(dev);
    const exact_real grow = exact_exp(exact_set(carry)),
                     df = exact_set(discount);
    exact_real ratio = exact_log(h / spot);
    exact_real x1 = exact_log(spot / k) * w + shift;
    exact_real x2 = exact_negate(ratio) * w + shift;
    exact_real y1 = (ratio + ratio + exact_log(spot / k)) * w + shift;
    exact_real y2 = ratio * w + shift;
    exact_real p1 = exact_exp(exact_set(2 * (mu + 1)) * ratio),
               p0 = exact_exp(exact_set(2 * mu) * ratio);
    exact_real s = spot * grow * df, x = k * df;
    struct analytic_pieces o;
    o.a = phi * (s * exact_normal_cdf(phi * x1) -
                 x * exact_normal_cdf(phi * (x1 - deviation)));
    o.b = phi * (s * exact_normal_cdf(phi * x2) -
                 x * exact_normal_cdf(phi * (x2 - deviation)));
    o.c = phi * (s * p1 * exact_normal_cdf(e * y1) -
                 x * p0 * exact_normal_cdf(e * (y1 - deviation)));
    o.d = phi * (s * p1 * exact_normal_cdf(e * y2) -
                 x * p0 * exact_normal_cdf(e * (y2 - deviation)));
    return o;
}

/* A barrier option watched continuously that is alive, discounted; the rebate
 * (paid at expiry) excluded. out = 1: knock-out. */
EXACT_FN exact_real analytic_barrier(exact_real spot, double strike,
                                     double barrier, int up, int out,
                                     double carry, double discount,
                                     double variance, double side)
{
    struct analytic_pieces p =
        analytic_barrier_pieces(spot, strike, barrier, carry, discount,
                                variance, side, up ? -1.0 : 1.0);
    /* In-options by case; out = vanilla - in. */
    const int above = strike > barrier;
    exact_real in;
    if (side > 0)
        in = up ? (above ? p.a : p.b - p.c + p.d)
                : (above ? p.c : p.a - p.b + p.d);
    else
        in = up ? (above ? p.a - p.b + p.d : p.c)
                : (above ? p.b - p.c + p.d : p.a);
    return exact_positive(out ? p.a - in : in);
}

#endif
