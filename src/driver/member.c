#include "driver/member.h"

#include <stdio.h>

#include "base/comm.h"
#include "base/ctx.h"
#include "base/error.h"
#include "base/log.h"
#include "base/timer.h"
#include "driver/run.h"

int member_make(struct ctx *ctx, const struct aside *a,
                const struct replicas *plan, const struct command_line *line,
                int i, struct member *m)
{
    enum log_level level = i == 0 ? log_level(a->log) : LOG_QUIET;
    m->replica = i;
    m->run = run_create();
    m->log = log_create(comm_rank(a->few), level);
    m->timers = timers_create();
    if (m->run == NULL || m->log == NULL || m->timers == NULL)
        return FAIL(ctx, STATUS_MEMORY, "out of memory");
    m->run->replica = i;
    m->left = timer_now();
    return replica_line_make(ctx, line, plan, i, &m->line);
}

void member_enter(struct ctx *ctx, const struct aside *a, struct member *m)
{
    ctx->comm = a->few;
    ctx->log = m->log;
    ctx->timers = m->timers;
    ctx->device = m->run->job.device;
    if (a->team > 1)
        return;
    m->run->start += timer_now() - m->left;
    m->run->bytes_sent += comm_bytes_sent(a->few) - m->left_bytes;
}

void member_leave(struct ctx *ctx, const struct aside *a, struct member *m)
{
    m->left = timer_now();
    m->left_bytes = comm_bytes_sent(a->few);
    ctx->comm = a->all;
    ctx->log = a->log;
    ctx->timers = a->timers;
    ctx->device = NULL;
}

const char *member_note(const struct aside *a, char *text, size_t size)
{
    text[0] = '\0';
    if (a->team > 1)
        snprintf(text, size,
                 "; %d run together, each kernel is launched once for all",
                 a->team);
    return text;
}

void member_share(struct member *m, const struct aside *a,
                  const struct member *owner)
{
    struct job *job = &m->run->job;
    job->team = a->team;
    if (owner == NULL || a->team < 2)
        return;
    job->device = owner->run->job.device;
    job->borrows_device = 1;
}

void member_free(struct ctx *ctx, const struct aside *a, struct member *m,
                 int status)
{
    struct error kept = ctx->error;
    if (m->run != NULL) {
        member_enter(ctx, a, m);
        if (status != 0 && status != STATUS_STOPPED)
            run_abandon(ctx, m->run, status);
        run_close(ctx, m->run);
        member_leave(ctx, a, m);
        ctx->error = kept;
    }
    resume_free(&m->resume);
    replica_line_free(&m->line);
    log_destroy(m->log);
    timers_destroy(m->timers);
}
