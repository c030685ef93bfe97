/* exercise.h: early exercise: the functions that continuation values are made
 * of.
 *
 * Longstaff and Schwartz (2001): what an option is worth if it is not exercised
 * is a linear combination of functions of the spots, fitted date by date to
 * what paths bring (risk_kernels.regress). On one factor: 1, x, x^2, x^3 of
 * x = S / unit - 1; on several: 1, the payoff and its square and cube, each x,
 * and their products (squares only with more than RISK_CROSS_MAX factors).
 * Heston's variance w = v / unit - 1 adds w, w x, w x^2, w^2, w^2 x on one
 * factor; on several each adds w and (up to RISK_CROSS_MAX factors) w times the
 * payoff.
 *
 * `look` is what a regression keeps of a path at a date: the legs' spots, then
 * those variances.
 */
#ifndef WARPDECK_KERNELS_RISK_EXERCISE_H
#define WARPDECK_KERNELS_RISK_EXERCISE_H

#include "kernels/risk/exact.h"
#include "kernels/risk/payoff.h"
#include "kernels/risk/risk_kernels.h"

enum { RISK_CROSS_MAX = 6 };

EXACT_FN int risk_looks(const struct risk_instrument *q)
{
    return q->n_legs + q->n_variances;
}

EXACT_FN int risk_basis_size(const struct risk_instrument *q)
{
    const int n = q->n_legs;
    if (n == 1)
        return q->n_variances > 0 ? 9 : 4;
    return 4 + n + (n <= RISK_CROSS_MAX ? n * (n + 1) / 2 : n) +
           (n <= RISK_CROSS_MAX ? 2 : 1) * q->n_variances;
}

/* Heston's variance on one factor, beside x and x^2. */
EXACT_FN void risk_variance_basis(const struct risk_instrument *q, exact_real v,
                                  exact_real *out)
{
    out[4] = exact_fma(v, exact_set(q->per_variance[0]), exact_set(-1));
    out[5] = out[4] * out[1];
    out[6] = out[4] * out[2];
    out[7] = out[4] * out[4];
    out[8] = out[7] * out[1];
}

/* h: the payoff at these spots; out[risk_basis_size()]. */
EXACT_FN void risk_basis(const struct risk_instrument *q,
                         const exact_real *look, exact_real h, exact_real *out)
{
    const exact_real one = exact_set(1);
    const int n = q->n_legs;
    out[0] = one;
    if (n == 1) {
        out[1] =
            exact_fma(look[0], exact_set(q->per_unit[0]), exact_negate(one));
        out[2] = out[1] * out[1];
        out[3] = out[2] * out[1];
        if (q->n_variances > 0)
            risk_variance_basis(q, look[1], out);
        return;
    }
    exact_real *x = out + 4;
    int at = 4 + n;
    out[1] = h * exact_set(q->pay_per_unit);
    out[2] = out[1] * out[1];
    out[3] = out[2] * out[1];
    for (int l = 0; l < n; l++)
        x[l] = exact_fma(look[l], exact_set(q->per_unit[l]), exact_negate(one));
    for (int l = 0; l < n; l++) {
        int last = n <= RISK_CROSS_MAX ? 0 : l;
        for (int m = l; m >= last; m--)
            out[at++] = x[l] * x[m];
    }
    for (int v = 0; v < q->n_variances; v++) {
        exact_real w =
            exact_fma(look[q->n_legs + v], exact_set(q->per_variance[v]),
                      exact_negate(one));
        out[at++] = w;
        if (n <= RISK_CROSS_MAX)
            out[at++] = w * out[1];
    }
}

/* The continuation value by these coefficients. */
EXACT_FN exact_real risk_continuation(const struct risk_instrument *q,
                                      const exact_real *look, exact_real h,
                                      const double *coefficient)
{
    exact_real f[RISK_BASIS_MAX], sum = exact_set(coefficient[0]);
    const int n = risk_basis_size(q);
    risk_basis(q, look, h, f);
    for (int j = 1; j < n; j++)
        sum = exact_fma(exact_set(coefficient[j]), f[j], sum);
    return sum;
}

/* What exercising brings: the payoff where it is positive and no less than the
 * continuation value, else 0. */
EXACT_FN exact_real risk_exercised(const struct risk_instrument *q,
                                   const exact_real *look,
                                   const double *coefficient)
{
    const exact_real none = exact_set(0);
    exact_real h = risk_pay(q, look, none, none, exact_set(1));
    exact_real y = exact_positive(h);
    return exact_select(
        exact_less(h, risk_continuation(q, look, h, coefficient)), none, y);
}

#endif
