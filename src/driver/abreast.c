#include "driver/abreast.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/comm.h"
#include "base/ctx.h"
#include "base/error.h"
#include "base/log.h"
#include "base/param.h"
#include "driver/commands.h"
#include "driver/member.h"
#include "driver/run.h"
#include "kernels/device.h"

/* ---- whether ---- */

/* Whether so many runs like this together take a card. */
static int takes_card(const struct job *job, const char *wanted, int runs)
{
    char why[192];
    if (wanted == NULL)
        wanted = params_string(job->params, "run", "device");
    const char *name = device_choose(wanted, job->plan.items_per_rank * runs,
                                     why, sizeof(why));
    return name != NULL && strcmp(name, "cpu") != 0;
}

/* Of a job that is open: why its like do not go together, or NULL. */
static const char *reason(const struct job *job)
{
    if (job->solver->ahead == NULL)
        return "this run.solver";
    if (params_is_set(job->params, "output", "staging") &&
        strcmp(params_string(job->params, "output", "staging"), "on") == 0)
        return "output.staging = \"on\"";
    return NULL;
}

/* What is wrong with the deck is told when it is run. */
static void look_at_one(struct ctx *ctx, struct aside *a,
                        const struct replicas *r,
                        const struct command_line *line, int i, int members)
{
    struct replica_line one;
    struct job job = {0};
    int status = replica_line_make(ctx, line, r, i, &one);
    if (status == 0)
        status = job_open(ctx, one.line.arguments[0], one.line.n_overrides,
                          one.line.overrides, &job);
    const char *wanted = line->option[OPTION_DEVICE];
    if (status == 0 && takes_card(&job, wanted, members)) {
        const char *why = reason(&job);
        if (why == NULL)
            a->team = members;
        else if (takes_card(&job, wanted, 1))
            log_info(a->log,
                     "replicas of this deck run one after another: with %s a "
                     "card does not compute several at once",
                     why);
    }
    job_close(ctx, &job);
    replica_line_free(&one);
    error_clear(ctx);
}

int team_wanted(struct ctx *ctx, struct aside *a, const struct replicas *r,
                const struct command_line *line, int group)
{
    int members = (r->count - 1 - group) / r->groups + 1;
    a->team = 0;
    if (members < 2 || comm_size(a->few) > 1 || !device_takes_cards())
        return 0;
    ctx->comm = a->few;
    look_at_one(ctx, a, r, line, group, members);
    ctx->comm = a->all;
    return 0;
}

/* ---- all of them ---- */

struct abreast {
    const struct aside *aside;
    const struct replicas *plan;
    struct tally *tally;
    int n;
    struct member *member;
    int *on; /* [n]: it has steps to make; 2: of this one the rest only */
    const struct member *owner;
};

/* It is over for this one, or for good reason never began. */
static void drop(struct ctx *ctx, struct abreast *s, int i, int status)
{
    struct member *m = &s->member[i];
    s->on[i] = 0;
    if (status != 0 && status != STATUS_STOPPED)
        run_abandon(ctx, m->run, status);
    if (status != 0)
        replica_tell(ctx, s->plan, m->replica, status, s->tally);
}

static int begin(struct ctx *ctx, struct abreast *s, struct member *m, int *on)
{
    char note[96];
    log_info(ctx->log, "replica %d of %d: run.seed = %" PRId64 ", in %s%s",
             m->replica, s->plan->count, s->plan->seed + m->replica,
             m->line.folder, member_note(s->aside, note, sizeof(note)));
    TRY(run_prepare(ctx, &m->line.line, m->run, &m->resume));
    if (m->run->finished)
        return 0;
    member_share(m, s->aside, s->owner);
    int status = run_begin(ctx, &m->line.line, m->run, &m->resume);
    if (s->owner == NULL && m->run->job.device != NULL)
        s->owner = m;
    TRY(status);
    *on = !m->run->job.solver->done(m->run->job.state);
    return *on ? 0 : run_end(ctx, m->run);
}

/* A part of the step of those that have one before the last; returns whether
 * anybody has another one. */
static int go_ahead(struct ctx *ctx, struct abreast *s)
{
    int any = 0;
    for (int i = 0; i < s->n; i++) {
        struct member *m = &s->member[i];
        int more = 0;
        if (s->on[i] != 1)
            continue;
        member_enter(ctx, s->aside, m);
        int status = run_round_ahead(ctx, m->run, &more);
        s->on[i] = more ? 1 : 2;
        if (status != 0)
            drop(ctx, s, i, status);
        member_leave(ctx, s->aside, m);
        any |= s->on[i] == 1;
    }
    return any;
}

/* What is left of it. A wish to stop is meant for all. */
static void go_on(struct ctx *ctx, struct abreast *s)
{
    int stopping = 0;
    for (int i = 0; i < s->n; i++) {
        struct member *m = &s->member[i];
        int over = 0;
        if (!s->on[i])
            continue;
        s->on[i] = 1;
        member_enter(ctx, s->aside, m);
        int status = run_round(ctx, m->run, &over);
        if (status == 0 && over)
            status = run_end(ctx, m->run);
        if (status != 0 || over)
            drop(ctx, s, i, status);
        member_leave(ctx, s->aside, m);
        stopping |= m->run->stopping;
    }
    for (int i = 0; i < s->n; i++)
        s->member[i].run->stopping |= stopping;
}

static int any_on(const struct abreast *s)
{
    int any = 0;
    for (int i = 0; i < s->n; i++)
        any |= s->on[i];
    return any;
}

static void begin_all(struct ctx *ctx, struct abreast *s,
                      const struct replicas *plan,
                      const struct command_line *line, int group)
{
    for (int i = group; i < plan->count; i += plan->groups) {
        struct member *m = &s->member[s->n];
        int status = member_make(ctx, s->aside, plan, line, i, m);
        if (m->run == NULL || m->log == NULL || m->timers == NULL) {
            replica_tell(ctx, plan, i, status, s->tally);
            member_free(ctx, s->aside, m, 0);
            continue;
        }
        s->n++;
        member_enter(ctx, s->aside, m);
        if (status == 0)
            status = begin(ctx, s, m, &s->on[s->n - 1]);
        resume_free(&m->resume);
        if (status != 0)
            drop(ctx, s, s->n - 1, status);
        member_leave(ctx, s->aside, m);
    }
}

void abreast_run(struct ctx *ctx, const struct aside *a,
                 const struct replicas *r, const struct command_line *line,
                 int group, struct tally *tally)
{
    struct replicas plan = *r;
    struct abreast s = {.aside = a, .plan = &plan, .tally = tally};
    plan.sole = 1;
    s.member = calloc((size_t)a->team, sizeof(*s.member));
    s.on = calloc((size_t)a->team, sizeof(*s.on));
    if (s.member == NULL || s.on == NULL) {
        replica_tell(ctx, r, group, FAIL(ctx, STATUS_MEMORY, "out of memory"),
                     tally);
    } else {
        begin_all(ctx, &s, &plan, line, group);
        while (any_on(&s)) {
            while (go_ahead(ctx, &s))
                ;
            go_on(ctx, &s);
        }
    }
    /* The device is the first one's. */
    for (int i = s.n - 1; i >= 0; i--)
        member_free(ctx, a, &s.member[i], 0);
    free(s.member);
    free(s.on);
}
