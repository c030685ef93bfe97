#include "base/worker.h"

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "base/comm.h"
#include "base/ctx.h"
#include "base/error.h"

struct worker {
    pthread_t thread;
    int threaded;
    pthread_mutex_t mutex;  /* of all below but ctx */
    pthread_cond_t changed; /* a job came or went, or the end */
    struct worker_job *first, **last;
    int busy, quit;
    int status; /* of the job that failed */
    size_t limit, held;
    struct ctx ctx; /* of whoever does a job */
};

/* The mutex is held, and given away while the job is done. */
static void do_job(struct worker *w, struct worker_job *job)
{
    size_t bytes = job->bytes;
    int status = w->status;
    w->busy = 1;
    pthread_mutex_unlock(&w->mutex);
    if (status == 0)
        status = job->run(&w->ctx, job);
    job->release(job);
    pthread_mutex_lock(&w->mutex);
    w->held -= bytes;
    w->busy = 0;
    if (w->status == 0)
        w->status = status;
    pthread_cond_broadcast(&w->changed);
}

static void *work(void *of)
{
    struct worker *w = of;
    pthread_mutex_lock(&w->mutex);
    for (;;) {
        while (w->first == NULL && !w->quit)
            pthread_cond_wait(&w->changed, &w->mutex);
        struct worker_job *job = w->first;
        if (job == NULL)
            break;
        w->first = job->next;
        if (w->first == NULL)
            w->last = &w->first;
        do_job(w, job);
    }
    pthread_mutex_unlock(&w->mutex);
    return NULL;
}

/* Signals are the main thread's. */
static int start_thread(struct worker *w)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int failed = pthread_create(&w->thread, NULL, work, w);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return failed;
}

static int begin(struct ctx *ctx, struct worker *w)
{
    TRY(comm_duplicate(ctx, &w->ctx.comm));
    pthread_mutex_init(&w->mutex, NULL);
    pthread_cond_init(&w->changed, NULL);
    int failed = start_thread(w), status = 0;
    if (failed != 0)
        status = FAIL(ctx, STATUS_FAILED, "cannot start a thread: %s",
                      strerror(failed));
    w->threaded = failed == 0;
    return comm_agree(ctx, status);
}

int worker_start(struct ctx *ctx, size_t limit, struct worker **out)
{
    struct worker *w = *out = calloc(1, sizeof(*w));
    int status = 0;
    if (w == NULL)
        status = FAIL(ctx, STATUS_MEMORY, "out of memory");
    status = comm_agree(ctx, status);
    if (status == 0) {
        w->last = &w->first;
        w->limit = limit;
        status = begin(ctx, w);
    }
    if (status != 0) {
        worker_stop(w);
        *out = NULL;
    }
    return status;
}

int worker_takes(const struct worker *w, size_t bytes)
{
    return bytes <= w->limit;
}

void worker_wait_for_room(struct worker *w, size_t bytes)
{
    pthread_mutex_lock(&w->mutex);
    while (w->held > 0 && w->held + bytes > w->limit)
        pthread_cond_wait(&w->changed, &w->mutex);
    pthread_mutex_unlock(&w->mutex);
}

void worker_post(struct worker *w, struct worker_job *job)
{
    job->next = NULL;
    pthread_mutex_lock(&w->mutex);
    w->held += job->bytes;
    if (job->bytes == 0 && w->first == NULL && !w->busy) {
        do_job(w, job);
    } else {
        *w->last = job;
        w->last = &job->next;
        pthread_cond_broadcast(&w->changed);
    }
    pthread_mutex_unlock(&w->mutex);
}

int worker_failed(struct worker *w)
{
    pthread_mutex_lock(&w->mutex);
    int status = w->status;
    pthread_mutex_unlock(&w->mutex);
    return status;
}

int worker_drain(struct ctx *ctx, struct worker *w)
{
    pthread_mutex_lock(&w->mutex);
    while (w->first != NULL || w->busy)
        pthread_cond_wait(&w->changed, &w->mutex);
    int status = w->status;
    pthread_mutex_unlock(&w->mutex);
    if (status != 0 && ctx->error.status == 0)
        ctx->error = w->ctx.error;
    return status;
}

void worker_stop(struct worker *w)
{
    if (w == NULL)
        return;
    if (w->threaded) {
        pthread_mutex_lock(&w->mutex);
        w->quit = 1;
        pthread_cond_broadcast(&w->changed);
        pthread_mutex_unlock(&w->mutex);
        pthread_join(w->thread, NULL);
    }
    comm_release(w->ctx.comm);
    free(w);
}
