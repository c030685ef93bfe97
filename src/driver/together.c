#include "driver/together.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/comm.h"
#include "base/ctx.h"
#include "base/error.h"
#include "base/format.h"
#include "base/log.h"
#include "base/timer.h"
#include "driver/abreast.h"
#include "driver/commands.h"
#include "driver/exchange.h"
#include "driver/member.h"
#include "driver/replicas.h"
#include "driver/resume.h"
#include "driver/run.h"
#include "driver/stop.h"
#include "io/checkpoint.h"

struct together {
    const struct replicas *plan;
    struct exchange exchange;
    struct aside aside;
    int n; /* members */
    struct member *member;
    double *energy, *beta; /* [replicas], [rungs] */
    int *changed;          /* [replicas] */
    int64_t slice;         /* steps of one turn */
    double seconds;        /* that a turn of all took at most */
    int alone;             /* as comm_farewell() has it */
};

/* How long one turn should take: wishes to stop are heard in between. */
static const double turn_seconds = 0.5;

/* ---- whose turn it is ---- */

/* What is done to each member in turn, on its group of ranks. */
typedef int (*deed)(struct ctx *ctx, struct together *t, struct member *m,
                    int64_t what);

/* One after the other, until one fails; all ranks of all groups hear of it. */
static int each(struct ctx *ctx, struct together *t, deed act, int64_t what)
{
    int status = 0;
    for (int i = 0; i < t->n && status == 0; i++) {
        struct member *m = &t->member[i];
        member_enter(ctx, &t->aside, m);
        status = act(ctx, t, m, what);
        member_leave(ctx, &t->aside, m);
        if (status != 0)
            error_context(ctx, status, "in replica %d of %d", m->replica,
                          t->plan->count);
    }
    return comm_farewell(ctx, status, &t->alone);
}

/* ---- setup ---- */

static int make_members(struct ctx *ctx, struct together *t,
                        const struct command_line *line, int group)
{
    size_t count = (size_t)t->plan->count;
    t->member = calloc(count, sizeof *t->member);
    t->energy = calloc(count, sizeof *t->energy);
    t->beta = calloc(count, sizeof *t->beta);
    t->changed = calloc(count, sizeof *t->changed);
    if (t->member == NULL || t->energy == NULL || t->beta == NULL ||
        t->changed == NULL)
        return FAIL(ctx, STATUS_MEMORY, "out of memory");
    for (int i = group; i < t->plan->count; i += t->plan->groups) {
        struct member *m = &t->member[t->n++];
        TRY(member_make(ctx, &t->aside, t->plan, line, i, m));
        m->run->exchange = &t->exchange;
    }
    return 0;
}

static int read_ladder(struct ctx *ctx, const struct command_line *line,
                       struct exchange *x)
{
    struct params *p;
    TRY(job_read_deck(ctx, line->arguments[0], line->n_overrides,
                      line->overrides, &p));
    int status = exchange_read(
        ctx, p, solver_find(params_string(p, "run", "solver")), x);
    params_destroy(p);
    return comm_agree(ctx, status);
}

static int prepare(struct ctx *ctx, struct together *t, struct member *m,
                   int64_t what)
{
    char note[96];
    (void)what;
    log_info(ctx->log,
             "replica %d of %d: run.seed = %" PRId64 ", temperature %g%s%s, "
             "in %s%s",
             m->replica, t->plan->count, t->plan->seed + m->replica,
             t->exchange.temperature[m->replica],
             t->exchange.unit[0] != '\0' ? " " : "", t->exchange.unit,
             m->line.folder, member_note(&t->aside, note, sizeof note));
    return run_prepare(ctx, &m->line.line, m->run, &m->resume);
}

static int64_t step_of(const struct member *m)
{
    return m->resume.from != NULL ? checkpoint_header(m->resume.from)->step
                                  : -1;
}

/* A run that dies while it saves leaves checkpoints of two steps: all go on
 * from the earlier one. */
static int go_back(struct ctx *ctx, struct together *t, struct member *m,
                   int64_t step)
{
    const struct run *run = m->run;
    m->run->finished = 0;
    if (step_of(m) == step)
        return 0;
    log_warn(ctx->log,
             "the checkpoint of step %" PRId64
             " is passed over: not all replicas have come so far",
             step_of(m));
    if (step < 0) {
        resume_free(&m->resume);
        return 0;
    }
    (void)t;
    return resume_at(ctx, &m->line.line, &run->job, &run->output, step,
                     &m->resume);
}

/* *finished: there is nothing left to do for any of them. */
static int choose_start(struct ctx *ctx, struct together *t, int *finished)
{
    int64_t most[2] = {INT64_MIN, 0};
    for (int i = 0; i < t->n; i++) {
        int64_t step = step_of(&t->member[i]);
        most[0] = -step > most[0] ? -step : most[0];
        most[1] |= !t->member[i].run->finished;
    }
    TRY(comm_max_int64(ctx, most, 2));
    *finished = !most[1];
    return *finished ? 0 : each(ctx, t, go_back, -most[0]);
}

static int begin(struct ctx *ctx, struct together *t, struct member *m,
                 int64_t what)
{
    (void)what;
    member_share(m, &t->aside, m == t->member ? NULL : t->member);
    int status = run_begin(ctx, &m->line.line, m->run, &m->resume);
    resume_free(&m->resume);
    return status;
}

/* ---- loop ---- */

/* Whether the last of so many steps is looked at: an attempt follows, or the
 * run ends there. steps < 0: one, the last. */
static int looks(const struct together *t, const struct run *run, int64_t steps)
{
    const struct solver *s = run->job.solver;
    int64_t step = s->step_number(run->job.state) + 1;
    return steps < 0 || exchange_due(&t->exchange, step) ||
           step == s->steps_total(run->job.state);
}

/* what: steps. */
static int advance(struct ctx *ctx, struct together *t, struct member *m,
                   int64_t what)
{
    int64_t steps = what < 0 ? 1 : what;
    for (int64_t k = 0; k < steps; k++) {
        TRY(run_check_blocked(ctx, m->run));
        TRY(run_advance(ctx, m->run, k == steps - 1 && looks(t, m->run, what)));
    }
    return 0;
}

/* A part of a step, or what is left of it (more = NULL). */
static int part_of_one(struct ctx *ctx, struct together *t, struct member *m,
                       int look, int *more)
{
    int status = 0;
    member_enter(ctx, &t->aside, m);
    if (!m->run->next.planned)
        status = run_check_blocked(ctx, m->run);
    if (status == 0)
        status = more != NULL ? run_ahead(ctx, m->run, look, more)
                              : run_advance(ctx, m->run, look);
    member_leave(ctx, &t->aside, m);
    if (status != 0)
        error_context(ctx, status, "in replica %d of %d", m->replica,
                      t->plan->count);
    return status;
}

static int step_of_all(struct ctx *ctx, struct together *t, int look)
{
    int more = 1;
    while (more)
        for (int i = 0; i < t->n; i++)
            TRY(part_of_one(ctx, t, &t->member[i], look, &more));
    for (int i = 0; i < t->n; i++)
        TRY(part_of_one(ctx, t, &t->member[i], look, NULL));
    return 0;
}

/* All step by step, so that a card launches once what all do. */
static int advance_team(struct ctx *ctx, struct together *t, int64_t what)
{
    const struct run *first = t->member[0].run;
    int64_t steps = what < 0 ? 1 : what;
    int status = 0;
    for (int64_t k = 0; k < steps && status == 0; k++)
        status = step_of_all(ctx, t, k == steps - 1 && looks(t, first, what));
    return comm_farewell(ctx, status, &t->alone);
}

static int advance_all(struct ctx *ctx, struct together *t, int64_t steps)
{
    return t->aside.team > 1 ? advance_team(ctx, t, steps)
                             : each(ctx, t, advance, steps);
}

static int find_energy(struct ctx *ctx, struct together *t, struct member *m,
                       int64_t what)
{
    struct job *job = &m->run->job;
    double energy = 0;
    (void)what;
    TRY(job->solver->exchange->energy(ctx, job->state, &energy));
    if (comm_rank(ctx->comm) == 0)
        t->energy[m->replica] = energy;
    return 0;
}

static int take_temperature(struct ctx *ctx, struct together *t,
                            struct member *m, int64_t what)
{
    struct job *job = &m->run->job;
    (void)what;
    if (!t->changed[m->replica])
        return 0;
    return job->solver->exchange->set_temperature(
        ctx, job->state, exchange_temperature(&t->exchange, m->replica), 1);
}

static int attempt(struct ctx *ctx, struct together *t)
{
    struct exchange *x = &t->exchange;
    const struct job *job = &t->member[0].run->job;
    memset(t->energy, 0, (size_t)x->n * sizeof *t->energy);
    TRY(each(ctx, t, find_energy, 0));
    TRY(comm_sum_double(ctx, t->energy, x->n));
    for (int r = 0; r < x->n; r++)
        t->beta[r] = job->solver->exchange->beta(job->state, x->temperature[r]);
    TRY(comm_agree(ctx,
                   exchange_attempt(ctx, x, t->energy, t->beta, t->changed)));
    return each(ctx, t, take_temperature, 0);
}

static int save(struct ctx *ctx, struct together *t, struct member *m,
                int64_t what)
{
    (void)t;
    (void)what;
    return saves_write(ctx, &m->run->saves);
}

enum wish { WISH_NONE, WISH_SAVE, WISH_STOP };

/* What all wish, and how many steps are next. */
static int agree(struct ctx *ctx, struct together *t, double took,
                 int64_t steps, int *wish)
{
    struct run *first = t->member[0].run;
    int leader = comm_rank(t->aside.few) == 0;
    double needed = t->seconds + took;
    int64_t most[2] = {WISH_NONE, t->slice};
    for (int i = 0; i < t->n; i++)
        needed += t->member[i].run->saves.longest;
    if (comm_rank(ctx->comm) == 0 && saves_overdue(&first->saves))
        most[0] = WISH_SAVE;
    if (stop_wanted(leader ? first->output.stop : NULL, needed))
        most[0] = WISH_STOP;
    t->seconds = fmax(t->seconds, took);
    if (comm_rank(ctx->comm) == 0)
        most[1] = (int64_t)fmin(
            fmax(turn_seconds * (double)steps / fmax(took, 1e-9), 1), 1e9);
    else
        most[1] = 0;
    TRY(comm_max_int64(ctx, most, 2));
    *wish = (int)most[0];
    t->slice = most[1];
    return 0;
}

/* Steps to where something is due, at most a turn. */
static int64_t steps_ahead(const struct together *t)
{
    const struct run *run = t->member[0].run;
    int64_t step = run->job.solver->step_number(run->job.state);
    int64_t total = run->job.solver->steps_total(run->job.state);
    int64_t n = t->exchange.every - step % t->exchange.every;
    if (run->saves.every.kind == INTERVAL_STEPS) {
        int64_t save = run->saves.every.steps - step % run->saves.every.steps;
        n = save < n ? save : n;
    }
    n = total - step < n ? total - step : n;
    return t->slice < n ? t->slice : n;
}

static int64_t step_now(const struct together *t)
{
    const struct job *job = &t->member[0].run->job;
    return job->solver->step_number(job->state);
}

static int is_done(const struct together *t)
{
    const struct job *job = &t->member[0].run->job;
    return job->solver->done(job->state);
}

static int complete(struct ctx *ctx, struct together *t, struct member *m,
                    int64_t what)
{
    (void)t;
    (void)what;
    int status = run_complete(ctx, m->run);
    if (status != STATUS_STOPPED)
        return status;
    log_info(ctx->log, "%s", ctx->error.text);
    error_clear(ctx);
    return 0;
}

/* An attempt belongs to the step before it, unless that was a run's last: then
 * it comes first where the run is made longer. */
static int loop(struct ctx *ctx, struct together *t, int *stopped)
{
    int wish = WISH_NONE, stop = 0;
    t->slice = 1;
    while (!is_done(t)) {
        if (exchange_due(&t->exchange, step_now(t)))
            TRY(attempt(ctx, t));
        int64_t steps = stop ? 1 : steps_ahead(t);
        double begin = timer_now();
        TRY(advance_all(ctx, t, stop ? -1 : steps));
        TRY(agree(ctx, t, timer_now() - begin, steps, &wish));
        if (!is_done(t) && exchange_due(&t->exchange, step_now(t)))
            TRY(attempt(ctx, t));
        if (stop)
            break;
        if (saves_due(&t->member[0].run->saves) || wish == WISH_SAVE)
            TRY(each(ctx, t, save, 0));
        stop = wish == WISH_STOP;
    }
    *stopped = !is_done(t);
    for (int i = 0; i < t->n; i++)
        t->member[i].run->stopped = *stopped;
    if (*stopped || t->member[0].run->saves.at_end)
        TRY(each(ctx, t, save, 0));
    return each(ctx, t, complete, 0);
}

/* ---- all ---- */

/* The closing lines of a replica tell of its own turns. */
static void tell_time(struct ctx *ctx, const struct together *t, int64_t steps,
                      double seconds)
{
    char text[FORMAT_MAX];
    log_info(ctx->log,
             "all %d replicas: %" PRId64 " step%s each in %s; the time of one "
             "is that of its own turns",
             t->plan->count, steps, steps == 1 ? "" : "s",
             format_seconds(seconds, text));
}

static int run_all(struct ctx *ctx, struct together *t,
                   const struct command_line *line)
{
    const char *resume = line->option[OPTION_RESUME];
    int group =
        comm_rank(t->aside.all) / (comm_size(t->aside.all) / t->plan->groups);
    int finished = 0, stopped = 0;
    if (resume != NULL && strcmp(resume, "auto") != 0)
        return FAIL(ctx, STATUS_USAGE,
                    "--resume %s is one checkpoint, but replicas that exchange "
                    "temperatures have one each: use --resume auto",
                    resume);
    TRY(read_ladder(ctx, line, &t->exchange));
    TRY(comm_split(ctx, group, &t->aside.few));
    TRY(team_wanted(ctx, &t->aside, t->plan, line, group));
    TRY(comm_agree(ctx, make_members(ctx, t, line, group)));
    TRY(each(ctx, t, prepare, 0));
    TRY(choose_start(ctx, t, &finished));
    if (finished)
        return 0;
    TRY(each(ctx, t, begin, 0));
    double start = timer_now();
    int64_t first = step_now(t);
    TRY(loop(ctx, t, &stopped));
    tell_time(ctx, t, step_now(t) - first, timer_now() - start);
    if (!stopped)
        return 0;
    FAIL(ctx, STATUS_STOPPED, "%d replicas are not finished", t->plan->count);
    return error_context(ctx, STATUS_STOPPED,
                         "use the same command with --resume auto to go on "
                         "from there");
}

int together_run(struct ctx *ctx, const struct command_line *line,
                 const struct replicas *r)
{
    struct together t = {
        .plan = r,
        .aside = {.all = ctx->comm, .log = ctx->log, .timers = ctx->timers}};
    int status = run_all(ctx, &t, line);
    /* Where a rank failed alone, no collective call returns: main() ends. */
    if (t.alone)
        return status;
    /* The first one's device is that of all, in a team. */
    for (int i = t.n - 1; i >= 0; i--)
        member_free(ctx, &t.aside, &t.member[i], status);
    if (t.aside.few != NULL)
        comm_release(t.aside.few);
    free(t.member);
    free(t.energy);
    free(t.beta);
    free(t.changed);
    exchange_free(&t.exchange);
    return status;
}
