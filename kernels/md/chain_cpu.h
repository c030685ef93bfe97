/* chain_cpu.h: FENE bonds, as each particle finds them.
 *
 * Private to kernels/md/ *_cpu.c.
 */
#ifndef WARPDECK_KERNELS_MD_CHAIN_CPU_H
#define WARPDECK_KERNELS_MD_CHAIN_CPU_H

#include "kernels/md/bonded_cpu.h"

/* A place is [cluster][width]. */
struct md_chain {
    int able, joinable; /* what the force field allows */
    int on;             /* bonds are here, and not among md_terms.terms */
    int joined;         /* bonded pairs stay in the pair list */
    int width;          /* bonds of one particle at most */
    int32_t n_clusters;
    uint32_t *at;    /* [place][LANES] element of x of each partner, or the
                      * particle's own */
    uint8_t *type;   /* [place][LANES] */
    uint16_t *valid; /* [place] lanes that have a partner */
    uint8_t *copies; /* [cluster] whether partners are copies */
    size_t cap_at, cap_type, cap_valid, cap_copies;
    scalar *table; /* rows of CHAIN_TERMS by type */
};

/* s->terms->chain. Returns 0, or -1: no memory. */
#define md_chain_create MD_NAME(md_chain_create)
int md_chain_create(struct md_store *s);
#define md_chain_destroy MD_NAME(md_chain_destroy)
void md_chain_destroy(struct md_chain *c);

/* Look for the partners of all bonds; `fresh`: their terms are others than the
 * last time. Where that cannot be, c->on = 0. Errors: STATUS_MEMORY. */
#define md_chain_place MD_NAME(md_chain_place)
int md_chain_place(struct ctx *ctx, struct md_store *s, int fresh);

/* Forces on this worker's particles whose partners are all own (with_copies =
 * 0), or on the others. */
#define md_run_chain MD_NAME(md_run_chain)
void md_run_chain(struct bonded_run *r, int with_copies);

/* Each own particle with each of its partners: slots. */
typedef void (*md_chain_fn)(const struct md_store *s, uint32_t slot,
                            uint32_t partner, int type, void *user);
#define md_for_each_bond MD_NAME(md_for_each_bond)
void md_for_each_bond(const struct md_store *s, md_chain_fn visit, void *user);

#endif
