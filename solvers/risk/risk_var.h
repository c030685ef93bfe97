/* risk_var.h: value at risk and expected shortfall: what is asked for, and what
 * came out. Losses are positive. */
#ifndef WARPDECK_SOLVERS_RISK_RISK_VAR_H
#define WARPDECK_SOLVERS_RISK_RISK_VAR_H

#include <stdint.h>

#include "kernels/risk/value.h"
#include "solvers/risk/risk.h"

struct risk_var_level {
    double level;
    double var, low, high;      /* +-INFINITY: too few paths for that end */
    double near_low, near_high; /* losses between which VaR's parts are seen */
    struct risk_number shortfall;
};

/* A position's part of one level. The parts of VaR and of the shortfall add up
 * to the portfolio's. */
struct risk_var_part {
    struct risk_number var, shortfall;
    double incremental; /* VaR less that without the position */
};

enum risk_revaluation {
    RISK_REVALUE_AUTO, /* in closed form where there is one, else regressed */
    RISK_REVALUE_CLOSED,
    RISK_REVALUE_REGRESSED, /* also where there is a closed form, */
    RISK_REVALUE_NESTED     /* but for what is linear or known */
};

/* How a position was valued at the horizon; error: of its value there, root
 * mean square over states; 0: exact. */
struct risk_var_method {
    const char *name;
    double error;
};

/* Profits of the portfolio by equal bins between the 0.0005 and 0.9995
 * quantiles; the first and the last bin reach to the least and the greatest. */
enum { RISK_PROFIT_BINS = 202 };
struct risk_profits {
    double edges[RISK_PROFIT_BINS + 1];
    int64_t count[RISK_PROFIT_BINS];
};

struct risk_var {
    double horizon, confidence;
    int64_t paths;
    enum risk_revaluation revaluation;
    int64_t regression_paths, inner_paths;
    struct risk_var_method *methods; /* [n_positions] */
    int normal; /* normal returns in place of the models' */
    int n_levels;
    struct risk_var_level *levels;
    int64_t paths_done;
    int done;
    struct risk_var_part *parts; /* [n_levels][n_positions] */
    struct risk_profits profits;
};

/* Simulate and fill in levels and parts. Collective. Errors: STATUS_MEMORY,
 * STATUS_UNSUPPORTED where a position cannot be revalued, STATUS_PHYSICS with
 * the path of a loss that is not finite. */
int risk_var_run(struct ctx *ctx, struct risk *risk);
void risk_var_free(struct risk *risk);
/* Ranks low and high, from 1, of n losses whose interval holds the quantile
 * with at least this chance; 0 or n + 1 where n is too small for an end. */
void risk_interval_ranks(int64_t n, double level, double chance, int64_t *low,
                         int64_t *high);

/* Bytes of a rank, about, for the losses. */
double risk_var_bytes(const struct risk *risk, int ranks);

/* ---- risk_losses.c ---- */

/* Room for the losses of a group of positions, on a rank. */
#define RISK_LOSSES_BYTES ((size_t)96 << 20)

struct risk_losses_work;

/* This rank's losses: of all positions together [room], and each one's of
 * those in [from, to), [to - from][room]. */
struct risk_losses {
    int64_t first, end; /* chunks */
    int64_t chunks;     /* of all ranks */
    size_t n, room;     /* positions, paths here */
    size_t group;       /* positions whose losses are kept together */
    size_t from, to;
    double *of, *all;
    double *scratch;               /* [room] */
    int64_t *digits;               /* for risk_select() */
    struct risk_losses_work *work; /* what the next group needs */
};
/* All losses together, and each one's of the first group. Errors: as
 * risk_var_run()'s. Collective. The caller frees, also after an error. */
int risk_losses_make(struct ctx *ctx, struct risk *risk, struct risk_losses *l);
/* Those of the next group; *more = 0: there was none. Collective. */
int risk_losses_next(struct ctx *ctx, const struct risk *risk,
                     struct risk_losses *l, int *more);
void risk_losses_free(struct risk_losses *l);
/* Positions of a group, where a rank has `room` paths. */
size_t risk_losses_group(size_t positions, size_t room);

/* Whether a position has a closed form, seen from t. */
int risk_value_exists(const struct risk *risk, int32_t position, double t);
/* risk_value.c: one unit of a position as it is seen at time t, in closed form.
 * Errors: STATUS_UNSUPPORTED where there is none. */
int risk_value_make(struct ctx *ctx, const struct risk *risk, int32_t position,
                    double t, struct risk_valuation *v);

#endif
