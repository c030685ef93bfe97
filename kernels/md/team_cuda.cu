/* team_cuda.cu: see team_cuda.h. */
#include "kernels/md/charged_cuda.h"
#include "kernels/md/dynamics_cuda.h"
#include "kernels/md/eam_cuda.h"
#include "kernels/md/forms_cuda.h"
#include "kernels/md/team_cuda.h"
#include "kernels/primitives.h"

#include <stdlib.h>
#include <string.h>

struct cuda_team {
    int n, capacity;
    struct md_store **store;
    /* Of those that run together, in their order. */
    struct device_array member, call, result; /* on the card */
    struct device_array scratch, workspace;
    struct team_member *sent;    /* what it has of them now */
    struct team_call *calls;     /* pinned */
    struct team_result *results; /* pinned */
    struct md_store **with;
    unsigned n_with;
    int in_flight; /* of pinned memory, copies may be under way */
    int asked;     /* results are, for those in `with` */
};

/* ---- members ---- */

/* Whether all that its step does has a joint kernel. */
static int is_plain(const struct md_store *s)
{
    return !s->wide_sums && !s->eam && !s->forms && !s->terms && !s->clock &&
           !s->setup.charged && !cuda_has_charged_pairs(s);
}

static void destroy(struct cuda_team *t)
{
    cuda_free(t->member.p);
    cuda_free(t->call.p);
    cuda_free(t->result.p);
    cuda_free(t->scratch.p);
    cuda_free(t->workspace.p);
    if (t->calls)
        cudaFreeHost(t->calls);
    if (t->results)
        cudaFreeHost(t->results);
    free(t->sent);
    free(t->store);
    free(t->with);
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
    t->store = (struct md_store **)calloc(count, sizeof *t->store);
    t->with = (struct md_store **)calloc(count, sizeof *t->with);
    t->sent = (struct team_member *)calloc(count, sizeof *t->sent);
    if (!t->store || !t->with || !t->sent)
        return FAIL(s->ctx, STATUS_MEMORY, "no memory for a team of stores");
    CUDA_TRY(s->ctx, cudaMallocHost(&t->calls,
                                    count * STEP_CALLS_MAX * sizeof *t->calls));
    CUDA_TRY(s->ctx, cudaMallocHost(&t->results, count * sizeof *t->results));
    TRY(cuda_grow(s->ctx, &t->member.p, &t->member.bytes,
                  count * sizeof *t->sent, "a team"));
    TRY(cuda_grow(s->ctx, &t->call.p, &t->call.bytes,
                  count * STEP_CALLS_MAX * sizeof *t->calls, "a team"));
    return cuda_grow(s->ctx, &t->result.p, &t->result.bytes,
                     count * sizeof *t->results, "a team");
}

int cuda_team_join(struct md_store *s)
{
    struct cuda_team *t = (struct cuda_team *)s->device->md_team;
    int n = s->ctx->device->team;
    if (n < 2 || !is_plain(s))
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

/* ---- what the card has of them ---- */

static int wait(struct md_store *s)
{
    CUDA_TRY(s->ctx, cudaStreamSynchronize(s->device->stream));
    s->team->in_flight = 0;
    return 0;
}

static void fill_member(struct md_store *s, unsigned k, struct team_member *m)
{
    memset(m, 0, sizeof *m); /* no padding may differ */
    m->view = s->view;
    m->neighbor = (uint32_t *)s->own.neighbor.p;
    m->count = (uint32_t *)s->own.count.p;
    m->rows = s->own.rows;
    m->cells = s->cells;
    m->start = ARRAY(s, ARRAY_START_OWN, uint32_t);
    m->listed = ARRAY(s, ARRAY_LISTED, state);
    m->partial = ARRAY(s, ARRAY_PARTIAL, double);
    m->result = (struct team_result *)s->team->result.p + k;
    m->fixed = ARRAY(s, ARRAY_FIXED, fixed_sum);
    m->column = ARRAY(s, ARRAY_COLUMNS, double);
    m->beyond = s->setup.deterministic
                    ? ARRAY(s, ARRAY_BEYOND, unsigned long long)
                    : NULL;
    m->work = s->dynamics ? (double *)s->dynamics->work.p : NULL;
    m->seed = s->setup.seed;
}

/* It changes with the lists. */
static int send_members(struct md_store *s)
{
    struct cuda_team *t = s->team;
    int changed = 0;
    for (unsigned k = 0; k < t->n_with; k++) {
        struct team_member now;
        fill_member(t->with[k], k, &now);
        if (memcmp(&t->sent[k], &now, sizeof now) == 0)
            continue;
        memcpy(&t->sent[k], &now, sizeof now);
        changed = 1;
    }
    return changed ? cuda_to_device(s->ctx, s->device, t->member.p, t->sent,
                                    t->n_with * sizeof *t->sent)
                   : 0;
}

static int send_calls(struct md_store *s)
{
    struct cuda_team *t = s->team;
    int n = s->queue.n;
    size_t bytes = (size_t)n * t->n_with * sizeof *t->calls;
    if (t->in_flight)
        TRY(wait(s));
    for (int q = 0; q < n; q++)
        for (unsigned k = 0; k < t->n_with; k++) {
            const struct step_call *from = &t->with[k]->queue.calls[q];
            struct team_call *to = &t->calls[(unsigned)q * t->n_with + k];
            to->kick = from->kick;
            to->drift = from->drift;
            to->step = from->step;
        }
    CUDA_TRY(s->ctx,
             cudaMemcpyAsync(t->call.p, t->calls, bytes, cudaMemcpyHostToDevice,
                             s->device->stream));
    s->device->bytes_to_device += bytes;
    t->in_flight = 1;
    return 0;
}

static int get_results(struct md_store *s)
{
    struct cuda_team *t = s->team;
    size_t bytes = t->n_with * sizeof *t->results;
    CUDA_TRY(s->ctx,
             cudaMemcpyAsync(t->results, t->result.p, bytes,
                             cudaMemcpyDeviceToHost, s->device->stream));
    s->device->bytes_to_host += bytes;
    t->asked = 1;
    return 0;
}

/* What has been asked of the team, to where each store looks for it. */
static int fetch(struct md_store *s)
{
    struct cuda_team *t = s->team;
    if (!t->asked)
        return 0;
    TRY(wait(s));
    t->asked = 0;
    for (unsigned k = 0; k < t->n_with; k++) {
        struct md_store *one = t->with[k];
        if (!one)
            continue;
        one->result->way2 = t->results[k].way2;
        one->result->beyond = t->results[k].beyond;
        memcpy(one->result->moments, t->results[k].moments,
               sizeof one->result->moments);
        one->has_come = 1;
    }
    return 0;
}

int cuda_wait_for_result(struct md_store *s)
{
    if (s->team)
        TRY(fetch(s));
    if (!s->has_come)
        CUDA_TRY(s->ctx, cudaStreamSynchronize(s->device->stream));
    s->has_come = 0;
    return 0;
}

/* ---- running together ---- */

static int waits_for_the_same(const struct md_store *a,
                              const struct md_store *b)
{
    int same = b->failed == 0 && a->queue.n == b->queue.n &&
               a->view.n_own == b->view.n_own && b->view.n_halo == 0 &&
               memcmp(a->setup.box_length, b->setup.box_length,
                      sizeof a->setup.box_length) == 0;
    for (int k = 0; same && k < a->queue.n; k++)
        same = a->queue.calls[k].kind == b->queue.calls[k].kind;
    return same;
}

static int has_joint_kernels(const struct md_store *s)
{
    int all = s->view.n_halo == 0 && s->view.n_own > 0;
    for (int k = 0; all && k < s->queue.n; k++) {
        enum step_kind kind = s->queue.calls[k].kind;
        all = kind == STEP_FORCE_OWN || kind == STEP_KICK ||
              kind == STEP_DRIFT || kind >= STEP_SCALE;
    }
    return all;
}

void cuda_team_tally(const struct team_launch *t, size_t bytes)
{
    for (unsigned k = 0; k < t->n; k++)
        tally_own(t->s->team->with[k], bytes);
}

static int has_sort(const struct md_store *s)
{
    int has = 0;
    for (int k = 0; k < s->queue.n; k++)
        has |= s->queue.calls[k].kind == STEP_SORT;
    return has;
}

/* What is known of all lists and cells before the kernels run. */
static int prepare_sort(struct md_store *s)
{
    struct cuda_team *t = s->team;
    size_t n = (size_t)t->n_with * s->view.n_own;
    size_t bytes = 4 * sizeof(uint32_t) + 6 * sizeof(state) + sizeof(int64_t) +
                   4 * sizeof(int32_t);
    for (unsigned k = 0; k < t->n_with; k++)
        TRY(cuda_shape_cells(t->with[k]));
    TRY(cuda_grow(s->ctx, &t->scratch.p, &t->scratch.bytes, n * bytes,
                  "a team's particles"));
    return cuda_grow(s->ctx, &t->workspace.p, &t->workspace.bytes,
                     primitives_workspace(n), "sorting");
}

/* Columns of 8 bytes come first, so that all are aligned. */
static struct team_scratch scratch_of(const struct md_store *s)
{
    const struct cuda_team *t = s->team;
    size_t n = (size_t)t->n_with * s->view.n_own;
    struct team_scratch to;
    to.id = (int64_t *)t->scratch.p;
    to.x = (state *)(to.id + n);
    to.v = to.x + 3 * n;
    to.image = (int32_t *)(to.v + 3 * n);
    to.species = to.image + 3 * n;
    to.key = (uint32_t *)(to.species + n);
    to.key_out = to.key + n;
    to.order = to.key_out + n;
    to.order_out = to.order + n;
    to.workspace = t->workspace.p;
    to.workspace_bytes = t->workspace.bytes;
    return to;
}

/* Lists that had too little room are built once more, one by one. */
static int launch_list(const struct team_launch *l)
{
    struct md_store *s = l->s;
    struct cuda_team *t = s->team;
    size_t bytes = t->n_with * sizeof *t->results;
    CUDA_TRY(s->ctx, cudaMemsetAsync(t->result.p, 0, bytes, s->device->stream));
    TRY(cuda_team_list(l));
    CUDA_TRY(s->ctx,
             cudaMemcpyAsync(t->results, t->result.p, bytes,
                             cudaMemcpyDeviceToHost, s->device->stream));
    s->device->bytes_to_host += bytes;
    TRY(wait(s));
    for (unsigned k = 0; k < t->n_with; k++)
        TRY(t->results[k].needed > t->with[k]->own.rows
                ? cuda_launch_list(t->with[k])
                : cuda_list_is_built(t->with[k]));
    return send_members(s);
}

static int launch(const struct team_launch *t, enum step_kind kind)
{
    switch (kind) {
    case STEP_FORCE_OWN:
        for (unsigned k = 0; k < t->n; k++)
            t->s->team->with[k]->tally.forces[0]++;
        return t->s->setup.deterministic ? cuda_team_fixed(t)
                                         : cuda_team_force(t);
    case STEP_KICK:
        return cuda_team_kick(t);
    case STEP_DRIFT:
        return cuda_team_drift(t);
    case STEP_SCALE:
        return cuda_team_scale(t);
    case STEP_NOISE:
        return cuda_team_noise(t);
    case STEP_MOMENTS:
        return cuda_team_moments(t);
    case STEP_WRAP:
        return cuda_team_wrap(t);
    case STEP_SORT:
        return cuda_team_sort(t);
    case STEP_LIST:
        return launch_list(t);
    default:
        return FAIL(t->s->ctx, STATUS_INTERNAL, "a call has no joint kernel");
    }
}

static int run_joint(struct md_store *s)
{
    struct cuda_team *t = s->team;
    int asks = 0;
    if (has_sort(s))
        TRY(prepare_sort(s));
    TRY(send_members(s));
    TRY(send_calls(s));
    for (int q = 0; q < s->queue.n; q++) {
        enum step_kind kind = s->queue.calls[q].kind;
        struct team_launch what;
        memset(&what, 0, sizeof what);
        what.s = s;
        what.n = t->n_with;
        what.member = (const struct team_member *)t->member.p;
        what.call = (const struct team_call *)t->call.p + (size_t)q * t->n_with;
        if (kind == STEP_SORT)
            what.scratch = scratch_of(s);
        TRY(launch(&what, kind));
        asks |= kind == STEP_DRIFT || kind == STEP_MOMENTS;
    }
    return asks ? get_results(s) : 0;
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
        t->with[k]->joint += (uint64_t)t->with[k]->queue.n;
        t->with[k]->queue.n = 0;
        t->with[k]->failed = status;
    }
    return status;
}
