/* risk_tables.h: what every backend makes of a plan once a run: copies of all
 * that it points to, constants of each step and factor, and what is wanted
 * where. Private to kernels/risk.
 */
#ifndef WARPDECK_KERNELS_RISK_RISK_TABLES_H
#define WARPDECK_KERNELS_RISK_RISK_TABLES_H

#include "kernels/risk/models.h"
#include "kernels/risk/risk_kernels.h"
#include "kernels/risk/sobol.h"

/* A market: the plan's own, or a scenario's. */
struct risk_market {
    struct risk_step *steps; /* [n_steps][n_factors] */
    double *log_spot;        /* [n_factors] */
    const struct risk_factor *factors;
    const double *discount;          /* [n_instruments] */
    const double *exercise_discount; /* [n_rows] */
};

struct risk_tables {
    struct risk_plan plan; /* with copies of all that it points to */
    struct risk_market base;
    struct risk_market *scenarios;
    /* events of step k: [event_begin[k], event_begin[k + 1]) */
    int64_t *event_begin;
    unsigned char *wants_spot; /* [n_steps][n_factors] */
    int *extra;                /* [n_factors]: index of a factor's (normal,
                                * uniform) pairs, or -1 */
    int n_extra;
    enum risk_purpose *extra_purpose; /* [n_extra] */
    int *extra_factor;                /* [n_extra] */
    int *bridge; /* [n_factors]: index of bridge uniforms, or -1 */
    int n_bridge;
    int *bridge_factor;
    unsigned char *twin; /* [n_factors]: whether a control wants its twin */
    int any_twin;
    struct risk_sobol sobol; /* empty without plan.sobol */
    int *sobol_extra;        /* [drivers beyond the factors]: index of extra */
};

/* Whether an action wants what happened between two dates. */
static inline int risk_needs_bridge(enum risk_action a)
{
    return a == RISK_KNOCK_BRIDGE || a == RISK_MAXIMUM_BRIDGE ||
           a == RISK_MINIMUM_BRIDGE;
}

/* Whether a control wants the twin of a factor. */
EXACT_FN int risk_wants_twin(const struct risk_instrument *q)
{
    return q->control == RISK_TWIN || q->control == RISK_TWIN_GEOMETRIC;
}

/* Fill in *t, which is all 0, for a plan; 1: out of memory (call
 * risk_tables_free() then, too). */
int risk_tables_make(struct risk_tables *t, const struct risk_plan *plan);
void risk_tables_free(struct risk_tables *t);

#endif
