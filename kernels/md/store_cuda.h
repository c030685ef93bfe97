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
#define cuda_dynamics MD_NAME(cuda_dynamics)
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
    const scalar *smooth;   /* the same of smooth.h */
    scalar constant, parts_per_length2;
    int smooth_too; /* these are good */
    scalar from2;   /* where the switch begins; 0: none */
    double self;    /* energy of a unit charge alone */
    struct md_coulomb exact;
};

/* Cells over the block and what reaches into it. */
struct cell_grid {
    double lo[3], per_side[3]; /* corner, 1 / side; pair coordinates */
    int n[3];
    int reach[3]; /* how many cells away a neighbor may be */
    int wrap[3];  /* this direction is periodic within the rank */
    /* Shear since particles were put into cells, xy, xz, yz, about a corner: a
     * place is looked up where it was before. */
    double lean[3], corner[3];
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
    double box_lo[3], box_length[3], tilt[3], lo[3], hi[3];
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
struct cuda_team;
struct team_notes;
struct pair_clock;
struct cuda_dynamics;

struct device_array {
    void *p;
    size_t bytes;
};

struct pair_list {
    struct device_array neighbor, count;
    uint32_t rows; /* neighbors there is room for */
};

/* MD_REDUCED: as many sums at most at once. Those of pairs: energy, virial,
 * the virial by directions, and of charges; of terms: seven energies (enum
 * md_energy) instead. */
enum {
    MD_THREADS = 128,
    PAIR_ENERGY = 0,
    PAIR_VIRIAL,
    PAIR_TENSOR, /* six of them */
    PAIR_SUMS = PAIR_TENSOR + 6,
    PAIR_COULOMB = PAIR_SUMS,
    CHARGED_SUMS,
    TERM_SUMS = 14,
    MD_REDUCED = TERM_SUMS
};
/* Of modes or waves: energy, virial, and that by directions. Charge, its
 * square, dipole and second moments. Of rigid bonds: the virial and that by
 * directions.
 */
enum { MODE_SUMS = 8, CHARGE_MOMENTS = 8, GROUP_SUMS = 7 };
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
    STEP_OUTER,
    STEP_MESH,  /* s->mesh->whole */
    STEP_WAVES, /* s->mesh->waves_now; of these two, kick: sums are wanted */
    STEP_SLAB,  /* kick: of the dipole, drift: the slope, step: 1, keep */
    STEP_RIGID_HOLD,
    STEP_RIGID_PLACE,     /* kick: per time, drift: tolerance */
    STEP_RIGID_STOP,      /* kick: 1, apply */
    STEP_RIGID_UNSTRETCH, /* drift: dt_half; factor: grow, after, middle */
    STEP_RIGID_INNER,
    STEP_RIGID_SUMS,
    STEP_SCALE, /* kick: the factor */
    STEP_NOISE, /* kick: decay, drift: kT */
    STEP_BATHS, /* these two: kick: dt, drift: kT, buffer: groups */
    STEP_BROWNIAN,
    STEP_DPD_FORCES, /* kick: strength of the noise */
    STEP_DPD_KICK,
    STEP_REFLECT, /* buffer: walls */
    STEP_HOLD,
    STEP_KICK_SCALED, /* kick: dt, factor: before, after */
    STEP_STRETCH,     /* s->stretch */
    STEP_SHEAR,       /* s->shear */
    STEP_MOMENTS,
    STEP_KINETIC,
    STEP_MOVE_COPIES, /* these three where s->copies_here */
    STEP_COPY_SLOPES,
    STEP_COPY_VALUES, /* kick: enum md_value */
    STEP_WRAP,        /* these four where nobody can leave: cuda_keeps_all() */
    STEP_SORT,
    STEP_CHOOSE,
    STEP_LIST
};

struct step_call {
    enum step_kind kind;
    double kick, drift; /* times; of forces, kick: what is wanted beside them */
    const void *buffer; /* of those that unpack; of STEP_OUTER its struct */
    uint64_t step = 0;  /* of those that draw numbers */
    double factor[9] = {0};
};

/* Kernels and copies that some calls have queued, so far. */
struct step_tally {
    uint64_t to_device, to_host; /* bytes copied */
    double bytes;                /* that kernels move, pair lists left out */
    double forces[2];            /* passes over the lists of own ones, copies */
};

enum { STEP_CALLS_MAX = 20, STEP_GRAPHS = 4 };

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

/* What calls bring to the host, in pinned memory: cuda_send(). */
struct step_result {
    double way2, moments[5], kinetic[6];
    double pairs[2][CHARGED_SUMS]; /* with forces; of copies */
    double terms[2][TERM_SUMS];
    double metal[3]; /* pairs, those with copies, embedding */
    double mesh[MODE_SUMS], charges[CHARGE_MOMENTS];
    double inner[6], bonds[GROUP_SUMS]; /* of rigid groups */
    double outer[2 + MD_FACES];
    unsigned long long beyond; /* see fixed_cuda.cu */
    struct near_pair near;
    unsigned long long broken; /* see bonded_cuda.cu */
    unsigned needed[2];        /* neighbors of a particle at most; copies */
    unsigned copies;           /* that were counted */
    double placed[2];          /* see place_groups() */
    unsigned long long lost;   /* the id of one behind a wall, or 0 */
};

/* ---- sums in any order: fixed_cuda.cu ---- */

/* Terms per unit, and units per term. */
struct fixed_units {
    double force, per_force, energy, per_energy;
};

typedef unsigned long long fixed_sum; /* signed, modulo 2^64 */

/* The same of sums of a wider range: fixed_cuda.h. */
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
    ARRAY_SEND_CHANNEL, /* or the image, where s->copies_here */
    ARRAY_COPY_IMAGES,
    ARRAY_CHANNEL_OFFSET,
    ARRAY_HALO_SLOT,
    ARRAY_PACKED,
    ARRAY_PARTIAL,
    ARRAY_RESULT,
    ARRAY_TERMS,
    ARRAY_COULOMB,
    ARRAY_SMOOTH,
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
    ARRAY_MEMBERS,
    ARRAY_OUTER_SPECIES,
    ARRAY_LOST,
    ARRAY_BONDS, /* coefficients */
    ARRAY_ANGLES,
    ARRAY_DIHEDRALS,
    ARRAY_IMPROPERS,
    ARRAY_LJ14,
    ARRAY_PAIRS14,
    ARRAY_CMAPS,
    ARRAY_CMAP_NODES,
    ARRAY_EXACT_PAIRS, /* struct lj_coeff */
    ARRAY_TERM,        /* terms_cuda.h */
    ARRAY_TERM_FIRST,
    ARRAY_TERM_ENTRY,
    ARRAY_EXCLUDED_FIRST,
    ARRAY_EXCLUDED,
    ARRAY_TERM_ROW,
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
    double cell_tilt[3]; /* of the box when they were made */
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
    int copies_here; /* they are made here, and none are sent: copies_cuda.cu */
    int n_images;
    int32_t (*image)[3]; /* host */
    struct step_queue queue;
    struct step_tally tally;
    struct step_result *result; /* pinned */
    /* How often ahead; and where the sums of forces are to go. */
    int way_asked, moments_asked, kinetic_asked, placed_asked, lost_asked;
    int charges_asked, unstretch_asked, inner_asked, bonds_asked;
    struct md_sums *owed;
    double *owed_to_walls;
    struct md_stretch stretch; /* of the call that waits */
    struct md_shear shear;
    struct md_geometry next_box;
    int has_come;             /* of a team: all that was asked for is there */
    struct cuda_team *team;   /* team_cuda.h, or NULL */
    struct team_notes *notes; /* launches are noted there, or NULL */
    uint64_t calls, joint;    /* so far; those launched with others' */
    struct fixed_units fixed;
    struct wide_units wide;
    int wide_sums;            /* deterministic ones are wide */
    double wide_reach;        /* see cuda_set_wide() */
    double most_force;        /* that deterministic sums have room for */
    struct cuda_forms *forms; /* forms_cuda.cu, or NULL */
    struct cuda_eam *eam;     /* eam_cuda.cu, or NULL */
    uint64_t outer_sent;      /* version of walls and groups there, and 1 */
    struct cuda_dynamics *dynamics; /* dynamics_cuda.h, or NULL */
    struct card_terms *terms;       /* NULL: no force field; terms_cuda.h */
    struct charge_terms charges;
    struct pair_clock *clock; /* clock_cuda.cu, or NULL */
    int coulomb;              /* charges act on one another */
    struct cuda_mesh *mesh;   /* mesh_cuda.h, or NULL */
    int box_moves;            /* it has changed in the run */
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

#include "kernels/md/calls_cuda.h"
#include "kernels/md/threads_cuda.h"

#endif
