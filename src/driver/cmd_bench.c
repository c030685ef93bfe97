/* warpdeck bench: the standard problem of a solver, measured on this machine.
 *
 * The ordinary solver runs through the ordinary interface, without files. Steps
 * are timed in blocks: the median says what to expect, the best what the
 * program can do where nothing else disturbs it.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/comm.h"
#include "base/ctx.h"
#include "base/error.h"
#include "base/format.h"
#include "base/log.h"
#include "base/timer.h"
#include "driver/banner.h"
#include "driver/bench.h"
#include "driver/commands.h"
#include "driver/job.h"
#include "driver/options.h"
#include "driver/phases.h"
#include "driver/stop.h"
#include "driver/version.h"
#include "kernels/device.h"
#include "kernels/machine.h"
#include "solvers/solver.h"

enum { BLOCKS_MAX = 10, PHASE_STEPS = 20, OVERRIDES_MAX = 64, TEXT_MAX = 256 };

struct bench {
    const struct command_line *line;
    const struct solver *solver;
    long steps, rebuild_every;
    struct machine_limits limits; /* of all ranks together */
};

/* What one size gave. */
struct measured {
    const char *size;
    double items, median, best;    /* items; items x steps a second */
    double seconds;                /* of all blocks */
    double flops_rate, bytes_rate; /* a second; 0: not counted */
    double bytes_per_item;         /* of memory */
    double joules; /* of the cards, in all blocks; 0: not known */
    double bare;   /* of a bare loop of the same work, median; 0: none */
    char item[24];
};

/* Seconds a step of the blocks of a measurement, and items x steps a second of
 * the bare loops between them, both in order after a sort. */
struct blocks {
    int n, n_bare;
    double step_time[BLOCKS_MAX], bare[BLOCKS_MAX], seconds;
};

static const struct solver *choose_solver(const struct command_line *line)
{
    return line->n_arguments > 0 ? solver_find(line->arguments[0])
                                 : solver_at(0);
}

/* Whether `name` stands in "32k,256k". NULL: all do. */
static int is_listed(const char *list, const char *name)
{
    size_t n = strlen(name);
    for (const char *c = list; c != NULL; c = strchr(c, ',')) {
        c += *c == ',';
        if (strncmp(c, name, n) == 0 && (c[n] == ',' || c[n] == '\0'))
            return 1;
    }
    return list == NULL;
}

static int check_sizes(struct ctx *ctx, const struct bench *b)
{
    const char *list = b->line->option[OPTION_SIZES];
    const struct bench_size *sizes = b->solver->bench->sizes;
    while (list != NULL && *list != '\0') {
        char names[TEXT_MAX] = "";
        size_t used = 0, n = strcspn(list, ",");
        int found = 0;
        for (const struct bench_size *s = sizes; s->name != NULL; s++) {
            found |= strlen(s->name) == n && strncmp(list, s->name, n) == 0;
            if (used < sizeof(names))
                used += (size_t)snprintf(names + used, sizeof(names) - used,
                                         "%s%s", used > 0 ? ", " : "", s->name);
        }
        if (!found)
            return FAIL(ctx, STATUS_USAGE,
                        "--sizes %.*s: expected some of %s, with commas "
                        "between them",
                        (int)n, list, names);
        list += n + (list[n] == ',');
    }
    return 0;
}

/* The overrides of one size: how far to run, what the command line asks for,
 * the size, and last what was typed, which so wins. */
struct overrides {
    int n;
    const char *list[OVERRIDES_MAX];
    char text[4][TEXT_MAX];
};

static int collect(struct ctx *ctx, const struct bench *b,
                   const struct bench_size *size, struct overrides *o)
{
    const struct solver_bench *s = b->solver->bench;
    const char *precision = b->line->option[OPTION_PRECISION];
    o->n = 0;
    snprintf(o->text[0], TEXT_MAX, "%s=%ld", s->steps_key,
             s->warm_up + b->steps + PHASE_STEPS);
    o->list[o->n++] = o->text[0];
    if (precision != NULL && s->precision_key != NULL) {
        snprintf(o->text[1], TEXT_MAX, "%s=%s", s->precision_key, precision);
        o->list[o->n++] = o->text[1];
    }
    if (b->rebuild_every > 0 && s->rebuild_key != NULL) {
        snprintf(o->text[2], TEXT_MAX, "%s=%ld", s->rebuild_key,
                 b->rebuild_every);
        o->list[o->n++] = o->text[2];
    }
    if (snprintf(o->text[3], TEXT_MAX, "%s", size->overrides) >= TEXT_MAX)
        return FAIL(ctx, STATUS_INTERNAL, "size '%s' is too long", size->name);
    for (char *rest, *word = strtok_r(o->text[3], " ", &rest);
         word != NULL && o->n < OVERRIDES_MAX;
         word = strtok_r(NULL, " ", &rest))
        o->list[o->n++] = word;
    if (o->n + b->line->n_overrides > OVERRIDES_MAX)
        return FAIL(ctx, STATUS_USAGE, "too many section.key=value");
    for (int i = 0; i < b->line->n_overrides; i++)
        o->list[o->n++] = b->line->overrides[i];
    return 0;
}

static int run_steps(struct ctx *ctx, const struct job *job, long n)
{
    for (long i = 0; i < n && !job->solver->done(job->state); i++) {
        int stop = stop_wanted(NULL, 0);
        TRY(job_step(ctx, job, 0, &stop));
        if (stop)
            return FAIL(ctx, STATUS_STOPPED, "stopped (%s)", stop_reason());
    }
    return 0;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The bare loop beside a block of n steps: as much work, on each rank its part.
 * Not where the ranks have threads or cards, which it has not. */
static int time_bare(struct ctx *ctx, const struct bench *b,
                     const struct job *job, const char *size, long n,
                     struct blocks *out)
{
    const struct solver_bench *s = b->solver->bench;
    struct solver_totals totals = {0};
    if (s->bare == NULL || job->device->threads != 1 ||
        job->device->limits != NULL)
        return 0;
    TRY(job->solver->totals(ctx, job->state, &totals));
    double start = timer_now(),
           done =
               s->bare(size, totals.items * (double)n / comm_size(ctx->comm)),
           time = timer_now() - start;
    TRY(comm_max_double(ctx, &time, 1));
    TRY(comm_sum_double(ctx, &done, 1));
    if (done > 0)
        out->bare[out->n_bare++] = done / time;
    return 0;
}

/* Time the steps in blocks, and the bare loop in turn. */
static int time_blocks(struct ctx *ctx, const struct bench *b,
                       const struct job *job, const char *size,
                       struct blocks *out)
{
    for (int k = 0; k < out->n; k++) {
        long n = b->steps / out->n;
        double start = timer_now();
        TRY(run_steps(ctx, job, n));
        double time = timer_now() - start;
        TRY(comm_max_double(ctx, &time, 1));
        out->seconds += time;
        out->step_time[k] = time / (double)n;
        TRY(time_bare(ctx, b, job, size, n, out));
    }
    qsort(out->step_time, (size_t)out->n, sizeof(double), compare);
    qsort(out->bare, (size_t)out->n_bare, sizeof(double), compare);
    return 0;
}

/* The phases of what was just timed. A card's loops only queue work, for which
 * another phase then waits: there, some more steps are made, in which each call
 * waits for its own. */
static int find_phases(struct ctx *ctx, const struct job *job, double seconds,
                       struct phases *out)
{
    struct device *d = job->device;
    if (d->traffic == NULL)
        return phases_gather(ctx, seconds, out);
    timers_reset(ctx->timers);
    d->by_phase = 1;
    double start = timer_now();
    int status = run_steps(ctx, job, PHASE_STEPS);
    d->by_phase = 0;
    TRY(status);
    return phases_gather(ctx, timer_now() - start, out);
}

/* What all cards together have used so far; 0 where nobody knows. */
static int energy_used(struct ctx *ctx, double *joules)
{
    *joules = ctx->device->energy != NULL ? ctx->device->energy(ctx) : 0;
    return comm_sum_double(ctx, joules, 1);
}

static double median(const double *sorted, int n)
{
    return n % 2 == 1 ? sorted[n / 2]
                      : 0.5 * (sorted[n / 2 - 1] + sorted[n / 2]);
}

static int measure(struct ctx *ctx, const struct bench *b,
                   const struct job *job, struct measured *out)
{
    const struct solver *s = job->solver;
    struct blocks blocks = {.n = b->steps < BLOCKS_MAX ? (int)b->steps
                                                       : BLOCKS_MAX};
    struct phases phases;
    struct solver_totals totals = {0};
    TRY(job_initial(ctx, job));
    int warm_up = b->solver->bench->warm_up;
    TRY(run_steps(ctx, job, warm_up));
    timers_reset(ctx->timers);
    TRY(comm_barrier(ctx));
    double joules = 0;
    TRY(energy_used(ctx, &joules));
    out->joules = -joules;
    TRY(time_blocks(ctx, b, job, out->size, &blocks));
    const double seconds = blocks.seconds;
    TRY(energy_used(ctx, &joules));
    out->joules += joules;
    double done = (double)(s->step_number(job->state) - warm_up);
    TRY(find_phases(ctx, job, seconds, &phases));
    TRY(s->totals(ctx, job->state, &totals));

    double all = (double)s->step_number(job->state);
    snprintf(out->item, sizeof(out->item), "%s", totals.item);
    out->items = totals.items;
    out->median = totals.items / median(blocks.step_time, blocks.n);
    out->best = totals.items / blocks.step_time[0];
    out->bare = blocks.n_bare > 0 ? median(blocks.bare, blocks.n_bare) : 0;
    out->seconds = seconds;
    out->flops_rate = totals.flops * (done / all) / seconds;
    out->bytes_rate = totals.bytes * (done / all) / seconds;
    out->bytes_per_item = totals.memory * comm_size(ctx->comm) / totals.items;
    char a[FORMAT_MAX];
    log_info(ctx->log, "%s", "");
    log_info(ctx->log, "%s: %s, %.0f steps in %s after a warm-up of %d",
             out->size, job->plan.problem, done, format_seconds(seconds, a),
             warm_up);
    phases_print(ctx, &phases);
    if (totals.extra != NULL && totals.extra_rate > 0)
        log_info(ctx->log, "  %s %s/s",
                 format_count(totals.extra_rate * done / seconds, a),
                 totals.extra);
    for (int i = 0; i < SOLVER_NOTES; i++)
        if (totals.notes[i][0] != '\0')
            log_info(ctx->log, "  %s", totals.notes[i]);
    if (out->bare > 0)
        log_info(ctx->log,
                 "  a bare loop of the same work, in turn: %.1f M/s; this is "
                 "%.2f times that (medians)",
                 1e-6 * out->bare, out->median / out->bare);
    if (totals.imbalance > 0 && comm_size(ctx->comm) > 1)
        log_info(ctx->log, "  imbalance %.2f", totals.imbalance);
    log_info(ctx->log, "  %.1f GFLOP/s", 1e-9 * out->flops_rate);
    if (out->bytes_rate > 0 && b->limits.triad > 0)
        log_info(ctx->log, "  %.1f GB/s of memory, %.1f %% of STREAM triad",
                 1e-9 * out->bytes_rate,
                 100 * out->bytes_rate / b->limits.triad);
    if (out->joules > 0)
        log_info(ctx->log,
                 "  card: %.1f J, %.3g J a step, %.3g J per million "
                 "%s-steps",
                 out->joules, out->joules / done,
                 1e6 * out->joules / (done * totals.items), totals.item);
    return 0;
}

static int measure_host(struct ctx *ctx, int threads, struct machine_limits *m)
{
    unsigned long n =
        machine_triad_size() / (unsigned long)comm_node_size(ctx->comm);
    machine_measure(threads, 0.2, m);
    TRY(comm_barrier(ctx));
    m->triad = machine_triad(threads, n);
    return 0;
}

/* The limits of what all ranks' threads or cards can do together, measured
 * while all of them work. */
static int measure_limits(struct ctx *ctx, struct bench *b,
                          const struct device *device)
{
    struct machine_limits *m = &b->limits;
    TRY(comm_barrier(ctx));
    if (device->limits != NULL)
        TRY(comm_agree(ctx, device->limits(ctx, m)));
    else
        TRY(measure_host(ctx, device->threads, m));
    double sums[3] = {m->fma_double, m->fma_single, m->triad};
    TRY(comm_sum_double(ctx, sums, 3));
    m->fma_double = sums[0];
    m->fma_single = sums[1];
    m->triad = sums[2];
    return 0;
}

static int print_head(struct ctx *ctx, struct bench *b, const struct job *job)
{
    char machine[TEXT_MAX];
    char vectors[TEXT_MAX] = "";
    if (b->limits.fma_double > 0)
        return 0;
    TRY(measure_limits(ctx, b, job->device));
    banner_machine(ctx, job, machine, sizeof(machine));
    log_info(ctx->log, "Warpdeck %s  (git %s)   bench %s   %s",
             version_number(), version_git(), b->solver->name, machine);
    log_info(ctx->log, "%s", b->solver->bench->title);
    if (b->limits.vector_bits > 0)
        snprintf(vectors, sizeof(vectors), " (%d-bit vectors)",
                 b->limits.vector_bits);
    log_info(
        ctx->log,
        "limits: FMA peak %.1f GFLOP/s double, %.1f single%s, STREAM triad "
        "%.1f GB/s",
        1e-9 * b->limits.fma_double, 1e-9 * b->limits.fma_single, vectors,
        1e-9 * b->limits.triad);
    return 0;
}

static int measure_size(struct ctx *ctx, struct bench *b,
                        const struct bench_size *size, struct measured *out)
{
    struct overrides o;
    struct job job = {0};
    char name[64];
    out->size = size->name;
    snprintf(name, sizeof(name), "bench-%s.toml", b->solver->name);
    char *text = NULL;
    TRY(collect(ctx, b, size, &o));
    if (b->solver->bench->deck_of != NULL)
        TRY(b->solver->bench->deck_of(ctx, size->name, &text));
    int status =
        job_open_text(ctx, name, text != NULL ? text : b->solver->bench->deck,
                      o.n, o.list, &job);
    free(text);
    if (status == 0)
        status = job_open_device(ctx, &job, b->line->option[OPTION_DEVICE]);
    if (status == 0)
        status = print_head(ctx, b, &job);
    if (status == 0)
        status = measure(ctx, b, &job, out);
    job_close(ctx, &job);
    return status;
}

static void print_summary(struct ctx *ctx, const struct bench *b,
                          const struct measured *m, int n)
{
    const char *p = b->line->option[OPTION_PRECISION];
    int wide = p == NULL || strcmp(p, "double") == 0;
    double peak = wide ? b->limits.fma_double : b->limits.fma_single;
    log_info(ctx->log, "%s", "");
    log_info(ctx->log, "  %-11s %10ss %12s %12s %12s %12s %12s", "size",
             m[0].item, "median M/s", "best M/s", "ns a step", "bytes each",
             "of FMA peak");
    for (int i = 0; i < n; i++)
        log_info(
            ctx->log, "  %-11s %11.0f %12.2f %12.2f %12.2f %12.0f %10.1f %%",
            m[i].size, m[i].items, 1e-6 * m[i].median, 1e-6 * m[i].best,
            1e9 / m[i].best, m[i].bytes_per_item, 100 * m[i].flops_rate / peak);
    log_info(ctx->log,
             "  M/s: million %s-steps a second; ns a step: of one %s, best",
             m[0].item, m[0].item);
}

int cmd_bench(struct ctx *ctx, const struct command_line *line)
{
    struct bench b = {.line = line, .solver = choose_solver(line)};
    struct measured m[16];
    int n = 0;
    if (line->n_arguments > 0 && strcmp(line->arguments[0], "io") == 0)
        return bench_io(ctx, line);
    if (b.solver == NULL)
        return FAIL(ctx, STATUS_USAGE, "there is no solver '%s'",
                    line->n_arguments > 0 ? line->arguments[0] : "");
    if (b.solver->bench == NULL)
        return FAIL(ctx, STATUS_UNSUPPORTED,
                    "solver '%s' has no standard problem", b.solver->name);
    b.steps = b.solver->bench->steps;
    TRY(option_count(ctx, line, OPTION_STEPS, 1, &b.steps));
    TRY(option_count(ctx, line, OPTION_REBUILD_EVERY, 0, &b.rebuild_every));
    TRY(check_sizes(ctx, &b));
    b.steps -= b.steps > BLOCKS_MAX ? b.steps % BLOCKS_MAX : 0;
    for (const struct bench_size *s = b.solver->bench->sizes;
         s->name != NULL && n < 16; s++)
        if (is_listed(line->option[OPTION_SIZES], s->name))
            TRY(measure_size(ctx, &b, s, &m[n++]));
    if (n > 0)
        print_summary(ctx, &b, m, n);
    return 0;
}
