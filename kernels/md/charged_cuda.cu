/* charged_cuda.cu: Lennard-Jones and Coulomb forces, one thread a particle over
 * its neighbors.
 *
 * Coulomb's force and energy are the polynomials of coulomb_table.h, which each
 * block has in its shared memory, whatever the method; particles nearer than
 * those reach are rare and get the exact functions. CHARMM's switch of
 * Lennard-Jones is here, too.
 */
#include "kernels/md/store_cuda.h"

#include <math.h>
#include <string.h>

#define BONDED_FN static __host__ __device__ inline

#include "kernels/md/coulomb_table.h"
#include "kernels/md/lj.h"

enum { FORM_PLAIN, FORM_SHIFTED, FORM_SWITCHED };
/* On a multiprocessor, at least: leaves 128 registers to a thread. */
enum { BLOCKS_AT_ONCE = 4 };

/* What one pair adds. */
struct pair_part {
    scalar g, u, coulomb; /* force over distance, energies */
};

/* Where a squared distance stands in the tables. */
struct segment_place {
    int at;
    scalar t;
};

static __device__ __forceinline__ struct segment_place place_of(scalar r2)
{
    const int below = COULOMB_MANTISSA - COULOMB_BITS;
    const coulomb_bits one = 1;
    struct segment_place p;
    coulomb_bits bits, within;
    memcpy(&bits, &r2, sizeof bits);
    p.at = (int)((bits >> below) & (COULOMB_SEGMENTS - 1));
    within = (bits & ((one << below) - 1)) | COULOMB_ONE;
    memcpy(&p.t, &within, sizeof p.t);
    p.t -= 1 + (scalar)0.5 / (1 << COULOMB_BITS);
    return p;
}

static __device__ __forceinline__ scalar polynomial(const scalar *table,
                                                    struct segment_place p)
{
    scalar sum = table[COULOMB_DEGREE * COULOMB_SEGMENTS + p.at];
#pragma unroll
    for (int d = COULOMB_DEGREE - 1; d >= 0; d--)
        sum = sum * p.t + table[d * COULOMB_SEGMENTS + p.at];
    return sum;
}

/* Of charges whose product is qq. */
template <int WANT>
static __device__ __forceinline__ void
add_coulomb(const struct charge_terms &c, const scalar *table, scalar r2,
            scalar qq, struct pair_part *part)
{
    scalar g, u = 0;
    if (r2 >= c.cutoff2)
        return;
    if (r2 < c.least2) {
        double exact;
        u = (scalar)coulomb_pair(&c.exact, (double)r2, &exact);
        g = (scalar)exact;
    } else {
        struct segment_place p = place_of(r2);
        g = polynomial(table, p);
        if (WANT)
            u = polynomial(table + COULOMB_TABLE, p);
    }
    part->g += qq * g;
    part->coulomb = qq * u;
}

template <int FORM, int WANT>
static __device__ __forceinline__ void add_lj(const struct charge_terms &c,
                                              const struct pair_terms &t,
                                              scalar r2, struct pair_part *part)
{
    scalar inv6;
    if (r2 >= t.cut2)
        return;
    part->g = lj_force_over_r(r2, t.f12, t.f6, &inv6);
    if (WANT || FORM == FORM_SWITCHED)
        part->u = lj_energy(inv6, t.f12 / 12, t.f6 / 6);
    if (FORM == FORM_SWITCHED) {
        scalar over = r2 > c.from2 ? r2 - c.from2 : 0;
        lj_switch(over, t.cut2 - c.from2, t.slope, &part->g, &part->u);
    } else {
        part->u -= t.shift;
    }
    if (FORM == FORM_SHIFTED)
        part->u += lj_force_shift(SCALAR_SQRT(r2), t.slope, t.cut, &part->g);
}

/* As pair_force() of lj_cuda.cu. CHARGED: Coulomb's forces as well. */
template <int FORM, int CHARGED, int WANT, int HALO>
static __global__ void __launch_bounds__(MD_THREADS, BLOCKS_AT_ONCE)
    charged_force(struct md_view m, struct charge_terms c,
                  const uint32_t *neighbor, const uint32_t *count,
                  double *partial)
{
    __shared__ scalar table[2 * COULOMB_TABLE];
    uint32_t i = thread_index();
    double sum[CHARGED_SUMS] = {0};
    if (CHARGED) {
        int n = WANT ? 2 * COULOMB_TABLE : COULOMB_TABLE;
        for (int k = (int)threadIdx.x; k < n; k += (int)blockDim.x)
            table[k] = c.table[k];
        __syncthreads();
    }
    if (i < m.n_own) {
        struct pair_position pi = m.pair[i];
        const struct pair_terms *row = m.terms + pi.species * m.n_species;
        scalar fx = 0, fy = 0, fz = 0, e = 0, w = 0, q = 0, tensor[6] = {0};
        scalar charge = CHARGED ? m.charge[i] : 0;
        uint32_t n = count[i];
        for (uint32_t k = 0; k < n; k++) {
            uint32_t j = neighbor[k * m.stride + i];
            struct pair_position pj = m.pair[j];
            scalar dx =
                nearest_image(pi.x - pj.x, m.period[0], m.per_period[0]);
            scalar dy =
                nearest_image(pi.y - pj.y, m.period[1], m.per_period[1]);
            scalar dz =
                nearest_image(pi.z - pj.z, m.period[2], m.per_period[2]);
            scalar r2 = dx * dx + dy * dy + dz * dz;
            struct pair_part part = {0, 0, 0};
            add_lj<FORM, WANT>(c, row[pj.species], r2, &part);
            if (CHARGED)
                add_coulomb<WANT>(c, table, r2, charge * m.charge[j], &part);
            fx += part.g * dx;
            fy += part.g * dy;
            fz += part.g * dz;
            if (WANT) {
                e += part.u;
                q += part.coulomb;
            }
            if (WANT == WANT_TENSOR)
                add_to_tensor(tensor, part.g, dx, dy, dz);
            else if (WANT) /* else the tensor has it */
                w += part.g * r2;
        }
        scalar *f = m.f + i;
        if (HALO) {
            fx += f[0];
            fy += f[m.stride];
            fz += f[2 * m.stride];
        }
        f[0] = fx;
        f[m.stride] = fy;
        f[2 * m.stride] = fz;
        sum[PAIR_ENERGY] = (double)e;
        sum[PAIR_VIRIAL] =
            WANT == WANT_TENSOR
                ? (double)tensor[0] + (double)tensor[1] + (double)tensor[2]
                : (double)w;
        sum[PAIR_COULOMB] = (double)q;
        if (CHARGED && !HALO) /* twice, as each pair counts twice */
            sum[PAIR_COULOMB] += 2 * c.self * (double)charge * (double)charge;
        for (int t = 0; t < 6; t++)
            sum[PAIR_TENSOR + t] = (double)tensor[t];
    }
    if (WANT)
        leave_sums(sum, partial);
}

typedef void (*charged_kernel)(struct md_view, struct charge_terms,
                               const uint32_t *, const uint32_t *, double *);

#define KERNELS_OF(form, charged)                  \
    {                                              \
        {charged_force<form, charged, 0, 0>,       \
         charged_force<form, charged, 0, 1>},      \
            {charged_force<form, charged, 1, 0>,   \
             charged_force<form, charged, 1, 1>},  \
        {                                          \
            charged_force<form, charged, 2, 0>,    \
                charged_force<form, charged, 2, 1> \
        }                                          \
    }

int cuda_launch_charged(struct md_store *s, int want, int halo)
{
    static const charged_kernel kernels[4][3][2] = {
        KERNELS_OF(FORM_PLAIN, 1), KERNELS_OF(FORM_SHIFTED, 1),
        KERNELS_OF(FORM_SWITCHED, 1), KERNELS_OF(FORM_SWITCHED, 0)};
    int form = !s->coulomb                 ? 3
               : s->charges.from2 > 0      ? FORM_SWITCHED
               : s->setup.force_shift != 0 ? FORM_SHIFTED
                                           : FORM_PLAIN;
    struct pair_list *list = halo ? &s->halo : &s->own;
    charged_kernel kernel = kernels[form][want][halo];
    LAUNCH(kernel, cuda_blocks(s->view.n_own, MD_THREADS), MD_THREADS, 0,
           s->device->stream, s->view, s->charges,
           (const uint32_t *)list->neighbor.p, (const uint32_t *)list->count.p,
           ARRAY(s, ARRAY_PARTIAL, double));
    CUDA_TRY_LAUNCH(s->ctx, "charged_force");
    return 0;
}

/* ---- tables ---- */

static int send_tables(struct md_store *s)
{
    double table[2 * COULOMB_TABLE], least2;
    scalar rounded[2 * COULOMB_TABLE];
    coulomb_tables(&s->charges.exact, table, table + COULOMB_TABLE, &least2);
    for (int k = 0; k < 2 * COULOMB_TABLE; k++)
        rounded[k] = (scalar)table[k];
    s->charges.least2 = (scalar)least2;
    TRY(cuda_reserve(s, ARRAY_COULOMB, 2 * COULOMB_TABLE, sizeof(scalar),
                     "charges"));
    s->charges.table = ARRAY(s, ARRAY_COULOMB, scalar);
    return cuda_to_device(s->ctx, s->device, s->array[ARRAY_COULOMB].p, rounded,
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
    return s->coulomb ? send_tables(s) : 0;
}
