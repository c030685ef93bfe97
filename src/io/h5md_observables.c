#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/comm.h"
#include "base/ctx.h"
#include "base/error.h"
#include "base/timer.h"
#include "domain/field.h"
#include "io/h5md.h"
#include "io/h5md_file.h"

/* At most so often rows go to the disk, in seconds; and so many may wait. */
#define FLUSH_EVERY 1.0
enum { ROWS_WAITING = 4096, PATH_SIZE = 512 };

static int make_series(struct ctx *ctx, struct h5md *f, const char *path,
                       enum field_type type, const char *unit,
                       const char *description, struct h5_set *out)
{
    const hsize_t shape[1] = {0};

    TRY(h5_set_create(ctx, f->h5, path, type, 1, shape, 1, out));
    return h5md_describe(ctx, f, path, unit, description, 0);
}

/* The first observable has the steps and times, the others link to them. */
static int make_times(struct ctx *ctx, struct h5md *f, const char *name,
                      const char *first, const char *time_unit)
{
    char path[PATH_SIZE], existing[PATH_SIZE];

    snprintf(path, sizeof path, "/observables/%s/step", name);
    snprintf(existing, sizeof existing, "/observables/%s/step", first);
    if (name != first)
        TRY(h5_link(ctx, f->h5, existing, path));
    else
        TRY(make_series(ctx, f, path, FIELD_INT64, "", "time step of each row",
                        &f->observable_step));
    snprintf(path, sizeof path, "/observables/%s/time", name);
    snprintf(existing, sizeof existing, "/observables/%s/time", first);
    if (name != first)
        return h5_link(ctx, f->h5, existing, path);
    return make_series(ctx, f, path, FIELD_DOUBLE, time_unit,
                       "simulated time of each row", &f->observable_time);
}

static int make_observable(struct ctx *ctx, struct h5md *f,
                           const struct observable *o, const char *first,
                           const char *time_unit, struct h5_set *out)
{
    char path[PATH_SIZE];

    snprintf(path, sizeof path, "/observables/%s/value", o->name);
    TRY(make_series(ctx, f, path, FIELD_DOUBLE, o->unit, o->description, out));
    return make_times(ctx, f, o->name, first, time_unit);
}

int h5md_make_observables(struct ctx *ctx, struct h5md *f, int n,
                          const struct observable *observables,
                          const char *time_unit)
{
    size_t count = n > 0 ? (size_t)n : 1;

    f->observables = calloc(count, sizeof *f->observables);
    f->steps = calloc(ROWS_WAITING, sizeof *f->steps);
    f->times = calloc(ROWS_WAITING, sizeof *f->times);
    f->values = calloc(ROWS_WAITING * count, sizeof *f->values);
    f->capacity = ROWS_WAITING;
    f->flushed = timer_now();
    if (f->observables == NULL || f->steps == NULL || f->times == NULL ||
        f->values == NULL)
        return FAIL(ctx, STATUS_MEMORY, "out of memory for observables");
    for (int i = 0; i < n; i++) {
        f->n_observables = i + 1;
        TRY(make_observable(ctx, f, &observables[i], observables[0].name,
                            time_unit, &f->observables[i]));
    }
    return 0;
}

void h5md_free_observables(struct h5md *f)
{
    for (int i = 0; i < f->n_observables; i++)
        h5_set_close(&f->observables[i]);
    h5_set_close(&f->observable_step);
    h5_set_close(&f->observable_time);
    free(f->observables);
    free(f->steps);
    free(f->times);
    free(f->values);
    f->observables = NULL;
    f->steps = NULL;
    f->times = f->values = NULL;
    f->n_observables = 0;
}

/* The waiting values of one observable, in a row of their own. */
static int settle_one(struct ctx *ctx, struct h5md *f, int i, double *column)
{
    for (size_t row = 0; row < f->waiting; row++)
        column[row] = f->values[row * (size_t)f->n_observables + (size_t)i];
    return h5_set_append(ctx, f->h5, &f->observables[i], (int64_t)f->waiting,
                         column);
}

/* All of them even after a failure: the other ranks extend them all, too. */
static int settle_all(struct ctx *ctx, struct h5md *f, double *column)
{
    int64_t n = (int64_t)f->waiting;
    int first = h5_set_append(ctx, f->h5, &f->observable_step, n, f->steps);
    int next = h5_set_append(ctx, f->h5, &f->observable_time, n, f->times);

    for (int i = 0; i < f->n_observables; i++) {
        first = first != 0 ? first : next;
        next = settle_one(ctx, f, i, column);
    }
    return first != 0 ? first : next;
}

int h5md_settle_observables(struct ctx *ctx, struct h5md *f)
{
    int64_t n = (int64_t)f->waiting;
    double bytes = 8.0 * (double)n * (f->n_observables + 2.0);
    double *column;
    int status = 0;

    if (n == 0)
        return 0;
    TRY(h5_reserve(ctx, f->h5,
                   bytes + H5_SERIES_CHUNK_BYTES * (f->n_observables + 2.0) +
                       h5md_slack(f->n_observables + 2),
                   "observables"));
    column = malloc(f->waiting * sizeof *column);
    if (column == NULL)
        status = FAIL(ctx, STATUS_MEMORY, "out of memory for observables");
    TRY_CLEANUP(comm_agree(ctx, status));
    TRY_CLEANUP(h5_agree(ctx, f->h5, settle_all(ctx, f, column)));
    f->waiting = 0;
    f->bytes += (uint64_t)bytes;
cleanup:
    free(column);
    return status;
}

int h5md_write_observables(struct ctx *ctx, struct h5md *f, int64_t step,
                           double time, const double *values)
{
    size_t row = f->waiting;
    unsigned char due = 0;

    if (f->n_observables == 0)
        return 0;
    if (row == f->capacity)
        return FAIL(ctx, STATUS_INTERNAL,
                    "observables written after a failure");
    f->steps[row] = step;
    f->times[row] = time;
    memcpy(&f->values[row * (size_t)f->n_observables], values,
           (size_t)f->n_observables * sizeof *values);
    f->waiting++;
    if (comm_rank(ctx->comm) == 0)
        due = timer_now() - f->flushed >= FLUSH_EVERY ||
              f->waiting == f->capacity;
    TRY(comm_bcast(ctx, &due, sizeof due));
    if (!due)
        return 0;
    f->flushed = timer_now();
    TRY(h5md_settle_observables(ctx, f));
    return h5_flush(ctx, f->h5);
}
