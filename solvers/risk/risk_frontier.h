/* risk_frontier.h: portfolios of least conditional value at risk for a return:
 * what is asked for, and what came out. Weights are parts of the money
 * invested; CVaR and VaR are losses of one unit of money, positive where money
 * is lost.
 */
#ifndef WARPDECK_SOLVERS_RISK_RISK_FRONTIER_H
#define WARPDECK_SOLVERS_RISK_RISK_FRONTIER_H

#include <stdint.h>

#include "solvers/risk/risk.h"

/* Scenarios of the linear programme: its memory and time grow with them. */
#define RISK_FRONTIER_SCENARIOS_MAX 65536

/* in_sample: on the scenarios that chose the weights; the others on paths that
 * did not. */
struct risk_frontier_point {
    double return_in_sample, cvar_in_sample;
    struct risk_number mean, cvar;
    double var;
};

struct risk_frontier {
    double level, horizon;
    int n_points;
    int64_t scenarios, paths;
    int of_positions;      /* assets: the positions in place of the factors */
    int normal;            /* normal returns in place of the models' */
    int keep;              /* scenarios for the file */
    int n;                 /* assets */
    const char **names;    /* [n], of factors or positions */
    double *lower, *upper; /* [n] */
    int n_done;            /* points; fewer where returns are equal */
    struct risk_frontier_point *points; /* [n_points] */
    double *weights;                    /* [n_assets][n_points] */
    double *kept;   /* [n_assets][scenarios]; NULL: not kept */
    double seconds; /* that the linear programmes took */
};

/* [risk.frontier], after positions are read. Complaints go to p. Errors:
 * STATUS_MEMORY, STATUS_UNSUPPORTED where a position has no closed form. */
int risk_frontier_read(struct ctx *ctx, struct params *p, struct risk *risk);
/* Choose weights and value them. Collective. Errors: STATUS_MEMORY,
 * STATUS_PHYSICS, STATUS_UNSUPPORTED where a position has no closed form. */
int risk_frontier_run(struct ctx *ctx, struct risk *risk);
void risk_frontier_free(struct risk *risk);
/* Bytes of a rank, about: those of rank 0, which solves. */
double risk_frontier_bytes(const struct risk *risk, int ranks);
/* Its tables below /risk, and its rows on the terminal. */
void risk_frontier_tables(const struct risk *risk, struct risk_tables *t);
void risk_frontier_print(struct ctx *ctx, const struct risk *risk);

#endif
