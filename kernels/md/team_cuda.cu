/* team_cuda.cu: see team_cuda.h. */
#include "kernels/md/team_cuda.h"
#include "kernels/md/clock_cuda.h"
#include "kernels/md/mesh_cuda.h"
#include "kernels/primitives.h"

#include <stdlib.h>
#include <string.h>

/* ---- notes ---- */

enum { NOTES_MAX = 32, SENDS_MAX = 24 };
enum { ARGUMENTS_MAX = NOTES_MAX * 1024, ALIGNMENT = 16 };

/* A launch. */
struct team_note {
    const char *name;
    team_launcher joint;
    int loose; /* grids may differ */
    dim3 grid;
    size_t at, bytes; /* of its arguments */
};

/* What one store would do. */
struct team_notes {
    int n, n_sent;
    size_t bytes;
    struct team_note note[NOTES_MAX];
    struct {
        size_t at, bytes;
    } sent[SENDS_MAX];          /* parts of the store's result */
    struct step_result *result; /* the card's */
    alignas(ALIGNMENT) unsigned char arguments[ARGUMENTS_MAX];
};

struct cuda_team {
    int n, capacity;
    struct md_store **store;
    /* Of those that run together, in their order. */
    struct md_store **with;
    unsigned n_with;
    struct team_notes *notes;
    /* On the card, and the same pinned; room for `room` bytes of arguments. */
    struct device_array table, result;
    unsigned char *staged;
    struct step_result *results;
    size_t room, used; /* copies may be under way of what is used */
    struct device_array scratch, workspace; /* for sorting */
    uint32_t *below;                        /* keys of the stores before each */
    int asked; /* results are, for those in `with` */
};

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
    free(t->below);
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
    t->below = (uint32_t *)calloc(count, sizeof *t->below);
    if (!t->store || !t->with || !t->notes || !t->below)
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

/* What each of those that run together does now, which is act(store, k). */
template <class Act> static int note_each(struct cuda_team *t, Act act)
{
    int status = 0;
    for (unsigned k = 0; k < t->n_with && status == 0; k++) {
        struct md_store *one = t->with[k];
        one->notes = &t->notes[k];
        status = act(one, k);
        one->notes = NULL;
    }
    return status;
}

/* ---- launching what is noted ---- */

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

static int flush(struct md_store *s)
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

static int ask_results(struct md_store *s)
{
    struct cuda_team *t = s->team;
    size_t bytes = t->n_with * sizeof *t->results;
    CUDA_TRY(s->ctx,
             cudaMemcpyAsync(t->results, t->result.p, bytes,
                             cudaMemcpyDeviceToHost, s->device->stream));
    s->device->bytes_to_host += bytes;
    return 0;
}

/* What has been asked for, to where each store looks for it. */
static int take_results(struct md_store *s)
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

static int fetch(struct md_store *s)
{
    struct cuda_team *t = s->team;
    if (!t->asked)
        return 0;
    t->asked = 0;
    TRY(take_results(s));
    for (unsigned k = 0; k < t->n_with; k++)
        if (t->with[k])
            t->with[k]->has_come = 1;
    return 0;
}

int cuda_wait_for_result(struct md_store *s)
{
    if (s->team)
        TRY(fetch(s));
    if (!s->team || !s->has_come)
        CUDA_TRY(s->ctx, cudaStreamSynchronize(s->device->stream));
    s->has_come = 1;
    return 0;
}

/* ---- rebuilds ---- */

/* One sort for all: keys of one store come behind those of the stores before.
 */
static int run_sort(struct md_store *s)
{
    struct cuda_team *t = s->team;
    size_t own = s->view.n_own, n = t->n_with * own;
    uint64_t cells = 0;
    TRY(flush(s));
    TRY(cuda_grow(s->ctx, &t->scratch.p, &t->scratch.bytes,
                  4 * n * sizeof(uint32_t), "sorting"));
    TRY(cuda_grow(s->ctx, &t->workspace.p, &t->workspace.bytes,
                  primitives_workspace(n), "sorting"));
    for (unsigned k = 0; k < t->n_with; k++) {
        uint32_t of_one;
        t->below[k] = (uint32_t)cells;
        TRY(cuda_shape_cells(t->with[k], &of_one));
        cells += of_one;
    }
    if (cells >= UINT32_MAX)
        return FAIL(s->ctx, STATUS_UNSUPPORTED,
                    "too many replicas for one card; use more ranks");
    uint32_t *key = (uint32_t *)t->scratch.p;
    auto place_of = [=](unsigned k) {
        struct sorting_place at = {key + k * own, key + n + k * own,
                                   key + 2 * n + k * own, key + 3 * n + k * own,
                                   t->below[k]};
        return at;
    };
    TRY(note_each(t, [&](struct md_store *one, unsigned k) {
        return cuda_launch_keys(one, place_of(k), one->view.n_own);
    }));
    TRY(flush(s));
    CUDA_TRY(s->ctx, primitives_sort_pairs_u32(
                         t->workspace.p, t->workspace.bytes, key, key + n,
                         key + 2 * n, key + 3 * n, n,
                         cuda_sort_bits((uint32_t)cells), s->device->stream));
    return note_each(t, [&](struct md_store *one, unsigned k) {
        return cuda_launch_order(one, place_of(k), one->view.n_own);
    });
}

/* The unit of charges is chosen where particles have come, by a sum of each
 * store's. */
static int ready_charges(struct md_store *s)
{
    struct cuda_team *t = s->team;
    TRY(flush(s));
    for (unsigned k = 0; k < t->n_with; k++)
        TRY(cuda_choose_unit(s->ctx, t->with[k]));
    return 0;
}

/* Each launches its own: with plans for several at once a transform would not
 * have the bits that it has alone. */
static int transform_each(struct md_store *s, int back)
{
    struct cuda_team *t = s->team;
    TRY(flush(s));
    for (unsigned k = 0; k < t->n_with; k++)
        TRY(cuda_mesh_transform(t->with[k], back));
    return 0;
}

/* Between the transforms all goes together. */
static int run_mesh(struct md_store *s, int q)
{
    struct cuda_team *t = s->team;
    TRY(ready_charges(s));
    TRY(note_each(t, [](struct md_store *one, unsigned) {
        return cuda_mesh_charges(one);
    }));
    TRY(transform_each(s, 0));
    TRY(note_each(t, [=](struct md_store *one, unsigned) {
        return cuda_mesh_fields(one, (int)one->queue.calls[q].kick);
    }));
    TRY(transform_each(s, 1));
    return note_each(
        t, [](struct md_store *one, unsigned) { return cuda_mesh_pull(one); });
}

/* Each launches it itself: a clock knows of one store. */
static int run_apart(struct md_store *s, int q)
{
    struct cuda_team *t = s->team;
    TRY(flush(s));
    for (unsigned k = 0; k < t->n_with; k++)
        TRY(cuda_launch_call(t->with[k], &t->with[k]->queue.calls[q]));
    return 0;
}

/* How many copies each has is known after the same wait; then each takes them
 * itself. */
static int run_choose(struct md_store *s)
{
    struct cuda_team *t = s->team;
    TRY(note_each(t, [](struct md_store *one, unsigned) {
        return cuda_count_copies(one);
    }));
    TRY(flush(s));
    TRY(ask_results(s));
    TRY(take_results(s));
    for (unsigned k = 0; k < t->n_with; k++)
        TRY(cuda_take_copies(t->with[k]));
    return 0;
}

/* Lists that had too little room are built once more, one by one. */
static int run_lists(struct md_store *s)
{
    struct cuda_team *t = s->team;
    for (unsigned k = 0; k < t->n_with; k++)
        TRY(cuda_ready_list(t->with[k]));
    TRY(note_each(t, [](struct md_store *one, unsigned) {
        return cuda_launch_neighbors(one);
    }));
    TRY(flush(s));
    TRY(ask_results(s));
    TRY(take_results(s));
    for (unsigned k = 0; k < t->n_with; k++)
        TRY(cuda_list_had_room(t->with[k]) ? cuda_list_is_built(t->with[k])
                                           : cuda_launch_list(t->with[k]));
    return 0;
}

/* ---- running together ---- */

static int waits_for_the_same(const struct md_store *a,
                              const struct md_store *b)
{
    int same = b->failed == 0 && a->queue.n == b->queue.n &&
               a->view.n_own == b->view.n_own &&
               a->copies_here == b->copies_here && !cuda_has_messages(b);
    for (int k = 0; same && k < a->queue.n; k++)
        same = a->queue.calls[k].kind == b->queue.calls[k].kind;
    return same;
}

static int has_joint_kernels(const struct md_store *s)
{
    int all = !cuda_has_messages(s) && s->view.n_own > 0;
    for (int k = 0; all && k < s->queue.n; k++) {
        enum step_kind kind = s->queue.calls[k].kind;
        all = kind != STEP_UNPACK && kind != STEP_UNPACK_EXTRA;
    }
    return all;
}

static int run_call(struct md_store *s, int q)
{
    struct cuda_team *t = s->team;
    enum step_kind kind = s->queue.calls[q].kind;
    if (kind == STEP_SORT)
        return run_sort(s);
    if (kind == STEP_CHOOSE)
        return run_choose(s);
    if (kind == STEP_LIST)
        return run_lists(s);
    int forces = kind == STEP_FORCE_OWN || kind == STEP_FORCE_HALO;
    if (forces && cuda_clock_looks(s))
        return run_apart(s, q);
    if (kind == STEP_MESH)
        return run_mesh(s, q);
    if (kind == STEP_WAVES)
        TRY(ready_charges(s));
    if (t->notes[0].n > NOTES_MAX / 2)
        TRY(flush(s));
    return note_each(t, [=](struct md_store *one, unsigned) {
        return cuda_launch_call(one, &one->queue.calls[q]);
    });
}

static int run_joint(struct md_store *s)
{
    struct cuda_team *t = s->team;
    for (unsigned k = 0; k < t->n_with; k++) {
        struct team_notes *notes = &t->notes[k];
        notes->n = notes->n_sent = 0;
        notes->bytes = 0;
        notes->result = (struct step_result *)t->result.p + k;
    }
    for (int q = 0; q < s->queue.n; q++)
        TRY(run_call(s, q));
    TRY(flush(s));
    t->asked = 0; /* stores may want different sums of the same calls */
    for (unsigned k = 0; k < t->n_with; k++)
        t->asked |= t->notes[k].n_sent > 0;
    return t->asked ? ask_results(s) : 0;
}

int cuda_team_run(struct md_store *s, unsigned *n)
{
    struct cuda_team *t = s->team;
    *n = 0;
    if (s->queue.n == 0 || !has_joint_kernels(s))
        return 0;
    /* What those of the last time wait for is not there any more afterwards. */
    TRY(fetch(s));
    t->n_with = 0;
    for (int k = 0; k < t->n; k++)
        if (waits_for_the_same(s, t->store[k]))
            t->with[t->n_with++] = t->store[k];
    *n = t->n_with;
    if (*n < 2)
        return 0;
    int status = run_joint(s);
    for (unsigned k = 0; k < t->n_with; k++) {
        if (t->asked)
            t->with[k]->has_come = 0;
        t->with[k]->joint += (uint64_t)t->with[k]->queue.n;
        t->with[k]->queue.n = 0;
        t->with[k]->failed = status;
    }
    return status;
}
