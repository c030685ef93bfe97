#include "driver/staging.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "base/comm.h"
#include "base/ctx.h"
#include "base/error.h"
#include "base/format.h"
#include "base/log.h"
#include "base/param.h"
#include "base/worker.h"
#include "driver/job.h"
#include "io/h5md.h"
#include "io/staged.h"
#include "kernels/device.h"

/* ---- whether ---- */

enum choice { OFF, ON, AUTO };

static enum choice wanted(const struct job *job)
{
    const char *text = params_string(job->params, "output", "staging");
    return strcmp(text, "on") == 0 ? ON : strcmp(text, "off") == 0 ? OFF : AUTO;
}

static double limit_of(const struct job *job)
{
    return 1e6 * (double)params_int(job->params, "output", "staging_memory");
}

/* Whether this process may run on more processors than it keeps busy together
 * with the ranks that share them: those of this host that were given the same
 * ones. Collective. */
static int has_spare(struct ctx *ctx, const struct job *job, int *spare)
{
    int ranks = comm_size(ctx->comm), hosts = comm_node_count(ctx->comm);
    int64_t same = 0, mine = 0, *all = calloc((size_t)ranks, sizeof(*all));
    cpu_set_t set;
    int status = 0, n = 0, known = sched_getaffinity(0, sizeof(set), &set) == 0;
    if (all == NULL)
        status = FAIL(ctx, STATUS_MEMORY, "out of memory");
    TRY_CLEANUP(comm_agree(ctx, status));
    if (known) {
        n = CPU_COUNT(&set);
        while (mine < CPU_SETSIZE && !CPU_ISSET((size_t)mine, &set))
            mine++;
        mine = mine * CPU_SETSIZE + n;
    }
    TRY_CLEANUP(comm_allgather_int64(ctx, mine, all));
    for (int r = 0; r < ranks; r++)
        same += all[r] == mine;
    *spare = n > job->device->threads * ((same + hosts - 1) / hosts);
cleanup:
    free(all);
    return status;
}

static int has_frames(const struct job *job)
{
    return job->solver->frame != NULL || job->solver->grid_frame != NULL;
}

double staging_bytes(const struct ctx *ctx, const struct job *job)
{
    double frame = job->plan.frame_bytes / comm_size(ctx->comm);
    double limit = limit_of(job);
    if (wanted(job) == OFF || !has_frames(job) || frame > limit)
        return 0;
    return 2 * frame < limit ? 2 * frame : limit;
}

/* A helper that has to share a processor with a rank's loops takes from them
 * what it saves, so "auto" asks for one to spare. Collective. */
static int decide(struct ctx *ctx, const struct job *job, int64_t *use)
{
    enum choice choice = wanted(job);
    int64_t not_all[2] = {!comm_takes_threads(ctx->comm)};
    int spare;
    *use = 0;
    if (choice == OFF || !has_frames(job))
        return 0;
    TRY(has_spare(ctx, job, &spare));
    not_all[1] = !spare;
    TRY(comm_max_int64(ctx, not_all, 2));
    if (not_all[0] && choice == ON)
        log_warn(ctx->log,
                 "output.staging = \"on\": this MPI does not let several "
                 "threads in, so frames are written by the main thread");
    else if (not_all[0])
        log_verbose(ctx->log, "frames are written by the main thread: this MPI "
                              "does not let several threads in");
    else if (not_all[1] && choice == AUTO)
        log_verbose(ctx->log, "frames are written by the main thread: no "
                              "processor is left for a helper");
    *use = !not_all[0] && (choice == ON || !not_all[1]);
    return 0;
}

int staging_begin(struct ctx *ctx, const struct job *job, struct h5md *file,
                  struct staging *out)
{
    int64_t use;
    char size[FORMAT_MAX];
    *out = (struct staging){.file = file, .row = h5md_last_row(file)};
    TRY(decide(ctx, job, &use));
    if (!use)
        return 0;
    TRY(worker_start(ctx, (size_t)limit_of(job), &out->worker));
    log_verbose(ctx->log,
                "frames are written by a helper thread, from copies of up to "
                "%s a rank",
                format_bytes(limit_of(job), size));
    return 0;
}

/* ---- jobs ---- */

struct job_of {
    struct worker_job job; /* first */
    struct staging *s;
    struct vtkhdf *to;
    void *frame; /* a copy */
    int has_box, n_names, probe;
    struct vtkhdf_box box;
    int64_t step;
    double time;
    double values[]; /* of a row */
};

static void release(struct worker_job *job)
{
    free(((struct job_of *)job)->frame);
    free(job);
}

static int write_row(struct ctx *ctx, struct worker_job *job)
{
    struct job_of *j = (struct job_of *)job;
    int status =
        h5md_write_observables(ctx, j->s->file, j->step, j->time, j->values);
    j->s->file_failed |= status != 0;
    if (status == 0)
        j->s->row = j->step;
    return status;
}

static int write_probe(struct ctx *ctx, struct worker_job *job)
{
    struct job_of *j = (struct job_of *)job;
    int status = h5md_write_probe(ctx, j->s->file, j->probe, j->step, j->time,
                                  j->values);
    j->s->file_failed |= status != 0;
    return status;
}

static int write_frame(struct ctx *ctx, struct worker_job *job)
{
    struct job_of *j = (struct job_of *)job;
    int status = h5md_write_frame(ctx, j->s->file, j->frame);
    j->s->file_failed |= status != 0;
    return status;
}

/* The copy has the fields that are to be written, and no others. */
static int write_grid(struct ctx *ctx, struct worker_job *job)
{
    struct job_of *j = (struct job_of *)job;
    const struct grid_frame *frame = j->frame;
    const char **names = calloc((size_t)frame->n_fields + 1, sizeof(*names));
    int status = 0;
    if (names == NULL)
        status = FAIL(ctx, STATUS_MEMORY, "out of memory");
    TRY_CLEANUP(comm_agree(ctx, status));
    for (int i = 0; i < frame->n_fields; i++)
        names[i] = frame->fields[i].name;
    status = vtkhdf_write(ctx, j->to, frame, j->has_box ? &j->box : NULL,
                          frame->n_fields, names);
cleanup:
    free(names);
    return status;
}

/* Hand the job over, where all ranks have one. */
static int post(struct ctx *ctx, struct staging *s, struct job_of *j, int made)
{
    int status = made ? 0 : FAIL(ctx, STATUS_MEMORY, "no memory for a frame");
    status = comm_agree(ctx, status);
    if (status == 0)
        worker_post(s->worker, &j->job);
    else if (j != NULL)
        release(&j->job);
    return status;
}

static struct job_of *new_job(struct staging *s,
                              int (*run)(struct ctx *, struct worker_job *),
                              int n, const double *values)
{
    struct job_of *j = malloc(sizeof(*j) + (size_t)n * sizeof(double));
    if (j == NULL)
        return NULL;
    *j = (struct job_of){.job = {.run = run, .release = release}, .s = s};
    if (n > 0)
        memcpy(j->values, values, (size_t)n * sizeof(double));
    return j;
}

/* ---- rows ---- */

static int post_row(struct ctx *ctx, struct staging *s, struct job_of *j,
                    int probe, int64_t step, double time)
{
    if (j != NULL) {
        j->probe = probe;
        j->step = step;
        j->time = time;
    }
    return post(ctx, s, j, j != NULL);
}

int staging_row(struct ctx *ctx, struct staging *s, int64_t step, double time,
                int n, const double *values)
{
    if (s->worker != NULL)
        return post_row(ctx, s, new_job(s, write_row, n, values), 0, step,
                        time);
    int status = h5md_write_observables(ctx, s->file, step, time, values);
    s->file_failed |= status != 0;
    return status;
}

int staging_probe(struct ctx *ctx, struct staging *s, int probe, int64_t step,
                  double time, int n, const double *values)
{
    if (s->worker != NULL)
        return post_row(ctx, s, new_job(s, write_probe, n, values), probe, step,
                        time);
    int status = h5md_write_probe(ctx, s->file, probe, step, time, values);
    s->file_failed |= status != 0;
    return status;
}

/* ---- frames ---- */

/* Whether copies of so many bytes may be handed over, by all ranks; otherwise
 * what was is written before. Collective. */
static int takes(struct ctx *ctx, struct staging *s, size_t bytes, int *yes)
{
    *yes = 0;
    if (s->worker == NULL)
        return 0;
    int64_t too_large = !worker_takes(s->worker, bytes);
    TRY(comm_max_int64(ctx, &too_large, 1));
    *yes = !too_large;
    return too_large ? worker_drain(ctx, s->worker) : 0;
}

int staging_frame(struct ctx *ctx, struct staging *s,
                  const struct field_frame *frame, int constants)
{
    size_t bytes = staged_frame_bytes(frame, constants);
    int yes;
    TRY(takes(ctx, s, bytes, &yes));
    if (!yes) {
        int status = h5md_write_frame(ctx, s->file, frame);
        s->file_failed |= status != 0;
        return status;
    }
    worker_wait_for_room(s->worker, bytes);
    struct job_of *j = new_job(s, write_frame, 0, NULL);
    if (j != NULL) {
        j->job.bytes = bytes;
        j->frame = staged_frame(frame, constants);
    }
    return post(ctx, s, j, j != NULL && j->frame != NULL);
}

int staging_grid(struct ctx *ctx, struct staging *s, struct vtkhdf *to,
                 const struct grid_frame *frame, const struct vtkhdf_box *box,
                 int n_names, const char *const *names)
{
    enum field_type type = vtkhdf_type(to);
    size_t bytes = 0;
    int yes;
    if (s->worker != NULL)
        bytes = staged_grid_bytes(frame, box, n_names, names, type);
    TRY(takes(ctx, s, bytes, &yes));
    if (!yes)
        return vtkhdf_write(ctx, to, frame, box, n_names, names);
    worker_wait_for_room(s->worker, bytes);
    struct job_of *j = new_job(s, write_grid, 0, NULL);
    if (j != NULL) {
        j->job.bytes = bytes;
        j->to = to;
        j->has_box = box != NULL;
        if (box != NULL)
            j->box = *box;
        j->frame = staged_grid(frame, box, n_names, names, type);
    }
    return post(ctx, s, j, j != NULL && j->frame != NULL);
}

/* ---- the end ---- */

int staging_failed(const struct staging *s)
{
    return s->worker != NULL && worker_failed(s->worker);
}

int staging_drain(struct ctx *ctx, struct staging *s)
{
    return s->worker != NULL ? worker_drain(ctx, s->worker) : 0;
}

void staging_end(struct ctx *ctx, struct staging *s)
{
    staging_drain(ctx, s);
    worker_stop(s->worker);
    s->worker = NULL;
}
