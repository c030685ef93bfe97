/* bonded_cpu.h: what the loops over terms along bonds share.
 *
 * Private to kernels/md/bonded*_cpu.c.
 */
#ifndef WARPDECK_KERNELS_MD_BONDED_CPU_H
#define WARPDECK_KERNELS_MD_BONDED_CPU_H

#include "kernels/md/terms_cpu.h"

/* Beside forces: nothing, their virial, energies as well. */
enum bonded_want { BONDED_FORCES, BONDED_VIRIAL, BONDED_ALL };

/* What a loop over terms carries along. */
struct bonded_run {
    const struct md_store *s;
    const struct md_force_field *field;
    struct md_worker *w;
    scalar *f;
    double energy[MD_ENERGIES], virial, tensor[6];
    enum bonded_want want;
    int broken;
};

/* The share of a term's energy that is this rank's. */
static inline double share_of(const struct slot_term *term)
{
    return (double)__builtin_popcount(term->own) / md_term_size(term->kind);
}

/* Whether all terms of a kind can be computed many at a time. */
#define md_has_lanes MD_NAME(md_has_lanes)
int md_has_lanes(const struct md_store *s, int kind);

/* n terms of one kind. */
#define md_run_lanes MD_NAME(md_run_lanes)
void md_run_lanes(struct bonded_run *r, const struct slot_term *term, size_t n);

/* The same of angles and dihedrals. */
#define md_has_wide MD_NAME(md_has_wide)
int md_has_wide(const struct md_store *s, int kind);
#define md_run_wide MD_NAME(md_run_wide)
void md_run_wide(struct bonded_run *r, const struct slot_term *term, size_t n);

#endif
