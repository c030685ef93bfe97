/* store_cpu.h: the particles of one rank as the CPU's loops like them.
 *
 * Particles are sorted into columns along z and cut into clusters of LANES,
 * kept as blocks x[LANES] y[LANES] z[LANES]; so component d of slot s stands at
 * SLOT(s, d). Own clusters come first, then clusters of halo copies (positions
 * and species only). Empty lanes are padded with positions far outside of every
 * cutoff and id 0. The pair list has one row for a particle, periodic shift and
 * kind (own or halo), of tiles: the clusters that hold a partner within the
 * list radius. Of own pairs only one of (i, j), (j, i) is listed (Newton's
 * third law). Halo copies get no forces, and each of the two ranks computes a
 * pair; or with setup.half those from above stand in the list like own clusters
 * and their forces are sent back, and those from below, if any, are not in it.
 *
 * Private to kernels/md/ *_cpu.c.
 */
#ifndef WARPDECK_KERNELS_MD_STORE_CPU_H
#define WARPDECK_KERNELS_MD_STORE_CPU_H

#include <stddef.h>
#include <stdint.h>

#include "kernels/md/md_kernels.h"
#include "kernels/md/precision.h"

/* Element of component d of slot s, and the first element of a cluster. */
#define SLOT(s, d)                                                     \
    (((size_t)(s) / (size_t)LANES * 3 + (size_t)(d)) * (size_t)LANES + \
     (size_t)(s) % (size_t)LANES)
#define CLUSTER(c) ((size_t)(c)*3 * (size_t)LANES)

enum { SHIFTS = 27, SHIFT_NONE = 13 };

/* Clusters found near one: own ones by shift, then copies by shift. */
enum { BUCKETS = 2 * SHIFTS, BUCKET_HALO = SHIFTS };

/* Columns of one kind of clusters: own, or halo. */
struct md_columns {
    double lo[2], side[2]; /* corner and size of a column, store coordinates */
    double per_length[2];  /* 1 / side */
    int n[2];
    int32_t *start; /* [n[0] * n[1] + 1]: first cluster of each column */
    size_t capacity;
};

/* One row of the list: n tiles of own clusters and then n_halo of copies, which
 * follow those of the row before. Partners to leave out: in a store with masks
 * md_list.masks has the lanes that count; in others they are those before i in
 * its own cluster, the first tile, so that lane tells them. */
struct md_row {
    uint32_t cluster;   /* of the particle i */
    uint16_t n, n_halo; /* a longer row is continued in the next */
    uint8_t lane;       /* of the particle i */
    uint8_t shift;      /* added to i's position */
    uint8_t with_self;  /* the first own tile is i's own cluster */
};

struct md_list {
    struct md_row *rows;
    uint32_t *tiles; /* first element of each tile: CLUSTER(j) */
    size_t n_rows, n_tiles, cap_rows, cap_tiles;
    uint16_t *masks; /* lanes of each tile, in a store with masks */
    size_t cap_masks;
};

/* The parts of a worker's rows. LATE: rows without copies, too, that are left
 * for the time in which forces on copies travel; none where none do. */
enum { ROWS_INTERIOR, ROWS_BOUNDARY, ROWS_LATE, ROWS_PARTS };

struct md_link;
struct md_terms;
struct md_drafts;
struct md_charges;
struct md_rigid;
struct md_tables;
struct md_dpd_work;

/* A pair that came too near for the points of a table. */
struct md_near {
    int found;
    uint32_t slot[2];
    double distance, inner;
};

/* What one thread owns: a range of own clusters, its lists and scratch. */
struct md_worker {
    int32_t first, last; /* clusters [first, last) */
    struct md_list list[ROWS_PARTS];
    void *force_base;       /* what `force` lies in */
    scalar *force;          /* unused with one thread: it writes to store->f */
    unsigned char *touched; /* blocks of clusters this thread adds forces to */
    int32_t *candidates;    /* [BUCKETS][cap_candidates] */
    int32_t n_candidates[BUCKETS];
    uint32_t *lane_tiles; /* scratch of the row builder */
    int32_t *flags;       /* lanes near each candidate, and its tile */
    uint32_t *flag_tiles;
    size_t cap_flags;
    struct md_link *links; /* scratch of md_find_candidates() */
    size_t cap_candidates, cap_lane_tiles, cap_links;
    struct md_drafts *drafts; /* scratch of the row builder */
    int failed;               /* in a parallel region */
    double energy, coulomb, virial, tensor[6];
    double shifted[SHIFTS][3]; /* forces on i in rows of each shift */
    struct md_sums terms;      /* of the last md_run_terms() */
    double terms_seconds;      /* since it was asked last */
    int broken;                /* a FENE bond */
    struct md_near near;
    scalar (*i_force)[4]; /* [LANES]: forces of the present i cluster */
};

enum { TOUCH_BLOCK = 32 }; /* clusters per flag of md_worker.touched */

struct md_store {
    struct md_setup setup; /* coeff points to this store's copy */
    struct lj_coeff *coeff;
    double origin[3];       /* of pair coordinates; 0 in double precision */
    double state_origin[3]; /* of x; origin in single precision, else 0 */
    double box_tolerance;   /* rounding of the cluster boxes */
    scalar shift[SHIFTS][3];
    double far; /* coordinate of padding */

    size_t n_own, n_halo;     /* particles */
    int32_t n_clusters;       /* own */
    int32_t n_clusters_halo;  /* behind the own ones */
    int32_t n_clusters_above; /* the first of these, with setup.half */
    size_t cap_clusters;      /* allocated, own and halo */
    state *x, *v, *sorted;    /* [cap][3][LANES]; sorted: scratch of sort() */
    scalar *pair_x;           /* == x in double and single precision */
    scalar *f;
    state *listed; /* x when the list was built */
    float *moved;  /* way since then */
    int64_t *id;   /* 0: padding */
    int32_t (*image)[3];
    uint8_t *species;
    scalar *charge; /* NULL where setup.charged is not set */
    float *box[6];  /* cluster boxes: x lo, x hi, y lo, y hi, z lo, z hi */
    double *inverse_mass; /* [n_species], times the unit factor */

    int f_cleared; /* kick_drift() has cleared the forces */
    int tensor;    /* the present sums are wanted by directions */
    /* The virial of pairs is wanted and comes from their forces, virial_cpu.c
     * (not of metals, whose large forces all but cancel in a crystal); else
     * the loops with energies add it up, with pair_tensor by directions */
    int from_forces, pair_tensor;

    struct md_particle *inbox; /* inserted, not yet sorted */
    size_t n_inbox, cap_inbox;
    struct md_particle *leavers;
    size_t cap_leavers;

    /* sort: column of each particle, and the order that results */
    int32_t *key, *order, *by_column;
    double *z, *z_by_column;
    size_t cap_key, cap_order, cap_by_column, cap_z, cap_z_by_column;
    struct md_columns columns, halo_columns, below_columns;

    /* halo: what goes where, and where what comes stands */
    int n_channels;
    double (*channel_offset)[3]; /* added to the position */
    size_t *channel_n;
    uint32_t *send_slot;
    size_t n_send, cap_send, cap_channels;
    int *channel_above;
    uint32_t *halo_slot; /* [n_halo] slot of each received record */
    size_t cap_halo_slot;
    /* With setup.half, of those through channels that are above: the slots of
     * the particles chosen, and those of the copies received; in order */
    uint32_t *above_send, *above_slot;
    size_t n_above_send, n_above, cap_above_send, cap_above_slot;

    int n_workers;
    struct md_worker *workers;
    /* pair coefficients by species of i and j, rows of table_stride */
    int table_stride;
    int few_species; /* lookups by one permutation */
    scalar *table_f12, *table_f6, *table_cut2, *table_shift, *table_slope,
        *table_cut;
    scalar *table_rows; /* the same, four of a pair together: lj_rows.h */
    /* Where there are many species and all pairs follow the arithmetic rule:
     * of each species and each slot half of sigma, and the root of 24 epsilon;
     * what is the same for all pairs */
    int mixed;
    scalar species_mix[2][MD_SPECIES_MAX], *mix[2], mix_cut2, mix_slope;
    size_t cap_mix;

    /* positions as floats, and their squares, for the list's distance test */
    float *search[4];
    size_t cap_search;
    double search_middle[3]; /* where their origin lies */
    double search_margin;

    uint64_t lists_built;

    double *mesh_copies; /* a brick for each worker but the first */
    size_t cap_mesh_copies;
    scalar *mesh_points; /* [points of the brick][4]: md_gather_field() */
    size_t cap_mesh_points;

    struct md_terms *terms;     /* NULL: no terms along bonds, no charges */
    struct md_charges *charges; /* NULL: plain Lennard-Jones, lj_cpu.c */
    struct md_tables *tables;   /* in place of Lennard-Jones, or NULL */
    struct md_rigid *rigid;     /* NULL: no rigid bonds */
    struct md_dpd_work *dpd;    /* NULL: none yet */
    struct md_eam_work *eam;    /* or, not NULL, eam_cpu.c */
    int masked;                 /* with masks: bonds, or charged_cpu.c */
};

#define md_reserve_clusters MD_NAME(md_reserve_clusters)
#define md_sort MD_NAME(md_sort)
#define md_place MD_NAME(md_place)
#define md_column_of MD_NAME(md_column_of)
#define md_grow MD_NAME(md_grow)
#define md_grow_list MD_NAME(md_grow_list)
#define md_insert MD_NAME(md_insert)
#define md_gather MD_NAME(md_gather)
#define md_take_slots MD_NAME(md_take_slots)
#define md_put_slots MD_NAME(md_put_slots)
#define md_extract_leavers MD_NAME(md_extract_leavers)
#define md_select_halo MD_NAME(md_select_halo)
#define md_halo_record_bytes MD_NAME(md_halo_record_bytes)
#define md_pack_halo MD_NAME(md_pack_halo)
#define md_accept_halo MD_NAME(md_accept_halo)
#define md_unpack_halo MD_NAME(md_unpack_halo)
#define md_count_above MD_NAME(md_count_above)
#define md_pack_forces MD_NAME(md_pack_forces)
#define md_add_forces MD_NAME(md_add_forces)
#define md_find_candidates MD_NAME(md_find_candidates)
#define md_build_list MD_NAME(md_build_list)
#define md_force_own MD_NAME(md_force_own)
#define md_force_halo MD_NAME(md_force_halo)
#define md_force_late MD_NAME(md_force_late)
#define md_kick_drift MD_NAME(md_kick_drift)
#define md_kick MD_NAME(md_kick)
#define md_sum_moments MD_NAME(md_sum_moments)
#define md_scale_velocities MD_NAME(md_scale_velocities)
#define md_ornstein_uhlenbeck MD_NAME(md_ornstein_uhlenbeck)
#define md_kick_and_noise MD_NAME(md_kick_and_noise)
#define md_set_coordinates MD_NAME(md_set_coordinates)
#define md_set_box MD_NAME(md_set_box)
#define md_stretch_step MD_NAME(md_stretch_step)
#define md_kick_scaled MD_NAME(md_kick_scaled)
#define md_shear_step MD_NAME(md_shear_step)
#define md_relabel MD_NAME(md_relabel)
#define md_kinetic_tensor MD_NAME(md_kinetic_tensor)
#define md_channel_offset MD_NAME(md_channel_offset)
#define md_pair_histogram MD_NAME(md_pair_histogram)
#define md_closest_pair MD_NAME(md_closest_pair)
#define md_pair_virial MD_NAME(md_pair_virial)
#define md_find_not_finite MD_NAME(md_find_not_finite)

/* Grow *p (elements of `size` bytes) to at least n elements, keeping content;
 * cache-line aligned. Returns 0 or -1. */
int md_grow(void **p, size_t *capacity, size_t n, size_t size);

/* The same without alignment: long lists then grow in place. */
int md_grow_list(void **p, size_t *capacity, size_t n, size_t size);

/* Make room for n clusters (own and halo together). Errors: STATUS_MEMORY. */
int md_reserve_clusters(struct ctx *ctx, struct md_store *s, size_t n);

int md_sort(struct ctx *ctx, struct md_store *s);
int md_insert(struct ctx *ctx, struct md_store *s, const struct md_particle *p,
              size_t n);
void md_gather(const struct md_store *s, struct md_particle *out,
               double (*force)[3]);
int md_take_slots(struct ctx *ctx, const struct md_store *s,
                  struct md_slot *out);
int md_put_slots(struct ctx *ctx, struct md_store *s, const struct md_slot *in,
                 size_t n);
int md_extract_leavers(struct ctx *ctx, struct md_store *s,
                       const struct md_particle **out, size_t *n);

/* Lay n particles out in columns and clusters: particle k belongs into column
 * s->key[k] (-1: nowhere) at height s->z[k]. On return s->order[slot - first
 * slot] is the particle of each slot or -1 for padding, columns->start is set
 * (cluster numbers from first_cluster on), and *n_clusters clusters were made.
 */
int md_place(struct ctx *ctx, struct md_store *s, struct md_columns *columns,
             size_t n, int32_t first_cluster, int32_t *n_clusters);
int32_t md_column_of(const struct md_columns *columns, double x, double y);

/* mix_cpu.c: whether the coefficients follow the rule (setup.coeff and tables
 * are there), and each slot's share of them. Returns 0 or -1. */
#define md_find_mixing MD_NAME(md_find_mixing)
void md_find_mixing(struct md_store *s);
#define md_fill_mixing MD_NAME(md_fill_mixing)
int md_fill_mixing(struct md_store *s);

/* Boxes of clusters [first, last), from pair_x. */
#define md_cluster_boxes MD_NAME(md_cluster_boxes)
void md_cluster_boxes(struct md_store *s, int32_t first, int32_t last);

/* Choose number and size of columns for a region with n particles. */
#define md_shape_columns MD_NAME(md_shape_columns)
int md_shape_columns(struct ctx *ctx, struct md_columns *columns,
                     const double lo[2], const double hi[2], double length_z,
                     size_t n);

int md_select_halo(struct ctx *ctx, struct md_store *s, int n_channels,
                   const struct md_channel *channels, size_t *counts);
size_t md_halo_record_bytes(int with_species);
void md_pack_halo(struct md_store *s, int with_species, void *buffer);
int md_accept_halo(struct ctx *ctx, struct md_store *s, size_t n,
                   const void *buffer);
void md_unpack_halo(struct md_store *s, const void *buffer);
void md_count_above(const struct md_store *s, int n_peers, const size_t *n,
                    size_t *above);
void md_pack_forces(const struct md_store *s, void *buffer);
void md_add_forces(struct md_store *s, const void *buffer);

/* Whether forces on copies travel, so that rows are left for then. Metals lose
 * more by it: a third part of what their first pass keeps. */
static inline int md_has_late(const struct md_store *s)
{
    return s->setup.half != MD_WHOLE && s->n_halo > 0 && !s->eam;
}

/* Clusters whose particles get forces: own ones, and copies from above. */
static inline int32_t md_clusters_pushed(const struct md_store *s)
{
    return s->n_clusters + s->n_clusters_above;
}

/* For each own cluster I of worker w (ascending), find the clusters with a box
 * within `radius` of I's, in buckets of w->candidates: own ones (each pair
 * once) and halo copies (below: also those from there, if there are), by
 * shift; then call visit. Returns 0 or -1 (out of memory). */
typedef int (*md_visit)(struct md_store *s, struct md_worker *w, int32_t i,
                        void *user);
int md_find_candidates(struct md_store *s, struct md_worker *w, double radius,
                       int below, md_visit visit, void *user);

int md_build_list(struct ctx *ctx, struct md_store *s);
void md_force_own(struct md_store *s, struct md_sums *sums);
void md_force_halo(struct md_store *s, struct md_sums *sums);
void md_force_late(struct md_store *s, struct md_sums *sums);
double md_kick_drift(struct md_store *s, double dt_kick, double dt_drift);
void md_kick(struct md_store *s, double dt_kick);
void md_sum_moments(const struct md_store *s, struct md_moments *out);
void md_scale_velocities(struct md_store *s, double factor);
void md_ornstein_uhlenbeck(struct md_store *s, double decay, double kt,
                           uint64_t step);
void md_kick_and_noise(struct md_store *s, double dt_kick, double decay,
                       double kt, uint64_t step, double kinetic[2]);

/* Coordinates: where the origin lies, shifts, padding, rounding of boxes; from
 * the box and block of the setup. */
void md_set_coordinates(struct md_store *s);
/* What is added to positions that go through a channel. */
void md_channel_offset(const struct md_channel *channel, double offset[3]);
void md_set_box(struct md_store *s, const struct md_geometry *box);
double md_stretch_step(struct md_store *s, const struct md_stretch *m);
double md_shear_step(struct md_store *s, const struct md_shear *m);
void md_relabel(struct md_store *s, const int32_t turns[3]);
void md_kick_scaled(struct md_store *s, const double before[3], double dt_kick,
                    const double after[3]);
void md_kinetic_tensor(const struct md_store *s, double out[6]);

#define md_outer_forces MD_NAME(md_outer_forces)
void md_outer_forces(struct md_store *s, const struct md_outer *o,
                     struct md_sums *sums, double on_wall[MD_FACES]);
#define md_reflect MD_NAME(md_reflect)
int64_t md_reflect(struct md_store *s, const struct md_outer *o);
#define md_hold MD_NAME(md_hold)
void md_hold(struct md_store *s);

/* virial_cpu.c: add to w->tensor `sign` times the sum of place times force in
 * f, and what shifts of rows add, w->virial being the sum of the diagonal. */
#define md_add_places MD_NAME(md_add_places)
void md_add_places(const struct md_store *s, struct md_worker *w,
                   const scalar *f, double sign);
#define md_add_shifts MD_NAME(md_add_shifts)
void md_add_shifts(const struct md_store *s, struct md_worker *w);

#define md_bath_step MD_NAME(md_bath_step)
void md_bath_step(struct md_store *s, const struct md_bath *b, double dt,
                  uint64_t step);
#define md_brownian_step MD_NAME(md_brownian_step)
double md_brownian_step(struct md_store *s, const struct md_bath *b, double dt,
                        uint64_t step, const double weight[2]);
#define md_group_moments MD_NAME(md_group_moments)
void md_group_moments(const struct md_store *s, const struct md_outer *o,
                      int group, struct md_moments *out);

int md_pair_histogram(struct ctx *ctx, const struct md_store *s, double range,
                      int n_bins, const int *channel_of, uint64_t *counts);
int md_closest_pair(struct ctx *ctx, const struct md_store *s, double distance,
                    struct md_close_pair *out);
int md_pair_virial(struct ctx *ctx, const struct md_store *s, double (*out)[3]);
int md_find_not_finite(const struct md_store *s, struct md_particle *out);

#endif
