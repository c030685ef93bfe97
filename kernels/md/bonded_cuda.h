/* bonded_cuda.h: what a term along bonds leaves at one of its particles, and
 * terms that are pairs few bonds apart; the others are in bonded_cuda.cu.
 *
 * Private to the .cu files of kernels/md.
 */
#ifndef WARPDECK_KERNELS_MD_BONDED_CUDA_H
#define WARPDECK_KERNELS_MD_BONDED_CUDA_H

#include "kernels/md/fixed_cuda.h"
#include "kernels/md/form_pair_cuda.h"
#include "kernels/md/terms_cuda.h"

#define BONDED_FN static __host__ __device__ __forceinline__
#include "kernels/md/bonded.h"
#include "kernels/md/cmap.h"
#include "kernels/md/pairs.h"

#define term_view MD_NAME(term_view)

/* What the kernels need beside the particles; pointers are of the card. */
struct term_view {
    struct listed_terms list;
    const struct md_bond_coeff *bonds;
    const struct md_angle_coeff *angles;
    const struct md_dihedral_coeff *dihedrals;
    const struct md_improper_coeff *impropers;
    const struct md_lj14 *lj14;
    const struct md_pair14 *pairs14;
    const struct md_cmap *cmaps;
    const struct md_cmap_node *cmap_nodes;
    const struct lj_coeff *pairs;
    const struct md_pair_form *forms; /* in their place, or NULL */
    struct near_pair *near;           /* of them */
    double special_lj[3], special_coulomb[3], switch_from;
    int charged; /* charges act on one another */
    struct md_coulomb coulomb;
    struct fixed_units unit;
    fixed_sum *fixed; /* forces, of sums in any order */
    struct wide_units wide_unit;
    struct wide_sum *wide; /* the same of a wider range */
    double *out;           /* sums: of blocks, or of particles */
    unsigned long long *beyond, *broken;
};

/* ---- one particle's sums ---- */

/* How they are added: as they come; in any order; of a wider range, too. */
enum { ADD_PLAIN, ADD_FIXED, ADD_WIDE };

template <int HOW> struct term_sum;

template <> struct term_sum<ADD_PLAIN> {
    double value;
    __device__ __forceinline__ void add(double x, double, guard *)
    {
        value += x;
    }
};

template <> struct term_sum<ADD_FIXED> {
    fixed_sum value;
    __device__ __forceinline__ void add(double x, double unit, guard *reach)
    {
        add_fixed(&value, reach, x * unit);
    }
    __device__ __forceinline__ double number() const
    {
        return fixed_value(value);
    }
};

template <> struct term_sum<ADD_WIDE> {
    struct wide_sum value;
    __device__ __forceinline__ void add(double x, double unit, guard *reach)
    {
        wide_add(&value, reach, x * unit);
    }
    __device__ __forceinline__ double number() const
    {
        return wide_value(value);
    }
};

/* Columns of the sums: MD_ENERGY_PAIR to MD_ENERGY_CMAP, then the virial,
 * then that by directions. */
static const int SUM_VIRIAL = MD_ENERGY_CMAP + 1;
static const int SUM_TENSOR = SUM_VIRIAL + 1;

/* How many there are. */
#define SUMS_OF(want) \
    ((want) > 1 ? (int)TERM_SUMS : (want) > 0 ? SUM_TENSOR : 0)

template <int HOW, int WANT> struct term_sums {
    double force_unit, energy_unit;
    guard reach, reach_e;
    struct term_sum<HOW> force[3];
    struct term_sum<HOW> sum[SUMS_OF(WANT) + 1];

    __device__ __forceinline__ void push(double sign, const double f[3])
    {
        for (int d = 0; d < 3; d++)
            force[d].add(sign * f[d], force_unit, &reach);
    }

    /* Of this particle: its share of the term's. */
    __device__ __forceinline__ void energy(int part, double share, double u)
    {
        if (WANT > 0)
            sum[part].add(share * u, energy_unit, &reach_e);
    }

    /* Of a force at a place relative to the others of its term. */
    __device__ __forceinline__ void virial(double share, const double f[3],
                                           const double x[3])
    {
        if (WANT > 0)
            sum[SUM_VIRIAL].add(share * dot3(f, x), energy_unit, &reach_e);
        if (WANT > 1) {
            for (int d = 0; d < 3; d++)
                sum[SUM_TENSOR + d].add(share * f[d] * x[d], energy_unit,
                                        &reach_e);
            sum[SUM_TENSOR + 3].add(share * f[0] * x[1], energy_unit, &reach_e);
            sum[SUM_TENSOR + 4].add(share * f[0] * x[2], energy_unit, &reach_e);
            sum[SUM_TENSOR + 5].add(share * f[1] * x[2], energy_unit, &reach_e);
        }
    }
};

/* ---- pairs; k: the particle's place in the term ---- */

template <class Sums>
static __device__ __forceinline__ void
add_pair(Sums *s, int first, double share, const double d[3], double f_over_r)
{
    double force[3] = {f_over_r * d[0], f_over_r * d[1], f_over_r * d[2]};
    s->push(first ? 1 : -1, force);
    s->virial(share, force, d);
}

/* A pair with Lennard-Jones and plain Coulomb of its own, at places a and b of
 * the term: u = c12 / r^12 - c6 / r^6 + qq / r. */
template <class Sums>
static __device__ __forceinline__ void
run_own_pair(const struct md_view &m, const struct card_term &t, int a, int b,
             int k, double c12, double c6, double qq, Sums *s)
{
    double d[3], share = 1.0 / t.size;
    difference(m, t.slot[a], t.slot[b], d);
    double inv2 = 1 / dot3(d, d), inv6 = inv2 * inv2 * inv2;
    double coulomb = qq * sqrt(inv2);
    double g = (inv6 * (12 * c12 * inv6 - 6 * c6) + coulomb) * inv2;
    double force[3] = {g * d[0], g * d[1], g * d[2]};
    if (k == a || k == b)
        s->push(k == a ? 1 : -1, force);
    s->energy(MD_ENERGY_PAIR, share, inv6 * (c12 * inv6 - c6));
    s->energy(MD_ENERGY_COULOMB, share, coulomb);
    s->virial(share, force, d);
}

static __device__ __forceinline__ double
charges_of(const struct md_view &m, const struct card_term &t, int a, int b)
{
    return charge_of(m, t.slot[a]) * charge_of(m, t.slot[b]);
}

/* The ends of a CHARMM dihedral. */
template <class Sums>
static __device__ __forceinline__ void
run_ends(const struct md_view &m, const struct term_view &b,
         const struct card_term &t, int k, double weight, Sums *s)
{
    double c12 = 0, c6 = 0;
    double qq = weight * b.coulomb.constant * charges_of(m, t, 0, 3);
    if (b.lj14) {
        int species = m.pair[t.slot[0]].species;
        const struct md_lj14 *c =
            &b.lj14[species * m.n_species + m.pair[t.slot[3]].species];
        c12 = weight * c->c12;
        c6 = weight * c->c6;
    }
    run_own_pair(m, t, 0, 3, k, c12, c6, qq, s);
}

/* A pair that has coefficients of its own. */
template <class Sums>
static __device__ __forceinline__ void run_pair14(const struct md_view &m,
                                                  const struct term_view &b,
                                                  uint32_t at, int k, Sums *s)
{
    const struct card_term &t = b.list.term[at];
    const struct md_pair14 *c = &b.pairs14[t.type];
    double qq =
        b.coulomb.constant * (c->qq + c->weight * charges_of(m, t, 0, 1));
    run_own_pair(m, t, 0, 1, k, c->c12, c->c6, qq, s);
}

/* What particles few bonds apart are left of their pair: they are not in the
 * pair list, and here by their shares. A mesh has the whole of their Coulomb
 * sum: what bonds take away is taken off. FORMS: there may be other pairs than
 * Lennard-Jones. */
template <int FORMS, class Sums>
static __device__ __forceinline__ void run_special(const struct md_view &m,
                                                   const struct term_view &b,
                                                   uint32_t at, int k, Sums *s)
{
    const struct card_term &t = b.list.term[at];
    double d[3], g = 0, gq = 0, u = 0, share = b.special_lj[t.type];
    difference(m, t.slot[0], t.slot[1], d);
    double r2 = dot3(d, d);
    int row = m.pair[t.slot[0]].species * m.n_species;
    int pair = row + m.pair[t.slot[1]].species;
    if (share > 0 && r2 < b.pairs[pair].cutoff2) {
        if (FORMS && b.forms)
            u = exact_pair(b.forms + pair, b.near, m.id, t.slot[0], t.slot[1],
                           r2, &g);
        else
            u = lj_pair(b.pairs + pair, b.switch_from, r2, &g);
    }
    if (b.charged) {
        double qq = charges_of(m, t, 0, 1);
        double uq =
            coulomb_special(&b.coulomb, b.special_coulomb[t.type], r2, &gq);
        gq *= qq;
        s->energy(MD_ENERGY_COULOMB, 0.5, qq * uq);
    }
    add_pair(s, k == 0, 0.5, d, share * g + gq);
    s->energy(MD_ENERGY_PAIR, 0.5, share * u);
}

#endif
