/* risk_params.c: what the keys of [risk...] become.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/comm.h"
#include "base/ctx.h"
#include "base/error.h"
#include "base/param.h"
#include "solvers/risk/risk.h"
#include "solvers/risk/risk_csv.h"
#include "solvers/risk/risk_exposure.h"
#include "solvers/risk/risk_frontier.h"
#include "solvers/risk/risk_scenarios.h"
#include "solvers/risk/risk_var.h"

static int has_word(const struct params *p, const char *key, const char *word)
{
    size_t n = 0;
    const char *const *words = params_strings(p, "risk", key, &n);
    for (size_t i = 0; i < n; i++)
        if (strcmp(words[i], word) == 0)
            return 1;
    return 0;
}

static void read_risk(struct params *p, struct risk *r)
{
    r->seed = (uint64_t)params_int(p, "run", "seed");
    r->paths = params_int(p, "risk", "paths");
    r->engines = RISK_ENGINE_PRICE;
    if (has_word(p, "engines", "greeks"))
        r->engines |= RISK_ENGINE_GREEKS;
    if (has_word(p, "engines", "var"))
        r->engines |= RISK_ENGINE_VAR;
    if (has_word(p, "engines", "portfolio"))
        r->engines |= RISK_ENGINE_PORTFOLIO;
    if (has_word(p, "engines", "exposure"))
        r->engines |= RISK_ENGINE_EXPOSURE;
    r->antithetic = has_word(p, "variance_reduction", "antithetic");
    r->control = has_word(p, "variance_reduction", "control");
    if (has_word(p, "variance_reduction", "none") &&
        (r->antithetic || r->control))
        params_error(p, "risk", "variance_reduction",
                     "\"none\" stands beside others");
    r->sobol = strcmp(params_string(p, "risk", "sampling"), "sobol") == 0;
    r->replicates = (int)params_int(p, "risk", "replicates");
    if (!r->sobol)
        params_refuse(p, "risk", "replicates",
                      "risk.replicates is for sampling = \"sobol\"");
    if (r->sobol && r->control)
        params_error(p, "risk", "variance_reduction",
                     "\"control\" needs many independent samples; with "
                     "sampling = \"sobol\" there are risk.replicates of them");
    if (params_is_set(p, "risk", "target_error"))
        r->target_error = params_double(p, "risk", "target_error");
    if (!params_is_set(p, "risk", "batches"))
        return;
    r->batches = params_int(p, "risk", "batches");
    if (params_is_set(p, "risk", "paths"))
        params_error(p, "risk", "batches",
                     "either risk.paths or risk.batches is given, not both");
}

/* Keys of the driver that mean nothing here are not passed over. */
static void refuse_others(struct params *p)
{
    static const char *const keys[] = {"frames_every", "fields",
                                       "frame_precision"};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        params_refuse(p, "output", keys[i],
                      "output.%s: a portfolio has no frames", keys[i]);
    if (params_has_section(p, "domain"))
        params_error(p, "domain", NULL, "a portfolio has no domain");
    params_refuse(p, "run", "units",
                  "run.units has no meaning here: times are years, prices are "
                  "in the currency of the spots");
}

/* ---- factors ---- */

struct model_key {
    const char *key;
    size_t offset;
    unsigned models; /* bits of enum risk_model */
};

#define KEY(name, models)                                   \
    {                                                       \
#name, offsetof(struct risk_factor, name), (models) \
    }
enum {
    GBM = 1 << RISK_GBM,
    HESTON = 1 << RISK_HESTON,
    MERTON = 1 << RISK_MERTON
};

static const struct model_key model_keys[] = {KEY(volatility, GBM | MERTON),
                                              KEY(variance, HESTON),
                                              KEY(kappa, HESTON),
                                              KEY(theta, HESTON),
                                              KEY(xi, HESTON),
                                              KEY(rho, HESTON),
                                              KEY(jump_rate, MERTON),
                                              KEY(jump_mean, MERTON),
                                              KEY(jump_volatility, MERTON)};

static void read_model(struct params *p, int i, struct risk_factor *f)
{
    static const char *const names[] = {"gbm", "heston", "merton"};
    const char *name = params_string_at(p, "risk.factor", i, "model");
    for (int m = 0; m < 3; m++)
        if (strcmp(name, names[m]) == 0)
            f->model = (enum risk_model)m;
    f->spot = params_double_at(p, "risk.factor", i, "spot");
    for (size_t k = 0; k < sizeof model_keys / sizeof model_keys[0]; k++) {
        const struct model_key *m = &model_keys[k];
        int given = params_is_set_at(p, "risk.factor", i, m->key);
        int taken = (m->models >> f->model) & 1;
        if (given && !taken)
            params_error_at(p, "risk.factor", i, m->key,
                            "the model \"%s\" takes no %s", name, m->key);
        else if (taken && !given)
            params_error_at(p, "risk.factor", i, NULL,
                            "%s is missing; the model \"%s\" needs it", m->key,
                            name);
        if (given && taken)
            *(double *)(void *)((char *)f + m->offset) =
                params_double_at(p, "risk.factor", i, m->key);
    }
}

static int read_curve(struct ctx *ctx, struct params *p, int i, const char *key,
                      const char *times_key, struct risk_curve *c)
{
    size_t n = 0, n_times = 0;
    const double *rates = params_doubles_at(p, "risk.factor", i, key, &n);
    const double *times =
        params_doubles_at(p, "risk.factor", i, times_key, &n_times);
    if (n_times + 1 != n) {
        params_error_at(p, "risk.factor", i, n_times > 0 ? times_key : key,
                        "%zu entries of %s and %zu of %s; expected one time "
                        "less than rates",
                        n, key, n_times, times_key);
        return 0;
    }
    for (size_t k = 1; k < n_times; k++)
        if (times[k] <= times[k - 1])
            params_error_at(p, "risk.factor", i, times_key,
                            "%s must rise: %g comes after %g", times_key,
                            times[k], times[k - 1]);
    return risk_curve_make(ctx, rates, n, times, c);
}

static void check_name(struct params *p, int i, const struct risk_market *m,
                       char *out)
{
    const char *name = params_string_at(p, "risk.factor", i, "name");
    if (name[0] == '\0' || strlen(name) >= RISK_NAME_MAX ||
        strpbrk(name, ";/") != NULL || text_has_control(name)) {
        params_error_at(p, "risk.factor", i, "name",
                        "expected 1 to %d bytes without ';', '/' and control "
                        "characters",
                        RISK_NAME_MAX - 1);
        return;
    }
    for (int j = 0; j < i; j++)
        if (strcmp(m->assets[j].name, name) == 0)
            params_error_at(p, "risk.factor", i, "name",
                            "there is a factor \"%s\" already", name);
    snprintf(out, RISK_NAME_MAX, "%s", name);
}

static int read_factors(struct ctx *ctx, struct params *p,
                        struct risk_market *m)
{
    m->n = params_count(p, "risk.factor");
    if (m->n > RISK_FACTORS_MAX) {
        params_error_at(p, "risk.factor", RISK_FACTORS_MAX, NULL,
                        "at most %d factors", RISK_FACTORS_MAX);
        m->n = RISK_FACTORS_MAX;
    }
    m->assets = calloc((size_t)m->n + 1, sizeof *m->assets);
    if (m->assets == NULL)
        return FAIL(ctx, STATUS_MEMORY, "no memory for the market");
    for (int i = 0; i < m->n; i++) {
        struct risk_asset *a = &m->assets[i];
        a->drift = NAN;
        if (params_is_set_at(p, "risk.factor", i, "drift"))
            a->drift = params_double_at(p, "risk.factor", i, "drift");
        check_name(p, i, m, a->name);
        read_model(p, i, &a->model);
        TRY(read_curve(ctx, p, i, "rate", "rate_times", &a->rate));
        TRY(read_curve(ctx, p, i, "dividend", "dividend_times", &a->dividend));
        double steps = a->model.model == RISK_HESTON ? 64 : 0;
        if (params_is_set_at(p, "risk.factor", i, "steps_per_year"))
            steps = params_double_at(p, "risk.factor", i, "steps_per_year");
        m->steps_per_year = fmax(m->steps_per_year, steps);
    }
    return 0;
}

/* ---- [risk.var] ---- */

static int read_var(struct ctx *ctx, struct params *p, struct risk *r)
{
    const int given = params_has_section(p, "risk.var");
    size_t n = 0;
    if (!(r->engines & RISK_ENGINE_VAR) || !given) {
        if (given)
            params_error(p, "risk.var", NULL,
                         "risk.engines does not name \"var\"");
        else if (r->engines & RISK_ENGINE_VAR)
            params_error(p, "risk", "engines",
                         "\"var\" needs a section [risk.var]");
        return 0;
    }
    const double *levels = params_doubles(p, "risk.var", "levels", &n);
    struct risk_var *v = r->var = calloc(1, sizeof *v);
    if (v != NULL)
        v->levels = calloc(n + 1, sizeof *v->levels);
    if (v == NULL || v->levels == NULL)
        return FAIL(ctx, STATUS_MEMORY, "no memory for levels");
    v->horizon = params_double(p, "risk.var", "horizon");
    v->confidence = params_double(p, "risk.var", "confidence");
    v->paths = params_int(p, "risk.var", "paths");
    v->regression_paths = params_int(p, "risk.var", "regression_paths");
    v->inner_paths = params_int(p, "risk.var", "inner_paths");
    const char *way = params_string(p, "risk.var", "revaluation");
    v->revaluation = strcmp(way, "closed-form") == 0 ? RISK_REVALUE_CLOSED
                     : strcmp(way, "nested") == 0    ? RISK_REVALUE_NESTED
                     : strcmp(way, "regressed") == 0 ? RISK_REVALUE_REGRESSED
                                                     : RISK_REVALUE_AUTO;
    v->normal = strcmp(params_string(p, "risk.var", "returns"), "normal") == 0;
    v->n_levels = (int)n;
    for (size_t i = 0; i < n; i++)
        v->levels[i].level = levels[i];
    for (int f = 0; v->normal && f < r->market.n; f++)
        if (r->market.assets[f].model.model != RISK_GBM)
            params_error(p, "risk.var", "returns",
                         "\"normal\" is for gbm factors; \"%s\" is another",
                         r->market.assets[f].name);
    return 0;
}

/* ---- correlation ---- */

static void check_matrix(struct params *p, const struct risk_market *m)
{
    const double *c = m->correlation;
    for (int i = 0; i < m->n; i++) {
        if (c[i * m->n + i] != 1)
            params_error(p, "risk.correlation", "matrix",
                         "entry (%d, %d) = %g must be 1", i + 1, i + 1,
                         c[i * m->n + i]);
        for (int j = 0; j < i; j++)
            if (c[i * m->n + j] != c[j * m->n + i])
                params_error(p, "risk.correlation", "matrix",
                             "not symmetric: entry (%d, %d) = %g, but (%d, "
                             "%d) = %g",
                             i + 1, j + 1, c[i * m->n + j], j + 1, i + 1,
                             c[j * m->n + i]);
    }
}

static void take_matrix(struct params *p, struct risk_market *m)
{
    size_t rows = 0, columns = 0;
    const double *a =
        params_matrix(p, "risk.correlation", "matrix", &rows, &columns);
    if (rows != (size_t)m->n || columns != (size_t)m->n) {
        params_error(p, "risk.correlation", "matrix",
                     "%zu x %zu entries, but there are %d factors", rows,
                     columns, m->n);
        return;
    }
    memcpy(m->correlation, a, rows * columns * sizeof *a);
    check_matrix(p, m);
}

static int read_correlation(struct ctx *ctx, struct params *p, struct risk *r)
{
    struct risk_market *m = &r->market;
    const size_t n = (size_t)m->n;
    int matrix = params_is_set(p, "risk.correlation", "matrix");
    int file = params_is_set(p, "risk.correlation", "file");
    m->correlation = calloc(n * n + 1, sizeof *m->correlation);
    if (m->correlation == NULL)
        return FAIL(ctx, STATUS_MEMORY, "no memory for the market");
    for (size_t i = 0; i < n; i++)
        m->correlation[i * n + i] = 1;
    snprintf(m->repair, sizeof m->repair, "none");
    if (!params_has_section(p, "risk.correlation"))
        return 0;
    snprintf(m->repair, sizeof m->repair, "%s",
             params_string(p, "risk.correlation", "repair"));
    if (matrix == file)
        params_error(p, "risk.correlation", file ? "file" : NULL,
                     "either matrix or file is needed");
    else if (matrix)
        take_matrix(p, m);
    return 0;
}

static int factor_of(struct csv *csv, const struct csv_cell *cell,
                     const struct risk_market *m)
{
    for (int f = 0; f < m->n; f++)
        if (strcmp(m->assets[f].name, cell->text) == 0)
            return f;
    csv_error(csv, cell->line, cell->column, "there is no factor '%.60s'",
              cell->text);
    return -1;
}

/* The numbers by name; each (i, j) must come once and equal (j, i). */
static void fill_matrix(struct csv *csv, struct risk_market *m)
{
    for (int64_t row = 0; row < csv->n_rows; row++) {
        int i = factor_of(csv, csv_cell(csv, row, 0), m);
        for (int c = 1; c < csv->n_columns; c++) {
            const struct csv_cell *cell = csv_cell(csv, row, c);
            int j = factor_of(csv, &csv->header[c], m);
            double v;
            if (i < 0 || j < 0 || csv_number(csv, cell, "correlation", &v) != 0)
                continue;
            if (i == j ? v != 1 : fabs(v) > 1)
                csv_error(csv, cell->line, cell->column,
                          "correlation of %s and %s is %g; expected %s",
                          m->assets[i].name, m->assets[j].name, v,
                          i == j ? "1" : "-1 to 1");
            m->correlation[i * m->n + j] = v;
        }
    }
    for (int i = 0; i < m->n && csv->n_errors == 0; i++)
        for (int j = 0; j < i; j++)
            if (m->correlation[i * m->n + j] != m->correlation[j * m->n + i])
                csv_error(csv, 1, 1, "not symmetric: %s and %s have %g and %g",
                          m->assets[i].name, m->assets[j].name,
                          m->correlation[i * m->n + j],
                          m->correlation[j * m->n + i]);
}

int risk_correlation_read(struct ctx *ctx, struct risk *risk,
                          const char *folder, const char *name)
{
    struct csv csv;
    int status, n = risk->market.n;
    TRY_CLEANUP(csv_read(ctx, folder, name, &csv));
    if (csv.n_columns != n + 1 || csv.n_rows != n)
        csv_error(&csv, 1, 1,
                  "%lld rows and %d columns of numbers, but there are %d "
                  "factors",
                  (long long)csv.n_rows, csv.n_columns - 1, n);
    for (int64_t i = 0; i < csv.n_rows; i++)
        for (int64_t j = 0; j < i; j++)
            if (strcmp(csv_cell(&csv, i, 0)->text,
                       csv_cell(&csv, j, 0)->text) == 0)
                csv_error(&csv, csv_cell(&csv, i, 0)->line, 1,
                          "the row of '%.60s' stands twice",
                          csv_cell(&csv, i, 0)->text);
    TRY_CLEANUP(csv_finish(ctx, &csv));
    fill_matrix(&csv, &risk->market);
    risk_file_note(risk, name, csv.hash);
    status = csv_finish(ctx, &csv);
cleanup:
    csv_free(&csv);
    return status;
}

/* Its root, or what is wrong with it, at its place in the deck. */
static int make_root(struct ctx *ctx, struct params *p, struct risk_market *m)
{
    const int file = params_is_set(p, "risk.correlation", "file");
    TRY(comm_agree(ctx, risk_market_root(ctx, m)));
    if (m->indefinite < 0)
        params_error(p, "risk.correlation", file ? "file" : "matrix",
                     "the correlation matrix%s%s%s is not positive "
                     "semi-definite: its smallest eigenvalue is %.6g; correct "
                     "it, or let risk.correlation.repair = \"spectral\" or "
                     "\"higham\" change it",
                     file ? " of " : "",
                     file ? params_string(p, "risk.correlation", "file") : "",
                     risk_market_has_heston(m)
                         ? ", or that of the drivers beside Heston's variance,"
                         : "",
                     m->indefinite);
    return params_finish(ctx, p);
}

/* ---- positions ---- */

/* An entry's place in the deck. */
struct place {
    struct params *p;
    int index;
};

static void complain(void *user, enum risk_field field, const char *text)
{
    const struct place *at = user;
    params_error_at(at->p, "risk.instrument", at->index,
                    risk_field_names[field], "%s", text);
}

static void read_lists(struct params *p, int i, struct risk_entry *e)
{
    size_t n = 0;
    const char *const *factors =
        params_strings_at(p, "risk.instrument", i, "factor", &n);
    e->n_factors = n <= RISK_LEGS_MAX ? (int)n : RISK_LEGS_MAX + 1;
    for (int k = 0; k < e->n_factors && k < RISK_LEGS_MAX; k++)
        e->factor[k] = factors[k];
    if (!e->given[RISK_FIELD_WEIGHTS])
        return;
    const double *weights =
        params_doubles_at(p, "risk.instrument", i, "weights", &n);
    e->n_weights = n <= RISK_LEGS_MAX ? (int)n : RISK_LEGS_MAX + 1;
    for (int k = 0; k < e->n_weights && k < RISK_LEGS_MAX; k++)
        e->weight[k] = weights[k];
}

static int read_instrument(struct ctx *ctx, struct params *p, int i,
                           struct risk *risk)
{
    struct place at = {p, i};
    struct risk_entry e = {.complain = complain, .user = &at};
    snprintf(e.where, sizeof e.where, "[[risk.instrument]] number %d", i + 1);
    for (int f = 0; f < RISK_FIELDS; f++) {
        const char *key = risk_field_names[f];
        e.given[f] = params_is_set_at(p, "risk.instrument", i, key);
        if (!e.given[f])
            continue;
        switch (f) {
        case RISK_FIELD_FACTOR:
        case RISK_FIELD_WEIGHTS:
            break;
        case RISK_FIELD_ID:
        case RISK_FIELD_TYPE:
        case RISK_FIELD_SIDE:
        case RISK_FIELD_KIND:
        case RISK_FIELD_MONITORING:
        case RISK_FIELD_NETTING:
        case RISK_FIELD_MATURITY_DATE:
            e.text[f] = params_string_at(p, "risk.instrument", i, key);
            break;
        default:
            e.number[f] = params_double_at(p, "risk.instrument", i, key);
        }
    }
    read_lists(p, i, &e);
    return risk_portfolio_add(ctx, &risk->market, &risk->portfolio, &e);
}

static int read_positions(struct ctx *ctx, struct params *p, struct risk *r)
{
    if (params_is_set(p, "risk.portfolio", "file"))
        TRY(risk_portfolio_read(ctx, r, params_folder(p),
                                params_string(p, "risk.portfolio", "file")));
    for (int i = 0; i < params_count(p, "risk.instrument"); i++)
        TRY(comm_agree(ctx, read_instrument(ctx, p, i, r)));
    if (r->portfolio.n == 0 && params_count(p, "risk.instrument") == 0)
        params_error(p, "risk.portfolio", "file",
                     "there are no positions: write [[risk.instrument]], or "
                     "name a file in [risk.portfolio]");
    return 0;
}

int risk_read_params(struct ctx *ctx, struct params *p, struct risk *r)
{
    read_risk(p, r);
    refuse_others(p);
    risk_dates_read(p, &r->market);
    TRY(comm_agree(ctx, read_factors(ctx, p, &r->market)));
    TRY(comm_agree(ctx, read_correlation(ctx, p, r)));
    TRY(params_finish(ctx, p));
    if (params_is_set(p, "risk.correlation", "file"))
        TRY(risk_correlation_read(
            ctx, r, params_folder(p),
            params_string(p, "risk.correlation", "file")));
    TRY(comm_agree(ctx, read_var(ctx, p, r)));
    TRY(comm_agree(ctx, risk_exposure_read(ctx, p, r)));
    TRY(make_root(ctx, p, &r->market));
    TRY(read_positions(ctx, p, r));
    TRY(params_finish(ctx, p));
    TRY(comm_agree(ctx, risk_frontier_read(ctx, p, r)));
    TRY(risk_scenarios_read(ctx, p, r));
    TRY(params_finish(ctx, p));
    return comm_agree(ctx, risk_exposure_assign(ctx, r));
}
