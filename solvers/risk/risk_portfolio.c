/* risk_portfolio.c: what a position may be, and portfolio files.
 */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ctx.h"
#include "base/deck.h"
#include "base/error.h"
#include "base/numeral.h"
#include "solvers/risk/risk.h"
#include "solvers/risk/risk_csv.h"

const char *const risk_field_names[RISK_FIELDS + 1] = {
    "id",         "type",          "factor",  "side",    "quantity",
    "strike",     "maturity",      "barrier", "kind",    "rebate",
    "monitoring", "fixings",       "cash",    "weights", "exercise_dates",
    "netting",    "maturity_date", NULL};

/* ---- what each type takes ---- */

#define BIT(field) (1u << RISK_FIELD_##field)

struct type_rule {
    const char *name;
    unsigned needs, takes; /* beside id, type, factor, quantity */
    int least, most;       /* factors */
};

#define OPTION (BIT(SIDE) | BIT(STRIKE) | BIT(MATURITY))
#define MANY RISK_LEGS_MAX

static const struct type_rule rules[RISK_TYPES] = {
    [RISK_TYPE_FORWARD] = {"forward", BIT(STRIKE) | BIT(MATURITY), 0, 1, 1},
    [RISK_TYPE_EUROPEAN] = {"european", OPTION, 0, 1, 1},
    [RISK_TYPE_DIGITAL] = {"digital", OPTION, BIT(CASH), 1, 1},
    [RISK_TYPE_ASIAN_ARITHMETIC] = {"asian-arithmetic", OPTION | BIT(FIXINGS),
                                    0, 1, 1},
    [RISK_TYPE_ASIAN_GEOMETRIC] = {"asian-geometric", OPTION | BIT(FIXINGS), 0,
                                   1, 1},
    [RISK_TYPE_BARRIER] = {"barrier",
                           OPTION | BIT(BARRIER) | BIT(KIND) | BIT(MONITORING),
                           BIT(REBATE), 1, 1},
    [RISK_TYPE_LOOKBACK_FIXED] = {"lookback-fixed", OPTION | BIT(MONITORING), 0,
                                  1, 1},
    [RISK_TYPE_LOOKBACK_FLOATING] = {"lookback-floating",
                                     BIT(SIDE) | BIT(MATURITY) |
                                         BIT(MONITORING),
                                     0, 1, 1},
    [RISK_TYPE_BASKET] = {"basket", OPTION, BIT(WEIGHTS), 1, MANY},
    [RISK_TYPE_SPREAD] = {"spread", OPTION, 0, 2, 2},
    [RISK_TYPE_EXCHANGE] = {"exchange", BIT(MATURITY), 0, 2, 2},
    [RISK_TYPE_BEST_OF] = {"best-of", OPTION, BIT(WEIGHTS), 2, MANY},
    [RISK_TYPE_WORST_OF] = {"worst-of", OPTION, BIT(WEIGHTS), 2, MANY},
    [RISK_TYPE_BERMUDAN] = {"bermudan", OPTION | BIT(EXERCISES),
                            BIT(KIND) | BIT(WEIGHTS), 1, MANY},
    [RISK_TYPE_AMERICAN] = {"american", OPTION | BIT(EXERCISES),
                            BIT(KIND) | BIT(WEIGHTS), 1, MANY},
    [RISK_TYPE_STOCK] = {"stock", 0, 0, 1, 1},
};

const char *risk_type_name(enum risk_type type)
{
    return rules[type].name;
}

/* ---- checks ---- */

static void wrong(struct risk_entry *e, enum risk_field field, const char *fmt,
                  ...) __attribute__((format(printf, 3, 4)));

static void wrong(struct risk_entry *e, enum risk_field field, const char *fmt,
                  ...)
{
    char text[512];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    e->failed = 1;
    e->complain(e->user, field, text);
}

/* The index of a text in a list; -1 and a complaint where it is none. */
static int choose(struct risk_entry *e, enum risk_field field, int n,
                  const char *const *names)
{
    const char *word = e->text[field];
    char list[384] = "";
    size_t used = 0;
    for (int i = 0; i < n; i++) {
        if (strcmp(word, names[i]) == 0)
            return i;
        if (used < sizeof list)
            used += (size_t)snprintf(list + used, sizeof list - used, "%s%s",
                                     i > 0 ? ", " : "", names[i]);
    }
    const char *near = deck_nearest(word, (size_t)n, names);
    wrong(e, field, "%s = '%.40s': expected one of %s%s%s%s",
          risk_field_names[field], word, list,
          near != NULL ? "; did you mean '" : "", near != NULL ? near : "",
          near != NULL ? "'?" : "");
    return -1;
}

static int read_type(struct risk_entry *e, struct risk_position *p)
{
    const char *names[RISK_TYPES];
    for (int t = 0; t < RISK_TYPES; t++)
        names[t] = rules[t].name;
    int i = choose(e, RISK_FIELD_TYPE, RISK_TYPES, names);
    if (i < 0)
        return -1;
    p->type = (enum risk_type)i;
    return 0;
}

static void check_fields(struct risk_entry *e, const struct type_rule *rule)
{
    const unsigned always = BIT(ID) | BIT(TYPE) | BIT(FACTOR) | BIT(QUANTITY),
                   may = rule->takes | BIT(NETTING);
    for (int f = 0; f < RISK_FIELDS; f++) {
        int needed = ((rule->needs | always) >> f) & 1;
        int taken = needed || ((may >> f) & 1);
        if (needed && !e->given[f])
            wrong(e, (enum risk_field)f, "%s is missing; type '%s' needs it",
                  risk_field_names[f], rule->name);
        else if (!taken && e->given[f])
            wrong(e, (enum risk_field)f, "type '%s' takes no %s", rule->name,
                  risk_field_names[f]);
    }
}

static void check_id(struct risk_entry *e, const struct risk_portfolio *all,
                     struct risk_position *p)
{
    const char *id = e->text[RISK_FIELD_ID];
    if (id[0] == '\0' || strlen(id) >= RISK_NAME_MAX || text_has_control(id)) {
        wrong(e, RISK_FIELD_ID,
              "id: expected a text of 1 to %d bytes without control characters",
              RISK_NAME_MAX - 1);
        return;
    }
    snprintf(p->id, sizeof p->id, "%s", id);
    const int32_t *slot = risk_portfolio_find(all, id);
    if (slot != NULL && *slot > 0)
        wrong(e, RISK_FIELD_ID, "id '%s' stands at %s already", id,
              all->positions[*slot - 1].where);
}

static void check_netting(struct risk_entry *e, struct risk_position *p)
{
    if (!e->given[RISK_FIELD_NETTING])
        return;
    const char *name = e->text[RISK_FIELD_NETTING];
    if (name[0] == '\0' || strlen(name) >= RISK_NAME_MAX ||
        text_has_control(name))
        wrong(e, RISK_FIELD_NETTING,
              "netting: expected a text of 1 to %d bytes without control "
              "characters",
              RISK_NAME_MAX - 1);
    snprintf(p->netting, sizeof p->netting, "%s", name);
}

static void check_factors(struct risk_entry *e, const struct risk_market *m,
                          const struct type_rule *rule, struct risk_position *p)
{
    if (e->n_factors < rule->least || e->n_factors > rule->most) {
        wrong(e, RISK_FIELD_FACTOR, "type '%s' takes %s%d factor%s, not %d",
              rule->name, rule->most > rule->least ? "at least " : "",
              rule->least, rule->least == 1 ? "" : "s", e->n_factors);
        return;
    }
    p->n_legs = e->n_factors;
    for (int l = 0; l < e->n_factors; l++) {
        p->factor[l] = -1;
        for (int f = 0; f < m->n; f++)
            if (strcmp(m->assets[f].name, e->factor[l]) == 0)
                p->factor[l] = f;
        if (p->factor[l] < 0)
            wrong(e, RISK_FIELD_FACTOR, "there is no factor '%.60s'",
                  e->factor[l]);
    }
}

static void fill_weights(struct risk_entry *e, struct risk_position *p)
{
    for (int l = 0; l < p->n_legs; l++)
        p->weight[l] = p->underlying == RISK_TYPE_BASKET ? 1.0 / p->n_legs : 1;
    if (p->type == RISK_TYPE_SPREAD || p->type == RISK_TYPE_EXCHANGE)
        p->weight[1] = -1;
    if (!e->given[RISK_FIELD_WEIGHTS])
        return;
    if (e->n_weights != p->n_legs) {
        wrong(e, RISK_FIELD_WEIGHTS, "%d weight%s for %d factor%s",
              e->n_weights, e->n_weights == 1 ? "" : "s", p->n_legs,
              p->n_legs == 1 ? "" : "s");
        return;
    }
    for (int l = 0; l < p->n_legs; l++)
        p->weight[l] = e->weight[l];
}

/* A whole number from `least` on. */
static int64_t whole(struct risk_entry *e, enum risk_field field, double least)
{
    double v = e->number[field];
    if (v >= least && v <= 1e6 && floor(v) == v)
        return (int64_t)v;
    wrong(e, field, "%s = %g: expected a whole number from %g to 1000000",
          risk_field_names[field], v, least);
    return 1;
}

static void check_monitoring(struct risk_entry *e, struct risk_position *p)
{
    const char *text = e->text[RISK_FIELD_MONITORING];
    p->fixings = 1;
    p->continuous = strcmp(text, "continuous") == 0;
    if (p->continuous)
        return;
    if (numeral_real(text, strlen(text), &e->number[RISK_FIELD_MONITORING]))
        wrong(e, RISK_FIELD_MONITORING,
              "monitoring = '%.40s': expected \"continuous\" or a number of "
              "dates",
              text);
    else
        p->fixings = whole(e, RISK_FIELD_MONITORING, 1);
}

static void check_barrier(struct risk_entry *e, const struct risk_market *m,
                          struct risk_position *p)
{
    static const char *const kinds[] = {"down-and-out", "down-and-in",
                                        "up-and-out", "up-and-in"};
    int kind = choose(e, RISK_FIELD_KIND, 4, kinds);
    p->barrier = e->number[RISK_FIELD_BARRIER];
    p->rebate = e->number[RISK_FIELD_REBATE];
    if (!(p->barrier > 0))
        wrong(e, RISK_FIELD_BARRIER, "barrier = %g must be greater than 0",
              p->barrier);
    if (p->rebate < 0)
        wrong(e, RISK_FIELD_REBATE, "rebate = %g must be at least 0",
              p->rebate);
    if (kind < 0 || e->failed)
        return;
    p->barrier_up = kind >= 2;
    p->barrier_in = kind & 1;
    double spot = m->assets[p->factor[0]].model.spot;
    p->knocked = p->barrier_up ? spot >= p->barrier : spot <= p->barrier;
}

/* What early exercise on several factors brings. */
static void check_underlying(struct risk_entry *e, struct risk_position *p)
{
    static const char *const kinds[] = {"basket", "best-of", "worst-of"};
    static const enum risk_type of[] = {RISK_TYPE_BASKET, RISK_TYPE_BEST_OF,
                                        RISK_TYPE_WORST_OF};
    p->underlying = p->type;
    if (p->type != RISK_TYPE_BERMUDAN && p->type != RISK_TYPE_AMERICAN)
        return;
    for (int i = 0; p->n_legs == 1 && i < 2; i++) {
        enum risk_field f = i ? RISK_FIELD_WEIGHTS : RISK_FIELD_KIND;
        if (e->given[f])
            wrong(e, f, "type '%s' on one factor takes no %s",
                  risk_type_name(p->type), risk_field_names[f]);
    }
    if (p->n_legs > 1 && !e->given[RISK_FIELD_KIND]) {
        wrong(e, RISK_FIELD_KIND,
              "kind is missing; type '%s' on several factors needs it: "
              "basket, best-of or worst-of",
              risk_type_name(p->type));
        return;
    }
    int kind = p->n_legs > 1 ? choose(e, RISK_FIELD_KIND, 3, kinds) : -1;
    if (kind >= 0)
        p->underlying = of[kind];
}

static void check_numbers(struct risk_entry *e, struct risk_position *p)
{
    static const char *const sides[] = {"call", "put"};
    const double *v = e->number;
    const int any_strike =
        p->type == RISK_TYPE_SPREAD || p->type == RISK_TYPE_FORWARD;
    p->side = 1;
    if (e->given[RISK_FIELD_SIDE])
        p->side = choose(e, RISK_FIELD_SIDE, 2, sides) == 1 ? -1 : 1;
    p->quantity = v[RISK_FIELD_QUANTITY];
    p->strike = v[RISK_FIELD_STRIKE];
    p->maturity = v[RISK_FIELD_MATURITY];
    p->cash = e->given[RISK_FIELD_CASH] ? v[RISK_FIELD_CASH] : 1;
    if (p->quantity == 0)
        wrong(e, RISK_FIELD_QUANTITY, "quantity must not be 0");
    if (p->strike < 0 && !any_strike)
        wrong(e, RISK_FIELD_STRIKE, "strike = %g must be at least 0",
              p->strike);
    if (p->maturity < 0 || p->maturity > 200)
        wrong(e, RISK_FIELD_MATURITY,
              "maturity = %g: expected years from today, 0 to 200",
              p->maturity);
    if (e->given[RISK_FIELD_FIXINGS])
        p->fixings = whole(e, RISK_FIELD_FIXINGS, 1);
    if (e->given[RISK_FIELD_EXERCISES])
        p->exercises = whole(e, RISK_FIELD_EXERCISES, 1);
    if (e->given[RISK_FIELD_MONITORING])
        check_monitoring(e, p);
}

int risk_portfolio_add(struct ctx *ctx, const struct risk_market *m,
                       struct risk_portfolio *portfolio, struct risk_entry *e)
{
    struct risk_position p = {.fixings = 1};
    e->failed = 0;
    snprintf(p.where, sizeof p.where, "%s", e->where);
    if (!e->given[RISK_FIELD_TYPE])
        wrong(e, RISK_FIELD_TYPE, "type is missing");
    if (e->failed || read_type(e, &p) != 0)
        return 0;
    const struct type_rule *rule = &rules[p.type];
    risk_date_of_maturity(m, e);
    check_fields(e, rule);
    if (e->failed)
        return 0;
    check_id(e, portfolio, &p);
    check_netting(e, &p);
    check_factors(e, m, rule, &p);
    if (e->failed)
        return 0;
    check_underlying(e, &p);
    fill_weights(e, &p);
    check_numbers(e, &p);
    if (p.type == RISK_TYPE_BARRIER)
        check_barrier(e, m, &p);
    if (e->failed)
        return 0;
    TRY(risk_portfolio_grow(ctx, portfolio));
    portfolio->positions[portfolio->n] = p;
    *risk_portfolio_find(portfolio, p.id) = ++portfolio->n;
    return 0;
}

/* ---- files ---- */

/* A row that is being read. */
struct row {
    struct csv *csv;
    int64_t row;
    int column[RISK_FIELDS]; /* of each field; -1: there is none */
    char *split;             /* the texts of factor and weights, cut up */
};

static const struct csv_cell *cell_of(const struct row *r,
                                      enum risk_field field)
{
    int c = r->column[field];
    return csv_cell(r->csv, r->row, c >= 0 ? c : 0);
}

static void complain(void *user, enum risk_field field, const char *text)
{
    const struct row *r = user;
    const struct csv_cell *cell = cell_of(r, field);
    csv_error(r->csv, cell->line, cell->column, "%s", text);
}

/* Parts between ';'; more than there may be are counted. */
static int split(char *text, const char **parts)
{
    int n = 0;
    for (char *at = text; at != NULL; n++) {
        char *next = strchr(at, ';');
        if (next != NULL)
            *next++ = '\0';
        while (*at == ' ')
            at++;
        size_t length = strlen(at);
        while (length > 0 && at[length - 1] == ' ')
            at[--length] = '\0';
        if (n < RISK_LEGS_MAX)
            parts[n] = at;
        at = next;
    }
    return n;
}

static void read_weights(struct row *r, struct risk_entry *e, char *text)
{
    const char *parts[RISK_LEGS_MAX];
    const struct csv_cell *at = cell_of(r, RISK_FIELD_WEIGHTS);
    e->n_weights = split(text, parts);
    for (int i = 0; i < e->n_weights && i < RISK_LEGS_MAX; i++) {
        struct csv_cell part = {parts[i], at->line, at->column};
        csv_number(r->csv, &part, "weights", &e->weight[i]);
    }
}

/* A row's cells, of fields that the file has. */
static int fill_entry(struct ctx *ctx, struct row *r, struct risk_entry *e)
{
    const unsigned texts = BIT(ID) | BIT(TYPE) | BIT(SIDE) | BIT(KIND) |
                           BIT(MONITORING) | BIT(NETTING) | BIT(MATURITY_DATE);
    for (int f = 0; f < RISK_FIELDS; f++) {
        if (r->column[f] < 0)
            continue;
        const struct csv_cell *cell = cell_of(r, (enum risk_field)f);
        e->given[f] = cell->text[0] != '\0';
        e->text[f] = cell->text;
        if (!e->given[f] || ((texts >> f) & 1) || f == RISK_FIELD_FACTOR ||
            f == RISK_FIELD_WEIGHTS)
            continue;
        csv_number(r->csv, cell, risk_field_names[f], &e->number[f]);
    }
    size_t n = 2;
    for (int f = RISK_FIELD_FACTOR; f <= RISK_FIELD_WEIGHTS;
         f += RISK_FIELD_WEIGHTS - RISK_FIELD_FACTOR)
        n += e->given[f] ? strlen(e->text[f]) : 0;
    r->split = calloc(n, 1);
    if (r->split == NULL)
        return FAIL(ctx, STATUS_MEMORY, "no memory for the portfolio");
    char *at = r->split;
    if (e->given[RISK_FIELD_FACTOR]) {
        size_t length = strlen(e->text[RISK_FIELD_FACTOR]) + 1;
        memcpy(at, e->text[RISK_FIELD_FACTOR], length);
        e->n_factors = split(at, e->factor);
        at += length;
    }
    if (e->given[RISK_FIELD_WEIGHTS]) {
        memcpy(at, e->text[RISK_FIELD_WEIGHTS],
               strlen(e->text[RISK_FIELD_WEIGHTS]) + 1);
        read_weights(r, e, at);
    }
    return 0;
}

static int read_row(struct ctx *ctx, struct risk *risk, struct row *r)
{
    struct risk_entry e = {.complain = complain, .user = r};
    const struct csv_cell *id = cell_of(r, RISK_FIELD_ID);
    const int before = r->csv->n_errors;
    snprintf(e.where, sizeof e.where, "%.140s:%d", r->csv->path, id->line);
    int status = fill_entry(ctx, r, &e);
    if (status == 0 && r->csv->n_errors == before)
        status = risk_portfolio_add(ctx, &risk->market, &risk->portfolio, &e);
    free(r->split);
    r->split = NULL;
    return status;
}

/* Which column is which: 1, or 0 and complaints. */
static int find_columns(struct row *r)
{
    static const enum risk_field needed[] = {
        RISK_FIELD_ID, RISK_FIELD_TYPE, RISK_FIELD_FACTOR, RISK_FIELD_QUANTITY};
    struct csv *c = r->csv;
    const int before = c->n_errors;
    for (int f = 0; f < RISK_FIELDS; f++)
        r->column[f] = csv_column(c, risk_field_names[f]);
    for (int i = 0; i < 4 && c->n_columns > 0; i++)
        if (r->column[needed[i]] < 0)
            csv_error(c, 1, 1, "column '%s' is missing",
                      risk_field_names[needed[i]]);
    for (int i = 0; i < c->n_columns; i++) {
        int known = 0;
        for (int f = 0; f < RISK_FIELDS; f++)
            known |= r->column[f] == i;
        if (known)
            continue;
        const char *near =
            deck_nearest(c->header[i].text, RISK_FIELDS, risk_field_names);
        csv_error(c, c->header[i].line, c->header[i].column,
                  "unknown column '%.60s'%s%s%s", c->header[i].text,
                  near != NULL ? "; did you mean '" : "",
                  near != NULL ? near : "", near != NULL ? "'?" : "");
    }
    return c->n_columns > 0 && c->n_errors == before;
}

int risk_portfolio_read(struct ctx *ctx, struct risk *risk, const char *folder,
                        const char *name)
{
    struct csv csv;
    struct row r = {.csv = &csv};
    int status;
    TRY_CLEANUP(csv_read(ctx, folder, name, &csv));
    if (!find_columns(&r))
        TRY_CLEANUP(csv_finish(ctx, &csv));
    for (r.row = 0; r.row < csv.n_rows; r.row++)
        TRY_CLEANUP(read_row(ctx, risk, &r));
    risk_file_note(risk, name, csv.hash);
    status = csv_finish(ctx, &csv);
cleanup:
    csv_free(&csv);
    return status;
}
