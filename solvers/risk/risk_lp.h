/* risk_lp.h: the weights of least conditional value at risk for a wanted mean
 * return, a linear programme (Rockafellar and Uryasev 2000).
 */
#ifndef WARPDECK_SOLVERS_RISK_RISK_LP_H
#define WARPDECK_SOLVERS_RISK_RISK_LP_H

#include <stddef.h>
#include <stdint.h>

struct ctx;
struct risk_lp;

/* What is to be solved. */
struct risk_lp_problem {
    int n;             /* assets */
    int64_t scenarios; /* equally likely ones */
    const double
        *returns;       /* [n][scenarios], of one period, 0.01: one percent */
    const double *mean; /* [n]: mean returns */
    const double *lower, *upper; /* [n]: bounds of the weights, finite */
    double level;                /* of the conditional value at risk */
};

/* The version of GLPK; NULL: built without it. */
const char *risk_lp_version(void);

/* The problem in the library's memory; the arrays are copied. The caller frees
 * *out. Errors: STATUS_MEMORY; STATUS_UNSUPPORTED without a library. Not
 * collective. */
int risk_lp_make(struct ctx *ctx, const struct risk_lp_problem *p,
                 struct risk_lp **out);
void risk_lp_free(struct risk_lp *lp);

/* Weights that add up to 1, within their bounds, of the least conditional value
 * at risk among those of a mean return of at least `target` (NAN: any). *cvar:
 * that value, a loss for each unit invested. Faster after a call with another
 * target. Errors: STATUS_PHYSICS where the library finds no optimum. */
int risk_lp_solve(struct ctx *ctx, struct risk_lp *lp, double target,
                  double *weights, double *cvar);

#endif
