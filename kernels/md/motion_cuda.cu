/* motion_cuda.cu: velocities and positions of own particles. */
#include "kernels/md/box_cuda.h"
#include "kernels/md/fixed_cuda.h"
#include "kernels/md/forms_cuda.h"
#include "kernels/md/team_cuda.h"
#include "kernels/md/terms_cuda.h"

#include <math.h>

/* Half kick and drift in one pass; the pair positions follow. Each block leaves
 * the greatest square of the way since the list was built; a way that is not
 * finite counts as infinite. */
static __device__ __forceinline__ void drift_one(const struct md_view &m,
                                                 double dt_kick,
                                                 double dt_drift,
                                                 double *partial)
{
    __shared__ double shared[MD_THREADS / 32];
    uint32_t i = thread_index();
    double way2 = 0;
    if (i < m.n_own) {
        state factor = (state)(dt_kick * m.inverse_mass[m.species[i]]);
        scalar pair[3];
        float sum = 0;
        for (int d = 0; d < 3; d++) {
            size_t at = d * m.stride + i;
            state v = m.v[at] + factor * (state)m.f[at];
            state dx = (state)dt_drift * v;
            state x = m.x[at] + dx;
            m.v[at] = v;
            m.x[at] = x;
            pair[d] = (scalar)((double)x + m.state_origin[d] - m.origin[d]);
            float way = m.moved[at] + (float)dx;
            m.moved[at] = way;
            sum += way * way;
        }
        struct pair_position p;
        p.x = pair[0];
        p.y = pair[1];
        p.z = pair[2];
        p.species = m.species[i];
        m.pair[i] = p;
        way2 = isfinite(sum) ? (double)sum : HUGE_VAL;
    }
    way2 = block_max(way2, shared);
    if (threadIdx.x == 0)
        partial[blockIdx.x] = way2;
}

static __global__ void __launch_bounds__(MD_THREADS)
    kick_and_drift(struct md_view m, double dt_kick, double dt_drift,
                   double *partial)
{
    drift_one(m, dt_kick, dt_drift, partial);
}

/* Of each store of a team, as all whose names end so. */
static __global__ void __launch_bounds__(MD_THREADS)
    kick_and_drift_joint(const struct team_member *member,
                         const struct team_call *call)
{
    struct md_view m = member[blockIdx.y].view;
    drift_one(m, call[blockIdx.y].kick, call[blockIdx.y].drift,
              member[blockIdx.y].partial);
}

/* The greatest way of each, and what its deterministic sums have noticed. */
static __global__ void way_joint(const struct team_member *member,
                                 uint32_t n_blocks)
{
    __shared__ double shared[32];
    const struct team_member *one = &member[blockIdx.x];
    double way2 = reduce_column(one->partial, n_blocks, 1, shared);
    if (threadIdx.x != 0)
        return;
    one->result->way2 = way2;
    one->result->beyond = one->beyond ? *one->beyond : ~0ull;
}

/* x, v and the way read and written, f and species read, pair written; and the
 * bytes of a particle in the loops below. */
static const size_t DRIFT_BYTES = 12 * sizeof(state) + 3 * sizeof(scalar) +
                                  6 * sizeof(float) + sizeof(int32_t) +
                                  sizeof(struct pair_position);
static const size_t KICK_BYTES =
    6 * sizeof(state) + 3 * sizeof(scalar) + sizeof(int32_t);
static const size_t SCALE_BYTES = 6 * sizeof(state);

int cuda_launch_drift(struct md_store *s, double dt_kick, double dt_drift)
{
    cudaStream_t stream = s->device->stream;
    unsigned blocks = cuda_blocks(s->view.n_own, MD_THREADS);
    LAUNCH(kick_and_drift, blocks, MD_THREADS, 0, stream, s->view, dt_kick,
           dt_drift, ARRAY(s, ARRAY_PARTIAL, double));
    CUDA_TRY_LAUNCH(s->ctx, "kick_and_drift");
    tally_own(s, DRIFT_BYTES);
    return cuda_launch_way(s, blocks);
}

int cuda_team_drift(const struct team_launch *t)
{
    cudaStream_t stream = t->s->device->stream;
    LAUNCH(kick_and_drift_joint, team_grid(t), MD_THREADS, 0, stream, t->member,
           t->call);
    CUDA_TRY_LAUNCH(t->s->ctx, "kick_and_drift_joint");
    LAUNCH(way_joint, t->n, 256u, 0, stream, t->member,
           cuda_blocks(t->s->view.n_own, MD_THREADS));
    CUDA_TRY_LAUNCH(t->s->ctx, "way_joint");
    cuda_team_tally(t, DRIFT_BYTES);
    return 0;
}

int cuda_launch_way(struct md_store *s, unsigned blocks)
{
    cudaStream_t stream = s->device->stream;
    TRY(cuda_launch_reduce(s, 1, blocks, 1));
    CUDA_TRY(s->ctx, cudaMemcpyAsync(&s->result->way2, s->array[ARRAY_RESULT].p,
                                     sizeof s->result->way2,
                                     cudaMemcpyDeviceToHost, stream));
    s->device->bytes_to_host += sizeof s->result->way2;
    if (s->setup.deterministic) {
        CUDA_TRY(s->ctx,
                 cudaMemcpyAsync(&s->result->beyond, s->array[ARRAY_BEYOND].p,
                                 sizeof s->result->beyond,
                                 cudaMemcpyDeviceToHost, stream));
        s->device->bytes_to_host += sizeof s->result->beyond;
    }
    TRY(cuda_forms_send_near(s));
    if (s->terms)
        TRY(cuda_fetch_broken(s));
    return 0;
}

static int wait_for_drift(struct md_store *s)
{
    TRY(cuda_wait_for_result(s));
    TRY(cuda_forms_check(s));
    if (s->terms)
        TRY(cuda_fail_broken(s, s->result->broken));
    return s->setup.deterministic ? cuda_fail_beyond(s, s->result->beyond) : 0;
}

double cuda_wait_for_way(struct md_store *s)
{
    if (s->failed == 0)
        s->failed = wait_for_drift(s);
    return s->failed == 0 ? s->result->way2 : 0;
}

double cuda_kick_drift(struct md_store *s, double dt_kick, double dt_drift)
{
    if (s->view.n_own == 0)
        return 0;
    if (!s->way_asked)
        cuda_do(s, {STEP_DRIFT, dt_kick, dt_drift, NULL});
    s->way_asked = 0;
    cuda_settle(s);
    return cuda_wait_for_way(s);
}

void cuda_kick_drift_ahead(struct md_store *s, double dt_kick, double dt_drift)
{
    if (s->view.n_own == 0)
        return;
    cuda_do(s, {STEP_DRIFT, dt_kick, dt_drift, NULL});
    s->way_asked = 1;
}

static __device__ __forceinline__ void kick_one(const struct md_view &m,
                                                double dt_kick)
{
    uint32_t i = thread_index();
    if (i >= m.n_own)
        return;
    state factor = (state)(dt_kick * m.inverse_mass[m.species[i]]);
    for (int d = 0; d < 3; d++) {
        size_t at = d * m.stride + i;
        m.v[at] += factor * (state)m.f[at];
    }
}

static __global__ void add_kick(struct md_view m, double dt_kick)
{
    kick_one(m, dt_kick);
}

static __global__ void add_kick_joint(const struct team_member *member,
                                      const struct team_call *call)
{
    struct md_view m = member[blockIdx.y].view;
    kick_one(m, call[blockIdx.y].kick);
}

int cuda_team_kick(const struct team_launch *t)
{
    LAUNCH(add_kick_joint, team_grid(t), MD_THREADS, 0, t->s->device->stream,
           t->member, t->call);
    CUDA_TRY_LAUNCH(t->s->ctx, "add_kick_joint");
    cuda_team_tally(t, KICK_BYTES);
    return 0;
}

int cuda_launch_kick(struct md_store *s, double dt_kick)
{
    LAUNCH(add_kick, cuda_blocks(s->view.n_own, MD_THREADS), MD_THREADS, 0,
           s->device->stream, s->view, dt_kick);
    CUDA_TRY_LAUNCH(s->ctx, "add_kick");
    tally_own(s, KICK_BYTES);
    return 0;
}

void cuda_kick(struct md_store *s, double dt_kick)
{
    if (s->view.n_own > 0)
        cuda_do(s, {STEP_KICK, dt_kick, 0, NULL});
}

static __device__ __forceinline__ void scale_one(const struct md_view &m,
                                                 double factor)
{
    uint32_t i = thread_index();
    if (i >= m.n_own)
        return;
    for (int d = 0; d < 3; d++) {
        size_t at = d * m.stride + i;
        m.v[at] = (state)((double)m.v[at] * factor);
    }
}

static __global__ void scale_velocities(struct md_view m, double factor)
{
    scale_one(m, factor);
}

static __global__ void scale_joint(const struct team_member *member,
                                   const struct team_call *call)
{
    struct md_view m = member[blockIdx.y].view;
    scale_one(m, call[blockIdx.y].kick);
}

int cuda_launch_scale(struct md_store *s, double factor)
{
    LAUNCH(scale_velocities, cuda_blocks(s->view.n_own, MD_THREADS), MD_THREADS,
           0, s->device->stream, s->view, factor);
    CUDA_TRY_LAUNCH(s->ctx, "scale_velocities");
    tally_own(s, SCALE_BYTES);
    return 0;
}

int cuda_team_scale(const struct team_launch *t)
{
    LAUNCH(scale_joint, team_grid(t), MD_THREADS, 0, t->s->device->stream,
           t->member, t->call);
    CUDA_TRY_LAUNCH(t->s->ctx, "scale_joint");
    cuda_team_tally(t, SCALE_BYTES);
    return 0;
}

void cuda_scale_velocities(struct md_store *s, double factor)
{
    if (s->view.n_own == 0)
        return;
    /* Another factor each time: a graph would gain nothing. */
    if (!s->team)
        cuda_settle(s);
    cuda_do(s, {STEP_SCALE, factor, 0, NULL});
    if (!s->team)
        cuda_settle(s);
}
