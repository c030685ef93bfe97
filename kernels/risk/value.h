/* value.h: what a position is worth at a later date, on many paths at once, in
 * closed form. */
#ifndef WARPDECK_KERNELS_RISK_VALUE_H
#define WARPDECK_KERNELS_RISK_VALUE_H

#include <stddef.h>

enum risk_value_kind {
    RISK_VALUE_CASH,     /* cash, discounted; no spot */
    RISK_VALUE_SPOT,     /* the factor itself */
    RISK_VALUE_FORWARD,  /* S - K at the end */
    RISK_VALUE_EUROPEAN, /* and what is lognormal like it */
    RISK_VALUE_DIGITAL,
    RISK_VALUE_EXCHANGE /* max(S_0 - S_1, 0) */
};

/* A position seen from that date: carry: integral of rate - dividend from
 * there to maturity, of each leg; variance: of the logarithm of what is paid
 * on; jumps: Merton's, expected number until maturity (0: none). */
struct risk_valuation {
    enum risk_value_kind kind;
    int leg[2];
    double side, strike, cash;
    double carry[2], discount, variance;
    double jumps, jump_mean, jump_volatility;
};

/* The value of one unit on n paths (a multiple of 8): spot[leg * stride +
 * path], out[n], both aligned to 64 bytes. The same bits on every machine. */
void risk_value_paths(const struct risk_valuation *v, const double *spot,
                      size_t stride, size_t n, double *out);

#endif
