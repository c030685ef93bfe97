/* terms_cuda.h: terms along bonds as a card likes them.
 *
 * Each own particle gathers the forces of its own terms: a term is computed
 * once for each of its particles that is here, nothing is added with atomics,
 * and a particle's share of the term's energy is the same on every rank. The
 * card has the terms with slots in place of ids, sorted by kind, and for each
 * particle a row of those that it is in.
 *
 * The host finds who stands where once particles have come, and where a box is
 * cut with each pair list. Of a box that one card has whole nobody ever goes:
 * there the sort by cells takes terms along (cuda_turn_terms()), and the host
 * is not asked.
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
    uint32_t slot[MD_TERM_MOST];
    int32_t type;
    uint16_t kind, size; /* enum md_term_kind, particles */
};

/* An entry of a particle's row: a term, times this, + its place in it. */
enum { TERM_PLACES = 8 };

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
    const struct md_term *given; /* of set_terms(), the caller's */
    size_t n_given;
    /* Own particles whose slots the card's terms know, 0: none; and whether
     * these are others than those that the host found. */
    uint32_t placed;
    int turned;
    /* ids of own particles and copies -> places; an own one goes first. These,
     * and what follows, by slots as the host found them. */
    int64_t *id, *key;
    uint32_t *value;
    size_t capacity; /* a power of two */
    struct card_term *term;
    size_t n;
    /* first[side][i] .. first[side][i + 1]: those of particle i in entry[],
     * see TERM_PLACES; side 1: with copies */
    uint32_t *first, *entry;
    size_t n_entries[2];
    int pairs_only[2]; /* those of the side are pairs few bonds apart */
    int has_maps[2];   /* there are correction maps among them */
    /* the same of ids that are kept out of the pair list */
    uint32_t *first_excluded;
    int64_t *excluded;
    size_t n_excluded;
    struct card_group *group; /* by kind */
    size_t n_groups;
    /* those of MD_TERM_RIGID_BOND, and so on; the end of the last */
    uint32_t first_group[MD_TERM_RIGID_THREE - MD_TERM_RIGID_BOND + 2];
    int32_t (*shape)[2]; /* of groups, n_shapes: kind and type of terms */
    int n_shapes;
    double n_rigid, n_joined; /* see md_kernels.rigid_count() */
    size_t cap_id, cap_key, cap_value, cap_term, cap_first, cap_entry,
        cap_first_excluded, cap_excluded, cap_group, cap_shape;
    unsigned char *staged; /* pinned: what is on its way to the card */
    size_t staged_bytes, staged_used;
};

/* Rows of particles on the card: of particle i from first[r] to first[r + 1],
 * where r is row[i], or i where row is NULL. first is NULL where nobody has
 * any. */
struct particle_rows {
    const uint32_t *first, *row;
};

struct row_range {
    uint32_t begin, end;
};

static __device__ __forceinline__ struct row_range
row_of(const struct particle_rows &rows, uint32_t i)
{
    struct row_range range = {0, 0};
    if (!rows.first)
        return range;
    uint32_t r = rows.row ? rows.row[i] : i;
    range.begin = rows.first[r];
    range.end = rows.first[r + 1];
    return range;
}

/* Of a pair list: whom it leaves out. */
struct excluded_ids {
    struct particle_rows rows;
    const int64_t *id;
};

static __device__ __forceinline__ int
is_excluded(const struct excluded_ids &x, struct row_range row, int64_t id)
{
    for (uint32_t k = row.begin; k < row.end; k++)
        if (x.id[k] == id)
            return 1;
    return 0;
}

/* Terms of one side on the card: those of a row are term[entry[k] /
 * TERM_PLACES], in which its particle stands at place entry[k] % TERM_PLACES.
 */
struct listed_terms {
    const struct card_term *term;
    struct particle_rows rows;
    const uint32_t *entry;
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

/* ---- term_places_cuda.cu: who stands where ---- */
#define cuda_find_places MD_NAME(cuda_find_places)

/* Terms, rows and groups of these by the slots of now, in memory of the host.
 * Waits once. */
int cuda_find_places(struct ctx *ctx, struct md_store *s);

/* ---- terms_cuda.cu ---- */
#define cuda_terms_create MD_NAME(cuda_terms_create)
#define cuda_terms_destroy MD_NAME(cuda_terms_destroy)
#define cuda_terms_bytes MD_NAME(cuda_terms_bytes)
#define cuda_ids MD_NAME(cuda_ids)
#define cuda_set_terms MD_NAME(cuda_set_terms)
#define cuda_find_terms MD_NAME(cuda_find_terms)
#define cuda_stage_terms MD_NAME(cuda_stage_terms)
#define cuda_turn_terms MD_NAME(cuda_turn_terms)
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
int cuda_find_terms(struct ctx *ctx, struct md_store *s);
/* Bring n bytes to an array of the card, in stream order; they are copied here
 * at once. Part of set_terms(), which has made room for all. */
int cuda_stage_terms(struct md_store *s, enum md_array which, const void *from,
                     size_t n);
/* Particle i of now, of all that are here, stood at order[i] of the card: terms
 * of a whole box come along. Others, and all where order is NULL, are to be
 * found anew. */
int cuda_turn_terms(struct md_store *s, const uint32_t *order);
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
#define cuda_shapes_bytes MD_NAME(cuda_shapes_bytes)
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

/* Send the shapes of groups and masses, and make room for what the groups of
 * s->terms need: part of set_terms(). The bytes that are sent. */
int cuda_set_shapes(struct md_store *s);
size_t cuda_shapes_bytes(const struct md_store *s);
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
