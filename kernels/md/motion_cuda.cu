/* motion_cuda.cu: velocities and positions of own particles. */
#include "kernels/md/store_cuda.h"

#include <math.h>
#include <string.h>

extern "C" {
#include "kernels/rng.h"
}

/* kernels/noise.h for one thread. */
typedef double noise_real;
typedef uint64_t noise_bits;

KERNEL_FN double noise_set(double a)
{
    return a;
}

KERNEL_FN uint64_t noise_set_bits(uint64_t a)
{
    return a;
}

KERNEL_FN uint64_t noise_as_bits(double a)
{
    uint64_t bits;
    memcpy(&bits, &a, sizeof bits);
    return bits;
}

KERNEL_FN double noise_as_real(uint64_t bits)
{
    double a;
    memcpy(&a, &bits, sizeof a);
    return a;
}

KERNEL_FN double noise_sqrt(double a)
{
    return sqrt(a);
}

KERNEL_FN double noise_fma(double a, double b, double c)
{
    return fma(a, b, c);
}

KERNEL_FN uint64_t noise_mul32(uint64_t a, uint32_t b)
{
    return (uint64_t)(uint32_t)a * b;
}

#include "kernels/noise.h"

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

static int launch_kick_drift(struct md_store *s, double dt_kick,
                             double dt_drift, double *greatest)
{
    unsigned blocks = cuda_blocks(s->view.n_own, MD_THREADS);
    TRY(cuda_reserve(s, ARRAY_PARTIAL, (size_t)blocks * MD_REDUCED,
                     sizeof(double), "sums"));
    LAUNCH(kick_and_drift, blocks, MD_THREADS, 0, s->device->stream, s->view,
           dt_kick, dt_drift, ARRAY(s, ARRAY_PARTIAL, double));
    CUDA_TRY_LAUNCH(s->ctx, "kick_and_drift");
    return cuda_reduce(s->ctx, s, 1, blocks, 1, greatest);
}

double cuda_kick_drift(struct md_store *s, double dt_kick, double dt_drift)
{
    double greatest = 0;
    if (s->view.n_own > 0 && s->failed == 0)
        s->failed = launch_kick_drift(s, dt_kick, dt_drift, &greatest);
    return greatest;
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

void cuda_kick(struct md_store *s, double dt_kick)
{
    if (s->view.n_own == 0 || s->failed != 0)
        return;
    LAUNCH(add_kick, cuda_blocks(s->view.n_own, MD_THREADS), MD_THREADS, 0,
           s->device->stream, s->view, dt_kick);
    s->failed = cuda_status(s->ctx, cudaGetLastError(), "add_kick");
}

/* Columns of *partial: kinetic energy, momentum (3), mass. */
static __global__ void sum_moments(struct md_view m, double *partial)
{
    __shared__ double shared[MD_THREADS / 32];
    uint32_t i = thread_index();
    double sum[5] = {0, 0, 0, 0, 0};
    if (i < m.n_own) {
        double mass = m.mass[m.species[i]], v2 = 0;
        for (int d = 0; d < 3; d++) {
            double v = (double)m.v[d * m.stride + i];
            v2 += v * v;
            sum[1 + d] = mass * v;
        }
        sum[0] = 0.5 * mass * v2;
        sum[4] = mass;
    }
    for (int k = 0; k < 5; k++) {
        double total = block_sum(sum[k], shared);
        if (threadIdx.x == 0)
            partial[k * gridDim.x + blockIdx.x] = total;
    }
}

static int launch_moments(struct md_store *s, double out[5])
{
    unsigned blocks = cuda_blocks(s->view.n_own, MD_THREADS);
    TRY(cuda_reserve(s, ARRAY_PARTIAL, (size_t)blocks * MD_REDUCED,
                     sizeof(double), "sums"));
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
    if (s->view.n_own > 0 && s->failed == 0)
        s->failed = launch_moments(s, sum);
    out->kinetic = sum[0];
    for (int d = 0; d < 3; d++)
        out->momentum[d] = sum[1 + d];
    out->mass = sum[4];
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
    if (s->view.n_own == 0 || s->failed != 0)
        return;
    LAUNCH(scale_velocities, cuda_blocks(s->view.n_own, MD_THREADS), MD_THREADS,
           0, s->device->stream, s->view, factor);
    s->failed = cuda_status(s->ctx, cudaGetLastError(), "scale_velocities");
}

static __global__ void ornstein_uhlenbeck(struct md_view m, double decay,
                                          double kt, uint64_t seed,
                                          uint64_t step)
{
    uint32_t i = thread_index();
    if (i >= m.n_own)
        return;
    double spread = sqrt((1 - decay) * (1 + decay) * kt / m.mass[m.species[i]]);
    double noise[3];
    noise_normal3(seed, RNG_LANGEVIN, step, (uint64_t)m.id[i], noise);
    for (int d = 0; d < 3; d++) {
        size_t at = d * m.stride + i;
        m.v[at] = (state)(decay * (double)m.v[at] + spread * noise[d]);
    }
}

void cuda_ornstein_uhlenbeck(struct md_store *s, double decay, double kt,
                             uint64_t step)
{
    if (s->view.n_own == 0 || s->failed != 0)
        return;
    LAUNCH(ornstein_uhlenbeck, cuda_blocks(s->view.n_own, MD_THREADS),
           MD_THREADS, 0, s->device->stream, s->view, decay, kt, s->setup.seed,
           step);
    s->failed = cuda_status(s->ctx, cudaGetLastError(), "ornstein_uhlenbeck");
}
