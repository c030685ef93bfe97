/* charged_cpu.c: Lennard-Jones and Coulomb forces over the pair list.
 *
 * Rows and tiles are walked as in lj_cpu.c. Coulomb's force and energy are
 * polynomials of the squared distance (segments.h), whatever the method, so
 * that there is one loop for all; particles nearer than those reach are rare
 * and get the exact functions. CHARMM's switch of Lennard-Jones is here, too,
 * and so are the pair potentials of table_cpu.h in its place, with or without
 * charges.
 */
#include "kernels/md/charged_rows.h"
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

/* What is the same for all rows. Copied, since gcc has to read again what a
 * store of forces could have changed. */
struct same {
    real cut2;         /* of Coulomb */
    real parts;        /* per squared length: smooth.h */
    real lj_cut2;      /* of all pairs, where mixed */
    real from2, width; /* of the switch, in squared distances */
#ifdef TABLE_HELD
    segment_row force[CHARGED_DEGREE + 1];
#else
    const segment_row *force;
#endif
    const segment_row *energy;
};

/* The particle i of a row. */
struct row_of {
    real x[3], mix[2], charge; /* times Coulomb's constant: in the tables */
    int table_row;
    size_t slot;
    struct md_worker *w; /* for pairs that are too near */
};

/* What is computed first of a tile, before the forces of the one before. */
struct seen {
    size_t j;
    real dx, dy, dz, r2, inv2;
    real inv, part, within; /* for smooth.h only */
};

KERNEL_FN void add_lj(const struct md_store *s, const struct row_of *i,
                      size_t j, simd_mask in, real r2, real inv2,
                      const struct form k, real *force, real *energy)
{
    const uint8_t *species = s->species + j / 3;
    real terms[ROW_TERMS], inv6, u = {0};
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

/* Pairs that follow the arithmetic rule. With q = (sigma / r)^6 the energy is 4
 * epsilon (q^2 - q), and the force over r is 24 epsilon (2 q^2 - q) / r2. The
 * switch (lj_switch()) has the square of the length `left` as a factor, so that
 * it needs no look at the cutoff; its scale is in i's depth. */
KERNEL_FN void add_mixed(const struct md_store *s, const struct row_of *i,
                         const struct same *same, size_t j, simd_mask in,
                         real r2, real inv2, const struct form k, real *force,
                         real *energy)
{
    const real none = {0};
    real sigma = i->mix[0] + *(const real *)(s->mix[0] + j / 3);
    real depth = i->mix[1] * *(const real *)(s->mix[1] + j / 3);
    real q2 = sigma * sigma * inv2, q = simd_opaque(q2 * q2 * q2);
    if (k.form == FORM_SWITCHED) {
        real over = simd_greatest(r2 - same->from2, none);
        real left = simd_greatest(same->width - over, none);
        real twice = over + over, long_way = same->width + twice;
        real a = inv2 * left * long_way, once = a + twice;
        *force = simd_keep(in, depth * q * left * (q * (a + once) - once));
        if (k.want)
            *energy = simd_keep(in, depth * (scalar)(1.0 / 6) * q * (q - 1) *
                                        left * left * long_way);
    } else {
        simd_mask near = simd_less_in(in, r2, same->lj_cut2);
        *force = simd_keep(near, depth * q * inv2 * (2 * q - 1));
        if (k.want)
            *energy =
                simd_keep(near, depth * (scalar)(1.0 / 6) * q * (q - 1) -
                                    simd_lookup(s->table_shift + i->table_row,
                                                s->species + j / 3, 0));
    }
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
    if (__builtin_expect(simd_any(close), 0)) {
        real at_r2 = r2, exact_g = g, exact_u = u; /* in memory only here */
        exact_pairs(s, i, j, close, &at_r2, &exact_g, &exact_u);
        g = exact_g;
        u = exact_u;
    }
    *force = simd_keep(near, g);
    *energy = simd_keep(near, u);
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
                           const struct same *same, size_t j, simd_mask in,
                           real r2, const struct form k, real *force,
                           real *energy)
{
    const struct md_charges *c = s->charges;
    const lane_int bits = (lane_int)r2;
    const KERNEL_MASK_SCALAR one = 1;
    const int below = COULOMB_MANTISSA - CHARGED_BITS;
    const lane_int at = bits >> below;
    const lane_int within = bits & ((one << below) - 1);
    const scalar middle = 1 + (scalar)0.5 / (1 << CHARGED_BITS);
    real t = (real)(within | COULOMB_ONE) - middle, u = {0};
    real g = polynomial(same->force, at, t);
    if (k.want)
        u = polynomial(same->energy, at, t);
    simd_mask near = simd_less_in(in, r2, simd_set((scalar)c->cutoff2));
    simd_mask close = simd_less_in(near, r2, simd_set((scalar)c->least2));
    if (__builtin_expect(simd_any(close), 0)) {
        real at_r2 = r2, exact_g = g, exact_u = u; /* in memory only here */
        exact_lanes(s, close, &at_r2, &exact_g, &exact_u);
        g = exact_g;
        u = exact_u;
    }
    real qq = i->charge * *(const real *)(s->charge + j / 3);
    *force += simd_keep(near, qq * g);
    if (k.want)
        *energy = simd_keep(near, qq * u);
}

/* The same by 1 / r. The charge of i is times Coulomb's constant. */
KERNEL_FN void add_smooth(const struct md_store *s, const struct row_of *i,
                          const struct same *same, const struct seen *t,
                          simd_mask in, const struct form k, real *force,
                          real *energy)
{
    const struct md_charges *c = s->charges;
    real within = t->within;
    const lane_int at = (lane_int)t->part;
    real g = t->inv * t->inv2 - smooth_polynomial(c->smooth_force, at, within);
    simd_mask near = simd_less_in(in, t->r2, same->cut2);
    real qq = i->charge * *(const real *)(s->charge + t->j / 3);
    *force += simd_keep(near, qq * g);
    if (k.want)
        *energy = simd_keep(
            near,
            qq * (t->inv - smooth_polynomial(c->smooth_energy, at, within)));
}

KERNEL_FN void see_tile(const struct md_store *s, size_t j,
                        const struct same *same, const struct row_of *i,
                        const struct form k, struct seen *t)
{
    const real *xj = (const real *)(s->pair_x + j);
    t->j = j;
    t->dx = i->x[0] - xj[0];
    t->dy = i->x[1] - xj[1];
    t->dz = i->x[2] - xj[2];
    t->r2 = t->dx * t->dx + t->dy * t->dy + t->dz * t->dz;
    if (k.charged != COULOMB_SMOOTH)
        t->inv2 = 1 / t->r2;
    if (k.charged == COULOMB_SMOOTH) {
        /* The last bits of a number of this size are an integer. */
        const real round = simd_set((scalar)6755399441055744.0); /* 1.5 2^52 */
        real place = t->r2 * same->parts - (scalar)0.5;
        t->inv = simd_inverse_root(t->r2);
        t->inv2 = t->inv * t->inv;
        t->part = place + round;
        t->within = place - (t->part - round);
    }
}

KERNEL_FN void run_tile(const struct md_store *s, scalar *f,
                        const struct seen *t, const struct same *same,
                        const struct row_of *i, simd_mask in,
                        const struct form k, const int lj, const int halo,
                        struct row_sums *sum)
{
    const size_t j = t->j;
    real r2 = t->r2, inv2 = t->inv2, g = {0}, u = {0}, uq = {0};
    if (lj && k.form == FORM_TABLE)
        add_table(s, i, j, in, r2, k, &g, &u);
    else if (lj && k.rows == ROWS_MIXED)
        add_mixed(s, i, same, j, in, r2, inv2, k, &g, &u);
    else if (lj)
        add_lj(s, i, j, in, r2, inv2, k, &g, &u);
    if (k.charged == COULOMB_SMOOTH)
        add_smooth(s, i, same, t, in, k, &g, &uq);
    else if (k.charged)
        add_coulomb(s, i, same, j, in, r2, k, &g, &uq);
    sum->f0 += g * t->dx;
    sum->f1 += g * t->dy;
    sum->f2 += g * t->dz;
    if (!halo) {
        real *fj = (real *)(f + j);
        fj[0] -= g * t->dx;
        fj[1] -= g * t->dy;
        fj[2] -= g * t->dz;
    }
    if (k.want) { /* half of a pair with a copy: the rest is another rank's */
        scalar weight = halo ? (scalar)0.5 : 1;
        sum->energy += weight * u;
        sum->coulomb += weight * uq;
        sum->virial += weight * (g * r2);
        if (s->pair_tensor)
            simd_add_tensor(sum->tensor, weight * g, t->dx, t->dy, t->dz);
    }
}

/* ---- rows ---- */

/* n tiles. Distances of a tile are computed before the forces of the one before
 * it: what can wait in a processor at a time is less than a tile, and the long
 * way to their inverses would hold up all that follows. */
KERNEL_FN void run_tiles(const struct md_store *s, scalar *f,
                         const uint32_t *tile, const uint16_t *mask, size_t n,
                         const struct same *same, const struct row_of *i,
                         const struct form k, const int lj, const int halo,
                         struct row_sums *sum)
{
    struct seen now, next;
    if (n == 0)
        return;
    see_tile(s, tile[0], same, i, k, &now);
    for (size_t t = 0; t < n; t++) {
        see_tile(s, tile[t + 1 < n ? t + 1 : t], same, i, k, &next);
        run_tile(s, f, &now, same, i, simd_mask_of_bits(mask[t]), k, lj, halo,
                 sum);
        now = next;
    }
}

KERNEL_FN void run_row(const struct md_store *s, scalar *f,
                       const struct md_row *row, const uint32_t *tile,
                       const uint16_t *mask, const struct same *same,
                       const struct row_of *i, const struct form k,
                       const int lj, struct row_sums *sum)
{
    run_tiles(s, f, tile, mask, row->n, same, i, k, lj, 0, sum);
    run_tiles(s, f, tile + row->n, mask + row->n, row->n_halo, same, i, k, lj,
              1, sum);
}

KERNEL_LOOP void run_rows(const struct md_store *s, struct md_worker *w,
                          scalar *f, const int part, const struct form k)
{
    const struct md_list *list = &w->list[part];
    const uint32_t *tile = list->tiles;
    const uint16_t *mask = list->masks;
    double energy = 0, coulomb = 0, virial = 0;
    const double width = (double)s->mix_cut2 - s->charges->from2;
    struct same same = {
        .cut2 = simd_set((scalar)s->charges->cutoff2),
        .parts = simd_set((scalar)s->charges->parts_per_length2),
        .lj_cut2 = simd_set(s->mix_cut2),
        .from2 = simd_set((scalar)s->charges->from2),
        .width = simd_set((scalar)width),
        .energy = (const segment_row *)(void *)s->charges->energy,
    };
    const segment_row *force = (const segment_row *)(void *)s->charges->force;
#ifdef TABLE_HELD
    for (int d = 0; d <= CHARGED_DEGREE && k.charged == COULOMB_SEGMENTED; d++)
        same.force[d] = force[d];
#else
    same.force = force;
#endif
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
        if (k.rows == ROWS_MIXED) {
            scalar scale = k.form == FORM_SWITCHED ? s->mix_slope : 1;
            i.mix[0] = simd_set(s->mix[0][slot]);
            i.mix[1] = simd_set(s->mix[1][slot] * scale);
        }
        if (k.charged && s->charges->bare[s->species[slot]])
            run_row(s, f, row, tile, mask, &same, &i, k, 0, &sum);
        else
            run_row(s, f, row, tile, mask, &same, &i, k, 1, &sum);
        tile += row->n + row->n_halo;
        mask += row->n + row->n_halo;
        simd_end_row(s, w, row, sum.f0, sum.f1, sum.f2);
        if (k.want) {
            energy += (double)simd_sum(sum.energy);
            coulomb += (double)simd_sum(sum.coulomb);
            virial += (double)simd_sum(sum.virial);
            if (s->pair_tensor)
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
        const struct md_store *s, struct md_worker *w, scalar *f, int p)   \
    {                                                                      \
        run_rows(s, w, f, p, (struct form){rows, lj_form, charged, want}); \
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
                    int want, int part)
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
    loops[form][rows][want](s, w, f, part);
}
