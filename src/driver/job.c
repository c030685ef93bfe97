#include "driver/job.h"

#include <stdlib.h>
#include <string.h>

#include "base/comm.h"
#include "base/ctx.h"
#include "base/error.h"
#include "base/format.h"
#include "base/log.h"
#include "base/param.h"
#include "driver/driver_params.h"
#include "driver/guard.h"
#include "driver/parts.h"
#include "driver/staging.h"
#include "kernels/device.h"
#include "kernels/machine.h"

static const struct param_table *select_solver(const char *name, void *user)
{
    const struct solver *solver = solver_find(name);
    (void)user;
    return solver != NULL ? solver->params : NULL;
}

/* "decks/lj_melt.toml" -> "lj_melt", in new memory. */
static char *name_of_deck(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *base = slash != NULL ? slash + 1 : path;
    size_t n = strlen(base);
    if (n > 5 && strcmp(base + n - 5, ".toml") == 0)
        n -= 5;
    return strndup(base, n);
}

/* File systems allow 255 bytes; endings come behind. */
enum { NAME_LONGEST = 240 };

/* As for run.threads. */
enum { THREADS_MOST = 4096 };

static int name_results(struct ctx *ctx, struct job *job)
{
    const struct params *p = job->params;
    int given = params_is_set(p, "output", "name");
    const char *name = given ? params_string(p, "output", "name") : "";
    if (given && (name[0] == '\0' || strchr(name, '/') != NULL))
        params_error(job->params, "output", "name",
                     "output.name = \"%s\" must be a file name without a "
                     "folder; the folder is --output's",
                     name);
    else if (given && text_has_control(name))
        params_error(job->params, "output", "name",
                     "output.name has a control character");
    else if (strlen(name) > NAME_LONGEST)
        params_error(job->params, "output", "name",
                     "output.name is longer than %d bytes", NAME_LONGEST);
    job->name = given ? strdup(name) : name_of_deck(params_path(p));
    if (job->name == NULL)
        return FAIL(ctx, STATUS_MEMORY, "out of memory");
    return 0;
}

/* On the host, frames that wait to be written count, too. */
static int estimate(struct ctx *ctx, struct job *job)
{
    TRY(job->solver->estimate(ctx, job->state, &job->plan));
    if (job->device == NULL || strcmp(job->device->name, "cpu") == 0)
        job->plan.memory_per_rank += staging_bytes(ctx, job);
    return 0;
}

static int make_solver(struct ctx *ctx, struct job *job)
{
    job->solver = solver_find(params_string(job->params, "run", "solver"));
    if (job->solver == NULL)
        return FAIL(ctx, STATUS_INTERNAL, "a checked deck has no solver");
    TRY(name_results(ctx, job));
    TRY(job->solver->create(ctx, job->params, &job->state));
    guard_check_deck(job);
    TRY(params_finish(ctx, job->params));
    TRY(estimate(ctx, job));
    return parts_check(ctx, job);
}

int job_read_deck(struct ctx *ctx, const char *deck, int n_overrides,
                  const char *const *overrides, struct params **out)
{
    return params_read(ctx, deck, n_overrides, overrides, driver_param_table(),
                       select_solver, NULL, out);
}

int job_open(struct ctx *ctx, const char *deck, int n_overrides,
             const char *const *overrides, struct job *job)
{
    *job = (struct job){0};
    TRY(job_read_deck(ctx, deck, n_overrides, overrides, &job->params));
    return comm_agree(ctx, make_solver(ctx, job));
}

int job_open_text(struct ctx *ctx, const char *name, const char *text,
                  int n_overrides, const char *const *overrides,
                  struct job *job)
{
    *job = (struct job){0};
    TRY(comm_agree(ctx, params_parse(ctx, name, text, strlen(text), n_overrides,
                                     overrides, driver_param_table(),
                                     select_solver, NULL, &job->params)));
    return comm_agree(ctx, make_solver(ctx, job));
}

static int check_threads(struct ctx *ctx, const struct job *job)
{
    if (job->device->threads > THREADS_MOST)
        return FAIL(ctx, STATUS_USAGE,
                    "OMP_NUM_THREADS asks for %d threads of a rank; at most %d",
                    job->device->threads, THREADS_MOST);
    return 0;
}

/* A problem that is far too large is refused before the system has to kill
 * somebody; the estimate is none to the last byte, but better for a card, where
 * nothing else lives. */
static int check_memory(struct ctx *ctx, const struct job *job)
{
    const struct device *d = job->device;
    int card = strcmp(d->name, "cpu") != 0;
    const char *where = card ? "card" : "host", *free_or_not = "";
    char need[FORMAT_MAX], have[FORMAT_MAX];
    double here =
        job->plan.memory_per_rank * d->sharers * (d->team > 1 ? d->team : 1);
    double there_is = (double)d->memory_total;
    if (d->memory_free > 0) {
        there_is = (double)d->memory_free;
        free_or_not = " free";
    }
    if (!(there_is > 0) || here < there_is)
        return 0;
    format_bytes(here, need);
    format_bytes(there_is, have);
    if (here > (card ? 1.1 : 1.5) * there_is) {
        int status = FAIL(ctx, STATUS_MEMORY,
                          "%s need about %s on this %s, which has %s%s",
                          job->plan.problem, need, where, have, free_or_not);
        if (job->plan.memory_hint[0] != '\0')
            return error_context(ctx, status, "use %s", job->plan.memory_hint);
        return error_context(ctx, status,
                             "use more %ss, or a lower precision, or a smaller "
                             "problem; warpdeck check shows what a deck needs",
                             where);
    }
    log_warn(ctx->log, "%s need about %s on this %s, which has %s%s",
             job->plan.problem, need, where, have, free_or_not);
    return 0;
}

int job_open_device(struct ctx *ctx, struct job *job, const char *wanted)
{
    if (wanted == NULL)
        wanted = params_string(job->params, "run", "device");
    machine_set_threads((int)params_int(job->params, "run", "threads"));
    double items = job->plan.items_per_rank * (job->team > 1 ? job->team : 1);
    if (!job->borrows_device)
        TRY(comm_agree(ctx, device_open(ctx, wanted, items, &job->device)));
    job->device->team = job->team;
    ctx->device = job->device;
    TRY(comm_agree(ctx, check_threads(ctx, job)));
    /* What the problem needs there. */
    TRY(comm_agree(ctx, estimate(ctx, job)));
    TRY(device_choose_transfer(
        ctx, job->device, params_string(job->params, "run", "gpu_transfer")));
    return comm_agree(ctx, check_memory(ctx, job));
}

/* ---- the solver's calls ---- */

static int told(struct ctx *ctx, const struct job *job, int status)
{
    return status == 0 ? 0
                       : error_at_step(ctx, status,
                                       job->solver->step_number(job->state));
}

int job_initial(struct ctx *ctx, const struct job *job)
{
    return told(ctx, job, job->solver->initial(ctx, job->state));
}

int job_step(struct ctx *ctx, const struct job *job, int look, int *stop)
{
    return told(ctx, job, job->solver->step(ctx, job->state, look, stop));
}

int job_ahead(struct ctx *ctx, const struct job *job, int look, int *stop,
              int *more)
{
    return told(ctx, job,
                job->solver->ahead(ctx, job->state, look, stop, more));
}

int job_observe(struct ctx *ctx, const struct job *job, double *values)
{
    return told(ctx, job, job->solver->observe(ctx, job->state, values));
}

int job_frame(struct ctx *ctx, const struct job *job, int n_names,
              const char *const *names, const struct field_frame **out)
{
    return told(ctx, job,
                job->solver->frame(ctx, job->state, n_names, names, out));
}

int job_grid_frame(struct ctx *ctx, const struct job *job, int n_names,
                   const char *const *names, const struct grid_frame **out)
{
    return told(ctx, job,
                job->solver->grid_frame(ctx, job->state, n_names, names, out));
}

void job_close(struct ctx *ctx, struct job *job)
{
    if (job->solver != NULL)
        job->solver->destroy(ctx, job->state);
    if (!job->borrows_device)
        device_close(job->device);
    ctx->device = NULL;
    params_destroy(job->params);
    free(job->name);
    *job = (struct job){0};
}
