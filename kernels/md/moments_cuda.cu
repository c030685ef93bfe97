/* moments_cuda.cu: kinetic energy, momentum and what else velocities add up to.
 */
#include "kernels/md/fixed_cuda.h"
#include "kernels/md/outer_cuda.h"
#include "kernels/md/team_cuda.h"

#include <string.h>

static const size_t MOMENT_BYTES = 3 * sizeof(state) + sizeof(int32_t);

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

static __device__ __forceinline__ void sum_moments(const struct md_view &m,
                                                   double *partial)
{
    uint32_t i = thread_index();
    double value[5] = {0, 0, 0, 0, 0};
    if (i < m.n_own)
        moments_of(m, i, value);
    leave_sums(value, partial);
}

/* For sums in any order. */
static __device__ __forceinline__ void list_moments(const struct md_view &m,
                                                    double *column)
{
    uint32_t i = thread_index();
    if (i >= m.n_own)
        return;
    double value[5];
    moments_of(m, i, value);
    for (int k = 0; k < 5; k++)
        column[k * m.stride + i] = value[k];
}

static int run_moments(struct md_store *s)
{
    tally_own(s, MOMENT_BYTES);
    if (s->setup.deterministic)
        return cuda_run(s, "list_moments", kernel_of<list_moments, 1>(),
                        cuda_own_blocks(s), s->view,
                        ARRAY(s, ARRAY_COLUMNS, double));
    return cuda_run(s, "sum_moments", kernel_of<sum_moments, 1>(),
                    cuda_own_blocks(s), s->view,
                    ARRAY(s, ARRAY_PARTIAL, double));
}

/* They are on their way to s->result. */
int cuda_ask_moments(struct md_store *s)
{
    TRY(run_moments(s));
    return cuda_send_own_sums(s, 5, s->result->moments);
}

void cuda_moments_ahead(struct md_store *s)
{
    if (s->view.n_own > 0)
        cuda_ask_sums_ahead(s, &s->moments_asked, STEP_MOMENTS);
}

/* Sums as the calls leave them; once for whoever has not asked ahead. */
static int find_sums(struct md_store *s, int *asked, enum step_kind kind)
{
    cuda_settle(s);
    TRY(s->failed);
    TRY(cuda_reserve_sums(s));
    return cuda_ask_sums(s, asked, kind);
}

void cuda_sum_moments(const struct md_store *store, struct md_moments *out)
{
    /* Only scratch of the store changes. */
    struct md_store *s = const_cast<struct md_store *>(store);
    double sum[5] = {0, 0, 0, 0, 0};
    if (s->view.n_own > 0) {
        s->failed = find_sums(s, &s->moments_asked, STEP_MOMENTS);
        if (s->failed == 0)
            memcpy(sum, s->result->moments, sizeof sum);
    }
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
static __device__ __forceinline__ void
sum_kinetic(const struct md_view &m, double *column, double *partial)
{
    uint32_t i = thread_index();
    double value[6] = {0, 0, 0, 0, 0, 0};
    if (i < m.n_own)
        kinetic_of(m, i, value);
    leave_values(m, i, value, column, partial);
}

static int run_kinetic(struct md_store *s)
{
    tally_own(s, MOMENT_BYTES);
    return cuda_run(s, "sum_kinetic", kernel_of<sum_kinetic, 1>(),
                    cuda_own_blocks(s), s->view,
                    s->setup.deterministic ? ARRAY(s, ARRAY_COLUMNS, double)
                                           : NULL,
                    ARRAY(s, ARRAY_PARTIAL, double));
}

/* The same on its way to s->result. */
int cuda_ask_kinetic(struct md_store *s)
{
    TRY(run_kinetic(s));
    return cuda_send_own_sums(s, 6, s->result->kinetic);
}

void cuda_kinetic_tensor_ahead(struct md_store *s)
{
    if (s->view.n_own > 0)
        cuda_ask_sums_ahead(s, &s->kinetic_asked, STEP_KINETIC);
}

void cuda_kinetic_tensor(const struct md_store *store, double out[6])
{
    /* Only scratch of the store changes. */
    struct md_store *s = const_cast<struct md_store *>(store);
    for (int k = 0; k < 6; k++)
        out[k] = 0;
    if (s->view.n_own == 0)
        return;
    s->failed = find_sums(s, &s->kinetic_asked, STEP_KINETIC);
    if (s->failed == 0)
        memcpy(out, s->result->kinetic, sizeof s->result->kinetic);
}
