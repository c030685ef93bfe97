/* Series of a file that a run goes on with, back to where it goes on from. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/comm.h"
#include "base/ctx.h"
#include "base/error.h"
#include "io/h5.h"

/* Groups that have a series, by path. */
struct found {
    const char *top;
    char **group;
    size_t n;
    int no_memory;
};

static herr_t look(hid_t file, const char *name, const H5L_info_t *info,
                   void *user)
{
    static const char ending[] = "/value";
    struct found *found = user;
    size_t n = strlen(name), end = sizeof ending - 1;
    size_t size = strlen(found->top) + n + 2;
    char **grown;

    (void)file;
    (void)info;
    if (n <= end || strcmp(name + n - end, ending) != 0)
        return 0;
    grown = realloc(found->group, (found->n + 1) * sizeof *grown);
    if (grown != NULL) {
        found->group = grown;
        grown[found->n] = malloc(size);
    }
    if (grown == NULL || grown[found->n] == NULL) {
        found->no_memory = 1;
        return -1;
    }
    snprintf(grown[found->n], size, "%s/%.*s", found->top, (int)(n - end),
             name);
    found->n++;
    return 0;
}

/* How many rows of the series stay. */
static int count_rows(struct ctx *ctx, struct h5 *f, const char *path,
                      int64_t step, int64_t *rows)
{
    struct h5_set set;
    int64_t *steps = NULL, n;
    int status =
        comm_agree(ctx, h5_set_open(ctx, f, path, FIELD_INT64, 1, 1, &set));

    *rows = 0;
    if (status == 0) {
        n = (int64_t)set.shape[0];
        steps = malloc(((size_t)n + 1) * sizeof *steps);
        if (steps == NULL)
            status = FAIL(ctx, STATUS_MEMORY, "out of memory");
        status = comm_agree(ctx, status);
        if (status == 0)
            status = h5_set_read(ctx, f, &set, 0, n, steps);
        /* A killed run may leave rows at the end that were made and not
         * written: zeros. */
        while (status == 0 && *rows < n && steps[*rows] <= step &&
               (*rows == 0 || steps[*rows] > steps[*rows - 1]))
            ++*rows;
    }
    free(steps);
    h5_set_close(&set);
    return status;
}

static int rank_of(const struct h5 *f, const char *path)
{
    hid_t set = H5Dopen2(f->file, path, H5P_DEFAULT);
    hid_t space = set >= 0 ? H5Dget_space(set) : H5I_INVALID_HID;
    int rank = space >= 0 ? H5Sget_simple_extent_ndims(space) : 0;

    if (space >= 0)
        H5Sclose(space);
    if (set >= 0)
        H5Dclose(set);
    return rank < 1 || rank > H5_RANK_MAX ? 1 : rank;
}

static int cut_one(struct ctx *ctx, struct h5 *f, const char *path, int64_t n)
{
    struct h5_set set;
    /* the type of the numbers does not matter here */
    int status =
        h5_set_open(ctx, f, path, FIELD_DOUBLE, rank_of(f, path), 1, &set);

    if (status == 0 && (int64_t)set.shape[0] < n)
        status = FAIL(ctx, STATUS_IO,
                      "'%s': '%s' has %" PRId64 " rows, and its steps %" PRId64
                      "; the file is damaged",
                      f->path, path, (int64_t)set.shape[0], n);
    status = comm_agree(ctx, status);
    if (status == 0)
        status = h5_set_cut(ctx, f, &set, n);
    h5_set_close(&set);
    return status;
}

static int cut_group(struct ctx *ctx, struct h5 *f, const char *group,
                     int64_t step)
{
    static const char *const parts[] = {"value", "time", "step"};
    char path[1024];
    int64_t n;

    snprintf(path, sizeof path, "%s/step", group);
    if (!h5_exists(f, path))
        return 0;
    TRY(count_rows(ctx, f, path, step, &n));
    for (int i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s/%s", group, parts[i]);
        TRY(cut_one(ctx, f, path, n));
    }
    return 0;
}

/* Several groups share their steps by links, which the first one cuts: the
 * others count the same rows. */
int h5_cut_series(struct ctx *ctx, struct h5 *f, const char *group,
                  int64_t step)
{
    struct found found = {.top = group};
    int status = 0;

    if (!h5_exists(f, group))
        return 0;
    if (H5Lvisit_by_name(f->file, group, H5_INDEX_NAME, H5_ITER_INC, look,
                         &found, H5P_DEFAULT) < 0)
        status = found.no_memory ? FAIL(ctx, STATUS_MEMORY, "out of memory")
                                 : h5_error(ctx, f, "look through '%s'", group);
    status = comm_agree(ctx, status);
    for (size_t i = 0; status == 0 && i < found.n; i++)
        status = cut_group(ctx, f, found.group[i], step);
    for (size_t i = 0; i < found.n; i++)
        free(found.group[i]);
    free(found.group);
    return status;
}
