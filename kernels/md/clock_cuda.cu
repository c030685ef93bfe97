/* clock_cuda.cu: see clock_cuda.h.
 *
 * Launches return before the work is done, so the host's clock says nothing of
 * it. Events in the stream do, once they have come; what has not come when the
 * next forces begin is waited for.
 */
#include "kernels/md/clock_cuda.h"

#include <stdlib.h>

enum { CLOCK_PARTS = 4 };

struct pair_clock {
    cudaEvent_t from[CLOCK_PARTS], to[CLOCK_PARTS];
    int runs[CLOCK_PARTS]; /* there is a time to be read */
    double seconds;
};

int cuda_clock_create(struct md_store *s)
{
    if (!s->setup.timed)
        return 0;
    s->clock = (struct pair_clock *)calloc(1, sizeof *s->clock);
    if (!s->clock)
        return FAIL(s->ctx, STATUS_MEMORY, "no memory for a clock");
    for (int k = 0; k < CLOCK_PARTS; k++) {
        CUDA_TRY(s->ctx, cudaEventCreate(&s->clock->from[k]));
        CUDA_TRY(s->ctx, cudaEventCreate(&s->clock->to[k]));
    }
    return 0;
}

void cuda_clock_destroy(struct md_store *s)
{
    for (int k = 0; k < CLOCK_PARTS && s->clock; k++) {
        if (s->clock->from[k])
            cudaEventDestroy(s->clock->from[k]);
        if (s->clock->to[k])
            cudaEventDestroy(s->clock->to[k]);
    }
    free(s->clock);
    s->clock = NULL;
}

static int read_time(struct md_store *s, int what)
{
    struct pair_clock *c = s->clock;
    float ms = 0;
    if (!c->runs[what])
        return 0;
    c->runs[what] = 0;
    CUDA_TRY(s->ctx, cudaEventSynchronize(c->to[what]));
    CUDA_TRY(s->ctx, cudaEventElapsedTime(&ms, c->from[what], c->to[what]));
    c->seconds += 1e-3 * (double)ms;
    return 0;
}

int cuda_clock_begin(struct md_store *s, int what)
{
    if (!s->clock)
        return 0;
    TRY(read_time(s, what));
    CUDA_TRY(s->ctx, cudaEventRecord(s->clock->from[what], s->device->stream));
    return 0;
}

int cuda_clock_end(struct md_store *s, int what)
{
    if (!s->clock)
        return 0;
    CUDA_TRY(s->ctx, cudaEventRecord(s->clock->to[what], s->device->stream));
    s->clock->runs[what] = 1;
    return 0;
}

double cuda_pair_seconds(struct md_store *s)
{
    cuda_settle(s);
    for (int k = 0; k < CLOCK_PARTS && s->clock && s->failed == 0; k++)
        s->failed = read_time(s, k);
    return s->clock ? s->clock->seconds : 0;
}
