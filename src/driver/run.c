/* run.c: the phases of a run, the same for every solver: setup | loop | finish.
 *
 * All ranks go through here together: what is called is collective, and its
 * status is the same on all.
 */
#include "driver/run.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/comm.h"
#include "base/ctx.h"
#include "base/error.h"
#include "base/format.h"
#include "base/log.h"
#include "base/timer.h"
#include "driver/banner.h"
#include "driver/commands.h"
#include "driver/exchange.h"
#include "driver/resume.h"
#include "driver/stop.h"
#include "io/checkpoint.h"
#include "io/h5md.h"

/* ---- setup ---- */

/* Slurm's srun without the plugin that MPI needs starts processes that do not
 * know of each other; each would do the whole run, into the same files. */
static int check_launch(struct ctx *ctx)
{
    const char *started = getenv("SLURM_STEP_NUM_TASKS");
    const char *pmi = getenv("PMI_SIZE");
    if (started == NULL || atol(started) < 2 || comm_size(ctx->comm) > 1)
        return 0;
    /* What srun started was mpirun's own helpers. */
    if (getenv("OMPI_COMM_WORLD_SIZE") != NULL ||
        (pmi != NULL && atol(pmi) == 1))
        return 0;
    return FAIL(ctx, STATUS_USAGE,
                "srun started %s processes, but MPI sees only this one\n"
                "  use srun --mpi=pmix, or whatever srun --mpi=list shows that "
                "this MPI knows, or mpirun",
                started);
}

int run_allowed(struct ctx *ctx, const struct command_line *line)
{
    TRY(check_launch(ctx));
    return stop_deadline(ctx, line);
}

/* A run that is finished already: nothing to go on with. */
static int is_finished(struct ctx *ctx, const struct run *run,
                       const struct resume *resume, int *finished)
{
    unsigned char complete = 0;
    if (comm_rank(ctx->comm) == 0)
        complete = checkpoint_results_complete(run->output.h5);
    TRY(comm_bcast(ctx, &complete, sizeof(complete)));
    *finished = 0;
    if (!complete)
        return 0;
    if (resume->from == NULL)
        return FAIL(ctx, STATUS_USAGE,
                    "'%s' is finished, and has no checkpoint to go on from\n"
                    "  use --overwrite to replace it",
                    run->output.h5);
    int64_t total = run->job.solver->steps_total(run->job.state);
    int64_t step = checkpoint_header(resume->from)->step;
    *finished = total >= 0 && step >= total;
    if (*finished)
        log_info(ctx->log, "'%s' is finished, at step %" PRId64, run->output.h5,
                 step);
    return 0;
}

/* A run among others has a temperature of its own. */
static int set_temperature(struct ctx *ctx, struct run *run, int at_start)
{
    struct job *job = &run->job;
    return job->solver->exchange->set_temperature(
        ctx, job->state, exchange_temperature(run->exchange, run->replica),
        at_start);
}

/* The state of a checkpoint, and files that go on from there. */
static int go_on(struct ctx *ctx, const struct command_line *line,
                 struct run *run, const struct resume *resume)
{
    struct job *job = &run->job;
    const struct checkpoint_header *h = checkpoint_header(resume->from);
    struct state_io *io = checkpoint_state(resume->from);
    char path[512];
    io->same_machine = saves_same_machine(ctx, job, h);
    io->force = line->option[OPTION_FORCE] != NULL;
    TRY_WHILE(ctx, job->solver->restore(ctx, job->state, io),
              "going on from '%s'", resume->path);
    TRY(guard_restore(ctx, &run->guard, io));
    if (run->exchange != NULL) {
        TRY_WHILE(ctx, exchange_restore(ctx, run->exchange, io, h->step),
                  "going on from '%s'", resume->path);
        TRY(set_temperature(ctx, run, 0));
    }
    TRY_WHILE(ctx, guard_check(ctx, &run->guard), "going on from '%s'",
              resume->path);
    log_info(ctx->log, "goes on from step %" PRId64 " of %s%s", h->step,
             format_path(resume->path, path, sizeof(path)),
             io->same_machine
                 ? ""
                 : ", which other ranks or another device wrote: the same "
                   "within rounding");
    /* From here on a helper thread may write, and HDF5 takes one at a time. */
    checkpoint_let_go(resume->from);
    struct h5md_keep kept = {h->step, h->row_step, h->frame_step};
    return resume->own
               ? results_resume(ctx, job, &run->output, line, &kept,
                                &run->results)
               : results_open(ctx, job, &run->output, line, &run->results);
}

static int begin(struct ctx *ctx, const struct command_line *line,
                 struct run *run, const struct resume *resume)
{
    struct job *job = &run->job;
    TRY(job_open_device(ctx, job, line->option[OPTION_DEVICE]));
    banner_print(ctx, job);
    TRY(guard_open(ctx, job, &run->guard));
    if (resume->from != NULL) {
        TRY(go_on(ctx, line, run, resume));
    } else {
        TRY(job_initial(ctx, job));
        if (run->exchange != NULL)
            TRY(set_temperature(ctx, run, 1));
        TRY(results_open(ctx, job, &run->output, line, &run->results));
    }
    TRY(saves_open(ctx, job, &run->output, &run->results, &run->guard,
                   resume->from != NULL ? checkpoint_header(resume->from)
                                        : NULL,
                   resume->path, &run->saves));
    run->saves.exchange = run->results.exchange = run->exchange;
    run->results.replica = run->replica;
    return 0;
}

int run_prepare(struct ctx *ctx, const struct command_line *line,
                struct run *run, struct resume *resume)
{
    struct job *job = &run->job;
    int wants_on = line->option[OPTION_RESUME] != NULL;
    int replace = line->option[OPTION_OVERWRITE] != NULL;
    TRY(job_open(ctx, line->arguments[0], line->n_overrides, line->overrides,
                 job));
    TRY(output_name(ctx, line->option[OPTION_OUTPUT], job->name, &run->output));
    TRY(lock_take(ctx, &run->output, &run->lock));
    TRY(resume_open(ctx, line, job, &run->output, resume));
    if (wants_on && !replace && (resume->from == NULL || resume->own))
        TRY(is_finished(ctx, run, resume, &run->finished));
    return 0;
}

static void start_clock(struct ctx *ctx, struct run *run)
{
    timers_reset(ctx->timers);
    run->start = timer_now();
    run->first_step = run->job.solver->step_number(run->job.state);
    run->bytes_sent = comm_bytes_sent(ctx->comm);
}

int run_begin(struct ctx *ctx, const struct command_line *line, struct run *run,
              const struct resume *resume)
{
    struct job *job = &run->job;
    struct results_plan plan;
    enum output_existing existing = OUTPUT_REFUSE;
    results_plan(job, &plan);
    if (resume->from != NULL && resume->own)
        existing = OUTPUT_GO_ON;
    else if ((line->option[OPTION_RESUME] != NULL && resume->from == NULL) ||
             line->option[OPTION_OVERWRITE] != NULL)
        existing = OUTPUT_REPLACE;
    TRY(output_prepare(ctx, &run->output, job->name, existing, plan.bytes));
    TRY(begin(ctx, line, run, resume));
    start_clock(ctx, run);
    return monitor_open(ctx, job, &run->monitor);
}

/* ---- loop ---- */

enum wish { WISH_NONE, WISH_SAVE, WISH_STOP, WISH_SETTLE };

/* This rank's. The clock is rank 0's. */
static int wish_of(struct ctx *ctx, const struct run *run)
{
    int first = comm_rank(ctx->comm) == 0;
    double needed = run->saves.longest + run->longest_step;
    if (results_failed(&run->results))
        return WISH_SETTLE;
    if (stop_wanted(first ? run->output.stop : NULL, needed))
        return WISH_STOP;
    return first && saves_overdue(&run->saves) ? WISH_SAVE : WISH_NONE;
}

/* After a step in which somebody wished something: what all do. */
static int agree_on_wish(struct ctx *ctx, int *wish, int mine)
{
    int64_t most = mine;
    if (!*wish)
        return 0;
    TRY(comm_max_int64(ctx, &most, 1));
    *wish = (int)most;
    return 0;
}

/* `last`: the coming step will be looked at in any case. */
static void plan_step(struct ctx *ctx, struct run *run, int last)
{
    struct run_step *n = &run->next;
    if (n->planned)
        return;
    n->planned = 1;
    n->due = results_due(&run->results, 0);
    n->told = monitor_due(&run->monitor, &run->job);
    n->guarded = guard_due(&run->guard);
    n->mine = run->exchange == NULL ? wish_of(ctx, run) : WISH_NONE;
    n->look = n->due.look || last || (n->guarded && guard_looks(&run->guard));
    n->begin = timer_now();
    n->wish = n->mine != WISH_NONE;
}

static int step_ahead(struct ctx *ctx, struct run *run, int last, int *more)
{
    plan_step(ctx, run, last);
    return job_ahead(ctx, &run->job, run->next.look, &run->next.wish, more);
}

/* One step with all that goes with it; *wish: what all wish after it. */
static int advance(struct ctx *ctx, struct run *run, int last, int *wish)
{
    const struct solver *s = run->job.solver;
    plan_step(ctx, run, last);
    struct run_step now = run->next;
    run->next.planned = 0;
    *wish = now.wish;
    TRY(job_step(ctx, &run->job, now.look, wish));
    TRY(agree_on_wish(ctx, wish, now.mine));
    if (*wish == WISH_SETTLE)
        TRY(results_settle(ctx, &run->results));
    if (now.guarded)
        TRY(guard_check_all(ctx, &run->guard));
    TRY(results_write(ctx, &run->results, now.due));
    if (now.told)
        TRY(monitor_write(ctx, &run->monitor, &run->job,
                          &run->results.staging));
    run->longest_step = fmax(run->longest_step, timer_now() - now.begin);
    /* Runs that go on together are saved together. */
    if (run->exchange == NULL && (saves_due(&run->saves) || *wish == WISH_SAVE))
        TRY(saves_write(ctx, &run->saves));
    char note[96] = "";
    if (s->progress != NULL)
        s->progress(run->job.state, note, sizeof(note));
    table_progress(&run->results.table, s->step_number(run->job.state), note);
    return 0;
}

int run_advance(struct ctx *ctx, struct run *run, int look)
{
    int wish;
    return advance(ctx, run, look, &wish);
}

int run_ahead(struct ctx *ctx, struct run *run, int look, int *more)
{
    return step_ahead(ctx, run, look, more);
}

/* Where no step can follow: what there is, is saved. */
int run_check_blocked(struct ctx *ctx, struct run *run)
{
    const struct solver *s = run->job.solver;
    const char *why = s->blocked != NULL ? s->blocked(run->job.state) : NULL;
    if (why == NULL)
        return 0;
    TRY(saves_write(ctx, &run->saves));
    return FAIL(ctx, STATUS_PHYSICS, "%s", why);
}

static int is_last(const struct run *run)
{
    const struct solver *s = run->job.solver;
    void *state = run->job.state;
    return run->stopping || s->step_number(state) + 1 == s->steps_total(state);
}

int run_round_ahead(struct ctx *ctx, struct run *run, int *more)
{
    if (!run->next.planned)
        TRY(run_check_blocked(ctx, run));
    return step_ahead(ctx, run, is_last(run), more);
}

/* The energies of a row come with the forces, so after a wish to stop one more
 * step is made, to be looked at. */
int run_round(struct ctx *ctx, struct run *run, int *over)
{
    const struct solver *s = run->job.solver;
    int wish;
    if (!run->next.planned)
        TRY(run_check_blocked(ctx, run));
    TRY(advance(ctx, run, is_last(run), &wish));
    *over = run->stopping || s->done(run->job.state);
    run->stopping = wish == WISH_STOP;
    return 0;
}

/* ---- finish ---- */

static int say_stopped(struct ctx *ctx, const struct run *run)
{
    const struct solver *s = run->job.solver;
    int64_t step = s->step_number(run->job.state);
    int64_t total = s->steps_total(run->job.state);
    char of[32] = "";
    if (comm_rank(ctx->comm) == 0)
        unlink(run->output.stop);
    if (total >= 0)
        snprintf(of, sizeof(of), " of %" PRId64, total);
    FAIL(ctx, STATUS_STOPPED, "stopped at step %" PRId64 "%s (%s)", step, of,
         stop_reason());
    if (run->saves.last_step == step)
        return error_context(ctx, STATUS_STOPPED,
                             "use the same command with --resume auto to go "
                             "on from there");
    return error_context(ctx, STATUS_STOPPED,
                         "in order are its results; another run begins at "
                         "step 0");
}

static int finish(struct ctx *ctx, struct run *run)
{
    TRY(results_finish(ctx, &run->results, !run->stopped));
    run->seconds = timer_now() - run->start;
    TRY(closing_print(ctx, run));
    if (run->exchange != NULL)
        exchange_print(ctx, run->exchange);
    return run->stopped ? say_stopped(ctx, run) : 0;
}

/* What is written because a run ends comes after its checkpoint: a run that
 * goes on from there has not ended. */
int run_end(struct ctx *ctx, struct run *run)
{
    const struct solver *s = run->job.solver;
    run->stopped = !s->done(run->job.state);
    int saved = s->save != NULL && (run->stopped || run->saves.at_end);
    if (saved)
        TRY(saves_write(ctx, &run->saves));
    /* Frames of grids take space, and the checkpoint has it all. */
    if (!run->stopped || !saved || s->grid_frame == NULL)
        TRY(results_write_last(ctx, &run->results));
    return finish(ctx, run);
}

int run_complete(struct ctx *ctx, struct run *run)
{
    TRY(results_write_last(ctx, &run->results));
    return finish(ctx, run);
}

/* What a run that failed leaves behind. */
static void tell_what_stands(struct ctx *ctx, const struct run *run, int status)
{
    if (status == STATUS_STOPPED || run->results.row_step < 0)
        return;
    /* A file that could not be written has another name, which was told. */
    if (access(run->output.h5, F_OK) == 0)
        error_context(ctx, status,
                      "in '%s' stands what was written before, up to step "
                      "%" PRId64,
                      run->output.h5, run->results.row_step);
    saves_offer(ctx, &run->saves, status);
}

static int run_all(struct ctx *ctx, const struct command_line *line,
                   struct run *run)
{
    struct resume resume = {0};
    int status = run_prepare(ctx, line, run, &resume);
    if (status == 0 && !run->finished)
        status = run_begin(ctx, line, run, &resume);
    resume_free(&resume);
    if (status != 0 || run->finished)
        return status;
    int over = run->job.solver->done(run->job.state);
    while (!over)
        TRY(run_round(ctx, run, &over));
    return run_end(ctx, run);
}

struct run *run_create(void)
{
    struct run *run = calloc(1, sizeof(*run));
    if (run != NULL)
        run->results.frame_step = run->results.row_step = -1;
    return run;
}

void run_abandon(struct ctx *ctx, struct run *run, int status)
{
    results_close(ctx, &run->results);
    tell_what_stands(ctx, run, status);
}

void run_close(struct ctx *ctx, struct run *run)
{
    saves_free(&run->saves);
    guard_free(&run->guard);
    monitor_free(&run->monitor);
    results_free(ctx, &run->results);
    lock_release(ctx, &run->lock);
    output_free(&run->output);
    job_close(ctx, &run->job);
    free(run);
}

int run_deck(struct ctx *ctx, const struct command_line *line)
{
    struct run *run = run_create();
    int alone, status = 0;
    if (run == NULL)
        status = FAIL(ctx, STATUS_MEMORY, "out of memory");
    TRY(comm_agree(ctx, status));
    status = run_all(ctx, line, run);
    status = comm_farewell(ctx, status, &alone);
    if (status != 0 && !alone)
        results_close(ctx, &run->results);
    if (status != 0)
        tell_what_stands(ctx, run, status);
    /* Where a rank failed alone, all can only be left as it is: the others are
     * waiting, the helper that writes perhaps, too. main() ends them. */
    if (alone)
        return status;
    run_close(ctx, run);
    return status;
}
