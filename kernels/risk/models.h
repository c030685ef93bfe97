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
    double decay, theta, s1, s2, k1, k2, k3, a, a_half;
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

/* Heston's variance and log-spot, Andersen (2008), sections 3.2 and 4.3: z
 * drives the spot beside the variance, (zv, u) the variance. *v: old in, new
 * out. The exponential branch is computed only where a lane needs it. */
EXACT_FN exact_real risk_heston(const struct risk_step *s, exact_real x,
                                exact_real *v, exact_real z, exact_real zv,
                                exact_real u)
{
    const exact_real one = exact_set(1);
    exact_real v0 = *v;
    exact_real m = exact_fma(v0 - exact_set(s->theta), exact_set(s->decay),
                             exact_set(s->theta));
    exact_real s2 = exact_fma(v0, exact_set(s->s1), exact_set(s->s2));
    exact_real m2 = m * m, a = exact_set(s->a);
    /* psi = s2 / m2 <= 1.5: v = scale (b + zv)^2 */
    exact_real ip = (m2 + m2) / s2, t = exact_positive(ip - one);
    exact_real b2 = exact_sqrt(ip * t) + t;
    exact_real b = exact_sqrt(b2) + zv;
    /* scale = m / d. K0 = -log E[exp(A v1)] - (K1 + K3 / 2) v0, so that the
     * discounted spot is a martingale, with E = exp(A b2 scale / c) / sqrt(c),
     * c = 1 - 2 A scale = e / d, log c = 2 artanh((e - d) / (e + d)). One
     * division for all three quotients. */
    exact_real am = a * m, d = one + b2, least = exact_set(1e-8) * d;
    exact_real e = d - (am + am);
    e = exact_select(exact_less(least, e), e, least);
    exact_real h = e + d, he = h * e, r = one / (d * he);
    exact_real one_d = r * he, scale = m * one_d, v1 = scale * (b * b);
    exact_real g = (e - d) * (r * d * e), k0 = g * exact_log_series(g);
    exact_mask wide = exact_less(exact_set(0.17), exact_abs(g));
    if (exact_any(wide))
        k0 = exact_select(wide, exact_set(0.5) * exact_log(e * one_d), k0);
    k0 = k0 - am * b2 * (r * d * h);
    exact_mask far = exact_less(exact_set(1.5) * m2, s2);
    if (exact_any(far)) {
        /* p at 0, else exponential with rate beta */
        exact_real sp = s2 + m2, sm = s2 - m2, p = sm / sp;
        exact_real beta = (m + m) / sp;
        exact_real w = exact_log((one - p) / (one - u)) / beta;
        w = exact_select(exact_less(p, u), w, exact_set(0));
        exact_real mean = p + beta * (one - p) / (beta - a);
        mean = exact_select(exact_less(exact_set(1e-300), mean), mean, one);
        exact_real k = exact_negate(exact_log(mean));
        v1 = exact_select(far, w, v1);
        k0 = exact_select(far, k, k0);
    }
    exact_real k = k0 - exact_set(s->a_half) * v0;
    x = x + exact_set(s->growth) + k;
    x = exact_fma(exact_set(s->k1), v0, x);
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
    exact_real s2 = exact_fma(v, exact_set(s->s1), exact_set(s->s2));
    exact_mask far = exact_less(exact_set(1.5) * m * m, s2);
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
