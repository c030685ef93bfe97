#include "driver/check_time.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/comm.h"
#include "base/ctx.h"
#include "base/error.h"
#include "base/format.h"
#include "base/log.h"
#include "base/param.h"
#include "base/timer.h"
#include "domain/state.h"
#include "driver/job.h"
#include "kernels/device.h"

/* Operations that a core does in a second, about. A step cannot be cut short,
 * so one that would take LONGEST times what was allowed is not begun. */
static const double CORE_SPEED = 4e9;
static const double LONGEST = 4;

struct measured {
    int64_t steps;   /* that were timed */
    double each;     /* seconds of one */
    int whole;       /* the run came to its end meanwhile */
    double building; /* seconds of the initial state */
    double checkpoint;
};

/* ---- the size of a checkpoint ---- */

struct counter {
    struct state_io io;
    double bytes;
};

/* The whole array, whatever this rank has of it. */
static int count_array(struct ctx *ctx, struct state_io *io,
                       const struct state_array *array)
{
    static const double size[] = {[STATE_DOUBLE] = 8,
                                  [STATE_FLOAT] = 4,
                                  [STATE_INT32] = 4,
                                  [STATE_INT64] = 8,
                                  [STATE_BYTE] = 1};
    double bytes = size[array->type];
    (void)ctx;
    for (int d = 0; d < array->rank; d++)
        bytes *= (double)array->shape[d];
    ((struct counter *)(void *)io)->bytes += bytes;
    return 0;
}

static int count_checkpoint(struct ctx *ctx, const struct job *job,
                            double *bytes)
{
    struct counter counter = {.io = {.put = count_array}};
    if (job->solver->save == NULL)
        return 0;
    TRY(job->solver->save(ctx, job->state, &counter.io));
    *bytes = counter.bytes;
    return 0;
}

/* ---- steps ---- */

static int one_step(struct ctx *ctx, const struct job *job, double *seconds)
{
    int stop = 0;
    double begin = timer_now();
    TRY(job_step(ctx, job, 0, &stop));
    *seconds = timer_now() - begin;
    return comm_max_double(ctx, seconds, 1);
}

/* The first step finds memory that nobody has touched, and counts only where
 * it is the only one. */
static int time_steps(struct ctx *ctx, const struct job *job, double most,
                      struct measured *m)
{
    const struct solver *s = job->solver;
    double first = 0, sum = 0, last;
    TRY(s->done(job->state) ? 0 : one_step(ctx, job, &first));
    m->each = first;
    m->steps = first > 0;
    if (first < most)
        while (!s->done(job->state) && sum + first < most) {
            TRY(one_step(ctx, job, &last));
            sum += last;
            m->steps++;
            m->each = sum / (double)(m->steps - 1);
        }
    m->whole = s->done(job->state);
    return 0;
}

static int measure(struct ctx *ctx, const struct job *job, double most,
                   struct measured *m)
{
    double begin = timer_now();
    TRY(job_initial(ctx, job));
    m->building = timer_now() - begin;
    TRY(comm_max_double(ctx, &m->building, 1));
    TRY(count_checkpoint(ctx, job, &m->checkpoint));
    return time_steps(ctx, job, most, m);
}

/* ---- what it says ---- */

/* How many of other ranks share a device is not known here. */
static void print_device(struct ctx *ctx, const struct job *job, int ranks,
                         double memory)
{
    const struct device *d = job->device;
    char need[FORMAT_MAX], has[FORMAT_MAX];
    if (ranks != comm_size(ctx->comm)) {
        log_info(ctx->log,
                 "  on the device  %s: about %s of its %s for each rank on it",
                 d->description, format_bytes(memory, need),
                 format_bytes((double)d->memory_total, has));
        return;
    }
    log_info(ctx->log,
             "  on the device  %s: about %s of its %s, %d rank%s on it",
             d->description,
             format_bytes(job->plan.memory_per_rank * d->sharers, need),
             format_bytes((double)d->memory_total, has), d->sharers,
             d->sharers == 1 ? "" : "s");
}

static void print_checkpoints(struct ctx *ctx, const struct job *job,
                              const struct measured *m)
{
    const struct params *p = job->params;
    char a[FORMAT_MAX], b[FORMAT_MAX];
    double keep = (double)params_int(p, "checkpoint", "keep");
    if (!params_has_section(p, "checkpoint") || !(m->checkpoint > 0))
        return;
    log_info(ctx->log,
             "  checkpoints    about %s each, %.0f kept: %s, and one more "
             "while it is written",
             format_bytes(m->checkpoint, a), keep,
             format_bytes(keep * m->checkpoint, b));
}

/* -1: the solver chooses its steps as it goes; the present one tells how many
 * are to come. */
static double steps_of(const struct job *job)
{
    const struct solver *s = job->solver;
    double dt = s->timestep(job->state);
    if (job->plan.steps >= 0)
        return (double)job->plan.steps;
    return dt > 0 ? ceil(job->plan.end_time / dt) : 0;
}

static const char *format_short(double seconds, char buf[FORMAT_MAX])
{
    if (seconds >= 0.1)
        return format_seconds(seconds, buf);
    snprintf(buf, FORMAT_MAX, "%.3g ms", 1e3 * seconds);
    return buf;
}

static void print_time(struct ctx *ctx, const struct job *job,
                       const struct measured *m, int ranks)
{
    int here = comm_size(ctx->comm);
    double steps = m->whole ? (double)m->steps : steps_of(job);
    double each = m->each * here / ranks;
    char a[FORMAT_MAX], b[FORMAT_MAX], others[80] = "";
    if (ranks != here)
        snprintf(others, sizeof(others),
                 ", if %d rank%s each as fast as one here", ranks,
                 ranks == 1 ? " is" : "s are");
    log_info(ctx->log,
             "  time           about %s to begin and %s for %.0f step%s, "
             "without output%s",
             format_short(m->building, b), format_short(steps * each, a), steps,
             steps == 1 ? "" : "s", others);
    log_info(ctx->log,
             "                 from %" PRId64 " step%s on this machine's %d "
             "rank%s, %s each; %s",
             m->steps, m->steps == 1 ? "" : "s", here, here == 1 ? "" : "s",
             format_short(m->each, b),
             m->whole ? "that was all of it"
                      : "another machine, or a state that changes, takes "
                        "another time");
}

static int is_too_slow(struct ctx *ctx, const struct job *job, double seconds)
{
    const struct device *d = job->device;
    int ranks = comm_size(ctx->comm), card = strcmp(d->name, "cpu") != 0;
    double step =
        job->plan.work_per_step / ranks / (CORE_SPEED * fmax(d->threads, 1));
    if (card || step <= LONGEST * seconds)
        return 0;
    log_info(ctx->log,
             "  time           not measured: one step on the %d rank%s here "
             "may take %.0f s; --measure %.0f allows it",
             ranks, ranks == 1 ? "" : "s", ceil(step), ceil(step / LONGEST));
    return 1;
}

/* No card here, or too little memory: the plan may be for a machine that has
 * it. */
static int cannot_measure(struct ctx *ctx)
{
    const char *text = ctx->error.text;
    log_info(ctx->log, "  time           not measured: %.*s",
             (int)strcspn(text, "\n"), text);
    error_clear(ctx);
    return 0;
}

int check_time(struct ctx *ctx, struct job *job, double seconds, int ranks,
               double memory)
{
    struct measured m = {0};
    enum log_level level = log_level(ctx->log);
    int status = job_open_device(ctx, job, NULL);
    if (status != 0)
        return cannot_measure(ctx);
    print_device(ctx, job, ranks, memory);
    if (is_too_slow(ctx, job, seconds))
        return 0;
    log_set_level(ctx->log, LOG_QUIET);
    status = measure(ctx, job, seconds, &m);
    log_set_level(ctx->log, level);
    TRY(status);
    print_checkpoints(ctx, job, &m);
    if (m.steps > 0)
        print_time(ctx, job, &m, ranks);
    return 0;
}
