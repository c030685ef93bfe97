/* risk_select.h: quantiles of numbers that lie on several ranks. */
#ifndef WARPDECK_SOLVERS_RISK_RISK_SELECT_H
#define WARPDECK_SOLVERS_RISK_RISK_SELECT_H

#include <stddef.h>
#include <stdint.h>

struct ctx;

/* Bits that are looked at together, and their values. */
enum { RISK_DIGIT = 16, RISK_DIGITS = 1 << RISK_DIGIT };

/* The rank-th smallest (from 1) of all ranks' numbers x[n], which are put out
 * of order; NaN is not a number to be had here. count: room for RISK_DIGITS.
 * Collective. Errors: STATUS_MPI. */
int risk_select(struct ctx *ctx, double *x, size_t n, int64_t rank,
                int64_t *count, double *out);

#endif
