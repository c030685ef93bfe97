/* charged_fixed_cuda.cu: the forces of charged_cuda.cu by sums that do not
 * depend on the order of their terms: those of a wider range of fixed_cuda.h.
 */
#include "kernels/md/charged_pair_cuda.h"

/* Energy, that of charges, and the virial by directions. */
enum { WIDE_ENERGY, WIDE_COULOMB, WIDE_TENSOR, WIDE_VALUES = WIDE_TENSOR + 6 };

/* On a multiprocessor, at least: leaves 128 registers to a thread. */
enum { BLOCKS_AT_ONCE = 4 };

/* WANT: all sums, each particle's to the columns of leave_sums(). */
template <class PAIR, int CHARGED, int WANT, int HALO>
static __device__ __forceinline__ void
charged_force_wide(const struct md_view &m, const PAIR &pair,
                   const struct charge_terms &c, const uint32_t *neighbor,
                   const uint32_t *count, const struct near_out &out)
{
    __shared__ scalar table[2 * coulomb_size<CHARGED>::value];
    uint32_t i = thread_index();
    if (CHARGED)
        take_tables<CHARGED>(c, WANT, table);
    if (i >= m.n_own)
        return;
    struct pair_position pi = m.pair[i];
    typename PAIR::own_part own = pair.begin(m, i, pi);
    struct wide_sum f[3], value[WANT ? WIDE_VALUES : 1];
    unsigned long long reach = 0, reach_value = 0;
    scalar charge = own_charge<CHARGED>(m, c, i);
    for (int d = 0; d < 3; d++) {
        f[d].high = HALO ? out.wide[d * m.stride + i].high : 0;
        f[d].low = HALO ? out.wide[d * m.stride + i].low : 0;
    }
    for (int k = 0; k < (WANT ? WIDE_VALUES : 0); k++)
        value[k].high = value[k].low = 0;
    for_each_neighbor(
        m, neighbor, count, i, pi,
        [&](uint32_t j, const struct pair_position &pj, const scalar d[3],
            scalar r2) {
            struct pair_part part = pair_of<PAIR, CHARGED>(
                m, pair, own, c, table, charge, i, j, pj, r2, WANT);
            for (int e = 0; e < 3; e++)
                wide_add(&f[e], &reach,
                         (double)(part.g * d[e]) * out.unit.force);
            if (!WANT)
                return;
            scalar product[6];
            pair_tensor(part.g, d[0], d[1], d[2], product);
            wide_add(&value[WIDE_ENERGY], &reach_value,
                     (double)part.u * out.unit.energy);
            wide_add(&value[WIDE_COULOMB], &reach_value,
                     (double)part.coulomb * out.unit.energy);
            for (int t = 0; t < 6; t++)
                wide_add(&value[WIDE_TENSOR + t], &reach_value,
                         (double)product[t] * out.unit.energy);
        });
    for (int d = 0; d < 3; d++) {
        out.wide[d * m.stride + i] = f[d];
        m.f[d * m.stride + i] = (scalar)(wide_value(f[d]) * out.unit.per_force);
    }
    if (WANT) {
        double sum[WIDE_VALUES], q = CHARGED ? (double)m.charge[i] : 0;
        for (int k = 0; k < WIDE_VALUES; k++)
            sum[k] = wide_value(value[k]) * out.unit.per_energy;
        double *column = out.column + i;
        column[PAIR_ENERGY * m.stride] = sum[WIDE_ENERGY];
        column[PAIR_VIRIAL * m.stride] =
            sum[WIDE_TENSOR] + sum[WIDE_TENSOR + 1] + sum[WIDE_TENSOR + 2];
        for (int t = 0; t < 6; t++)
            column[(PAIR_TENSOR + t) * m.stride] = sum[WIDE_TENSOR + t];
        column[PAIR_COULOMB * m.stride] =
            sum[WIDE_COULOMB] + (HALO ? 0 : 2 * c.self * q * q);
    }
    if (wide_left_range(reach) || wide_left_range(reach_value))
        atomicMin(out.beyond, (unsigned long long)m.id[i]);
}

template <class PAIR, int CHARGED, int WANT, int HALO>
static constexpr auto wide_kernel(void)
{
    /* With energies in a team four blocks have too few registers. */
    return kernel_of < charged_force_wide<PAIR, CHARGED, WANT, HALO>, 1,
           WANT ? 3 : BLOCKS_AT_ONCE > ();
}

#define use_wide MD_NAME(use_wide)
struct use_wide {
    struct md_store *s;
    int want, halo;

    template <int CHARGED, class PAIR> int launch(const PAIR &pair)
    {
        static const decltype(wide_kernel<PAIR, CHARGED, 0, 0>())
            kernels[2][2] = {{wide_kernel<PAIR, CHARGED, 0, 0>(),
                              wide_kernel<PAIR, CHARGED, 0, 1>()},
                             {wide_kernel<PAIR, CHARGED, 1, 0>(),
                              wide_kernel<PAIR, CHARGED, 1, 1>()}};
        struct pair_list *list = halo ? &s->halo : &s->own;
        return cuda_run(s, "charged_force_wide", kernels[want > 0][halo],
                        cuda_own_blocks(s), s->view, pair, s->charges,
                        (const uint32_t *)list->neighbor.p,
                        (const uint32_t *)list->count.p, near_out_of(s));
    }
};

int cuda_launch_charged_wide(struct md_store *s, int want, int halo)
{
    struct use_wide use = {s, want, halo};
    return with_pair_kind(s, use);
}
