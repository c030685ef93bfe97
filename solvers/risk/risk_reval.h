/* risk_reval.h: what a position is worth at the horizon of VaR, on each path.
 *
 * In closed form where there is one; else by regression of what paths bring
 * after the horizon on functions of the state at it (risk_regress.c), or by a
 * simulation from each state (risk_nested.c). What was paid before the horizon
 * stands with interest. The state: spots, Heston's variances, and what the
 * position remembers of the path (risk_horizon.c).
 */
#ifndef WARPDECK_SOLVERS_RISK_RISK_REVAL_H
#define WARPDECK_SOLVERS_RISK_RISK_REVAL_H

#include <stdint.h>

#include "kernels/risk/value.h"
#include "solvers/risk/risk.h"

enum risk_reval_kind {
    RISK_REVAL_CLOSED,
    RISK_REVAL_PAID, /* matures up to the horizon: the path tells all */
    RISK_REVAL_REGRESSED,
    RISK_REVAL_NESTED
};

/* Times nearer than this are one date (risk_plan.c's). */
#define RISK_SAME_DATE 3e-14

/* How much longer the steps to the horizon are in a regression. */
#define RISK_STRETCH 4.0

enum {
    RISK_VARIABLES_MAX = 2 * RISK_LEGS_MAX + 1,
    RISK_FIT_MAX = 96 /* functions and controls of a regression */
};

/* Functions of the state that values are made of: monomials of the variables,
 * and prices in closed form of something alike. */
struct risk_fit {
    int n_variables, n_monomials, n; /* n: with the prices */
    unsigned char power[RISK_FIT_MAX][RISK_VARIABLES_MAX];
    double scale[RISK_VARIABLES_MAX];
    int64_t fixed; /* dates of an average up to the horizon */
    double coefficients[RISK_FIT_MAX];
};

/* A position, and how it is valued. */
struct risk_reval {
    enum risk_reval_kind kind;
    struct risk_position position;
    struct risk_valuation closed;
    double horizon, discount; /* to the horizon */
    double later;             /* discount from the horizon to maturity */
    struct risk_number today; /* price, where nothing is paid before the
                               * horizon; error 0: not known */
    double error;    /* standard error of a unit's value, root mean square */
    struct risk sub; /* of this position alone, the horizon a date */
    int32_t at;      /* its step that ends at the horizon */
    int32_t last;    /* and at maturity */
    double *lengths; /* of its steps, those to the horizon longer */
    struct risk_event *events; /* that matter for who is alive there */
    int64_t n_events;
    struct risk_fit fit;
    struct risk_reval *knocked; /* a knock-in that is in */
};

/* Paths up to the horizon, one chunk: the ends of some steps. */
struct risk_watch {
    int32_t n;
    const int32_t *steps;  /* [n], rising; the last ends at the horizon */
    const double *dates;   /* [n] */
    const double *lengths; /* of the step that ends there */
    int n_factors;
    const struct risk_factor *factors;
    uint64_t seed, path; /* of the first path */
    double *spot;        /* [n][n_factors][RISK_CHUNK] */
    double *variance;    /* the same */
};

/* A position's memory of a chunk's paths: as the kernels' acc (sum or extreme,
 * sum of logarithms, alive 1 or not 0), and what was paid, at the horizon. */
struct risk_memory {
    double sum[RISK_CHUNK], logs[RISK_CHUNK], alive[RISK_CHUNK],
        paid[RISK_CHUNK];
};

/* ---- risk_walks.c ---- */

/* Paths of all factors: n_steps steps that end at dates[], of lengths[]. */
struct risk_walks {
    const struct risk_kernels *k;
    int32_t n_steps;
    const double *dates, *lengths; /* [n_steps] */
    int real; /* grow as in the real world; else as prices' means do */
};
/* A store of them, w->k's to destroy. Errors: STATUS_MEMORY. */
int risk_walks_store(struct ctx *ctx, const struct risk *risk,
                     const struct risk_walks *w, struct risk_store **out);
/* Room for h->n states, the caller's to free. Errors: STATUS_MEMORY. */
int risk_watch_room(struct ctx *ctx, struct risk_watch *h);

/* ---- risk_horizon.c ---- */

/* Whether a position remembers more of the path than whether it is alive. */
int risk_remembers(const struct risk_position *p, double horizon);
/* Dates up to the horizon at which the position looks, of equal ones, as
 * times: at most `room` are written. Returns how many. */
int64_t risk_horizon_dates(const struct risk_position *p, double horizon,
                           double *dates, int64_t room);
void risk_remember(const struct risk_reval *r, const struct risk_watch *w,
                   struct risk_memory *m);

/* ---- risk_revalue.c ---- */

/* Whether all positions can be valued at the horizon as the deck asks; fine
 * without VaR. Errors: STATUS_UNSUPPORTED. */
int risk_reval_check(struct ctx *ctx, const struct risk *risk);
/* How `position` is valued at `horizon`, and all that can be made ready before
 * paths. Errors: STATUS_UNSUPPORTED, STATUS_MEMORY. The caller frees, also
 * after an error. */
int risk_reval_make(struct ctx *ctx, const struct risk *risk, int32_t position,
                    struct risk_reval *r);
void risk_reval_free(struct risk_reval *r);
/* Regressions, after risk_reval_make() of all. Collective. */
int risk_reval_fit(struct ctx *ctx, const struct risk *risk,
                   struct risk_reval *r);
/* Values of one unit on a chunk's paths. m: room. */
int risk_reval_values(struct ctx *ctx, const struct risk *risk,
                      const struct risk_reval *r, const struct risk_watch *w,
                      struct risk_memory *m, double *value);
const char *risk_reval_method(const struct risk_reval *r);

/* ---- risk_basis.c ---- */

/* The state of one path. */
struct risk_state {
    double spot[RISK_LEGS_MAX], variance[RISK_LEGS_MAX]; /* by leg */
    double sum, logs;
};
/* Of path j at the end of the watched step i. */
void risk_state_load(const struct risk_reval *r, const struct risk_watch *w,
                     int32_t i, const struct risk_memory *m, int32_t j,
                     struct risk_state *s);
/* Choose r->fit's functions. */
void risk_fit_make(struct risk_reval *r);
/* All of them; returns how many. */
int risk_functions(const struct risk_reval *r, const struct risk_state *s,
                   double *out);
/* Numbers of mean 0 given the state; end: spots of the legs at maturity. */
int risk_n_controls(const struct risk_reval *r);
void risk_controls(const struct risk_reval *r, const struct risk_state *s,
                   const double *end, double *out);

/* ---- risk_regress.c, risk_nested.c ---- */

int risk_regress_fit(struct ctx *ctx, const struct risk *risk,
                     struct risk_reval *r);
void risk_regress_values(const struct risk_reval *r, const struct risk_watch *w,
                         const struct risk_memory *m, double *value);
int risk_nested_values(struct ctx *ctx, const struct risk *risk,
                       const struct risk_reval *r, const struct risk_watch *w,
                       const struct risk_memory *m, double *value);

#endif
