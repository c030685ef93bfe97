#include "driver/results.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/comm.h"
#include "base/ctx.h"
#include "base/error.h"
#include "base/log.h"
#include "base/timer.h"
#include "domain/field.h"
#include "driver/job.h"
#include "driver/output.h"
#include "io/h5md.h"

int interval_due(const struct interval *every, int64_t step, double time,
                 double timestep)
{
    switch (every->kind) {
    case INTERVAL_STEPS:
        return step % every->steps == 0;
    case INTERVAL_TIME: /* a multiple lies in (time, time + timestep] */
        return floor((time + timestep) / every->time + 1e-9) >
               floor(time / every->time + 1e-9);
    default:
        return 0;
    }
}

/* ---- how much ---- */

/* How often something happens in a run of `steps`, the start included. */
static int64_t count_due(const struct interval *every, int64_t steps, double dt)
{
    int64_t n = 1;
    if (steps <= 0)
        return n;
    if (every->kind == INTERVAL_STEPS)
        n += steps / every->steps;
    else if (every->kind == INTERVAL_TIME)
        n += (int64_t)floor((double)steps * dt / every->time + 1e-9);
    /* the last step always counts */
    int last_is_due = 0;
    if (every->kind != INTERVAL_NEVER)
        last_is_due = interval_due(every, steps, (double)(steps - 1) * dt, dt);
    return n + !last_is_due;
}

double results_bytes(const struct job *job, int64_t *n_frames, int64_t *n_rows)
{
    const struct params *p = job->params;
    double dt = job->solver->timestep(job->state);
    struct interval rows = params_interval(p, "output", "observables_every");
    struct interval frames = params_interval(p, "output", "frames_every");
    int n = 0;
    job->solver->observables(job->state, &n);
    int64_t r = count_due(&rows, job->plan.steps, dt);
    int64_t f = count_due(&frames, job->plan.steps, dt);
    if (n_frames != NULL)
        *n_frames = f;
    if (n_rows != NULL)
        *n_rows = r;
    /* value, step and time are 8 bytes each */
    return (double)f * job->plan.frame_bytes + (double)r * n * 24;
}

/* ---- writing ---- */

static int write_row(struct ctx *ctx, struct results *r)
{
    const struct solver *s = r->job->solver;
    void *state = r->job->state;
    int64_t step = s->step_number(state);
    double time = s->time(state);
    TRY(s->observe(ctx, state, r->values));
    for (int i = 0; i < r->n_observables; i++)
        if (!isfinite(r->values[i]))
            return FAIL(ctx, STATUS_PHYSICS,
                        "step %" PRId64 ": %s is not finite", step,
                        r->observables[i].name);
    r->row_step = step;
    int status = h5md_write_observables(ctx, r->file, step, time, r->values);
    r->file_failed |= status != 0;
    if (status == 0)
        table_row(&r->table, step, time, r->values);
    return status;
}

static int write_frame(struct ctx *ctx, struct results *r)
{
    const struct solver *s = r->job->solver;
    const struct field_frame *frame;
    TRY(s->frame(ctx, r->job->state, r->n_fields, r->fields, &frame));
    int status = h5md_write_frame(ctx, r->file, frame);
    r->file_failed |= status != 0;
    r->frame_step = frame->step;
    return status;
}

int results_write(struct ctx *ctx, struct results *r, struct results_due due)
{
    int status = 0;
    timer_begin(ctx->timers, r->phase);
    if (due.row)
        status = write_row(ctx, r);
    if (status == 0 && due.frame)
        status = write_frame(ctx, r);
    timer_end(ctx->timers, r->phase);
    return status;
}

int results_write_last(struct ctx *ctx, struct results *r)
{
    int64_t step = r->job->solver->step_number(r->job->state);
    struct results_due missing = {r->row_step != step, r->frame_step != step};
    return results_write(ctx, r, missing);
}

struct results_due results_due(const struct results *r, int last)
{
    const struct solver *s = r->job->solver;
    void *state = r->job->state;
    int64_t step = s->step_number(state) + 1;
    double time = s->time(state), dt = s->timestep(state);
    int frame = last || interval_due(&r->frames, step, time, dt);
    int row = frame || interval_due(&r->rows, step, time, dt);
    return (struct results_due){row, frame};
}

/* ---- opening ---- */

static void read_keys(struct results *r)
{
    const struct params *p = r->job->params;
    size_t n = 0;
    r->rows = params_interval(p, "output", "observables_every");
    r->frames = params_interval(p, "output", "frames_every");
    r->fields = params_strings(p, "output", "fields", &n);
    r->n_fields = (int)n;
    r->frame_step = r->row_step = -1;
}

static int open_files(struct ctx *ctx, struct results *r,
                      const struct command_line *line)
{
    const struct solver *s = r->job->solver;
    r->observables = s->observables(r->job->state, &r->n_observables);
    r->values = calloc((size_t)r->n_observables + 1, sizeof(double));
    int status =
        r->values != NULL ? 0 : FAIL(ctx, STATUS_MEMORY, "out of memory");
    TRY(comm_agree(ctx, status));
    TRY(provenance_create(ctx, r, line));
    return comm_agree(ctx, log_open(ctx, r->output->log));
}

static void begin_table(struct ctx *ctx, struct results *r)
{
    const struct job *job = r->job;
    r->table =
        (struct table){.observables = r->observables,
                       .n_observables = r->n_observables,
                       .items = (double)job->plan.items,
                       .steps_total = job->solver->steps_total(job->state)};
    table_begin(&r->table, ctx->log, job->solver->timestep(job->state));
}

int results_open(struct ctx *ctx, struct job *job, const struct output *output,
                 const struct command_line *line, struct results *out)
{
    *out = (struct results){.job = job, .output = output};
    read_keys(out);
    TRY(open_files(ctx, out, line));
    out->phase = timer_phase(ctx->timers, "output");
    begin_table(ctx, out);
    return results_write(ctx, out, (struct results_due){1, 1});
}

/* ---- closing ---- */

static int write_tables(struct ctx *ctx, struct results *r)
{
    const struct result_table *tables;
    int n = 0;
    TRY(r->job->solver->results(ctx, r->job->state, &tables, &n));
    for (int i = 0; i < n; i++) {
        int status = h5md_write_table(ctx, r->file, &tables[i]);
        r->file_failed |= status != 0;
        TRY(status);
    }
    return 0;
}

static int close_file(struct ctx *ctx, struct results *r, int finished)
{
    struct h5md *file = r->file;
    r->file = NULL;
    if (file == NULL)
        return 0;
    if (!r->file_failed)
        return h5md_close(ctx, file, finished);
    h5md_abandon(file);
    return 0;
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

int results_finish(struct ctx *ctx, struct results *r, int finished)
{
    timer_begin(ctx->timers, r->phase);
    int status = write_tables(ctx, r);
    r->frames_written = h5md_frames(r->file);
    r->bytes_written = (double)h5md_bytes(r->file);
    if (status == 0)
        status = close_file(ctx, r, finished);
    timer_end(ctx->timers, r->phase);
    TRY(status);
    return check_there(ctx, r);
}

void results_close(struct ctx *ctx, struct results *r)
{
    close_file(ctx, r, 0);
}

void results_free(struct results *r)
{
    free(r->values);
    *r = (struct results){0};
}
