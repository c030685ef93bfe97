/* bonded_lanes_cpu.c: bonds and excluded pairs, many at a time.
 *
 * The particles of a term lie scattered, so that loading and storing them is
 * one by one; what is between is done for WIDE terms at once, in doubles.
 * Energies, which are wanted now and then, come from the plain functions.
 */
#include "kernels/md/bonded_cpu.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/md/bonded.h"
#include "kernels/md/pairs.h"
#include "kernels/md/segments.h"
#include "kernels/md/tensor.h"
#include "kernels/md/wrap.h"

enum { WIDE = 16 };

/* Each lane, as a loop that vectorises. */
#define EACH(l) for (int l = 0; l < WIDE; l++)

/* Segments of the force between charges that bonds keep apart: 2 an octave, of
 * degree 12, are good to 3e-12 of it. */
enum { BITS = 1, DEGREE = 12, SEGMENTS = SEGMENT_OCTAVES << BITS };
enum { MANTISSA = 52 };
#define ONE_BITS INT64_C(0x3ff0000000000000)

struct md_lanes {
    int style; /* of all bonds, or MD_BOND_NONE: they differ */
    int special;
    double least2, most2; /* of r2: where the segments begin and end */
    double table[(DEGREE + 1) * SEGMENTS];
};

/* ---- what can be done so ---- */

static double special_force(const void *user, double r2)
{
    double g;
    coulomb_special(user, 0, r2, &g);
    return g;
}

/* Whether special pairs of all distances are either left alone or kept apart
 * altogether, and an Ewald sum corrected for that. */
static int all_apart(const struct md_force_field *f)
{
    for (int k = 0; k < 3; k++) {
        int whole = f->special_lj[k] >= 1 && f->special_coulomb[k] >= 1;
        int none = !(f->special_lj[k] > 0) && !(f->special_coulomb[k] > 0);
        if (!whole && !none)
            return 0;
    }
    return f->coulomb.method == MD_COULOMB_EWALD;
}

int md_lanes_create(struct md_store *s)
{
    const struct md_force_field *f = s->setup.field;
    struct md_lanes *l = s->terms->lanes = calloc(1, sizeof *l);
    if (!l)
        return -1;
    l->style = f->n_bonds > 0 ? (int)f->bonds[0].style : MD_BOND_NONE;
    for (int k = 1; k < f->n_bonds; k++)
        if ((int)f->bonds[k].style != l->style)
            l->style = MD_BOND_NONE;
    l->special = s->setup.charged && all_apart(f);
    if (!l->special)
        return 0;
    l->most2 = f->coulomb.cutoff * f->coulomb.cutoff;
    l->least2 = ldexp(1, segment_first_octave(l->most2));
    segment_table(special_force, &f->coulomb, l->most2, BITS, DEGREE, l->table);
    return 0;
}

int md_has_lanes(const struct md_store *s, int kind)
{
    const struct md_lanes *l = s->terms->lanes;
    if (kind == MD_TERM_BOND)
        return l->style == MD_BOND_HARMONIC;
    return kind == MD_TERM_SPECIAL && l->special;
}

/* ---- one block ---- */

/* n terms; what lies behind them is the first one again. */
struct block {
    const struct slot_term *term;
    int n;
    size_t at[2][WIDE]; /* elements of x */
    double d[3][WIDE], r2[WIDE], g[WIDE];
};

/* Not inline: a compiler that sees what r2 comes from may compute it twice, in
 * vectors and one by one, with other roundings, and special() would look for
 * one's place in the other's segment. */
static __attribute__((noinline)) void load_block(const struct md_store *s,
                                                 struct block *b)
{
    for (int l = 0; l < WIDE; l++)
        for (int e = 0; e < 2; e++)
            b->at[e][l] = SLOT(b->term[l < b->n ? l : 0].slot[e], 0);
    for (int d = 0; d < 3; d++) {
        const scalar *x = s->pair_x + d * LANES;
        for (int l = 0; l < WIDE; l++)
            b->d[d][l] = (double)x[b->at[0][l]] - (double)x[b->at[1][l]];
    }
    nearest_differences(WIDE, (double *const[3]){b->d[0], b->d[1], b->d[2]},
                        s->setup.box_length, s->setup.tilt);
    EACH(l)
    b->r2[l] = b->d[0][l] * b->d[0][l] + b->d[1][l] * b->d[1][l] +
               b->d[2][l] * b->d[2][l];
}

/* Forces over distances as in bond_terms(). */
KERNEL_FN void harmonic(const struct bonded_run *r, struct block *b)
{
    double k[WIDE], r0[WIDE];
    for (int l = 0; l < WIDE; l++) {
        const struct md_bond_coeff *c =
            &r->field->bonds[b->term[l < b->n ? l : 0].type];
        k[l] = c->k;
        r0[l] = c->r0;
    }
    EACH(l)
    {
        double length = sqrt(b->r2[l]);
        b->g[l] = -2 * k[l] * (length - r0[l]) / length;
    }
}

/* Unit charges where the segments do not reach. */
static __attribute__((noinline, cold)) void
special_exact(const struct bonded_run *r, struct block *b)
{
    const struct md_lanes *lanes = r->s->terms->lanes;
    for (int l = 0; l < WIDE; l++)
        if (!(b->r2[l] >= lanes->least2 && b->r2[l] < lanes->most2))
            coulomb_special(&r->field->coulomb, 0, b->r2[l], &b->g[l]);
}

KERNEL_FN void special(const struct bonded_run *r, struct block *b)
{
    const struct md_lanes *lanes = r->s->terms->lanes;
    const scalar *charge = r->s->charge;
    const double middle = 1 + 0.5 / (1 << BITS);
    int64_t bits[WIDE], at[WIDE];
    double t[WIDE], sum[WIDE], qq[WIDE];
    int outside = 0;
    memcpy(bits, b->r2, sizeof bits);
    EACH(l)
    {
        at[l] = bits[l] >> (MANTISSA - BITS) & (SEGMENTS - 1);
        bits[l] &= (INT64_C(1) << (MANTISSA - BITS)) - 1;
        bits[l] |= ONE_BITS;
        outside |= (b->r2[l] < lanes->least2);
        outside |= (b->r2[l] >= lanes->most2);
    }
    memcpy(t, bits, sizeof t);
    EACH(l)
    {
        t[l] -= middle;
        sum[l] = lanes->table[DEGREE * SEGMENTS + at[l]];
    }
    for (int d = DEGREE - 1; d >= 0; d--)
        EACH(l) sum[l] = sum[l] * t[l] + lanes->table[d * SEGMENTS + at[l]];
    EACH(l) b->g[l] = sum[l];
    if (__builtin_expect(outside, 0))
        special_exact(r, b);
    for (int l = 0; l < WIDE; l++) {
        const uint32_t *slot = b->term[l < b->n ? l : 0].slot;
        qq[l] = (double)charge[slot[0]] * (double)charge[slot[1]];
    }
    EACH(l) b->g[l] *= qq[l];
}

KERNEL_FN void store_block(struct bonded_run *r, const struct block *b)
{
    double force[3][WIDE];
    for (int d = 0; d < 3; d++)
        EACH(l) force[d][l] = b->g[l] * b->d[d][l];
    for (int l = 0; l < b->n; l++) {
        int own = b->term[l].own;
        for (int d = 0; d < 3 && own & 1; d++)
            r->f[b->at[0][l] + (size_t)(d * LANES)] += (scalar)force[d][l];
        for (int d = 0; d < 3 && own & 2; d++)
            r->f[b->at[1][l] + (size_t)(d * LANES)] -= (scalar)force[d][l];
    }
}

/* ---- energies ---- */

static void add_energy(struct bonded_run *r, const struct block *b, int l)
{
    const struct slot_term *term = &b->term[l];
    const scalar *charge = r->s->charge;
    double share = share_of(term), unused;
    if (term->kind == MD_TERM_BOND)
        r->energy[MD_ENERGY_BOND] +=
            share * bond_terms(&r->field->bonds[term->type], b->r2[l], 1,
                               &unused, &r->broken);
    else
        r->energy[MD_ENERGY_COULOMB] +=
            share * coulomb_special(&r->field->coulomb, 0, b->r2[l], &unused) *
            (double)charge[term->slot[0]] * (double)charge[term->slot[1]];
}

static __attribute__((noinline)) void add_sums(struct bonded_run *r,
                                               const struct block *b)
{
    for (int l = 0; l < b->n; l++) {
        double share = share_of(&b->term[l]), d[3], force[3];
        if (r->want == BONDED_ALL)
            add_energy(r, b, l);
        r->virial += share * b->g[l] * b->r2[l];
        for (int k = 0; k < 3; k++) {
            d[k] = b->d[k][l];
            force[k] = b->g[l] * d[k];
        }
        if (r->s->tensor)
            add_tensor(r->tensor, share, force, d);
    }
}

void md_run_lanes(struct bonded_run *r, const struct slot_term *term, size_t n)
{
    int kind = n > 0 ? term->kind : 0;
    struct block b;
    for (size_t k = 0; k < n; k += WIDE) {
        b.term = term + k;
        b.n = n - k < WIDE ? (int)(n - k) : WIDE;
        load_block(r->s, &b);
        if (kind == MD_TERM_SPECIAL)
            special(r, &b);
        else
            harmonic(r, &b);
        store_block(r, &b);
        if (r->want)
            add_sums(r, &b);
    }
}
