/* steps_cuda.cu: the calls of a step as one graph.
 *
 * In small problems a step is over sooner than its launches. Between two
 * redistributions it is always the same few kernels and copies, so these are
 * captured once and then launched together, up to the one number a step that
 * the host needs. Calls are compared by what they get: one that changes is
 * captured again, and the graph is updated rather than made anew where its
 * kernels are the same.
 */
#include "kernels/md/box_cuda.h"
#include "kernels/md/clock_cuda.h"
#include "kernels/md/dynamics_cuda.h"
#include "kernels/md/eam_cuda.h"
#include "kernels/md/mesh_cuda.h"
#include "kernels/md/outer_cuda.h"
#include "kernels/md/team_cuda.h"
#include "kernels/md/terms_cuda.h"

int cuda_launch_call(struct md_store *s, const struct step_call *c)
{
    switch (c->kind) {
    case STEP_UNPACK:
        return cuda_launch_unpack(s, c->buffer);
    case STEP_FORCE_OWN:
        return cuda_launch_force(s, 0, (int)c->kick);
    case STEP_FORCE_HALO:
        return cuda_launch_force(s, 1, (int)c->kick);
    case STEP_KICK:
        return cuda_launch_kick(s, c->kick);
    case STEP_DRIFT:
        return cuda_launch_drift(s, c->kick, c->drift);
    case STEP_DENSITY_OWN:
        return cuda_eam_density(s, (int)c->kick, 0);
    case STEP_DENSITY_HALO:
        return cuda_eam_density(s, (int)c->kick, 1);
    case STEP_UNPACK_EXTRA:
        return cuda_eam_unpack(s, c->buffer);
    case STEP_OUTER:
        return cuda_launch_outer(s, c);
    case STEP_MESH:
        return cuda_launch_mesh(s, (int)c->kick);
    case STEP_WAVES:
        return cuda_launch_waves(s, (int)c->kick);
    case STEP_SLAB:
        return cuda_launch_slab(s, c->kick, c->drift, (int)c->step);
    case STEP_RIGID_HOLD:
        return cuda_launch_rigid_hold(s);
    case STEP_RIGID_PLACE:
        return cuda_launch_rigid_place(s, c->kick, c->drift);
    case STEP_RIGID_STOP:
        return cuda_launch_rigid_stop(s, c->kick > 0);
    case STEP_RIGID_UNSTRETCH:
        return cuda_launch_rigid_unstretch(s, c);
    case STEP_RIGID_INNER:
        return cuda_launch_rigid_inner(s);
    case STEP_RIGID_SUMS:
        return cuda_launch_rigid_sums(s);
    case STEP_SCALE:
        return cuda_launch_scale(s, c->kick);
    case STEP_NOISE:
        return cuda_launch_noise(s, c->kick, c->drift, c->step);
    case STEP_BATHS:
        return cuda_launch_baths(s, c);
    case STEP_BROWNIAN:
        return cuda_launch_brownian(s, c);
    case STEP_DPD_FORCES:
        return cuda_launch_dpd_forces(s, c);
    case STEP_DPD_KICK:
        return cuda_launch_dpd_kick(s, c->kick);
    case STEP_REFLECT:
        return cuda_launch_reflect(s, (const struct md_outer *)c->buffer);
    case STEP_HOLD:
        return cuda_launch_hold(s);
    case STEP_KICK_SCALED:
        return cuda_launch_kick_scaled(s, c);
    case STEP_STRETCH:
        return cuda_launch_stretch(s);
    case STEP_SHEAR:
        return cuda_launch_shear(s);
    case STEP_KINETIC:
        return cuda_ask_kinetic(s);
    case STEP_MOMENTS:
        return cuda_ask_moments(s);
    case STEP_WRAP:
        return cuda_launch_wrap(s);
    case STEP_MOVE_COPIES:
        return cuda_launch_move_copies(s);
    case STEP_COPY_SLOPES:
        return cuda_launch_copy_slopes(s);
    case STEP_COPY_VALUES:
        return cuda_launch_copy_values(s, (int)c->kick);
    case STEP_SORT:
        return cuda_launch_sort(s);
    case STEP_CHOOSE:
        return cuda_launch_choose(s);
    case STEP_LIST:
        return cuda_launch_list(s);
    }
    return 0;
}

static struct step_tally tally_of(const struct md_store *s)
{
    struct step_tally t = s->tally;
    t.to_device = s->device->bytes_to_device;
    t.to_host = s->device->bytes_to_host;
    return t;
}

static void set_tally(struct md_store *s, const struct step_tally *t)
{
    s->tally = *t;
    s->device->bytes_to_device = t->to_device;
    s->device->bytes_to_host = t->to_host;
}

/* a + sign b */
static struct step_tally add_tally(struct step_tally a,
                                   const struct step_tally *b, int sign)
{
    a.to_device += sign > 0 ? b->to_device : 0 - b->to_device;
    a.to_host += sign > 0 ? b->to_host : 0 - b->to_host;
    a.bytes += sign * b->bytes;
    for (int k = 0; k < 2; k++)
        a.forces[k] += sign * b->forces[k];
    return a;
}

/* ---- graphs ---- */

static int same_kinds(const struct step_graph *g, const struct step_queue *q)
{
    int same = g->n == q->n;
    for (int k = 0; same && k < q->n; k++)
        same = g->calls[k].kind == q->calls[k].kind;
    return same;
}

static int same_arguments(const struct step_graph *g,
                          const struct step_queue *q)
{
    int same = g->epoch == q->epoch;
    for (int k = 0; same && k < q->n; k++) {
        const struct step_call *a = &g->calls[k], *b = &q->calls[k];
        same = !(a->kick < b->kick || a->kick > b->kick) &&
               !(a->drift < b->drift || a->drift > b->drift) &&
               a->buffer == b->buffer;
    }
    return same;
}

static struct step_graph *graph_for(struct step_queue *q)
{
    for (int k = 0; k < STEP_GRAPHS; k++)
        if (q->graphs[k].exec && same_kinds(&q->graphs[k], q))
            return &q->graphs[k];
    struct step_graph *g = &q->graphs[q->next];
    q->next = (q->next + 1) % STEP_GRAPHS;
    return g;
}

/* Make g->exec what was captured. */
static int make_executable(struct md_store *s, struct step_graph *g,
                           cudaGraph_t graph)
{
    if (g->exec) {
        cudaGraphExecUpdateResultInfo info;
        if (cudaGraphExecUpdate(g->exec, graph, &info) == cudaSuccess)
            return 0;
        cudaGetLastError(); /* it has other kernels */
        CUDA_TRY(s->ctx, cudaGraphExecDestroy(g->exec));
        g->exec = NULL;
    }
    return cuda_status(s->ctx, cudaGraphInstantiate(&g->exec, graph, 0),
                       "cudaGraphInstantiate");
}

static int capture(struct md_store *s, struct step_graph *g)
{
    struct step_queue *q = &s->queue;
    struct step_tally before = tally_of(s), after;
    cudaGraph_t graph = NULL;
    int status = 0;
    CUDA_TRY(s->ctx, cudaStreamBeginCapture(s->device->stream,
                                            cudaStreamCaptureModeThreadLocal));
    for (int k = 0; status == 0 && k < q->n; k++)
        status = cuda_launch_call(s, &q->calls[k]);
    cudaError_t error = cudaStreamEndCapture(s->device->stream, &graph);
    if (status == 0)
        status = cuda_status(s->ctx, error, "cudaStreamEndCapture");
    if (status == 0)
        status = make_executable(s, g, graph);
    if (graph)
        cudaGraphDestroy(graph);
    after = tally_of(s);
    set_tally(s, &before); /* nothing has run yet */
    g->tally = add_tally(after, &before, -1);
    for (int k = 0; k < q->n; k++)
        g->calls[k] = q->calls[k];
    g->n = status == 0 ? q->n : 0;
    g->epoch = q->epoch;
    return status;
}

static int run_as_graph(struct md_store *s)
{
    struct step_queue *q = &s->queue;
    struct step_graph *g = graph_for(q);
    if (!g->exec || !same_kinds(g, q) || !same_arguments(g, q))
        TRY(capture(s, g));
    CUDA_TRY(s->ctx, cudaGraphLaunch(g->exec, s->device->stream));
    struct step_tally sum = add_tally(tally_of(s), &g->tally, 1);
    set_tally(s, &sum);
    q->launches++;
    return 0;
}

void cuda_drop_graphs(struct md_store *s)
{
    for (int k = 0; k < STEP_GRAPHS; k++) {
        if (s->queue.graphs[k].exec)
            cudaGraphExecDestroy(s->queue.graphs[k].exec);
        s->queue.graphs[k].exec = NULL;
    }
}

/* ---- the queue ---- */

static int run_queue(struct md_store *s)
{
    struct step_queue *q = &s->queue;
    unsigned together = 0;
    if (s->team)
        TRY(cuda_team_run(s, &together));
    if (together > 1)
        return 0;
    if (q->on && q->n > 1 && !s->team && !cuda_clock_looks(s))
        return run_as_graph(s);
    for (int k = 0; k < q->n; k++)
        TRY(cuda_launch_call(s, &q->calls[k]));
    return 0;
}

void cuda_settle(struct md_store *s)
{
    if (s->failed == 0)
        s->failed = run_queue(s);
    s->queue.n = 0;
}

void cuda_do(struct md_store *s, struct step_call call)
{
    struct step_queue *q = &s->queue;
    if (q->n == STEP_CALLS_MAX)
        cuda_settle(s);
    q->calls[q->n++] = call;
    s->calls++;
    int by_phase = s->ctx->device->by_phase;
    if (!q->on || by_phase)
        cuda_settle(s);
    if (by_phase && s->failed == 0)
        s->failed =
            cuda_status(s->ctx, cudaStreamSynchronize(s->device->stream),
                        "cudaStreamSynchronize");
}

void cuda_do_in_team(struct md_store *s, struct step_call call)
{
    if (!s->team)
        cuda_settle(s);
    cuda_do(s, call);
    if (!s->team)
        cuda_settle(s);
}

void cuda_do_now(struct md_store *s, struct step_call call)
{
    cuda_do(s, call);
    cuda_settle(s);
}
