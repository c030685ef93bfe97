/* exchange_tables.c: what the walks of replicas over a ladder come to. */
#include "driver/exchange.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/ctx.h"
#include "base/error.h"
#include "base/log.h"
#include "domain/field.h"

enum { WALK, PAIRS, REPLICAS, TABLES };
enum { WALK_COLUMNS = 3, PAIRS_COLUMNS = 5, REPLICAS_COLUMNS = 5 };

struct exchange_tables {
    struct result_table table[TABLES];
    const double *walk[WALK_COLUMNS], *pairs[PAIRS_COLUMNS],
        *replicas[REPLICAS_COLUMNS];
    const char *walk_units[WALK_COLUMNS], *pairs_units[PAIRS_COLUMNS],
        *replicas_units[REPLICAS_COLUMNS];
};

/* Where a replica stood after an attempt; -1: at the start. */
static int rung_at(const struct exchange *x, int64_t attempt, int replica)
{
    return attempt < 0 ? replica : x->history[attempt * x->n + replica];
}

void exchange_rate(const struct exchange *x, int r, int64_t *tried,
                   int64_t *accepted)
{
    *tried = *accepted = 0;
    for (int64_t a = r % 2; a < x->attempts; a += 2) {
        ++*tried;
        for (int i = 0; i < x->n; i++)
            *accepted += rung_at(x, a - 1, i) == r && rung_at(x, a, i) == r + 1;
    }
}

int64_t exchange_round_trips(const struct exchange *x, int replica)
{
    int64_t trips = 0;
    int came_from = 0; /* the end it was at last: -1 low, 1 high after low */
    for (int64_t a = -1; a < x->attempts; a++) {
        int rung = rung_at(x, a, replica);
        if (rung == 0) {
            trips += came_from == 1;
            came_from = -1;
        } else if (rung == x->n - 1 && came_from == -1) {
            came_from = 1;
        }
    }
    return trips;
}

/* ---- columns ---- */

static void fill_walk(const struct exchange *x, int mine, double *const *to)
{
    for (int64_t a = -1; a < x->attempts; a++) {
        int rung = rung_at(x, a, mine);
        to[0][a + 1] = (double)(a + 1) * (double)x->every;
        to[1][a + 1] = rung;
        to[2][a + 1] = x->temperature[rung];
    }
}

static void fill_pairs(const struct exchange *x, double *const *to)
{
    for (int r = 0; r + 1 < x->n; r++) {
        int64_t tried, accepted;
        exchange_rate(x, r, &tried, &accepted);
        to[0][r] = x->temperature[r];
        to[1][r] = x->temperature[r + 1];
        to[2][r] = (double)tried;
        to[3][r] = (double)accepted;
        to[4][r] = tried > 0 ? (double)accepted / (double)tried : 0;
    }
}

static void fill_replicas(const struct exchange *x, double *const *to)
{
    for (int i = 0; i < x->n; i++) {
        to[0][i] = i;
        to[1][i] = (double)x->seed + i;
        to[2][i] = x->rung[i];
        to[3][i] = exchange_temperature(x, i);
        to[4][i] = (double)exchange_round_trips(x, i);
    }
}

/* ---- tables ---- */

static const char *const walk_names[] = {"step", "rung", "temperature"};
static const char *const pairs_names[] = {"lower", "upper", "attempts",
                                          "accepted", "rate"};
static const char *const replicas_names[] = {"replica", "seed", "rung",
                                             "temperature", "round_trips"};

/* The columns of one table, cut from `*from`; to[] for filling. */
static void cut(double **from, int64_t rows, int n, const double **columns,
                double **to)
{
    for (int c = 0; c < n; c++) {
        columns[c] = to[c] = *from;
        *from += rows;
    }
}

static void describe(const struct exchange *x, struct exchange_tables *t)
{
    for (int c = 0; c < WALK_COLUMNS; c++)
        t->walk_units[c] = c == 2 ? x->unit : "";
    for (int c = 0; c < PAIRS_COLUMNS; c++)
        t->pairs_units[c] = c < 2 ? x->unit : "";
    for (int c = 0; c < REPLICAS_COLUMNS; c++)
        t->replicas_units[c] = c == 3 ? x->unit : "";
    t->table[WALK] = (struct result_table){
        .group = "exchange/walk",
        .description = "where this replica is on the ladder of temperatures, "
                       "from each step on",
        .n_columns = WALK_COLUMNS,
        .n_rows = x->attempts + 1,
        .names = walk_names,
        .units = t->walk_units,
        .columns = t->walk};
    t->table[PAIRS] = (struct result_table){
        .group = "exchange/pairs",
        .description = "exchanges of neighboring temperatures",
        .n_columns = PAIRS_COLUMNS,
        .n_rows = x->n - 1,
        .names = pairs_names,
        .units = t->pairs_units,
        .columns = t->pairs};
    t->table[REPLICAS] = (struct result_table){
        .group = "exchange/replicas",
        .description = "where each replica stands at the end, and how often it "
                       "went from the lowest temperature to the highest and "
                       "back",
        .n_columns = REPLICAS_COLUMNS,
        .n_rows = x->n,
        .names = replicas_names,
        .units = t->replicas_units,
        .columns = t->replicas};
}

int exchange_results(struct ctx *ctx, struct exchange *x, int mine,
                     const struct result_table **tables, int *n)
{
    int64_t rows = x->attempts + 1, pairs = x->n - 1;
    int64_t size = WALK_COLUMNS * rows + PAIRS_COLUMNS * pairs +
                   REPLICAS_COLUMNS * (int64_t)x->n;
    double *to[REPLICAS_COLUMNS];
    free(x->columns);
    free(x->tables);
    x->columns = malloc((size_t)size * sizeof *x->columns);
    x->tables = calloc(1, sizeof *x->tables);
    if (x->columns == NULL || x->tables == NULL)
        return FAIL(ctx, STATUS_MEMORY, "no memory for tables of exchanges");
    struct exchange_tables *t = x->tables;
    double *from = x->columns;
    cut(&from, rows, WALK_COLUMNS, t->walk, to);
    fill_walk(x, mine, to);
    cut(&from, pairs, PAIRS_COLUMNS, t->pairs, to);
    fill_pairs(x, to);
    cut(&from, x->n, REPLICAS_COLUMNS, t->replicas, to);
    fill_replicas(x, to);
    describe(x, t);
    *tables = t->table;
    *n = TABLES;
    return 0;
}

void exchange_print(struct ctx *ctx, const struct exchange *x)
{
    int64_t trips = 0;
    for (int i = 0; i < x->n; i++)
        trips += exchange_round_trips(x, i);
    log_info(ctx->log,
             "exchanged temperatures every %" PRId64 " steps, %" PRId64
             " attempts, %" PRId64 " round trip%s:",
             x->every, x->attempts, trips, trips == 1 ? "" : "s");
    for (int r = 0; r + 1 < x->n; r++) {
        int64_t tried, accepted;
        exchange_rate(x, r, &tried, &accepted);
        log_info(ctx->log,
                 "  %8.6g <-> %-8.6g %s accepted %" PRId64 " of %" PRId64
                 " (%.0f %%)",
                 x->temperature[r], x->temperature[r + 1], x->unit, accepted,
                 tried,
                 tried > 0 ? 100.0 * (double)accepted / (double)tried : 0);
    }
}
