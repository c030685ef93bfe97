/* risk_exposure.h: exposure to counterparties by date, and what their default
 * (and one's own) costs: what is asked for, and what came out.
 *
 * V: value of a netting set, of all its positions together. EPE = E max(V, 0)
 * is what the counterparty owes, ENE = E max(-V, 0) what is owed to it, PFE a
 * quantile of max(V, 0); all under the pricing measure.
 */
#ifndef WARPDECK_SOLVERS_RISK_RISK_EXPOSURE_H
#define WARPDECK_SOLVERS_RISK_RISK_EXPOSURE_H

#include <stdint.h>

#include "solvers/risk/risk.h"

struct param_table;
struct risk_reval;
struct risk_var;

enum { RISK_EXPOSURE_LEVELS_MAX = 8 };

/* Positions that are netted when their counterparty defaults. */
struct risk_netting {
    char name[RISK_NAME_MAX];
    struct risk_curve hazard; /* defaults a year, of the counterparty */
    double recovery;
};

/* Of one set (or the sum of all) at one date, not discounted. */
struct risk_exposure_date {
    struct risk_number epe, ene, value;
    double revaluation; /* error of V, root mean square, at most */
};

struct risk_exposure_cost {
    struct risk_number cva, dva;
};

struct risk_exposure {
    int n_dates, n_levels, n_sets;
    double *dates, *levels;
    struct risk_netting *sets; /* [n_sets] */
    int n_declared;            /* sets of the deck, in front */
    struct risk_netting usual; /* where a set has nothing of its own */
    struct risk_curve own_hazard;
    double own_recovery;
    int discounting; /* the factor whose rate discounts exposures */
    int discounting_given;
    int64_t paths, regression_paths;
    int32_t *set_of; /* [n_positions] */

    int64_t paths_done;
    int done;
    struct risk_exposure_date *at;   /* [n_sets + 1][n_dates]; the last: all */
    struct risk_number *pfe;         /* [n_sets + 1][n_dates][n_levels] */
    struct risk_exposure_cost *cost; /* [n_sets + 1] */
    /* How a position was valued at a date, and with which error of a unit. */
    const char **methods; /* [n_positions][n_dates] */
    double *errors;       /* the same */
};

/* ---- risk_exposure_params.c ---- */

/* [risk.exposure] and [[risk.netting]]. Errors: STATUS_MEMORY; what is wrong
 * in the deck goes to p. */
int risk_exposure_read(struct ctx *ctx, struct params *p, struct risk *risk);
/* The set of each position; after all positions were read. Errors: STATUS_DECK
 * for a set that is not declared, STATUS_MEMORY. */
int risk_exposure_assign(struct ctx *ctx, struct risk *risk);

/* ---- risk_exposure.c ---- */

/* Simulate and fill in what came out. Collective. Errors: STATUS_MEMORY,
 * STATUS_UNSUPPORTED where a position cannot be revalued, STATUS_PHYSICS with
 * path and date of a value that is not finite. */
int risk_exposure_run(struct ctx *ctx, struct risk *risk);
void risk_exposure_free(struct risk *risk);
/* Bytes of a rank, about. */
double risk_exposure_bytes(const struct risk *risk, int ranks);
/* To today, of date d; and the chance that a default falls between the date
 * before d and d. */
double risk_exposure_discount(const struct risk *risk, int d);
double risk_exposure_default(const struct risk_exposure *e,
                             const struct risk_curve *hazard, int d);

/* ---- risk_exposure_paths.c ---- */

/* How positions are valued on a chunk of paths, at all dates. */
struct risk_exposure_paths;
/* Errors: as risk_exposure_run()'s. Collective. The caller frees, also after
 * an error. */
int risk_exposure_paths_make(struct ctx *ctx, struct risk *risk,
                             struct risk_exposure_paths **out);
void risk_exposure_paths_free(struct risk_exposure_paths *w);
/* Walk a chunk of paths. */
int risk_exposure_paths_walk(struct ctx *ctx, struct risk_exposure_paths *w,
                             int64_t chunk);
/* Values of the sets at date d of the chunk walked: out[n_sets][RISK_CHUNK],
 * with a payment that falls on the date, without those before. */
int risk_exposure_paths_values(struct ctx *ctx, struct risk_exposure_paths *w,
                               int d, double *out);

/* ---- risk_exposure_results.c ---- */

struct risk_tables;
void risk_exposure_tables(struct risk *risk, struct risk_tables *t);
void risk_exposure_print(struct ctx *ctx, const struct risk *risk);

#endif
