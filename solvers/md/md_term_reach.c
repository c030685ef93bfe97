/* md_term_reach.c: how far apart the particles of one term may come. */
#include "md.h"

#include <math.h>

#include "base/comm.h"
#include "base/ctx.h"
#include "md_data.h"

/* Lengths of the start are exceeded by so much in the run, and those of a
 * spring by so many standard deviations of it at the highest temperature that
 * the deck names. */
static const double growth = 1.25, deviations = 6;

static double hottest(const struct md *md)
{
    double t = fmax(md->temperature, md->ramp.steps > 0 ? md->ramp.to : 0);
    return md->initial.has_temperature ? fmax(t, md->initial.temperature) : t;
}

/* The standard deviation of a bond of this type along a direction: of u = k x^2
 * kT / 2 k. */
static double spread(const struct md *md, const struct md_bond_coeff *c)
{
    double k = c->style == MD_BOND_HARMONIC ? c->k
               : c->style == MD_BOND_MORSE  ? c->k * c->a * c->a
                                            : 0;
    return k > 0 ? sqrt(0.5 * md->constants->boltzmann * hottest(md) / k) : 0;
}

/* The way from one particle of the term to the next; of an improper, whose
 * particles do not follow one another, the greatest distance. */
static double length_of(const struct md *md, const struct md_term *t)
{
    int n = md_term_size(t->kind);
    double way = 0, greatest = 0;
    for (int k = 1; k < n; k++)
        way += md_data_distance(md, t->id[k - 1], t->id[k]);
    for (int a = 0; a < n; a++)
        for (int b = a + 1; b < n; b++)
            greatest = fmax(greatest, md_data_distance(md, t->id[a], t->id[b]));
    return t->kind == MD_TERM_IMPROPER ? greatest : way;
}

/* Over how many bonds rigid groups, and pairs that a mesh has to be taken off,
 * go; the terms of a topology have the latter among them. */
static int bonds_spanned(const struct md *md)
{
    int n = md->rigid.on ? 2 : 1;
    for (int k = 0; k < 3; k++)
        if (md->ewald && !md->data->styled &&
            md->bonded.field.special_coulomb[k] < 1)
            n = n > k + 1 ? n : k + 1;
    return n;
}

/* Rank 0, which has the terms. */
static double reach_of_all(const struct md *md)
{
    double reach = 0, bond = 0, sigma = 0;
    for (int t = 0; t < md->bonded.field.n_bonds; t++) {
        const struct md_bond_coeff *c = &md->bonded.bonds[t];
        sigma = fmax(sigma, spread(md, c));
        bond = fmax(bond, c->style == MD_BOND_FENE
                              ? c->r0
                              : c->r0 + deviations * spread(md, c));
    }
    for (size_t i = 0; i < md->data->n_all_terms; i++) {
        const struct md_term *t = &md->data->terms[i];
        double way = md_data_is_mark(md, t) ? 0 : length_of(md, t);
        double more = deviations * sigma * sqrt(md_term_size(t->kind) - 1);
        reach = fmax(reach, fmax(growth * way, way + more));
        if (t->kind == MD_TERM_BOND)
            bond = fmax(bond, growth * way);
    }
    return fmax(reach, bond * bonds_spanned(md));
}

int md_term_reach(struct ctx *ctx, struct md *md)
{
    double reach = 0;
    if (!md->bonded.on)
        return 0;
    if (comm_rank(ctx->comm) == 0)
        reach = fmin(reach_of_all(md), md_shortest_edge(md));
    TRY(comm_bcast(ctx, &reach, sizeof reach));
    md->bonded.reach = reach;
    return 0;
}
