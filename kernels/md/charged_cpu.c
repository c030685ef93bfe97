/* charged_cpu.c: Lennard-Jones and Coulomb forces over the pair list.
 *
 * Rows and tiles are walked as in lj_cpu.c. Coulomb's force and energy are
 * polynomials of the squared distance (segments.h), whatever the method, so
 * that there is one loop for all; particles nearer than those reach are rare
 * and get the exact functions. CHARMM's switch of Lennard-Jones is here, too,
 * and so are the pair potentials of table_cpu.h in its place, with or without
 * charges.
 */
#include "kernels/md/table_cpu.h"
#include "kernels/md/terms_cpu.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "kernels/md/lj.h"
#include "kernels/md/lj_rows.h"
#include "kernels/md/pairs.h"
#include "kernels/md/segments.h"
#include "kernels/md/tensor.h"

/* Doubles: 2 parts an octave, 3e-12 of the force; floats: 4, to rounding. */
#if KERNEL_SCALAR_BYTES == 8
enum { BITS = 1, DEGREE = 12, MANTISSA = 52 };
#define ONE_BITS INT64_C(0x3ff0000000000000)
#else
enum { BITS = 2, DEGREE = 5, MANTISSA = 23 };
#define ONE_BITS INT32_C(0x3f800000)
#endif
enum { SEGMENTS = SEGMENT_OCTAVES << BITS };

/* What the loops need of the charges, beside the charges. */
struct md_charges {
    scalar *force, *energy;       /* [DEGREE + 1][SEGMENTS], of unit charges */
    double cutoff2, least2;       /* of r2: the polynomials' end and start */
    double self;                  /* energy of a unit charge alone */
    int on;                       /* 0: no Coulomb */
    double from2;                 /* where the switch begins; 0: none */
    uint8_t bare[MD_SPECIES_MAX]; /* species without Lennard-Jones */
};

/* ---- tables ---- */

static double force_of(const void *user, double r2)
{
    double g;
    coulomb_pair(user, r2, &g);
    return g;
}

static double energy_of(const void *user, double r2)
{
    double g;
    return coulomb_pair(user, r2, &g);
}

static int make_table(segment_fn fn, const struct md_coulomb *q, scalar **out)
{
    double table[(DEGREE + 1) * SEGMENTS];
    size_t capacity = 0;
    if (md_grow((void **)out, &capacity, sizeof table / sizeof *table,
                sizeof **out) != 0)
        return -1;
    segment_table(fn, q, q->cutoff * q->cutoff, BITS, DEGREE, table);
    for (size_t k = 0; k < sizeof table / sizeof *table; k++)
        (*out)[k] = (scalar)table[k];
    return 0;
}

/* The damped shifted force neutralizes the sphere around each charge with the
 * charge's own mirror on its surface; a unit charge alone has the energy of
 * itself in that: Fennell and Gezelter (2006), as LAMMPS counts it. */
static double self_energy(const struct md_coulomb *q)
{
    const double root_pi = 1.7724538509055159;
    if (q->method != MD_COULOMB_DSF)
        return 0;
    double a = q->alpha, rc = q->cutoff;
    double at_end = erfc(a * rc) / rc;
    double slope = at_end / rc + 2 * a / root_pi * exp(-a * a * rc * rc) / rc;
    return -q->constant * (0.5 * (at_end + slope * rc) + a / root_pi);
}

int md_charges_create(struct ctx *ctx, struct md_store *s)
{
    const struct md_force_field none = {0};
    const struct md_force_field *field = s->terms ? &s->terms->field : &none;
    const struct md_coulomb *q = &field->coulomb;
    int n = s->setup.n_species;
    int on = s->setup.charged && q->method != MD_COULOMB_NONE;
    if (!on && !(field->switch_from > 0) && !s->tables)
        return 0;
    struct md_charges *c = s->charges = calloc(1, sizeof *c);
    if (!c)
        return FAIL(ctx, STATUS_MEMORY, "no memory for charges");
    c->on = on;
    c->from2 = field->switch_from * field->switch_from;
    for (int a = 0; a < n; a++) {
        c->bare[a] = 1;
        for (int b = 0; b < n; b++)
            if (s->tables ? s->coeff[a * n + b].cutoff > 0
                          : fabs(s->coeff[a * n + b].c12) +
                                    fabs(s->coeff[a * n + b].c6) >
                                0)
                c->bare[a] = 0;
    }
    if (!on)
        return 0;
    c->cutoff2 = q->cutoff * q->cutoff;
    c->least2 = ldexp(1, segment_first_octave(c->cutoff2));
    c->self = self_energy(q);
    if (make_table(force_of, q, &c->force) != 0 ||
        make_table(energy_of, q, &c->energy) != 0)
        return FAIL(ctx, STATUS_MEMORY, "no memory for charges");
    return 0;
}

void md_charges_destroy(struct md_charges *c)
{
    if (!c)
        return;
    free(c->force);
    free(c->energy);
    free(c);
}

double md_charges_self(const struct md_store *s)
{
    double sum = 0;
    size_t slots = (size_t)s->n_clusters * (size_t)LANES;
    if (!s->charges->on || !(fabs(s->charges->self) > 0))
        return 0;
    for (size_t i = 0; i < slots; i++)
        if (s->id[i] != 0)
            sum += (double)s->charge[i] * (double)s->charge[i];
    return s->charges->self * sum;
}

/* ---- one tile ---- */

enum { FORM_PLAIN, FORM_SHIFTED, FORM_SWITCHED, FORM_TABLE };

/* What is compiled into a loop. */
struct form {
    int few, form, charged, want;
};

struct row_sums {
    real f0, f1, f2, energy, coulomb, virial, tensor[6];
};

/* The particle i of a row. */
struct row_of {
    real x[3], charge; /* times Coulomb's constant: in the tables */
    int table_row;
    size_t slot;
    struct md_worker *w; /* for pairs that are too near */
};

/* CHARMM's switch, see lj_pair(): scales force over r and energy. */
KERNEL_FN void lj_switch(real r2, real cut2, real scale, real from2, real *g,
                         real *u)
{
    simd_mask outside = simd_less_in(simd_mask_of_bits(~0u), from2, r2);
    real over = simd_keep(outside, r2 - from2), left = cut2 - from2 - over;
    real s = left * left * (left + 3 * over) * scale;
    *g = *g * s + *u * (12 * left * over * scale);
    *u *= s;
}

KERNEL_FN void add_lj(const struct md_store *s, const struct row_of *i,
                      size_t j, simd_mask in, real r2, const struct form k,
                      real *force, real *energy)
{
    const uint8_t *species = s->species + j / 3;
    real terms[ROW_TERMS], inv6, u = {0};
    lj_rows(s, i->table_row, species, k.few, terms);
    real f12 = terms[ROW_F12], f6 = terms[ROW_F6], cut2 = terms[ROW_CUT2];
    real g = lj_force_over_r(r2, f12, f6, &inv6);
    if (k.want || k.form == FORM_SWITCHED)
        u = lj_energy(inv6, f12 / 12, f6 / 6);
    if (k.form == FORM_SWITCHED) {
        lj_switch(r2, cut2, terms[ROW_SLOPE],
                  simd_set((scalar)s->charges->from2), &g, &u);
    } else if (k.want) {
        u -= simd_lookup(s->table_shift + i->table_row, species, k.few);
    }
    if (k.form == FORM_SHIFTED) {
        real cut = simd_lookup(s->table_cut + i->table_row, species, k.few);
        real linear = lj_force_shift(simd_sqrt(r2), terms[ROW_SLOPE], cut, &g);
        if (k.want)
            u += linear;
    }
    simd_mask near = simd_less_in(in, r2, cut2);
    *force = simd_keep(near, g);
    *energy = simd_keep(near, u);
}

/* Lanes that are too near for the rows. */
static __attribute__((noinline, cold)) void
exact_pairs(const struct md_store *s, const struct row_of *i, size_t j,
            simd_mask close, const real *r2, real *force, real *energy)
{
    const real chosen = simd_keep(close, simd_set(1));
    for (int l = 0; l < LANES; l++) {
        double g;
        if (!(chosen[l] > 0))
            continue;
        double u = md_exact_pair(s, i->w, i->slot, j / 3 + (size_t)l,
                                 (double)(*r2)[l], &g);
        (*force)[l] = (scalar)g;
        (*energy)[l] = (scalar)u;
    }
}

/* Any other potential, from its rows. */
KERNEL_FN void add_table(const struct md_store *s, const struct row_of *i,
                         size_t j, simd_mask in, real r2, const struct form k,
                         real *force, real *energy)
{
    const struct md_tables *t = s->tables;
    const uint8_t *species = s->species + j / 3;
    real cut2 = simd_lookup(s->table_cut2 + i->table_row, species, k.few);
    real least2 = simd_lookup(t->least2 + i->table_row, species, k.few);
    real start = simd_lookup(t->start + i->table_row, species, k.few);
    real place, u = {0};
    lane_int at = table_row(t, start, r2, &place);
    real g = table_value(t->force, at, place);
    if (k.want)
        u = table_value(t->energy, at, place);
    simd_mask near = simd_less_in(in, r2, cut2);
    simd_mask close = simd_less_in(near, r2, least2);
    if (__builtin_expect(simd_any(close), 0))
        exact_pairs(s, i, j, close, &r2, &g, &u);
    *force = simd_keep(near, g);
    *energy = simd_keep(near, u);
}

/* Horner's rule in the segments of `at`. */
KERNEL_FN real polynomial(const scalar *table, lane_int at, real t)
{
    real sum = simd_pick(table + DEGREE * SEGMENTS, at);
    KERNEL_UNROLL for (int d = DEGREE - 1; d >= 0; d--) sum =
        sum * t + simd_pick(table + d * SEGMENTS, at);
    return sum;
}

/* Lanes that are too near for the polynomials. */
static __attribute__((noinline, cold)) void
exact_lanes(const struct md_store *s, simd_mask close, const real *r2,
            real *force, real *energy)
{
    const real chosen = simd_keep(close, simd_set(1));
    for (int l = 0; l < LANES; l++) {
        double g;
        if (!(chosen[l] > 0))
            continue;
        double u = coulomb_pair(&s->terms->field.coulomb, (double)(*r2)[l], &g);
        (*force)[l] = (scalar)g;
        (*energy)[l] = (scalar)u;
    }
}

KERNEL_FN void add_coulomb(const struct md_store *s, const struct row_of *i,
                           size_t j, simd_mask in, real r2, const struct form k,
                           real *force, real *energy)
{
    const struct md_charges *c = s->charges;
    const lane_int bits = (lane_int)r2;
    const KERNEL_MASK_SCALAR one = 1;
    const lane_int at = bits >> (MANTISSA - BITS);
    const lane_int within = bits & ((one << (MANTISSA - BITS)) - 1);
    const scalar middle = 1 + (scalar)0.5 / (1 << BITS);
    real t = (real)(within | ONE_BITS) - middle, u = {0};
    real g = polynomial(c->force, at, t);
    if (k.want)
        u = polynomial(c->energy, at, t);
    simd_mask near = simd_less_in(in, r2, simd_set((scalar)c->cutoff2));
    simd_mask close = simd_less_in(near, r2, simd_set((scalar)c->least2));
    if (__builtin_expect(simd_any(close), 0))
        exact_lanes(s, close, &r2, &g, &u);
    real qq = i->charge * *(const real *)(s->charge + j / 3);
    *force += simd_keep(near, qq * g);
    if (k.want)
        *energy = simd_keep(near, qq * u);
}

KERNEL_FN void run_tile(const struct md_store *s, scalar *f, size_t j,
                        const struct row_of *i, simd_mask in,
                        const struct form k, const int lj, const int halo,
                        struct row_sums *sum)
{
    const real *xj = (const real *)(s->pair_x + j);
    real dx = i->x[0] - xj[0], dy = i->x[1] - xj[1], dz = i->x[2] - xj[2];
    real r2 = dx * dx + dy * dy + dz * dz, g = {0}, u = {0}, uq = {0};
    if (lj && k.form == FORM_TABLE)
        add_table(s, i, j, in, r2, k, &g, &u);
    else if (lj)
        add_lj(s, i, j, in, r2, k, &g, &u);
    if (k.charged)
        add_coulomb(s, i, j, in, r2, k, &g, &uq);
    sum->f0 += g * dx;
    sum->f1 += g * dy;
    sum->f2 += g * dz;
    if (!halo) {
        real *fj = (real *)(f + j);
        fj[0] -= g * dx;
        fj[1] -= g * dy;
        fj[2] -= g * dz;
    }
    if (k.want) { /* half of a pair with a copy: the rest is another rank's */
        scalar weight = halo ? (scalar)0.5 : 1;
        sum->energy += weight * u;
        sum->coulomb += weight * uq;
        sum->virial += weight * (g * r2);
        if (s->tensor)
            simd_add_tensor(sum->tensor, weight * g, dx, dy, dz);
    }
}

/* ---- rows ---- */

/* The lanes of a tile that is not whole. */
KERNEL_FN simd_mask next_mask(const struct md_store *s,
                              const struct md_row *row, const uint16_t **mask)
{
    if (s->masked)
        return simd_mask_of_bits(*(*mask)++);
    return simd_mask_of_bits(~((2u << row->lane) - 1u));
}

KERNEL_FN void run_row(const struct md_store *s, scalar *f,
                       const struct md_row *row, const uint32_t *tile,
                       const uint16_t **mask, const struct row_of *i,
                       const struct form k, const int lj, struct row_sums *sum)
{
    const simd_mask all = simd_mask_of_bits(~0u);
    const uint32_t *end = tile + row->n;
    for (int m = 0; m < row->masked; m++)
        run_tile(s, f, *tile++, i, next_mask(s, row, mask), k, lj, 0, sum);
    while (tile < end)
        run_tile(s, f, *tile++, i, all, k, lj, 0, sum);
    end = tile + row->n_halo;
    for (int m = 0; m < row->masked_halo; m++)
        run_tile(s, f, *tile++, i, next_mask(s, row, mask), k, lj, 1, sum);
    while (tile < end)
        run_tile(s, f, *tile++, i, all, k, lj, 1, sum);
}

/* Add the forces of the particles of one cluster and clear them. */
KERNEL_FN void flush_forces(scalar *f, scalar (*i_force)[4])
{
    KERNEL_UNROLL for (int l = 0; l < LANES; l++)
    {
        for (int d = 0; d < 3; d++)
            f[d * LANES + l] += i_force[l][d];
    }
    memset(i_force, 0, sizeof(scalar[LANES][4]));
}

KERNEL_FN void run_rows(const struct md_store *s, struct md_worker *w,
                        scalar *f, const int boundary, const struct form k)
{
    const struct md_list *list = boundary ? &w->boundary : &w->interior;
    const uint32_t *tile = list->tiles;
    const uint16_t *mask = list->masks;
    double energy = 0, coulomb = 0, virial = 0;
    uint32_t current = list->n_rows > 0 ? list->rows[0].cluster : 0;
    for (size_t r = 0; r < list->n_rows; r++) {
        const struct md_row *row = &list->rows[r];
        if (row->cluster != current) {
            flush_forces(f + CLUSTER(current), w->i_force);
            current = row->cluster;
        }
        size_t slot = (size_t)current * (size_t)LANES + row->lane;
        const scalar *x_i = s->pair_x + CLUSTER(current) + row->lane;
        const scalar *shift = s->shift[row->shift];
        struct row_sums sum = {{0}, {0}, {0}, {0}, {0}, {0}, {{0}}};
        struct row_of i = {.x = {simd_set(x_i[0] + shift[0]),
                                 simd_set(x_i[LANES] + shift[1]),
                                 simd_set(x_i[2 * LANES] + shift[2])},
                           .charge = simd_set(k.charged ? s->charge[slot] : 0),
                           .table_row = s->table_stride * s->species[slot],
                           .slot = slot,
                           .w = w};
        if (k.charged && s->charges->bare[s->species[slot]])
            run_row(s, f, row, tile, &mask, &i, k, 0, &sum);
        else
            run_row(s, f, row, tile, &mask, &i, k, 1, &sum);
        tile += row->n + row->n_halo;
        simd_add_sums(w->i_force[row->lane], sum.f0, sum.f1, sum.f2);
        if (k.want) {
            energy += (double)simd_sum(sum.energy);
            coulomb += (double)simd_sum(sum.coulomb);
            virial += (double)simd_sum(sum.virial);
            if (s->tensor)
                simd_sum_tensor(sum.tensor, w->tensor);
        }
    }
    flush_forces(f + CLUSTER(current), w->i_force);
    w->energy = energy;
    w->coulomb = coulomb;
    w->virial = virial;
}

/* One loop for each kind of deck; names say what is compiled in. */
#define LOOP(name, few, lj_form, charged, want)                           \
    static __attribute__((noinline)) void name(                           \
        const struct md_store *s, struct md_worker *w, scalar *f, int b)  \
    {                                                                     \
        run_rows(s, w, f, b, (struct form){few, lj_form, charged, want}); \
    }
#define LOOPS(name, lj_form, charged)                 \
    LOOP(few_##name##_force, 1, lj_form, charged, 0)  \
    LOOP(few_##name##_energy, 1, lj_form, charged, 1) \
    LOOP(many_##name##_force, 0, lj_form, charged, 0) \
    LOOP(many_##name##_energy, 0, lj_form, charged, 1)
LOOPS(plain, FORM_PLAIN, 1)
LOOPS(shifted, FORM_SHIFTED, 1)
LOOPS(switched, FORM_SWITCHED, 1)
LOOPS(uncharged, FORM_SWITCHED, 0)
LOOPS(table, FORM_TABLE, 1)
LOOPS(uncharged_table, FORM_TABLE, 0)

#define LOOP_ROW(name)                               \
    {                                                \
        {many_##name##_force, many_##name##_energy}, \
        {                                            \
            few_##name##_force, few_##name##_energy  \
        }                                            \
    }

void md_run_charged(const struct md_store *s, struct md_worker *w, scalar *f,
                    int want, int boundary)
{
    static void (*const loops[6][2][2])(const struct md_store *,
                                        struct md_worker *, scalar *, int) = {
        LOOP_ROW(plain),     LOOP_ROW(shifted), LOOP_ROW(switched),
        LOOP_ROW(uncharged), LOOP_ROW(table),   LOOP_ROW(uncharged_table)};
    int form = s->tables                   ? 5 - s->charges->on
               : !s->charges->on           ? 3
               : s->charges->from2 > 0     ? FORM_SWITCHED
               : s->setup.force_shift != 0 ? FORM_SHIFTED
                                           : FORM_PLAIN;
    loops[form][s->few_species != 0][want](s, w, f, boundary);
}
