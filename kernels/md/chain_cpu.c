/* chain_cpu.c: FENE bonds, as each particle finds them.
 *
 * A bond is computed from both of its sides, so that particles of a vector
 * stand side by side and only their partners are picked one by one; no force is
 * scattered. Where all pairs have the Lennard-Jones of the bonds, a bonded pair
 * stays in the pair list, which has no partners to leave out then, and the bond
 * has what is left: its logarithm, and what the two cutoffs differ by. Energies
 * are told apart as ever.
 */
#include "kernels/md/chain_cpu.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "kernels/md/bonded.h"
#include "kernels/md/pairs.h"
#include "kernels/md/tensor.h"
#include "kernels/simd_pack.h"

/* Per type: k, 1 / r0^2, 24 epsilon, sigma^2. */
enum { BOND_K, BOND_PER_R02, BOND_DEPTH, BOND_S2, CHAIN_TERMS };
_Static_assert((int)CHAIN_TERMS == 4, "simd_rows_of() loads four");

enum { WIDTH_MOST = 8, TYPES_MOST = 256 };

static const double cube_root_of_2 = 1.2599210498948731648;

/* ---- what can be done so ---- */

static int nearly(double a, double b)
{
    return fabs(a - b) <= 1e-12 * fabs(b);
}

/* Whether the pair list has the Lennard-Jones of all bonds, and bonds keep
 * nobody else apart. */
static int may_join(const struct md_store *s)
{
    const struct md_force_field *f = s->setup.field;
    int n = s->setup.n_species;
    const struct lj_coeff *first = s->coeff;
    if (s->setup.eam || s->setup.tables || s->setup.force_shift ||
        s->setup.apart || f->switch_from > 0 || s->setup.charged ||
        f->special_lj[0] > 0 || f->special_lj[1] < 1 || f->special_lj[2] < 1)
        return 0;
    for (int k = 1; k < n * n; k++)
        if (!nearly(s->coeff[k].c12, first->c12) ||
            !nearly(s->coeff[k].c6, first->c6) ||
            !nearly(s->coeff[k].cutoff2, first->cutoff2))
            return 0;
    for (int k = 0; k < f->n_bonds; k++) {
        double s6 = pow(f->bonds[k].sigma, 6);
        double c6 = 4 * f->bonds[k].epsilon * s6;
        if (!nearly(c6, first->c6) || !nearly(c6 * s6, first->c12))
            return 0;
    }
    return 1;
}

int md_chain_create(struct md_store *s)
{
    const struct md_force_field *f = s->setup.field;
    struct md_chain *c = s->terms->chain = calloc(1, sizeof *c);
    if (!c)
        return -1;
    c->width = 2;
    c->able = f->n_bonds > 0 && f->n_bonds <= TYPES_MOST;
    for (int k = 0; k < f->n_bonds; k++)
        c->able &= f->bonds[k].style == MD_BOND_FENE;
    if (!c->able)
        return 0;
    c->joinable = may_join(s);
    size_t capacity = 0,
           rows = (size_t)(f->n_bonds > LANES ? f->n_bonds : LANES);
    if (md_grow((void **)&c->table, &capacity, rows * CHAIN_TERMS,
                sizeof *c->table) != 0)
        return -1;
    memset(c->table, 0, rows * CHAIN_TERMS * sizeof *c->table);
    for (int k = 0; k < f->n_bonds; k++) {
        const struct md_bond_coeff *b = &f->bonds[k];
        scalar *row = c->table + CHAIN_TERMS * k;
        row[BOND_K] = (scalar)b->k;
        row[BOND_PER_R02] = (scalar)(1 / (b->r0 * b->r0));
        row[BOND_DEPTH] = (scalar)(24 * b->epsilon);
        row[BOND_S2] = (scalar)(b->sigma * b->sigma);
    }
    return 0;
}

void md_chain_destroy(struct md_chain *c)
{
    if (!c)
        return;
    free(c->at);
    free(c->type);
    free(c->valid);
    free(c->copies);
    free(c->table);
    free(c);
}

/* ---- partners ---- */

/* Whether types are looked at. */
static inline int has_types(const struct md_store *s)
{
    return s->terms->field.n_bonds > 1 || s->setup.tilted;
}

static int clear_places(struct md_store *s, struct md_chain *c)
{
    size_t clusters = (size_t)s->n_clusters;
    size_t places = clusters * (size_t)c->width;
    if (md_grow((void **)&c->at, &c->cap_at, places * (size_t)LANES + 1,
                sizeof *c->at) != 0 ||
        md_grow((void **)&c->type, &c->cap_type, places * (size_t)LANES + 1,
                sizeof *c->type) != 0 ||
        md_grow((void **)&c->valid, &c->cap_valid, places + 1,
                sizeof *c->valid) != 0 ||
        md_grow((void **)&c->copies, &c->cap_copies, clusters + 1,
                sizeof *c->copies) != 0)
        return -1;
    memset(c->valid, 0, places * sizeof *c->valid);
    memset(c->copies, 0, clusters * sizeof *c->copies);
    if (has_types(s))
        memset(c->type, 0, places * (size_t)LANES * sizeof *c->type);
    for (size_t cluster = 0; cluster < clusters; cluster++)
        for (size_t k = 0; k < (size_t)c->width; k++) {
            uint32_t *at =
                c->at + (cluster * (size_t)c->width + k) * (size_t)LANES;
            for (uint32_t l = 0; l < (uint32_t)LANES; l++)
                at[l] = (uint32_t)CLUSTER(cluster) + l;
        }
    return 0;
}

/* One partner more of an own slot, or -1: it has too many. */
static inline int put_partner(const struct md_store *s, struct md_chain *c,
                              uint32_t slot, uint32_t partner, int type)
{
    size_t cluster = slot / (uint32_t)LANES, lane = slot % (uint32_t)LANES;
    size_t place = cluster * (size_t)c->width, end = place + (size_t)c->width;
    while (place < end && c->valid[place] >> lane & 1)
        place++;
    if (place == end)
        return -1;
    c->valid[place] |= (uint16_t)(1u << lane);
    c->at[place * (size_t)LANES + lane] = (uint32_t)SLOT(partner, 0);
    if (has_types(s))
        c->type[place * (size_t)LANES + lane] = (uint8_t)type;
    c->copies[cluster] |= partner >= (uint32_t)s->n_clusters * (uint32_t)LANES;
    return 0;
}

/* 0, -1: more bonds than there is room for, or -2: a particle is not here. */
static int place_bonds(const struct md_store *s, struct md_chain *c)
{
    const struct md_terms *t = s->terms;
    uint32_t own = (uint32_t)s->n_clusters * (uint32_t)LANES;
    for (size_t k = 0; k < t->n_known && t->known[k].kind == MD_TERM_BOND;
         k++) {
        const struct md_term *term = &t->known[k];
        uint32_t a = md_slot_of(s, term->id[0]);
        uint32_t b = md_slot_of(s, term->id[1]);
        if (a == UINT32_MAX || b == UINT32_MAX)
            return -2;
        if ((a < own && put_partner(s, c, a, b, term->type) != 0) ||
            (b < own && put_partner(s, c, b, a, term->type) != 0))
            return -1;
    }
    return 0;
}

/* How many times a partner is bound to an own slot. */
static int times_bound(const struct md_chain *c, uint32_t slot,
                       uint32_t partner)
{
    size_t cluster = slot / (uint32_t)LANES, lane = slot % (uint32_t)LANES;
    size_t place = cluster * (size_t)c->width, end = place + (size_t)c->width;
    int n = 0;
    for (; place < end && c->valid[place] >> lane & 1; place++)
        n += c->at[place * (size_t)LANES + lane] == (uint32_t)SLOT(partner, 0);
    return n;
}

static int same_pair(const struct md_term *a, const struct md_term *b)
{
    return a->id[0] == b->id[0] && a->id[1] == b->id[1];
}

/* Whether bonds and pairs that bonds keep apart come in the same order, none
 * twice: then they are the same, and nobody need be looked for. */
static int apart_in_order(const struct md_terms *t)
{
    const struct md_term *first = t->known, *end = first + t->n_known;
    const struct md_term *bond = first;
    const struct md_term *apart = first + md_first_of_kind(t, MD_TERM_SPECIAL);
    for (; bond < end && bond->kind == MD_TERM_BOND; bond++, apart++)
        if (apart == end || apart->kind != MD_TERM_SPECIAL ||
            !same_pair(apart, bond) ||
            (bond > first && same_pair(bond - 1, bond)))
            return 0;
    return apart == end || apart->kind != MD_TERM_SPECIAL;
}

/* Whether those whom bonds keep apart are those who have a bond, each one. */
static int apart_are_bound(const struct md_store *s, const struct md_chain *c)
{
    const struct md_terms *t = s->terms;
    uint32_t own = (uint32_t)s->n_clusters * (uint32_t)LANES;
    size_t bonds = 0, apart = 0;
    for (size_t k = 0; k < t->n_known; k++) {
        const struct md_term *term = &t->known[k];
        bonds += term->kind == MD_TERM_BOND;
        if (term->kind != MD_TERM_SPECIAL)
            continue;
        apart++;
        uint32_t a = md_slot_of(s, term->id[0]);
        uint32_t b = md_slot_of(s, term->id[1]);
        if (a == UINT32_MAX || b == UINT32_MAX ||
            (a < own && times_bound(c, a, b) != 1) ||
            (b < own && times_bound(c, b, a) != 1))
            return 0;
    }
    return bonds == apart;
}

int md_chain_place(struct ctx *ctx, struct md_store *s, int fresh)
{
    struct md_chain *c = s->terms->chain;
    int left = -1;
    c->on = 0;
    for (; c->able && left == -1 && c->width <= WIDTH_MOST; c->width++) {
        if (clear_places(s, c) != 0)
            return FAIL(ctx, STATUS_MEMORY, "no memory to find bonds");
        left = place_bonds(s, c);
        if (left == 0)
            break;
    }
    c->on = left == 0;
    if (!c->on)
        c->joined = 0;
    else if (fresh)
        c->joined =
            c->joinable && (apart_in_order(s->terms) || apart_are_bound(s, c));
    return 0;
}

void md_for_each_bond(const struct md_store *s, md_chain_fn visit, void *user)
{
    const struct md_chain *c = s->terms->chain;
    size_t places = (size_t)s->n_clusters * (size_t)c->width;
    for (size_t place = 0; c->on && place < places; place++)
        for (size_t l = 0; l < (size_t)LANES; l++) {
            size_t k = place * (size_t)LANES + l,
                   cluster = place / (size_t)c->width;
            if (!(c->valid[place] >> l & 1))
                continue;
            uint32_t slot = (uint32_t)(cluster * (size_t)LANES + l);
            uint32_t lane = c->at[k] % (uint32_t)LANES;
            uint32_t partner = (c->at[k] - lane) / 3 + lane;
            visit(s, slot, partner, has_types(s) ? c->type[k] : 0, user);
        }
}

/* ---- forces ---- */

KERNEL_FN real pick(const scalar *x, const uint32_t *at)
{
    real r = {0};
    for (int l = 0; l < LANES; l++)
        r[l] = x[at[l]];
    return r;
}

/* The nearest whole number, by what is lost when a large one is added. */
KERNEL_FN real nearest(real a)
{
    const real large =
        simd_set(sizeof(scalar) == 8 ? (scalar)0x1.8p52 : (scalar)0x1.8p23);
    return (a + large) - large;
}

/* What the loop reads, in registers. */
struct chain_box {
    real length[3], per[3], tilt[3];
};

/* nearest_difference() of vectors. */
KERNEL_FN void bring_near(const struct chain_box *b, const int tilted,
                          real d[3])
{
    for (int k = 2; k >= 0; k--) {
        real turns = nearest(d[k] * b->per[k]);
        d[k] -= b->length[k] * turns;
        if (tilted && k == 2)
            d[1] -= turns * b->tilt[2];
        if (tilted && k > 0)
            d[0] -= turns * b->tilt[k - 1];
    }
}

static void load_box(const struct md_store *s, struct chain_box *b)
{
    for (int k = 0; k < 3; k++) {
        b->length[k] = simd_set((scalar)s->setup.box_length[k]);
        b->per[k] = simd_set((scalar)(1 / s->setup.box_length[k]));
        b->tilt[k] = simd_set((scalar)s->setup.tilt[k]);
    }
}

/* Lennard-Jones of a bond over the distance, below 2^(1/6) sigma; where the
 * pair list has it, what is left of that. */
KERNEL_FN real lennard_jones(const real row[CHAIN_TERMS], real cut2, real r2,
                             simd_mask valid, const int joined)
{
    const real one = simd_set(1);
    real end2 = row[BOND_S2] * simd_set((scalar)cube_root_of_2);
    simd_mask inside = simd_less_in(valid, r2, end2), listed = inside;
    if (joined) { /* hardly ever is a bond between the two cutoffs */
        listed = simd_less_in(valid, r2, cut2);
        if (__builtin_expect(simd_bits(inside) == simd_bits(listed), 1))
            return (real){0};
    }
    real over = one / r2, t2 = row[BOND_S2] * over, t6 = t2 * t2 * t2;
    real lj = row[BOND_DEPTH] * t6 * (2 * t6 - one) * over;
    if (joined)
        return simd_keep(inside, lj) - simd_keep(listed, lj);
    return simd_keep(inside, lj);
}

/* Energy and virial of one lane: half of the bond. */
static __attribute__((noinline)) void add_lane(struct bonded_run *r, int type,
                                               const double d[3], double g)
{
    const struct md_store *s = r->s;
    const struct lj_coeff *c = s->coeff;
    double r2 = dot3(d, d), unused, force[3];
    if (r->want == BONDED_ALL)
        r->energy[MD_ENERGY_BOND] +=
            0.5 *
            bond_terms(&r->field->bonds[type], r2, 1, &unused, &r->broken);
    if (r->want == BONDED_ALL && s->terms->chain->joined && r2 < c->cutoff2)
        r->energy[MD_ENERGY_PAIR] -= 0.5 * lj_pair(c, 0, r2, &unused);
    r->virial += 0.5 * g * r2;
    for (int k = 0; k < 3; k++)
        force[k] = g * d[k];
    if (s->tensor)
        add_tensor(r->tensor, 0.5, force, d);
}

static __attribute__((noinline)) void
add_sums(struct bonded_run *r, size_t place, const real d[3], real g)
{
    const struct md_chain *c = r->s->terms->chain;
    for (int l = 0; l < LANES; l++) {
        double way[3] = {(double)d[0][l], (double)d[1][l], (double)d[2][l]};
        int type =
            has_types(r->s) ? c->type[place * (size_t)LANES + (size_t)l] : 0;
        if (c->valid[place] >> l & 1)
            add_lane(r, type, way, (double)g[l]);
    }
}

/* Clusters [first, last) of those with or without copies. */
KERNEL_FN void run_clusters(struct bonded_run *r, int with_copies,
                            const int many, const int joined, const int tilted)
{
    const struct md_store *s = r->s;
    const struct md_chain *c = s->terms->chain;
    const scalar *x = s->pair_x;
    const real one = simd_set(1), cut2 = simd_set((scalar)s->coeff->cutoff2);
    const int width = c->width;
    struct chain_box box;
    real row[CHAIN_TERMS];
    uint32_t broken = 0;

    load_box(s, &box);
    for (int k = 0; k < CHAIN_TERMS; k++)
        row[k] = simd_set(c->table[k]);
    for (int32_t i = r->w->first; i < r->w->last; i++) {
        const real *xi = (const real *)(x + CLUSTER(i));
        real f[3] = {{0}, {0}, {0}};
        if (c->copies[i] != with_copies)
            continue;
        for (int k = 0; k < width; k++) {
            size_t place = (size_t)i * (size_t)width + (size_t)k;
            uint32_t bits = c->valid[place];
            const uint32_t *at = c->at + place * (size_t)LANES;
            if (!bits)
                break; /* partners fill places in order */
            simd_mask valid = simd_mask_of_bits(bits);
            real d[3];
            KERNEL_UNROLL for (int q = 0; q < 3; q++) d[q] =
                xi[q] - pick(x + q * LANES, at);
            bring_near(&box, tilted, d);
            if (many)
                simd_rows_of(c->table, c->type + place * (size_t)LANES, row);
            real r2 = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
            real stretch = one - r2 * row[BOND_PER_R02];
            broken |=
                bits & ~simd_bits(simd_less_in(valid, (real){0}, stretch));
            real g = lennard_jones(row, cut2, r2, valid, joined) -
                     row[BOND_K] / stretch;
            g = simd_keep(valid, g);
            KERNEL_UNROLL for (int q = 0; q < 3; q++) f[q] += g * d[q];
            if (__builtin_expect(r->want, 0))
                add_sums(r, place, d, g);
        }
        real *to = (real *)(r->f + CLUSTER(i));
        KERNEL_UNROLL for (int q = 0; q < 3; q++) to[q] += f[q];
    }
    r->broken |= broken != 0;
}

/* One loop for each kind of deck. */
#define LOOP(name, many, joined, tilted)                             \
    static __attribute__((noinline)) void name(struct bonded_run *r, \
                                               int with_copies)      \
    {                                                                \
        run_clusters(r, with_copies, many, joined, tilted);          \
    }
LOOP(one_apart, 0, 0, 0)
LOOP(one_joined, 0, 1, 0)
LOOP(many_apart, 1, 0, 0)
LOOP(many_joined, 1, 1, 0)
LOOP(tilted_apart, 1, 0, 1)
LOOP(tilted_joined, 1, 1, 1)

void md_run_chain(struct bonded_run *r, int with_copies)
{
    static void (*const loops[3][2])(struct bonded_run *,
                                     int) = {{one_apart, one_joined},
                                             {many_apart, many_joined},
                                             {tilted_apart, tilted_joined}};
    const struct md_chain *c = r->s->terms->chain;
    int many = r->field->n_bonds > 1, tilted = r->s->setup.tilted;
    if (!c->on)
        return;
    loops[tilted ? 2 : many][c->joined](r, with_copies);
}
