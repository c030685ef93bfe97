/* risk_var.h: value at risk and expected shortfall: what is asked for, and what
 * came out. Losses are positive. */
#ifndef WARPDECK_SOLVERS_RISK_RISK_VAR_H
#define WARPDECK_SOLVERS_RISK_RISK_VAR_H

#include <stdint.h>

#include "kernels/risk/value.h"
#include "solvers/risk/risk.h"

struct risk_var_level {
    double level;
    double var, low, high; /* +-INFINITY: too few paths for that end */
    struct risk_number shortfall;
};

/* A position's part of one level. The parts of VaR and of the shortfall add up
 * to the portfolio's. */
struct risk_var_part {
    struct risk_number var, shortfall;
    double incremental; /* VaR less that without the position */
};

struct risk_var {
    double horizon, confidence;
    int64_t paths;
    int normal; /* normal returns in place of the models' */
    int n_levels;
    struct risk_var_level *levels;
    int64_t paths_done;
    int done;
    struct risk_var_part *parts; /* [n_levels][n_positions] */
};

/* Whether all positions can be revalued at the horizon; fine without VaR.
 * Errors: as risk_value_make(). */
int risk_var_check(struct ctx *ctx, const struct risk *risk);
/* Simulate and fill in levels and parts. Collective. Errors: STATUS_MEMORY,
 * STATUS_UNSUPPORTED or STATUS_DECK where a position cannot be revalued,
 * STATUS_PHYSICS with the path of a loss that is not finite. */
int risk_var_run(struct ctx *ctx, struct risk *risk);
void risk_var_free(struct risk *risk);

/* risk_value.c: one unit of a position as it is seen at time t, in closed form.
 * Errors: STATUS_UNSUPPORTED where there is none, STATUS_DECK where it has
 * matured before. */
int risk_value_make(struct ctx *ctx, const struct risk *risk, int32_t position,
                    double t, struct risk_valuation *v);

#endif
