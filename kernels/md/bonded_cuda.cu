/* bonded_cuda.cu: forces of terms along bonds, one thread a particle over the
 * terms that it is in. See terms_cuda.h.
 *
 * A FENE bond that is longer than it can be leaves its length and place, as one
 * number of which the card keeps the greatest: check() names the longest.
 */
#include "kernels/md/bonded_cuda.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/md/team_cuda.h"
#include "kernels/md/term_errors.h"

/* ---- terms; k: the particle's place in it ---- */

static __device__ __forceinline__ void note_broken(const struct term_view &b,
                                                   uint32_t term, double r2)
{
    unsigned long long length = __float_as_uint((float)sqrt(r2));
    atomicMin(b.broken, ~(length << 32 | term));
}

template <int WANT, class Sums>
static __device__ __forceinline__ void run_bond(const struct md_view &m,
                                                const struct term_view &b,
                                                uint32_t at, int k, Sums *s)
{
    const struct card_term &t = b.list.term[at];
    double d[3], g;
    int broken = 0;
    difference(m, t.slot[0], t.slot[1], d);
    double r2 = dot3(d, d);
    double u = bond_terms(&b.bonds[t.type], r2, WANT, &g, &broken);
    if (broken)
        note_broken(b, at, r2);
    add_pair(s, k == 0, 0.5, d, g);
    s->energy(MD_ENERGY_BOND, 0.5, u);
}

template <class Sums>
static __device__ __forceinline__ void run_angle(const struct md_view &m,
                                                 const struct term_view &b,
                                                 uint32_t at, int k, Sums *s)
{
    const struct card_term &t = b.list.term[at];
    const double third = 1.0 / 3;
    double u[3], v[3], f_i[3] = {0, 0, 0}, f_k[3] = {0, 0, 0}, f[3];
    difference(m, t.slot[0], t.slot[1], u);
    difference(m, t.slot[2], t.slot[1], v);
    double energy = angle_energy(&b.angles[t.type], u, v, f_i, f_k);
    for (int d = 0; d < 3; d++)
        f[d] = k == 0 ? f_i[d] : k == 2 ? f_k[d] : -f_i[d] - f_k[d];
    s->push(1, f);
    s->energy(MD_ENERGY_ANGLE, third, energy);
    s->virial(third, f_i, u);
    s->virial(third, f_k, v);
}

static __device__ __forceinline__ double
improper_energy(const struct md_improper_coeff *c, const struct torsion *t,
                double *slope)
{
    switch (c->style) {
    case MD_IMPROPER_HARMONIC:
        return improper_harmonic(c, t, slope);
    case MD_IMPROPER_SIGNED:
        return improper_signed(c, t, slope);
    case MD_IMPROPER_CVFF:
        return improper_cvff(c, t, slope);
    case MD_IMPROPER_NONE:
        break;
    }
    return 0;
}

template <class Sums>
static __device__ __forceinline__ void run_torsion(const struct md_view &m,
                                                   const struct term_view &b,
                                                   uint32_t at, int k, Sums *s)
{
    const struct card_term &t = b.list.term[at];
    double f[3], g[3], h[3], slope = 0, u, force[4][3], own[3], x_i[3];
    struct torsion angle;
    difference(m, t.slot[0], t.slot[1], f);
    difference(m, t.slot[1], t.slot[2], g);
    difference(m, t.slot[3], t.slot[2], h);
    torsion_of(f, g, h, &angle);
    int improper = t.kind == MD_TERM_IMPROPER;
    u = improper ? improper_energy(&b.impropers[t.type], &angle, &slope)
                 : dihedral_energy(&b.dihedrals[t.type], &angle, &slope);
    for (int e = 0; e < 4; e++)
        for (int d = 0; d < 3; d++)
            force[e][d] = 0;
    torsion_forces(&angle, slope, force);
    for (int d = 0; d < 3; d++) {
        own[d] = k < 2 ? (k == 0 ? force[0][d] : force[1][d])
                       : (k == 2 ? force[2][d] : force[3][d]);
        x_i[d] = f[d] + g[d];
    }
    s->push(1, own);
    s->energy(improper ? MD_ENERGY_IMPROPER : MD_ENERGY_DIHEDRAL, 0.25, u);
    /* Positions relative to the third particle. */
    s->virial(0.25, force[0], x_i);
    s->virial(0.25, force[1], g);
    s->virial(0.25, force[3], h);
    if (!improper && b.dihedrals[t.type].style == MD_DIHEDRAL_CHARMM &&
        b.dihedrals[t.type].weight > 0)
        run_ends(m, b, t, k, b.dihedrals[t.type].weight, s);
}

template <class Sums>
static __device__ __forceinline__ void run_cmap(const struct md_view &m,
                                                const struct term_view &b,
                                                uint32_t at, int k, Sums *s)
{
    const struct card_term &t = b.list.term[at];
    struct cmap_shape x;
    double force[5][3], own[3], first[3], last[3];
    difference(m, t.slot[0], t.slot[1], x.f);
    difference(m, t.slot[1], t.slot[2], x.g);
    difference(m, t.slot[3], t.slot[2], x.h);
    difference(m, t.slot[4], t.slot[3], x.e);
    double u = cmap_forces(&b.cmaps[t.type], b.cmap_nodes, &x, force);
    for (int d = 0; d < 3; d++) {
        own[d] = force[4][d];
        for (int e = 0; e < 4; e++)
            own[d] = k == e ? force[e][d] : own[d];
        first[d] = x.f[d] + x.g[d];
        last[d] = x.h[d] + x.e[d];
    }
    s->push(1, own);
    s->energy(MD_ENERGY_CMAP, 0.2, u);
    /* Positions relative to the third particle. */
    s->virial(0.2, force[0], first);
    s->virial(0.2, force[1], x.g);
    s->virial(0.2, force[3], x.h);
    s->virial(0.2, force[4], last);
}

/* What a kernel knows: all terms but correction maps; these, and pairs of other
 * forms; all; pairs few bonds apart alone, as in rigid water, with a fraction
 * of the registers. */
enum { TERMS_PLAIN, TERMS_FORMS, TERMS_ALL, TERMS_PAIRS, TERMS_KINDS };

template <int TERMS, int WANT, class Sums>
static __device__ __forceinline__ void run_term(const struct md_view &m,
                                                const struct term_view &b,
                                                uint32_t at, int k, Sums *s)
{
    int kind = b.list.term[at].kind;
    if (kind == MD_TERM_SPECIAL)
        run_special<TERMS == TERMS_FORMS || TERMS == TERMS_ALL>(m, b, at, k, s);
    else if (kind == MD_TERM_PAIR14)
        run_pair14(m, b, at, k, s);
    else if (TERMS == TERMS_PAIRS)
        return;
    else if (TERMS == TERMS_ALL && kind == MD_TERM_CMAP)
        run_cmap(m, b, at, k, s);
    else if (kind == MD_TERM_BOND)
        run_bond<WANT>(m, b, at, k, s);
    else if (kind == MD_TERM_ANGLE)
        run_angle(m, b, at, k, s);
    else
        run_torsion(m, b, at, k, s);
}

template <int TERMS, int WANT, class Sums>
static __device__ __forceinline__ void run_terms(const struct md_view &m,
                                                 const struct term_view &b,
                                                 struct row_range row, Sums *s)
{
    for (uint32_t q = row.begin; q < row.end; q++)
        run_term<TERMS, WANT>(m, b, b.list.entry[q] / TERM_PLACES,
                              (int)(b.list.entry[q] % TERM_PLACES), s);
}

/* ---- kernels ---- */

/* On a multiprocessor, at least: leaves 128 registers to a thread. */
enum { BLOCKS_AT_ONCE = 4 };

/* Forces are added to those that are there. WANT: sums, with 2 also the virial
 * by directions; each block's go to the columns of out. */
template <int TERMS, int WANT>
static __device__ __forceinline__ void term_force(const struct md_view &m,
                                                  const struct term_view &b)
{
    uint32_t i = thread_index();
    struct row_range row = {0, 0};
    struct term_sums<ADD_PLAIN, WANT> s;
    memset(&s, 0, sizeof s);
    if (i < m.n_own)
        row = row_of(b.list.rows, i);
    if (row.begin < row.end) {
        run_terms<TERMS, WANT>(m, b, row, &s);
        for (int d = 0; d < 3; d++)
            m.f[d * m.stride + i] += (scalar)s.force[d].value;
    }
    if (WANT > 0) {
        __shared__ double shared[MD_THREADS / 32];
        for (int q = 0; q < SUMS_OF(WANT); q++) {
            double total = block_sum(s.sum[q].value, shared);
            if (threadIdx.x == 0)
                b.out[q * gridDim.x + blockIdx.x] = total;
        }
    }
}

/* Add to the sums that are there; the new ones' number. */
static __device__ __forceinline__ double
add_to_sum(const struct term_view &b, size_t at, struct term_sum<ADD_FIXED> sum)
{
    sum.value += b.fixed[at];
    b.fixed[at] = sum.value;
    return sum.number() * b.unit.per_force;
}

static __device__ __forceinline__ double
add_to_sum(const struct term_view &b, size_t at, struct term_sum<ADD_WIDE> sum)
{
    sum.value.high += b.wide[at].high;
    sum.value.low += b.wide[at].low;
    b.wide[at] = sum.value;
    return sum.number() * b.wide_unit.per_force;
}

/* The same with sums in any order; a particle's own go to the columns. */
template <int TERMS, int HOW, int WANT>
static __device__ __forceinline__ void
term_force_fixed(const struct md_view &m, const struct term_view &b)
{
    uint32_t i = thread_index();
    if (i >= m.n_own)
        return;
    struct term_sums<HOW, WANT> s;
    memset(&s, 0, sizeof s);
    s.force_unit = HOW == ADD_WIDE ? b.wide_unit.force : b.unit.force;
    s.energy_unit = HOW == ADD_WIDE ? b.wide_unit.energy : b.unit.energy;
    struct row_range row = row_of(b.list.rows, i);
    if (row.begin < row.end) {
        run_terms<TERMS, WANT>(m, b, row, &s);
        for (int d = 0; d < 3; d++) {
            size_t at = d * m.stride + i;
            m.f[at] = (scalar)add_to_sum(b, at, s.force[d]);
        }
    }
    double per_energy =
        HOW == ADD_WIDE ? b.wide_unit.per_energy : b.unit.per_energy;
    for (int q = 0; q < SUMS_OF(WANT); q++)
        b.out[q * m.stride + i] = s.sum[q].number() * per_energy;
    if (HOW == ADD_WIDE ? wide_left_range(s.reach) || wide_left_range(s.reach_e)
                        : left_range(s.reach) || left_range(s.reach_e))
        atomicMin(b.beyond, (unsigned long long)m.id[i]);
}

static struct term_view view_of(const struct md_store *s, int side)
{
    const struct md_force_field *f = &s->terms->field;
    struct term_view b;
    b.list = cuda_listed_terms(s, side);
    b.bonds = ARRAY(s, ARRAY_BONDS, struct md_bond_coeff);
    b.angles = ARRAY(s, ARRAY_ANGLES, struct md_angle_coeff);
    b.dihedrals = ARRAY(s, ARRAY_DIHEDRALS, struct md_dihedral_coeff);
    b.impropers = ARRAY(s, ARRAY_IMPROPERS, struct md_improper_coeff);
    b.lj14 = f->lj14 ? ARRAY(s, ARRAY_LJ14, struct md_lj14) : NULL;
    b.pairs14 = ARRAY(s, ARRAY_PAIRS14, struct md_pair14);
    b.cmaps = ARRAY(s, ARRAY_CMAPS, struct md_cmap);
    b.cmap_nodes = ARRAY(s, ARRAY_CMAP_NODES, struct md_cmap_node);
    b.pairs = ARRAY(s, ARRAY_EXACT_PAIRS, struct lj_coeff);
    b.forms = ARRAY(s, ARRAY_FORM_EXACT, struct md_pair_form);
    b.near = ARRAY(s, ARRAY_FORM_NEAR, struct near_pair);
    for (int k = 0; k < 3; k++) {
        b.special_lj[k] = f->special_lj[k];
        b.special_coulomb[k] = f->special_coulomb[k];
    }
    b.switch_from = f->switch_from;
    b.charged = s->coulomb;
    b.coulomb = f->coulomb;
    b.unit = s->fixed;
    b.fixed = ARRAY(s, ARRAY_FIXED, fixed_sum);
    b.wide_unit = s->wide;
    b.wide = ARRAY(s, ARRAY_WIDE, struct wide_sum);
    b.out = s->setup.deterministic ? ARRAY(s, ARRAY_COLUMNS, double)
                                   : ARRAY(s, ARRAY_PARTIAL, double);
    b.beyond = ARRAY(s, ARRAY_BEYOND, unsigned long long);
    b.broken = ARRAY(s, ARRAY_BROKEN, unsigned long long);
    return b;
}

/* With correction maps a thread has up to 168 registers, others 128 at most. */
static constexpr int blocks_of(int terms)
{
    return terms == TERMS_ALL ? BLOCKS_AT_ONCE / 2 : BLOCKS_AT_ONCE;
}

template <int TERMS, int WANT> static constexpr auto plain_kernel(void)
{
    return kernel_of<term_force<TERMS, WANT>, 1, blocks_of(TERMS)>();
}

template <int TERMS, int HOW, int WANT> static constexpr auto fixed_kernel(void)
{
    return kernel_of<term_force_fixed<TERMS, HOW, WANT>, 1, blocks_of(TERMS)>();
}

typedef decltype(plain_kernel<TERMS_PLAIN, 0>()) term_kernel;

static term_kernel choose_kernel(const struct md_store *s, int want, int halo)
{
    static const term_kernel plain[TERMS_KINDS][3] = {
        {plain_kernel<TERMS_PLAIN, 0>(), plain_kernel<TERMS_PLAIN, 1>(),
         plain_kernel<TERMS_PLAIN, 2>()},
        {plain_kernel<TERMS_FORMS, 0>(), plain_kernel<TERMS_FORMS, 1>(),
         plain_kernel<TERMS_FORMS, 2>()},
        {plain_kernel<TERMS_ALL, 0>(), plain_kernel<TERMS_ALL, 1>(),
         plain_kernel<TERMS_ALL, 2>()},
        {plain_kernel<TERMS_PAIRS, 0>(), plain_kernel<TERMS_PLAIN, 1>(),
         plain_kernel<TERMS_PLAIN, 2>()}};
    static const term_kernel in_any_order[3][2] = {
        {fixed_kernel<TERMS_PLAIN, ADD_FIXED, 0>(),
         fixed_kernel<TERMS_PLAIN, ADD_FIXED, 2>()},
        {fixed_kernel<TERMS_ALL, ADD_FIXED, 0>(),
         fixed_kernel<TERMS_ALL, ADD_FIXED, 2>()},
        {fixed_kernel<TERMS_ALL, ADD_WIDE, 0>(),
         fixed_kernel<TERMS_ALL, ADD_WIDE, 2>()}};
    int maps = s->terms->has_maps[halo];
    if (s->setup.deterministic)
        return in_any_order[s->wide_sums ? 2 : maps][want > 0];
    return plain[maps                         ? TERMS_ALL
                 : s->forms                   ? TERMS_FORMS
                 : s->terms->pairs_only[halo] ? TERMS_PAIRS
                                              : TERMS_PLAIN][want];
}

/* want: as of the kernels. */
static int launch(struct md_store *s, int want, int halo)
{
    TRY(cuda_run(s, "term_force", choose_kernel(s, want, halo),
                 cuda_own_blocks(s), s->view, view_of(s, halo)));
    /* Two ends of a particle's list, and forces; of an entry its term and the
     * places of, about, three. */
    tally_own(s, sizeof(uint32_t) + 6 * sizeof(scalar));
    s->tally.bytes += (double)s->terms->n_entries[halo] *
                      (sizeof(uint32_t) + sizeof(struct card_term) +
                       3 * sizeof(struct pair_position));
    return 0;
}

int cuda_launch_terms(struct md_store *s, int halo, int want)
{
    if (s->terms->n_entries[halo] == 0)
        return 0;
    TRY(launch(s, want, halo));
    return want ? cuda_send_own_sums(s, SUMS_OF(want), s->result->terms[halo])
                : 0;
}

void cuda_terms_add(const double *out, struct md_sums *sums)
{
    int n = SUMS_OF(sums->with_tensor ? 2 : 1);
    for (int e = 0; e <= MD_ENERGY_CMAP; e++) {
        sums->part[e] += out[e];
        sums->energy += out[e];
    }
    sums->virial += out[SUM_VIRIAL];
    for (int t = SUM_TENSOR; t < n; t++)
        sums->tensor[t - SUM_TENSOR] += out[t];
}

/* ---- broken bonds ---- */

int cuda_fetch_broken(struct md_store *s)
{
    if (!s->terms->may_break)
        return 0;
    return cuda_send(s, &s->result->broken, s->array[ARRAY_BROKEN].p,
                     sizeof s->result->broken);
}

int cuda_fail_broken(struct md_store *s, unsigned long long broken)
{
    struct card_terms *t = s->terms;
    if (!t->may_break)
        return 0;
    t->unchecked = 0;
    if (broken == ~0ull)
        return 0;
    broken = ~broken;
    uint32_t bits = (uint32_t)(broken >> 32), at = (uint32_t)broken;
    float length;
    memcpy(&length, &bits, sizeof length);
    if (at >= t->n)
        return FAIL(s->ctx, STATUS_INTERNAL, "a bond broke that is not there");
    const struct card_term *term = &t->term[at];
    int64_t ids[2] = {t->id[term->slot[0]], t->id[term->slot[1]]};
    return fail_broken(s->ctx, ids, (double)length,
                       t->field.bonds[term->type].r0);
}

int cuda_check_broken(struct md_store *s)
{
    unsigned long long broken = 0;
    if (!s->terms->unchecked)
        return 0;
    TRY(cuda_to_host(s->ctx, s->device, &broken, s->array[ARRAY_BROKEN].p,
                     sizeof broken));
    return cuda_fail_broken(s, broken);
}
