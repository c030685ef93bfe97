/* run.c: the phases of a run, the same for every solver: setup | loop | finish.
 *
 * All ranks go through here together: what is called is collective, and its
 * status is the same on all.
 */
#include "driver/run.h"

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
#include "driver/banner.h"
#include "driver/commands.h"
#include "driver/stop.h"
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

/* ---- what is written ---- */

static int write_row(struct ctx *ctx, struct run *run)
{
    const struct solver *s = run->job.solver;
    void *state = run->job.state;
    int64_t step = s->step_number(state);
    double time = s->time(state);
    TRY(s->observe(ctx, state, run->values));
    for (int i = 0; i < run->n_observables; i++)
        if (!isfinite(run->values[i]))
            return FAIL(ctx, STATUS_PHYSICS,
                        "step %" PRId64 ": %s is not finite", step,
                        run->observables[i].name);
    run->row_step = step;
    int status =
        h5md_write_observables(ctx, run->file, step, time, run->values);
    run->file_failed |= status != 0;
    if (status == 0)
        table_row(&run->table, step, time, run->values);
    return status;
}

static int write_frame(struct ctx *ctx, struct run *run)
{
    const struct solver *s = run->job.solver;
    const struct field_frame *frame;
    TRY(s->frame(ctx, run->job.state, run->n_fields, run->fields, &frame));
    int status = h5md_write_frame(ctx, run->file, frame);
    run->file_failed |= status != 0;
    run->frame_step = frame->step;
    return status;
}

static int write_due(struct ctx *ctx, struct run *run, int row, int frame)
{
    int status = 0;
    timer_begin(ctx->timers, run->phase_output);
    if (row)
        status = write_row(ctx, run);
    if (status == 0 && frame)
        status = write_frame(ctx, run);
    timer_end(ctx->timers, run->phase_output);
    return status;
}

/* ---- setup ---- */

static void read_output_keys(struct run *run)
{
    const struct params *p = run->job.params;
    size_t n = 0;
    run->rows = params_interval(p, "output", "observables_every");
    run->frames = params_interval(p, "output", "frames_every");
    run->fields = params_strings(p, "output", "fields", &n);
    run->n_fields = (int)n;
    run->frame_step = run->row_step = -1;
}

static int open_files(struct ctx *ctx, struct run *run,
                      const struct command_line *line)
{
    const struct solver *s = run->job.solver;
    run->observables = s->observables(run->job.state, &run->n_observables);
    run->values = calloc((size_t)run->n_observables + 1, sizeof(double));
    int status =
        run->values != NULL ? 0 : FAIL(ctx, STATUS_MEMORY, "out of memory");
    TRY(comm_agree(ctx, status));
    TRY(provenance_create(ctx, run, line));
    return comm_agree(ctx, log_open(ctx, run->output.log));
}

static int setup(struct ctx *ctx, const struct command_line *line,
                 struct run *run)
{
    struct job *job = &run->job;
    TRY(job_open(ctx, line->arguments[0], line->n_overrides, line->overrides,
                 job));
    read_output_keys(run);
    TRY(output_prepare(ctx, line->option[OPTION_OUTPUT], job->name,
                       line->option[OPTION_OVERWRITE] != NULL,
                       run_output_bytes(job->params, job, NULL, NULL),
                       &run->output));
    TRY(job_open_device(ctx, job, line->option[OPTION_DEVICE]));
    banner_print(ctx, job);
    TRY(job->solver->initial(ctx, job->state));
    TRY(open_files(ctx, run, line));

    run->phase_output = timer_phase(ctx->timers, "output");
    run->table =
        (struct table){.observables = run->observables,
                       .n_observables = run->n_observables,
                       .items = (double)job->plan.items,
                       .steps_total = job->solver->steps_total(job->state)};
    table_begin(&run->table, ctx->log, job->solver->timestep(job->state));
    return write_due(ctx, run, 1, 1);
}

/* ---- loop ---- */

static int wish_to_stop(struct ctx *ctx, const struct run *run)
{
    return stop_wanted(comm_rank(ctx->comm) == 0 ? run->output.stop : NULL);
}

/* The last step of a run has a row and a frame. The energies of a row come with
 * the forces, so after a wish to stop one more step is made, to be looked at.
 */
static int loop(struct ctx *ctx, struct run *run)
{
    const struct solver *s = run->job.solver;
    void *state = run->job.state;
    int stop = 0;
    while (!s->done(state)) {
        int64_t step = s->step_number(state) + 1;
        double time = s->time(state), dt = s->timestep(state);
        int last = stop || step == s->steps_total(state);
        int frame = last || interval_due(&run->frames, step, time, dt);
        /* A frame has its row: readers pair them (MDAnalysis does). */
        int row = frame || interval_due(&run->rows, step, time, dt);
        int wish = wish_to_stop(ctx, run);
        TRY(s->step(ctx, state, row, &wish));
        TRY(write_due(ctx, run, row, frame));
        table_progress(&run->table, step);
        if (stop)
            break;
        stop = wish;
    }
    run->stopped = !s->done(state);
    int64_t step = s->step_number(state);
    return write_due(ctx, run, run->row_step != step, run->frame_step != step);
}

/* ---- finish ---- */

static int write_results(struct ctx *ctx, struct run *run)
{
    const struct result_table *tables;
    int n = 0;
    TRY(run->job.solver->results(ctx, run->job.state, &tables, &n));
    for (int i = 0; i < n; i++) {
        int status = h5md_write_table(ctx, run->file, &tables[i]);
        run->file_failed |= status != 0;
        TRY(status);
    }
    return 0;
}

static int say_stopped(struct ctx *ctx, const struct run *run)
{
    const struct solver *s = run->job.solver;
    if (comm_rank(ctx->comm) == 0)
        unlink(run->output.stop);
    return FAIL(ctx, STATUS_STOPPED,
                "stopped at step %" PRId64 " of %" PRId64 " (%s)\n"
                "  its results are in order; this version writes no "
                "checkpoints, so another run begins at step 0",
                s->step_number(run->job.state), s->steps_total(run->job.state),
                stop_reason());
}

/* After a failure what stands in the file stays readable, `complete` = 0. */
static int close_file(struct ctx *ctx, struct run *run, int finished)
{
    struct h5md *file = run->file;
    run->file = NULL;
    if (file == NULL)
        return 0;
    if (!run->file_failed)
        return h5md_close(ctx, file, finished);
    h5md_abandon(file);
    return 0;
}

/* Writing to a file that somebody has removed succeeds, for nothing. */
static int check_there(struct ctx *ctx, struct run *run)
{
    int status = 0;
    if (comm_rank(ctx->comm) == 0 && access(run->output.h5, F_OK) != 0)
        status =
            FAIL(ctx, STATUS_IO, "'%s' is gone: it was removed during the run",
                 run->output.h5);
    status = comm_agree(ctx, status);
    if (status != 0)
        run->row_step = -1; /* no row stands there */
    return status;
}

static int finish(struct ctx *ctx, struct run *run)
{
    timer_begin(ctx->timers, run->phase_output);
    int status = write_results(ctx, run);
    run->frames_written = h5md_frames(run->file);
    run->bytes_written = (double)h5md_bytes(run->file);
    if (status == 0)
        status = close_file(ctx, run, !run->stopped);
    timer_end(ctx->timers, run->phase_output);
    TRY(status);
    TRY(check_there(ctx, run));
    run->seconds = timer_now() - run->start;
    TRY(closing_print(ctx, run));
    return run->stopped ? say_stopped(ctx, run) : 0;
}

static void start_clock(struct ctx *ctx, struct run *run)
{
    timers_reset(ctx->timers);
    run->start = timer_now();
    run->first_step = run->job.solver->step_number(run->job.state);
    run->bytes_sent = comm_bytes_sent(ctx->comm);
}

int cmd_run(struct ctx *ctx, const struct command_line *line)
{
    struct run run = {.frame_step = -1, .row_step = -1};
    int status = setup(ctx, line, &run);
    if (status == 0) {
        start_clock(ctx, &run);
        status = loop(ctx, &run);
    }
    if (status == 0)
        status = finish(ctx, &run);
    /* Where a rank failed alone, the file can only be left as it is. */
    int alone;
    status = comm_farewell(ctx, status, &alone);
    if (status != 0 && run.row_step >= 0 && !run.stopped)
        error_context(ctx, status,
                      "in '%s' stands what was written before, up "
                      "to step %" PRId64,
                      run.output.h5, run.row_step);
    if (status != 0 && !alone)
        close_file(ctx, &run, 0);
    free(run.values);
    output_free(&run.output);
    job_close(ctx, &run.job);
    return status;
}
