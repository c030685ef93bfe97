/* risk_frontier_deck.c: the keys of [risk.frontier], and its results as tables
 * and on the terminal. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ctx.h"
#include "base/error.h"
#include "base/log.h"
#include "base/param.h"
#include "solvers/risk/risk_frontier.h"
#include "solvers/risk/risk_lp.h"
#include "solvers/risk/risk_results.h"
#include "solvers/risk/risk_var.h"

static const char section[] = "risk.frontier";

/* ---- the deck ---- */

static void check_assets(struct params *p, const struct risk *risk,
                         struct risk_frontier *f)
{
    if (f->n > RISK_FACTORS_MAX)
        params_error(p, section, "assets", "%d positions; at most %d", f->n,
                     RISK_FACTORS_MAX);
    for (int a = 0; a < f->n && a < RISK_FACTORS_MAX; a++) {
        f->names[a] = f->of_positions ? risk->portfolio.positions[a].id
                                      : risk->market.assets[a].name;
        if (strchr(f->names[a], '/') != NULL)
            params_error(p, section, "assets",
                         "the id '%s' has a '/', and cannot be the name of a "
                         "column of weights",
                         f->names[a]);
    }
    for (int a = 0; f->normal && a < risk->market.n; a++)
        if (f->of_positions || risk->market.assets[a].model.model != RISK_GBM)
            params_error(p, section, "returns",
                         "\"normal\" is for assets = \"factors\" with the "
                         "model gbm");
}

/* One for all assets, or one for each. */
static void take_bounds(struct params *p, const char *key, const double *given,
                        size_t n, struct risk_frontier *f, double *out)
{
    if (n != 1 && n != (size_t)f->n) {
        params_error(p, section, key, "%zu bounds for %d assets", n, f->n);
        return;
    }
    for (int a = 0; a < f->n; a++)
        out[a] = given[n == 1 ? 0 : a];
}

static void check_bounds(struct params *p, const struct risk_frontier *f)
{
    double least = 0, most = 0;
    for (int a = 0; a < f->n; a++) {
        least += f->lower[a];
        most += f->upper[a];
        if (f->lower[a] > f->upper[a])
            params_error(p, section, "lower",
                         "%s: the lower bound %g is above the upper one, %g",
                         f->names[a], f->lower[a], f->upper[a]);
    }
    if (least > 1 + 1e-12)
        params_error(p, section, "lower",
                     "the lower bounds add up to %g; weights add up to 1",
                     least);
    if (most < 1 - 1e-12)
        params_error(p, section, "upper",
                     "the upper bounds add up to %g; weights add up to 1",
                     most);
}

static int make_room(struct ctx *ctx, struct risk_frontier *f)
{
    const size_t n = (size_t)f->n + 1, points = (size_t)f->n_points;
    f->names = calloc(n, sizeof *f->names);
    f->lower = calloc(n, sizeof *f->lower);
    f->upper = calloc(n, sizeof *f->upper);
    f->points = calloc(points, sizeof *f->points);
    f->weights = calloc(n * points, sizeof *f->weights);
    if (f->keep)
        f->kept = calloc(n * (size_t)f->scenarios, sizeof *f->kept);
    if (f->names == NULL || f->lower == NULL || f->upper == NULL ||
        f->points == NULL || f->weights == NULL || (f->keep && f->kept == NULL))
        return FAIL(ctx, STATUS_MEMORY, "no memory for a frontier");
    return 0;
}

/* Whether there is one to be read. */
static int wanted(struct params *p, const struct risk *risk)
{
    const int engine = (risk->engines & RISK_ENGINE_PORTFOLIO) != 0,
              given = params_has_section(p, section);
    if (given && !engine)
        params_error(p, section, NULL,
                     "risk.engines does not name \"portfolio\"");
    if (engine && !given)
        params_error(p, "risk", "engines",
                     "\"portfolio\" needs a section [risk.frontier]");
    if (engine && risk_lp_version() == NULL)
        params_error(p, "risk", "engines",
                     "\"portfolio\" needs GLPK, and this program was built "
                     "without it: install it (Debian: libglpk-dev), then "
                     "configure and make anew");
    return engine && given && risk_lp_version() != NULL;
}

int risk_frontier_read(struct ctx *ctx, struct params *p, struct risk *risk)
{
    size_t n_lower = 0, n_upper = 0;
    if (!wanted(p, risk))
        return 0;
    struct risk_frontier *f = risk->frontier = calloc(1, sizeof *f);
    if (f == NULL)
        return FAIL(ctx, STATUS_MEMORY, "no memory for a frontier");
    f->horizon = params_double(p, "risk.frontier", "horizon");
    f->level = params_double(p, "risk.frontier", "level");
    f->n_points = (int)params_int(p, "risk.frontier", "points");
    f->scenarios = params_int(p, "risk.frontier", "scenarios");
    f->paths = params_int(p, "risk.frontier", "paths");
    f->of_positions =
        strcmp(params_string(p, "risk.frontier", "assets"), "positions") == 0;
    f->normal =
        strcmp(params_string(p, "risk.frontier", "returns"), "normal") == 0;
    f->keep = params_bool(p, "risk.frontier", "write_scenarios");
    f->n = f->of_positions ? (int)risk->portfolio.n : risk->market.n;
    const double *lower = params_doubles(p, "risk.frontier", "lower", &n_lower),
                 *upper = params_doubles(p, "risk.frontier", "upper", &n_upper);
    if ((1 - f->level) * (double)f->scenarios < 10)
        params_error(p, section, "scenarios",
                     "%lld scenarios have fewer than 10 beyond the level %g; "
                     "at least %.0f are needed",
                     (long long)f->scenarios, f->level,
                     ceil(10 / (1 - f->level)));
    TRY(make_room(ctx, f));
    check_assets(p, risk, f);
    if (f->n > RISK_FACTORS_MAX)
        return 0;
    take_bounds(p, "lower", lower, n_lower, f, f->lower);
    take_bounds(p, "upper", upper, n_upper, f, f->upper);
    check_bounds(p, f);
    for (int a = 0; f->of_positions && a < f->n; a++) {
        struct risk_valuation v;
        TRY(risk_value_make(ctx, risk, a, f->horizon, &v));
    }
    return 0;
}

void risk_frontier_free(struct risk *risk)
{
    struct risk_frontier *f = risk->frontier;
    if (f == NULL)
        return;
    free(f->names);
    free(f->lower);
    free(f->upper);
    free(f->points);
    free(f->weights);
    free(f->kept);
    free(f);
    risk->frontier = NULL;
}

/* ---- results ---- */

static void add_points(const struct risk_frontier *f, struct risk_tables *t)
{
    struct risk_filling *table = risk_table_add(
        t, "frontier", f->n_done,
        "portfolios of least conditional value at risk (cvar) for a mean "
        "return, from the least of all to the greatest return; losses of one "
        "unit of money, positive where money is lost, over the horizon; "
        "in_sample: on the scenarios that chose the weights, the others on "
        "paths that did not; weight/: parts of the money invested");
    double *level = risk_table_numbers(t, table, "level"),
           *horizon = risk_table_numbers(t, table, "horizon"),
           *mean = risk_table_numbers(t, table, "return"),
           *mean_error = risk_table_numbers(t, table, "return_error"),
           *cvar = risk_table_numbers(t, table, "cvar"),
           *cvar_error = risk_table_numbers(t, table, "cvar_error"),
           *var = risk_table_numbers(t, table, "var"),
           *in_return = risk_table_numbers(t, table, "return_in_sample"),
           *in_cvar = risk_table_numbers(t, table, "cvar_in_sample"),
           *scenarios = risk_table_numbers(t, table, "scenarios"),
           *paths = risk_table_numbers(t, table, "paths");
    for (int k = 0; !t->failed && k < f->n_done; k++) {
        const struct risk_frontier_point *point = &f->points[k];
        level[k] = f->level;
        horizon[k] = f->horizon;
        mean[k] = point->mean.value;
        mean_error[k] = point->mean.error;
        cvar[k] = point->cvar.value;
        cvar_error[k] = point->cvar.error;
        var[k] = point->var;
        in_return[k] = point->return_in_sample;
        in_cvar[k] = point->cvar_in_sample;
        scenarios[k] = (double)f->scenarios;
        paths[k] = ceil((double)f->paths / RISK_CHUNK) * RISK_CHUNK;
    }
}

/* A column for each asset, of n numbers that stand `stride` apart. */
static void add_assets(const struct risk_frontier *f, struct risk_tables *t,
                       const char *group, const char *description, int64_t n,
                       const double *from, int64_t stride)
{
    struct risk_filling *table = risk_table_add(t, group, n, description);
    for (int a = 0; a < f->n; a++) {
        double *to = risk_table_numbers(t, table, f->names[a]);
        if (to != NULL)
            memcpy(to, from + a * stride, (size_t)n * sizeof *to);
    }
}

void risk_frontier_tables(const struct risk *risk, struct risk_tables *t)
{
    const struct risk_frontier *f = risk->frontier;
    if (f == NULL || f->n_done == 0)
        return;
    add_points(f, t);
    add_assets(f, t, "frontier/weight",
               "parts of the money in each asset, a row a point", f->n_done,
               f->weights, f->n_points);
    if (f->keep)
        add_assets(f, t, "frontier/scenario_returns",
                   "returns of each asset on which weights were chosen",
                   f->scenarios, f->kept, f->scenarios);
}

/* The greatest weights, as many as fit a line. */
static void name_weights(const struct risk_frontier *f, int k, char *text,
                         size_t size)
{
    size_t used = 0;
    int shown = 0;
    double last = INFINITY;
    int last_asset = -1;
    text[0] = '\0';
    while (shown < 4 && shown < f->n) {
        int best = -1;
        for (int a = 0; a < f->n; a++) {
            const double w = fabs(f->weights[a * f->n_points + k]);
            if (w > last || (w == last && a <= last_asset))
                continue;
            if (best < 0 || w > fabs(f->weights[best * f->n_points + k]))
                best = a;
        }
        const double w = f->weights[best * f->n_points + k];
        last = fabs(w);
        last_asset = best;
        if (last < 5e-4 || used >= size)
            break;
        used +=
            (size_t)snprintf(text + used, size - used, "%s%.16s %.1f %%",
                             shown > 0 ? ", " : "", f->names[best], 100 * w);
        shown++;
    }
}

void risk_frontier_print(struct ctx *ctx, const struct risk *risk)
{
    const struct risk_frontier *f = risk->frontier;
    char weights[160];
    if (f == NULL || f->n_done == 0)
        return;
    log_info(ctx->log,
             "  frontier: %d assets, %lld scenarios, by GLPK %s in %.2f s; "
             "values on other paths; parts of the money invested",
             f->n, (long long)f->scenarios, risk_lp_version(), f->seconds);
    log_info(ctx->log, "  %10s %10s %10s %10s  %s", "return", "CVaR",
             "std. error", "VaR", "weights");
    for (int k = 0; k < f->n_done; k++) {
        const struct risk_frontier_point *p = &f->points[k];
        name_weights(f, k, weights, sizeof weights);
        log_info(ctx->log, "  %10.6f %10.6f %10.2g %10.6f  %s", p->mean.value,
                 p->cvar.value, p->cvar.error, p->var, weights);
    }
    log_info(ctx->log, "  (CVaR and VaR at the level %g, over %g years)",
             f->level, f->horizon);
}
