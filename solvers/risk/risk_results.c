/* risk_results.c: the numbers as tables of NAME.h5, below /risk, and as a
 * summary on the terminal.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/comm.h"
#include "base/ctx.h"
#include "base/error.h"
#include "base/log.h"
#include "domain/field.h"
#include "solvers/risk/risk.h"
#include "solvers/risk/risk_exposure.h"
#include "solvers/risk/risk_frontier.h"
#include "solvers/risk/risk_results.h"
#include "solvers/risk/risk_scenarios.h"
#include "solvers/risk/risk_var.h"

enum { SHOWN_MAX = 30 };

struct risk_filling *risk_table_add(struct risk_tables *t, const char *group,
                                    int64_t n_rows, const char *description)
{
    struct risk_filling *f = &t->filling[t->n++];
    f->table = (struct result_table){.root = "/risk",
                                     .group = group,
                                     .description = description,
                                     .n_rows = n_rows,
                                     .names = f->names,
                                     .units = f->units,
                                     .columns = f->columns,
                                     .texts = f->texts};
    return f;
}

void *risk_table_own(struct risk_tables *t, size_t n, size_t size)
{
    void *p = calloc(n + 1, size);
    if (p == NULL)
        t->failed = 1;
    else
        t->owned[t->n_owned++] = p;
    return p;
}

double *risk_table_numbers(struct risk_tables *t, struct risk_filling *f,
                           const char *name)
{
    double *values = risk_table_own(t, (size_t)f->table.n_rows, sizeof *values);
    f->names[f->n_columns] = name;
    f->units[f->n_columns] = "";
    f->columns[f->n_columns++] = values;
    return values;
}

const char **risk_table_texts(struct risk_tables *t, struct risk_filling *f,
                              const char *name)
{
    const char **values =
        risk_table_own(t, (size_t)f->table.n_rows, sizeof *values);
    f->names[f->n_columns] = name;
    f->units[f->n_columns] = "";
    f->texts[f->n_columns++] = values;
    return values;
}

void risk_results_free(struct risk *r)
{
    struct risk_tables *t = r->tables;
    for (int i = 0; t != NULL && i < t->n_owned; i++)
        free(t->owned[i]);
    free(t);
    r->tables = NULL;
}

/* ---- tables ---- */

static void add_instruments(struct risk *r, struct risk_tables *t)
{
    struct risk_filling *f = risk_table_add(
        t, "instruments", r->portfolio.n,
        "positions; price: of one unit, value: quantity times price, each with "
        "its standard error; knocked: the spot is beyond the barrier already");
    const char **id = risk_table_texts(t, f, "id"),
               **type = risk_table_texts(t, f, "type"),
               **method = risk_table_texts(t, f, "method");
    double *quantity = risk_table_numbers(t, f, "quantity");
    double *price = risk_table_numbers(t, f, "price"),
           *price_error = risk_table_numbers(t, f, "price_error");
    double *value = risk_table_numbers(t, f, "value"),
           *error = risk_table_numbers(t, f, "standard_error");
    double *share = risk_table_numbers(t, f, "control_share"),
           *knocked = risk_table_numbers(t, f, "knocked");
    for (int32_t i = 0; !t->failed && i < r->portfolio.n; i++) {
        const struct risk_position *p = &r->portfolio.positions[i];
        const struct risk_price *q = &r->prices[i];
        id[i] = p->id;
        type[i] = risk_type_name(p->type);
        method[i] = q->method != NULL ? q->method : "none";
        quantity[i] = p->quantity;
        price[i] = q->value.value;
        price_error[i] = q->value.error;
        value[i] = p->quantity * q->value.value;
        error[i] = fabs(p->quantity) * q->value.error;
        share[i] = q->control_share;
        knocked[i] = p->knocked;
    }
}

static void add_greeks(struct risk *r, struct risk_tables *t)
{
    int64_t n = 0;
    if (r->greeks == NULL)
        return;
    const struct risk_greek *rows = risk_greeks_numbers(r, &n);
    struct risk_filling *f = risk_table_add(
        t, "greeks", n,
        "sensitivities of one unit and of the position, each with its standard "
        "error; per unit of spot, of volatility (heston: of the root of "
        "variance and theta together), of rate (parallel, all factors), of "
        "dividend (parallel), and per year that passes (theta)");
    const char **id = risk_table_texts(t, f, "id"),
               **factor = risk_table_texts(t, f, "factor"),
               **greek = risk_table_texts(t, f, "greek"),
               **method = risk_table_texts(t, f, "method");
    double *unit = risk_table_numbers(t, f, "per_unit"),
           *unit_error = risk_table_numbers(t, f, "per_unit_error"),
           *value = risk_table_numbers(t, f, "value"),
           *error = risk_table_numbers(t, f, "standard_error");
    for (int64_t i = 0; !t->failed && i < n; i++) {
        const struct risk_greek *g = &rows[i];
        int whole = g->position == r->portfolio.n;
        double quantity =
            whole ? 1 : r->portfolio.positions[g->position].quantity;
        id[i] = whole ? "portfolio" : r->portfolio.positions[g->position].id;
        factor[i] = g->factor < 0 ? "all" : r->market.assets[g->factor].name;
        greek[i] = g->name;
        method[i] = g->method;
        unit[i] = g->unit.value;
        unit_error[i] = g->unit.error;
        value[i] = quantity * g->unit.value;
        error[i] = fabs(quantity) * g->unit.error;
    }
}

static void add_var(struct risk *r, struct risk_tables *t)
{
    const struct risk_var *v = r->var;
    if (v == NULL || !v->done)
        return;
    struct risk_filling *f = risk_table_add(
        t, "var", v->n_levels,
        "value at risk (var) with the interval var_low to var_high that holds "
        "the true one with the confidence asked for, and expected shortfall "
        "with its standard error; losses are positive; full revaluation, of "
        "each position as var_instruments says; revaluation_error: at most "
        "that of the portfolio's value at the horizon, root mean square");
    double *level = risk_table_numbers(t, f, "level"),
           *var = risk_table_numbers(t, f, "var"),
           *low = risk_table_numbers(t, f, "var_low"),
           *high = risk_table_numbers(t, f, "var_high"),
           *es = risk_table_numbers(t, f, "expected_shortfall"),
           *error = risk_table_numbers(t, f, "expected_shortfall_error"),
           *confidence = risk_table_numbers(t, f, "confidence"),
           *horizon = risk_table_numbers(t, f, "horizon"),
           *paths = risk_table_numbers(t, f, "paths"),
           *revaluation = risk_table_numbers(t, f, "revaluation_error");
    double rest = 0;
    for (int32_t q = 0; q < r->portfolio.n; q++)
        rest += fabs(r->portfolio.positions[q].quantity) * v->methods[q].error;
    for (int i = 0; !t->failed && i < v->n_levels; i++) {
        revaluation[i] = rest;
        level[i] = v->levels[i].level;
        var[i] = v->levels[i].var;
        low[i] = v->levels[i].low;
        high[i] = v->levels[i].high;
        es[i] = v->levels[i].shortfall.value;
        error[i] = v->levels[i].shortfall.error;
        confidence[i] = v->confidence;
        horizon[i] = v->horizon;
        paths[i] = (double)v->paths_done;
    }
}

static void add_profits(struct risk *r, struct risk_tables *t)
{
    const struct risk_var *v = r->var;
    if (v == NULL || !v->done)
        return;
    struct risk_filling *f = risk_table_add(
        t, "profit_histogram", RISK_PROFIT_BINS,
        "how many paths have a profit of the portfolio, at the horizon, from "
        "low to high; losses are negative; equal bins, but for the first and "
        "the last one, which reach to the least and the greatest profit");
    double *low = risk_table_numbers(t, f, "low"),
           *high = risk_table_numbers(t, f, "high"),
           *count = risk_table_numbers(t, f, "count");
    for (int i = 0; !t->failed && i < RISK_PROFIT_BINS; i++) {
        low[i] = v->profits.edges[i];
        high[i] = v->profits.edges[i + 1];
        count[i] = (double)v->profits.count[i];
    }
}

static void add_var_parts(struct risk *r, struct risk_tables *t)
{
    const struct risk_var *v = r->var;
    const int32_t n = r->portfolio.n;
    if (v == NULL || !v->done)
        return;
    struct risk_filling *f = risk_table_add(
        t, "var_instruments", (int64_t)v->n_levels * n,
        "each position's part of VaR and of expected shortfall, which add up "
        "to the portfolio's; marginal: of one unit more; incremental: VaR less "
        "that without the position, on the same paths");
    const char **id = risk_table_texts(t, f, "id"),
               **method = risk_table_texts(t, f, "revaluation");
    double *level = risk_table_numbers(t, f, "level"),
           *revaluation = risk_table_numbers(t, f, "revaluation_error"),
           *var = risk_table_numbers(t, f, "component_var"),
           *var_error = risk_table_numbers(t, f, "component_var_error"),
           *es = risk_table_numbers(t, f, "component_shortfall"),
           *es_error = risk_table_numbers(t, f, "component_shortfall_error"),
           *marginal = risk_table_numbers(t, f, "marginal_var"),
           *incremental = risk_table_numbers(t, f, "incremental_var");
    for (int64_t i = 0; !t->failed && i < f->table.n_rows; i++) {
        const struct risk_position *p = &r->portfolio.positions[i % n];
        const struct risk_var_part *part = &v->parts[i];
        id[i] = p->id;
        method[i] = v->methods[i % n].name;
        revaluation[i] = fabs(p->quantity) * v->methods[i % n].error;
        level[i] = v->levels[i / n].level;
        var[i] = part->var.value;
        var_error[i] = part->var.error;
        es[i] = part->shortfall.value;
        es_error[i] = part->shortfall.error;
        marginal[i] = p->quantity != 0 ? part->var.value / p->quantity : 0;
        incremental[i] = part->incremental;
    }
}

static void add_portfolio(struct risk *r, struct risk_tables *t)
{
    struct risk_filling *f =
        risk_table_add(t, "portfolio", 1,
                       "all positions together; samples: of which the standard "
                       "error is, pairs of paths where they are antithetic");
    double *value = risk_table_numbers(t, f, "value"),
           *error = risk_table_numbers(t, f, "standard_error");
    double *paths = risk_table_numbers(t, f, "paths"),
           *samples = risk_table_numbers(t, f, "samples");
    if (t->failed)
        return;
    value[0] = r->prices[r->portfolio.n].value.value;
    error[0] = r->prices[r->portfolio.n].value.error;
    samples[0] = risk_samples_done(r);
    paths[0] = samples[0] * (r->antithetic ? 2 : 1);
}

static void add_correlation(struct risk *r, struct risk_tables *t)
{
    const int n = r->market.n;
    struct risk_filling *f = risk_table_add(
        t, "correlation", n,
        "correlation of the factors' Brownian motions, after any repair");
    for (int j = 0; j < n; j++) {
        double *c = risk_table_numbers(t, f, r->market.assets[j].name);
        for (int i = 0; c != NULL && i < n; i++)
            c[i] = r->market.correlation[i * n + j];
    }
    if (!(r->market.repair_distance > 0))
        return;
    f = risk_table_add(
        t, "correlation_repair", 1,
        "what the repair changed: Frobenius norm of the difference");
    double *distance = risk_table_numbers(t, f, "distance");
    if (distance != NULL)
        distance[0] = r->market.repair_distance;
}

static void finish_tables(struct risk_tables *t)
{
    for (int i = 0; i < t->n; i++) {
        t->tables[i] = t->filling[i].table;
        t->tables[i].n_columns = t->filling[i].n_columns;
    }
}

/* ---- the terminal ---- */

/* What of a name fits a column. */
static void print_row(struct ctx *ctx, const char *name, const char *type,
                      double quantity, double value, double error,
                      const char *method)
{
    char number[32] = "";
    if (isfinite(quantity))
        snprintf(number, sizeof number, "%.6g", quantity);
    log_info(ctx->log, "  %-24.24s %-18s %10s %14.4f %12.4g  %s", name, type,
             number, value, error, method);
}

/* How positions were valued at the horizon: how many in which way. */
static void print_revaluation(struct ctx *ctx, const struct risk *r)
{
    static const char *const ways[] = {"closed form", "regressed", "nested",
                                       "paid by the horizon"};
    char text[160] = "";
    size_t used = 0;
    for (int w = 0; r->var != NULL && w < 4; w++) {
        int32_t n = 0;
        for (int32_t q = 0; q < r->portfolio.n; q++)
            n += strcmp(r->var->methods[q].name, ways[w]) == 0;
        if (n > 0 && used < sizeof text)
            used += (size_t)snprintf(text + used, sizeof text - used, "%s%s %d",
                                     used > 0 ? ", " : "", ways[w], (int)n);
    }
    if (used > 0)
        log_info(ctx->log, "  value at the horizon: %s", text);
}

static void print_greeks(struct ctx *ctx, struct risk *r)
{
    int64_t n = 0, shown = 0;
    if (r->greeks == NULL)
        return;
    const struct risk_greek *rows = risk_greeks_numbers(r, &n);
    log_info(ctx->log, "  %-24s %-12s %-12s %14s %12s  %s", "sensitivity of",
             "to", "factor", "value", "std. error", "method");
    /* The portfolio's, then those of positions while there is room. */
    for (int whole = 1; whole >= 0; whole--)
        for (int64_t i = 0; i < n && shown < 2 * SHOWN_MAX; i++) {
            const struct risk_greek *g = &rows[i];
            if ((g->position == r->portfolio.n) != whole)
                continue;
            const struct risk_position *p =
                whole ? NULL : &r->portfolio.positions[g->position];
            const double quantity = whole ? 1 : p->quantity;
            log_info(ctx->log, "  %-24.24s %-12s %-12.12s %14.4f %12.4g  %s",
                     whole ? "portfolio" : p->id, g->name,
                     g->factor < 0 ? "all" : r->market.assets[g->factor].name,
                     quantity * g->unit.value, fabs(quantity) * g->unit.error,
                     g->method);
            shown++;
        }
    if (shown < n)
        log_info(ctx->log, "  ... and %lld more, in the file",
                 (long long)(n - shown));
}

static void print_summary(struct ctx *ctx, const struct risk *r)
{
    const int32_t n = r->portfolio.n;
    const struct risk_price *all = &r->prices[n];
    log_info(ctx->log, "%s", "");
    log_info(ctx->log, "  %-24s %-18s %10s %14s %12s  %s", "position", "type",
             "quantity", "value", "std. error", "method");
    for (int32_t i = 0; i < n && i < SHOWN_MAX; i++) {
        const struct risk_position *p = &r->portfolio.positions[i];
        const struct risk_price *q = &r->prices[i];
        print_row(ctx, p->id, risk_type_name(p->type), p->quantity,
                  p->quantity * q->value.value,
                  fabs(p->quantity) * q->value.error, q->method);
    }
    if (n > SHOWN_MAX)
        log_info(ctx->log, "  ... and %d more, in the file", n - SHOWN_MAX);
    print_row(ctx, "portfolio", "", NAN, all->value.value, all->value.error,
              all->method);
    for (int i = 0; r->var != NULL && i < r->var->n_levels; i++) {
        const struct risk_var_level *v = &r->var->levels[i];
        log_info(ctx->log,
                 "  VaR %.6g %%: %.6g (%.6g to %.6g); expected shortfall %.6g "
                 "+- %.2g; losses are positive",
                 100 * v->level, v->var, v->low, v->high, v->shortfall.value,
                 v->shortfall.error);
    }
    print_revaluation(ctx, r);
}

int risk_results(struct ctx *ctx, void *state,
                 const struct result_table **tables, int *n)
{
    struct risk *r = state;
    int status = 0;
    *n = 0;
    *tables = NULL;
    if (r->chunks_done == 0)
        return 0;
    if (r->var != NULL && !r->var->done)
        TRY(risk_var_run(ctx, r));
    if (r->frontier != NULL && r->frontier->n_done == 0)
        TRY(risk_frontier_run(ctx, r));
    if (r->exposure != NULL && !r->exposure->done)
        TRY(risk_exposure_run(ctx, r));
    risk_results_free(r);
    r->tables = calloc(1, sizeof *r->tables);
    if (r->tables != NULL) {
        add_instruments(r, r->tables);
        add_greeks(r, r->tables);
        add_var(r, r->tables);
        add_var_parts(r, r->tables);
        add_profits(r, r->tables);
        risk_exposure_tables(r, r->tables);
        risk_frontier_tables(r, r->tables);
        risk_scenarios_tables(r, r->tables);
        add_portfolio(r, r->tables);
        add_correlation(r, r->tables);
        finish_tables(r->tables);
    }
    if (r->tables == NULL || r->tables->failed)
        status = FAIL(ctx, STATUS_MEMORY, "no memory for result tables");
    TRY(comm_agree(ctx, status));
    print_summary(ctx, r);
    print_greeks(ctx, r);
    risk_exposure_print(ctx, r);
    risk_scenarios_print(ctx, r);
    risk_frontier_print(ctx, r);
    *tables = r->tables->tables;
    *n = r->tables->n;
    return 0;
}
