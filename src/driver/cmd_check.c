/* warpdeck check: every error in the deck, then the plan of its run. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/comm.h"
#include "base/ctx.h"
#include "base/error.h"
#include "base/format.h"
#include "base/log.h"
#include "base/param.h"
#include "driver/check_time.h"
#include "driver/commands.h"
#include "driver/job.h"
#include "driver/options.h"
#include "driver/replicas.h"
#include "driver/results.h"
#include "kernels/device.h"

static void print_problem(struct ctx *ctx, const struct job *job)
{
    const struct estimate *e = &job->plan;
    log_info(ctx->log, "  solver         %s, %s, in %s", job->solver->name,
             job->solver->title, job->solver->precision(job->state));
    log_info(ctx->log, "  problem        %s", e->problem);
    if (e->terms[0] != '\0')
        log_info(ctx->log, "  bonds          %s", e->terms);
    if (e->box[0] > 0)
        log_info(ctx->log, "  box            %.8g x %.8g x %.8g%s%s", e->box[0],
                 e->box[1], e->box[2], e->length_unit[0] != '\0' ? " " : "",
                 e->length_unit);
    double dt = job->solver->timestep(job->state);
    const char *unit = job->solver->time_unit(job->state);
    if (e->steps >= 0 && dt > 0)
        log_info(ctx->log, "  steps          %" PRId64 " of %g: time %.8g%s%s",
                 e->steps, dt, (double)e->steps * dt,
                 unit[0] != '\0' ? " " : "", unit);
    else if (e->steps >= 0) /* a step that the solver chooses as it goes */
        log_info(ctx->log, "  steps          %" PRId64, e->steps);
}

static void print_ranks(struct ctx *ctx, const struct job *job)
{
    const struct estimate *e = &job->plan;
    int ranks = comm_size(ctx->comm);
    char a[FORMAT_MAX], b[FORMAT_MAX];
    log_info(ctx->log, "  ranks          %d, as %d x %d x %d", ranks,
             e->decomposition[0], e->decomposition[1], e->decomposition[2]);
    log_info(ctx->log, "  on each        %.0f own, about %.0f copies",
             e->items_per_rank, e->halo_per_rank);
    log_info(ctx->log, "  memory         about %s a rank, %s in all",
             format_bytes(e->memory_per_rank, a),
             format_bytes(e->memory_per_rank * ranks, b));
    if (e->work_per_step > 0)
        log_info(ctx->log,
                 "  work           about %s floating-point operations a step",
                 format_count(e->work_per_step, a));
}

/* Nothing is opened: a plan may be made where the card is not. */
static void print_device(struct ctx *ctx, const struct job *job)
{
    char reason[192];
    const char *wanted = params_string(job->params, "run", "device");
    const char *name =
        device_choose(wanted, job->plan.items_per_rank, reason, sizeof(reason));
    log_info(ctx->log, "  device         %s%s%s", name,
             reason[0] != '\0' ? "; " : "", reason);
}

static void print_output(struct ctx *ctx, const struct job *job)
{
    struct results_plan plan;
    char a[FORMAT_MAX], b[FORMAT_MAX], others[64] = "";
    results_plan(job, &plan);
    if (plan.others > 0)
        snprintf(others, sizeof(others), ", %" PRId64 " of slices and boxes",
                 plan.others);
    log_info(ctx->log,
             "  output         %s.%s: %" PRId64 " frame%s of %s%s; %" PRId64
             " row%s of observables; about %s",
             job->name, job->solver->grid_frame != NULL ? "hdf.series" : "h5",
             plan.frames, plan.frames == 1 ? "" : "s",
             format_bytes(plan.frame_bytes, a), others, plan.rows,
             plan.rows == 1 ? "" : "s", format_bytes(plan.bytes, b));
}

/* ---- too little to do ---- */

/* Where copies outnumber what a rank owns by so much, it mostly copies. */
static const double COPIES_MOST = 4;
/* Planes of cells between two cuts. */
static const double PLANES_LEAST = 8;
/* Operations of a rank in a whole run: about as long as its start. */
static const double WORK_LEAST = 1e9;

static void warn_of_planes(struct ctx *ctx, const struct estimate *e)
{
    for (int d = 0; d < 3; d++) {
        double planes = (double)e->cells[d] / e->decomposition[d];
        if (e->cells[d] > 0 && e->decomposition[d] > 1 && planes < PLANES_LEAST)
            log_warn(ctx->log,
                     "a rank has too little to do: %.3g planes of cells along "
                     "%c, and it waits for its neighbours at each step; at "
                     "most %d ranks along %c are worth while",
                     planes, "xyz"[d],
                     (int)fmax((double)e->cells[d] / PLANES_LEAST, 1),
                     "xyz"[d]);
    }
}

static void warn_of_idle(struct ctx *ctx, const struct job *job)
{
    const struct estimate *e = &job->plan;
    int ranks = comm_size(ctx->comm);
    double work = e->work_per_step * (double)e->steps / ranks;
    char a[FORMAT_MAX];
    if (ranks == 1)
        return;
    warn_of_planes(ctx, e);
    if (e->cells[0] == 0 && e->halo_per_rank > COPIES_MOST * e->items_per_rank)
        log_warn(ctx->log,
                 "a rank has too little to do: %.0f of its own, and %.0f "
                 "copies of its neighbours' to keep up to date; use fewer "
                 "ranks",
                 e->items_per_rank, e->halo_per_rank);
    if (!(e->box[0] > 0) && work > 0 && work < WORK_LEAST)
        log_warn(ctx->log,
                 "a rank has too little to do: %.0f paths, %s operations in "
                 "the whole run, which takes no longer than to start; use "
                 "fewer ranks",
                 e->items_per_rank, format_count(work, a));
}

/* ---- the command ---- */

static int check(struct ctx *ctx, const struct command_line *line,
                 struct job *job)
{
    TRY(job_open(ctx, line->arguments[0], line->n_overrides, line->overrides,
                 job));
    log_info(ctx->log, "%s: no errors", line->arguments[0]);
    print_problem(ctx, job);
    print_ranks(ctx, job);
    print_device(ctx, job);
    print_output(ctx, job);
    warn_of_idle(ctx, job);
    if (log_level(ctx->log) >= LOG_VERBOSE) {
        size_t n;
        const char *text = params_resolved(job->params, &n);
        log_verbose(ctx->log, "\nthe deck with all defaults:\n\n%.*s", (int)n,
                    text);
    }
    return 0;
}

/* A plan for another number of ranks is made by one process that takes itself
 * for the first of them: nothing of a plan depends on what the others hold. */
static int check_planned(struct ctx *ctx, const struct command_line *line,
                         int ranks, double *memory)
{
    struct job job = {0};
    struct comm *real = ctx->comm, *planned;
    int status = comm_start_alone(ranks, &planned);
    if (status != 0)
        return FAIL(ctx, status, "out of memory");
    ctx->comm = planned;
    status = check(ctx, line, &job);
    *memory = job.plan.memory_per_rank;
    job_close(ctx, &job);
    ctx->comm = real;
    comm_finish(planned);
    return status;
}

/* The deck once more, on the ranks that there are. One that asks for a
 * decomposition of others does not run on these. */
static int open_here(struct ctx *ctx, const struct command_line *line,
                     struct job *job)
{
    enum log_level level = log_level(ctx->log);
    log_set_level(ctx->log, LOG_QUIET);
    int status = job_open(ctx, line->arguments[0], line->n_overrides,
                          line->overrides, job);
    log_set_level(ctx->log, level);
    if (status != 0 && status_exit(status) == 2) {
        error_clear(ctx);
        log_info(ctx->log,
                 "  time           not measured: the deck does not run on the "
                 "%d rank%s here; start check on as many as it wants",
                 comm_size(ctx->comm), comm_size(ctx->comm) == 1 ? "" : "s");
    }
    return status;
}

/* The plan of a deck with replicas is that of one of them, on its group of the
 * ranks. */
static int plan_replica(struct ctx *ctx, const struct command_line *line,
                        long *ranks)
{
    struct replicas r;
    int all = *ranks > 0 ? (int)*ranks : comm_size(ctx->comm);
    TRY(replicas_plan(ctx, line, all, &r));
    if (r.count == 1)
        return 0;
    *ranks = all / r.groups;
    log_info(
        ctx->log,
        "%d replicas on %d rank%s: %d at a time, each on %ld. One of them:",
        r.count, all, all == 1 ? "" : "s", r.groups, *ranks);
    return 0;
}

int cmd_check(struct ctx *ctx, const struct command_line *line)
{
    struct job job = {0};
    long ranks = 0, seconds = 1;
    double memory = 0;
    TRY(option_count(ctx, line, OPTION_RANKS, 1, &ranks));
    TRY(option_count(ctx, line, OPTION_MEASURE, 0, &seconds));
    TRY(plan_replica(ctx, line, &ranks));
    int status = ranks == 0 ? check(ctx, line, &job)
                            : check_planned(ctx, line, (int)ranks, &memory);
    if (status == 0 && seconds > 0) {
        if (ranks > 0)
            status = open_here(ctx, line, &job);
        if (status == 0)
            status = check_time(ctx, &job, (double)seconds,
                                ranks > 0 ? (int)ranks : comm_size(ctx->comm),
                                memory);
        else if (status_exit(status) == 2)
            status = 0;
    }
    job_close(ctx, &job);
    return status;
}
