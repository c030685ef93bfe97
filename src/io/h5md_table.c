/* h5md_table.c: finished tables, which are written at the end of a run. */
#include <stdio.h>
#include <string.h>

#include "base/comm.h"
#include "base/ctx.h"
#include "base/error.h"
#include "domain/field.h"
#include "io/h5.h"
#include "io/h5md.h"
#include "io/h5md_file.h"

static int make_column(struct ctx *ctx, struct h5md *f, const char *path,
                       const struct result_table *table, int column,
                       struct h5_set *set)
{
    const hsize_t shape[1] = {(hsize_t)table->n_rows};
    char text[256];

    TRY(h5_set_create(ctx, f->h5, path, FIELD_DOUBLE, 1, shape, 0, set));
    snprintf(text, sizeof text, "column '%s' of: %s", table->names[column],
             table->description);
    return h5md_describe(ctx, f, path, table->units[column], text, 0);
}

static int write_column(struct ctx *ctx, struct h5md *f, const char *path,
                        const struct result_table *table, int column)
{
    int64_t n = comm_rank(ctx->comm) == 0 ? table->n_rows : 0;
    struct h5_set set = {.id = H5I_INVALID_HID};
    int status =
        comm_agree(ctx, make_column(ctx, f, path, table, column, &set));

    if (status == 0)
        status = h5_set_write(ctx, f->h5, &set, 0, n, table->columns[column]);
    h5_set_close(&set);
    return status;
}

static int write_texts(struct ctx *ctx, struct h5md *f, const char *path,
                       const struct result_table *table, int column)
{
    char text[256];
    int status =
        h5_texts_dataset(ctx, f->h5, path, table->n_rows, table->texts[column]);

    snprintf(text, sizeof text, "column '%s' of: %s", table->names[column],
             table->description);
    if (status == 0)
        status = h5md_describe(ctx, f, path, "", text, 0);
    return h5_agree(ctx, f->h5, status);
}

static const char *root_of(const struct result_table *table)
{
    return table->root != NULL ? table->root : "/statistics";
}

/* Below `root`, or in a group without a name where that is empty. */
static int write_table(struct ctx *ctx, struct h5md *f, const char *root,
                       const struct result_table *table)
{
    double bytes = 8.0 * (double)table->n_rows * table->n_columns;
    char group[256], path[512];
    int status;

    snprintf(group, sizeof group, "%s%s%s", root, root[0] != '\0' ? "/" : "",
             table->group);
    TRY(h5_reserve(ctx, f->h5, bytes + h5md_slack(table->n_columns),
                   table->group));
    status = h5_group(ctx, f->h5, group);
    if (status == 0)
        status = h5_text(ctx, f->h5, group, "description", table->description);
    TRY(comm_agree(ctx, status));
    for (int c = 0; c < table->n_columns; c++) {
        snprintf(path, sizeof path, "%s/%s", group, table->names[c]);
        TRY(table->texts != NULL && table->texts[c] != NULL
                ? write_texts(ctx, f, path, table, c)
                : write_column(ctx, f, path, table, c));
    }
    f->bytes += (uint64_t)bytes;
    return 0;
}

/* All tables of one root, which takes its name when they are on the disk: a run
 * that is killed meanwhile leaves a file without them. */
static int write_root(struct ctx *ctx, struct h5md *f, const char *root, int n,
                      const struct result_table *tables)
{
    int detached = !h5_exists(f->h5, root), status = 0;

    if (detached)
        TRY(h5_detach(ctx, f->h5));
    for (int i = 0; status == 0 && i < n; i++)
        if (strcmp(root_of(&tables[i]), root) == 0)
            status = write_table(ctx, f, detached ? "" : root, &tables[i]);
    return detached ? h5_attach(ctx, f->h5, root, status) : status;
}

static int seen_before(const struct result_table *tables, int i)
{
    for (int k = 0; k < i; k++)
        if (strcmp(root_of(&tables[k]), root_of(&tables[i])) == 0)
            return 1;
    return 0;
}

int h5md_write_tables(struct ctx *ctx, struct h5md *f, int n,
                      const struct result_table *tables)
{
    for (int i = 0; i < n; i++)
        if (!seen_before(tables, i))
            TRY(write_root(ctx, f, root_of(&tables[i]), n, tables));
    return h5_flush(ctx, f->h5);
}
