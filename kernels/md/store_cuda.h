/* store_cuda.h: the particles of one rank as a card likes them.
 *
 * Columns of `stride` elements, one thread a particle, neighboring threads on
 * neighboring elements. Own particles stand in the order of their cells; halo
 * copies, also by cell, have only a pair position, behind the own ones. The
 * pair list is full (each pair stands at both particles, nothing is added with
 * atomics) and transposed: neighbor k of particle i at list[k * stride + i].
 *
 * Private to the .cu files of kernels/md.
 */
#ifndef WARPDECK_KERNELS_MD_STORE_CUDA_H
#define WARPDECK_KERNELS_MD_STORE_CUDA_H

#include "kernels/device_cuda.h"

#define KERNEL_FN static __host__ __device__ __forceinline__

#if MD_PRECISION == 1
typedef double scalar;
typedef double state;
#define MD_NAME(name) name##_double
#define MD_PRECISION_NAME "double"
#elif MD_PRECISION == 2
typedef float scalar;
typedef double state;
#define MD_NAME(name) name##_mixed
#define MD_PRECISION_NAME "mixed"
#else
typedef float scalar;
typedef float state;
#define MD_NAME(name) name##_single
#define MD_PRECISION_NAME "single"
#endif
typedef scalar real;

#define OUTER_FN static __host__ __device__ __attribute__((unused))
extern "C" {
#include "kernels/md/md_kernels.h"
}

/* Types that differ between precisions have different names: templates of a
 * kernel's argument types would else be one for all three. */
#define md_view MD_NAME(md_view)
#define pair_position MD_NAME(pair_position)
#define pair_terms MD_NAME(pair_terms)
#define charge_terms MD_NAME(charge_terms)
#define cuda_mesh MD_NAME(cuda_mesh)
#define halo_record MD_NAME(halo_record)

/* A particle as its neighbors read it: one aligned load. */
struct alignas(4 * sizeof(scalar)) pair_position {
    scalar x, y, z;
    int32_t species;
};

/* Pair coefficients of two species. */
struct pair_terms {
    scalar f12, f6, cut2, shift, slope, cut;
};

/* What the loops need of charges and of CHARMM's switch: charged_cuda.cu. */
struct charge_terms {
    const scalar *table;    /* forces, then energies: coulomb_table.h */
    scalar cutoff2, least2; /* of the tables */
    scalar from2;           /* where the switch begins; 0: none */
    double self;            /* energy of a unit charge alone */
    struct md_coulomb exact;
};

/* Cells over the block and what reaches into it. */
struct cell_grid {
    double lo[3], per_side[3]; /* corner, 1 / side; pair coordinates */
    int n[3];
    int reach[3]; /* how many cells away a neighbor may be */
    int wrap[3];  /* this direction is periodic within the rank */
};

/* What kernels get, by value. All pointers are of the device. */
struct md_view {
    size_t stride; /* of the columns x, v, f, moved, image */
    uint32_t n_own, n_halo;
    state *x, *v;
    scalar *f;
    float *moved;
    int64_t *id;
    int32_t *image;
    int32_t *species;
    scalar *charge;             /* own, then halo; NULL: there are none */
    struct pair_position *pair; /* own, then halo */
    double box_lo[3], box_length[3], lo[3], hi[3];
    double origin[3], state_origin[3];
    int cut[3];
    scalar period[3], per_period[3]; /* 0 where the box is cut */
    int n_species;
    const double *inverse_mass; /* times the unit factor */
    const double *mass;
    const struct pair_terms *terms;
    const struct md_group *groups; /* that moments() knows as held */
    int n_groups;
};

struct cuda_mesh;

struct device_array {
    void *p;
    size_t bytes;
};

struct pair_list {
    struct device_array neighbor, count;
    uint32_t rows; /* neighbors there is room for */
};

/* MD_REDUCED: as many sums at most at once. Those of pairs: energy, virial,
 * the virial by directions, and of charges; of terms: six energies (enum
 * md_energy) instead. */
enum {
    MD_THREADS = 128,
    PAIR_ENERGY = 0,
    PAIR_VIRIAL,
    PAIR_TENSOR, /* six of them */
    PAIR_SUMS = PAIR_TENSOR + 6,
    PAIR_COULOMB = PAIR_SUMS,
    CHARGED_SUMS,
    TERM_SUMS = 13,
    MD_REDUCED = TERM_SUMS
};
/* How much of them is wanted. */
enum { WANT_NONE, WANT_SUMS, WANT_TENSOR };

/* ---- calls that wait to be run together: steps_cuda.cu ---- */

enum step_kind {
    STEP_UNPACK,
    STEP_FORCE_OWN,
    STEP_FORCE_HALO,
    STEP_KICK,
    STEP_DRIFT,
    STEP_DENSITY_OWN,
    STEP_DENSITY_HALO,
    STEP_UNPACK_EXTRA,
    STEP_OUTER
};

struct step_call {
    enum step_kind kind;
    double kick, drift; /* times */
    const void *buffer; /* of those that unpack; of STEP_OUTER its struct */
};

/* Kernels and copies that some calls have queued, so far. */
struct step_tally {
    uint64_t to_device, to_host; /* bytes copied */
    double bytes;                /* that kernels move, pair lists left out */
    double forces[2];            /* passes over the lists of own ones, copies */
};

enum { STEP_CALLS_MAX = 6, STEP_GRAPHS = 4 };

struct step_graph {
    struct step_call calls[STEP_CALLS_MAX];
    int n;
    uint64_t epoch; /* of the queue when it was captured */
    struct step_tally tally;
    cudaGraphExec_t exec;
};

struct step_queue {
    int on; /* calls wait, and run as one graph */
    struct step_call calls[STEP_CALLS_MAX];
    int n;
    uint64_t epoch; /* changes with every pointer and size that kernels get */
    struct step_graph graphs[STEP_GRAPHS];
    int next; /* the graph to be replaced next */
    uint64_t launches;
};

/* A pair that came nearer than its table reaches; claimed: there is one. */
struct near_pair {
    unsigned claimed;
    int64_t id[2];
    double distance, inner;
};

/* What kick_drift brings to the host, in pinned memory. */
struct step_result {
    double way2;
    unsigned long long beyond; /* see fixed_cuda.cu */
    struct near_pair near;
    unsigned long long broken; /* see bonded_cuda.cu */
};

/* ---- sums in any order: fixed_cuda.cu ---- */

/* Terms per unit, and units per term. */
struct fixed_units {
    double force, per_force, energy, per_energy;
};

typedef unsigned long long fixed_sum; /* signed, modulo 2^64 */

/* The same of near_cuda.h. */
struct wide_units {
    double force, per_force, energy, per_energy;
};

/* Array names of struct md_store, for allocation and release in one place. */
enum md_array {
    ARRAY_X,
    ARRAY_V,
    ARRAY_F,
    ARRAY_SORTED,
    ARRAY_MOVED,
    ARRAY_LISTED, /* x when the list was built */
    ARRAY_ID,
    ARRAY_IMAGE,
    ARRAY_SPECIES,
    ARRAY_CHARGE,
    ARRAY_PAIR,
    ARRAY_KEY,
    ARRAY_KEY_OUT,
    ARRAY_ORDER,
    ARRAY_ORDER_OUT,
    ARRAY_WORKSPACE,
    ARRAY_START_OWN,
    ARRAY_START_HALO,
    ARRAY_RECORDS,
    ARRAY_SEND_SLOT,
    ARRAY_SEND_CHANNEL,
    ARRAY_CHANNEL_OFFSET,
    ARRAY_HALO_SLOT,
    ARRAY_PACKED,
    ARRAY_PARTIAL,
    ARRAY_RESULT,
    ARRAY_TERMS,
    ARRAY_COULOMB,
    ARRAY_MASS,
    ARRAY_INVERSE_MASS,
    ARRAY_COUNTER,
    ARRAY_HISTOGRAM,
    ARRAY_CHANNEL_OF,
    ARRAY_FIXED,
    ARRAY_COLUMNS,
    ARRAY_BEYOND,
    ARRAY_WIDE,
    ARRAY_FORM_ROWS, /* forms_cuda.cu */
    ARRAY_FORM_STARTS,
    ARRAY_FORM_EXACT,
    ARRAY_FORM_POINTS,
    ARRAY_FORM_NEAR,
    ARRAY_EAM_DENSITY, /* eam_cuda.cu */
    ARRAY_EAM_PAIR,
    ARRAY_EAM_EMBEDDING,
    ARRAY_EAM_RHO,
    ARRAY_EAM_SLOPE,
    ARRAY_EAM_WIDE,
    ARRAY_WALLS, /* outer_cuda.cu */
    ARRAY_GROUPS,
    ARRAY_OUTER_SPECIES,
    ARRAY_LOST,
    ARRAY_BONDS, /* coefficients */
    ARRAY_ANGLES,
    ARRAY_DIHEDRALS,
    ARRAY_IMPROPERS,
    ARRAY_LJ14,
    ARRAY_PAIRS14,
    ARRAY_EXACT_PAIRS, /* struct lj_coeff */
    ARRAY_TERM,        /* terms_cuda.h */
    ARRAY_TERM_FIRST,
    ARRAY_TERM_ENTRY,
    ARRAY_EXCLUDED_FIRST,
    ARRAY_EXCLUDED,
    ARRAY_BROKEN,
    ARRAY_RIGID_GROUP,
    ARRAY_RIGID_SHAPE,
    ARRAY_RIGID_MASS,
    ARRAY_RIGID_HELD,
    ARRAY_RIGID_SPEED,
    ARRAY_HALO_VALUE,
    ARRAY_COUNT
};

/* A particle on its way to or from the host. */
struct moving_record {
    struct md_particle p;
    double force[3];
};

/* A halo copy on its way, at a redistribution. */
struct halo_record {
    int64_t id;
    scalar x[3];
    scalar charge;
    int32_t species;
};

/* The array `which` as elements of a type. */
#define ARRAY(s, which, type) ((type *)(s)->array[which].p)

struct md_store {
    struct ctx *ctx;
    struct cuda_device *device;
    struct md_setup setup;
    struct md_view view;
    struct cell_grid cells;
    struct device_array array[ARRAY_COUNT];
    struct pair_list own, halo;
    size_t capacity;      /* own particles there is room for */
    size_t pair_capacity; /* own and halo */
    uint32_t n_slots;     /* own columns in use, holes of leavers included */
    uint32_t n_leavers;
    struct md_particle *leavers; /* host */
    size_t leavers_capacity;
    int n_channels;
    uint32_t *channel_n; /* host */
    double (*channel_offset)[3];
    size_t channels_capacity;
    uint32_t n_send;
    struct step_queue queue;
    struct step_tally tally;
    struct step_result *result; /* pinned */
    struct fixed_units fixed;
    struct wide_units wide;
    double most_force;        /* that deterministic sums have room for */
    struct cuda_forms *forms; /* forms_cuda.cu, or NULL */
    struct cuda_eam *eam;     /* eam_cuda.cu, or NULL */
    int outer_sent;           /* walls and groups are on the card */
    struct card_terms *terms; /* NULL: no force field; terms_cuda.h */
    struct charge_terms charges;
    int coulomb;            /* charges act on one another */
    struct cuda_mesh *mesh; /* mesh_cuda.h, or NULL */
    int box_moves;          /* it has changed in the run */
    int unchecked; /* forces of deterministic sums that nobody has looked at */
    int failed;    /* a call that returns nothing has failed: told by check() */
    uint64_t lists_built;
};

/* A call moves so many bytes of each own particle. */
static inline void tally_own(struct md_store *s, size_t bytes)
{
    s->tally.bytes += (double)s->view.n_own * (double)bytes;
}

/* Grow one array to n elements of `size` bytes, keeping its content. None grows
 * while calls are captured: what they need is reserved with the list. */
#define cuda_reserve MD_NAME(cuda_reserve)
int cuda_reserve(struct md_store *s, enum md_array which, size_t n, size_t size,
                 const char *what);

#include "kernels/md/threads_cuda.h"

/* ---- the table's functions, by file ---- */
#define cuda_insert MD_NAME(cuda_insert)
#define cuda_gather MD_NAME(cuda_gather)
#define cuda_extract_leavers MD_NAME(cuda_extract_leavers)
#define cuda_sort MD_NAME(cuda_sort)
#define cuda_take_slots MD_NAME(cuda_take_slots)
#define cuda_put_slots MD_NAME(cuda_put_slots)
#define cuda_note_listed MD_NAME(cuda_note_listed)
#define cuda_select_halo MD_NAME(cuda_select_halo)
#define cuda_halo_record_bytes MD_NAME(cuda_halo_record_bytes)
#define cuda_pack_halo MD_NAME(cuda_pack_halo)
#define cuda_accept_halo MD_NAME(cuda_accept_halo)
#define cuda_unpack_halo MD_NAME(cuda_unpack_halo)
#define cuda_build_list MD_NAME(cuda_build_list)
#define cuda_force_own MD_NAME(cuda_force_own)
#define cuda_force_halo MD_NAME(cuda_force_halo)
#define cuda_kick_drift MD_NAME(cuda_kick_drift)
#define cuda_kick MD_NAME(cuda_kick)
#define cuda_sum_moments MD_NAME(cuda_sum_moments)
#define cuda_scale_velocities MD_NAME(cuda_scale_velocities)
#define cuda_ornstein_uhlenbeck MD_NAME(cuda_ornstein_uhlenbeck)
#define cuda_pair_histogram MD_NAME(cuda_pair_histogram)
#define cuda_pair_virial MD_NAME(cuda_pair_virial)
#define cuda_closest_pair MD_NAME(cuda_closest_pair)
#define cuda_find_not_finite MD_NAME(cuda_find_not_finite)
#define cuda_place_cells MD_NAME(cuda_place_cells)
#define cuda_reduce MD_NAME(cuda_reduce)
#define cuda_set_view MD_NAME(cuda_set_view)
#define cuda_reserve_own MD_NAME(cuda_reserve_own)
#define cuda_reserve_sums MD_NAME(cuda_reserve_sums)
#define cuda_launch_reduce MD_NAME(cuda_launch_reduce)
#define cuda_message_on_card MD_NAME(cuda_message_on_card)
#define cuda_launch_unpack MD_NAME(cuda_launch_unpack)
#define cuda_launch_force MD_NAME(cuda_launch_force)
#define cuda_launch_kick MD_NAME(cuda_launch_kick)
#define cuda_launch_drift MD_NAME(cuda_launch_drift)
#define cuda_do MD_NAME(cuda_do)
#define cuda_do_now MD_NAME(cuda_do_now)
#define cuda_settle MD_NAME(cuda_settle)
#define cuda_drop_graphs MD_NAME(cuda_drop_graphs)
#define cuda_set_wide MD_NAME(cuda_set_wide)
#define cuda_reserve_wide MD_NAME(cuda_reserve_wide)
#define cuda_choose_fixed MD_NAME(cuda_choose_fixed)
#define cuda_reserve_fixed MD_NAME(cuda_reserve_fixed)
#define cuda_launch_fixed MD_NAME(cuda_launch_fixed)
#define cuda_sum_columns MD_NAME(cuda_sum_columns)
#define cuda_fail_beyond MD_NAME(cuda_fail_beyond)
#define cuda_check_beyond MD_NAME(cuda_check_beyond)
#define cuda_estimate MD_NAME(cuda_estimate)
#define cuda_columns MD_NAME(cuda_columns)
#define cuda_launch_terms MD_NAME(cuda_launch_terms)
#define cuda_add_terms MD_NAME(cuda_add_terms)
#define cuda_kinetic_tensor MD_NAME(cuda_kinetic_tensor)

int cuda_insert(struct ctx *ctx, struct md_store *s,
                const struct md_particle *p, size_t n);
void cuda_gather(const struct md_store *s, struct md_particle *out,
                 double (*force)[3]);
int cuda_extract_leavers(struct ctx *ctx, struct md_store *s,
                         const struct md_particle **out, size_t *n);
int cuda_sort(struct ctx *ctx, struct md_store *s);
int cuda_take_slots(struct ctx *ctx, const struct md_store *s,
                    struct md_slot *out);
int cuda_put_slots(struct ctx *ctx, struct md_store *s,
                   const struct md_slot *in, size_t n);
int cuda_select_halo(struct ctx *ctx, struct md_store *s, int n_channels,
                     const struct md_channel *channels, size_t *counts);
size_t cuda_halo_record_bytes(int with_species);
void cuda_pack_halo(struct md_store *s, int with_species, void *buffer);
int cuda_accept_halo(struct ctx *ctx, struct md_store *s, size_t n,
                     const void *buffer);
void cuda_unpack_halo(struct md_store *s, const void *buffer);
/* Where kernels read a message of n bytes: on the card, in stream order. Room
 * is there for what accept_halo() has got. */
int cuda_message_on_card(struct md_store *s, const void *buffer, size_t n,
                         const void **out);
int cuda_build_list(struct ctx *ctx, struct md_store *s);
void cuda_force_own(struct md_store *s, struct md_sums *sums);
void cuda_force_halo(struct md_store *s, struct md_sums *sums);
double cuda_kick_drift(struct md_store *s, double dt_kick, double dt_drift);
void cuda_kick(struct md_store *s, double dt_kick);
void cuda_sum_moments(const struct md_store *s, struct md_moments *out);
void cuda_kinetic_tensor(const struct md_store *s, double out[6]);
void cuda_scale_velocities(struct md_store *s, double factor);
void cuda_ornstein_uhlenbeck(struct md_store *s, double decay, double kt,
                             uint64_t step);
int cuda_pair_histogram(struct ctx *ctx, const struct md_store *s, double range,
                        int n_bins, const int *channel_of, uint64_t *counts);
int cuda_pair_virial(struct ctx *ctx, const struct md_store *s,
                     double (*out)[3]);
int cuda_closest_pair(struct ctx *ctx, const struct md_store *s,
                      double distance, struct md_close_pair *out);
int cuda_find_not_finite(const struct md_store *s, struct md_particle *out);

/* Room for n own particles in every column; content is kept. */
int cuda_reserve_own(struct ctx *ctx, struct md_store *s, size_t n);

/* Keep where particles stand now, as the list is built. */
int cuda_note_listed(struct md_store *s);

/* Bring the view's pointers in line with the arrays. */
void cuda_set_view(struct md_store *s);

/* Sort the n keys of ARRAY_KEY (values ARRAY_ORDER = 0, 1, ...) by cell, find
 * where each cell starts (`start` receives cells + 1 entries; keys >= cells are
 * left out), and leave the order in ARRAY_ORDER_OUT. */
int cuda_place_cells(struct ctx *ctx, struct md_store *s, size_t n,
                     enum md_array start);

/* Room for what a step's sums need. */
int cuda_reserve_sums(struct md_store *s);

/* The same as cuda_reduce(), into ARRAY_RESULT on the card, in stream order. */
int cuda_launch_reduce(struct md_store *s, int n_values, uint32_t n_blocks,
                       int greatest);

/* Reduce ARRAY_PARTIAL, n_values columns of n_blocks entries, by sums (or the
 * maximum where greatest = 1), into out[n_values] on the host. */
int cuda_reduce(struct ctx *ctx, struct md_store *s, int n_values,
                uint32_t n_blocks, int greatest, double *out);

/* ---- steps_cuda.cu: calls that are only queued ----
 *
 * Where graphs are on, calls wait until somebody needs what they do, and then
 * run as one graph. Each function of the table therefore begins with
 * cuda_settle(), unless it is such a call itself. */

/* Run the call, now or with those that follow. Failures go to s->failed. */
void cuda_do(struct md_store *s, struct step_call call);
void cuda_do_now(struct md_store *s, struct step_call call);
/* Run what waits. */
void cuda_settle(struct md_store *s);
void cuda_drop_graphs(struct md_store *s);

/* The calls themselves: kernels and copies in stream order, nothing else. */
int cuda_launch_unpack(struct md_store *s, const void *buffer);
int cuda_launch_force(struct md_store *s, int halo);
int cuda_launch_kick(struct md_store *s, double dt_kick);
int cuda_launch_drift(struct md_store *s, double dt_kick, double dt_drift);

/* ---- fixed_cuda.cu: see there ---- */

void cuda_choose_fixed(struct md_store *s);
int cuda_reserve_fixed(struct md_store *s, size_t n);
int cuda_launch_fixed(struct md_store *s, int want, int halo);
/* Units of near_cuda.h for forces up to `greatest` over a distance `reach`. */
void cuda_set_wide(struct md_store *s, double greatest, double reach);
/* Room for its sums, with the list. */
int cuda_reserve_wide(struct md_store *s);
/* How many columns there are. */
size_t cuda_columns(const struct md_setup *setup);
/* Sum the first n_values columns of ARRAY_COLUMNS over own particles. */
int cuda_sum_columns(struct md_store *s, int n_values, double *out);
/* The failure of particle `id`, whose force is beyond the range; or 0 where
 * there is none. */
int cuda_fail_beyond(struct md_store *s, unsigned long long id);
int cuda_check_beyond(struct md_store *s);

/* ---- charged_cuda.cu: charges, and CHARMM's switch ---- */

#define cuda_charges_create MD_NAME(cuda_charges_create)
#define cuda_launch_charged MD_NAME(cuda_launch_charged)
int cuda_charges_create(struct md_store *s);
/* The pair forces, where cuda_has_charged_pairs(). */
int cuda_launch_charged(struct md_store *s, int want, int halo);

static inline int cuda_has_charged_pairs(const struct md_store *s)
{
    return s->coulomb || s->charges.from2 > 0;
}

double cuda_estimate(const struct md_setup *setup, double own, double copies);

/* ---- bonded_cuda.cu: after the pairs' forces ---- */

/* Add the forces of terms along bonds: of those among own particles, or of
 * those with a copy among them (halo = 1). */
int cuda_launch_terms(struct md_store *s, int halo);
/* The same with their sums. */
int cuda_add_terms(struct md_store *s, struct md_sums *sums, int halo);

#endif
