/* md_results.c: analyses as finished tables, made when the driver asks. */
#include "md.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/comm.h"
#include "base/ctx.h"
#include "base/error.h"

void md_results_free(struct md *md)
{
    struct md_results *r = &md->results;
    free(r->tables);
    free(r->groups);
    free(r->values);
    free(r->columns);
    free(r->names);
    free(r->units);
    *r = (struct md_results){0};
}

void md_pair_name(const struct md *md, int channel, char *text, size_t size)
{
    const int *pair = md->rdf.pairs[channel];
    snprintf(text, size, "%s-%s", md->species[pair[0]].name,
             md->species[pair[1]].name);
}

/* Room for n tables with n_columns columns and n_values numbers in all. */
static int allocate(struct ctx *ctx, struct md_results *r, size_t n,
                    size_t n_columns, size_t n_values)
{
    r->tables = calloc(n + 1, sizeof *r->tables);
    r->groups = calloc(n + 1, sizeof *r->groups);
    r->values = calloc(n_values + 1, sizeof *r->values);
    r->columns = calloc(n_columns + 1, sizeof *r->columns);
    r->names = calloc(n_columns + 1, sizeof *r->names);
    r->units = calloc(n_columns + 1, sizeof *r->units);
    if (!r->tables || !r->groups || !r->values || !r->columns || !r->names ||
        !r->units)
        return FAIL(ctx, STATUS_MEMORY, "no memory for result tables");
    return 0;
}

/* Where the next table's columns and values go. */
struct place {
    size_t column;
    double *values;
};

static struct result_table *add_table(struct md_results *r,
                                      const struct place *at, int n_columns,
                                      int64_t n_rows, const char *description)
{
    struct result_table *t = &r->tables[r->n];
    *t = (struct result_table){.group = r->groups[r->n],
                               .description = description,
                               .n_columns = n_columns,
                               .n_rows = n_rows,
                               .names = r->names + at->column,
                               .units = r->units + at->column,
                               .columns = r->columns + at->column};
    r->n++;
    return t;
}

/* The next column, of n rows; returns its values. */
static double *add_column(struct md_results *r, struct place *at,
                          const char *name, const char *unit, int64_t n)
{
    double *values = at->values;
    r->names[at->column] = name;
    r->units[at->column] = unit;
    r->columns[at->column++] = values;
    at->values += n;
    return values;
}

static int add_rdf(struct ctx *ctx, struct md *md, struct place *at)
{
    struct md_results *results = &md->results;
    for (int c = 0; c < md->rdf.n_pairs; c++) {
        char *group = results->groups[results->n];
        char pair[2 * MD_NAME_MAX + 2];
        md_pair_name(md, c, pair, sizeof pair);
        snprintf(group, sizeof *results->groups, "radial_distribution/%s",
                 pair);
        add_table(results, at, 2, md->rdf.n_bins,
                  "radial distribution function, 1 for an ideal gas");
        double *r = add_column(results, at, "r", md->unit_text[MD_LENGTH],
                               md->rdf.n_bins);
        double *g = add_column(results, at, "g", md->unit_text[MD_NO_UNIT],
                               md->rdf.n_bins);
        TRY(md_rdf_table(ctx, md, c, r, g));
    }
    return 0;
}

static void add_msd(struct md *md, struct place *at)
{
    struct md_results *results = &md->results;
    size_t width = 2 + (size_t)md->n_species;
    int64_t n = (int64_t)md->msd.n_samples;
    snprintf(results->groups[results->n], sizeof *results->groups,
             "displacement/mean_squared");
    add_table(results, at, (int)width, n,
              "mean squared displacement from the start, all particles and by "
              "species");
    for (size_t c = 0; c < width; c++) {
        const char *name = c == 0   ? "time"
                           : c == 1 ? "all"
                                    : md->species[c - 2].name;
        double *out = add_column(results, at, name,
                                 md->unit_text[c == 0 ? MD_TIME : MD_AREA], n);
        for (int64_t i = 0; i < n; i++)
            out[i] = md->msd.samples[(size_t)i * width + c];
    }
}

int md_results(struct ctx *ctx, void *state, const struct result_table **tables,
               int *n)
{
    struct md *md = state;
    int with_rdf = md->rdf.on && md->rdf.n_samples > 0;
    int with_msd = md->msd.on && md->msd.n_samples > 0;
    size_t width = 2 + (size_t)md->n_species, n_rdf = 0, n_msd = 0;
    if (with_rdf)
        n_rdf = (size_t)md->rdf.n_pairs;
    if (with_msd)
        n_msd = md->msd.n_samples;
    md_results_free(md);
    TRY(comm_agree(
        ctx, allocate(ctx, &md->results, n_rdf + 1, 2 * n_rdf + width,
                      2 * n_rdf * (size_t)md->rdf.n_bins + width * n_msd)));
    struct place at = {0, md->results.values};
    if (with_rdf)
        TRY(add_rdf(ctx, md, &at));
    if (with_msd)
        add_msd(md, &at);
    *tables = md->results.tables;
    *n = md->results.n;
    return 0;
}
