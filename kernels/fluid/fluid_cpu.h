/* fluid_cpu.h: what the CPU keeps for one block of the fluid's grid.
 *
 * Compiled once per precision (FLUID_PRECISION 1 double, 3 single). A field is
 * an array of planes of rows; the pointer stands at cell (0,0,0):
 *
 *     field[f][k * plane + j * pitch + i]    k in [-1, n[2]], j in [-1, n[1]]
 *
 * One ghost row on each side in y and one ghost plane on each side in z are
 * stored; x has none. i runs to n[0]; what stands beyond it up to `pitch` is
 * finite and means nothing. Fields are changed in place, planes in rising
 * order: a worker (a thread, which owns the planes [first, last)) keeps the old
 * values of three planes in a cached ring, and only there a row has ghosts in
 * x, made when it is loaded.
 *
 * Ghosts follow one rule for every field, direction and side where there is a
 * wall: ghost = factor * (value on the inner side) + offset. No-slip: -1 and
 * twice the wall's velocity; free-slip: 1 and 0; the normal component, whose
 * ghost on the lower side is the wall face itself: 0 and 0; a scalar of fixed
 * value: -1 and twice the value; of fixed flux: 1 and derivative times distance
 * of centers; psi and pressure: 1 and 0.
 *
 * Implicit diffusion (s->implicit[d]: Crank-Nicolson along d). predict() leaves
 * fields as they are and writes increments, to delta[f] (laid out like the
 * field, ghosts unused):
 *     delta = dt (gamma N + zeta N_before)
 *             + alpha dt (viscosity sum_implicit L_d u - grad p)
 * with N the explicit terms alone. The line solvers turn it, in place and one
 * direction after the other, into the solution of
 *     (1 - alpha dt viscosity / 2 L_d) delta_new = delta
 * with the same L_d and with rules of offset 0 at walls (factor as in
 * rule[][][]); the normal component's wall face stays 0. After the last
 * direction fluid_apply_delta() adds the increment to the field; whoever needs
 * u* calls it, it does nothing the second time. correct() then adds
 * psi / (alpha dt) - viscosity / 2 sum_implicit L_d psi to the pressure.
 * Scalars alike, without a gradient.
 */
#ifndef WARPDECK_KERNELS_FLUID_FLUID_CPU_H
#define WARPDECK_KERNELS_FLUID_FLUID_CPU_H

#include "kernels/fluid/fluid_kernels.h"
#include "kernels/fluid/poisson_cpu.h"

#if FLUID_PRECISION == 3
#define KERNEL_SCALAR float
#define KERNEL_SCALAR_BYTES 4
#define KERNEL_MASK_SCALAR int32_t
#define FLUID_PRECISION_NAME "single"
#elif FLUID_PRECISION == 1
#define KERNEL_SCALAR double
#define KERNEL_SCALAR_BYTES 8
#define KERNEL_MASK_SCALAR int64_t
#define FLUID_PRECISION_NAME "double"
#else
#error "compile with -DFLUID_PRECISION=1 or 3"
#endif
#include "kernels/simd.h"
#include "kernels/fluid/stencil.h"
#include "kernels/fluid/wall_rule.h"

/* A vector that may stand anywhere. */
typedef scalar real_unaligned
    __attribute__((vector_size(SIMD_BYTES), aligned(sizeof(scalar))));

/* One cached plane with ghosts on all four sides: value (i,j) of field f at
 * f[f][j * s->ring_pitch + i], i in [-1, n[0]], j in [-1, n[1]]. Rows are
 * vector aligned and readable from -LANES to pitch + LANES. */
struct fluid_plane {
    scalar *f[FLUID_FIELDS_MAX];
};

/* Seconds by phase; see fluid_phases in fluid_cpu.c. */
enum {
    FLUID_PHASE_PREDICT,
    FLUID_PHASE_HALO,
    FLUID_PHASE_TRANSFORM,
    FLUID_PHASE_COLUMNS,
    FLUID_PHASE_TRANSPOSE,
    FLUID_PHASE_CORRECT,
    FLUID_PHASE_SCALARS,
    FLUID_PHASE_LINES,
    FLUID_PHASES
};

/* What one thread has: planes [first, last) of the block, caches, sums. */
struct fluid_worker {
    int64_t first, last;
    struct fluid_plane ring[3]; /* old values of three planes */
    struct fluid_plane top;     /* of plane `last`, saved before it changes */
    /* While plane k is predicted: planes k - 1, k, k + 1. */
    struct fluid_plane *below, *here, *above;
    scalar *rhs;     /* a plane for the transform, rows `pitch` apart */
    scalar *psi[2];  /* planes of psi with ghosts on the upper sides, rows
                      * ring_pitch apart, at (0,0) */
    scalar *acc[3];  /* a row each: what else accelerates u, v, w */
    scalar *push[3]; /* a row each, implicit: what enters times alpha dt and
                      * stays out of the history */
    double rate;
    double seconds[FLUID_PHASES];
};

struct fluid_store {
    struct fluid_setup setup; /* its pointers are the store's */
    size_t n[3];              /* this rank's cells */
    size_t pitch, plane;      /* numbers from row to row, plane to plane */
    size_t ring_pitch;        /* from row to row in cached planes */
    size_t ring_plane;        /* numbers of one cached plane */
    size_t ring_gap;          /* from u to v to w in the ring */
    int n_fields;             /* 3 + scalars */
    scalar *field[FLUID_FIELDS_MAX];
    scalar *history[FLUID_FIELDS_MAX]; /* laid out as the fields */
    struct fluid_rule rule[FLUID_RULES][3][2];
    int cut[3];        /* whether ranks share this direction */
    int periodic[3];   /* of the box */
    int at_wall[3][2]; /* whether this block touches a wall there */

    /* Spacing along z at this block, index k + 1 for plane k in [-1, n[2]]:
     * heights, distance of centers k and k + 1 (ghost cells at walls are as
     * high as their neighbors), 1 / min(h(k), h(k+1)) for the rate, centers.
     * Read them with fluid_h() and fluid_hc(). */
    double *height, *between, *rate_z, *center_z;
    double inverse_dx, inverse_dy;

    int implicit[3]; /* directions of implicit diffusion */
    int any_implicit;
    int own_psi;                     /* psi is kept in space */
    scalar *delta[FLUID_FIELDS_MAX]; /* implicit only */
    int delta_pending;               /* delta has still to be added */
    scalar *pressure;                /* implicit only: p / density */

    /* psi in space, like a field; only where y is cut or diffusion is implicit.
     * psi_ready: it holds the solution of this substage. */
    scalar *psi;
    int psi_ready;
    double alpha_dt; /* of the last substage, 0 before any */
    int transformed; /* predict() has transformed all planes but each worker's
                      * first */
    double *flow;    /* sums of u*, v*, w* over each plane, [n[2]][3] */
    int want_flow;   /* somebody asked for them: sum in predict() */
    int flow_ready;

    int n_workers;
    struct fluid_worker *workers;
    struct poisson *poisson;
    void *scalars; /* what scalar_cpu.c keeps, or NULL */
    void *lines;   /* what lines_cpu.c keeps, or NULL */
    struct fluid_exchange_buffers *exchange;
    double *tables; /* behind the setup's pointers */
    void **blocks;  /* memory to free */
    int n_blocks, cap_blocks;
    size_t bytes;
    double seconds[FLUID_PHASES];
};

/* Cell height of plane k, and the distance between the centers of planes k and
 * k + 1; k in [-1, n[2]]. */
static inline double fluid_h(const struct fluid_store *s, int64_t k)
{
    return s->height[k + 1];
}
static inline double fluid_hc(const struct fluid_store *s, int64_t k)
{
    return s->between[k + 1];
}

static inline scalar *fluid_row(const struct fluid_store *s, scalar *array,
                                int64_t k, int64_t j)
{
    return array + k * (int64_t)s->plane + j * (int64_t)s->pitch;
}
static inline scalar *fluid_ring_row(const struct fluid_store *s,
                                     const struct fluid_plane *p, int f,
                                     int64_t j)
{
    return p->f[f] + j * (int64_t)s->ring_pitch;
}

#define fluid_new FLUID_NAME(fluid_new)
#define fluid_new_field FLUID_NAME(fluid_new_field)
#define fluid_field_numbers FLUID_NAME(fluid_field_numbers)
#define fluid_plane_coeff FLUID_NAME(fluid_plane_coeff)
#define fluid_load_rows FLUID_NAME(fluid_load_rows)
#define fluid_fill_x FLUID_NAME(fluid_fill_x)
#define fluid_apply_delta FLUID_NAME(fluid_apply_delta)
#define fluid_need_psi FLUID_NAME(fluid_need_psi)

/* Memory that lives as long as the store: n numbers, zero, first touched by the
 * workers that own their share, vector aligned; counted in s->bytes. NULL when
 * there is none left. */
scalar *fluid_new(struct fluid_store *s, size_t n);
/* The same laid out as a field, at cell (0,0,0). */
scalar *fluid_new_field(struct fluid_store *s);
size_t fluid_field_numbers(const struct fluid_store *s);

/* Factors of plane k; without those of implicit directions. force: NULL or the
 * uniform acceleration. */
void fluid_plane_coeff(const struct fluid_store *s, int64_t k,
                       const double force[3], struct fluid_coeff *out);

/* Rows [j0, j1) of plane k (ghost rows and planes included) of fields
 * [f0, f1), which must be fresh, into a cached plane, with ghosts in x. */
void fluid_load_rows(const struct fluid_store *s, struct fluid_plane *p,
                     int64_t k, int64_t j0, int64_t j1, int f0, int f1);
/* Ghosts in x of one row with its first cell at row[0], after rule r; zeros
 * beyond them. */
void fluid_fill_x(const struct fluid_store *s, int r, scalar *row);

/* Add the increments of implicit diffusion to the fields, once. */
void fluid_apply_delta(struct fluid_store *s);
/* Fill s->psi (which exists) from the spectrum, once a substage; ghosts are
 * not filled. */
void fluid_need_psi(struct fluid_store *s);

/* ---- exchange_cpu.c, ghosts_cpu.c, sweep_cpu.c, correct_cpu.c, block_cpu.c */
#define fluid_exchange_create FLUID_NAME(fluid_exchange_create)
#define fluid_exchange_destroy FLUID_NAME(fluid_exchange_destroy)
#define fluid_send_begin FLUID_NAME(fluid_send_begin)
#define fluid_send_end FLUID_NAME(fluid_send_end)
#define fluid_make_rules FLUID_NAME(fluid_make_rules)
#define fluid_fill_ghosts FLUID_NAME(fluid_fill_ghosts)
#define fluid_choose_gap FLUID_NAME(fluid_choose_gap)
#define fluid_predict FLUID_NAME(fluid_predict)
#define fluid_predicted_flow FLUID_NAME(fluid_predicted_flow)
#define fluid_source FLUID_NAME(fluid_source)
#define fluid_transform_y FLUID_NAME(fluid_transform_y)
#define fluid_columns_begin FLUID_NAME(fluid_columns_begin)
#define fluid_columns_end FLUID_NAME(fluid_columns_end)
#define fluid_inverse_y FLUID_NAME(fluid_inverse_y)
#define fluid_inverse_x FLUID_NAME(fluid_inverse_x)
#define fluid_correct FLUID_NAME(fluid_correct)
#define fluid_set FLUID_NAME(fluid_set)
#define fluid_get_raw FLUID_NAME(fluid_get_raw)
#define fluid_find_bad FLUID_NAME(fluid_find_bad)

int fluid_exchange_create(struct ctx *ctx, struct fluid_store *s);
void fluid_exchange_destroy(struct fluid_store *s);
int fluid_send_begin(struct ctx *ctx, struct fluid_store *s,
                     enum fluid_exchange what, struct fluid_transfer *out);
int fluid_send_end(struct ctx *ctx, struct fluid_store *s,
                   enum fluid_exchange what);
void fluid_make_rules(struct fluid_store *s);
/* Ghosts of one array after rule r on one side of `axis` (y or z), where it is
 * a wall or, periodic and not cut, from the block; else nothing. */
void fluid_fill_ghosts(const struct fluid_store *s, scalar *array, int r,
                       int axis, int side);
/* How far the components of a ring of so many numbers should stand apart. */
size_t fluid_choose_gap(size_t numbers);
int fluid_predict(struct ctx *ctx, struct fluid_store *s,
                  const struct fluid_substage *sub);
int fluid_predicted_flow(struct ctx *ctx, struct fluid_store *s,
                         double flow[3]);
int fluid_source(struct ctx *ctx, struct fluid_store *s,
                 const struct fluid_substage *sub);
int fluid_transform_y(struct ctx *ctx, struct fluid_store *s);
int fluid_columns_begin(struct ctx *ctx, struct fluid_store *s);
int fluid_columns_end(struct ctx *ctx, struct fluid_store *s);
int fluid_inverse_y(struct ctx *ctx, struct fluid_store *s);
int fluid_inverse_x(struct ctx *ctx, struct fluid_store *s);
int fluid_correct(struct ctx *ctx, struct fluid_store *s,
                  const struct fluid_substage *sub, const double extra[3],
                  double *rate);
int fluid_set(struct ctx *ctx, struct fluid_store *s, enum fluid_field field,
              const double *block);
/* A stored array (field[f], pressure, ...) as a plain block. */
void fluid_get_raw(const struct fluid_store *s, const scalar *array,
                   double *block);
int fluid_find_bad(struct ctx *ctx, struct fluid_store *s,
                   struct fluid_bad_cell *out);

/* ---- fields_cpu.c, look_cpu.c, profile_cpu.c ---- */
#define fluid_get FLUID_NAME(fluid_get)
#define fluid_look_at FLUID_NAME(fluid_look_at)
#define fluid_profile FLUID_NAME(fluid_profile)

int fluid_get(struct ctx *ctx, struct fluid_store *s, enum fluid_field field,
              double *block);
int fluid_look_at(struct ctx *ctx, struct fluid_store *s,
                  struct fluid_look *out);
int fluid_profile(struct ctx *ctx, struct fluid_store *s, int axis,
                  double *sums);

/* ---- scalar_cpu.c: called only where there are scalars ---- */
#define fluid_scalar_predict FLUID_NAME(fluid_scalar_predict)
#define fluid_scalar_buoyancy FLUID_NAME(fluid_scalar_buoyancy)

/* All scalars of plane k by one substage, in place or (implicit) to delta[];
 * w->below, here and above hold the old planes of velocity and scalars. Plane k
 * of the velocity may have been overwritten already: read it from the ring. */
void fluid_scalar_predict(struct fluid_store *s, struct fluid_worker *w,
                          const struct fluid_substage *sub, int64_t k);
/* Add the buoyancy at u, v, w of row j of plane k to acc[0..2][0 .. n[0]). */
void fluid_scalar_buoyancy(const struct fluid_store *s,
                           const struct fluid_worker *w, int64_t k, int64_t j,
                           scalar *const acc[3]);

/* ---- lines_cpu.c: called only where diffusion is implicit ---- */
#define fluid_lines_create FLUID_NAME(fluid_lines_create)
#define fluid_lines_destroy FLUID_NAME(fluid_lines_destroy)
#define fluid_lines_begin FLUID_NAME(fluid_lines_begin)
#define fluid_lines_end FLUID_NAME(fluid_lines_end)
#define fluid_lines_send_begin FLUID_NAME(fluid_lines_send_begin)
#define fluid_lines_send_end FLUID_NAME(fluid_lines_send_end)
#define fluid_lines_bytes FLUID_NAME(fluid_lines_bytes)

int fluid_lines_create(struct ctx *ctx, struct fluid_store *s);
void fluid_lines_destroy(struct fluid_store *s);
size_t fluid_lines_bytes(const struct fluid_setup *setup);
int fluid_lines_begin(struct ctx *ctx, struct fluid_store *s, int axis,
                      const struct fluid_substage *sub);
int fluid_lines_end(struct ctx *ctx, struct fluid_store *s, int axis,
                    const struct fluid_substage *sub);
/* FLUID_LINES_Y, FLUID_LINES_Z. */
int fluid_lines_send_begin(struct ctx *ctx, struct fluid_store *s,
                           enum fluid_exchange what,
                           struct fluid_transfer *out);
int fluid_lines_send_end(struct ctx *ctx, struct fluid_store *s,
                         enum fluid_exchange what);

#endif
