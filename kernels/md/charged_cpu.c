/* charged_cpu.c: Lennard-Jones and Coulomb forces over the pair list.
 *
 * Rows and tiles are walked as in lj_cpu.c. Coulomb's force and energy are
 * polynomials of the squared distance (segments.h), whatever the method, so
 * that there is one loop for all; particles nearer than those reach are rare
 * and get the exact functions. CHARMM's switch of Lennard-Jones is here, too,
 * and so are the pair potentials of table_cpu.h in its place, with or without
 * charges.
 */
#include "kernels/md/charged_cpu.h"
#include "kernels/md/table_cpu.h"
#include "kernels/md/terms_cpu.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "kernels/md/lj.h"
#include "kernels/md/lj_rows.h"
#include "kernels/md/pairs.h"
#include "kernels/md/tensor.h"

/* ---- one tile ---- */

/* Coulomb: none, segments.h, smooth.h. */
enum { COULOMB_NONE, COULOMB_SEGMENTED, COULOMB_SMOOTH };
/* Where coefficients come from: lj_rows.h. */
enum { ROWS_MANY, ROWS_FEW, ROWS_MIXED };

enum { FORM_PLAIN, FORM_SHIFTED, FORM_SWITCHED, FORM_TABLE };

/* What is compiled into a loop. */
struct form {
    int rows, form, charged, want;
};

struct row_sums {
    real f0, f1, f2, energy, coulomb, virial, tensor[6];
};

/* The particle i of a row. */
struct row_of {
    real x[3], mix[2], charge; /* times Coulomb's constant: in the tables */
    int table_row;
    size_t slot;
    struct md_worker *w; /* for pairs that are too near */
};

KERNEL_FN void add_lj(const struct md_store *s, const struct row_of *i,
                      size_t j, simd_mask in, real r2, real inv2,
                      const struct form k, real *force, real *energy)
{
    const uint8_t *species = s->species + j / 3;
    real terms[ROW_TERMS], inv6, u = {0};
    if (k.rows == ROWS_MIXED)
        lj_mixed_rows(s, i->mix, j / 3, terms);
    else
        lj_rows(s, i->table_row, species, k.rows, terms);
    real f12 = terms[ROW_F12], f6 = terms[ROW_F6], cut2 = terms[ROW_CUT2];
    real g = lj_force_of_inverse(inv2, f12, f6, &inv6);
    if (k.want || k.form == FORM_SWITCHED)
        u = lj_energy(inv6, f12 * (scalar)(1.0 / 12), f6 * (scalar)(1.0 / 6));
    if (k.form == FORM_SWITCHED) {
        real from2 = simd_set((scalar)s->charges->from2);
        real over = simd_keep(simd_less_in(simd_mask_of_bits(~0u), from2, r2),
                              r2 - from2);
        lj_switch(over, cut2 - from2, terms[ROW_SLOPE], &g, &u);
    } else if (k.want) {
        u -= simd_lookup(s->table_shift + i->table_row, species,
                         k.rows == ROWS_FEW);
    }
    if (k.form == FORM_SHIFTED) {
        real cut = simd_lookup(s->table_cut + i->table_row, species,
                               k.rows == ROWS_FEW);
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
    real cut2 =
        simd_lookup(s->table_cut2 + i->table_row, species, k.rows == ROWS_FEW);
    real least2 =
        simd_lookup(t->least2 + i->table_row, species, k.rows == ROWS_FEW);
    real start =
        simd_lookup(t->start + i->table_row, species, k.rows == ROWS_FEW);
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
    enum { SEGMENTS = COULOMB_SEGMENTS };
    real sum = simd_pick(table + COULOMB_DEGREE * SEGMENTS, at);
    KERNEL_UNROLL for (int d = COULOMB_DEGREE - 1; d >= 0; d--) sum =
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
    const int below = COULOMB_MANTISSA - COULOMB_BITS;
    const lane_int at = bits >> below;
    const lane_int within = bits & ((one << below) - 1);
    const scalar middle = 1 + (scalar)0.5 / (1 << COULOMB_BITS);
    real t = (real)(within | COULOMB_ONE) - middle, u = {0};
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

KERNEL_FN real smooth_polynomial(const scalar *table, lane_int at, real t)
{
    real sum = simd_pick_eighth(table + SMOOTH_DEGREE * SMOOTH_PARTS, at);
    KERNEL_UNROLL for (int d = SMOOTH_DEGREE - 1; d >= 0; d--) sum =
        sum * t + simd_pick_eighth(table + d * SMOOTH_PARTS, at);
    return sum;
}

/* The same by 1 / r. The charge of i is times Coulomb's constant. */
KERNEL_FN void add_smooth(const struct md_store *s, const struct row_of *i,
                          size_t j, simd_mask in, real r2, real inv2,
                          const struct form k, real *force, real *energy)
{
    const struct md_charges *c = s->charges;
    /* The last bits of a number of this size are an integer. */
    const real round = simd_set((scalar)6755399441055744.0); /* 1.5 * 2^52 */
    real place = r2 * (scalar)c->parts_per_length2 - (scalar)0.5;
    real part = place + round, t = place - (part - round);
    const lane_int at = (lane_int)part;
    real inv = simd_sqrt(inv2);
    real g = inv * inv2 - smooth_polynomial(c->smooth_force, at, t);
    simd_mask near = simd_less_in(in, r2, simd_set((scalar)c->cutoff2));
    real qq = i->charge * *(const real *)(s->charge + j / 3);
    *force += simd_keep(near, qq * g);
    if (k.want)
        *energy = simd_keep(
            near, qq * (inv - smooth_polynomial(c->smooth_energy, at, t)));
}

KERNEL_FN void run_tile(const struct md_store *s, scalar *f, size_t j,
                        const struct row_of *i, simd_mask in,
                        const struct form k, const int lj, const int halo,
                        struct row_sums *sum)
{
    const real *xj = (const real *)(s->pair_x + j);
    real dx = i->x[0] - xj[0], dy = i->x[1] - xj[1], dz = i->x[2] - xj[2];
    real r2 = dx * dx + dy * dy + dz * dz, g = {0}, u = {0}, uq = {0};
    real inv2 = 1 / r2;
    if (lj && k.form == FORM_TABLE)
        add_table(s, i, j, in, r2, k, &g, &u);
    else if (lj)
        add_lj(s, i, j, in, r2, inv2, k, &g, &u);
    if (k.charged == COULOMB_SMOOTH)
        add_smooth(s, i, j, in, r2, inv2, k, &g, &uq);
    else if (k.charged)
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

KERNEL_FN void run_row(const struct md_store *s, scalar *f,
                       const struct md_row *row, const uint32_t *tile,
                       const uint16_t *mask, const struct row_of *i,
                       const struct form k, const int lj, struct row_sums *sum)
{
    const uint32_t *end = tile + row->n;
    while (tile < end)
        run_tile(s, f, *tile++, i, simd_mask_of_bits(*mask++), k, lj, 0, sum);
    end = tile + row->n_halo;
    while (tile < end)
        run_tile(s, f, *tile++, i, simd_mask_of_bits(*mask++), k, lj, 1, sum);
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
            simd_flush(f + CLUSTER(current), w->i_force);
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
        if (k.charged == COULOMB_SMOOTH)
            i.charge *= (scalar)s->charges->constant;
        for (int m = 0; m < 2 && k.rows == ROWS_MIXED; m++)
            i.mix[m] = simd_set(s->mix[m][slot]);
        if (k.charged && s->charges->bare[s->species[slot]])
            run_row(s, f, row, tile, mask, &i, k, 0, &sum);
        else
            run_row(s, f, row, tile, mask, &i, k, 1, &sum);
        tile += row->n + row->n_halo;
        mask += row->n + row->n_halo;
        simd_add_sums(w->i_force[row->lane], sum.f0, sum.f1, sum.f2);
        if (k.want) {
            energy += (double)simd_sum(sum.energy);
            coulomb += (double)simd_sum(sum.coulomb);
            virial += (double)simd_sum(sum.virial);
            if (s->tensor)
                simd_sum_tensor(sum.tensor, w->tensor);
        }
    }
    simd_flush(f + CLUSTER(current), w->i_force);
    w->energy = energy;
    w->coulomb = coulomb;
    w->virial = virial;
}

/* One loop for each kind of deck; names say what is compiled in. */
#define LOOP(name, rows, lj_form, charged, want)                           \
    static __attribute__((noinline)) void name(                            \
        const struct md_store *s, struct md_worker *w, scalar *f, int b)   \
    {                                                                      \
        run_rows(s, w, f, b, (struct form){rows, lj_form, charged, want}); \
    }
#define LOOPS(name, lj_form, charged)                         \
    LOOP(few_##name##_force, ROWS_FEW, lj_form, charged, 0)   \
    LOOP(few_##name##_energy, ROWS_FEW, lj_form, charged, 1)  \
    LOOP(many_##name##_force, ROWS_MANY, lj_form, charged, 0) \
    LOOP(many_##name##_energy, ROWS_MANY, lj_form, charged, 1)
#define MIXED_LOOPS(name, lj_form, charged)                     \
    LOOP(mixed_##name##_force, ROWS_MIXED, lj_form, charged, 0) \
    LOOP(mixed_##name##_energy, ROWS_MIXED, lj_form, charged, 1)
LOOPS(plain, FORM_PLAIN, COULOMB_SEGMENTED)
LOOPS(shifted, FORM_SHIFTED, COULOMB_SEGMENTED)
LOOPS(switched, FORM_SWITCHED, COULOMB_SEGMENTED)
LOOPS(uncharged, FORM_SWITCHED, COULOMB_NONE)
LOOPS(table, FORM_TABLE, COULOMB_SEGMENTED)
LOOPS(uncharged_table, FORM_TABLE, COULOMB_NONE)
MIXED_LOOPS(plain, FORM_PLAIN, COULOMB_SEGMENTED)
MIXED_LOOPS(switched, FORM_SWITCHED, COULOMB_SEGMENTED)
MIXED_LOOPS(uncharged, FORM_SWITCHED, COULOMB_NONE)
#if KERNEL_SCALAR_BYTES == 8
LOOPS(smooth, FORM_PLAIN, COULOMB_SMOOTH)
LOOPS(smooth_switched, FORM_SWITCHED, COULOMB_SMOOTH)
MIXED_LOOPS(smooth, FORM_PLAIN, COULOMB_SMOOTH)
MIXED_LOOPS(smooth_switched, FORM_SWITCHED, COULOMB_SMOOTH)
#endif

typedef void (*loop_fn)(const struct md_store *, struct md_worker *, scalar *,
                        int);
#define LOOP_ROW(name, mixed_name)                     \
    {                                                  \
        {many_##name##_force, many_##name##_energy},   \
            {few_##name##_force, few_##name##_energy}, \
        {                                              \
            mixed_name##_force, mixed_name##_energy    \
        }                                              \
    }

void md_run_charged(const struct md_store *s, struct md_worker *w, scalar *f,
                    int want, int boundary)
{
    /* Forms that are never mixed stand twice; the last ones are smooth. */
    static const loop_fn loops[][3][2] = {
        LOOP_ROW(plain, mixed_plain),
        LOOP_ROW(shifted, many_shifted),
        LOOP_ROW(switched, mixed_switched),
        LOOP_ROW(uncharged, mixed_uncharged),
        LOOP_ROW(table, many_table),
        LOOP_ROW(uncharged_table, many_uncharged_table),
#if KERNEL_SCALAR_BYTES == 8
        LOOP_ROW(smooth, mixed_smooth),
        LOOP_ROW(smooth_switched, mixed_smooth_switched),
#endif
    };
    int form = s->tables                   ? 5 - s->charges->on
               : !s->charges->on           ? 3
               : s->charges->from2 > 0     ? FORM_SWITCHED
               : s->setup.force_shift != 0 ? FORM_SHIFTED
                                           : FORM_PLAIN;
    int rows = s->mixed ? ROWS_MIXED : s->few_species ? ROWS_FEW : ROWS_MANY;
    if (s->charges->smooth && (form == FORM_PLAIN || form == FORM_SWITCHED))
        form = form == FORM_PLAIN ? 6 : 7;
    loops[form][rows][want](s, w, f, boundary);
}
