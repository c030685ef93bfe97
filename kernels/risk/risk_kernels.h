/* risk_kernels.h: what a backend must provide for Monte Carlo valuation.
 *
 * The solver compiles deck, market and portfolio into a plan of plain arrays:
 * factors, a grid of times, and for each time what instruments do there. The
 * backend makes paths and runs the plan over them. Paths come in chunks of
 * RISK_CHUNK; each chunk's sums are the same bits whatever computed them
 * (exact.h), so the solver may deal chunks to ranks and threads as it likes and
 * joins them in a fixed order.
 *
 * Random numbers are Philox words addressed by (seed, path, step, driver,
 * purpose), never by rank or thread:
 *     counter = (path's lower 32 bits, group of steps, purpose << 16 | driver,
 *                path's upper 32 bits), key = seed
 * One call serves four steps of a driver (Box-Muller), or two steps of Heston's
 * variance (two normals, two uniforms). Sobol: dimension = position of (step,
 * driver) in the order of a Brownian bridge, the inverse normal, Owen's
 * scrambling by hashing with the number of the replicate as key (sobol.h);
 * uniforms stay Philox's.
 */
#ifndef WARPDECK_KERNELS_RISK_RISK_KERNELS_H
#define WARPDECK_KERNELS_RISK_RISK_KERNELS_H

#include <stddef.h>
#include <stdint.h>

struct ctx;
struct risk_store;

enum {
    RISK_CHUNK = 4096, /* paths (with antithetic: pairs) whose sums belong
                        * together */
    RISK_BLOCK = 64,   /* paths that walk together, in the cache */
    RISK_FACTORS_MAX = 64,
    RISK_LEGS_MAX = 16,                 /* factors of one basket */
    RISK_LOOKS_MAX = 2 * RISK_LEGS_MAX, /* spots and variances of one */
    RISK_BASIS_MAX = 52 /* functions of a continuation value (exercise.h) */
};

/* Paths for regressions have numbers from here on: none of them is used for
 * a price. */
#define RISK_REGRESSION_PATH ((uint64_t)1 << 40)

enum risk_purpose {
    RISK_SPOT_NORMAL,
    RISK_VARIANCE, /* Heston: two normals and two uniforms a call */
    RISK_JUMP,     /* Merton: a uniform for the count, a normal for the size */
    RISK_BRIDGE,   /* uniforms for extremes between two dates */
    RISK_SCRAMBLE
};

enum risk_model { RISK_GBM, RISK_HESTON, RISK_MERTON };

struct risk_factor {
    enum risk_model model;
    double spot;
    double volatility;                            /* gbm, merton */
    double jump_rate, jump_mean, jump_volatility; /* of log jumps; merton */
    double variance, kappa, theta, xi, rho;       /* heston */
};

/* What an instrument does at a date. acc: its numbers on this path, all 0 at
 * the start (but see RISK_EXTREME). */
enum risk_action {
    RISK_SUM_SPOT, /* acc[0] += S */
    RISK_SUM_LOG,  /* acc[1] += log S */
    RISK_SUM_TWIN, /* acc[1] += log of the spot's twin; geometric Asians acc[0]
                    */
    RISK_MAXIMUM,  /* acc[0] = max(acc[0], S), from the spot at the start */
    RISK_MINIMUM,
    RISK_MAXIMUM_BRIDGE, /* the same of the whole path since the last date */
    RISK_MINIMUM_BRIDGE,
    RISK_KNOCK,        /* survival acc[2] becomes 0 beyond the barrier */
    RISK_KNOCK_BRIDGE, /* survival times the chance not to have crossed */
    RISK_PAY,          /* the discounted payoff */
    RISK_EXERCISE      /* the payoff of now, if nothing was paid before
                        * (survival acc[2]) and it is no less than the
                        * continuation value of the event's row */
};

enum risk_payoff {
    RISK_FORWARD,  /* S - K */
    RISK_EUROPEAN, /* max(w (S - K), 0), w = +1 call, -1 put */
    RISK_DIGITAL,  /* cash if w (S - K) > 0 */
    RISK_ASIAN_ARITHMETIC,
    RISK_ASIAN_GEOMETRIC,
    RISK_BARRIER_OUT, /* european if alive, else rebate at expiry */
    RISK_BARRIER_IN,
    RISK_LOOKBACK_FIXED,    /* max(w (extreme - K), 0) */
    RISK_LOOKBACK_FLOATING, /* w (S - extreme) */
    RISK_BASKET,            /* european on sum weight_i S_i */
    RISK_SPREAD,            /* european on S_0 - S_1 */
    RISK_EXCHANGE,          /* max(S_0 - S_1, 0) */
    RISK_BEST_OF,           /* european on max weight_i S_i */
    RISK_WORST_OF
};

/* A control variate of known mean, on the same path. */
enum risk_control {
    RISK_NO_CONTROL,
    RISK_GEOMETRIC, /* a payoff of the same form */
    RISK_UNDERLYING,
    /* The payoff on the spot's twin, a geometric Brownian motion of the mean
     * variance that the same normals drive, and control_delta times what the
     * spot exceeds its twin by. The spot itself stands beside it as a second
     * control. */
    RISK_TWIN,
    /* The same with averages, the twin's a geometric one; the second control of
     * an arithmetic one is that average. */
    RISK_TWIN_GEOMETRIC
};

/* The variance that a factor's logarithm gathers in the mean from today to t,
 * jumps left out: Heston (1993), from E v(t). */
double risk_mean_variance(const struct risk_factor *f, double t);

struct risk_instrument {
    /* What the plain payoffs of a large portfolio look at stands together. */
    enum risk_payoff payoff;
    int n_legs;
    enum risk_control control;
    int barrier_up;
    double side; /* +1 call, -1 put */
    double quantity;
    double strike, cash, rebate;
    double log_barrier;
    int factor[RISK_LEGS_MAX];
    double weight[RISK_LEGS_MAX];
    int64_t n_fixings;
    double discount; /* to today, at the payment date */
    double control_mean, control_delta;
    double second_mean; /* of the second control */
    /* Early exercise: 1 / what the legs' spots and the payoff are measured
     * in. */
    double per_unit[RISK_LEGS_MAX], pay_per_unit;
    /* Heston's variances that the continuation value depends on: of which
     * factors, and 1 / what they are measured in. */
    int n_variances;
    int variance_factor[RISK_LEGS_MAX];
    double per_variance[RISK_LEGS_MAX];
};

struct risk_event {
    int32_t step; /* at the end of this step, 0-based; events are sorted */
    int32_t instrument;
    enum risk_action action;
    int32_t row; /* RISK_EXERCISE: of plan.continuation */
};

/* A market moved a little, for Greeks with the same random numbers: the factor
 * and discounts that replace those of the plan. */
struct risk_scenario {
    const struct risk_factor *factors; /* [n_factors] */
    const double *drift;               /* as in the plan */
    const double *discount;            /* [n_instruments] */
    const double *exercise_discount;   /* [n_rows]; NULL: those of the plan */
    const double *step_length;         /* [n_steps]; NULL: those of the plan */
};

struct risk_plan {
    uint64_t seed;
    int antithetic;
    int n_factors;
    const struct risk_factor *factors;
    /* Lower triangle of a root of the drivers' correlation, row-major
     * [n_factors][n_factors]; NULL: independent. */
    const double *root;
    int32_t n_steps;
    const double *step_length; /* [n_steps], years */
    const double *drift; /* [n_steps][n_factors]: integral of rate - dividend */
    int32_t n_instruments;
    const struct risk_instrument *instruments;
    int64_t n_events;
    const struct risk_event *events;
    /* Early exercise, a row for each instrument and date: coefficients
     * [n_rows][RISK_BASIS_MAX], all 0 at maturity, and discounts to today. */
    int32_t n_rows;
    const double *continuation;
    const double *exercise_discount;
    int n_scenarios; /* beside the plan's own market */
    const struct risk_scenario *scenarios;
    int sobol;          /* 1: Sobol points instead of Philox */
    uint32_t replicate; /* the first scramble */
    /* Chunks of one scramble, the next ones begin the next scramble; 0: one
     * scramble for all. A power of two makes complete nets. */
    int64_t replicate_chunks;
};

/* Sums over the paths of one chunk, per instrument and for the portfolio (the
 * last row, quantities included): [n_instruments + 1]. With antithetic numbers
 * a sample is the mean of a pair. y: discounted payoff, c: control, s: the
 * second control. */
struct risk_sums {
    double y, yy, c, cc, yc;
    double s, ss, ys, cs;
};

/* The same for differences between scenarios: with y_s the sample in scenario
 * s: sums of y_s and y_s^2 and of (y_s - y_{s+1})^2 for pairs (2i, 2i + 1) of
 * scenarios, and for second differences (y_s - 2 y + y_{s+1})^2. */
struct risk_scenario_sums {
    double y, yy;
    double difference, difference2; /* at 2i, of the pair (2i, 2i + 1) */
    double second, second2;
};

/* A chunk's results; the caller owns the arrays. samples: NULL, or the
 * portfolio's sample of each path, [RISK_CHUNK]. */
struct risk_chunk {
    struct risk_sums *sums;               /* [n_instruments + 1] */
    struct risk_scenario_sums *scenarios; /* [n_scenarios][n_instruments + 1] */
    double *samples;
};

/* A regression's work: the dates of one instrument, on paths
 * RISK_REGRESSION_PATH + [first_chunk, first_chunk + n_chunks) x RISK_CHUNK. */
struct risk_regression {
    int32_t instrument;
    int32_t n_dates;
    const int32_t *steps;   /* [n_dates], rising; the last: maturity */
    const double *discount; /* [n_dates], to today */
    int64_t first_chunk, n_chunks;
    /* Called for each date but the last, from the end: with each chunk's sums
     * over paths in the money (lower triangle of the functions' products by
     * rows, products with what the path brings, number of paths); fills in
     * coefficients[RISK_BASIS_MAX]. Collective. */
    int (*solve)(struct ctx *ctx, void *argument, int32_t date,
                 const double *moments, double *coefficients);
    void *argument;
    double *coefficients; /* [n_dates][RISK_BASIS_MAX] */
};

/* How many sums a chunk leaves, for n functions. */
static inline size_t risk_moments(int n)
{
    return (size_t)n * ((size_t)n + 1) / 2 + (size_t)n + 1;
}

struct risk_kernels {
    const char *name; /* "double" */
    double (*estimate)(const struct risk_plan *plan);
    int (*create)(struct ctx *ctx, const struct risk_plan *plan,
                  struct risk_store **out);
    void (*destroy)(struct risk_store *s);
    /* n chunks from number `first` on, results in order. */
    int (*run)(struct ctx *ctx, struct risk_store *s, int64_t first, int64_t n,
               struct risk_chunk *out);
    /* Spots of all factors at the end of chosen steps, for horizons and
     * exposures: spot[step][factor][RISK_CHUNK], and Heston's variance
     * (NULL: not wanted). */
    int (*states)(struct ctx *ctx, struct risk_store *s, int64_t chunk,
                  int n_steps, const int32_t *steps, double *spot,
                  double *variance);
    /* Continuation values by regression, from a store whose plan need not have
     * any yet. NULL: left to the CPU. Errors: STATUS_MEMORY, solve's. */
    int (*regress)(struct ctx *ctx, struct risk_store *s,
                   const struct risk_regression *job);
    /* Bytes that a regression takes here, of an instrument's spots and
     * variances (risk_looks()). */
    double (*regress_bytes)(const struct risk_regression *job, int n_looks);
};

extern const struct risk_kernels risk_kernels_cpu;

#endif
