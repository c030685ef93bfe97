/* md_top_build.h: a topology on its way to a struct md_data.
 *
 * Private to md_top_build.c (species, pairs, copies of molecules) and
 * md_top_terms.c (terms, and pairs that are left out).
 */
#ifndef WARPDECK_SOLVERS_MD_TOP_BUILD_H
#define WARPDECK_SOLVERS_MD_TOP_BUILD_H

#include "md_data.h"
#include "md_top.h"

struct top_build {
    struct top *top;
    const struct top_scale *scale;
    struct md_data *data;
    int type[MD_SPECIES_MAX]; /* name of the species' atom type */
    size_t cap_coeff[MD_DATA_KINDS], cap_pairs14;
    /* of the present molecule */
    const struct top_molecule *molecule;
    struct md_particle *atoms;
    struct md_term *terms; /* ids are those within the molecule, from 1 */
    size_t n_terms, cap_terms;
    int32_t (*links)[2]; /* who is bound to whom */
    size_t n_links, cap_links;
};

/* The two numbers of a file as c12 and c6, in the deck's units. */
void top_powers(const struct top_build *b, double v, double w, double out[2]);
/* Both numbers of a pair of atom types: given, or by the rule for unlike ones.
 */
void top_combine(const struct top *top, int a, int b, double *v, double *w);
/* A term of b->molecule, of these atoms from 0. Errors: STATUS_MEMORY. */
int top_add_term(struct top_build *b, int kind, int32_t type,
                 const int32_t *atom);
/* ---- md_top_cmap.c ---- */
/* A term of [ cmap ]. Errors: STATUS_INPUT. */
int top_make_cmap(struct top_build *b, const struct top_term *term);
/* Once all terms are there: the maps, where any has one. */
int top_make_maps(const struct top_build *b);

/* ---- md_top_terms.c ---- */
/* The terms of b->molecule into b->terms. Errors: STATUS_INPUT. */
int top_make_terms(struct top_build *b);
int top_no_memory(const struct top_build *b);

#endif
