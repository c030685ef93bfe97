/* charged_pair_cuda.h: what one pair of particles adds where there are charges,
 * or CHARMM's switch of Lennard-Jones.
 *
 * Coulomb's force and energy are polynomials, which each block has in its
 * shared memory: those of coulomb_table.h, whatever the method, or, of an Ewald
 * sum in double precision, those of smooth.h, as on the CPU. Particles nearer
 * than the former reach are rare and get the exact functions.
 *
 * Private to charged_cuda.cu, charged_fixed_cuda.cu.
 */
#ifndef WARPDECK_KERNELS_MD_CHARGED_PAIR_CUDA_H
#define WARPDECK_KERNELS_MD_CHARGED_PAIR_CUDA_H

#include <math.h>
#include <string.h>

#include "kernels/md/charged_cuda.h"
#include "kernels/md/form_pair_cuda.h"
#include "kernels/md/near_cuda.h"

#define BONDED_FN static __host__ __device__ inline

#include "kernels/md/coulomb_table.h"
#include "kernels/md/lj.h"
#include "kernels/md/smooth.h"

enum { COULOMB_NONE, COULOMB_SEGMENTED, COULOMB_SMOOTH };
enum { FORM_PLAIN, FORM_SHIFTED, FORM_SWITCHED };
enum { SMOOTH_TABLE = (SMOOTH_DEGREE + 1) * SMOOTH_PARTS };

/* Numbers of a table of force or energy. */
#define coulomb_size MD_NAME(coulomb_size)
template <int CHARGED> struct coulomb_size {
    static const int value = CHARGED == COULOMB_SMOOTH ? SMOOTH_TABLE
                             : CHARGED                 ? COULOMB_TABLE
                                                       : 1;
};

/* What a pair adds: force over distance, energies. */
#define pair_part MD_NAME(pair_part)
struct pair_part {
    scalar g, u, coulomb;
};

/* ---- pairs beside charges ---- */

#define lj_kind MD_NAME(lj_kind)
template <int FORM> struct lj_kind {
    scalar from2; /* of the switch */

    struct own_part {
        const struct pair_terms *row;
    };

    __device__ __forceinline__ own_part begin(
        const struct md_view &m, uint32_t, const struct pair_position &pi) const
    {
        own_part own = {m.terms + pi.species * m.n_species};
        return own;
    }

    __device__ __forceinline__ void add(const struct md_view &,
                                        const own_part &own, uint32_t, uint32_t,
                                        const struct pair_position &pj,
                                        scalar r2, scalar inv2, int want,
                                        struct pair_part *part) const
    {
        const struct pair_terms t = own.row[pj.species];
        scalar inv6;
        if (r2 >= t.cut2)
            return;
        part->g = lj_force_of_inverse(inv2, t.f12, t.f6, &inv6);
        if (want || FORM == FORM_SWITCHED)
            part->u = lj_energy(inv6, t.f12 / 12, t.f6 / 6);
        if (FORM == FORM_SWITCHED) {
            scalar over = r2 > from2 ? r2 - from2 : 0;
            lj_switch(over, t.cut2 - from2, t.slope, &part->g, &part->u);
        } else {
            part->u -= t.shift;
        }
        if (FORM == FORM_SHIFTED)
            part->u +=
                lj_force_shift(SCALAR_SQRT(r2), t.slope, t.cut, &part->g);
    }
};

#define form_kind MD_NAME(form_kind)
struct form_kind {
    struct form_pair pair;
    typedef form_pair::own_part own_part;

    __device__ __forceinline__ own_part
    begin(const struct md_view &m, uint32_t i,
          const struct pair_position &pi) const
    {
        return pair.begin(m, i, pi);
    }

    __device__ __forceinline__ void
    add(const struct md_view &m, const own_part &own, uint32_t i, uint32_t j,
        const struct pair_position &pj, scalar r2, scalar, int want,
        struct pair_part *part) const
    {
        (void)pair.force_of(m, own, i, j, pj, r2, want, &part->g, &part->u);
    }
};

/* ---- charges ---- */

/* Where a squared distance stands in the tables. */
#define segment_place MD_NAME(segment_place)
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

/* Coefficient d of each part at table[d * PARTS]. */
template <int DEGREE, int PARTS>
static __device__ __forceinline__ scalar horner(const scalar *table, scalar t)
{
    scalar sum = table[DEGREE * PARTS];
#pragma unroll
    for (int d = DEGREE - 1; d >= 0; d--)
        sum = sum * t + table[d * PARTS];
    return sum;
}

/* Of charges whose product is qq. */
static __device__ __forceinline__ void
add_coulomb(const struct charge_terms &c, const scalar *table, scalar r2,
            scalar qq, int want, struct pair_part *part)
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
        g = horner<COULOMB_DEGREE, COULOMB_SEGMENTS>(table + p.at, p.t);
        if (want)
            u = horner<COULOMB_DEGREE, COULOMB_SEGMENTS>(
                table + COULOMB_TABLE + p.at, p.t);
    }
    part->g += qq * g;
    part->coulomb = qq * u;
}

/* The same by 1 / r less what is smooth; qq: times Coulomb's constant. */
static __device__ __forceinline__ void
add_smooth(const struct charge_terms &c, const scalar *table, scalar r2,
           scalar inv, scalar qq, int want, struct pair_part *part)
{
    if (r2 >= c.cutoff2)
        return;
    scalar place = r2 * c.parts_per_length2 - (scalar)0.5;
    scalar whole = SCALAR_ROUND(place), t = place - whole;
    const scalar *of = table + ((int)whole & (SMOOTH_PARTS - 1));
    scalar g = inv * (inv * inv) - horner<SMOOTH_DEGREE, SMOOTH_PARTS>(of, t);
    part->g += qq * g;
    if (want)
        part->coulomb =
            qq *
            (inv - horner<SMOOTH_DEGREE, SMOOTH_PARTS>(of + SMOOTH_TABLE, t));
}

/* The block's copy of the tables; all threads wait for it. */
template <int CHARGED>
static __device__ __forceinline__ void take_tables(const struct charge_terms &c,
                                                   int want, scalar *table)
{
    const int size = coulomb_size<CHARGED>::value;
    const scalar *from = CHARGED == COULOMB_SMOOTH ? c.smooth : c.table;
    int n = want ? 2 * size : size;
    for (int k = (int)threadIdx.x; k < n; k += (int)blockDim.x)
        table[k] = from[k];
    __syncthreads();
}

/* The charge of particle i as pair_of() wants it. */
template <int CHARGED>
static __device__ __forceinline__ scalar
own_charge(const struct md_view &m, const struct charge_terms &c, uint32_t i)
{
    return CHARGED == COULOMB_SMOOTH ? c.constant * m.charge[i]
           : CHARGED                 ? m.charge[i]
                                     : 0;
}

template <class PAIR, int CHARGED>
static __device__ __forceinline__ struct pair_part
pair_of(const struct md_view &m, const PAIR &pair,
        const typename PAIR::own_part &own, const struct charge_terms &c,
        const scalar *table, scalar charge, uint32_t i, uint32_t j,
        const struct pair_position &pj, scalar r2, int want)
{
    struct pair_part part = {0, 0, 0};
    scalar inv = CHARGED == COULOMB_SMOOTH ? SCALAR_RSQRT(r2) : 0;
    scalar inv2 = CHARGED == COULOMB_SMOOTH ? inv * inv : 1 / r2;
    pair.add(m, own, i, j, pj, r2, inv2, want, &part);
    if (CHARGED == COULOMB_SMOOTH)
        add_smooth(c, table, r2, inv, charge * m.charge[j], want, &part);
    else if (CHARGED)
        add_coulomb(c, table, r2, charge * m.charge[j], want, &part);
    return part;
}

/* ---- which kernels ---- */

/* Calls use.launch<PAIR, CHARGED>(pair) for the kind of pairs of the store. */
template <class Use> static int with_pair_kind(struct md_store *s, Use use)
{
    lj_kind<FORM_PLAIN> plain = {0};
    lj_kind<FORM_SHIFTED> shifted = {0};
    lj_kind<FORM_SWITCHED> switched = {s->charges.from2};
    if (s->forms) {
        form_kind table = {cuda_form_pair(s)};
        return use.template launch<COULOMB_SEGMENTED>(table);
    }
    if (!s->coulomb)
        return use.template launch<COULOMB_NONE>(switched);
#if MD_PRECISION == 1
    if (s->charges.smooth_too && s->charges.from2 > 0)
        return use.template launch<COULOMB_SMOOTH>(switched);
    if (s->charges.smooth_too && s->setup.force_shift == 0)
        return use.template launch<COULOMB_SMOOTH>(plain);
#endif
    if (s->charges.from2 > 0)
        return use.template launch<COULOMB_SEGMENTED>(switched);
    if (s->setup.force_shift != 0)
        return use.template launch<COULOMB_SEGMENTED>(shifted);
    return use.template launch<COULOMB_SEGMENTED>(plain);
}

#endif
