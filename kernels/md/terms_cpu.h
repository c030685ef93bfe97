/* terms_cpu.h: terms along bonds as the CPU's loops like them.
 *
 * Private to kernels/md/ *_cpu.c.
 */
#ifndef WARPDECK_KERNELS_MD_TERMS_CPU_H
#define WARPDECK_KERNELS_MD_TERMS_CPU_H

#include "kernels/md/id_table.h"
#include "kernels/md/store_cpu.h"

/* A term with its particles found: slots of own particles or of copies. */
struct slot_term {
    uint32_t slot[MD_TERM_MOST];
    int32_t type;
    uint8_t kind;
    uint8_t own; /* bit k: particle k is own */
};

struct md_terms {
    struct md_force_field field; /* arrays are owned */
    /* The terms of the last md_set_terms() in the order of kinds, as they were
     * given or, where some do nothing, a copy without these. */
    const struct md_term *known;
    size_t n_known;
    struct md_term *kept;
    size_t cap_kept;
    int set, fresh; /* fresh: not looked for yet */
    /* Slots of own particles and copies by id, UINT32_MAX where there is none;
     * an own one goes first. Where ids are small enough an id is its own place
     * (direct), else id_home(). */
    uint32_t *place;
    size_t capacity; /* not direct: a power of two */
    size_t cap_place;
    int direct;
    uint32_t *next_image; /* [slots]: another slot of the same id */
    size_t cap_next_image;
    struct slot_term *terms;      /* that have forces */
    size_t n, cap_terms, n_inner; /* first those of own particles alone */
    uint32_t (*apart)[2];         /* pairs that are kept out of the pair list */
    size_t n_apart, cap_apart;
    /* excluded[first_excluded[s] .. first_excluded[s + 1]) are partners of own
     * slot s, each pair from both sides where both are own; the first image of
     * each */
    uint32_t *excluded;
    size_t *first_excluded;
    size_t cap_excluded, cap_first;
    struct md_lanes *lanes; /* bonded_lanes_cpu.c */
    struct md_wide *wide;   /* bonded_wide_cpu.c */
    struct md_chain *chain; /* FENE bonds: chain_cpu.c */
};

/* Copies of the force field's arrays. Errors: STATUS_MEMORY. */
#define md_terms_create MD_NAME(md_terms_create)
int md_terms_create(struct ctx *ctx, struct md_store *s);
/* s->terms->lanes. Returns 0, or -1: no memory. */
#define md_lanes_create MD_NAME(md_lanes_create)
int md_lanes_create(struct md_store *s);
/* s->terms->wide; as above. */
#define md_wide_create MD_NAME(md_wide_create)
int md_wide_create(struct md_store *s);
#define md_terms_destroy MD_NAME(md_terms_destroy)
void md_terms_destroy(struct md_terms *t);

#define md_set_terms MD_NAME(md_set_terms)
int md_set_terms(struct ctx *ctx, struct md_store *s,
                 const struct md_term *terms, size_t n);
/* Where the terms of a kind begin among the known ones. */
#define md_first_of_kind MD_NAME(md_first_of_kind)
size_t md_first_of_kind(const struct md_terms *t, int kind);
#define md_place_terms MD_NAME(md_place_terms)
int md_place_terms(struct ctx *ctx, struct md_store *s);
#define md_own_ids MD_NAME(md_own_ids)
void md_own_ids(const struct md_store *s, int64_t *out);

/* Forces of the terms among own particles (with_copies = 0), or of those with a
 * copy among them: this worker's share, added to f; w->terms: its sums, for
 * *sums, where that is not NULL. */
#define md_run_terms MD_NAME(md_run_terms)
void md_run_terms(const struct md_store *s, struct md_worker *w, scalar *f,
                  const struct md_sums *sums, int with_copies);
/* Seconds that they have taken since it was asked last, the mean of all
 * threads. */
#define md_terms_seconds MD_NAME(md_terms_seconds)
double md_terms_seconds(struct md_store *s, double seconds);
#define md_add_sums MD_NAME(md_add_sums)
void md_add_sums(struct md_sums *to, const struct md_sums *from);

/* From slot b to the nearest image of a. */
#define md_difference MD_NAME(md_difference)
void md_difference(const struct md_store *s, uint32_t a, uint32_t b,
                   double out[3]);
#define md_term_histogram MD_NAME(md_term_histogram)
void md_term_histogram(const struct md_store *s, int kind, double low,
                       double high, int n_bins, uint64_t *counts);

/* The terms of a worker: [*first, *last) of the inner ones or of those with
 * copies. */
#define md_worker_terms MD_NAME(md_worker_terms)
void md_worker_terms(const struct md_store *s, const struct md_worker *w,
                     int with_copies, size_t *first, size_t *last);

/* Mark the blocks of clusters to which this worker's terms add forces. */
#define md_mark_terms MD_NAME(md_mark_terms)
void md_mark_terms(const struct md_store *s, struct md_worker *w);

/* The slot of an id, UINT32_MAX where it is not here. */
static inline uint32_t md_slot_of(const struct md_store *s, int64_t id)
{
    const struct md_terms *t = s->terms;
    size_t k = id_place(id, t->capacity, t->direct);
    if (t->direct)
        return k < t->capacity ? t->place[k] : UINT32_MAX;
    while (t->place[k] != UINT32_MAX && s->id[t->place[k]] != id)
        k = (k + 1) & (t->capacity - 1);
    return t->place[k];
}

/* Partners that are kept out of the pair list of own slot i, *n of them, the
 * first image of each; and the next image of a slot, UINT32_MAX: none. */
static inline const uint32_t *md_excluded(const struct md_store *s, size_t i,
                                          size_t *n)
{
    const struct md_terms *t = s->terms;
    *n = t->first_excluded[i + 1] - t->first_excluded[i];
    return t->excluded + t->first_excluded[i];
}
static inline uint32_t md_next_image(const struct md_store *s, uint32_t slot)
{
    return s->terms->next_image[slot];
}

/* ---- charged_cpu.c: charges, and CHARMM's switch ---- */
/* s->charges, where the force field has either. Errors: STATUS_MEMORY. */
#define md_charges_create MD_NAME(md_charges_create)
int md_charges_create(struct ctx *ctx, struct md_store *s);
#define md_charges_destroy MD_NAME(md_charges_destroy)
void md_charges_destroy(struct md_charges *c);
/* Energy of the own charges each by itself; depends on no position. */
#define md_charges_self MD_NAME(md_charges_self)
double md_charges_self(const struct md_store *s);
/* Pair forces of one part of this worker's rows, added to f; its sums in
 * w->energy, coulomb, virial where wanted. */
#define md_run_charged MD_NAME(md_run_charged)
void md_run_charged(const struct md_store *s, struct md_worker *w, scalar *f,
                    int want, int part);

/* ---- rigid_cpu.c: groups of rigid bonds ---- */
#define md_rigid_destroy MD_NAME(md_rigid_destroy)
void md_rigid_destroy(struct md_rigid *r);
/* No groups, and room for values of copies; then group by group. Errors:
 * STATUS_MEMORY. */
#define md_rigid_clear MD_NAME(md_rigid_clear)
int md_rigid_clear(struct ctx *ctx, struct md_store *s);
#define md_rigid_add MD_NAME(md_rigid_add)
int md_rigid_add(struct ctx *ctx, struct md_store *s,
                 const struct slot_term *term);
#define md_rigid_count MD_NAME(md_rigid_count)
double md_rigid_count(const struct md_store *s, double *joined);
#define md_pack_values MD_NAME(md_pack_values)
void md_pack_values(const struct md_store *s, enum md_value what,
                    double (*out)[3]);
#define md_unpack_values MD_NAME(md_unpack_values)
void md_unpack_values(struct md_store *s, const double (*in)[3]);
#define md_rigid_hold MD_NAME(md_rigid_hold)
void md_rigid_hold(struct md_store *s);
#define md_rigid_place MD_NAME(md_rigid_place)
int md_rigid_place(struct ctx *ctx, struct md_store *s, double per_time,
                   double tolerance, double *moved2);
#define md_rigid_stop MD_NAME(md_rigid_stop)
void md_rigid_stop(struct md_store *s, int apply);
#define md_rigid_unstretch MD_NAME(md_rigid_unstretch)
void md_rigid_unstretch(struct md_store *s, const struct md_stretch *m,
                        const double grow[3]);
#define md_rigid_inner MD_NAME(md_rigid_inner)
void md_rigid_inner(const struct md_store *s, double kinetic[3],
                    double virial[3]);
#define md_rigid_sums MD_NAME(md_rigid_sums)
void md_rigid_sums(const struct md_store *s, struct md_sums *sums);

/* STATUS_PHYSICS where a FENE bond is longer than it can be. */
#define md_check_terms MD_NAME(md_check_terms)
int md_check_terms(struct ctx *ctx, struct md_store *s);

#endif
