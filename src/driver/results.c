#include "driver/results.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/comm.h"
#include "base/ctx.h"
#include "base/error.h"
#include "base/log.h"
#include "base/timer.h"
#include "domain/field.h"
#include "driver/commands.h"
#include "driver/exchange.h"
#include "driver/job.h"
#include "driver/output.h"
#include "io/h5md.h"

/* ---- how much ---- */

void results_plan(const struct job *job, struct results_plan *out)
{
    const struct params *p = job->params;
    const struct estimate *e = &job->plan;
    double dt = job->solver->timestep(job->state), rest = 0;
    struct interval rows = params_interval(p, "output", "observables_every");
    struct interval frames = params_interval(p, "output", "frames_every");
    int n = 0;
    job->solver->observables(job->state, &n);
    *out = (struct results_plan){
        .rows = clock_count(&rows, e->steps, dt, e->end_time),
        .frames = clock_count(&frames, e->steps, dt, e->end_time),
        .frame_bytes = e->frame_bytes};
    if (job->solver->frame == NULL && job->solver->grid_frame == NULL)
        out->frames = 0;
    if (job->solver->grid_frame != NULL)
        parts_plan(job, &out->frame_bytes, &rest, &out->others);
    /* value, step and time are 8 bytes each */
    out->bytes = (double)out->frames * out->frame_bytes + rest +
                 (double)out->rows * n * 24;
}

/* ---- writing ---- */

/* The solver knows best where it is. */
static int fail_not_finite(struct ctx *ctx, const struct results *r,
                           int64_t step, const char *name)
{
    const struct solver *s = r->job->solver;
    if (s->guard != NULL)
        TRY(s->guard(ctx, r->job->state));
    return FAIL(ctx, STATUS_PHYSICS, "step %" PRId64 ": %s is not finite", step,
                name);
}

static int write_row(struct ctx *ctx, struct results *r)
{
    const struct solver *s = r->job->solver;
    void *state = r->job->state;
    int64_t step = s->step_number(state);
    double time = s->time(state);
    TRY(job_observe(ctx, r->job, r->values));
    for (int i = 0; i < r->n_observables; i++)
        if (!isfinite(r->values[i]))
            return fail_not_finite(ctx, r, step, r->observables[i].name);
    r->row_step = step;
    int status =
        staging_row(ctx, &r->staging, step, time, r->n_observables, r->values);
    if (status == 0)
        table_row(&r->table, step, time, r->values);
    return status;
}

/* Of particles; those of a grid are parts. */
static int write_frame(struct ctx *ctx, struct results *r)
{
    const struct field_frame *frame;
    TRY(job_frame(ctx, r->job, r->n_fields, r->fields, &frame));
    int status = staging_frame(ctx, &r->staging, frame, r->frame_step < 0);
    r->frame_step = frame->step;
    return status;
}

static int write_parts(struct ctx *ctx, struct results *r)
{
    return parts_write(ctx, &r->parts, r->job, &r->staging);
}

int results_write(struct ctx *ctx, struct results *r, struct results_due due)
{
    int status = 0;
    timer_begin(ctx->timers, r->phase);
    if (due.row)
        status = write_row(ctx, r);
    if (status == 0 && due.frame)
        status = write_frame(ctx, r);
    if (status == 0 && due.parts)
        status = write_parts(ctx, r);
    double time = r->job->solver->time(r->job->state);
    if (due.row)
        clock_done(&r->rows, time);
    if (due.frame || due.parts)
        clock_done(&r->frames, time);
    timer_end(ctx->timers, r->phase);
    return status;
}

int results_write_last(struct ctx *ctx, struct results *r)
{
    int64_t step = r->job->solver->step_number(r->job->state);
    int frames = r->job->solver->frame != NULL;
    struct results_due missing = {.row = r->row_step != step,
                                  .frame = frames && r->frame_step != step,
                                  .parts = parts_missing(&r->parts, step)};
    return results_write(ctx, r, missing);
}

/* Writing to a file that somebody has removed succeeds, for nothing. */
static int check_there(struct ctx *ctx, struct results *r)
{
    int status = 0;
    if (comm_rank(ctx->comm) == 0 && access(r->output->h5, F_OK) != 0)
        status =
            FAIL(ctx, STATUS_IO, "'%s' is gone: it was removed during the run",
                 r->output->h5);
    status = comm_agree(ctx, status);
    if (status != 0)
        r->row_step = -1; /* no row stands there */
    return status;
}

int results_failed(const struct results *r)
{
    return staging_failed(&r->staging);
}

/* What was handed over behind the failure is not in the file. */
int results_settle(struct ctx *ctx, struct results *r)
{
    int status = comm_agree(ctx, staging_drain(ctx, &r->staging));
    if (status != 0)
        r->row_step = r->staging.row;
    return status;
}

int results_flush(struct ctx *ctx, struct results *r)
{
    TRY(results_settle(ctx, r));
    int status = h5md_flush(ctx, r->file);
    r->staging.file_failed |= status != 0;
    return status != 0 ? status : check_there(ctx, r);
}

struct results_due results_due(struct results *r, int last)
{
    const struct solver *s = r->job->solver;
    void *state = r->job->state;
    int64_t step = s->step_number(state) + 1;
    double time = s->time(state), dt = s->timestep(state);
    struct results_due due = {0};
    int row = clock_due(&r->rows, step, time, dt);
    int frame = clock_due(&r->frames, step, time, dt) || last;
    due.frame = frame && s->frame != NULL;
    due.parts = parts_due(&r->parts, r->job, frame, last);
    due.row = row || frame;
    due.look = due.row || due.parts;
    return due;
}

/* ---- opening ---- */

static void read_keys(struct results *r)
{
    const struct params *p = r->job->params;
    double time = r->job->solver->time(r->job->state);
    struct interval rows = params_interval(p, "output", "observables_every");
    struct interval frames = params_interval(p, "output", "frames_every");
    size_t n = 0;
    clock_begin(&r->rows, &rows, time);
    clock_begin(&r->frames, &frames, time);
    r->fields = params_strings(p, "output", "fields", &n);
    r->n_fields = (int)n;
    r->frame_step = r->row_step = -1;
}

static int open_file(struct ctx *ctx, struct results *r,
                     const struct command_line *line,
                     const struct h5md_keep *kept, int resumed)
{
    const struct solver *s = r->job->solver;
    const char *path = r->output->h5, *time_unit = s->time_unit(r->job->state);
    unsigned char there = 0;
    if (resumed && comm_rank(ctx->comm) == 0)
        there = output_has_results(r->output) != 0;
    TRY(comm_bcast(ctx, &there, sizeof(there)));
    if (!there)
        return h5md_create(ctx, path,
                           line->option[OPTION_OVERWRITE] != NULL ||
                               line->option[OPTION_RESUME] != NULL,
                           &r->from, r->n_observables, r->observables,
                           time_unit, &r->file);
    TRY(h5md_reopen(ctx, path, *kept, &r->from, r->n_observables,
                    r->observables, time_unit, &r->file));
    r->row_step = h5md_last_row(r->file);
    r->frame_step = h5md_last_frame(r->file);
    return 0;
}

/* "folder/NAME", of which other files' names are made. */
static char *stem_of(const char *h5)
{
    size_t n = strlen(h5);
    return strndup(h5, n > 3 ? n - 3 : n);
}

/* resumed: the step that an earlier run is gone on from; -1: a new run. */
static int open_files(struct ctx *ctx, struct results *r,
                      const struct command_line *line,
                      const struct h5md_keep *kept, int64_t resumed)
{
    const struct solver *s = r->job->solver;
    char *stem = stem_of(r->output->h5);
    int status = 0;
    r->observables = s->observables(r->job->state, &r->n_observables);
    r->values = calloc((size_t)r->n_observables + 1, sizeof(double));
    if (r->values == NULL || stem == NULL)
        status = FAIL(ctx, STATUS_MEMORY, "out of memory");
    TRY_CLEANUP(comm_agree(ctx, status));
    TRY_CLEANUP(provenance_tell(ctx, r, line));
    TRY_CLEANUP(open_file(ctx, r, line, kept, resumed >= 0));
    TRY_CLEANUP(parts_open(ctx, r->job, stem, &r->from, resumed, &r->parts));
    status = comm_agree(ctx, resumed >= 0 ? log_append(ctx, r->output->log)
                                          : log_open(ctx, r->output->log));
cleanup:
    free(stem);
    return status;
}

static void begin_table(struct ctx *ctx, struct results *r)
{
    const struct job *job = r->job;
    r->table =
        (struct table){.observables = r->observables,
                       .n_observables = r->n_observables,
                       .items = (double)job->plan.items,
                       .steps_total = job->solver->steps_total(job->state)};
    table_begin(&r->table, ctx->log, job->solver->timestep(job->state),
                job->solver->time_unit(job->state));
}

static int open_all(struct ctx *ctx, struct job *job,
                    const struct output *output,
                    const struct command_line *line,
                    const struct h5md_keep *kept, int64_t resumed,
                    struct results *out)
{
    *out = (struct results){.job = job, .output = output};
    read_keys(out);
    TRY(open_files(ctx, out, line, kept, resumed));
    TRY(staging_begin(ctx, job, out->file, &out->staging));
    out->phase = timer_phase(ctx->timers, "output");
    begin_table(ctx, out);
    return out->row_step < 0 ? results_write_last(ctx, out) : 0;
}

int results_open(struct ctx *ctx, struct job *job, const struct output *output,
                 const struct command_line *line, struct results *out)
{
    return open_all(ctx, job, output, line, NULL, -1, out);
}

int results_resume(struct ctx *ctx, struct job *job,
                   const struct output *output, const struct command_line *line,
                   const struct h5md_keep *kept, struct results *out)
{
    int64_t step = job->solver->step_number(job->state);
    return open_all(ctx, job, output, line, kept, step, out);
}

/* ---- closing ---- */

static int write_exchange(struct ctx *ctx, struct results *r)
{
    const struct result_table *tables;
    int n = 0;
    TRY(comm_agree(
        ctx, exchange_results(ctx, r->exchange, r->replica, &tables, &n)));
    return h5md_write_tables(ctx, r->file, n, tables);
}

static int write_tables(struct ctx *ctx, struct results *r)
{
    const struct result_table *tables;
    int n = 0;
    TRY(r->job->solver->results(ctx, r->job->state, &tables, &n));
    int status = h5md_write_tables(ctx, r->file, n, tables);
    if (status == 0 && r->exchange != NULL)
        status = write_exchange(ctx, r);
    r->staging.file_failed |= status != 0;
    return status;
}

static int close_file(struct ctx *ctx, struct results *r, int finished)
{
    struct h5md *file = r->file;
    r->file = NULL;
    if (file == NULL)
        return 0;
    if (!r->staging.file_failed)
        return h5md_close(ctx, file, finished);
    h5md_abandon(file);
    return 0;
}

int results_finish(struct ctx *ctx, struct results *r, int finished)
{
    timer_begin(ctx->timers, r->phase);
    int status = results_settle(ctx, r);
    if (status == 0)
        status = write_tables(ctx, r);
    r->frames_written = h5md_frames(r->file) + parts_frames(&r->parts);
    r->bytes_written = (double)h5md_bytes(r->file) + parts_bytes(&r->parts);
    if (status == 0)
        status = close_file(ctx, r, finished);
    timer_end(ctx->timers, r->phase);
    TRY(status);
    return check_there(ctx, r);
}

void results_close(struct ctx *ctx, struct results *r)
{
    results_settle(ctx, r);
    close_file(ctx, r, 0);
}

void results_free(struct ctx *ctx, struct results *r)
{
    staging_end(ctx, &r->staging);
    parts_free(&r->parts);
    free(r->values);
    free(r->command);
    free(r->resolved);
    *r = (struct results){0};
}
