/* near_cuda.h: forces from pairs of any kind, one thread a particle over its
 * neighbors, with what is common to all kinds: energies, virials, and sums that
 * do not depend on their order.
 *
 * A kind is a type PAIR, a kernel's argument by value, with
 *     own_part begin(m, i, pi)      what is read of particle i once
 *     int force_of(m, own, i, j, pj, r2, want, &g, &u)
 *                                   1 where the pair acts: the force over the
 *                                   distance, and its energy where wanted
 * Its name is made by MD_NAME(), as those of store_cuda.h.
 */
#ifndef WARPDECK_KERNELS_MD_NEAR_CUDA_H
#define WARPDECK_KERNELS_MD_NEAR_CUDA_H

#include "kernels/md/fixed_cuda.h"
#include "kernels/md/team_cuda.h"

/* ---- the loop ---- */

/* Values wanted beside forces: none; energy and virial; and sum r_a f_b: xx,
 * yy, zz, xy, xz, yz. */
enum { NEAR_FORCE, NEAR_SUMS, NEAR_TENSOR };
enum { NEAR_VALUES = 8 };

#define near_out MD_NAME(near_out)
struct near_out {
    double *partial;            /* [values][blocks], sums as they come */
    double *column;             /* [values][stride], sums in any order */
    struct wide_sum *wide;      /* [3][stride] */
    unsigned long long *beyond; /* least id with a force out of range */
    struct wide_units unit;
};

/* visit(j, position of j, d, r2) for each neighbor, d towards i. */
template <class Visit>
static __device__ __forceinline__ void
for_each_neighbor(const struct md_view &m, const uint32_t *neighbor,
                  const uint32_t *count, uint32_t i,
                  const struct pair_position &pi, Visit visit)
{
    uint32_t n = count[i];
    for (uint32_t k = 0; k < n; k++) {
        uint32_t j = neighbor[k * m.stride + i];
        struct pair_position pj = m.pair[j];
        scalar d[3];
        d[0] = nearest_image(pi.x - pj.x, m.period[0], m.per_period[0]);
        d[1] = nearest_image(pi.y - pj.y, m.period[1], m.per_period[1]);
        d[2] = nearest_image(pi.z - pj.z, m.period[2], m.per_period[2]);
        visit(j, pj, d, d[0] * d[0] + d[1] * d[1] + d[2] * d[2]);
    }
}

/* Number k of what is wanted of a pair. */
static __device__ __forceinline__ scalar near_value(int k, scalar g, scalar u,
                                                    scalar r2,
                                                    const scalar d[3])
{
    switch (k) {
    case 0:
        return u;
    case 1:
        return g * r2;
    case 5:
        return g * d[0] * d[1];
    case 6:
        return g * d[0] * d[2];
    case 7:
        return g * d[1] * d[2];
    default:
        return g * d[k - 2] * d[k - 2];
    }
}

template <int WANT> struct near_count {
    static const int values = WANT == NEAR_TENSOR ? NEAR_VALUES
                              : WANT == NEAR_SUMS ? 2
                                                  : 0;
};

/* HALO: neighbors are copies, and the force is added to that of own ones. */
template <class PAIR, int WANT, int HALO>
static __device__ __forceinline__ void
near_force(const struct md_view &m, const uint32_t *neighbor,
           const uint32_t *count, const PAIR &pair, const struct near_out &out)
{
    const int VALUES = near_count<WANT>::values;
    uint32_t i = thread_index();
    scalar value[NEAR_VALUES] = {0};
    if (i < m.n_own) {
        struct pair_position pi = m.pair[i];
        typename PAIR::own_part own = pair.begin(m, i, pi);
        scalar f[3] = {0, 0, 0};
        for_each_neighbor(
            m, neighbor, count, i, pi,
            [&](uint32_t j, const struct pair_position &pj, const scalar d[3],
                scalar r2) {
                scalar g, u = 0;
                if (!pair.force_of(m, own, i, j, pj, r2, WANT, &g, &u))
                    return;
                for (int e = 0; e < 3; e++)
                    f[e] += g * d[e];
                for (int k = 0; k < VALUES; k++)
                    value[k] += near_value(k, g, u, r2, d);
            });
        for (int e = 0; e < 3; e++) {
            scalar *to = m.f + e * m.stride + i;
            *to = HALO ? *to + f[e] : f[e];
        }
    }
    if (VALUES > 0) {
        __shared__ double shared[MD_THREADS / 32];
        for (int k = 0; k < VALUES; k++) {
            double total = block_sum((double)value[k], shared);
            if (threadIdx.x == 0)
                out.partial[k * gridDim.x + blockIdx.x] = total;
        }
    }
}

/* The same with sums in any order; values of each particle to their columns. */
template <class PAIR, int WANT, int HALO>
static __device__ __forceinline__ void
near_force_wide(const struct md_view &m, const uint32_t *neighbor,
                const uint32_t *count, const PAIR &pair,
                const struct near_out &out)
{
    const int VALUES = near_count<WANT>::values;
    uint32_t i = thread_index();
    if (i >= m.n_own)
        return;
    struct pair_position pi = m.pair[i];
    typename PAIR::own_part own = pair.begin(m, i, pi);
    struct wide_sum f[3], value[NEAR_VALUES];
    unsigned long long reach = 0, reach_value = 0;
    for (int e = 0; e < 3; e++) {
        f[e].high = HALO ? out.wide[e * m.stride + i].high : 0;
        f[e].low = HALO ? out.wide[e * m.stride + i].low : 0;
    }
    for (int k = 0; k < VALUES; k++)
        value[k].high = value[k].low = 0;
    for_each_neighbor(
        m, neighbor, count, i, pi,
        [&](uint32_t j, const struct pair_position &pj, const scalar d[3],
            scalar r2) {
            scalar g, u = 0;
            if (!pair.force_of(m, own, i, j, pj, r2, WANT, &g, &u))
                return;
            for (int e = 0; e < 3; e++)
                wide_add(&f[e], &reach, (double)(g * d[e]) * out.unit.force);
            for (int k = 0; k < VALUES; k++)
                wide_add(&value[k], &reach_value,
                         (double)near_value(k, g, u, r2, d) * out.unit.energy);
        });
    for (int e = 0; e < 3; e++) {
        out.wide[e * m.stride + i] = f[e];
        m.f[e * m.stride + i] = (scalar)(wide_value(f[e]) * out.unit.per_force);
    }
    for (int k = 0; k < VALUES; k++)
        out.column[k * m.stride + i] =
            wide_value(value[k]) * out.unit.per_energy;
    if (wide_left_range(reach) || wide_left_range(reach_value))
        atomicMin(out.beyond, (unsigned long long)m.id[i]);
}

static inline struct near_out near_out_of(struct md_store *s)
{
    struct near_out out;
    out.partial = ARRAY(s, ARRAY_PARTIAL, double);
    out.column = ARRAY(s, ARRAY_COLUMNS, double);
    out.wide = ARRAY(s, ARRAY_WIDE, struct wide_sum);
    out.beyond = ARRAY(s, ARRAY_BEYOND, unsigned long long);
    out.unit = s->wide;
    return out;
}

template <class PAIR, int WIDE, int WANT, int HALO>
static constexpr auto near_kernel(void)
{
    if constexpr (WIDE)
        return kernel_of<near_force_wide<PAIR, WANT, HALO>, 1>();
    else
        return kernel_of<near_force<PAIR, WANT, HALO>, 1>();
}

/* Forces by pairs of this kind among own particles, or with copies; what is
 * wanted to ARRAY_PARTIAL, or to ARRAY_COLUMNS where sums are deterministic. */
template <class PAIR>
static int launch_near(struct md_store *s, const PAIR &pair, int want, int halo)
{
#define KERNELS_OF(wide, want)                                                 \
    {                                                                          \
        near_kernel<PAIR, wide, want, 0>(), near_kernel<PAIR, wide, want, 1>() \
    }
    static const decltype(near_kernel<PAIR, 0, 0, 0>()) kernels[2][3][2] = {
        {KERNELS_OF(0, 0), KERNELS_OF(0, 1), KERNELS_OF(0, 2)},
        {KERNELS_OF(1, 0), KERNELS_OF(1, 1), KERNELS_OF(1, 2)}};
#undef KERNELS_OF
    struct pair_list *list = halo ? &s->halo : &s->own;
    TRY(cuda_run(
        s, "near_force", kernels[s->setup.deterministic != 0][want][halo],
        cuda_own_blocks(s), s->view, (const uint32_t *)list->neighbor.p,
        (const uint32_t *)list->count.p, pair, near_out_of(s)));
    s->unchecked |= s->setup.deterministic;
    return 0;
}

#endif
