/* team_cuda.cu: who is in a team, launches that are noted and made for several,
 * and what comes of them. See team_cuda.h.
 */
#include "kernels/md/team_parts_cuda.h"

#include <stdlib.h>
#include <string.h>

/* ---- members ---- */

/* Calls that are timed by events do not wait for others. */
static int joins(const struct md_store *s)
{
    return !s->setup.timed;
}

static void destroy(struct cuda_team *t)
{
    cuda_free(t->table.p);
    cuda_free(t->result.p);
    cuda_free(t->scratch.p);
    cuda_free(t->workspace.p);
    if (t->staged)
        cudaFreeHost(t->staged);
    if (t->results)
        cudaFreeHost(t->results);
    free(t->notes);
    free(t->store);
    free(t->with);
    free(t->same);
    free(t->below);
    free(t->first);
    free(t);
}

static int create(struct md_store *s, int n, struct cuda_team **out)
{
    size_t count = (size_t)n;
    struct cuda_team *t = (struct cuda_team *)calloc(1, sizeof *t);
    *out = t;
    if (!t)
        return FAIL(s->ctx, STATUS_MEMORY, "no memory for a team of stores");
    t->capacity = n;
    t->room = count * ARGUMENTS_MAX;
    t->store = (struct md_store **)calloc(count, sizeof *t->store);
    t->with = (struct md_store **)calloc(count, sizeof *t->with);
    t->notes = (struct team_notes *)calloc(count, sizeof *t->notes);
    t->same = (struct md_store **)calloc(count, sizeof *t->same);
    t->below = (uint32_t *)calloc(count, sizeof *t->below);
    t->first = (uint32_t *)calloc(count, sizeof *t->first);
    if (!t->store || !t->with || !t->notes || !t->same || !t->below ||
        !t->first)
        return FAIL(s->ctx, STATUS_MEMORY, "no memory for a team of stores");
    CUDA_TRY(s->ctx, cudaMallocHost(&t->staged, t->room));
    CUDA_TRY(s->ctx, cudaMallocHost(&t->results, count * sizeof *t->results));
    TRY(cuda_grow(s->ctx, &t->table.p, &t->table.bytes, t->room, "a team"));
    TRY(cuda_grow(s->ctx, &t->result.p, &t->result.bytes,
                  count * sizeof *t->results, "a team"));
    /* Parts that nobody sends are copied, too. */
    return cuda_status(s->ctx,
                       cudaMemsetAsync(t->result.p, 0,
                                       count * sizeof *t->results,
                                       s->device->stream),
                       "cudaMemsetAsync");
}

int cuda_team_join(struct md_store *s)
{
    struct cuda_team *t = (struct cuda_team *)s->device->md_team;
    int n = s->ctx->device->team;
    if (n < 2 || !joins(s))
        return 0;
    if (!t) {
        int status = create(s, n, &t);
        if (status != 0) {
            if (t)
                destroy(t);
            return status;
        }
        s->device->md_team = t;
    }
    if (t->n == t->capacity)
        return FAIL(s->ctx, STATUS_INTERNAL, "a team of stores has no room");
    t->store[t->n++] = s;
    s->team = t;
    return 0;
}

void cuda_team_leave(struct md_store *s)
{
    struct cuda_team *t = s->team;
    int k = 0;
    if (!t)
        return;
    while (t->store[k] != s)
        k++;
    for (t->n--; k < t->n; k++)
        t->store[k] = t->store[k + 1];
    /* Whoever waits for something has it fetched without this one. */
    for (unsigned i = 0; i < t->n_with; i++)
        if (t->with[i] == s)
            t->with[i] = NULL;
    s->team = NULL;
    if (t->n > 0)
        return;
    s->device->md_team = NULL;
    destroy(t);
}

/* ---- taking notes ---- */

int cuda_team_note(struct md_store *s, const char *name, team_launcher joint,
                   int loose, dim3 grid, const void *arguments, size_t bytes)
{
    struct team_notes *to = s->notes;
    size_t step = (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    if (!joint || to->n == NOTES_MAX || to->bytes + step > ARGUMENTS_MAX)
        return FAIL(s->ctx, STATUS_INTERNAL, "%s is no kernel of a team", name);
    struct team_note note = {name, joint, loose, grid, to->bytes, bytes};
    memcpy(to->arguments + to->bytes, arguments, bytes);
    to->note[to->n++] = note;
    to->bytes += step;
    return 0;
}

void *cuda_team_place(struct md_store *s, void *to, size_t bytes)
{
    struct team_notes *notes = s->notes;
    if (!notes)
        return NULL;
    size_t at = (size_t)((char *)to - (char *)s->result);
    if (notes->n_sent < SENDS_MAX) { /* as many as results have parts */
        notes->sent[notes->n_sent].at = at;
        notes->sent[notes->n_sent++].bytes = bytes;
    }
    return (char *)notes->result + at;
}

static __device__ __forceinline__ void copy_words(const uint32_t *from,
                                                  uint32_t *to, uint32_t n)
{
    uint32_t i = thread_index();
    if (i < n)
        to[i] = from[i];
}

int cuda_send(struct md_store *s, void *to, const void *from, size_t bytes)
{
    uint32_t *place = (uint32_t *)cuda_team_place(s, to, bytes);
    if (place)
        return cuda_run(s, "copy_words", kernel_of<copy_words, 1>(), dim3(1),
                        (const uint32_t *)from, place, (uint32_t)(bytes / 4));
    CUDA_TRY(s->ctx, cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost,
                                     s->device->stream));
    s->device->bytes_to_host += bytes;
    s->has_come = 0;
    return 0;
}

/* ---- launching what is noted ---- */

void cuda_team_begin(struct cuda_team *t)
{
    for (unsigned k = 0; k < t->n_with; k++) {
        struct team_notes *notes = &t->notes[k];
        notes->n = notes->n_sent = 0;
        notes->bytes = 0;
        notes->result = (struct step_result *)t->result.p + k;
    }
}

static int wait(struct md_store *s)
{
    CUDA_TRY(s->ctx, cudaStreamSynchronize(s->device->stream));
    s->team->used = 0;
    return 0;
}

static int are_alike(const struct team_notes *a, const struct team_notes *b)
{
    int alike = a->n == b->n;
    for (int r = 0; alike && r < a->n; r++) {
        const struct team_note *p = &a->note[r], *q = &b->note[r];
        alike = p->joint == q->joint && (p->loose || p->grid.x == q->grid.x) &&
                p->grid.y == q->grid.y;
    }
    return alike;
}

/* The arguments of launch r of the stores from k on, one behind the other; *at:
 * where they stand. */
static void stage(struct cuda_team *t, int r, unsigned k, unsigned n,
                  size_t *at)
{
    size_t bytes = t->notes[k].note[r].bytes;
    *at = t->used;
    for (unsigned e = k; e < k + n; e++)
        memcpy(t->staged + *at + (e - k) * bytes,
               t->notes[e].arguments + t->notes[e].note[r].at, bytes);
    t->used += (n * bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

/* Of the stores from k on, which are alike. */
static int launch_notes(struct md_store *s, unsigned k, unsigned n)
{
    struct cuda_team *t = s->team;
    const struct team_notes *first = &t->notes[k];
    size_t at[NOTES_MAX], begin = t->used;
    for (int r = 0; r < first->n; r++)
        stage(t, r, k, n, &at[r]);
    if (first->n == 0)
        return 0;
    CUDA_TRY(s->ctx,
             cudaMemcpyAsync((char *)t->table.p + begin, t->staged + begin,
                             t->used - begin, cudaMemcpyHostToDevice,
                             s->device->stream));
    s->device->bytes_to_device += t->used - begin;
    for (int r = 0; r < first->n; r++) {
        const struct team_note *note = &first->note[r];
        dim3 grid = note->grid;
        for (unsigned e = k; e < k + n; e++)
            if (t->notes[e].note[r].grid.x > grid.x)
                grid.x = t->notes[e].note[r].grid.x;
        note->joint((char *)t->table.p + at[r], grid, n, s->device->stream);
        CUDA_TRY_LAUNCH(s->ctx, note->name);
    }
    return 0;
}

int cuda_team_flush(struct md_store *s)
{
    struct cuda_team *t = s->team;
    size_t bytes = 0;
    int alike = 1;
    for (unsigned k = 0; k < t->n_with; k++) {
        alike = alike && are_alike(&t->notes[0], &t->notes[k]);
        bytes += t->notes[k].bytes;
    }
    if (t->used + bytes > t->room)
        TRY(wait(s));
    if (alike)
        TRY(launch_notes(s, 0, t->n_with));
    for (unsigned k = 0; k < t->n_with && !alike; k++)
        TRY(launch_notes(s, k, 1));
    for (unsigned k = 0; k < t->n_with; k++) {
        t->notes[k].n = 0;
        t->notes[k].bytes = 0;
    }
    return 0;
}

/* ---- results ---- */

int cuda_team_ask(struct md_store *s)
{
    struct cuda_team *t = s->team;
    size_t bytes = t->n_with * sizeof *t->results;
    CUDA_TRY(s->ctx,
             cudaMemcpyAsync(t->results, t->result.p, bytes,
                             cudaMemcpyDeviceToHost, s->device->stream));
    s->device->bytes_to_host += bytes;
    return 0;
}

int cuda_team_take(struct md_store *s)
{
    struct cuda_team *t = s->team;
    TRY(wait(s));
    for (unsigned k = 0; k < t->n_with; k++) {
        struct team_notes *notes = &t->notes[k];
        for (int q = 0; q < notes->n_sent && t->with[k]; q++)
            memcpy((char *)t->with[k]->result + notes->sent[q].at,
                   (char *)&t->results[k] + notes->sent[q].at,
                   notes->sent[q].bytes);
        notes->n_sent = 0;
    }
    return 0;
}

int cuda_team_fetch(struct md_store *s)
{
    struct cuda_team *t = s->team;
    if (!t->asked)
        return 0;
    t->asked = 0;
    TRY(cuda_team_take(s));
    for (unsigned k = 0; k < t->n_with; k++)
        if (t->with[k])
            t->with[k]->has_come = 1;
    return 0;
}

int cuda_wait_for_result(struct md_store *s)
{
    if (s->team)
        TRY(cuda_team_fetch(s));
    if (!s->team || !s->has_come)
        CUDA_TRY(s->ctx, cudaStreamSynchronize(s->device->stream));
    s->has_come = 1;
    return 0;
}
