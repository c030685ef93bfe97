/* risk_table.c: the keys of [risk...]; `warpdeck explain risk` prints this
 * table. */
#include <stddef.h>

#include "base/dimensions.h"
#include "base/param.h"
#include "solvers/risk/risk.h"
#include "solvers/risk/risk_frontier.h"

static const struct param_section sections[] = {
    {"risk", 0, 0,
     "Monte Carlo valuation of a portfolio. Times are years, rates are "
     "continuously compounded."},
    {"risk.factor", 1, 0,
     "A market factor, one section each: a price and how it moves."},
    {"risk.correlation", 0, 1,
     "Correlation of the factors' Brownian motions, those of the prices. Left "
     "out: independent."},
    {"risk.portfolio", 0, 1, "Positions from a file."},
    {"risk.instrument", 1, 1, "A position, one section each."},
    {"risk.var", 0, 1,
     "Value at risk and expected shortfall at a horizon, by revaluation of all "
     "positions there; losses are positive."},
    {"risk.exposure", 0, 1,
     "Exposure to counterparties by date (EPE, ENE, PFE), and CVA and DVA: "
     "what "
     "their default and one's own is worth."},
    {"risk.netting", 1, 1,
     "A netting set, one section each: positions that are netted when their "
     "counterparty defaults. Where there is none, each name that positions "
     "give is a set, with the hazard and recovery of [risk.exposure]."},
    {"risk.scenarios", 0, 1,
     "The portfolio in scenarios from files, applied to the market of today "
     "and revalued in closed form; with engine var, whose levels and "
     "confidence hold."},
    {"risk.frontier", 0, 1,
     "Portfolios of least conditional value at risk (expected shortfall) for "
     "a mean return, by linear programmes over simulated returns (Rockafellar "
     "and Uryasev 2000)."},
    {"output", 0, 1, "What is written, and how often."},
    {NULL, 0, 0, NULL}};

enum {
    POSITIVE = PARAM_HAS_MIN | PARAM_MIN_OPEN,
    BETWEEN = PARAM_HAS_MIN | PARAM_HAS_MAX
};

/* A key of a model, which the other models do not take. */
#define OF_MODEL(key, low, example, flags, text)                      \
    {                                                                 \
        "risk.factor", key, PARAM_DOUBLE, NO_DIM, example, low, 1, 0, \
            PARAM_OPTIONAL | (flags), NULL, text                      \
    }

#define OF_POSITION(key, example, flags, text)                          \
    {                                                                   \
        "risk.instrument", key, PARAM_DOUBLE, NO_DIM, example, 0, 0, 0, \
            PARAM_OPTIONAL | (flags), NULL, text                        \
    }

#define WORD_OF_POSITION(key, flags, choices, text)                  \
    {                                                                \
        "risk.instrument", key, PARAM_STRING, NO_DIM, NULL, 0, 0, 0, \
            PARAM_OPTIONAL | (flags), choices, text                  \
    }

static const struct param params[] = {
    {"risk", "paths", PARAM_INT, NO_DIM, "100_000", 1, 1e15, 0,
     PARAM_STARTER | BETWEEN, NULL,
     "Paths; with antithetic numbers a pair counts as two. Paths come in "
     "chunks "
     "of 4096, so that the number is rounded up to the next whole chunk."},
    {"risk", "batches", PARAM_INT, NO_DIM, NULL, 1, 1e9, 0,
     PARAM_OPTIONAL | BETWEEN, NULL,
     "In place of paths: so many batches of (at most) 64 chunks, each a step "
     "of "
     "the run."},
    {"risk", "engines", PARAM_STRINGS, NO_DIM, "[\"price\"]", 0, 0, 0, 0,
     "price|greeks|var|exposure|portfolio",
     "What is computed. price: value and standard error of each position and "
     "of all. greeks: sensitivities, each with its standard error; each path "
     "is walked 13 to 21 times for one factor. var: [risk.var]. exposure: "
     "[risk.exposure]. portfolio: [risk.frontier]."},
    {"risk", "valuation_date", PARAM_STRING, NO_DIM, "\"2027-01-15\"", 0, 0, 0,
     PARAM_OPTIONAL, NULL,
     "The date of today, for positions with a maturity_date; with "
     "risk.day_count."},
    {"risk", "day_count", PARAM_STRING, NO_DIM, "\"ACT/365F\"", 0, 0, 0,
     PARAM_OPTIONAL, "ACT/365F|ACT/360|30/360|ACT/ACT ISDA",
     "How many years lie between risk.valuation_date and a maturity_date: days "
     "by 365, days by 360, months of 30 days by 360 (bond basis), or days in "
     "leap years by 366 and others by 365 (2006 ISDA Definitions, 4.16)."},
    {"risk", "sampling", PARAM_STRING, NO_DIM, "\"philox\"", 0, 0, 0, 0,
     "philox|sobol",
     "Where the random numbers come from: independent ones, or Sobol's points "
     "on a Brownian bridge, scrambled anew for each of risk.replicates parts "
     "of the paths, whose spread is the standard error."},
    {"risk", "replicates", PARAM_INT, NO_DIM, "16", 8, 4096, 0, BETWEEN, NULL,
     "Independent scrambles of Sobol's points; each has the same number of "
     "paths, a power of two."},
    {"risk", "variance_reduction", PARAM_STRINGS, NO_DIM, "[\"antithetic\"]", 0,
     0, 0, PARAM_STARTER, "none|antithetic|control",
     "antithetic: each path has a mirror image, and their mean is one sample. "
     "control: each payoff has a control of known mean on the same path: the "
     "geometric average of an Asian option; with heston and merton what the "
     "option pays on a Black-Scholes twin of the price, a geometric Brownian "
     "motion that the same normals drive, and the underlying beside it; else "
     "the underlying."},
    {"risk", "target_error", PARAM_DOUBLE, NO_DIM, "0.01", 0, 0, 0,
     PARAM_OPTIONAL | POSITIVE, NULL,
     "The run ends when the standard error of the portfolio's value is at most "
     "this, looked at after each batch; risk.paths is the most it takes."},

    {"risk.factor", "name", PARAM_STRING, NO_DIM, "\"ACME\"", 0, 0, 0,
     PARAM_REQUIRED, NULL, "Its name, for positions."},
    {"risk.factor", "model", PARAM_STRING, NO_DIM, "\"gbm\"", 0, 0, 0,
     PARAM_STARTER, "gbm|heston|merton",
     "gbm: geometric Brownian motion. heston: stochastic variance (Heston "
     "1993), by Andersen's quadratic-exponential scheme with martingale "
     "correction. merton: lognormal jumps (Merton 1976)."},
    {"risk.factor", "spot", PARAM_DOUBLE, NO_DIM, "100.0", 0, 0, 0,
     PARAM_REQUIRED | POSITIVE, NULL, "The price of today."},
    {"risk.factor", "rate", PARAM_DOUBLES, NO_DIM, "0.05", -1, 1, 0,
     PARAM_REQUIRED | PARAM_ALONE | BETWEEN, NULL,
     "Riskless rate a year, continuously compounded; it discounts what "
     "positions on this factor pay, and is the factor's growth. Several: one "
     "for each piece of rate_times."},
    {"risk.factor", "rate_times", PARAM_DOUBLES, NO_DIM, "[0.5, 2.0]", 0, 0, 0,
     PARAM_OPTIONAL | PARAM_ALONE | POSITIVE, NULL,
     "Rising times in years where the rate changes, one less than there are "
     "rates: the first rate holds up to the first time, the last one for "
     "ever."},
    {"risk.factor", "dividend", PARAM_DOUBLES, NO_DIM, "0.0", -1, 1, 0,
     PARAM_ALONE | BETWEEN, NULL,
     "Dividend yield a year, continuously compounded; or several."},
    {"risk.factor", "dividend_times", PARAM_DOUBLES, NO_DIM, "[0.5, 2.0]", 0, 0,
     0, PARAM_OPTIONAL | PARAM_ALONE | POSITIVE, NULL,
     "The times of the dividend yields, as rate_times has those of rates."},
    OF_MODEL("volatility", 0, "0.2", PARAM_STARTER | PARAM_HAS_MIN,
             "gbm and merton: volatility a year, of the Brownian part."),
    OF_MODEL("variance", 0, "0.04", PARAM_HAS_MIN,
             "heston: the variance today."),
    OF_MODEL("kappa", 0, "1.5", POSITIVE,
             "heston: how fast the variance returns."),
    OF_MODEL("theta", 0, "0.06", PARAM_HAS_MIN,
             "heston: the variance it returns to."),
    OF_MODEL("xi", 0, "0.5", PARAM_HAS_MIN,
             "heston: volatility of the variance."),
    {"risk.factor", "rho", PARAM_DOUBLE, NO_DIM, "-0.7", -1, 1, 0,
     PARAM_OPTIONAL | BETWEEN, NULL,
     "heston: correlation of price and variance."},
    OF_MODEL("jump_rate", 0, "1.0", PARAM_HAS_MIN, "merton: jumps a year."),
    OF_MODEL("jump_mean", 0, "-0.1", 0,
             "merton: mean of the logarithm of a jump's factor."),
    OF_MODEL("jump_volatility", 0, "0.15", PARAM_HAS_MIN,
             "merton: its deviation."),
    {"risk.factor", "drift", PARAM_DOUBLE, NO_DIM, "0.05", -10, 10, 0,
     PARAM_OPTIONAL | BETWEEN, NULL,
     "Expected growth of the price a year in the real world, for [risk.var]; "
     "left out: rate less dividend."},
    {"risk.factor", "steps_per_year", PARAM_DOUBLE, NO_DIM, "64", 0, 1e5, 0,
     PARAM_OPTIONAL | BETWEEN, NULL,
     "No time step is longer than one over this. Left out: 64 for heston, "
     "whose "
     "scheme has an error that falls with the step; gbm and merton are exact "
     "for any step and go from date to date."},

    {"risk.correlation", "matrix", PARAM_MATRIX, NO_DIM,
     "[[1.0, 0.4], [0.4, 1.0]]", -1, 1, 0, PARAM_OPTIONAL | BETWEEN, NULL,
     "Row by row, in the order of the factors."},
    {"risk.correlation", "file", PARAM_STRING, NO_DIM, "\"correlation.csv\"", 0,
     0, 0, PARAM_OPTIONAL, NULL,
     "In place of matrix: a CSV file with the factors' names as headings and "
     "in "
     "the first column, in any order."},
    {"risk.correlation", "repair", PARAM_STRING, NO_DIM, "\"none\"", 0, 0, 0, 0,
     "none|spectral|higham",
     "What is done with a matrix that is not positive semi-definite. none: an "
     "error. spectral: negative eigenvalues become 0 (Rebonato and Jaeckel "
     "1999). higham: the nearest correlation matrix (Higham 2002). What was "
     "changed is written."},

    {"risk.portfolio", "file", PARAM_STRING, NO_DIM, "\"book.csv\"", 0, 0, 0,
     PARAM_REQUIRED, NULL,
     "A CSV file, relative to the deck: a header row with the keys of "
     "[[risk.instrument]] in any order, one row a position; several factors or "
     "weights stand in one cell with ';' between them."},

    {"risk.instrument", "id", PARAM_STRING, NO_DIM, "\"call\"", 0, 0, 0,
     PARAM_REQUIRED, NULL, "Its name, which no other has."},
    {"risk.instrument", "type", PARAM_STRING, NO_DIM, "\"european\"", 0, 0, 0,
     PARAM_REQUIRED,
     "forward|european|digital|asian-arithmetic|asian-geometric|barrier|"
     "lookback-fixed|lookback-floating|basket|spread|exchange|best-of|worst-of|"
     "stock|bermudan|american",
     "What it is. basket: on the weighted sum of its factors. spread: on the "
     "first less the second. exchange: the second for the first. best-of, "
     "worst-of: on the greatest or least weighted factor. stock: the factor "
     "itself."},
    {"risk.instrument", "factor", PARAM_STRINGS, NO_DIM, "\"ACME\"", 0, 0, 0,
     PARAM_REQUIRED | PARAM_ALONE, NULL, "The factor, or factors, it is on."},
    {"risk.instrument", "quantity", PARAM_DOUBLE, NO_DIM, "1.0", 0, 0, 0,
     PARAM_REQUIRED, NULL, "How many; negative: sold."},
    WORD_OF_POSITION("side", PARAM_STARTER, "call|put", "call or put."),
    OF_POSITION("strike", "100.0", PARAM_STARTER,
                "Strike, or the price of a forward."),
    OF_POSITION("maturity", "1.0", PARAM_STARTER,
                "Years from today to the payment; 0: now."),
    WORD_OF_POSITION("maturity_date", 0, NULL,
                     "In place of maturity: a date, as \"2027-06-30\", which "
                     "needs risk.valuation_date and risk.day_count."),
    OF_POSITION("barrier", "120.0", 0,
                "Price at which a barrier option knocks."),
    WORD_OF_POSITION(
        "kind", 0,
        "down-and-out|down-and-in|up-and-out|up-and-in|basket|best-of|"
        "worst-of",
        "Kind of a barrier option; of early exercise on several "
        "factors."),
    OF_POSITION("rebate", "0.0", 0,
                "What a barrier option pays at maturity where it is "
                "not alive; 0 if left out."),
    WORD_OF_POSITION("monitoring", PARAM_DIGITS, NULL,
                     "When a barrier or an extreme is looked at: "
                     "\"continuous\", or a number of equal dates up to "
                     "maturity."),
    OF_POSITION("fixings", "12", 0,
                "Equal dates of an Asian option's average; the last one is "
                "maturity, today is none."),
    OF_POSITION("cash", "1.0", 0, "What a digital option pays; 1 if left out."),
    {"risk.instrument", "weights", PARAM_DOUBLES, NO_DIM, "[0.5, 0.5]", 0, 0, 0,
     PARAM_OPTIONAL | PARAM_ALONE, NULL,
     "One for each factor. Left out: equal ones of sum 1 of a basket, else 1."},
    OF_POSITION("exercise_dates", "50", 0, "Equal dates of early exercise."),
    WORD_OF_POSITION("netting", 0, NULL,
                     "The netting set it is in; left out: \"default\"."),

    {"risk.var", "horizon", PARAM_DOUBLE, NO_DIM, "0.04", 0, 0, 0,
     PARAM_REQUIRED | POSITIVE, NULL, "Years to the date of the losses."},
    {"risk.var", "levels", PARAM_DOUBLES, NO_DIM, "[0.95, 0.99]", 0.5, 0.99999,
     0, PARAM_ALONE | BETWEEN, NULL,
     "VaR at level a is the loss that is not exceeded with chance a."},
    {"risk.var", "confidence", PARAM_DOUBLE, NO_DIM, "0.95", 0.5, 0.9999, 0,
     BETWEEN, NULL, "Chance that the interval of VaR holds the true one."},
    {"risk.var", "paths", PARAM_INT, NO_DIM, "100_000", 1, 1e9, 0, BETWEEN,
     NULL,
     "Paths to the horizon, rounded up to whole chunks of 4096; a rank holds "
     "one number for each of its paths and each position."},
    {"risk.var", "revaluation", PARAM_STRING, NO_DIM, "\"auto\"", 0, 0, 0, 0,
     "auto|closed-form|regressed|nested",
     "How positions are valued at the horizon. auto: in closed form where "
     "there is one, else regressed. regressed: by regression of what paths "
     "bring after the horizon on the state there. nested: by a simulation "
     "from each state, which costs paths times inner_paths. closed-form: "
     "nothing else is taken. What is linear is always in closed form; what was "
     "done stands beside each position."},
    {"risk.var", "regression_paths", PARAM_INT, NO_DIM, "131_072", 4096, 1e9, 0,
     BETWEEN, NULL,
     "Paths for the regression of each position without a closed form, "
     "independent of those of the losses."},
    {"risk.var", "inner_paths", PARAM_INT, NO_DIM, "8192", 2, 1e9, 0, BETWEEN,
     NULL,
     "revaluation = \"nested\": paths from each state, in antithetic pairs, "
     "rounded up to whole chunks of 4096 pairs."},
    {"risk.var", "returns", PARAM_STRING, NO_DIM, "\"model\"", 0, 0, 0, 0,
     "model|normal",
     "model: the factors' models. normal: each factor's return is normal, with "
     "mean drift times horizon (delta-normal VaR); gbm factors only."},

    {"risk.exposure", "dates", PARAM_DOUBLES, NO_DIM, "[0.25, 0.5, 0.75, 1.0]",
     0, 200, 0, PARAM_REQUIRED | PARAM_ALONE | POSITIVE | PARAM_HAS_MAX, NULL,
     "Rising dates in years at which exposure is looked at, a payment on the "
     "date included. A default between two of them meets the exposure of the "
     "later one; one after the last is not counted."},
    {"risk.exposure", "levels", PARAM_DOUBLES, NO_DIM, "[0.95, 0.99]", 0.5,
     0.99999, 0, PARAM_ALONE | BETWEEN, NULL,
     "PFE at level a is the exposure max(V, 0) that is not exceeded with "
     "chance a; at most 8 levels."},
    {"risk.exposure", "hazard", PARAM_DOUBLES, NO_DIM, "0.02", 0, 100, 0,
     PARAM_REQUIRED | PARAM_ALONE | BETWEEN, NULL,
     "Hazard rate of a counterparty, defaults a year: it survives t years with "
     "chance exp(-hazard t). Several: one for each piece of hazard_times."},
    {"risk.exposure", "hazard_times", PARAM_DOUBLES, NO_DIM, "[1.0, 3.0]", 0, 0,
     0, PARAM_OPTIONAL | PARAM_ALONE | POSITIVE, NULL,
     "Rising times in years where the hazard changes, one less than there are "
     "hazards; the last hazard holds for ever."},
    {"risk.exposure", "recovery", PARAM_DOUBLE, NO_DIM, "0.4", 0, 1, 0,
     BETWEEN | PARAM_MAX_OPEN, NULL,
     "Part of what it owes that a counterparty pays after its default."},
    {"risk.exposure", "own_hazard", PARAM_DOUBLES, NO_DIM, "0.0", 0, 100, 0,
     PARAM_ALONE | BETWEEN, NULL, "One's own hazard rate, for DVA; 0: no DVA."},
    {"risk.exposure", "own_hazard_times", PARAM_DOUBLES, NO_DIM, "[1.0, 3.0]",
     0, 0, 0, PARAM_OPTIONAL | PARAM_ALONE | POSITIVE, NULL,
     "The times of own_hazard, as hazard_times has those of hazard."},
    {"risk.exposure", "own_recovery", PARAM_DOUBLE, NO_DIM, "0.4", 0, 1, 0,
     BETWEEN | PARAM_MAX_OPEN, NULL,
     "Part of what one owes that is paid after one's own default."},
    {"risk.exposure", "paths", PARAM_INT, NO_DIM, "100_000", 1, 1e9, 0, BETWEEN,
     NULL,
     "Paths of the exposures, rounded up to whole chunks of 4096; a rank holds "
     "four bytes for each of its paths, each date and each netting set."},
    {"risk.exposure", "regression_paths", PARAM_INT, NO_DIM, "131_072", 4096,
     1e9, 0, BETWEEN, NULL,
     "Paths for the regression of a position without a closed form, at each "
     "date, independent of those of the exposures."},
    {"risk.exposure", "discounting", PARAM_STRING, NO_DIM, "\"ACME\"", 0, 0, 0,
     PARAM_OPTIONAL, NULL,
     "The factor whose rate discounts exposures in CVA and DVA; left out: the "
     "first one."},

    {"risk.netting", "name", PARAM_STRING, NO_DIM, "\"bank\"", 0, 0, 0,
     PARAM_REQUIRED, NULL,
     "Its name, which positions give as netting; \"default\" is the one of "
     "positions that give none."},
    {"risk.netting", "hazard", PARAM_DOUBLES, NO_DIM, "0.02", 0, 100, 0,
     PARAM_OPTIONAL | PARAM_ALONE | BETWEEN, NULL,
     "Hazard rate of its counterparty; left out: that of [risk.exposure]."},
    {"risk.netting", "hazard_times", PARAM_DOUBLES, NO_DIM, "[1.0, 3.0]", 0, 0,
     0, PARAM_OPTIONAL | PARAM_ALONE | POSITIVE, NULL,
     "The times of its hazard, as in [risk.exposure]."},
    {"risk.netting", "recovery", PARAM_DOUBLE, NO_DIM, "0.4", 0, 1, 0,
     PARAM_OPTIONAL | BETWEEN | PARAM_MAX_OPEN, NULL,
     "Recovery of its counterparty; left out: that of [risk.exposure]."},

    {"risk.scenarios", "history", PARAM_STRING, NO_DIM, "\"returns.csv\"", 0, 0,
     0, PARAM_OPTIONAL, NULL,
     "A CSV file, relative to the deck, for historical value at risk: factors' "
     "names as headings, a row for each day with their changes; a column "
     "\"name\" may name the days. Factors that are not in it stay."},
    {"risk.scenarios", "stress", PARAM_STRING, NO_DIM, "\"stress.csv\"", 0, 0,
     0, PARAM_OPTIONAL, NULL,
     "The same with a column \"name\": the profit of each position in each "
     "named scenario."},
    {"risk.scenarios", "shocks", PARAM_STRING, NO_DIM, "\"relative\"", 0, 0, 0,
     0, "relative|log|absolute",
     "What a change x makes of a spot S. relative: S (1 + x). log: S exp(x). "
     "absolute: S + x."},

    {"risk.frontier", "horizon", PARAM_DOUBLE, NO_DIM, "0.25", 0, 0, 0,
     PARAM_REQUIRED | POSITIVE, NULL,
     "Years that money is invested, in the real world (risk.factor.drift)."},
    {"risk.frontier", "level", PARAM_DOUBLE, NO_DIM, "0.95", 0.5, 0.999, 0,
     BETWEEN, NULL,
     "Conditional value at risk is the mean of the worst losses, of which "
     "there are 1 - level."},
    {"risk.frontier", "points", PARAM_INT, NO_DIM, "10", 2, 1000, 0, BETWEEN,
     NULL,
     "Portfolios on the frontier, equally spaced in return from the least "
     "conditional value at risk to the greatest return."},
    {"risk.frontier", "scenarios", PARAM_INT, NO_DIM, "4096", 100,
     RISK_FRONTIER_SCENARIOS_MAX, 0, BETWEEN, NULL,
     "Simulated returns that choose the weights. The time of the programmes "
     "grows a little faster than with them: a few seconds for 16384 of ten "
     "assets."},
    {"risk.frontier", "paths", PARAM_INT, NO_DIM, "100_000", 4096, 1e8, 0,
     BETWEEN, NULL,
     "Other paths, on which the portfolios found are valued, rounded up to "
     "whole chunks of 4096."},
    {"risk.frontier", "assets", PARAM_STRING, NO_DIM, "\"factors\"", 0, 0, 0, 0,
     "factors|positions",
     "What money is put into. factors: themselves, dividends reinvested. "
     "positions: those of the portfolio, whatever their quantity, at their "
     "value of today in closed form."},
    {"risk.frontier", "returns", PARAM_STRING, NO_DIM, "\"model\"", 0, 0, 0, 0,
     "model|normal",
     "model: the factors' models. normal: each factor's return is normal, "
     "with mean drift times horizon; gbm factors only."},
    {"risk.frontier", "lower", PARAM_DOUBLES, NO_DIM, "0.0", -100, 1, 0,
     PARAM_ALONE | BETWEEN, NULL,
     "Least part of the money in each asset, one for all or one each in the "
     "order of factors or positions; negative: sold short."},
    {"risk.frontier", "upper", PARAM_DOUBLES, NO_DIM, "1.0", 0, 100, 0,
     PARAM_ALONE | BETWEEN, NULL,
     "Greatest part of the money in each asset, as lower."},
    {"risk.frontier", "write_scenarios", PARAM_BOOL, NO_DIM, "false", 0, 0, 0,
     0, NULL,
     "Write the returns that chose the weights, too, for other programs."},

    {"output", "observables_every", PARAM_INTERVAL, NO_DIM, "1", 0, 0, 0, 0,
     NULL,
     "Every so many batches of paths the value so far and its error are "
     "printed and written."},
    {NULL, NULL, PARAM_BOOL, NO_DIM, NULL, 0, 0, 0, 0, NULL, NULL}};

const struct param_table risk_param_table = {sections, params, NULL, NULL};
