/* team_calls_cuda.cu: which stores of a team run together, and what each call
 * of a step is for all of them.
 *
 * Particles of one replica move half a skin a step or so before those of
 * another. Who has a rebuild, or copies to refresh, ahead of what all have
 * queued does that first, with those that have the same: the rest goes
 * together.
 */
#include "kernels/md/clock_cuda.h"
#include "kernels/md/mesh_cuda.h"
#include "kernels/md/team_parts_cuda.h"

#include <string.h>

/* ---- calls ---- */

/* The unit of charges is chosen where particles have come, by a sum of each
 * store's. */
static int ready_charges(struct md_store *s)
{
    struct cuda_team *t = s->team;
    TRY(cuda_team_flush(s));
    for (unsigned k = 0; k < t->n_with; k++)
        TRY(cuda_choose_unit(s->ctx, t->with[k]));
    return 0;
}

/* Each launches its own: with plans for several at once a transform would not
 * have the bits that it has alone. */
static int transform_each(struct md_store *s, int back)
{
    struct cuda_team *t = s->team;
    TRY(cuda_team_flush(s));
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
    TRY(cuda_team_flush(s));
    for (unsigned k = 0; k < t->n_with; k++)
        TRY(cuda_launch_call(t->with[k], &t->with[k]->queue.calls[q]));
    return 0;
}

static int run_call(struct md_store *s, int q)
{
    struct cuda_team *t = s->team;
    enum step_kind kind = s->queue.calls[q].kind;
    if (kind == STEP_SORT)
        return cuda_team_sort(s);
    if (kind == STEP_CHOOSE)
        return cuda_team_choose(s);
    if (kind == STEP_LIST)
        return cuda_team_lists(s);
    int forces = kind == STEP_FORCE_OWN || kind == STEP_FORCE_HALO;
    if (forces && cuda_clock_looks(s))
        return run_apart(s, q);
    if (kind == STEP_MESH)
        return run_mesh(s, q);
    if (kind == STEP_WAVES)
        TRY(ready_charges(s));
    if (t->notes[0].n > NOTES_MAX / 2)
        TRY(cuda_team_flush(s));
    return note_each(t, [=](struct md_store *one, unsigned) {
        return cuda_launch_call(one, &one->queue.calls[q]);
    });
}

/* The first n calls of those in t->with, who have the same. */
static int run_calls(struct md_store *s, int n)
{
    struct cuda_team *t = s->team;
    cuda_team_begin(t);
    for (int q = 0; q < n; q++)
        TRY(run_call(s, q));
    return cuda_team_flush(s);
}

/* ---- what some have before the others ---- */

static int comes_before(enum step_kind kind)
{
    return kind == STEP_WRAP || kind == STEP_SORT || kind == STEP_CHOOSE ||
           kind == STEP_LIST || kind == STEP_RIGID_HOLD ||
           kind == STEP_MOVE_COPIES;
}

/* How many calls of that kind the queue begins with. */
static int calls_before(const struct md_store *s)
{
    int n = 0;
    while (n < s->queue.n && comes_before(s->queue.calls[n].kind))
        n++;
    return n;
}

static int same_calls(const struct md_store *a, int from_a,
                      const struct md_store *b, int from_b, int n)
{
    int same = 1;
    for (int k = 0; same && k < n; k++)
        same =
            a->queue.calls[from_a + k].kind == b->queue.calls[from_b + k].kind;
    return same;
}

static void drop_calls(struct md_store *s, int n)
{
    struct step_queue *q = &s->queue;
    q->n -= n;
    memmove(q->calls, q->calls + n, (size_t)q->n * sizeof *q->calls);
}

/* Those of t->same, from k on, whose queue begins with the same n calls. */
static void find_with(struct cuda_team *t, unsigned k, int n)
{
    const struct md_store *a = t->same[k];
    t->n_with = 0;
    for (unsigned e = k; e < t->n_same; e++) {
        struct md_store *b = t->same[e];
        if (calls_before(b) == n && same_calls(a, 0, b, 0, n))
            t->with[t->n_with++] = b;
    }
}

/* These calls now. */
static void run_before(struct cuda_team *t, int n)
{
    struct md_store *s = t->with[0];
    int status = 0;
    if (t->n_with > 1)
        status = run_calls(s, n);
    for (int q = 0; q < n && t->n_with == 1 && status == 0; q++)
        status = cuda_launch_call(s, &s->queue.calls[q]);
    for (unsigned k = 0; k < t->n_with; k++) {
        if (t->n_with > 1)
            t->with[k]->joint += (uint64_t)n;
        t->with[k]->failed = status;
        drop_calls(t->with[k], n);
    }
}

/* What not all have before the others. Who fails does not go on with them. */
static void catch_up(struct cuda_team *t)
{
    unsigned left = 0;
    for (unsigned k = 0; k < t->n_same; k++) {
        int n = calls_before(t->same[k]);
        if (n == 0 || t->same[k]->failed != 0)
            continue;
        find_with(t, k, n);
        if (t->n_with == t->n_same)
            return;
        run_before(t, n);
    }
    for (unsigned k = 0; k < t->n_same; k++)
        if (t->same[k]->failed == 0)
            t->same[left++] = t->same[k];
    t->n_same = left;
}

/* ---- running together ---- */

/* Whether two have the same left to do once each has done what comes before. */
static int waits_for_the_same(const struct md_store *a,
                              const struct md_store *b)
{
    int p = calls_before(a), q = calls_before(b);
    if (p == a->queue.n) /* or there is nothing else */
        p = q = 0;
    int n = a->queue.n - p;
    return b->failed == 0 && n == b->queue.n - q &&
           a->view.n_own == b->view.n_own && a->copies_here == b->copies_here &&
           !cuda_has_messages(b) && same_calls(a, p, b, q, n);
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

static int run_joint(struct md_store *s)
{
    struct cuda_team *t = s->team;
    TRY(run_calls(s, s->queue.n));
    t->asked = 0; /* stores may want different sums of the same calls */
    for (unsigned k = 0; k < t->n_with; k++)
        t->asked |= t->notes[k].n_sent > 0;
    return t->asked ? cuda_team_ask(s) : 0;
}

int cuda_team_run(struct md_store *s, unsigned *n)
{
    struct cuda_team *t = s->team;
    *n = 0;
    if (s->queue.n == 0 || !has_joint_kernels(s))
        return 0;
    /* What those of the last time wait for is not there any more afterwards. */
    TRY(cuda_team_fetch(s));
    t->n_same = 0;
    for (int k = 0; k < t->n; k++)
        if (waits_for_the_same(s, t->store[k]))
            t->same[t->n_same++] = t->store[k];
    if (t->n_same > 1)
        catch_up(t);
    TRY(s->failed);
    if (t->n_same < 2)
        return 0;
    t->n_with = t->n_same;
    memcpy(t->with, t->same, t->n_same * sizeof *t->with);
    *n = t->n_with;
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
