/* terms_cuda.h: terms along bonds as a card likes them.
 *
 * Each own particle gathers the forces of its own terms: a term is computed
 * once for each of its particles that is here, nothing is added with atomics,
 * and a particle's share of the term's energy is the same on every rank. The
 * host finds who stands where, with each pair list; the card gets the terms
 * with slots in place of ids, sorted by kind, and for each particle the list of
 * those that it is in.
 *
 * Private to the .cu files of kernels/md.
 */
#ifndef WARPDECK_KERNELS_MD_TERMS_CUDA_H
#define WARPDECK_KERNELS_MD_TERMS_CUDA_H

#include "kernels/md/store_cuda.h"

#include <math.h>

#include "kernels/md/wrap.h"

/* Kinds of groups: by species of particles there are a few. */
enum { SHAPES_MAX = 1024 };

/* A term: places in the pair array, own ones below n_own. */
struct card_term {
    uint32_t slot[4];
    int32_t type;
    uint16_t kind, size; /* enum md_term_kind, particles */
};

/* A group of rigid bonds, one of the shapes of ARRAY_RIGID_SHAPE. */
struct card_group {
    uint32_t slot[4];
    uint16_t shape, own; /* bit k of own: particle k is own */
};

/* The host's side. */
struct card_terms {
    struct md_force_field field; /* arrays are owned */
    int may_break;               /* there are FENE bonds */
    int unchecked;               /* nobody has looked whether one broke */
    /* ids of own particles and copies -> places; an own one goes first */
    int64_t *id, *key;
    uint32_t *value;
    size_t capacity; /* a power of two */
    struct card_term *term;
    size_t n;
    /* first[side][i] .. first[side][i + 1]: those of particle i in entry[],
     * term * 4 + its place in it; side 1: with copies */
    uint32_t *first, *entry;
    size_t n_entries[2];
    int pairs_only[2]; /* those of the side are pairs few bonds apart */
    /* the same of ids that are kept out of the pair list */
    uint32_t *first_excluded;
    int64_t *excluded;
    size_t n_excluded;
    struct card_group *group; /* by kind */
    size_t n_groups;
    /* those of MD_TERM_RIGID_BOND, and so on; the end of the last */
    uint32_t first_group[MD_TERM_RIGID_THREE - MD_TERM_RIGID_BOND + 2];
    double n_rigid, n_joined; /* see md_kernels.rigid_count() */
    size_t cap_id, cap_key, cap_value, cap_term, cap_first, cap_entry,
        cap_first_excluded, cap_excluded, cap_group;
};

/* Of a pair list: whom it leaves out; first is NULL where that is nobody. */
struct excluded_ids {
    const uint32_t *first;
    const int64_t *id;
};

static __device__ __forceinline__ int is_excluded(struct excluded_ids x,
                                                  uint32_t i, int64_t id)
{
    if (!x.first)
        return 0;
    for (uint32_t k = x.first[i]; k < x.first[i + 1]; k++)
        if (x.id[k] == id)
            return 1;
    return 0;
}

/* Terms of one side on the card: those of particle i are term[entry[k] / 4] for
 * k from first[i] on, in which it stands at place entry[k] % 4. */
struct listed_terms {
    const struct card_term *term;
    const uint32_t *first, *entry;
};

/* From particle b to the nearest image of a. */
static __device__ __forceinline__ void
difference(const struct md_view &m, uint32_t a, uint32_t b, double out[3])
{
    struct pair_position p = m.pair[a], q = m.pair[b];
    out[0] = (double)p.x - (double)q.x;
    out[1] = (double)p.y - (double)q.y;
    out[2] = (double)p.z - (double)q.z;
    nearest_difference(out, m.box_length, m.tilt);
}

/* ---- terms_cuda.cu ---- */
#define cuda_terms_create MD_NAME(cuda_terms_create)
#define cuda_terms_destroy MD_NAME(cuda_terms_destroy)
#define cuda_terms_bytes MD_NAME(cuda_terms_bytes)
#define cuda_ids MD_NAME(cuda_ids)
#define cuda_set_terms MD_NAME(cuda_set_terms)
#define cuda_excluded MD_NAME(cuda_excluded)
#define cuda_listed_terms MD_NAME(cuda_listed_terms)

/* Copies of the force field's arrays, here and on the card. Errors:
 * STATUS_MEMORY. */
int cuda_terms_create(struct md_store *s);
void cuda_terms_destroy(struct card_terms *t);
/* On the card, of an own particle, about. */
double cuda_terms_bytes(void);
void cuda_ids(const struct md_store *s, int64_t *out);
int cuda_set_terms(struct ctx *ctx, struct md_store *s,
                   const struct md_term *terms, size_t n);
struct excluded_ids cuda_excluded(const struct md_store *s);
/* side: 0, of own particles alone; 1, with copies. */
struct listed_terms cuda_listed_terms(const struct md_store *s, int side);

/* ---- bonded_cuda.cu ---- */
#define cuda_fetch_broken MD_NAME(cuda_fetch_broken)
#define cuda_fail_broken MD_NAME(cuda_fail_broken)
#define cuda_check_broken MD_NAME(cuda_check_broken)

/* Bring what is known of broken bonds to s->result->broken, in stream order. */
int cuda_fetch_broken(struct md_store *s);
/* The failure that it stands for, or 0. */
int cuda_fail_broken(struct md_store *s, unsigned long long broken);
int cuda_check_broken(struct md_store *s);

/* ---- histogram_cuda.cu ---- */
#define cuda_term_histogram MD_NAME(cuda_term_histogram)

void cuda_term_histogram(const struct md_store *s, int kind, double low,
                         double high, int n_bins, uint64_t *counts);

/* ---- rigid_cuda.cu, rigid_sums_cuda.cu ---- */
#define cuda_set_shapes MD_NAME(cuda_set_shapes)
#define cuda_pack_values MD_NAME(cuda_pack_values)
#define cuda_unpack_values MD_NAME(cuda_unpack_values)
#define cuda_rigid_count MD_NAME(cuda_rigid_count)
#define cuda_rigid_hold MD_NAME(cuda_rigid_hold)
#define cuda_rigid_place MD_NAME(cuda_rigid_place)
#define cuda_rigid_place_ahead MD_NAME(cuda_rigid_place_ahead)
#define cuda_launch_rigid_hold MD_NAME(cuda_launch_rigid_hold)
#define cuda_launch_rigid_place MD_NAME(cuda_launch_rigid_place)
#define cuda_launch_rigid_stop MD_NAME(cuda_launch_rigid_stop)
#define cuda_rigid_stop MD_NAME(cuda_rigid_stop)
#define cuda_rigid_unstretch MD_NAME(cuda_rigid_unstretch)
#define cuda_rigid_inner MD_NAME(cuda_rigid_inner)
#define cuda_rigid_sums MD_NAME(cuda_rigid_sums)
#define cuda_rigid_unstretch_ahead MD_NAME(cuda_rigid_unstretch_ahead)
#define cuda_rigid_inner_ahead MD_NAME(cuda_rigid_inner_ahead)
#define cuda_rigid_sums_ahead MD_NAME(cuda_rigid_sums_ahead)
#define cuda_launch_rigid_unstretch MD_NAME(cuda_launch_rigid_unstretch)
#define cuda_launch_rigid_inner MD_NAME(cuda_launch_rigid_inner)
#define cuda_launch_rigid_sums MD_NAME(cuda_launch_rigid_sums)

/* The shapes of groups, kind and type of their terms, and room for what the
 * groups of s->terms need. Part of set_terms(). */
int cuda_set_shapes(struct ctx *ctx, struct md_store *s,
                    const int32_t (*shapes)[2], int n);
void cuda_pack_values(const struct md_store *s, enum md_value what,
                      double (*out)[3]);
void cuda_unpack_values(struct md_store *s, const double (*in)[3]);
double cuda_rigid_count(const struct md_store *s, double *joined);
void cuda_rigid_hold(struct md_store *s);
int cuda_rigid_place(struct ctx *ctx, struct md_store *s, double per_time,
                     double tolerance, double *moved2);
void cuda_rigid_place_ahead(struct md_store *s, double per_time,
                            double tolerance);
void cuda_rigid_stop(struct md_store *s, int apply);
/* The calls themselves. */
int cuda_launch_rigid_hold(struct md_store *s);
int cuda_launch_rigid_place(struct md_store *s, double per_time,
                            double tolerance);
int cuda_launch_rigid_stop(struct md_store *s, int apply);
int cuda_launch_rigid_unstretch(struct md_store *s, const struct step_call *c);
int cuda_launch_rigid_inner(struct md_store *s);
int cuda_launch_rigid_sums(struct md_store *s);
void cuda_rigid_unstretch(struct md_store *s, const struct md_stretch *m,
                          const double grow[3]);
void cuda_rigid_inner(const struct md_store *s, double kinetic[3],
                      double virial[3]);
void cuda_rigid_sums(const struct md_store *s, struct md_sums *sums);
void cuda_rigid_unstretch_ahead(struct md_store *s, const struct md_stretch *m,
                                const double grow[3]);
void cuda_rigid_inner_ahead(struct md_store *s);
int cuda_rigid_sums_ahead(struct md_store *s);

#endif
