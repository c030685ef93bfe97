/* risk.h: what the parts of the risk solver share.
 *
 * The walk: deck and CSV files -> market and positions (risk_params.c,
 * risk_portfolio.c, risk_market.c) -> a plan of dates and events
 * (risk_plan.c) -> chunks of paths, batch by batch, one batch a step
 * (risk_price.c) -> numbers with errors (risk_greeks.c, risk_var.c,
 * risk_exposure.c, risk_frontier.c) -> tables (risk_results.c).
 *
 * Times are years from today, real numbers. Rates are continuously compounded.
 * Values are in the currency of the spots. P&L is value tomorrow minus value
 * today; losses, VaR and expected shortfall are positive where money is lost.
 */
#ifndef WARPDECK_SOLVERS_RISK_RISK_H
#define WARPDECK_SOLVERS_RISK_RISK_H

#include <stddef.h>
#include <stdint.h>

#include "kernels/risk/risk_kernels.h"
#include "solvers/risk/risk_dates.h"

struct csv;
struct ctx;
struct estimate;
struct params;
struct param_table;
struct result_table;
struct solver_bench;
struct solver_totals;
struct state_io;

enum { RISK_NAME_MAX = 64 };

/* Chunks whose sums are joined together, whatever the number of ranks: the
 * order of all additions is fixed by it. */
enum { RISK_BATCH = 64 };

/* ---- market ---- */

/* A rate that is constant between knots: rates[i] holds up to times[i], the
 * last one for ever. */
struct risk_curve {
    int n;
    double *times, *rates;
};

/* The integral of the rate from 0 to t. */
double risk_curve_integral(const struct risk_curve *c, double t);
/* A curve of n rates and the n - 1 times between them (copied); one block of
 * memory at c->times is the caller's to free. Errors: STATUS_MEMORY. */
int risk_curve_make(struct ctx *ctx, const double *rates, size_t n,
                    const double *times, struct risk_curve *c);

struct risk_asset {
    char name[RISK_NAME_MAX];
    struct risk_factor model;
    struct risk_curve rate, dividend;
    double
        drift; /* expected growth in the real world, for VaR; NAN: the rate */
};

/* The integral of rate less dividend between two times: the expected growth
 * under which prices are means. */
double risk_growth(const struct risk_asset *a, double from, double to);
/* The same in the real world, for losses: by the asset's drift where it has
 * one. */
double risk_real_growth(const struct risk_asset *a, double from, double to);

struct risk_market {
    int n;
    struct risk_asset *assets;
    double *correlation;    /* [n][n] of the spots' Brownian drivers */
    double *root;           /* lower triangle, row-major; NULL: independent */
    char repair[16];        /* "none", "spectral", "higham" */
    double repair_distance; /* Frobenius norm of what was changed */
    double indefinite;      /* the smallest eigenvalue, where it is refused */
    struct risk_date today; /* year 0: maturities are numbers alone */
    enum risk_day_count day_count;
    double steps_per_year; /* finest wanted by any model; 0: none */
};

/* Check the correlation (or repair it, as m->repair says) and make its root.
 * With Heston's model the matrix that must be semi-definite is that of the
 * drivers beside the variances. One that is not, and is not to be repaired, has
 * no root: m->indefinite < 0. Errors: STATUS_MEMORY. */
int risk_market_root(struct ctx *ctx, struct risk_market *m);
int risk_market_has_heston(const struct risk_market *m);

/* ---- portfolio ---- */

enum risk_type {
    RISK_TYPE_FORWARD,
    RISK_TYPE_EUROPEAN,
    RISK_TYPE_DIGITAL,
    RISK_TYPE_ASIAN_ARITHMETIC,
    RISK_TYPE_ASIAN_GEOMETRIC,
    RISK_TYPE_BARRIER,
    RISK_TYPE_LOOKBACK_FIXED,
    RISK_TYPE_LOOKBACK_FLOATING,
    RISK_TYPE_BASKET,
    RISK_TYPE_SPREAD,
    RISK_TYPE_EXCHANGE,
    RISK_TYPE_BEST_OF,
    RISK_TYPE_WORST_OF,
    RISK_TYPE_BERMUDAN, /* exercise_dates equal dates */
    RISK_TYPE_AMERICAN, /* the same with more dates */
    RISK_TYPE_STOCK,    /* the factor itself; no maturity */
    RISK_TYPES
};

/* One line of the portfolio, checked. */
struct risk_position {
    char id[RISK_NAME_MAX];
    char where[160]; /* "book.csv:3" or "deck.toml:41", for messages */
    enum risk_type type;
    int n_legs;
    int factor[RISK_LEGS_MAX]; /* index into the market's assets */
    double weight[RISK_LEGS_MAX];
    double side; /* +1 call, -1 put */
    double quantity, strike, maturity, cash;
    double barrier, rebate;
    int barrier_up, barrier_in;
    int continuous;    /* barrier and lookback: watched all the time */
    int64_t fixings;   /* dates of an average, a barrier, a lookback */
    int64_t exercises; /* dates of early exercise */
    /* The type itself, but of early exercise on several factors:
     * RISK_TYPE_BASKET, _BEST_OF or _WORST_OF. */
    enum risk_type underlying;
    char netting[RISK_NAME_MAX]; /* netting set; "": none is named */
    int knocked; /* the spot is beyond the barrier at the start */
};

struct risk_portfolio {
    int32_t n;
    struct risk_position *positions;
    /* Ids by their hash (open addressing): 1 + the position's number, 0: none.
     * A power of two of slots, at most half of them taken. */
    size_t n_slots;
    int32_t *slots;
};

/* ---- the run ---- */

enum risk_engine {
    RISK_ENGINE_PRICE = 1,
    RISK_ENGINE_GREEKS = 2,
    RISK_ENGINE_VAR = 4,
    RISK_ENGINE_EXPOSURE = 8,
    RISK_ENGINE_PORTFOLIO = 16
};

/* A number and its standard error. */
struct risk_number {
    double value, error;
};

/* Of one position (or the whole portfolio), of one unit times quantity. */
struct risk_price {
    struct risk_number value;
    const char *method;   /* "Monte Carlo", "control: geometric Asian", ... */
    double control_share; /* of the variance that the control took; 0: none */
};

/* A file that the run was made from, and a hash of its bytes (risk_files.c). */
enum { RISK_FILES_MAX = 8 };
struct risk_file {
    char name[256];
    uint64_t hash;
};

/* Tables for the driver, and what they point to (risk_results.c). */
struct risk_tables;

struct risk {
    uint64_t seed;
    int n_files; /* CSV files that the deck names */
    struct risk_file files[RISK_FILES_MAX];
    int engines;            /* enum risk_engine, or-ed */
    int64_t paths, batches; /* batches: in place of paths; 0: not given */
    int antithetic, control, sobol, replicates;
    double target_error; /* 0: none */
    struct risk_market market;
    struct risk_portfolio portfolio;
    struct risk_var *var;             /* risk_var.c; NULL: not asked for */
    struct risk_exposure *exposure;   /* risk_exposure.c */
    struct risk_greeks *greeks;       /* risk_greeks.c */
    struct risk_frontier *frontier;   /* risk_frontier.c */
    struct risk_scenarios *scenarios; /* risk_scenarios.c */

    const struct risk_kernels *k;
    struct risk_store *store;
    struct risk_plan plan;    /* owned by risk_plan.c's arrays below */
    const double *more_dates; /* of the plan, beside the positions' own */
    int n_more_dates;
    void *plan_memory;
    double *continuation; /* the plan's, filled by risk_exercise_fit() */

    /* Running sums, joined over chunks: [n_positions + 1] */
    struct risk_sums *sums;
    struct risk_scenario_sums *scenario_sums;
    /* Sobol: the same of the unfinished replicate; when it is complete, its
     * means become one sample of the sums above. */
    struct risk_sums *part;
    struct risk_scenario_sums *part_scenarios;
    int64_t chunks_done, chunks_total;
    int64_t step, first_step;    /* batches done; where this run began */
    int phase_paths, phase_join; /* of ctx->timers */
    double seconds;              /* that the last batch took */
    /* What the regressions for early exercise took here: path-steps that this
     * rank made, and seconds. */
    double fit_steps, fit_seconds;
    struct risk_tables *tables;
    struct risk_price *prices; /* [n_positions + 1]; the last: all together */
};

/* ---- risk_portfolio.c ---- */

/* The columns of a portfolio file, and the keys of [[risk.instrument]]. */
enum risk_field {
    RISK_FIELD_ID,
    RISK_FIELD_TYPE,
    RISK_FIELD_FACTOR,
    RISK_FIELD_SIDE,
    RISK_FIELD_QUANTITY,
    RISK_FIELD_STRIKE,
    RISK_FIELD_MATURITY,
    RISK_FIELD_BARRIER,
    RISK_FIELD_KIND,
    RISK_FIELD_REBATE,
    RISK_FIELD_MONITORING,
    RISK_FIELD_FIXINGS,
    RISK_FIELD_CASH,
    RISK_FIELD_WEIGHTS,
    RISK_FIELD_EXERCISES,
    RISK_FIELD_NETTING,
    RISK_FIELD_MATURITY_DATE,
    RISK_FIELDS
};
extern const char *const risk_field_names[RISK_FIELDS + 1];

/* One position as it was written: what is given, in numbers where it is one.
 * Complaints go to where it was written. */
struct risk_entry {
    char where[160]; /* for messages about others of the same id */
    int given[RISK_FIELDS];
    double number[RISK_FIELDS];
    const char *text[RISK_FIELDS]; /* id, type, side, kind, monitoring */
    int n_factors, n_weights;
    const char *factor[RISK_LEGS_MAX];
    double weight[RISK_LEGS_MAX];
    void (*complain)(void *user, enum risk_field field, const char *text);
    void *user;
    int failed; /* something was complained about */
};

/* Check an entry and add it to the portfolio; what is wrong is complained about
 * and leaves entry->failed set. Errors: STATUS_MEMORY. */
int risk_portfolio_add(struct ctx *ctx, const struct risk_market *m,
                       struct risk_portfolio *portfolio,
                       struct risk_entry *entry);
/* risk_ids.c: where an id stands among the hashed ones (1 + its number), or the
 * empty slot (0) that it would take; NULL: there are no slots yet. */
int32_t *risk_portfolio_find(const struct risk_portfolio *all, const char *id);
/* Room for one position more, and a slot. Errors: STATUS_MEMORY. */
int risk_portfolio_grow(struct ctx *ctx, struct risk_portfolio *all);
/* All rows of a portfolio file. Errors: STATUS_DECK with all that is wrong.
 * Collective. */
int risk_portfolio_read(struct ctx *ctx, struct risk *risk, const char *folder,
                        const char *name);
const char *risk_type_name(enum risk_type type);

/* ---- risk_params.c, risk_table.c ---- */

extern const struct param_table risk_param_table;
int risk_read_params(struct ctx *ctx, struct params *p, struct risk *risk);
/* The correlation matrix of a file: names of factors as headings and in the
 * first column. */
int risk_correlation_read(struct ctx *ctx, struct risk *risk,
                          const char *folder, const char *name);

/* ---- risk_results.c, risk_bench.c ---- */

int risk_results(struct ctx *ctx, void *state,
                 const struct result_table **tables, int *n);
void risk_results_free(struct risk *risk);
extern const struct solver_bench risk_bench;

/* ---- risk_files.c ---- */

/* A file was read for this run. */
void risk_file_note(struct risk *risk, const char *name, uint64_t hash);
/* The files' hashes in a checkpoint, and whether they are still the same.
 * Collective. Errors: STATUS_INPUT with the name of the first that is not. */
int risk_files_save(struct ctx *ctx, const struct risk *risk,
                    struct state_io *io);
int risk_files_check(struct ctx *ctx, const struct risk *risk,
                     struct state_io *io);

/* ---- risk_plan.c ---- */

/* The plan of the pricing run: dates, events, controls with their means. The
 * arrays live until risk_plan_free(). Errors: STATUS_MEMORY. */
int risk_plan_make(struct ctx *ctx, struct risk *risk);
void risk_plan_free(struct risk *risk);
/* Whether a position needs no path: stock, at maturity already, knocked out.
 * Its value then is risk_known_value(). */
int risk_position_is_known(const struct risk_position *p);
double risk_known_value(const struct risk_market *m,
                        const struct risk_position *p);
/* Date i of n equal ones up to maturity; the last is maturity itself. */
double risk_equal_date(double maturity, int64_t i, int64_t n);

/* ---- risk_control.c ---- */

/* The control of a position's payoff and its mean, into q; none where the deck
 * asks for none. */
void risk_choose_control(const struct risk *risk, const struct risk_position *p,
                         struct risk_instrument *q);

/* ---- risk_price.c ---- */

/* Room for the sums, and how many chunks there will be, of a plan that is made.
 */
int risk_price_prepare(struct ctx *ctx, struct risk *risk);
/* The store, on risk->k. */
int risk_price_begin(struct ctx *ctx, struct risk *risk);
/* Chunks of a batch, the same on any number of ranks. */
int64_t risk_batch_chunks(const struct risk *risk);
/* Run the next batch of chunks. Collective. */
int risk_price_batch(struct ctx *ctx, struct risk *risk);
/* Samples so far: paths, or pairs of them. */
double risk_samples_done(const struct risk *risk);
/* Mean and standard error from a sum and a sum of squares of n samples. */
struct risk_number risk_mean(double sum, double squares, double n);
/* Fill in value, method and control_share of prices[n_positions + 1]. */
void risk_price_numbers(struct risk *risk);

/* What exercising a position today brings (risk_known.c). */
double risk_exercise_now(const struct risk_market *m,
                         const struct risk_position *p);

/* ---- risk_exercise.c ---- */

/* Fill in the plan's continuation values, by a regression for each instrument
 * with RISK_EXERCISE events; before the store of the prices is made.
 * Collective. Errors: STATUS_MEMORY. */
int risk_exercise_fit(struct ctx *ctx, struct risk *risk);
/* Coefficients of n functions from the sums of a regression (risk_kernels.h),
 * of any rank; without a path in the money, those of a value that is never
 * reached. Errors: STATUS_MEMORY. */
int risk_regression_solve(struct ctx *ctx, int n, const double *sums,
                          double *coefficients);

/* ---- risk_greeks.c ---- */

/* A sensitivity of one unit of a position, or of the whole portfolio
 * (position = portfolio.n). */
struct risk_greek {
    int32_t position;
    int factor;       /* -1: of all factors together */
    const char *name; /* delta, gamma, vega, rho, dividend_rho, theta */
    const char *method;
    struct risk_number unit;
};
/* Scenarios for the plan; after risk_plan_make(), before risk_price_prepare().
 * Errors: STATUS_MEMORY. */
int risk_greeks_make(struct ctx *ctx, struct risk *risk);
void risk_greeks_free(struct risk *risk);
/* All of them from the sums so far; the rows belong to risk->greeks. Per unit
 * of spot, of volatility, of rate, and per year. */
const struct risk_greek *risk_greeks_numbers(struct risk *risk, int64_t *n);

#endif
