/* clock_cuda.cu: see clock_cuda.h.
 *
 * Launches return before the work is done, so the host's clock says nothing of
 * it. Events in the stream do, once they have come. Nobody waits for them: what
 * has not come when the next ones begin is not counted.
 *
 * Where only the share of terms is wanted, some steps tell it: the second, the
 * fourth and so on, twice as many each time, later each SOME_STEPS. These are
 * launched call by call, since an event that is captured has no time.
 */
#include "kernels/md/clock_cuda.h"

#include <stdlib.h>

/* A prime, so that not always the same step after a new list is looked at. */
static const uint64_t SOME_STEPS = 251;

struct pair_clock {
    cudaEvent_t mark[CLOCK_PARTS][CLOCK_PLACES];
    int runs[CLOCK_PARTS];      /* there is a time to be read */
    int has_terms[CLOCK_PARTS]; /* CLOCK_TERMS is marked, too */
    uint64_t steps, next;       /* the next to be looked at */
    int looks;
    double seconds;       /* of all that was timed */
    double forces, terms; /* of forces with terms, and of these alone */
};

int cuda_clock_create(struct md_store *s)
{
    if (!s->setup.timed && !s->setup.field)
        return 0;
    s->clock = (struct pair_clock *)calloc(1, sizeof *s->clock);
    if (!s->clock)
        return FAIL(s->ctx, STATUS_MEMORY, "no memory for a clock");
    s->clock->looks = s->setup.timed;
    s->clock->next = 2;
    for (int k = 0; k < CLOCK_PARTS; k++)
        for (int at = 0; at < CLOCK_PLACES; at++)
            CUDA_TRY(s->ctx, cudaEventCreate(&s->clock->mark[k][at]));
    return 0;
}

void cuda_clock_destroy(struct md_store *s)
{
    for (int k = 0; k < CLOCK_PARTS && s->clock; k++)
        for (int at = 0; at < CLOCK_PLACES; at++)
            if (s->clock->mark[k][at])
                cudaEventDestroy(s->clock->mark[k][at]);
    free(s->clock);
    s->clock = NULL;
}

void cuda_clock_step(struct md_store *s)
{
    struct pair_clock *c = s->clock;
    if (!c || s->setup.timed)
        return;
    c->looks = ++c->steps >= c->next;
    if (c->looks)
        c->next += c->next < SOME_STEPS ? c->next : SOME_STEPS;
}

int cuda_clock_looks(const struct md_store *s)
{
    return s->clock && s->clock->looks;
}

/* Seconds between two marks of a part. */
static int way(struct md_store *s, int part, int from, int to, double *out)
{
    const struct pair_clock *c = s->clock;
    float ms = 0;
    CUDA_TRY(s->ctx,
             cudaEventElapsedTime(&ms, c->mark[part][from], c->mark[part][to]));
    *out = 1e-3 * (double)ms;
    return 0;
}

static int read_time(struct md_store *s, int part)
{
    struct pair_clock *c = s->clock;
    double all, terms;
    if (!c->runs[part])
        return 0;
    cudaError_t error = cudaEventQuery(c->mark[part][CLOCK_END]);
    if (error == cudaErrorNotReady) {
        cudaGetLastError(); /* it is none */
        return 0;
    }
    TRY(cuda_status(s->ctx, error, "cudaEventQuery"));
    c->runs[part] = 0;
    TRY(way(s, part, CLOCK_BEGIN, CLOCK_END, &all));
    c->seconds += all;
    if (!c->has_terms[part])
        return 0;
    TRY(way(s, part, CLOCK_TERMS, CLOCK_END, &terms));
    c->forces += all;
    c->terms += terms;
    return 0;
}

int cuda_clock_mark(struct md_store *s, enum clock_part part,
                    enum clock_place at)
{
    struct pair_clock *c = s->clock;
    if (!cuda_clock_looks(s) || s->notes)
        return 0;
    if (at == CLOCK_BEGIN) {
        TRY(read_time(s, part));
        c->runs[part] = c->has_terms[part] = 0;
    }
    CUDA_TRY(s->ctx, cudaEventRecord(c->mark[part][at], s->device->stream));
    c->has_terms[part] |= at == CLOCK_TERMS;
    c->runs[part] = at == CLOCK_END;
    return 0;
}

static void read_all(struct md_store *s)
{
    for (int k = 0; k < CLOCK_PARTS && s->clock && s->failed == 0; k++)
        s->failed = read_time(s, k);
}

double cuda_pair_seconds(struct md_store *s)
{
    cuda_settle(s);
    read_all(s);
    return s->clock ? s->clock->seconds : 0;
}

double cuda_terms_seconds(struct md_store *s, double seconds)
{
    const struct pair_clock *c = s->clock;
    read_all(s);
    return c && c->forces > 0 ? seconds * c->terms / c->forces : 0;
}
