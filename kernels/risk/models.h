/* models.h: one step of each factor's model, and the chances between two dates.
 *
 * Formulas over exact_real: a plain number on a card, a vector on the CPU. x is
 * the logarithm of the spot. Constants of a step are made once a run
 * (risk_tables.c), with the functions of exact.h, so that they are the same
 * bits everywhere.
 */
#ifndef WARPDECK_KERNELS_RISK_MODELS_H
#define WARPDECK_KERNELS_RISK_MODELS_H

#include "kernels/risk/exact.h"
#include "kernels/risk/risk_kernels.h"

/* What one factor needs in one step of length dt. */
struct risk_step {
    double growth;    /* added to x */
    double deviation; /* gbm, merton: volatility sqrt(dt) */
    double variance;  /* gbm, merton: volatility^2 dt, for bridges */
    /* merton: jumps expected; the chance of none; of log jumps */
    double jump_chance, jump_none, jump_mean, jump_volatility;
    /* heston, see risk_heston() */
    double decay, theta, half1, half2, k2, k3, a;
    double dt;
    /* of the twin: added to its logarithm, and what multiplies the normals of
     * the spot and (heston) of the variance */
    double twin_growth, twin_spot, twin_variance;
};

/* Geometric Brownian motion: exact. */
EXACT_FN exact_real risk_gbm(const struct risk_step *s, exact_real x,
                             exact_real z)
{
    return exact_fma(exact_set(s->deviation), z, x + exact_set(s->growth));
}

/* The sum of the jumps of a step: their number by inversion of the Poisson
 * distribution at u, their sum normal (Merton 1976). */
EXACT_FN exact_real risk_jumps(const struct risk_step *s, exact_real u,
                               exact_real z)
{
    exact_real n = exact_set(0), p = exact_set(s->jump_none), sum = p;
    for (int k = 1; k <= 64; k++) {
        exact_mask more = exact_less(sum, u);
        if (!exact_any(more))
            break;
        n = exact_select(more, exact_set(k), n);
        p = p * exact_set(s->jump_chance / k);
        sum = sum + p;
    }
    return exact_fma(n, exact_set(s->jump_mean),
                     exact_sqrt(n) * exact_set(s->jump_volatility) * z);
}

/* -log E for the quadratic branch of risk_heston(): log(1 - y) / 2 less ac / (1
 * - y), with ad = y / 2. A step of length dt has |y| of about rho xi dt / 2:
 * below 1/32 series do, in place of a logarithm and a quotient. */
EXACT_FN exact_real risk_heston_log_mean(exact_real ad, exact_real ac)
{
    const double c[10] = {1,      1 / 2., 1 / 3., 1 / 4., 1 / 5.,
                          1 / 6., 1 / 7., 1 / 8., 1 / 9., 1 / 10.};
    const exact_real one = exact_set(1), y = ad + ad, y2 = y * y, y4 = y2 * y2;
    EXACT_POLYNOMIAL(series, c, 10, y); /* -log(1 - y) / y */
    exact_real r = (one + y) * (one + y2);
    r = exact_fma(r, y4, r);
    r = exact_fma(r, y4 * y4, r); /* 1 / (1 - y) */
    exact_real k = exact_fma(series, ad, ac * r);
    exact_mask wide = exact_less(exact_set(0x1p-5), exact_abs(y));
    if (exact_any(wide)) {
        exact_real e = exact_max(one - y, exact_set(1e-8));
        k = exact_select(wide, exact_fma(exact_set(-0.5), exact_log(e), ac / e),
                         k);
    }
    return exact_negate(k);
}

/* Heston's variance and log-spot, Andersen (2008), sections 3.2 and 4.3: z
 * drives the spot beside the variance, (zv, u) the variance. *v: old in, new
 * out. The exponential branch is computed only where a lane needs it.
 *
 * Andersen's quadratic v1 = scale (b + zv)^2 of mean m and variance s2 is c +
 * d zv^2 + 2 sqrt(c d) zv with c = sqrt(m^2 - s2 / 2), d = m - c, for b^2 = c /
 * d and scale = d: no quotient is left. E[exp(a v1)] = exp(a c / (1 - 2 a d)) /
 * sqrt(1 - 2 a d). The discounted spot is a martingale with its logarithm and
 * k3 v0 / 2 taken off. */
EXACT_FN exact_real risk_heston(const struct risk_step *s, exact_real x,
                                exact_real *v, exact_real z, exact_real zv,
                                exact_real u)
{
    const exact_real one = exact_set(1);
    exact_real v0 = *v;
    exact_real m = exact_fma(v0 - exact_set(s->theta), exact_set(s->decay),
                             exact_set(s->theta));
    exact_real half =
        exact_fma(v0, exact_set(s->half1), exact_set(s->half2)); /* s2 / 2 */
    exact_real m2 = m * m, a = exact_set(s->a);
    exact_real c = exact_sqrt(exact_positive(m2 - half)), d = m - c;
    exact_real r = exact_sqrt(exact_positive(c * d));
    exact_real v1 = exact_positive(exact_fma(zv, exact_fma(d, zv, r + r), c));
    exact_real k0 = risk_heston_log_mean(a * d, a * c);
    exact_mask far = exact_less(exact_set(0.75) * m2, half); /* psi > 1.5 */
    if (exact_any(far)) {
        /* 0 with the chance p = (s2 - m^2) / (s2 + m^2), else exponential with
         * rate 2 m / (s2 + m^2) */
        exact_real s2 = half + half, sp = s2 + m2, sm = s2 - m2, mm = m + m;
        exact_real left = m * mm; /* 1 - p, times sp */
        exact_real w = exact_log(left / (sp * (one - u))) * (sp / mm);
        w = exact_select(exact_less(sm, u * sp), w, exact_set(0));
        exact_real rate = mm - a * sp,
                   mean = (sm * rate + left * mm) / (sp * rate);
        mean = exact_select(exact_less(exact_set(0), rate), mean, one);
        v1 = exact_select(far, w, v1);
        k0 = exact_select(far, exact_negate(exact_log(mean)), k0);
    }
    x = x + exact_set(s->growth) + k0;
    x = exact_fma(exact_set(-0.5 * s->k3), v0, x);
    x = exact_fma(exact_set(s->k2), v1, x);
    *v = v1;
    return exact_fma(exact_sqrt(exact_set(s->k3) * (v0 + v1)), z, x);
}

/* The logarithm y of a factor's twin after the step, of the same numbers; v:
 * Heston's variance before the step. Where the variance is drawn by u alone,
 * u's normal drives the twin: given the past it is a normal number either way.
 */
EXACT_FN exact_real risk_twin_step(const struct risk_step *s,
                                   enum risk_model model, exact_real y,
                                   exact_real v, exact_real z, exact_real zv,
                                   exact_real u)
{
    y = exact_fma(exact_set(s->twin_spot), z, y + exact_set(s->twin_growth));
    if (model != RISK_HESTON)
        return y;
    exact_real m = exact_fma(v - exact_set(s->theta), exact_set(s->decay),
                             exact_set(s->theta));
    exact_real half = exact_fma(v, exact_set(s->half1), exact_set(s->half2));
    exact_mask far = exact_less(exact_set(0.75) * (m * m), half);
    if (exact_any(far))
        zv = exact_select(far, exact_normal_quantile(u), zv);
    return exact_fma(exact_set(s->twin_variance), zv, y);
}

/* The chance that a Brownian bridge from x0 to x1 with the given variance does
 * not cross h, on the side up = 1 above, 0 below; 0 where an end is beyond.
 * exp(-2 (h - x0)(h - x1) / variance): e.g. Glasserman (2004), eq. 6.50. */
EXACT_FN exact_real risk_bridge_survival(exact_real x0, exact_real x1,
                                         exact_real variance, double h, int up)
{
    exact_real d0 = exact_set(h) - x0, d1 = exact_set(h) - x1;
    if (!up) {
        d0 = exact_negate(d0);
        d1 = exact_negate(d1);
    }
    exact_mask in0 = exact_less(exact_set(0), d0),
               in1 = exact_less(exact_set(0), d1);
    exact_real q = exact_exp(exact_set(-2) * d0 * d1 / variance);
    exact_real s = exact_set(1) - q;
    s = exact_select(in1, s, exact_set(0));
    return exact_select(in0, s, exact_set(0));
}

/* The greatest (up = 1) or least value of such a bridge, by inversion at u:
 * Glasserman (2004), eq. 6.51. */
EXACT_FN exact_real risk_bridge_extreme(exact_real x0, exact_real x1,
                                        exact_real variance, exact_real u,
                                        int up)
{
    exact_real d = x1 - x0;
    exact_real r =
        exact_sqrt(exact_fma(d, d, exact_set(-2) * variance * exact_log(u)));
    if (!up)
        r = exact_negate(r);
    return exact_set(0.5) * (x0 + x1 + r);
}

#endif
