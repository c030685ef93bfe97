/* risk_scenarios.c: historical value at risk and stress, from files of the
 * factors' changes. */
#include "solvers/risk/risk_scenarios.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/comm.h"
#include "base/ctx.h"
#include "base/error.h"
#include "base/log.h"
#include "base/param.h"
#include "kernels/risk/value.h"
#include "solvers/risk/risk.h"
#include "solvers/risk/risk_csv.h"
#include "solvers/risk/risk_results.h"
#include "solvers/risk/risk_var.h"

static const char section[] = "risk.scenarios";

/* ---- files ---- */

enum shock { SHOCK_RELATIVE, SHOCK_LOG, SHOCK_ABSOLUTE };

static double shocked(enum shock shock, double spot, double x)
{
    switch (shock) {
    case SHOCK_LOG:
        return spot * exp(x);
    case SHOCK_ABSOLUTE:
        return spot + x;
    default:
        return spot * (1 + x);
    }
}

static int set_room(struct ctx *ctx, const struct risk *risk,
                    struct risk_scenario_set *s, int64_t n)
{
    const size_t nf = (size_t)risk->market.n, np = (size_t)risk->portfolio.n;
    s->n = n;
    s->stride = ((size_t)n + 7) / 8 * 8;
    s->names = calloc((size_t)n + 1, sizeof *s->names);
    s->spot = aligned_alloc(64, nf * s->stride * sizeof(double) + 64);
    s->pnl = aligned_alloc(64, (np + 1) * s->stride * sizeof(double) + 64);
    if (s->names == NULL || s->spot == NULL || s->pnl == NULL)
        return FAIL(ctx, STATUS_MEMORY, "no memory for scenarios");
    for (size_t f = 0; f < nf; f++)
        for (size_t i = 0; i < s->stride; i++)
            s->spot[f * s->stride + i] = risk->market.assets[f].model.spot;
    return 0;
}

static int factor_of(const struct risk_market *m, const char *name)
{
    for (int f = 0; f < m->n; f++)
        if (strcmp(m->assets[f].name, name) == 0)
            return f;
    return -1;
}

static void fill_column(struct csv *c, int column, const struct risk_market *m,
                        int f, enum shock shock, struct risk_scenario_set *s)
{
    for (int64_t row = 0; row < c->n_rows; row++) {
        const struct csv_cell *cell = csv_cell(c, row, column);
        double x;
        if (csv_number(c, cell, c->header[column].text, &x) != 0)
            continue;
        const double spot = shocked(shock, m->assets[f].model.spot, x);
        if (!(spot > 0) || !isfinite(spot))
            csv_error(c, cell->line, cell->column,
                      "%s: the change %g makes a price of %g from %g; prices "
                      "stay above 0",
                      m->assets[f].name, x, spot, m->assets[f].model.spot);
        s->spot[(size_t)f * s->stride + (size_t)row] = spot;
    }
}

/* Names of scenarios; of history they may be left out. */
static int fill_names(struct ctx *ctx, struct csv *c, int column, int needed,
                      struct risk_scenario_set *s)
{
    char number[32];
    if (column < 0 && needed)
        csv_error(c, 1, 1, "column 'name' is missing");
    for (int64_t row = 0; row < c->n_rows; row++) {
        const char *name = number;
        snprintf(number, sizeof number, "%lld", (long long)row + 1);
        if (column >= 0) {
            const struct csv_cell *cell = csv_cell(c, row, column);
            name = cell->text;
            if (name[0] == '\0' || strlen(name) >= RISK_NAME_MAX ||
                text_has_control(name))
                csv_error(c, cell->line, cell->column,
                          "name: expected a text of 1 to %d bytes without "
                          "control characters",
                          RISK_NAME_MAX - 1);
        }
        s->names[row] = calloc(strlen(name) + 1, 1);
        if (s->names[row] == NULL)
            return FAIL(ctx, STATUS_MEMORY, "no memory for scenarios");
        memcpy(s->names[row], name, strlen(name));
    }
    return 0;
}

static int set_read(struct ctx *ctx, struct risk *risk, const char *folder,
                    const char *file, int needs_names, enum shock shock,
                    struct risk_scenario_set *s)
{
    struct csv c;
    int status;
    TRY_CLEANUP(csv_read(ctx, folder, file, &c));
    TRY_CLEANUP(csv_finish(ctx, &c));
    risk_file_note(risk, file, c.hash);
    TRY_CLEANUP(comm_agree(ctx, set_room(ctx, risk, s, c.n_rows)));
    const int name = csv_column(&c, "name");
    TRY_CLEANUP(comm_agree(ctx, fill_names(ctx, &c, name, needs_names, s)));
    if (c.n_rows == 0)
        csv_error(&c, 1, 1, "there are no scenarios");
    for (int i = 0; i < c.n_columns; i++) {
        const int f = factor_of(&risk->market, c.header[i].text);
        if (f >= 0)
            fill_column(&c, i, &risk->market, f, shock, s);
        else if (i != name)
            csv_error(&c, c.header[i].line, c.header[i].column,
                      "there is no factor '%.60s'", c.header[i].text);
    }
    status = csv_finish(ctx, &c);
cleanup:
    csv_free(&c);
    return status;
}

/* ---- values ---- */

static int value_today(struct ctx *ctx, const struct risk *risk,
                       struct risk_valuation *v, double *now)
{
    double spot[RISK_FACTORS_MAX * 8] __attribute__((aligned(64))),
        value[8] __attribute__((aligned(64)));
    for (int f = 0; f < risk->market.n; f++)
        for (int i = 0; i < 8; i++)
            spot[f * 8 + i] = risk->market.assets[f].model.spot;
    for (int32_t q = 0; q < risk->portfolio.n; q++) {
        int status = risk_value_make(ctx, risk, q, 0, &v[q]);
        if (status != 0)
            return error_context(ctx, status,
                                 "in [risk.scenarios], which revalues "
                                 "positions in closed form");
        risk_value_paths(&v[q], spot, 8, 8, value);
        now[q] = value[0];
    }
    return 0;
}

static void set_value(const struct risk *risk, const struct risk_valuation *v,
                      const double *now, struct risk_scenario_set *s)
{
    const size_t np = (size_t)risk->portfolio.n;
    double *all = s->pnl + np * s->stride;
    for (size_t i = 0; i < s->stride; i++)
        all[i] = 0;
    for (size_t q = 0; s->n > 0 && q < np; q++) {
        double *pnl = s->pnl + q * s->stride;
        const double quantity = risk->portfolio.positions[q].quantity;
        risk_value_paths(&v[q], s->spot, s->stride, s->stride, pnl);
        for (size_t i = 0; i < s->stride; i++) {
            pnl[i] = quantity * (pnl[i] - now[q]);
            all[i] += pnl[i];
        }
    }
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The estimators of risk_var.c. */
static void fill_level(const double *loss, int64_t n, double confidence,
                       struct risk_var_level *l)
{
    const double tail = (double)n * (1 - l->level);
    int64_t low, high, k = (int64_t)fmax(ceil((double)n * l->level - 1e-9), 1);
    double sum = 0, squares = 0, m = (double)(n - k);
    risk_interval_ranks(n, l->level, confidence, &low, &high);
    l->var = loss[k - 1];
    l->low = low >= 1 ? loss[low - 1] : -INFINITY;
    l->high = high <= n ? loss[high - 1] : INFINITY;
    for (int64_t i = k; i < n; i++) {
        sum += loss[i] - l->var;
        squares += (loss[i] - l->var) * (loss[i] - l->var);
    }
    const double mean = m > 0 ? sum / m : 0,
                 variance = m > 0 ? fmax(squares / m - mean * mean, 0) : 0;
    l->shortfall.value = l->var + sum / tail;
    l->shortfall.error = sqrt((variance + l->level * mean * mean) / tail);
}

static int fill_levels(struct ctx *ctx, const struct risk *risk,
                       struct risk_scenarios *s)
{
    const int64_t n = s->history.n;
    const double *pnl =
        s->history.pnl + (size_t)risk->portfolio.n * s->history.stride;
    double *loss = calloc((size_t)n + 1, sizeof *loss);
    s->levels = calloc((size_t)risk->var->n_levels + 1, sizeof *s->levels);
    if (loss == NULL || s->levels == NULL) {
        free(loss);
        return FAIL(ctx, STATUS_MEMORY, "no memory for scenarios");
    }
    for (int64_t i = 0; i < n; i++)
        loss[i] = -pnl[i];
    qsort(loss, (size_t)n, sizeof *loss, by_size);
    for (int i = 0; i < risk->var->n_levels; i++) {
        s->levels[i].level = risk->var->levels[i].level;
        fill_level(loss, n, risk->var->confidence, &s->levels[i]);
    }
    free(loss);
    return 0;
}

static int value_all(struct ctx *ctx, const struct risk *risk)
{
    struct risk_scenarios *s = risk->scenarios;
    const size_t np = (size_t)risk->portfolio.n;
    struct risk_valuation *v = calloc(np + 1, sizeof *v);
    s->now = calloc(np + 1, sizeof *s->now);
    int status = 0;
    if (v == NULL || s->now == NULL)
        status = FAIL(ctx, STATUS_MEMORY, "no memory for scenarios");
    if (status == 0)
        status = value_today(ctx, risk, v, s->now);
    if (status == 0) {
        set_value(risk, v, s->now, &s->history);
        set_value(risk, v, s->now, &s->stress);
    }
    if (status == 0 && s->history.n > 0)
        status = fill_levels(ctx, risk, s);
    free(v);
    return status;
}

int risk_scenarios_read(struct ctx *ctx, struct params *p, struct risk *risk)
{
    static const char *const names[] = {"relative", "log", "absolute"};
    int status = 0;
    if (!params_has_section(p, section))
        return 0;
    const int history = params_is_set(p, "risk.scenarios", "history"),
              stress = params_is_set(p, "risk.scenarios", "stress");
    if (risk->var == NULL || (!history && !stress)) {
        params_error(p, section, NULL,
                     risk->var == NULL
                         ? "risk.engines does not name \"var\""
                         : "history or stress is needed, or both");
        return 0;
    }
    struct risk_scenarios *s = risk->scenarios = calloc(1, sizeof *s);
    if (s == NULL)
        status = FAIL(ctx, STATUS_MEMORY, "no memory for scenarios");
    TRY(comm_agree(ctx, status));
    const char *shocks = params_string(p, "risk.scenarios", "shocks");
    enum shock shock = SHOCK_RELATIVE;
    for (int i = 0; i < 3; i++)
        if (strcmp(shocks, names[i]) == 0)
            shock = (enum shock)i;
    if (history)
        TRY(set_read(ctx, risk, params_folder(p),
                     params_string(p, "risk.scenarios", "history"), 0, shock,
                     &s->history));
    if (stress)
        TRY(set_read(ctx, risk, params_folder(p),
                     params_string(p, "risk.scenarios", "stress"), 1, shock,
                     &s->stress));
    return comm_agree(ctx, value_all(ctx, risk));
}

static void set_free(struct risk_scenario_set *s)
{
    for (int64_t i = 0; s->names != NULL && i < s->n; i++)
        free(s->names[i]);
    free(s->names);
    free(s->spot);
    free(s->pnl);
}

void risk_scenarios_free(struct risk *risk)
{
    struct risk_scenarios *s = risk->scenarios;
    if (s == NULL)
        return;
    set_free(&s->history);
    set_free(&s->stress);
    free(s->now);
    free(s->levels);
    free(s);
    risk->scenarios = NULL;
}

/* ---- results ---- */

static void add_set(const struct risk *risk, struct risk_tables *t,
                    const struct risk_scenario_set *s, const char *group,
                    const char *description)
{
    if (s->n == 0)
        return;
    struct risk_filling *f = risk_table_add(t, group, s->n, description);
    const char **name = risk_table_texts(t, f, "name");
    double *pnl = risk_table_numbers(t, f, "pnl");
    const double *all = s->pnl + (size_t)risk->portfolio.n * s->stride;
    for (int64_t i = 0; !t->failed && i < s->n; i++) {
        name[i] = s->names[i];
        pnl[i] = all[i];
    }
}

static void add_levels(const struct risk *risk, struct risk_tables *t)
{
    const struct risk_scenarios *s = risk->scenarios;
    const int n = risk->var->n_levels;
    struct risk_filling *f = risk_table_add(
        t, "scenarios/var", n,
        "value at risk and expected shortfall of the scenarios of history, as "
        "/risk/var has them of simulated ones; losses are positive");
    double *level = risk_table_numbers(t, f, "level"),
           *var = risk_table_numbers(t, f, "var"),
           *low = risk_table_numbers(t, f, "var_low"),
           *high = risk_table_numbers(t, f, "var_high"),
           *es = risk_table_numbers(t, f, "expected_shortfall"),
           *error = risk_table_numbers(t, f, "expected_shortfall_error");
    for (int i = 0; !t->failed && i < n; i++) {
        level[i] = s->levels[i].level;
        var[i] = s->levels[i].var;
        low[i] = s->levels[i].low;
        high[i] = s->levels[i].high;
        es[i] = s->levels[i].shortfall.value;
        error[i] = s->levels[i].shortfall.error;
    }
}

static void add_instruments(const struct risk *risk, struct risk_tables *t)
{
    const struct risk_scenario_set *s = &risk->scenarios->stress;
    const int64_t np = risk->portfolio.n;
    struct risk_filling *f =
        risk_table_add(t, "scenarios/stress_instruments", s->n * np,
                       "each position's profit (or loss, negative) in each "
                       "scenario of stress");
    const char **name = risk_table_texts(t, f, "name"),
               **id = risk_table_texts(t, f, "id");
    double *pnl = risk_table_numbers(t, f, "pnl");
    for (int64_t i = 0; !t->failed && i < s->n * np; i++) {
        name[i] = s->names[i / np];
        id[i] = risk->portfolio.positions[i % np].id;
        pnl[i] = s->pnl[(size_t)(i % np) * s->stride + (size_t)(i / np)];
    }
}

void risk_scenarios_tables(const struct risk *risk, struct risk_tables *t)
{
    const struct risk_scenarios *s = risk->scenarios;
    if (s == NULL)
        return;
    add_set(risk, t, &s->history, "scenarios/history",
            "the portfolio's profit (or loss, negative) in each scenario of "
            "history, applied to the market of today");
    if (s->history.n > 0)
        add_levels(risk, t);
    add_set(risk, t, &s->stress, "scenarios/stress",
            "the portfolio's profit (or loss, negative) in each scenario of "
            "stress, applied to the market of today");
    if (s->stress.n > 0)
        add_instruments(risk, t);
}

void risk_scenarios_print(struct ctx *ctx, const struct risk *risk)
{
    enum { SHOWN_MAX = 20 };
    const struct risk_scenarios *s = risk->scenarios;
    for (int i = 0; s != NULL && s->history.n > 0 && i < risk->var->n_levels;
         i++) {
        const struct risk_var_level *l = &s->levels[i];
        log_info(ctx->log,
                 "  historical VaR %.6g %%: %.6g (%.6g to %.6g); expected "
                 "shortfall %.6g +- %.2g; %lld scenarios",
                 100 * l->level, l->var, l->low, l->high, l->shortfall.value,
                 l->shortfall.error, (long long)s->history.n);
    }
    for (int64_t i = 0; s != NULL && i < s->stress.n && i < SHOWN_MAX; i++)
        log_info(
            ctx->log, "  stress %-24.24s profit %14.4f", s->stress.names[i],
            s->stress
                .pnl[(size_t)risk->portfolio.n * s->stress.stride + (size_t)i]);
    if (s != NULL && s->stress.n > SHOWN_MAX)
        log_info(ctx->log, "  ... and %lld more, in the file",
                 (long long)s->stress.n - SHOWN_MAX);
}
