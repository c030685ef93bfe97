/* md_results.c: analyses as finished tables, made when the driver asks. */
#include "md.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/comm.h"
#include "base/ctx.h"
#include "base/error.h"

enum { COLUMN_NAME = MD_NAME_MAX + 32, UNIT_NAME = 32 };

/* One table with all that it points to. */
struct md_table {
    struct md_table *next;
    struct result_table t;
    char group[3 * MD_NAME_MAX];
    int used, room; /* columns */
    const char **names, **units, ***texts;
    const double **columns;
    char (*name_text)[COLUMN_NAME], (*unit_text)[UNIT_NAME];
    double *values;
};

static void free_table(struct md_table *t)
{
    for (int c = 0; t->texts && c < t->used; c++)
        free(t->texts[c]);
    free(t->names);
    free(t->units);
    free(t->texts);
    free(t->columns);
    free(t->name_text);
    free(t->unit_text);
    free(t->values);
    free(t);
}

void md_results_free(struct md *md)
{
    struct md_results *r = &md->results;
    while (r->first) {
        struct md_table *next = r->first->next;
        free_table(r->first);
        r->first = next;
    }
    free(r->tables);
    *r = (struct md_results){0};
}

/* ---- making them ---- */

static int reserve(struct md_table *t, int columns, int64_t rows)
{
    size_t n = (size_t)columns;
    t->room = columns;
    t->names = calloc(n, sizeof *t->names);
    t->units = calloc(n, sizeof *t->units);
    t->texts = calloc(n, sizeof *t->texts);
    t->columns = calloc(n, sizeof *t->columns);
    t->name_text = calloc(n, sizeof *t->name_text);
    t->unit_text = calloc(n, sizeof *t->unit_text);
    t->values = calloc(n * (size_t)rows + 1, sizeof *t->values);
    return t->names && t->units && t->texts && t->columns && t->name_text &&
           t->unit_text && t->values;
}

struct md_table *md_add_table(struct ctx *ctx, struct md *md, int columns,
                              int64_t rows, const char *description,
                              const char *group, ...)
{
    struct md_results *r = &md->results;
    struct md_table *t = calloc(1, sizeof *t);
    if (!t || !reserve(t, columns, rows)) {
        if (t)
            free_table(t);
        (void)FAIL(ctx, STATUS_MEMORY, "no memory for result tables");
        return NULL;
    }
    va_list args;
    va_start(args, group);
    vsnprintf(t->group, sizeof t->group, group, args);
    va_end(args);
    t->t = (struct result_table){.group = t->group,
                                 .description = description,
                                 .n_rows = rows,
                                 .names = t->names,
                                 .units = t->units,
                                 .columns = t->columns};
    if (r->last)
        r->last->next = t;
    else
        r->first = t;
    r->last = t;
    r->n++;
    return t;
}

double *md_add_column_text(struct md_table *t, const char *name,
                           const char *unit)
{
    int c = t->used++;
    double *values = t->values + (size_t)c * (size_t)t->t.n_rows;
    snprintf(t->name_text[c], sizeof t->name_text[c], "%s", name);
    snprintf(t->unit_text[c], sizeof t->unit_text[c], "%s", unit);
    t->names[c] = t->name_text[c];
    t->units[c] = t->unit_text[c];
    t->columns[c] = values;
    t->t.n_columns = t->used;
    return values;
}

double *md_add_column(const struct md *md, struct md_table *t, const char *name,
                      struct dimension unit)
{
    char text[UNIT_NAME];
    unit_name(md->units, unit, text, sizeof text);
    return md_add_column_text(t, name, text);
}

const char **md_add_texts(struct md_table *t, const char *name)
{
    int c = t->used;
    (void)md_add_column_text(t, name, "");
    t->texts[c] = calloc((size_t)t->t.n_rows + 1, sizeof *t->texts[c]);
    t->t.texts = (const char *const *const *)t->texts;
    return t->texts[c];
}

/* ---- those of md_analysis.c ---- */

static int add_rdf(struct ctx *ctx, struct md *md)
{
    for (int c = 0; c < md->rdf.n_pairs; c++) {
        char pair[2 * MD_NAME_MAX + 2];
        md_pair_name(md, c, pair, sizeof pair);
        struct md_table *t =
            md_add_table(ctx, md, 2, md->rdf.n_bins,
                         "radial distribution function, 1 for an ideal gas",
                         "radial_distribution/%s", pair);
        TRY(comm_agree(ctx, t ? 0 : STATUS_MEMORY));
        double *r = md_add_column(md, t, "r", DIM_LENGTH);
        double *g = md_add_column(md, t, "g", DIM_NONE);
        TRY(md_rdf_table(ctx, md, c, r, g));
    }
    return 0;
}

static int add_msd(struct ctx *ctx, struct md *md)
{
    int width = 2 + md->n_species;
    int64_t n = (int64_t)md->msd.n_samples;
    struct md_table *t = md_add_table(
        ctx, md, width, n,
        "mean squared displacement from the start, all particles and by "
        "species",
        "displacement/mean_squared");
    TRY(comm_agree(ctx, t ? 0 : STATUS_MEMORY));
    for (int c = 0; c < width; c++) {
        const char *name = c == 0   ? "time"
                           : c == 1 ? "all"
                                    : md->species[c - 2].name;
        double *out = md_add_column(md, t, name, c == 0 ? DIM_TIME : DIM_AREA);
        for (int64_t i = 0; i < n; i++)
            out[i] = md->msd.samples[i * width + c];
    }
    return 0;
}

void md_pair_name(const struct md *md, int channel, char *text, size_t size)
{
    const int *pair = md->rdf.pairs[channel];
    snprintf(text, size, "%s-%s", md->species[pair[0]].name,
             md->species[pair[1]].name);
}

int md_results(struct ctx *ctx, void *state, const struct result_table **tables,
               int *n)
{
    struct md *md = state;
    struct md_results *r = &md->results;
    int i = 0;
    TRY(md_bond_images_check(ctx, md, NULL));
    md_results_free(md);
    if (md->rdf.on && md->rdf.n_samples > 0)
        TRY(add_rdf(ctx, md));
    if (md->msd.on && md->msd.n_samples > 0)
        TRY(add_msd(ctx, md));
    TRY(md_analysis_tables(ctx, md));
    TRY(md_minimize_table(ctx, md));
    r->tables = malloc(((size_t)r->n + 1) * sizeof *r->tables);
    TRY(comm_agree(ctx, r->tables ? 0
                                  : FAIL(ctx, STATUS_MEMORY,
                                         "no memory for result tables")));
    for (struct md_table *t = r->first; t; t = t->next)
        r->tables[i++] = t->t;
    *tables = r->tables;
    *n = r->n;
    return 0;
}
