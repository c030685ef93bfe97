/* warpdeck bench io: what a run loses to its output.
 *
 * The standard problems of particles and of a flow are run three times: without
 * output, with frames (or checkpoints) that the run waits for, and with frames
 * that a helper thread writes. What is lost is the time beyond the first run's,
 * the wait for the last byte included.
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/comm.h"
#include "base/ctx.h"
#include "base/error.h"
#include "base/format.h"
#include "base/log.h"
#include "base/param.h"
#include "base/timer.h"
#include "driver/bench.h"
#include "driver/commands.h"
#include "driver/guard.h"
#include "driver/job.h"
#include "driver/options.h"
#include "driver/output.h"
#include "driver/results.h"
#include "driver/saves.h"
#include "driver/stop.h"
#include "solvers/solver.h"

enum { OVERRIDES_MAX = 48, TEXT_MAX = 96, REPEATS = 2 };

enum mode { MODE_NONE, MODE_WAIT, MODE_HELPER, MODES };

static const struct io_case {
    const char *solver, *what, *size;
    int checkpoints;
} cases[] = {{"md", "particles, frames", "md.initial.cells=[20,20,20]", 0},
             {"md", "particles, checkpoints", "md.initial.cells=[20,20,20]", 1},
             {"fluid", "flow, frames", "domain.cells=[96,96,96]", 0},
             {"fluid", "flow, checkpoints", "domain.cells=[96,96,96]", 1}};

struct measured {
    double seconds[MODES];
    double bytes; /* of one frame or checkpoint */
    double count;
};

struct io_bench {
    const struct command_line *line;
    long steps, every;
    char folder[512];
};

/* ---- the folder ---- */

static int make_folder(struct ctx *ctx, struct io_bench *b)
{
    const char *in = b->line->option[OPTION_OUTPUT];
    int status = 0;
    snprintf(b->folder, sizeof(b->folder), "%.480s/warpdeck-bench-io",
             in != NULL ? in : ".");
    if (comm_rank(ctx->comm) == 0 && mkdir(b->folder, 0777) != 0)
        status = FAIL(ctx, STATUS_USAGE,
                      "cannot make the folder '%s': %s\n  use --output for a "
                      "folder on the file system that is to be measured",
                      b->folder, strerror(errno));
    return comm_agree(ctx, status);
}

/* Rank 0: all in it, which is this command's. */
static void empty_folder(struct ctx *ctx, const struct io_bench *b)
{
    char path[800];
    DIR *dir = comm_rank(ctx->comm) == 0 ? opendir(b->folder) : NULL;
    if (dir == NULL)
        return;
    for (struct dirent *e; (e = readdir(dir)) != NULL;) {
        snprintf(path, sizeof(path), "%s/%s", b->folder, e->d_name);
        if (e->d_name[0] != '.')
            unlink(path);
    }
    closedir(dir);
}

/* ---- one run ---- */

struct trial {
    struct job job;
    struct output output;
    struct results results;
    struct guard guard;
    struct saves saves;
};

static int open_job(struct ctx *ctx, const struct io_bench *b,
                    const struct io_case *c, enum mode mode, struct job *job)
{
    const struct solver_bench *s = solver_find(c->solver)->bench;
    long never = 1000000000;
    char text[5][TEXT_MAX];
    const char *list[OVERRIDES_MAX];
    int n = 0, frames = mode != MODE_NONE && !c->checkpoints;
    snprintf(text[0], TEXT_MAX, "%s=%ld", s->steps_key, b->steps);
    snprintf(text[1], TEXT_MAX, "output.frames_every=%ld",
             frames ? b->every : never);
    snprintf(text[2], TEXT_MAX, "output.observables_every=%ld", never);
    snprintf(text[3], TEXT_MAX, "output.staging=%s",
             mode == MODE_HELPER ? "on" : "off");
    snprintf(text[4], TEXT_MAX, "checkpoint.every=%ld",
             mode != MODE_NONE && c->checkpoints ? b->every : never);
    for (; n < 5; n++)
        list[n] = text[n];
    list[n++] = c->size;
    for (int i = 0; i < b->line->n_overrides && n < OVERRIDES_MAX; i++)
        list[n++] = b->line->overrides[i];
    TRY(job_open_text(ctx, "bench-io.toml", s->deck, n, list, job));
    return job_open_device(ctx, job, b->line->option[OPTION_DEVICE]);
}

static int run_steps(struct ctx *ctx, struct trial *t)
{
    const struct solver *s = t->job.solver;
    while (!s->done(t->job.state)) {
        struct results_due due = results_due(&t->results, 0);
        int stop = stop_wanted(NULL, 0);
        TRY(job_step(ctx, &t->job, due.look, &stop));
        if (stop)
            return FAIL(ctx, STATUS_STOPPED, "stopped (%s)", stop_reason());
        TRY(results_write(ctx, &t->results, due));
        if (saves_due(&t->saves))
            TRY(saves_write(ctx, &t->saves));
    }
    return results_settle(ctx, &t->results);
}

static int time_run(struct ctx *ctx, const struct io_bench *b, struct trial *t,
                    double *seconds)
{
    struct results_plan plan;
    results_plan(&t->job, &plan);
    TRY(output_name(ctx, b->folder, "bench-io", &t->output));
    TRY(output_prepare(ctx, &t->output, "bench-io", OUTPUT_REPLACE,
                       plan.bytes));
    TRY(guard_open(ctx, &t->job, &t->guard));
    TRY(job_initial(ctx, &t->job));
    TRY(results_open(ctx, &t->job, &t->output, b->line, &t->results));
    TRY(saves_open(ctx, &t->job, &t->output, &t->results, &t->guard, NULL, NULL,
                   &t->saves));
    TRY(results_settle(ctx, &t->results));
    TRY(comm_barrier(ctx));
    double begin = timer_now();
    TRY(run_steps(ctx, t));
    *seconds = timer_now() - begin;
    return comm_max_double(ctx, seconds, 1);
}

static double file_size(const char *path)
{
    struct stat file;
    return path != NULL && stat(path, &file) == 0 ? (double)file.st_size : 0;
}

static int one_run(struct ctx *ctx, const struct io_bench *b,
                   const struct io_case *c, enum mode mode, struct measured *m)
{
    struct trial t = {.results = {.frame_step = -1, .row_step = -1}};
    struct results_plan plan = {0};
    double seconds = 0;
    enum log_level level = log_level(ctx->log);
    empty_folder(ctx, b);
    log_set_level(ctx->log, LOG_QUIET);
    int status = open_job(ctx, b, c, mode, &t.job);
    if (status == 0)
        status = time_run(ctx, b, &t, &seconds);
    log_set_level(ctx->log, level);
    if (status == 0) {
        results_plan(&t.job, &plan);
        if (m->seconds[mode] <= 0 || seconds < m->seconds[mode])
            m->seconds[mode] = seconds;
        if (mode == MODE_WAIT)
            m->bytes =
                c->checkpoints ? file_size(t.saves.last) : plan.frame_bytes;
        m->count = (double)(b->steps / b->every);
    }
    int alone;
    status = comm_farewell(ctx, status, &alone);
    if (alone)
        return status;
    results_close(ctx, &t.results);
    saves_free(&t.saves);
    guard_free(&t.guard);
    results_free(ctx, &t.results);
    output_free(&t.output);
    job_close(ctx, &t.job);
    return status;
}

/* ---- all of them ---- */

static void print_case(struct ctx *ctx, const struct io_case *c,
                       const struct measured *m)
{
    char size[FORMAT_MAX], helper[64] = "        -         -";
    double none = m->seconds[MODE_NONE], wait = m->seconds[MODE_WAIT];
    double with = m->seconds[MODE_HELPER], lost = wait - none;
    if (with > 0)
        snprintf(helper, sizeof(helper), "%7.3f s %7.1f %%", with,
                 100 * (with - none) / with);
    log_info(ctx->log,
             "  %-23s %3.0f of %-9s %7.3f s %7.3f s %7.1f %%  %s %8.2f",
             c->what, m->count, format_bytes(m->bytes, size), none, wait,
             100 * lost / wait, helper,
             lost > 0 ? 1e-9 * m->bytes * m->count / lost : 0);
}

static int run_cases(struct ctx *ctx, const struct io_bench *b)
{
    log_info(ctx->log, "  %-23s %16s %9s %9s %9s  %9s %9s %8s", "", "written",
             "without", "waiting", "lost", "helper", "lost", "GB/s");
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct measured m = {0};
        int modes = cases[i].checkpoints ? MODE_HELPER : MODES;
        for (int repeat = 0; repeat < REPEATS; repeat++)
            for (int mode = MODE_NONE; mode < modes; mode++)
                TRY(one_run(ctx, b, &cases[i], (enum mode)mode, &m));
        print_case(ctx, &cases[i], &m);
    }
    log_info(
        ctx->log,
        "  lost: share of the run's time beyond that without output; GB/s: "
        "while the run waits\n  checkpoints are always waited for, until "
        "the disk has them");
    return 0;
}

int bench_io(struct ctx *ctx, const struct command_line *line)
{
    struct io_bench b = {.line = line, .steps = 40};
    TRY(option_count(ctx, line, OPTION_STEPS, 4, &b.steps));
    b.every = b.steps / 4;
    TRY(make_folder(ctx, &b));
    log_info(ctx->log,
             "bench io, in %s: every %ld of %ld steps something is "
             "written",
             b.folder, b.every, b.steps);
    int status = run_cases(ctx, &b);
    empty_folder(ctx, &b);
    if (comm_rank(ctx->comm) == 0)
        rmdir(b.folder);
    return status;
}
