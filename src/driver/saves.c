#include "driver/saves.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/comm.h"
#include "base/ctx.h"
#include "base/error.h"
#include "base/format.h"
#include "base/log.h"
#include "base/timer.h"
#include "driver/exchange.h"
#include "driver/guard.h"
#include "driver/job.h"
#include "driver/output.h"
#include "driver/results.h"
#include "driver/version.h"
#include "kernels/device.h"

/* ---- names ---- */

char *saves_path(const struct output *output, const char *name, int64_t slot)
{
    int here = strcmp(output->folder, ".") == 0;
    size_t size = strlen(output->folder) + strlen(name) + 40;
    char *path = malloc(size);
    if (path != NULL)
        snprintf(path, size, "%s%s%s.ckpt.%" PRId64 ".h5",
                 here ? "" : output->folder, here ? "" : "/", name, slot);
    return path;
}

/* What follows NAME.ckpt., or NULL. */
static const char *behind_name(const char *file, const char *name)
{
    static const char middle[] = ".ckpt.";
    size_t n = strlen(name);
    if (strncmp(file, name, n) != 0 ||
        strncmp(file + n, middle, sizeof(middle) - 1) != 0)
        return NULL;
    return file + n + sizeof(middle) - 1;
}

int64_t saves_slot_of(const char *file, const char *name)
{
    const char *number = behind_name(file, name);
    if (number == NULL)
        return -1;
    size_t digits = strspn(number, "0123456789");
    if (digits < 1 || digits > 9 || strcmp(number + digits, ".h5") != 0)
        return -1;
    return strtoll(number, NULL, 10);
}

/* NAME.ckpt.K.h5.tmp */
static int is_leftover(const char *file, const char *name)
{
    const char *number = behind_name(file, name);
    if (number == NULL)
        return 0;
    size_t digits = strspn(number, "0123456789");
    return digits > 0 && strcmp(number + digits, ".h5.tmp") == 0;
}

/* Where ranks stand on several nodes, Open MPI keeps beside each open file FILE
 * of ours one that is called FILE-COMMUNICATOR-PROCESS.lock, and a killed run
 * leaves it. */
static int is_of_mpi(const char *file, const char *name)
{
    size_t n = strlen(name);
    if (strncmp(file, name, n) != 0 || (file[n] != '.' && file[n] != '_'))
        return 0;
    const char *end = strstr(file + n, ".h5");
    if (end == NULL)
        end = strstr(file + n, ".hdf");
    end = end != NULL ? strchr(end, '-') : NULL;
    for (int part = 0; part < 2; part++) {
        if (end == NULL || *end++ != '-')
            return 0;
        end += *end == '-'; /* a number below zero */
        size_t digits = strspn(end, "0123456789");
        if (digits == 0)
            return 0;
        end += digits;
    }
    return strcmp(end, ".lock") == 0;
}

static int remove_file(struct ctx *ctx, const char *folder, const char *file)
{
    size_t size = strlen(folder) + strlen(file) + 2;
    char *path = malloc(size);
    if (path == NULL)
        return FAIL(ctx, STATUS_MEMORY, "out of memory");
    snprintf(path, size, "%s/%s", folder, file);
    int status = 0;
    if (unlink(path) != 0 && errno != ENOENT)
        status = FAIL(ctx, STATUS_IO, "cannot remove '%s': %s", path,
                      strerror(errno));
    free(path);
    return status;
}

static int clean(struct ctx *ctx, const char *folder, const char *name, int all)
{
    DIR *dir = opendir(folder);
    int status = 0;
    if (dir == NULL)
        return FAIL(ctx, STATUS_IO, "cannot look into the folder '%s': %s",
                    folder, strerror(errno));
    for (struct dirent *e; status == 0 && (e = readdir(dir)) != NULL;)
        if (is_leftover(e->d_name, name) || is_of_mpi(e->d_name, name) ||
            (all && saves_slot_of(e->d_name, name) >= 0))
            status = remove_file(ctx, folder, e->d_name);
    closedir(dir);
    return status;
}

int saves_clean(struct ctx *ctx, const struct output *output, const char *name,
                int all)
{
    int status = 0;
    if (comm_rank(ctx->comm) == 0)
        status = clean(ctx, output->folder, name, all);
    return comm_agree(ctx, status);
}

int saves_exist(const struct output *output, const char *name)
{
    DIR *dir = opendir(output->folder);
    int found = 0;
    if (dir == NULL)
        return 0;
    for (struct dirent *e; !found && (e = readdir(dir)) != NULL;)
        found = saves_slot_of(e->d_name, name) >= 0;
    closedir(dir);
    return found;
}

/* ---- when ---- */

int saves_open(struct ctx *ctx, struct job *job, const struct output *output,
               struct results *results, struct guard *guard,
               const struct checkpoint_header *from, const char *path,
               struct saves *out)
{
    const struct params *p = job->params;
    *out = (struct saves){.job = job,
                          .output = output,
                          .results = results,
                          .guard = guard,
                          .every = params_interval(p, "checkpoint", "every"),
                          .keep = params_int(p, "checkpoint", "keep"),
                          .at_end = params_has_section(p, "checkpoint"),
                          .last_step = -1,
                          .clock = timer_now(),
                          .phase = timer_phase(ctx->timers, "checkpoint")};
    if (from == NULL)
        return 0;
    const char *slash = strrchr(path, '/');
    int64_t slot = saves_slot_of(slash != NULL ? slash + 1 : path, job->name);
    out->serial = from->serial;
    out->slot = slot >= 0 ? (slot + 1) % out->keep : 0;
    out->last_step = from->step;
    out->last = strdup(path);
    return comm_agree(
        ctx, out->last != NULL ? 0 : FAIL(ctx, STATUS_MEMORY, "out of memory"));
}

void saves_free(struct saves *s)
{
    free(s->last);
    *s = (struct saves){.last_step = -1};
}

int saves_due(const struct saves *s)
{
    int64_t step = s->job->solver->step_number(s->job->state);
    return s->every.kind == INTERVAL_STEPS && step % s->every.steps == 0;
}

int saves_overdue(const struct saves *s)
{
    return s->every.kind == INTERVAL_TIME &&
           timer_now() - s->clock >= s->every.time;
}

/* ---- writing ---- */

int saves_same_machine(const struct ctx *ctx, const struct job *job,
                       const struct checkpoint_header *h)
{
    int same = h->ranks == comm_size(ctx->comm) &&
               h->threads == job->device->threads &&
               strcmp(h->device, job->device->description) == 0 &&
               strcmp(h->precision, job->solver->precision(job->state)) == 0;
    for (int d = 0; d < 3; d++)
        same = same && h->decomposition[d] == job->plan.decomposition[d];
    return same;
}

static int write_arrays(struct ctx *ctx, struct saves *s, const char *path,
                        struct checkpoint_header *header)
{
    struct checkpoint *c;
    TRY(checkpoint_create(ctx, path, header, &c));
    int status = s->job->solver->save(ctx, s->job->state, checkpoint_state(c));
    if (status == 0)
        status = guard_save(ctx, s->guard, checkpoint_state(c));
    if (status == 0 && s->exchange != NULL)
        status = exchange_save(ctx, s->exchange, checkpoint_state(c));
    if (status == 0)
        return checkpoint_publish(ctx, c);
    checkpoint_discard(c);
    return status;
}

static int write_to(struct ctx *ctx, struct saves *s, const char *path)
{
    const struct job *job = s->job;
    size_t n;
    struct checkpoint_header header = {
        .step = job->solver->step_number(job->state),
        .time = job->solver->time(job->state),
        .serial = s->serial + 1,
        .ranks = comm_size(ctx->comm),
        .threads = job->device->threads,
        .row_step = s->results->row_step,
        .frame_step = s->results->frame_step,
        .solver = job->solver->name,
        .version = version_number(),
        .device = job->device->description,
        .precision = job->solver->precision(job->state),
        .deck = params_text(job->params, &n),
        .resolved = params_resolved(job->params, &n),
    };
    for (int d = 0; d < 3; d++)
        header.decomposition[d] = job->plan.decomposition[d];
    TRY(results_flush(ctx, s->results));
    TRY_WHILE(ctx, write_arrays(ctx, s, path, &header),
              "writing the checkpoint of step %" PRId64, header.step);
    s->serial = header.serial;
    s->last_step = header.step;
    s->slot = (s->slot + 1) % s->keep;
    return 0;
}

/* Rank 0's clock counts for all: the wish to stop in time comes from it. */
static void note_time(struct saves *s, double begin)
{
    double took = timer_now() - begin;
    s->clock = begin;
    if (took > s->longest)
        s->longest = took;
}

int saves_write(struct ctx *ctx, struct saves *s)
{
    int64_t step = s->job->solver->step_number(s->job->state);
    double begin = timer_now();
    char shown[512], time[FORMAT_MAX];
    if (s->last_step == step || s->job->solver->save == NULL)
        return 0;
    char *path = saves_path(s->output, s->job->name, s->slot);
    int status = path != NULL ? 0 : FAIL(ctx, STATUS_MEMORY, "out of memory");
    status = comm_agree(ctx, status);
    timer_begin(ctx->timers, s->phase);
    if (status == 0)
        status = guard_check(ctx, s->guard);
    if (status == 0)
        status = write_to(ctx, s, path);
    timer_end(ctx->timers, s->phase);
    if (status != 0) {
        free(path);
        return status;
    }
    note_time(s, begin);
    free(s->last);
    s->last = path;
    log_verbose(ctx->log, "saved step %" PRId64 " to %s in %s", step,
                format_path(path, shown, sizeof(shown)),
                format_seconds(timer_now() - begin, time));
    return 0;
}

int saves_offer(struct ctx *ctx, const struct saves *s, int status)
{
    if (s->last == NULL)
        return status;
    return error_context(ctx, status,
                         "use --resume %s to go on from the last good "
                         "checkpoint, of step %" PRId64,
                         s->last, s->last_step);
}
