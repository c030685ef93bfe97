/* waves_cuda.cu: structure factors of charges, wave by wave, and moments. */
#include "kernels/md/fixed_cuda.h"
#include "kernels/md/mesh_cuda.h"
#include "kernels/md/team_cuda.h"

#include <math.h>
#include <string.h>

#define CELL_FN static __host__ __device__ inline
#define INFLUENCE_FN static __host__ __device__ inline
#include "kernels/md/influence.h"

static const double TWO_PI = 6.283185307179586476925;

/* The box of the waves. */
struct wave_box {
    double origin[3], per_length[3], tilt[3];
};

struct wave_number {
    int n[3];
};

/* Where particle i is, as parts of the edges: cell_parts() of cell.h. */
static __device__ __forceinline__ void parts_of(const struct md_view &m,
                                                const struct wave_box &box,
                                                uint32_t i, double s[3])
{
    double x[3];
    for (int d = 0; d < 3; d++)
        x[d] = (double)m.x[d * m.stride + i] - box.origin[d];
    s[2] = x[2] * box.per_length[2];
    s[1] = (x[1] - box.tilt[2] * s[2]) * box.per_length[1];
    s[0] = (x[0] - box.tilt[0] * s[1] - box.tilt[1] * s[2]) * box.per_length[0];
}

/* exp(i k x) at such a place. */
static __device__ __forceinline__ void
wave_at(const double s[3], const struct wave_number *w, double *re, double *im)
{
    double turns = 0;
    for (int d = 0; d < 3; d++)
        turns += w->n[d] * s[d];
    sincospi(2 * (turns - rint(turns)), im, re);
}

/* A block for a wave. As on a mesh, charges are whole numbers of a unit: no sum
 * depends on the order of particles. */
static __device__ __forceinline__ void
sum_waves(const struct md_view &m, const struct wave_box &box,
          const struct wave_number *waves, uint32_t count, double per_unit,
          double *sums)
{
    __shared__ unsigned long long shared[MD_THREADS / 32];
    unsigned long long sum[2] = {0, 0}; /* signed, modulo 2^64 */
    double units = 1 / per_unit;
    if (blockIdx.x >= count) /* of a team, another store has more */
        return;
    for (uint32_t i = threadIdx.x; i < m.n_own; i += blockDim.x) {
        double q = (double)m.charge[i], s[3], re, im;
        parts_of(m, box, i, s);
        wave_at(s, waves + blockIdx.x, &re, &im);
        sum[0] += (unsigned long long)__double2ll_rn(q * re * units);
        sum[1] += (unsigned long long)__double2ll_rn(q * im * units);
    }
    for (int k = 0; k < 2; k++) {
        unsigned long long total = block_sum(sum[k], shared);
        if (threadIdx.x == 0)
            sums[2 * (size_t)blockIdx.x + k] =
                (double)(long long)total * per_unit;
    }
}

/* What the influence of a wave depends on. */
struct wave_scale {
    double length[3], tilt[3], alpha2, scale;
};

/* A wave number; returns its square. */
static __device__ __forceinline__ double
find_wave(const struct wave_scale &w, const struct wave_number &n, double k[3])
{
    double phase[3];
    for (int d = 0; d < 3; d++)
        phase[d] = TWO_PI * n.n[d];
    cell_wave(w.length, w.tilt, phase, k);
    return k[0] * k[0] + k[1] * k[1] + k[2] * k[2];
}

/* Sums to what makes forces of them. */
static __device__ __forceinline__ void
scale_waves(const struct wave_scale &w, const struct wave_number *waves,
            double *sums, uint32_t count)
{
    uint32_t i = thread_index();
    if (i >= count)
        return;
    double k[3], k2 = find_wave(w, waves[i], k);
    double factor = 2 * md_wave_influence(k2, w.alpha2, w.scale);
    sums[2 * i] *= factor;
    sums[2 * i + 1] *= factor;
}

/* Energy and virial of all waves, by one block whose threads take them in turn.
 */
static __device__ __forceinline__ void
sum_energies(const struct wave_scale &w, const struct wave_number *waves,
             const double *sums, uint32_t count, double *out)
{
    __shared__ double shared[32];
    double sum[MODE_SUMS] = {0};
    for (uint32_t i = threadIdx.x; i < count; i += blockDim.x) {
        double k[3], tensor[6], k2 = find_wave(w, waves[i], k);
        double square =
            sums[2 * i] * sums[2 * i] + sums[2 * i + 1] * sums[2 * i + 1];
        double energy = md_wave_influence(k2, w.alpha2, w.scale) * square;
        sum[0] += energy;
        sum[1] += md_wave_virial(energy, k, k2, w.alpha2, tensor);
        for (int t = 0; t < 6; t++)
            sum[2 + t] += tensor[t];
    }
    for (int q = 0; q < MODE_SUMS; q++) {
        double total = block_sum(sum[q], shared);
        if (threadIdx.x == 0)
            out[q] = total;
    }
}

static __device__ __forceinline__ void
take_waves(const struct md_view &m, const struct wave_box &box,
           const struct wave_number *waves, uint32_t count, const double *field)
{
    uint32_t i = thread_index();
    if (i >= m.n_own)
        return;
    double sum[3] = {0, 0, 0}, s[3], k_sum[3], re, im;
    parts_of(m, box, i, s);
    for (uint32_t k = 0; k < count; k++) {
        wave_at(s, waves + k, &re, &im);
        double g = im * field[2 * k] - re * field[2 * k + 1];
        for (int d = 0; d < 3; d++)
            sum[d] += g * waves[k].n[d];
    }
    for (int d = 0; d < 3; d++)
        sum[d] *= (double)m.charge[i] * TWO_PI;
    /* cell_wave() of cell.h */
    k_sum[0] = sum[0] * box.per_length[0];
    k_sum[1] = (sum[1] - box.tilt[0] * k_sum[0]) * box.per_length[1];
    k_sum[2] = (sum[2] - box.tilt[1] * k_sum[0] - box.tilt[2] * k_sum[1]) *
               box.per_length[2];
    for (int d = 0; d < 3; d++)
        m.f[d * m.stride + i] += (scalar)k_sum[d];
}

/* Moments of a charge to columns, for sums in any order, or each block's sums
 * to `partial`. */
static __device__ __forceinline__ void
sum_charges(const struct md_view &m, double *column, double *partial)
{
    __shared__ double shared[MD_THREADS / 32];
    uint32_t i = thread_index();
    double value[CHARGE_MOMENTS] = {0};
    if (i < m.n_own) {
        double q = (double)m.charge[i];
        value[0] = q;
        value[1] = q * q;
        for (int d = 0; d < 3; d++) {
            double x = (double)m.x[d * m.stride + i] + m.state_origin[d];
            value[2 + d] = q * x;
            value[5 + d] = q * x * x;
        }
    }
    for (int k = 0; k < CHARGE_MOMENTS; k++) {
        if (column) {
            if (i < m.n_own)
                column[k * m.stride + i] = value[k];
            continue;
        }
        double total = block_sum(value[k], shared);
        if (threadIdx.x == 0)
            partial[(size_t)k * gridDim.x + blockIdx.x] = total;
    }
}

#define push MD_NAME(push)
struct push {
    double even[3], slope[3];
};

static __device__ __forceinline__ void push_one(const struct md_view &m,
                                                const struct push &p)
{
    uint32_t i = thread_index();
    if (i >= m.n_own)
        return;
    for (int d = 0; d < 3; d++) {
        double x = (double)m.x[d * m.stride + i] + m.state_origin[d];
        m.f[d * m.stride + i] +=
            (scalar)((double)m.charge[i] * (p.even[d] + p.slope[d] * x));
    }
}

static __global__ void push_charges(struct md_view m, struct push p)
{
    push_one(m, p);
}

/* That of a slab, from the moments. */
static __device__ __forceinline__ void find_push(const double *moments,
                                                 double per_dipole,
                                                 double slope, struct push *p)
{
    if (thread_index() > 0)
        return;
    for (int d = 0; d < 3; d++)
        p->even[d] = p->slope[d] = 0;
    p->even[2] = -per_dipole * moments[4];
    p->slope[2] = slope;
}

static __device__ __forceinline__ void push_by(const struct md_view &m,
                                               const struct push *p)
{
    push_one(m, *p);
}

/* ---- the host's side ---- */

static struct wave_box box_of(const struct md_store *s,
                              const struct md_waves *w)
{
    struct wave_box box;
    for (int d = 0; d < 3; d++) {
        box.origin[d] = w->box_lo[d] - s->view.state_origin[d];
        box.per_length[d] = 1 / w->box_length[d];
        box.tilt[d] = w->tilt[d];
    }
    return box;
}

/* Waves and room for two factors each, on the card. */
static int send_waves(struct ctx *ctx, struct md_store *s,
                      const struct md_waves *w)
{
    cuda_settle(s);
    if (s->failed != 0)
        return s->failed;
    struct cuda_mesh *mesh = cuda_mesh_of(ctx, s);
    if (!mesh)
        return STATUS_MEMORY;
    TRY(cuda_mesh_grow(ctx, &mesh->factors, 2 * w->count));
    TRY(cuda_grow(ctx, &mesh->waves.p, &mesh->waves.bytes,
                  (w->count + 1) * sizeof(struct wave_number), "waves"));
    return cuda_to_device(ctx, s->device, mesh->waves.p, w->n,
                          w->count * sizeof(struct wave_number));
}

static int launch_sums(struct ctx *ctx, struct md_store *s,
                       const struct md_waves *w)
{
    TRY(cuda_choose_unit(ctx, s));
    return cuda_run(s, "sum_waves", kernel_of<sum_waves, JOINS_LOOSELY>(),
                    dim3((unsigned)w->count), s->view, box_of(s, w),
                    (const struct wave_number *)s->mesh->waves.p,
                    (uint32_t)w->count, s->mesh->per_unit,
                    (double *)s->mesh->factors.p);
}

static int launch_forces(struct md_store *s, const struct md_waves *w)
{
    return cuda_run(s, "take_waves", kernel_of<take_waves, 1>(),
                    cuda_own_blocks(s), s->view, box_of(s, w),
                    (const struct wave_number *)s->mesh->waves.p,
                    (uint32_t)w->count, (const double *)s->mesh->factors.p);
}

int cuda_wave_sums(struct ctx *ctx, struct md_store *s,
                   const struct md_waves *w, double (*sums)[2])
{
    TRY(send_waves(ctx, s, w));
    if (w->count == 0)
        return 0;
    TRY(launch_sums(ctx, s, w));
    return cuda_to_host(ctx, s->device, sums, s->mesh->factors.p,
                        w->count * sizeof *sums);
}

int cuda_wave_forces(struct ctx *ctx, struct md_store *s,
                     const struct md_waves *w, const double (*field)[2])
{
    cuda_settle(s);
    if (s->failed != 0 || s->view.n_own == 0 || w->count == 0)
        return s->failed;
    TRY(cuda_to_device(ctx, s->device, s->mesh->factors.p, field,
                       w->count * sizeof *field));
    return launch_forces(s, w);
}

static struct wave_scale scale_of(const struct md_waves *w)
{
    struct wave_scale s;
    memcpy(s.length, w->box_length, sizeof s.length);
    memcpy(s.tilt, w->tilt, sizeof s.tilt);
    s.alpha2 = w->alpha * w->alpha;
    s.scale = w->scale;
    return s;
}

static int launch_energies(struct md_store *s, const struct md_waves *w)
{
    double *to = ARRAY(s, ARRAY_RESULT, double);
    TRY(cuda_run(s, "sum_energies", kernel_of<sum_energies, 1, 0, 256>(),
                 dim3(1), scale_of(w),
                 (const struct wave_number *)s->mesh->waves.p,
                 (const double *)s->mesh->factors.p, (uint32_t)w->count, to));
    return cuda_send(s, s->result->mesh, to, sizeof s->result->mesh);
}

int cuda_launch_waves(struct md_store *s, int want)
{
    const struct md_waves *w = &s->mesh->waves_now;
    TRY(launch_sums(s->ctx, s, w));
    if (want != WANT_NONE)
        TRY(launch_energies(s, w));
    TRY(cuda_run(s, "scale_waves", kernel_of<scale_waves, JOINS_LOOSELY>(),
                 dim3(cuda_blocks(w->count, MD_THREADS)), scale_of(w),
                 (const struct wave_number *)s->mesh->waves.p,
                 (double *)s->mesh->factors.p, (uint32_t)w->count));
    return launch_forces(s, w);
}

int cuda_wave_field(struct ctx *ctx, struct md_store *s,
                    const struct md_waves *w, int fresh, struct md_sums *sums)
{
    if (s->view.n_own == 0 || w->count == 0)
        return 0;
    if (fresh)
        TRY(send_waves(ctx, s, w));
    TRY(cuda_reserve_sums(s));
    s->mesh->waves_now = *w;
    return cuda_mesh_do(s, STEP_WAVES, sums);
}

static int run_moments(struct md_store *s)
{
    return cuda_run(s, "sum_charges", kernel_of<sum_charges, 1>(),
                    cuda_own_blocks(s), s->view,
                    s->setup.deterministic ? ARRAY(s, ARRAY_COLUMNS, double)
                                           : NULL,
                    ARRAY(s, ARRAY_PARTIAL, double));
}

static int charge_moments(struct md_store *s, double out[CHARGE_MOMENTS])
{
    TRY(cuda_reserve_sums(s));
    TRY(run_moments(s));
    return cuda_own_sums(s, CHARGE_MOMENTS, out);
}

int cuda_launch_slab(struct md_store *s, double per_dipole, double slope,
                     int keep)
{
    const double *moments = ARRAY(s, ARRAY_RESULT, double);
    struct push *p =
        (struct push *)(void *)(ARRAY(s, ARRAY_RESULT, double) + MD_REDUCED);
    TRY(cuda_reserve_sums(s));
    TRY(run_moments(s));
    TRY(cuda_launch_own_sums(s, CHARGE_MOMENTS));
    if (keep)
        TRY(cuda_send(s, s->result->charges, moments,
                      sizeof s->result->charges));
    TRY(cuda_run(s, "find_push", kernel_of<find_push, 1, 0, 32>(), dim3(1),
                 moments, per_dipole, slope, p));
    return cuda_run(s, "push_by", kernel_of<push_by, 1>(), cuda_own_blocks(s),
                    s->view, (const struct push *)p);
}

void cuda_push_slab(struct md_store *s, double per_dipole, double slope,
                    int keep)
{
    if (s->view.n_own == 0)
        return;
    s->charges_asked = keep;
    cuda_do_in_team(
        s, {STEP_SLAB, per_dipole, slope, NULL, (uint64_t)(keep != 0)});
}

static int find_moments(struct md_store *s, double out[CHARGE_MOMENTS])
{
    if (!s->charges_asked)
        return charge_moments(s, out);
    s->charges_asked = 0;
    TRY(cuda_wait_for_result(s));
    memcpy(out, s->result->charges, sizeof s->result->charges);
    return 0;
}

void cuda_charge_moments(const struct md_store *store,
                         struct md_charge_moments *out)
{
    /* Only scratch of the store changes. */
    struct md_store *s = const_cast<struct md_store *>(store);
    double sum[CHARGE_MOMENTS] = {0};
    cuda_settle(s);
    if (s->view.n_own > 0 && s->failed == 0)
        s->failed = find_moments(s, sum);
    out->charge = sum[0];
    out->squares = sum[1];
    for (int d = 0; d < 3; d++) {
        out->dipole[d] = sum[2 + d];
        out->second[d] = sum[5 + d];
    }
}

void cuda_push_charges(struct md_store *s, const double even[3],
                       const double slope[3])
{
    struct push p;
    memcpy(p.even, even, sizeof p.even);
    memcpy(p.slope, slope, sizeof p.slope);
    cuda_settle(s);
    if (s->view.n_own == 0 || s->failed != 0)
        return;
    LAUNCH(push_charges, cuda_blocks(s->view.n_own, MD_THREADS), MD_THREADS, 0,
           s->device->stream, s->view, p);
    s->failed = cuda_status(s->ctx, cudaGetLastError(), "push_charges");
}
