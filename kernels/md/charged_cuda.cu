/* charged_cuda.cu: Lennard-Jones and other pair forces beside Coulomb forces,
 * one thread a particle over its neighbors: charged_pair_cuda.h.
 */
#include "kernels/md/charged_pair_cuda.h"

/* On a multiprocessor, at least: leaves 128 registers to a thread. */
enum { BLOCKS_AT_ONCE = 4 };

/* As pair_force() of lj_cuda.cu. */
template <class PAIR, int CHARGED, int WANT, int HALO>
static __device__ __forceinline__ void
charged_force(const struct md_view &m, const PAIR &pair,
              const struct charge_terms &c, const uint32_t *neighbor,
              const uint32_t *count, double *partial)
{
    __shared__ scalar table[2 * coulomb_size<CHARGED>::value];
    uint32_t i = thread_index();
    double sum[CHARGED_SUMS] = {0};
    if (CHARGED)
        take_tables<CHARGED>(c, WANT, table);
    if (i < m.n_own) {
        struct pair_position pi = m.pair[i];
        typename PAIR::own_part own = pair.begin(m, i, pi);
        scalar f[3] = {0, 0, 0}, e = 0, w = 0, q = 0, tensor[6] = {0};
        scalar charge = own_charge<CHARGED>(m, c, i);
        for_each_neighbor(
            m, neighbor, count, i, pi,
            [&](uint32_t j, const struct pair_position &pj, const scalar d[3],
                scalar r2) {
                struct pair_part part = pair_of<PAIR, CHARGED>(
                    m, pair, own, c, table, charge, i, j, pj, r2, WANT);
                for (int k = 0; k < 3; k++)
                    f[k] += part.g * d[k];
                if (WANT) {
                    e += part.u;
                    q += part.coulomb;
                }
                if (WANT == WANT_TENSOR)
                    add_to_tensor(tensor, part.g, d[0], d[1], d[2]);
                else if (WANT) /* else the tensor has it */
                    w += part.g * r2;
            });
        for (int k = 0; k < 3; k++) {
            scalar *to = m.f + k * m.stride + i;
            *to = HALO ? *to + f[k] : f[k];
        }
        sum[PAIR_ENERGY] = (double)e;
        sum[PAIR_VIRIAL] =
            WANT == WANT_TENSOR
                ? (double)tensor[0] + (double)tensor[1] + (double)tensor[2]
                : (double)w;
        sum[PAIR_COULOMB] = (double)q;
        if (CHARGED && !HALO) /* twice, as each pair counts twice */
            sum[PAIR_COULOMB] +=
                2 * c.self * (double)m.charge[i] * (double)m.charge[i];
        for (int t = 0; t < 6; t++)
            sum[PAIR_TENSOR + t] = (double)tensor[t];
    }
    if (WANT)
        leave_sums(sum, partial);
}

template <class PAIR, int CHARGED, int WANT, int HALO>
static constexpr auto charged_kernel(void)
{
    return kernel_of<charged_force<PAIR, CHARGED, WANT, HALO>, 1,
                     BLOCKS_AT_ONCE>();
}

#define use_plain MD_NAME(use_plain)
struct use_plain {
    struct md_store *s;
    int want, halo;

    template <int CHARGED, class PAIR> int launch(const PAIR &pair)
    {
        static const decltype(charged_kernel<PAIR, CHARGED, 0, 0>())
            kernels[3][2] = {{charged_kernel<PAIR, CHARGED, 0, 0>(),
                              charged_kernel<PAIR, CHARGED, 0, 1>()},
                             {charged_kernel<PAIR, CHARGED, 1, 0>(),
                              charged_kernel<PAIR, CHARGED, 1, 1>()},
                             {charged_kernel<PAIR, CHARGED, 2, 0>(),
                              charged_kernel<PAIR, CHARGED, 2, 1>()}};
        struct pair_list *list = halo ? &s->halo : &s->own;
        return cuda_run(
            s, "charged_force", kernels[want][halo], cuda_own_blocks(s),
            s->view, pair, s->charges, (const uint32_t *)list->neighbor.p,
            (const uint32_t *)list->count.p, ARRAY(s, ARRAY_PARTIAL, double));
    }
};

int cuda_launch_charged(struct md_store *s, int want, int halo)
{
    struct use_plain use = {s, want, halo};
    return with_pair_kind(s, use);
}

/* ---- tables ---- */

static int send_tables(struct md_store *s)
{
    double table[2 * COULOMB_TABLE], least2;
    scalar rounded[2 * COULOMB_TABLE];
    coulomb_tables(&s->charges.exact, COULOMB_BITS, COULOMB_DEGREE, table,
                   table + COULOMB_TABLE, &least2);
    for (int k = 0; k < 2 * COULOMB_TABLE; k++)
        rounded[k] = (scalar)table[k];
    s->charges.least2 = (scalar)least2;
    TRY(cuda_reserve(s, ARRAY_COULOMB, 2 * COULOMB_TABLE, sizeof(scalar),
                     "charges"));
    s->charges.table = ARRAY(s, ARRAY_COULOMB, scalar);
    return cuda_to_device(s->ctx, s->device, s->array[ARRAY_COULOMB].p, rounded,
                          sizeof rounded);
}

/* Doubles only, as on the CPU. */
static int send_smooth(struct md_store *s)
{
    struct charge_terms *c = &s->charges;
    double table[2 * SMOOTH_TABLE];
    scalar rounded[2 * SMOOTH_TABLE];
    if (MD_PRECISION != 1 || c->exact.method != MD_COULOMB_EWALD)
        return 0;
    c->smooth_too = smooth_tables(c->exact.alpha, c->exact.cutoff, SMOOTH_PARTS,
                                  SMOOTH_DEGREE, table, table + SMOOTH_TABLE);
    c->constant = (scalar)c->exact.constant;
    c->parts_per_length2 = (scalar)SMOOTH_PARTS / c->cutoff2;
    for (int k = 0; k < 2 * SMOOTH_TABLE; k++)
        rounded[k] = (scalar)table[k];
    TRY(cuda_reserve(s, ARRAY_SMOOTH, 2 * SMOOTH_TABLE, sizeof(scalar),
                     "charges"));
    c->smooth = ARRAY(s, ARRAY_SMOOTH, scalar);
    return cuda_to_device(s->ctx, s->device, s->array[ARRAY_SMOOTH].p, rounded,
                          sizeof rounded);
}

int cuda_charges_create(struct md_store *s)
{
    const struct md_force_field *field = s->setup.field;
    struct charge_terms *c = &s->charges;
    if (!field)
        return 0;
    const struct md_coulomb *q = &field->coulomb;
    c->exact = *q;
    c->from2 = (scalar)(field->switch_from * field->switch_from);
    c->cutoff2 = (scalar)(q->cutoff * q->cutoff);
    c->self = coulomb_self_energy(q);
    s->coulomb = s->setup.charged && q->method != MD_COULOMB_NONE;
    if (!s->coulomb)
        return 0;
    TRY(send_tables(s));
    return send_smooth(s);
}
