/* motion_cuda.cu: velocities and positions of own particles. */
#include "kernels/md/box_cuda.h"
#include "kernels/md/fixed_cuda.h"
#include "kernels/md/forms_cuda.h"
#include "kernels/md/terms_cuda.h"

#include <math.h>
#include <string.h>

/* Half kick and drift in one pass; the pair positions follow. Each block leaves
 * the greatest square of the way since the list was built; a way that is not
 * finite counts as infinite. */
static __global__ void __launch_bounds__(MD_THREADS)
    kick_and_drift(struct md_view m, double dt_kick, double dt_drift,
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

int cuda_launch_drift(struct md_store *s, double dt_kick, double dt_drift)
{
    cudaStream_t stream = s->device->stream;
    unsigned blocks = cuda_blocks(s->view.n_own, MD_THREADS);
    LAUNCH(kick_and_drift, blocks, MD_THREADS, 0, stream, s->view, dt_kick,
           dt_drift, ARRAY(s, ARRAY_PARTIAL, double));
    CUDA_TRY_LAUNCH(s->ctx, "kick_and_drift");
    /* x, v and the way read and written, f and species read, pair written. */
    tally_own(s, 12 * sizeof(state) + 3 * sizeof(scalar) + 6 * sizeof(float) +
                     sizeof(int32_t) + sizeof(struct pair_position));
    return cuda_launch_way(s, blocks);
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
    CUDA_TRY(s->ctx, cudaStreamSynchronize(s->device->stream));
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
    cuda_do_now(s, {STEP_DRIFT, dt_kick, dt_drift, NULL});
    return cuda_wait_for_way(s);
}

static __global__ void add_kick(struct md_view m, double dt_kick)
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

int cuda_launch_kick(struct md_store *s, double dt_kick)
{
    LAUNCH(add_kick, cuda_blocks(s->view.n_own, MD_THREADS), MD_THREADS, 0,
           s->device->stream, s->view, dt_kick);
    CUDA_TRY_LAUNCH(s->ctx, "add_kick");
    tally_own(s, 6 * sizeof(state) + 3 * sizeof(scalar) + sizeof(int32_t));
    return 0;
}

void cuda_kick(struct md_store *s, double dt_kick)
{
    if (s->view.n_own > 0)
        cuda_do(s, {STEP_KICK, dt_kick, 0, NULL});
}

/* Kinetic energy, momentum (3) and mass of one particle. */
static __device__ __forceinline__ void moments_of(const struct md_view &m,
                                                  uint32_t i, double value[5])
{
    double mass = m.mass[m.species[i]], v2 = 0;
    if (md_held_of(m.groups, m.n_groups, m.id[i], m.species[i]))
        mass = 0;
    for (int d = 0; d < 3; d++) {
        double v = (double)m.v[d * m.stride + i];
        v2 += v * v;
        value[1 + d] = mass * v;
    }
    value[0] = 0.5 * mass * v2;
    value[4] = mass;
}

static __global__ void sum_moments(struct md_view m, double *partial)
{
    __shared__ double shared[MD_THREADS / 32];
    uint32_t i = thread_index();
    double value[5] = {0, 0, 0, 0, 0};
    if (i < m.n_own)
        moments_of(m, i, value);
    for (int k = 0; k < 5; k++) {
        double total = block_sum(value[k], shared);
        if (threadIdx.x == 0)
            partial[k * gridDim.x + blockIdx.x] = total;
    }
}

/* For sums in any order. */
static __global__ void list_moments(struct md_view m, double *column)
{
    uint32_t i = thread_index();
    if (i >= m.n_own)
        return;
    double value[5];
    moments_of(m, i, value);
    for (int k = 0; k < 5; k++)
        column[k * m.stride + i] = value[k];
}

static int launch_moments(struct md_store *s, double out[5])
{
    unsigned blocks = cuda_blocks(s->view.n_own, MD_THREADS);
    tally_own(s, 3 * sizeof(state) + sizeof(int32_t));
    if (s->setup.deterministic) {
        LAUNCH(list_moments, blocks, MD_THREADS, 0, s->device->stream, s->view,
               ARRAY(s, ARRAY_COLUMNS, double));
        CUDA_TRY_LAUNCH(s->ctx, "list_moments");
        return cuda_sum_columns(s, 5, out);
    }
    TRY(cuda_reserve_sums(s));
    LAUNCH(sum_moments, blocks, MD_THREADS, 0, s->device->stream, s->view,
           ARRAY(s, ARRAY_PARTIAL, double));
    CUDA_TRY_LAUNCH(s->ctx, "sum_moments");
    return cuda_reduce(s->ctx, s, 5, blocks, 0, out);
}

void cuda_sum_moments(const struct md_store *store, struct md_moments *out)
{
    /* Only scratch of the store changes. */
    struct md_store *s = const_cast<struct md_store *>(store);
    double sum[5] = {0, 0, 0, 0, 0};
    cuda_settle(s);
    if (s->view.n_own > 0 && s->failed == 0)
        s->failed = launch_moments(s, sum);
    out->kinetic = sum[0];
    for (int d = 0; d < 3; d++)
        out->momentum[d] = sum[1 + d];
    out->mass = sum[4];
}

/* m v_a v_b of one particle: xx, yy, zz, xy, xz, yz. */
static __device__ __forceinline__ void kinetic_of(const struct md_view &m,
                                                  uint32_t i, double value[6])
{
    double mass = m.mass[m.species[i]];
    double v[3] = {(double)m.v[i], (double)m.v[m.stride + i],
                   (double)m.v[2 * m.stride + i]};
    for (int d = 0; d < 3; d++)
        value[d] = mass * v[d] * v[d];
    value[3] = mass * v[0] * v[1];
    value[4] = mass * v[0] * v[2];
    value[5] = mass * v[1] * v[2];
}

/* To columns, for sums in any order, or each block's sums to `partial`. */
static __global__ void sum_kinetic(struct md_view m, double *column,
                                   double *partial)
{
    __shared__ double shared[MD_THREADS / 32];
    uint32_t i = thread_index();
    double value[6] = {0, 0, 0, 0, 0, 0};
    if (i < m.n_own)
        kinetic_of(m, i, value);
    for (int k = 0; k < 6; k++) {
        if (column) {
            if (i < m.n_own)
                column[k * m.stride + i] = value[k];
            continue;
        }
        double total = block_sum(value[k], shared);
        if (threadIdx.x == 0)
            partial[k * gridDim.x + blockIdx.x] = total;
    }
}

static int sum_kinetic_tensor(struct md_store *s, double out[6])
{
    int columns = s->setup.deterministic;
    unsigned blocks = cuda_blocks(s->view.n_own, MD_THREADS);
    tally_own(s, 3 * sizeof(state) + sizeof(int32_t));
    TRY(cuda_reserve_sums(s));
    LAUNCH(sum_kinetic, blocks, MD_THREADS, 0, s->device->stream, s->view,
           columns ? ARRAY(s, ARRAY_COLUMNS, double) : NULL,
           ARRAY(s, ARRAY_PARTIAL, double));
    CUDA_TRY_LAUNCH(s->ctx, "sum_kinetic");
    return columns ? cuda_sum_columns(s, 6, out)
                   : cuda_reduce(s->ctx, s, 6, blocks, 0, out);
}

void cuda_kinetic_tensor(const struct md_store *store, double out[6])
{
    /* Only scratch of the store changes. */
    struct md_store *s = const_cast<struct md_store *>(store);
    for (int k = 0; k < 6; k++)
        out[k] = 0;
    cuda_settle(s);
    if (s->view.n_own > 0 && s->failed == 0)
        s->failed = sum_kinetic_tensor(s, out);
}

static __global__ void scale_velocities(struct md_view m, double factor)
{
    uint32_t i = thread_index();
    if (i >= m.n_own)
        return;
    for (int d = 0; d < 3; d++) {
        size_t at = d * m.stride + i;
        m.v[at] = (state)((double)m.v[at] * factor);
    }
}

void cuda_scale_velocities(struct md_store *s, double factor)
{
    cuda_settle(s);
    if (s->view.n_own == 0 || s->failed != 0)
        return;
    LAUNCH(scale_velocities, cuda_blocks(s->view.n_own, MD_THREADS), MD_THREADS,
           0, s->device->stream, s->view, factor);
    tally_own(s, 6 * sizeof(state));
    s->failed = cuda_status(s->ctx, cudaGetLastError(), "scale_velocities");
}
