#include "driver/replicas.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/comm.h"
#include "base/ctx.h"
#include "base/error.h"
#include "base/log.h"
#include "base/param.h"
#include "driver/abreast.h"
#include "driver/commands.h"
#include "driver/exchange.h"
#include "driver/member.h"
#include "driver/run.h"
#include "driver/together.h"
#include "solvers/solver.h"

int replicas_plan(struct ctx *ctx, const struct command_line *line, int ranks,
                  struct replicas *out)
{
    struct params *p;
    TRY(job_read_deck(ctx, line->arguments[0], line->n_overrides,
                      line->overrides, &p));
    struct exchange x;
    int status = exchange_read(
        ctx, p, solver_find(params_string(p, "run", "solver")), &x);
    if (status == 0)
        status = params_finish(ctx, p);
    int n = x.n > 0 ? x.n : (int)params_int(p, "ensemble", "replicas");
    *out = (struct replicas){.count = n,
                             .groups = n < ranks ? n : ranks,
                             .seed = params_int(p, "run", "seed"),
                             .exchanged = x.n > 0,
                             .sole = x.n > 0};
    exchange_free(&x);
    params_destroy(p);
    TRY(comm_agree(ctx, status));
    if (n > 1 && ranks % n != 0 && n % ranks != 0)
        return FAIL(ctx, STATUS_USAGE,
                    "%d replicas on %d ranks: one must be a multiple of the "
                    "other, so that all groups of ranks have the same to do",
                    n, ranks);
    return 0;
}

/* ---- one of them ---- */

int replica_line_make(struct ctx *ctx, const struct command_line *line,
                      const struct replicas *r, int i, struct replica_line *out)
{
    const char *base = line->option[OPTION_OUTPUT];
    const char **all = calloc((size_t)line->n_overrides + 3, sizeof(*all));
    *out = (struct replica_line){.line = *line, .overrides = all};
    if (base == NULL || base[0] == '\0')
        base = ".";
    const char *slash = base[strlen(base) - 1] == '/' ? "" : "/";
    snprintf(out->seed, sizeof(out->seed), "run.seed=%" PRId64, r->seed + i);
    int n = snprintf(out->folder, sizeof(out->folder), "%s%sreplica-%04d", base,
                     slash, i);
    if (all == NULL)
        return FAIL(ctx, STATUS_MEMORY, "out of memory");
    if (n < 0 || (size_t)n >= sizeof(out->folder))
        return FAIL(ctx, STATUS_USAGE, "the path of --output is too long");
    if (line->n_overrides > 0)
        memcpy(all, line->overrides, (size_t)line->n_overrides * sizeof(*all));
    all[out->line.n_overrides++] = out->seed;
    all[out->line.n_overrides++] = "ensemble.replicas=1";
    if (r->sole)
        all[out->line.n_overrides++] = "output.staging=off";
    out->line.overrides = all;
    out->line.option[OPTION_OUTPUT] = out->folder;
    return 0;
}

void replica_line_free(struct replica_line *l)
{
    free(l->overrides);
    l->overrides = NULL;
}

static int run_replica(struct ctx *ctx, const struct command_line *line,
                       const struct replicas *r, int i)
{
    struct replica_line mine;
    int status = replica_line_make(ctx, line, r, i, &mine);
    if (status == 0) {
        log_info(ctx->log, "replica %d of %d: run.seed = %" PRId64 ", in %s", i,
                 r->count, r->seed + i, mine.folder);
        status = run_deck(ctx, &mine.line);
    }
    replica_line_free(&mine);
    return status;
}

void replica_tell(struct ctx *ctx, const struct replicas *r, int i, int status,
                  struct tally *t)
{
    char text[sizeof(ctx->error.text) + 16];
    if (status == STATUS_STOPPED) {
        log_info(ctx->log, "%s", ctx->error.text);
        t->stopped++;
    } else {
        error_context(ctx, status, "in replica %d of %d", i, r->count);
        snprintf(text, sizeof(text), "%s%s", error_prefix(ctx),
                 ctx->error.text);
        log_error(ctx->log, text);
        t->failed++;
        t->worst = status;
    }
    error_clear(ctx);
}

/* ---- all of them ---- */

/* Replica i with a log of its own. *alone as comm_farewell() has it; where it
 * is set, the log is left to the end of the process. */
static int run_logged(struct ctx *ctx, const struct command_line *line,
                      const struct replicas *r, int i, struct tally *t,
                      int *alone)
{
    struct log *shared = ctx->log;
    enum log_level level = i % r->groups == 0 ? log_level(shared) : LOG_QUIET;
    int status = 0;
    *alone = 0;
    ctx->log = log_create(comm_rank(ctx->comm), level);
    if (ctx->log == NULL) {
        ctx->log = shared;
        status = FAIL(ctx, STATUS_MEMORY, "out of memory");
    }
    status = comm_agree(ctx, status);
    if (status == 0)
        status = run_replica(ctx, line, r, i);
    status = comm_farewell(ctx, status, alone);
    if (status != 0 && !*alone)
        replica_tell(ctx, r, i, status, t);
    if (ctx->log != shared)
        log_destroy(ctx->log);
    ctx->log = shared;
    if (status == STATUS_STOPPED) /* those that would follow as well */
        t->stopped += (r->count - 1 - i) / r->groups;
    return status;
}

/* Those of this group, one after the other. One that fails leaves the others
 * alone; a wish to stop is meant for all. */
static int run_group(struct ctx *ctx, const struct command_line *line,
                     const struct replicas *r, int group, struct tally *t)
{
    int alone, status = 0;
    for (int i = group; i < r->count && status != STATUS_STOPPED;
         i += r->groups) {
        status = run_logged(ctx, line, r, i, t, &alone);
        if (alone)
            return 1;
    }
    return 0;
}

static int sum_up(struct ctx *ctx, const struct replicas *r, int leader,
                  const struct tally *t)
{
    int64_t sums[2] = {leader ? t->failed : 0, leader ? t->stopped : 0};
    int64_t worst = t->worst;
    TRY(comm_sum_int64(ctx, sums, 2));
    TRY(comm_max_int64(ctx, &worst, 1));
    if (sums[0] > 0)
        return FAIL(ctx, (int)worst,
                    "%" PRId64 " of %d replicas failed; the others are %s",
                    sums[0], r->count,
                    sums[1] > 0 ? "stopped, or finished" : "finished");
    if (sums[1] == 0)
        return 0;
    FAIL(ctx, STATUS_STOPPED, "%" PRId64 " of %d replicas are not finished",
         sums[1], r->count);
    return error_context(ctx, STATUS_STOPPED,
                         "use the same command with --resume auto to go on "
                         "from there");
}

/* What the first group prints is also what the terminal shows. Where a rank
 * failed alone, no collective call will return: it goes straight to the end,
 * with its message, and main() ends all. */
static int run_groups(struct ctx *ctx, const struct command_line *line,
                      const struct replicas *r)
{
    struct comm *all = ctx->comm, *few;
    int group = comm_rank(all) / (comm_size(all) / r->groups);
    struct tally tally = {0};
    struct aside aside = {.all = all, .log = ctx->log, .timers = ctx->timers};
    TRY(comm_split(ctx, group, &few));
    int leader = comm_rank(few) == 0, alone = 0;
    aside.few = few;
    TRY(team_wanted(ctx, &aside, r, line, group));
    if (aside.team > 1) {
        abreast_run(ctx, &aside, r, line, group, &tally);
    } else {
        ctx->comm = few;
        alone = run_group(ctx, line, r, group, &tally);
        ctx->comm = all;
    }
    if (alone)
        return ctx->error.status;
    comm_release(few);
    return sum_up(ctx, r, leader, &tally);
}

int cmd_run(struct ctx *ctx, const struct command_line *line)
{
    struct replicas r;
    TRY(run_allowed(ctx, line));
    TRY(replicas_plan(ctx, line, comm_size(ctx->comm), &r));
    if (r.exchanged)
        return together_run(ctx, line, &r);
    return r.count > 1 ? run_groups(ctx, line, &r) : run_deck(ctx, line);
}
