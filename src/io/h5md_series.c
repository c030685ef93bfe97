/* Series of numbers over time: observables and probes. */
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

/* ---- making ---- */

static int make_set(struct ctx *ctx, struct h5md *f, const char *path,
                    enum field_type type, int components, const char *unit,
                    const char *description, struct h5_set *out)
{
    const hsize_t shape[2] = {0, (hsize_t)components};
    int rank = components > 1 ? 2 : 1;

    if (f->reopened)
        return h5_set_open(ctx, f->h5, path, type, rank, 1, out);
    TRY(h5_set_create(ctx, f->h5, path, type, rank, shape, 1, out));
    return h5md_describe(ctx, f, path, unit, description, 0);
}

/* The first quantity has the steps and times, the others link to them. */
static int make_times(struct ctx *ctx, struct h5md *f, const char *group,
                      const char *name, const char *first,
                      const char *time_unit, struct h5md_series *s)
{
    char path[PATH_SIZE], existing[PATH_SIZE];

    if (f->reopened && name != first)
        return 0;
    snprintf(path, sizeof path, "%s/%s/step", group, name);
    snprintf(existing, sizeof existing, "%s/%s/step", group, first);
    if (name != first)
        TRY(h5_link(ctx, f->h5, existing, path));
    else
        TRY(make_set(ctx, f, path, FIELD_INT64, 1, "", "time step of each row",
                     &s->step));
    snprintf(path, sizeof path, "%s/%s/time", group, name);
    snprintf(existing, sizeof existing, "%s/%s/time", group, first);
    if (name != first)
        return h5_link(ctx, f->h5, existing, path);
    return make_set(ctx, f, path, FIELD_DOUBLE, 1, time_unit,
                    "simulated time of each row", &s->time);
}

static int make_column(struct ctx *ctx, struct h5md *f, const char *group,
                       const struct observable *quantity,
                       struct h5md_column *out)
{
    char path[PATH_SIZE];

    snprintf(path, sizeof path, "%s/%s/value", group, quantity->name);
    return make_set(ctx, f, path, FIELD_DOUBLE, out->components, quantity->unit,
                    quantity->description, &out->values);
}

static int allocate(struct ctx *ctx, int n, const int *components,
                    struct h5md_series *s)
{
    size_t count = n > 0 ? (size_t)n : 1;

    *s = (struct h5md_series){.last = -1, .capacity = ROWS_WAITING};
    s->step.id = s->time.id = H5I_INVALID_HID;
    s->columns = calloc(count, sizeof *s->columns);
    s->steps = calloc(ROWS_WAITING, sizeof *s->steps);
    s->times = calloc(ROWS_WAITING, sizeof *s->times);
    for (int i = 0; s->columns != NULL && i < n; i++) {
        s->columns[i].components = components != NULL ? components[i] : 1;
        s->columns[i].values.id = H5I_INVALID_HID;
        s->width += (size_t)s->columns[i].components;
    }
    s->values = calloc(ROWS_WAITING * (s->width + 1), sizeof *s->values);
    if (s->columns == NULL || s->steps == NULL || s->times == NULL ||
        s->values == NULL)
        return FAIL(ctx, STATUS_MEMORY, "out of memory for observables");
    s->n = n;
    return 0;
}

/* Where the file ends, in a file that was reopened. Collective. */
static int find_last(struct ctx *ctx, struct h5md *f, struct h5md_series *s)
{
    int64_t rows = (int64_t)s->step.shape[0];

    if (rows == 0)
        return 0;
    return h5_set_read(ctx, f->h5, &s->step, rows - 1, 1, &s->last);
}

int h5md_series_make(struct ctx *ctx, struct h5md *f, const char *group, int n,
                     const struct observable *quantities, const int *components,
                     const char *time_unit, struct h5md_series *out)
{
    int status = allocate(ctx, n, components, out);

    for (int i = 0; status == 0 && i < n; i++) {
        status = make_column(ctx, f, group, &quantities[i], &out->columns[i]);
        if (status == 0)
            status = make_times(ctx, f, group, quantities[i].name,
                                quantities[0].name, time_unit, out);
    }
    TRY(comm_agree(ctx, status));
    return f->reopened && n > 0 ? find_last(ctx, f, out) : 0;
}

static void free_one(struct h5md_series *s)
{
    for (int i = 0; i < s->n; i++)
        h5_set_close(&s->columns[i].values);
    h5_set_close(&s->step);
    h5_set_close(&s->time);
    free(s->columns);
    free(s->steps);
    free(s->times);
    free(s->values);
    *s = (struct h5md_series){.n = 0};
}

void h5md_free_series(struct h5md *f)
{
    free_one(&f->observables);
    for (int i = 0; i < f->n_probes; i++)
        free_one(&f->probes[i]);
    free(f->probes);
    f->probes = NULL;
    f->n_probes = 0;
}

/* ---- writing ---- */

/* The waiting values of one quantity, packed. */
static int settle_column(struct ctx *ctx, struct h5md *f, struct h5md_series *s,
                         int i, size_t offset, double *packed)
{
    size_t n = (size_t)s->columns[i].components;

    for (size_t row = 0; row < s->waiting; row++)
        memcpy(packed + row * n, s->values + row * s->width + offset,
               n * sizeof *packed);
    return h5_set_append(ctx, f->h5, &s->columns[i].values, (int64_t)s->waiting,
                         packed);
}

/* All of them even after a failure: the other ranks extend them all, too. */
static int settle_all(struct ctx *ctx, struct h5md *f, struct h5md_series *s,
                      double *packed)
{
    int64_t n = (int64_t)s->waiting;
    int first = h5_set_append(ctx, f->h5, &s->step, n, s->steps);
    int next = h5_set_append(ctx, f->h5, &s->time, n, s->times);
    size_t offset = 0;

    for (int i = 0; i < s->n; i++) {
        first = first != 0 ? first : next;
        next = settle_column(ctx, f, s, i, offset, packed);
        offset += (size_t)s->columns[i].components;
    }
    return first != 0 ? first : next;
}

static int settle_one(struct ctx *ctx, struct h5md *f, struct h5md_series *s)
{
    double numbers = (double)s->width + 2.0;
    double bytes = 8.0 * (double)s->waiting * numbers;
    double *packed;
    int status = 0;

    if (s->waiting == 0)
        return 0;
    TRY(h5_reserve(ctx, f->h5,
                   bytes + H5_SERIES_CHUNK_BYTES * numbers +
                       h5md_slack(s->n + 2),
                   "observables"));
    packed = malloc(s->waiting * s->width * sizeof *packed);
    if (packed == NULL)
        status = FAIL(ctx, STATUS_MEMORY, "out of memory for observables");
    TRY_CLEANUP(comm_agree(ctx, status));
    TRY_CLEANUP(h5_agree(ctx, f->h5, settle_all(ctx, f, s, packed)));
    s->waiting = 0;
    f->bytes += (uint64_t)bytes;
cleanup:
    free(packed);
    return status;
}

int h5md_settle(struct ctx *ctx, struct h5md *f)
{
    TRY(settle_one(ctx, f, &f->observables));
    for (int i = 0; i < f->n_probes; i++)
        TRY(settle_one(ctx, f, &f->probes[i]));
    return 0;
}

static int write_row(struct ctx *ctx, struct h5md *f, struct h5md_series *s,
                     int64_t step, double time, const double *values)
{
    size_t row = s->waiting;
    unsigned char due = 0;

    if (s->n == 0)
        return 0;
    if (row == s->capacity)
        return FAIL(ctx, STATUS_INTERNAL,
                    "observables written after a failure");
    s->steps[row] = step;
    s->times[row] = time;
    memcpy(&s->values[row * s->width], values, s->width * sizeof *values);
    s->waiting++;
    s->last = step;
    if (comm_rank(ctx->comm) == 0)
        due = timer_now() - f->flushed >= FLUSH_EVERY ||
              s->waiting == s->capacity;
    TRY(comm_bcast(ctx, &due, sizeof due));
    if (!due)
        return 0;
    f->flushed = timer_now();
    TRY(h5md_settle(ctx, f));
    return h5_flush(ctx, f->h5);
}

int h5md_write_observables(struct ctx *ctx, struct h5md *f, int64_t step,
                           double time, const double *values)
{
    return write_row(ctx, f, &f->observables, step, time, values);
}

/* ---- probes ---- */

static int add_series(struct ctx *ctx, struct h5md *f, const char *path, int n,
                      const struct observable *quantities,
                      const int *components, const char *time_unit, int *made,
                      int *number)
{
    struct h5md_series *grown =
        realloc(f->probes, ((size_t)f->n_probes + 1) * sizeof *grown);
    int reopened = f->reopened, status = 0;

    if (grown == NULL)
        status = FAIL(ctx, STATUS_MEMORY, "out of memory");
    else
        f->probes = grown;
    TRY(comm_agree(ctx, status));
    *number = f->n_probes++;
    grown[*number] = (struct h5md_series){.n = 0};
    TRY(h5_reserve(ctx, f->h5, h5md_slack(3 * n + 4), path));
    f->reopened = reopened && h5_exists(f->h5, path);
    *made = !f->reopened;
    if (*made)
        status = h5_group(ctx, f->h5, path);
    status = comm_agree(ctx, status);
    if (status == 0)
        status = h5md_series_make(ctx, f, path, n, quantities, components,
                                  time_unit, &grown[*number]);
    f->reopened = reopened;
    return status;
}

int h5md_add_probe(struct ctx *ctx, struct h5md *f, const char *name,
                   const double position[3], const char *length_unit, int n,
                   const struct observable *fields, const int *components,
                   const char *time_unit, int *probe, int64_t *last)
{
    char path[PATH_SIZE];
    int made, status = 0;

    snprintf(path, sizeof path, "/probes/%s", name);
    TRY(add_series(ctx, f, path, n, fields, components, time_unit, &made,
                   probe));
    if (made)
        status = h5_doubles(ctx, f->h5, path, "position", 3, position);
    if (made && status == 0)
        status = h5_text(ctx, f->h5, path, "position_unit", length_unit);
    *last = f->probes[*probe].last;
    return comm_agree(ctx, status);
}

int h5md_add_series(struct ctx *ctx, struct h5md *f, const char *group, int n,
                    const struct observable *quantities, const char *time_unit,
                    int *series, int64_t *last)
{
    int made;

    TRY(add_series(ctx, f, group, n, quantities, NULL, time_unit, &made,
                   series));
    *last = f->probes[*series].last;
    return 0;
}

int h5md_write_probe(struct ctx *ctx, struct h5md *f, int probe, int64_t step,
                     double time, const double *values)
{
    return write_row(ctx, f, &f->probes[probe], step, time, values);
}
