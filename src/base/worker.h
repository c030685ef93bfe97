/* worker.h: a thread that does one thing after the other while the run goes on.
 *
 * Jobs are done in the order they were handed over, each with the worker's own
 * ctx: its own channel to the other ranks' workers (a job may be collective,
 * since all ranks hand over the same jobs in the same order) and its own first
 * failure. After a failure no further job is done; whoever runs the loop asks
 * worker_failed() now and then, lets the ranks agree, and calls worker_drain(),
 * which brings the failure to its own ctx.
 *
 * Libraries that bear no two threads are safe where every call stands in a job
 * or comes after worker_drain().
 */
#ifndef WARPDECK_BASE_WORKER_H
#define WARPDECK_BASE_WORKER_H

#include <stddef.h>

struct ctx;
struct worker;

/* The head of what a job needs; the rest stands behind it in the caller's
 * struct. */
struct worker_job {
    struct worker_job *next; /* the worker's */
    /* A collective job agrees on what it returns, as all collective calls. It
     * uses neither ctx->log nor ctx->timers nor ctx->device. */
    int (*run)(struct ctx *ctx, struct worker_job *job);
    void (*release)(struct worker_job *job); /* afterwards, also unrun */
    size_t bytes; /* it holds until then; 0: hardly any */
};

/* Begin. `limit`: bytes that jobs not yet done may hold together. Collective.
 * Errors: STATUS_MEMORY, STATUS_FAILED without a thread, STATUS_MPI. */
int worker_start(struct ctx *ctx, size_t limit, struct worker **out);

/* Whether a job of so many bytes may be handed over at all. */
int worker_takes(const struct worker *w, size_t bytes);

/* Wait until so many bytes may be held beside those of the jobs not yet done,
 * as they may where worker_takes() says so. */
void worker_wait_for_room(struct worker *w, size_t bytes);

/* Hand over; the job belongs to the worker. One that holds hardly anything is
 * done at once where nothing is waiting. */
void worker_post(struct worker *w, struct worker_job *job);

/* Whether a job has failed on this rank. */
int worker_failed(struct worker *w);

/* Wait until all jobs are done; the status of the one that failed, now a
 * failure of ctx. */
int worker_drain(struct ctx *ctx, struct worker *w);

/* After worker_drain(): end the thread. NULL is fine. Collective. */
void worker_stop(struct worker *w);

#endif
