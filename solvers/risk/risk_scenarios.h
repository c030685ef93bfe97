/* risk_scenarios.h: the portfolio in markets that a file describes: days of
 * history, or named stress. Today's positions, revalued in full, at once: no
 * time passes. */
#ifndef WARPDECK_SOLVERS_RISK_RISK_SCENARIOS_H
#define WARPDECK_SOLVERS_RISK_RISK_SCENARIOS_H

#include <stddef.h>
#include <stdint.h>

struct ctx;
struct params;
struct risk;
struct risk_tables;
struct risk_var_level;

/* A file's scenarios. */
struct risk_scenario_set {
    int64_t n;
    size_t stride; /* n rounded up to whole vectors */
    char **names;  /* [n] */
    double *spot;  /* [n_factors][stride], after the shock */
    double *pnl;   /* [n_positions + 1][stride]: the last of all together */
};

struct risk_scenarios {
    struct risk_scenario_set history, stress;
    double *now;                   /* [n_positions]: values of one unit */
    struct risk_var_level *levels; /* those of risk->var, from history */
};

/* [risk.scenarios] with its files, after positions and [risk.var], and the
 * revaluation. Errors: STATUS_DECK with all that is wrong, STATUS_MEMORY,
 * STATUS_UNSUPPORTED where a position has no closed form. Collective. */
int risk_scenarios_read(struct ctx *ctx, struct params *p, struct risk *risk);
void risk_scenarios_free(struct risk *risk);
/* Its tables below /risk, and its rows on the terminal. */
void risk_scenarios_tables(const struct risk *risk, struct risk_tables *t);
void risk_scenarios_print(struct ctx *ctx, const struct risk *risk);

#endif
