/* bonded_cpu.c: forces of terms along bonds. */
#include "kernels/md/chain_cpu.h"
#include "kernels/md/table_cpu.h"

#include <math.h>

#include "base/error.h"
#include "kernels/md/bonded.h"
#include "kernels/md/cmap.h"
#include "kernels/md/pairs.h"
#include "kernels/md/term_errors.h"
#include "kernels/md/tensor.h"
#include "kernels/md/wrap.h"

void md_difference(const struct md_store *s, uint32_t a, uint32_t b,
                   double out[3])
{
    for (int d = 0; d < 3; d++)
        out[d] = (double)s->pair_x[SLOT(a, d)] - (double)s->pair_x[SLOT(b, d)];
    nearest_difference(out, s->setup.box_length, s->setup.tilt);
}

static void add_force(struct bonded_run *r, const struct slot_term *term, int k,
                      const double force[3])
{
    if (!(term->own >> k & 1))
        return;
    for (int d = 0; d < 3; d++)
        r->f[SLOT(term->slot[k], d)] += (scalar)force[d];
}

/* Of a force at a place relative to the others of its term. */
static void add_virial(struct bonded_run *r, const struct slot_term *term,
                       const double force[3], const double x[3])
{
    r->virial += share_of(term) * dot3(force, x);
    if (r->s->tensor)
        add_tensor(r->tensor, share_of(term), force, x);
}

static void add_pair(struct bonded_run *r, const struct slot_term *term, int i,
                     int j, const double d[3], double f_over_r)
{
    double force[3] = {f_over_r * d[0], f_over_r * d[1], f_over_r * d[2]};
    double back[3] = {-force[0], -force[1], -force[2]};
    add_force(r, term, i, force);
    add_force(r, term, j, back);
    if (r->want)
        add_virial(r, term, force, d);
}

static void run_bond(struct bonded_run *r, const struct slot_term *term)
{
    double d[3], g;
    md_difference(r->s, term->slot[0], term->slot[1], d);
    double u = bond_terms(&r->field->bonds[term->type], dot3(d, d),
                          r->want == BONDED_ALL, &g, &r->broken);
    add_pair(r, term, 0, 1, d, g);
    r->energy[MD_ENERGY_BOND] += share_of(term) * u;
}

static void run_angle(struct bonded_run *r, const struct slot_term *term)
{
    double a[3], b[3], f_i[3] = {0}, f_k[3] = {0}, f_j[3];
    md_difference(r->s, term->slot[0], term->slot[1], a);
    md_difference(r->s, term->slot[2], term->slot[1], b);
    double u = angle_energy(&r->field->angles[term->type], a, b, f_i, f_k);
    for (int d = 0; d < 3; d++)
        f_j[d] = -f_i[d] - f_k[d];
    add_force(r, term, 0, f_i);
    add_force(r, term, 1, f_j);
    add_force(r, term, 2, f_k);
    r->energy[MD_ENERGY_ANGLE] += share_of(term) * u;
    if (r->want) {
        add_virial(r, term, f_i, a);
        add_virial(r, term, f_k, b);
    }
}

/* Lennard-Jones and plain Coulomb of the ends of a CHARMM dihedral. */
static void run_ends(struct bonded_run *r, const struct slot_term *term,
                     double weight)
{
    const struct md_store *s = r->s;
    double d[3], lj = 0, qq = 0;
    md_difference(s, term->slot[0], term->slot[3], d);
    double inv2 = 1 / dot3(d, d), inv6 = inv2 * inv2 * inv2, f_lj = 0;
    if (r->field->lj14) {
        int a = s->species[term->slot[0]], b = s->species[term->slot[3]];
        const struct md_lj14 *c = &r->field->lj14[a * s->setup.n_species + b];
        lj = weight * inv6 * (c->c12 * inv6 - c->c6);
        f_lj = weight * inv6 * (12 * c->c12 * inv6 - 6 * c->c6);
    }
    if (s->charge)
        qq = weight * r->field->coulomb.constant *
             (double)s->charge[term->slot[0]] *
             (double)s->charge[term->slot[3]] * sqrt(inv2);
    add_pair(r, term, 0, 3, d, (f_lj + qq) * inv2);
    r->energy[MD_ENERGY_PAIR] += share_of(term) * lj;
    r->energy[MD_ENERGY_COULOMB] += share_of(term) * qq;
}

/* A pair that has coefficients of its own. */
static void run_pair14(struct bonded_run *r, const struct slot_term *term)
{
    const struct md_store *s = r->s;
    const struct md_pair14 *c = &r->field->pairs14[term->type];
    double d[3], charges = c->qq;
    md_difference(s, term->slot[0], term->slot[1], d);
    if (s->charge)
        charges += c->weight * (double)s->charge[term->slot[0]] *
                   (double)s->charge[term->slot[1]];
    double inv2 = 1 / dot3(d, d), inv6 = inv2 * inv2 * inv2;
    double lj = inv6 * (c->c12 * inv6 - c->c6);
    double f_lj = inv6 * (12 * c->c12 * inv6 - 6 * c->c6);
    double qq = r->field->coulomb.constant * charges * sqrt(inv2);
    add_pair(r, term, 0, 1, d, (f_lj + qq) * inv2);
    r->energy[MD_ENERGY_PAIR] += share_of(term) * lj;
    r->energy[MD_ENERGY_COULOMB] += share_of(term) * qq;
}

static void run_torsion(struct bonded_run *r, const struct slot_term *term)
{
    double f[3], g[3], h[3], force[4][3] = {{0}}, slope = 0, u;
    struct torsion t;
    md_difference(r->s, term->slot[0], term->slot[1], f);
    md_difference(r->s, term->slot[1], term->slot[2], g);
    md_difference(r->s, term->slot[3], term->slot[2], h);
    torsion_of(f, g, h, &t);
    int improper = term->kind == MD_TERM_IMPROPER;
    if (!improper) {
        u = dihedral_energy(&r->field->dihedrals[term->type], &t, &slope);
    } else {
        const struct md_improper_coeff *c = &r->field->impropers[term->type];
        u = c->style == MD_IMPROPER_NONE ? 0
            : c->style == MD_IMPROPER_HARMONIC
                ? improper_harmonic(c, &t, &slope)
            : c->style == MD_IMPROPER_SIGNED ? improper_signed(c, &t, &slope)
                                             : improper_cvff(c, &t, &slope);
    }
    torsion_forces(&t, slope, force);
    for (int k = 0; k < 4; k++)
        add_force(r, term, k, force[k]);
    r->energy[improper ? MD_ENERGY_IMPROPER : MD_ENERGY_DIHEDRAL] +=
        share_of(term) * u;
    if (r->want) { /* positions relative to particle k */
        double x_i[3];
        for (int d = 0; d < 3; d++)
            x_i[d] = f[d] + g[d];
        add_virial(r, term, force[0], x_i);
        add_virial(r, term, force[1], g);
        add_virial(r, term, force[3], h);
    }
    if (!improper &&
        r->field->dihedrals[term->type].style == MD_DIHEDRAL_CHARMM &&
        r->field->dihedrals[term->type].weight > 0)
        run_ends(r, term, r->field->dihedrals[term->type].weight);
}

static void run_cmap(struct bonded_run *r, const struct slot_term *term)
{
    const uint32_t *at = term->slot;
    struct cmap_shape x;
    double force[5][3], first[3], last[3];
    md_difference(r->s, at[0], at[1], x.f);
    md_difference(r->s, at[1], at[2], x.g);
    md_difference(r->s, at[3], at[2], x.h);
    md_difference(r->s, at[4], at[3], x.e);
    double u = cmap_forces(&r->field->cmaps[term->type], r->field->cmap_nodes,
                           &x, force);
    for (int k = 0; k < 5; k++)
        add_force(r, term, k, force[k]);
    r->energy[MD_ENERGY_CMAP] += share_of(term) * u;
    if (!r->want)
        return;
    for (int d = 0; d < 3; d++) { /* relative to the third particle */
        first[d] = x.f[d] + x.g[d];
        last[d] = x.h[d] + x.e[d];
    }
    add_virial(r, term, force[0], first);
    add_virial(r, term, force[1], x.g);
    add_virial(r, term, force[3], x.h);
    add_virial(r, term, force[4], last);
}

/* Lennard-Jones and Coulomb between particles that are few bonds apart: they
 * are not in the pair list, and here by their shares. A mesh has the whole
 * Coulomb sum, so that the part that bonds take away is taken off. */
static void run_special(struct bonded_run *r, const struct slot_term *term)
{
    const struct md_store *s = r->s;
    const struct md_coulomb *q = &r->field->coulomb;
    double share_lj = r->field->special_lj[term->type];
    double share_q = r->field->special_coulomb[term->type];
    double d[3], u = 0, uq = 0, g = 0;
    int charged = s->charge && q->method != MD_COULOMB_NONE;
    if (!(share_lj > 0) && !charged)
        return;
    md_difference(s, term->slot[0], term->slot[1], d);
    double r2 = dot3(d, d), gq = 0;
    int a = s->species[term->slot[0]], b = s->species[term->slot[1]];
    const struct lj_coeff *c = &s->coeff[a * s->setup.n_species + b];
    if (share_lj > 0 && r2 < c->cutoff2)
        u = share_lj * (s->tables ? md_exact_pair(s, r->w, term->slot[0],
                                                  term->slot[1], r2, &g)
                                  : lj_pair(c, r->field->switch_from, r2, &g));
    if (charged)
        uq = coulomb_special(q, share_q, r2, &gq) *
             (double)s->charge[term->slot[0]] *
             (double)s->charge[term->slot[1]];
    gq *= charged ? (double)s->charge[term->slot[0]] *
                        (double)s->charge[term->slot[1]]
                  : 0;
    add_pair(r, term, 0, 1, d, share_lj * g + gq);
    r->energy[MD_ENERGY_PAIR] += share_of(term) * u;
    r->energy[MD_ENERGY_COULOMB] += share_of(term) * uq;
}

static void run_term(struct bonded_run *r, const struct slot_term *term)
{
    switch (term->kind) {
    case MD_TERM_BOND:
        run_bond(r, term);
        break;
    case MD_TERM_ANGLE:
        run_angle(r, term);
        break;
    case MD_TERM_SPECIAL:
        run_special(r, term);
        break;
    case MD_TERM_PAIR14:
        run_pair14(r, term);
        break;
    case MD_TERM_CMAP:
        run_cmap(r, term);
        break;
    default:
        run_torsion(r, term);
    }
}

void md_run_terms(const struct md_store *s, struct md_worker *w, scalar *f,
                  const struct md_sums *sums, int with_copies)
{
    struct bonded_run r = {.s = s,
                           .field = &s->terms->field,
                           .w = w,
                           .f = f,
                           .want = !sums               ? BONDED_FORCES
                                   : sums->virial_only ? BONDED_VIRIAL
                                                       : BONDED_ALL};
    size_t first, last;
    md_worker_terms(s, w, with_copies, &first, &last);
    const struct slot_term *terms = s->terms->terms;
    for (size_t k = first, end; k < last; k = end) {
        for (end = k; end < last && terms[end].kind == terms[k].kind;)
            end++;
        if (md_has_lanes(s, terms[k].kind))
            md_run_lanes(&r, terms + k, end - k);
        else if (md_has_wide(s, terms[k].kind))
            md_run_wide(&r, terms + k, end - k);
        else
            for (size_t i = k; i < end; i++)
                run_term(&r, &terms[i]);
    }
    md_run_chain(&r, with_copies);
    w->terms = (struct md_sums){.virial = r.virial};
    for (int e = 0; e < MD_ENERGIES; e++) {
        w->terms.part[e] = r.energy[e];
        w->terms.energy += r.energy[e];
    }
    for (int t = 0; t < 6; t++)
        w->terms.tensor[t] = r.tensor[t];
    if (r.broken)
        w->broken = 1;
}

void md_add_sums(struct md_sums *to, const struct md_sums *from)
{
    to->energy += from->energy;
    to->virial += from->virial;
    for (int t = 0; t < 6; t++)
        to->tensor[t] += from->tensor[t];
    for (int e = 0; e < MD_ENERGIES; e++)
        to->part[e] += from->part[e];
}

/* ---- broken bonds ---- */

struct longest {
    uint32_t slot[2];
    int type, found;
    double length;
};

static void keep_longest(const struct md_store *s, uint32_t a, uint32_t b,
                         int type, void *user)
{
    struct longest *l = user;
    double d[3];
    md_difference(s, a, b, d);
    double r = sqrt(dot3(d, d));
    if (!l->found || !(r <= l->length))
        *l = (struct longest){{a, b}, type, 1, r};
}

int md_check_terms(struct ctx *ctx, struct md_store *s)
{
    int broken = 0;
    struct longest l = {.found = 0};
    for (int k = 0; k < s->n_workers; k++)
        broken |= s->workers[k].broken;
    if (!broken)
        return 0;
    for (size_t k = 0; k < s->terms->n; k++) {
        const struct slot_term *term = &s->terms->terms[k];
        if (term->kind == MD_TERM_BOND &&
            s->terms->field.bonds[term->type].style == MD_BOND_FENE)
            keep_longest(s, term->slot[0], term->slot[1], term->type, &l);
    }
    md_for_each_bond(s, keep_longest, &l);
    if (!l.found)
        return FAIL(ctx, STATUS_INTERNAL, "a bond broke that is not there");
    int64_t ids[2] = {s->id[l.slot[0]], s->id[l.slot[1]]};
    return fail_broken(ctx, ids, l.length, s->terms->field.bonds[l.type].r0);
}
