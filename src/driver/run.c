/* run.c: the phases of a run, the same for every solver: setup | loop | finish.
 *
 * All ranks go through here together: what is called is collective, and its
 * status is the same on all.
 */
#include "driver/run.h"

#include <inttypes.h>
#include <unistd.h>

#include "base/comm.h"
#include "base/ctx.h"
#include "base/error.h"
#include "base/log.h"
#include "base/timer.h"
#include "driver/banner.h"
#include "driver/commands.h"
#include "driver/stop.h"

/* ---- setup ---- */

static int setup(struct ctx *ctx, const struct command_line *line,
                 struct run *run)
{
    struct job *job = &run->job;
    struct results_plan plan;
    TRY(job_open(ctx, line->arguments[0], line->n_overrides, line->overrides,
                 job));
    results_plan(job, &plan);
    TRY(output_prepare(ctx, line->option[OPTION_OUTPUT], job->name,
                       line->option[OPTION_OVERWRITE] != NULL,
                       plan.bytes, &run->output));
    TRY(job_open_device(ctx, job, line->option[OPTION_DEVICE]));
    banner_print(ctx, job);
    TRY(job->solver->initial(ctx, job->state));
    return results_open(ctx, job, &run->output, line, &run->results);
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
        int last = stop || step == s->steps_total(state);
        struct results_due due = results_due(&run->results, last);
        int wish = wish_to_stop(ctx, run);
        TRY(s->step(ctx, state, due.look, &wish));
        TRY(results_write(ctx, &run->results, due));
        table_progress(&run->results.table, step);
        if (stop)
            break;
        stop = wish;
    }
    run->stopped = !s->done(state);
    return results_write_last(ctx, &run->results);
}

/* ---- finish ---- */

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

static int finish(struct ctx *ctx, struct run *run)
{
    TRY(results_finish(ctx, &run->results, !run->stopped));
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
    struct run run = {.results = {.frame_step = -1, .row_step = -1}};
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
    if (status != 0 && run.results.row_step >= 0 && !run.stopped)
        error_context(ctx, status,
                      "in '%s' stands what was written before, up "
                      "to step %" PRId64,
                      run.output.h5, run.results.row_step);
    if (status != 0 && !alone)
        results_close(ctx, &run.results);
    results_free(&run.results);
    output_free(&run.output);
    job_close(ctx, &run.job);
    return status;
}
