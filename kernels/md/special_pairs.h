/* special_pairs.h: what becomes of pairs a few bonds apart, the same for every
 * backend.
 */
#ifndef WARPDECK_KERNELS_MD_SPECIAL_PAIRS_H
#define WARPDECK_KERNELS_MD_SPECIAL_PAIRS_H

#include "kernels/md/md_terms.h"

/* charged: whether the store has charges. */
static inline int special_has_charges(const struct md_force_field *f,
                                      int charged)
{
    return charged && f->coulomb.method != MD_COULOMB_NONE;
}

/* Whether a pair few bonds apart needs nothing of its own: it stays in the pair
 * list. */
static inline int special_is_plain(const struct md_force_field *f, int charged,
                                   const struct md_term *term)
{
    return term->kind == MD_TERM_SPECIAL && f->special_lj[term->type] >= 1 &&
           (!special_has_charges(f, charged) ||
            f->special_coulomb[term->type] >= 1);
}

/* A pair that is kept out of the list and gets nothing in its place. */
static inline int special_has_no_force(const struct md_force_field *f,
                                       int charged, const struct md_term *term)
{
    return term->kind == MD_TERM_SPECIAL && !special_has_charges(f, charged) &&
           !(f->special_lj[term->type] > 0);
}

#endif
